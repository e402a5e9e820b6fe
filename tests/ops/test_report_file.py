"""--out: a report goes where nothing is or in the place of one of ours, and never over anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes_ops import cli
from hermes_ops.commands.table import FORMATS
from hermes_ops.core import report_file
from hermes_ops.errors import OpsError
from tests.ops.job_records import job, new_home, write_jobs
from tests.ops.state_databases import StateDatabase

A, B = "aaaaaaaaaaaa", "bbbbbbbbbbbb"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    write_jobs(home, job(A, "first"))
    return home


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_replaces_an_older_one_of_itself_in_every_format(home: Path, tmp_path: Path, form) -> None:
    words = ["table", "--format", form, "--out", str(tmp_path / "table")]
    assert cli.main(words) == 0
    before = (tmp_path / "table").read_text("utf-8")
    write_jobs(home, job(A, "first"), job(B, "second"))
    assert cli.main(words) == 0
    after = (tmp_path / "table").read_text("utf-8")
    assert "second" in after and "second" not in before


def test_a_page_of_costs_replaces_an_older_one_and_is_not_the_table(home: Path, tmp_path: Path) -> None:
    StateDatabase(home)
    out = tmp_path / "costs.html"
    for days in ("14", "7"):
        assert cli.main(["costs", "--days", days, "--out", str(out)]) == 0
        assert f"Costs of {days} days" in out.read_text("utf-8")


@pytest.mark.parametrize("command", [["table"], ["table", "--json"], ["costs"]])
def test_no_file_of_the_host_or_of_anybody_is_overwritten(
    home: Path, tmp_path: Path, capsys, command
) -> None:
    StateDatabase(home)
    (home / "ops").mkdir()
    kept = {
        home / "cron" / "jobs.json": (home / "cron" / "jobs.json").read_bytes(),
        home / ".env": b"A=b\n",
        home / "config.yaml": b"",
        home / "ops" / "incidents.json": b'{"format": 1, "schema": 1}',
        home / "profiles" / "work" / "config.yaml": b"a: 1\n",
        tmp_path / "mine.html": b"<!doctype html><title>mine</title>",
        tmp_path / "mine.md": b"# Mine\n\nSee `hermes ops table`.\n",
        tmp_path / "mine.json": b"{}",
        tmp_path / "binary": bytes(range(256)),
    }
    for path, content in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        assert cli.main([*command, "--out", str(path)]) == 1, path
        assert "no report that hermes ops wrote" in capsys.readouterr().err
        assert path.read_bytes() == content


def test_a_new_file_lies_among_those_of_the_host_in_ops_alone(home: Path, tmp_path: Path, capsys) -> None:
    (home / "ops").mkdir()
    (tmp_path / "link").symlink_to(home / "cron")
    for path in (home / "WATCH.md", home / "cron" / "x.md", tmp_path / "link" / "x.md"):
        assert cli.main(["table", "--out", str(path)]) == 1
        assert "among the files of the host" in capsys.readouterr().err
        assert not path.exists()
    assert cli.main(["table", "--out", str(home / "ops" / "WATCH.md")]) == 0
    # The home of a named profile lies in that of the root.
    profile = home / "profiles" / "work"
    with pytest.raises(OpsError):
        report_file.write(home / "cron" / "x.md", "x", profile)
    with pytest.raises(OpsError):
        report_file.write(profile.parent / "x.md", "x", profile)


def test_what_is_no_file_or_lies_nowhere_is_an_error_of_one_line(home: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "jobs").symlink_to(home / "cron" / "jobs.json")
    (tmp_path / "empty").touch()
    for path in (tmp_path, tmp_path / "none" / "x.md", Path("/dev/null"), tmp_path / "jobs"):
        for command in ("table", "costs"):
            assert cli.main([command, "--out", str(path)]) == 1
            error = capsys.readouterr().err
            assert str(path.parent) in error and error.count("\n") == 1
    assert json.loads((home / "cron" / "jobs.json").read_text("utf-8"))["jobs"]
    assert cli.main(["table", "--out", str(tmp_path / "empty")]) == 0
