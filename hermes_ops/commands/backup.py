"""`hermes ops backup`: copies of state.db: list, make, verify; and saving a damaged database."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from .. import settings
from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.moment import show
from ..errors import Unreadable
from ..host.profiles import Profile, profiles
from ..host.zone import zone
from ..liveness import backup
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "run", "verify", "recover"),
        default="list",
        help="list copies (default); run: make one now; verify: open each again; recover: save the "
        "database as it is and say what to do",
    )
    parser.add_argument("--profile", metavar="NAME", help="only this profile (recover: default)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home = hermes_home()
    wanted = _chosen(home, arguments.profile)
    action = {"list": _list, "run": _run, "verify": _verify, "recover": _recover}[arguments.action]
    return action(home, wanted, arguments)


def _chosen(home: Path, name: str | None) -> list[Profile]:
    every = profiles(home)
    every += [one for one in backup.gone_databases(home, every) if one not in every]
    chosen = [profile for profile in every if name is None or profile.name == name]
    if not chosen:
        raise UsageError(f"no profile {name!r}; there are: {', '.join(profile.name for profile in every)}")
    return chosen


def _row(copy: backup.Copy) -> dict[str, Any]:
    return {
        "path": str(copy.path),
        "profile": copy.profile,
        "made_at": copy.made_at,
        "bytes": copy.size,
        "good": copy.good,
    }


def _line(copy: backup.Copy, home: Path) -> str:
    state = "" if copy.good else "  DAMAGED"
    return f"{copy.profile}  {show(copy.made_at, zone(home).tz)}  {copy.size:,} bytes{state}  {copy.path}"


def _list(home: Path, chosen: list[Profile], arguments: Any) -> int:
    found = [copy for profile in chosen for copy in backup.copies(home / "ops", profile.name)]
    if arguments.json:
        say_json({"home": str(home), "copies": [_row(copy) for copy in found]})
    else:
        for copy in found:
            say(_line(copy, home))
        if not found:
            say(f"No copy of state.db in {home / 'ops'}; make one: hermes ops backup run")
    return 0


def _run(home: Path, chosen: list[Profile], arguments: Any) -> int:
    keep_days = settings.load(home, backup.OPTIONS)["backup.keep_days"]
    made: list[backup.Copy] = []
    failed: list[str] = []
    for profile in chosen:
        try:
            copy = backup.back_up(home / "ops", profile, time.time(), _progress())
        except Unreadable as error:
            failed.append(str(error))
            continue
        if copy is None and backup.copies(home / "ops", profile.name):
            failed.append(f"{profile.home / backup.DATABASE}: it is gone, and there are copies of it")
        if copy is not None:
            made.append(copy)
            backup.prune(home / "ops", profile.name, keep_days, time.time())
    if arguments.json:
        say_json({"home": str(home), "copies": [_row(copy) for copy in made], "failed": failed})
        return 1 if failed else 0
    for copy in made:
        say(_line(copy, home))
    for text in failed:
        say(f"FAILED  {text}")
    if failed and not made:
        say("See hermes ops backup list")
    if not made and not failed:
        say("No profile has a state.db yet.")
    return 1 if failed else 0


def _verify(home: Path, chosen: list[Profile], arguments: Any) -> int:
    rows = []
    for profile in chosen:
        for copy in backup.copies(home / "ops", profile.name):
            rows.append({**_row(copy), "problem": backup.verify(copy.path)})
    bad = [row for row in rows if row["problem"]]
    if arguments.json:
        say_json({"home": str(home), "copies": rows})
    else:
        for row in rows:
            say(f"{row['path']}  {row['problem'] or 'whole'}")
        if not rows:
            say("There is no copy to verify.")
    return 1 if bad or not rows else 0


def _recover(home: Path, chosen: list[Profile], arguments: Any) -> int:
    profile = chosen[0]
    if arguments.profile is None and len(chosen) > 1:
        raise UsageError("say which profile with --profile: " + ", ".join(one.name for one in chosen))
    saved, steps = backup.quarantine(home / "ops", profile, time.time())
    problem = backup.verify(profile.home / backup.DATABASE)
    if arguments.json:
        say_json({"saved": str(saved), "problem": problem, "next": steps})
        return 0
    say(f"{profile.home / backup.DATABASE}: {problem or 'opens, and no damage is found'}")
    say(f"Saved as it is: {saved}. Nothing was restored. If you want to go back to a copy:")
    for step in steps:
        say(f"  {step}")
    return 0


def _progress() -> Any:
    if not sys.stderr.isatty():
        return None

    def show_progress(remaining: int, total: int) -> None:
        done = 100 * (total - remaining) // max(total, 1)
        print(f"\rcopying {done:3d} %", end="\n" if not remaining else "", file=sys.stderr, flush=True)

    return show_progress
