"""`python -m name`: modules that run code given in words, those that run a script, and those of this line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rules.names import names
from . import flows
from .code_given import code, from_input, given, script
from .invocation import Arg, Invocation

if TYPE_CHECKING:
    from .walk import Walk

# Modules whose words are a script and its arguments, behind options of their own.
_RUNNERS = names(
    "cProfile profile pdb trace coverage runpy kernprof line_profiler memory_profiler viztracer debugpy "
    "ipdb pudb scalene pyinstrument hunter pyflame"
)
# Modules that read code from their input, or take it in -c.
_CONSOLES = names("code asyncio IPython bpython ptpython idlelib")
# Options of these modules that take another word.
_VALUED = names("-o -s --outfile --sort -n -r -u --number --repeat --unit --setup --listen --source")
_DEPTH = 3


def module(walk: Walk, call: Invocation, name: Arg, words: list[Arg], depth: int = 0) -> None:
    """Judge what `python -m name words` runs."""
    base = name.text.partition(".")[0]
    if name.text == "timeit":
        _timed(walk, call, words)
    elif base in _CONSOLES:
        _console(walk, call, words)
    elif base in _RUNNERS and depth < _DEPTH:
        _runner(walk, call, words, depth)
    elif walk.state.files:
        path = name.text.replace(".", "/")
        for file in (f"{path}.py", f"{path}/__main__.py"):
            if flows.file_stream(walk, file) is not flows.LOCAL:
                script(walk, call, "python", Arg(file), words)
                break


def _timed(walk: Walk, call: Invocation, words: list[Arg]) -> None:
    """python -m timeit -s SETUP STATEMENT...: lines of one program."""
    setup: list[str] = []
    at = 0
    while at < len(words) and words[at].text[:1] == "-":
        text = words[at].text
        at += 1
        if text == "--":
            break
        if text.startswith(("-s", "--setup=")):
            value = text.partition("=")[2] if text.startswith("--") else text[2:]
            if not value and at < len(words):
                value = words[at].text
                at += 1
            setup.append(value)
        elif text in _VALUED:
            at += 1
    lines = [*setup, *(word.text for word in words[at:])]
    if lines:
        code(walk, call, "python", Arg("\n".join(lines)), given(walk, call, ()))


def _console(walk: Walk, call: Invocation, words: list[Arg]) -> None:
    for at, word in enumerate(words[:-1]):
        if word.text == "-c":
            code(walk, call, "python", words[at + 1], given(walk, call, words[at + 2 :]))
            return
    from_input(walk, call, "python", words)


def _runner(walk: Walk, call: Invocation, words: list[Arg], depth: int) -> None:
    """python -m pdb -c COMMAND SCRIPT, python -m cProfile -m MODULE, python -m coverage run SCRIPT."""
    at = 0
    while at < len(words):
        text = words[at].text
        after = words[at + 1] if at + 1 < len(words) else None
        if text in ("-m", "--module") and after is not None:
            module(walk, call, after, words[at + 2 :], depth + 1)
            return
        if text == "-c" and after is not None:
            code(walk, call, "python", Arg(after.text.lstrip("! ")), given(walk, call, ()))
            at += 2
        elif text in _VALUED:
            at += 2
        elif text[:1] == "-" or text == "run":
            at += 1
        else:
            script(walk, call, "python", words[at], words[at + 1 :])
            return
