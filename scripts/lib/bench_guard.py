"""The figures of the command guard: what it stops of each corpus, and how long a verdict takes.

The host's own detector judges the same commands in the same run, the two taking turns. Commands are data
here: they are read and judged, none is run. Times are of one verdict on a warm process, in ms; `us` of one
command is the least of a few repetitions, so that a neighbour's noise is not taken for the guard's work.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import bench_rlm_measure as measure

CORPORA = measure.ROOT / "tests" / "ops" / "corpora"
# file stem, what is printed, whether its harmless half is a day's ordinary work
FILES = (
    ("commands_given", "given", False),
    ("commands_ours", "ours", False),
    ("commands_theirs", "by a stranger", False),
    ("commands_second", "by another", False),
    ("commands_third", "by a third", False),
    ("commands_fourth", "by a fourth", False),
    ("commands_fifth", "by a fifth", False),
    ("commands_sixth", "by a sixth", False),
    ("commands_hostile", "hostile", False),
    ("commands_ordinary", "ordinary work", True),
    ("commands_ordinary_second", "ordinary, other", True),
    ("commands_ordinary_third", "ordinary, third", True),
    ("commands_ordinary_fourth", "ordinary, fourth", True),
    ("commands_ordinary_fifth", "ordinary, fifth", True),
)
ROUNDS, REPEATS = 5, 3
VERDICT_P50, VERDICT_P95, VERDICT_MOST = 0.3, 2.0, 50.0
TYPICAL = range(150, 261)  # characters
LONG_DOCUMENT, LONG_LIST = 200_000, 5_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="", help=f"only reports whose name holds this: {', '.join(REPORTS)}"
    )
    options = parser.parse_args()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"Python {platform.python_version()}, {machine}")
    with tempfile.TemporaryDirectory(prefix="bench-guard-") as nowhere:
        # The host is imported for its detector: it is to find no home of anybody's.
        os.environ["HOME"] = os.environ["HERMES_HOME"] = nowhere
        for name, report in REPORTS.items():
            if options.only in name:
                report()
    return 0


def rows(stem: str) -> list[dict[str, str]]:
    path = CORPORA / f"{stem}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def ours() -> Callable[[str], str]:
    from hermes_ops.guard.judge.judge import judge_shell

    return lambda command: str(judge_shell(command).verdict)


def hosts() -> Callable[[str], str]:
    """The host's verdict as its gate would use it: hardline blocks, dangerous asks."""
    from tools.approval import detect_dangerous_command, detect_hardline_command

    def verdict(command: str) -> str:
        if detect_hardline_command(command)[0]:
            return "block"
        return "approve" if detect_dangerous_command(command)[0] else "allow"

    return verdict


def report_corpora() -> None:
    """What each stops, in per cent of the commands of one wanted verdict."""
    print(f"\n{'corpus':<15} {'wanted':<8} {'n':>5} {'':<8} {'stopped':>8} {'blocked':>8}   bar")
    for stem, title, is_ordinary in FILES:
        corpus = rows(stem)
        for want in ("block", "approve", "allow"):
            commands = [row["cmd"] for row in corpus if row["want"] == want]
            if commands:
                for who, judge in (("guard", ours()), ("host", hosts())):
                    _print_rates(title, want, who, [judge(command) for command in commands], is_ordinary)


def _print_rates(title: str, want: str, who: str, got: list[str], is_ordinary: bool) -> None:
    stopped = 100 * sum(verdict != "allow" for verdict in got) / len(got)
    blocked = 100 * sum(verdict == "block" for verdict in got) / len(got)
    most = 1 if is_ordinary else 2
    kept, bar = {
        "block": (stopped == 100 and blocked >= 95, "none allowed, >= 95 % blocked"),
        "approve": (stopped >= 95, ">= 95 % stopped"),
        "allow": (stopped <= most, f"<= {most} % stopped"),
    }[want]
    miss = "" if kept or who == "host" else "  MISS"
    note = bar + miss if who == "guard" else ""
    print(f"{title:<15} {want:<8} {len(got):>5} {who:<8} {stopped:>7.1f}% {blocked:>7.1f}%   {note}".rstrip())


def report_times() -> None:
    """A verdict on commands of about 200 characters, on all of the corpora, and on long ones."""
    stems = [stem for stem, _, _ in FILES]
    daily = [stem for stem, _, is_ordinary in FILES if is_ordinary]
    print()
    measure.heading()
    for title, commands in (
        ("200 characters of ordinary work", _about_200_characters(daily)),
        ("200 characters of all corpora", _about_200_characters(stems)),
        ("short commands joined to 200 characters", _joined(stems)),
        ("each command of the corpora", [row["cmd"] for stem in stems for row in rows(stem)]),
    ):
        spent = _spent(commands)
        barred = title.startswith("200")
        for who in spent:
            values = spent[who]
            bars = (VERDICT_P50, VERDICT_P95) if who == "guard" and barred else (None, None)
            measure.row(f"{who}, {title}, p50", measure.median(values), "ms", bars[0])
            measure.row("  p95", measure.p(values, 95), "ms", bars[1])
            measure.row("  most", max(values), "ms", VERDICT_MOST if who == "guard" else None)
        measure.row("  guard to host", measure.ratio(spent["guard"], spent["host"]), "x")


def _about_200_characters(stems: Iterable[str]) -> list[str]:
    """The commands of that length."""
    return [row["cmd"] for stem in stems for row in rows(stem) if len(row["cmd"]) in TYPICAL]


def _joined(stems: Iterable[str]) -> list[str]:
    """As many commands as come to that length with && between them: the densest text that people write."""
    parts = [row["cmd"] for stem in stems for row in rows(stem)]
    parts = [
        part for part in parts if "\n" not in part and "#" not in part and len(part) < TYPICAL.start // 6
    ]
    draw = random.Random(200)
    chosen: list[str] = []
    while len(chosen) < 400:
        joined = draw.choice(parts)
        while len(joined) < TYPICAL.start:
            joined += " && " + draw.choice(parts)
        if len(joined) in TYPICAL:
            chosen.append(joined)
    return chosen


def _spent(commands: list[str]) -> dict[str, list[float]]:
    """Milliseconds per command of the guard and of the host's detector, taking turns command by command."""
    judges = {"guard": ours(), "host": hosts()}
    for command in commands[:50]:
        for judge in judges.values():
            judge(command)
    spent: dict[str, list[float]] = {who: [] for who in judges}
    for number, command in enumerate(commands):
        for who in list(judges)[:: 1 if number % 2 else -1]:
            spent[who].append(_least(judges[who], command, REPEATS))
    return spent


def _least(judge: Callable[[str], str], command: str, times: int) -> float:
    """Milliseconds of the quickest of some verdicts on a command."""
    return 1000 * min(measure.seconds(lambda: judge(command)) for _ in range(times))


def report_losing() -> None:
    """Inputs that are long or awkward: the most a verdict takes."""
    cases: dict[str, str] = {
        "a quoted here-document of 200 kB": "cat > f <<'E'\n" + "some text of a file\n" * 10_000 + "E\n",
        "an open here-document of 200 kB": "cat > f <<E\n" + "costs $price of it\n" * 10_000 + "E\n",
        "5,000 commands on lines": "echo one two three\n" * LONG_LIST,
        "a word of 100,000 letters": "echo " + "a" * 100_000,
        "1,000 open parentheses": "(" * 1000,
        "500 substitutions in each other": "echo " + "$(echo " * 500 + ")" * 500,
        "a pipeline of 1,000": " | ".join(["cat"] * 1000),
        "20,000 unclosed ${": "${" * 20_000,
        "braces that multiply": "echo " + "{a,b,c,d}" * 12,
        "a Python here-document of 100 kB": "python3 <<'E'\n" + "total = total + len(rows)\n" * 4_000 + "E\n",
        "200 kB of quotes": "'\"" * 100_000,
    }
    judges = {"guard": ours(), "host": hosts()}
    print()
    measure.heading()
    for title, command in cases.items():
        for who, judge in judges.items():
            bar = VERDICT_MOST if who == "guard" else None
            least = _least(judge, command, ROUNDS)
            measure.row(f"{who}, {title}", {"figure": least, "n": ROUNDS}, "ms", bar)


def report_hook() -> None:
    """The callback as the host calls it, and what loading the guard costs, each in a process of its own."""
    print()
    measure.heading()
    answer = _in_a_process(_HOOK)
    measure.row("import and register of the plugin", answer["register"], "ms", 10)
    measure.row("first call of the callback", answer["first"], "ms", VERDICT_MOST)
    for name, title in (("allowed", "`git status`"), ("other", "a tool that runs nothing")):
        measure.row(f"callback, {title}", measure.median(answer[name]), "ms")
    measure.row("callback, a block with its line in the log", measure.median(answer["blocked"]), "ms")
    measure.row("memory of the guard", answer["memory"], "MB")


_HOOK = """
import json, os, resource, sys, time
sys.path.insert(0, sys.argv[1])
import hermes_cli.plugins
class Context:
    hooks = {}
    def register_hook(self, name, callback): self.hooks[name] = callback
    def __getattr__(self, name): return lambda *a, **k: None
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
before = peak(); began = time.perf_counter()
import hermes_ops
hermes_ops.register(Context())
registered = 1000 * (time.perf_counter() - began)
callback = Context.hooks["pre_tool_call"]
Context.hooks["pre_llm_call"](session_id="s")  # the question to the model, which answers a second later
time.sleep(1.0)
def call(tool, args):
    began = time.perf_counter()
    callback(tool_name=tool, args=args, task_id="t", session_id="s", tool_call_id="c", turn_id="",
             api_request_id="", middleware_trace=[], telemetry_schema_version=1)
    return 1000 * (time.perf_counter() - began)
first = call("terminal", {"command": "git status"})
many = lambda tool, args, n: [call(tool, args) for _ in range(n)]
print(json.dumps({"register": registered, "first": first,
    "allowed": many("terminal", {"command": "git status"}, 300),
    "other": many("read_file", {"path": "x"}, 300),
    "blocked": many("terminal", {"command": "hermes-ops-guard-canary"}, 100), "memory": peak() - before}))
"""


def _in_a_process(code: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", code, str(measure.ROOT)], capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        raise SystemExit(f"bench: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


REPORTS = {
    "corpora": report_corpora,
    "times": report_times,
    "losing": report_losing,
    "hook": report_hook,
}

if __name__ == "__main__":
    sys.exit(main())
