"""Programs of frameworks that run code in an option, an operand or on the input: rails runner."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from ..rules.names import names as listed
from . import commands_in_options, names
from .code_given import code, from_input, given
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk


class Console(NamedTuple):
    """What a subcommand runs: the language, options whose value is code; `operand`: its word is."""

    language: str
    long: frozenset[str] = frozenset()
    short: str = ""
    operand: bool = False
    input: bool = True


_DJANGO = Console("python", listed("--command"), "c")
_RAILS = Console("ruby", operand=True, input=False)
# By program, by subcommand.
CONSOLES: dict[str, dict[str, Console]] = {
    "manage.py": {"shell": _DJANGO, "shell_plus": _DJANGO},
    "django-admin": {"shell": _DJANGO, "shell_plus": _DJANGO},
    "rails": {
        "runner": _RAILS,
        "r": _RAILS,
        "console": Console("ruby"),
        "c": Console("ruby"),
    },
    "artisan": {"tinker": Console("php", listed("--execute"))},
    "flask": {"shell": Console("python")},
    "jupyter": {"run": Console("python"), "console": Console("python")},
}


def console(walk: Walk, call: Invocation, program: str, words: list[Arg]) -> bool:
    """Judge what a program of the table runs with these words behind its name. Is it one of them?"""
    verbs = CONSOLES.get(program)
    if verbs is None:
        return False
    at = next((at for at, word in enumerate(words[:6]) if word.text in verbs), -1)
    if at < 0:
        return False
    spec, rest = verbs[words[at].text], words[at + 1 :]
    found = False
    for _, value in commands_in_options.values(rest, spec.long, spec.short):
        found = True
        code(walk, call, spec.language, value, given(walk, call, []))
    if spec.operand:
        operands = list(
            Invocation(program, [Arg(program), *rest]).operands(frozenset(("-e", "--environment")))
        )
        if operands and " " not in operands[0].text and operands[0].text.endswith((".rb", ".py", ".php")):
            return True
        if operands and operands[0].text != "-":
            code(walk, call, spec.language, operands[0], given(walk, call, operands[1:]))
        elif operands:
            from_input(walk, call, spec.language)
    elif spec.input and not found:
        from_input(walk, call, spec.language)
    return True


def run(walk: Walk, call: Invocation) -> Stream | None:
    """A program of the table that is called by its own name."""
    console(walk, call, names.base(call.argv[0].text), call.argv[1:])
    return None


def settings(walk: Walk, call: Invocation) -> None:
    """ipython --InteractiveShellApp.exec_lines='["code", ...]'."""
    for word in call.argv[1:]:
        name, equals, value = word.text.partition("=")
        if not equals or not name.endswith((".exec_lines", ".code_to_run")):
            continue
        try:
            lines = ast.literal_eval(value[:20_000])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            lines = value
        text = "\n".join(map(str, lines)) if isinstance(lines, list | tuple) else str(lines)
        code(walk, call, "python", Arg(text, False, word.taint, word.source), given(walk, call, []))


HANDLERS = dict.fromkeys(CONSOLES, run)
