"""A tree of shell text in one line, for tests that compare trees.

A simple command is [words], quoted text stands in 'quotes', a list is its commands and operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from hermes_ops.guard.shell.tree import (
    Arithmetic,
    Assignment,
    Compound,
    Function,
    HereDocument,
    Param,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Text,
    Word,
)


def nodes(node: Any) -> Iterator[Any]:
    """This node and every one below it."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            waiting += value
        elif is_dataclass(value):
            yield value
            waiting += [getattr(value, field.name) for field in fields(value)]


def spans(node: Any) -> list[tuple[Any, tuple[int, int]]]:
    """Every node from this one down that has a span, and the span."""
    return [(each, each.span) for each in nodes(node) if hasattr(each, "span")]


def show(node: Any) -> str:
    return _SHOWS[type(node)](node)


def _text(node: Text) -> str:
    return f"'{node.value}'" if node.quoted else node.value


def _param(node: Param) -> str:
    index = f"[{show(node.index)}]" if node.index else ""
    argument = f" {show(node.argument)}" if node.argument else ""
    return f"${'q' if node.quoted else ''}{{{node.name}{index}{node.op and ' ' + node.op}{argument}}}"


def _substitution(node: Substitution) -> str:
    return f"{'q' if node.quoted else ''}{node.kind} {show(node.script)})"


def _arithmetic(node: Arithmetic) -> str:
    return f"$(({node.text}{''.join(f' | {show(part)}' for part in node.parts)}))"


def _word(node: Word) -> str:
    return "".join(show(part) for part in node.parts)


def _words(words: tuple[Word, ...]) -> str:
    return " ".join(show(word) for word in words)


def _assignment(node: Assignment) -> str:
    index = f"[{show(node.index)}]" if node.index else ""
    value = f"({_words(node.array)})" if node.array is not None else show(node.value)
    return f"{node.name}{index}{'+=' if node.appends else '='}{value}"


def _document(node: HereDocument) -> str:
    return f"{show(node.word)}{'' if node.ended else ' (not ended)'}"


def _redirect(node: Redirect) -> str:
    shown = _document(node.document) if node.document else show(node.target)
    return f"{node.fd}{node.op}{shown}"


def _redirects(node: Simple | Compound) -> list[str]:
    return [show(redirect) for redirect in node.redirects]


def _simple(node: Simple) -> str:
    parts = [*map(show, node.assignments), *map(show, node.words), *_redirects(node)]
    return f"[{' '.join(parts)}]"


def _pipeline(node: Pipeline) -> str:
    text = show(node.commands[0])
    for join, command in zip(node.joins, node.commands[1:], strict=True):
        text += f" {join} {show(command)}"
    return ("time " if node.timed else "") + ("! " if node.negated else "") + text


def _compound(node: Compound) -> str:
    parts = [node.kind, node.name, _words(node.words), *map(show, node.parts)]
    if node.patterns:
        clauses = zip(node.patterns, node.bodies, strict=True)
        parts += [f"{' | '.join(map(show, patterns))}: {show(body)}" for patterns, body in clauses]
    else:
        parts += [show(body) for body in node.bodies]
    return "{" + "; ".join(part for part in parts if part) + "}" + "".join(_redirects(node))


def _function(node: Function) -> str:
    return f"{node.name}() {show(node.body)}"


def _script(node: Script) -> str:
    return " ".join(f"{show(item.command)}{item.after and ' ' + item.after}" for item in node.items)


_SHOWS = {
    Text: _text,
    Param: _param,
    Substitution: _substitution,
    Arithmetic: _arithmetic,
    Word: _word,
    Assignment: _assignment,
    HereDocument: _document,
    Redirect: _redirect,
    Simple: _simple,
    Pipeline: _pipeline,
    Compound: _compound,
    Function: _function,
    Script: _script,
}
