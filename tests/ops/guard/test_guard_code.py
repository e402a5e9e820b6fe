"""Code of every language against the verdicts it should get. The code is data; nothing here runs it."""

import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops.guard.code import examples, wording
from hermes_ops.guard.code.judge import LANGUAGES, judge_code, language_of
from hermes_ops.guard.verdict import Verdict
from tests.ops.guard.code_cases import corpus, found, rules, shell, verdict

# The parser's remarks about judged code; pytest takes away the filter that the judge sets.
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")


def test_the_corpus_has_enough_of_every_kind() -> None:
    wants = Counter((row["language"] == "python", row["want"] == "allow") for row in corpus())
    assert wants[True, False] >= 120
    assert wants[True, True] >= 60
    assert {row["language"] for row in corpus()} >= set(LANGUAGES) - {"sql"}
    assert len({(row["language"], row["code"]) for row in corpus()}) == len(corpus())


def test_all_code_of_the_corpus_gets_its_verdict() -> None:
    wrong = [
        (row["want"], verdict(row["language"], row["code"]), row["language"], row["code"])
        for row in corpus()
        if verdict(row["language"], row["code"]) != row["want"]
    ]
    assert not wrong


def test_code_breaks_the_rule_that_its_row_names() -> None:
    wrong = [
        (row["rule"], rules(row["language"], row["code"]), row["code"])
        for row in corpus()
        if row["rule"] and row["rule"] not in rules(row["language"], row["code"])
    ]
    assert not wrong


@pytest.mark.parametrize(("language", "code", "rule", "wanted"), examples.EXAMPLES)
def test_examples_are_found(language: str, code: str, rule: str, wanted: str) -> None:
    assert rule in rules(language, code)
    assert verdict(language, code) == wanted


@pytest.mark.parametrize(("language", "code"), examples.SILENT)
def test_of_ordinary_code_nothing_is_said(language: str, code: str) -> None:
    assert found(language, code) == []


def test_every_rule_has_an_example_and_words() -> None:
    shown = {rule for _, _, rule, _ in examples.EXAMPLES}
    assert set(wording.RULES) <= shown
    for rule, (rule_verdict, why, safer) in wording.RULES.items():
        assert rule_verdict in (Verdict.APPROVE, Verdict.BLOCK)
        assert why and not why.endswith(".") and not safer.endswith("."), rule


def test_interpreters_are_known_by_their_programs() -> None:
    assert language_of("/usr/bin/python3.12") == "python"
    assert language_of("osascript") == "applescript"
    assert language_of("pwsh") == "powershell"
    assert language_of("nodejs") == "node"
    assert language_of("gawk") == "awk"
    assert language_of("cat") == ""


def test_of_a_language_that_is_not_known_nothing_is_said() -> None:
    assert found("cobol", "rm -rf /") == []


def test_what_is_found_names_the_code_and_not_the_shell_text_it_was_judged_by() -> None:
    (one,) = found("python", "import shutil\nshutil.rmtree('/usr')  # all of it")
    assert one.part == "shutil.rmtree('/usr')  # all of it"


def test_the_same_code_gets_the_same_findings_twice() -> None:
    for row in corpus()[:60]:
        assert found(row["language"], row["code"]) == found(row["language"], row["code"])


_PIECES = st.sampled_from(
    [
        "(",
        ")",
        "[",
        "{",
        "}",
        "'",
        '"',
        "\\",
        "\n",
        "\t",
        "\0",
        "f'",
        "%",
        "lambda:",
        "**",
        "exec(",
        "`",
        "$",
        "#",
    ]
    + [
        "<<EOF\n",
        "${",
        "#{",
        "%%bash\n",
        "\u16f0",
        "é",
        "import os\n",
        "os.system(",
        "x = [x] * 500\n",
        "-- ",
        "/*",
    ]
)


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_nothing_that_is_written_makes_the_judge_raise(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(corpus()))
    code = row["code"]
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(code)))
        cut = data.draw(st.integers(0, 6))
        code = code[:place] + data.draw(_PIECES) + code[place + cut :]
    language = data.draw(st.sampled_from(sorted(LANGUAGES))) if data.draw(st.booleans()) else row["language"]
    judge_code(language, code, shell, "/home/u", None)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(LANGUAGES)), st.text(max_size=300))
def test_no_text_makes_the_judge_raise(language: str, code: str) -> None:
    judge_code(language, code, lambda text: [], "", None)


LONG = {
    "calls": ("python", "f(a);" * 20_000),
    "shells": ("python", "import os\n" + "\n".join(f"os.system('ls {number}')" for number in range(3_000))),
    "doubling": ("python", "x = 'a'\n" + "x += x\n" * 2_000),
    "nested lists": ("python", "x = [1] * 400\n" + "x = [x] * 400\n" * 400 + "import os\nos.system(x)"),
    "loops": ("python", "".join(" " * depth + "for x in range(9):\n" for depth in range(9)) + " " * 9 + "f"),
    "recursion": ("python", "def f(n):\n return f(n - 1) + f(n - 2)\nf(9)\n" * 50),
    "self": ("python", "a = []\n" + "a.append(a)\n" * 2_000 + "import os\nos.system(a)"),
    "exec": ("python", "exec('exec(\"f(1)\")')\n" * 4_000),
    "open brackets": ("python", "os.system(" * 8_000),
    "open quotes": ("python", "os.system('" * 8_000),
    "script": ("python", "x = 1\nprint(x)\n" * 6_000),
    "node": ("node", "const a = f(`x ${y}`, {a: [1, 2]});\n" * 3_000),
    "perl": ("perl", "my $x = foo($y, qq{a}); print \"$x\\n\" if /abc/;\n" * 2_500),
    "ruby": ("ruby", "x.each { |y| " * 8_000),
    "powershell": ("powershell", "Get-Item x | Remove-Item;" * 4_000),
    "make": ("make", "a:\n\tls $(X)\n" * 9_000),
    "tcl": ("tcl", "set a [exec ls\n" * 9_000),
    "sql": ("sql", "drop table x;" * 9_000),
    "mongo": ("mongo", "db.x.drop();" * 9_000),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(LONG))
def test_a_long_text_costs_no_more_than_a_bounded_time(name: str) -> None:
    language, code = LONG[name]
    best = 9.0
    for _ in range(2):
        before = time.perf_counter()
        judge_code(language, code, shell, "/home/u", "/home/u/project")
        best = min(best, time.perf_counter() - before)
    assert best < 1.0  # about 0.03 s; without its bounds each of them takes many times a second


def test_what_stands_far_behind_in_a_long_script_is_still_found() -> None:
    filler = "\n".join(f"value_{number} = compute({number}, 'text')" for number in range(2_500))
    code = f"import os\n{filler}\nos.system('rm -rf /')\n"
    assert len(code) > 64_000
    assert verdict("python", code) == "block"


def test_ordinary_long_scripts_stay_silent() -> None:
    shuffled = [row["code"] for row in corpus() if row["language"] == "python" and row["want"] == "allow"]
    shuffled = [code for code in shuffled if "%%" not in code and "!" not in code and "print '" not in code]
    random.Random(7).shuffle(shuffled)
    lines = "\n".join(f"result_{number} = transform(result_{number - 1})" for number in range(1, 1_500))
    assert found("python", lines + "\nprint('rm -rf /')\nprint(open('a.txt').read())\n") == []
