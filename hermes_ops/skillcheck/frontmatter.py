"""What stands above a skill between two `---`, by the host's rules: what it finds, and what it makes of it.

The host reads a SKILL.md as UTF-8, drops one leading BOM, takes what lies between a first `---` and a line of
`---`, and gives it to PyYAML. What that refuses is split at the first colon of each line, every value a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._common import config
from . import small_yaml

_END = re.compile(r"\n---\s*\n")
_LONGEST = 50_000
_DEEPEST = 200


class CannotCheck(Exception):
    """The frontmatter cannot be read here; its text says why. It is not known to be wrong."""


@dataclass(frozen=True)
class Frontmatter:
    """How the host reads the head of a skill.

    values   the fields, {} when there are none
    body     what follows
    shape    "yaml"; "split" (no YAML: split at colons); "none" (does not begin with `---`);
             "open" (no closing line); "other" (YAML, and no mapping)
    problem  what is wrong with the YAML, "" when nothing is
    """

    values: Mapping[Any, Any] = field(default_factory=dict)
    body: str = ""
    shape: str = "yaml"
    problem: str = ""


def read(text: str) -> Frontmatter:
    """The head of a skill's text (newlines as `\\n`). CannotCheck when it is too long, deep or unusual."""
    text = text.removeprefix("\ufeff")
    if not text.startswith("---"):
        return Frontmatter(body=text, shape="none")
    end = _END.search(text, 3)
    if end is None:
        return Frontmatter(body=text, shape="open")
    written, body = text[3 : end.start()], text[end.end() :]
    if len(written) > _LONGEST:
        raise CannotCheck(f"the frontmatter has {len(written):,} characters")
    if _depth(written) > _DEEPEST:
        raise CannotCheck("the frontmatter is nested too deeply")
    try:
        values = load_yaml(written)
    except small_yaml.Broken as error:
        return Frontmatter(_split(written), body, "split", str(error))
    if isinstance(values, dict):
        return Frontmatter(values, body)
    return Frontmatter({}, body, "other", f"a {_kind(values)} where fields are expected")


def load_yaml(text: str) -> Any:
    """A YAML document: by PyYAML where it is, as the host does, else by our own reader.

    Raises small_yaml.Broken for what is no YAML, CannotCheck for what cannot be told.
    """
    try:
        import yaml
    except ImportError:
        try:
            return small_yaml.load(text)
        except small_yaml.Unsupported as error:
            raise CannotCheck(f"{error}: not read without PyYAML") from None
    try:
        return config.load_yaml(text)
    except RecursionError:
        raise CannotCheck("the frontmatter is nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise small_yaml.Broken(f"{where}{error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        raise small_yaml.Broken(" ".join(str(error).split())[:200]) from None


def _split(written: str) -> dict[str, str]:
    lines = (line.partition(":") for line in written.strip().split("\n") if ":" in line)
    return {key.strip(): value.strip() for key, _, value in lines}


def _depth(text: str) -> int:
    """How deep brackets, and lists begun on one line, stand in each other at most."""
    deepest = depth = 0
    for mark in re.findall(r"[\[\]{}]", text):
        depth = max(0, depth + (1 if mark in "[{" else -1))
        deepest = max(deepest, depth)
    lists = re.findall(r"^[ ]*((?:- )+)", text, re.MULTILINE)
    return max(deepest, *(len(found) // 2 for found in lists), 0)


def _kind(value: Any) -> str:
    name = type(value).__name__
    return {"str": "text", "NoneType": "blank"}.get(name, name)
