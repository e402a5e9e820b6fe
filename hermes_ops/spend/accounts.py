"""Which accounts are watched, with which key and which limits: what is set, else what `.env` gives away.

The scheduler strips provider keys from the environment of its scripts, so keys are looked for in `.env` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..core.watch import Context
from ..errors import Unreadable
from ..settings import Option, Settings, choice, load, number, text
from .balances import ALSO_CALLED, PROVIDERS, URLS, Account

KEY_VARIABLES = {"deepseek": "DEEPSEEK_API_KEY", "openrouter": "OPENROUTER_API_KEY"}
AUTO = "auto"
_WORDS = (AUTO, *PROVIDERS, *ALSO_CALLED)
_PLACEHOLDERS = frozenset(
    {"changeme", "change-me", "your-api-key", "your_api_key", "none", "null", "xxx", "todo"}
)
_ENTRY = (
    "name",
    "provider",
    "url",
    "key",
    "key_variable",
    "json_path",
    "currency",
    "floor",
    "daily_burn",
)


def account_list(value: Any) -> tuple[Mapping[str, Any], ...]:
    """A check: a list of mappings with known keys; every account has a name of its own."""
    if not isinstance(value, (list, tuple)):
        raise ValueError("expected a list of accounts")
    names = set()
    for number_, entry in enumerate(value, 1):
        if not isinstance(entry, Mapping):
            raise ValueError(f"account {number_}: expected a mapping")
        for key in entry:
            if key not in _ENTRY:
                raise ValueError(f"account {number_}: unknown key {str(key)[:40]!r}{_near(key)}")
        name = entry.get("name")
        if not isinstance(name, str) or not name.strip() or name.strip() in names:
            raise ValueError(f"account {number_}: expected a name of its own")
        names.add(name.strip())
        for key in ("provider", "url", "key", "key_variable", "json_path", "currency"):
            if key in entry and (not isinstance(entry[key], str) or not entry[key].strip()):
                raise ValueError(f"account {number_}: {key}: expected text")
        for key in ("floor", "daily_burn"):
            if key in entry:
                try:
                    number(0)(entry[key])
                except ValueError as error:
                    raise ValueError(f"account {number_}: {key}: {error}") from None
        if entry.get("provider", AUTO) not in _WORDS:
            raise ValueError(f"account {number_}: provider: expected one of {', '.join(_WORDS)}")
    return tuple(value)


OPTIONS = (
    Option("wallet.provider", AUTO, choice(*_WORDS), "how the answer is read", ("WALLET_PROVIDER",)),
    Option("wallet.url", "", text, "where the balance is asked for", ("WALLET_BALANCE_URL",)),
    Option("wallet.api_key", "", text, "the key", ("WALLET_API_KEY",), secret=True),
    Option("wallet.key_variable", "", text, "the variable that holds the key", ("WALLET_API_KEY_ENV",)),
    Option("wallet.json_path", "", text, "where the number is: data.balance", ("WALLET_JSON_PATH",)),
    Option("wallet.currency", "USD", text, "the currency of balance and limits", ("WALLET_CURRENCY",)),
    Option("wallet.floor", 2.0, number(0), "a balance below it is low", ("WALLET_LOW_BALANCE",)),
    Option("wallet.daily_burn", 1.5, number(0), "what 24 hours may cost", ("WALLET_DAILY_BURN",)),
    Option("wallet.timeout", 15.0, number(1, 120), "seconds that a provider has to answer"),
    Option("wallet.accounts", (), account_list, "several accounts, each with the keys above", secret=True),
)


@dataclass(frozen=True)
class Watched:
    """One account, its limits, and where its key was found."""

    account: Account
    floor: float
    daily_burn: float
    key_from: str


@dataclass(frozen=True)
class Wallet:
    """What is watched.

    ``unusable`` accounts are meant to be and cannot: (name, why, what to do). ``problems`` are settings that
    are wrong.
    """

    watched: tuple[Watched, ...]
    unusable: tuple[tuple[str, str, str], ...] = ()
    problems: tuple[str, ...] = ()
    timeout: float = 15.0


@dataclass
class _Found:
    watched: dict[tuple[str, str], Watched] = field(default_factory=dict)
    unusable: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, one: Watched) -> None:
        self.watched.setdefault((one.account.id, one.account.currency), one)


def configured(context: Context) -> Wallet:
    """The accounts of a home: `ops.wallet.accounts`, else the one that is set, else those of known keys.

    The last are looked for in every profile; a key that two profiles share is one account.
    """
    settings = load(context.home, OPTIONS)
    found = _Found()
    for entry in settings["wallet.accounts"]:
        _one(context.home, entry, settings, found)
    if not settings["wallet.accounts"]:
        single = {
            "provider": settings["wallet.provider"],
            "url": settings["wallet.url"],
            "key": settings["wallet.api_key"],
            "key_variable": settings["wallet.key_variable"],
            "json_path": settings["wallet.json_path"],
        }
        meant = {key: value for key, value in single.items() if value and value != AUTO}
        if meant:
            _one(context.home, meant, settings, found)
        else:
            _by_known_keys(context, settings, found)
    return Wallet(
        tuple(found.watched.values()),
        tuple(found.unusable),
        tuple(settings.problems),
        settings["wallet.timeout"],
    )


def _one(home: Path, entry: Mapping[str, Any], settings: Settings, found: _Found) -> None:
    """One account as it is written; what is left out follows from the rest."""
    path = entry.get("json_path", "")
    url, variable = entry.get("url", "").strip(), entry.get("key_variable", "").strip()
    provider = entry.get("provider", AUTO)
    provider = ALSO_CALLED.get(provider, provider)
    if provider == AUTO:
        provider = _provider(url, path, variable, entry.get("key", ""))
    name = entry.get("name", provider).strip()
    url = url or URLS.get(provider, "")
    if not url:
        found.unusable.append((name, "it has no address to ask", "set ops.wallet.url (WALLET_BALANCE_URL)"))
        return
    key, source = entry.get("key", "").strip(), "config.yaml" if "name" in entry else "WALLET_API_KEY"
    if not key:
        # The key of a provider goes to that provider alone, unless somebody says otherwise by name.
        source = variable or (KEY_VARIABLES.get(provider, "") if _belongs(url, provider) else "")
        key = (_lookup(source, home) or "") if source else ""
        if source and not key:
            found.unusable.append((name, f"{source} is set nowhere", f"set {source} in {home / '.env'}"))
            return
    found.add(
        Watched(
            Account(
                name, provider, url, key or None, entry.get("currency", settings["wallet.currency"]), path
            ),
            float(entry.get("floor", settings["wallet.floor"])),
            float(entry.get("daily_burn", settings["wallet.daily_burn"])),
            source if key else "no key",
        )
    )


def _by_known_keys(context: Context, settings: Settings, found: _Found) -> None:
    from ..host.profiles import DEFAULT, Profile

    try:
        profiles = context.profiles
    except Unreadable as error:
        profiles = [Profile(DEFAULT, context.home)]
        why = f"keys of other profiles cannot be looked for: {error}"
        found.unusable.append(("profiles", why, f"make {error.source} readable"))
    for profile in profiles:
        at = "" if profile.home == context.home else f"@{profile.name}"
        for provider, variable in KEY_VARIABLES.items():
            try:
                key = _lookup(variable, profile.home)
            except Unreadable as error:
                fix = f"make {error.source} readable"
                found.unusable.append((f"{provider}{at}", f"its key cannot be looked for: {error}", fix))
                continue
            if key:
                account = Account(
                    f"{provider}{at}", provider, URLS[provider], key, settings["wallet.currency"]
                )
                found.add(Watched(account, settings["wallet.floor"], settings["wallet.daily_burn"], variable))


def _lookup(name: str, home: Path) -> str | None:
    from ..host.environment import lookup

    value = (lookup(name, home) or "").strip()
    return None if not value or value.lower() in _PLACEHOLDERS else value


def _provider(url: str, path: str, variable: str, key: str) -> str:
    """How the answer will look, told from the address, the path or the key."""
    for provider in URLS:
        if url and _belongs(url, provider):
            return provider
    if path:
        return "json"
    if not url and (variable.startswith("OPENROUTER") or key.startswith("sk-or-")):
        return "openrouter"
    return "deepseek"


def _belongs(url: str, provider: str) -> bool:
    """Whether an address is one of the provider's own."""
    if provider not in URLS:
        return False
    end = (urlsplit(URLS[provider]).hostname or "").removeprefix("api.")
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host == end or host.endswith(f".{end}")


def _near(key: object) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(key), _ENTRY, 1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(_ENTRY)}"
