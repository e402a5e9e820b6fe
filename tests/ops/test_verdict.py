"""The verdict: plain values in, a state with its evidence and what to do out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from hermes_ops.host.gateway import Exit, Gateway, Marker
from hermes_ops.host.logs import Record
from hermes_ops.host.ticker import Ticker
from hermes_ops.liveness import health
from hermes_ops.liveness.facts import Facts, Limits
from hermes_ops.liveness.lease import Lease, host_lease
from hermes_ops.liveness.service import Service
from hermes_ops.liveness.verdict import STATES, Seen, Verdict, decide, storm_backoff

NOW = 1_795_946_400.0
HOME = Path("/nowhere")
STARTED = NOW - 7200
HEALTHY = Gateway(
    HOME,
    pid=100,
    alive=True,
    start_ticks=5,
    pid_file=True,
    lock_held=True,
    heartbeat_at=NOW - 20,
    heartbeat_pid=100,
    state="running",
    state_at=STARTED + 10,
    starts=(STARTED,),
    exits=(Exit(STARTED, "gateway.start", 100),),
)
TICKER = Ticker(NOW - 30, NOW - 30)
WELL = Facts(HEALTHY, TICKER, store_written_at=NOW - 600)


def judge(gateway: Gateway = HEALTHY, seen: Seen = Seen(), now: float = NOW, **facts: object) -> Verdict:  # noqa: B008
    return decide(replace(WELL, gateway=gateway, **facts), seen, now, Limits())


def record(message: str, ago: float = 30, logger: str = "run_agent", level: str = "WARNING") -> Record:
    return Record(NOW - ago, level, "s", logger, message)


def refused(*ago: float, cause: str = "unable to open database file") -> tuple[Record, ...]:
    return tuple(record(f"Session DB append_message failed: {cause}", at) for at in ago)


def test_a_gateway_with_a_fresh_heartbeat_is_well() -> None:
    verdict = judge()
    assert (verdict.state, verdict.action, verdict.works, verdict.severity) == ("ok", "none", True, None)


def test_every_state_says_whether_the_gateway_works() -> None:
    assert set(STATES.values()) <= {True, False, None}


@pytest.mark.parametrize(("age", "state"), [(299, "ok"), (301, "frozen"), (40_000, "frozen")])
def test_a_live_process_without_a_heartbeat_for_five_minutes_is_frozen(age: float, state: str) -> None:
    verdict = judge(replace(HEALTHY, heartbeat_at=NOW - age))
    assert (verdict.state, verdict.action) == (state, "restart" if state == "frozen" else "none")


@pytest.mark.parametrize("state", ["running", "starting", "draining", "degraded", None])
def test_a_state_file_that_says_running_with_a_dead_process_is_dead(state: str | None) -> None:
    verdict = judge(replace(HEALTHY, alive=False, lock_held=False, state=state))
    assert (verdict.state, verdict.action) == ("dead", "start")
    assert "process 100 is gone" in verdict.evidence


def test_the_manager_is_asked_to_restart_what_it_believes_to_run() -> None:
    dead = replace(HEALTHY, alive=False)
    assert judge(dead, service=Service("u", "active", "running")).action == "restart"
    assert (
        judge(dead, service=Service("u", "failed", "failed", "oom-kill", None, None, True, True)).action
        == "start"
    )


def test_a_heartbeat_of_an_earlier_process_is_none() -> None:
    begun = replace(
        HEALTHY,
        pid=101,
        heartbeat_at=NOW - 5,
        starts=(NOW - 60,),
        exits=(Exit(NOW - 60, "gateway.start", 101),),
    )
    assert judge(begun).state == "starting"


def test_a_start_may_take_five_minutes_and_no_more() -> None:
    def starting(ago: float) -> Verdict:
        exits = (Exit(NOW - ago, "gateway.start", 101),)
        return judge(replace(HEALTHY, alive=False, starting_pid=101, starts=(NOW - ago,), exits=exits))

    assert [starting(ago).state for ago in (1, 299, 301)] == ["starting", "starting", "frozen"]
    assert starting(301).action == "restart"


def test_the_back_off_of_a_storm_of_starts_is_waited_out() -> None:
    starts = tuple(NOW - 100 - gap for gap in (60, 50, 40, 30, 20, 10, 0))
    assert storm_backoff(starts, starts[-1], Limits()) == 20.0
    assert storm_backoff(starts[:5], starts[4], Limits()) == 0.0
    assert storm_backoff(tuple(NOW - n for n in range(40, 0, -1)), NOW - 1, Limits()) == 300.0
    gateway = replace(HEALTHY, alive=False, starting_pid=101, starts=tuple(NOW - n for n in range(40, 0, -1)))
    storm = judge(replace(gateway, exits=(Exit(NOW - 1, "gateway.start", 101),)))
    # It is told, because it keeps dying, and nothing is restarted.
    assert (storm.state, storm.action) == ("storm_backoff", "escalate")
    late = judge(replace(gateway, exits=(Exit(NOW - 1, "gateway.start", 101),)), now=NOW + 590)
    assert late.state == "starting"
    assert judge(replace(gateway, exits=()), now=NOW + 700).state == "frozen"


def test_exit_78_is_never_restarted_and_says_why() -> None:
    exits = (Exit(NOW - 60, "gateway.start", 100), Exit(NOW - 58, "asyncio.run.SystemExit", 100, 78))
    gateway = replace(
        HEALTHY,
        alive=False,
        state="startup_failed",
        state_at=NOW - 58,
        exit_reason="token refused",
        exits=exits,
    )
    by_file = judge(gateway)
    by_state = judge(
        replace(gateway, exits=()),
    )
    by_manager = judge(
        replace(HEALTHY, alive=False),
        service=Service("u", "failed", "failed", "exit-code", 78, None, True, True),
    )
    assert {(one.state, one.action) for one in (by_file, by_state, by_manager)} == {
        ("config_error", "escalate")
    }
    assert "token refused" in by_file.text


def test_what_a_state_file_says_of_an_earlier_start_does_not_count() -> None:
    newer = (Exit(NOW - 3000, "gateway.start", 100), Exit(NOW - 60, "gateway.start", 101))
    for state in ("startup_failed", "stopped"):
        gateway = replace(HEALTHY, alive=False, state=state, state_at=NOW - 100, exits=newer)
        assert judge(gateway).state == "dead"


def test_a_planned_restart_comes_back_or_is_dead() -> None:
    exits = (Exit(NOW - 60, "gateway.start", 100), Exit(NOW - 50, "asyncio.run.SystemExit", 100, 75))
    gateway = replace(
        HEALTHY, alive=False, state="stopped", state_at=NOW - 50, restart_requested=True, exits=exits
    )
    assert judge(gateway).state == "starting"
    assert judge(gateway, now=NOW + 100).state == "dead"


def test_a_planned_stop_is_left_alone() -> None:
    gateway = replace(HEALTHY, alive=False, pid_file=False, state="stopped", state_at=NOW - 5000)
    assert (judge(gateway).state, judge(gateway).action, judge(gateway).severity) == ("stopped", "none", None)


def test_a_unit_that_somebody_stopped_is_told_and_left_alone() -> None:
    gateway = replace(HEALTHY, alive=False)
    stopped = Service("u", "failed", "failed", "exit-code", 1, None, True, True)
    verdict = judge(gateway, service=stopped)
    assert (verdict.state, verdict.action, verdict.severity) == ("stopped", "none", "warning")
    # One that has not run since the machine started was not stopped by anybody.
    assert judge(gateway, service=replace(stopped, active="inactive", ran=False)).state == "dead"
    assert judge(gateway, service=replace(stopped, result="start-limit-hit")).state == "dead"


def test_a_manager_at_work_is_given_two_minutes() -> None:
    gateway = replace(HEALTHY, alive=False)
    reviving = Service("u", "activating", "auto-restart", "exit-code", 1, None, True, True)
    assert judge(gateway, service=reviving).action == "none"
    seen = Seen(last_pass_at=NOW - 60, not_working_since=NOW - 130)
    verdict = judge(gateway, seen, service=reviving)
    assert (verdict.state, verdict.action) == ("starting", "escalate")


def test_one_that_shut_down_and_does_not_end_lingers() -> None:
    exits = (
        *HEALTHY.exits,
        Exit(NOW - 90, "asyncio.run.returned", 100),
        Exit(NOW - 90, "gateway.exit_nonzero", 100),
    )
    gateway = replace(HEALTHY, pid_file=False, lock_held=False, exits=exits)
    verdict = judge(gateway)
    assert (verdict.state, verdict.action) == ("lingering", "restart")
    assert judge(gateway, now=NOW - 80).state == "starting"  # it may take a moment
    assert judge(replace(gateway, state="stopped")).state == "stopped"
    assert judge(replace(gateway, exits=(*exits, Exit(NOW - 80, "atexit.hook", 100)))).state == "ok"
    assert judge(gateway, service=Service("u", "deactivating", "stop-sigterm")).state == "starting"
    waiting = judge(gateway, now=NOW + 60, service=Service("u", "deactivating", "stop-sigterm"))
    assert (waiting.state, waiting.action) == ("lingering", "escalate")


def test_a_held_lock_is_no_lingering() -> None:
    exits = (*HEALTHY.exits, Exit(NOW - 90, "gateway.exit_nonzero", 100))
    assert judge(replace(HEALTHY, exits=exits)).state == "ok"
    assert judge(replace(HEALTHY, exits=exits, lock_held=None)).state == "ok"


def test_after_a_sleep_nothing_is_judged_for_a_while() -> None:
    frozen = replace(HEALTHY, heartbeat_at=NOW - 5000)
    assert judge(frozen, Seen(last_pass_at=NOW - 5000)).state == "unknown"
    assert judge(frozen, Seen(last_pass_at=NOW + 5000)).state == "unknown"
    assert judge(frozen, Seen(last_pass_at=NOW - 60, woke_at=NOW - 60)).state == "unknown"
    assert judge(frozen, Seen(last_pass_at=NOW - 60, woke_at=NOW - 200)).state == "frozen"


def test_a_heartbeat_from_the_future_is_as_old_as_it_was_seen() -> None:
    ahead = replace(HEALTHY, heartbeat_at=NOW + 9000)
    assert judge(ahead).state == "ok"
    assert judge(ahead, Seen(NOW - 60, beat=NOW + 9000, beat_changed_at=NOW - 400)).state == "frozen"
    assert judge(ahead, Seen(NOW - 60, beat=NOW + 8970, beat_changed_at=NOW - 400)).state == "ok"


def test_a_host_without_a_heartbeat_is_judged_by_its_scheduler() -> None:
    gateway = replace(HEALTHY, heartbeat_at=None, heartbeat_pid=None)
    assert judge(gateway).state == "ok"
    assert judge(gateway, ticker=Ticker(NOW - 1000, NOW - 1000)).state == "unknown"


def test_what_cannot_be_read_is_unknown_and_never_a_restart() -> None:
    unread = replace(
        HEALTHY, pid=None, alive=None, state=None, unreadable=("gateway_state.json",), problems=("x",)
    )
    assert (judge(unread).state, judge(unread).action) == ("unknown", "none")
    assert judge(replace(HEALTHY, heartbeat_at=None, unreadable=("state/gateway.heartbeat",))).works in (
        True,
        None,
    )
    locked = replace(HEALTHY, pid=None, alive=None, state=None, lock_held=True)
    assert (judge(locked).state, judge(locked).action) == ("unknown", "none")


def test_no_gateway_that_ever_ran_is_unknown() -> None:
    assert judge(Gateway(HOME)).state == "unknown"


def test_a_lease_comes_before_everything_but_a_drain_that_is_carried_out() -> None:
    lease = Lease("anna", "restore", NOW - 10, NOW + 600)
    verdict = judge(replace(HEALTHY, alive=False), lease=lease)
    assert (verdict.state, verdict.action) == ("maintenance", "none") and "anna" in verdict.text
    draining = replace(HEALTHY, state="draining", markers={"drain": Marker(NOW - 60, {})})
    assert judge(draining, lease=host_lease(draining, NOW)).state == "draining"
    frozen = replace(draining, heartbeat_at=NOW - 400)
    assert judge(frozen, lease=host_lease(frozen, NOW)).state == "frozen"


def test_a_drain_that_does_not_end_is_told() -> None:
    verdict = judge(replace(HEALTHY, state="draining", state_at=NOW - 4000))
    assert (verdict.state, verdict.severity, verdict.action) == ("draining", "warning", "none")


def test_failed_writes_with_none_that_worked_since_are_an_unwritable_store() -> None:
    assert judge(records=refused(100, 30)).state == "store_unwritable"
    assert judge(records=refused(100, 30)).action == "restart"
    assert judge(records=refused(30)).state == "ok"  # one may happen
    assert judge(records=refused(400, 300)).state == "ok"  # long ago
    assert judge(records=refused(100, 30), store_written_at=NOW - 10).state == "ok"  # it works again
    started = replace(HEALTHY, exits=(Exit(NOW - 20, "gateway.start", 100),))
    assert judge(started, records=refused(100, 30)).state == "ok"  # of the process before


def test_one_failed_write_in_two_files_and_by_two_loggers_is_one() -> None:
    twice = refused(30, 30) + (
        record("Session DB transcript append failed for s (…)", 30.4, "gateway.session"),
    )
    assert len(health.failed_writes(twice)) == 1
    assert judge(records=twice).state == "ok"


@pytest.mark.parametrize(
    "wrong",
    [
        record("Session DB append_message failed: x", logger="tools.terminal"),
        record("Session DB append_message failed: x", level="INFO"),
        record("the user said: Session DB append_message failed: unable to open database file"),
        record("deleted state.db-wal"),
    ],
)
def test_text_of_a_chat_is_no_failed_write(wrong: Record) -> None:
    assert judge(records=(wrong, replace(wrong, at=NOW - 100))).state == "ok"


@pytest.mark.parametrize(
    "cause", ["database or disk is full", "attempt to write a readonly database", "database is locked"]
)
def test_a_cause_that_a_new_process_meets_again_is_told_and_not_restarted(cause: str) -> None:
    verdict = judge(records=refused(100, 30, cause=cause))
    assert (verdict.state, verdict.action, verdict.severity) == ("store_unwritable", "escalate", "critical")


def test_a_repair_of_the_host_that_failed_is_for_a_person() -> None:
    text = "state.db schema repair could not recover /x automatically"
    verdict = judge(records=(record(text, 10, "hermes_state", "ERROR"),))
    assert (verdict.state, verdict.action) == ("store_unwritable", "escalate")


def test_a_store_deleted_under_the_gateway_is_unwritable_without_any_log() -> None:
    verdict = judge(replace(HEALTHY, deleted=("state.db-wal",)))
    assert (verdict.state, verdict.action) == ("store_unwritable", "restart")


def test_a_stalled_scheduler_is_told_and_then_worth_a_restart() -> None:
    assert judge(ticker=Ticker(NOW - 250, NOW - 250)).state == "ok"
    stalled = judge(ticker=Ticker(NOW - 310, NOW - 310))
    assert (stalled.state, stalled.action) == ("cron_stalled", "none")
    assert judge(ticker=Ticker(NOW - 610, NOW - 610)).action == "restart"
    assert judge(ticker=Ticker(None, None)).state == "cron_stalled"
    assert judge(ticker=Ticker(NOW - 610, None), other_scheduler=True).state == "ok"
    assert judge(ticker=None).state == "ok"  # unknown is not stalled
    young = replace(HEALTHY, exits=(Exit(NOW - 100, "gateway.start", 100),))
    assert judge(young, ticker=Ticker(NOW - 5000, NOW - 5000)).state == "ok"  # it has just begun


def test_ticks_that_fail_are_told_and_never_restarted() -> None:
    verdict = judge(ticker=Ticker(NOW - 30, NOW - 3 * 3600))
    assert (verdict.state, verdict.action, verdict.works) == ("ticks_failing", "none", True)


def platform(state: str, ago: float) -> Gateway:
    updated = datetime.fromtimestamp(NOW - ago, timezone.utc).isoformat()
    return replace(
        HEALTHY, platforms={"telegram": {"state": state, "error_message": "401", "updated_at": updated}}
    )


def test_a_platform_that_stays_down_is_told_with_its_reason() -> None:
    verdict = judge(platform("fatal", 600))
    assert (verdict.state, verdict.action) == ("platform_down", "none") and "401" in verdict.text
    assert judge(platform("fatal", 60)).state == "ok"
    assert judge(platform("connected", 6000)).state == "ok"
    # From a process before this one: it may not be configured any more.
    assert judge(platform("disconnected", 8000)).state == "ok"


def test_all_that_is_wrong_is_kept_beside_the_gravest() -> None:
    gateway = replace(platform("fatal", 600), deleted=("state.db",))
    verdict = judge(gateway, ticker=Ticker(NOW - 610, NOW - 610))
    assert [trouble.state for trouble in verdict.troubles] == [
        "store_unwritable",
        "cron_stalled",
        "platform_down",
    ]
    assert verdict.state == "store_unwritable"
