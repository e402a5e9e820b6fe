"""Reading a file for a program through the host's read_file: all of it, every time, without line numbers.

The host's tool serves a conversation: it hands out pages, numbers lines, cuts long ones, and answers
"unchanged" or "BLOCKED" when the conversation already holds what is asked for. A kernel's program holds
nothing, so pages are joined and the host's memory of what the conversation has read is set aside.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .bridge import CallError
from .tool_results import decoded, message_of

PAGE_LINES = 2_000
TEXT_CHARACTERS = 32 << 20
CUT_MARK = "... [truncated]"

Page = Callable[[int, int], Any]


@dataclass(frozen=True)
class _Lines:
    """The lines of one page, whether the text goes on behind it, and from which line."""

    text: str
    goes_on: bool
    next_offset: int


def read_text(path: str, offset: int, limit: int | None, page: Page) -> Any:
    """Return `limit` lines of a file from line `offset` (all of them when None), newlines as in the file.

    `page(offset, limit)` is one answer of the host. Raises CallError with the host's message, when a
    line was cut by the host, or when the text is larger than `TEXT_CHARACTERS`.
    """
    pieces: list[str] = []
    size, left = 0, limit
    while left is None or left > 0:
        asked = PAGE_LINES if left is None else min(left, PAGE_LINES)
        found = decoded(page(offset, asked))
        if not isinstance(found, dict):
            return found
        lines = _lines_of(path, found, offset, asked)
        pieces.append(lines.text)
        size += len(lines.text)
        if size > TEXT_CHARACTERS:
            raise CallError(f"{path} is larger than {TEXT_CHARACTERS >> 20} MiB of text: read it in parts")
        if not lines.goes_on:
            break
        if left is not None:
            left -= lines.next_offset - offset
        offset = lines.next_offset
    return "".join(pieces)


def _lines_of(path: str, found: dict[str, Any], offset: int, asked: int) -> _Lines:
    content = found.get("content")
    if found.get("error") or not isinstance(content, str):
        raise CallError(message_of(found))
    rows = _without_numbers(content, offset)
    _refuse_cut(path, rows, offset, found)
    text = "\n".join(rows)
    if found.get("truncated_by") == "bytes":
        return _Lines(text + "\n", True, int(found.get("next_offset") or offset + len(rows)))
    goes_on = bool(found.get("truncated"))
    if found.get("extracted_document"):
        return _Lines(text + "\n" * goes_on, goes_on, offset + asked)
    # The host counts newlines, so a full page does not tell that a last line without one is left.
    return _Lines(text, goes_on or text.count("\n") >= asked, offset + asked)


def _without_numbers(content: str, offset: int) -> list[str]:
    """Take "<number>|" from each line. A line the host's masking put together has no number of its own."""
    rows, number = [], offset - 1
    for line in content.split("\n"):
        found, bar, rest = line.partition("|")
        if bar and found.isdigit() and int(found) > number:
            number = int(found)
            rows.append(rest)
        else:
            rows.append(line)
    return rows


def _refuse_cut(path: str, rows: list[str], offset: int, found: dict[str, Any]) -> None:
    """Refuse lines the host cut in the middle: a program would take them for whole ones."""
    longest = _line_limit()
    cut = [
        offset + index
        for index, row in enumerate(rows)
        if row.endswith(CUT_MARK) and len(row) >= longest + len(CUT_MARK)
    ]
    if not cut and "clamped mid-line" in str(found.get("hint") or ""):
        cut = [offset]
    if cut:
        shown = ", ".join(map(str, cut[:5])) + (", ..." if len(cut) > 5 else "")
        raise CallError(
            f"line {shown} of {path} is cut by the host's read_file at {longest:,} characters."
            " Read the file with open(), or leave such lines out with offset and limit"
        )


def _line_limit() -> int:
    """The length at which the host cuts a line; its default when it does not say."""
    try:
        from tools.tool_output_limits import get_max_line_length

        return int(get_max_line_length())
    except ImportError:
        return 2_000


@contextlib.contextmanager
def as_first_reader(task_id: str) -> Iterator[None]:
    """Let the host answer reads and searches of `task_id` as if nothing had been read or searched before.

    What the conversation has read is put back afterwards, so that the agent's own next read is judged by
    what the agent saw. When the host keeps its memory elsewhere than expected, it is only cleared: then
    the agent is given a file's content once more than needed.
    """
    module = sys.modules.get("tools.file_tools")
    lock, tracker = getattr(module, "_read_tracker_lock", None), getattr(module, "_read_tracker", None)
    if lock is None or not isinstance(tracker, dict):
        _forget_reads(module, task_id)
        try:
            yield
        finally:
            _forget_reads(module, task_id)
        return
    with lock:
        kept = _set_aside(tracker, task_id)
    try:
        yield
    finally:
        with lock:
            _put_back(tracker, task_id, kept)


# What the conversation holds. When the file was last read by anyone of this task ("read_timestamps") is
# left as the read makes it: a program's read counts there.
_OF_THE_CONVERSATION: dict[str, Callable[[], Any]] = {
    "last_key": lambda: None,
    "consecutive": int,
    "dedup": dict,
    "dedup_hits": dict,
}


def _set_aside(tracker: dict[str, Any], task_id: str) -> dict[str, Any]:
    task = tracker.get(task_id)
    if not isinstance(task, dict):
        return {}
    kept = {name: task[name] for name in _OF_THE_CONVERSATION if name in task}
    task.update({name: _OF_THE_CONVERSATION[name]() for name in kept})
    return kept


def _put_back(tracker: dict[str, Any], task_id: str, kept: dict[str, Any]) -> None:
    task = tracker.get(task_id)
    if isinstance(task, dict):
        task.update({name: kept.get(name, empty()) for name, empty in _OF_THE_CONVERSATION.items()})


def _forget_reads(module: Any, task_id: str) -> None:
    for name in ("reset_file_dedup", "notify_other_tool_call"):
        forget = getattr(module, name, None)
        if forget is not None:
            forget(task_id)
