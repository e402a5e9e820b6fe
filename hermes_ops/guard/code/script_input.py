"""What a script is given: its arguments, its input as a whole or line by line, its variables."""

from __future__ import annotations

import re

from ..rules.names import names
from .given import value_of
from .script_awk import fields
from .script_expressions import STEPS, Expressions
from .value import Value


def _listed(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {language: names(text) for language, text in table.items()}


def is_input_name(name: str) -> bool:
    """Is it the input, or something of it: STDIN, STDIN.each_line?"""
    return name in INPUT_NAMES or name.rpartition(".")[0] in INPUT_NAMES


# By language: names of the arguments, and what stands before the first word in them.
_ARGUMENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "perl": {"@ARGV": (), "$ARGV": ()},
    "ruby": {"ARGV": ()},
    "node": {"process.argv": ("node",), "Deno.args": (), "Bun.argv": ("bun",), "scriptArgs": ("",)},
    "php": {"$argv": ("",)},
    "lua": {"arg": ("",)},
    "awk": {"ARGV": ("awk",)},
}
# Names under which the input is found, and calls that give it.
INPUT_NAMES = frozenset(["STDIN", "$stdin", "ARGF", "process.stdin", "io.stdin", "$fh_stdin"])
_INPUT_CALLS = _listed(
    {
        "ruby": "gets readlines readline STDIN.read STDIN.gets STDIN.readlines STDIN.readline $stdin.read "
        "$stdin.gets $stdin.readlines ARGF.read ARGF.gets ARGF.readlines Kernel.gets",
        "lua": "io.read io.stdin.read io.lines",
        "perl": "readline",
        "php": "readline",
        "node": "Bun.stdin.text Deno.readAllSync",
    }
)
# Calls that read from what they are given first.
_READERS = frozenset(["fgets", "fread", "stream_get_contents", "fgetc", "readline", "text", "file"])
# How many steps are used before no further line is looked at.
_STEPS_OF_ROUNDS = 1_500
# Code that does something with a line of its input, besides printing it.
_USES_RECORDS = re.compile(r"system|exec|spawn|popen|eval|open|unlink|print[^;}\n]*[|>]|`|%x|qx|\bsh\b")


_SEPARATOR = re.compile(r"\bFS\s*=\s*\"([^\"\\]*)\"")


class Inputs(Expressions):
    """Expressions that know what the script is given."""

    def special_arguments(self, name: str) -> Value | None:
        """The arguments under one of their names; None for another name."""
        first = _ARGUMENTS.get(self.language, {}).get(name)
        if first is None:
            return None
        if name not in self.arguments_of:
            self.arguments_of[name] = Value(name="arguments", items=self.acts.given.arguments(first))
        return self.arguments_of[name]

    def input_called(self, name: str, args: list[Value]) -> Value | None:
        """A call that reads the input; None for another one."""
        if args and is_input_name(args[0].name) and name in _READERS:
            return self.acts.given.input()
        return self.acts.given.input() if self.gives_input(name) else None

    def gives_input(self, name: str) -> bool:
        """Is it a function that reads what comes in?"""
        return name in _INPUT_CALLS.get(self.language, ())

    def shifted(self) -> Value | None:
        """`shift` outside of functions: the first argument that was not taken yet."""
        values = self.acts.given.arguments()
        if not values:
            return None
        self.taken += 1
        return values[min(self.taken, len(values)) - 1]

    def assign_given(self, code: str) -> None:
        """Variables of the command line, as `awk -v name=value`."""
        for name, arg in self.acts.given.assigned:
            self.names[name] = value_of(arg)
        separator = _SEPARATOR.search(code) if self.language == "awk" else None
        if separator is not None:
            self.names.setdefault("FS", Value(separator[1]))

    def rounds(self, code: str) -> list[Value]:
        """The lines that the script is run for, one after another; at least one."""
        given = self.acts.given
        lines = given.lines() if given.records else None
        if not lines:
            return [given.input()]
        return lines if _USES_RECORDS.search(code) else lines[:1]

    def record(self, value: Value) -> bool:
        """Bind one line of the input and its fields; False when enough was walked."""
        if not self.acts.given.records:
            return True
        if self.language == "awk":
            separator = self.names.get("FS")
            self.names["$0"] = value
            pieces = fields(value, separator.text if separator is not None else " ")
            for place, piece in enumerate(pieces, 1):
                self.names[f"${place}"] = piece
            if pieces:
                self.names["$NF"] = pieces[-1]
        else:
            self.names["$_"] = self.names["$argn"] = value
            pieces = fields(value)
            if pieces:
                self.names["$F"] = self.names["@F"] = Value(items=pieces)
        return self.steps > STEPS - _STEPS_OF_ROUNDS or self.steps == STEPS
