"""The expansion of words: quotes are gone already; parameters, substitutions, tildes and splitting remain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules import tokens
from ..shell.tree import Arithmetic, Param, Substitution, Text, Word
from . import arithmetic, decode, groups, operators
from .invocation import UNKNOWN, Arg
from .state import EMPTY, Value
from .wrappers import ASSIGNMENT

if TYPE_CHECKING:
    from .walk import Walk

CLEAN: frozenset[str] = frozenset()
# Stands in nested text for a piece that is not known: a letter for private use, which the reader keeps.
HOLE = "\ue000"
# Characters of a word that was put together that cost as much as a command.
CHARACTERS_A_STEP = 1_000


def words(walk: Walk, sources: tuple[Word, ...]) -> list[Arg]:
    """The arguments that words expand to."""
    arguments: list[Arg] = []
    add = arguments.append
    holes = walk.depth > 0
    for word in sources:
        parts = word.parts
        part = parts[0] if len(parts) == 1 else None
        if type(part) is Text:
            value = part.value
            if part.quoted:
                add(_literal(walk, value) if holes else Arg(value))
            elif value[:1] == "~":
                add(Arg(_tilde(walk, value), _is_glob(value)))
            elif holes:
                add(_literal(walk, value, _is_glob(value)))
            elif "*" in value or "?" in value or "[" in value:
                add(Arg(value, True))
            else:
                add(Arg(value))
        else:
            arguments.extend(fields(walk, word))
    return arguments


def _is_glob(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text


def filled(walk: Walk, value: str) -> str:
    """Literal text in which the pieces that are not known stand as such."""
    return value.replace(HOLE, UNKNOWN) if walk.depth and HOLE in value else value


def _literal(walk: Walk, value: str, glob: bool = False) -> Arg:
    # An unknown piece inside literal text comes from outside of the text: it brings its taint along.
    if walk.depth and HOLE in value:
        return Arg(value.replace(HOLE, UNKNOWN), glob, walk.ambient, walk.ambient_source)
    return Arg(value, glob)


def one(walk: Walk, word: Word | None) -> Arg:
    """The word as one argument: what an assignment, a redirection or a here-string takes."""
    if word is None:
        return EMPTY
    parts = word.parts
    if len(parts) == 1 and type(parts[0]) is Text:
        return words(walk, (word,))[0]
    return joined(_pieces(walk, word, split=False))


def joined(arguments: list[Arg], between: str = " ") -> Arg:
    """Several words as one."""
    if len(arguments) == 1:
        return arguments[0]
    if not arguments:
        return EMPTY
    taint = CLEAN
    source = ""
    for argument in arguments:
        if argument.taint:
            taint |= argument.taint
            source = source or argument.source
    return Arg(decode.bounded(between.join([arg.text for arg in arguments])), False, taint, source)


def fields(walk: Walk, word: Word) -> list[Arg]:
    """The words one word expands to, split where unquoted expansions hold blanks; not in `name=...`."""
    first = word.parts[0] if word.parts else None
    if type(first) is Text and "=" in first.value and not first.quoted and ASSIGNMENT.match(first.value):
        return [one(walk, word)]
    if any(type(part) is Text and part.value == "(" and not part.quoted for part in word.parts):
        return [
            argument for each in groups.alternatives(word) for argument in _pieces(walk, each, split=True)
        ]
    return _pieces(walk, word, split=True)


class _Builder:
    """Collects the pieces of a word into fields."""

    __slots__ = ("fields", "glob", "open", "source", "taint", "text", "variable")

    def __init__(self) -> None:
        self.fields: list[Arg] = []
        self.reset()

    def reset(self) -> None:
        self.text: list[str] = []
        self.open = False
        self.glob = False
        self.taint = CLEAN
        self.source = ""
        self.variable = ""

    def add(self, text: str, glob: bool = False, taint: frozenset[str] = CLEAN, source: str = "") -> None:
        self.variable = ""
        self.text.append(text)
        self.open = True
        if glob:
            self.glob = True
        if taint:
            self.taint |= taint
        if source:
            self.source = self.source or source

    def close(self) -> None:
        if self.open:
            text = "".join(self.text)
            self.fields.append(Arg(decode.bounded(text), self.glob, self.taint, self.source, self.variable))
        self.reset()

    def split(self, value: Arg, separators: str) -> None:
        """Add an unquoted value, which falls into several fields at the separators."""
        text = value.text
        if not separators:
            if text:
                self.add(text, value.glob or _is_glob(text), value.taint, value.source)
            return
        blank = True
        pieces = text.split() if separators == " \t\n" else re.split(f"[{re.escape(separators)}]+", text)
        pieces = [piece for piece in pieces if piece] if blank else pieces
        if text[:1] and text[0] in separators:
            self.close()
        for number, piece in enumerate(pieces):
            if number:
                self.close()
            self.add(piece, _is_glob(piece), value.taint, value.source)
        if pieces and text[-1] in separators:
            self.close()


def _pieces(walk: Walk, word: Word, split: bool) -> list[Arg]:
    builder = _Builder()
    first = True
    for part in word.parts:
        kind = type(part)
        if kind is Text:
            value = part.value
            if walk.depth and HOLE in value:
                value = value.replace(HOLE, UNKNOWN)
                builder.add("", False, walk.ambient, walk.ambient_source)
            if part.quoted:
                builder.add(value)
            else:
                if first and value[:1] == "~":
                    value = _tilde(walk, value)
                builder.add(value, _is_glob(value))
        elif kind is Param:
            _parameter(walk, part, builder, split)
        elif kind is Substitution:
            value = walk.substitution(part)
            if part.quoted or not split:
                builder.add(value.text, False, value.taint, value.source)
            else:
                builder.split(value, walk.separators())
        else:
            builder.add(computed(walk, part))
        first = False
    builder.close()
    for field in builder.fields:
        if len(field.text) > CHARACTERS_A_STEP:
            walk.spend(len(field.text) // CHARACTERS_A_STEP)
    if not split and not builder.fields:
        return [EMPTY]
    return builder.fields


def _tilde(walk: Walk, value: str) -> str:
    name, slash, rest = value.partition("/")
    if name == "~":
        return walk.home + slash + rest
    if name == "~+":
        return (walk.folder().path or ".") + slash + rest
    if name == "~-":
        return (walk.folder().previous or UNKNOWN) + slash + rest
    user = name[1:]
    if user == "root":
        return "/root" + slash + rest
    if not re.fullmatch(r"[a-z_][a-z0-9_-]*", user):
        return value
    # Another user's home: a folder of its own beside ours.
    if walk.home.rpartition("/")[2] == user:
        return walk.home + slash + rest
    return f"/home/{user}{slash}{rest}"


def computed(walk: Walk, part: Arithmetic) -> str:
    """The value of an arithmetic expansion when it is plain; what is inside is walked in any case."""
    for inner in part.parts:
        if type(inner) is Substitution:
            walk.substitution(inner)
        elif type(inner) is Arithmetic:
            computed(walk, inner)
        elif type(inner) is Param and inner.argument is not None:
            joined(_pieces(walk, Word((inner,)), split=False))
    text = part.text.strip()
    if text.isascii() and text.isdigit() and text[0] != "0":
        return text
    number = arithmetic.evaluate(walk, text)
    return UNKNOWN if number is None else str(number)


def _parameter(walk: Walk, part: Param, builder: _Builder, split: bool) -> None:
    name, op = part.name, part.op
    everything = part.index is not None and part.index.literal() in ("@", "*")
    if (name in ("@", "*") or everything) and not op.startswith(("len", "!")):
        elements = walk.positional() if name in ("@", "*") else _elements(walk, name)
        if elements is None:
            _unknown(builder, "")
            return
        if op:
            elements = _operated(walk, part, elements)
        separate = name == "@" or (part.index is not None and part.index.literal() == "@")
        _spread(walk, elements, builder, part.quoted, separate, split)
        return
    value = value_of(walk, part)
    if value.text == UNKNOWN and not op and part.index is None:
        empty_before = not builder.open
        builder.add(UNKNOWN, False, value.taint, value.source)
        if empty_before:
            builder.variable = name
        return
    if part.quoted or not split:
        # An element of a glob is one also in quotes: `for d in /*; do ... "$d"`.
        builder.add(value.text, value.glob, value.taint, value.source)
    else:
        builder.split(value, walk.separators())


def _unknown(builder: _Builder, variable: str) -> None:
    builder.add(UNKNOWN)
    builder.variable = variable


def _spread(
    walk: Walk, elements: list[Arg], builder: _Builder, quoted: bool, separate: bool, split: bool
) -> None:
    if (quoted and not separate) or not split:
        value = joined(elements)
        builder.add(value.text, False, value.taint, value.source)
        return
    for number, element in enumerate(elements):
        if number:
            builder.close()
        if quoted:
            builder.add(element.text, element.glob, element.taint, element.source)
        else:
            builder.split(element, walk.separators())


def _elements(walk: Walk, name: str) -> list[Arg] | None:
    value = walk.lookup(name)
    if value is None:
        return None
    if isinstance(value, dict):
        return list(value.values())
    return [value]


def _operated(walk: Walk, part: Param, elements: list[Arg]) -> list[Arg]:
    """Operators on all elements at once."""
    if part.op == ":":
        wanted = operators.bounds(walk, one(walk, part.argument).text)
        if wanted is None:
            return [*elements, Arg(UNKNOWN)]
        start, length = wanted
        # Positional parameters count from 1 and "${@:0}" begins with the name of the shell.
        whole = [Arg("bash"), *elements] if part.name in ("@", "*") else elements
        end = None if length is None else max(0, start + length)
        return whole[start:end]
    if part.op in (":-", "-", ":+", "+"):
        if part.op in (":-", "-"):
            return elements or [one(walk, part.argument)]
        return [one(walk, part.argument)] if elements else []
    return [operators.operate(walk, part, element) for element in elements]


def value_of(walk: Walk, part: Param) -> Arg:
    """The value of a parameter that is one word, its operator applied."""
    name, op = part.name, part.op
    if op == "!":
        return _indirect(walk, part)
    if part.index is not None:
        key = one(walk, part.index).text
        if op == "len" and key in ("@", "*"):
            elements = _elements(walk, name)
            return Arg(UNKNOWN if elements is None else str(len(elements)))
        value = walk.element(name, key)
    else:
        value = walk.parameter(name)
    if not op:
        return value if value is not None else _unset(name)
    if op == "len":
        if value is None or UNKNOWN in value.text:
            return Arg(UNKNOWN)
        return Arg(str(len(value.text)))
    if op in (":-", "-", ":=", "="):
        default = one(walk, part.argument)
        if value is None:
            # Whether it is set outside cannot be known: the default stands for it, as on a fresh shell.
            value = default
        elif not value.text and op[0] == ":":
            value = default
        if op in (":=", "="):
            walk.state.assign(name, value)
        return value
    if op in (":+", "+"):
        alternative = one(walk, part.argument)
        return EMPTY if value is not None and not value.text and op[0] == ":" else alternative
    if op in (":?", "?"):
        one(walk, part.argument)
        return value if value is not None else _unset(name)
    if value is None:
        if part.argument is not None:
            one(walk, part.argument)
        return Arg(UNKNOWN)
    return operators.operate(walk, part, value)


def _unset(name: str) -> Arg:
    source = tokens.source_of_variable(name)
    return Arg(UNKNOWN, False, tokens.TAINT, source, name) if source else Arg(UNKNOWN, variable=name)


def _indirect(walk: Walk, part: Param) -> Arg:
    name = walk.parameter(part.name)
    if name is None or UNKNOWN in name.text:
        return Arg(UNKNOWN)
    target, bracket, index = name.text.partition("[")
    if bracket:
        value = walk.element(target, index.rstrip("]"))
    else:
        value = walk.parameter(target)
    return value if value is not None else Arg(UNKNOWN)


def array(walk: Walk, elements: tuple[Word, ...]) -> Value:
    """The value of `name=(...)`: elements by key."""
    found: dict[str, Arg] = {}
    number = 0
    for word in elements:
        first = word.parts[0] if word.parts else None
        if type(first) is Text and not first.quoted and first.value[:1] == "[" and "]=" in first.value:
            key, _, rest = first.value[1:].partition("]=")
            found[key.strip("\"'")] = one(walk, Word((Text(rest), *word.parts[1:])))
            if key.isdigit():
                number = int(key) + 1
            continue
        for argument in fields(walk, word):
            found[str(number)] = argument
            number += 1
    return found
