"""Filters: what they print of known text is what the real ones print, or nothing is said about it."""

import shutil
import subprocess

import pytest

from hermes_ops.guard.judge import filters, regular, stream_editor

TEXT = "alpha beta\nGamma,delta,x\n\n12 a:b:c\n9 a:b\nGamma,delta,x\n  padded\ttab\n"


def printed(name: str, words: list[str], text: str) -> str | None:
    given = filters.parsed(filters.FILTERS[name], words)
    return None if given is None else filters.computed(name, given, text)


# Harmless uses; the real program, where this system has it, says what is right.
USES = [
    ("cat", []), ("cat", ["-n"]), ("cat", ["-bs"]), ("cat", ["-A"]), ("tac", []), ("rev", []), ("nl", []),
    ("nl", ["-ba"]), ("head", ["-2"]), ("head", ["-n", "-2"]), ("head", ["--bytes=9"]), ("head", ["-c-30"]),
    ("tail", ["-2"]), ("tail", ["-n+3"]), ("tail", ["--bytes", "9"]), ("tail", ["-c", "+9"]),
    ("cut", ["-c2-4"]), ("cut", ["-c1-4", "--complement"]), ("cut", ["-d,", "-f2-"]),
    ("cut", ["-sd:", "-f1,3", "--output-delimiter=-"]), ("cut", ["-b-3,7"]),
    ("tr", ["a-c", "A-C"]), ("tr", ["-d", "[:space:]"]), ("tr", ["-cd", "a-z\\n"]), ("tr", ["-s", " a"]),
    ("tr", ["-t", "abx", "de"]), ("tr", ["abx", "de"]), ("tr", ["[:lower:]", "[:upper:]"]),
    ("tr", ["\\141", "Z"]), ("tr", ["-c", "a-z\\n", "_"]), ("tr", ["-ds", "b", "a"]), ("tr", ["a-d", "[x*]"]),
    ("sort", []), ("sort", ["-r"]), ("sort", ["-u"]), ("uniq", []), ("uniq", ["-c"]), ("uniq", ["-u"]),
    ("grep", ["a"]), ("grep", ["-v", "^$"]), ("grep", ["-o", "a.*"]), ("grep", ["-iE", "g|^9"]),
    ("grep", ["-n", "a"]), ("grep", ["-x", "9 a:b"]), ("grep", ["-F", ":b:"]),
    ("grep", ["-e", "x", "-e", "9"]),
    ("grep", ["-E", "[0-9]+ [a-c]"]), ("grep", ["-w", "a"]), ("egrep", ["a{1,2}$"]),
    ("fold", ["-w5"]), ("fold", ["-sw", "8"]), ("paste", ["-s"]), ("paste", ["-sd", ",-"]),
    ("paste", ["-d:", "-", "-"]), ("expand", ["-t4"]), ("iconv", ["-f", "utf-8", "-t", "ascii"]),
    ("sed", ["s/a/X/"]), ("sed", ["s/a/X/2g"]), ("sed", ["2d;$d"]), ("sed", ["-n", "/G/,/9/p"]),
    ("sed", ["-E", "s/([a-z]+) ([a-z]+)/\\2 \\1/"]), ("sed", ["s|[[:digit:]]|#|g"]), ("sed", ["y/abc/xyz/"]),
    ("sed", ["-e", "1!s/^/> /", "-e", "3q"]), ("sed", ["2i\\\ninserted"]), ("sed", ["/^$/d"]),
    ("sed", ["s/a\\|b/<&>/gp"]), ("sed", ["1~2d"]), ("sed", ["2a more"]), ("sed", ["-n", "$="]),
    ("awk", ["{print $2}"]), ("awk", ["-F,", '{print $2 "-" $1}']), ("awk", ["NR==2"]),
    ("awk", ["/a/{print $1, $NF}"]),
    ("awk", ["NR>1 {print $0}"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "words"), USES)
def test_what_a_filter_prints_is_what_the_real_one_prints(name: str, words: list[str]) -> None:
    text = TEXT.replace("\t", "") if name == "fold" else TEXT
    mine = printed(name, words, text)
    assert mine is not None
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    real = subprocess.run(
        [program, *words], input=text, capture_output=True, text=True, timeout=10, env={"LC_ALL": "C"}
    )
    assert mine == real.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("head", ["-z"]), ("head", ["-n", "x"]), ("head", ["--unheard"]), ("tail", ["-f"]),
        ("tr", ["[:no:]", "a"]),
        ("tr", ["a"]), ("cut", ["-f"]), ("cut", ["-f1-", "--unheard"]), ("sort", ["-R"]),
        ("grep", ["-c", "a"]),
        ("grep", ["-P", "(?=a)"]), ("grep", ["(a*)*b", "-E"]), ("grep", ["-f", "x"]), ("sed", ["s/a/b/e"]),
        ("sed", ["N;P;D"]), ("sed", ["-z", "s/a/b/"]), ("sed", ["s/\\(a*\\)*/x/"]), ("sed", ["s/a/\\U&/"]),
        ("awk", ["{print toupper($1)}"]), ("awk", ["-v", "x=1", "{print x}"]), ("fold", ["-w", "0"]),
        ("column", ["-x"]), ("fmt", ["-u"]), ("iconv", ["-f", "utf-16"]), ("nl", ["-s:"]),
        ("strings", ["-n", "2"]),
    ],
)  # fmt: skip
def test_of_a_use_that_is_not_followed_nothing_is_said(name: str, words: list[str]) -> None:
    assert printed(name, words, TEXT) is None


def test_what_sed_writes_to_files_is_told() -> None:
    found = stream_editor.edited(["/a/w out", "s/x/y/w other"], "a\nx\n", True, False)
    assert found == stream_editor.Edited("", {"out": "a\n", "other": "y\n"})


def test_a_search_that_could_take_long_is_refused() -> None:
    expression = regular.compiled(".*.*.*x", "basic")
    assert expression is not None and not expression.affordable(["a" * 3000])
    assert regular.compiled("(a+)+", "extended") is None


def test_growing_lines_end_sed() -> None:
    assert stream_editor.edited(["s/.*/&&/;" * 19], "ab\n" * 5, False, False) is None
