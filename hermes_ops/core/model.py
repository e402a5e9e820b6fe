"""One client for every module that calls a model: through the host's login, or an OpenAI-compatible endpoint.

The answer is the model's answer: scratch reasoning is never taken for it. Use is booked even of a failed call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import OpsError


class NoAnswer(OpsError):
    """The model gave no answer (cut at its limit, empty, not JSON, an error). ``retryable`` tells whether again."""

    def __init__(self, why: str, *, retryable: bool = False, usage: Usage | None = None) -> None:
        super().__init__(why)
        self.retryable, self.usage = retryable, usage


class OverBudget(OpsError):
    """The next call would go over the budget of this client."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; None where the provider did not say. ``usd`` None: unknown."""

    input: int | None
    output: int | None
    reasoning: int | None
    usd: float | None


@dataclass(frozen=True)
class Reply:
    """An answer, the model that gave it (as the provider says), and what it used."""

    text: str
    model: str
    usage: Usage


class Client:
    """Calls with a budget of calls and dollars; unknown prices count by calls alone."""

    def complete(self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = 1600) -> Reply:
        """One completion. Raises NoAnswer, OverBudget, Unreadable."""
        raise NotImplementedError


def endpoint(
    url: str,
    model: str,
    key: str | None,
    *,
    max_calls: int = 50,
    max_usd: float | None = None,
    timeout: float = 300.0,
) -> Client:
    """A client for an OpenAI-compatible endpoint (`<url>/chat/completions`)."""
    raise NotImplementedError


def through_host(
    home: Path, model: str | None = None, provider: str | None = None, *, max_calls: int = 50
) -> Client:
    """A client that runs `hermes -z PROMPT --usage-file FILE`, with the host's own login."""
    raise NotImplementedError
