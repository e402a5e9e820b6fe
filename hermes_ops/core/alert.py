"""Alerts that do not go through the gateway, for when it is the gateway that died.

Telegram's Bot API by the token of the environment or `.env`; `hermes send`; any command. Each is tried in
the order of `ops.alerts`; the first that confirms ends it, unless `ops.alert_all`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import OpsError, Unreadable
from ..settings import Option, Settings, load, switch, text, words
from .incident_text import clean, clean_lines

CHANNELS = ("telegram", "send", "command")
TELEGRAM_URL = "https://api.telegram.org"
TOKEN_VARIABLE = "TELEGRAM_BOT_TOKEN"
MAX_TEXT = 16_000
TELEGRAM_UNITS = 4096  # UTF-16 code units that one message of Telegram takes
TRIES = 3
MAX_DETAIL = 300

_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{10,200}")
_CHAT = re.compile(r"(-?[0-9]{1,20}|@[A-Za-z0-9_]{3,64})(?::([0-9]{1,20}))?")


def _channel_names(value: Any) -> tuple[str, ...]:
    found = words(value)
    if not found or any(name not in CHANNELS for name in found):
        raise ValueError(f"expected some of {', '.join(CHANNELS)}")
    return tuple(dict.fromkeys(found))


def _chats(value: Any) -> tuple[str, ...]:
    found = words([value] if isinstance(value, int) else value)
    if any(not _CHAT.fullmatch(chat) for chat in found):
        raise ValueError("expected chat ids (-1001234567890, with a topic -1001234567890:17) or @names")
    return found


def _thread(value: Any) -> str:
    found = str(value).strip()
    if isinstance(value, bool) or not (found.isascii() and found.isdigit()):
        raise ValueError("expected the number of a topic")
    return found


def _argv(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        import shlex

        value = shlex.split(value)
    if not isinstance(value, list) or not value or not all(isinstance(one, str) and one for one in value):
        raise ValueError('expected a program with its arguments, ["/usr/local/bin/page", "--now"]')
    return tuple(value)


def _base_url(value: Any) -> str:
    found = text(value).rstrip("/")
    if not re.match(r"https://|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/|$)", found):
        raise ValueError("expected https:// (the token is part of the address), or http:// to this machine")
    return found


OPTIONS = (
    Option(
        "alerts", CHANNELS, _channel_names, "the order in which channels are tried: telegram, send, command"
    ),
    Option("alert_all", False, switch, "use every channel, not only the first that confirms"),
    Option(
        "alert_chat", (), _chats, "Telegram chats: ids, with a topic id:topic, or @names", ("OPS_CHAT_ID",)
    ),
    Option("alert_thread", "", _thread, "the topic in the first of these chats", ("OPS_THREAD_ID",)),
    Option("alert_telegram_url", TELEGRAM_URL, _base_url, "where the Bot API is"),
    Option("alert_send", (), words, "targets for `hermes send --to`: slack:C0123, telegram:-100123:17"),
    Option("alert_command", (), _argv, "a program that takes the text on its standard input", secret=True),
)


@dataclass(frozen=True)
class Sent:
    """What became of one target of a channel ("telegram", "send", "command"); without any secret."""

    channel: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class _Target:
    """One place to send to: what it is called, and how (text, severity, timeout) goes there."""

    channel: str
    name: str
    send: Callable[[str, str, float], str]


def channels(home: Path) -> list[str]:
    """The channels that are configured, in their order, by name and target; never a token."""
    return [f"{one.channel} {one.name}" for one in _targets(home, _settings(home))]


def problems(home: Path) -> list[str]:
    """What is set for alerts and wrong, or half set; one line each."""
    settings = _settings(home)
    found = [clean(one, MAX_DETAIL) for one in settings.problems]
    try:
        token = _token(home)
    except OpsError as error:
        return [*found, clean(error, MAX_DETAIL)]
    if settings["alert_chat"] and token is None:
        found.append(
            f"telegram: a chat is set, but no {TOKEN_VARIABLE} in the environment or {home / '.env'}"
        )
    if settings["alert_thread"] and not settings["alert_chat"]:
        found.append("telegram: a topic is set, but no chat: set OPS_CHAT_ID or ops.alert_chat")
    return found


def send(
    home: Path,
    text: str,
    *,
    severity: str = "error",
    timeout: float = 20.0,
    channel: str | None = None,
    everywhere: bool = False,
) -> list[Sent]:
    """Send one text (redacted, cut to what the channel takes); [] when no channel is configured.

    All targets of the first channel of which one confirms; with `everywhere` or ops.alert_all of every
    channel; with `channel` of that one alone. Each target has `timeout` seconds. Never raises.
    """
    settings = _settings(home)
    body = clean_lines(text, MAX_TEXT) or "(empty)"
    done: list[Sent] = []
    for name in settings["alerts"] if channel is None else (channel,):
        for target in _targets(home, settings):
            if target.channel == name:
                done.append(_attempt(target, body, severity, timeout))
        confirmed = any(one.ok for one in done)
        if confirmed and not everywhere and not settings["alert_all"]:
            break
    return done


def _attempt(target: _Target, body: str, severity: str, timeout: float) -> Sent:
    try:
        detail, ok = target.send(body, severity, timeout), True
    except _NotSent as error:
        detail, ok = str(error), False
    except (OpsError, OSError) as error:
        detail, ok = str(error), False
    return Sent(target.channel, ok, clean(f"{target.name}: {detail}", MAX_DETAIL))


class _NotSent(Exception):
    """The channel said no, or said nothing; the text holds no secret."""


def _settings(home: Path) -> Settings:
    try:
        return load(home, OPTIONS)
    except Unreadable as error:  # .env: what config.yaml says still holds
        settings = load(home, [replace(option, variables=()) for option in OPTIONS])
        settings.problems.append(str(error))
        return settings


def _token(home: Path) -> str | None:
    """The bot's token, None when none is set; OpsError when what is set is none."""
    from ..host.environment import lookup

    token = lookup(TOKEN_VARIABLE, home)
    if token is not None and not _TOKEN.fullmatch(token.strip()):
        raise OpsError(f"{TOKEN_VARIABLE} is not the token of a bot (digits, a colon, letters)")
    return token.strip() if token else None


def _targets(home: Path, settings: Settings) -> list[_Target]:
    found: list[_Target] = []
    for name in settings["alerts"]:
        if name == "telegram":
            found += _telegram_targets(home, settings)
        elif name == "send":
            found += [_Target("send", to, _through_host(home, to)) for to in settings["alert_send"]]
        elif settings["alert_command"]:
            argv = settings["alert_command"]
            found.append(_Target("command", argv[0], _through_command(argv)))
    return found


def _telegram_targets(home: Path, settings: Settings) -> list[_Target]:
    chats = settings["alert_chat"]
    if not chats:
        return []
    targets = []
    for number, written in enumerate(chats):
        match = _CHAT.fullmatch(written)
        chat, thread = (match[1], match[2]) if match else (written, None)
        if thread is None and number == 0:
            thread = settings["alert_thread"] or None
        name = f"chat {chat}" + (f" topic {thread}" if thread else "")
        targets.append(
            _Target("telegram", name, _through_bot(home, settings["alert_telegram_url"], chat, thread))
        )
    return targets


def _through_bot(home: Path, base: str, chat: str, thread: str | None) -> Callable[[str, str, float], str]:
    def deliver(body: str, severity: str, timeout: float) -> str:
        import time

        token = _token(home)
        if token is None:
            raise _NotSent(f"no {TOKEN_VARIABLE} in the environment or {home / '.env'}")
        deadline = time.monotonic() + timeout
        message: dict[str, Any] = {
            "chat_id": chat,
            "text": _cut_units(body, TELEGRAM_UNITS),
            "link_preview_options": {"is_disabled": True},
            "disable_notification": severity in ("info", "warning"),
        }
        if thread:
            message["message_thread_id"] = int(thread)
        note = ""
        for _ in range(3):
            status, answer = _ask_bot(base, token, message, max(1.0, deadline - time.monotonic()))
            if status == 200 and answer.get("ok") is True:
                return f"arrived{note}"
            why = str(answer.get("description") or f"status {status}").replace(token, "<token>")
            parameters = answer.get("parameters")
            moved = parameters.get("migrate_to_chat_id") if isinstance(parameters, dict) else None
            if isinstance(moved, int) and message["chat_id"] != moved:
                message["chat_id"], note = moved, f", but the chat is now {moved}: set that"
            elif status == 400 and "thread not found" in why and message.pop("message_thread_id", None):
                note = ", but in the chat itself: the topic is gone"
            else:
                raise _NotSent(f"Telegram says {status}: {why}")
        raise _NotSent("Telegram sends from chat to chat")

    return deliver


def _ask_bot(base: str, token: str, message: dict[str, Any], timeout: float) -> tuple[int, dict[str, Any]]:
    import json

    from .http import request

    answer = request(
        f"{base}/bot{token}/sendMessage",
        method="POST",
        headers={"Content-Type": "application/json"},
        body=json.dumps(message).encode("ascii"),
        timeout=timeout,
        tries=TRIES,
    )
    try:
        data = json.loads(answer.body)
    except (ValueError, RecursionError):
        data = None
    return answer.status, data if isinstance(data, dict) else {}


def _through_host(home: Path, to: str) -> Callable[[str, str, float], str]:
    def deliver(body: str, severity: str, timeout: float) -> str:
        import json

        from ..host.command import run_hermes

        said = run_hermes(home, ["send", f"--to={to}", "--json"], timeout, stdin=body)
        if said.code is None:
            raise _NotSent(f"hermes send did not end within {timeout:g} s")
        start = said.stdout.find("{")
        try:
            answer = json.loads(said.stdout[start:]) if start >= 0 else {}
        except (ValueError, RecursionError):
            answer = {}
        # A skipped message ends with 0 too.
        if (
            said.code == 0
            and isinstance(answer, dict)
            and answer.get("success")
            and not answer.get("skipped")
        ):
            return "arrived"
        why = answer.get("error") or answer.get("reason") if isinstance(answer, dict) else None
        raise _NotSent(
            f"hermes send: {why or said.stderr.strip() or said.stdout.strip() or f'exit {said.code}'}"
        )

    return deliver


def _through_command(argv: tuple[str, ...]) -> Callable[[str, str, float], str]:
    def deliver(body: str, severity: str, timeout: float) -> str:
        import os

        from ..host.command import run

        said = run(argv, {**os.environ, "OPS_ALERT_SEVERITY": severity}, timeout, body)
        if said.code is None:
            raise _NotSent(f"did not end within {timeout:g} s")
        if said.code != 0:
            raise _NotSent(f"exit {said.code}: {(said.stderr.strip() or said.stdout.strip())[-MAX_DETAIL:]}")
        return "exit 0"

    return deliver


def _cut_units(body: str, limit: int) -> str:
    """Cut to so many UTF-16 units, never inside a character."""
    raw = body.encode("utf-16-le", "surrogatepass")
    if len(raw) <= 2 * limit:
        return body
    return raw[: 2 * (limit - 3)].decode("utf-16-le", "ignore").rstrip() + "..."
