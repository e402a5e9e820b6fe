"""The lexical view: pieces of text that cannot be read, as far as they can be told."""

from __future__ import annotations

import pytest

from hermes_ops.guard.shell.lexical import pieces

VIEWS = [
    ("a 'b c' \"d\\\"e\" f\\ g $'\\x68'", [["a", "b c", 'd"e', "f g", "h"]]),
    ("a; b && c | d & e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
    ("r''m -r\"f\" / 2>&1 >out|sh", [["rm", "-rf", "/", "2>&", "1", ">", "out"], ["sh"]]),
    ("a \\\n b\\\nc", [["a", "bc"]]),
    ("a # it's b\nc#d e", [["a"], ["c#d", "e"]]),
    # What is run inside is a piece of its own, also between double quotes.
    ("a $(b c) `d` <(e) (f)", [["a"], ["b", "c"], ["d"], ["e"], ["f"]]),
    ('a "x $(b "y" `c`) z"; d', [["a", "x $(b y `c`) z"], ["d"], ["x"], ["b"], ["c"], ["z"]]),
    ('a "$(rm -rf /)" b', [["a", "$(rm -rf /)", "b"], ["rm", "-rf", "/"]]),
    # A quote that is never closed is left out.
    ("a 'b; rm -rf /", [["a", "b"], ["rm", "-rf", "/"]]),
    ('a "b && c', [["a", "b"], ["c"]]),
    ("a '' \"\"", [["a", "", ""]]),
    ("$x ${y} $", [["$x", "${y}", "$"]]),
    ("", []),
    (";;;", []),
]


@pytest.mark.parametrize(("text", "expected"), VIEWS)
def test_words_are_told_apart_without_a_grammar(text: str, expected: list[list[str]]):
    assert pieces(text) == expected


def test_the_view_is_bounded():
    assert sum(map(len, pieces("a b; " * 50_000, 100))) == 100
    assert sum(map(len, pieces('"$(' * 50_000, 100))) <= 101
    assert pieces("`" * 1_000_000, 100) == []
    assert pieces(" " * 200_000 + "a") == []
