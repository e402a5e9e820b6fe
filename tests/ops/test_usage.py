"""Use as the host keeps it: running totals, residuals, plans, prices that are not known, older schemas."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops.host.database import reading
from hermes_ops.host.usage import (
    UNATTRIBUTED,
    Faults,
    billed_by,
    database,
    job_of,
    normal_url,
    parents,
    providers_by_url,
    root,
    session,
    usage_rows,
)
from tests.ops.state_databases import EVENING, JOB, NOON, StateDatabase, evening_home

NARROW = """
CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, started_at REAL);
CREATE TABLE session_model_usage(session_id TEXT, model TEXT, billing_provider TEXT, input_tokens INTEGER,
  output_tokens INTEGER, estimated_cost_usd REAL, first_seen REAL, last_seen REAL);
"""


@pytest.fixture
def evening(tmp_path):
    state = evening_home(tmp_path)
    yield tmp_path
    state.close()


def root_of(home, session_id):
    """The first session of a chain of parents, as the ledger finds it."""
    path = database(home)
    if not path.exists():
        return session_id
    with reading(path) as connection:
        return root(session_id, parents(connection))


def test_rows_are_totals_of_their_whole_life(evening):
    rows = {(row.session_id, row.task): row for row in usage_rows(evening)}
    chat = rows["long_chat", ""]
    assert (chat.calls, chat.estimated_usd, chat.status) == (500, 10.0, "estimated")
    assert chat.last_seen - chat.first_seen > 8 * 86400
    assert rows["long_chat", "compression"].status == ""


def test_what_a_session_holds_beyond_its_rows_is_a_row_without_a_model(evening):
    [row] = [row for row in usage_rows(evening) if row.task == UNATTRIBUTED]
    assert (row.session_id, row.model, row.estimated_usd) == ("totals_only", UNATTRIBUTED, 0.9)


def test_a_residual_is_never_negative_and_counts_auxiliary_rows_as_the_host_does(tmp_path):
    state = StateDatabase(tmp_path)
    state.session("a", NOON, estimated_cost_usd=1.0, input_tokens=100, output_tokens=5)
    state.use("a", NOON, usd=0.7, input=150, output=5, calls=1)
    state.use("a", NOON, task="vision", usd=0.1, calls=1)
    residual = [row for row in usage_rows(tmp_path) if row.task == UNATTRIBUTED]
    assert len(residual) == 1
    assert residual[0].estimated_usd == pytest.approx(0.2)
    assert (residual[0].input, residual[0].output, residual[0].calls) == (0, 0, 0)


def test_only_what_was_seen_since_is_read_with_the_sessions_that_began(evening):
    rows = list(usage_rows(evening, since=EVENING - 3000))
    assert [(row.session_id, row.task) for row in rows] == [("long_chat", "")]
    assert {row.session_id for row in usage_rows(evening, since=NOON - 42200)} >= {"totals_only", "helper"}


def test_rows_without_usable_numbers_are_left_out_and_counted(tmp_path):
    state = StateDatabase(tmp_path)
    state.session("a", NOON)
    state.use("a", NOON, calls=1, input=5)
    for i, value in enumerate(["many", -5, float("inf"), b"\x01", 2**62]):
        state.put("a", NOON, NOON, model=f"m{i}", input_tokens=value)
    state.put("a", NOON, NOON, model="nan", estimated_cost_usd=0.5, cost_status=None)
    faults = Faults()
    rows = list(usage_rows(tmp_path, faults=faults))
    assert {row.model for row in rows} == {"m", "nan"}
    assert (faults.bad, faults.read) == (5, 7) and "session a" in faults.examples[0]


def test_a_time_that_is_none_is_unknown(tmp_path):
    state = StateDatabase(tmp_path)
    state.session("a", NOON)
    state.put("a", "yesterday", None, input_tokens=3)
    [row] = usage_rows(tmp_path)
    assert (row.first_seen, row.last_seen, row.input) == (None, None, 3)


def test_an_older_narrower_table_is_read_as_far_as_it_goes(tmp_path):
    state = StateDatabase(tmp_path, NARROW)
    state.connection.execute("INSERT INTO sessions VALUES('a', 'cli', ?)", (NOON,))
    state.connection.execute(
        "INSERT INTO session_model_usage VALUES('a', 'm', 'openrouter', 10, 2, 0.5, ?, ?)", (NOON, NOON)
    )
    [row] = usage_rows(tmp_path)
    assert dataclasses.astuple(row) == (
        "a", "m", "openrouter", "", "", "", 0, 10, 2, 0, 0, 0, 0.5, 0.0, "", NOON, NOON
    )  # fmt: skip
    assert session(tmp_path, "a").parent_id is None and root_of(tmp_path, "a") == "a"


def test_no_database_is_no_rows(tmp_path):
    assert list(usage_rows(tmp_path)) == [] and session(tmp_path, "a") is None
    assert root_of(tmp_path, "a") == "a"


def test_rows_are_read_in_pages_and_none_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes_ops.host.usage._PAGE", 7)
    state = StateDatabase(tmp_path)
    for i in range(30):
        state.session(f"s{i}", NOON, estimated_cost_usd=2.0)
        state.use(f"s{i}", NOON, usd=1.0)
    rows = list(usage_rows(tmp_path))
    assert len(rows) == 60 and len({(row.session_id, row.task) for row in rows}) == 60


def test_the_root_is_found_through_continuations_and_helpers(evening):
    run = f"cron_{JOB}_20261127_060000"
    assert root_of(evening, "helper") == run and job_of(run) == JOB
    assert root_of(evening, "long_chat") == "long_chat" and job_of("long_chat") is None
    assert root_of(evening, "nobody") == "nobody"


def test_a_parent_that_is_gone_still_names_the_job(tmp_path):
    state = StateDatabase(tmp_path)
    state.session("helper", NOON, parent=f"cron_{JOB}_20261127_060000")
    assert job_of(root_of(tmp_path, "helper")) == JOB


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdefg")))
def test_every_chain_of_parents_ends_and_a_circle_has_one_root(parents):
    roots = {name: root(name, parents.get) for name in "abcdef"}
    for name, first in roots.items():
        above = parents.get(name)
        if above in roots:
            assert first == roots[above]
        assert parents.get(first) is None or first <= parents[first] or roots[first] == first


@pytest.mark.parametrize(
    "name",
    [
        "cron_06c6883b7dd_20261127_060000",
        "cron_06C6883B7DDD_20261127_060000",
        "x" + f"cron_{JOB}_20261127_060000",
    ]
    + [f"cron_{JOB}_20261127_060000\n", f"cron_{JOB}", ""],
)
def test_only_a_run_names_a_job(name):
    assert job_of(name) is None


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("http://Host:8080/v1/", "http://host:8080/v1"),
        ("https://api.example.org/v1?key=abc", "https://api.example.org/v1"),
        ("https://user:word@api.example.org/v1/#x", "https://api.example.org/v1"),
        ("https://api.example.org", "https://api.example.org"),
        ("", ""),
        ("api.example.org/", "api.example.org"),
    ],
)
def test_base_urls_are_compared_without_slash_credentials_and_query(written, normal):
    assert normal_url(written) == normal


def test_auxiliary_rows_belong_to_the_provider_of_their_url():
    seen = providers_by_url(
        [("custom", "http://h/v1"), ("auto", "http://h/v1"), ("", "http://h/v1"), ("zai", "http://z")]
    )
    assert billed_by("auto", "http://h/v1", seen) == "custom"
    assert billed_by("", "http://z", seen) == "zai"
    assert billed_by("auto", "https://openrouter.ai/api/v1", {}) == "openrouter"
    assert billed_by("auto", "", seen) == billed_by("auto", "http://other", seen) == "unknown"
    assert billed_by("deepseek", "http://h/v1", seen) == "deepseek"


def test_every_column_of_a_session_may_be_missing_or_null(tmp_path):
    state = StateDatabase(tmp_path)
    state.session("a", NOON, ended_at=None, model=None)
    found = session(tmp_path, "a")
    assert (found.title, found.chat_id, found.message_count, found.ended_at) == (None, None, 0, None)
    with reading(state.path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM sessions").fetchone()[0] == 1
