"""Arithmetic, the splitting of lines and groups of patterns: as bash does them, or not known."""

import shutil
import subprocess

import pytest

from hermes_ops.guard.judge import arithmetic, groups, lines
from hermes_ops.guard.judge.invocation import UNKNOWN, Arg
from hermes_ops.guard.judge.walk import Walk
from hermes_ops.guard.shell import reader

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed")


def bash(script: str, *arguments: str) -> str:
    """What bash prints for a harmless script of this file."""
    assert BASH is not None
    command = [BASH, "--norc", "-c", script, "bash", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=10, env={"LC_ALL": "C"})
    return found.stdout.removesuffix("\n")


def walk() -> Walk:
    fresh = Walk("/home/user", "/home/user", "/home/user/.hermes")
    for name, value in (("n", "3"), ("m", "n+1"), ("neg", "-7"), ("empty", "")):
        fresh.state.assign(name, Arg(value))
    fresh.state.assign("a", {"0": Arg("5"), "1": Arg("n*2")})
    return fresh


SETUP = "n=3; m=n+1; neg=-7; empty=; a=(5 'n*2'); "
EXPRESSIONS = [
    "1+2*3", "(1+2)*3", "2**10", "-2**2", "7/2", "-7/2", "-7%3", "1<<4|1", "5&3^1", "~5", "!0", "!7", "1?2:3",
    "0?2:1?4:5", "n", "m", "m*2", "neg%4", "empty+1", "a", "a[1]", "a[n-2]", "a[0]+a[1]", "010", "0x1f",
    "16#ff",
    "2#101", "n==3&&m>3", "n!=3||0", "n<=3", "1,2,n", "n++", "++n", "n=8", "n+=2", "n*=m", "$n+1", "${n}*2",
    "- -3", "1 + ( 2 )", "3>2>1",
]  # fmt: skip


@needs_bash
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_comes_to_what_bash_says(expression: str) -> None:
    assert str(arithmetic.evaluate(walk(), expression)) == bash(f"{SETUP}echo $(({expression}))")


@needs_bash
@pytest.mark.parametrize("expression", ["n=8", "n++", "++n", "n+=2", "n*=m", "x=n+1", "n--", "(n=4)+1"])
def test_an_assignment_in_an_expression_is_made(expression: str) -> None:
    here = walk()
    arithmetic.evaluate(here, expression)
    name = "x" if expression[0] == "x" else "n"
    value = here.parameter(name)
    assert value is not None and value.text == bash(f"{SETUP}: $(({expression})); echo ${name}")


@pytest.mark.parametrize(
    "expression",
    ["unset_name", "1/0", "2**-1", "1+", "(1", "1 2", "a[", "n ? 1", "9" * 401, "1<<99", "@", "x=y"],
)
def test_what_is_not_known_or_no_arithmetic_has_no_value(expression: str) -> None:
    assert arithmetic.evaluate(walk(), expression) is None


def test_names_that_stand_for_each_other_end() -> None:
    here = walk()
    here.state.assign("p", Arg("q"))
    here.state.assign("q", Arg("p"))
    assert arithmetic.evaluate(here, "p") is None


LINES = [
    ("a b c", " \t\n", 2), ("  a  b  ", " \t\n", 2), ("a:b:c", ":", 2), ("a::c", ":", 3), (":a", ":", 2),
    ("a:", ":", 1), ("a: b", ": ", 2), (" a : b : ", ": ", 2), ("a,b:c", ",:", 3), ("", " ", 1),
    ("a b", "", 2),
    ("x:y:", ":", 2), ("one two three", " ", 1), ("a\\ b c", " ", 2), ("\\a\\b", " ", 1), ("a\\:b:c", ":", 2),
]  # fmt: skip


@needs_bash
@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize(("line", "separators", "count"), LINES)
def test_a_line_is_split_as_read_splits_it(line: str, separators: str, count: int, raw: bool) -> None:
    names = [f"v{number}" for number in range(count)]
    option = "-r" if raw else ""
    shown = "; ".join(f"printf '%s|' \"${name}\"" for name in names)
    script = f'IFS="$2"; read {option} {" ".join(names)} <<< "$1"; {shown}'
    pieces = lines.fields(line, separators, count, raw)
    pieces += [""] * (count - len(pieces))
    assert "".join(f"{piece}|" for piece in pieces) == bash(script, line, separators)


@needs_bash
@pytest.mark.parametrize(("line", "separators"), [(line, separators) for line, separators, _ in LINES])
def test_a_line_is_split_into_an_array_as_read_does(line: str, separators: str) -> None:
    script = 'IFS="$2" read -ra v <<< "$1"; for x in "${v[@]}"; do printf "%s|" "$x"; done'
    assert "".join(f"{x}|" for x in lines.fields(line, separators, 0, True)) == bash(script, line, separators)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("x@(a|b).c", ["xa.c", "xb.c"]),
        ("!(a)", ["*"]),
        ("a/!(b)/c", ["a/*/c"]),
        ("*(a|b)", ["*"]),
        ("?(a)b", ["ab", "b"]),
        ("@(a|b)@(c|d)", ["ac", "ad", "bc", "bd"]),
        ("@(a|!(b))", ["*"]),
        ("plain", ["plain"]),
    ],
)
def test_groups_of_patterns_become_words(word: str, expected: list[str]) -> None:
    command = reader.read(f"probe {word}").script.items[0].command
    found = [each.literal() for each in groups.alternatives(command.words[1])]
    assert sorted(found) == sorted(expected)


def test_many_groups_stay_few_words() -> None:
    command = reader.read("probe " + "@(a|b|c|d|e|f|g|h)" * 6).script.items[0].command
    assert len(groups.alternatives(command.words[1])) < 100


def test_an_element_by_an_unknown_number_is_unknown() -> None:
    value = walk().element("a", UNKNOWN)
    assert value is not None and value.text == UNKNOWN
