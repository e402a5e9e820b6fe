"""awk: what `print` writes to files and feeds to commands, and the fields of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .script_values import fold
from .tokens import NAME
from .value import Value, add, joined

if TYPE_CHECKING:
    from .script_walk import Script

# Names that awk gives to its own output.
_OWN_OUTPUT = frozenset(["/dev/stdout", "/dev/stderr", "-", "/dev/tty", "/dev/null"])


def printed(script: Script, formats: bool) -> Value:
    """`print a, b > "file"`, `printf format, a | "command"`: the rest of such a statement."""
    outer, script.stops_at_redirection = script.stops_at_redirection, True
    try:
        values = script.arguments()
        if len(values) == 1 and values[0].items is not None:
            values = values[0].items
        content = _content(script, values, formats)
        if script.is_next(">", ">>"):
            script.at += 1
            script.acts.prints_more()
            _write(script, script.expression(), content)
        elif script.is_next("|"):
            script.at += 1
            if script.is_next("&"):
                script.at += 1
            script.acts.prints_more()
            script.feed(script.expression(), content)
        elif script.acts.given.printed is not None:
            script.acts.given.printed.add((content,))
    finally:
        script.stops_at_redirection = outer
    return content


def _content(script: Script, values: list[Value], formats: bool) -> Value:
    if formats:
        return fold("sprintf", values) or Value()
    if not values:
        values = [script.names.get("$0", Value())]
    separator = script.names.get("OFS")
    end = script.names.get("ORS", Value("\n"))
    return add(joined(values, separator.text if separator is not None else " "), end)


def _write(script: Script, path: Value, content: Value) -> None:
    if not path.is_text or path.text in _OWN_OUTPUT:
        return
    if path.text.startswith("/inet"):
        script.connected = True
        script.acts.send([content])
        return
    appends = path.text in script.acts.files
    script.acts.write(path, content, appends=appends)


def piped(script: Script, value: Value) -> None:
    """`"command" | getline`, and an expression before a bar."""
    if script.is_next("&"):
        script.at += 1
    token = script.peek()
    if value.is_text and value.text.startswith("/inet"):
        script.connected = True
    elif token is not None and token.kind == NAME and token.text == "getline":
        if script.connected and not value.is_text:
            script.acts.report("code.reverse-shell")
        script.run(value)
    elif token is not None:
        script.feed(script.operand(), value)


def fields(record: Value, separator: str = " ") -> list[Value]:
    """The fields of a record; none when it is not known."""
    if not record.is_text:
        return []
    pieces = record.text.split() if separator in (" ", "") else record.text.split(separator)
    return [Value(piece, taint=record.taint, source=record.source) for piece in pieces[:32]]
