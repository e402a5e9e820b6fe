"""From a tree of shell text to the commands that would run, with what is known about them."""
