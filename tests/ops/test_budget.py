"""The day's cap: what counts, whom it pauses, that it pauses once, and that exactly those are resumed."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops.core.action import Action, Done
from hermes_ops.core.watch import Context
from hermes_ops.errors import Unreadable
from hermes_ops.host.jobs import Jobs, read_jobs
from hermes_ops.spend import budget, budget_pauses
from hermes_ops.spend.budget_day import (
    Candidate,
    Placed,
    candidates,
    choose,
    reached,
    runs_left,
    spared,
    spent_today,
)
from hermes_ops.spend.run_costs import day_end, join, session_times
from tests.ops.made import BERLIN, A, B, C, D, Home, at, job, run, spent

NOW = at("2026-11-29 14:05")
TODAY = "2026-11-29"


def place(one, profile="default"):
    return Placed(profile, Path("/home"), one, BERLIN)


# --- what was spent


def test_use_of_today_counts_and_use_of_no_one_day_does_not():
    rows = [(TODAY, spent("default", "s", usd=2.0, calls=3)), ("", spent("default", "t", usd=9.0, calls=1))]
    today = spent_today(rows, NOW, BERLIN)
    assert today.spent.usd == 2.0 and today.unplaced.usd == 9.0 and today.lower_bound
    assert reached(today, 2.0, None).spent == 2.0
    assert reached(today, 2.01, None) is None


@pytest.mark.parametrize("usd", [float("nan"), float("inf"), -1.0, None, "3"])
def test_an_impossible_sum_is_bad_and_reaches_no_cap(usd):
    rows = [(TODAY, spent("default", "s", usd=usd)), (TODAY, spent("default", "t", usd=1.0))]
    today = spent_today(rows, NOW, BERLIN)
    assert (today.bad, today.rows, today.spent.usd) == (1, 2, 1.0)
    assert reached(today, 1.5, None) is None and today.lower_bound


def test_an_unpriced_call_makes_the_sum_a_lower_bound_and_tokens_can_be_capped_all_the_same():
    rows = [(TODAY, spent("default", "s", calls=2, unknown_calls=2, input=900, output=100, cache_read=5000))]
    today = spent_today(rows, NOW, BERLIN)
    assert today.lower_bound and reached(today, 0.01, None) is None
    assert reached(today, 0.01, 1000).measure == "tokens"  # what a cache served is not counted
    assert reached(today, None, 1001) is None


@pytest.mark.parametrize(("now", "hours"), [("2026-03-29 12:00", 23), ("2026-10-25 12:00", 25)])
def test_a_day_on_which_clocks_change_is_as_long_as_it_is(now, hours):
    today = spent_today([], at(now), BERLIN)
    assert day_end(today.until, BERLIN) - today.since == hours * 3600


# --- whom it may pause


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"no_agent": True}, "script"),
        ({"state": "paused", "enabled": False}, "paused already"),
        ({"id": "x; touch PWNED"}, "id"),
        ({"name": "keep me"}, "ops.budget.keep"),
        ({"id": C}, "watcher"),
    ],
)
def test_some_jobs_are_never_paused(fields, word):
    one = replace(job(A), **fields)
    assert word in spared(place(one), {"keep me"}, {C})


def test_a_job_that_runs_once_is_never_paused():
    once = job(A)
    once = replace(once, schedule=replace(once.schedule, kind="once", run_at=NOW + 60))
    assert spared(place(once), (), ()) == "runs once"


def test_what_is_still_to_come_counts_and_not_what_has_run():
    end = day_end(NOW, BERLIN)
    morning = job(A, "0 9 * * *", next_run_at=at("2026-11-30 09:00"))
    hourly = job(B, "0 * * * *", next_run_at=at("2026-11-29 15:00"))
    assert runs_left(morning, NOW, end, BERLIN) == 0
    assert runs_left(hourly, NOW, end, BERLIN) == 9
    costs = {("default", A): (50.0, 1.0, False), ("default", B): (0.1, 1.0, False)}
    found = candidates([place(morning), place(hourly)], costs, "usd", NOW, end)
    assert [one.placed.job.id for one in found] == [B]
    assert found[0].expected == pytest.approx(0.9)


def test_an_overdue_run_and_the_rest_of_an_interval_are_to_come():
    end = day_end(NOW, BERLIN)
    late = job(A, "every 120m", next_run_at=NOW - 600)
    assert runs_left(late, NOW, end, BERLIN) == 5  # now, 16:05, 18:05, 20:05, 22:05
    assert runs_left(replace(late, repeat_times=10, repeat_completed=8), NOW, end, BERLIN) == 2
    assert runs_left(job(B, "every 60m", last_run_at=NOW - 1800), NOW, end, BERLIN) == 10


def test_the_most_expensive_of_what_is_to_come_are_chosen_and_never_one_without_a_known_cost():
    end = day_end(NOW, BERLIN)
    jobs = [job(name, "0 * * * *") for name in (A, B, C, D)]
    costs = {
        ("default", A): (0.1, 9.0, False),
        ("default", B): (0.3, 1.0, False),
        ("default", C): (0.0, 0.0, False),
    }
    found = candidates([place(one) for one in jobs], costs, "usd", NOW, end)
    assert [one.placed.job.id for one in choose(found, 3)] == [B, A]
    by_tokens = candidates([place(one) for one in jobs], costs, "tokens", NOW, end)
    assert [one.placed.job.id for one in choose(by_tokens, 1)] == [A]


# --- what a run costs


def test_a_run_owns_the_session_that_it_opened_also_in_the_hour_that_clocks_repeat():
    first, second = at("2026-10-25 02:30"), at("2026-10-25 02:30") + 3600
    assert session_times(f"cron_{A}_20261025_023000", BERLIN) == (first, second)
    runs = [run(A, second - 5)]
    [one] = join(runs, [spent("default", A, f"cron_{A}_20261025_023000", usd=0.5)], lambda _: BERLIN)
    assert one.run is runs[0] and one.usd == 0.5


def test_a_session_without_a_run_stands_alone_and_an_answer_without_a_session_has_no_known_cost():
    rows = [
        spent("default", A, f"cron_{A}_20261129_030000", usd=0.2),
        spent("default", A, "20261129_1", usd=9.0),
    ]
    runs = [run(A, at("2026-11-29 06:00")), run(A, at("2026-11-29 07:00"), "silent")]
    alone, said, silent = join(runs, rows, lambda _: BERLIN)
    assert alone.run is None and alone.usd == 0.2
    assert said.spent is None and said.lower_bound
    assert silent.usd == 0.0 and not silent.lower_bound


def test_a_session_that_began_after_a_run_was_over_is_not_its_own():
    runs = [run(A, at("2026-11-29 06:00"))]
    first, second = join(runs, [spent("default", A, f"cron_{A}_20261129_060500", usd=0.2)], lambda _: BERLIN)
    assert first.run is runs[0] and first.spent is None
    assert second.run is None and second.usd == 0.2


def test_a_run_that_is_not_over_is_left_out_with_its_session():
    runs = [replace(run(A, NOW - 60, "running"), finished_at=None)]
    stamp = datetime.fromtimestamp(NOW - 58, BERLIN).strftime("%Y%m%d_%H%M%S")
    assert join(runs, [spent("default", A, f"cron_{A}_{stamp}", usd=1.0)], lambda _: BERLIN) == []


# --- pausing and resuming


class Host:
    """Jobs of a host, as actions change them; `broken` ids refuse."""

    def __init__(self, *jobs):
        self.jobs = {one.id: one for one in jobs}
        self.broken: set[str] = set()
        self.asked: list[Action] = []
        self.clock = 0

    def read(self, home):
        return Jobs(Path(home) / "jobs.json", tuple(self.jobs.values()))

    def apply(self, action, *, dry_run=False, state_home=None):
        one = self.jobs[action.job_id]
        expected = action.arguments.get("expect", {})
        if any(one.raw.get(name) != value for name, value in expected.items()):
            return Done(action, False, "was changed since", one.id, None, changed=False)
        if dry_run:
            return Done(action, True, f"hermes cron {action.verb} {one.id}", one.id, None, changed=False)
        self.asked.append(action)
        if one.id in self.broken:
            return Done(action, False, "the host refused", one.id, None, changed=False)
        self.set(one.id, action.verb, action.reason)
        return Done(action, True, "done", one.id, None)

    def set(self, job_id, verb, reason=None):
        self.clock += 1
        pause = verb == "pause"
        stamp = {
            "paused_at": f"stamp {self.clock}" if pause else None,
            "paused_reason": reason if pause else None,
        }
        state = "paused" if pause else "scheduled"
        one = self.jobs[job_id]
        self.jobs[job_id] = replace(
            one,
            enabled=not pause,
            state=state,
            paused_at=NOW + self.clock if pause else None,
            paused_reason=reason if pause else None,
            next_run_at=NOW + 3600,
            raw={**one.raw, "state": state, **stamp},
        )

    def pause(self, home, *ids, day=TODAY, now=NOW, most=3, **options):
        chosen = [Candidate(place(self.jobs[name]), 1, 1.0, 1.0, False, 1.0) for name in ids]
        options |= {"apply": self.apply, "read": self.read}
        return budget_pauses.pause(home, day, now, chosen, most, "over", **options)

    def resume(self, home, **options):
        records = budget_pauses.paused(home)
        return budget_pauses.resume(home, records, apply=self.apply, read=self.read, **options)

    @property
    def paused(self):
        return {name for name, one in self.jobs.items() if one.state == "paused"}


@pytest.fixture
def host():
    return Host(job(A), job(B), job(C), job(D))


def test_pausing_is_once_a_day_and_a_resume_does_not_bring_it_back(tmp_path, host):
    assert {one["job"] for one in host.pause(tmp_path, A, B).paused} == {A, B}
    assert host.pause(tmp_path, C).paused == [] and host.paused == {A, B}
    assert len(host.resume(tmp_path).resumed) == 2 and host.paused == set()
    assert host.pause(tmp_path, A, B, C).paused == [] and host.paused == set()
    assert host.pause(tmp_path, C, day="2026-11-30").paused and host.paused == {C}


def test_what_somebody_else_paused_or_resumed_is_left_alone(tmp_path, host):
    host.set(D, "pause", "by a person")
    host.pause(tmp_path, A, B, C)
    host.set(A, "resume")
    host.set(B, "resume")
    host.set(B, "pause", "over")  # by a person, with the same words
    result = host.resume(tmp_path)
    assert {one["job"] for one in result.resumed} == {C}
    assert host.paused == {B, D} and budget_pauses.paused(tmp_path) == []
    assert any("resumed by somebody else" in text for text in result.texts)
    assert any("paused anew" in text for text in result.texts)


def test_a_pause_that_fails_is_not_kept_as_done_and_is_tried_again(tmp_path, host):
    host.broken = {B}
    first = host.pause(tmp_path, A, B, most=2)
    assert [one["job"] for one in first.paused] == [A] and first.failed[0][1] == B
    assert [finding.id for finding in first.failures()] == [f"budget.pause_failed:default/{B}"]
    assert {one["job"] for one in budget_pauses.paused(tmp_path)} == {A}
    host.broken = set()
    assert [one["job"] for one in host.pause(tmp_path, B, C, most=2).paused] == [B]
    assert host.paused == {A, B}


def test_a_job_that_somebody_paused_in_the_meantime_is_not_taken_over(tmp_path, host):
    chosen = [Candidate(place(host.jobs[A]), 1, 1.0, 1.0, False, 1.0)]
    host.set(A, "pause", "by a person")
    result = budget_pauses.pause(tmp_path, TODAY, NOW, chosen, 3, "over", apply=host.apply, read=host.read)
    assert result.failed and budget_pauses.paused(tmp_path) == [] and host.asked == []


def test_a_pause_that_somebody_makes_at_the_same_moment_is_theirs(tmp_path, host):
    def apply(action, **options):
        host.set(action.job_id, "pause", "by a person")
        return Done(action, True, "is paused already", action.job_id, None, changed=False)

    chosen = [Candidate(place(host.jobs[A]), 1, 1.0, 1.0, False, 1.0)]
    result = budget_pauses.pause(tmp_path, TODAY, NOW, chosen, 3, "over", apply=apply, read=host.read)
    assert result.failed and budget_pauses.paused(tmp_path) == []


def test_a_resume_that_fails_stays_on_record_and_is_said(tmp_path, host):
    host.pause(tmp_path, A)
    host.broken = {A}
    result = host.resume(tmp_path)
    assert [finding.id for finding in result.failures()] == [f"budget.resume_failed:default/{A}"]
    assert {one["job"] for one in budget_pauses.paused(tmp_path)} == {A}
    host.broken = set()
    assert host.resume(tmp_path).resumed


def test_a_job_list_that_cannot_be_read_keeps_everything_on_record(tmp_path, host):
    host.pause(tmp_path, A)

    def unreadable(home):
        raise Unreadable(home, "locked")

    records = budget_pauses.paused(tmp_path)
    result = budget_pauses.resume(tmp_path, records, apply=host.apply, read=unreadable)
    assert result.blind and not result.resumed and budget_pauses.paused(tmp_path) == records


def test_a_dry_run_changes_nothing_at_all(tmp_path, host):
    host.pause(tmp_path, A)
    record = (tmp_path / "ops" / "budget.json").read_bytes()
    asked = len(host.asked)
    result = host.resume(tmp_path, dry_run=True)
    assert result.texts == [f"hermes cron resume {A}"]
    assert (tmp_path / "ops" / "budget.json").read_bytes() == record and len(host.asked) == asked
    assert host.paused == {A}


def test_two_processes_at_once_pause_once(tmp_path, host):
    inside, go = threading.Event(), threading.Event()
    slow = host.apply

    def apply(action, **options):
        inside.set()
        assert go.wait(10)
        return slow(action, **options)

    chosen = [Candidate(place(host.jobs[A]), 1, 1.0, 1.0, False, 1.0)]
    results = []
    first = threading.Thread(
        target=lambda: results.append(
            budget_pauses.pause(tmp_path, TODAY, NOW, chosen, 3, "over", apply=apply, read=host.read)
        )
    )
    first.start()
    assert inside.wait(10)
    second = host.pause(tmp_path, B)
    go.set()
    first.join()
    assert second.paused == [] and "another run" in second.text()
    assert host.paused == {A} and {one["job"] for one in budget_pauses.paused(tmp_path)} == {A}


def test_pausing_that_was_broken_off_is_found_again_and_nothing_stays_paused_for_ever(tmp_path, host):
    def killed(action, **options):
        host.apply(action, **options)
        raise KeyboardInterrupt

    chosen = [Candidate(place(host.jobs[name]), 1, 1.0, 1.0, False, 1.0) for name in (A, B)]
    with pytest.raises(KeyboardInterrupt):
        budget_pauses.pause(tmp_path, TODAY, NOW, chosen, 3, "over", apply=killed, read=host.read)
    assert host.paused == {A}
    assert budget_pauses.due(tmp_path, "2026-11-30", NOW + 60) == []  # it may still be at it
    later = NOW + budget_pauses.UNDER_WAY + 1
    assert [one["job"] for one in host.pause(tmp_path, C, now=later, most=2).paused] == [C]
    assert {one["job"] for one in budget_pauses.paused(tmp_path)} == {A, C}
    assert len(host.resume(tmp_path).resumed) == 2 and host.paused == set()


def test_a_broken_off_pause_is_resumed_on_the_next_day_too(tmp_path, host):
    def killed(action, **options):
        host.apply(action, **options)
        raise KeyboardInterrupt

    chosen = [Candidate(place(host.jobs[A]), 1, 1.0, 1.0, False, 1.0)]
    with pytest.raises(KeyboardInterrupt):
        budget_pauses.pause(tmp_path, TODAY, NOW, chosen, 3, "over", apply=killed, read=host.read)
    records = budget_pauses.due(tmp_path, "2026-11-30", NOW + 86_400)
    result = budget_pauses.resume(tmp_path, records, apply=host.apply, read=host.read)
    assert len(result.resumed) == 1 and host.paused == set()


def test_nothing_is_paused_when_it_cannot_be_written_down(tmp_path, host):
    (tmp_path / "ops").write_text("a file, where the folder should be")
    with pytest.raises(Unreadable):
        host.pause(tmp_path, A)
    assert host.asked == [] and host.paused == set()


def test_a_damaged_record_is_set_aside_and_nothing_is_paused_that_day(tmp_path, host):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "budget.json").write_text('{"format": 1, "paused": [{"job": "x; touch PWNED"}]}')
    with pytest.raises(Unreadable):
        budget_pauses.paused(tmp_path)
    damaged = budget_pauses.repair(tmp_path, TODAY, NOW)
    assert damaged.read_text().startswith('{"format": 1')
    assert budget_pauses.state_file(tmp_path).read()["days"][TODAY]["status"] == "done"
    assert host.pause(tmp_path, A).paused == [] and host.asked == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("budget"), st.integers(0, 3)),
            st.tuples(st.just("resume"), st.integers(0, 3)),
            st.tuples(
                st.sampled_from(["person pauses", "person resumes", "breaks", "mends"]), st.integers(0, 3)
            ),
            st.tuples(st.just("midnight"), st.just(0)),
        ),
        max_size=25,
    )
)
def test_whatever_happens_only_its_own_pauses_are_resumed_and_none_twice_a_day(tmp_path_factory, steps):
    home, host = tmp_path_factory.mktemp("home"), Host(job(A), job(B), job(C), job(D))
    ids, day, by_person = [A, B, C, D], 0, set()
    paused_on: dict[int, int] = {}
    for what, number in steps:
        name, label = ids[number], (datetime(2026, 11, 29) + timedelta(days=day)).strftime("%Y-%m-%d")
        if what == "budget":
            result = host.pause(home, *[one for one in ids if host.jobs[one].live], day=label, most=number)
            paused_on[day] = paused_on.get(day, 0) + len(result.paused)
            assert paused_on[day] <= 3
        elif what == "resume":
            host.resume(home)
        elif what == "person pauses" and host.jobs[name].live:
            host.set(name, "pause", "by a person")
            by_person.add(name)
        elif what == "person resumes":
            host.set(name, "resume")
            by_person.discard(name)
        elif what == "breaks":
            host.broken.add(name)
        elif what == "mends":
            host.broken.discard(name)
        else:
            day += 1
        ours = {one["job"] for one in budget_pauses.paused(home)}
        assert by_person <= host.paused
        assert host.paused <= by_person | ours


# --- the watcher over real files


@pytest.fixture
def home(tmp_path, monkeypatch):
    made = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(made.path))
    return made


def looked(home, now=NOW):
    context = Context(home.path, now)
    try:
        return budget.watch(context)
    finally:
        context.close()


def test_without_a_cap_it_is_silent_and_leaves_nothing_behind(home):
    assert looked(home) == budget.Reading() and not (home.path / "ops").exists()


def test_a_cap_that_is_wrong_is_said(home):
    home.configure({"budget": {"cap_usd": "ten"}})
    [finding] = looked(home).findings
    assert finding.id == "budget.settings:default/budget.cap_usd" and "expected a number" in finding.text


def test_at_the_cap_it_proposes_the_jobs_that_are_still_to_cost(home):
    home.configure({"budget": {"cap_usd": 1.0}})
    home.job(A, "0 * * * *", name="hourly")
    home.job(B, "0 8 * * *", name="done for today")
    home.job(C, "0 * * * *", name="watchdog", no_agent=True, script="w.py")
    for name, clock in ((A, "13:00"), (B, "08:00")):
        session = home.ran(name, at(f"{TODAY} {clock}"))
        home.use(session, at(f"{TODAY} {clock}") + 30, 0.6)
    [finding] = looked(home).findings
    assert finding.id == "budget.over:default/usd" and "$1.20" in finding.text
    assert [line.split(":")[0] for line in finding.evidence] == [f"job {A} (hourly)"]
    assert "9 runs to come today x $0.60" in finding.evidence[0]
    assert "hermes ops budget pause" in finding.fix
    assert all(one.state == "scheduled" for one in read_jobs(home.path).jobs)


def test_with_act_it_pauses_and_the_next_day_resumes_exactly_those(home, monkeypatch):
    home.configure({"budget": {"cap_usd": 1.0, "act": True, "pause": 1}})
    home.job(A, "0 * * * *")
    home.job(B, "30 * * * *")
    home.job(C, "0 * * * *", state="paused", enabled=False, paused_reason="by a person")
    for name, usd in ((A, 0.6), (B, 0.9)):
        home.use(home.ran(name, at(f"{TODAY} 13:00")), at(f"{TODAY} 13:00") + 30, usd)

    def apply(action, **options):
        one = next(one for one in home.jobs if one["id"] == action.job_id)
        pause = action.verb == "pause"
        one.update(
            state="paused" if pause else "scheduled",
            enabled=not pause,
            paused_at="2026-11-29T14:05:01+01:00" if pause else None,
            paused_reason=action.reason if pause else None,
            next_run_at="2026-11-30T14:30:00+01:00",
        )
        home.write_jobs()
        return Done(action, True, "done", action.job_id, None)

    monkeypatch.setattr("hermes_ops.core.action.apply", apply)
    states = lambda: {one["id"]: one["state"] for one in home.jobs}  # noqa: E731
    first = looked(home)
    assert states() == {A: "scheduled", B: "paused", C: "paused"}
    assert [event.severity for event in first.events] == ["warning"] and "paused job b" in first.findings[
        0
    ].text
    second = looked(home, NOW + 3600)
    assert not second.events and states()[A] == "scheduled" and "paused today" in second.findings[0].text
    morning = looked(home, at("2026-11-30 00:30"))
    assert states() == {A: "scheduled", B: "scheduled", C: "paused"}
    assert len(morning.events) == 1 and not morning.findings
    assert not looked(home, at("2026-11-30 01:30")).events


@pytest.mark.usefixtures("impatient")
def test_every_profile_counts_and_one_that_cannot_be_read_hides_no_other(home):
    home.configure({"budget": {"cap_usd": 1.0}})
    home.job(A, "0 * * * *")
    work = Home(home.path / "profiles" / "work")
    work.job(B, "0 * * * *", name="audit")
    for one, name, usd in ((home, A, 0.4), (work, B, 0.7)):
        one.use(one.ran(name, at(f"{TODAY} 13:00")), at(f"{TODAY} 13:00") + 30, usd)
    [finding] = looked(home).findings
    assert "$1.10" in finding.text and finding.evidence[0].startswith(f"job {B} (audit)")
    (work.path / "cron" / "jobs.json").write_text('{"jobs": [')
    reading = looked(home, NOW + 60)
    assert [line[:16] for line in reading.findings[0].evidence] == [f"job {A}"]
    assert any("work" in one.key for one in reading.blind)


def test_a_switch_that_was_turned_off_leaves_the_pause_and_says_so(home, monkeypatch):
    host = Host(job(A))
    monkeypatch.setattr("hermes_ops.host.jobs.read_jobs", host.read)
    host.pause(home.path, A)
    [finding] = looked(home, NOW + 86_400).findings
    assert finding.id == f"budget.still_paused:default/{A}" and "resume" in finding.fix


def test_what_a_person_paused_until_tomorrow_is_resumed_without_the_switch(home, monkeypatch):
    host = Host(job(A), job(B))
    monkeypatch.setattr("hermes_ops.host.jobs.read_jobs", host.read)
    monkeypatch.setattr("hermes_ops.core.action.apply", host.apply)
    host.pause(home.path, A, asked=True)
    assert looked(home, NOW + 3600) == budget.Reading()
    assert looked(home, NOW + 86_400).events and host.paused == set()


def test_many_bad_rows_are_loud_and_pause_nothing(home):
    home.configure({"budget": {"cap_usd": 0.1, "act": True}})
    home.job(A, "0 * * * *")
    home.use(home.ran(A, at(f"{TODAY} 13:00")), at(f"{TODAY} 13:00") + 30, 5.0)
    home.use("bad", NOW - 60, -5.0)
    reading = looked(home)
    assert [finding.rule for finding in reading.findings] == ["budget.bad_data"] and reading.blind
    assert home.jobs[0]["state"] == "scheduled" and not (home.path / "ops" / "budget.json").exists()


# --- the command


def said(capsys, *arguments):
    code = cli.main(["budget", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_the_command_says_that_the_budget_is_off(home, capsys):
    code, out, _ = said(capsys)
    assert code == 0 and "off" in out and "cap_usd" in out


def test_the_command_shows_the_day_and_a_dry_run_leaves_the_home_as_it_was(home, capsys, monkeypatch):
    home.configure({"budget": {"cap_usd": 100}})
    home.job(A, "* * * * *")
    assert said(capsys)[0] == 0
    before = sorted((path, path.stat().st_mtime_ns) for path in home.path.rglob("*.json"))
    code, out, _ = said(capsys, "pause", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["dry_run"] is True
    assert sorted((path, path.stat().st_mtime_ns) for path in home.path.rglob("*.json")) == before
    assert said(capsys, "resume", "--dry-run")[:2] == (0, "Nothing is paused for the budget.\n")


LOG = b"""\
{"ts":"2026-11-28T23:30:00Z","job_id":"a","model":"m","prompt_tokens":100,"completion_tokens":10,"error":null}
{"ts":"2026-11-29T00:30:00+05:00","job_id":"a","prompt_tokens":100,"completion_tokens":10}
{"ts":"2026-10-25T02:30:00","job_id":"a","prompt_tokens":100,"completion_tokens":10}
{"ts":1795910400,"job_id":"aaaaaaaaaaaa","prompt_tokens":100,"completion_tokens":10}
{"ts":"2099-01-01T00:00:00Z","job_id":"a","prompt_tokens":100}
{"ts":"2026-11-29T01:00:00Z","job_id":"b","total_tokens":NaN}
{"ts":"2026-11-29T01:00:00Z","job_id":"b","total_tokens":"9999"}
{"ts":"2026-11-29T01:00:00Z","job_id":"b","prompt_tokens":null,"completion_tokens":-5}
{"ts":"2026-11-29T01:00:00Z","total_tokens":7777}
[1,2,3]
null
{"ts":"2026-11-29T01:00:00Z","job_id":"x; touch PWNED","total_tokens":999999}
{"ts":"2026-11-29T01:0
\xff\xfe bytes
"""


def test_a_log_of_calls_is_counted_by_day_and_what_is_bad_in_it_is_loud(home, capsys, tmp_path):
    home.config["timezone"] = "UTC"
    home.configure({})
    log = tmp_path / "calls.jsonl"
    log.write_bytes(LOG)
    code, out, _ = said(capsys, "--log", str(log), "--day", TODAY, "--json")
    found = json.loads(out)
    assert code == 1 and found["loud"] and (found["bad"], found["future"], found["lines"]) == (7, 1, 14)
    assert found["jobs"] == {A: 110, "(no job)": 7777} and found["refused"] == {"x; touch PWNED": 999999}
    assert found["tokens"] == 110 + 7777 + 999999
    assert said(capsys, "--log", str(tmp_path / "none"))[0] == 1
    assert said(capsys, "--day", TODAY)[0] == 2
