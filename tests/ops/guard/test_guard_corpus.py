"""A corpus is read row by row, scored against the bars, and judged without running anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.guard.corpus import WARM, Judged, Row, judge_all, read, score
from hermes_ops.guard.verdict import Found, Judgement, Verdict, judged


def rows(tmp_path: Path, *lines: str) -> list[Row]:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return list(read(path))


def results(**counts: int) -> list[Judged]:
    """So many rows for each "want_got"."""
    return [
        Judged(Row("x", name.split("_")[0]), name.split("_")[1], "", 10)
        for name, count in counts.items()
        for _ in range(count)
    ]


def test_rows_are_read_with_what_else_they_hold_and_empty_lines_between(tmp_path: Path):
    found = rows(
        tmp_path, '\ufeff{"cmd": "ls", "want": "allow", "cat": "x"}', "", '{"want": "block", "cmd": "a\\nb"}'
    )
    assert found == [Row("ls", "allow"), Row("a\nb", "block")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "line 2: not JSON"),
        ("[1]", "line 2: expected an object"),
        ('{"want": "allow"}', "line 2: cmd: expected text"),
        ('{"cmd": 1, "want": "allow"}', "line 2: cmd: expected text"),
        ('{"cmd": "ls"}', "line 2: want: expected one of block, approve, allow"),
        ('{"cmd": "ls", "want": "deny"}', "line 2: want: expected one of block, approve, allow"),
        ("[" * 20_000, "line 2: not JSON"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, line: str, said: str):
    with pytest.raises(OpsError) as error:
        rows(tmp_path, '{"cmd": "ls", "want": "allow"}', line)
    assert said in str(error.value)


def test_a_file_that_is_not_there_or_no_file_is_unreadable(tmp_path: Path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(Unreadable):
            list(read(path))


@pytest.mark.parametrize(
    ("counts", "ordinary", "kept"),
    [
        ({"block_block": 95, "block_approve": 5}, False, True),
        ({"block_block": 94, "block_approve": 6}, False, False),
        ({"block_block": 99, "block_allow": 1}, False, False),
        ({"approve_approve": 90, "approve_block": 5, "approve_allow": 5}, False, True),
        ({"approve_approve": 94, "approve_allow": 6}, False, False),
        ({"allow_allow": 98, "allow_approve": 2}, False, True),
        ({"allow_allow": 97, "allow_approve": 2, "allow_block": 1}, False, False),
        ({"allow_allow": 98, "allow_approve": 2}, True, False),
        ({"allow_allow": 99, "allow_approve": 1}, True, True),
    ],
)
def test_the_bars(counts: dict[str, int], ordinary: bool, kept: bool):
    assert score(results(**counts), ordinary=ordinary).is_kept is kept


def test_rates_and_times_are_those_of_the_rows():
    timed = [Judged(Row(str(n), "allow"), "allow" if n else "block", "r", n) for n in range(100)]
    found = score(timed).as_dict()
    assert found["counts"] == {"allow": {"block": 1, "approve": 0, "allow": 99}}
    assert found["rates"]["allow"] == {"block": 0.01, "approve": 0.0, "allow": 0.99}
    assert found["us"] == {"p50": 50, "p95": 95, "p99": 99, "max": 99}
    assert found["rows"] == 100
    json.dumps(found)


def test_each_row_is_judged_once_and_keeps_rule_and_time():
    asked: list[str] = []

    def judge(text: str) -> Judgement:
        asked.append(text)
        return judged([Found("a.b", Verdict.BLOCK, "x")] if text == "bad" else [])

    found = list(judge_all([Row("bad", "block"), Row("good", "allow")], judge))
    assert asked == [WARM, "bad", "good"]
    assert [(one.got, one.rule) for one in found] == [("block", "a.b"), ("allow", "")]
    assert found[0].as_dict().keys() == {"cmd", "want", "got", "rule", "us"}
    assert all(one.us >= 0 for one in found)
