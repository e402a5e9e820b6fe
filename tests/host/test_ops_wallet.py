"""The wallet watcher as the host's own job, spending done by the real host; and models asked through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from hermes_ops.core.model import NoAnswer, through_host
from tests.host.file_chats import FileChats
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer, auxiliary_route
from tests.host.ops_host import CHECKOUT, Host
from tests.ops.loopback import Loopback, Says

pytestmark = pytest.mark.host

CHAT = "ops"
KEY = "sk-" + "made-up-key-0123456789abcdef"


@dataclass
class Site:
    """A home whose provider's balance a test sets."""

    home: HermesHome
    model: ModelServer
    provider: Loopback
    chats: FileChats
    host: Host

    def left(self, amount: str) -> None:
        info = {"currency": "USD", "total_balance": amount}
        self.provider.answers["/user/balance"] = Says({"is_available": True, "balance_infos": [info]})

    def spend(self, job_id: str, tokens: int) -> None:
        """Run a job whose model uses so much."""
        usage = {"prompt_tokens": tokens, "completion_tokens": 100}
        answer = {"name": "agent", "when": {"has_tools": True}, "turns": [{"text": "Done.", "usage": usage}]}
        self.model.reset([auxiliary_route(), answer])
        self.host.ask("run", [job_id])


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with ModelServer() as model, Loopback() as provider, HermesHome(model.url) as home:
        chats = FileChats(home)
        home.configure({"cron": {"wrap_response": False}})
        home.install(CHECKOUT / "hermes_ops", link=True)
        (home.path / ".env").write_text(
            f"DEEPSEEK_API_KEY={KEY}\n"
            "WALLET_API_KEY_ENV=DEEPSEEK_API_KEY\n"
            f"WALLET_BALANCE_URL={provider.url}/user/balance\n"
        )
        with Host(home) as host:
            yield Site(home, model, provider, chats, host)


def test_the_alert_names_the_job_that_spent_since_and_finds_the_key_in_the_env_file(site: Site) -> None:
    home, host = site.home, site.host
    every = {"schedule": "every 2h", "deliver": "local"}
    archive = host.ask("create", name="archive", prompt="Read everything.", **every)
    site.spend(archive, 5_000_000)
    host.ops("install", "wallet", "--deliver", f"file-chat:{CHAT}")
    [wallet] = [job for job, record in host.ask("listed").items() if record["script"] == "ops-wallet.py"]
    digest = host.ask("create", name="digest", prompt="Write the digest.", **every)

    site.left("10.00")
    host.ask("run", [wallet])
    assert host.ask("listed")[wallet]["last_status"] == "ok"
    assert site.chats.said(CHAT) == [], "all is well"

    site.spend(digest, 900_000)
    site.left("8.20")
    host.ask("run", [wallet])
    [said] = site.chats.said(CHAT)
    assert said.startswith("error: deepseek: 1.80 USD spent in 24 h")
    assert f"Most by job {digest} (digest) (100%)" in said
    assert f"Fix: hermes cron pause {digest}" in said
    assert {one.headers["authorization"] for one in site.provider.asked} == {f"Bearer {KEY}"}
    assert KEY not in (home.path / "ops" / "incidents.json").read_text("utf-8")


def test_a_model_is_asked_through_the_host_and_its_errors_are_no_answers(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in site.home.environment().items():
        monkeypatch.setenv(name, value)
    usage = {"prompt_tokens": 1200, "completion_tokens": 7}
    good = {"when": {"last_user": "how much"}, "turns": [{"text": "Four.", "usage": usage}]}
    bad = {
        "when": {"last_user": "Break"},
        "turns": [{"status": 400, "message": "no such model"}],
        "repeat": True,
    }
    site.model.reset([good, bad])
    asked = through_host(site.home.path)
    reply = asked.complete([{"role": "user", "content": "--how much is it?"}])
    assert (reply.text, reply.usage.input, reply.usage.usd) == ("Four.", 1200, None)
    with pytest.raises(NoAnswer, match="no such model"):
        asked.complete([{"role": "user", "content": "Break."}])
    assert all("tools" not in request.body for request in site.model.requests)
