"""Incidents: when something is said, when not, and in what words."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.core.finding import DAY, HOUR, Blind, Event, Finding, Reading
from hermes_ops.core.incident import Incidents, Message, as_dict, quiet_hours
from hermes_ops.core.incident_text import MAX_LINE
from hermes_ops.errors import OpsError, Unreadable

NOW = 1_796_000_000.0  # 2026-11-29 10:13 UTC
RUN = 1800.0  # the period of the wallet watcher


class Home:
    """A home with one watcher that runs every half hour; `said` are the messages that arrived."""

    def __init__(self, path: Path, watcher: str = "wallet") -> None:
        self.path, self.watcher, self.now = path, watcher, NOW
        self.incidents = Incidents(path)
        self.said: list[Message] = []
        self.arrives: bool | None = True

    def run(self, *seen: Finding | Blind | Event, after: float = RUN) -> list[str]:
        """One run; returns the kinds of what was said in it."""
        self.now += after
        reading = Reading.of(
            [one for one in seen if isinstance(one, Finding)],
            [one for one in seen if isinstance(one, Blind)],
            [one for one in seen if isinstance(one, Event)],
        )
        said = self.incidents.update(self.watcher, reading, self.now, self._deliver)
        self.said += said
        return [one.kind for one in said]

    def _deliver(self, messages: list[Message]) -> bool | None:
        assert messages, "nothing to say is not delivered"
        return self.arrives

    def configure(self, **ops: object) -> None:
        pytest.importorskip("yaml")
        (self.path / "config.yaml").write_text(json.dumps({"ops": ops, "timezone": "Europe/Berlin"}))

    @property
    def last(self) -> str:
        return self.said[-1].text


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def finding(key: str = "default/06c6883b7ddd", severity: str = "error", **given: object) -> Finding:
    text = given.pop("text", "no run since 06:00")
    return Finding("schedule.missed", severity, "job digest", str(text), key, **given)


def test_one_incident_is_said_once_and_its_end_with_its_length(home: Home) -> None:
    assert home.run() == []
    assert home.run(finding(fix="hermes cron list")) == ["open"]
    assert home.last == "error: job digest: no run since 06:00. Fix: hermes cron list"
    assert home.run(finding(text="no run since 06:00, 3 missed")) == []
    assert home.run() == ["over"]
    assert home.last == "over after 60 min: job digest: no run since 06:00, 3 missed"
    assert home.run() == []


def test_what_must_hold_is_said_when_it_has_held(home: Home) -> None:
    doubtful = finding(holds=3)
    assert home.run(doubtful) == [] and home.incidents.all()[0].state == "suspect"
    assert home.run(doubtful) == []
    assert home.run() == [] and home.incidents.all() == []
    assert [home.run(doubtful) for _ in range(3)] == [[], [], ["open"]]


def test_what_clears_slowly_is_over_after_so_many_runs(home: Home) -> None:
    slow = finding(clears=3)
    home.run(slow)
    assert [home.run(), home.run(), home.run(slow), home.run(), home.run()] == [[], [], [], [], []]
    assert home.run() == ["over"]


def test_a_reminder_comes_once_a_day_and_says_how_long(home: Home) -> None:
    kinds = [home.run(finding()) for _ in range(100)]
    assert [number for number, said in enumerate(kinds) if said] == [0, 48, 96]
    assert home.last == "error, still after 2 days: job digest: no run since 06:00"


def test_a_daily_watcher_reminds_daily_although_its_runs_jitter(home: Home) -> None:
    home.watcher = "sweep"
    kinds = [home.run(finding(), after=DAY + jitter) for jitter in (0, -40, 20, -60, -3600, 3600)]
    assert kinds == [["open"]] + [["remind"]] * 5


def test_never_reminded_when_that_is_not_wanted(home: Home) -> None:
    kinds = [home.run(finding(remind=None), after=6 * HOUR) for _ in range(30)]
    assert kinds == [["open"]] + [[]] * 29


def test_worse_is_said_and_better_is_not(home: Home) -> None:
    assert home.run(finding(severity="warning")) == ["open"]
    assert home.run(finding(severity="critical")) == ["worse"]
    assert home.last == "critical (was warning): job digest: no run since 06:00"
    assert home.run(finding(severity="warning")) == []
    assert home.run(finding(severity="critical")) == []


def test_what_comes_back_within_a_day_says_how_often(home: Home) -> None:
    for expected in ("open", "came_back", "came_back"):
        assert home.run(finding()) == [expected]
        assert home.run() == ["over"]
    assert home.said[-2].text.startswith("error, came back, 3rd time in 24 h: job digest")
    for _ in range(60):
        home.run()
    assert home.run(finding()) == ["open"]


def test_blind_never_closes_and_never_opens(home: Home) -> None:
    here, there, doubtful = finding("default/a"), finding("work/b"), finding("default/c", holds=2)
    home.run(here, there, doubtful)
    dark = Blind("jobs", "jobs.json is torn", covers="schedule.missed:default/")
    assert home.run(dark) == ["blind", "over"]
    assert home.said[-2].text == "blind: jobs.json is torn"
    states = {one.id: one.state for one in home.incidents.all()}
    assert states["schedule.missed:default/a"] == "open"
    assert states["schedule.missed:default/c"] == "suspect"
    assert home.run(dark) == []
    assert home.run(here, doubtful) == ["open", "sees_again"]
    assert home.last == "sees again after 60 min: jobs.json is torn"


def test_blindness_itself_may_have_to_hold(home: Home) -> None:
    dark = Blind("balance", "the provider does not answer", holds=3)
    home.run(finding())
    assert [home.run(dark) for _ in range(3)] == [[], [], ["blind"]]
    assert home.run() == ["over", "sees_again"]


def test_who_is_blind_for_everything_closes_nothing_not_even_another_blindness(home: Home) -> None:
    home.run(Blind("a", "one"), finding())
    assert home.run(Blind("b", "two")) == ["blind"]
    assert {one.state for one in home.incidents.all()} == {"open"}


def test_one_watcher_does_not_close_what_another_saw(home: Home) -> None:
    home.run(finding())
    other = Home(home.path, "lint")
    assert other.run() == []
    assert home.run(finding()) == []
    assert [one.state for one in home.incidents.all()] == ["open"]


def test_an_event_is_said_once(home: Home) -> None:
    top_up = Event("topup:1", "balance rose by 10.00 USD")
    assert home.run(top_up) == ["event"]
    assert home.last == "info: balance rose by 10.00 USD"
    assert [home.run(top_up) for _ in range(3)] == [[], [], []]
    assert home.run(Event("topup:2", "again"), top_up) == ["event"]


def test_what_did_not_arrive_is_said_again(home: Home) -> None:
    home.arrives = False
    top_up = Event("topup:1", "balance rose")
    assert home.run(finding(), top_up) == []
    assert home.run(finding(), top_up) == []
    home.arrives = True
    assert home.run(finding()) == ["open", "event"]
    assert home.run(finding()) == []


def test_what_ended_before_it_could_be_said_is_one_line(home: Home) -> None:
    home.arrives = False
    home.run(finding())
    home.run()
    home.arrives = True
    assert home.run() == ["over"]
    assert home.last == (
        "over after 30 min, before this could be said: error: job digest: no run since 06:00"
    )
    assert home.run() == []


def test_back_before_its_end_was_said_is_the_same_incident(home: Home) -> None:
    home.run(finding())
    home.arrives = False
    home.run()
    home.arrives = True
    assert home.run(finding()) == []
    assert home.run() == ["over"]
    assert home.last.startswith("over after 90 min")


def test_printed_words_wait_for_what_the_host_knows(home: Home) -> None:
    home.arrives = None
    assert home.run(finding(), Event("e", "happened")) == ["open", "event"]
    said_at = home.incidents.unsettled("wallet")
    assert said_at == home.now
    assert home.run(finding()) == [], "not said twice while nobody knows"
    home.incidents.settle("wallet", False, said_at)
    assert home.incidents.unsettled("wallet") is None
    assert home.run(finding()) == ["open", "event"]
    home.incidents.settle("wallet", True, home.incidents.unsettled("wallet"))
    assert home.run(finding()) == []
    assert home.run() == ["over"]
    home.incidents.settle("wallet", True, home.incidents.unsettled("wallet"))
    (closed,) = home.incidents.all(closed=True)
    assert closed.state == "closed" and home.incidents.unsettled("wallet") is None


def test_the_end_that_did_not_arrive_is_said_again(home: Home) -> None:
    home.run(finding())
    home.arrives = None
    assert home.run() == ["over"]
    home.incidents.settle("wallet", False, home.incidents.unsettled("wallet"))
    home.arrives = True
    assert home.run() == ["over"]
    assert home.run() == []


def test_what_nobody_ever_settles_counts_as_arrived_after_days(home: Home) -> None:
    home.arrives = None
    home.run(finding(remind=None))
    for _ in range(50):
        home.run(finding(remind=None), after=2 * HOUR)
    assert home.incidents.unsettled("wallet") is None


def test_a_run_killed_while_it_speaks_says_it_again(home: Home) -> None:
    class Killed(BaseException):
        pass

    def die(messages: list[Message]) -> bool:
        raise Killed

    with pytest.raises(Killed):
        home.incidents.update("wallet", Reading.of([finding()]), home.now, die)
    assert home.run(finding()) == ["open"]


def test_acknowledged_is_not_reminded_and_its_end_is_said(home: Home) -> None:
    home.run(finding(severity="warning"))
    acknowledged = home.incidents.acknowledge("schedule.missed:def", "ann", home.now)
    assert (acknowledged.state, acknowledged.acknowledged_by) == ("acknowledged", "ann")
    assert [home.run(finding(severity="warning"), after=DAY) for _ in range(3)] == [[], [], []]
    assert home.run(finding(severity="critical")) == ["worse"]
    assert home.run() == ["over"]
    assert home.run(finding()) == ["came_back"], "the next one is not acknowledged"


def test_snoozed_says_nothing_until_then_its_end_excepted(home: Home) -> None:
    home.run(finding(severity="warning"))
    home.incidents.snooze("06c6", home.now + 4 * HOUR, home.now)
    assert [home.run(finding(severity="critical")) for _ in range(7)] == [[]] * 7
    assert home.run(finding(severity="critical")) == ["worse"], "the time is over"
    home.incidents.snooze("06c6", home.now + 4 * HOUR, home.now)
    assert home.run() == ["over"]
    assert home.run(finding()) == [], "it is still snoozed when it comes back"
    assert home.run() == [], "and what was not said has no end to be said"


def test_after_a_snooze_it_is_said_that_it_lasts(home: Home) -> None:
    home.run(finding())
    home.incidents.snooze("06c6", home.now + HOUR, home.now)
    assert [home.run(finding()) for _ in range(3)] == [[], ["remind"], []]


def test_a_word_of_a_person_counts_as_told(home: Home) -> None:
    home.arrives = False
    home.run(finding())
    home.incidents.acknowledge("06c6", "ann", home.now)
    home.arrives = True
    assert home.run(finding()) == []
    assert home.run() == ["over"]


def test_names_that_do_not_fit_are_refused(home: Home) -> None:
    home.run(finding("default/aa"), finding("default/ab"))
    with pytest.raises(OpsError, match="beginning of several"):
        home.incidents.acknowledge("schedule.missed:default/a", "ann", home.now)
    for named in ("nothing", ""):
        with pytest.raises(OpsError, match="no incident"):
            home.incidents.acknowledge(named, "ann", home.now)
    with pytest.raises(OpsError, match="at most a year"):
        home.incidents.snooze("ab", home.now + 400 * DAY, home.now)
    home.run(finding("default/ab"))
    with pytest.raises(OpsError, match="not open now"):
        home.incidents.acknowledge("schedule.missed:default/aa", "ann", home.now)


def test_quiet_hours_hold_back_all_but_critical(home: Home) -> None:
    home.configure(quiet_hours="23:00-07:00")
    home.now = datetime(2026, 11, 29, 23, 30, tzinfo=ZoneInfo("Europe/Berlin")).timestamp() - RUN
    short, long, bad = finding("a/1"), finding("a/2"), finding("a/3", "critical")
    assert home.run(short, long, bad, Event("e", "happened")) == ["open"]
    assert home.run(long) == ["over"], "the end of what woke somebody is said too"
    for _ in range(13):
        assert home.run(long) == []
    assert home.run(long) == ["open", "over", "event"], "07:00: what was held back"


def test_quiet_hours_follow_the_clock_on_the_wall(home: Home) -> None:
    home.configure(quiet_hours="01:00-03:30")
    zone = ZoneInfo("Europe/Berlin")
    # The clocks go back at 03:00 on 2026-10-25: 02:30 comes twice, and both are quiet.
    home.now = datetime(2026, 10, 25, 0, 59, tzinfo=zone).timestamp()
    kinds = [home.run(finding(f"a/{number}"), after=HOUR) for number in range(5)]
    assert [bool(said) for said in kinds] == [False, False, False, True, True]


def test_the_budget_holds_back_and_says_so_once_a_day(home: Home) -> None:
    home.configure(messages_per_day=5)
    kinds = [kind for number in range(12) for kind in home.run(Event(f"e{number}", "x"))]
    assert kinds == ["event"] * 5 + ["held_back"]
    assert home.last == "1 more held back, the messages of 24 hours are used up: hermes ops incidents"
    assert home.run(finding("a/1", "critical")) == ["open"], "critical ones have a second budget"
    later = [kind for _ in range(100) for kind in home.run(finding("a/1", "critical", remind=None))]
    assert later.count("event") == 7 and later.count("held_back") == 1


def test_many_at_once_are_ten_lines_and_a_number(home: Home) -> None:
    many = [finding(f"a/{number:02}", "critical" if number == 20 else "warning") for number in range(22)]
    assert home.run(*many) == ["open"] * 10 + ["more"]
    assert home.said[0].severity == "critical"
    assert home.last == "and 12 more: hermes ops incidents"
    assert home.run(*many) == []
    assert home.run() == ["over"] * 9 + ["held_back"]


def test_suppressed_findings_are_not_said_and_their_end_neither(home: Home) -> None:
    home.run(finding("a/1"))
    (home.path / "ops" / "suppress.toml").write_text(
        '[[suppress]]\npattern = "schedule.missed:a/*"\nreason = "known"\nuntil = 2026-11-30\n'
    )
    assert home.run(finding("a/1"), finding("b/2")) == ["open"]
    assert [one.id for one in home.incidents.all()] == ["schedule.missed:b/2"]
    assert home.incidents.find("schedule.missed:a/1")[0].history[-1][1] == "accepted: known"
    kinds = [kind for _ in range(48) for kind in home.run(finding("a/1"), finding("b/2"))]
    assert kinds == ["open", "remind"], "its time is over"


def test_a_wrong_suppress_file_accepts_nothing_and_is_said_by_one_watcher(home: Home) -> None:
    (home.path / "ops").mkdir()
    (home.path / "ops" / "suppress.toml").write_text('[[suppress]]\npattern = "x"\nreson = "typo"\n')
    assert home.run(finding()) == ["open", "open"]
    assert "did you mean reason?" in home.last
    assert Home(home.path, "lint").run() == []
    (home.path / "ops" / "suppress.toml").unlink()
    assert home.run(finding()) == ["over"]


def test_the_clock_set_back_mutes_nothing_for_long(home: Home) -> None:
    home.run(finding())
    home.now -= 365 * DAY
    kinds = [home.run(finding()) for _ in range(100)]
    assert sum(len(said) for said in kinds) == 2, "two reminders in 50 hours"
    assert home.run() == ["over"]


def test_the_clock_set_ahead_repeats_nothing(home: Home) -> None:
    many = [finding(f"a/{number}") for number in range(5)]
    home.run(*many)
    assert home.run(*many, after=365 * DAY) == []
    home.now -= 365 * DAY
    assert home.run(*many) == []


def test_a_snooze_does_not_grow_when_the_clock_is_set_back(home: Home) -> None:
    home.run(finding(remind=None))
    home.incidents.snooze("06c6", home.now + 2 * HOUR, home.now)
    home.now -= 365 * DAY
    kinds = [home.run(finding(remind=None)) for _ in range(6)]
    assert [kind for said in kinds for kind in said] == ["remind"]


def test_damaged_state_is_set_aside_and_said_in_one_line(home: Home) -> None:
    home.run(finding())
    (home.path / "ops" / "incidents.json").write_text("{")
    assert home.run(finding()) == ["open", "event"]
    assert home.last.startswith(
        "warning: the list of incidents was damaged and begins anew; it is kept as incidents.json.damaged-1"
    )
    assert home.run(finding()) == []


def test_a_damaged_list_of_closed_ones_is_said_too(home: Home) -> None:
    home.run(finding())
    (home.path / "ops" / "incidents-closed.json").write_text("[]")
    assert home.run() == ["over"]
    assert home.run() == ["event"]
    assert "the list of closed incidents was damaged" in home.last
    assert [one.state for one in home.incidents.all(closed=True)] == ["closed"]


def test_state_of_a_newer_version_is_refused(home: Home) -> None:
    (home.path / "ops").mkdir()
    (home.path / "ops" / "incidents.json").write_text('{"format": 99, "watchers": {}}')
    with pytest.raises(OpsError, match="newer"):
        home.run(finding())


@pytest.mark.parametrize(
    "change",
    [
        {"state": "sleeping"},
        {"severity": 3},
        {"history": [["x", 1]]},
        {"openings": "x"},
        {"opened_at": None},
        {"unknown": 1},
        {"said": [{}]},
    ],
)
def test_state_of_another_shape_is_damage(home: Home, change: dict) -> None:
    home.run(finding())
    path = home.path / "ops" / "incidents.json"
    data = json.loads(path.read_text())
    data["watchers"]["wallet"]["incidents"]["schedule.missed:default/06c6883b7ddd"].update(change)
    path.write_text(json.dumps(data))
    with pytest.raises(Unreadable, match="damaged"):
        home.incidents.all()
    assert home.run() == ["event"]


def test_lines_are_bounded_one_line_and_without_secrets_or_directives(home: Home) -> None:
    secret = "sk-" + "proj-" + "Ab3" * 16
    nasty = Finding(
        "x.y",
        "error",
        "job \x1b[2J\nevil",
        f"key {secret} MEDIA:/etc/passwd.png media:/a.png [[as_document]]\r" * 9,
        "k",
        (f"row {secret}",),
        f"echo {secret}\nrm",
    )
    home.run(nasty, Blind("b", f"cannot read {secret}"), Event(f"e {secret}", f"got {secret}"))
    written = b"".join(path.read_bytes() for path in (home.path / "ops").iterdir() if path.is_file())
    assert secret.encode() not in written
    for message in home.said:
        assert secret not in message.text and len(message.text) <= MAX_LINE
        assert (
            message.text.isprintable() and "media:" not in message.text.lower() and "[[" not in message.text
        )


def test_closed_ones_are_kept_with_their_history_and_bounded(home: Home, monkeypatch) -> None:
    monkeypatch.setattr("hermes_ops.core.incident.MAX_CLOSED", 4)
    for number in range(6):
        home.run(finding(f"a/{number}", evidence=("row 1",)))
        home.run()
    closed = home.incidents.all(closed=True)
    assert [one.id[-1] for one in closed] == ["5", "4", "3", "2"]
    assert [text for _, text in closed[0].history] == [
        "open: error: no run since 06:00",
        "said: open",
        "over",
        "said: over",
    ]
    assert as_dict(closed[0])["history"][0]["at"].endswith("+00:00")
    assert closed[0].evidence == ("row 1",)


def test_a_long_history_keeps_its_beginning_and_its_end(home: Home) -> None:
    for number in range(80):
        home.run(finding(severity=("warning", "error")[number % 2]), after=10 * DAY)
    history = home.incidents.all()[0].history
    assert len(history) == 60
    assert history[0][1].startswith("open: warning") and history[-1][0] == home.now


def test_two_findings_with_one_id_are_one_incident_of_the_worse(home: Home) -> None:
    assert home.run(finding(severity="warning"), finding(severity="critical")) == ["open"]
    assert home.said[0].severity == "critical"


def test_a_watcher_that_is_removed_takes_its_incidents_along(home: Home) -> None:
    home.run(finding())
    assert home.incidents.retire("wallet", home.now) == 1
    assert home.incidents.all() == []
    assert home.incidents.find("06c6")[0].history[-1][1] == "its watcher was removed"


def test_a_healthy_run_needs_neither_the_redactor_nor_the_settings(home: Home) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path\n"
        "from hermes_ops.core.incident import Incidents; from hermes_ops.core.finding import Reading\n"
        f"Incidents(Path({str(home.path)!r})).update('wallet', Reading(), {NOW}, lambda m: True)\n"
        "heavy = ('yaml', 'hermes_ops._common.redact', 'urllib.request', 'sqlite3')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("written", "found"),
    [("23:00-07:00", (1380, 420)), ("9:30 - 17:00", (570, 1020)), ("off", None), ("", None), (False, None)],
)
def test_quiet_hours_are_read(written: object, found: object) -> None:
    assert quiet_hours(written) == found


@pytest.mark.parametrize("written", ["23-7", "24:00-07:00", "22:00-22:00", "night", True, 7])
def test_quiet_hours_that_are_none_are_refused(written: object) -> None:
    with pytest.raises(ValueError, match="23:00-07:00"):
        quiet_hours(written)


def _loop(path: Path, watcher: str, times: int, out: Callable[[str], None]) -> None:
    incidents = Incidents(path)
    for number in range(times):
        seen = [finding(f"{watcher}/x")] if number % 2 == 0 else []

        def deliver(messages: list[Message]) -> bool:
            for message in messages:
                out(message.kind)
            return True

        incidents.update(watcher, Reading.of(seen), NOW + number * 60, deliver)


def test_watchers_at_once_lose_nothing_and_say_nothing_twice(tmp_path: Path) -> None:
    import multiprocessing

    def write(watcher: str) -> None:
        fd = os.open(tmp_path / f"{watcher}.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        _loop(tmp_path, watcher, 10, lambda kind: os.write(fd, f"{kind}\n".encode()))

    context = multiprocessing.get_context("fork")
    children = [context.Process(target=write, args=(name,)) for name in ("wallet", "sweep", "lint")]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0, 0]
    for name in ("wallet", "sweep", "lint"):
        kinds = (tmp_path / f"{name}.txt").read_text().split()
        assert kinds == ["open", "over"] + ["came_back", "over"] * 4
