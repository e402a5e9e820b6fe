"""What thinking costs a day: differences of running totals, estimates that are called so, and its caps."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops.core.watch import Context
from hermes_ops.settings import load
from hermes_ops.spend import thinking
from hermes_ops.spend.thinking import Watched, reasoning_share, use_of_day, watched
from tests.ops.made import BERLIN, Home, at, spent

DAY = "2026-11-29"


@dataclass(frozen=True)
class Price:
    input: float = 1.0
    output: float = 4.0
    cache_read: float | None = 0.1
    cache_write: float | None = None


def row(model="m", task="", price="estimated", **counts):
    return spent(model, "openrouter", task, price, **counts)


LISTED = Price()


def used(*rows, watch=(), price=LISTED, label=DAY):
    return use_of_day(label, rows, watch, lambda model, provider: price)


def test_reasoning_costs_its_share_of_the_row_at_the_output_price():
    use = used(row(usd=0.6, calls=3, input=200_000, output=100_000, reasoning=50_000))
    # 0.2 + 0.4 dollars, of which half of the output is reasoning
    assert use.reasoning_usd == pytest.approx(0.2) and use.thinking_usd == pytest.approx(0.2)
    assert not use.thinking_lower_bound and use.usd == 0.6


def test_an_actual_bill_is_shared_out_the_same_way():
    use = used(row(usd=0.06, calls=3, input=200_000, output=100_000, reasoning=50_000, price="actual"))
    assert use.reasoning_usd == pytest.approx(0.02)


@pytest.mark.parametrize("price", [None, Price(cache_read=None), Price(0.0, 0.0, 0.0)])
def test_without_a_price_the_tokens_are_told_and_no_dollars_are_made_up(price):
    use = used(row(usd=0.5, calls=1, input=10, output=10, cache_read=10, reasoning=5), price=price)
    assert use.reasoning_usd == 0.0 and use.reasoning_unknown == 5 and use.thinking_lower_bound


def test_included_and_unpriced_use_is_not_free():
    use = used(
        row(calls=9, input=10, output=100, reasoning=80, included_tokens=110, price="included"),
        row("n", calls=2, input=10, output=100, reasoning=70, unknown_calls=2, price="unknown"),
    )
    assert (use.reasoning_included, use.reasoning_unknown, use.thinking_usd) == (80, 70, 0.0)
    assert use.thinking_lower_bound and use.lower_bound and use.included_tokens == 110
    lines = "\n".join(thinking.explain(use))
    assert "80 reasoning tokens are included in a plan" in lines
    assert "70 reasoning tokens have no known price" in lines


def test_a_watched_model_counts_as_a_whole_from_its_date_on_and_once():
    watch = (Watched("minimax-m3", "2026-11-29"), Watched("other"))
    rows = [row("minimax/minimax-m3", usd=1.0, calls=50, output=100, input=1, reasoning=90)]
    assert used(*rows, watch=watch).thinking_usd == 1.0
    assert used(*rows, watch=watch).watched_models == {"minimax/minimax-m3": 1.0}
    before = used(*rows, watch=watch, label="2026-11-28")
    assert before.watched_usd == 0.0 and 0 < before.reasoning_usd < 1.0
    assert used(row("minimax-m30", usd=1.0, calls=1), watch=watch).thinking_usd == 0.0


def test_auxiliary_tasks_are_told_and_the_unattributed_rest_is_none():
    rest = row("(unattributed)", "(unattributed)", usd=0.9, calls=0)
    use = used(row(task="compression", usd=0.02, calls=1, unknown_calls=1, price="unknown"), rest)
    assert use.tasks == {"compression": (1, 0.02, True)} and use.usd == pytest.approx(0.92)


def test_a_row_with_impossible_numbers_is_left_out_and_said():
    use = used(row(usd=float("nan"), calls=1), row(usd=0.1, calls=1))
    assert use.bad == 1 and use.usd == pytest.approx(0.1)


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_the_share_of_reasoning_is_a_share(new, out, read, reasoning):
    share = reasoning_share(row(input=new, output=out, cache_read=read, reasoning=reasoning), Price())
    assert share is not None and 0 <= share <= 1 + 1e-9
    exact = reasoning_share(row(input=0, output=out, reasoning=out), Price())
    assert exact == pytest.approx(1.0)


def test_the_list_of_watched_models_is_checked():
    both = watched("m3 since 2026-11-20, other")
    assert both == (Watched("m3", "2026-11-20"), Watched("other"))
    assert watched([{"model": "m3", "since": "2026-11-20"}, "other"]) == both
    for wrong in (5, [{"name": "m3"}], ["m3 since last week"]):
        with pytest.raises(ValueError):
            watched(wrong)


# --- over a home


@pytest.fixture
def home(tmp_path, monkeypatch):
    made = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(made.path))
    return made


def looked(home, now):
    context = Context(home.path, now)
    try:
        return thinking.watch(context)
    finally:
        context.close()


def totals(home, usd, calls, seen, *, compression):
    """The two rows of one long session and a plan, as running totals."""
    with sqlite3.connect(home.path / "state.db") as db:
        db.execute("DELETE FROM session_model_usage")
        db.executemany(
            "INSERT INTO session_model_usage(session_id, model, billing_provider, task, api_call_count,"
            " estimated_cost_usd, cost_status, first_seen, last_seen) VALUES(?,?,?,?,?,?,?,?,?)",
            [
                ("long", "minimax/minimax-m3", "openrouter", "", calls, usd, "estimated", 1795046400.0, seen),
                ("long", "glm", "openrouter", "compression", 10, compression, None, 1795132800.0, seen),
                ("plan", "sub", "anthropic", "", 9, 0.0, "included", 1795739600.0, 1795739700.0),
            ],
        )
        session = ("long", "telegram", 1795046400.0)
        db.execute("INSERT OR IGNORE INTO sessions(id, source, started_at) VALUES(?, ?, ?)", session)
    db.close()


def test_lifetime_totals_are_no_day_and_the_difference_is(home):
    """Eleven dollars in a life, one of them on the day that is asked about."""
    utc = {"timezone": "UTC"}
    home.config |= utc
    home.configure({"thinking": {"watch": ["minimax-m3"]}})
    first, second = 1795820400.0, 1795906800.0  # 23:00 of two days
    totals(home, 10.0, 500, 1795817600.0, compression=0.18)
    assert looked(home, first).findings == ()
    totals(home, 11.0, 550, 1795874000.0, compression=0.20)
    [finding] = looked(home, second).findings
    assert finding.id == "thinking.over:default/thinking"
    assert "$1.00" in finding.text and "$0.40" in finding.text
    assert any("compression" in line and ">= $0.02" in line for line in finding.evidence)


def test_days_are_those_of_the_zone_and_today_is_partial(home, capsys, monkeypatch):
    home.configure({"thinking": {"watch": ["m"], "cap_usd": 10}})
    looked(home, at("2026-11-28 20:00"))
    home.use("s1", at("2026-11-28 23:30"), 0.3)  # 22:30 UTC
    looked(home, at("2026-11-28 23:50"))
    home.use("s2", at("2026-11-29 00:30"), 0.5)  # 23:30 UTC of the day before
    now = at("2026-11-29 05:45")
    [finding] = looked(home, now).findings
    assert "$0.50 today until 2026-11-29 05:45 CET" in finding.text
    monkeypatch.setattr("hermes_ops.commands.thinking.time.time", lambda: now)
    assert cli.main(["thinking", "--json"]) == 1
    days = {one["day"]: one["thinking_usd"] for one in json.loads(capsys.readouterr().out)["days"]}
    assert days == {"2026-11-28": pytest.approx(0.3), "2026-11-29": pytest.approx(0.5)}
    assert cli.main(["thinking"]) == 1
    out = capsys.readouterr().out
    assert "2026-11-29 so far" in out and "1 full day" in out and "$0.30" in out


def test_the_total_has_a_cap_of_its_own_and_below_both_it_is_silent(home):
    home.configure({})
    looked(home, at("2026-11-28 20:00"))
    home.use("s", at("2026-11-28 21:00"), 1.4)
    looked(home, at("2026-11-28 22:00"))
    assert looked(home, at("2026-11-29 05:45")).findings == ()
    home.use("s", at("2026-11-29 06:00"), 1.6)
    [finding] = looked(home, at("2026-11-29 07:00")).findings
    assert finding.id == "thinking.total:default/total"


def test_use_between_snapshots_days_apart_is_said_to_be_unknown_by_day(home, capsys, monkeypatch):
    home.configure({"thinking": {"watch": ["m"]}})
    home.use("s", at("2026-11-20 10:00"), 0.1, first=at("2026-11-10 10:00"))
    looked(home, at("2026-11-27 20:00"))
    home.use("s", at("2026-11-29 20:00"), 0.9)
    now = at("2026-11-29 21:00")
    reading = looked(home, now)
    assert reading.findings == () and [one.key for one in reading.blind] == ["thinking.days"]
    assert "$0.90" in reading.blind[0].text and "not known" in reading.blind[0].text
    monkeypatch.setattr("hermes_ops.commands.thinking.time.time", lambda: now)
    assert cli.main(["thinking"]) == 1
    assert "no one day" in capsys.readouterr().out


def test_the_command_refuses_what_is_no_number_of_days_and_says_what_is_set_wrong(home, capsys):
    assert cli.main(["thinking", "--days", "0"]) == 2
    home.configure({"thinking": {"watch": ["m since then"]}})
    assert load(home.path, thinking.OPTIONS).problems
    assert cli.main(["thinking"]) == 1
    assert "is no date" in capsys.readouterr().out
    assert BERLIN.key in str(home.config)
