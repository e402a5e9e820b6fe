"""Actions on jobs: proposed, applied through the host, read back, written down, undone.

Only the host changes its files: in its own process through its `cronjob` tool and `cron.jobs`, elsewhere
through its command. What an action says it did, it has read. Each is a line of `<home>/ops/actions.jsonl`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OpsError, Unreadable
from ..settings import Option, load, switch
from . import action_fields as fields
from .action_journal import journal, write
from .incident_text import clean

if TYPE_CHECKING:
    from ..host.jobs import Job

__all__ = ["OPTIONS", "VERBS", "Action", "Done", "apply", "journal"]

VERBS = ("pause", "resume", "edit", "create", "remove", "run")
JOB_ID = re.compile(r"[0-9a-f]{12}")
ONE_SHOT_GRACE = 120.0  # the host starts a one-shot that is late by no more than this
RUN_SECONDS = 900.0
COMMAND_SECONDS = 90.0
MAX_DETAIL, MAX_COMMAND = 600, 20_000

OPTIONS = (
    Option(
        "actions",
        True,
        switch,
        "whether anything may be changed at all: false stops every action",
        ("OPS_ACTIONS",),
    ),
)


@dataclass(frozen=True)
class Action:
    """One change of one job.

    verb       pause, resume, edit, create, remove, run
    home       the home of the profile whose job it is
    job_id     12 hex digits; None for create
    arguments  edit and create: schedule, prompt, name, deliver, repeat, skills, script, workdir, no_agent;
               in process only: model, provider, base_url, enabled_toolsets, context_from. "" and [] clear a
               field; a repeat of 0 is for ever. "expect": fields of the record that must hold, else nothing
               is done
    reason     why, for the journal and for the host's `paused_reason`
    """

    verb: str
    home: Path
    job_id: str | None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    def command(self) -> str:
        """The host command a person would type for it, quoted for a shell.

        What the command has no flags for (a model) is what the agent's tool is called with in a session.
        OpsError when the arguments are wrong.
        """
        from shlex import quote

        given = fields.check(self.verb, self.arguments)
        without_flag = fields.only_in_process(self.verb, given)
        if without_flag:
            shown = {"action": "update" if self.verb == "edit" else self.verb, "job_id": self.job_id, **given}
            text = ", ".join(f"{name}={value!r}" for name, value in shown.items() if value is not None)
            return f"cronjob({text}) in a session; `hermes cron` has no flag for {', '.join(without_flag)}"
        words = fields.command_line(self.verb, self.job_id, given)
        return " ".join([*_hermes(self.home), *map(quote, words)])


@dataclass(frozen=True)
class Done:
    """What became of an action; ``detail`` is what was read back; ``undo`` would take it back.

    ``changed`` is False when nothing had to be done (pausing what is paused): then there is nothing to undo.
    """

    action: Action
    ok: bool
    detail: str
    job_id: str | None
    undo: Action | None
    changed: bool = True


def apply(action: Action, *, dry_run: bool = False, state_home: Path | None = None) -> Done:
    """Carry out an action and read back what it changed; never raises for what the host refuses (ok=False).

    With `dry_run` nothing is changed and `detail` is the command. `state_home` holds the journal and the
    switch `ops.actions` (default: the action's home). A job id that is not 12 hex digits is refused before
    anything runs. `run` in process makes a job due at the scheduler's next tick; the command runs it at once.
    """
    where = state_home or action.home
    now = time.time()
    try:
        done = _apply(action, dry_run, where, now)
    except OpsError as error:
        done = _refused(action, str(error))
    done = Done(
        done.action,
        done.ok,
        clean(done.detail, MAX_COMMAND if dry_run else MAX_DETAIL),
        done.job_id,
        done.undo,
        done.changed,
    )
    if dry_run:
        return done
    problem = write(where, action, done, now)
    if problem:
        done = Done(
            done.action,
            done.ok,
            f"{done.detail} (not written down: {problem})",
            done.job_id,
            done.undo,
            done.changed,
        )
    return done


def _apply(action: Action, dry_run: bool, where: Path, now: float) -> Done:
    if action.verb not in VERBS:
        return _refused(action, f"{action.verb!r} is no action; known: {', '.join(VERBS)}")
    if action.verb == "create":
        if action.job_id is not None:
            return _refused(action, "a job that is created has no id yet")
    elif not isinstance(action.job_id, str) or not JOB_ID.fullmatch(action.job_id):
        return _refused(action, f"{str(action.job_id)[:40]!r} is no job id (12 hex digits)")
    given = fields.check(action.verb, action.arguments)
    from ..host.jobs import read_jobs

    before = read_jobs(action.home)
    job = None if action.job_id is None else before.by_id(action.job_id)
    if action.job_id is not None and job is None:
        return _refused(action, f"no job {action.job_id} in {before.path}")
    if [one.id for one in before.jobs].count(action.job_id) > 1:
        return _refused(action, f"the id {action.job_id} stands more than once in {before.path}")
    answer = None if job is None else _needless(action, job, now)
    if answer is not None:
        return answer
    if dry_run:
        return Done(action, True, action.command(), action.job_id, None, changed=False)
    _allowed(where)
    asked = time.time()
    said = _tell_host(action, given)
    try:
        after = read_jobs(action.home)
    except Unreadable as error:
        return Done(
            action, False, f"asked the host, but what it did cannot be read: {error}", action.job_id, None
        )
    if action.verb == "create":
        return _created(action, given, said, {one.id for one in before.jobs}, after.jobs)
    return _read_back(action, given, said, job, after.by_id(job.id), asked)


def _needless(action: Action, job: Job, now: float) -> Done | None:
    """What is to be said instead of acting: refused, or done already."""
    expected = action.arguments.get("expect") or {}
    for name, value in expected.items():
        if job.raw.get(name) != value:
            return _refused(
                action, f"{job.label} was changed since: {name} is {job.raw.get(name)!r}, not {value!r}"
            )
    if action.verb == "pause":
        if not job.live and job.state != "error":
            return Done(
                action,
                True,
                f"{job.label} does not run: it is {job.state} already",
                job.id,
                None,
                changed=False,
            )
    elif action.verb == "resume":
        if job.live:
            return Done(action, True, f"{job.label} runs: it is not paused", job.id, None, changed=False)
        run_at = job.schedule.run_at
        if job.schedule.kind == "once" and run_at is not None and run_at < now - ONE_SHOT_GRACE:
            return _refused(
                action, f"{job.label} was to run once, and that time has passed: make it anew with another"
            )
        if job.state == "completed":
            return _refused(action, f"{job.label} is completed: it has had all its runs")
    elif action.verb == "run" and not job.live:
        return _refused(action, f"{job.label} is {job.state}: resume it first")
    return None


def _allowed(where: Path) -> None:
    """Raise OpsError when the switch is off, or cannot be read: then nobody knows whether it is."""
    from .._common.config import read_config

    settings = load(where, OPTIONS)
    if settings.sources["actions"] == "default":
        config = read_config(where)
        if not config.known:
            raise OpsError(f"nothing is changed while ops.actions cannot be read: {config.problem}")
        if settings.problems:
            raise OpsError(f"nothing is changed while ops.actions is wrong: {settings.problems[0]}")
    if not settings["actions"]:
        raise OpsError("actions are switched off (ops.actions)")


def _tell_host(action: Action, given: dict[str, Any]) -> str:
    """Let the host do it; returns what it said, which proves nothing. OpsError when it could not be asked."""
    from . import action_host

    command_cannot = fields.only_in_process(action.verb, given)
    if action_host.is_own_home(action.home) and action_host.importable():
        return action_host.in_process(action, given)
    if command_cannot:
        if not action_host.importable():
            raise OpsError(
                f"hermes cron {action.verb} has no flag for {', '.join(command_cannot)}: "
                "run this with the Python of Hermes, or change it in a session"
            )
        return action_host.in_process(action, given)
    from ..host.command import run_hermes

    words = fields.command_line(action.verb, action.job_id, given)
    said = run_hermes(action.home, words, RUN_SECONDS if action.verb == "run" else COMMAND_SECONDS)
    return (
        " ".join((said.stdout + " " + said.stderr).split())
        if said.code is not None
        else "it did not end in time"
    )


def _created(
    action: Action, given: dict[str, Any], said: str, known: set[str], after: tuple[Job, ...]
) -> Done:
    new = [job for job in after if job.id not in known]
    named = [job for job in new if job.id in said] or [
        job for job in new if not any(_differs(job, given, fields.CREATE_CHECKED))
    ]
    if len(named) != 1:
        return _refused(action, f"the host made no such job: {said}")
    job = named[0]
    undo = Action(
        "remove", action.home, job.id, {"expect": {"created_at": job.raw.get("created_at")}}, "undo: create"
    )
    wrong = list(_differs(job, given, fields.CREATE_CHECKED))
    if not job.live or job.next_run_at is None:
        wrong.append(f"state {job.state}, no next run")
    if wrong:
        return Done(
            action, False, f"{job.label} was made, but not as asked: {'; '.join(wrong)}", job.id, undo
        )
    return Done(action, True, f"{job.label}: {_next_run(job)}", job.id, undo)


def _read_back(
    action: Action, given: dict[str, Any], said: str, job: Job, now: Job | None, asked: float
) -> Done:
    if action.verb == "remove":
        if now is not None:
            return _refused(action, f"{job.label} is still there: {said}")
        return Done(action, True, f"{job.label} is removed, with its outputs", job.id, None)
    if now is None:
        return _refused(action, f"{job.label} is gone: {said}")
    undone = f"undo: {action.reason}" if action.reason else "undo"
    if action.verb == "pause":
        ok = now.state == "paused" and not now.enabled
        expect = {"state": "paused", "paused_at": now.raw.get("paused_at")}
        undo = Action("resume", action.home, job.id, {"expect": expect}, undone)
        text = "is paused" + (
            ", and cannot be resumed once its time has passed" if now.schedule.kind == "once" else ""
        )
    elif action.verb == "resume":
        ok = now.live and now.next_run_at is not None
        expect = {"state": now.state, "paused_at": None}
        undo = Action("pause", action.home, job.id, {"expect": expect}, job.paused_reason or undone)
        text = f"runs again: {_next_run(now)}"
    elif action.verb == "run":
        ran = now.last_run_at is not None and now.last_run_at != job.last_run_at
        due = now.next_run_at is not None and now.next_run_at <= asked + 60
        ok, undo = ran or due, None
        text = f"ran: {now.last_status or 'unknown'}" if ran else "is due at the next tick of the scheduler"
    else:
        wrong = list(_differs(now, given, tuple(given)))
        if "schedule" in given and now.state != "paused" and now.next_run_at is None:
            wrong.append("no next run")
        ok = not wrong
        undo = _undo_edit(action, job, now, given, undone)
        text = (
            f"has {', '.join(sorted(given))} as asked; {_next_run(now)}"
            if ok
            else f"differs: {'; '.join(wrong)}"
        )
    if not ok:
        changed = job.raw != now.raw
        return Done(
            action,
            False,
            f"{job.label} {text if action.verb == 'edit' else f'is {now.state}'}: {said}",
            job.id,
            undo if changed and action.verb == "edit" else None,
            changed,
        )
    return Done(action, True, f"{now.label} {text}", job.id, undo)


def _undo_edit(action: Action, job: Job, now: Job, given: dict[str, Any], reason: str) -> Action | None:
    """The edit that puts the previous values back, as long as nobody has changed them again."""
    previous = fields.previous(job.raw, tuple(given))
    if previous is None:
        return None
    return Action(
        "edit", action.home, job.id, {**previous, "expect": fields.stored(now.raw, tuple(given))}, reason
    )


def _differs(job: Job, given: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """What of the given values the record does not have, in words."""
    return [
        f"{name} is {found!r}"
        for name in names
        if name in given and (found := fields.found_instead(job.raw, name, given[name])) is not fields.SAME
    ]


def _next_run(job: Job) -> str:
    return (
        f"next run {job.raw.get('next_run_at')}"
        if job.next_run_at is not None
        else f"no next run, {job.state}"
    )


def _refused(action: Action, why: str) -> Done:
    return Done(action, False, why, action.job_id, None, changed=False)


def _hermes(home: Path) -> list[str]:
    """How a person starts `hermes` for a home."""
    from shlex import quote

    from .._common.home import hermes_home

    own = hermes_home()
    if home == own:
        return ["hermes"]
    if home.parent.name == "profiles" and home.parent.parent in (own, own.parent.parent):
        return ["hermes", "-p", quote(home.name)]
    return [f"HERMES_HOME={quote(str(home))}", "hermes"]
