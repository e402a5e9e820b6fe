"""What is dangerous: one module per family of commands, each rule with examples."""
