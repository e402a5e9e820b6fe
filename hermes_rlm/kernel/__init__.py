"""The kernel: a child process per session, seen from the host."""
