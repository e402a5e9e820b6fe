"""`hermes ops uninstall [--purge]`: take away what install made; the ledger stays unless it is purged."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from .. import install as installing
from .._common.home import hermes_home
from ..errors import OpsError
from ..install import Step
from ..speak import say, say_json

# What people wrote, and copies that may be the only ones: never removed by a command.
KEPT_FOLDERS = ("backups", "quarantine")


def add_arguments(parser: Any) -> None:
    parser.add_argument(
        "--purge",
        action="store_true",
        help="remove ledger, incidents and memories too; not what you wrote (*.toml), nor copies of state.db",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home, dry_run = hermes_home(), arguments.dry_run
    steps = [*_resume_paused(home, dry_run), *installing.uninstall(home, dry_run=dry_run)]
    units = _units(home, dry_run)
    failed = [step for step in steps if not step.ok]
    if not failed and not dry_run:
        _retire(home)
    gone, kept = _purge(home / "ops", dry_run) if arguments.purge and not failed else ([], [])
    if arguments.purge and not failed and not dry_run:
        from ..guard import accepted

        accepted.witness_of(home).unlink(missing_ok=True)
    if arguments.json:
        data = {"home": str(home), "dry_run": dry_run, "purged": gone, "kept": kept, "units": units}
        say_json({**data, "steps": [step.as_dict() for step in steps]})
        return 1 if failed else 0
    would = "would " if dry_run else ""
    for step in steps:
        outcome = "" if step.ok else "FAILED: "
        say(f"{would}{step.what}  {step.job_id or ''}  {outcome}{step.detail}".rstrip())
    for unit in units:
        say(f"{would}remove unit  {unit}")
    for name in gone:
        say(f"{would}remove  {home / 'ops' / name}")
    if not steps and not units:
        say("Nothing of ours is installed.")
    if kept:
        say(f"Kept in {home / 'ops'}: {', '.join(kept)}; yours, or copies of state.db: remove them by hand.")
    elif (home / "ops").exists() and not arguments.purge:
        say(f"Kept: {home / 'ops'} (ledger, incidents); --purge removes it too.")
    return 1 if failed else 0


def _resume_paused(home: Path, dry_run: bool) -> list[Step]:
    """Resume what the budget has paused: nobody would, once its watcher is gone."""
    from ..spend import budget_pauses

    records = budget_pauses.paused(home)
    if not records:
        return []
    done = budget_pauses.resume(home, records, dry_run=dry_run)
    resumed = Step("budget", "resume jobs", None, f"{len(done.resumed)} that the budget had paused")
    failures = [Step("budget", "resume job", None, one.text, False) for one in done.failures()]
    return [resumed, *failures]


def _units(home: Path, dry_run: bool) -> list[str]:
    """Remove the supervisor's unit and script; returns what was removed."""
    from ..liveness import units

    return [str(path) for path in units.uninstall(home, dry_run=dry_run)]


def _retire(home: Path) -> None:
    """Close the incidents of watchers that run no more; none of them could tell their end."""
    from ..core.incident import Incidents
    from ..core.watch import WATCHERS

    if (home / "ops" / "incidents.json").exists():
        for watcher in WATCHERS:
            Incidents(home).retire(watcher.name, time.time())


def _purge(folder: Path, dry_run: bool) -> tuple[list[str], list[str]]:
    """Remove what the plugin itself has written; returns the names of what went and of what stays."""
    if folder.is_symlink():
        raise OpsError(f"{folder} is a link; remove what it leads to by hand")
    if not folder.exists():
        return [], []
    gone, kept = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".toml" or (path.name in KEPT_FOLDERS and any(path.rglob("*.db*"))):
            kept.append(path.name)
            continue
        gone.append(path.name)
        if dry_run:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not kept and not dry_run:
        folder.rmdir()
    return gone, kept
