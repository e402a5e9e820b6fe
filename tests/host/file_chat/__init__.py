"""A messaging platform of files: FILE_CHAT/in/*.json comes in, FILE_CHAT/out.jsonl goes out.

While there is a file FILE_CHAT/unreachable, nothing goes out and senders are told so.
"""

import asyncio
import json
import os
from datetime import datetime, timezone
from pathlib import Path

from gateway.config import Platform
from gateway.platforms.base import BasePlatformAdapter, MessageEvent, MessageType, SendResult

PLACE = Path(os.environ["FILE_CHAT"])


class FileChat(BasePlatformAdapter):
    def __init__(self, config):
        super().__init__(config=config, platform=Platform("file-chat"))
        self._watch = None
        self._sent = 0

    async def connect(self, *, is_reconnect=False):
        (PLACE / "in").mkdir(parents=True, exist_ok=True)
        self._mark_connected()
        self._watch = asyncio.create_task(self._deliver())
        return True

    async def disconnect(self):
        if self._watch is not None:
            self._watch.cancel()
        self._mark_disconnected()

    async def _deliver(self):
        while True:
            for path in sorted((PLACE / "in").glob("*.json")):
                said = json.loads(path.read_text("utf-8"))
                path.unlink()
                source = self.build_source(
                    chat_id=said["chat"],
                    chat_name=said["chat"],
                    chat_type="dm",
                    user_id="u1",
                    user_name="User",
                )
                await self.handle_message(
                    MessageEvent(
                        text=said["text"],
                        message_type=MessageType.TEXT,
                        source=source,
                        message_id=path.stem,
                        raw_message=said,
                        timestamp=datetime.now(timezone.utc),
                    )
                )
            await asyncio.sleep(0.05)

    async def send(self, chat_id, content, reply_to=None, metadata=None):
        self._sent += 1
        problem = write(chat_id, content)
        return SendResult(success=not problem, message_id=str(self._sent), error=problem)

    async def send_typing(self, chat_id, metadata=None):
        pass

    async def get_chat_info(self, chat_id):
        return {"name": chat_id, "type": "dm"}


def write(chat, text):
    """Add a message to out.jsonl; the reason when nothing comes through."""
    if (PLACE / "unreachable").exists():
        return "the chat cannot be reached"
    with (PLACE / "out.jsonl").open("a", encoding="utf-8") as out:
        out.write(json.dumps({"chat": chat, "text": text}) + "\n")
    return None


async def send_without_gateway(config, chat_id, text, **_):
    problem = write(chat_id, text)
    return {"error": problem} if problem else {"success": True, "message_id": "1"}


def register(ctx):
    ctx.register_platform(
        name="file-chat",
        label="File chat",
        adapter_factory=FileChat,
        check_fn=lambda: True,
        allow_all_env="FILE_CHAT_ALLOW_ALL",
        validate_config=lambda config: True,
        is_connected=lambda config: True,
        cron_deliver_env_var="FILE_CHAT_HOME",
        standalone_sender_fn=send_without_gateway,
    )
