"""The command guard: reads what a tool call would run, judges it, and answers the host."""
