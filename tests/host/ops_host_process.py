"""What runs in the host's Python beside the tests of hermes_ops: it does what it is told, one line at a time.

A line on stdin is `[name, positional, named]`, one on stdout the answer: `[true, value]`, or `[false, text]`
of what was raised. A name with dots is anything that can be imported here, of the host or of this checkout's
hermes_ops; a value that cannot be called is the answer itself. The other names are the functions below.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from cron import executions, jobs, scheduler
from hermes_constants import get_hermes_home
from hermes_logging import setup_logging

HOME = Path(get_hermes_home())
REAL_NOW = jobs._hermes_now
told: dict[str, Callable[..., Any]] = {}


def tells(function: Callable[..., Any]) -> Callable[..., Any]:
    told[function.__name__] = function
    return function


def named(name: str) -> tuple[Any, str]:
    """The module of `package.module.attribute`, and the attribute's name."""
    module, _, attribute = name.rpartition(".")
    return import_module(module), attribute


@tells
def put(name: str, value: Any) -> None:
    """Set an attribute of a module."""
    setattr(*named(name), value)


# Jobs


@tells
def create(store: str | None = None, **job: Any) -> str:
    """Make a job, in the home of a profile when one is named: its id."""
    with jobs.use_cron_store(Path(store)) if store else contextlib.nullcontext():
        return jobs.create_job(**{"prompt": "", **job})["id"]


@tells
def run(ids: list[str]) -> None:
    for job_id in ids:
        scheduler.run_one_job(jobs.get_job(job_id))


@tells
def ran(job_id: str) -> dict[str, Any]:
    """Run a job and keep to ourselves what it would deliver.

    Its record before and after (None: it is gone), what it said, the file it wrote and the newest there is.
    """
    folder = HOME / "cron" / "output" / job_id
    before, was = set(folder.glob("*.md")), jobs.get_job(job_id)
    said: list[Any] = []
    deliver, scheduler._deliver_result = scheduler._deliver_result, lambda job, text, **_: said.append(text)
    try:
        scheduler.run_one_job(dict(was))
    finally:
        scheduler._deliver_result = deliver
    outputs = sorted(folder.glob("*.md"), key=lambda path: path.stat().st_mtime_ns)
    written = [path for path in outputs if path not in before]
    return {
        "id": job_id,
        "job": jobs.get_job(job_id),
        "said": said[0] if said else None,
        "output": written[0] if written else None,
        "text": outputs[-1].read_text("utf-8") if outputs else "",
    }


@tells
def pause(job_id: str, reason: str) -> None:
    jobs.pause_job(job_id, reason=reason)


@tells
def listed() -> dict[str, dict[str, Any]]:
    return {job["id"]: job for job in jobs.list_jobs(include_disabled=True)}


@tells
def tick() -> None:
    """Leave what the ticker of a gateway leaves once a minute."""
    jobs.record_ticker_heartbeat(success=True)


# The clock


@tells
def stands(at: float | None, zone: str | None = None) -> None:
    """Let the host's clock stand in a zone (None: the server's), or go as it does."""

    def now() -> datetime:
        return datetime.fromtimestamp(at, ZoneInfo(zone)) if zone else datetime.fromtimestamp(at).astimezone()

    for module in (jobs, executions, scheduler):
        module._hermes_now = REAL_NOW if at is None else now


@tells
def tick_until(begin: float, until: float, step: float, zone: str) -> None:
    """Let the host tick on a clock of ours, and write the ticker's files as its gateway does."""
    while begin < until:
        begin = min(until, begin + step)
        stands(begin, zone)
        scheduler.tick(verbose=False, sync=True)
        for name in ("ticker_heartbeat", "ticker_last_success"):
            (HOME / "cron" / name).write_text(str(begin))


@contextlib.contextmanager
def server_zone(name: str) -> Iterator[None]:
    was, os.environ["TZ"] = os.environ["TZ"], name
    time.tzset()
    try:
        yield
    finally:
        os.environ["TZ"] = was
        time.tzset()


@tells
def starts(
    zone: str | None, begin: float, hours: float, step: float, exprs: list[str]
) -> dict[str, list[float]]:
    """When the host starts jobs as its clock goes on in steps; without a zone Berlin is the server's."""
    found: dict[str, list[float]] = {expr: [] for expr in exprs}
    store = HOME / "clocks" / f"{zone or 'server'}-{int(begin)}".replace("/", "-")
    at = begin
    with jobs.use_cron_store(store), contextlib.nullcontext() if zone else server_zone("Europe/Berlin"):
        stands(at, zone)
        made = {jobs.create_job("p", expr, name=expr)["id"]: expr for expr in exprs}
        while at < begin + hours * 3600:
            at += step
            stands(at, zone)
            for job in jobs.get_due_jobs():
                jobs.advance_next_run(job["id"])
                jobs.mark_job_run(job["id"], True)
                found[made[job["id"]]].append(at)
        stands(None)
    return found


@tells
def resolved(targets: list[str]) -> dict[str, list[Any]]:
    """The targets that the host makes of a job's `deliver`, and whether their platforms are switched on."""
    from gateway.config import Platform, load_gateway_config

    platforms = load_gateway_config().platforms
    known = {platform.value for platform in Platform}
    found = {}
    for text in targets:
        ends = scheduler._resolve_delivery_targets({"id": "0" * 12, "deliver": text})
        names = [end["platform"].lower() for end in ends]
        on = [name in known and bool(getattr(platforms.get(Platform(name)), "enabled", 0)) for name in names]
        found[text] = [[[end["platform"], str(end["chat_id"]), end["thread_id"]] for end in ends], on]
    return found


# hermes_ops in the host's process


@tells
def ops(*words: str) -> tuple[int, str, str]:
    """Run `hermes ops WORDS`: exit code, stdout, stderr."""
    from hermes_ops import cli

    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(list(words))
    out.flush()
    return code, out.buffer.getvalue().decode("utf-8"), err.getvalue()


@tells
def watch(module: str, later: float = 0.0, at: float | None = None) -> dict[str, Any]:
    """Everything that a watcher says now, later than now, or at a moment."""
    from hermes_ops.core.watch import Context

    with contextlib.closing(Context(HOME, time.time() + later if at is None else at)) as context:
        reading = import_module(f"hermes_ops.{module}").watch(context)
    return {
        "findings": {one.id: [one.severity, one.text, *one.evidence] for one in reading.findings},
        "blind": [one.text for one in reading.blind],
        "events": [event.text for event in reading.events],
    }


applied: list[Any] = []


@tells
def act(verb: str, job_id: str | None, home: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Apply an action to a job of this home or of a profile's; `number` is what `undo` takes."""
    from hermes_ops.core.action import Action

    return _applied(Action(verb, Path(home or HOME), job_id, arguments, "test"))


@tells
def undo(number: int) -> dict[str, Any]:
    return _applied(applied[number].undo)


def _applied(action: Any) -> dict[str, Any]:
    from hermes_ops.core.action import apply
    from hermes_ops.host.jobs import read_jobs

    done = apply(action, state_home=HOME)
    applied.append(done)
    job = read_jobs(done.action.home).by_id(done.job_id or "")
    said = {"ok": done.ok, "changed": done.changed, "detail": done.detail, "id": done.job_id}
    return {**said, "job": job and dict(job.raw), "number": len(applied) - 1}


@tells
def toolsets(names: list[str]) -> dict[str, Any]:
    """Where hermes_ops has the toolsets from in this process, what tools are in these, which are known."""
    from hermes_ops._common.config import read_config
    from hermes_ops.host.toolsets import read_toolsets

    read = read_toolsets(read_config(HOME))
    tools = {name: sorted(read.tools(name) or ()) for name in names}
    return {"source": read.source, "tools": tools, "known": {name: read.known(name) for name in names}}


# The host's database


@cache
def database() -> Any:
    from hermes_state import SessionDB

    return SessionDB()


@tells
def book(method: str, *positional: Any, **named: Any) -> None:
    """Call a method of the host's SessionDB."""
    getattr(database(), method)(*positional, **named)


stop = threading.Event()
written: dict[str, Any] = {"calls": 0, "errors": []}


@tells
def keep_writing(session_id: str) -> None:
    """Book one call after the other, as an agent does after each answer of its model, until it is stopped."""
    use = {"input_tokens": 10, "output_tokens": 1, "estimated_cost_usd": 0.001, "cost_status": "estimated"}
    of = {"model": "busy", "billing_provider": "openrouter", "api_call_count": 1}

    def write() -> None:
        while not stop.is_set():
            try:
                book("update_token_counts", session_id, **use, **of)
                written["calls"] += 1
            except Exception as error:
                written["errors"].append(repr(error))
                return

    threading.Thread(target=write, name="writer").start()


@tells
def stop_writing() -> dict[str, Any]:
    """How many calls were booked, and what the host saw of errors."""
    stop.set()
    for thread in threading.enumerate():
        if thread.name == "writer":
            thread.join()
    return written


def answer(name: str, positional: list[Any], given: dict[str, Any]) -> tuple[bool, Any]:
    try:
        found = told[name] if name in told else getattr(*named(name))
        return True, found(*positional, **given) if callable(found) else found
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """What JSON has no form for: sets as sorted lists, everything else as text."""
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)


def main() -> None:
    # What the host starts has neither our questions to read nor our answers to spoil.
    asked, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    setup_logging(mode="cli")  # as the hermes command does: what was delivered stands in agent.log
    for line in asked:
        print(json.dumps(answer(*json.loads(line)), default=plain), file=answers, flush=True)


if __name__ == "__main__":
    main()
