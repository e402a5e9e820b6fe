"""Options that curl takes from a file or from its input: `curl -K -`, `curl --config <(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import flows
from .code_given import is_input
from .invocation import Arg, Invocation

if TYPE_CHECKING:
    from .walk import Walk

_MOST_LINES = 50


def read(walk: Walk, call: Invocation) -> None:
    """Put what the settings say behind the words of the command."""
    words = call.argv
    for at, word in enumerate(words[:-1]):
        if word.text in ("-K", "--config"):
            path = words[at + 1].text
        elif word.text.startswith("--config="):
            path = word.text[9:]
        elif word.text.startswith("-K"):
            path = word.text[2:]
        else:
            continue
        held = call.stdin if is_input(path) or path == "-" else flows.file_stream(walk, path)
        if held.text:
            call.argv = [*words, *_options(held)]
        return


def _options(held: flows.Stream) -> list[Arg]:
    found: list[Arg] = []
    for line in (held.text or "").splitlines()[:_MOST_LINES]:
        line = line.strip()
        if not line or line[0] == "#":
            continue
        name, value = _halves(line)
        if not name:
            continue
        found.append(Arg(name if name[0] == "-" else f"--{name}"))
        if value:
            found.append(Arg(value, False, held.taint, held.source))
    return found


def _halves(line: str) -> tuple[str, str]:
    """`name = "value"`, `name: value`, `--name value`."""
    at = next((at for at, letter in enumerate(line) if letter in "=: \t"), len(line))
    value = line[at:].strip(" \t=:")
    if value[:1] == '"':
        value = value[1:].partition('"')[0]
    return line[:at], value
