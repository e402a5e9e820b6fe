"""Trace -> the bytes of a program.

The shape of the program is templates/replay_template.py.txt: a page with named slots. Values enter it
as literals (literals.py) or, in the header, as bounded comment text; nothing recorded is ever looked at
again once it is in place. The parts of the program that this package needs too are included from their
only source.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .literals import comment_text, layout, literal
from .reader import FORMATS, TraceError, digest_of, split_digest
from .trace import Trace

FORMAT = FORMATS[-1]
_PACKAGE = Path(__file__).parent
_SLOT = re.compile(r"<<(.+?)>>")
_HEADER = ("session_id", "model", "provider", "started_at", "ended_at", "end")
_DIGEST_LINE = ('DIGEST = "', '"\n')


def generate_trace_program(trace: Trace) -> bytes:
    """Return the program that replays a session: ASCII source for Python 3.9 and later.

    The same Trace gives the same bytes on every Python and in every locale. Raises LiteralError for a
    value that values.encode() did not prepare.
    """
    return b"".join(program_pieces(trace))


def program_pieces(trace: Trace) -> Iterator[bytes]:
    """Yield the program piece by piece, so that it need never be in memory as a whole.

    A recorded value stands whole in one piece: a message, a step, an entry of the cache.
    """
    slots = _data_slots(trace) | _header_slots(trace)
    before, after = _template()
    seen = hashlib.sha256()
    for index, part in enumerate(before):
        for piece in (part,) if index % 2 == 0 else slots[part]:
            data = piece.encode("ascii")
            seen.update(data)
            yield data
    seen.update(after)
    yield f'DIGEST = "{seen.hexdigest()}"\n'.encode("ascii")
    yield after


def verify_program(program: bytes) -> str | None:
    """Tell whether a program is as it was written: None, or one line that says what is wrong.

    DIGEST is the sha256 of all bytes before and after its own line. It shows a change made by accident
    or by hand; whoever recomputes it is not found out.
    """
    try:
        before, written, after = split_digest(program)
    except TraceError as error:
        return str(error)
    found = digest_of(before, after)
    if written == found:
        return None
    return f"the file was changed after it was written: its DIGEST is {written[:64]}, its bytes give {found}"


def _data_slots(trace: Trace) -> dict[str, Iterable[str]]:
    return {
        "FORMAT": (literal(FORMAT),),
        "RECORDER": (literal(trace.session.get("recorder")),),
        "SESSION": layout(trace.session),
        "CONVERSATION_HISTORY": layout(trace.messages),
        "TIMELINE": layout(trace.steps),
        "RESPONSE_CACHE": layout(trace.response_cache),
        "COST": layout(trace.cost),
        "STATE_GRAPH": layout(trace.state_graph, levels=2),
        "DEPENDENCIES": layout(trace.dependencies),
        "TOOL_SCHEMAS": layout(trace.tool_schemas),
        "PROVIDER_CONFIG": layout(trace.provider_config),
        "CHAIN": layout(trace.chain),
    }


def _header_slots(trace: Trace) -> dict[str, Iterable[str]]:
    kinds = [step.get("kind") for step in trace.steps]
    return {name: (comment_text(trace.session.get(name)),) for name in _HEADER} | {
        "llm_calls": (str(kinds.count("llm_call")),),
        "tool_calls": (str(kinds.count("tool_call")),),
        "message_count": (str(len(trace.messages)),),
        "cost_line": (_cost_line(trace.cost),),
    }


def _cost_line(cost: dict[str, Any]) -> str:
    amount, status = cost.get("cost_usd"), comment_text(cost.get("status"))
    if type(amount) not in (int, float):
        return f"unknown ({comment_text(cost.get('model'))})"
    return f"${amount:.4f} ({status}, {comment_text(cost.get('model'))})"


@functools.cache
def _template() -> tuple[tuple[str, ...], bytes]:
    """Return the template, includes in place: (text, slot, text, ...) up to the DIGEST line, and the rest."""
    page = (_PACKAGE / "templates" / "replay_template.py.txt").read_text("ascii")
    *before, slot, after = _merged(_SLOT.split(page))
    if slot != "DIGEST" or not before[-1].endswith(_DIGEST_LINE[0]) or not after.startswith(_DIGEST_LINE[1]):
        raise ValueError(f"the last slot of the template must be the DIGEST line, not {slot!r}")
    before[-1] = before[-1].removesuffix(_DIGEST_LINE[0])
    return tuple(before), after.removeprefix(_DIGEST_LINE[1]).encode("ascii")


def _merged(parts: list[str]) -> Iterator[str]:
    text = ""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            text += part
        elif part.startswith("include "):
            text += _included(*part.removeprefix("include ").split(" from ", 1))
        else:
            yield text
            yield part
            text = ""
    yield text


def _included(name: str, start: str | None = None) -> str:
    """Return the text of a module of this package for embedding, optionally from a line on.

    Its docstring becomes a comment; its imports of sibling modules go, the program holds them all.
    """
    source = (_PACKAGE / name).read_text("ascii")
    if start is not None:
        return source[source.index("\n" + start) + 1 :].strip()
    lines = source.splitlines()
    docstring, *body = ast.parse(source).body
    for node in reversed(body):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module == "__future__"):
            del lines[node.lineno - 1 : node.end_lineno]
    intro = [f"# {line}".rstrip() for line in (ast.get_docstring(ast.parse(source)) or "").splitlines()]
    return "\n".join(intro) + "\n\n" + "\n".join(lines[docstring.end_lineno :]).strip()
