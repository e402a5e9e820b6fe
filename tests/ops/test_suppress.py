"""suppress.toml: what is accepted needs a reason, and a mistake in the file is named."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.core.finding import Finding
from hermes_ops.core.suppress import expired, load
from hermes_ops.errors import OpsError, Unreadable

BERLIN = ZoneInfo("Europe/Berlin")


def write(folder: Path, text: str) -> None:
    (folder / "suppress.toml").write_text(text, "utf-8")


def finding(rule: str = "schedule.late", key: str = "default/a") -> Finding:
    return Finding(rule, "error", "", "text", key)


def test_no_file_accepts_nothing(tmp_path: Path) -> None:
    assert load(tmp_path) == []


def test_a_rule_an_id_and_a_beginning_are_accepted(tmp_path: Path) -> None:
    write(
        tmp_path,
        '[[suppress]]\npattern = "schedule.late"\nreason = "slow\\nfeed"\n'
        '[[suppress]]\npattern = "x.y:work/*"\nreason = "theirs"\nuntil = 2026-11-30T10:00:00Z\n',
    )
    late, theirs = load(tmp_path)
    assert late.reason == "slow feed" and late.until is None
    assert late.covers(finding(), 0.0) and not late.covers(finding("schedule.later"), 0.0)
    until = datetime(2026, 11, 30, 10, tzinfo=timezone.utc).timestamp()
    assert theirs.covers(finding("x.y", "work/b"), until - 1)
    assert not theirs.covers(finding("x.y", "work/b"), until)
    assert [one.pattern for one in expired([late, theirs], until)] == ["x.y:work/*"]


@pytest.mark.parametrize(
    ("written", "ends"),
    [
        ("2026-11-30", datetime(2026, 12, 1, tzinfo=BERLIN)),
        ('"2026-11-30"', datetime(2026, 12, 1, tzinfo=BERLIN)),
        ("2026-11-30T12:00:00", datetime(2026, 11, 30, 12, tzinfo=BERLIN)),
        ('"2026-11-30T12:00:00+00:00"', datetime(2026, 11, 30, 12, tzinfo=timezone.utc)),
        ("2026-10-25", datetime(2026, 10, 26, tzinfo=BERLIN)),  # a day of 25 hours
    ],
)
def test_a_date_holds_to_its_end_in_the_zone_of_the_home(
    tmp_path: Path, written: str, ends: datetime
) -> None:
    write(tmp_path, f'[[suppress]]\npattern = "a"\nreason = "b"\nuntil = {written}\n')
    assert load(tmp_path, BERLIN)[0].until == ends.timestamp()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[[suppress]]\npattern = "a"\n', "no. 1: reason: expected text"),
        ('[[suppress]]\npattern = "a"\nreason = " "\n', "reason: expected text"),
        ('[[suppress]]\nreason = "b"\n', "pattern: expected text"),
        ('[[suppress]]\npattern = "a"\nreson = "b"\n', "unknown key 'reson'; did you mean reason?"),
        ('[[supress]]\npattern = "a"\n', "unknown key 'supress'; did you mean suppress?"),
        ('[suppress]\npattern = "a"\n', "written as [[suppress]]"),
        ("suppress = [1]\n", "written as [[suppress]]"),
        ('[[suppress]]\npattern = "*"\nreason = "b"\n', 'a "*" may only end it'),
        ('[[suppress]]\npattern = "a*b"\nreason = "b"\n', 'a "*" may only end it'),
        ('[[suppress]]\npattern = "a"\nreason = "b"\nuntil = "soon"\n', "until: expected a date"),
        ('[[suppress]]\npattern = "a"\nreason = "b"\nuntil = 7\n', "until: expected a date"),
        ('[[suppress]]\npattern = "a"\nreason = "b"\nuntil = true\n', "until: expected a date"),
        ("pattern = \n", "not valid TOML: "),
    ],
)
def test_a_mistake_is_named_and_nothing_holds(tmp_path: Path, text: str, why: str) -> None:
    write(
        tmp_path,
        '[[suppress]]\npattern = "good"\nreason = "good"\n' if text.startswith("[[suppress]]") else "",
    )
    with open(tmp_path / "suppress.toml", "a") as file:
        file.write(text)
    with pytest.raises(OpsError) as caught:
        load(tmp_path)
    message = str(caught.value).replace("no. 2", "no. 1")
    assert why in message and "\n" not in message


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "suppress.toml").mkdir()
    with pytest.raises(Unreadable):
        load(tmp_path)
    (tmp_path / "suppress.toml").rmdir()
    (tmp_path / "suppress.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(OpsError, match="not valid TOML"):
        load(tmp_path)
