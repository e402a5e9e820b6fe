"""What a provider says is left: one adapter for each kind of answer, strict, so that no number is made up.

DeepSeek `/user/balance`: {"is_available", "balance_infos": [{"currency", "total_balance": "9.87", ...}]}.
OpenRouter `/credits`: {"data": {"total_credits", "total_usage"}}, for management keys alone; `/key`: {"data":
{"limit", "limit_remaining", ...}}, for any key. Anything else: a path into JSON, or a bare number.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ..core.http import Answer, origin, request, shown
from ..errors import Unreadable

URLS = {
    "deepseek": "https://api.deepseek.com/user/balance",
    "openrouter": "https://openrouter.ai/api/v1/credits",
}
PROVIDERS = (*URLS, "json")
ALSO_CALLED = {"generic": "json"}
MAX_BYTES = 1_000_000
_DECIMAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,18})?")
_MOST = 1e12


@dataclass(frozen=True)
class Account:
    """One account at a provider.

    ``name`` is for people. ``provider``: deepseek, openrouter or json. ``path`` leads to the number
    ("data.balance", "items.0.left"); "" means the answer is the number. ``key`` is never shown.
    """

    name: str
    provider: str
    url: str
    key: str | None = field(repr=False)
    currency: str = "USD"
    path: str = ""

    @property
    def id(self) -> str:
        """Tells two accounts apart without holding the key: 12 hex digits of a hash of key, address, path."""
        text = f"{self.key or ''}\n{self.url}\n{self.path}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(b"hermes-ops account\n" + text).hexdigest()[:12]


@dataclass(frozen=True)
class Left:
    """What is left, in the account's currency.

    ``usable`` False: the provider says that no call is possible; None: it says nothing of that. ``note``
    tells what the number is when it is not simply the account's.
    """

    amount: float
    currency: str
    usable: bool | None = None
    note: str = ""


def read_balance(account: Account, timeout: float = 15.0) -> Left:
    """Ask the provider, at most twice within `timeout`. Raises Unreadable with the reason; never a guess."""
    try:
        return _ADAPTERS[account.provider](account, timeout)
    except Unreadable as error:
        if account.key and account.key in error.why:  # a server may send back what it was sent
            raise Unreadable(error.source, error.why.replace(account.key, "<key>")) from None
        raise


def _deepseek(account: Account, timeout: float) -> Left:
    data = _ask(account, account.url, timeout)
    if not isinstance(data, Mapping):
        return Left(_amount(account, data, "the answer"), account.currency)
    infos = data.get("balance_infos")
    if not isinstance(infos, list) or not infos:
        _stop(account, f"no balance_infos in the answer (it has {_keys(data)})")
    entries = [item for item in infos if isinstance(item, Mapping)]
    mine = [item for item in entries if item.get("currency") == account.currency]
    if not mine:
        there = ", ".join(sorted({_word(item.get("currency")) for item in entries})) or "none"
        _stop(account, f"no balance in {account.currency}; the account has {there}: set ops.wallet.currency")
    if len(mine) > 1:
        _stop(account, f"{len(mine)} balances in {account.currency}")
    usable = data.get("is_available")
    amount = _amount(account, _field(account, mine[0], "total_balance"), "total_balance")
    return Left(amount, account.currency, usable if isinstance(usable, bool) else None)


def _openrouter(account: Account, timeout: float) -> Left:
    if account.currency != "USD":
        _stop(account, f"OpenRouter counts in USD, not in {account.currency}")
    whole, refusal = None, None
    try:
        data = _field(account, _ask(account, account.url, timeout), "data")
        credits = _amount(account, _field(account, data, "total_credits"), "total_credits")
        used = _amount(account, _field(account, data, "total_usage"), "total_usage")
        whole = _amount(account, round(credits - used, 9), "total_credits - total_usage")
    except _Refused as error:
        refusal = error
    # A number that is the key's in one run and the account's in the next would look like a top-up: what
    # fails for a moment fails the whole reading.
    try:
        limit = _key_limit(account, f"{account.url.removesuffix('/credits')}/key", timeout)
    except _Refused as error:
        if refusal is not None:
            raise
        limit, refusal = None, error
    if whole is None:
        why = "the account's credits are for a management key alone"
        if limit is None:
            _stop(account, f"{why}, and this key has no limit of its own")
        return Left(limit, "USD", note=f"what this key may still spend; {why}")
    if limit is not None and limit < whole:
        return Left(limit, "USD", note=f"what this key may still spend; the account has {whole:.2f} USD")
    return Left(whole, "USD", note=f"the key's own limit is not known: {refusal.why}" if refusal else "")


def _key_limit(account: Account, url: str, timeout: float) -> float | None:
    """What a key may still spend; None: it has no limit of its own."""
    data = _field(account, _ask(account, url, timeout), "data")
    if _field(account, data, "limit") is None:
        return None
    return _amount(account, _field(account, data, "limit_remaining"), "limit_remaining")


def _json_path(account: Account, timeout: float) -> Left:
    data = _ask(account, account.url, timeout)
    walked = []
    for step in account.path.split(".") if account.path else []:
        walked.append(step)
        if isinstance(data, Mapping) and step in data:
            data = data[step]
        elif isinstance(data, list) and step.isascii() and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            has = f"it has {_keys(data)}" if isinstance(data, Mapping) else f"found {_kind(data)}"
            _stop(account, f"no {'.'.join(walked)} in the answer ({has})")
    return Left(_amount(account, data, account.path or "the answer"), account.currency)


_ADAPTERS = {"deepseek": _deepseek, "openrouter": _openrouter, "json": _json_path}


class _Refused(Unreadable):
    """The provider does not answer this to this key."""


def _ask(account: Account, url: str, timeout: float) -> Any:
    answer = request(
        url,
        headers={"Accept": "application/json"},
        secret_headers={"Authorization": f"Bearer {account.key}"} if account.key else None,
        timeout=timeout,
        max_bytes=MAX_BYTES,
        tries=2,
    )
    if account.key and origin(answer.url) != origin(url.strip()):
        # The key was left behind, so whatever answered does not speak of this account.
        raise Unreadable(
            shown(url), f"redirected to another origin ({answer.url}), where its key does not go"
        )
    if answer.status in (401, 403):
        why = f"HTTP {answer.status}: the key is not accepted{_said(account, answer)}"
        raise _Refused(shown(url), why)
    if answer.status != 200:
        reason = {404: ": no such address", 429: ": too many requests"}.get(answer.status, "")
        if answer.status >= 500:
            reason = ": the provider fails"
        raise Unreadable(shown(url), f"HTTP {answer.status}{reason}{_said(account, answer)}")
    return _parse(answer, url)


def _parse(answer: Answer, url: str) -> Any:
    body = answer.body.removeprefix(b"\xef\xbb\xbf").strip()
    if not body:
        raise Unreadable(shown(url), "an empty answer")
    if body.startswith(b"<"):
        raise Unreadable(shown(url), "a page of HTML, where JSON was expected (a login page or a proxy?)")
    try:
        return json.loads(body, parse_constant=_no_constant)
    except _NotFinite as error:
        raise Unreadable(shown(url), f"{error} in the answer is no amount") from None
    except (ValueError, RecursionError):
        raise Unreadable(shown(url), "the answer is no JSON") from None


class _NotFinite(Exception):
    """NaN or Infinity, which JSON does not have."""


def _no_constant(name: str) -> NoReturn:
    raise _NotFinite(name)


def _amount(account: Account, value: Any, name: str) -> float:
    """A finite amount of at least zero, written as a number or as a decimal text."""
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _stop(account, f"{name} is {_kind(value)}, not an amount")
    if not -_MOST < value < _MOST or math.isnan(value):
        _stop(account, f"{name} is {str(value)[:24]}, which is no amount")
    if value < 0:
        _stop(
            account,
            f"{name} is negative ({value:.2f} {account.currency}): the account owes, or is not what it was",
        )
    return float(value)


def _field(account: Account, data: Any, name: str) -> Any:
    if not isinstance(data, Mapping):
        _stop(account, f"expected an object with {name}, found {_kind(data)}")
    if name not in data:
        _stop(account, f"no {name} in the answer (it has {_keys(data)})")
    return data[name]


def _stop(account: Account, why: str) -> NoReturn:
    raise Unreadable(shown(account.url), why)


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return f"the text {_word(value)!r}"
    return {Mapping: "an object", dict: "an object", list: "a list"}.get(type(value), "something else")


def _keys(data: Mapping[str, Any]) -> str:
    return ", ".join(_word(key) for key in list(data)[:6]) or "nothing"


def _word(value: Any) -> str:
    """A short piece of an answer for a message: printable, and nothing that may be a key."""
    text = str(value)
    return "".join(c if c.isprintable() else "?" for c in text) if len(text) <= 24 else "..."


def _said(account: Account, answer: Answer) -> str:
    """What the provider says of an error, redacted, short."""
    try:
        data = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    error = data.get("error") if isinstance(data, Mapping) else None
    text = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(text, str) or not text.strip():
        return ""
    from .._common.redact import Redactor
    from .._common.terminal import printable

    if account.key:  # before it is cut: half a key would not be known again
        text = text.replace(account.key, "<key>")
    return f" ({printable(' '.join(Redactor().text(text[:2000]).split()))[:120]})"
