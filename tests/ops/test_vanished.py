"""A database that was there and is gone is unknown, everywhere; a home that never had one is quiet."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from hermes_ops import cli
from hermes_ops.core.ledger import DELETED, Ledger
from hermes_ops.core.watch import Context
from hermes_ops.host.profiles import Profile
from hermes_ops.liveness import backup
from hermes_ops.schedule import deliveries
from hermes_ops.spend import budget, thinking
from hermes_ops.spend.wallet import examine
from tests.ops.made import A, Home

HOUR, DAY = 3600.0, 86_400.0
NOW = 1_796_040_000.0  # 2026-11-30 12:00 UTC


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_TIMEZONE", "UTC")
    for name in ("costs", "budget", "backup"):
        monkeypatch.setattr(f"hermes_ops.commands.{name}.time", SimpleNamespace(time=lambda: NOW))
    home = Home(tmp_path / "home", "UTC")
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    home.configure({"budget": {"cap_usd": 10.0}})
    home.job(A)
    return home


@pytest.fixture
def known(home):
    """A home whose use was read an hour ago, with a run, a second profile and a copy."""
    office = Home(home.path / "profiles" / "office", "UTC")
    for one in (home, office):
        one.use(one.ran(A, NOW - 2 * HOUR), NOW - 2 * HOUR + 30, 0.25)
    collected(home, NOW - HOUR)
    backup.back_up(home.path / "ops", Profile("default", home.path), NOW - HOUR)
    return home


def collected(home, now):
    ledger = Ledger.open(home.path)
    try:
        return ledger.collect(now)
    finally:
        ledger.close()


def remove(path: Path) -> None:
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()


def looked(home, watch, now=None):
    context = Context(home.path, now or NOW)
    try:
        return watch(context)
    finally:
        context.close()


def said(capsys, *command):
    code = cli.main(list(command))
    return code, capsys.readouterr().out


@pytest.mark.parametrize("empty", [False, True], ids=["gone", "empty"])
def test_a_database_that_is_gone_is_a_blindness_that_names_it_and_what_to_do(known, empty):
    remove(known.path / "state.db")
    if empty:
        (known.path / "state.db").touch()
    found = collected(known, NOW)
    assert [one.key for one in found.blind] == ["usage/default"]
    assert str(known.path / "state.db") in found.blind[0].text and "gone" in found.blind[0].text
    assert found.blind[0].fix == "hermes ops backup list"
    assert found.unseen(NOW - 60, NOW)


def test_a_database_that_is_there_again_is_read_again(known):
    (known.path / "state.db").rename(known.path / "kept.db")
    assert collected(known, NOW - 60).blind
    (known.path / "kept.db").rename(known.path / "state.db")
    found = collected(known, NOW)
    assert found.blind == () and found.unseen_since is None


def test_a_home_that_never_had_a_database_is_quiet(tmp_path):
    home = Home(tmp_path / "home")
    for name in ("state.db", "cron/executions.db"):
        remove(home.path / name)
    assert collected(home, NOW).blind == ()
    assert backup.watch(Context(home.path, NOW)).findings == ()


def test_every_watcher_of_use_is_blind_and_not_well(known):
    remove(known.path / "state.db")
    for watch, covers in ((budget.watch, "budget."), (thinking.watch, "thinking.")):
        assert [one.covers for one in looked(known, watch).blind] == [covers]
    who = looked(known, lambda context: examine(context).reading(context))
    assert [one.covers for one in who.blind] == ["wallet.who:"]


def test_runs_that_are_gone_are_a_blindness_of_runs(known):
    remove(known.path / "cron" / "executions.db")
    found = collected(known, NOW)
    assert [one.key for one in found.blind] == ["runs/default/executions"] and found.unseen_since is None
    assert looked(known, deliveries.watch).blind
    shutil.copy(known.path / "profiles" / "office" / "cron" / "executions.db", known.path / "cron")
    assert collected(known, NOW).blind == ()


def test_a_profile_that_is_gone_is_told_until_it_counts_as_deleted(known):
    shutil.rmtree(known.path / "profiles" / "office")
    assert [one.key for one in collected(known, NOW).blind] == ["usage/office"]
    assert collected(known, NOW + DELETED).blind == ()


def test_costs_are_a_lower_bound_once_a_database_is_gone(known, capsys):
    remove(known.path / "state.db")
    code, out = said(capsys, "costs", "--days", "2")
    assert code == 1 and "state.db: it was there before and is gone" in out
    assert "total ≥ $0.50" in out


@pytest.mark.parametrize("content", [None, b"", b"no database at all" * 99])
def test_costs_of_which_nothing_was_ever_read_are_unknown(home, capsys, content):
    remove(home.path / "state.db")
    if content is not None:
        (home.path / "state.db").write_bytes(content)
    code, out = said(capsys, "costs", "--days", "3")
    assert code == 1 and "total unknown" in out and "nothing was ever recorded here" in out
    assert "$0.00" not in out and str(home.path) in out
    capsys.readouterr()
    cli.main(["costs", "--days", "3", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["usd"] is None and found["total"]["calls"] is None
    assert [line["reason"] for line in found["by_day"]] == ["not seen"] * 3


def test_the_page_of_what_is_unknown_counts_nothing(home, tmp_path, capsys):
    remove(home.path / "state.db")
    cli.main(["costs", "--days", "3", "--out", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text()
    assert 'data-figure="total.usd"' in page and 'data-figure="total.calls"' not in page
    assert "$0.00" not in page


def test_days_before_the_first_look_are_unknown_unless_something_is_left_of_them(home, capsys):
    home.use("kept", NOW - 2 * DAY, 0.5, source="cli", first=NOW - 2 * DAY)
    cli.main(["costs", "--days", "4", "--json"])
    days = json.loads(capsys.readouterr().out)["by_day"]
    assert [line["usd"] for line in days] == [None, 0.5, None, 0.0]
    assert said(capsys, "costs", "--days", "4")[0] == 0


def test_the_budget_says_that_it_does_not_know(known, capsys):
    remove(known.path / "state.db")
    code, out = said(capsys, "budget")
    assert code == 1 and "is gone" in out and "spent >= $" in out


def test_a_budget_of_which_nothing_can_be_read_is_not_at_nothing(home, capsys):
    remove(home.path / "state.db")
    code, out = said(capsys, "budget")
    assert code == 1 and "spent an unknown sum" in out and "$0.00 of" not in out
    assert cli.main(["budget", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["spent_usd"] is None


def test_a_backup_tells_what_is_gone_and_how_old_its_copy_is(known, capsys):
    remove(known.path / "state.db")
    rules = {one.id for one in looked(known, backup.watch, NOW).findings}
    assert "backup.gone:default" in rules and "backup.stale:default" not in rules
    later = looked(known, backup.watch, NOW + 30 * HOUR).findings
    assert {"backup.gone:default", "backup.stale:default"} <= {one.id for one in later}
    code, out = said(capsys, "backup", "run")
    assert code == 1 and f"FAILED  {known.path / 'state.db'}: it is gone" in out


def test_copies_of_a_profile_that_is_gone_are_told_and_listed(known, capsys):
    office = Profile("office", known.path / "profiles" / "office")
    backup.back_up(known.path / "ops", office, NOW)
    shutil.rmtree(office.home)
    assert "backup.gone:office" in {one.id for one in looked(known, backup.watch).findings}
    code, out = said(capsys, "backup", "list", "--profile", "office")
    assert code == 0 and "backups/office/state-" in out
