"""When and how a journal becomes a trace: at once, in a bounded child, or later.

The host's end of a session may never come, come twice or come before the last event. So an end only
marks. A small journal is compiled where the end is heard; a larger one, and what earlier processes
left, by a child process; what falls idle in a long-lived process too. A trace keeps its name, and is
written anew when events come after it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__, journal
from ._common import files

if TYPE_CHECKING:
    from ._common.redact import Redactor
    from .events import TraceSession
    from .trace import Trace
    from .tracer import LiveSession, TraceRecorder

logger = logging.getLogger(__name__)

FORMAT = 1
# About 50 ms of compiling on a slow machine.
SMALL_JOURNAL_BYTES = 96 * 1024
IDLE_SECONDS = 900.0
SWEEP_SECONDS = 60.0
CHILD_CPU_SECONDS = 120
SEALED = "sealed.json"
LEFT_OUT = "<left out: looks like a secret>"

_swept: dict[str, float] = {}
_children: list[Any] = []


class SealError(Exception):
    """A journal that cannot become a trace."""


@dataclass(frozen=True)
class Seal:
    """What sealed.json says about a journal: the trace made of it, from which bytes, or why there is none."""

    trace: str | None
    sizes: dict[str, int]
    session_id: str
    summary: dict[str, Any]
    problem: str | None = None
    recorder: str | None = None
    chain: dict[str, Any] = field(default_factory=dict)


def unrolled_dir(home: Path) -> Path:
    return journal.traces_dir(home) / "unrolled"


def trace_name(home: str, session_id: str, start: float) -> str:
    """Name a trace YYYYMMDD_HHMMSS_<8 hex>.py: by start, and by a hash of home, session id and start."""
    identity = "\0".join((home, session_id, repr(start)))
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return time.strftime("%Y%m%d_%H%M%S", time.gmtime(start)) + f"_{digest}.py"


def expected_trace(home: Path, directory: Path) -> Path | None:
    """Return where the trace of a journal is or will be, None while the journal is empty."""
    headers = [header for path in journal.segment_paths(directory) if (header := journal.read_header(path))]
    if not headers:
        return None
    first = min(headers, key=lambda header: header.get("t", 0.0))
    name = trace_name(str(first.get("home", "")), str(first.get("session_id", "")), first.get("t", 0.0))
    return unrolled_dir(home) / name


def sizes(directory: Path) -> dict[str, int]:
    found = {}
    for path in journal.segment_paths(directory):
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = path.stat().st_size
    return found


def read_seal(directory: Path) -> Seal | None:
    try:
        data = json.loads((directory / SEALED).read_bytes())
        return Seal(
            data["trace"],
            data["sizes"],
            data["session_id"],
            data.get("summary", {}),
            data.get("problem"),
            data.get("recorder"),
            data.get("chain", {}),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def seal(home: Path, directory: Path) -> Path:
    """Compile a journal and publish its trace; returns the trace's path.

    Raises SealError (nothing is published, journal and earlier trace stay) when the journal cannot be
    read or compiled, when it has lost what its trace was compiled from, or when the finished artifact
    still holds what looks like a secret.
    """
    record: dict[str, Any] = {"format": FORMAT, "recorder": __version__, "sizes": sizes(directory)}
    earlier = _earlier(home, directory)
    try:
        session = journal.load_session(directory, earlier["chain"] if earlier else None)
        record["session_id"] = session.session_id
        if earlier and session.lost:
            record.update(earlier)
            raise SealError(
                f"the journal has lost events that {earlier['trace']} was compiled from "
                f"(segment {', '.join(session.lost)}); the trace is kept, remove it to compile what is left"
            )
        record["trace"] = None
        name = trace_name(session.home, session.session_id, session.events[0].time)
        trace = publish(home, session, directory, unrolled_dir(home) / name)
        record.update(trace=name, chain=trace.chain, summary=summarise(trace))
        return unrolled_dir(home) / name
    except OSError:
        del record["sizes"]
        raise
    except (SealError, journal.JournalError) as error:
        record["problem"] = str(error)
        raise SealError(str(error)) from error
    except Exception as error:
        # Whatever is wrong with one journal must not keep the others from being compiled.
        record["problem"] = f"not compiled: {type(error).__name__}: {error}"
        raise SealError(record["problem"]) from error
    finally:
        if "sizes" in record and "session_id" in record:
            text = json.dumps(record, sort_keys=True)
            files.write_atomic(directory / SEALED, text.encode("ascii"), durable=False)


def _earlier(home: Path, directory: Path) -> dict[str, Any] | None:
    """Return name, chain and summary of the trace that was made of a journal before, if it is still there."""
    known = read_seal(directory)
    if known is not None and known.trace and (unrolled_dir(home) / known.trace).is_file():
        return {"trace": known.trace, "chain": known.chain, "summary": known.summary}
    path = expected_trace(home, directory) if known is None else None
    if path is None or not path.is_file():
        return None
    from .reader import TraceError, read_trace

    try:
        return {"trace": path.name, "chain": read_trace(str(path))["CHAIN"], "summary": {}}
    except TraceError:
        return None


def publish(home: Path, session: TraceSession, directory: Path, path: Path) -> Trace:
    """Write a session's program to ``path``, scanning each piece for secrets before it reaches the disk.

    A hit means rules that the recorder did not have: the values are redacted again with today's. A
    value that is flagged even then is left out and noted; what no such step clears refuses publication.
    """
    from . import settings
    from ._common.redact import Redactor
    from .compiler import compile_session
    from .generator import program_pieces

    wanted = settings.load(home)
    redactor = Redactor(
        custom_patterns=wanted.custom_patterns,
        number=journal.SecretNumbers(directory / "secrets", journal.load_key(home)),
    )
    trace = compile_session(session, wanted.pricing_overrides)
    try:
        files.write_atomic(path, _scanned(program_pieces(trace), redactor))
        return trace
    except SealError:
        _each_part(trace, redactor.value)
    try:
        files.write_atomic(path, _scanned(program_pieces(trace), redactor))
        return trace
    except SealError:
        _each_part(trace, lambda value: without_flagged(value, redactor))
    why = "a value that looks like a secret in the finished program was left out"
    trace.session["inexact"].append({"what": "redaction", "why": why})
    files.write_atomic(path, _scanned(program_pieces(trace), redactor))
    return trace


def _each_part(trace: Trace, change: Callable[[Any], Any]) -> None:
    for name, value in vars(trace).items():
        if name != "dependencies":
            setattr(trace, name, change(value))


def without_flagged(value: Any, redactor: Redactor) -> Any:
    """Return a value without the texts that the scan of the finished program would flag."""
    from .literals import literal

    if not redactor.find(literal(value)):
        return value
    if isinstance(value, dict):
        smaller = {name: without_flagged(item, redactor) for name, item in value.items()}
        # What only name and value together give away: the values go.
        return smaller if not redactor.find(literal(smaller)) else {name: LEFT_OUT for name in value}
    if isinstance(value, list):
        smaller = [without_flagged(item, redactor) for item in value]
        return smaller if not redactor.find(literal(smaller)) else [LEFT_OUT]
    return LEFT_OUT


def _scanned(pieces: Iterator[bytes], redactor: Redactor) -> Iterator[bytes]:
    for piece in pieces:
        found = redactor.find(piece.decode("ascii"))
        if found:
            kinds = ", ".join(sorted({finding.kind for finding in found}))
            raise SealError(f"not published: the trace would hold what looks like a secret ({kinds})")
        yield piece


def summarise(trace: Trace) -> dict[str, Any]:
    """Return what `list` shows of a trace."""
    kinds = [step["kind"] for step in trace.steps]
    names = (
        "model",
        "platform",
        "started_at",
        "ended_at",
        "end",
        "parent_session_id",
        "predecessor_session_id",
    )
    return {
        **{name: trace.session.get(name) for name in names},
        "messages": len(trace.messages),
        "llm_calls": kinds.count("llm_call"),
        "tool_calls": kinds.count("tool_call"),
        "cost_usd": trace.cost.get("cost_usd"),
        "cost_status": trace.cost.get("status"),
        "inexact": len(trace.session.get("inexact") or ()),
        "damage": len(trace.session.get("damage") or ()),
    }


# What waits ----------------------------------------------------------------------------------


def journals(home: Path) -> Iterator[Path]:
    """Yield the journal directory of every session of a home."""
    try:
        names = sorted(os.listdir(journal.journal_dir(home)))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        directory = journal.journal_dir(home) / name
        if re.fullmatch(r".+-[0-9a-f]{8}", name) and directory.is_dir():
            yield directory


def is_pending(directory: Path, idle: float = IDLE_SECONDS) -> bool:
    """Tell whether a journal has events its trace lacks and nobody is writing it just now."""
    measured = sizes(directory)
    known = read_seal(directory)
    if not measured or (known is not None and known.sizes == measured and not _may_do_better(known)):
        return False
    paths = journal.segment_paths(directory)
    newest = max((path.stat().st_mtime for path in paths if path.exists()), default=0.0)
    return time.time() - newest >= idle or not any(journal.is_live(path) for path in paths if path.exists())


def _may_do_better(known: Seal) -> bool:
    """Another version of the recorder may compile what this one's predecessor could not."""
    return known.problem is not None and known.recorder != __version__


def seal_pending(home: Path, idle: float = IDLE_SECONDS) -> tuple[list[Path], list[str]]:
    """Seal every journal that waits; return the traces written and the problems met."""
    written, problems = [], []
    for directory in journals(home):
        try:
            if is_pending(directory, idle):
                written.append(seal(home, directory))
        except (SealError, OSError) as error:
            problems.append(f"{directory.name}: {error}")
    return written, problems


# From inside the host --------------------------------------------------------------------------


def on_end(session: LiveSession | None) -> None:
    """The host says that a session has ended: compile it now when that is quick, else in a child."""
    if session is None:
        return
    if sum(sizes(session.directory).values()) > SMALL_JOURNAL_BYTES:
        start_child(session.home, ["compile", "--journal", session.directory.name])
        return
    try:
        seal(session.home, session.directory)
    except (SealError, OSError) as error:
        logger.warning("hermes-unroll keeps the journal of %s: %s", session.session_id, error)


def on_activity(home: Path, recorder: TraceRecorder) -> None:
    """Once per process and home, and then every minute: have what waits compiled by a child."""
    now = time.monotonic()
    last = _swept.get(str(home))
    if last is not None and now - last < SWEEP_SECONDS:
        return
    _swept[str(home)] = now
    first = last is None
    own = {session.directory for session in recorder.live()}
    if first:
        waiting = any(directory not in own for directory in journals(home))
    else:
        waiting = any(time.time() - session.last_event >= IDLE_SECONDS for session in recorder.live())
    if waiting:
        start_child(home, ["compile", "--pending"])


_LAUNCH = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location(
    "hermes_unroll", sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
module = importlib.util.module_from_spec(spec)
sys.modules["hermes_unroll"] = module
spec.loader.exec_module(module)
from hermes_unroll.cli import main
sys.exit(main(sys.argv[2:]))
"""


def start_child(home: Path, arguments: list[str]) -> None:
    """Run a command of ours beside the host: detached, silent, bounded in CPU time."""
    import subprocess

    _children[:] = [child for child in _children if child.poll() is None]
    package = str(Path(__file__).resolve().parent)
    command = [sys.executable, "-I", "-c", _LAUNCH, package, *arguments]
    environment = {**os.environ, "HERMES_HOME": str(home), "UNROLL_CPU_SECONDS": str(CHILD_CPU_SECONDS)}
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )
    except OSError as error:
        logger.warning("hermes-unroll could not start its compiler: %s", error)
        return
    _children.append(child)
