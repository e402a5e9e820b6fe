"""Whether jobs are as they should be and run when they should."""
