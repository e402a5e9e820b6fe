"""Whether the gateway lives and works, and what is done when it does not."""
