"""What the commands print: as command_line prints it, without the secrets that texts of the host may hold.

Names of jobs, errors, log lines and addresses are whatever people and programs wrote. They are redacted here,
before anything cuts them, so that no command has to think of it.
"""

from __future__ import annotations

from typing import Any

from ._common import command_line
from .core.incident_text import redacted as clean


def say(text: str) -> None:
    """Print one line of data."""
    command_line.say(clean(text))


def say_json(data: dict[str, Any]) -> None:
    """Print one JSON object with its `schema`; every text in it is redacted, names of fields are not."""
    command_line.say_json(cleaned(data))


def cleaned(value: Any) -> Any:
    """A value for JSON with every text in it redacted, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else key: cleaned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [cleaned(item) for item in value]
    return value
