"""Of what a run left, the answer is told apart from the prompt, and a run from a run that said something."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.errors import Unreadable
from hermes_ops.host.outputs import Output, is_silence, list_outputs, read_output

CASES = Path(__file__).parent / "cron" / "06c6883b7ddd"
BERLIN = ZoneInfo("Europe/Berlin")

HEAD = "# Cron Job: {name}\n\n**Job ID:** 06c6883b7ddd\n**Run Time:** 2026-11-27 06:00:05\n"
AGENT = HEAD + "**Schedule:** 0 6 * * 1-5\n\n## Prompt\n\n{prompt}\n\n## Response\n\n{response}\n"
FAILED = HEAD + "**Schedule:** 0 6 * * 1-5\n\n## Prompt\n\n{prompt}\n\n## Error\n\n```\n{error}\n```\n"
SCRIPT = HEAD + "**Mode:** no_agent (script)\n"


def agent(response: str, prompt: str = "1. first card\n2. second card", name: str = "digest") -> str:
    return AGENT.format(name=name, prompt=prompt, response=response)


def failed(error: str, prompt: str = "p", name: str = "digest") -> str:
    return FAILED.format(name=f"{name} (FAILED)", prompt=prompt, error=error)


def read(tmp_path: Path, text: str | bytes, prompt: str | None = None) -> Output:
    path = tmp_path / "06c6883b7ddd" / "2026-11-27_06-00-05.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_output(path, BERLIN, prompt)


def cards(text: str) -> int:
    return sum(line[:2] in ("1.", "2.", "3.") for line in text.splitlines())


def test_a_silent_answer_is_silent_and_the_cards_of_its_prompt_do_not_count() -> None:
    found = read_output(CASES / "2026-11-28_06-00-05_silent.md")
    assert found.outcome == "silent" and cards(found.response) == 0 and cards(found.prompt) == 3


def test_a_marker_inside_a_sentence_is_content() -> None:
    found = read_output(CASES / "2026-11-30_06-00-05_quotes_marker.md")
    assert found.outcome == "said" and cards(found.response) == 3
    assert "[SILENT]" in found.response


def test_a_zero_byte_file_is_a_gate_that_said_nothing() -> None:
    found = read_output(CASES / "2026-11-30_08-00-00_zero.md")
    assert (found.outcome, found.size, found.response) == ("silent", 0, "")


def test_a_failed_run_has_an_error_and_no_answer(tmp_path: Path) -> None:
    found = read(tmp_path, failed("RuntimeError: HTTP 401", prompt="1. first card"))
    assert (found.outcome, found.error, found.response) == ("failed", "RuntimeError: HTTP 401", "")
    assert found.prompt == "1. first card"


def test_an_empty_answer_is_what_the_host_counts_as_an_error(tmp_path: Path) -> None:
    assert read(tmp_path, agent("(No response generated)")).outcome == "empty"
    assert read(tmp_path, agent("  \n ")).outcome == "empty"


def test_scripts_say_or_are_silent_or_fail(tmp_path: Path) -> None:
    head = SCRIPT.format(name="watch")
    said = read(tmp_path, head + "\n---\n\nbalance 1.20\n---\nsecond part\n")
    assert (said.outcome, said.response, said.prompt) == ("said", "balance 1.20\n---\nsecond part", "")
    assert read(tmp_path, head + "**Status:** silent (empty output)\n").outcome == "silent"
    assert read(tmp_path, head + "**Status:** silent (wakeAgent=false)\n").outcome == "silent"
    broken = read(tmp_path, head + "**Status:** script failed\n\nScript exited with code 1\nstderr:\nx\n")
    assert broken.outcome == "failed" and broken.error.startswith("Script exited with code 1")
    quoting = read(tmp_path, head + "\n---\n\n**Status:** script failed\n")
    assert (quoting.outcome, quoting.response) == ("said", "**Status:** script failed")
    assert read(tmp_path, head + "\n---\n\n[SILENT] nothing\n").outcome == "silent"


def test_a_gate_and_a_blocked_prompt(tmp_path: Path) -> None:
    head = HEAD.format(name="digest")
    gate = read(tmp_path, head + "\nScript gate returned `wakeAgent=false` — agent skipped.\n")
    assert gate.outcome == "silent"
    blocked = read(tmp_path, head + "**Status:** BLOCKED\n\nThe assembled prompt tripped the scanner.")
    assert blocked.outcome == "failed" and "scanner" in blocked.error


def test_the_time_is_that_of_the_name_in_the_zone_of_the_home(tmp_path: Path) -> None:
    found = read(tmp_path, agent("x"))
    assert found.run_at == datetime(2026, 11, 27, 6, 0, 5, tzinfo=BERLIN).timestamp()
    assert found.job_id == "06c6883b7ddd"


INJECTED = "## Output from job '06c6883b7ddd'\nUse it.\n\n```\n{output}\n```\n\nWrite the digest."


def test_an_earlier_output_in_the_prompt_does_not_pass_for_the_answer(tmp_path: Path) -> None:
    prompt = INJECTED.format(output=agent("1. old card"))
    assert read(tmp_path, agent("[SILENT]", prompt)).outcome == "silent"
    assert read(tmp_path, agent("(No response generated)", prompt)).outcome == "empty"
    assert read(tmp_path, failed("boom", prompt)).outcome == "failed"
    said = read(tmp_path, agent("2. new card", prompt))
    assert said.response == "2. new card" and said.prompt == prompt


def test_code_inside_an_earlier_output_does_not_hide_the_answer(tmp_path: Path) -> None:
    prompt = INJECTED.format(output=agent("Look:\n```python\nx = 1\n```\nthat is all"))
    assert read(tmp_path, agent("[SILENT]", prompt)).outcome == "silent"


def test_headings_that_the_prompt_asks_for_do_not_pass_for_the_answer(tmp_path: Path) -> None:
    prompt = (
        "Answer in this form:\n\n## Response\n\nThree cards.\n\n## Error\n\n```\nnone\n```\n\nThat is all."
    )
    assert read(tmp_path, agent("[SILENT]", prompt)).outcome == "silent"
    assert read(tmp_path, agent("1. card", prompt)).response == "1. card"
    assert read(tmp_path, failed("boom", prompt)).error == "boom"


def test_a_heading_inside_the_code_of_an_answer_does_not_cut_it(tmp_path: Path) -> None:
    answer = "The template is:\n\n```markdown\n# Title\n\n## Response\n\n[SILENT]\n```\n\nUse it."
    assert read(tmp_path, agent(answer)).response == answer


def test_the_jobs_own_prompt_settles_where_the_answer_begins(tmp_path: Path) -> None:
    answer = "Part one.\n\n## Response\n\nPart two."
    assert read(tmp_path, agent(answer, "Write it.")).response == "Part two."
    assert read(tmp_path, agent(answer, "[hint]\n\nWrite it."), "Write it.").response == answer
    prompt = INJECTED.format(output=agent("old", "Write the digest."))
    assert read(tmp_path, agent(answer, prompt), "Write the digest.").response == answer


def test_a_job_called_failed_that_answers_has_not_failed(tmp_path: Path) -> None:
    found = read(tmp_path, agent("1. card", name="digest (FAILED)"))
    assert (found.outcome, found.response) == ("said", "1. card")


@pytest.mark.parametrize(
    "text", ["x", "# Title\n\ntext", "# Cron Job: x\n\ntext", "\x00" * 50, "# Cron Job: "]
)
def test_another_shape_is_unknown_never_an_answer(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).outcome == "unknown"


def test_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, agent("x y").encode().replace(b"x y", b"x \xff y"))
    assert found.outcome == "said" and found.response == "x \ufffd y"


def test_of_a_large_file_beginning_and_end_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, agent("[SILENT]", "p" * 3_000_000)).outcome == "silent"
    long = read(tmp_path, agent("a" * 3_000_000))
    assert long.outcome == "said" and len(long.response) < 1_100_000 and long.size > 3_000_000


def test_a_file_full_of_headings_is_read_in_linear_time(tmp_path: Path) -> None:
    begin = time.process_time()
    read(tmp_path, agent("x" + "\n\n## Response\n\n```\n" * 45_000), "p" * 10_000)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("[SILENT]", True),
        ("  silent \n", True),
        ("NO_REPLY", True),
        ("no   reply", True),
        ("[SILENT] nothing new", True),
        ("[silent]: nothing", True),
        ("Nothing new.\n\n[SILENT]", True),
        ("[SILENT]\nNothing new.", True),
        ("Silent retry succeeded", False),
        ("a job may answer [SILENT] when idle", False),
        ("one\n[SILENT]\nthree", False),
        ("SILENT: nothing", False),
        ("", False),
    ],
)
def test_silence_is_what_the_host_withholds(text: str, silent: bool) -> None:
    assert is_silence(text) is silent


def test_finished_files_are_listed_by_time_and_temporary_ones_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "cron" / "output" / "06c6883b7ddd"
    folder.mkdir(parents=True)
    for name in ("2026-11-30_06-00-05.md", "2026-11-28_06-00-05.md", ".output_k3j2.tmp", "notes.md"):
        (folder / name).touch()
    names = [path.name for path in list_outputs(tmp_path, "06c6883b7ddd")]
    assert names == ["2026-11-28_06-00-05.md", "2026-11-30_06-00-05.md"]
    since = datetime(2026, 11, 29).timestamp()
    assert [path.name for path in list_outputs(tmp_path, "06c6883b7ddd", since)] == names[1:]
    assert list_outputs(tmp_path, "aaaaaaaaaaaa") == []
    for escape in ("..", "../output/06c6883b7ddd", "/etc", ""):
        assert list_outputs(tmp_path, escape) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "2026-11-28_06-00-05.md"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(Unreadable):
        read_output(path)


def test_a_file_that_is_gone_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        read_output(tmp_path / "2026-11-28_06-00-05.md")
