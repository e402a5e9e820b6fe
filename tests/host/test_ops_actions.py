"""Actions on jobs of the real host: in its own process, through its command, and `hermes send`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.core import alert
from hermes_ops.core.action import Action, Done, apply, journal
from hermes_ops.host.jobs import read_jobs
from tests.host.hermes import HermesHome
from tests.host.ops_host import Host
from tests.ops.loopback import Loopback, Says

pytestmark = pytest.mark.host


@pytest.fixture(scope="module")
def world() -> Iterator[HermesHome]:
    with HermesHome("http://127.0.0.1:9/v1", config={"timezone": "Asia/Kolkata"}) as home:
        profile = home.path / "profiles" / "work"
        for folder in (home.path, profile):
            (folder / "scripts").mkdir(parents=True)
            (folder / "scripts" / "say.py").write_text("print('said')\n")
        (profile / "config.yaml").write_text(
            json.dumps({**home.config, "timezone": "America/New_York"}), "utf-8"
        )
        yield home


@pytest.fixture
def elsewhere(world: HermesHome, monkeypatch) -> HermesHome:
    """This process has another home, so that actions on `world` go through the host's command."""
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HERMES_HOME", str(world.root / "elsewhere"))
    return world


def act(home: Path, verb: str, job_id: str | None, **arguments: Any) -> Done:
    return apply(Action(verb, home, job_id, arguments, "test"))


def test_actions_through_the_command_are_read_back(elsewhere: HermesHome) -> None:
    profile = elsewhere.path / "profiles" / "work"
    made = act(
        profile,
        "create",
        None,
        schedule="0 9 * * *",
        name="watch",
        script="say.py",
        no_agent=True,
        deliver="local",
    )
    assert made.ok, made.detail
    job = read_jobs(profile).by_id(made.job_id)
    assert job.raw["next_run_at"].endswith(("-04:00", "-05:00")), "the zone is the profile's"
    paused = act(profile, "pause", made.job_id)
    assert paused.ok and read_jobs(profile).by_id(made.job_id).state == "paused"
    assert apply(paused.undo).ok and read_jobs(profile).by_id(made.job_id).live
    edited = act(profile, "edit", made.job_id, schedule="30 4 * * *", name="nightly")
    assert edited.ok and read_jobs(profile).by_id(made.job_id).schedule.expr == "30 4 * * *"
    ran = act(profile, "run", made.job_id)
    assert ran.ok and ran.detail.endswith("ran: ok")
    refused = act(profile, "create", None, schedule="soon", prompt="x")
    assert not refused.ok and "Invalid schedule" in refused.detail
    assert [one["ok"] for one in journal(profile)] == [True, True, True, True, True, False]


@pytest.fixture(scope="module")
def told(world: HermesHome) -> Iterator[dict[str, Any]]:
    """What actions in a process of the host came to."""
    with Host(world) as host:
        yield acted(host, world.path / "profiles" / "work")


def acted(host: Host, profile: Path) -> dict[str, Any]:
    """Actions in the home of the process and in a profile below it in another zone, and what each came to."""
    told: dict[str, Any] = {}

    def act(label: str, verb: str, job_id: str | None, **arguments: Any) -> dict[str, Any]:
        told[label] = host.ask("act", verb, job_id, **arguments)
        return told[label]

    def undo(label: str, done: dict[str, Any]) -> None:
        told[label] = host.ask("undo", done["number"])

    script = {"script": "say.py", "no_agent": True, "deliver": "local"}
    made = act("create", "create", None, schedule="every 2h", name="watch", **script)
    paused = act("pause", "pause", made["id"])
    act("pause again", "pause", made["id"])
    undo("resume", paused)
    act("run", "run", made["id"])

    changes = {"schedule": "30 4 * * *", "deliver": "telegram:-100:17", "name": "nightly"}
    undo("undo edit", act("edit", "edit", made["id"], **changes))

    agent = act(
        "create agent", "create", None, schedule="0 9 * * *", prompt="Say what is new.", deliver="local"
    )
    pin = {"model": "small-model", "provider": "custom", "enabled_toolsets": ["web"]}
    undo("unpin", act("pin", "edit", agent["id"], **pin))

    soon = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 3600))
    once = act("create once", "create", None, schedule=soon, prompt="Remind me.", deliver="local")
    act("once again", "edit", once["id"], schedule="every 3h")

    act("bad schedule", "create", None, schedule="99 99 * * *", prompt="x")
    act("bad script", "create", None, schedule="every 2h", script="../../etc/passwd", no_agent=True)
    act("no such job", "pause", "0" * 12)
    act("no id", "pause", "x; touch /tmp/x")

    undo("remove", made)

    job = {"prompt": "Say what is new.", "schedule": "0 9 * * *", "deliver": "local"}
    other = host.ask("create", store=str(profile), **job)
    undo("profile unpin", act("profile pin", "edit", other, home=str(profile), model="small-model"))
    return told


def test_a_job_is_made_paused_and_resumed_in_process(told: dict[str, Any]) -> None:
    assert told["create"]["ok"] and told["create"]["job"]["no_agent"] is True
    assert told["create"]["job"]["next_run_at"].endswith("+05:30")
    assert told["pause"]["job"]["state"] == "paused" and told["pause"]["job"]["paused_reason"] == "test"
    assert told["pause again"]["ok"] and not told["pause again"]["changed"]
    assert told["resume"]["job"]["enabled"] is True and told["resume"]["job"]["paused_reason"] is None
    assert told["run"]["detail"].endswith("is due at the next tick of the scheduler")


def test_an_edit_in_process_is_undone_exactly(told: dict[str, Any]) -> None:
    assert told["edit"]["job"]["deliver"] == "telegram:-100:17"
    assert told["edit"]["job"]["schedule"]["expr"] == "30 4 * * *"
    for name in ("schedule", "deliver", "name", "enabled", "state"):
        assert told["undo edit"]["job"][name] == told["resume"]["job"][name]


def test_a_model_is_pinned_and_unpinned_in_process(told: dict[str, Any]) -> None:
    assert (told["pin"]["job"]["model"], told["pin"]["job"]["provider"]) == ("small-model", "custom")
    assert told["pin"]["job"]["enabled_toolsets"] == ["web"]
    assert told["unpin"]["ok"] and told["unpin"]["job"]["model"] is None
    assert told["unpin"]["job"]["model_snapshot"] == told["create agent"]["job"]["model_snapshot"]
    assert told["create once"]["job"]["schedule"]["kind"] == "once"
    assert told["once again"]["job"]["schedule"]["minutes"] == 180


def test_what_the_host_refuses_is_an_answer(told: dict[str, Any]) -> None:
    for name, why in (
        ("bad schedule", "Invalid cron expression"),
        ("bad script", "escapes the scripts directory"),
        ("no such job", "no job 000000000000"),
        ("no id", "no job id"),
    ):
        assert not told[name]["ok"] and why in told[name]["detail"]
    assert told["remove"]["ok"] and told["remove"]["job"] is None


def test_a_model_in_another_profile_is_set_there_alone(told: dict[str, Any], world: HermesHome) -> None:
    assert told["profile pin"]["ok"] and told["profile pin"]["job"]["model"] == "small-model"
    assert told["profile unpin"]["ok"]
    assert [job.model for job in read_jobs(world.path).jobs] == [None, None]


def test_an_alert_goes_out_through_the_hosts_own_send(elsewhere: HermesHome) -> None:
    with Loopback({"/ops": Says({"id": "1"})}) as server:
        (elsewhere.path / ".env").write_text(f"NTFY_TOPIC=ops\nNTFY_SERVER_URL={server.url}\n")
        elsewhere.configure({"ops": {"alert_send": ["ntfy:ops"]}})
        sent = alert.send(elsewhere.path, "gateway dead\nMEDIA:/etc/hosts.txt", timeout=60)
    assert sent == [alert.Sent("send", True, "ntfy:ops: arrived")]
    assert server.asked[0].body == b"gateway dead\nMEDIA :/etc/hosts.txt"
