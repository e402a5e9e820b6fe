"""A second opinion, where bashlex is installed: it sees no command name that the reader does not see.

bashlex runs in a child that is ended when it hangs, as it does on some text that bash accepts.
"""

from __future__ import annotations

import json
import os
import random
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from hermes_ops.guard import second_child
from hermes_ops.guard.shell.reader import read
from hermes_ops.guard.shell.tree import Simple
from tests.ops.guard.corpus_commands import commands
from tests.ops.guard.generated_commands import script
from tests.ops.guard.mutations import mutated
from tests.ops.guard.shown_tree import nodes

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(os.name != "posix", reason="the child needs a POSIX system"),
    pytest.mark.skipif(find_spec("bashlex") is None, reason="bashlex is not installed"),
]

SECONDS = 0.2
MOST = int(os.environ.get("GUARD_BASHLEX", "700"))

# What bashlex takes for commands and bash does not.
EXPLAINED = (
    # A substitution in single quotes, beside other text in one word.
    re.compile(r"[^\s;&|(]'[^']*(?:\$\(|`|[<>]\()|'[^']*(?:\$\(|`|[<>]\()[^']*'[^\s;&|)]"),
    # (( )) is two subshells to it, and so is the head of for (( )).
    re.compile(r"\(\("),
    # Letters beyond ASCII make a name for it: `é=1 x` is an assignment.
    re.compile(r"[^\x00-\x7f]\w*\+?="),
    # An index with blanks is several words to it.
    re.compile(r"\w\[[^\]]*\s"),
    # Lines of a here-document in a loop, a condition or a group.
    re.compile(r"(?:\b(?:do|then|else)|[{(])\s[\s\S]*<<"),
)


def opinions(texts: list[str]) -> Iterator[list[list[str]] | None]:
    """The simple commands that bashlex sees in each text; None where it cannot read it, or hangs."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path}
    child: subprocess.Popen[bytes] | None = None
    try:
        for text in texts:
            if child is None:
                child = subprocess.Popen(
                    [sys.executable, "-P", second_child.__file__, str(SECONDS), "1000"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                )
                assert child.stdout and child.stdout.readline() == b"ready\n"
            assert child.stdin and child.stdout
            child.stdin.write(json.dumps([0, text]).encode() + b"\n")
            child.stdin.flush()
            ready, _, _ = select.select([child.stdout], [], [], 20)
            line = child.stdout.readline() if ready else b""
            if line:
                yield json.loads(line)[1]
                continue
            child.kill()
            child.communicate()
            child = None
            yield None
    finally:
        if child is not None:
            child.kill()
            child.communicate()


def seen(text: str) -> set[str]:
    """The command names the reader sees, as text without quotes or backslashes."""
    names = set()
    for node in nodes(read(text).script):
        if isinstance(node, Simple) and node.words:
            word = node.words[0]
            for name in (word.literal() or "", text[slice(*word.span)]):
                names.add(bare(name))
    return names


def bare(name: str) -> str:
    return re.sub(r"\\\n|['\"\\]", "", name)


def unseen(texts: list[str]) -> tuple[list[tuple[str, str]], int]:
    """Command names that only bashlex sees, with their texts; and how many texts it could read."""
    missed, could = [], 0
    for text, found in zip(texts, opinions(texts), strict=True):
        if found is None:
            continue
        could += 1
        names = seen(text)
        for words in found:
            name = bare(words[0])
            assigns = re.match(r"\w+(?:\[.*?\])?\+?=", name)
            if name and not assigns and name not in names and not any(one.search(text) for one in EXPLAINED):
                missed.append((name, text))
    return missed, could


def test_bashlex_sees_no_command_of_the_corpora_that_the_reader_does_not():
    texts = commands()
    texts = random.Random("corpora").sample(texts, min(MOST, len(texts)))
    missed, could = unseen(texts)
    assert missed == [] and could > len(texts) / 2


def test_bashlex_sees_no_command_of_scripts_and_mutations_that_the_reader_does_not():
    of = random.Random("bashlex")
    bases = [*commands(), *(script(f"bashlex {number}", 1) for number in range(100))]
    texts = [mutated(of.choice(bases), bases, of).replace("\0", "") for _ in range(MOST)]
    texts = [text for text in texts if not read(text).problem]
    missed, could = unseen([*bases[-100:], *texts])
    assert missed == [] and could > len(texts) / 4


def test_a_text_on_which_bashlex_hangs_is_only_a_text_it_cannot_read():
    assert list(opinions(["a b", "git log --grep='${VAR'", "c"])) == [[["a", "b"]], None, [["c"]]]
    assert Path(second_child.__file__).exists()
