"""Each token is priced once, at its own call's rates; what has no price is unknown, never 0."""

import decimal
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_unroll._common import pricing
from hermes_unroll._common.prices import READ_ON, table
from hermes_unroll._common.pricing import (
    Usage,
    estimate_cost,
    find_price,
    normalize_usage,
    read_overrides,
)

ROOT = Path(__file__).resolve().parents[2]

# --- tokens

ONE_CALL = {
    "hermes": {
        "input_tokens": 1000,
        "output_tokens": 300,
        "cache_read_tokens": 9000,
        "cache_write_tokens": 500,
        "reasoning_tokens": 200,
        "request_count": 1,
        "prompt_tokens": 10500,
        "total_tokens": 10800,
    },
    "hermes database row": {
        "input_tokens": 1000,
        "output_tokens": 300,
        "cache_read_tokens": 9000,
        "cache_write_tokens": 500,
        "reasoning_tokens": 200,
    },
    "openai chat": {
        "prompt_tokens": 10500,
        "completion_tokens": 300,
        "total_tokens": 10800,
        "prompt_tokens_details": {"cached_tokens": 9000, "cache_write_tokens": 500, "audio_tokens": None},
        "completion_tokens_details": {"reasoning_tokens": 200},
    },
    "openai chat through a proxy": {
        "prompt_tokens": 10500,
        "completion_tokens": 300,
        "prompt_tokens_details": None,
        "cache_read_input_tokens": 9000,
        "cache_creation_input_tokens": 500,
        "completion_tokens_details": {"reasoning_tokens": 200},
    },
    "reasoning beside the output": {
        "prompt_tokens": 10500,
        "completion_tokens": 100,
        "total_tokens": 10800,
        "prompt_tokens_details": {"cached_tokens": 9000, "cache_write_tokens": 500},
        "completion_tokens_details": {"reasoning_tokens": 200},
    },
    "openai responses": {
        "input_tokens": 10500,
        "output_tokens": 300,
        "input_tokens_details": {"cached_tokens": 9000, "cache_creation_tokens": 500},
        "output_tokens_details": {"reasoning_tokens": 200},
    },
    "anthropic": {
        "input_tokens": 1000,
        "output_tokens": 300,
        "cache_read_input_tokens": 9000,
        "cache_creation_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 500},
        "output_tokens_details": {"reasoning_tokens": 200},
    },
    "own": {"input": 1000, "output": 300, "cache_read": 9000, "cache_write": 500, "reasoning": 200},
}


@pytest.mark.parametrize("convention", ONE_CALL)
def test_one_call_reads_and_costs_the_same_in_every_convention(convention):
    assert normalize_usage(ONE_CALL[convention]) == Usage(1000, 300, 9000, 500, 200)
    cost = estimate_cost([("claude-opus-4-8", "anthropic", ONE_CALL[convention], None)])
    assert cost.cost_usd == (1000 * 5 + 300 * 25 + 9000 * 0.5 + 500 * 6.25) / 1e6
    assert cost.status == "estimated"


def test_gemini_counts_thoughts_and_tool_prompts_beside_and_leaves_zeros_out():
    told = {"promptTokenCount": 900, "toolUsePromptTokenCount": 100, "cachedContentTokenCount": 400}
    told.update(candidatesTokenCount=30, thoughtsTokenCount=70, totalTokenCount=1100)
    assert normalize_usage({"usageMetadata": told}) == Usage(600, 100, 400, 0, 70)
    assert normalize_usage({"promptTokenCount": 5}) == Usage(5, 0)


@pytest.mark.parametrize("key", ["prompt_cache_hit_tokens", "cached_tokens"])
def test_cache_hits_told_at_the_top_are_part_of_the_prompt(key):
    assert normalize_usage({"prompt_tokens": 100, "completion_tokens": 7, key: 80}) == Usage(20, 7, 80)


def test_input_and_output_alone_mean_an_uncached_prompt():
    assert normalize_usage({"input_tokens": 10, "output_tokens": 2}) == Usage(10, 2)
    nothing = {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": None}
    assert normalize_usage(nothing) == Usage(10, 2)


@pytest.mark.parametrize("bad", [None, "12", "", -1, float("nan"), float("inf"), True, 1.5, [], {}, 10**16])
@pytest.mark.parametrize(
    ("convention", "path"),
    [
        ("hermes", ("input_tokens",)),
        ("hermes", ("cache_read_tokens",)),
        ("openai chat", ("prompt_tokens",)),
        ("openai chat", ("completion_tokens",)),
        ("openai responses", ("output_tokens",)),
        ("anthropic", ("input_tokens",)),
        ("own", ("output",)),
    ],
)
def test_a_count_that_is_none_makes_the_usage_unknown(convention, path, bad):
    assert normalize_usage({**ONE_CALL[convention], path[0]: bad}) is None


@pytest.mark.parametrize("bad", ["9000", -1, float("nan"), True, {}])
def test_a_detail_that_is_no_count_makes_the_usage_unknown(bad):
    told = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": bad}}
    assert normalize_usage(told) is None
    assert normalize_usage({**told, "prompt_tokens_details": bad}) in (None, Usage(10, 1))


@pytest.mark.parametrize(
    "contradiction",
    [
        {**ONE_CALL["hermes"], "prompt_tokens": 1000},
        {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 101}},
        {"prompt_tokens": 9, "completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 2}},
        {"promptTokenCount": 5, "cachedContentTokenCount": 6},
        Usage(-1, 1, 2),
        Usage(1, 1, reasoning=2),
    ],
)
def test_counts_that_contradict_each_other_are_unknown(contradiction):
    assert normalize_usage(contradiction) is None


@pytest.mark.parametrize("nothing", [None, {}, [], "usage", 5, {"total_tokens": 9}, {"prompt_tokens": 9}])
def test_what_is_no_usage_is_unknown(nothing):
    assert normalize_usage(nothing) is None


def test_zeros_stand_for_a_usage_that_was_not_reported():
    zeros = dict.fromkeys(ONE_CALL["hermes"], 0)
    assert normalize_usage(zeros) is None
    cost = estimate_cost([("gpt-5.4", "openai", zeros, None)])
    assert (cost.status, cost.cost_usd, cost.input_tokens) == ("unknown", None, None)
    assert cost.notes == ("usage of 'gpt-5.4' at openai not reported (1 call)",)


counts = st.integers(0, 10**7)


@given(counts, counts, counts, counts, counts)
def test_every_convention_carries_any_call(plain, read, written, spoken, thought):
    usage = Usage(plain, spoken + thought, read, written, thought)
    expected = usage if usage.prompt else None
    told = {"cached_tokens": read, "cache_write_tokens": written}
    thinking = {"reasoning_tokens": thought}
    for raw in (
        {
            "input_tokens": plain,
            "output_tokens": usage.output,
            "cache_read_tokens": read,
            "cache_write_tokens": written,
            "reasoning_tokens": thought,
            "prompt_tokens": usage.prompt,
        },
        {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.output,
            "total_tokens": usage.prompt + usage.output,
            "prompt_tokens_details": told,
            "completion_tokens_details": thinking,
        },
        {
            "input_tokens": usage.prompt,
            "output_tokens": usage.output,
            "input_tokens_details": told,
            "output_tokens_details": thinking,
        },
        {
            "input_tokens": plain,
            "output_tokens": usage.output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens_details": thinking,
        },
        usage,
    ):
        assert normalize_usage(raw) == expected


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: st.dictionaries(
            st.sampled_from(
                sorted({key for raw in ONE_CALL.values() for key in raw} | {"cached_tokens", "usageMetadata"})
            ),
            inner,
        ),
    )
)
def test_no_shape_of_usage_raises(raw):
    usage = normalize_usage(raw)
    assert usage is None or (usage.prompt > 0 and 0 <= usage.reasoning <= usage.output)


# --- names


@pytest.mark.parametrize(
    ("model", "provider", "row"),
    [
        ("gpt-4o", None, ("openai", "gpt-4o")),
        ("gpt-4o", "auto", ("openai", "gpt-4o")),
        ("openai/gpt-4o", "openai", ("openai", "gpt-4o")),
        (" OpenAI/GPT-4o ", "", ("openai", "gpt-4o")),
        ("gpt-4o", "openai-api", ("openai", "gpt-4o")),
        ("gpt-4o-2024-08-06", "openai", ("openai", "gpt-4o")),
        ("gpt-4o-2024-05-13", "openai", ("openai", "gpt-4o-2024-05-13")),
        ("Anthropic/Claude-Opus-4-8-20260101", None, ("anthropic", "claude-opus-4-8")),
        ("anthropic/claude-opus-4.8", "openrouter", ("anthropic", "claude-opus-4-8")),
        ("openrouter/anthropic/claude-sonnet-4.5", None, ("anthropic", "claude-sonnet-4-5")),
        ("openrouter/openai/gpt-5.4", "openrouter", ("openai", "gpt-5.4")),
        ("x-ai/grok-4.7", "openrouter", ("xai", "grok-4.7")),
        ("gpt-5.4", "azure-foundry", ("openai", "gpt-5.4")),
        ("google/gemini-3.1-pro-preview", "vertex", ("google", "gemini-3.1-pro-preview")),
        ("gemini-2.5-pro", "gemini", ("google", "gemini-2.5-pro")),
        ("kimi-k3", "kimi-coding", ("moonshot", "kimi-k3")),
        ("MiniMax-M2.5", "minimax", ("minimax", "minimax-m2.5")),
        ("z-ai/glm-5.2", None, ("zai", "glm-5.2")),
        ("openai/gpt-oss-120b", "groq", ("groq", "openai/gpt-oss-120b")),
        ("groq/openai/gpt-oss-120b", None, ("groq", "openai/gpt-oss-120b")),
        ("us.anthropic.claude-opus-4-8", "bedrock", ("bedrock", "us.anthropic.claude-opus-4-8")),
        ("global.anthropic.claude-opus-4-8", "bedrock", ("bedrock", "anthropic.claude-opus-4-8")),
        ("accounts/fireworks/models/glm-5p3", "fireworks", ("fireworks", "glm-5p3")),
        ("accounts/fireworks/routers/kimi-k3-fast", "fireworks", ("fireworks", "kimi-k3-fast")),
        ("qwen3-coder-plus-2025-07-22", "alibaba", ("alibaba", "qwen3-coder-plus-2025-07-22")),
    ],
)
def test_names_are_found_by_the_listed_rules(model, provider, row):
    assert find_price(model, provider) is table()[row]


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("openrouter/vendor/new-model-x", None),
        ("vendor/new-model-x:free", "openrouter"),
        ("openai/gpt-4o:free", "openrouter"),
        ("anthropic/claude-opus-4.8:thinking", "openrouter"),
        ("claude-sonnet-4-5@20250929", "vertex"),
        ("gpt-5.4@latest", None),
        ("gpt-4", None),
        ("gpt-4o-2024", None),
        ("gpt-4o-20249999", None),
        ("gpt-4o-mini-high", None),
        ("my-gpt-4o", None),
        ("openai/claude-opus-4-8", None),
        ("anthropic/gpt-4o", None),
        ("claude-opus-4-8", "openai"),
        ("openai/gpt-4o", "anthropic"),
        ("vendor/gpt-4o", None),
        ("openai/openai/gpt-4o", None),
        ("openrouter/openai/gpt-4o", "openai"),
        ("openrouter/auto", "openrouter"),
        ("deepseek/deepseek-v4-pro", "openrouter"),
        ("openai/gpt-oss-120b", "openrouter"),
        ("gpt-oss-120b", None),
        ("kimi-k3", "together"),
        ("claude-opus-4-8", "azure-foundry"),
        ("gpt-4o", "custom"),
        ("gpt-4o", "custom:office"),
        ("gpt-4o", "lmstudio"),
        ("gpt-5.4", "openai-codex"),
        ("gpt-5.4", "copilot"),
        ("jp.anthropic.claude-opus-4-8", "bedrock"),
        ("", None),
        ("/", None),
        ("openai/", "openai"),
        (None, None),
        (7, "openai"),
    ],
)
def test_a_foreign_or_unlisted_name_has_no_price(model, provider):
    assert find_price(model, provider) is None


def test_free_is_a_price_only_where_a_row_says_so():
    assert find_price("glm-4.7-flash", "zai").output == 0.0
    free = [row for row in table().values() if not row.input or not row.output]
    assert {(row.provider, row.model) for row in free} == {("zai", "glm-4.5-flash"), ("zai", "glm-4.7-flash")}
    usage = {"prompt_tokens": 100, "completion_tokens": 9}
    cost = estimate_cost([("glm-4.7-flash", "zai", usage, None)])
    assert (cost.cost_usd, cost.status, cost.text()) == (0.0, "estimated", "~$0.00")
    assert estimate_cost([("vendor/x:free", "openrouter", usage, None)]).text() == "unknown"


def test_the_table_is_whole_and_dated():
    rows = table().values()
    assert len({row.model for row in rows}) >= 60
    vendors = {"openai", "anthropic", "google", "xai", "deepseek", "mistral", "moonshot", "zai", "alibaba"}
    vendors |= {
        "minimax",
        "meta",
        "groq",
        "bedrock",
        "cohere",
        "together",
        "deepinfra",
        "fireworks",
        "cerebras",
    }
    assert {row.provider for row in rows} == vendors == set(pricing.PROVIDERS)
    for row in rows:
        assert row.source and row.date == READ_ON and row.model == row.model.lower().strip()
        sizes = [tier.above for tier in row.tiers]
        assert sizes == sorted(set(sizes))
        steps = [row, *row.tiers]
        for low, high in pairwise(steps):
            assert high.input >= low.input and high.output >= low.output, row
        for rates in steps:
            assert rates.cache_read is None or 0 <= rates.cache_read <= rates.input, row
            assert rates.cache_write is None or rates.input <= rates.cache_write, row


def test_a_bare_name_never_fits_two_vendors():
    own = [row.model for row in table().values() if row.provider not in pricing._HOSTS]
    assert len(own) == len(set(own)) and all(find_price(model) is not None for model in own)


# --- overrides


def test_overrides_win_and_match_with_or_without_the_leading_parts():
    own = {
        "Vendor/New-Model-X": {"input": 1, "output": 2},
        "gpt-4o": {"input": 9, "output": 9, "cache_read": 0},
    }
    for model, provider in (("openrouter/vendor/new-model-x", None), ("vendor/new-model-x", "custom")):
        assert find_price(model, provider, own).input == 1.0
    for model in ("gpt-4o", "openai/gpt-4o", "openrouter/openai/gpt-4o", "gpt-4o-2024-08-06"):
        assert find_price(model, "openai", own).input == 9.0
    assert find_price("vendor/new-model-x:free", None, own) is None
    assert find_price("gpt-4o", "azure", {"azure/gpt-4o": {"input": 3, "output": 3}}).input == 3.0
    assert find_price("gpt-4o", "openai", {"azure/gpt-4o": {"input": 3, "output": 3}}).input == 2.5


@pytest.mark.parametrize(
    ("entry", "tells"),
    [
        ({"input": 1}, "output missing"),
        ({}, "input and output missing"),
        ({"input": -1, "output": 1}, "input must be a number"),
        ({"input": 1, "output": "2"}, "output must be a number"),
        ({"input": True, "output": 1}, "input must be a number"),
        ({"input": float("nan"), "output": 1}, "input must be a number"),
        ({"input": float("inf"), "output": 1}, "input must be a number"),
        ({"input": 1, "output": 1, "cache_reed": 1}, "unknown key 'cache_reed'"),
        ({"input": 1, "output": 1, "cache_read": None}, "cache_read must be a number"),
        ((1, 2), "expected {input, output"),
        (None, "expected {input, output"),
    ],
)
def test_a_bad_override_is_told_and_not_used(entry, tells):
    raw = {"gpt-4o": entry, "good": {"input": 1, "output": 1}}
    assert set(read_overrides(raw).prices) == {"good"}
    cost = estimate_cost([("gpt-4o", "openai", {"prompt_tokens": 10**6, "completion_tokens": 0}, None)], raw)
    assert cost.cost_usd == 2.5
    assert any(note.startswith("pricing_overrides.'gpt-4o': ") and tells in note for note in cost.notes)


@pytest.mark.parametrize("raw", [[], "gpt-4o: 1", 5, {3: {"input": 1, "output": 1}}, {" ": {}}])
def test_overrides_of_another_shape_are_told(raw):
    own = read_overrides(raw)
    assert not own.prices and len(own.problems) == 1
    assert read_overrides(own) is own and read_overrides(None).problems == ()


# --- sums


def usage(prompt, output=0, **more):
    return {"prompt_tokens": prompt, "completion_tokens": output, **more}


def test_cached_tokens_switched_models_and_an_unknown_model():
    def hermes(plain, output, read=0, written=0):
        return {
            "input_tokens": plain,
            "output_tokens": output,
            "cache_read_tokens": read,
            "cache_write_tokens": written,
            "reasoning_tokens": 0,
            "prompt_tokens": plain + read + written,
        }

    cost = estimate_cost(
        [
            ("openai/gpt-4o", "openai", hermes(1000, 100, 99000), None),
            ("gpt-4o-mini", "openai", hermes(100, 10), None),
            ("no-such-model", "openai", hermes(100, 10), None),
        ]
    )
    first = (1000 * 2.5 + 100 * 10 + 99000 * 1.25) / 1e6
    second = (100 * 0.15 + 10 * 0.6) / 1e6
    assert cost.per_model["openai/gpt-4o"]["cost_usd"] == first == 0.12725
    assert cost.per_model["gpt-4o-mini"]["cost_usd"] == second
    assert cost.per_model["no-such-model"]["cost_usd"] is None
    assert (cost.status, cost.lower_bound, cost.cost_usd) == ("unknown", True, round(first + second, 8))
    assert cost.text() == "≥ $0.12"
    assert (cost.input_tokens, cost.output_tokens, cost.cache_read, cost.cache_write) == (1200, 120, 99000, 0)
    assert cost.model == "openai/gpt-4o, gpt-4o-mini, no-such-model" and cost.calls == 3
    assert cost.notes == ("no price for 'no-such-model' at openai (1 call)",)


def test_tokens_of_a_class_without_a_price_are_not_free():
    cost = estimate_cost([("gpt-4o", "openai", Usage(1000, 100, 0, 5000), None)])
    assert (cost.status, cost.lower_bound, cost.cost_usd) == ("unknown", True, 0.0035)
    assert cost.notes == ("no cache_write price for 'gpt-4o' at openai (1 call)",)
    assert cost.text() == "≥ $0.0035"
    assert estimate_cost([("gpt-4o", "openai", Usage(1000, 100, 0, 0), None)]).status == "estimated"


@pytest.mark.parametrize(
    ("prompt", "rates"), [(272_000, (2.5, 15, 0.25)), (272_001, (5, 22.5, 0.5)), (900_000, (5, 22.5, 0.5))]
)
def test_a_call_is_priced_by_the_tier_of_its_whole_prompt(prompt, rates):
    cost = estimate_cost([("gpt-5.4", "openai", Usage(prompt - 270_000, 1000, 270_000), None)])
    whole = (prompt - 270_000) * rates[0] + 1000 * rates[1] + 270_000 * rates[2]
    assert cost.cost_usd == round(whole / 1e6, 8)


@pytest.mark.parametrize(("prompt", "rate"), [(32_000, 1), (32_001, 1.8), (128_001, 3), (256_001, 6)])
def test_of_several_tiers_the_largest_exceeded_one_counts(prompt, rate):
    cost = estimate_cost([("qwen3-coder-plus", "alibaba", usage(prompt), None)])
    assert cost.cost_usd == round(prompt * rate / 1e6, 8)


def test_two_small_calls_are_not_one_large_one():
    small = ("gpt-5.4", "openai", usage(200_000), None)
    assert estimate_cost([small, small]).cost_usd == 1.0
    assert estimate_cost([("gpt-5.4", "openai", usage(400_000), None)]).cost_usd == 2.0


def test_a_row_that_sums_calls_says_when_the_tier_is_unknown():
    cost = estimate_cost([("gpt-5.4", "openai", usage(400_000), None, 2)])
    assert (cost.cost_usd, cost.status, cost.lower_bound, cost.calls) == (1.0, "estimated", True, 2)
    assert cost.text() == "≥ $1.00"
    assert cost.notes == ("tier of 'gpt-5.4' at openai unknown, base rates used (2 calls)",)
    sure = estimate_cost([("gpt-5.4", "openai", usage(200_000), None, 2)])
    assert (sure.cost_usd, sure.lower_bound, sure.notes) == (0.5, False, ())


def test_what_the_provider_billed_wins_over_any_estimate():
    cost = estimate_cost([("no-such-model", "custom", usage(10, 1), 0.25), ("x", "custom", None, 0)])
    assert (cost.status, cost.cost_usd, cost.lower_bound, cost.text()) == ("actual", 0.25, False, "$0.25")
    assert (cost.input_tokens, cost.per_model["x"]["input_tokens"]) == (10, None)
    mixed = estimate_cost([("x", "custom", None, 0.25), ("gpt-4o", "openai", usage(100_000), None)])
    assert (mixed.status, mixed.cost_usd, mixed.text()) == ("estimated", 0.5, "~$0.50")


@pytest.mark.parametrize("billed", [None, "0.25", -1, float("nan"), float("inf"), True, [], 1e300])
def test_a_billed_sum_that_is_no_amount_is_not_believed(billed):
    assert estimate_cost([("x", "custom", usage(10), billed)]).status == "unknown"


def test_no_calls_cost_nothing():
    cost = estimate_cost([])
    assert (cost.cost_usd, cost.status, cost.model, cost.input_tokens) == (0.0, "estimated", None, 0)


def test_a_lower_bound_is_never_rounded_up():
    unknown = ("x", "custom", usage(1), None)
    assert estimate_cost([("y", "", None, 0.999), unknown]).text() == "≥ $0.99"
    assert estimate_cost([("y", "", None, 0.00099999), unknown]).text() == "≥ $0.00099999"
    assert estimate_cost([("y", "", None, 0.0), unknown]).text() == "unknown"


def test_the_route_and_the_rates_that_vary_are_told():
    cost = estimate_cost(
        [
            ("anthropic/claude-opus-4.8", "openrouter", usage(10), None),
            ("openrouter/openai/gpt-4o", None, usage(10), None),
            ("deepseek-v4-pro", "deepseek", usage(10), None),
            ("gpt-5.4", "openai-codex", usage(10), None),
        ]
    )
    assert cost.notes == (
        "'anthropic/claude-opus-4.8' at openrouter is priced at the list price of anthropic (1 call)",
        "'deepseek-v4-pro' at deepseek: peak rate (weekdays 1-4, 6-10 h UTC); else half (1 call)",
        "'openrouter/openai/gpt-4o' is priced at the list price of openai (1 call)",
        "no price for 'gpt-5.4' at openai-codex, which bills by subscription (1 call)",
    )


def test_the_same_name_at_two_providers_is_priced_at_each():
    cost = estimate_cost(
        [
            ("openai/gpt-oss-120b", "groq", usage(10**6), None),
            ("openai/gpt-oss-120b", "deepinfra", usage(10**6), None),
        ]
    )
    assert cost.cost_usd == 0.187
    assert [source.split(":")[0] for source in cost.per_model["openai/gpt-oss-120b"]["sources"]] == [
        "deepinfra openai/gpt-oss-120b",
        "groq openai/gpt-oss-120b",
    ]


@pytest.mark.parametrize("model", [None, 7, "", "  ", ["x"]])
def test_a_call_without_a_model_is_unknown_and_counted(model):
    cost = estimate_cost([(model, None, usage(10, 5), None)])
    assert (cost.status, cost.per_model["unknown"]["input_tokens"]) == ("unknown", 10)


def test_hostile_names_stay_inside_their_quotes():
    cost = estimate_cost([("x\n__import__('os')", "y\r\nz", usage(10), None)])
    assert all(character.isprintable() for note in cost.notes for character in note)
    assert len(estimate_cost([("x" * 10_000, None, usage(1), None)]).notes[0]) < 200


def test_the_same_calls_give_the_same_bytes_whatever_the_hosts_decimal_context():
    calls = [("claude-haiku-5-5", "anthropic", Usage(n, 7 * n, 3 * n, n), None) for n in range(1, 400)]
    calls += [("glm-5.3-flash", "zai", Usage(33, 1, 7), None), ("nobody", None, None, None)]
    first = json.dumps(estimate_cost(calls).as_dict())
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP)):
        assert json.dumps(estimate_cost(calls).as_dict()) == first
    assert json.dumps(estimate_cost(list(calls)).as_dict()) == first
    told = json.loads(first)
    assert told["cost_usd"] == round((399 * 400 // 2 * (0.1 + 7 * 0.5 + 3 * 0.01 + 0.125) + 5.66) / 1e6, 8)
    assert list(told["per_model"]) == sorted(told["per_model"])
    assert set(told["per_model"]["nobody"]) == set(told) - {"per_model", "notes"} | {"sources"}


def test_prices_and_costs_cannot_be_changed():
    for frozen in (find_price("gpt-4o"), Usage(1, 1), estimate_cost([])):
        with pytest.raises(FrozenInstanceError):
            frozen.model = "x"


def test_importing_is_cheap():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import hermes_unroll._common.pricing as pricing\n"
        "heavy = {'decimal', '_decimal', 'fractions', 'json', 'sqlite3', 'urllib.request', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)), len(pricing.table.__globals__['_rows']))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] 0\n"


# --- the table against the price file it was read from

LITELLM = "1.110.2"
PREFIXES = {
    "openai": "",
    "anthropic": "",
    "google": "gemini/",
    "xai": "xai/",
    "deepseek": "deepseek/",
    "mistral": "mistral/",
    "moonshot": "moonshot/",
    "zai": "zai/",
    "alibaba": "dashscope/",
    "minimax": "minimax/",
    "cohere": "",
    "meta": "meta/",
    "bedrock": "",
    "groq": "groq/",
    "together": "together_ai/",
    "fireworks": "fireworks_ai/",
    "deepinfra": "deepinfra/",
    "cerebras": "cerebras/",
}
RATES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
}
NO_WRITE_PRICE = (
    "the file writes 0 for a class its provider does not bill; a 0 here would make such tokens free"
)
# (provider, model, field) -> why the table differs from the file
ACCEPTED = {
    (provider, model, "cache_write"): NO_WRITE_PRICE
    for provider, models in {
        "deepseek": "deepseek-flash deepseek-v4-flash deepseek-v4-pro",
        "zai": "glm-4.6 glm-4.7 glm-4.7-flash glm-5 glm-5-code glm-5.1 glm-5.2 glm-5.3 glm-5.3-flash",
    }.items()
    for model in models.split()
}
# (provider, model) -> where the row comes from, as the file has no such entry
NOT_IN_THE_FILE = {("minimax", "minimax-m2.7"): "price table of hermes-agent 0.19.0"}


@pytest.fixture(scope="module")
def price_file():
    spec = importlib.util.find_spec("litellm")
    if spec is None:
        pytest.skip(f"litellm is not installed (pip install --no-deps litellm=={LITELLM})")
    found = importlib.metadata.version("litellm")
    if found != LITELLM:
        pytest.skip(f"litellm {found} is installed, the table was read from {LITELLM}")
    path = Path(next(iter(spec.submodule_search_locations))) / "model_prices_and_context_window_backup.json"
    entries: dict[str, dict] = {}
    for name, entry in json.loads(path.read_text(encoding="utf-8")).items():
        entries.setdefault(name.lower(), entry)
    return entries


def per_million(cost):
    return None if cost is None else float(round(decimal.Decimal(repr(cost)) * 10**6, 7))


def file_rates(entry):
    """{size above which it holds: {field: USD per million}}, 0 being the base."""
    if "tiered_pricing" in entry:
        tiers = {int(tier["range"][0]): tier for tier in entry["tiered_pricing"]}
        return {
            size: {f: per_million(tier.get(key)) for f, key in RATES.items()} for size, tier in tiers.items()
        }
    rates = {0: {field: per_million(entry.get(key)) for field, key in RATES.items()}}
    for field, key in RATES.items():
        for name, cost in entry.items():
            size = name.removeprefix(f"{key}_above_").removesuffix("k_tokens")
            if size.isdigit() and rates[0][field] is not None:
                rates.setdefault(int(size) * 1000, dict.fromkeys(RATES))[field] = per_million(cost)
    return rates


def table_rates(row):
    return {getattr(r, "above", 0): {f: getattr(r, f) for f in RATES} for r in (row, *row.tiers)}


def differences(row, entry, fields=tuple(RATES)):
    ours, theirs = table_rates(row), file_rates(entry)
    if set(ours) != set(theirs):
        return {("tiers", tuple(ours), tuple(theirs))}
    return {
        (field, size, ours[size][field], theirs[size][field])
        for size in ours
        for field in fields
        if ours[size][field] != theirs[size][field]
    }


def test_every_row_is_what_the_price_file_says(price_file):
    found, used = {}, set()
    for (provider, model), row in table().items():
        entry = price_file.get(PREFIXES[provider] + model)
        if entry is None:
            assert row.source == NOT_IN_THE_FILE[provider, model]
            continue
        for difference in differences(row, entry):
            if (provider, model, difference[0]) in ACCEPTED:
                used.add((provider, model, difference[0]))
            else:
                found.setdefault((provider, model), []).append(difference)
    assert not found
    assert used == set(ACCEPTED), "deviations that are none any more"


def test_every_row_names_the_page_its_entry_cites(price_file):
    for (provider, model), row in table().items():
        if (provider, model) in NOT_IN_THE_FILE:
            continue
        cited = price_file[PREFIXES[provider] + model].get("source") or ""
        named = row.source.rpartition("citing ")[2] if "citing " in row.source else ""
        beyond = cited.removeprefix(named)
        assert bool(cited) == bool(named) and cited == named + beyond, (provider, model, cited)
        assert not beyond or named.endswith("/") or beyond[0] in "/#?.", (provider, model, cited)


def test_thinking_costs_what_speaking_costs_in_every_row(price_file):
    for provider, model in set(table()) - set(NOT_IN_THE_FILE):
        entry = price_file[PREFIXES[provider] + model]
        for rates in (entry, *entry.get("tiered_pricing", ())):
            thinking = rates.get("output_cost_per_reasoning_token")
            assert thinking in (None, rates.get("output_cost_per_token")), (provider, model)


def test_every_row_with_cheaper_hours_says_so(price_file):
    for (provider, model), row in table().items():
        hours = price_file.get(PREFIXES[provider] + model, {}).get("off_peak_pricing")
        assert bool(hours) == bool(row.note), (provider, model)


def test_dropping_a_date_never_changes_the_price(price_file):
    dated = 0
    for name, entry in price_file.items():
        for provider, prefix in PREFIXES.items():
            model = name[len(prefix) :]
            if not name.startswith(prefix) or pricing._without_date(model) == model or "/" in model:
                continue
            if not prefix and entry.get("litellm_provider") != provider:
                continue
            row = find_price(model, provider)
            if row is not None:
                dated += 1
                wrong = {d for d in differences(row, entry) if (provider, row.model, d[0]) not in ACCEPTED}
                assert not wrong, (name, wrong)
    assert dated >= 30


@pytest.mark.parametrize(
    ("route", "vendor", "prefixes"),
    [
        ("azure", "openai", ("azure/",)),
        ("vertex", "google", ("vertex_ai/", "")),
        ("bedrock", "bedrock", ("global.",)),
    ],
)
def test_routes_at_list_price_really_ask_the_list_price(price_file, route, vendor, prefixes):
    compared = 0
    for (provider, model), row in table().items():
        entries = [price_file[prefix + model] for prefix in prefixes if prefix + model in price_file]
        if provider == vendor and entries:
            name = f"global.{model}" if route == "bedrock" else model
            assert find_price(name, route) is row
            # A class the vendor's page gives no price for stays unknown on every route.
            assert not {d for d in differences(row, entries[0]) if d[2] is not None}, model
            compared += 1
    assert compared >= 10
