"""Text that a terminal shows and does not obey."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text on one line, every character escaped that a terminal could take for a command."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
