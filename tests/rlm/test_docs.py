"""The documentation agrees with the code: settings, tools, commands, limits, times, examples, named tests."""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_rlm import bridge, budget, cells, checkpoint, cli, display, reply, sessions, settings, tools
from hermes_rlm.kernel import capture, channel, handle, pool, session
from hermes_rlm.kernel.child import errors, figures, server

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONTRACT = (ROOT / "docs" / "KERNEL_CONTRACT.md").read_text("utf-8")
KERNEL_PAGE = (ROOT / "docs" / "how-to" / "kernel.md").read_text("utf-8")
FLEET_PAGE = (ROOT / "docs" / "how-to" / "fleet.md").read_text("utf-8")
AUDIT = (ROOT / "docs" / "SPEC_AUDIT.md").read_text("utf-8")
MIB = 1 << 20
BOUNDS = {
    "code of one cell": f"{tools.MOST_CODE:,} characters",
    "`timeout`": f"{tools.DEFAULT_SECONDS} seconds, at most {tools.MOST_SECONDS}",
    "output shown per stream": (
        f"the last {capture.TAILS['stdout']:,} bytes of stdout, {capture.TAILS['stderr']:,} of stderr; "
        "with more, all of it goes to a file"
    ),
    "one spill file": f"{capture.SPILL_LIMIT // MIB} MiB",
    "spill files of a home": f"{capture.SPILLS_KEPT}",
    "tool calls of one cell": f"{budget.CALLS_PER_CELL:,}",
    "one bridge request": f"{bridge.REQUEST_BYTES // MIB} MiB, {bridge.ARRIVAL_SECONDS:g} seconds to arrive",
    "bridge connections at a time": f"{bridge.CONNECTIONS}",
    "one message on the channel": f"{channel.MAX_MESSAGE // MIB} MiB",
    "one checkpoint": f"{checkpoint.LIMIT_BYTES // MIB} MiB",
    "checkpoints of a home": f"{checkpoint.MAX_AGE_DAYS} days, {checkpoint.LIMIT_BYTES // MIB} MiB",
    "a session's journal": (
        f"two files of about {cells.ROTATE_BYTES // MIB} MiB; {sessions.KEPT_DAYS} days after the last change"
    ),
}
LADDER = [
    "0 s",
    f"{handle.REPEAT_SECONDS:g} s, again and again",
    f"{handle.GRACE_SECONDS:g} s",
    f"{handle.SALVAGE_BEGINS_SECONDS:g} s later",
    f"{handle.SALVAGE_SECONDS:g} s after it began to save",
]
SENTENCES = [
    f"in one text of at most {reply.LIMIT:,} characters",
    f"the innermost {errors.FRAMES} frames",
    f"at the end of the cell, at most {figures.FIGURES_A_CELL} |",
    f"at most {tools.VARIABLES_SHOWN}, newest first",
    f"when all kernels stay busy for {pool.ROOM_SECONDS:g} seconds",
    f"At most {display.NAMES_SHOWN} names stand in each list",
    f"for at most {pool.EXIT_SECONDS:g} seconds",
    f"within {server.LAST_SAVE_SECONDS:g} seconds",
    f"figures, the newest {session.FIGURES_KEPT} |",
]


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of every row of the table that begins with this header line."""
    lines = text[text.index(heading) :].splitlines()[2:]
    table = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_readme_has_the_table_of_settings_as_the_code_has_it() -> None:
    assert settings.as_markdown() in README


def test_the_readme_names_every_tool_with_its_arguments() -> None:
    shown = [row[0].strip("`") for row in rows(README, "| tool | what the model gets |")]
    named = [f"{tool.name}({', '.join(tool.parameters['properties'])})" for tool in tools.TOOLS]
    assert [call.replace(f"={tools.DEFAULT_SECONDS}", "") for call in shown] == named


def test_the_commands_of_the_readme_are_those_there_are() -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    cli.add_commands(parser)
    table = rows(README, "| command | what it does |\n|---|---|\n| `hermes rlm`")
    shown = [command for row in table for command in re.findall(r"`hermes rlm ([^`]*)`", row[0])]
    parsed = [parser.parse_args(shlex.split(re.sub(r"[][]", "", command))) for command in shown]
    assert {arguments.rlm_handler for arguments in parsed} == set(handlers(parser))


def handlers(parser: argparse.ArgumentParser) -> Iterator[object]:
    """The function behind every command of a parser."""
    if parser.get_default("rlm_handler"):
        yield parser.get_default("rlm_handler")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from handlers(command)


def test_the_contract_has_the_limits_of_the_code() -> None:
    limits = {row[0]: row[1] for row in rows(CONTRACT, "| field of `rlm_exec` | bytes | meaning |")}
    assert {name: limit for name, limit in limits.items() if limit} == {
        f"`{name}`": f"{limit:,}" for name, limit in reply._FIELDS.items()
    }
    assert dict(rows(CONTRACT, "| bound | value |")) == BOUNDS


def test_the_contract_has_the_times_of_the_code() -> None:
    assert [row[0] for row in rows(CONTRACT, "| after | what happens | what is kept |")] == LADDER


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_contract_has_the_numbers_of_the_code(sentence: str) -> None:
    assert sentence in " ".join(CONTRACT.split())


def test_the_settings_for_a_fleet_are_accepted_and_shown_as_the_page_shows_them(tmp_path: Path) -> None:
    block, shown = re.findall(r"^```\n(.*?)^```", FLEET_PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / ".env").write_text(block, "utf-8")
    assert settings.load(tmp_path, {}).problems == ()
    given = dict(line.split("=") for line in block.split())
    for row in settings.describe(tmp_path, {}):
        if row.knob.name in given:
            assert row.source == ".env" and settings.shown(row.knob, row.value) == given[row.knob.name]
            assert f"{row.knob.name}={given[row.knob.name]} (.env)" in shown
            assert row.knob.kind != "flag" or row.knob.does in shown
    assert len(given) == shown.count("(.env)")


def test_the_examples_of_the_kernel_page_are_what_a_kernel_answers(
    agent: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"(?:^    .*\n|^\n+(?=    ))+", KERNEL_PAGE, re.MULTILINE)
    skill, module = (
        textwrap.dedent(next(block for block in blocks if mark in block)).strip() + "\n"
        for mark in ("name: ledger", "def load")
    )
    (home / "skills/ledger/python/ledger").mkdir(parents=True)
    (home / "skills/ledger/SKILL.md").write_text(skill, "utf-8")
    (home / "skills/ledger/python/ledger/__init__.py").write_text(module, "utf-8")
    (tmp_path / "sales.csv").write_text("region,cents\nnorth,120\nsouth,80\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^    (rlm_exec\(.*\))\n    (\{.*\})$", KERNEL_PAGE, re.MULTILINE)
    assert len(examples) >= 5
    for call, answer in examples:
        told = ast.parse(call, mode="eval").body
        code = ast.literal_eval(told.args[0])
        options = {option.arg: ast.literal_eval(option.value) for option in told.keywords}
        found, expected = agent.run(code, **options), json.loads(answer)
        for field in ("ok", "value"):
            assert found.get(field) == expected.get(field), code
        # Where the page cuts a traceback, and how it marks columns, differs between versions of Python.
        first = expected.get("error", "").split("\n")[0]
        assert found.get("error", "").startswith(first), code
        if "kernel" in expected:
            assert found["kernel"] == {**expected["kernel"], "cell": found["kernel"]["cell"]}, code


def test_every_test_that_the_audit_names_is_there() -> None:
    there = {"tests/host/test_installs.py"}
    for file in (ROOT / "tests").rglob("test_*.py"):
        there |= {
            file.name,
            *re.findall(r"^ *def (test_\w+)", file.read_text("utf-8"), re.MULTILINE),
        }
    named = set(re.findall(r"\btest_\w+(?:\.py)?", AUDIT))
    assert len(named) > 150
    assert sorted(named - there) == []
