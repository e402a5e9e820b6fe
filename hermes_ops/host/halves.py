"""Halves of characters: JSON can write one half of a pair (`\\ud83d`), and no file or database takes it.

Models write them when they are cut in the middle of an emoji, and the host keeps them as they came.
"""

from __future__ import annotations

import re
from typing import Any

_WRITTEN = re.compile(r"\\u[dD][89abAB]")
_HALF = re.compile("[\ud800-\udfff]")


def may_hold(json_text: str) -> bool:
    """Whether a JSON text may decode to something with half a character in it; False is certain."""
    return _WRITTEN.search(json_text) is not None or _HALF.search(json_text) is not None


def mended(value: Any) -> Any:
    """A copy of a decoded JSON value in which every half is the replacement character."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value
