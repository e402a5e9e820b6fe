"""Profiles, variables, zones, executions, the ticker, delivery targets, and the host's command."""

from __future__ import annotations

import io
import logging
import os
import random
import sqlite3
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest

from hermes_ops.core.moment import show
from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.host import command, environment, executions
from hermes_ops.host.database import reading as database_reading
from hermes_ops.host.delivery import Target, parse_target, unreachable
from hermes_ops.host.executions import read_executions
from hermes_ops.host.jobs import read_job
from hermes_ops.host.profiles import profiles
from hermes_ops.host.ticker import Ticker, read_ticker
from hermes_ops.host.zone import SERVER, host_time, zone


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("HERMES_", "TELEGRAM_", "DISCORD_", "SLACK_")):
            monkeypatch.delenv(name)
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(root))
    return root


def configure(home: Path, text: str) -> None:
    (home / "config.yaml").write_text(text)


# profiles


def test_a_root_has_itself_first_and_then_its_profiles(home: Path) -> None:
    for name in ("coder", "analyst", "Upper", ".hidden", "default"):
        (home / "profiles" / name).mkdir(parents=True)
    (home / "profiles" / "notes.txt").touch()
    found = profiles(home)
    assert [profile.name for profile in found] == ["default", "analyst", "coder"]
    assert found[0].home == home and found[2].home == home / "profiles" / "coder"


def test_a_named_profile_has_only_itself(home: Path) -> None:
    (home / "profiles" / "coder" / "profiles" / "inner").mkdir(parents=True)
    found = profiles(home / "profiles" / "coder")
    assert [(profile.name, profile.home.name) for profile in found] == [("coder", "coder")]


def test_a_home_without_profiles_is_one(home: Path) -> None:
    assert [profile.name for profile in profiles(home)] == ["default"]
    (home / "profiles").touch()
    assert [profile.name for profile in profiles(home)] == ["default"]


# .env

ENV = """\
# a comment
PLAIN=one
export EXPORTED=two
SPACES = three four   # not this
SINGLE='it\\'s $PLAIN'
DOUBLE="line\\nbreak # kept"
MULTI="first
second"
EMPTY=
BARE
HASH=a#b
REFERRED=${PLAIN}-${NOWHERE:-else}
broken line here = x
UNCLOSED="no end
AFTER=yes
"""


def test_the_file_is_read_as_python_dotenv_reads_it(home: Path) -> None:
    assert environment.parse(ENV) == {
        "PLAIN": "one",
        "EXPORTED": "two",
        "SPACES": "three four",
        "SINGLE": "it's $PLAIN",
        "DOUBLE": "line\nbreak # kept",
        "MULTI": "first\nsecond",
        "EMPTY": "",
        "HASH": "a#b",
        "REFERRED": "one-else",
        "AFTER": "yes",
    }


def test_the_file_is_read_as_python_dotenv_reads_it_whatever_stands_in_it(tmp_path: Path) -> None:
    dotenv = pytest.importorskip("dotenv")
    logging.getLogger("dotenv.main").setLevel(logging.ERROR)
    chosen = random.Random(4)
    pieces = [
        "A",
        "B=",
        "C_TOKEN=",
        "export ",
        "'",
        '"',
        "\\",
        "\n",
        "\r\n",
        " ",
        "#",
        "${A}",
        "${",
        "x",
        "=",
        "é",
    ]
    for _ in range(2000):
        text = "".join(chosen.choices(pieces, k=chosen.randint(1, 25)))
        theirs = dotenv.dotenv_values(stream=io.StringIO(text))
        expected = {name: value for name, value in theirs.items() if value is not None and name}
        ascii_only = {
            name: value.encode("ascii", "ignore").decode() if name.endswith("_TOKEN") else value
            for name, value in expected.items()
        }
        assert environment.parse(text) == ascii_only, repr(text)


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbfKEY=v\n",
        "\ufeffKEY=v\n".encode("utf-16-le"),
        b"K\x00EY=v\x00\n",
        b"KEY=v\nOTHER=\xff\n",
        b"KEY=v",
    ],
    ids=["bom", "utf-16", "nul", "latin-1", "no newline"],
)
def test_a_file_in_another_encoding_is_read(home: Path, raw: bytes) -> None:
    (home / ".env").write_bytes(raw)
    assert environment.variables(home)["KEY"] == "v"


def test_the_environment_comes_first_and_an_empty_value_is_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".env").write_text("WALLET_API_KEY=file\nEMPTY=\n")
    assert environment.lookup("WALLET_API_KEY", home) == "file"
    monkeypatch.setenv("WALLET_API_KEY", "exported")
    assert environment.lookup("WALLET_API_KEY", home) == "exported"
    assert environment.effective("WALLET_API_KEY", home) == "file"
    assert environment.lookup("EMPTY", home) is None and environment.lookup("NOWHERE", home) is None


def test_a_change_of_the_file_is_seen(home: Path) -> None:
    (home / ".env").write_text("KEY=one\n")
    assert environment.lookup("KEY", home) == "one"
    (home / ".env").write_text("KEY=another\n")
    assert environment.lookup("KEY", home) == "another"


def test_what_the_own_env_file_exported_is_not_another_profiles(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "profiles" / "coder"
    other.mkdir(parents=True)
    (home / ".env").write_text("BOT=of-root\n")
    monkeypatch.setenv("BOT", "of-root")
    assert environment.lookup("BOT", home) == "of-root"
    assert environment.lookup("BOT", other) is None
    monkeypatch.setenv("BOT", "exported for all")
    assert environment.lookup("BOT", other) == "exported for all"


def test_a_file_that_is_a_folder_is_unreadable(home: Path) -> None:
    (home / ".env").mkdir()
    with pytest.raises(Unreadable):
        environment.variables(home)


# zone


def test_the_zone_of_the_config_is_the_gateways(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(home, "timezone: Europe/Berlin\n")
    assert (zone(home).name, zone(home).problem) == ("Europe/Berlin", None)
    monkeypatch.setenv("HERMES_TIMEZONE", "Asia/Kolkata")
    found = zone(home)
    assert found.name == "Europe/Berlin" and found.problem and "Asia/Kolkata" in found.problem


def test_the_variable_counts_where_the_config_says_nothing(home: Path) -> None:
    (home / ".env").write_text("HERMES_TIMEZONE=Asia/Kolkata\n")
    assert (zone(home).name, zone(home).problem) == ("Asia/Kolkata", None)


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "Europe", "a\x00b", "x" * 500])
def test_a_zone_nobody_knows_is_a_problem_and_the_servers_holds(home: Path, name: str) -> None:
    configure(home, f'timezone: "{name}"\n' if "\x00" not in name else "timezone: Nowhere/None\n")
    found = zone(home)
    assert found.tz is SERVER and found.problem and show(0.0, found.tz) != "unknown"


def test_a_broken_config_is_said(home: Path) -> None:
    configure(home, "timezone: [Europe/Berlin\n")
    assert zone(home).problem


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of the process cannot be set here")
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_servers_zone_knows_summer_and_both_passes_of_the_repeated_hour(new_york: None) -> None:
    first = datetime(2026, 11, 1, 1, 30, tzinfo=SERVER)
    assert first.utcoffset() == timedelta(hours=-4)
    assert first.replace(fold=1).utcoffset() == timedelta(hours=-5)
    assert first.replace(fold=1).timestamp() - first.timestamp() == 3600
    second = datetime.fromtimestamp(first.timestamp() + 3600, SERVER)
    assert second.fold == 1 and second.tzname() == "EST"
    assert datetime(2026, 7, 1, tzinfo=SERVER).dst() == timedelta(hours=1)


def test_a_stored_time_without_offset_is_the_servers(new_york: None) -> None:
    assert host_time("2026-11-29T06:00:00") == datetime(2026, 11, 29, 11, tzinfo=timezone.utc).timestamp()
    assert host_time("2026-11-29T06:00:00+01:00") == host_time("2026-11-29T05:00:00+00:00")
    for nothing in (None, 5, "", "soon", [], "9999999-01-01"):
        assert host_time(nothing) is None


# executions and ticker


def database(home: Path, rows: list[tuple[str, ...]], columns: str = "") -> None:
    (home / "cron").mkdir(exist_ok=True)
    connection = sqlite3.connect(home / "cron" / "executions.db")
    names = columns or "id, job_id, source, status, claimed_at, started_at, finished_at, error"
    connection.execute(f"CREATE TABLE executions ({names})")
    marks = ", ".join("?" * len(names.split(",")))
    connection.executemany(f"INSERT INTO executions VALUES ({marks})", rows)
    connection.commit()
    connection.close()


def test_runs_are_listed_oldest_first_from_a_time_on(home: Path) -> None:
    rows = [
        ("b", "06c6883b7ddd", "builtin", "failed", "2026-11-29T07:00:00+01:00", None, None, "boom"),
        ("a", "06c6883b7ddd", "builtin", "completed", "2026-11-29T05:00:00+00:00", None, None, None),
        ("c", "06c6883b7ddd", "direct", "running", "when", None, None, None),
    ]
    database(home, rows)
    runs = read_executions(home)
    assert [run.id for run in runs] == ["c", "a", "b"]
    assert runs[2].error == "boom" and runs[0].claimed_at is None
    assert [run.id for run in read_executions(home, (runs[1].claimed_at or 0) + 1)] == ["c", "b"]


def test_no_database_is_no_runs_and_an_older_table_is_read_as_far_as_it_goes(home: Path) -> None:
    assert read_executions(home) == []
    database(home, [("a", "j", "completed")], "id, job_id, status")
    assert [(run.id, run.claimed_at) for run in read_executions(home)] == [("a", None)]


def test_a_database_without_the_table_is_no_runs(home: Path) -> None:
    (home / "cron").mkdir()
    sqlite3.connect(home / "cron" / "executions.db").close()
    assert read_executions(home) == []


def test_a_locked_or_broken_database_is_unreadable(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "reading", partial(database_reading, timeout=0.1))
    database(home, [])
    writer = sqlite3.connect(home / "cron" / "executions.db")
    writer.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(Unreadable, match="locked"):
            read_executions(home)
    finally:
        writer.close()
    (home / "cron" / "executions.db").write_bytes(b"no database " * 100)
    with pytest.raises(Unreadable):
        read_executions(home)


def test_the_ticker_is_read(home: Path) -> None:
    assert read_ticker(home) == Ticker(None, None)
    (home / "cron").mkdir()
    (home / "cron" / "ticker_heartbeat").write_text("1795910400.25")
    assert read_ticker(home) == Ticker(1795910400.25, None)


@pytest.mark.parametrize("content", [b"", b"soon", b"nan", b"inf", b"-1", b"\xff"])
def test_a_ticker_file_without_a_time_is_unreadable_not_never(home: Path, content: bytes) -> None:
    (home / "cron").mkdir()
    (home / "cron" / "ticker_last_success").write_bytes(content)
    with pytest.raises(Unreadable, match="ticker_last_success"):
        read_ticker(home)


# delivery


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("local", Target("local", "local")),
        ("origin", Target("origin", "origin")),
        ("ALL", Target("ALL", "all")),
        ("telegram", Target("telegram", "telegram")),
        ("telegram:-100123:17", Target("telegram:-100123:17", "telegram", "-100123", "17")),
        ("telegram:Alice (dm)", Target("telegram:Alice (dm)", "telegram", "Alice (dm)")),
        ("discord:55", Target("discord:55", "discord", "55")),
        ("matrix:!room:server", Target("matrix:!room:server", "matrix", "!room:server")),
        (
            "matrix:!room:server:$event",
            Target("matrix:!room:server:$event", "matrix", "!room:server", "$event"),
        ),
        ("signal:group:abc", Target("signal:group:abc", "signal", "group:abc")),
        ("telegram:", Target("telegram:", "telegram")),
    ],
)
def test_targets_are_taken_apart_as_the_host_does(text: str, target: Target) -> None:
    assert parse_target(text) == target


def why(home: Path, text: str, **job: object) -> str | None:
    return unreachable(read_job({"id": "06c6883b7ddd", **job}), parse_target(text), home)


def test_what_is_not_set_up_cannot_be_reached(home: Path) -> None:
    configure(home, "model: {default: m}\n")
    assert why(home, "local") is None
    assert "not set up" in (why(home, "telegram:5") or "")
    assert "knows no platform" in (why(home, "pigeon:5") or "")
    assert "home channel" in (why(home, "all") or "")
    assert "no origin" in (why(home, "origin") or "")
    (home / ".env").write_text("TELEGRAM_BOT_TOKEN=t\n")
    assert why(home, "telegram:5") is None
    assert why(home, "Telegram:5") is None
    assert why(home, "telegram:") == "it names no chat"
    assert "TELEGRAM_HOME_CHANNEL" in (why(home, "telegram") or "")
    (home / ".env").write_text("TELEGRAM_BOT_TOKEN=t\nTELEGRAM_HOME_CHANNEL=-100\n")
    assert why(home, "telegram") is None and why(home, "all") is None and why(home, "origin") is None


def test_a_platform_that_is_switched_off_cannot_be_reached_though_its_token_is_there(home: Path) -> None:
    (home / ".env").write_text("TELEGRAM_BOT_TOKEN=t\n")
    for text in ("platforms: {telegram: {enabled: false}}", "telegram: {enabled: false}"):
        configure(home, text + "\n")
        assert "switched off" in (why(home, "telegram:5") or "")
    configure(
        home, "gateway: {platforms: {telegram: {enabled: false}}}\nplatforms: {telegram: {enabled: true}}\n"
    )
    assert why(home, "telegram:5") is None


def test_an_origin_is_reached_through_its_platform(home: Path) -> None:
    configure(home, "platforms: {telegram: {enabled: true}}\n")
    origin = {"platform": "telegram", "chat_id": 5}
    assert why(home, "origin", origin=origin) is None
    assert why(home, "telegram", origin=origin) is None
    assert "not set up" in (why(home, "origin", origin={"platform": "slack", "chat_id": "C1"}) or "")


def test_a_platform_of_a_plugin_is_given_the_benefit_of_the_doubt(home: Path) -> None:
    configure(home, "model: {default: m}\n")
    (home / "plugins" / "filechat").mkdir(parents=True)
    (home / "plugins" / "filechat" / "plugin.yaml").write_text("name: filechat-platform\nkind: platform\n")
    assert why(home, "filechat:room") is None
    assert why(home, "ntfy:topic") is None
    configure(home, "platforms: {pigeon: {enabled: true}}\n")
    assert why(home, "pigeon:5") is None


def test_with_a_config_that_cannot_be_read_nothing_is_claimed(home: Path) -> None:
    configure(home, "platforms: [\n")
    assert why(home, "telegram:5") is None and why(home, "pigeon:5") is None


# command

posix_only = pytest.mark.skipif(os.name != "posix", reason="process groups")


def test_the_command_is_found_beside_this_python_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, elsewhere = tmp_path / "bin", tmp_path / "elsewhere"
    for place in (folder, elsewhere):
        place.mkdir()
        (place / "hermes").write_text("#!/bin/sh\n")
        (place / "hermes").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(elsewhere))
    assert command.find_hermes() == [str(folder / "hermes")]
    (folder / "hermes").unlink()
    assert command.find_hermes() == [str(elsewhere / "hermes")]


def test_without_any_hermes_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OpsError, match="hermes"):
        command.find_hermes()


def test_a_command_gets_the_home_and_nothing_of_another_profile_or_session(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "profiles" / "coder"
    other.mkdir(parents=True)
    (home / ".env").write_text("BOT=of-root\n")
    for name, value in {
        "BOT": "of-root",
        "KEPT": "x",
        "HERMES_CRON_SESSION": "1",
        "HERMES_SESSION_ID": "s",
    }.items():
        monkeypatch.setenv(name, value)
    own, foreign = command.environment(home), command.environment(other)
    assert own["HERMES_HOME"] == str(home) and foreign["HERMES_HOME"] == str(other)
    assert own["BOT"] == "of-root" and "BOT" not in foreign and foreign["KEPT"] == "x"
    assert not {"HERMES_CRON_SESSION", "HERMES_SESSION_ID"} & set(own)


@posix_only
def test_what_it_says_is_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MAX_OUTPUT", 1000)
    code = "import sys; sys.stdout.write('x' * 5_000_000); sys.stderr.write('e'); sys.exit(3)"
    said = command.run([sys.executable, "-c", code], dict(os.environ), 30.0)
    assert (said.code, said.stdout, said.stderr) == (3, "x" * 1000, "e")


@posix_only
def test_it_is_given_its_input() -> None:
    said = command.run([sys.executable, "-c", "print(input())"], dict(os.environ), 30.0, "hello\n")
    assert said.stdout == "hello\n"


@posix_only
def test_at_its_time_limit_the_whole_group_is_ended(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = f"echo started; (trap '' TERM; echo $$ > /dev/null; sleep 60 & echo $! > {child}; wait) & wait"
    said = command.run(["sh", "-c", script], dict(os.environ), 0.7)
    assert said.code is None and said.stdout == "started\n"
    pid = int(child.read_text())
    for _ in range(100):
        if not running(pid):
            return
        time.sleep(0.05)
    pytest.fail("a process of the group lives on")


@posix_only
def test_a_child_that_keeps_the_output_open_does_not_hold_it_up() -> None:
    begin = time.monotonic()
    said = command.run(["sh", "-c", "sleep 8 & echo done"], dict(os.environ), 30.0)
    assert said.code == 0 and said.stdout == "done\n" and time.monotonic() - begin < 7


def test_what_cannot_be_started_is_said(tmp_path: Path) -> None:
    with pytest.raises(OpsError, match="cannot be started"):
        command.run([str(tmp_path / "nothing")], {}, 1.0)


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return True
