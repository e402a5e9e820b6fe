"""Replace secrets by stable placeholders in a text or a structure, and find what a finished file holds.

A text is searched once, as Latin-1 bytes of the same length: long runs of word characters are compared
with the token formats, and the names of secret fields, `@`, `PRIVATE KEY` and the like are judged where
they occur. No pattern is tried at every position, which keeps the time linear. Quoting is read at any
depth of escaping, so JSON inside JSON needs no parsing: a placeholder has no character that JSON would
escape, and the text around it stays as it was. The `find_*` modules search, and ask the tables of
`token_formats`, `secret_names` and `secret_values` what a secret looks like.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .find_anchored import find_anchored
from .find_assignments import find_assignments
from .find_commands import find_commands
from .find_credentials import find_addresses, find_schemes, is_email
from .find_tokens import PEM_HEADER, find_tokens
from .patterns import PLACEHOLDER, CustomPattern, Lazy, RedactionError
from .read_values import secret_part
from .searched_text import SearchedText, plain
from .secret_names import COOKIE, name_class, number_is_secret, trailing_name
from .secret_values import CALL, JSON, is_secret
from .token_formats import token_at

__all__ = [
    "CIRCULAR",
    "FAILED",
    "MAX_DEPTH",
    "PLACEHOLDER",
    "TOO_DEEP",
    "Finding",
    "RedactionError",
    "Redactor",
]

FAILED = "<redaction failed>"
TOO_DEEP = "<redaction: nested too deeply>"
CIRCULAR = "<redaction: circular>"
MAX_DEPTH = 200

_PEM_ITEM = Lazy(r"[ \t]*(?:[0-9]{1,6}[|:\t ])?[+>|-]?[ \t]*[A-Za-z0-9+/=]{1,200}\s*")
_OPTION = Lazy(r"--[A-Za-z][\w-]{1,64}")
_PLAIN_EMAIL = Lazy(rb"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_ONCE = 50_000  # characters from which a text is searched only once

# (kind, secret) -> ordinal within the kind, from 1, the same for equal secrets
Number = Callable[[str, str], int]


class Finding(NamedTuple):
    """A secret in a text: its kind and where it stands, as offsets of the text."""

    kind: str
    start: int
    end: int


SHORT_TEXT = 128
MAX_HARMLESS = 2048


class Redactor:
    """Redacts with one numbering, so that a secret has one placeholder wherever it occurs.

    `custom_patterns` are regular expressions (`unroll.redact.custom_patterns`); every non-empty match is
    a secret of kind `custom`. `number` gives the ordinals; without it they are kept here under a keyed
    hash of the secret, so the secret itself is not retained. `failures` counts the values that were
    dropped.
    """

    def __init__(self, *, custom_patterns: Iterable[str] = (), number: Number | None = None):
        self._custom = [CustomPattern(pattern) for pattern in custom_patterns]
        self._number = number or _ordinals()
        self.failures = 0
        # Names and ids come with every event: those without a secret are not searched again.
        self._harmless: set[str] = set()

    def text(self, s: str) -> str:
        """The text with every secret replaced. Raises only what `number` raises."""
        if len(s) > SHORT_TEXT:
            return self._search(s)
        if s not in self._harmless:
            redacted = self._search(s)
            if redacted != s:
                return redacted
            if len(self._harmless) >= MAX_HARMLESS:
                self._harmless.clear()
            self._harmless.add(s)
        return s

    def _search(self, s: str) -> str:
        for _ in range(3):  # a placeholder may bring out what stood glued to a secret; then once more
            scan = self._scan(s)
            if scan is None or not scan.spans:
                break
            parts, position = [], 0
            for start, end, kind, levels, quote in scan.spans:
                parts.append(s[position : scan.offset(start)])
                parts.append(quote + self._placeholder(kind, plain(scan.text[start:end], levels)) + quote)
                position = scan.offset(end)
            parts.append(s[position:])
            long, s = len(s) > _ONCE, "".join(parts)
            if long:
                break
        return s

    def find(self, s: str) -> list[Finding]:
        """What is still secret in a finished text, in order. Placeholders are no findings."""
        scan = self._scan(s, finished=True)
        if scan is None:
            return []
        return [Finding(kind, scan.offset(start), scan.offset(end)) for start, end, kind, _, _ in scan.spans]

    def value(self, v: Any, key: str | None = None) -> Any:
        """The structure with every secret replaced; parts in which nothing changed are the same objects.

        Walks dict (keys too), list, tuple, set and frozenset; `key` is the name under which `v` stands. A
        text under a secret name is replaced whole, as are the texts of a list there; numbers only under
        names of passwords. bytes and bytearray are read as Latin-1 and, when redacted, come back as
        bytes. Objects of other types are not looked into: turn them into text first. A value that cannot
        be redacted becomes FAILED, one nested more than MAX_DEPTH deep TOO_DEEP, a container inside
        itself CIRCULAR. Never raises.
        """
        return self._walk(v, key if isinstance(key, str) else "", 0, {})

    def _walk(self, v: Any, key: str, depth: int, seen: dict[Any, Any]) -> Any:
        """`seen`: ids of the containers around `v`; and (id, class of name) -> result of those walked."""
        try:
            if isinstance(v, str):
                return self._leaf(v, key)
            if v is None or isinstance(v, (bool, float)):
                return v
            if isinstance(v, int):
                secret = key and number_is_secret(key, v)
                return self._placeholder("secret", str(v)) if secret else v
            if isinstance(v, (bytes, bytearray)):
                text = v.decode("latin-1")
                redacted = self._leaf(text, key)
                return v if redacted == text else redacted.encode("latin-1")
            if not isinstance(v, (dict, list, tuple, set, frozenset)):
                return v
            if depth >= MAX_DEPTH:
                return TOO_DEEP
            if id(v) in seen:
                return CIRCULAR
            memo = id(v), name_class(trailing_name(key)) if key else ""
            if memo not in seen:
                seen[id(v)] = None
                walk = self._walk_dict if isinstance(v, dict) else self._walk_items
                seen[memo] = walk(v, key, depth + 1, seen)
                del seen[id(v)]
            return seen[memo]
        except Exception:  # fail closed: nobody gets to see what could not be redacted
            self.failures += 1
            return FAILED

    def _leaf(self, s: str, key: str) -> str:
        name = name_class(trailing_name(key)) if key else ""
        if not name:
            return self.text(s)
        start, end = secret_part(s, name)
        secret = s[start:end]
        if "<redacted:" in secret or not is_secret(name, secret, JSON):
            return self.text(s)
        if "PRIVATE KEY-----" in secret:
            block = self.text(secret)
            if PLACEHOLDER.fullmatch(block.strip()):
                return self.text(s[:start]) + block
        return self.text(s[:start]) + self._placeholder(_kind_of(name, secret), secret) + s[end:]

    def _walk_dict(
        self, v: dict[Any, Any], key_of_v: str, depth: int, seen: dict[Any, Any]
    ) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        changed = False
        named = _named_value(v)
        not_secret = _token_of_logprob(v)
        for key, item in v.items():
            name = key if isinstance(key, str) else key.decode("latin-1") if isinstance(key, bytes) else ""
            if name in ("value", "Value") and (named or name_class(trailing_name(key_of_v))):
                name = named or key_of_v
            elif not_secret and key == "token":
                name = ""
            new_key = self._walk(key, "", depth, seen) if isinstance(key, (str, bytes, tuple)) else key
            new_item = self._walk(item, name, depth, seen)
            changed = changed or new_key is not key or new_item is not item
            while new_key in out:  # two keys may look alike once redacted, or one like a placeholder
                new_key = f"{new_key} "
            out[new_key] = new_item
        return out if changed else v

    def _walk_items(self, v: Any, key: str, depth: int, seen: dict[Any, Any]) -> Any:
        out = []
        in_private_key = False  # a list may hold a PEM block line by line
        for item in v:
            if isinstance(v, list) and out and _is_option_value(v[len(out) - 1], item):
                out.append(self._leaf(item, v[len(out) - 1]))
                continue
            if out and isinstance(v, tuple) and len(v) == 2 and key.lower() == "auth":
                key = "password"  # auth=(name, password)
            if isinstance(item, str) and (in_private_key or "PRIVATE KEY" in item):
                new, in_private_key = self._private_key_line(item, in_private_key)
                out.append(new if new != item else self._walk(item, key, depth, seen))
            else:
                out.append(self._walk(item, key, depth, seen))
        if all(map(operator.is_, out, v)):
            return v
        for kind in (list, set, frozenset):
            if isinstance(v, kind):
                return kind(out)
        return tuple(out)

    def _private_key_line(self, line: str, inside: bool) -> tuple[str, bool]:
        if "BEGIN" in line:
            header = PEM_HEADER.search(line.encode("latin-1", "replace"))
            return line, header is not None and not line[header.end() :].strip()
        if not inside or not _PEM_ITEM.fullmatch(line):
            return line, False
        return re.sub(
            r"[A-Za-z0-9+/=]{12,}", lambda m: self._placeholder("private-key", m.group()), line
        ), True

    # ---- one text ----

    def _placeholder(self, kind: str, secret: str) -> str:
        return f"<redacted:{kind}:{self._number(kind, secret)}>"

    def _scan(self, s: str, finished: bool = False) -> SearchedText | None:
        if len(s) < 6 and not self._custom:
            return None
        scan = SearchedText(s, finished)
        find_tokens(scan)
        find_anchored(scan)
        find_addresses(scan)
        find_assignments(scan)
        find_schemes(scan)
        find_commands(scan)
        for pattern in self._custom:
            for start, end in pattern.matches(scan.text):
                scan.spans.append((start, end, "custom", 0, ""))
        scan.merge()
        return scan


def _ordinals() -> Number:
    """Numbers by a keyed hash of the secret, kept as long as the function."""
    import hmac
    import os
    import threading

    key, known, counts, lock = os.urandom(32), {}, {}, threading.Lock()

    def number(kind: str, secret: str) -> int:
        mark = kind, hmac.digest(key, secret.encode("utf-8", "surrogatepass"), "sha256")
        with lock:
            if mark not in known:
                known[mark] = counts[kind] = counts.get(kind, 0) + 1
            return known[mark]

    return number


def _kind_of(name: str, value: str) -> str:
    """The kind of a value found by the class of its field's name: that of its format, if it has one."""
    if name == COOKIE:
        return "cookie"
    data = value.encode("latin-1", "replace")
    found = token_at(data, 0)
    if found and found[1] == len(data):
        return found[0]
    local, _, domain = data.rpartition(b"@")
    return (
        "email" if local and is_email(local, domain, b"", b"") and _PLAIN_EMAIL.fullmatch(data) else "secret"
    )


def _token_of_logprob(v: dict[Any, Any]) -> bool:
    """Whether `token` in this dict is a piece of text with its probability, as models report them."""
    keys = list(v) if "token" in v and isinstance(v.get("logprob"), (int, float)) else []
    return any({keys[i - 1], keys[i]} == {"token", "logprob"} for i in range(1, len(keys)))


def _is_option_value(option: Any, value: Any) -> bool:
    """Whether `value` is the secret of the option before it in the arguments of a program."""
    if not isinstance(option, str) or not isinstance(value, str) or not _OPTION.fullmatch(option):
        return False
    name = name_class(option)
    return bool(name) and is_secret(name, value, CALL)


def _named_value(v: dict[Any, Any]) -> str:
    """The name of an entry such as {"name": "DB_PASSWORD", "value": ...}, else nothing."""
    if "value" in v or "Value" in v:
        for key in ("name", "key", "header", "Name", "Key"):
            if isinstance(v.get(key), str):
                return v[key]
    return ""
