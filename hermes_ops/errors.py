"""The errors of this plugin; each says what happened, what was expected and what to do, in one line."""

from __future__ import annotations


class OpsError(Exception):
    """Something a person can do something about; its text is the whole message."""


class Unreadable(OpsError):
    """A file, database or service of the host, or a provider, could not be read: what it holds is unknown.

    ``source`` names it (a path, a URL without query), ``why`` says what is wrong. Never taken for empty.
    """

    def __init__(self, source: object, why: str) -> None:
        super().__init__(f"{source}: {why}")
        self.source, self.why = str(source), why
