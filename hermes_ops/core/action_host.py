"""Changing jobs inside a process that has the host: by the `cronjob` tool that its command uses too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._common.home import hermes_home
from ..errors import OpsError

if TYPE_CHECKING:
    from .action import Action

_VERBS = {"edit": "update", "create": "create", "pause": "pause", "resume": "resume", "remove": "remove"}


def importable() -> bool:
    """Whether this Python has the host: a `cron` package with the host's constants beside it."""
    try:
        spec = find_spec("cron")
        beside = Path(spec.origin).parent.parent / "hermes_constants.py" if spec and spec.origin else None
    except (ImportError, ValueError):
        return False
    return beside is not None and beside.exists()


def is_own_home(home: Path) -> bool:
    """Whether `home` is the home of this process (or of the task that runs now)."""
    try:
        return home.resolve() == hermes_home().resolve()
    except OSError:
        return False


def in_process(action: Action, given: Mapping[str, Any]) -> str:
    """Carry out an action by the host's own code; returns what it said.

    For another home than the process's the host is pointed there for this call, as its own dashboard does;
    zones are read once per process, so what depends on the zone goes through the command instead.
    Raises OpsError for what the host refuses, whatever it raises.
    """
    try:
        with _at(action.home):
            if action.verb == "run":
                return _trigger(str(action.job_id))
            return _call(action, given)
    except OpsError:
        raise
    except Exception as error:  # the host's code may raise anything; a refusal is an answer
        raise OpsError(f"the host refused: {type(error).__name__}: {error}") from None


def _call(action: Action, given: Mapping[str, Any]) -> str:
    import json

    tool = import_module("tools.cronjob_tools").cronjob
    arguments = {
        name: value for name, value in given.items() if action.verb == "edit" or value not in ("", [])
    }
    if action.verb == "pause":
        arguments["reason"] = action.reason or None
    answer = json.loads(tool(action=_VERBS[action.verb], job_id=action.job_id, **arguments))
    if not answer.get("success"):
        raise OpsError(f"the host refused: {answer.get('error', 'without a reason')}")
    return f"{answer.get('job_id') or ''} {answer.get('message') or ''}".strip()


def _trigger(job_id: str) -> str:
    """Make a job due: the scheduler of the gateway runs it, not the process that asked."""
    job = import_module("cron.jobs").trigger_job(job_id)
    changed = getattr(import_module("cron.scheduler"), "_notify_provider_jobs_changed", None)
    if changed is not None:
        changed()
    return "due now" if job else "no such job"


@contextmanager
def _at(home: Path) -> Iterator[None]:
    if is_own_home(home):
        yield
        return
    constants, jobs = import_module("hermes_constants"), import_module("cron.jobs")
    token = constants.set_hermes_home_override(str(home))
    try:
        with jobs.use_cron_store(home):
            yield
    finally:
        constants.reset_hermes_home_override(token)
