"""Jobs of the real host that run, spend, fail to deliver and go silent, and what is told and done of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from tests.host.file_chats import FileChats
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import Host

pytestmark = pytest.mark.host

DEAR = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "reasoning_tokens": 50_000}  # 0.21 dollars
ROUTES = [
    {"name": "news", "when": {"any_text": "Say the news"}, "turns": [{"text": "News.", "usage": DEAR}]},
    {"name": "audit", "when": {"any_text": "Audit the day"}, "turns": [{"text": "Fine.", "usage": DEAR}]},
    {"name": "lamp", "when": {"any_text": "Watch the lamp"}, "turns": [{"text": "[SILENT]", "usage": DEAR}]},
    {"name": "bad", "when": {"any_text": "Break"}, "turns": [{"status": 400, "message": "bad request"}]},
]


def next_second() -> None:
    """Wait for it: the host names sessions and outputs by whole seconds."""
    time.sleep(1.02 - time.time() % 1)


def _zone_of_forenoon() -> str:
    """A zone in which it is about ten o'clock: a day with some hours behind it and many to come."""
    offset = 10 - datetime.now(timezone.utc).hour
    offset += 24 if offset < -12 else 0
    return f"Etc/GMT{-offset:+d}" if offset else "UTC"


@pytest.fixture(scope="module")
def home() -> Iterator[HermesHome]:
    routes = [{**route, "repeat": True} for route in ROUTES]
    with (
        ModelServer(routes, model="gpt-4o-mini") as model,
        HermesHome(model.url, model="gpt-4o-mini") as made,
    ):
        made.variables |= {"OPENAI_API_KEY": "key-of-the-scripted-model", "OPENAI_BASE_URL": model.url}
        made.configure({"timezone": _zone_of_forenoon()})
        yield made


@pytest.fixture(scope="module")
def chats(home: HermesHome) -> FileChats:
    return FileChats(home)


@pytest.fixture(scope="module")
def host(home: HermesHome, chats: FileChats) -> Iterator[Host]:
    with Host(home) as started:
        yield started


@pytest.fixture(scope="module")
def jobs(home: HermesHome, chats: FileChats, host: Host) -> dict[str, str]:
    """Jobs of every kind, each run once or twice; a first snapshot was taken before."""
    (home.path / "scripts").mkdir()
    (home.path / "scripts" / "quiet.py").write_text("")
    host.ops("costs", "--json", code=1)  # no profile has a database yet: what was used is unknown
    priced = {"provider": "openai-api", "model": "gpt-4o-mini"}
    made = {
        "news": {"prompt": "Say the news", "schedule": "0 23 * * *", "deliver": "file-chat:news", **priced},
        "audit": {"prompt": "Audit the day", "schedule": "0 * * * *", "deliver": "local", **priced},
        "lamp": {"prompt": "Watch the lamp", "schedule": "every 2h", "deliver": "file-chat:lamp", **priced},
        "bad": {"prompt": "Break", "schedule": "0 23 * * *", "deliver": "file-chat:bad", **priced},
        "once": {"prompt": "Say the news", "schedule": "3h", "deliver": "file-chat:news", **priced},
        "script": {"schedule": "0 * * * *", "script": "quiet.py", "no_agent": True},
        "foreign": {"prompt": "Audit the day", "schedule": "0 * * * *", "deliver": "local", **priced},
    }
    ids = {name: host.ask("create", **{"name": name, **job}) for name, job in made.items()}
    host.ask("pause", ids["foreign"], "by a person")
    host.ask("run", [ids[name] for name in ("news", "audit", "lamp", "bad", "script")])
    return ids


def test_the_budget_pauses_what_is_still_to_cost_and_resumes_exactly_that(
    home: HermesHome, host: Host, jobs: dict[str, str]
) -> None:
    assert host.ask("watch", "spend.budget") == {"findings": {}, "blind": [], "events": []}
    home.configure({"ops": {"budget": {"cap_usd": 100.0, "act": False, "pause": 2}}})
    assert host.ask("watch", "spend.budget")["findings"] == {}
    before = host.states()

    home.configure({"ops": {"budget": {"cap_usd": 0.5}}})
    proposed = host.ask("watch", "spend.budget")
    [over] = proposed["findings"].values()
    assert "$0.63" in over[1] and over[2].startswith(f"job {jobs['audit']} (audit)")
    assert host.states() == before
    host.ops("budget", "pause", "--dry-run")
    assert host.states() == before

    home.configure({"ops": {"budget": {"act": True}}})
    acted = host.ask("watch", "spend.budget")
    paused = {name for name, (state, _) in host.states().items() if state == "paused"}
    assert paused == {jobs["audit"], jobs["lamp"], jobs["foreign"]}  # 13 and 6 runs to come against one
    assert "hermes ops budget" in host.states()[jobs["audit"]][1]
    assert len(acted["events"]) == 1 and acted["blind"] == []
    assert host.ask("watch", "spend.budget")["events"] == []

    resumed = json.loads(host.ops("budget", "resume", "--json"))
    assert {one["job"] for one in resumed["resumed"]} == {jobs["audit"], jobs["lamp"]}
    assert host.states() == before
    assert host.ask("watch", "spend.budget")["events"] == [] and host.states() == before


def test_the_next_day_resumes_what_nobody_has_taken_over(
    home: HermesHome, host: Host, jobs: dict[str, str]
) -> None:
    before = host.states()
    record = home.path / "ops" / "budget.json"
    record.write_text(json.dumps({"format": 1, "paused": [], "days": {}}))  # as if today had not paused yet
    assert host.ask("watch", "spend.budget")["events"]
    host.ask("pause", jobs["lamp"], "by a person")
    tomorrow = host.ask("watch", "spend.budget", later=86_400.0)
    assert len(tomorrow["events"]) == 1 and "left alone" in tomorrow["events"][0]
    assert host.states() == {**before, jobs["lamp"]: ("paused", "by a person")}
    assert json.loads(record.read_text())["paused"] == []
    host.ask("cron.jobs.resume_job", jobs["lamp"])
    assert host.states() == before


def test_outcomes_tell_said_silent_and_failed_apart_with_their_cost(host: Host, jobs: dict[str, str]) -> None:
    roles = {one["role"].split(" ")[0]: one for one in json.loads(host.ops("outcomes", "--json"))["roles"]}
    assert (roles["news"]["runs_success"], roles["lamp"]["runs_silent"], roles["bad"]["runs_failed"]) == (
        1,
        1,
        1,
    )
    assert roles["news"]["usd"] == pytest.approx(0.21) and roles["bad"]["usd"] == 0.0
    assert roles["news"]["state"] == "cannot tell" and roles["lamp"]["state"] == "no success yet"
    assert roles["script"]["runs_silent"] == 1 and roles["script"]["usd"] == 0.0


def test_thinking_is_the_share_of_reasoning_in_the_bill(host: Host, jobs: dict[str, str]) -> None:
    [today] = json.loads(host.ops("thinking", "--json"))["days"]
    # 0.15 for the prompt and 0.06 for the answer, half of which is reasoning, three times
    assert today["reasoning_usd_estimate"] == pytest.approx(0.09) and today["reasoning_tokens"] == 150_000
    assert host.ask("watch", "spend.thinking")["findings"] == {}


def test_a_lost_delivery_is_found_and_is_over_when_one_arrives(
    home: HermesHome, chats: FileChats, host: Host, jobs: dict[str, str]
) -> None:
    assert host.ask("watch", "schedule.deliveries")["findings"] == {}
    unreachable = home.root / "chat" / "unreachable"
    unreachable.touch()
    next_second()
    host.ask("run", [jobs["news"], jobs["lamp"]])
    found = host.ask("watch", "schedule.deliveries")["findings"]
    assert list(found) == ["deliveries.failing:default/file-chat:news"]
    severity, text, *evidence = found["deliveries.failing:default/file-chat:news"]
    assert severity == "error" and "the chat cannot be reached" in text
    assert any("errors.log" in line for line in evidence)
    channels = {
        one["target"]: one for one in json.loads(host.ops("deliveries", "--json", code=1))["channels"]
    }
    news, lamp, bad = (channels[f"file-chat:{name}"] for name in ("news", "lamp", "bad"))
    assert (news["state"], news["sent"], news["undelivered"]) == ("failing", 1, 1)
    assert (lamp["state"], lamp["silent"], bad["state"], bad["failed"]) == (
        "only silent",
        2,
        "only failed",
        1,
    )
    unreachable.unlink()
    next_second()
    host.ask("run", [jobs["news"]])
    assert host.ask("watch", "schedule.deliveries")["findings"] == {}
    assert len(chats.said("news")) == 2


def test_a_move_is_applied_through_the_host_and_undone(
    home: HermesHome, host: Host, jobs: dict[str, str]
) -> None:
    home.configure({"ops": {"schedule": {"cheap_hours": "04:00-05:00"}}})
    moves = {one["job"]: one for one in json.loads(host.ops("schedule", "--json"))["moves"]}
    assert moves[jobs["news"]]["after"] == "55 4 * * *"  # at 4:00 the hourly one starts
    assert jobs["audit"] not in moves
    assert "leave out" in moves[jobs["news"]]["not_now"]  # between 4 and 23 o'clock
    host.ops("schedule", "--apply", jobs["news"], code=1)
    home.configure({"ops": {"schedule": {"cheap_hours": "23:10-23:50"}}})
    expected = "10 23 * * *"
    before = host.ask("listed")[jobs["news"]]
    host.ops("schedule", "--apply", jobs["news"], "--dry-run")
    assert host.ask("listed")[jobs["news"]] == before
    host.ops("schedule", "--apply", "news")
    moved = host.ask("listed")[jobs["news"]]
    assert moved["schedule"]["expr"] == expected and moved["state"] == "scheduled"
    assert moved["next_run_at"] and moved["next_run_at"] != before["next_run_at"]
    host.ops("schedule", "--undo", "news")
    assert host.ask("listed")[jobs["news"]]["schedule"] == before["schedule"]
    host.ops("schedule", "--undo", "news", code=1)
