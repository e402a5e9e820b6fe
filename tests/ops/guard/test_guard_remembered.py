"""What is remembered of the input of processes: whole commands, those that others depend on, and a bound."""

from __future__ import annotations

import pytest

from hermes_ops.guard import remembered
from hermes_ops.guard.remembered import MOST, MOST_OPEN, Inputs

ORDINARY = "ls -l some/folder\n"


def given(*texts: str, language: str = "shell") -> Inputs:
    inputs = Inputs()
    for text in texts:
        inputs.let_through("p", inputs.before("p") + text, language)
    return inputs


def test_of_much_input_the_end_is_kept_from_the_beginning_of_a_command() -> None:
    inputs = given(ORDINARY * 10_000 + "rm -rf ")
    kept = inputs.before("p")
    assert len(kept) <= MOST and kept.startswith(ORDINARY) and kept.endswith(ORDINARY + "rm -rf ")
    assert not inputs.is_lost("p")


@pytest.mark.parametrize(
    "begun", ["ru" + "\\\n" * 5_000, "echo '\n" + "b\n" * 5_000, "cat <<'E'\n" + "a\n" * 9_000]
)
def test_a_command_that_has_not_ended_is_kept_whole(begun: str) -> None:
    inputs = given(ORDINARY * 300, begun)
    assert inputs.before("p").endswith(begun) and not inputs.is_lost("p")
    assert len(inputs.before("p")) <= MOST + len(begun)


def test_a_here_document_that_has_ended_is_forgotten() -> None:
    inputs = given("cat <<'E'\n" + "run\n" * 50_000 + "E\n")
    assert inputs.before("p") == "" and not inputs.is_lost("p")
    long = given("cat <<'E'\n", "run\n" * 10_000, "E\n", ORDINARY)
    assert long.before("p") == ORDINARY and not long.is_lost("p")


@pytest.mark.parametrize(
    "state",
    [
        "x=run\n",
        "run() { ls; }\n",
        "alias ls=run\n",
        "cd /somewhere\n",
        "export A=b; ls\n",
    ],
)
def test_commands_that_others_depend_on_are_kept_longer(state: str) -> None:
    inputs = given(state, "# " + "a" * MOST + "\n", ORDINARY * 1_000)
    assert inputs.before("p").startswith(state) and len(inputs.before("p")) <= 2 * MOST
    assert not inputs.is_lost("p")


def test_a_here_document_of_such_a_command_is_kept_with_it() -> None:
    state = "read x <<E\nrun\nE\n"
    assert given(state, ORDINARY * 1_000).before("p").startswith(state)


@pytest.mark.parametrize("texts", [("x=1\n" * 5_000,), ("echo '" + "a\n" * MOST_OPEN,)])
def test_what_no_longer_fits_is_known_to_be_missing(texts: tuple[str, ...]) -> None:
    inputs = given(*texts, ORDINARY)
    assert inputs.is_lost("p") and len(inputs.before("p")) <= 2 * MOST


def test_statements_of_other_languages_are_cut_between_lines_that_are_not_indented() -> None:
    block = "for x in y:\n    print(x)\n\n"
    inputs = given("print(1)\n" * 10_000, block, language="python")
    assert inputs.before("p").endswith(block) and inputs.before("p").startswith("print(1)\n")
    assert not inputs.is_lost("p")
    assert given("x = run\n" * 10_000, language="python").is_lost("p")
    rows = "INSERT INTO t VALUES (1);\n"
    assert not given(rows * 10_000, language="sql").is_lost("p")


def test_the_processes_are_bounded_and_one_that_was_forgotten_is_known_to_be() -> None:
    inputs = given("x=1\n")
    for number in range(remembered.MOST_PROCESSES + 50):
        inputs.let_through(str(number), "y")
    assert inputs.before("p") == "" and inputs.is_lost("p") and not inputs.is_lost("300")
    assert len(inputs._texts) == remembered.MOST_PROCESSES
    for number in range(6_000):
        inputs.let_through(str(number), "y")
    assert len(inputs._lost) <= 5_000
