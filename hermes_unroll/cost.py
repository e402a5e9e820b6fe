"""What a session cost: its API calls, each priced at the model that answered it."""

from __future__ import annotations

from typing import Any

from ._common.pricing import estimate_cost, find_price, normalize_usage
from .events import EventKind


def cost_of(steps: list[dict[str, Any]], overrides: dict[str, Any]) -> dict[str, Any]:
    """Return COST (see docs/EXECUTION_CONTRACT.md) of all API calls, a background review's included."""
    calls = []
    waiting: list[tuple[Any, Any]] = []
    for step in steps:
        model, provider = step.get("model"), step.get("provider")
        if step["kind"] == EventKind.PRE_API_REQUEST:
            waiting.append((model, provider))
        elif step["kind"] in (EventKind.POST_API_REQUEST, EventKind.API_REQUEST_ERROR) and waiting:
            waiting.pop()
        if step["kind"] != EventKind.POST_API_REQUEST:
            continue
        answered_by = step.get("response_model")
        if answered_by and find_price(answered_by, provider, overrides) is not None:
            # A router answers with the model it chose; that one is billed.
            model = answered_by
        calls.append((model, provider, normalize_usage(step.get("usage")), None))
    # A request that no hook answers (the process was killed, or the host asked again) may have been billed.
    calls += [(model, provider, None, None) for model, provider in waiting]
    return estimate_cost(calls, overrides).as_dict()
