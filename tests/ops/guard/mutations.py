"""Shell text made wrong, or right in another way, by small changes at random."""

from __future__ import annotations

import random

PIECES = [
    *" \t\n;&|<>()'\"`$\\{}[]#!*?=~+-@:,./0a\r",
    *(
        "$(",
        "${",
        "$((",
        "((",
        "))",
        "<<",
        "<<<",
        "<<-E\n",
        "E\n",
        "\\\n",
        "&&",
        "||",
        ";;",
        ";&",
        "|&",
        "[[",
        "]]",
    ),
    *(
        "if ",
        "then ",
        "elif ",
        "else ",
        "fi",
        "for ",
        "while ",
        "until ",
        "select ",
        "do ",
        "done",
        "case ",
        "in ",
    ),
    *(
        "esac",
        "function ",
        "coproc ",
        "time ",
        "! ",
        "{ ",
        "; }",
        "()",
        "$'",
        '$"',
        "<(",
        ">&",
        "&>",
        "2>",
        "x=(",
    ),
    *("+=", "${x:-", "${x[", "\\x41'", "é", "\u200b"),
]


def mutated(text: str, others: list[str], of: random.Random) -> str:
    """A text after one to three changes: something cut out, put in, replaced, or taken from another text."""
    for _ in range(of.choice((1, 1, 2, 3))):
        kind = of.random()
        start = of.randrange(len(text) + 1)
        end = min(len(text), start + of.choice((1, 1, 2, 5)))
        if kind < 0.35:
            text = text[:start] + text[end:]
        elif kind < 0.75:
            text = text[:start] + of.choice(PIECES) + text[start:]
        elif kind < 0.9:
            text = text[:start] + of.choice(PIECES) + text[end:]
        else:
            other = of.choice(others)
            at = of.randrange(len(other) + 1)
            text = text[:start] + other[at : at + of.choice((3, 10, 30))] + text[start:]
    return text
