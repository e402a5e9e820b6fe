"""`hermes ops uninstall [--purge]`: take away what install made; the ledger stays unless it is purged."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from .. import install as installing
from .._common.home import hermes_home
from ..errors import OpsError
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument("--purge", action="store_true", help="remove ledger and incidents too")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home = hermes_home()
    steps = list(installing.uninstall(home, dry_run=arguments.dry_run))
    units = _units(home, arguments.dry_run)
    failed = [step for step in steps if not step.ok]
    purged = False
    if arguments.purge and not failed and not arguments.dry_run:
        purged = _purge(home / "ops")
    if arguments.json:
        data = {"home": str(home), "dry_run": arguments.dry_run, "purged": purged, "units": units}
        say_json({**data, "steps": [step.as_dict() for step in steps]})
        return 1 if failed else 0
    would = "would " if arguments.dry_run else ""
    for step in steps:
        outcome = "" if step.ok else "FAILED: "
        say(f"{would}{step.what}  {step.job_id or ''}  {outcome}{step.detail}".rstrip())
    for unit in units:
        say(f"{would}remove unit  {unit}")
    if not steps and not units:
        say("Nothing of ours is installed.")
    if (home / "ops").exists():
        say(f"Kept: {home / 'ops'} (ledger, incidents); --purge removes it too.")
    elif purged:
        say(f"Removed: {home / 'ops'}")
    return 1 if failed else 0


def _units(home: Path, dry_run: bool) -> list[str]:
    """Remove the supervisor's unit and script; returns what was removed."""
    from ..liveness import units

    return [str(path) for path in units.uninstall(home, dry_run=dry_run)]


def _purge(folder: Path) -> bool:
    if folder.is_symlink():
        raise OpsError(f"{folder} is a link; remove what it leads to by hand")
    if not folder.exists():
        return False
    if not os.access(folder.parent, os.W_OK):
        raise OpsError(f"{folder.parent} cannot be written to")
    shutil.rmtree(folder)
    return True
