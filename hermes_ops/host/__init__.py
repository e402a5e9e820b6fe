"""A read-only view of Hermes 0.19: the only place that knows the shapes of its files.

Nothing here writes to the host's home or calls its loaders (which rewrite files). What cannot be read raises
`Unreadable`; it is never taken for empty.
"""
