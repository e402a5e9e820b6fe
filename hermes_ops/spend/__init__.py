"""What the agents cost: balance, usage by difference, budgets."""
