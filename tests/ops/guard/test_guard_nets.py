"""The nets below the tables: programs that nobody listed, and files that this line writes and runs."""

import pytest

from hermes_ops.guard.judge.commands_in_options import RUNS
from hermes_ops.guard.judge.dispatch import HANDLERS
from hermes_ops.guard.judge.everyday import EVERYDAY
from hermes_ops.guard.judge.interpreters import HANDLERS as INTERPRETERS
from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.judge.other_languages import HANDLERS as LANGUAGES
from hermes_ops.guard.judge.shells import SHELLS
from hermes_ops.guard.judge.wrappers import WRAPPERS
from hermes_ops.guard.verdict import Judgement, Verdict

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def judged(command: str, where: Surroundings = WHERE) -> Judgement:
    return judge_shell(command, where)


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("frobnicate 'rm -rf /'", "opaque.argument"),
        ("frobnicate --after='rm -rf /'", "opaque.argument"),
        ("frobnicate x::='rm -rf /etc'", "opaque.argument"),
        ("frobnicate 'sudo reboot now'", "opaque.argument"),
        ("frobnicate blue rm -rf /", "opaque.argument"),
        ("printf 'rm -rf /\\n' | frobnicate", "opaque.input"),
        ("echo 'rm -rf /' > a.sh; frobnicate a.sh", "opaque.file"),
    ],
)
def test_a_person_is_asked_what_an_unknown_program_does_with_a_command(command: str, rule: str) -> None:
    judgement = judged(command)
    assert judgement.verdict is Verdict.APPROVE
    assert judgement.rule == rule


@pytest.mark.parametrize(
    "command", ["frobnicate rm -rf /", "frobnicate -n 5 -- rm -rf /", "frobnicate -v /bin/rm -rf /"]
)
def test_a_command_behind_a_program_that_takes_nothing_else_is_what_runs(command: str) -> None:
    judgement = judged(command)
    assert judgement.verdict is Verdict.BLOCK
    assert judgement.rule == "files.root-removal"


@pytest.mark.parametrize(
    "command",
    [
        "frobnicate 'reboot the router when it hangs'",
        "frobnicate --message 'rm -rf / was typed here'",
        "frobnicate -m 'rm -rf /'",
        "frobnicate server reboot web-1",
        "frobnicate rm -rf build",
        "frobnicate kill 4312",
        "./frobnicate 'rm -rf /'",
        "scripts/frobnicate.py --case 'rm -rf /' --want block",
        "hermes ops guard explain 'rm -rf /'",
        "echo 'rm -rf /' | ./frobnicate",
        "echo 'rm -rf /' | lolcat",
        "echo 'rm -rf /' > a.txt; frobnicate a.txt",
    ],
)
def test_prose_test_cases_and_harmless_commands_are_not_asked_about(command: str) -> None:
    assert judged(command).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "echo 'rm -rf /' > a.sh; sh ./*.sh",
        "echo 'rm -rf /' > a.sh; for f in *.sh; do bash \"$f\"; done",
        "echo 'rm -rf /' > a.sh; find . -name a.sh -exec sh {} \\;",
        "echo 'rm -rf /' > a.sh; ls a.sh | xargs sh",
        "mkdir b; echo 'rm -rf /' > b/lint; PATH=$PWD/b:$PATH lint",
        "printf 'all:\\n\\trm -rf /\\n' > t/Makefile; make -C t",
        'echo \'{"scripts":{"x":"rm -rf /"}}\' > package.json; npm run x',
        "printf 'x:\\n    rm -rf /\\n' > justfile; just x",
        "printf 'int main() { return system(\"rm -rf /\"); }\\n' > a.c; gcc a.c -o a; ./a",
        "printf 'func main() { os.RemoveAll(\"/\") }\\n' > a.go; go run a.go",
        "echo 'rm -rf /' > .git/hooks/pre-push; git push",
        "echo 'rm -rf /' | dd of=a.sh; sh a.sh",
        "exec 5>a.sh; echo 'rm -rf /' >&5; sh a.sh",
    ],
)
def test_a_file_of_this_line_is_followed_to_what_runs_it(command: str) -> None:
    assert judged(command).verdict is Verdict.BLOCK


def test_a_file_is_found_where_the_folder_is_not_known() -> None:
    where = Surroundings(None, "/home/user", "/home/user/.hermes")
    assert judged("mkdir d; echo 'rm -rf /' > d/a.sh; cd d; sh a.sh", where).verdict is Verdict.BLOCK


@pytest.mark.parametrize(
    "command",
    [
        "printf 'rm -rf /\\n' > docs/a.md; git add docs/a.md",
        "printf 'rm -rf /\\n' > fixtures/a.sh; shellcheck fixtures/a.sh; git add fixtures",
        "printf 'def test(): assert f(\"rm -rf /\")\\n' > test_a.py; pytest -q",
        "printf 'FROM debian\\nRUN rm -rf /var/lib/apt/lists/*\\n' > Dockerfile; docker build .",
        "printf 'const bad = \"rm -rf /\";\\n' > a.ts; npx tsc --noEmit",
        'echo \'{"scripts":{"clean":"rm -rf dist"}}\' > package.json; npm run clean',
        "printf 'all:\\n\\trm -rf build\\n' > Makefile; make",
        "printf 'rm -rf build\\n' > a.sh; sh *.sh",
        "printf 'rm -rf /\\n' > a.sh; make test",
    ],
)
def test_what_is_written_and_not_run_stays_data(command: str) -> None:
    assert judged(command).verdict is Verdict.ALLOW


def test_a_judgement_on_the_side_leaves_nothing_behind() -> None:
    # Were the argument run, a.sh would hold its text.
    judgement = judged("echo ls > a.sh; frobnicate 'echo reboot > a.sh; rm -rf /'; sh a.sh")
    assert {found.rule for found in judgement.findings} == {"opaque.argument"}


def test_no_program_that_runs_its_words_counts_as_one_for_which_words_are_data() -> None:
    assert EVERYDAY.isdisjoint(SHELLS)
    assert EVERYDAY.isdisjoint(LANGUAGES)
    assert not {name for name in EVERYDAY & frozenset(INTERPRETERS) if "awk" not in name}
    # `command -v` only asks.
    assert EVERYDAY & frozenset(WRAPPERS) == {"command"}


def test_every_program_of_the_tables_is_looked_at() -> None:
    for name in (*RUNS, *LANGUAGES):
        assert name in HANDLERS


def test_many_arguments_cost_no_more_than_the_first_of_them() -> None:
    words = " ".join(f"'word {number} of many'" for number in range(300))
    assert judged(f"frobnicate {words}").verdict is Verdict.ALLOW
