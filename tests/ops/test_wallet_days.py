"""A thousand days of an account with faults: what must be told is told, and nothing else."""

import random
from bisect import bisect_right
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.core import incident_rules as rules
from hermes_ops.core.finding import DAY, HOUR
from hermes_ops.core.incident_record import Watched as Memory
from hermes_ops.spend.accounts import Watched
from hermes_ops.spend.balances import Account, Left
from hermes_ops.spend.burn import KEPT_READINGS, Seen, burn
from hermes_ops.spend.wallet_findings import State, judge

ZONE = ZoneInfo("Europe/Berlin")
START = datetime(2026, 1, 1, tzinfo=timezone.utc).timestamp()
FLOOR, LIMIT, PERIOD = 2.0, 1.5, 1800.0
LOW, BURN, BLIND = "wallet.low:default/main", "wallet.burn:default/main", "blind:wallet/default/main"
BUDGET = 20


class Truth:
    """The account as it really is: what was spent when, and what is left."""

    def __init__(self, chance):
        self.chance, self.left = chance, 15.0
        self.times, self.sums = [START], [0.0]
        self.rate, self.rate_until = 0.02, 0.0
        self.bill = 0.0

    def pass_time(self, since, until, catching_up=False):
        chance = self.chance
        if since >= self.rate_until:
            hot = chance.random() < 0.06
            self.rate = chance.uniform(0.1, 0.8) if hot else chance.lognormvariate(-3.9, 0.5)
            self.rate_until = since + (chance.uniform(1, 20) if hot else chance.uniform(6, 40)) * HOUR
        amount = self.rate * (until - since) / HOUR * chance.uniform(0.5, 1.5)
        if catching_up:
            amount += chance.choice((0.1, 0.5, 2.0))
        self.spend(until, amount)

    def spend(self, at, amount):
        amount = min(amount, self.left)
        self.left -= amount
        self.times.append(at)
        self.sums.append(self.sums[-1] + amount)

    def spent(self, since, until):
        def up_to(at):
            return self.sums[max(0, bisect_right(self.times, at) - 1)]

        return up_to(until) - up_to(since)

    def largest_day(self, since, until):
        """The most that any 24 hours ending in [since, until] cost."""
        ends = [at for at in self.times[bisect_right(self.times, since) :] if at <= until]
        return max((self.spent(at - DAY - 1.0, at) for at in [since, *ends, until]), default=0.0)


class Machine:
    """The watcher, its memory and its clock, which may be wrong."""

    def __init__(self, period):
        self.kept = int(KEPT_READINGS * PERIOD / period)
        account = Account("main", "deepseek", "https://a.example", None)
        self.watched = Watched(account, FLOOR, LIMIT, "KEY")
        self.memory, self.readings, self.awake = Memory(), [], []
        self.said = []

    def run(self, now, left):
        self.awake.append(now)
        if left is not None:
            self.readings.append(Seen(now, left))
        summed = burn(self.readings[-self.kept :], self.awake[-1000:], now, ZONE)
        known = None if left is None else Left(left, "USD")
        state = State(self.watched, "default/main", known, "HTTP 500", None, summed)
        reading = judge(state, ZONE)
        rules.advance(self.memory, now, PERIOD)
        rules.give_up_waiting(self.memory)
        rules.take_in(self.memory, reading, now, {}, lambda text, limit: text[:limit])
        said, _ = rules.choose(self.memory, rules.due(self.memory, now, PERIOD), False, BUDGET)
        rules.commit(self.memory, said, now, sure=True)
        self.said += [(now, one.kind, one.incident) for one in said]
        return said

    def is_open(self, id):
        record = self.memory.incidents.get(id)
        return record is not None and record.is_open


def live(seed, days, period):
    """Live through `days`; raises AssertionError where the watcher lies or is silent."""
    chance = random.Random(seed)
    truth, machine = Truth(chance), Machine(period)
    at, end, offset, wrong_until = START, START + days * DAY, 0.0, 0.0
    failing_until, last_read, read_at, unsure_since = 0.0, None, START, START
    clear = []  # (since, until, spent) between two readings that show all of it
    low_seen, failures, rose, told = 0, 0, 0, {"low": 0, "burn": 0, "burst": 0, "calm": 0}
    while at < end:
        step, asleep = period, False
        if chance.random() < 0.004:
            step, asleep = chance.uniform(4, 60) * HOUR, True
        before, at = at, at + step
        truth.pass_time(at - min(step, period), at, catching_up=asleep)
        runs = period / PERIOD
        if chance.random() < (0.03 if truth.left < 1.5 else 0.0004) * runs:
            truth.left += chance.choice((5.0, 10.0, 20.0))
        elif chance.random() < 0.0006 * runs:
            truth.left += chance.uniform(0.02, 0.4)
        if offset and at >= wrong_until:
            offset = 0.0
        elif not offset and chance.random() < 0.0015 * runs:
            offset = chance.choice((3 * HOUR, 3 * DAY, -2 * HOUR, -30 * DAY, 400 * DAY, 100.0 - at))
            wrong_until = at + chance.uniform(1, 12) * HOUR
        if at >= failing_until and chance.random() < 0.004 * runs:
            failing_until = at + chance.uniform(0.2, 30) * HOUR
        fails = at < failing_until
        said = machine.run(at + offset, None if fails else truth.left)
        kinds = [(one.kind, one.incident) for one in said]
        assert len(said) <= rules.MAX_LINES + 1

        if fails:
            failures += 1
            assert machine.is_open(BLIND) == (failures >= 3)
            continue
        assert not machine.is_open(BLIND)
        failures = 0

        # The floor: every crossing at once, its end after two readings, nothing in between.
        low_seen = 0 if truth.left < FLOOR else low_seen + 1
        if truth.left < FLOOR:
            assert machine.is_open(LOW)
            told["low"] += ("open", LOW) in kinds or ("came_back", LOW) in kinds
        elif low_seen >= 2:
            assert not machine.is_open(LOW)

        # Rises: each is told once, when it is read.
        if last_read is not None and truth.left - last_read >= 0.01:
            rose += 1
            assert sum(kind == "event" for kind, _ in kinds) == 1
        else:
            assert all(kind != "event" for kind, _ in kinds)
        if last_read is not None and truth.left <= last_read and (asleep or at - read_at < 2 * period + 1):
            clear.append((read_at, at, truth.spent(read_at, at)))
        last_read, read_at = truth.left, at

        # The burn: what the readings cannot tell (none for a while, a rise, a wrong clock) is given room.
        if offset:
            unsure_since = at
            continue
        certain = sum(amount for since, _, amount in clear[-50:] if since >= max(at - DAY, unsure_since))
        if certain > LIMIT:
            assert machine.is_open(BURN), (at - START) / DAY
        if ("open", BURN) in kinds or ("came_back", BURN) in kinds:
            told["burn"] += 1
            text = machine.memory.incidents[BURN].text
            told["burst"] += "catch-up burst" in text
            room = max(2 * period, at - before) + 36 * HOUR
            assert truth.largest_day(at - room, at) >= LIMIT * 0.9, (at - START) / DAY
        told["calm"] += not kinds
    lines = [now for now, _, _ in machine.said]
    return truth, machine, told, rose, lines


@pytest.mark.once
def test_a_thousand_days_are_told_truly_and_in_few_words():
    total = {"low": 0, "burn": 0, "burst": 0, "calm": 0}
    rises = lines = 0
    for seed, days, period in ((1, 485, 2.8 * HOUR), (2, 485, 2.8 * HOUR), (3, 30, PERIOD)):
        _, machine, told, rose, said = live(seed, days, period)
        total = {key: total[key] + told[key] for key in total}
        rises, lines = rises + rose, lines + len(said)
        events = [id for _, kind, id in machine.said if kind == "event"]
        assert len(events) == len(set(events)) == rose
        clock = machine.memory.lines
        assert all(sum(1 for other in clock if 0 <= other - one < DAY) <= 2 * BUDGET for one in clock)
    assert lines <= 3 * 1000, "at most three lines a day"
    assert min(total["low"], total["burn"], rises) >= 20 and total["burst"] >= 3, total
    assert total["calm"] > 5000
