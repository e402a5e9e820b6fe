"""`hermes ops lanes`: a worktree per writer, and a gate on exactly the commit that merges."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .._common.command_line import UsageError, complain
from ..errors import OpsError
from ..lanes import evidence, making, register
from ..lanes.gate import Gated, command_in, gate, log_path
from ..lanes.merging import EMPTY, WAITS, Outcome, merge
from ..lanes.register import Lane, Settings, command_of
from ..lanes.repository import Repository, open_repository
from ..lanes.survey import Standing, survey
from ..lanes.verifying import verify
from ..speak import say, say_json

PROGRAM = "hermes ops lanes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(without_home=True)
    _shared(parser, "", False)
    verbs = parser.add_subparsers(dest="lanes_verb", metavar="VERB")
    init = verbs.add_parser("init", help="fix the gate and the branch that lanes merge into")
    _gate_options(init)
    init.add_argument(
        "--worktrees", metavar="DIR", help="where lanes lie (default: beside the checkout, <name>.lanes)"
    )
    new = verbs.add_parser("new", help="a branch and a worktree for one writer")
    new.add_argument("name", metavar="NAME")
    new.add_argument(
        "--base", metavar="REF", default="", help="where it begins (default: the target, else HEAD)"
    )
    for name in ("list", "status"):
        verbs.add_parser(name, help="where each lane stands (the default)")
    gated = verbs.add_parser("gate", help="run the gate on the commits of lanes")
    merged = verbs.add_parser("merge", help="gate, merge apart, gate the result, move the target")
    for verb in (gated, merged):
        verb.add_argument("names", nargs="*", metavar="NAME", help="lanes, in this order (default: all)")
        _gate_options(verb)
    verbs.add_parser("verify", help="check the evidence against logs, commits and trees")
    verbs.add_parser("prune", help="clear away what killed runs left")
    removed = verbs.add_parser("remove", help="remove a lane's worktree and branch")
    removed.add_argument("name", metavar="NAME")
    removed.add_argument("--force", action="store_true", help="also with work in it that is nowhere else")
    for verb in set(verbs.choices.values()):
        _shared(verb, argparse.SUPPRESS, argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 fine, 1 a red gate, a conflict, a fault in the evidence, nothing to look at, 2 usage."""
    if os.name != "posix":
        raise OpsError(
            "lanes need Linux, macOS or WSL: process groups and file locks of native Windows differ"
        )
    repository = open_repository(Path(os.path.abspath(os.path.expanduser(arguments.repo or "."))))
    verb = arguments.lanes_verb or "list"
    return _VERBS[verb](arguments, repository)


def _shared(parser: Any, repo: str, as_json: Any) -> None:
    parser.add_argument(
        "--repo", metavar="DIR", default=repo, help="a path in the repository (default: here)"
    )
    parser.add_argument("--json", action="store_true", default=as_json, help="print one JSON object")


def _gate_options(parser: Any) -> None:
    parser.add_argument("--gate", metavar="COMMAND", help="the command that must end with exit 0")
    parser.add_argument(
        "--shell", action="store_true", help="the command is for /bin/sh, not a list of words"
    )
    parser.add_argument("--target", metavar="BRANCH", help="the branch that lanes merge into")
    parser.add_argument("--timeout", metavar="SECONDS", help="time limit of the gate (default: 900)")
    parser.add_argument(
        "--keep-env",
        metavar="NAME",
        action="append",
        default=[],
        help="a variable that the gate is given too (may be repeated)",
    )


def _init(arguments: argparse.Namespace, repository: Repository) -> int:
    with register.changing(repository) as known:
        known.settings = settings = _settings(arguments, known.settings, repository)
    if settings.target and repository.git.commit(f"refs/heads/{settings.target}") is None:
        complain(PROGRAM, f"the branch {settings.target!r} is not there yet", 0)
    command = settings.command.text if settings.command else None
    if arguments.json:
        say_json(
            {
                "gate": command,
                "shell": bool(settings.command and settings.command.shell),
                "target": settings.target or None,
                "timeout": settings.timeout,
                "keep_env": list(settings.keep_env),
                "worktrees": str(register.worktrees_folder(repository, settings)),
                "repository": str(repository.top),
            }
        )
    else:
        say(f"gate: {command or 'none'}; target: {settings.target or 'none'}; {settings.timeout:g} s")
        say(f"lanes lie in {register.worktrees_folder(repository, settings)}")
    return 0


def _settings(arguments: argparse.Namespace, known: Settings, repository: Repository) -> Settings:
    """What is set, with what the command line says in its place."""
    from dataclasses import replace

    changes: dict[str, Any] = {}
    if arguments.gate is not None:
        try:
            changes["command"] = command_of(arguments.gate, arguments.shell)
        except ValueError as error:
            raise UsageError(f"--gate: {error}") from None
    elif arguments.shell:
        raise UsageError("--shell says how --gate is run; give both")
    if arguments.target is not None:
        changes["target"] = arguments.target.removeprefix("refs/heads/")
        if not changes["target"] or changes["target"].startswith("-"):
            raise UsageError("--target: expected the name of a branch")
    if arguments.timeout is not None:
        from ..settings import number

        try:
            changes["timeout"] = number(0.1, 86_400.0)(arguments.timeout)
        except ValueError as error:
            raise UsageError(f"--timeout: {error}") from None
    if arguments.keep_env:
        changes["keep_env"] = tuple(dict.fromkeys(arguments.keep_env))
    if getattr(arguments, "worktrees", None):
        changes["worktrees"] = os.path.abspath(os.path.expanduser(arguments.worktrees))
        wrong = repository.unfit(Path(changes["worktrees"]))
        if wrong:
            raise UsageError(f"--worktrees: {changes['worktrees']} {wrong}")
    return replace(known, **changes)


def _new(arguments: argparse.Namespace, repository: Repository) -> int:
    try:
        lane = making.make(repository, arguments.name, arguments.base)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if arguments.json:
        say_json({"lane": _lane(lane)})
    else:
        say(f"lane {lane.name}: branch {lane.branch} at {lane.base[:12]}")
        say(lane.path)
    return 0


def _list(arguments: argparse.Namespace, repository: Repository) -> int:
    known = register.read(repository)
    found = survey(repository, known.settings, known.chosen([]))
    if arguments.json:
        say_json({"target": known.settings.target or None, "lanes": [_standing_dict(one) for one in found]})
        return 0
    for one in found:
        say(f"{one.lane.name}: {_standing_text(one, known.settings)}")
        say(f"    {one.lane.branch} {(one.commit or 'gone')[:12]}  {one.lane.path}")
    return 0


def _standing_text(one: Standing, settings: Settings) -> str:
    if one.lane.state != "ready":
        return f"not finished ({one.lane.state}); `{PROGRAM} prune`"
    if one.commit is None:
        return "its branch is gone"
    parts = ["commits unknown" if one.ahead is None else _count(one.ahead, "commit")]
    if not one.files.known:
        parts.append("its worktree is gone")
    elif one.files.any:
        parts.append(f"{_count(one.files.changed + one.files.untracked, 'file')} not committed")
    if one.commit != one.lane.base or one.gate != "none":
        parts.append({"none": "no gate yet", "stale": "gated before its last commit"}.get(one.gate, one.gate))
    parts += {"target": [f"in {settings.target}"], "waits": ["merged, not landed"]}.get(one.merged, [])
    return ", ".join(parts)


def _gate(arguments: argparse.Namespace, repository: Repository) -> int:
    known = register.read(repository)
    settings = _settings(arguments, known.settings, repository)
    command_in(settings)
    lanes = known.chosen(arguments.names)
    if not arguments.names:
        standing = survey(repository, settings, lanes)
        lanes = [one.lane for one in standing if one.commit not in (None, one.lane.base) and not one.merged]
    if not lanes:
        raise OpsError("no lane has commits that are not merged: nothing was gated")
    gates, failed = [], []
    for lane in lanes:
        commit = repository.git.commit(lane.ref)
        try:
            if commit is None:
                raise OpsError(f"its branch {lane.branch} is gone")
            gated = gate(repository, settings, lane, commit, lane.base, "lane")
        except OpsError as error:
            failed.append((lane, error))
            complain(PROGRAM, f"lane {lane.name}: {error}", 1)
            continue
        gates.append(gated)
        if not arguments.json:
            _say_gated(repository, gated)
            files = making.uncommitted(lane)
            if files.any:
                count = _count(files.changed + files.untracked, "file")
                say(f"    {count} of its worktree not committed: not part of what was tested")
    if arguments.json:
        say_json(
            {
                "gates": [_gated_dict(one) for one in gates],
                "failed": [{"lane": lane.name, "why": str(error)} for lane, error in failed],
            }
        )
    return 1 if failed or any(one.record.outcome != evidence.GREEN for one in gates) else 0


def _merge(arguments: argparse.Namespace, repository: Repository) -> int:
    with register.alone(repository, "merge"):
        known = register.read(repository)
        settings = _settings(arguments, known.settings, repository)
        command_in(settings)
        lanes = known.chosen(arguments.names)
        outcomes = []
        for one in merge(
            repository, settings, lanes, lambda gated: arguments.json or _say_gated(repository, gated)
        ):
            outcomes.append(one)
            if not arguments.json:
                _say_outcome(one)
    waits = [one for one in outcomes if one.state == WAITS]
    land = _landing(settings, waits[-1]) if waits else None
    if arguments.json:
        say_json({"outcomes": [_outcome_dict(one) for one in outcomes], "land": land})
    elif land:
        say(f"land it with: {land}")
    moved = [one for one in outcomes if one.state != EMPTY]
    return 0 if moved and all(one.is_good for one in moved) else 1


def _landing(settings: Settings, one: Outcome) -> str:
    """The command with which the user brings his checkout to the merges that wait."""
    import shlex

    branch = making.integration_ref(settings.target).removeprefix("refs/heads/")
    return shlex.join(["git", "-C", str(one.holder), "merge", "--ff-only", branch])


def _verify(arguments: argparse.Namespace, repository: Repository) -> int:
    known = register.read(repository)
    found = verify(repository, known.settings, known.lanes.values())
    if found.gates + found.merges == 0 and not found.problems:
        raise OpsError("nothing is on record yet: nothing was verified")
    if arguments.json:
        say_json(
            {
                "gates": found.gates,
                "merges": found.merges,
                "problems": found.problems,
                "notes": found.notes,
            }
        )
    else:
        for text in found.problems:
            say(f"wrong: {text}")
        for text in found.notes:
            say(f"note: {text}")
        verdict = _count(len(found.problems), "fault") if found.problems else "all as recorded"
        say(f"{_count(found.gates, 'gate')}, {_count(found.merges, 'merge')}: {verdict}")
    return 1 if found.problems else 0


def _prune(arguments: argparse.Namespace, repository: Repository) -> int:
    found = making.prune(repository)
    if arguments.json:
        say_json({"runs": found.runs, "lanes": found.lanes, "branches": found.branches, "left": found.left})
    else:
        cleared = [
            *(f"run {name}" for name in found.runs),
            *(f"lane {name}" for name in found.lanes),
            *(f"branch {name}" for name in found.branches),
        ]
        say(f"cleared away: {', '.join(cleared)}" if cleared else "nothing to clear away")
    for text in found.left:
        complain(PROGRAM, text, 1)
    return 1 if found.left else 0


def _remove(arguments: argparse.Namespace, repository: Repository) -> int:
    commit = making.remove(repository, arguments.name, force=arguments.force)
    if arguments.json:
        say_json({"lane": arguments.name, "commit": commit or None})
    else:
        say(f"lane {arguments.name} is removed; its branch was at {commit or 'no commit'}")
    return 0


def _say_gated(repository: Repository, gated: Gated) -> None:
    one = gated.record
    what = f"lane {one.lane}" if one.subject == "lane" else f"lane {one.lane}, merged"
    how = "was green" if gated.reused else one.outcome
    end = f" (exit {one.exit})" if one.exit not in (0, None) else ""
    say(f"{what}: {one.commit[:12]} {how}{end}, {one.duration:.1f} s: {one.command}")
    if one.changed:
        say(f"    the gate changed {_count(one.changed, 'file')} of the commit in its checkout")
    if one.outcome != evidence.GREEN:
        for line in gated.tail:
            say(f"    | {line}")
        say(f"    log: {log_path(repository, one)}")


def _say_outcome(one: Outcome) -> None:
    say(f"lane {one.lane}: {one.text}")
    for name in one.files[:20]:
        say(f"    {name}")


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "name": lane.name,
        "branch": lane.branch,
        "path": lane.path,
        "base": lane.base,
        "at": lane.at,
        "state": lane.state,
    }


def _standing_dict(one: Standing) -> dict[str, Any]:
    return {
        **_lane(one.lane),
        "commit": one.commit,
        "ahead": one.ahead,
        "changed": one.files.changed if one.files.known else None,
        "untracked": one.files.untracked if one.files.known else None,
        "gate": one.gate,
        "record": evidence.as_dict(one.record) if one.record else None,
        "merged": one.merged or None,
    }


def _gated_dict(gated: Gated) -> dict[str, Any]:
    return {**evidence.as_dict(gated.record), "reused": gated.reused, "tail": list(gated.tail)}


def _outcome_dict(one: Outcome) -> dict[str, Any]:
    return {
        "lane": one.lane,
        "state": one.state,
        "text": one.text,
        "commit": one.commit or None,
        "result": one.result or None,
        "is_good": one.is_good,
        "conflicts": list(one.files),
        "gates": [_gated_dict(gated) for gated in one.gates],
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_VERBS = {
    "init": _init,
    "new": _new,
    "list": _list,
    "status": _list,
    "gate": _gate,
    "merge": _merge,
    "verify": _verify,
    "prune": _prune,
    "remove": _remove,
}
