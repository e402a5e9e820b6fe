"""The host tools a kernel may call, and their arguments: names, types, what is always sent along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .bridge import Refused

NUMBER = (int, float)
TARGETS = ("content", "files")
OUTPUT_MODES = ("content", "files_only", "count")
_KINDS = {
    str: "text",
    int: "a whole number",
    bool: "True or False",
    list: "a list of text",
    NUMBER: "a number",
}


@dataclass(frozen=True)
class Tool:
    """One host tool: arguments that must be given, arguments that may be, and what is always sent along."""

    required: Mapping[str, Any]
    optional: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def checked(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments for the host. Raises Refused, naming what is accepted."""
        accepted = {**self.required, **self.optional}
        unknown = [given for given in arguments if given not in accepted]
        if unknown:
            raise Refused(f"{name} has no argument {unknown[0]!r}; it takes {', '.join(accepted)}")
        missing = [needed for needed in self.required if needed not in arguments]
        if missing:
            raise Refused(f"{name} needs {missing[0]!r}; it takes {', '.join(accepted)}")
        for given, value in arguments.items():
            if not _is(value, accepted[given]):
                raise Refused(f"{name}: {given} must be {_named(accepted[given])}, not {_shown(value)}")
        return {**arguments, **self.fixed}


TOOLS: dict[str, Tool] = {
    "read_file": Tool({"path": str}, {"offset": int, "limit": int}),
    "write_file": Tool({"path": str, "content": str}),
    "search_files": Tool(
        {"pattern": str},
        {"target": TARGETS, "path": str, "file_glob": str, "limit": int, "output_mode": OUTPUT_MODES},
    ),
    "patch": Tool(
        {"path": str, "old_string": str, "new_string": str}, {"replace_all": bool}, {"mode": "replace"}
    ),
    "terminal": Tool({"command": str}, {"timeout": NUMBER, "workdir": str}),
    "web_search": Tool({"query": str}, {"limit": int}),
    "web_extract": Tool({"urls": list}, {"char_limit": int}),
}


def _is(value: Any, kind: Any) -> bool:
    if kind is list:
        return type(value) is list and all(type(item) is str for item in value)
    if isinstance(kind, type):
        return type(value) is kind
    return type(value) in kind if kind is NUMBER else type(value) is str and value in kind


def _named(kind: Any) -> str:
    return _KINDS.get(kind) or "one of " + ", ".join(kind)


def _shown(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else type(value).__name__
