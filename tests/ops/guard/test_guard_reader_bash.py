"""What bash accepts the reader reads: corpora, generated scripts, mutations of both. bash only parses."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess

import pytest

from hermes_ops.guard.shell.reader import read
from tests.ops.guard.corpus_commands import commands
from tests.ops.guard.generated_commands import script
from tests.ops.guard.mutations import mutated

BASH = shutil.which("bash") or ""


def version() -> tuple[int, int]:
    said = subprocess.run([BASH, "--version"], capture_output=True, text=True).stdout if BASH else ""
    found = re.search(r"version (\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(version() < (5, 2), reason="needs bash 5.2, which reads $(...) when it parses"),
]

GENERATED = int(os.environ.get("GUARD_GENERATED", "2000"))
MUTATED = int(os.environ.get("GUARD_MUTATED", "4000"))
SEED = os.environ.get("GUARD_SEED", "1")

# Where bash accepts what the reader calls wrong, and why that is right for a guard.
EXPLAINED = (
    # bash reads these only when it gets there; by then the guard must have said what it thinks of them.
    re.compile(r"in backquotes, |in a here-document, |in arithmetic, |in a substitution, "),
    # After an assignment and a redirection bash forgets that `name[` may begin an assignment.
    re.compile(r"a \[ that is never closed"),
    # For `for ((` without its `))`, and for an empty [[ ]], bash drops the whole text without a word.
    re.compile(r"a for with an unexpected `\(|an empty \[\[ \]\]"),
)
# `${ command; }` is run by bash 5.3, and a bad substitution before it.
FUNSUB = re.compile(r"\$\{[ \t\n|]")
# Where the reader accepts what bash calls wrong: it reads on where a syntax error would have stopped bash.
LAXER = (
    "the operands of [[ ]] are not counted, nor the words before or after its operators",
    "extended patterns, a(b), are read everywhere, as where extglob is on",
    "arithmetic in (( )) and for (( )) is not checked",
    "`time` and `{` are keywords also where bash 5.2 forgets so in $( )",
)


def accepted(text: str) -> bool:
    """Does bash parse the text without an error? It also says so of [[ ]] with an exit status of 0."""
    done = subprocess.run([BASH, "-n", "-c", text], capture_output=True, stdin=subprocess.DEVNULL)
    said = done.stderr.decode(errors="replace")
    return not done.returncode and all("warning" in line or ":" not in line for line in said.splitlines())


def unexplained(texts: list[str]) -> list[tuple[str, str]]:
    """The texts which bash accepts and the reader does not, with what the reader says."""
    found = []
    for text in texts:
        problem = read(text).problem
        explained = any(one.match(problem) for one in EXPLAINED) or FUNSUB.search(text)
        if problem and not explained and text.strip("-") and accepted(text):
            found.append((text, problem))
    return found


def test_every_command_of_the_corpora_is_read_as_bash_reads_it():
    """But for extended patterns: bash takes them after a line of `shopt -s extglob`, we take them always."""
    differing = [text for text in commands() if bool(read(text).problem) == accepted(text)]
    assert [text for text in differing if read(text).problem or not re.search(r"[@!?*+]\(", text)] == []


def test_generated_scripts_that_bash_accepts_are_read():
    assert unexplained([script(f"bash {SEED} {number}", number % 4) for number in range(GENERATED)]) == []


def test_mutations_that_bash_accepts_are_read():
    of = random.Random(f"mutations {SEED}")
    bases = commands()
    bases += [script(f"base {SEED} {number}", 1) for number in range(len(bases) // 4)]
    texts = [mutated(of.choice(bases), bases, of).replace("\0", "") for _ in range(MUTATED)]
    assert unexplained(texts) == []


def test_what_bash_refuses_is_seldom_read_without_a_problem():
    """The reader may be laxer (LAXER says where); but not so that it would miss that bash runs nothing."""
    of = random.Random(f"laxer {SEED}")
    bases = commands()
    texts = [mutated(of.choice(bases), bases, of).replace("\0", "") for _ in range(400)]
    refused = [text for text in texts if text.strip("-") and not accepted(text)]
    laxer = [text for text in refused if not read(text).problem]
    assert len(refused) > 40 and len(laxer) <= len(refused) / 10, laxer
