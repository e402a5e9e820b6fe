"""Chats of a running gateway through the platform of files, one line at a time."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from tests.host.hermes import HermesHome
from tests.host.scenarios.core import wait_until

PLATFORM = Path(__file__).parent / "file_chat"


class FileChats:
    """What is typed into chats and what comes back; `hear` looks only at what came after the last match."""

    def __init__(self, home: HermesHome) -> None:
        """Prepare a home whose gateway has not started yet."""
        self._place = home.root / "chat"
        (self._place / "in").mkdir(parents=True)
        self._sent = 0
        self._heard: dict[str, int] = {}
        home.install(PLATFORM)
        home.configure({"platforms": {"file-chat": {"enabled": True}}})
        home.variables.update({"FILE_CHAT": str(self._place), "FILE_CHAT_ALLOW_ALL": "1"})

    def send(self, chat: str, text: str) -> None:
        """Send a message."""
        self._sent += 1
        path = self._place / "in" / f"{self._sent:04d}.json"
        path.with_suffix(".new").write_text(json.dumps({"chat": chat, "text": text}), "utf-8")
        path.with_suffix(".new").rename(path)

    def hear(self, chat: str, text: str, timeout: float = 30.0) -> str:
        """Wait for a message of the agent that holds `text`."""
        found: list[str] = []

        def arrived() -> bool:
            said = self.said(chat)
            for number in range(self._heard.get(chat, 0), len(said)):
                if text in said[number]:
                    self._heard[chat] = number + 1
                    found.append(said[number])
                    return True
            return False

        try:
            wait_until(arrived, f"{text!r}", timeout)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the chat: {self.said(chat)[-5:]}") from None
        return found[0]

    def say(self, chat: str, text: str, answer: str, timeout: float = 30.0) -> str:
        """Send a message and wait for one that holds `answer`."""
        self.send(chat, text)
        return self.hear(chat, answer, timeout)

    def reachable(self, can_be: bool) -> None:
        """Let messages out, or let them fail with a reason."""
        mark = self._place / "unreachable"
        mark.unlink(missing_ok=True) if can_be else mark.touch()

    def said(self, chat: str) -> list[str]:
        """Every message that went to a chat."""
        lines: list[str] = []
        with suppress(FileNotFoundError):
            lines = (self._place / "out.jsonl").read_text("utf-8").splitlines()
        return [said["text"] for said in map(json.loads, lines) if said["chat"] == chat]
