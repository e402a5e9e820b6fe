"""What a run of a job left in `cron/output/<job>/`: the prompt told apart from the answer.

An existing file proves that the job ran, never that it said something.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from .._common.files import open_regular
from ..errors import Unreadable
from .zone import SERVER, zone

MAX_BYTES = 1_000_000
_HEAD = 64_000  # of a larger file this much is read from its beginning, the rest from its end

_FILE = re.compile(r"\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}\.md")
_HEADER = re.compile(r"\n\n\*\*Job ID:\*\* ([^\n]*)\n\*\*Run Time:\*\* [^\n]*\n((?:\*\*[^\n]*\n)*)")
_TITLE, _NO_AGENT = "# Cron Job: ", "**Mode:** no_agent"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_PROMPT = "\n## Prompt\n\n"
_RESPONSE = "\n\n## Response\n\n"
_ERROR = "\n\n## Error\n\n```\n"
_NOTHING = "(No response generated)"  # what the host writes for an answer without text
_GATE = "Script gate returned `wakeAgent=false`"
_SILENCE = ("[SILENT]", "SILENT", "NO_REPLY", "NO REPLY")


@dataclass(frozen=True)
class Output:
    """One output file, read.

    outcome   "said" (there is an answer to deliver), "silent", "failed", "empty" (the host counts an empty
              answer of an agent as an error), "unknown" (a shape that is not the host's)
    response  the answer alone, "" unless said; never the prompt
    error     the error text of a failed run
    prompt    what the agent was given, "" for scripts
    run_at    the time in the file's name, seconds since the epoch (the name is in the home's zone)
    name      of the job, as it was then; "" when the file does not say
    no_agent  whether the file says that the job was a script
    """

    path: Path
    job_id: str
    run_at: float | None
    outcome: str
    response: str = ""
    error: str = ""
    prompt: str = ""
    size: int = 0
    name: str = ""
    no_agent: bool = False


def list_outputs(home: Path, job_id: str, since: float = 0.0) -> list[Path]:
    """The finished output files of a job by time of their name, oldest first.

    The host's temporary files are not among them. Raises Unreadable.
    """
    if not job_id or job_id in (".", "..") or "/" in job_id or "\\" in job_id:
        return []
    folder = home / "cron" / "output" / job_id
    try:
        names = sorted(name for name in os.listdir(folder) if _FILE.fullmatch(name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Unreadable(folder, error.strerror or type(error).__name__) from error
    if since > 0 and names:
        tz = zone(home).tz
        names = [name for name in names if (_run_at(name, tz) or 0.0) >= since]
    return [folder / name for name in names]


def read_output(path: Path, zone_tz: tzinfo | None = None, prompt: str | None = None) -> Output:
    """Read one file, at most 1 MB; a zero-byte file is an agent's job whose script said nothing (silent).

    ``zone_tz`` is the tzinfo of the home, for `run_at`. ``prompt`` is the job's own prompt where it is known:
    the host puts it last before the answer, which settles where a prompt full of headings ends.
    A zero-byte file is also what the host leaves of a `no_agent` job without a script: there the run failed.
    Raises Unreadable.
    """
    job_id, run_at = path.parent.name, _run_at(path.name, zone_tz or SERVER)
    text, size = _read(path)
    if not size:
        return Output(path, job_id, run_at, "silent")
    outcome, response, error, given = _understand(text, prompt)
    header = _header(text)
    name = header[0].removesuffix(" (FAILED)") if header else ""
    is_script = header is not None and _NO_AGENT in header[1]
    return Output(path, job_id, run_at, outcome, response, error, given, size, name, is_script)


def is_silence(text: str) -> bool:
    """Whether the host withholds an answer: a marker that is the whole of it, its first or last line.

    "[SILENT]" in brackets may also begin the first line. Within a sentence it is content.
    """
    stripped = text.strip()
    lines = [line for line in stripped.splitlines() if line.strip()]
    if not lines:
        return False
    if any(_folded(part) in _SILENCE for part in (stripped, lines[0], lines[-1])):
        return True
    return stripped.upper().startswith("[SILENT]")


def _folded(text: str) -> str:
    return " ".join(text.strip().upper().split())


def _header(text: str) -> tuple[str, str, str] | None:
    """The title of a document, the marks below it, and the rest; None for what is not the host's."""
    found = _HEADER.search(text) if text.startswith(_TITLE) else None
    return None if found is None else (text[len(_TITLE) : found.start()], found[2], text[found.end() :])


def _understand(text: str, prompt: str | None) -> tuple[str, str, str, str]:
    """Outcome, response, error and prompt of a document."""
    header = _header(text)
    if header is None:
        return "unknown", "", "", ""
    title, marks, body = header
    if _NO_AGENT in marks:
        return (*_script(marks, body), "")
    if "**Status:** BLOCKED" in marks:
        return "failed", "", body.strip(), ""
    if body.lstrip().startswith(_GATE):
        return "silent", "", "", ""
    if not body.startswith(_PROMPT):
        return "unknown", "", "", ""
    body = body[len(_PROMPT) :]
    if title.endswith(" (FAILED)") and (place := body.rfind(_ERROR)) >= 0:
        error = body[place + len(_ERROR) :].strip()
        return "failed", "", error.removesuffix("```").strip(), body[:place]
    place = _answer(body, prompt)
    if place is None:
        return "unknown", "", "", ""
    response = body[place + len(_RESPONSE) :].strip()
    if not response or response == _NOTHING:
        return "empty", "", "", body[:place]
    if is_silence(response):
        return "silent", "", "", body[:place]
    return "said", response, "", body[:place]


def _script(marks: str, body: str) -> tuple[str, str, str]:
    if "**Status:** script failed" in marks:
        return "failed", "", body.strip()
    if "**Status:** silent" in marks:
        return "silent", "", ""
    said = body.lstrip("\n")
    if not said.startswith("---\n"):
        return "unknown", "", ""
    response = said[4:].strip()
    if not response or is_silence(response):
        return "silent", "", ""
    return "said", response, ""


def _answer(body: str, prompt: str | None) -> int | None:
    """Where the host's own heading over the answer stands; None when there is none.

    A prompt may hold the heading too: the host pastes earlier outputs into it, in a code block. Of several
    the last one counts that follows the job's prompt, else the last one outside a code block, else the last.
    """
    places = _places(body)
    if len(places) < 2:
        return places[0][0] if places else None
    known = (prompt or "").rstrip()
    if known:
        after = [place for place, _ in places if _ends_with(body, place, known)]
        if after:
            return after[-1]
    free = [place for place, in_code in places if not in_code]
    return free[-1] if free else places[-1][0]


def _places(body: str) -> list[tuple[int, bool]]:
    """Where the heading stands between empty lines, and whether a code block is open there."""
    found: list[tuple[int, bool]] = []
    fence, offset = "", 0
    for line in body.split("\n"):
        if line == "## Response" and body.startswith(_RESPONSE, offset - 2):
            found.append((offset - 2, bool(fence)))
        elif "`" in line or "~" in line:
            fence = _fence_after(line, fence)
        offset += len(line) + 1
    return found


def _fence_after(line: str, fence: str) -> str:
    """The fence of the code block that is open after a line of Markdown, "" for none."""
    found = _FENCE.fullmatch(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    closes = found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip()
    return "" if closes else fence


def _ends_with(body: str, place: int, known: str) -> bool:
    while place and body[place - 1].isspace():
        place -= 1
    return place >= len(known) and body.startswith(known, place - len(known))


def _read(path: Path) -> tuple[str, int]:
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            raw = file.read(MAX_BYTES if size <= MAX_BYTES else _HEAD)
            if size > MAX_BYTES:
                file.seek(size - (MAX_BYTES - _HEAD))
                raw += b"\n[...]\n" + file.read(MAX_BYTES - _HEAD)
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from error
    return raw.decode("utf-8", "replace").replace("\r\n", "\n"), size


def _run_at(name: str, tz: tzinfo) -> float | None:
    try:
        return datetime.strptime(name[:19], "%Y-%m-%d_%H-%M-%S").replace(tzinfo=tz).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
