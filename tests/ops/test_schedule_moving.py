"""Jobs that cost and jobs worth moving: cadence, chains, zones, and that nothing is changed unasked."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops.core.action import Action, Done
from hermes_ops.errors import OpsError
from hermes_ops.host.schedules import due_times
from hermes_ops.schedule import minutes
from hermes_ops.schedule.chains import keeps_order
from hermes_ops.schedule.job_cost import JobCost, Placed, job_cost, runs_per_day
from hermes_ops.schedule.minutes import hours_of_change
from hermes_ops.schedule.moves import apply_move, undo_move
from hermes_ops.schedule.moving import Wishes, applies_now, hours, propose
from hermes_ops.spend.run_costs import RunCost
from tests.ops.made import BERLIN, A, B, C, D, Home, at, job, run, spent

NOW = at("2026-11-29 12:00")
NIGHT = Wishes(cheap=(240, 300))  # 04:00-05:00
DEAR = JobCost(20, 0.5, (0.4, 0.6), False, 100.0, 1.0)
CHEAP = JobCost(20, 0.001, None, False, 100.0, 1.0)


def place(job_id, expr="30 9 * * *", cost=DEAR, zone=BERLIN, **fields):
    fields = {"deliver": ("local",), **fields}
    return Placed("default", Path("/home"), job(job_id, expr, **fields), zone, cost)


def moved(placed, wishes=NIGHT, now=NOW):
    return {move.placed.job.id: move for move in propose(placed, wishes, now)}


def test_a_daily_job_stays_daily_and_the_command_is_the_hosts_own():
    move = moved([place(A)])[A]
    assert move.command() == f'hermes cron edit {A} --schedule "30 4 * * *"'
    assert "$0.50 a day" in move.why


def test_each_job_gets_a_minute_of_its_own():
    jobs = [place(f"{number:012x}", "30 9 * * *") for number in range(10)]
    exprs = [move.expr for move in propose(jobs, NIGHT, NOW)]
    minutes = sorted(int(expr.split()[0]) for expr in exprs)
    assert len(minutes) == 10 and all(expr.split()[1:] == ["4", "*", "*", "*"] for expr in exprs)
    assert all(later - sooner >= 5 for sooner, later in pairwise(minutes))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("30 9 * * 1-5", "30 4 * * 1-5"),
        ("0 18 1 * *", "0 4 1 * *"),
        ("0 */2 * * *", None),  # moving it would change how often it runs
        ("*/15 9 * * *", None),
        ("30 9,18 * * *", None),
        ("15 4 * * *", None),  # is there already
        ("every 60m", None),
    ],
)
def test_only_the_minute_and_the_hour_of_one_run_a_day_change(expr, expected):
    found = moved([place(A, expr)])
    assert (found[A].expr if found else None) == expected


def test_without_declared_hours_no_hour_is_called_cheap():
    assert moved([place(A)], Wishes()) == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"no_agent": True},
        {"state": "paused", "enabled": False},
        {"name": "keep"},
        {"cost": CHEAP},
        {"cost": JobCost(0, None, None, False, 0.0, 1.0)},
    ],
)
def test_jobs_that_are_kept_or_not_worth_it_stay(fields):
    assert moved([place(A, **fields)], replace(NIGHT, keep=("keep",))) == {}


def test_a_watcher_of_ours_and_an_id_that_is_none_stay():
    assert moved([replace(place(A), ours=True), place("x; touch PWNED")]) == {}


def test_an_unpriced_job_is_worth_it_by_its_tokens():
    unpriced = JobCost(20, 0.0, None, True, 300_000.0, 1.0)
    assert A in moved([place(A, cost=unpriced)])
    assert moved([place(A, cost=replace(unpriced, tokens=1000.0))]) == {}


def test_a_message_at_night_is_pointed_out():
    assert "telegram:-100" in moved([place(A, deliver=("telegram:-100",))])[A].notes[0]


# --- crowds


def test_agents_that_start_in_one_minute_are_spread_and_the_dearest_stays():
    jobs = [place(A, "0 9 * * *"), place(B, "0 9 * * *", CHEAP), place(C, "0 9 * * *", CHEAP)]
    found = moved(jobs, Wishes())
    assert set(found) == {B, C}
    assert {move.expr for move in found.values()} == {"5 9 * * *", "10 9 * * *"}
    assert "as 2 other agents" in found[B].why
    assert moved(jobs[:2], Wishes()) == {}


def test_an_hourly_job_stays_hourly_and_scripts_are_no_crowd():
    jobs = [place(name, "0 * * * *", CHEAP) for name in (A, B, C)]
    assert {move.expr for move in moved(jobs, Wishes()).values()} == {"5 * * * *", "10 * * * *"}
    scripts = [place(name, "0 9 * * *", no_agent=True) for name in (A, B, C, D)]
    assert moved(scripts, Wishes()) == {}


def test_jobs_of_other_zones_meet_where_they_do():
    other = ZoneInfo("America/New_York")
    jobs = [place(A, "0 15 * * *"), place(B, "0 15 * * *"), place(C, "0 9 * * *", CHEAP, zone=other)]
    found = moved(jobs, Wishes())
    assert found[C].expr == "10 9 * * *" or found[C].expr == "5 9 * * *"


def test_the_work_grows_with_the_number_of_jobs_and_not_with_its_square(monkeypatch):
    looked = []
    real = minutes._minute
    monkeypatch.setattr(minutes, "_minute", lambda at, zone: looked.append(at) or real(at, zone))

    def work(count):
        looked.clear()
        jobs = [place(f"{number:012x}", f"{number % 20} 9 * * *", CHEAP) for number in range(count)]
        assert propose(jobs, Wishes(), NOW)
        return len(looked)

    assert work(300) < 3 * work(150)


# --- chains


def test_a_job_that_reads_from_another_runs_after_it_still():
    jobs = [place(A, "0 9 * * *"), place(B, "30 9 * * *", context_from=(A,))]
    found = moved(jobs)
    assert found[A].first == () and found[B].first == (A,)
    first, second = (found[name].expr.split() for name in (A, B))
    assert (int(first[1]), int(first[0])) < (int(second[1]), int(second[0]))


def test_a_cheap_source_goes_with_its_dear_reader_and_not_for_nothing():
    jobs = [place(A, "0 9 * * *", CHEAP), place(B, "30 9 * * *", context_from=(A,))]
    found = moved(jobs)
    assert set(found) == {A, B} and found[B].first == (A,) and "reads from it" in found[A].why
    assert moved([jobs[0], place(B, "30 */2 * * *", context_from=(A,))]) == {}


def test_a_reader_that_cannot_follow_stays_where_it_is():
    jobs = [place(A, "0 9 * * *", name="keep"), place(B, "30 9 * * *", context_from=(A,))]
    assert moved(jobs, replace(NIGHT, keep=("keep",))) == {}


def test_a_source_does_not_move_behind_its_reader():
    evening = Wishes(cheap=(1320, 1380))  # 22:00-23:00
    jobs = [place(A, "0 9 * * *"), place(B, "30 9 * * *", CHEAP, context_from=(A,))]
    assert moved(jobs, evening) == {}


def test_order_means_the_same_run_and_time_for_it_to_end():
    day = 86_400.0
    source, reader = [0.0, day], [3600.0, day + 3600]
    assert keeps_order(source, reader, [600.0, day + 600], reader, 600)
    assert not keeps_order(source, reader, [3500.0, day + 3500], reader, 600)
    assert not keeps_order(source, reader, [3700.0, day + 3700], reader, 600)
    assert not keeps_order(source, reader, [0.0], reader, 600)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 59),
            st.integers(0, 23),
            st.sampled_from(["* * *", "* * 1-5", "1 * *", "*/2 * *"]),
            st.floats(0, 2, allow_nan=False),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 1439),
    st.integers(30, 400),
    st.lists(st.integers(0, 5), max_size=4),
)
def test_whatever_is_proposed_keeps_how_often_and_on_which_days_a_job_runs(jobs, start, length, links):
    placed = []
    for number, (minute, hour, rest, usd) in enumerate(jobs):
        reads = tuple(f"{other:012x}" for other in links if other < number)
        cost = replace(DEAR, usd=usd)
        placed.append(place(f"{number:012x}", f"{minute} {hour} {rest}", cost, context_from=reads))
    wishes = Wishes(cheap=(start, (start + length) % 1440))
    changing = hours_of_change(BERLIN, NOW)
    found = propose(placed, wishes, NOW)
    for move in found:
        old = due_times(move.placed.job.schedule, NOW, NOW + 60 * 86_400, BERLIN)
        new = due_times(replace(move.placed.job.schedule, expr=move.expr), NOW, NOW + 60 * 86_400, BERLIN)
        days = [[datetime.fromtimestamp(time, BERLIN).date() for time in times] for times in (old, new)]
        assert set(days[0][1:-1]) <= set(days[1]) and set(days[1][1:-1]) <= set(days[0])
        hour = int(move.expr.split()[1])
        assert hour not in changing or hour == int(move.placed.job.schedule.expr.split()[1])
    times = {move.placed.key: move.expr for move in found}
    for reader in placed:
        for source in placed:
            if source.job.id in reader.job.context_from:
                exprs = [times.get(one.key, one.job.schedule.expr) for one in (source, reader)]
                span = (at("2026-11-30 00:00") - 1, at("2027-01-01 00:00") - 1)
                before = [due_times(one.job.schedule, *span, BERLIN) for one in (source, reader)]
                after = [
                    due_times(replace(one.job.schedule, expr=expr), *span, BERLIN)
                    for one, expr in zip((source, reader), exprs, strict=True)
                ]
                assert keeps_order(*before, *after, 600.0)


# --- when


def test_a_move_waits_while_it_would_leave_out_or_repeat_a_run():
    one = place(A, "30 9 * * *")
    assert "leave out" in applies_now(one, "30 4 * * *", at("2026-11-29 08:00"))
    assert "after 2026-11-29 09:30" in applies_now(one, "30 4 * * *", at("2026-11-29 08:00"))
    assert applies_now(one, "30 4 * * *", at("2026-11-29 10:00")) == ""
    assert applies_now(one, "30 4 * * *", at("2026-11-29 03:00")) == ""
    assert "repeat" in applies_now(one, "30 18 * * *", at("2026-11-29 12:00"))
    assert applies_now(place(A, "0 * * * *"), "5 * * * *", at("2026-11-29 12:30")) == ""
    assert "repeat" in applies_now(place(A, "0 * * * *"), "5 * * * *", at("2026-11-29 12:03"))


def test_hours_in_which_clocks_change_are_avoided():
    assert hours_of_change(BERLIN, NOW) == {2}
    assert hours_of_change(ZoneInfo("America/New_York"), NOW) == {1, 2}
    assert hours_of_change(ZoneInfo("UTC"), NOW) == set()
    assert moved([place(A)], Wishes(cheap=(120, 180))) == {}


@pytest.mark.parametrize(("text", "expected"), [("01:00-06:00", (60, 360)), (" 23:30 - 05:00", (1410, 300))])
def test_cheap_hours_are_read(text, expected):
    assert hours(text) == expected


@pytest.mark.parametrize("text", ["1-6", "25:00-06:00", "01:00-01:00", "01:60-02:00", 5, None])
def test_cheap_hours_that_are_none_are_refused(text):
    with pytest.raises(ValueError):
        hours(text)


def test_the_cost_of_a_job_is_the_mean_of_its_runs_with_an_interval():
    costs = [
        RunCost("default", A, NOW - n * 60, run(A, NOW - n * 60), spent(usd=usd, calls=7))
        for n, usd in enumerate([0.1, 0.2, 0.3, 0.2, 0.2, 0.8])
    ]
    cost = job_cost(costs, 2.0)
    assert cost.usd == pytest.approx(0.3) and cost.usd_per_day == pytest.approx(0.6)
    assert cost.interval[0] < 0.3 < cost.interval[1] and cost.longest == 60
    assert job_cost(costs[:4], 1.0).interval is None and job_cost([], 1.0).usd is None


def test_how_often_a_job_runs_follows_from_its_schedule():
    assert runs_per_day(job(A, "0 9 * * *").schedule, NOW, BERLIN) == 1
    assert runs_per_day(job(A, "every 30m").schedule, NOW, BERLIN) == 48
    assert runs_per_day(job(A, "* * * * *").schedule, NOW, BERLIN) == pytest.approx(1440)


# --- applying


class Host:
    """The host's answers to edits; the record of the job is what it was told."""

    def __init__(self, ok=True):
        self.asked: list[Action] = []
        self.ok = ok

    def apply(self, action, *, dry_run=False, state_home=None):
        if dry_run:
            return Done(action, True, "hermes cron edit", action.job_id, None, changed=False)
        self.asked.append(action)
        undo = Action(
            "edit", action.home, action.job_id, {"schedule": "30 9 * * *", "expect": {"x": 1}}, "undo"
        )
        return Done(action, self.ok, "told", action.job_id, undo if self.ok else None)


def test_a_move_is_made_through_the_host_from_what_was_read_and_taken_back(tmp_path):
    host, move = Host(), moved([place(A, "30 9 * * *")])[A]
    apply_move(tmp_path, move, NOW, apply=host.apply)
    assert host.asked[0].verb == "edit" and host.asked[0].arguments["schedule"] == "30 4 * * *"
    assert host.asked[0].arguments["expect"]["schedule"] == move.placed.job.raw["schedule"]
    undo_move(tmp_path, A, apply=host.apply)
    assert host.asked[1].arguments == {"schedule": "30 9 * * *", "expect": {"x": 1}}
    with pytest.raises(OpsError, match="no move"):
        undo_move(tmp_path, A, apply=host.apply)


def test_a_move_that_was_refused_or_only_shown_is_not_on_record(tmp_path):
    move = moved([place(A)])[A]
    assert not apply_move(tmp_path, move, NOW, apply=Host(ok=False).apply).ok
    assert apply_move(tmp_path, move, NOW, dry_run=True, apply=Host().apply).ok
    with pytest.raises(OpsError):
        undo_move(tmp_path, A, apply=Host().apply)
    assert not (tmp_path / "ops" / "schedule-moves.json").exists()


def test_a_move_that_others_go_before_or_that_should_wait_is_refused(tmp_path):
    host = Host()
    jobs = [place(A, "0 9 * * *"), place(B, "30 9 * * *", context_from=(A,))]
    with pytest.raises(OpsError, match=f"move {A} first"):
        apply_move(tmp_path, moved(jobs)[B], NOW, apply=host.apply)
    with pytest.raises(OpsError, match="leave out"):
        apply_move(tmp_path, moved([place(A)], now=at("2026-11-29 08:00"))[A], NOW, apply=host.apply)
    assert host.asked == []


# --- the command


@pytest.fixture
def home(tmp_path, monkeypatch):
    made = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(made.path))
    monkeypatch.setattr("hermes_ops.commands.schedule.time.time", lambda: NOW)
    return made


def test_the_command_shows_costs_and_proposals_and_changes_nothing(home, capsys):
    home.configure({"schedule": {"cheap_hours": "04:00-05:00"}})
    home.job(A, "30 9 * * *", name="daily audit brief")
    for day in range(20, 29):
        claimed = at(f"2026-11-{day} 09:30")
        home.use(home.ran(A, claimed), claimed + 10, 0.4 + day / 100)
    before = (home.path / "cron" / "jobs.json").read_bytes()
    assert cli.main(["schedule"]) == 0
    out = capsys.readouterr().out
    assert f'hermes cron edit {A} --schedule "30 4 * * *"' in out and "$0.64" in out
    assert cli.main(["schedule", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["moves"][0]["after"] == "30 4 * * *" and data["jobs"][0]["runs"] == 9
    assert cli.main(["schedule", "--apply", "nosuch"]) == 1
    assert "no move is proposed" in capsys.readouterr().err
    assert cli.main(["schedule", "--apply", A, "--undo", A]) == 2
    assert (home.path / "cron" / "jobs.json").read_bytes() == before


def test_without_a_window_the_command_says_why_no_hours_are_proposed(home, capsys):
    home.job(A)
    assert cli.main(["schedule"]) == 0
    out = capsys.readouterr().out
    assert "cheap_hours" in out and "No job is worth moving" in out
