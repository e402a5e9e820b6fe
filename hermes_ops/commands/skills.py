"""`hermes ops skills`: scan skills before an install and afterwards; find what is broken in them."""

from __future__ import annotations

import argparse
from typing import Any

from .._common.command_line import UsageError
from ..skillcheck import janitor_command, scan_command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(skills_run=_ask)
    verbs = parser.add_subparsers(dest="skills_verb", metavar="VERB")
    scan = verbs.add_parser("scan", help="what skills try to do, before an install and since it was recorded")
    scan_command.add_scan_arguments(scan)
    scan.set_defaults(skills_run=scan_command.run_scan, without_home=True)
    janitor = verbs.add_parser("janitor", help="what is broken in the skills that are there")
    janitor_command.add_janitor_arguments(janitor)
    janitor.set_defaults(skills_run=janitor_command.run_janitor, without_home=True)


def run(arguments: Any) -> int:
    return arguments.skills_run(arguments)


def _ask(arguments: Any) -> int:
    raise UsageError("expected scan or janitor; see `hermes ops skills --help`")
