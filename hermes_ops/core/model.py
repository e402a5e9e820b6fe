"""One client for every module that calls a model: by the host's login, or at an OpenAI-compatible endpoint.

The answer is the model's answer: scratch reasoning is never taken for it. Use is booked also when a call
gave none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OpsError

if TYPE_CHECKING:
    from .http import Answer

MAX_ATTEMPTS = 3
MAX_REPLY_BYTES = 20_000_000
# Linux takes no single argument of a command that is longer than 128 KiB.
MAX_HOST_PROMPT = 130_000
_PROVIDERS = {
    "openrouter.ai": "openrouter",
    "api.openai.com": "openai",
    "api.deepseek.com": "deepseek",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "api.x.ai": "xai",
    "api.mistral.ai": "mistral",
    "api.groq.com": "groq",
    "api.together.xyz": "together",
}
# The host answers with its own words when the model gave none (0.19.0, AIAgent in run_agent.py).
_HOST_NO_REPLY = ("\u26a0\ufe0f No reply: ", "(empty)")


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; None where the provider did not say. ``usd`` None: unknown.

    ``input`` is the whole prompt, cached parts included; ``reasoning`` is a part of ``output``.
    """

    input: int | None
    output: int | None
    reasoning: int | None
    usd: float | None


UNKNOWN = Usage(None, None, None, None)


class NoAnswer(OpsError):
    """The model gave no answer (cut at its limit, empty, not JSON, an error).

    ``retryable`` tells whether the same may work later, ``usage`` what the call cost all the same, where that
    is known, ``after`` how many seconds the provider asked to wait.
    """

    def __init__(
        self,
        why: str,
        *,
        retryable: bool = False,
        usage: Usage | None = None,
        after: float | None = None,
    ) -> None:
        super().__init__(why)
        self.retryable, self.usage, self.after = retryable, usage, after


class OverBudget(OpsError):
    """The next call would go over the budget of this client."""


@dataclass(frozen=True)
class Reply:
    """An answer, the model that gave it (as the provider says), and what it used.

    ``cut``: the answer ends at the limit of tokens, not where the model wanted to.
    """

    text: str
    model: str
    usage: Usage
    cut: bool = False


class Client:
    """Calls with a budget of calls and dollars; unknown prices count by calls alone.

    ``calls`` were made, ``usd`` is what is known of their price, ``unknown_calls`` may have cost something
    that is not known.
    """

    def __init__(
        self,
        model: str,
        provider: str,
        max_calls: int,
        max_usd: float | None,
        timeout: float,
        wait: Callable[[float], None],
    ) -> None:
        self.model, self.calls, self.unknown_calls, self.usd = model, 0, 0, 0.0
        self._provider, self._max_calls, self._max_usd = provider, max_calls, max_usd
        self._timeout, self._wait = timeout, wait

    def complete(self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = 1600) -> Reply:
        """One completion; what may go better is tried up to three times, and each try counts as a call.

        Waits as long as the provider asks, though in all no longer than `timeout`.
        Raises NoAnswer, OverBudget, Unreadable.
        """
        patience = self._timeout
        for attempt in range(1, MAX_ATTEMPTS + 1):
            self._afford(messages, max_tokens)
            self.calls += 1
            try:
                reply = self._ask(messages, max_tokens)
            except NoAnswer as error:
                self._book(error.usage)
                pause = 2.0 ** (attempt - 1) if error.after is None else error.after
                patience -= pause
                last = attempt == MAX_ATTEMPTS or self.calls >= self._max_calls
                if last or not error.retryable or patience < 0:
                    raise
                self._wait(pause)
                continue
            except OpsError:
                self._book(UNKNOWN)
                raise
            self._book(reply.usage)
            return reply
        raise AssertionError("unreachable")

    def _ask(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Reply:
        raise NotImplementedError

    def _book(self, usage: Usage | None) -> None:
        if usage is not None and usage.usd is None:
            self.unknown_calls += 1
        elif usage is not None:
            self.usd += usage.usd or 0.0

    def _afford(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> None:
        if self.calls >= self._max_calls:
            raise OverBudget(f"{self.calls} of {self._max_calls} calls are used up")
        if self._max_usd is None:
            return
        # A token is at least about three characters of what people write; at worst all of the answer is used.
        prompt = sum(len(message.get("content") or "") for message in messages) // 3 + 50
        worst = (
            _price(self.model, self._provider, {"input_tokens": prompt, "output_tokens": max_tokens}) or 0.0
        )
        if self.usd >= self._max_usd or self.usd + worst > self._max_usd:
            raise OverBudget(
                f"${self.usd:.4f} of ${self._max_usd:.4f} are spent, and the next call may cost ${worst:.4f}"
            )


def endpoint(
    url: str,
    model: str,
    key: str | None,
    *,
    max_calls: int = 50,
    max_usd: float | None = None,
    timeout: float = 300.0,
    wait: Callable[[float], None] = time.sleep,
) -> Client:
    """A client for an OpenAI-compatible endpoint (`<url>/chat/completions`).

    The key goes to that origin alone. `timeout` holds for one try.
    """
    return _Endpoint(url, model, key, max_calls, max_usd, timeout, wait)


def through_host(
    home: Path,
    model: str | None = None,
    provider: str | None = None,
    *,
    max_calls: int = 50,
    max_usd: float | None = None,
    timeout: float = 300.0,
    wait: Callable[[float], None] = time.sleep,
) -> Client:
    """A client that runs `hermes -z PROMPT --usage-file FILE`, with the host's own login and no tools.

    The host adds its own system prompt, and the limit of tokens is its own. A `provider` needs a `model`.
    """
    if provider and not model:
        raise OpsError("a provider without a model: the host takes both or neither")
    return _Host(home, model, provider, max_calls, max_usd, timeout, wait)


class _Endpoint(Client):
    def __init__(self, url: str, model: str, key: str | None, *budget: Any) -> None:
        super().__init__(model, _provider_of(url), *budget)
        self._url, self._key = f"{url.rstrip('/')}/chat/completions", key
        self._limit = "max_tokens"

    def _ask(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Reply:
        from .http import retry_after

        answer = self._post(messages, max_tokens)
        if answer.status == 400 and self._limit == "max_tokens" and b"max_completion_tokens" in answer.body:
            self._limit = "max_completion_tokens"  # the newer models of OpenAI refuse the older name
            answer = self._post(messages, max_tokens)
        data = _json(answer.body)
        if answer.status != 200:
            again = answer.status == 429 or answer.status >= 500
            text = f"HTTP {answer.status}{self._said(data)}"
            raise NoAnswer(text, retryable=again, after=retry_after(answer.headers))
        return self._read(data)

    def _post(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Answer:
        from .http import request

        body = {"model": self.model, "messages": [dict(message) for message in messages], "stream": False}
        return request(
            self._url,
            method="POST",
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            secret_headers={"Authorization": f"Bearer {self._key}"} if self._key else None,
            body=json.dumps({**body, self._limit: max_tokens}).encode(),
            timeout=self._timeout,
            max_bytes=MAX_REPLY_BYTES,
        )

    def _read(self, data: Any) -> Reply:
        if not isinstance(data, Mapping):
            raise NoAnswer("the answer is no JSON object", retryable=True)
        model = data["model"] if isinstance(data.get("model"), str) and data["model"] else self.model
        usage = self._usage(data.get("usage"), model)
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if data.get("error") or not isinstance(message, Mapping):
            text = f"an error instead of an answer{self._said(data)}"
            raise NoAnswer(text, retryable=True, usage=usage)
        finish = choice.get("finish_reason")
        text, scratch_only = _answer(message.get("content"))
        if text:
            return Reply(text, model, usage, cut=finish == "length")
        if finish == "length" or scratch_only:
            raise NoAnswer("no answer, cut at limit", usage=usage)
        if finish == "content_filter" or message.get("refusal"):
            raise NoAnswer("the provider refused to answer", usage=usage)
        if message.get("tool_calls"):
            raise NoAnswer("the model asked for a tool instead of answering", usage=usage)
        raise NoAnswer("an empty answer", retryable=True, usage=usage)

    def _usage(self, raw: Any, model: str) -> Usage:
        from .._common.pricing import normalize_usage

        usage = normalize_usage(raw)
        told = _number(raw.get("cost")) if isinstance(raw, Mapping) else None
        if usage is None:
            return Usage(None, None, None, told)
        usd = told
        for name in dict.fromkeys((model, self.model)):
            usd = _price(name, self._provider, usage) if usd is None else usd
        return Usage(usage.prompt, usage.output, usage.reasoning, usd)

    def _said(self, data: Any) -> str:
        """What the provider says of an error, without the key, short."""
        error = data.get("error") if isinstance(data, Mapping) else None
        text = error.get("message") if isinstance(error, Mapping) else error
        if not isinstance(text, str) or not text.strip():
            return ""
        return f": {_clean(text, self._key)}"


class _Host(Client):
    def __init__(self, home: Path, model: str | None, provider: str | None, *budget: Any) -> None:
        super().__init__(model or "", provider or "", *budget)
        self._home = home

    def _ask(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Reply:
        from tempfile import TemporaryDirectory

        from ..host.command import run_hermes

        prompt = _one_prompt(messages)
        size = len(prompt.encode("utf-8", "replace"))
        if size > MAX_HOST_PROMPT:
            raise NoAnswer(f"the prompt has {size:,} bytes and `hermes -z` takes {MAX_HOST_PROMPT:,}")
        with TemporaryDirectory(prefix="hermes-ops-") as directory:
            report = Path(directory, "usage.json")
            # The toolset of the context engine is the one without tools; approvals are off in this mode.
            arguments = [f"--oneshot={prompt}", "--toolsets", "context_engine", "--usage-file", str(report)]
            if self.model:
                arguments += ["--model", self.model]
            if self._provider:
                arguments += ["--provider", self._provider]
            said = run_hermes(self._home, arguments, timeout=self._timeout)
            try:
                told = _json(report.read_bytes())
            except OSError:
                told = None
        told = told if isinstance(told, Mapping) else {}
        usage = _host_usage(told)
        text = said.stdout.strip()
        if said.code is None:
            raise NoAnswer(f"no answer within {self._timeout:g} s", retryable=True, usage=usage)
        if told.get("failed") is not False or told.get("completed") is not True or said.code != 0:
            # An error of the provider is printed as if it were the answer, with exit code 0.
            reason = text or said.stderr.strip() or "no answer, cut at limit or given up"
            raise NoAnswer(f"hermes -z: {_clean(reason, None)}", retryable=False, usage=usage)
        if not text or text.startswith(_HOST_NO_REPLY):
            raise NoAnswer("an empty answer", retryable=False, usage=usage)
        return Reply(text, str(told.get("model") or self.model or "unknown"), usage)


def _one_prompt(messages: Sequence[Mapping[str, str]]) -> str:
    """Messages as one text; who said what is marked once there is more than one of them."""
    texts = [(message.get("role", "user"), message.get("content") or "") for message in messages]
    if len(texts) == 1:
        return texts[0][1].replace("\0", "")
    names = {"system": "Instructions", "user": "User", "assistant": "You answered"}
    return "\n\n".join(f"{names.get(role, role)}:\n{text}" for role, text in texts).replace("\0", "")


def _answer(content: Any) -> tuple[str, bool]:
    """The text of an answer without scratch reasoning, and whether there was nothing but that.

    Parts of a list that are no text (thinking, images) are left out.
    """
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping)]
        texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text", None)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        return "", False
    text, end = content.strip(), "</think>"
    if text.startswith("<think>"):
        text = text.partition(end)[2] if end in text else ""
    elif end in text and "<think>" not in text:  # some templates leave the opening out
        text = text.rpartition(end)[2]
    text = text.strip()
    return text, not text and bool(content.strip())


def _host_usage(told: Mapping[str, Any]) -> Usage:
    from .._common.pricing import normalize_usage

    usage = normalize_usage({key: value for key, value in told.items() if value is not None})
    priced = told.get("cost_status") in ("actual", "estimated", "included")
    usd = _number(told.get("estimated_cost_usd")) if priced else None
    if usage is None:
        return Usage(None, None, None, usd)
    return Usage(usage.prompt, usage.output, usage.reasoning, usd)


def _price(model: str, provider: str, usage: Any) -> float | None:
    """The list price of one call; None when it is not known as a whole."""
    from .._common.pricing import estimate_cost, normalize_usage

    cost = estimate_cost([(model, provider, normalize_usage(usage), None)])
    return None if cost.status == "unknown" else cost.cost_usd


def _provider_of(url: str) -> str:
    from .http import origin

    try:
        host = origin(url)[1]
    except ValueError:
        host = ""
    found = (name for end, name in _PROVIDERS.items() if host == end or host.endswith(f".{end}"))
    return next(found, "custom")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        return None
    return float(value)


def _clean(text: str, key: str | None) -> str:
    from .._common.redact import Redactor
    from .._common.terminal import printable

    if key:
        text = text.replace(key, "<key>")
    return printable(" ".join(Redactor().text(text[:4000]).split()))[:200]
