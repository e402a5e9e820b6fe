"""What code in other languages would do: Python by its syntax tree, the others by calls they spell out."""
