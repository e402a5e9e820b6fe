"""The wallet watcher as the host's own job, spending done by the real host; and models asked through it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.host import installs
from tests.host.file_chats import FileChats
from tests.host.hermes import HermesHome, finish
from tests.host.installs import OPS
from tests.host.model_server import ModelServer, auxiliary_route
from tests.ops.loopback import Loopback, Says

pytestmark = pytest.mark.host

CHAT = "ops"
KEY = "sk-" + "made-up-key-0123456789abcdef"
CREATE = """
from cron.jobs import create_job
print(create_job("Write the digest.", "every 2h", name="digest", deliver="local")["id"])
"""
ASK = """
import json, sys
from pathlib import Path
from hermes_ops.core.model import NoAnswer, through_host
asked = through_host(Path(sys.argv[1]))
for text in ("--how much is it?", "Break."):
    try:
        reply = asked.complete([{"role": "user", "content": text}])
        print(json.dumps({"text": reply.text, "input": reply.usage.input, "usd": reply.usage.usd}))
    except NoAnswer as error:
        print(json.dumps({"error": str(error)}))
"""


@dataclass
class Site:
    """A home whose provider's balance a test sets."""

    home: HermesHome
    model: ModelServer
    provider: Loopback
    chats: FileChats

    def left(self, amount: str) -> None:
        info = {"currency": "USD", "total_balance": amount}
        self.provider.answers["/user/balance"] = Says({"is_available": True, "balance_infos": [info]})

    def python(self, *arguments: str) -> str:
        """Run the host's Python in the environment of this home; what it printed."""
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.home.environment(),
            cwd=installs.CHECKOUT,
            start_new_session=True,
        )
        run = finish(process, 60)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def spend(self, tokens: int) -> None:
        usage = {"prompt_tokens": tokens, "completion_tokens": 100}
        answer = {"name": "agent", "when": {"has_tools": True}, "turns": [{"text": "Done.", "usage": usage}]}
        self.model.reset([auxiliary_route(), answer])


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with ModelServer() as model, Loopback() as provider, HermesHome(model.url) as home:
        chats = FileChats(home)
        home.configure({"cron": {"wrap_response": False}})
        home.install(installs.CHECKOUT / OPS.folder, link=True)
        (home.path / ".env").write_text(
            f"DEEPSEEK_API_KEY={KEY}\n"
            "WALLET_API_KEY_ENV=DEEPSEEK_API_KEY\n"
            f"WALLET_BALANCE_URL={provider.url}/user/balance\n"
        )
        yield Site(home, model, provider, chats)


def test_the_alert_names_the_job_that_spent_since_and_finds_the_key_in_the_env_file(site: Site) -> None:
    home = site.home
    site.spend(5_000_000)
    installs.done(home.one_shot("Read everything."))
    installs.done(home.run("ops", "install", "wallet", "--deliver", f"file-chat:{CHAT}"))
    [wallet] = json.loads((home.path / "cron" / "jobs.json").read_text("utf-8"))["jobs"]
    digest = site.python("-c", CREATE).strip()

    site.left("10.00")
    assert site.python(str(home.path / "scripts" / "ops-wallet.py")) == "", "all is well"

    site.spend(900_000)
    installs.done(home.run("cron", "run", digest))
    site.left("8.20")
    installs.done(home.run("cron", "run", wallet["id"]))
    [said] = site.chats.said(CHAT)
    assert said.startswith("error: deepseek: 1.80 USD spent in 24 h")
    assert f"Most by job {digest} (digest) (100%)" in said
    assert f"Fix: hermes cron pause {digest}" in said
    assert {one.headers["authorization"] for one in site.provider.asked} == {f"Bearer {KEY}"}
    assert KEY not in (home.path / "ops" / "incidents.json").read_text("utf-8")


def test_a_model_is_asked_through_the_host_and_its_errors_are_no_answers(site: Site) -> None:
    usage = {"prompt_tokens": 1200, "completion_tokens": 7}
    good = {"when": {"last_user": "how much"}, "turns": [{"text": "Four.", "usage": usage}]}
    bad = {
        "when": {"last_user": "Break"},
        "turns": [{"status": 400, "message": "no such model"}],
        "repeat": True,
    }
    site.model.reset([good, bad])
    answer, failure = map(json.loads, site.python("-c", ASK, str(site.home.path)).splitlines())
    assert answer == {"text": "Four.", "input": 1200, "usd": None}
    assert "no such model" in failure["error"]
    assert all("tools" not in request.body for request in site.model.requests)
