"""A real gateway with a messaging platform: what is typed in one chat decides for that chat."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.hermes import Gateway, HermesHome
from tests.host.model_server import ModelServer, auxiliary_route
from tests.host.recordings import UNROLL

pytestmark = pytest.mark.host
PLATFORM = Path(__file__).parent / "file_chat"


class Chats:
    """The chats of a running gateway."""

    def __init__(self, home: HermesHome, place: Path) -> None:
        self.home, self.place = home, place
        self._count = 0

    def say(self, chat: str, text: str, answer: str, timeout: float = 60.0) -> str:
        """Send a message and wait for a reply in that chat that holds ``answer``."""
        before = len(self._replies(chat))
        self._count += 1
        path = self.place / "in" / f"{self._count:04d}.json"
        path.with_suffix(".new").write_text(json.dumps({"chat": chat, "text": text}))
        path.with_suffix(".new").rename(path)
        limit = time.monotonic() + timeout
        while time.monotonic() < limit:
            found = [reply for reply in self._replies(chat)[before:] if answer in reply]
            if found:
                return found[0]
            time.sleep(0.1)
        raise TimeoutError(f"no {answer!r} in {self._replies(chat)[before:]}")

    def _replies(self, chat: str) -> list[str]:
        try:
            lines = (self.place / "out.jsonl").read_text("utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [said["text"] for said in map(json.loads, lines) if said["chat"] == chat]

    def recorded(self) -> str:
        """Everything under traces/, as one text."""
        files = [path for path in (self.home.path / "traces").rglob("*") if path.is_file()]
        return "\n".join(path.read_text("utf-8", "replace") for path in files)


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chats]:
    place = tmp_path_factory.mktemp("chat")
    (place / "in").mkdir()
    answers = {"turns": [{"text": "Heard."}], "repeat": True}
    with ModelServer([auxiliary_route("A title"), answers]) as model, HermesHome(model.url) as home:
        home.install(PLATFORM)
        home.install(UNROLL)
        home.enable("file-chat", "hermes-unroll")
        home.configure({"platforms": {"file-chat": {"enabled": True}}})
        home.variables.update({"FILE_CHAT": str(place), "FILE_CHAT_ALLOW_ALL": "1"})
        with Gateway(home):
            yield Chats(home, place)


def test_off_in_one_chat_is_about_that_chat_alone(chats: Chats) -> None:
    chats.say("red", "first in red", "Heard.")
    chats.say("blue", "first in blue", "Heard.")
    assert "not recorded" in chats.say("red", "/unroll off", "recorded")
    chats.say("red", "second in red", "Heard.")
    chats.say("blue", "second in blue", "Heard.")
    recorded = chats.recorded()
    assert "first in red" in recorded and "first in blue" in recorded
    assert "second in blue" in recorded and "second in red" not in recorded


def test_the_decision_is_kept_and_can_be_taken_back(chats: Chats) -> None:
    assert "not recorded" in chats.say("green", "/unroll off", "recorded")
    chats.say("green", "first in green", "Heard.")
    assert json.loads((chats.home.path / "traces" / "consent.json").read_text())["chats"] == ["green", "red"]
    assert "is recorded" in chats.say("green", "/unroll on", "recorded")
    chats.say("green", "second in green", "Heard.")
    recorded = chats.recorded()
    assert "second in green" in recorded and "first in green" not in recorded
    assert recorded.count("<not recorded: recording was off>") >= 1
