"""What thinking costs a day: reasoning tokens, watched models and auxiliary tasks against their caps.

The thinking layer of a day is all that the watched models cost (`ops.thinking.watch`, each from its date on)
and, of every other model, the part of its cost that its reasoning tokens have in it. That part is an
estimate: reasoning is billed as output, so it is the row's cost times the share of these tokens at the list
prices of the model. Tokens without a known price and tokens that a plan includes are told as tokens; they
are not $0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from .._common.pricing import find_price
from ..core.finding import DAY, Blind, Finding, Reading
from ..core.ledger import Spent
from ..core.moment import day, day_start, show
from ..core.watch import Context
from ..host.usage import UNATTRIBUTED
from ..settings import Option, load, number
from .run_costs import dollars, sound

COLUMNS = ("model", "provider", "task", "price")
NO_DAY = ""  # use that lies between two snapshots on different days


@dataclass(frozen=True)
class Watched:
    """A model whose whole cost counts as thinking, from a date on ("" : always)."""

    model: str
    since: str = ""


def watched(value: Any) -> tuple[Watched, ...]:
    """A check: models as "model", "model since 2026-11-20" or {model:, since:}; or parted by commas."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise ValueError("expected a list of models")
    found = []
    for item in items:
        if isinstance(item, dict):
            if not set(item) <= {"model", "since"} or not item.get("model"):
                raise ValueError("expected {model: NAME, since: 2026-11-20}")
            model, since = str(item["model"]).strip(), str(item.get("since") or "").strip()
        else:
            model, _, since = (part.strip() for part in str(item).partition(" since "))
        if since:
            try:
                since = date.fromisoformat(since).isoformat()
            except ValueError:
                raise ValueError(f"{since!r} is no date like 2026-11-20") from None
        if model:
            found.append(Watched(model, since))
    return tuple(found)


OPTIONS = (
    Option("thinking.cap_usd", 1.5, number(0.0), "dollars a day for all calls"),
    Option("thinking.cap_thinking_usd", 0.4, number(0.0), "dollars a day for the thinking layer"),
    Option("thinking.watch", (), watched, "models that count as thinking as a whole"),
)


@dataclass
class DayUse:
    """One day ("" for use that belongs to no one day); dollars are what is known, tokens are all.

    reasoning_usd is the estimate of reasoning outside the watched models; reasoning_unknown its tokens
    without an estimate, reasoning_included those that a plan covers.
    """

    day: str
    usd: float = 0.0
    unknown_calls: int = 0
    calls: int = 0
    included_tokens: int = 0
    reasoning: int = 0
    watched_usd: float = 0.0
    watched_unknown: int = 0
    reasoning_usd: float = 0.0
    reasoning_unknown: int = 0
    reasoning_included: int = 0
    watched_models: dict[str, float] = field(default_factory=dict)
    tasks: dict[str, tuple[int, float, bool]] = field(default_factory=dict)  # calls, USD, lower bound
    bad: int = 0

    @property
    def thinking_usd(self) -> float:
        return self.watched_usd + self.reasoning_usd

    @property
    def thinking_lower_bound(self) -> bool:
        return self.watched_unknown > 0 or self.reasoning_unknown > 0

    @property
    def lower_bound(self) -> bool:
        return self.unknown_calls > 0


def reasoning_share(row: Spent, price: Any) -> float | None:
    """Which part of a row's cost its reasoning tokens have, by the prices of its model; None: no price.

    Reasoning is a part of the output and is billed at its rate.
    """
    if row.reasoning <= 0:
        return 0.0
    if price is None:
        return None
    parts = (
        (row.input, price.input),
        (row.output, price.output),
        (row.cache_read, price.cache_read),
        (row.cache_write, price.cache_write),
    )
    if any(tokens and rate is None for tokens, rate in parts):
        return None
    whole = math.fsum(tokens * (rate or 0.0) for tokens, rate in parts)
    if whole <= 0:
        return None
    return min(row.reasoning, row.output) * (price.output or 0.0) / whole


def use_of_day(
    label: str, rows: Iterable[Spent], watch: Sequence[Watched], price_of: Callable[..., Any]
) -> DayUse:
    """Sum the rows of one day, grouped by COLUMNS."""
    use = DayUse(label)
    for row in rows:
        if not sound(row):
            use.bad += 1
            continue
        model, provider, task, paid = row.group
        use.calls, use.usd = use.calls + row.calls, use.usd + row.usd
        use.unknown_calls += row.unknown_calls
        use.included_tokens += row.included_tokens
        use.reasoning += row.reasoning
        if task and task != UNATTRIBUTED:
            calls, usd, lower = use.tasks.get(task, (0, 0.0, False))
            use.tasks[task] = (calls + row.calls, usd + row.usd, lower or row.unknown_calls > 0)
        if _is_watched(model or "", label, watch):
            use.watched_usd += row.usd
            use.watched_unknown += row.unknown_calls
            use.watched_models[model or ""] = use.watched_models.get(model or "", 0.0) + row.usd
            continue
        if row.reasoning <= 0:
            continue
        share = reasoning_share(row, price_of(model, provider)) if row.usd > 0 else None
        if paid == "included":
            use.reasoning_included += row.reasoning
        elif share is None:
            use.reasoning_unknown += row.reasoning
        else:
            use.reasoning_usd += row.usd * share
    return use


def _is_watched(model: str, label: str, watch: Sequence[Watched]) -> bool:
    """Whether a model is on the list on a day; use without a day counts from the first date on."""
    return any(
        _same(one.model, model) and (not one.since or not label or label >= one.since) for one in watch
    )


def _same(named: str, model: str) -> bool:
    """Names are the same in any case, and with or without the provider in front."""
    one, other = named.lower(), model.lower()
    return one == other or other.endswith(f"/{one}")


# --- reading


def read_days(context: Context, days: int) -> list[DayUse]:
    """The last full days and today so far, oldest first; at the end use that belongs to no one day ("")."""
    zone = context.zone.tz
    watch = load(context.home, OPTIONS)["thinking.watch"]
    start = day_start(day_start(context.now, zone) - (days - 0.5) * DAY, zone)
    found: dict[str, list[Spent]] = {}
    for label, row in context.ledger().spent_by_day(COLUMNS, start, context.now, zone):
        found.setdefault(label, []).append(row)
    price_of = _Prices(context)
    uses = [use_of_day(label, rows, watch, price_of) for label, rows in found.items()]
    return sorted(uses, key=lambda use: (use.day == NO_DAY, use.day))


class _Prices:
    """The price of a model, asked once, with the user's own prices first."""

    def __init__(self, context: Context) -> None:
        from .._common.config import plugin_settings, read_config

        written = plugin_settings("hermes-ops", "ops", read_config(context.home))
        self._overrides = written.get("pricing_overrides")
        self._known: dict[tuple[Any, Any], Any] = {}

    def __call__(self, model: str | None, provider: str | None) -> Any:
        key = (model, provider)
        if key not in self._known:
            self._known[key] = find_price(model, provider, self._overrides)
        return self._known[key]


# --- the watcher


def watch(context: Context) -> Reading:
    """The last full day and today so far against the caps; one finding for each cap."""
    collected = context.ledger().collect(context.now)
    blind = [Blind(one.key, one.text, "thinking.", one.holds, one.fix) for one in collected.blind]
    uses = read_days(context, 1)
    return Reading.of(judge(context, uses), [*blind, *between_days(context, uses)])


def between_days(context: Context, uses: Sequence[DayUse]) -> list[Blind]:
    """Use between two snapshots more than a day apart: whether a day of it was over a cap nobody knows."""
    settings = load(context.home, OPTIONS)
    caps = (settings["thinking.cap_usd"], settings["thinking.cap_thinking_usd"])
    for use in uses:
        if use.day == NO_DAY and (use.usd >= caps[0] > 0 or use.thinking_usd >= caps[1] > 0):
            text = (
                f"{dollars(use.usd, use.lower_bound)}, of it {dollars(use.thinking_usd)} for thinking, was"
                " used between snapshots more than a day apart: whether a day was over its cap is not known"
            )
            return [Blind("thinking.days", text, "thinking.", fix="hermes ops watch thinking, once a day")]
    return []


def judge(context: Context, uses: Sequence[DayUse]) -> list[Finding]:
    """A finding for each cap that yesterday or today reaches; the worse of them is told."""
    settings = load(context.home, OPTIONS)
    zone = context.zone.tz
    today, yesterday = day(context.now, zone), day(day_start(context.now, zone) - DAY / 2, zone)
    words_of = {today: f"today until {show(context.now, zone)}", yesterday: f"on {yesterday}"}
    found = [(words_of[use.day], use) for use in uses if use.day in words_of]
    name = context.profiles[0].name
    findings = []
    for rule, key, cap in (
        ("thinking.total", "total", settings["thinking.cap_usd"]),
        ("thinking.over", "thinking", settings["thinking.cap_thinking_usd"]),
    ):
        spent = [(use.usd if key == "total" else use.thinking_usd, words, use) for words, use in found]
        usd, words, use = max(spent, key=lambda one: one[0], default=(0.0, "", DayUse("")))
        if not words or usd < cap or usd == 0:
            continue
        lower = use.lower_bound if key == "total" else use.thinking_lower_bound
        what = "all calls" if key == "total" else "the thinking layer"
        text = f"{what} cost {dollars(usd, lower)} {words}, the cap is {dollars(cap)}"
        evidence = tuple(explain(use))
        fix = "hermes ops thinking; hermes ops costs"
        findings.append(Finding(rule, "warning", "models", text, f"{name}/{key}", evidence, fix))
    return findings


def explain(use: DayUse) -> list[str]:
    """The parts of a day, one line each; those that are nothing are left out."""
    lines = [f"{model}: {dollars(usd)} (watched)" for model, usd in sorted(use.watched_models.items())]
    if use.reasoning_usd:
        lines.append(
            f"reasoning of other models: about {dollars(use.reasoning_usd)}, estimated from list prices"
        )
    if use.reasoning_unknown:
        lines.append(f"{use.reasoning_unknown:,} reasoning tokens have no known price")
    if use.reasoning_included:
        lines.append(f"{use.reasoning_included:,} reasoning tokens are included in a plan")
    if use.included_tokens:
        lines.append(f"{use.included_tokens:,} tokens in all are included in a plan")
    if use.unknown_calls:
        lines.append(f"calls without a known price: {use.unknown_calls} of {use.calls}")
    for task, (calls, usd, lower) in sorted(use.tasks.items()):
        plural = "s" if calls != 1 else ""
        lines.append(f"auxiliary {task}: {calls} call{plural}, {dollars(usd, lower)}")
    if use.bad:
        lines.append(f"{use.bad} rows have numbers that cannot be, and are left out")
    return lines
