"""What bash runs of a generated script is among what the guard says it would run."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from hermes_ops.guard.judge.invocation import UNKNOWN, Invocation
from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.rules.rule import Family
from hermes_ops.guard.shell.reader import read
from tests.ops.guard.generated_commands import script
from tests.ops.guard.sandbox import entry, run

REASON = entry()[1] if sys.platform == "linux" else "it needs Linux"
pytestmark = pytest.mark.skipif(bool(REASON), reason=f"no sandbox: {REASON}")

# The number that a process substitution gets is nobody's business.
_PIPE = re.compile(r"/dev/fd/[0-9]+")
WHERE = Surroundings("/work", "/none", "/none/.hermes")
SCRIPTS = int(os.environ.get("GUARD_RUN_SCRIPTS", "600"))
FIRST = int(os.environ.get("GUARD_SEED", "1"))


def seen(text: str) -> tuple[list[str], bool]:
    """The commands the guard sees, each as an expression for its words; and whether it saw the whole text.

    It may look into arguments for shell text, and find that they are none.
    """
    found: dict[str, None] = {}

    def note(invocation: Invocation) -> list:
        words = ""
        for arg in invocation.argv:
            known = [re.escape(piece) for piece in _PIPE.sub(UNKNOWN, arg.text).split(UNKNOWN)]
            expression = ".*" if arg.glob else ".*".join(known)
            # What is not known may also come to no word at all.
            words += f"(?:\x1f{expression})?" if not expression.strip(".*") else f"\x1f{expression}"
        found[words + (".*" if invocation.appended else "")] = None
        return []

    family = Family("test", frozenset(), note)
    judgement = judge_shell(text, WHERE, extra=[family])
    return list(found), not read(text).problem and judgement.unread not in ("limit", "error")


def test_nothing_outside_the_sandbox_can_be_written_seen_or_reached():
    places = (
        "",
        "/usr",
        "/usr/bin",
        "/dev",
        "/proc",
        "/tmp",
        "/etc",
        str(Path.home()),
        str(Path(__file__).parent),
    )
    attempts = [f": >{place}/written || fox; [[ -s {place}/written ]] || fox" for place in places]
    attempts += [f"[[ -e {place} ]] || fox" for place in ("/etc", "/home", "/root", "/var", "/sys", __file__)]
    attempts += [": </dev/tcp/127.0.0.1/22 || fox", ": >/work/written && fox"]
    assert all(records and all(words == ["fox"] for words in records) for records in run(attempts, 20))
    assert run(["nope || alfa $(echo /*)"], 20)[0][-1][1:] == sorted(
        f"/{name}"
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "usr", "dev", "proc", "work")
        if name in ("usr", "dev", "proc", "work") or Path(f"/{name}").is_symlink()
    )


@pytest.mark.once
def test_what_bash_runs_is_among_what_the_guard_sees():
    texts = [script(f"run {FIRST + number}", 1 + number % 2) for number in range(SCRIPTS)]
    ran = run(texts, 30 + SCRIPTS / 20)
    missed, commands, cut = [], 0, 0
    for text, records in zip(texts, ran, strict=True):
        expressions, is_whole = seen(text)
        if not is_whole:
            cut += 1
            continue
        whole = re.compile("|".join(f"(?:{one})" for one in expressions) or r"(?!)", re.DOTALL)
        for words in records:
            if words[0].startswith("work"):
                continue  # a function that was not defined in the end
            commands += 1
            if not whole.fullmatch("".join(f"\x1f{word}" for word in words)):
                missed.append((words, text))
    assert commands > SCRIPTS, "hardly anything ran"
    assert cut <= SCRIPTS / 4
    assert not missed, f"{len(missed)} of {commands}, seed {FIRST}: {missed[0][0]!r} of\n{missed[0][1]}"
