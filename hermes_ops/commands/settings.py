"""`hermes ops settings`: every setting with its value here, its default, and where it may stand."""

from __future__ import annotations

from typing import Any

from .. import settings
from .._common.home import hermes_home
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument("--markdown", action="store_true", help="the table of docs/ops/settings.md")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    options = settings.all_options()
    if arguments.markdown:
        for line in markdown(options):
            say(line)
        return 0
    home = hermes_home()
    found = settings.load(home, options)
    problems = [*found.problems, *settings.unknown_names(home, options)]
    if arguments.json:
        rows = {
            option.name: {
                "value": None if option.secret else _plain(found[option.name]),
                "source": found.sources[option.name],
                "variables": list(option.variables),
            }
            for option in options
        }
        say_json({"home": str(home), "settings": rows, "problems": problems})
        return 1 if problems else 0
    for option in options:
        set_here = found.sources[option.name] != "default"
        value = "(set)" if option.secret and set_here else settings.said(_shown(found[option.name]))
        source = found.sources[option.name]
        say(f"{option.name:<27} {value:<17} {source:<19} {option.help}")
    for problem in problems:
        say(f"WRONG  {problem}")
    return 1 if problems else 0


def markdown(options: list[settings.Option]) -> list[str]:
    """The lines of a table of settings: name, default, variables, meaning."""
    lines = ["| in `ops:` of config.yaml | default | variable | meaning |", "|---|---|---|---|"]
    for option in options:
        variables = ", ".join(f"`{name}`" for name in option.variables)
        lines.append(
            f"| `{option.name}` | {_shown(option.default) or 'none'} | {variables} | {option.help} |"
        )
    return lines


def _shown(value: Any) -> str:
    if value in (None, "", ()):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return settings.said(value) if isinstance(value, str) else value
