"""Reads shell text as bash 5 reads it, without running anything: `read`."""

from __future__ import annotations

from .compounds import command
from .expansions import unclosed
from .grammar import script
from .source import Exhausted, Source, Unreadable, widened
from .spans import restore
from .tree import Item, Reading, Script

# Text beyond this is not looked at at all, here-documents or not.
_WHOLE = 4_000_000


def read(text: str) -> Reading:
    """The tree of a shell command line or script.

    Never raises. On a syntax error `problem` names the construct in plain words, and `script` holds the
    complete commands before it. At a limit (length, words, nesting) `stopped` is set too. Zero bytes are left
    out, as bash does.
    """
    if "\0" in text:
        return _without_zeros(text)
    source = Source(text, script, command)
    items: list[Item] = []
    end = 0
    problem, at, stopped = "", 0, False
    try:
        if len(text) > _WHOLE:
            raise Exhausted("too long")
        _, end = script(source, 0, items)
        if end < len(source.text):
            raise unclosed(source, "a command", end, end)
    except Unreadable as error:
        problem, at = error.what, error.at
    except Exhausted as error:
        problem, at, stopped = str(error), items[-1].command.span[1] if items else 0, True
    except RecursionError:
        problem, stopped = "nesting that is too deep", True
    if not problem and source.inside:
        problem, at = source.inside[0].what, source.inside[0].at
    tree = Script(tuple(items), (0, min(end or at, len(source.text))))
    if source.cuts:
        restore(tree, source.original)
        at = source.original((at, at))[0]
    return Reading(text, tree, problem, min(at, len(text)), stopped)


def _without_zeros(text: str) -> Reading:
    places, kept = [], 0
    for piece in text.split("\0")[:-1]:
        kept += len(piece)
        places.append(kept)
    reading = read(text.replace("\0", ""))
    restore(reading.script, lambda span: widened(span, places, 1))
    reading.at = min(widened((reading.at, reading.at), places, 1)[0], len(text))
    reading.text = text
    return reading
