"""Skills looked at before and after they are installed: what they try, what changed, what is broken."""
