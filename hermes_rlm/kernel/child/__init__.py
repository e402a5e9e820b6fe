"""What runs inside the kernel process. Its modules import builtin modules only until something needs more."""
