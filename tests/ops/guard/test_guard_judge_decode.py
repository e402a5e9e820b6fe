"""What programs print where it can be told: echo, printf, decoders, filters, and patterns on values."""

import base64
import gzip

import pytest

from hermes_ops.guard.judge import decode, patterns


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["a", "b"], "a b\n"),
        (["-n", "a"], "a"),
        (["-e", r"a\tb\x41\0101"], "a\tbAA\n"),
        (["-ne", r"a\c", "b"], "a"),
        (["-E", r"a\n"], "a\\n\n"),
        (["-x", "a"], "-x a\n"),
    ],
)
def test_echo(words: list[str], printed: str) -> None:
    assert decode.echo(words) == printed


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["%s-%s\\n", "a", "b", "c"], "a-b\nc-\n"),
        (["plain"], "plain"),
        (["%d %x %o %c", "10", "255", "8", "xyz"], "10 ff 10 x"),
        (["%b", r"\x72\x6d"], "rm"),
        (["\\162\\155"], "rm"),
        (["%.2s|%5s", "abcdef", "x"], "ab|    x"),
        (["--", "a%%b"], "a%b"),
        (["%d", "'A"], "65"),
        (["a%.s", "1"], "a"),
        (["x%.*sy", "0", "abc"], "xy"),
        (["%-4s|%*s|", "a", "3", "b"], "a   |  b|"),
        (["%b%s", r"a\cb", "c"], "a"),
        (["%q", "a b"], r"a\ b"),
        (["%05d", "42"], "00042"),
        (["%s\\n", "a", "b"], "a\nb\n"),
        (["%e", "1"], None),
        (["100%"], None),
    ],
)
def test_printf(words: list[str], printed: str | None) -> None:
    assert decode.printf(words) == printed


PACKED = base64.b64encode(gzip.compress(b"ls -la\n", mtime=0)).decode()


@pytest.mark.parametrize(
    ("steps", "text", "result"),
    [
        ([("base64", ["-d"])], "bHMK", "ls\n"),
        ([("base64", ["--decode"])], "bH\nMK", "ls\n"),
        ([("base64", [])], "ls\n", "bHMK\n"),
        ([("openssl", ["base64", "-d"])], "bHMK", "ls\n"),
        ([("openssl", ["dgst"])], "ls", None),
        ([("xxd", ["-r", "-p"])], "6c730a", "ls\n"),
        ([("base32", ["-d"])], "NRZQU===", "ls\n"),
        ([("base64", ["-d"]), ("gunzip", [])], PACKED, "ls -la\n"),
        ([("base64", ["-d"]), ("zcat", [])], "bm90IHBhY2tlZA==", None),
    ],
)
def test_recoders(steps: list[tuple[str, list[str]]], text: str, result: str | None) -> None:
    for program, words in steps:
        assert text is not None
        text = decode.RECODERS[program](words, text)
    assert text == result


def test_unpacking_is_bounded() -> None:
    bomb = base64.b64encode(gzip.compress(b"a" * 50_000_000)).decode()
    unpacked = decode.RECODERS["gunzip"]([], decode.RECODERS["base64"](["-d"], bomb) or "")
    assert unpacked is not None and len(unpacked) <= decode.LONGEST


@pytest.mark.parametrize(
    ("text", "pattern", "matches"),
    [
        ("abc", "a*", True),
        ("abc", "a?c", True),
        ("abc", "[ab]bc", True),
        ("abc", "[!a]bc", False),
        ("a*c", r"a\*c", True),
    ],
)
def test_patterns(text: str, pattern: str, matches: bool) -> None:
    assert patterns.matches(text, pattern) is matches


def test_what_a_pattern_with_many_stars_leaves_is_not_known_instead_of_taking_for_ever() -> None:
    assert patterns.regular("*a" * 30) is None
    assert patterns.without_suffix("a" * 400, "*a*a*b", True) is None
