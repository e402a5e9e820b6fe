import json
import socket
import sqlite3
import threading
from datetime import datetime, timezone
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.commands import wallet as command
from hermes_ops.core import http
from hermes_ops.core.finding import DAY, HOUR
from hermes_ops.core.incident import Incidents
from hermes_ops.core.ledger import Ledger
from hermes_ops.core.watch import Context
from hermes_ops.spend.balances import Left
from hermes_ops.spend.wallet import watch
from tests.ops.loopback import Loopback, Says

KEY = "sk-" + "made-up-key-0123456789abcdef"
HALF_HOUR = 1800.0
NOW = datetime(2026, 11, 28, 8, 0, tzinfo=timezone.utc).timestamp()
TABLES = """
CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, parent_session_id TEXT, started_at REAL, title TEXT,
 chat_id TEXT, thread_id TEXT);
CREATE TABLE session_model_usage(session_id TEXT, model TEXT, billing_provider TEXT DEFAULT '',
 billing_base_url TEXT DEFAULT '', billing_mode TEXT DEFAULT '', task TEXT DEFAULT '', api_call_count INTEGER,
 input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
 cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, estimated_cost_usd REAL,
 actual_cost_usd REAL DEFAULT 0, cost_status TEXT, cost_source TEXT, first_seen REAL, last_seen REAL);
"""


def usd(amount, **more):
    info = {"currency": "USD", "total_balance": amount if isinstance(amount, str) else f"{amount:.2f}"}
    return Says({"is_available": True, "balance_infos": [info], **more})


class Desk:
    """One home, one provider, the incident engine, and a clock in the test's hand."""

    path = "/user/balance"

    def __init__(self, home, server):
        self.home, self.server, self.now = home, server, NOW
        self.said, self.ledger = [], None
        self.set(WALLET_BALANCE_URL=server.url + self.path, WALLET_API_KEY=KEY)

    def set(self, **values):
        (self.home / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))

    def config(self, **values):
        (self.home / "config.yaml").write_text(json.dumps(values))

    def without_network(self, monkeypatch):
        """Let the amounts of `run` be what is read, and one ledger stay open: faster for many runs."""
        self.ledger = Ledger.open(self.home)
        monkeypatch.setattr(Context, "ledger", lambda context: self.ledger)
        monkeypatch.setattr("hermes_ops.spend.wallet.read_balance", lambda account, timeout: self.amount)

    def run(self, answer=None, after=HALF_HOUR):
        """One run of the watcher `after` seconds after the last; returns the texts that were said."""
        self.now += after
        if isinstance(answer, float):
            self.amount = Left(answer, "USD")
        if answer is not None:
            self.server.answers[self.path] = answer if isinstance(answer, Says) else usd(answer)
        context = Context(self.home, self.now)
        try:
            self.reading = watch(context)
        finally:
            context.close()
        said = Incidents(self.home).update("wallet", self.reading, self.now, lambda messages: True)
        assert KEY not in str(self.reading) + str(said)
        self.said += said
        return [message.text for message in said]

    def rules(self):
        return {finding.rule: finding for finding in self.reading.findings}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for name in ("DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "WALLET_API_KEY", "HERMES_TIMEZONE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(http, "_wait", lambda seconds, deadline: True)
    with Loopback() as server:
        made = Desk(tmp_path, server)
        yield made
        if made.ledger is not None:
            made.ledger.close()


def use(home, *rows):
    """Set the running totals of the host: (session, source, dollars, title, chat)."""
    connection = sqlite3.connect(home / "state.db")
    if not connection.execute("SELECT 1 FROM sqlite_master").fetchall():
        connection.executescript(TABLES)
    for session, source, dollars, title, chat, seen in rows:
        connection.execute("DELETE FROM sessions WHERE id=?", (session,))
        connection.execute("DELETE FROM session_model_usage WHERE session_id=?", (session,))
        connection.execute(
            "INSERT INTO sessions VALUES(?,?,NULL,?,?,?,NULL)", (session, source, NOW - 3 * DAY, title, chat)
        )
        connection.execute(
            "INSERT INTO session_model_usage(session_id, model, api_call_count, input_tokens,"
            " estimated_cost_usd, cost_status, first_seen, last_seen) VALUES(?,?,?,?,?,?,?,?)",
            (session, "m", 10, int(dollars * 1e6), dollars, "estimated", NOW - 3 * DAY, seen),
        )
    connection.commit()
    connection.close()


# --- healthy and not


def test_a_healthy_wallet_says_nothing_and_asks_nobody_but_the_provider(desk, monkeypatch):
    asked = []
    connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda self, at: asked.append(at) or connect(self, at))
    assert [desk.run(20 - n * 0.01) for n in range(5)] == [[]] * 5
    assert set(asked) == {("127.0.0.1", desk.server.port)} and len(asked) == 5
    assert oct((desk.home / "ops" / "ledger.db").stat().st_mode)[-3:] == "600"


def test_the_floor_is_told_in_steps_and_its_end(desk):
    desk.config(ops={"wallet": {"daily_burn": 0}})
    assert desk.run(2.00) == []
    [low] = desk.run(1.99)
    assert low.startswith("warning: deepseek: 1.99 USD left, under the floor of 2.00")
    assert desk.run(1.50) == []
    assert desk.run(0.99)[0].startswith("error (was warning): deepseek: 0.99 USD left")
    assert desk.run(0.49)[0].startswith("critical (was error): deepseek: 0.49 USD left")
    assert desk.run(0.48) == []
    [topped] = desk.run(20.48)
    assert topped == "info: deepseek: topped up by 20.00 USD; 20.48 USD left"
    [over] = desk.run(20.48)
    assert over.startswith("over after 3 h: deepseek:")


def test_the_burn_of_a_day_is_told_once_with_how_long_the_rest_lasts(desk):
    desk.run(10.0)
    for amount in (9.75, 9.5, 9.25, 9.0, 8.75):
        assert desk.run(amount) == []
    [text] = desk.run(8.5)
    assert text.startswith("error: deepseek: 1.50 USD spent in 24 h (1.50 today), the limit is 1.50 a day")
    assert "8.50 USD left, empty in about 17 h" in text and "Who: not known yet" in text
    assert desk.run(8.4) == []
    [much] = desk.run(5.4)
    assert much.startswith("critical (was error): deepseek: 4.60 USD spent in 24 h")


def test_the_burn_is_over_a_day_later_and_not_at_midnight(desk, monkeypatch):
    desk.without_network(monkeypatch)
    for amount in (10.0, 8.0):
        desk.run(amount)
    assert "wallet.burn" in desk.rules()
    desk.run(8.0, after=17 * HOUR)  # past midnight
    assert "(0.00 today)" in desk.rules()["wallet.burn"].text
    desk.run(8.0, after=7 * HOUR)
    for _ in range(2):
        assert desk.run(8.0) == []
    desk.run(8.0)
    assert desk.rules() == {}
    assert desk.said[-1].kind == "over"


def test_a_provider_that_refuses_calls_is_told_whatever_the_balance(desk):
    [text] = desk.run(usd("5.00", is_available=False))
    assert "critical: deepseek: the provider says that no call is possible; 5.00 USD left" in text


# --- top-ups, refunds


def test_a_top_up_in_mid_day_erases_no_burn_and_is_told_once(desk):
    for amount in (10.0, 9.0, 8.6):
        desk.run(amount)
    [topped] = desk.run(28.6)
    assert topped == "info: deepseek: topped up by 20.00 USD; 28.60 USD left"
    [burning] = desk.run(28.4)
    assert burning.startswith("error: deepseek: 1.60 USD spent in 24 h")
    assert [message.kind for message in desk.said].count("event") == 1
    assert "what was spent at that moment does not show" in str(desk.rules()["wallet.burn"].evidence)


def test_a_refund_is_an_event_and_no_burn(desk):
    desk.run(10.0)
    assert desk.run(10.30) == ["info: deepseek: a credit or refund of 0.30 USD; 10.30 USD left"]
    assert desk.run(10.30) == [] and desk.rules() == {}


# --- blindness


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (usd("NaN"), "the text 'NaN', not an amount"),
        (usd("-3.00"), "negative (-3.00 USD)"),
        (Says(b'{"balance_infos": [{"currency": "USD", "total_balance": null}]}'), "total_balance is null"),
        (Says(b'{"balance_infos": [{"currency": "USD", "total_balance": NaN}]}'), "NaN in the answer"),
        (Says(b"<html>502 Bad Gateway</html>"), "a page of HTML"),
        (Says(b"{}", 401), "HTTP 401: the key is not accepted"),
        (Says(b"{}", 500), "HTTP 500: the provider fails"),
        (Says({"data": {}}), "no balance_infos in the answer"),
    ],
)
def test_a_balance_that_cannot_be_read_three_times_is_an_incident_and_never_a_number(desk, answer, why):
    desk.run(10.0)
    assert desk.run(answer) == [] and desk.run() == []
    [text] = desk.run()
    assert text.startswith("blind: deepseek: the balance is not known:") and why in text
    assert "it was last read 2026-11-28 08:30" in text and "Fix: check WALLET_API_KEY" in text
    assert desk.run() == [] and desk.rules() == {}
    [seen] = desk.run(9.9)
    assert seen.startswith("sees again after")
    assert desk.run(9.9) == []
    assert [message.kind for message in desk.said] == ["blind", "sees_again"]


def test_a_provider_in_silence_is_left_in_time(desk):
    desk.config(ops={"wallet": {"timeout": 1}})
    desk.server.answers[desk.path] = lambda handler: desk.server.stopping.wait(10)
    desk.run()
    [one] = {blind.text for blind in desk.reading.blind}
    assert "no complete answer within 1 s" in one


def test_blindness_keeps_what_was_wrong_open(desk):
    desk.run(10.0)
    desk.run(1.0)
    assert set(desk.rules()) == {"wallet.low", "wallet.burn"}
    for _ in range(10):
        desk.run(Says(status=500))
    desk.run(after=2 * DAY)
    assert {one.id for one in Incidents(desk.home).all() if one.state == "open"} == {
        "wallet.low:default/deepseek",
        "wallet.burn:default/deepseek",
        "blind:wallet/default/deepseek",
    }
    assert "over" not in {message.kind for message in desk.said}


def test_one_account_that_is_blind_hides_no_other(desk):
    accounts = [
        {"name": name, "url": f"{desk.server.url}/{name}", "json_path": "left"} for name in ("one", "two")
    ]
    desk.config(ops={"wallet": {"accounts": accounts}})
    desk.server.answers["/one"] = Says({"left": "much"})
    desk.server.answers["/two"] = Says({"left": 1.5})
    [low] = desk.run()
    assert "two: 1.50 USD left" in low
    desk.server.answers["/two"] = Says({"left": 9})
    desk.run()
    said = desk.run()
    assert any(text.startswith("over after") and "two" in text for text in said)
    assert any(text.startswith("blind: one: the balance is not known") for text in said)


def test_nothing_configured_is_said_once_with_what_to_set(desk):
    desk.set(OTHER="1")
    [text] = desk.run()
    assert text.startswith("info: wallet: no balance is watched") and "DEEPSEEK_API_KEY" in text
    assert [desk.run(after=DAY) for _ in range(4)] == [[]] * 4
    assert desk.server.asked == []


def test_a_key_that_is_named_and_set_nowhere_is_blindness_at_once(desk):
    desk.set(WALLET_API_KEY_ENV="MY_KEY")
    [text] = desk.run()
    assert "blind: deepseek: the balance is not known: MY_KEY is set nowhere" in text


def test_the_key_does_not_follow_the_provider_elsewhere(desk):
    with Loopback({"*": usd(10.0)}) as other:
        desk.run(Says(status=302, headers={"Location": f"{other.url}/user/balance"}))
        assert len(other.asked) == 1 and KEY not in str(other.asked)


# --- who


def test_the_alert_names_who_spent_since_and_not_who_spent_in_all(desk):
    giant = ("giant", "telegram", 240.0, "The old giant", "-100", NOW - 2 * DAY)
    job = "cron_06c6883b7ddd_20261128_060000"
    use(
        desk.home,
        giant,
        ("busy", "telegram", 3.0, "Road trip", "-200", NOW),
        (job, "cron", 1.0, None, None, NOW),
    )
    desk.run(10.0)
    use(desk.home, ("busy", "telegram", 3.3, "Road trip", "-200", desk.now + 60))
    desk.run(9.7)
    use(
        desk.home,
        ("busy", "telegram", 4.5, "Road trip", "-200", desk.now + 60),
        (job, "cron", 1.2, None, None, desk.now + 60),
    )
    [text] = desk.run(8.3)
    assert 'Most by session "Road trip" (telegram busy) (88%)' in text
    assert "Fix: /new in telegram chat -200" in text and "giant" not in text
    evidence = desk.rules()["wallet.burn"].evidence
    assert "$1.50, 88%; to stop it: /new in telegram chat -200" in evidence[0]
    assert "job 06c6883b7ddd: $0.20, 12%; to stop it: hermes cron pause 06c6883b7ddd" in evidence[1]


def test_usage_that_cannot_be_read_hides_no_alert(desk):
    (desk.home / "state.db").write_bytes(b"no database at all" * 100)
    desk.run(10.0)
    [text] = desk.run(8.0)
    assert text.startswith("error: deepseek: 2.00 USD spent") and "Who: not known yet" in text
    desk.run(8.0)
    assert any(message.kind == "blind" and "state.db" in message.text for message in desk.said)


# --- clocks and sleep


def test_jobs_that_catch_up_after_sleep_are_a_burst_and_no_trend(desk, monkeypatch):
    desk.without_network(monkeypatch)
    for _ in range(50):
        desk.run(20.0)
    assert desk.run(19.9, after=42 * HOUR) == []
    [text] = desk.run(17.9)
    assert text.startswith("warning: deepseek: 2.10 USD spent in 24 h")
    assert "2.10 of it within 2 h after 42 h of sleep: a catch-up burst (0 runs began), not a trend" in text
    assert "empty in" not in text


def test_a_wrong_clock_damages_nothing_and_alarms_nobody(desk, monkeypatch):
    desk.without_network(monkeypatch)
    for number in range(20):
        desk.run(20 - number * 0.02)
    desk.now += 3 * DAY
    for number in range(20, 24):
        desk.run(20 - number * 0.02)
    desk.now -= 3 * DAY
    for number in range(24, 200):
        desk.run(20 - number * 0.02)
    desk.now -= 50 * 365 * DAY
    desk.run(15.9)
    desk.now += 50 * 365 * DAY
    desk.run(15.9)
    assert desk.said == [] and desk.rules() == {}


@pytest.mark.parametrize(("date", "hours"), [((2026, 3, 29), 23), ((2026, 10, 25), 25)])
def test_a_day_of_23_or_25_hours_has_its_own_burn(desk, monkeypatch, date, hours):
    desk.without_network(monkeypatch)
    desk.config(timezone="Europe/Berlin", ops={"wallet": {"daily_burn": 100}})
    zone = ZoneInfo("Europe/Berlin")
    desk.now = datetime(*date, tzinfo=zone).timestamp() - 2 * HALF_HOUR
    left = 100.0
    for _ in range(2 * hours + 1):
        left -= 0.5
        desk.run(left)
    desk.config(timezone="Europe/Berlin")
    desk.run(left, after=60.0)
    assert f"({hours - 0.5:.2f} today)" in desk.rules()["wallet.burn"].text


# --- two at once, damage


def test_two_runs_at_once_write_each_reading_once_and_alarm_once(desk):
    desk.run(10.0)
    desk.server.answers[desk.path] = usd(7.0)
    now, said, errors = desk.now + HALF_HOUR, [], []

    def one():
        try:
            context = Context(desk.home, now)
            reading = watch(context)
            context.close()
            said.extend(Incidents(desk.home).update("wallet", reading, now, lambda messages: True))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [message.incident for message in said] == ["wallet.burn:default/deepseek"]
    desk.run(7.0)
    assert desk.rules()["wallet.burn"].text.startswith("3.00 USD spent")
    ledger = sqlite3.connect(desk.home / "ops" / "ledger.db")
    assert ledger.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert ledger.execute("SELECT COUNT(*) FROM balance").fetchone() == (6,)
    ledger.close()


def test_a_ledger_that_cannot_be_opened_leaves_the_floor_watched(desk):
    (desk.home / "ops").mkdir()
    (desk.home / "ops" / "ledger.db").mkdir()
    [low] = desk.run(1.0)
    assert "1.00 USD left, under the floor" in low
    desk.run(1.0)
    [blind] = desk.run(1.0)
    assert blind.startswith("blind: deepseek: what is spent is not known:") and "ledger.db" in blind


def test_a_damaged_ledger_is_said_and_ends_no_incident(desk):
    desk.run(10.0)
    desk.run(8.0)
    (desk.home / "ops" / "ledger.db").write_bytes(b"damaged" * 2000)
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (desk.home / "ops" / name).unlink(missing_ok=True)
    desk.run(8.0)
    assert any("damaged" in blind.text for blind in desk.reading.blind)
    assert [one.state for one in Incidents(desk.home).all() if one.id.startswith("wallet.burn")] == ["open"]


# --- the command


def asked(desk, capsys, *, what="now", days=14.0, as_json=False, monkeypatch=None):
    monkeypatch.setattr("time.time", lambda: desk.now)
    code = command.run(SimpleNamespace(what=what, days=days, json=as_json))
    return code, capsys.readouterr().out


def test_the_command_shows_balance_burn_projection_and_who(desk, capsys, monkeypatch):
    use(desk.home, ("busy", "telegram", 3.0, "Road trip", "-200", NOW))
    desk.without_network(monkeypatch)
    for number in range(49):
        desk.run(10 - number * 0.02)
    use(desk.home, ("busy", "telegram", 3.5, "Road trip", "-200", desk.now))
    code, out = asked(desk, capsys, monkeypatch=monkeypatch)
    assert code == 0
    assert "deepseek: 9.04 USD left, floor 2.00; key from WALLET_API_KEY" in out
    assert "0.96 in 24 h" in out and "pace    0.040 an hour, empty in about 9 days" in out
    assert 'session "Road trip" (telegram busy): $0.50, 100% of 24 h' in out
    code, out = asked(desk, capsys, as_json=True, monkeypatch=monkeypatch)
    data = json.loads(out)
    [account] = data["accounts"]
    assert code == 0 and data["schema"] == 1 and account["left"] == 9.04
    assert account["burn"]["24h"] == pytest.approx(0.96) and account["burn"]["per_hour"] == pytest.approx(
        0.04
    )
    assert KEY not in out


def test_the_command_fails_when_something_is_wrong_or_not_known(desk, capsys, monkeypatch):
    desk.run(10.0)
    desk.server.answers[desk.path] = usd(1.0)
    code, out = asked(desk, capsys, monkeypatch=monkeypatch)
    assert code == 1 and "warning: deepseek: 1.00 USD left, under the floor" in out
    desk.server.answers[desk.path] = Says(status=401)
    code, out = asked(desk, capsys, as_json=True, monkeypatch=monkeypatch)
    data = json.loads(out)
    assert code == 1 and data["accounts"][0]["left"] is None and "HTTP 401" in data["blind"][0]["text"]


def test_history_is_told_day_by_day_without_asking_anybody(desk, capsys, monkeypatch):
    desk.without_network(monkeypatch)
    for number in range(49):
        desk.run(10 - number * 0.1 if number < 40 else 30 - number * 0.1)
    code, out = asked(desk, capsys, what="history", as_json=True, monkeypatch=monkeypatch)
    days = json.loads(out)["days"]
    assert code == 0 and desk.server.asked == []
    assert [row["day"] for row in days] == ["2026-11-28", "2026-11-29"]
    assert sum(row["spent"] for row in days) == pytest.approx(4.7)
    assert sum(row["rose"] for row in days) == pytest.approx(19.9)
    code, out = asked(desk, capsys, what="history", monkeypatch=monkeypatch)
    assert "deepseek" in out and "25.20 USD" in out
