"""`hermes ops table`: the watch table, printed or written where a repository keeps it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from .._common.terminal import printable
from ..core import report_file
from ..schedule import commit, notes, table
from ..schedule.declared import Schedules, read_all
from ..speak import cleaned, say, say_json

WRITTEN_BY = f"{report_file.WRITTEN_BY} table"
FORMATS = ("text", "markdown", "html", "json")
_BY_ENDING = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".txt": "text",
}


def add_arguments(parser: Any) -> None:
    parser.add_argument("--format", choices=FORMATS, help="text by default; of --out: what its ending says")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--markdown", action="store_true", help="the same as --format markdown")
    parser.add_argument("--html", action="store_true", help="the same as --format html")
    parser.add_argument("--jobs", metavar="FILE", help="a jobs.json to read instead of those of this home")
    parser.add_argument(
        "--out", metavar="FILE", help="write the table there; left alone when nothing changed"
    )
    parser.add_argument(
        "--commit", action="store_true", help="commit the file of --out in its git repository"
    )
    parser.add_argument("--timeline", action="store_true", help="what is due in the next 24 hours instead")


def run(arguments: Any) -> int:
    home = hermes_home()
    if arguments.commit and not arguments.out:
        raise UsageError("--commit needs --out FILE: what is printed cannot be committed")
    if arguments.timeline and arguments.out:
        raise UsageError("--timeline changes with the clock, so it is printed only; leave out --out")
    form = _format(arguments)
    found = [table.from_file(Path(arguments.jobs), home)] if arguments.jobs else read_all(home)
    readable = [schedules for schedules in found if schedules.problem is None]
    unread = [schedules.problem for schedules in found if schedules.problem is not None]
    if unread and arguments.out:
        raise unread[0]
    noted = notes.load(home)
    if arguments.timeline:
        _timeline(readable, form == "json")
    else:
        watchers = None if arguments.jobs else table.active_watchers(home)
        content = _content(table.sections(readable, watchers, noted), form)
        if arguments.out:
            if form == "text":
                content = f"{table.INTRODUCTION}\n\n{content}"
            return _write(Path(arguments.out).absolute(), content, home, arguments.commit)
        _print(content)
    for problem in unread:
        complain("hermes ops table", problem, 1)
    if not arguments.jobs:
        for key in notes.without_job(noted, (job.key for one in readable for job in one.declared)):
            complain("hermes ops table", f"ops/notes.toml: there is no job {key}", 0)
    return 1 if unread else 0


def _format(arguments: Any) -> str:
    asked = [name for name in ("json", "markdown", "html") if getattr(arguments, name)]
    asked += [arguments.format] if arguments.format else []
    if len(set(asked)) > 1:
        raise UsageError(f"one format at a time: {', '.join(asked)}")
    if asked:
        return asked[0]
    if arguments.out:
        return _BY_ENDING.get(Path(arguments.out).suffix.lower(), "markdown")
    return "text"


def _content(found: list[table.Section], form: str) -> str:
    if form == "json":
        data = {"schema": 1, "written_by": WRITTEN_BY, **cleaned(table.as_json(found))}
        return json.dumps(data, indent=1, sort_keys=True) + "\n"
    return {"text": table.as_text, "markdown": table.as_markdown, "html": table.as_html}[form](found)


def _print(content: str) -> None:
    for line in content.splitlines():
        say(line)


def _write(path: Path, content: str, home: Path, commit_it: bool) -> int:
    if commit_it:
        commit.work_tree(path)
    changed = report_file.write(path, content, home)
    say(f"{path} is {'written' if changed else 'as it was'}")
    if commit_it:
        made = commit.commit(path, f"Update {path.name}")
        say(f"committed as {made}" if made else "nothing to commit")
    return 0


def _timeline(found: list[Schedules], as_json: bool) -> None:
    due = table.timeline(found, time.time())
    if as_json:
        rows = [
            {"at": at, "when": text, "profile": job.profile, "job": job.id, "name": job.name}
            for at, text, job in due
        ]
        say_json({"due": rows})
        return
    for _, text, job in due:
        say(f"{text}  {printable(table.shown(job.label))}")
    if not due:
        say("Nothing is due in the next 24 hours.")
