"""What holds of every text: reading never raises, spans lie inside, literals come back, lines are joined."""

from __future__ import annotations

import random
import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops.guard.shell.lexical import pieces
from hermes_ops.guard.shell.reader import read
from tests.ops.guard.corpus_commands import commands
from tests.ops.guard.generated_commands import script
from tests.ops.guard.mutations import PIECES, mutated
from tests.ops.guard.shown_tree import show, spans

_SHELL = st.text(st.sampled_from(" \t\n\r;&|<>()'\"`$\\{}[]#!*?=~+-@:,./0aE\0é\ud800"), max_size=60)
_PARTS = st.lists(st.sampled_from([*PIECES, "a", " ", "x[", "]", "$'"]), max_size=40).map("".join)
_LITERALS = st.text(st.characters(exclude_characters="\0"), max_size=30)


def only_word(text: str) -> str | None:
    reading = read(f"x {text}")
    assert not reading.problem, (text, reading.problem)
    (item,) = reading.script.items
    assert len(item.command.words) == 2
    return item.command.words[1].literal()


@given(st.one_of(st.text(max_size=60), _SHELL, _PARTS))
def test_reading_never_raises_and_spans_lie_inside(text: str):
    reading = read(text)
    assert reading.text == text and 0 <= reading.at <= len(text)
    for node, (start, end) in spans(reading.script):
        assert 0 <= start <= end <= len(text), node
    assert all(isinstance(word, str) for piece in pieces(text) for word in piece)


@pytest.mark.parametrize("seed", range(20))
def test_spans_of_scripts_and_their_mutations_lie_inside(seed: int):
    of = random.Random(f"spans {seed}")
    bases = [*of.sample(commands(), 20), script(f"spans {seed}", 2)]
    for base in bases:
        for text in (base, mutated(base, bases, of)):
            reading = read(text)
            for node, (start, end) in spans(reading.script):
                assert 0 <= start <= end <= len(text), (text, node)


@given(_LITERALS)
def test_literal_words_come_back_however_they_are_quoted(value: str):
    assert only_word(shlex.quote(value)) == value
    assert only_word('"' + "".join(f"\\{sign}" if sign in '$`"\\' else sign for sign in value) + '"') == value
    assert only_word("''" + "".join(f"\\{sign}" if sign != "\n" else "'\n'" for sign in value)) == value


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_ansi_c_quotes_give_every_text_back(value: str):
    bytewise = "".join(f"\\x{byte:02x}" for byte in value.encode())
    octal = "".join(f"\\{byte:03o}" for byte in value.encode())
    by_number = "".join(f"\\U{ord(sign):08x}" for sign in value)
    for text in (bytewise, octal, by_number):
        assert only_word(f"$'{text}'") == value


UNQUOTED = [
    "if true; then echo ${x:-y} $(ls -la) >>out 2>&1; fi",
    "FOO=1 x+=2 cmd a$b$1 c <(d e) && f || ! g | h & i",
    "case abc in a*|b) rm x;; (c) d;& esac; while a; do b; done",
    "for x in a b {c,d}e; do f; done; function g { h; }; i() (j)",
    "[[ -f a && b == c* || d =~ e.f ]] && echo $((1+2)) ${#x} ${x[1]} ${!y} ${z//a/b}",
    "a=(b c d[1]) e[2]=f; ((x=1)); time -p g; { h; } <<<i 3>j {k}>l &>m",
    "a `b c` `d \\`e\\`` | until f; do select g in h; do i; done; done",
]


@pytest.mark.parametrize("text", UNQUOTED)
def test_a_backslash_newline_between_any_two_characters_changes_nothing(text: str):
    expected = show(read(text).script)
    of = random.Random(text)
    # Behind a backslash it would be a quoted newline.
    places = [at for at in range(1, len(text)) if text[at - 1] != "\\"]
    for chosen in [*([at] for at in places), *(of.sample(places, 8) for _ in range(60)), places]:
        joined = "".join("\\\n" * (at in chosen) + sign for at, sign in enumerate(text))
        reading = read(joined)
        assert (reading.problem, show(reading.script)) == ("", expected), joined


def test_reading_takes_time_in_proportion_to_the_text():
    """Told apart from quadratic by a factor of eight in length: not by a time."""

    def seconds(text: str) -> float:
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            read(text)
            best = min(best, time.process_time() - start)
        return best

    units = ["<<a\na\n", "x\\\ny ", "$((1)) ", "`a` ", "a[1]=b ", "{a,b} ", "<<-a\n\ta\n", "'a'b ", "((a));"]
    for unit in units:
        short, long = unit * 100, unit * 800
        assert seconds(long) < 40 * seconds(short) + 0.005, unit
