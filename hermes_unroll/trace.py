"""A compiled session: what compile makes of a journal and the generator turns into a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Trace:
    """One session, ready to be written as a program.

    Every value is redacted and JSON-like (None, bool, int, finite float, str, list, dict with str
    keys); what JSON cannot hold stands in the tagged encoding of values.py. docs/EXECUTION_CONTRACT.md
    gives the fields of each part.
    """

    session: dict[str, Any]
    messages: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    response_cache: dict[str, dict[str, Any]] = field(default_factory=dict)
    cost: dict[str, Any] = field(default_factory=dict)
    state_graph: dict[str, Any] = field(default_factory=dict)
    dependencies: dict[int, list[int]] = field(default_factory=dict)
    tool_schemas: list[Any] = field(default_factory=list)
    provider_config: dict[str, Any] = field(default_factory=dict)
    chain: dict[str, dict[str, Any]] = field(default_factory=dict)
