"""The reader of frontmatter without PyYAML: it says what PyYAML says, or that it cannot tell."""

import random
from datetime import date

import pytest

from hermes_ops.skillcheck import small_yaml

PIECES = [
    "name: x",
    "description: >\n  folded text\n  more\n\n  para\n    deep\n  end",
    "description: |-\n  a\n   b\n\n",
    "tags: [a, b, 'c d', \"e\"]",
    "meta:\n  hermes:\n    tags: [x]\n    n: 1",
    "platforms:\n- linux\n- macos",
    "platforms:\n  - linux\n  -  macos",
    'a: "x\\n y"',
    "a: 'it''s'",
    "# c",
    "",
    "k: v # c",
    "k: v#c",
    "x: yes",
    "n: 0x1F",
    "n: 1_000",
    "n: 1:30",
    "d: 2024-01-02",
    "f: 1.5e+3",
    "f: .5",
    "n: ~",
    "n:",
    "t: a: b",
    "t: 'a: b'",
    "u: http://x.y/z",
    "l:\n  - a: 1\n    b: 2\n  - c",
    "l:\n  - - 1\n    - 2",
    "m: {a: 1, b: [2, 3], c: }",
    "p: multi\n  line text\n  here",
    "p: multi\n\n  para",
    'q: "multi\n  line\n\n  para"',
    "q: 'multi\n  line'",
    "- a",
    "  odd: 1",
    "on: x",
    "1: x",
    "'q k': v",
    '"q": v',
    "s: |\n\n  lead\n  x\n\n",
    "s: >+\n  a\n\n",
    "s: |2\n   x\n  y",
    "x: *a",
    "x: &a b",
    "x: !t b",
    "x: @a",
    "x: `a`",
    "x: %a",
    "x: -a",
    "x: - a",
    "x: ?a",
    "x: ,a",
    "x: [a",
    "x: ]",
    "emoji: \U0001f600 ok",
    "k:v",
    "k : v",
    "? a",
    "x: [a: b]",
    "x: {a, b}",
    "x: [a,]",
    "x: [,]",
    "x: 'a' b",
    'x: "a" # c',
    "x: >\n",
    "x: |",
    "y: 'a",
    "z: null",
    "w: 012",
    "w: 09",
    "e: 1e3",
    "i: .inf",
    "v: 1.2.3",
    "x: a #\n  b",
    "x: [a, # c\n  b]",
    "x: '#a'",
    "x: a\\",
    'x: "\\q"',
    'x: "a\\\n  b"',
    "- x: 1\n  y: 2",
    "x: [[[a]]]",
    "deep:\n  - name: A\n    help: >-\n      folded\n      x\n    opt: true",
    "x:\n  y",
    "x:\n  'y'",
    "x:\n  [a,\n   b]",
    "x: =",
    "<<: {a: 1}",
]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("description: >\n  two\n  lines\n", {"description": "two lines\n"}),
        ("description: >-\n  two\n\n  paragraphs", {"description": "two\nparagraphs"}),
        ("description: |\n  a\n    b\nname: x", {"description": "a\n  b\n", "name": "x"}),
        ("a: 'it''s'\nb: \"\\u00e9\\n\"", {"a": "it's", "b": "é\n"}),
        ("platforms: [macos, 'linux']", {"platforms": ["macos", "linux"]}),
        ("platforms:\n- macos\n- linux # too", {"platforms": ["macos", "linux"]}),
        ("a:\n  b:\n    - c: 1\n      d: x\n    - 2", {"a": {"b": [{"c": 1, "d": "x"}, 2]}}),
        (
            "name: 123\nother: yes\nnone:\nday: 2026-01-02",
            {"name": 123, "other": True, "none": None, "day": date(2026, 1, 2)},
        ),
        ("text: a plain\n  text of two lines", {"text": "a plain text of two lines"}),
        ("", None),
    ],
)
def test_what_people_write_above_a_skill_is_read(text, value):
    assert small_yaml.load(text) == value


@pytest.mark.parametrize(
    "text", ["a: b: c", "a: [b", "a: 'b", "a: @b", "a: 1\nno colon", "a: 1\n   b: 2", "a: \x07"]
)
def test_what_is_no_yaml_is_broken(text):
    with pytest.raises(small_yaml.Broken):
        small_yaml.load(text)


@pytest.mark.parametrize("text", ["a: &x b", "a: *x", "a: !!str b", "? a", "---\na: b", "a: b\n...", "<<: x"])
def test_what_it_does_not_know_is_never_guessed_at(text):
    with pytest.raises(small_yaml.Unsupported):
        small_yaml.load(text)


@pytest.mark.parametrize(
    "text", ["[" * 5000, "- " * 2000, "a: " + " " * 60_000 + "x", "a: [\n" + "1,\n" * 60_000, "x" * 300_000]
)
def test_a_hostile_text_ends_at_once(text):
    with pytest.raises((small_yaml.Broken, small_yaml.Unsupported)):
        small_yaml.load(text)


def test_it_agrees_with_pyyaml_wherever_it_answers():
    yaml = pytest.importorskip("yaml")
    chosen = random.Random(7)
    answered = 0
    for _ in range(1500):
        text = "\n".join(chosen.choice(PIECES) for _ in range(chosen.randint(1, 4)))
        try:
            ours = repr(small_yaml.load(text))
        except small_yaml.Broken:
            ours = "broken"
        except small_yaml.Unsupported:
            continue
        try:
            theirs = repr(yaml.safe_load(text))
        except (yaml.YAMLError, ValueError):
            theirs = "broken"
        assert ours == theirs, repr(text)
        answered += 1
    assert answered > 800
