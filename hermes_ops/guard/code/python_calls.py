"""What the calls of Python do: by name, by method, and functions that are handed on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from . import folding, text_methods
from .printing import shown
from .python_files import FILE_CALLS, PATH_CALLS, file_method
from .python_host import HOST_CALLS, host_command
from .python_names import PATH, Call
from .python_processes import PROCESS_CALLS, native, program_arguments
from .python_services import cloud, database, network
from .python_texts import GETTERS, TEXT_CALLS, got
from .value import Value, either, joined, taint_of, unknown

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]


def _map(walk: Walk, call: Call) -> Value | None:
    """map, filter: the function is called with each item."""
    if len(call.args) < 2:
        return None
    function, over = call.args[0], call.args[1]
    items = folding.elements(over)
    walk.spend(len(items) if items is not None else 0)
    rows = [[item] for item in items[:64]] if items is not None else [[walk.element(over)]]
    if len(call.args) == 3 and items is not None:
        others = folding.elements(call.args[2]) or []
        rows = [[item, other] for item, other in zip(items, others, strict=False)]
    results = [pass_on(walk, function, row, {}, call) for row in rows]
    if call.name == "filter":
        return over
    if items is not None and len(items) <= 64:
        return Value(items=results)
    return unknown(over, *results)


def _partial(walk: Walk, call: Call) -> Value | None:
    if not call.args:
        return None
    return Value(
        name="functools.partial()", of=call.args[0], items=call.args[1:], pairs=call.keywords or None
    )


def _reduce(walk: Walk, call: Call) -> Value | None:
    items = folding.elements(call.args[1]) if len(call.args) > 1 else None
    if not items or len(items) > 256:
        return None
    value = items[0]
    for item in items[1:]:
        value = pass_on(walk, call.args[0], [value, item], {}, call)
    return value


def pass_on(walk: Walk, function: Value, args: list[Value], keywords: dict[str, Value], call: Call) -> Value:
    """Call a function that was handed over as a value."""
    if function.name == "functools.partial()" and function.of is not None:
        return pass_on(
            walk, function.of, [*(function.items or []), *args], {**(function.pairs or {}), **keywords}, call
        )
    receiver = function.of if function.name.startswith(PATH) and function.of is not None else Value()
    method = function.name.rpartition(".")[2]
    return walk.called(function, Call(function.name, args, keywords, receiver, method, call.line), None)


def _handed_over(walk: Walk, call: Call) -> None:
    """Functions among the arguments: Thread(target=f, args=(x,)), executor.submit(f, x)."""
    target = call.keywords.get("target") or call.keywords.get("function") or call.keywords.get("func")
    if target is not None and _does_something(target):
        given = call.keywords.get("args")
        named = call.keywords.get("kwargs")
        args = folding.elements(given) if given is not None else []
        pass_on(walk, target, list(args or []), (named.pairs if named is not None else None) or {}, call)
    for place, arg in enumerate(call.args):
        if not _does_something(arg):
            continue
        rest = call.args[place + 1 :]
        if call.method in ("map", "imap", "starmap", "imap_unordered") and rest:
            items = folding.elements(rest[0])
            for item in items[:64] if items is not None else [walk.element(rest[0])]:
                pass_on(walk, arg, [item], {}, call)
            return
        if len(rest) == 1 and rest[0].items is not None:
            rest = rest[0].items
        given = call.keywords.get("args")
        if given is not None:
            rest = folding.elements(given) or rest
        pass_on(walk, arg, rest, {}, call)


def _does_something(value: Value) -> bool:
    return value.function is not None or value.name in CALLS or value.name in PATH_CALLS


def _next(walk: Walk, call: Call) -> Value | None:
    """next(generator): one of its items, whichever its turn is."""
    items = folding.elements(call.args[0]) if call.args and not call.args[0].is_text else None
    return either(items[:64]) if items else None


def _keyed(walk: Walk, call: Call) -> Value | None:
    """sorted, max, min: the function that is the key is called with each item."""
    items = call.args if len(call.args) > 1 else folding.elements(call.args[0]) if call.args else None
    key = call.keywords.get("key")
    if key is not None and items:
        for item in items[:64]:
            pass_on(walk, key, [item], {}, call)
    if call.name != "sorted" and items and all(item.is_text for item in items):
        return either(items[:64])
    return None


def _made_class(walk: Walk, call: Call) -> Value | None:
    """type(name, bases, members)."""
    if len(call.args) != 3 or call.args[2].pairs is None:
        return None
    return Value(name=f"class {call.args[0].text[:60]}", pairs=call.args[2].pairs)


def _template(walk: Walk, call: Call) -> Value | None:
    return Value(name="string.Template()", of=call.args[0]) if call.args else None


_TEMPLATE_NAME = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def _filled(walk: Walk, call: Call) -> Value | None:
    """Template(text).substitute(name=value)."""
    text = call.receiver.of
    if text is None or not text.is_text:
        return None
    given = {**(call.args[0].pairs or {} if call.args else {}), **call.keywords}
    pieces, last = [], 0
    for found in _TEMPLATE_NAME.finditer(text.text[:4000]):
        pieces += [Value(text.text[last : found.start()]), given.get(found[1] or found[2], Value())]
        last = found.end()
    return joined([*pieces, Value(text.text[last:])])


def _print(walk: Walk, call: Call) -> None:
    """print(*values, sep, end): kept while all of it is known."""
    output = walk.acts.given.printed
    if output is None or output.text is None:
        return
    options = {name: call.keywords.get(name, Value(text)) for name, text in (("sep", " "), ("end", "\n"))}
    if not call.keywords.keys() <= {"sep", "end", "flush"}:
        output.lose()
    by, end = (shown(value) if value.known is not None else None for value in options.values())
    if by is None or end is None:
        output.lose()
    else:
        output.add(call.args, by, end)


def _written_out(walk: Walk, call: Call) -> None:
    """sys.stdout.write(text)"""
    output = walk.acts.given.printed
    if output is not None:
        output.add([Value(one.text) if type(one.known) is bytes else one for one in call.args])


def _identity(walk: Walk, call: Call) -> Value:
    return call.args[0] if call.args else Value()


def _json_dumps(walk: Walk, call: Call) -> Value:
    taint, source = taint_of(call.args)
    return Value(taint=taint, source=source)


CALLS: dict[str, Handler] = {
    **FILE_CALLS,
    **PROCESS_CALLS,
    **TEXT_CALLS,
    **HOST_CALLS,
    "print": _print,
    **dict.fromkeys(("sys.stdout.write", "sys.stdout.buffer.write"), _written_out),
    "map": _map,
    "next": _next,
    **dict.fromkeys(("sorted", "max", "min"), _keyed),
    "type": _made_class,
    "ast.parse": _identity,
    "string.Template": _template,
    **dict.fromkeys(("string.Template().substitute", "string.Template().safe_substitute"), _filled),
    "filter": _map,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "sqlalchemy.text": _identity,
    "psycopg2.sql.SQL": _identity,
    "psycopg.sql.SQL": _identity,
    "json.dumps": _json_dumps,
    "asyncio.run": _identity,
    "asyncio.create_task": _identity,
    "asyncio.wait_for": _identity,
    "contextlib.closing": _identity,
}


def judge_call(walk: Walk, call: Call, function: Value) -> Value | None:
    """What one call does and gives; None when it has no meaning here."""
    name, method, receiver = call.name, call.method, call.receiver
    handler = CALLS.get(name)
    if handler is not None:
        result = handler(walk, call)
        if result is not None:
            return result
    if (receiver.is_text and receiver.name != PATH) or type(receiver.known) in (bytes, int):
        walk.spend(len(receiver.text) // 128 + sum(len(arg.items or ()) for arg in call.args[:2]) // 4)
        if method == "format":
            return either(
                text_methods.formatted(one.text, call.args, call.keywords) for one in receiver.each()
            )
        if receiver.choices:
            results = [text_methods.method(one, method, call.args) for one in receiver.choices]
            if all(one is not None for one in results):
                return either(one for one in results if one is not None)
        result = text_methods.method(receiver, method, call.args)
        if result is not None:
            return result
    if name.startswith(PATH):
        handler = PATH_CALLS.get(name)
        if handler is not None and (function.of is not None or receiver.is_text):
            if not receiver.is_text and function.of is not None:
                call = replace(call, receiver=function.of)
            result = handler(walk, call)
            return result if result is not None else Value()
    if name.startswith("str.") and name.count(".") == 1 and function.of is not None:
        return text_methods.method(function.of, name[4:], call.args)
    if name.startswith(("str.", "bytes.")) and call.args and name not in ("str.maketrans", "bytes.fromhex"):
        return text_methods.method(call.args[0], name.partition(".")[2], call.args[1:])
    if name:
        if call.args and call.args[0].choices and name.startswith(("os.path.", "str")):
            results = [folding.function(name, [one, *call.args[1:]]) for one in call.args[0].choices]
            if all(one is not None for one in results):
                return either(one for one in results if one is not None)
        result = folding.function(name, call.args)
        if result is not None:
            walk.spend(len(result.items) // 2 if result.items is not None else 0)
            return result
        if name == "functools.partial()":
            return pass_on(walk, function, call.args, call.keywords, call)
        if name in GETTERS:
            return got(walk, call, function)
        if name.startswith(("hermes_cli.", "hermes_ops.")):
            return host_command(walk, call)
        if name.startswith("ctypes."):
            return native(walk, call)
        if name.startswith("sh.") and name.count(".") == 1:
            return program_arguments(walk, replace(call, args=[Value(name[3:]), *call.args]))
        if "__subclasses__" in name and name.count("(") > 1 and call.args:
            walk.acts.report("code.opaque-exec")
    if receiver.name.startswith(("file(", "archive(")):
        result = file_method(walk, call)
        if result is not None:
            return result
    for judge in (cloud, database, network):
        result = judge(walk, call)
        if result is not None:
            return result
    if call.keywords or call.args:
        _handed_over(walk, call)
    if name == "dict" and call.keywords:
        return Value(pairs=call.keywords)
    return None
