"""`hermes ops doctor`: does all this work here?"""

from __future__ import annotations

import time
from typing import Any

from .._common.home import hermes_home
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    from ..doctor import examine

    report = examine(hermes_home(), time.time())
    if arguments.json:
        say_json(report.as_dict())
    else:
        for line in report.lines():
            say(line)
    return 0 if report.ok else 1
