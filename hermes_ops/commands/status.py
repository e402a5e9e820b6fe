"""`hermes ops status`: what is wrong now, and when each watcher ran."""

from __future__ import annotations

import time
from typing import Any

from .. import overview
from .._common.home import hermes_home
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    seen = overview.look(hermes_home(), time.time())
    if getattr(arguments, "json", False):
        say_json(seen.as_dict())
    else:
        for line in seen.lines():
            say(line)
    return 0 if seen.well else 1
