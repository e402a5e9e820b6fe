"""What model calls cost: token counts in any provider's convention, prices by name, sums that admit gaps.

An estimate is the list price of the tokens. It knows nothing of subscriptions, discounts, batches, image
or audio rates, fees per request, or cache storage longer than the shortest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .prices import Price, table

# --- tokens


@dataclass(frozen=True)
class Usage:
    """The tokens of one call, each counted once: prompt = input + cache_read + cache_write.

    input is the part of the prompt that no cache served or stored. reasoning is a part of output, told for
    information and never added again.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write


def normalize_usage(raw: Any) -> Usage | None:
    """Read a usage mapping in the convention its keys belong to; None when it does not tell.

    - Hermes: input_tokens is uncached, beside cache_read_tokens and cache_write_tokens.
    - OpenAI chat: prompt_tokens includes prompt_tokens_details.cached_tokens; also DeepSeek's
      prompt_cache_hit_tokens and the cache_*_input_tokens some proxies add.
    - OpenAI responses: input_tokens includes input_tokens_details.cached_tokens.
    - Anthropic: input_tokens is uncached, beside cache_read_input_tokens and cache_creation_input_tokens.
    - Gemini: usageMetadata; promptTokenCount includes the cache, candidatesTokenCount leaves thoughts out.
    - the field names of Usage.
    A count that is missing where it is required, negative, no whole number, or contradicted by another one
    makes the whole unknown. So does a prompt of zero tokens: no call has one, it means "not reported".
    """
    if isinstance(raw, Usage):
        raw = vars(raw)
    if not isinstance(raw, Mapping):
        return None
    try:
        usage = _read_usage(raw)
    except _Unclear:
        return None
    if usage is None or usage.prompt == 0 or usage.input < 0 or usage.reasoning > usage.output:
        return None
    return usage


class _Unclear(Exception):
    """A count that is no count."""


_MOST_TOKENS = 10**15  # more is no count of one session


def _read_usage(raw: Mapping[str, Any]) -> Usage | None:
    gemini = raw.get("usageMetadata", raw)
    if isinstance(gemini, Mapping) and "promptTokenCount" in gemini:
        return _gemini_usage(gemini)
    if "input_tokens" in raw and ("cache_read_tokens" in raw or "cache_write_tokens" in raw):
        usage = Usage(
            _count(raw, "input_tokens"),
            _count(raw, "output_tokens"),
            _count(raw, "cache_read_tokens", absent=0),
            _count(raw, "cache_write_tokens", absent=0),
            _count(raw, "reasoning_tokens", absent=0),
        )
        if _count(raw, "prompt_tokens", absent=usage.prompt) != usage.prompt:
            raise _Unclear
        return usage
    if "prompt_tokens" in raw:
        return _openai_usage(raw, "prompt_tokens", "completion_tokens")
    if isinstance(raw.get("input_tokens_details"), Mapping):
        return _openai_usage(raw, "input_tokens", "output_tokens")
    if "input_tokens" in raw:
        return Usage(
            _count(raw, "input_tokens"),
            _count(raw, "output_tokens"),
            _optional(raw, "cache_read_input_tokens"),
            _optional(raw, "cache_creation_input_tokens"),
            _optional(_part(raw, "output_tokens_details"), "reasoning_tokens"),
        )
    if "input" in raw:
        counts = [_count(raw, name, absent=0) for name in ("cache_read", "cache_write", "reasoning")]
        return Usage(_count(raw, "input"), _count(raw, "output"), *counts)
    return None


def _openai_usage(raw: Mapping[str, Any], prompt_key: str, output_key: str) -> Usage:
    prompt, output = _count(raw, prompt_key), _count(raw, output_key)
    told = _part(raw, f"{prompt_key}_details")
    read = _first(
        (told, "cached_tokens"),
        (raw, "cache_read_input_tokens"),
        (raw, "prompt_cache_hit_tokens"),
        (raw, "cached_tokens"),
    )
    written = _first(
        (told, "cache_write_tokens"), (told, "cache_creation_tokens"), (raw, "cache_creation_input_tokens")
    )
    reasoning = _optional(_part(raw, f"{output_key}_details"), "reasoning_tokens")
    # Some servers count the reasoning beside the output; their own total gives it away.
    if reasoning and _optional(raw, "total_tokens") == prompt + output + reasoning:
        output += reasoning
    return Usage(prompt - read - written, output, read, written, reasoning)


def _gemini_usage(raw: Mapping[str, Any]) -> Usage:
    cached, thoughts = _optional(raw, "cachedContentTokenCount"), _optional(raw, "thoughtsTokenCount")
    prompt = _count(raw, "promptTokenCount") + _optional(raw, "toolUsePromptTokenCount")
    return Usage(prompt - cached, _optional(raw, "candidatesTokenCount") + thoughts, cached, 0, thoughts)


def _count(raw: Mapping[str, Any], key: str, absent: int | None = None) -> int:
    value = raw.get(key, absent)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_TOKENS:
        raise _Unclear
    return value


def _optional(raw: Mapping[str, Any], key: str) -> int:
    """A count providers leave out, or send as null, when there was nothing of it."""
    return 0 if raw.get(key) is None else _count(raw, key)


def _part(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = raw.get(key)
    if part is not None and not isinstance(part, Mapping):
        raise _Unclear
    return part or {}


def _first(*places: tuple[Mapping[str, Any], str]) -> int:
    return next((found for raw, key in places if (found := _optional(raw, key))), 0)


# --- prices

# How a provider is called: by the host, in front of a model's name, or by its own users -> name in the table.
PROVIDERS = {
    "openai": ("openai-api",),
    "anthropic": ("claude",),
    "google": ("gemini", "google-gemini", "google-ai-studio"),
    "xai": ("x-ai", "x.ai", "grok"),
    "deepseek": ("deepseek-ai",),
    "mistral": ("mistralai",),
    "moonshot": ("moonshotai",),
    "zai": ("z-ai", "z.ai", "zai-org", "glm", "zhipu"),
    "alibaba": ("dashscope", "alibaba-cloud", "qwen-dashscope", "qwen"),
    "minimax": ("minimaxai", "mini-max"),
    "cohere": (),
    "meta": (),
    "bedrock": ("aws", "aws-bedrock", "amazon-bedrock"),
    "groq": (),
    "together": ("together_ai", "together-ai", "togetherai"),
    "deepinfra": ("deep-infra", "deepinfra-ai"),
    "fireworks": ("fireworks_ai", "fireworks-ai", "fw"),
    "cerebras": (),
}
# Providers that run other vendors' models at their own prices: a bare model name never means one of them.
_HOSTS = frozenset({"bedrock", "groq", "together", "deepinfra", "fireworks", "cerebras"})
# Providers that pass on a vendor's list price -> the vendors for which they do. Open models are left out:
# behind a router they run at whichever host answered.
_AT_LIST_PRICE = {
    "openrouter": ("openai", "anthropic", "google", "xai"),
    "azure-foundry": ("openai",),
    "azure": ("openai",),
    "vertex": ("google",),
    "kimi-coding": ("moonshot",),
}
_BY_SUBSCRIPTION = frozenset(
    {
        "openai-codex",
        "xai-oauth",
        "qwen-oauth",
        "minimax-oauth",
        "alibaba-coding-plan",
        "copilot",
        "copilot-acp",
    }
)
_SLUGS = {name: slug for slug, names in PROVIDERS.items() for name in (slug, *names)}


@dataclass(frozen=True)
class Overrides:
    """The user's own prices by lower-case model name, and what was wrong with the rest."""

    prices: Mapping[str, Price]
    problems: tuple[str, ...] = ()


def read_overrides(raw: Any) -> Overrides:
    """Check `pricing_overrides`: {model: {input, output, cache_read?, cache_write?}}, USD per million tokens.

    A bad entry is left out and named in `problems`; it is never half used.
    """
    if isinstance(raw, Overrides):
        return raw
    if raw is None:
        return Overrides({})
    if not isinstance(raw, Mapping):
        return Overrides({}, (f"pricing_overrides must be a mapping, found {type(raw).__name__}",))
    prices, problems = {}, []
    for model, rates in raw.items():
        wrong = _override_problem(model, rates)
        if wrong:
            problems.append(f"pricing_overrides.{str(model)[:80]!r}: {wrong}")
        else:
            name = model.strip().lower()
            own = {key: float(rate) for key, rate in rates.items()}
            prices[name] = Price(name, "", **own, source="pricing_overrides")
    return Overrides(prices, tuple(problems))


def _override_problem(model: Any, rates: Any) -> str:
    if not isinstance(model, str) or not model.strip():
        return "the model must be a name"
    if not isinstance(rates, Mapping):
        return "expected {input, output, cache_read?, cache_write?}"
    for key, rate in rates.items():
        if key not in ("input", "output", "cache_read", "cache_write"):
            return f"unknown key {str(key)[:40]!r}, expected input, output, cache_read or cache_write"
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate < 1e6:
            return f"{key} must be a number of USD per million tokens"
    missing = [key for key in ("input", "output") if key not in rates]
    return f"{' and '.join(missing)} missing" if missing else ""


def find_price(model: Any, provider: Any = None, overrides: Any = None) -> Price | None:
    """The price of `model` at `provider`; None when the table does not say.

    Names are compared in lower case after these rules and no others: an `openrouter/` in front, then a
    vendor of PROVIDERS in front (`openai/gpt-5.4`), must agree with `provider` and are dropped; Anthropic's
    dots become dashes (`claude-opus-4.8`); a date at the end (-20260101, -2026-01-01) is dropped when the
    dated name has no row; Bedrock's `global.` and the path of Fireworks are dropped. Everything else,
    `:free` and `@date` included, is part of the name. A provider that is not listed ("custom") bills what we
    do not know. The user's overrides come first and match with or without the leading parts.
    """
    if not isinstance(model, str) or not model.strip():
        return None
    name, route = model.strip().lower(), _slug(provider)
    own = read_overrides(overrides).prices
    if own:
        parts = name.split("/")
        for tried in [f"{route}/{name}"] + ["/".join(parts[n:]) for n in range(len(parts))]:
            for variant in (tried, _without_date(tried)):
                if variant in own:
                    return own[variant]
    vendors, name = _vendors(name, route)
    return next((row for vendor in vendors if (row := _row(vendor, name))), None)


def _slug(provider: Any) -> str:
    """The provider as the table calls it; "" when the host chose it ("auto") or nobody said."""
    name = provider.strip().lower() if isinstance(provider, str) else ""
    return "" if name == "auto" else _SLUGS.get(name, name)


def _vendors(name: str, route: str) -> tuple[tuple[str, ...], str]:
    """Whose rows may price the call, and the name to look for there."""
    if name.startswith("openrouter/"):
        if route not in ("", "openrouter"):
            return (), name
        route, name = "openrouter", name[len("openrouter/") :]
    if (route, name) in table():
        return (route,), name
    front, slash, rest = name.partition("/")
    vendor = _SLUGS.get(front) if slash else None
    if vendor is not None:
        if route in ("", vendor) or vendor in _AT_LIST_PRICE.get(route, ()):
            return (vendor,), rest
        return (), name
    if not route:
        return tuple(slug for slug in PROVIDERS if slug not in _HOSTS), name
    return _AT_LIST_PRICE.get(route, (route,)), name


def _row(vendor: str, name: str) -> Price | None:
    if vendor == "anthropic":
        name = re.sub(r"(\d)\.(\d)", r"\1-\2", name)
    elif vendor == "bedrock" and name.startswith("global."):
        name = name[len("global.") :]
    elif vendor == "fireworks":
        name = re.sub(r"^accounts/fireworks/(models|routers)/", "", name)
    return table().get((vendor, name)) or table().get((vendor, _without_date(name)))


def _without_date(name: str) -> str:
    return re.sub(r"-20\d\d(-?)(0[1-9]|1[0-2])\1(0[1-9]|[12]\d|3[01])$", "", name)


# --- sums


@dataclass(frozen=True)
class Cost:
    """What a set of calls cost.

    status       "actual" (the provider told every sum), "estimated" (list prices), or "unknown" (at least one
                 call has no price or no usage)
    cost_usd     None when nothing is known; with lower_bound it is the known part, never the whole
    *_tokens,... sums over the calls that reported usage, None when none did; input_tokens is uncached
    model        the models in order of first use, joined by ", "; None without calls
    per_model    model as recorded -> the same keys for its calls alone, with the sources of its prices
    notes        sorted sentences: what is missing, and what an estimate rests on
    """

    model: str | None
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read: int | None
    cache_write: int | None
    reasoning: int | None
    status: str
    lower_bound: bool
    calls: int
    per_model: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data, equal on every Python: dollars have at most 8 decimals, models are sorted."""
        per_model = {model: dict(part) for model, part in self.per_model.items()}
        return {**vars(self), "per_model": per_model, "notes": list(self.notes)}

    def text(self) -> str:
        """`$0.12` actual, `~$0.12` estimated, `≥ $0.12` the known part (rounded down), or `unknown`."""
        if self.cost_usd is None:
            return "unknown"
        decimals = 2 if self.cost_usd >= 0.1 or self.cost_usd == 0 else 4 if self.cost_usd >= 0.001 else 8
        if self.lower_bound:
            from decimal import ROUND_DOWN, Decimal

            return f"≥ ${Decimal(repr(self.cost_usd)).quantize(Decimal(10) ** -decimals, ROUND_DOWN):f}"
        return f"{'' if self.status == 'actual' else '~'}${self.cost_usd:.{decimals}f}"


def estimate_cost(calls: Iterable[tuple], overrides: Any = None) -> Cost:
    """Sum (model, provider, usage, actual_usd[, count]) over the calls of a session, each at its own price.

    usage is a Usage, a mapping for `normalize_usage`, or None. actual_usd is what the provider itself billed,
    None when it did not say (a database's default of 0 is no statement). count > 1 marks a row that sums
    several calls: where tiers differ, the base rate is a lower bound then. Bad overrides are told in notes.
    """
    from decimal import Context, localcontext

    own = read_overrides(overrides)
    total, models, prices = _Tally(), {}, {}
    notes = {problem: 0 for problem in own.problems}
    with localcontext(Context(prec=60)):
        for model, provider, raw, actual_usd, *more in calls:
            count = max(1, int(more[0])) if more else 1
            name = model if isinstance(model, str) and model.strip() else "unknown"
            asked = (name, provider if isinstance(provider, str) else "")
            if asked not in prices:
                prices[asked] = find_price(*asked, own)
            part = models.setdefault(name, _Tally())
            usage, bill = normalize_usage(raw), _bill_actual(actual_usd)
            if bill is None:
                bill = _bill_estimate(usage, prices[asked], asked, count)
                if usage is not None and prices[asked] is not None:
                    part.sources.add(_source(prices[asked]))
            for tally in (total, part):
                tally.add(usage, bill, count)
            for note in bill.notes:
                notes[note] = notes.get(note, 0) + count
        told = tuple(sorted(f"{note} ({n} call{'s' * (n > 1)})" if n else note for note, n in notes.items()))
        per_model = {
            name: {"model": name, **models[name].summary(), "sources": sorted(models[name].sources)}
            for name in sorted(models)
        }
        return Cost(model=", ".join(models) or None, **total.summary(), per_model=per_model, notes=told)


@dataclass(frozen=True)
class _Bill:
    """One call: the dollars known of it (a Decimal), and whether they are all."""

    usd: Any
    status: str
    lower_bound: bool = False
    notes: tuple[str, ...] = ()


class _Tally:
    """Sums of bills and tokens."""

    def __init__(self) -> None:
        self.usd: Any = 0
        self.calls = self.reported = 0
        self.lower_bound = False
        self.statuses: set[str] = set()
        self.sources: set[str] = set()
        self.tokens = dict.fromkeys(_TOKEN_KEYS, 0)

    def add(self, usage: Usage | None, bill: _Bill, count: int) -> None:
        self.calls += count
        self.usd += bill.usd
        self.statuses.add(bill.status)
        self.lower_bound |= bill.lower_bound
        if usage is not None:
            self.reported += 1
            for key, field in _TOKEN_KEYS.items():
                self.tokens[key] += getattr(usage, field)

    def summary(self) -> dict[str, Any]:
        from decimal import Decimal

        status = next((s for s in ("unknown", "estimated", "actual") if s in self.statuses), "estimated")
        nothing = status == "unknown" and not self.usd
        return {
            "cost_usd": None if nothing else float(Decimal(self.usd).quantize(Decimal("1e-8"))),
            **(self.tokens if self.reported or not self.calls else dict.fromkeys(self.tokens)),
            "status": status,
            "lower_bound": not nothing and (status == "unknown" or self.lower_bound),
            "calls": self.calls,
        }


_TOKEN_KEYS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "reasoning": "reasoning",
}


def _bill_actual(usd: Any) -> _Bill | None:
    from decimal import Decimal

    if isinstance(usd, bool) or not isinstance(usd, (int, float)) or not 0 <= usd < 1e12:
        return None
    return _Bill(Decimal(repr(usd)), "actual")


def _bill_estimate(usage: Usage | None, price: Price | None, asked: tuple[str, str], count: int) -> _Bill:
    from decimal import Decimal

    provider = "".join(filter(str.isprintable, asked[1][:40]))
    name = repr(asked[0][:80]) + (f" at {provider}" if provider else "")
    if price is None:
        return _Bill(0, "unknown", notes=(f"no price for {name}{_why(asked[1])}",))
    if usage is None:
        return _Bill(0, "unknown", notes=(f"usage of {name} not reported",))
    rates = price.rates(usage.prompt) if count == 1 else price
    usd, missing = Decimal(0), []
    for part in ("input", "output", "cache_read", "cache_write"):
        tokens, rate = getattr(usage, part), getattr(rates, part)
        if tokens and rate is None:
            missing.append(part)
        elif tokens:
            usd += tokens * Decimal(repr(rate)) / 1_000_000
    notes = [f"no {part} price for {name}" for part in missing]
    if price.note:
        notes.append(f"{name}: {price.note}")
    router = "openrouter" if asked[0].lower().startswith("openrouter/") else _slug(asked[1])
    if price.provider and router in _AT_LIST_PRICE:
        notes.append(f"{name} is priced at the list price of {price.provider}")
    between = count > 1 and bool(price.tiers) and usage.prompt > price.tiers[0].above
    if between:
        notes.append(f"tier of {name} unknown, base rates used")
    return _Bill(usd, "unknown" if missing else "estimated", between, tuple(notes))


def _why(provider: str) -> str:
    return ", which bills by subscription" if _slug(provider) in _BY_SUBSCRIPTION else ""


def _source(price: Price) -> str:
    return " ".join(f"{price.provider} {price.model}: {price.source} {price.date}".split())
