"""Incidents over random runs: findings that come and go, clocks that jump, deliveries that fail."""

from __future__ import annotations

import json
import math
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops._common.files import write_atomic
from hermes_ops.core import state
from hermes_ops.core.finding import DAY, Blind, Event, Finding, Reading
from hermes_ops.core.incident import Incidents, Message

pytest.importorskip("yaml")
pytestmark = pytest.mark.once

NOW = 1_796_000_000.0
RUN = 1800.0
KEYS = {"a/1": (1, 1), "a/2": (3, 1), "b/1": (1, 2), "b/2": (2, 3)}  # key -> runs it must hold, runs to clear
OPENING, END = ("open", "came_back", "blind"), ("over", "sees_again")


@dataclass(frozen=True)
class Step:
    """One run: what is seen (key -> severity) and blind, seconds since the last, whether words arrive."""

    seen: dict[str, str]
    blind: str | None
    after: float
    arrives: bool | None
    settle: bool | None


AFTER = st.one_of(
    st.just(RUN),
    st.just(RUN),
    st.sampled_from([0.0, 60.0, 7 * RUN, DAY, 400 * DAY, -RUN, -DAY, -400 * DAY]),
)


def steps(
    arrives: st.SearchStrategy[bool | None], settled: st.SearchStrategy[bool | None]
) -> st.SearchStrategy:
    step = st.builds(
        Step,
        seen=st.dictionaries(st.sampled_from(list(KEYS)), st.sampled_from(["warning", "error", "critical"])),
        blind=st.sampled_from([None, None, None, "", "x.y:a/"]),
        after=AFTER,
        arrives=arrives,
        settle=settled,
    )
    return st.lists(step, max_size=25)


@pytest.fixture(autouse=True, scope="module")
def fast_disk():
    """Not waiting for the disk: power does not fail here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            state, "write_atomic", lambda path, data, durable: write_atomic(path, data, durable=False)
        )
        yield


@dataclass
class World:
    """A home, and what has arrived: kinds in order for each incident."""

    home: Path
    now: float = NOW
    clock: float = 0.0
    number: int = 0
    arrived: dict[str, list[tuple[int, Message]]] = field(default_factory=lambda: defaultdict(list))
    lines: list[tuple[float, Message]] = field(default_factory=list)
    printed: dict[float, tuple[int, list[Message]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.incidents = Incidents(self.home)

    def run(self, step: Step, events: tuple[Event, ...] = ()) -> None:
        self.number += 1
        self.now += step.after
        self.clock += min(max(0.0, step.after), 6 * 3600.0)
        if step.settle is not None:
            self.settle(step.settle)
        findings = [
            Finding("x.y", severity, "", "text", key, holds=KEYS[key][0], clears=KEYS[key][1])
            for key, severity in step.seen.items()
        ]
        blind = [] if step.blind is None else [Blind("source", "dark", covers=step.blind)]
        before = self.open()

        def deliver(messages: list[Message]) -> bool | None:
            if step.arrives is None:
                assert self.now not in self.printed
                self.printed[self.now] = self.number, messages
            elif step.arrives:
                self.arrive(messages, self.number)
            return step.arrives

        self.incidents.update("wallet", Reading.of(findings, blind, events), self.now, deliver)
        if step.blind is not None:
            covered = {id for id in before if id.startswith(step.blind)}
            assert covered <= self.open(), "blind never closes"

    def settle(self, arrived: bool) -> None:
        said_at = self.incidents.unsettled("wallet")
        if said_at is not None:
            self.incidents.settle("wallet", arrived, said_at)
            number, messages = self.printed.pop(said_at, (0, []))
            if arrived:
                self.arrive(messages, number)

    def arrive(self, messages: list[Message], number: int) -> None:
        """It arrived when it was said, whenever that became known."""
        for message in messages:
            self.lines.append((self.clock, message))
            self.arrived[message.incident].append((number, message))
            self.arrived[message.incident].sort(key=lambda one: one[0])

    def open(self) -> set[str]:
        return {one.id for one in self.incidents.all() if one.state in ("open", "acknowledged")}


def quiet(seen: dict[str, str]) -> Step:
    return Step(seen, None, RUN, True, True)


@settings(max_examples=40, deadline=None)
@given(steps(st.booleans(), st.none()))
def test_what_arrives_is_a_true_story(run: list[Step]) -> None:
    """Openings and ends alternate, an end without an opening tells both, what is open now has been told."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        (world.home / "config.yaml").write_text(json.dumps({"ops": {"messages_per_day": 1000}}))
        for step in run:
            world.run(step)
        last = run[-1].seen if run else {}
        for _ in range(3):
            world.run(quiet(last))
        told = {id for id, messages in world.arrived.items() if messages[-1][1].kind not in END}
        assert told == world.open(), "what is open is told, and what is told open is open"
        for _ in range(4):
            world.run(quiet({}))
        assert world.incidents.all() == []
        for id, messages in world.arrived.items():
            is_open = False
            for _, message in messages:
                if message.kind in OPENING:
                    assert not is_open, f"two openings of {id}"
                    is_open = True
                elif message.kind in END:
                    assert is_open != ("before this could be said" in message.text), "an end tells an opening"
                    is_open = False
                else:
                    assert is_open, f"{message.kind} of what nobody was told of"
            assert not is_open, "the end is told"


@settings(max_examples=30, deadline=None)
@given(steps(st.sampled_from([True, False, None, None]), st.sampled_from([None, True, False])))
def test_in_the_end_everybody_knows_what_is(run: list[Step]) -> None:
    """Whatever was printed and lost: once deliveries work, who reads the messages knows what is open."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        (world.home / "config.yaml").write_text(json.dumps({"ops": {"messages_per_day": 1000}}))
        for step in run:
            if step.arrives is None and step.after <= 0:
                continue  # two outputs of one instant are not told apart, and a host has no such
            if step.arrives is None and world.now + step.after in world.printed:
                continue
            world.run(step)
        while world.incidents.unsettled("wallet") is not None:
            world.settle(False)
        last = run[-1].seen if run else {}
        for _ in range(3):
            world.run(quiet(last))
        for id in world.open():
            assert world.arrived[id] and world.arrived[id][-1][1].kind not in END
        for _ in range(4):
            world.run(quiet({}))
        assert world.incidents.all() == []
        for messages in world.arrived.values():
            assert messages[-1][1].kind in END


@settings(max_examples=25, deadline=None)
@given(steps(st.booleans(), st.none()), st.integers(1, 6))
def test_the_number_of_lines_is_bounded_whatever_the_clock_does(run: list[Step], budget: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        (world.home / "config.yaml").write_text(json.dumps({"ops": {"messages_per_day": budget}}))
        for number, step in enumerate(run):
            world.run(step, tuple(Event(f"{number}.{each}", "x") for each in range(number % 4)))
        days = math.floor(world.clock / DAY) + 1
        told = [message for _, message in world.lines]
        assert sum(one.severity != "critical" and one.kind != "held_back" for one in told) <= budget * days
        assert sum(one.kind != "held_back" for one in told) <= 2 * budget * days
        assert sum(one.kind == "held_back" for one in told) <= days
        for id in {message.incident for message in told}:
            reminders = [
                at for at, message in world.lines if (message.incident, message.kind) == (id, "remind")
            ]
            assert len(reminders) <= world.clock / (0.9 * DAY)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=25))
def test_every_event_is_told_once(run: list[tuple[bool, bool]]) -> None:
    """(happens, arrives): nothing is told twice, and all of it is told once deliveries work."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        (world.home / "config.yaml").write_text(json.dumps({"ops": {"messages_per_day": 1000}}))
        happened = []
        for number, (happens, arrives) in enumerate(run):
            if happens:
                happened.append(Event(f"e{number}", "x"))
            world.run(Step({}, None, RUN, arrives, None), tuple(happened[-5:]))
        for _ in range(4):
            world.run(quiet({}), tuple(happened[-5:]))
        texts = [message for _, message in world.lines if message.kind == "event"]
        more = sum(int(one.text.split()[1]) for _, one in world.lines if one.kind == "more")
        assert len(texts) + more == len(happened)
        assert len({one.incident for one in texts}) == len(texts)
