"""Delivery targets of jobs: what they mean on this home, and whether they can be reached at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._common.config import HostConfig, read_config
from .._common.files import open_regular
from ..errors import Unreadable
from .environment import effective
from .jobs import Job

WORDS = ("local", "origin", "all")


@dataclass(frozen=True)
class _Platform:
    """What the host knows of a messaging platform.

    ``home`` is the variable of its home channel ("": it has none for jobs). ``credentials`` are sets of
    variables, each of which switches it on by itself; ``insists``: even where config.yaml switches it off.
    """

    home: str = ""
    credentials: tuple[tuple[str, ...], ...] = ()
    insists: bool = False
    bare: bool = True  # whether its name alone may be a target


_KNOWN = {
    "telegram": _Platform("TELEGRAM_HOME_CHANNEL", (("TELEGRAM_BOT_TOKEN",),)),
    "discord": _Platform("DISCORD_HOME_CHANNEL", (("DISCORD_BOT_TOKEN",),)),
    "slack": _Platform("SLACK_HOME_CHANNEL", (("SLACK_BOT_TOKEN",),)),
    "whatsapp": _Platform("WHATSAPP_HOME_CHANNEL", (("WHATSAPP_ENABLED",),)),
    "whatsapp_cloud": _Platform(
        "WHATSAPP_CLOUD_HOME_CHANNEL",
        (("WHATSAPP_CLOUD_PHONE_NUMBER_ID", "WHATSAPP_CLOUD_ACCESS_TOKEN"),),
        insists=True,
        bare=False,
    ),
    "signal": _Platform("SIGNAL_HOME_CHANNEL", (("SIGNAL_HTTP_URL", "SIGNAL_ACCOUNT"),)),
    "mattermost": _Platform("MATTERMOST_HOME_CHANNEL", (("MATTERMOST_TOKEN",),)),
    "matrix": _Platform("MATRIX_HOME_ROOM", (("MATRIX_ACCESS_TOKEN",), ("MATRIX_PASSWORD",))),
    "homeassistant": _Platform("", (("HASS_TOKEN",),), insists=True),
    "email": _Platform(
        "EMAIL_HOME_ADDRESS",
        (("EMAIL_ADDRESS", "EMAIL_PASSWORD", "EMAIL_IMAP_HOST", "EMAIL_SMTP_HOST"),),
        insists=True,
    ),
    "sms": _Platform("SMS_HOME_CHANNEL", (("TWILIO_ACCOUNT_SID",),), insists=True),
    "webhook": _Platform("", (("WEBHOOK_ENABLED",),), insists=True),
    "dingtalk": _Platform(
        "DINGTALK_HOME_CHANNEL", (("DINGTALK_CLIENT_ID", "DINGTALK_CLIENT_SECRET"),), insists=True
    ),
    "feishu": _Platform("FEISHU_HOME_CHANNEL", (("FEISHU_APP_ID", "FEISHU_APP_SECRET"),), insists=True),
    "wecom": _Platform("WECOM_HOME_CHANNEL", (("WECOM_BOT_ID", "WECOM_SECRET"),), insists=True),
    "wecom_callback": _Platform(
        "", (("WECOM_CALLBACK_CORP_ID", "WECOM_CALLBACK_CORP_SECRET"),), insists=True
    ),
    "weixin": _Platform("WEIXIN_HOME_CHANNEL", (("WEIXIN_TOKEN",), ("WEIXIN_ACCOUNT_ID",)), insists=True),
    "bluebubbles": _Platform(
        "BLUEBUBBLES_HOME_CHANNEL", (("BLUEBUBBLES_SERVER_URL", "BLUEBUBBLES_PASSWORD"),), insists=True
    ),
    "qqbot": _Platform("QQBOT_HOME_CHANNEL", (("QQ_APP_ID",), ("QQ_CLIENT_SECRET",)), insists=True),
    "yuanbao": _Platform(
        "",
        (("YUANBAO_APP_ID", "YUANBAO_APP_SECRET"), ("YUANBAO_APP_KEY", "YUANBAO_APP_SECRET")),
        insists=True,
    ),
}

# Platforms the host ships as plugins; how each is switched on is its own affair and not looked at.
_PLUGINS = {
    "google_chat": "GOOGLE_CHAT_HOME_CHANNEL",
    "irc": "IRC_HOME_CHANNEL",
    "line": "LINE_HOME_CHANNEL",
    "ntfy": "NTFY_HOME_CHANNEL",
    "photon": "PHOTON_HOME_CHANNEL",
    "simplex": "SIMPLEX_HOME_CHANNEL",
    "teams": "TEAMS_HOME_CHANNEL",
    "raft": "",
}
_LEGACY = {"QQBOT_HOME_CHANNEL": "QQ_HOME_CHANNEL"}


@dataclass(frozen=True)
class Target:
    """``text`` as written; platform, chat and thread when it names them ("local", "origin", "all" do not)."""

    text: str
    platform: str
    chat: str | None = None
    thread: str | None = None


def parse_target(text: str) -> Target:
    """Read "local", "origin", "all", "<platform>", "<platform>:<chat>[:<thread>]".

    A thread is told apart where the host does it; the host also looks names of chats up in its directory.
    """
    text = text.strip()
    platform, colon, rest = text.partition(":")
    if not colon:
        return Target(text, "all" if text.lower() == "all" else text)
    chat, thread = rest.strip(), None
    name = platform.lower()
    patterns = {
        "telegram": r"(-?\d+):(\d+)",
        "discord": r"(-?\d+):(\d+)",
        "slack": r"([CGD][A-Z0-9]{8,}):([^\s:]+)",
        "feishu": r"((?:oc|ou|on|chat|open)_[-A-Za-z0-9]+):([-A-Za-z0-9_]+)",
        "matrix": r"(.+):(\$.*)",
    }
    found = re.fullmatch(patterns[name], chat) if name in patterns else None
    if found:
        chat, thread = found[1], found[2]
    return Target(text, platform, chat or None, thread)


def unreachable(job: Job, target: Target, home: Path) -> str | None:
    """Why `target` cannot be delivered to, as far as files tell; None: nothing speaks against it.

    Platform unknown to the host, not configured or not enabled, no home channel, `origin` without an origin.
    Nothing is sent. When the config is unknown the answer is None.
    """
    if target.platform == "local":
        return None
    config = read_config(home)
    if not config.known:
        return None
    try:
        return _unreachable(job, target, home, config)
    except Unreadable:
        return None


def _unreachable(job: Job, target: Target, home: Path, config: HostConfig) -> str | None:
    origin = _origin(job)
    if target.platform == "origin":
        if origin is not None:
            return _switched_off(origin[0], home, config)
        if _with_home_channel(home, config):
            return None
        return (
            "the job has no origin and no platform has a home channel: nothing is delivered, nor is it said"
        )
    if target.platform == "all":
        found = _with_home_channel(home, config)
        if not found:
            return "no platform has a home channel"
        off = [why for name in found if (why := _switched_off(name, home, config))]
        return "; ".join(off) if len(off) == len(found) else None
    why = _switched_off(target.platform, home, config)
    if why is not None:
        return why
    if ":" in target.text:
        return None if target.chat else "it names no chat"
    if origin is not None and origin[0] == target.platform:
        return None
    return _without_home_channel(target.platform.lower(), home, config)


def _origin(job: Job) -> tuple[str, str] | None:
    """Platform and chat in which the job was made; the host wants both."""
    origin = job.origin or {}
    platform, chat = origin.get("platform"), origin.get("chat_id")
    return (str(platform), str(chat)) if platform and chat else None


def _switched_off(platform: str, home: Path, config: HostConfig) -> str | None:
    """Why the host has no working platform of that name; None when it has, or that cannot be told."""
    name = platform.lower()
    written = _enabled(name, home, config)
    known = _KNOWN.get(name)
    if known is None:
        if written is False:
            return f"{name} is switched off in config.yaml"
        if written is None and name not in _PLUGINS and not _has_plugin(name, home):
            return f"the host knows no platform {platform!r}"
        return None
    given = any(all(_variable(variable, home, config) for variable in group) for group in known.credentials)
    if written or (given and (written is None or known.insists)):
        return None
    if written is False:
        return f"{name} is switched off in config.yaml"
    needed = " or ".join(" with ".join(group) for group in known.credentials)
    return f"{name} is not set up: neither enabled in config.yaml nor {needed} set"


def _without_home_channel(name: str, home: Path, config: HostConfig) -> str | None:
    known = _KNOWN.get(name)
    variable = known.home if known is not None else _PLUGINS.get(name)
    if variable is None:
        return None  # a plugin's own: which variable it reads stands in its code
    if not variable or (known is not None and not known.bare):
        return f"{name} has no home channel for jobs; name the chat: {name}:<chat>"
    if _home_channel(variable, home, config):
        return None
    return f"{name} has no home channel: set {variable}, or name the chat"


def _with_home_channel(home: Path, config: HostConfig) -> list[str]:
    variables = {name: platform.home for name, platform in _KNOWN.items()} | _PLUGINS
    return [
        name for name, variable in variables.items() if variable and _home_channel(variable, home, config)
    ]


def _home_channel(variable: str, home: Path, config: HostConfig) -> str | None:
    legacy = _LEGACY.get(variable)
    return _variable(variable, home, config) or (_variable(legacy, home, config) if legacy else None)


def _variable(name: str, home: Path, config: HostConfig) -> str | None:
    """A variable as the gateway sees it: simple values at the top of config.yaml stand in for unset ones."""
    value = effective(name, home)
    if value is None:
        written = config.values.get(name)
        value = str(written) if isinstance(written, (str, int, float)) else None
    if name.endswith("_ENABLED") and value is not None:
        return value if value.strip().lower() in ("1", "true", "yes", "on") else None
    return value or None


def _enabled(name: str, home: Path, config: HostConfig) -> bool | None:
    """What is written about a platform: on, off, or nothing. The host's order, later ones winning."""
    found: bool | None = None
    blocks = (
        _legacy_platforms(home).get(name),
        config.get("gateway.platforms", {}),
        config.get("platforms", {}),
    )
    for block in (blocks[0], *(_of(block, name) for block in blocks[1:]), config.values.get(name)):
        if isinstance(block, Mapping) and "enabled" in block:
            found = _truth(block["enabled"])
    return found


def _of(block: Any, name: str) -> Any:
    return block.get(name) if isinstance(block, Mapping) else None


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("1", "true", "yes", "on")
    return bool(value)


def _legacy_platforms(home: Path) -> Mapping[str, Any]:
    """The platforms of gateway.json, which the host still reads beneath config.yaml."""
    try:
        with open_regular(home / "gateway.json") as file:
            found = json.loads(file.read(4_000_000))
    except (OSError, ValueError, RecursionError):
        return {}
    platforms = found.get("platforms") if isinstance(found, dict) else None
    return platforms if isinstance(platforms, dict) else {}


def _has_plugin(name: str, home: Path) -> bool:
    """Whether a plugin folder of the home may bring a platform of that name."""
    pattern = re.compile(rb"^kind:\s*[\"']?platform\b", re.MULTILINE)
    for place in ("plugins/*/plugin.y*ml", "plugins/*/*/plugin.y*ml"):
        for manifest in home.glob(place):
            try:
                with open_regular(manifest) as file:
                    text = file.read(64_000)
            except OSError:
                return True  # it may be that one
            if pattern.search(text) and name.encode() in text.lower():
                return True
    return False
