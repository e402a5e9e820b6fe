"""Cost per successful run: what is a success, what is not, and when nothing can be told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops.errors import OpsError
from hermes_ops.spend.outcomes import (
    CANNOT_TELL,
    EMPTY,
    FAILED,
    NO_SUCCESS,
    OK,
    SILENT,
    SUCCESS,
    UNDELIVERED,
    UNJUDGED,
    VERDICTS,
    Role,
    outcomes,
    read_roles,
    role_of,
    verdict,
)
from hermes_ops.spend.run_costs import RunCost, dollars
from tests.ops.made import A, B, Home, at, run, spent

NOW = at("2026-11-29 12:00")


def cost(job_id, outcome="said", usd=0.1, number=0, unknown=0, **fields):
    one = run(job_id, NOW - number * 3600, outcome, **fields)
    row = spent("default", job_id, None, usd=usd, calls=1, unknown_calls=unknown)
    return RunCost("default", job_id, one.claimed_at, one, row)


def several(job_id, said, failed=0, silent=0, usd=0.1, **fields):
    kinds = ["said"] * said + ["failed"] * failed + ["silent"] * silent
    return [cost(job_id, kind, usd, number, **fields) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("outcome", "fields", "expected"),
    [
        ("said", {}, SUCCESS),
        ("said", {"delivery": "local"}, SUCCESS),
        ("said", {"delivery": "unknown"}, SUCCESS),
        ("said", {"delivery": "failed"}, UNDELIVERED),
        ("silent", {}, SILENT),
        ("failed", {}, FAILED),
        ("empty", {}, EMPTY),
        ("said", {"status": "failed"}, FAILED),
        ("said", {"status": "unknown"}, UNJUDGED),
        ("unknown", {}, UNJUDGED),
    ],
)
def test_what_counts_as_a_success(outcome, fields, expected):
    assert verdict(cost(A, outcome, **fields)) == expected


def test_a_session_whose_run_was_forgotten_is_not_judged():
    assert verdict(RunCost("default", A, NOW, None, spent(usd=1.0))) == UNJUDGED


def test_the_cost_of_failed_and_silent_runs_is_in_the_cost_per_success():
    [one] = outcomes(several(A, said=20, failed=5, silent=15), [], {})
    assert one.state == OK and one.judged == 25
    assert one.per_success == pytest.approx(40 * 0.1 / 20)
    low, high = one.interval
    assert low < one.per_success < high
    assert one.rate[0] < 0.8 < one.rate[1]


def test_no_success_is_no_number():
    [one] = outcomes(several(A, said=0, failed=50), [], {})
    assert (one.state, one.per_success, one.interval) == (
        NO_SUCCESS,
        None,
        None,
    ) and one.usd == pytest.approx(5)


@pytest.mark.parametrize(("said", "failed"), [(19, 0), (4, 40), (1, 1)])
def test_few_runs_or_few_successes_cannot_be_told_from_chance(said, failed):
    [one] = outcomes(several(A, said, failed, silent=100), [], {})
    assert one.state == CANNOT_TELL and one.per_success is None and one.rate is not None


def test_unpriced_calls_make_a_lower_bound_and_unjudged_runs_are_in_no_ratio():
    costs = several(A, said=20) + [cost(A, "unknown", 50.0, 21)] + [cost(A, "said", 0.1, 22, unknown=3)]
    [one] = outcomes(costs, [], {})
    assert one.lower_bound and one.counts[UNJUDGED] == 1
    assert one.per_success == pytest.approx(0.1) and one.usd == pytest.approx(52.1)


def test_arrivals_that_nobody_saw_are_counted():
    [one] = outcomes(several(A, said=20, delivery="unknown"), [], {})
    assert one.unseen == 20 and one.state == OK


def test_the_interval_is_over_runs_and_not_over_calls():
    """A run of many calls is one sample: a thousand calls in twenty runs give no narrow interval."""
    usd = [0.01, 1.0] * 10
    costs = [cost(A, "said", value, number) for number, value in enumerate(usd)]
    many = [replace(one, spent=replace(one.spent, calls=1000)) for one in costs]
    [few], [lots] = outcomes(costs, [], {}), outcomes(many, [], {})
    assert few.interval == lots.interval and few.interval[1] - few.interval[0] > 0.3


def test_roles_that_differ_are_told_and_chance_is_not():
    good, bad = several(A, said=100), several(B, said=60, failed=40)
    found = {one.role[:5]: one for one in outcomes(good + bad, [], {})}
    assert found["job a"].differs and found["job b"].differs
    same = outcomes(several(A, 50, 5) + several(B, 50, 6), [], {})
    assert [one.differs for one in same] == [False, False]
    alone = outcomes(several(A, 50, 5) + several(B, 3), [], {})
    assert [one.differs for one in alone] == [None, None]


def test_many_roles_of_the_same_kind_do_not_find_a_difference_by_trying_often():
    ids = [f"{number:012x}" for number in range(40)]
    costs = [one for number, name in enumerate(ids) for one in several(name, 20, 1 + number % 3)]
    assert not any(one.differs for one in outcomes(costs, [], {}))


def test_a_role_is_the_first_whose_pattern_fits():
    roles = [Role("media", ("*digest*",)), Role("all", ("*",))]
    assert role_of(A, "Morning DIGEST", roles) == "media"
    assert role_of(A, "backup", roles) == "all"
    assert role_of(B, "backup", [Role("one", (B,))]) == "one"
    assert role_of(A, "backup", []) == f"backup ({A})"
    assert role_of(A, "", []) == f"a job that is gone ({A})"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["said", "silent", "failed", "empty", "unknown"]),
            st.floats(0, 5, allow_nan=False),
            st.sampled_from([A, B]),
        ),
        max_size=60,
    )
)
def test_every_run_is_counted_once_and_no_figure_stands_on_too_little(samples):
    costs = [cost(name, kind, usd, number) for number, (kind, usd, name) in enumerate(samples)]
    found = outcomes(costs, [], {})
    assert sum(sum(one.counts.values()) for one in found) == len(samples)
    assert sum(one.usd for one in found) == pytest.approx(sum(usd for _, usd, _ in samples))
    for one in found:
        assert set(one.counts) == set(VERDICTS)
        assert (one.per_success is not None) == (one.judged >= 20 and one.successes >= 5)
        if one.interval is not None:
            assert 0 <= one.interval[0] <= one.interval[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[role]\na = ["b"]', ("'role'", "did you mean roles")),
        ("[roles]\na = 'x'", ("roles.a", "list")),
        ("[roles]\na = []", ("roles.a",)),
        ("format = 2\n[roles]", ("format",)),
        ("[roles\n", ("roles.toml",)),
    ],
)
def test_a_wrong_file_of_roles_names_the_key(tmp_path, text, words):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "roles.toml").write_text(text)
    with pytest.raises(OpsError) as error:
        read_roles(tmp_path)
    assert all(word in str(error.value) for word in words)


def test_roles_are_read_in_their_order(tmp_path):
    assert read_roles(tmp_path) == []
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "roles.toml").write_text('format = 1\n[roles]\nz = ["a*"]\na = ["*"]\n')
    assert [role.name for role in read_roles(tmp_path)] == ["z", "a"]


def test_the_lower_bound_of_a_sum_is_rounded_down():
    assert (dollars(1.02), dollars(1.029, True), dollars(0.0123)) == ("$1.02", ">= $1.02", "$0.0123")


def test_the_command_joins_runs_with_the_sessions_they_opened(tmp_path, monkeypatch, capsys):
    home = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    monkeypatch.setattr("hermes_ops.commands.outcomes.time.time", lambda: NOW)
    home.job(A, name="digest")
    for day in range(3):
        claimed = at(f"2026-11-2{day + 5} 09:00")
        root = home.ran(A, claimed)
        home.use(root, claimed + 20, 0.25)
        home.said(A, claimed + 50, "Here it is.")
    assert cli.main(["outcomes", "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)["roles"]
    assert one["runs_success"] == 3 and one["usd"] == pytest.approx(0.75)
    assert one["state"] == CANNOT_TELL and one["usd_per_success"] is None
    assert cli.main(["outcomes"]) == 0
    assert "cannot tell" in capsys.readouterr().out
    assert cli.main(["outcomes", "--days", "0"]) == 2


def test_a_role_that_is_none_is_said_and_one_without_runs_is_not(tmp_path, monkeypatch, capsys):
    home = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    home.job(A, name="digest")
    home.ran(A, at("2026-11-25 09:00"))
    (home.path / "ops").mkdir()
    (home.path / "ops" / "roles.toml").write_text('[roles]\nmedia = ["*news*"]\n')
    assert cli.main(["outcomes", "--role", "nosuch", "--days", "3660"]) == 2
    assert f"no such role: 'nosuch'; there are: media, digest ({A})" in capsys.readouterr().err
    assert cli.main(["outcomes", "--role", "media", "--days", "3660"]) == 0
    assert "No run of a job is on record" in capsys.readouterr().out


def test_a_run_that_nobody_knows_the_cost_of_is_not_at_least_nothing(tmp_path, monkeypatch, capsys):
    home = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    monkeypatch.setattr("hermes_ops.commands.outcomes.time.time", lambda: NOW)
    home.ran(B, at("2026-11-25 09:00"))
    home.write_jobs()
    assert cli.main(["outcomes"]) == 0
    out = capsys.readouterr().out
    assert f"a job that is gone ({B})" in out and "unknown" in out and "$0.00" not in out
