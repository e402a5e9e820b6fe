"""Checkpoints of a kernel's namespace, one record per variable. Loaded only when a request names it."""

from .restoring import restore
from .writing import save

__all__ = ["restore", "save"]
