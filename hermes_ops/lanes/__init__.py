"""A git worktree per writer, a gate on exactly the commit that merges, and evidence of both."""
