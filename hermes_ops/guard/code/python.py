"""Python judged by its syntax tree; where there is none, by the calls that can be told in its text."""

from __future__ import annotations

import ast
import textwrap
from contextlib import suppress

from ..verdict import Found
from .acts import Acts, Exhausted
from .cells import cell_magic, run_magic, translated
from .given import NOTHING_GIVEN, Given
from .judge import Shell
from .printing import straight_module
from .python_functions import parsed
from .python_names import MARK
from .python_text import LIMIT as TEXT_LIMIT
from .python_text import judge_text
from .python_walk import Walk

# Longer or denser code is judged by its text alone: parsing takes about 1.5 microseconds a token.
LIMIT, MARKS_LIMIT = 32_000, 4_000
# Statements and expressions walked in one text.
STEPS = 4_000


def parse(code: str) -> ast.Module | None:
    """The syntax tree of a script or a notebook cell; None when it does not parse."""
    tree = parsed(code)
    if tree is None and code[:1] in (" ", "\t", "\n"):
        code = textwrap.dedent(code)
        tree = parsed(code)
    if tree is None and any(mark in code for mark in "!%?"):
        tree = parsed(translated(code))
    return tree


def judge_python(
    code: str,
    shell: Shell,
    home: str = "",
    cwd: str | None = None,
    hermes_home: str = "",
    given: Given = NOTHING_GIVEN,
) -> list[Found]:
    """What Python code or a notebook cell would do that should be stopped. Never raises or runs anything."""
    acts = Acts(shell, home, cwd, hermes_home, given)
    text = code.replace("\0", MARK)
    magic = cell_magic(text)
    walk = Walk(acts, STEPS, text.split("\n") if len(text) <= LIMIT else [])
    try:
        if magic is not None:
            run_magic(walk, magic[0], magic[1], magic[2])
            return acts.found
        if len(text) <= LIMIT and sum(map(text.count, ".,;([{+=")) <= MARKS_LIMIT:
            tree = parse(text)
            if tree is not None:
                if given.printed is not None and straight_module(tree):
                    given.printed.begin()
                walk.module(tree)
                return acts.found
    except (Exhausted, RecursionError):
        pass
    acts.prints_more()
    acts.renew()
    with suppress(Exhausted, RecursionError):
        judge_text(translated(text[:TEXT_LIMIT]) + text[TEXT_LIMIT:], acts, STEPS)
    return acts.found
