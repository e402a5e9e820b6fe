"""The ledger of use: days as differences of snapshots, what cannot be known, many processes, damage."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from datetime import timezone
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops._common.files import FileLock
from hermes_ops.core import ledger as ledger_module
from hermes_ops.core.ledger import Balance, Ledger
from hermes_ops.errors import Unreadable
from hermes_ops.host.database import reading
from hermes_ops.host.usage import UNATTRIBUTED
from tests.ops.made import at
from tests.ops.state_databases import (
    EVENING,
    JOB,
    NEXT_EVENING,
    NOON,
    StateDatabase,
    evening_home,
    grow_a_day,
)

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
ALWAYS = (0.0, 4e9)
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_TIMEZONE", "UTC")
    return tmp_path


@pytest.fixture
def opened(home):
    ledger = Ledger.open(home)
    yield ledger
    ledger.close()


def by(ledger: Ledger, *columns: str, since: float = 0.0, until: float = 4e9) -> dict:
    return {spent.group: spent for spent in ledger.spent(columns, since, until)}


def days(ledger: Ledger, *columns: str, zone=UTC) -> dict:
    return {(day, *spent.group): spent for day, spent in ledger.spent_by_day(columns, *ALWAYS, zone)}


# --- a day is a difference of snapshots


def test_a_day_is_what_two_snapshots_differ_by(home, opened):
    state = evening_home(home)
    assert opened.collect(EVENING).first
    grow_a_day(state)
    second = opened.collect(NEXT_EVENING)
    assert (second.first, second.usage_rows, second.blind) == (False, 2, ())
    day = days(opened, "model", "task")
    chat, compression = (
        day["2026-11-28", "m", ""],
        day["2026-11-28", "glm-flash", "compression"],
    )
    assert (chat.calls, chat.usd, chat.unknown_calls) == (50, pytest.approx(1.0), 0)
    assert (compression.calls, compression.usd, compression.unknown_calls) == (1, pytest.approx(0.02), 1)
    [total] = [spent for name, spent in opened.spent_by_day((), *ALWAYS, UTC) if name == "2026-11-28"]
    assert (total.calls, total.usd) == (51, pytest.approx(1.02))


def test_one_snapshot_alone_is_neither_nothing_nor_the_lifetime(home, opened):
    evening_home(home)
    opened.collect(EVENING)
    unplaced = opened.unplaced(EVENING - 4000, EVENING)
    assert (unplaced.rows, unplaced.sessions) == (3, 2)
    assert sum(spent.usd for spent in opened.spent((), *ALWAYS)) == pytest.approx(0.6)
    assert opened.unplaced(EVENING + 1, EVENING + 3600).rows == 0


def test_a_run_is_counted_with_its_continuation_and_its_helper(home, opened):
    evening_home(home)
    opened.collect(EVENING)
    [run] = [spent for spent in opened.spent(("job", "root", "source"), *ALWAYS) if spent.group[0]]
    assert run.group == (JOB, f"cron_{JOB}_20261127_060000", "cron")
    assert run.usd == pytest.approx(0.6)
    assert set(by(opened, "session")) >= {("continued",), ("helper",)}


def test_a_plan_is_tokens_without_dollars(home, opened):
    evening_home(home)
    opened.collect(EVENING)
    planned = by(opened, "session")["planned",]
    assert (planned.usd, planned.included_tokens, planned.unknown_calls) == (0.0, 3_000_001, 0)


def test_a_residual_that_grows_is_use_without_a_model(home, opened):
    state = evening_home(home)
    opened.collect(EVENING)
    state.connection.execute("UPDATE sessions SET estimated_cost_usd = 1.4 WHERE id = 'totals_only'")
    state.message("totals_only")
    opened.collect(EVENING + 1800)
    residual = by(opened, "session", "model", "task", since=EVENING)
    assert residual["totals_only", UNATTRIBUTED, UNATTRIBUTED].usd == pytest.approx(0.5)


def test_two_looks_at_the_same_totals_add_nothing(home, opened):
    evening_home(home)
    opened.collect(EVENING)
    before = opened.spent(("session", "model"), *ALWAYS)
    for seconds in (0, 60, 86400):
        assert opened.collect(EVENING + seconds).usage_rows == 0
    assert opened.spent(("session", "model"), *ALWAYS) == before


def test_sessions_of_every_profile_are_counted_apart(home, opened):
    for name, usd in (("", 0.1), ("profiles/work", 0.7)):
        state = StateDatabase(home / name)
        state.session("same", NOON)
        state.use("same", NOON, usd=usd, calls=1)
    opened.collect(EVENING)
    profiles = by(opened, "profile", "session")
    assert profiles["default", "same"].usd == 0.1 and profiles["work", "same"].usd == 0.7


def test_auxiliary_use_is_billed_by_the_provider_of_its_url(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, provider="auto", url="http://h/v1/", task="title_generation", calls=1)
    opened.collect(EVENING)
    assert ("unknown",) in by(opened, "provider")
    state.use("a", EVENING + 10, provider="custom", url="http://h/v1", calls=2)
    opened.collect(EVENING + 60)
    assert by(opened, "provider")["custom",].calls == 3


def test_credentials_in_a_base_url_are_not_kept(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    word = "s3cr" + "etWord"
    state.use("a", NOON, url=f"https://me:{word}@h/v1?key={word}", calls=1)
    state.use("a", NOON, url="https://h/v1", calls=2)
    opened.collect(EVENING)
    assert by(opened, "model")["m",].calls == 3
    opened.close()
    assert word.encode() not in b"".join(p.read_bytes() for p in (home / "ops").iterdir())


# --- which day


def window(home: Path, since: str, until: str, zone=UTC) -> dict:
    """A row of one chat that grew by $1 in a window."""
    state = StateDatabase(home)
    state.session("a", at(since, UTC) - 86400 * 3)
    state.use("a", at(since, UTC) - 86400 * 3, usd=5.0, calls=1)
    ledger = Ledger.open(home)
    ledger.collect(at(since, UTC))
    state.use("a", at(until, UTC), usd=1.0, calls=1)
    ledger.collect(at(until, UTC) + 60)
    found = {day: spent.usd for day, spent in ledger.spent_by_day((), at(since, UTC), 4e9, zone)}
    ledger.close()
    return found


@pytest.mark.parametrize(
    ("since", "until", "day"),
    [
        ("2026-11-27 23:00", "2026-11-28 13:53", "2026-11-28"),
        ("2026-11-27 10:00", "2026-11-28 02:00", "2026-11-27"),
        ("2026-11-27 23:30", "2026-11-29 00:30", "2026-11-28"),
        ("2026-11-27 08:00", "2026-11-28 12:00", ""),
    ],
)
def test_a_window_across_midnight_belongs_to_the_day_with_more_of_it(home, since, until, day):
    assert window(home, since, until) == {day: pytest.approx(1.0)}


def test_days_are_days_of_the_zone(home):
    assert window(home, "2026-11-27 23:10", "2026-11-27 23:40", BERLIN) == {"2026-11-28": pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("since", "until", "day"),
    [
        ("2026-10-24 22:30", "2026-10-25 22:30", "2026-10-25"),  # the day of 25 hours
        ("2026-03-28 23:30", "2026-03-29 21:30", "2026-03-29"),  # the day of 23 hours
    ],
)
def test_a_day_of_23_or_25_hours_is_one_day(home, since, until, day):
    assert window(home, since, until, BERLIN) == {day: pytest.approx(1.0)}


def test_a_long_window_makes_the_days_it_covers_uncertain(home):
    assert window(home, "2026-11-20 08:00", "2026-11-24 08:00") == {"": pytest.approx(1.0)}
    ledger = Ledger.open(home)
    assert ledger.unplaced(at("2026-11-22 00:00", UTC), at("2026-11-23 00:00", UTC)).windows == 1
    assert ledger.unplaced(at("2026-11-25 00:00", UTC), at("2026-11-26 00:00", UTC)).windows == 0
    ledger.close()


# --- what goes wrong with the host's database


def test_a_restored_database_is_no_negative_use(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, calls=100, usd=5.0)
    opened.collect(EVENING)
    restored = "UPDATE session_model_usage SET api_call_count = 40, estimated_cost_usd = 2.0, last_seen = ?"
    state.connection.execute(restored, (EVENING + 10,))
    assert opened.collect(EVENING + 60).resets == 1
    state.use("a", EVENING + 100, calls=3, usd=0.3)
    opened.collect(EVENING + 160)
    later = by(opened, since=EVENING)
    assert (later[()].calls, later[()].usd) == (3, pytest.approx(0.3))


def test_another_file_is_compared_row_by_row(home, opened):
    state = StateDatabase(home)
    for name, calls in (("a", 5), ("b", 7)):
        state.session(name, NOON)
        state.use(name, NOON, calls=calls)
    opened.collect(EVENING)
    state.close()
    for part in home.glob("state.db*"):
        part.rename(part.with_name("old-" + part.name))
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, calls=9)
    assert opened.collect(EVENING + 60).usage_rows == 1
    assert by(opened)[()].calls == 5 + 7 + 4


def test_a_deleted_session_keeps_what_it_used(home, opened):
    state = evening_home(home)
    opened.collect(EVENING)
    state.connection.execute("DELETE FROM session_model_usage")
    state.connection.execute("DELETE FROM sessions")
    opened.collect(EVENING + 60)
    assert by(opened, "job")[JOB,].usd == pytest.approx(0.6)


def test_growth_while_the_clock_was_wrong_is_found_once_it_is_right(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, calls=1)
    opened.collect(EVENING)
    state.use("a", EVENING + 9 * 3600, calls=2)  # the host's clock ran ahead
    assert opened.collect(EVENING + 60).future == 1
    assert by(opened, since=EVENING) == {}
    state.use("a", EVENING + 120, calls=4)
    assert opened.collect(EVENING + 180).future == 0
    assert by(opened, since=EVENING)[()].calls == 6


def test_a_clock_that_goes_back_loses_and_doubles_nothing(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, calls=1)
    opened.collect(EVENING + 40 * 86400)
    state.use("a", EVENING, calls=2)
    opened.collect(EVENING + 60)
    state.use("a", EVENING + 90, calls=4)
    opened.collect(EVENING + 120)
    assert by(opened)[()].calls == 7


def test_rows_without_usable_numbers_are_counted_and_a_large_share_is_loud(home, opened):
    state = StateDatabase(home)
    state.session(f"cron_{JOB}_20261129_000000", NOON)
    state.session("x; touch /tmp/PWNED", NOON)
    state.session("cron_x; touch y_20261129_000000", NOON)
    state.use(f"cron_{JOB}_20261129_000000", NOON, input=100, output=10)
    state.use("x; touch /tmp/PWNED", NOON, input=7777)
    state.use("cron_x; touch y_20261129_000000", NOON, input=999)
    for i, value in enumerate(["9 999", -5, float("inf")]):
        state.put("x; touch /tmp/PWNED", NOON, NOON, model=f"bad{i}", input_tokens=value)
    state.put("x; touch /tmp/PWNED", NOON, at("2099-01-01 00:00", UTC), model="later", input_tokens=100)
    collected = opened.collect(EVENING)
    assert (collected.bad, collected.future) == (3, 1)
    [loud] = collected.blind
    assert "3 of 7 rows" in loud.text
    jobs = by(opened, "job")
    assert set(jobs) == {(JOB,), (None,)}
    assert jobs[JOB,].input == 100 and jobs[None,].input == 8776


def test_a_few_bad_rows_among_many_are_only_counted(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    for i in range(40):
        state.put("a", NOON, NOON, model=f"m{i}", input_tokens=-1 if i == 7 else 10)
    collected = opened.collect(EVENING)
    assert (collected.bad, collected.blind) == (1, ()) and by(opened)[()].input == 390


def test_a_locked_profile_is_blind_and_does_not_hide_the_others(home, opened, monkeypatch):
    monkeypatch.setattr("hermes_ops.core.ledger_usage.reading", partial(reading, timeout=0.1))
    locked = StateDatabase(home, wal=False)
    locked.session("a", NOON)
    other = StateDatabase(home / "profiles" / "work")
    other.session("b", NOON)
    other.use("b", NOON, calls=1)
    locked.connection.execute("BEGIN EXCLUSIVE")
    collected = opened.collect(EVENING)
    [blind] = collected.blind
    assert blind.key == "usage/default" and "locked" in blind.text
    assert by(opened, "profile").keys() == {("work",)}
    locked.connection.execute("COMMIT")
    locked.use("a", NOON, calls=2)
    assert opened.collect(EVENING + 60).blind == ()
    assert by(opened, "profile")["default",].calls == 2


def test_a_home_without_sessions_has_an_empty_ledger(home, opened):
    collected = opened.collect(EVENING)
    assert (collected.blind, collected.usage_rows, collected.first) == ((), 0, False)
    assert opened.spent(("model",), *ALWAYS) == [] and opened.spent((), *ALWAYS) == []


STEP = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["", "compression"]),
    st.integers(0, 50),
    st.integers(0, 10**6),
    st.integers(0, 500),
    st.booleans(),
)


@pytest.mark.once
@settings(max_examples=40, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=20))
def test_whatever_grows_the_ledger_says_last_minus_first(tmp_path_factory, steps):
    home = tmp_path_factory.mktemp("grows")
    state = StateDatabase(home)
    started = EVENING - 3 * 86400
    for name in "abc":
        state.session(name, started)
        state.use(name, started, usd=1.0, calls=1)
        state.use(name, started + 2 * 86400, usd=1.0, calls=1)
    ledger = Ledger.open(home)
    clock, calls, tokens, cents = EVENING, 0, 0, 0
    ledger.collect(clock)
    for session, task, more, into, usd, look in steps:
        clock += 700
        state.use(session, clock, task=task, calls=more, input=into, usd=usd / 100)
        calls, tokens, cents = calls + more, tokens + into, cents + usd
        if look:
            ledger.collect(clock + 1)
    ledger.collect(clock + 2)
    found = ledger.spent((), EVENING, 4e9)
    total = found[0] if found else None
    assert (total.calls if total else 0) == calls and (total.input if total else 0) == tokens
    assert (total.usd if total else 0.0) == pytest.approx(cents / 100, abs=1e-6)
    assert sum(spent.calls for _, spent in ledger.spent_by_day(("session",), EVENING, 4e9, BERLIN)) == calls
    ledger.close()


# --- the file


def test_the_ledger_is_private_and_says_its_format(home, opened):
    assert stat.S_IMODE((home / "ops" / "ledger.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "ops").stat().st_mode) == 0o700
    opened.collect(EVENING)
    for part in (home / "ops").iterdir():
        assert stat.S_IMODE(part.stat().st_mode) == 0o600, part
    with sqlite3.connect(home / "ops" / "ledger.db") as connection:
        assert connection.execute("SELECT value FROM meta WHERE key='format'").fetchone() == ("1",)
    connection.close()


@pytest.mark.parametrize(
    "content", [b"no database" * 1000, b"\0" * 9000, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_ledger_is_set_aside_and_said_once(home, content):
    path = home / "ops" / "ledger.db"
    path.parent.mkdir()
    path.write_bytes(content)
    ledger = Ledger.open(home)
    [blind] = ledger.collect(EVENING).blind
    assert blind.key == "ledger" and "ledger.db.damaged-1" in blind.text
    assert (home / "ops" / "ledger.db.damaged-1").read_bytes() == content
    assert ledger.collect(EVENING + 60).blind == ()
    ledger.close()


def test_damage_that_shows_later_is_set_aside_for_the_next_run(home):
    state = StateDatabase(home)
    for i in range(300):
        state.session(f"s{i}", NOON)
        state.use(f"s{i}", NOON, calls=1)
    ledger = Ledger.open(home)
    ledger.collect(EVENING)
    ledger.close()
    path = home / "ops" / "ledger.db"
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = b"\xff" * (len(content) - 4096 * 3)
    path.write_bytes(content)
    ledger = Ledger.open(home)
    with pytest.raises(Unreadable, match=r"ledger.db.damaged-1"):
        for column in ("session", "model"):
            ledger.spent((column,), *ALWAYS)
            ledger.snapshots()
    fresh = Ledger.open(home)
    assert fresh.collect(EVENING + 60).first
    fresh.close()


def test_a_ledger_of_a_later_version_is_left_alone(home):
    Ledger.open(home).close()
    path = home / "ops" / "ledger.db"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value='99' WHERE key='format'")
    connection.close()
    with pytest.raises(Unreadable, match="format 99 is of a later version"):
        Ledger.open(home)
    assert [p.name for p in (home / "ops").iterdir() if "damaged" in p.name] == []


def test_a_link_in_the_place_of_the_ledger_is_refused(home):
    (home / "ops").mkdir()
    (home / "ops" / "ledger.db").symlink_to(home / "elsewhere.db")
    with pytest.raises(Unreadable):
        Ledger.open(home)
    assert not (home / "elsewhere.db").exists()


def test_a_ledger_that_cannot_be_written_is_unreadable(home):
    (home / "ops").write_text("in the way")
    with pytest.raises(Unreadable):
        Ledger.open(home)


COLLECT = """
import sys
from pathlib import Path
from hermes_ops.core.ledger import Ledger
ledger = Ledger.open(Path(sys.argv[1]))
for i in range(5):
    ledger.collect(float(sys.argv[2]) + i)
ledger.close()
"""


def test_several_processes_collect_at_once_and_count_once(home, opened):
    state = StateDatabase(home)
    for i in range(50):
        state.session(f"s{i}", NOON)
        state.use(f"s{i}", NOON, calls=1)
    command = [sys.executable, "-c", COLLECT, str(home), str(EVENING)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    processes = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    assert [(p.communicate(timeout=60)[1], p.returncode) for p in processes] == [("", 0)] * 4
    assert by(opened)[()].calls == 50
    assert len(opened.snapshots()) == 20


def test_one_that_comes_while_another_collects_goes_on_without(home, opened, monkeypatch):
    monkeypatch.setattr(ledger_module, "PATIENCE", 0.05)
    with FileLock(home / "ops" / "ledger.lock"):
        [blind] = opened.collect(EVENING).blind
    assert f"process {os.getpid()} is collecting" in blind.text
    assert opened.collect(EVENING).blind == ()


def test_a_locked_ledger_is_waited_for_once_and_not_for_each_profile(home, opened):
    for folder in (home, home / "profiles" / "work"):
        StateDatabase(folder).close()
    opened._connection.execute("PRAGMA busy_timeout=50")
    holder = sqlite3.connect(opened.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    found = opened.collect(EVENING)
    assert [blind.key for blind in found.blind] == ["ledger"] and "locked" in found.blind[0].text
    assert found.unseen_since == 0.0
    holder.execute("ROLLBACK")
    holder.close()
    assert opened.collect(EVENING).blind == ()


def test_a_collection_that_is_killed_leaves_all_or_nothing(home, opened, monkeypatch):
    evening_home(home)

    def die(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("hermes_ops.core.ledger_usage._Book.settle", die)
    with pytest.raises(KeyboardInterrupt):
        opened.collect(EVENING)
    monkeypatch.undo()
    assert opened.spent((), *ALWAYS) == []
    assert opened.collect(EVENING).first
    assert sum(spent.usd for spent in opened.spent((), *ALWAYS)) == pytest.approx(0.6)


def test_snapshots_are_kept_in_order_up_to_a_number(home, opened, monkeypatch):
    monkeypatch.setattr(ledger_module, "KEPT_SNAPSHOTS", 3)
    for i in range(5):
        opened.collect(EVENING + i)
    assert opened.snapshots() == [EVENING + 2, EVENING + 3, EVENING + 4]


def test_balances_come_with_the_last_one_before(opened):
    for i, amount in enumerate((9.0, 8.0, 12.0)):
        opened.record_balance(Balance(EVENING + i, "deepseek", "k1", amount, "USD"))
    opened.record_balance(Balance(EVENING, "deepseek", "k2", 1.0, "USD"))
    assert [one.amount for one in opened.balances("deepseek", "k1", EVENING + 2)] == [8.0, 12.0]
    assert [one.amount for one in opened.balances("deepseek", "k1", 0.0)] == [9.0, 8.0, 12.0]
    assert opened.balances("openrouter", "k1", 0.0) == []
    assert opened.accounts() == [("deepseek", "k1"), ("deepseek", "k2")]


def test_a_writer_of_the_host_sees_no_error_while_it_is_collected(home, opened):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, calls=1)
    state.connection.execute("BEGIN IMMEDIATE")
    state.connection.execute("UPDATE session_model_usage SET api_call_count = 5")
    assert opened.collect(EVENING).blind == ()
    state.connection.execute("COMMIT")
    assert state.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert (home / "state.db-wal").exists()
