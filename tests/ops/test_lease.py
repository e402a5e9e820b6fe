"""Maintenance: a lease with an owner, a reason and an end; and what the host's own markers lend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.host.gateway import Gateway, Marker
from hermes_ops.liveness.lease import Lease, host_lease, pause, read_lease, resume

NOW = 1_795_946_400.0


def test_a_pause_is_written_private_with_owner_reason_and_end(tmp_path: Path) -> None:
    lease = pause(tmp_path, "restoring  a copy\n", 1800, "anna", NOW)
    assert lease == Lease("anna", "restoring a copy", NOW, NOW + 1800) == read_lease(tmp_path)
    path = tmp_path / "ops" / "maintenance.json"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert json.loads(path.read_text())["format"] == 1


def test_it_ends_by_itself(tmp_path: Path) -> None:
    lease = pause(tmp_path, "x", 1800, "anna", NOW)
    assert [lease.active(NOW + after) for after in (0, 1799, 1800, 9e9)] == [True, True, False, False]


def test_after_the_clock_went_back_it_holds_for_less_than_a_day(tmp_path: Path) -> None:
    lease = pause(tmp_path, "x", 1800, "anna", NOW)
    assert lease.active(NOW - 3600) and not lease.active(NOW - 2 * 86_400)


@pytest.mark.parametrize(("reason", "seconds"), [("", 60), ("  \n", 60), ("x", 0), ("x", -5), ("x", 86_401)])
def test_no_reason_or_more_than_a_day_is_refused(tmp_path: Path, reason: str, seconds: float) -> None:
    with pytest.raises(OpsError):
        pause(tmp_path, reason, seconds, "anna", NOW)
    assert read_lease(tmp_path) is None


def test_resume_takes_it_away_also_when_it_is_damaged(tmp_path: Path) -> None:
    assert resume(tmp_path) is None
    pause(tmp_path, "x", 60, "anna", NOW)
    assert resume(tmp_path).owner == "anna" and read_lease(tmp_path) is None
    for text in ("", "[]", "{}", '{"owner": 1, "reason": 2, "since": 0, "until": 1e99}', '{"since": "x"}'):
        (tmp_path / "ops" / "maintenance.json").write_text(text)
        with pytest.raises(Unreadable):
            read_lease(tmp_path)
        assert resume(tmp_path) is None and read_lease(tmp_path) is None


def with_markers(**markers: Marker) -> Gateway:
    return Gateway(Path("/nowhere"), markers=markers)


@pytest.mark.parametrize(
    ("name", "seconds"), [("planned_stop", 60), ("takeover", 60), ("drain", 1800), ("update", 1800)]
)
def test_what_the_host_does_is_a_lease_for_as_long_as_it_takes(name: str, seconds: float) -> None:
    def lease(ago: float, valid: bool = True) -> Lease | None:
        return host_lease(with_markers(**{name: Marker(NOW - ago, {}, valid)}), NOW)

    assert lease(0).owner == "hermes" and lease(seconds - 1) is not None
    assert lease(seconds + 1) is None and lease(0, valid=False) is None and lease(-9000) is None


def test_an_update_that_is_done_is_no_lease() -> None:
    done = with_markers(update=Marker(NOW, {}), update_exit_code=Marker(NOW, {}))
    assert host_lease(done, NOW) is None
    assert host_lease(with_markers(clean_shutdown=Marker(NOW, {})), NOW) is None
