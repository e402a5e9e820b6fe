"""Doctor: do the watchers run here, does somebody hear them, is the guard live, who watches the watchers?"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from . import __version__, settings
from ._common import config, copies
from ._common.files import read_regular
from ._common.report import Report, examine_installation
from ._common.terminal import printable
from .core.moment import span
from .core.watch import WATCHERS
from .errors import OpsError, Unreadable
from .guard.examine import examine as examine_guard
from .install import check_target, installed, jobs_of, script_name
from .launcher import is_ours
from .overview import Overview, look

OPTIONS = (
    settings.Option(
        "doctor.auxiliary",
        "pinned",
        settings.choice("pinned", "any"),
        "pinned: doctor wants auxiliary calls on a provider of their own; any: it does not look",
    ),
)
# The auxiliary tasks that run by themselves, again and again.
FREQUENT_TASKS = ("compression", "title_generation", "background_review")


def examine(home: Path, now: float) -> Report:
    """Examine one home. Nothing is changed, nothing is sent."""
    report = Report("the watchers work")
    found = copies.find(home, "hermes-ops")
    read = config.read_config(home)
    here = Path(__file__).resolve().parent
    examine_installation(report, "hermes-ops", found, here, is_config_known=read.known)
    if not read.known:
        report.wrong("config", f"the host's config cannot be read: {read.problem}; mend it")
    _settings(report, home)
    examine_guard(report, home)
    try:
        _watchers(report, home, look(home, now))
    except OpsError as error:
        report.wrong("own files", str(error))
    _delivery(report, home)
    _scheduler(report, home, now)
    _outside(report, home, now)
    _own_files(report, home, now)
    _auxiliary(report, home, read)
    report.line = _bug_report(report, found)
    return report


def _settings(report: Report, home: Path) -> None:
    options = settings.all_options()
    loaded = settings.load(home, options)
    for problem in (*loaded.problems, *settings.unknown_names(home, options)):
        report.wrong("settings", problem)
    for option in options:
        if loaded.sources[option.name] != "default":
            shown = "(set)" if option.secret else settings.said(loaded[option.name])
            report.facts.append(f"{option.name} = {shown} ({loaded.sources[option.name]})")


def _watchers(report: Report, home: Path, seen: Overview) -> None:
    jobs = installed(home)
    if not jobs:
        report.wrong("no watchers", f"none is installed in {home}: hermes ops install --deliver TARGET")
        return
    for row in seen.watchers:
        if row.name not in jobs:
            continue
        report.facts.append(f"watcher {row.name}: job {row.job_id}, {row.state(seen.now)}")
        script = home / "scripts" / script_name(row.name)
        if not script.is_file() or not is_ours(read_regular(script).decode("utf-8", "replace")):
            report.wrong(
                "script gone", f"{script} is not there: hermes ops install {row.name} --deliver TARGET"
            )
        if row.error:
            report.wrong("watcher failed", f"{row.name}: {row.error}; hermes ops watch {row.name}")
        elif row.late:
            ago = span(max(0.0, seen.now - (row.last_run or 0.0)))
            report.wrong(
                "watcher late", f"{row.name} ran {ago} ago; does the gateway run? hermes cron status"
            )
        elif row.last_run is None:
            report.facts.append(f"watcher {row.name} has not run yet: hermes cron run {row.job_id}")


def _delivery(report: Report, home: Path) -> None:
    """Do the jobs of the watchers exist, are they on, and did what they said arrive?"""
    from .host.jobs import read_jobs

    try:
        jobs = read_jobs(home)
    except Unreadable as error:
        report.wrong("job list", f"{error}; no job runs until it can be read")
        return
    for watcher in WATCHERS:
        several = [job.id for job in jobs_of(jobs, watcher)]
        if len(several) > 1:
            report.wrong(
                "two jobs", f"{watcher.name} has {', '.join(several)}: hermes cron remove {several[-1]}"
            )
    for name, job_id in installed(home).items():
        job = jobs.by_id(job_id)
        if job is None:
            report.wrong("job gone", f"the job of {name} ({job_id}) is gone: hermes ops install")
            continue
        if not job.live:
            report.wrong("job off", f"the job of {name} is {job.state}: hermes cron resume {job.id}")
        if job.last_delivery_error:
            report.wrong(
                "undelivered", f"{name} said something that did not arrive: {job.last_delivery_error}"
            )
            continue
        why = check_target(home, ",".join(job.deliver))
        if why:
            report.wrong("unreachable", f"what {name} says would not arrive: {why}")
        elif job.deliver == ("local",):
            report.facts.append(f"watcher {name} tells nobody (deliver is local)")


def _scheduler(report: Report, home: Path, now: float) -> None:
    """Jobs are run by the gateway alone: without it the watchers sleep."""
    from .host.ticker import STALLED, read_ticker

    try:
        ticker = read_ticker(home)
    except Unreadable as error:
        report.wrong("scheduler", str(error))
        return
    if ticker.heartbeat_at is None:
        report.wrong("scheduler", "the host's scheduler has never run here: hermes gateway start")
    elif now - ticker.heartbeat_at > STALLED:
        ago = span(now - ticker.heartbeat_at)
        report.wrong("scheduler", f"the host's scheduler last ran {ago} ago: hermes gateway status")


def _outside(report: Report, home: Path, now: float) -> None:
    """Somebody outside the gateway has to notice when everything inside it ends."""
    from .core.run import OPTIONS as run_options

    pinged = settings.load(home, run_options)["ping_url"]
    alive, detail = _supervisor(home, now)
    report.facts.append(f"supervisor: {detail}")
    report.facts.append("ping: after every run" if pinged else "ping: none (ops.ping_url)")
    if not alive and not pinged:
        report.wrong(
            "nobody watches",
            "when the gateway dies the watchers die with it: hermes ops supervise install, or ops.ping_url",
        )


def _supervisor(home: Path, now: float) -> tuple[bool, str]:
    """Whether a supervisor of this home runs, and what shows it."""
    from ._common.files import is_alive
    from .liveness.guard import SILENT
    from .liveness.memory import MemoryFile

    try:
        memory = MemoryFile(home).read()
    except OpsError as error:
        return False, str(error)
    if memory.last_pass_at is None:
        return False, "none has ever run here"
    ago = f"its last look was {span(max(0.0, now - memory.last_pass_at))} ago"
    gone = memory.pid is not None and is_alive(memory.pid, memory.started) is False
    if gone or now - memory.last_pass_at > SILENT:
        return False, f"does not run; {ago}"
    return True, f"runs; {ago}"


def _own_files(report: Report, home: Path, now: float) -> None:
    from .core import suppress
    from .host.zone import zone

    try:
        for old in suppress.expired(suppress.load(home / "ops", zone(home).tz), now):
            report.wrong(
                "suppressions", f"{old.pattern} ({old.reason}) is over: take it out of suppress.toml"
            )
        if (home / "ops" / "ledger.db").exists():
            from .core.ledger import Ledger

            Ledger.open(home).close()
    except OpsError as error:
        report.wrong("own files", str(error))


def _auxiliary(report: Report, home: Path, read: config.HostConfig) -> None:
    """Auxiliary calls on "auto" go to the main model, and are paid for like it."""
    if not read.known or settings.load(home, OPTIONS)["doctor.auxiliary"] == "any":
        return
    tasks = read.get("auxiliary")
    written: Mapping[str, Any] = tasks if isinstance(tasks, Mapping) else {}
    loose = [task for task in FREQUENT_TASKS if not _pinned(written.get(task))]
    if loose:
        report.wrong(
            "auxiliary not pinned",
            f"{', '.join(loose)} go to the main model: set auxiliary.<task>.provider and .model"
            " to a cheap one (or ops.doctor.auxiliary: any)",
        )


def _pinned(task: Any) -> bool:
    if not isinstance(task, Mapping):
        return False
    if task.get("enabled") is False or task.get("base_url"):
        return True
    return task.get("provider") not in (None, "", "auto", "main") and bool(task.get("model"))


def _bug_report(report: Report, found: list[copies.Copy]) -> str:
    """One line without paths, ids or names of the user's."""
    try:
        host = import_module("importlib.metadata").version("hermes-agent")
    except Exception:
        host = "unknown"
    kinds = "+".join(f"{copy.kind}{'' if copy.active else '(inactive)'}" for copy in found) or "none"
    return printable(
        f"hermes-ops {__version__}, hermes-agent {host}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, status {report.status}, copies {kinds}"
    )
