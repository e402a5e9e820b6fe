"""What the real host books, read back: talk, auxiliary calls, helpers, and a writer that never pauses."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timezone
from typing import Any

import pytest

from hermes_ops.core.ledger import Ledger
from hermes_ops.core.watch import Context
from hermes_ops.host.database import reading
from hermes_ops.host.usage import UNATTRIBUTED, database, parents, root, session, usage_rows
from hermes_ops.spend.attribution import top_burners
from tests.host.hermes import HermesHome, Interactive
from tests.host.model_server import ModelServer, auxiliary_route
from tests.host.ops_host import CHECKOUT, Host

pytestmark = pytest.mark.host

JOB = "06c6883b7ddd"
RUN = f"cron_{JOB}_20261127_060000"
USAGE = {"prompt_tokens": 1200, "completion_tokens": 34, "cached_tokens": 200, "reasoning_tokens": 4}
TITLE = {"prompt_tokens": 70, "completion_tokens": 5}
ALWAYS = (0.0, 4e9)


@pytest.fixture(scope="module")
def home() -> Iterator[HermesHome]:
    routes = [
        auxiliary_route(usage=TITLE),
        {"name": "hello", "when": {}, "turns": [{"text": "Hello.", "usage": USAGE}], "repeat": True},
    ]
    with ModelServer(routes) as model, HermesHome(model.url) as made:
        # A zone in which it is about noon: no row lives across midnight.
        offset = 12 - datetime.now(timezone.utc).hour
        made.configure({"timezone": f"Etc/GMT{-offset:+d}" if offset else "UTC"})
        yield made


@pytest.fixture(scope="module")
def host(home: HermesHome) -> Iterator[Host]:
    with Host(home) as started:
        yield started


def use(host: Host, session_id: str, model: str, usd: float | None, calls: int = 1, **more: Any) -> None:
    """One answer of a model, with a price or without."""
    status = {"estimated_cost_usd": usd, "cost_status": "unknown" if usd is None else "estimated"}
    named = {"model": model, "input_tokens": 100, "output_tokens": 10, "api_call_count": calls}
    host.ask("book", "update_token_counts", session_id, **{**named, **status, **more})


@pytest.fixture
def ledger(home: HermesHome) -> Iterator[Ledger]:
    with closing(Ledger.open(home.path)) as opened:
        yield opened


def costs(home: HermesHome, *arguments: str) -> dict:
    environment = {**os.environ, **home.environment(), "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-m", "hermes_ops", "costs", "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_conversation_and_its_title_are_booked_under_one_provider(home, ledger):
    with Interactive(home) as chat:
        chat.wait_until_idle()
        chat.ask("Hello?", "Hello.")
        limit = time.monotonic() + 20
        while "title_generation" not in (rows := {row.task: row for row in usage_rows(home.path)}):
            assert time.monotonic() < limit, "the host has booked no title"
            time.sleep(0.1)
        chat.quit()
    main, title = rows[""], rows["title_generation"]
    assert (main.calls, main.input, main.cache_read, main.output) == (1, 1000, 200, 34)
    assert (main.provider, title.provider, main.base_url) == ("custom", "auto", title.base_url)
    assert main.status == "unknown" and title.status == ""
    assert UNATTRIBUTED not in rows
    ledger.collect(time.time())
    [provider] = ledger.spent(("provider",), *ALWAYS)
    assert provider.group == ("custom",) and provider.input == 1000 + TITLE["prompt_tokens"]
    found = costs(home)
    assert found["total"]["usd"] is None and found["total"]["reason"] == "no price"
    assert found["total"]["reasoning"] == 4 and found["total"]["calls"] == 2
    assert found["by_day"][-1]["tokens"] == found["total"]["tokens"] == 1234 + 75
    [shown] = found["by_session"]["rows"]
    assert shown["name"] == main.session_id and shown["source"] == session(home.path, main.session_id).source


def test_growth_between_two_looks_is_what_is_reported(home, host, ledger):
    host.ask("book", "create_session", RUN, "cron")
    host.ask("book", "create_session", "continued", "cron", parent_session_id=RUN)
    host.ask("book", "create_session", "helper", "subagent", parent_session_id="continued")
    for name, usd in ((RUN, 0.1), ("continued", 0.2), ("helper", 0.3)):
        use(host, name, "a/b", usd, billing_provider="openrouter")
    with reading(database(home.path)) as connection:
        assert root("helper", parents(connection)) == RUN
    before = time.time()
    ledger.collect(before)
    use(host, "helper", "a/b", 0.25, billing_provider="openrouter")
    use(host, RUN, "c/d", None, calls=2, billing_provider="custom", billing_base_url="http://h/v1")
    auxiliary = {"model": "c/d", "billing_provider": "auto", "billing_base_url": "http://h/v1/"}
    more = {"input_tokens": 500, "estimated_cost_usd": 0.02, **auxiliary}
    host.ask("book", "record_auxiliary_usage", RUN, "compression", **more)
    collected = ledger.collect(time.time())
    assert (collected.usage_rows, collected.resets, collected.blind) == (3, 0, ())
    [job] = [spent for spent in ledger.spent(("job",), before, 4e9) if spent.group[0]]
    assert (job.group, job.calls, job.unknown_calls) == ((JOB,), 4, 3)
    assert job.usd == pytest.approx(0.27)
    tasks = {spent.group: spent for spent in ledger.spent(("provider", "task"), before, 4e9)}
    assert tasks["custom", "compression"].input == 500 and tasks["openrouter", ""].usd == pytest.approx(0.25)
    context = Context(home.path, time.time())
    with closing(context):
        first, *_ = top_burners(ledger, context, before, 4e9)
    assert first.command == f"hermes cron pause {JOB}" and first.unknown


def test_totals_set_without_rows_are_use_without_a_model(home, host, ledger):
    host.ask("book", "create_session", "absolute", "telegram")
    use(host, "absolute", "m", 0.9, absolute=True)
    ledger.collect(time.time())
    [spent] = [one for one in ledger.spent(("session", "model"), *ALWAYS) if one.group[0] == "absolute"]
    assert spent.group == ("absolute", UNATTRIBUTED) and spent.usd == pytest.approx(0.9)


def test_a_host_that_keeps_writing_sees_no_error_and_loses_nothing(home, host, ledger):
    host.ask("book", "create_session", "busy", "telegram")
    host.ask("keep_writing", "busy")
    seen = []
    for _ in range(15):
        assert ledger.collect(time.time()).blind == ()
        seen.append(sum(one.calls for one in ledger.spent(("model",), *ALWAYS) if one.group == ("busy",)))
    page = costs(home, "--db", str(home.path / "state.db"))
    written = host.ask("stop_writing")
    assert written["errors"] == [] and written["calls"] > 0
    assert seen == sorted(seen) and page["lifetime"]["total"]["calls"] > 0
    ledger.collect(time.time())
    [busy] = [one for one in ledger.spent(("model",), *ALWAYS) if one.group == ("busy",)]
    assert (busy.calls, busy.input) == (written["calls"], 10 * written["calls"])
    assert busy.usd == pytest.approx(0.001 * written["calls"])
    assert (home.path / "state.db-wal").exists()
    with closing(sqlite3.connect(home.path / "state.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
