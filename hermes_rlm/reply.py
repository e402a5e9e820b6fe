"""What the model reads: one JSON text, lean, at most 8,000 characters, whatever a cell has produced."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kernel.capture import Captured

LIMIT = 8000
# Of the fields that may be long: how many bytes each may have.
VALUE, STDOUT, STDERR, ERROR, NOTE = 2000, 3400, 1600, 2600, 900
_FIELDS = {"value": VALUE, "stdout": STDOUT, "stderr": STDERR, "error": ERROR, "note": NOTE, "warning": NOTE}
# What a cut keeps: errors and output say at their end what matters.
_KEEPS_END = ("stdout", "stderr", "error")
_KEPT_WHOLE = ("ok", "left_out")
_LEAST = 600
FIRST_LINE = 500


def text(fields: dict[str, Any]) -> str:
    """Return the reply as JSON: fields that say nothing are left out, long ones are cut and marked."""
    lean = {name: value for name, value in fields.items() if value not in (None, "", [], {}) or name == "ok"}
    for name, limit in _FIELDS.items():
        if isinstance(lean.get(name), str):
            lean[name] = cut(_clean(lean[name]), limit, end=name in _KEEPS_END)
    written = _written(lean)
    # Quotes, controls and the like take more characters in JSON than in the text.
    while len(written) > LIMIT:
        longest = max(lean, key=lambda name: len(_written(lean[name])) if name not in _KEPT_WHOLE else 0)
        before = lean[longest]
        lean[longest] = _shorter(before, longest, len(written) - LIMIT)
        if isinstance(before, list):
            left_out = lean.setdefault("left_out", {})
            left_out[longest] = left_out.get(longest, 0) + len(before) - len(lean[longest])
        written = _written(lean)
    return written


def output(captured: Captured) -> str:
    """Output as the model sees it: its end, with what was left out in front and where all of it is."""
    shown = captured.text
    if captured.left_out:
        where = ""
        if captured.spill:
            kept = "all of it" if not captured.problem else "what could be kept"
            where = f"; {kept} is in {captured.spill}, open() it in a cell"
        problem = f"; {captured.problem}" if captured.problem else ""
        shown = f"[{captured.left_out:,} bytes before this{where}{problem}]\n{shown}"
    return shown


def without_our_frames(text: str) -> str:
    """The traceback that a crash in C code leaves, as far as it is the user's."""
    ours = (f'"{Path(__file__).parent / "kernel"}', 'File "<string>", line')
    return "\n".join(line for line in text.split("\n") if not any(mark in line for mark in ours))


def cut(value: str, limit: int, end: bool = False) -> str:
    """Cut a text to ``limit`` bytes of UTF-8, keeping its start or (``end``) its first line and its end."""
    raw = value.encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode("utf-8")
    mark = f"[{len(raw) - limit:,} bytes left out]"
    if not end:
        return raw[:limit].decode("utf-8", "ignore") + f" ... {mark}"
    # The first line says where the rest is, or that this is a traceback: it is kept whole.
    first = raw[: min(raw.find(b"\n") + 1, FIRST_LINE)]
    last = raw[len(first) - limit :]
    return f"{first.decode('utf-8', 'ignore')}{mark}\n{last.decode('utf-8', 'ignore')}"


def _clean(value: str) -> str:
    """A text as the host would hand it on: without terminal colours, known secrets masked."""
    if "\x1b" in value:
        value = _host("tools.ansi_strip", "strip_ansi", value)
    return _host("agent.redact", "redact_sensitive_text", value, code_file=True)


def _host(module: str, function: str, value: str, **options: Any) -> str:
    """Apply a function of the host when the host is there; a failure of it leaves the text."""
    if "hermes_constants" not in sys.modules:
        return value
    try:
        call = getattr(importlib.import_module(module), function)
        done = call(value, **options)
    except Exception:  # a host's internals may change
        return value
    return done if isinstance(done, str) else value


def _written(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates have no UTF-8; JSON can carry them, what reads it need not.
    return written.encode("utf-8", "replace").decode("utf-8")


def _shorter(value: Any, name: str, excess: int) -> Any:
    if isinstance(value, str):
        room = max(_LEAST, min(len(value.encode("utf-8", "replace")) // 2, len(value) - excess - 60))
        return cut(value, room, end=name in _KEEPS_END) if len(value) > _LEAST else value[: len(value) // 2]
    if isinstance(value, list):
        kept = value[: max(1, len(value) // 2)] if len(value) > 1 else []
        return kept
    if isinstance(value, dict):
        return {key: _shorter(item, key, excess) for key, item in value.items()}
    return None
