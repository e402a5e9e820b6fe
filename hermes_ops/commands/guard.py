"""`hermes ops guard`: the command guard: status, explain, test, learn, accept, log."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from .._common import command_line
from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.moment import show
from ..errors import OpsError, Unreadable
from ..host.zone import zone
from ..speak import say, say_json

LANGUAGES = (
    "shell",
    "python",
    "perl",
    "ruby",
    "node",
    "php",
    "lua",
    "awk",
    "powershell",
    "cmd",
    "sql",
    "applescript",
    "make",
    "r",
    "tcl",
)
LARGEST_TEXT = 4_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(guard_run=_status, self_test=False)
    verbs = parser.add_subparsers(dest="guard_verb", metavar="VERB")
    status = verbs.add_parser("status", help="is it live, its policy, what it decided (the default)")
    status.add_argument("--self-test", action="store_true", help="judge the built-in examples as well")
    status.set_defaults(guard_run=_status)
    explain = verbs.add_parser(
        "explain", help="what a command would run, and the verdict on it; runs nothing"
    )
    explain.add_argument(
        "text", metavar="CMD", help="the command as one word in quotes; - reads it from stdin"
    )
    explain.add_argument("--language", choices=LANGUAGES, default="shell", help="default: shell")
    explain.add_argument("--cwd", metavar="DIR", help="where it would run (default: here)")
    explain.set_defaults(guard_run=_explain, without_home=True)
    test = verbs.add_parser("test", help="score the guard on a file of commands with wanted verdicts")
    test.add_argument("file", metavar="FILE.jsonl")
    test.add_argument(
        "--ordinary", action="store_true", help="what is to be allowed is everyday work: bar 1 %%"
    )
    test.set_defaults(guard_run=_test, without_home=True)
    learn = verbs.add_parser("learn", help="what would have been stopped lately, and allowances to consider")
    learn.add_argument("--days", type=float, default=30.0, metavar="N", help="default: 30")
    learn.set_defaults(guard_run=_learn)
    accept = verbs.add_parser(
        "accept", help="make ops/guard.toml the policy in force (a person, at a terminal)"
    )
    accept.add_argument("--yes", action="store_true", help="do not ask")
    accept.set_defaults(guard_run=_accept)
    log = verbs.add_parser("log", help="the last decisions")
    log.add_argument("--tail", type=int, default=20, metavar="N", help="how many (default: 20)")
    log.set_defaults(guard_run=_log)
    probe = verbs.add_parser(
        "probe", help="what this process of the host answers to a command always blocked"
    )
    probe.set_defaults(guard_run=_probe)
    for verb in (status, explain, test, learn, accept, log, probe):
        verb.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object"
        )


def run(arguments: Any) -> int:
    return arguments.guard_run(hermes_home(), arguments)


def _status(home: Path, arguments: Any) -> int:
    from ..guard import accepted, built_in, examine, second, status

    state, probe, now = accepted.state(home), examine.quick(home), time.time()
    try:
        decided = status.decided(home, now)
    except OSError as error:
        raise Unreadable(error.filename or home, f"the log of decisions: {error.strerror or error}") from None
    reader = second.try_out(home)
    tested, failed = built_in.self_test() if arguments.self_test else (0, [])
    policy = state.policy
    ok = probe.live and not state.findings and not failed
    if arguments.json:
        say_json(
            {
                "live": probe.live,
                "reason": probe.reason,
                "fix": probe.fix,
                "policy": {
                    "accepted_at": state.accepted_at,
                    "mode": policy.mode,
                    "unattended": policy.unattended,
                    "rules": [rule.id for rule in policy.written],
                    "allows": [list(entry.argv.words) for entry in policy.allows],
                    "off": dict(policy.off),
                },
                "findings": [finding.as_dict() for finding in state.findings],
                "decided": [one.as_dict() for one in decided],
                "second_reader": reader,
                "self_test": {
                    "examples": tested,
                    "failed": [
                        {"command": one.command, "wanted": one.wanted, "got": one.came_out} for one in failed
                    ],
                },
            }
        )
        return 0 if ok else 1
    say("live" if probe.live else f"OFF: {probe.reason}" + (f"; {probe.fix}" if probe.fix else ""))
    say(_policy_line(state, home))
    for finding in state.findings:
        say(f"{finding.severity}: {finding.text}. Fix: {finding.fix}")
    for rule, reason in policy.off.items():
        say(f"  off: {rule}: {reason}")
    for one in decided:
        what = ", ".join(f"{answer} {count}" for answer, count in one.answers.most_common()) or "nothing"
        slowest = f"; slowest {one.slowest:g} ms" if one.slowest is not None else ""
        say(f"last {'24 h' if one.days == 1 else f'{one.days:g} days'}: {what}{slowest}")
        if one.rules:
            say("  by rule: " + ", ".join(f"{rule} {count}" for rule, count in one.rules.most_common(8)))
    say(f"second reader: {reader}")
    if arguments.self_test:
        say(f"self-test: {tested} examples, {len(failed)} came out wrong")
        for one in failed:
            say(f"  {one.family}: {one.command!r}: wanted {one.wanted}, came out {one.came_out}")
    return 0 if ok else 1


def _policy_line(state: Any, home: Path) -> str:
    policy = state.policy
    if state.accepted_at is None:
        return f"policy: built in, {policy.mode}, unattended {policy.unattended}"
    entries = f"rules {len(policy.rules)}, allowances {len(policy.allows)}, off {len(policy.off)}"
    at = show(state.accepted_at, zone(home).tz)
    return f"policy: accepted {at}, {policy.mode}, unattended {policy.unattended}, {entries}"


def _explain(home: Path, arguments: Any) -> int:
    import os

    from ..guard import policy
    from ..guard.explain import explain_code, explain_shell, run_line
    from ..guard.judge.judge import Surroundings

    text = sys.stdin.read(LARGEST_TEXT + 1) if arguments.text == "-" else arguments.text
    if len(text) > LARGEST_TEXT:
        raise OpsError(f"the text is longer than {LARGEST_TEXT} characters")
    where = Surroundings(os.path.abspath(arguments.cwd or "."), str(Path.home()), str(home))
    rules = policy.current(home)
    if arguments.language == "shell":
        found = explain_shell(text, rules, where)
    else:
        found = explain_code(arguments.language, text, rules, where)
    code = 0 if str(found.judgement.verdict) == "allow" else 1
    if arguments.json:
        say_json(found.as_dict())
        return code
    if found.tree:
        say("as it is read:")
        for line in found.tree:
            say(f"  {line}")
    if found.runs:
        say("what would run:")
        for one in found.runs:
            say(f"  {run_line(one)}")
    if found.judgement.unread:
        say(f"not all of it could be read: {found.judgement.unread}")
    say(f"verdict: {found.judgement.verdict}")
    for one in found.judgement.findings:
        say(f"  {one.verdict} {one.rule}: {one.why}")
        if one.part:
            say(f"    understood: {one.part}")
        if one.safer:
            say(f"    safer: {one.safer}")
    if found.host is not None:
        why = f": {found.host['why']}" if found.host["why"] else ""
        say(f"the host's own detector: {found.host['verdict']}{why}")
    return code


def _test(home: Path, arguments: Any) -> int:
    from ..guard import corpus, policy
    from ..guard.judge.judge import Surroundings

    rules = policy.current(home)
    where = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")
    rows = corpus.read(Path(arguments.file))
    judged = list(corpus.judge_all(rows, lambda text: policy.judge(rules, text, where)))
    if not judged:
        raise OpsError(f"{arguments.file}: no row in it, so nothing was tested")
    score = corpus.score(judged, ordinary=arguments.ordinary)
    if arguments.json:
        # The reader's own commands go back as they stand in the file, so that rows can be told by them.
        command_line.say_json({"rows": [one.as_dict() for one in judged], "summary": score.as_dict()})
        return 0 if score.is_kept else 1
    for one in judged:
        if one.got != one.row.want:
            say(f"{one.row.want:<8}came out {one.got:<8}{one.rule or '-':<28} {one.row.cmd}")
    for want, row in score.counts.items():
        total = sum(row.values())
        shares = ", ".join(f"{got} {count} ({100 * count / total:.1f} %)" for got, count in row.items())
        say(f"want {want:<8}{total:>5} rows: {shares}")
    say("microseconds: " + ", ".join(f"{name} {value}" for name, value in score.us.items()))
    for bar in score.bars:
        limit = (
            f"at least {100 * bar.least:g} %"
            if bar.least is not None
            else f"at most {100 * (bar.most or 0):g} %"
        )
        kept = "kept" if bar.is_kept else "NOT KEPT"
        say(f"{kept}: of what is to {_VERBS[bar.want]}, {limit} {bar.what}: {100 * bar.share:.1f} %")
    return 0 if score.is_kept else 1


_VERBS = {"block": "be blocked", "approve": "be asked about", "allow": "be allowed"}


def _learn(home: Path, arguments: Any) -> int:
    from ..guard import policy
    from ..guard.learn import learn

    if not 0 < arguments.days <= 36_500:
        raise UsageError("--days: expected a number of days above 0")
    progress = _counter() if sys.stderr.isatty() and not arguments.json else lambda _: None
    found = learn(home, policy.current(home), arguments.days, time.time(), progress)
    if arguments.json:
        say_json(
            {
                "days": found.days,
                "calls": found.calls,
                "counts": found.counts,
                "unreadable": found.unreadable,
                "groups": [vars(group) for group in found.groups],
                "proposals": [
                    {
                        "argv": list(one.words),
                        "count": one.count,
                        "rules": list(one.rules),
                        "toml": one.toml(),
                    }
                    for one in found.proposals
                ],
            }
        )
        return 0
    if sys.stderr.isatty():
        print(file=sys.stderr)
    counts = found.counts
    say(
        f"{found.calls} calls in {found.days:g} days: {counts['allow']} allowed, "
        f"{counts['approve']} would have been asked about, {counts['block']} blocked"
    )
    if found.unreadable:
        say(f"{found.unreadable} messages could not be read")
    for group in found.groups:
        say(f"{group.verdict:<8}{group.count:>6}  {group.rule}: {group.why}")
        for example in group.examples:
            say(f"          {example}")
    if found.proposals:
        say("what was asked often; put into ops/guard.toml what is right, then hermes ops guard accept:")
        for one in found.proposals:
            say("")
            for line in one.toml().splitlines():
                say(line)
    return 0


def _counter() -> Any:
    """Progress on a terminal: one line that counts, at most ten times a second."""
    last = [0.0]

    def progress(count: int) -> None:
        now = time.monotonic()
        if now - last[0] > 0.1:
            last[0] = now
            print(f"\r{count} calls", end="", file=sys.stderr, flush=True)

    return progress


def _accept(home: Path, arguments: Any) -> int:
    from ..guard import accepted, accepting
    from ..guard.policy import path_of
    from ..guard.policy_check import check

    inside = accepting.inside_a_tool_call()
    if not inside and not accepting.at_a_terminal():
        inside = accepting.cut_off(home)
    if inside:
        raise OpsError(
            f"only a person accepts a policy, and this seems to be run by an agent: {inside}; "
            "run it in a terminal of your own"
        )
    path, text = path_of(home), accepted.written(home)
    remarks = [] if text is None else check(accepted.parse_text(text, path), path, home)
    loaded = accepted.load(home)
    before = loaded.sealed.text if loaded.sealed else ""
    changes = accepted.difference(before, text or "")
    if not changes and loaded.sealed is not None:
        accepted.bear_witness(home, loaded.sealed)
        return _accepted(loaded.sealed, [], remarks, "nothing has changed", arguments.json)
    if not arguments.json:
        if loaded.why:
            say(f"the last accepted policy cannot be used: {loaded.why}")
        for line in changes or ["(the built-in rules alone)"]:
            say(line)
        for remark in remarks:
            say(f"note: {remark}")
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise OpsError("nobody is at a terminal to say yes; look at the difference, then add --yes")
        print(f"Make this the policy of the guard in {home}? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise OpsError("not accepted; what was accepted before holds")
    return _accepted(
        accepted.accept(home, time.time(), accepting.how()), changes, remarks, "accepted", arguments.json
    )


def _accepted(sealed: Any, changes: list[str], remarks: list[str], what: str, as_json: bool) -> int:
    if as_json:
        say_json({"result": what, "sha256": sealed.sha256, "difference": changes, "remarks": remarks})
    else:
        say(f"{what}; sha256 {sealed.sha256[:12]}")
    return 0


def _log(home: Path, arguments: Any) -> int:
    from ..guard import decisions

    if arguments.tail < 1:
        raise UsageError("--tail: expected a number of at least 1")
    try:
        records = deque(decisions.read(home), maxlen=min(arguments.tail, 100_000))
    except OSError as error:
        raise Unreadable(error.filename or home, error.strerror or type(error).__name__) from None
    if arguments.json:
        say_json({"decisions": list(records)})
        return 0
    tz = zone(home).tz
    for record in records:
        at = record.get("at")
        shown = show(at if isinstance(at, (int, float)) else None, tz)
        if record["answer"] == "allow":
            say(f"{shown}  allow     {record.get('count', 1)} calls")
            continue
        rules = record.get("rules")
        named = ", ".join(map(str, rules)) if isinstance(rules, list) else "-"
        say(f"{shown}  {record['answer']:<10}{named}  {record.get('tool', '')}: {record.get('command', '')}")
    if not records:
        say("No decision is written down yet.")
    return 0


def _probe(home: Path, arguments: Any) -> int:
    from ..guard import examine

    if "hermes_cli.plugins" not in sys.modules:
        raise OpsError("this is no process of the host; `hermes ops guard probe` is one")
    found = examine.answer(home)
    probe = found[examine.MARKER]
    if arguments.json:
        say_json(found)
    else:
        say("live" if probe["live"] else f"OFF: {probe['reason']}")
    return 0 if probe["live"] else 1
