"""The price table: USD per million tokens, each row with its source and the day it was read.

The figures were read on 2026-11-29 from the price file inside the litellm 1.110.2 wheel; the page behind the
name of a provider is the one that file cites ("none": it cites no page). "host" rows are from the table
of hermes-agent 0.19.0. A development test holds every row against the file.

One line per model: name, input, output, cache_read, cache_write, then for each tier >SIZE and its four rates.
"-" means that no such price is published there. A call whose prompt (cached tokens included) is larger than
SIZE is billed at that tier's rates as a whole. cache_write is the rate of the shortest storage time offered.
Text behind "!" is told with every estimate. Names are lower case, as the provider writes them.
deepseek-chat and deepseek-reasoner are left out: retired in July 2026, and sources disagree on their price.
"""

from __future__ import annotations

from dataclasses import dataclass

READ_ON = "2026-11-29"
_SOURCES = {
    "none": "litellm 1.110.2 price file, which cites no page",
    "host": "price table of hermes-agent 0.19.0",
}


@dataclass(frozen=True)
class Tier:
    """Rates of a call whose prompt is larger than `above` tokens; USD per million, None: not published."""

    above: int
    input: float
    output: float
    cache_read: float | None
    cache_write: float | None


@dataclass(frozen=True)
class Price:
    """One row: what `provider` asks for `model`; USD per million tokens, None: no such price is published.

    `tiers` is sorted by size. `date` is the day the figures were read, YYYY-MM-DD ("" for the user's own).
    """

    model: str
    provider: str
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    tiers: tuple[Tier, ...] = ()
    source: str = ""
    date: str = ""
    note: str = ""

    def rates(self, prompt_tokens: int) -> Price | Tier:
        """The rates for a prompt of that size: the largest tier it exceeds, else the row itself."""
        exceeded = [tier for tier in self.tiers if prompt_tokens > tier.above]
        return exceeded[-1] if exceeded else self


def table() -> dict[tuple[str, str], Price]:
    """Every row by (provider, model). Parsed on the first call; not to be changed."""
    if not _rows:
        _rows.update(_parse(TABLE))
    return _rows


_rows: dict[tuple[str, str], Price] = {}


def _parse(text: str) -> dict[tuple[str, str], Price]:
    rows: dict[tuple[str, str], Price] = {}
    provider = source = note = ""
    for line in text.splitlines():
        if line.startswith("["):
            head, _, note = line.partition(" ! ")
            provider, _, page = head[1:].partition("] ")
            source = _SOURCES.get(page) or f"litellm 1.110.2 price file, citing {page}"
        elif line:
            row, *tiers = line.split(">")
            model, *rates = row.split()
            if (provider, model) in rows:
                raise ValueError(f"two prices for {provider} {model}")
            rows[provider, model] = Price(
                model,
                provider,
                *_rates(rates),
                tiers=tuple(_tier(*tier.split()) for tier in tiers),
                source=source,
                date=READ_ON,
                note=note,
            )
    return rows


def _tier(size: str, *rates: str) -> Tier:
    return Tier(int(size[:-1]) * 1000, *_rates(rates))


def _rates(rates: list[str] | tuple[str, ...]) -> tuple:
    return tuple(None if rate == "-" else float(rate) for rate in rates)


TABLE = """
[openai] https://developers.openai.com/api/docs/pricing
gpt-4o              2.5    10   1.25      -
gpt-4o-2024-05-13     5    15      -      -
gpt-4o-mini        0.15   0.6  0.075      -
gpt-4.1               2     8    0.5      -
gpt-4.1-mini        0.4   1.6    0.1      -
gpt-4.1-nano        0.1   0.4  0.025      -
gpt-5              1.25    10  0.125      -
gpt-5-mini         0.25     2  0.025      -
gpt-5-nano         0.05   0.4  0.005      -
gpt-5-pro            15   120      -      -
gpt-5.1            1.25    10  0.125      -
gpt-5.2            1.75    14  0.175      -
gpt-5.2-pro          21   168      -      -
gpt-5.3-codex      1.75    14  0.175      -
gpt-5.4             2.5    15   0.25      -  >272k 5 22.5 0.5 -
gpt-5.4-mini       0.75   4.5  0.075      -
gpt-5.4-nano        0.2  1.25   0.02      -
gpt-5.4-pro          30   180      -      -  >272k 60 270 - -
gpt-5.5               5    30    0.5      -  >272k 10 45 1 -
gpt-5.5-pro          30   180      -      -  >272k 60 270 - -
gpt-5.6-sol           4    20    0.4      5  >272k 8 30 0.8 10
gpt-5.6-terra         2    12    0.2    2.5  >272k 4 18 0.4 5
gpt-5.6-luna        0.2   1.2   0.02   0.25  >272k 0.4 1.8 0.04 0.5
gpt-6-astra          10    50      1   12.5  >272k 20 75 2 25
gpt-6-luna          0.1   0.5   0.01  0.125  >272k 0.2 0.75 0.02 0.25
gpt-6-sol             2    10    0.2    2.5  >272k 4 15 0.4 5
gpt-6.1-sol           2    10    0.1    2.5  >272k 4 15 0.2 5
gpt-6.1-terra         1     5   0.05   1.25  >272k 2 7.5 0.1 2.5
o1                   15    60    7.5      -
o3                    2     8    0.5      -
o3-mini             1.1   4.4   0.55      -
o3-pro               20    80      -      -
o4-mini             1.1   4.4  0.275      -

[openai] https://developers.openai.com/api/docs/models/
gpt-5-codex          1.25  10  0.125  -
gpt-5-chat-latest    1.25  10  0.125  -
gpt-5.1-chat-latest  1.25  10  0.125  -
gpt-5.1-codex        1.25  10  0.125  -
gpt-5.1-codex-max    1.25  10  0.125  -
gpt-5.1-codex-mini   0.25   2  0.025  -
gpt-5.2-chat-latest  1.75  14  0.175  -
gpt-5.2-codex        1.75  14  0.175  -
gpt-5.3-chat-latest  1.75  14  0.175  -

[openai] none
gpt-5.6  4  20  0.4  5  >272k 8 30 0.8 10

[anthropic] https://platform.claude.com/docs/en/about-claude/pricing
claude-haiku-4-5    1   5   0.1  1.25
claude-sonnet-4-5   3  15   0.3  3.75
claude-sonnet-4-6   3  15   0.3  3.75
claude-sonnet-5     2  10   0.2   2.5
claude-sonnet-5-5   2  10   0.1   2.5
claude-opus-4-5     5  25   0.5  6.25
claude-opus-4-6     5  25   0.5  6.25
claude-opus-4-7     5  25   0.5  6.25
claude-opus-4-8     5  25   0.5  6.25
claude-opus-5       5  25   0.5  6.25
claude-opus-5-5     4  20   0.2     5
claude-fable-5     10  50     1  12.5
claude-fable-5-1   10  50  0.25  12.5
claude-mythos-5    10  50     1  12.5
claude-mythos-5-1  10  50  0.25  12.5

[anthropic] https://platform.claude.com/docs/en/models/
claude-haiku-5-5  0.1  0.5  0.01  0.125  >100k 0.5 2.5 0.05 0.625

[google] https://ai.google.dev/gemini-api/docs/
gemini-2.5-pro            1.25    10  0.125  -  >200k 2.5 15 0.25 -
gemini-2.5-flash           0.3   2.5   0.03  -
gemini-2.5-flash-lite      0.1   0.4   0.01  -
gemini-3-flash-preview     0.5     3   0.05  -
gemini-3.1-flash-lite     0.25   1.5  0.025  -
gemini-3.1-pro-preview       2    12    0.2  -  >200k 4 18 0.4 -
gemini-3.5-flash           1.5     9   0.15  -
gemini-3.5-flash-lite      0.3   2.5   0.03  -
gemini-3.6-flash          0.75  3.75  0.075  -
gemini-3.7-flash          0.75  3.75  0.075  -
gemini-3.8-flash          0.75  3.75  0.075  -
gemini-4-argon               2    10    0.1  -
gemini-flash-latest       0.75  3.75  0.075  -
gemini-flash-lite-latest   0.3   2.5   0.03  -
gemini-pro-latest            2    12    0.2  -  >200k 4 18 0.4 -

[google] https://aistudio.google.com/docs/pricing
gemini-4-hydrogen  1.5  7.5  0.075  -

[xai] https://api.x.ai/v1/language-models
grok-4.3                 1.25  2.5  0.2  -  >200k 2.5 5 0.4 -
grok-4.5                    2    6  0.3  -  >200k 4 12 0.6 -
grok-4.6                    2    6  0.5  -  >200k 4 12 1 -
grok-4.7                    2    6  0.5  -  >200k 4 12 1 -
grok-4.20                1.25  2.5  0.2  -  >200k 2.5 5 0.4 -
grok-4.20-reasoning      1.25  2.5  0.2  -  >200k 2.5 5 0.4 -
grok-4.20-non-reasoning  1.25  2.5  0.2  -  >200k 2.5 5 0.4 -
grok-4.20-multi-agent    1.25  2.5  0.2  -  >200k 2.5 5 0.4 -
grok-build-0.1              1    2  0.2  -  >200k 2 4 0.4 -
grok-build-latest           2    6  0.3  -  >200k 4 12 0.6 -
grok-code-fast-1            1    2  0.2  -  >200k 2 4 0.4 -

[deepseek] https://api-docs.deepseek.com/quick_start/pricing ! peak rate (weekdays 1-4, 6-10 h UTC); else half
deepseek-flash      0.3   1.2  0.006  -
deepseek-v4-flash   0.3   1.2  0.006  -
deepseek-v4-pro    1.32  3.96  0.044  -

[mistral] https://docs.mistral.ai/models/
mistral-large-2512        0.5  1.5   0.05  -
mistral-large-4-0         0.7  2.1   0.07  -
mistral-large-latest      0.5  1.5   0.05  -
mistral-medium-2604       1.5  7.5   0.15  -
mistral-medium-3-5        1.5  7.5   0.15  -
mistral-medium-latest     1.5  7.5   0.15  -
mistral-small-2603       0.15  0.6  0.015  -
mistral-small-latest     0.15  0.6  0.015  -
magistral-medium-latest   1.5  7.5   0.15  -
magistral-small-latest   0.15  0.6  0.015  -
codestral-2508            0.3  0.9   0.03  -
codestral-latest          0.3  0.9   0.03  -
devstral-small-latest     0.1  0.3   0.01  -
ministral-3b-latest       0.1  0.1   0.01  -
ministral-14b-latest      0.2  0.2   0.02  -

[mistral] https://mistral.ai/
devstral-medium-latest   0.4     2   0.04  -
devstral-latest          0.4     2   0.04  -
ministral-8b-latest     0.15  0.15  0.015  -

[moonshot] https://platform.moonshot.ai/docs/
kimi-k2.5  0.6  3  0.1  -

[moonshot] https://platform.kimi.ai/docs/pricing/
kimi-k2.6                0.95   4  0.16  -
kimi-k2.7-code           0.95   4  0.19  -
kimi-k3                     3  15   0.3  3
kimi-k3.1-pro               2  10   0.2  2
kimi-k3.1-pro-highspeed     4  20   0.2  4

[zai] https://docs.z.ai/guides/overview/pricing
glm-4.5         0.6  2.2     -  -
glm-4.5-air     0.2  1.1     -  -
glm-4.5-flash     0    0     -  -
glm-4.6         0.6  2.2  0.11  -
glm-4.7         0.6  2.2  0.11  -
glm-4.7-flash     0    0     0  -
glm-5             1  3.2   0.2  -
glm-5-code      1.2    5   0.3  -
glm-5.1         1.4  4.4  0.26  -
glm-5.2         1.4  4.4  0.26  -
glm-5.3         1.4  4.4  0.26  -
glm-5.3-flash  0.15  0.5  0.03  -

[alibaba] https://www.alibabacloud.com/help/en/model-studio/
qwen-flash                   0.05  0.4     -      -  >256k 0.25 2 - -
qwen-max                      1.6  6.4     -      -
qwen3-max                     1.2    6     -      -  >32k 2.4 12 - -  >128k 3 15 - -
qwen3-next-80b-a3b-instruct  0.15  1.2     -      -
qwen3-next-80b-a3b-thinking  0.15  1.2     -      -
qwen3.5-plus                  0.4  2.4     -      -  >256k 0.5 3 - -
qwen3.7-max                   2.5  7.5   0.5  3.125
qwen3.7-plus                  0.4  1.6  0.08      -  >256k 1.2 4.8 0.24 -
qwen3.8-max                     2    6  0.25      -

[alibaba] https://www.alibabacloud.com/help/en/model-studio/
qwen3-coder-flash  0.3  1.5  0.08  -  >32k 0.5 2.5 0.12 -  >128k 0.8 4 0.2 -  >256k 1.6 9.6 0.4 -
qwen3-coder-plus     1    5   0.1  -  >32k 1.8 9 0.18 -  >128k 3 15 0.3 -  >256k 6 60 0.6 -

[alibaba] https://www.alibabacloud.com/help/en/model-studio/
qwen3-coder-flash-2025-07-28  0.3  1.5  -  -  >32k 0.5 2.5 - -  >128k 0.8 4 - -  >256k 1.6 9.6 - -
qwen3-coder-plus-2025-07-22     1    5  -  -  >32k 1.8 9 - -  >128k 3 15 - -  >256k 6 60 - -

[alibaba] https://docs.modelstudio.console.alibabacloud.com/en/model-studio/
qwen3.8-flash  0.15  0.47  0.016  0.2

[minimax] none
minimax-m2              0.3  1.2  0.03  0.375
minimax-m2.1            0.3  1.2  0.03  0.375
minimax-m2.1-lightning  0.3  2.4  0.03  0.375
minimax-m2.5            0.3  1.2  0.03  0.375
minimax-m2.5-lightning  0.3  2.4  0.03  0.375
minimax-m3              0.3  1.2  0.06      -  >512k 0.6 2.4 0.12 -

[minimax] host
minimax-m2.7  0.3  1.2  -  -

[cohere] none
command-a-03-2025        2.5   10  -  -
command-r-08-2024       0.15  0.6  -  -
command-r-plus-08-2024   2.5   10  -  -

[cohere] https://docs.cohere.com/v2/docs/command-r7b
command-r7b-12-2024  0.0375  0.15  -  -

[meta] https://ai.developer.meta.com/docs/pricing-rate-limits
muse-spark-1.3  1.25  4.25  0.15  -

[meta] https://dev.meta.ai/docs/pricing-rate-limits
muse-wonder-1.0  4  20  0.2  -

[bedrock] https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/
amazon.nova-micro-v1:0                     0.035  0.14  0.00875       -
amazon.nova-lite-v1:0                       0.06  0.24    0.015       -
amazon.nova-pro-v1:0                         0.8   3.2      0.2       -
amazon.nova-premier-v1:0                     2.5  12.5    0.625       -
amazon.nova-2-lite-v1:0                      0.3   2.5    0.075       -
us.amazon.nova-micro-v1:0                  0.035  0.14  0.00875       -
us.amazon.nova-lite-v1:0                    0.06  0.24    0.015       -
us.amazon.nova-pro-v1:0                      0.8   3.2      0.2       -
us.amazon.nova-2-lite-v1:0                  0.33  2.75   0.0825       -
anthropic.claude-haiku-4-5-20251001-v1:0       1     5      0.1    1.25
anthropic.claude-haiku-5-5                   0.1   0.5     0.01   0.125  >100k 0.5 2.5 0.05 0.625
us.anthropic.claude-haiku-5-5               0.11  0.55    0.011  0.1375  >100k 0.55 2.75 0.055 0.6875
eu.anthropic.claude-haiku-5-5               0.11  0.55    0.011  0.1375  >100k 0.55 2.75 0.055 0.6875
anthropic.claude-sonnet-4-5-20250929-v1:0      3    15      0.3    3.75  >200k 6 22.5 0.6 7.5
anthropic.claude-sonnet-4-6                    3    15      0.3    3.75
anthropic.claude-sonnet-5                      2    10      0.2     2.5
anthropic.claude-sonnet-5-5                    2    10      0.1     2.5
us.anthropic.claude-sonnet-5-5               2.2    11     0.11    2.75
eu.anthropic.claude-sonnet-5-5               2.2    11     0.11    2.75
anthropic.claude-opus-4-5-20251101-v1:0        5    25      0.5    6.25
anthropic.claude-opus-4-6-v1                   5    25      0.5    6.25
anthropic.claude-opus-4-7                      5    25      0.5    6.25
anthropic.claude-opus-4-8                      5    25      0.5    6.25
anthropic.claude-opus-5                        5    25      0.5    6.25
us.anthropic.claude-opus-5                   5.5  27.5     0.55   6.875
eu.anthropic.claude-opus-5                   5.5  27.5     0.55   6.875
anthropic.claude-opus-5-5                      4    20      0.2       5
anthropic.claude-fable-5                      10    50        1    12.5
anthropic.claude-fable-5-1                    10    50     0.25    12.5
us.meta.llama3-3-70b-instruct-v1:0          0.72  0.72        -       -

[bedrock] https://aws.amazon.com/bedrock/pricing/
us.anthropic.claude-haiku-4-5-20251001-v1:0   1.1   5.5   0.11  1.375
eu.anthropic.claude-haiku-4-5-20251001-v1:0   1.1   5.5   0.11  1.375
us.anthropic.claude-sonnet-4-5-20250929-v1:0  3.3  16.5   0.33  4.125  >200k 6.6 24.75 0.66 8.25
eu.anthropic.claude-sonnet-4-5-20250929-v1:0  3.3  16.5   0.33  4.125  >200k 6.6 24.75 0.66 8.25
us.anthropic.claude-sonnet-4-6                3.3  16.5   0.33  4.125
eu.anthropic.claude-sonnet-4-6                3.3  16.5   0.33  4.125
us.anthropic.claude-sonnet-5                  2.2    11   0.22   2.75
eu.anthropic.claude-sonnet-5                  2.2    11   0.22   2.75
us.anthropic.claude-opus-4-5-20251101-v1:0    5.5  27.5   0.55  6.875
eu.anthropic.claude-opus-4-5-20251101-v1:0    5.5  27.5   0.55  6.875
us.anthropic.claude-opus-4-6-v1               5.5  27.5   0.55  6.875
eu.anthropic.claude-opus-4-6-v1               5.5  27.5   0.55  6.875
us.anthropic.claude-opus-4-7                  5.5  27.5   0.55  6.875
eu.anthropic.claude-opus-4-7                  5.5  27.5   0.55  6.875
us.anthropic.claude-opus-4-8                  5.5  27.5   0.55  6.875
eu.anthropic.claude-opus-4-8                  5.5  27.5   0.55  6.875
us.anthropic.claude-opus-5-5                  4.4    22   0.22    5.5
eu.anthropic.claude-opus-5-5                  4.4    22   0.22    5.5
us.anthropic.claude-fable-5                    11    55    1.1  13.75
eu.anthropic.claude-fable-5                    11    55    1.1  13.75
us.anthropic.claude-fable-5-1                  11    55  0.275  13.75

[bedrock] none
eu.anthropic.claude-fable-5-1  11  55  0.275  13.75

[bedrock] https://docs.aws.amazon.com/bedrock/latest/userguide/model-card-meta-llama-4-maverick-17b-instruct.md
us.meta.llama4-maverick-17b-instruct-v1:0  0.24  0.97  -  -

[bedrock] https://docs.aws.amazon.com/bedrock/latest/userguide/model-card-meta-llama-4-scout-17b-instruct.md
us.meta.llama4-scout-17b-instruct-v1:0  0.17  0.66  -  -

[groq] none
openai/gpt-oss-120b   0.15  0.6   0.075  -
openai/gpt-oss-20b   0.075  0.3  0.0375  -

[groq] https://console.groq.com/docs/model/qwen/qwen3.8-27b
qwen/qwen3.8-27b  0.8  4  -  -

[together] https://api.together.ai/v1/models
deepseek-ai/deepseek-v4-pro-0813         1.32  3.96   0.13  -
deepseek-ai/deepseek-v4.1-flash           0.3   1.2  0.006  -
meta-llama/llama-3.1-405b-instruct        3.5   3.5      -  -
meta-llama/llama-3.3-70b-instruct-turbo  1.04  1.04      -  -
minimaxai/minimax-m2.7                    0.3   1.2   0.06  -
moonshotai/kimi-k3                          3    15    0.3  -
moonshotai/kimi-k3.1-pro                    2    10    0.2  -
openai/gpt-oss-120b                      0.15   0.6      -  -
zai-org/glm-5.2                           1.4   4.4   0.26  -
zai-org/glm-5.3                           1.4   4.4   0.26  -
zai-org/glm-5.3-flash                    0.15   0.5   0.03  -

[together] https://www.together.ai/pricing
minimaxai/minimax-m3.1-flash  0.15  0.6  0.015  -
qwen/qwen3.7-max               2.5  7.5    0.5  -

[deepinfra] https://deepinfra.com/
deepseek-ai/deepseek-v4-flash                       0.09   0.18   0.018  -
deepseek-ai/deepseek-v4-pro                          1.3    2.6     0.1  -
deepseek-ai/deepseek-v4.1-flash                     0.14   0.42  0.0042  -
meta-llama/llama-3.3-70b-instruct-turbo              0.1   0.32       -  -
meta-llama/llama-4-maverick-17b-128e-instruct-fp8    0.2    0.8       -  -
meta-llama/llama-4-scout-17b-16e-instruct            0.1    0.3       -  -
minimaxai/minimax-m3                                0.28    1.1   0.056  -
moonshotai/kimi-k3                                  2.85  14.25   0.285  -
nousresearch/hermes-3-llama-3.1-70b                  0.7    0.7       -  -
openai/gpt-oss-120b                                0.037   0.17       -  -
qwen/qwen3.8-max                                    1.65  4.951   0.206  -
zai-org/glm-5.2                                     0.75    2.4    0.14  -

[deepinfra] none
nousresearch/hermes-3-llama-3.1-405b  1  1  -  -

[fireworks] https://docs.fireworks.ai/serverless/pricing
deepseek-v4p1-flash   0.3   1.2  0.006  -
glm-5p1               1.4   4.4   0.26  -
gpt-oss-20b          0.07   0.3  0.035  -
kimi-k3-fast          4.5  22.5   0.45  -

[fireworks] https://api.fireworks.ai/v1/serverless/models
glm-5p2          1.4  4.4  0.14  -
glm-5p3          1.4  4.4  0.26  -
glm-5p3-flash   0.15  0.5  0.03  -
kimi-k2p6       0.95    4  0.16  -
kimi-k2p7-code  0.95    4  0.19  -
kimi-k3            3   15   0.3  -
minimax-m3       0.3  1.2  0.06  -
qwen3p7-plus     0.4  1.6  0.08  -
qwen3p8-max        2    6  0.25  -

[cerebras] https://api.cerebras.ai/public/v1/models/gemma-4-31b
gemma-4-31b  0.99  1.49  -  -

[cerebras] https://www.cerebras.ai/blog/openai-gpt-oss-120b-runs-fastest-on-cerebras
gpt-oss-120b  0.35  0.75  -  -

[cerebras] https://api.cerebras.ai/public/v1/models/qwen-3.8-27b
qwen-3.8-27b  0.99  1.49  -  -
"""
