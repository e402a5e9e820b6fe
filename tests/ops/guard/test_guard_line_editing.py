"""What a terminal makes of typed text: keys that erase, discard and quote, and those nobody can follow."""

from __future__ import annotations

import pytest

from hermes_ops.guard.line_editing import LONGEST, edited, untold, views


@pytest.mark.parametrize(
    "typed, text",
    [
        ("ls -l\n", "ls -l\n"),
        ("echo zz\x15./run a\n", "./run a\n"),
        ("./runX\x7f a\n", "./run a\n"),
        ("./runXY\x08\x08 a\n", "./run a\n"),
        ("\x7f\x7fls\n\x7fa\n", "ls\na\n"),
        ("echo one two  \x17\x17run\n", "echo run\n"),
        ("nothing\x03run\n", "run\n"),
        ("one\necho '\ntwo\x03run\n", "one\nrun\n"),
        ("if true\nthen\n\x03run\n", "run\n"),
        ("r\x16\x00un\x16\x7fx\n", "run\x7fx\n"),
        ("ls\rrun\r", "ls\nrun\n"),
        ("ru\x04n\x1a\n", "run\n"),
        ("r\x1b[C\x1b[1;5Du\x1bOAn\x1bb\n", "run\n"),
        ("a\tb\n", "a\tb\n"),
    ],
)
def test_keys_are_carried_out(typed: str, text: str) -> None:
    assert edited(typed) == text


def test_the_terminal_itself_erases_a_word_of_letters_and_digits() -> None:
    assert edited("run-it now\x17\x17\n", by_blanks=False) == "run-\n"


def test_text_without_keys_has_one_view_and_text_with_them_several() -> None:
    assert views("a\n", "b\tc\n") == ["a\nb\tc\n"]
    assert views("echo '\n", "\x03run\n") == ["run\n", "echo '\n\x03run\n"]
    assert views("x=1\necho '\n", "\x03run\n") == ["x=1\nrun\n", "x=1\necho '\n\x03run\n", "run\n"]
    assert views("", "a-b\x17c\n") == ["c\n", "a-b\x17c\n", "a-c\n"]


@pytest.mark.parametrize(
    "typed, key",
    [
        ("ls\n", ""),
        ("a\tb\x03\x04\x1a\x15\x17\x08\x7f\r\n", ""),
        ("é→\u2028\x85", ""),
        ("a\x01b", "U+0001"),
        ("\x1b[A\n", "U+001B"),
        ("a\x12b", "U+0012"),
        ("a\x00b", "U+0000"),
        ("a\x16\x00b\x16\x1b", ""),
        ("a\x16\x16\x1b", "U+001B"),
    ],
)
def test_keys_of_which_nobody_can_tell_what_they_do_are_named(typed: str, key: str) -> None:
    assert untold(typed) == key


def test_very_much_text_with_keys_in_it_is_not_followed() -> None:
    assert untold("a\x7f" * LONGEST) and not untold("a" * 10 * LONGEST)
