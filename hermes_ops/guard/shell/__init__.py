"""A reader of shell text: words, redirections and commands as bash sees them, without running anything."""
