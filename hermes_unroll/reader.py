"""Read a trace without running it.

This text is also embedded in every generated trace (for its --diff and --edit), so it stays
self-contained: the standard library of Python 3.9, imported where it is used.

A trace is read up to its DIGEST line: what follows is program. What stands before is a docstring and
one literal per name of DATA_NAMES; a file with anything else there is refused, before the parser sees it.
"""

from __future__ import annotations

FORMATS = (1,)
DATA_NAMES = (
    "FORMAT",
    "RECORDER",
    "SESSION",
    "CONVERSATION_HISTORY",
    "TIMELINE",
    "RESPONSE_CACHE",
    "COST",
    "STATE_GRAPH",
    "DEPENDENCIES",
    "TOOL_SCHEMAS",
    "PROVIDER_CONFIG",
    "CHAIN",
    "EDITS",
    "DIGEST",
)
MAX_TRACE_BYTES = 256 * 1024 * 1024


class TraceError(Exception):
    """A file that cannot be read as a trace; one line that says why."""


def read_trace(path: str, max_bytes: int = MAX_TRACE_BYTES) -> dict:
    """Return the data of a trace file by name (TIMELINE, SESSION, ...), executing nothing.

    RESPONSE_CACHE comes resolved, as importing the file would give it.
    Raises TraceError for a file that is missing, too large, or no trace of this recorder.
    """
    import ast

    program = _read_bytes(path, max_bytes)
    try:
        data = {name: ast.literal_eval(node) for name, node in data_nodes(program).items()}
        check_shape(data)
    except (TraceError, SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise TraceError(f"{printable(path)} is no readable trace: {printable(str(error))}") from None
    resolve_cache(data["RESPONSE_CACHE"], data["CONVERSATION_HISTORY"])
    resolve_arguments(data["TIMELINE"], data["CONVERSATION_HISTORY"])
    return data


def _read_bytes(path: str, max_bytes: int) -> bytes:
    import os
    import stat

    try:
        facts = os.stat(path)
        if not stat.S_ISREG(facts.st_mode):
            raise TraceError(f"{printable(path)} is no regular file; a trace is a .py file")
        if facts.st_size > max_bytes:
            raise TraceError(f"{printable(path)} has {facts.st_size} bytes; the limit is {max_bytes}")
        with open(path, "rb") as file:
            return file.read(max_bytes)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TraceError(f"cannot read {printable(path)}: {reason}; expected a trace file") from None


def split_digest(program: bytes) -> tuple:
    """Split a program at its DIGEST line: (bytes before it, the digest written there, bytes after it)."""
    before, mark, rest = program.partition(b'\nDIGEST = "')
    digest, quote, after = rest.partition(b'"\n')
    if not mark or not quote:
        raise TraceError("it has no DIGEST line: an earlier tool wrote it, or it is no trace at all")
    return before + b"\n", digest.decode("ascii", "replace"), after


def digest_of(before: bytes, after: bytes) -> str:
    """Return the sha256 (hex) of a program: every byte of it except the DIGEST line."""
    import hashlib

    digest = hashlib.sha256(before)
    digest.update(after)
    return digest.hexdigest()


def data_nodes(program: bytes) -> dict:
    """Parse the data part of a program: name -> syntax tree of its literal, in order. Raises TraceError."""
    import ast

    before, digest, _ = split_digest(program)
    _check_format(before)
    _check_literals_only(before)
    source = before.decode()
    nodes = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            name = statement.targets[0].id
            if name in nodes or len(statement.targets) > 1:
                raise TraceError(f"line {statement.lineno} assigns {name} once more")
            nodes[name] = statement.value
    nodes["DIGEST"] = ast.Constant(digest)
    return nodes


def _check_format(before: bytes) -> None:
    import re

    found = re.search(rb"^FORMAT = (\d{1,9})$", before, re.M)
    if not found:
        raise TraceError("it has no FORMAT line: an earlier tool wrote it, or it is no trace at all")
    if int(found.group(1)) not in FORMATS:
        known = ", ".join(str(number) for number in FORMATS)
        raise TraceError(f"it has FORMAT {int(found.group(1))}; this program reads {known}")


def _check_literals_only(before: bytes) -> None:
    """Refuse source that is more than literals: long chains of operators, calls or subscripts overflow
    the C stack of the older parsers, so they must not reach them.

    Every text becomes an s, every number a 1, comments go; of what is left only names we know,
    brackets, commas, colons and equals signs may stay, and no bracket may follow a value.
    """
    import re

    token = re.compile(
        rb"""(#[^\n]*)|(\"\"\"[\s\S]*?\"\"\"|'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")"""
        rb"""|((?<![\w.])-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?)""",
        re.S,
    )
    shape = token.sub(lambda found: (b"", b"s", b"1")[found.lastindex - 1], before)
    allowed = {*DATA_NAMES, "s", "None", "True", "False", "from", "__future__", "import", "annotations"}
    strange = {word.decode() for word in re.findall(rb"[A-Za-z_]\w*", shape)} - allowed
    if not strange:
        bad = re.search(rb"[^\w\s\[\]{},:=]|[\w\]}]\s*[\[{]|1\s*1", shape)
        strange = {bad.group().decode("ascii", "replace")} if bad else strange
    if strange:
        raise TraceError(f"its data part holds {min(strange)[:40]!r}, which is no literal")


def check_shape(data: dict) -> None:
    """Raise TraceError unless the data has the parts and the outer types of a trace."""
    missing = [name for name in DATA_NAMES if name not in data]
    if missing:
        raise TraceError(f"it lacks {', '.join(missing)}")
    for name in ("SESSION", "RESPONSE_CACHE", "DEPENDENCIES"):
        if type(data[name]) is not dict:
            raise TraceError(f"{name} is no dict")
    for name in ("CONVERSATION_HISTORY", "TIMELINE"):
        if type(data[name]) is not list or any(type(item) is not dict for item in data[name]):
            raise TraceError(f"{name} is no list of dicts")
    for number, step in enumerate(data["TIMELINE"]):
        if type(step.get("kind")) is not str or type(step.get("event_id")) is not str:
            raise TraceError(f"step {number} of TIMELINE has no kind or no event_id")


def resolve_cache(cache: dict, messages: list) -> None:
    """Put full values in the place of a cache's references to messages, in place.

    "llm:..." becomes {"message": the assistant message}, "tool:..." {"result": what the tool returned}.
    An entry that refers to nothing is dropped: asking for it is a cache miss.
    """
    for key, entry in list(cache.items()):
        of_tool = str(key).startswith("tool:")
        entry = entry if isinstance(entry, dict) else {}
        message = entry.get("message")
        if type(message) is int:
            message = messages[message] if 0 <= message < len(messages) else None
        if "result" in entry:
            cache[key] = {"result" if of_tool else "message": entry["result"]}
        elif isinstance(message, dict):
            cache[key] = {"result": message.get("content")} if of_tool else {"message": message}
        else:
            del cache[key]


def resolve_arguments(steps: list, messages: list) -> None:
    """Give each step that refers to a call of a reply (`args_at`: message, call) its arguments, in place.

    A reference to nothing, or to what is no JSON, leaves the step without arguments.
    """
    for step in steps if type(steps) is list else ():
        if type(step) is dict and "args_at" in step:
            import json

            try:
                message, call = step.pop("args_at")
                step["args"] = json.loads(messages[message]["tool_calls"][call]["function"]["arguments"])
            except (IndexError, KeyError, TypeError, ValueError, RecursionError):
                step["args"] = None


def printable(text: str) -> str:
    """Return a text with every character escaped that a terminal could take for a command or a line end."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def short(value: object, limit: int = 80, start: int = 0) -> str:
    """Return a value as one printable line of bounded length; a text from character `start` on."""
    import json

    if isinstance(value, str):
        text = json.dumps(value[start : start + limit], ensure_ascii=False)
        return ("..." if start else "") + printable(text) + ("..." if len(value) > start + limit else "")
    text = printable(json.dumps(value, ensure_ascii=False, default=repr))
    return text if len(text) <= limit else text[:limit] + "..."
