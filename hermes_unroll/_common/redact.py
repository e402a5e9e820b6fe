"""Replace secrets by stable placeholders in a text or a structure, and find what a finished file holds.

A text is searched once, as Latin-1 bytes of the same length: long runs of word characters are compared
with the token formats, and the names of secret fields, `@`, `PRIVATE KEY` and the like are judged where
they occur. No pattern is tried at every position, which keeps the time linear. Quoting is read at any
depth of escaping, so JSON inside JSON needs no parsing: a placeholder has no character that JSON would
escape, and the text around it stays as it was. `secret_rules.py` says what a secret looks like.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from . import secret_rules as rules
from .secret_rules import CALL, ENV, INLINE, JSON, LINE, QUERY, QUOTED, Lazy

PLACEHOLDER = Lazy(r"<redacted:[a-z0-9][a-z0-9-]*:[1-9][0-9]*>")
FAILED = "<redaction failed>"
TOO_DEEP = "<redaction: nested too deeply>"
CIRCULAR = "<redaction: circular>"
MAX_DEPTH = 200

Number = Callable[
    [str, str], int
]  # (kind, secret) -> ordinal within the kind, from 1, the same for equal secrets


class RedactionError(Exception):
    """A custom pattern cannot be used; the message names it and says why."""


class Finding(NamedTuple):
    """A secret in a text: its kind and where it stands, as offsets of the text."""

    kind: str
    start: int
    end: int


class Redactor:
    """Redacts with one numbering, so that a secret has one placeholder wherever it occurs.

    `custom_patterns` are regular expressions (`unroll.redact.custom_patterns`); every non-empty match is
    a secret of kind `custom`. `number` gives the ordinals; without it they are kept here under a keyed
    hash of the secret, so the secret itself is not retained. `failures` counts the values that were
    dropped.
    """

    def __init__(self, *, custom_patterns: Iterable[str] = (), number: Number | None = None):
        self._custom = [_CustomPattern(pattern) for pattern in custom_patterns]
        self._number = number or _ordinals()
        self.failures = 0

    def text(self, s: str) -> str:
        """The text with every secret replaced. Raises only what `number` raises."""
        for _ in range(3):  # a placeholder may bring out what stood glued to a secret; then once more
            scan = self._scan(s)
            if scan is None or not scan.spans:
                break
            parts, position = [], 0
            for start, end, kind, levels, quote in scan.spans:
                parts.append(s[position : scan.offset(start)])
                parts.append(quote + self._placeholder(kind, _plain(scan.text[start:end], levels)) + quote)
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
                secret = key and rules.number_is_secret(key, v)
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
            memo = id(v), rules.name_class(rules.trailing_name(key)) if key else ""
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
        name = rules.name_class(rules.trailing_name(key)) if key else ""
        if not name:
            return self.text(s)
        start, end = _secret_part(s, name)
        secret = s[start:end]
        if "<redacted:" in secret or not rules.is_secret(name, secret, JSON):
            return self.text(s)
        if "PRIVATE KEY-----" in secret:
            block = self.text(secret)
            if PLACEHOLDER.fullmatch(block.strip()):
                return self.text(s[:start]) + block
        return self.text(s[:start]) + self._placeholder(rules.kind_of(name, secret), secret) + s[end:]

    def _walk_dict(self, v: dict[Any, Any], _key: str, depth: int, seen: dict[Any, Any]) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        changed = False
        named = _named_value(v)
        not_secret = _token_of_logprob(v)
        for key, item in v.items():
            name = key if isinstance(key, str) else key.decode("latin-1") if isinstance(key, bytes) else ""
            if key == "value" and named:
                name = named
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
            header = _PEM_HEADER.search(line.encode("latin-1", "replace"))
            return line, header is not None and not line[header.end() :].strip()
        if not inside or not _PEM_ITEM.fullmatch(line):
            return line, False
        return re.sub(
            r"[A-Za-z0-9+/=]{12,}", lambda m: self._placeholder("private-key", m.group()), line
        ), True

    # ---- one text ----

    def _placeholder(self, kind: str, secret: str) -> str:
        return f"<redacted:{kind}:{self._number(kind, secret)}>"

    def _scan(self, s: str, finished: bool = False) -> _Scan | None:
        if len(s) < 6 and not self._custom:
            return None
        scan = _Scan(s, finished)
        scan.run()
        for pattern in self._custom:
            for start, end in pattern.matches(scan.text):
                scan.spans.append((start, end, "custom", 0, ""))
        scan.merge()
        return scan


def _ordinals() -> Number:
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


# ---- searching one text ---------------------------------------------------------------------------------

_WORD_CHARS = bytes(65 if chr(c) in "-_" or (c < 128 and chr(c).isalnum()) else 32 for c in range(256))
_LONG = b"A" * 16  # the shortest token that counts without a truncation mark
_ONCE = 50_000  # characters from which a text is searched only once

# Parts of the names of secret fields, and the lower-case letters that may follow one within its word.
_STEMS = ((b"pass", b"wpc"), (b"pw", b"d"), (b"secret", b""), (b"token", b"s"), (b"key", b"s"),
          (b"credential", b"s"), (b"cookie", b"s"), (b"auth", b"o"), (b"pin", b""))  # fmt: skip
_KEY_AFTER = (b"api ", b"ess ", b"ret ")  # API key, access key, secret key
_PLURALS = (b"api", b"ess", b"uth", b"esh")  # api_tokens, access_tokens, auth_tokens, refresh_tokens

_ESCAPED_CHAR = Lazy(r"(\\+)(?:u00([2-7][0-9a-fA-F])|/)")
_GLUED_ESCAPE = Lazy(rb"(?<=\\)(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|[nrtbfv0ae])"
                     rb"|(?<=%)(?:25)*[0-9a-fA-F]{2}|(?<=[\[;])[0-9]{0,3}m")  # fmt: skip
_DIGIT, _DOTS, _ATS, _BULLET = Lazy(rb"[0-9]"), Lazy(rb"\.+"), Lazy(rb"@+"), Lazy(rb"[-_]*")
_DIGITS_BEFORE = Lazy(rb"(?:[\w-]*[-_]|bot)?([0-9]{6,16})", re.ASCII)

_PEM_HEADER = Lazy(rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_END = Lazy(rb"-{4,6} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_LINE = Lazy(rb"(?:\s|\\+[nrt])*(?:[0-9]{1,6}[|:\t ] ?)?[+>|-]?[ \t]*"
                 rb"(?:([A-Za-z0-9+/=]{1,8192})|[A-Z][A-Za-z-]{2,24}: [^\r\n\\\"']{0,120})")  # fmt: skip
_PEM_ITEM = Lazy(r"[ \t]*(?:[0-9]{1,6}[|:\t ])?[+>|-]?[ \t]*[A-Za-z0-9+/=]{1,200}\s*")
_BASE64_RUN = Lazy(rb"[A-Za-z0-9+/=]{12,}")

_NO_ADDRESS = frozenset(b" \t\r\n/\"'<>\\`")  # before an @: neither a local part nor a password ends so
_AUTHORITY = Lazy(rb"([^\s/?#\"'<>\\`:@]{0,256}):([^\s/\"'<>\\`]{1,256})")
_MORE_AUTHORITY = Lazy(rb"(?:[^\s/\"'<>\\`@,;]{0,128}@)+(?=[A-Za-z0-9\[.-])")
_LOCAL_PART_BACKWARDS = Lazy(rb"[A-Za-z0-9._%+\xc0-\xff-]{1,64}")
_DOMAIN = Lazy(
    rb"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?)+"
)

_CUT_DOMAIN = Lazy(rb"([A-Za-z0-9-]{0,63}\.?)(?=(\?|\.\.\.|[\[<(]trunc|\\+u2026))")

_NAME_END = frozenset(b"\"'`\\]:=%*_ \t\r\n>!")
_ASSIGN = Lazy(
    rb"(\\*[\"'`])?\]?(?:\*\*|__)?[ \t]{0,20}"
    rb"(?::[ \t]*(?:str|String|string|bytes|Final|Optional\[str\]|str[ ]*\|[ ]*None|&(?:'static )?str)[ \t]*"
    rb"(?==[^=]))?"
    rb"(=>|:=|={1,3}|!==?|:(?![:=]))"
)
_QUERY_NAME = Lazy(rb"(?:amp;)?[a-z0-9-]{0,24}(?:sig|signature|code|hmac|sign)(?==)")
_PERCENT_ASSIGN = Lazy(rb"(?:%22)?%3[AaDd](?:%20|\+)?(?:%22)?")
_VALUE_NEXT = Lazy(rb"(\\*[\"'`])?(?:[\s,]|\\+[nr]){1,40}\\*[\"'`]?[vV]alue\\*[\"'`]?[ \t]*[:=]")
_NAME_BEFORE = Lazy(rb"(?:name|key|header|Name|Key)\\*[\"']?[ \t]*[:=][ \t]*\\*[\"']?$")
_CALL_BEFORE = Lazy(rb"\w\([ \t]*\\*[\"']$")
_COMMA = Lazy(rb"\\*[\"']\s*,\s*(?=\\*[\"'])")
_TOLD_VALUE = Lazy(  # "the password is x"; a cell of a table or a word after the name; "password 'x'"
    rb"[ \t]+(?:(?:is|was)(?:[ \t]+set[ \t]+to)?:?|(?:for|of)[ \t]+[^\s:]{1,40}:|--body|--value|<<<)[ \t]+"
    rb"(?:\\*[\"'`])?([^\s\"'`\\,;]{6,256})"
    rb"|[ \t]*\|?[ \t]*([A-Za-z0-9+/_=.-]{20,512})(?=[\s|\"'\\]|\Z)"
    rb"|[ \t]+\\*[\"'`]([^\s\"'`\\]{6,64})\\*[\"'`]"
)
_AUTH_PAIR = Lazy(
    rb"\([ \t]*\\*[\"'][^\"'\\\n]{0,128}\\*[\"'][ \t]*,[ \t]*\\*[\"']([^\"'\\\n]{1,256})\\*[\"'][ \t]*\)"
)
_ELEMENT = Lazy(rb">([^<\s]{1,4096})</")
_LOGIN_BEFORE = Lazy(rb"login[ \t]+\S{1,64}[ \t]+$")
_LINE_BEFORE = Lazy(
    rb"(?:^|[\n\r\"'`]|\\+[nrt])[ \t]*(?:(?:export|set|declare|local|readonly|-x|env|ENV|ARG|[-*+|>#]|//|"
    rb"[0-9]{1,6}[|:\t]|\$env:)[ \t]*){0,4}$"
)

_SPACE = Lazy(rb"[ \t]*(?:\*\*|__|!![a-z]{1,8})?[ \t]*")
_JSON_SPACE = Lazy(rb"(?:\s|\\+[nrt]){0,256}")
_LITERAL_END = Lazy(rb"\\*[\"'](?=[\s,)\]}:;]|\Z)")
_LITERAL_NEXT = Lazy(rb"\\*[\"'](?:[\s,)\]}:;]|\Z)")
_OPEN_QUOTE = Lazy(rb"(?:[bBrRuUfF]{1,2}(?=\\*[\"']))?(\\*)([\"'`])")
_NO_ESCAPE = rb"\\+(?![nrtbfuUxva0\"'`\\/\s,;&|<>()\[\]{}])"  # a backslash that belongs to the value


def _bare(chars: bytes) -> bytes:
    return rb"%b{0,512}(?:%b%b{0,512}){0,8}" % (chars, _NO_ESCAPE, chars)


_LINE_VALUE = Lazy(
    rb"(" + _bare(rb"[^\s\"'`\\]") + rb")[ \t]*(?:[ \t]#[^\r\n\\\"']{0,512})?(?=[\r\n]|\\+[nr]|\\*[\"'`]|\Z)"
)
_ENV_VALUE = Lazy(_bare(rb"[^\s\"'`\\]"))
_INLINE_VALUE = Lazy(_bare(rb"[^\s\"'`\\,;&|<>()\[\]{}]"))
_CALL = Lazy(rb"[A-Za-z_$&*][\w.:]*[(\[]")
_QUERY_VALUE = Lazy(rb"[^\s&\"'<>\\#`;,)\]}|]{1,4096}")
_PERCENT_VALUE = Lazy(
    rb"(?:[A-Za-z0-9._~+*!-]|%(?!2[026Cc]|3[BbCcEe]|0[AaDd]|[57][DdBb])[0-9A-Fa-f]{2}){1,4096}"
)
_MORE_VALUE = Lazy(rb"[A-Za-z0-9+/=_.~-]*")
_AFTER_VALUE = Lazy(rb"\s*(?:\\|[,}\]:;)\"']|\Z)")
_LOGPROB_AFTER = Lazy(rb"\\*[\"'],\s*\\*[\"']logprob\\*[\"']")
_LOGPROB_BEFORE = Lazy(rb"logprob\\*[\"']:\s*[-0-9.e+]{1,30},\s*\\*[\"']token\\*[\"']:\s*\\*[\"']$")
_NUMBER = Lazy(rb"-?[0-9][0-9.eE+-]{0,40}(?=[\s,}\]\\\"']|\Z)")
_LIST_ITEM = Lazy(
    rb"(?:[\s,]|\\+[nrt]){0,256}(?:(\\*)([\"'])|(-?[0-9][0-9.eE+-]{0,40}|true|false|null|None|True"
    rb"|False)(?=[\s,\]\\]))"
)
_COOKIES = Lazy(
    rb"[\w.!#$%&*+^|~-]{1,128}=[^\s;,\"'\\]{1,4096}(?:;[ ]?[\w.!#$%&*+^"
    rb"|~-]{1,128}(?:=[^;\"'\\\r\n]{0,4096})?)*"
)
_HEADER_LINE = Lazy(rb"[^\r\n\"'`\\]{1,1024}")
_WORDS_FOLLOW = Lazy(r" [a-z]")
_PARAMETERS = Lazy(
    rb"[\w-]{1,40}=(?:\\*\"[^\"\\\r\n]{0,4096}\\*\"|[^\s,\"'\\]{1,4096})"
    rb"(?:,?[ \t]*[\w-]{1,40}=(?:\\*\"[^\"\\\r\n]{0,4096}\\*\"|[^\s,\"'\\]{1,4096}))*"
)
_BEARER = Lazy(rb"bearer(?:[ \t]{1,8}|%20|\+)(?:\\*[\"'])?([A-Za-z0-9._~+/=-]{8,8192})", re.IGNORECASE)
_BASIC = Lazy(rb"basic(?:[ \t]{1,8}|%20)([A-Za-z0-9+/]{8,4096}={0,2})", re.IGNORECASE)


Span = tuple[int, int, str, int, str]  # start, end, kind, levels of escaping of the secret, quote to add


class _Scan:
    """One pass over one text; `spans` are what it found, in offsets of `text`.

    `finished`: the text ends where it was meant to end, so its end is no truncation mark.
    `text` is the given one with `\\u0061` and `\\/` resolved, if there are any; `offset` leads back to it.
    """

    def __init__(self, s: str, finished: bool):
        self._finished = finished
        self.spans: list[Span] = []
        self._blocks: set[int] = set()  # where a whole PEM block begins
        self._marks: list[int] = []  # offsets in text where an escape was shortened, and by how much in all
        self._shifts: list[int] = []
        self.text = self._resolved(s) if "\\u00" in s or "\\/" in s else s
        self.bytes = self.text.encode("latin-1", "replace")
        self.low = self.bytes.lower()
        # The n of an escaped newline must not stick to the word that follows; for others see _GLUED_ESCAPE.
        self.words = self.bytes.replace(b"\\n", b"  ").translate(_WORD_CHARS)

    def run(self) -> None:
        self._tokens()
        self._cut_tokens()
        self._anchored()
        self._private_keys()
        self._addresses()
        self._assignments()
        self._schemes()
        self._commands()

    def offset(self, index: int) -> int:
        """The offset in the given text of an offset in `text`."""
        if not self._marks:
            return index
        at = bisect_right(self._marks, index)
        return index + (self._shifts[at - 1] if at else 0)

    def merge(self) -> None:
        """Sort, and join what overlaps; where two cover the same, the token format says the kind."""
        merged: list[Span] = []
        for span in sorted(self.spans, key=lambda span: (span[0], -span[1], span[2] == "secret")):
            if merged and span[0] < merged[-1][1]:
                if span[1] > merged[-1][1]:
                    merged[-1] = (merged[-1][0], span[1], *merged[-1][2:])
                continue
            merged.append(span)
        self.spans = merged

    def _resolved(self, s: str) -> str:
        parts, position, length, shift = [], 0, 0, 0
        for match in _ESCAPED_CHAR.finditer(s):
            slashes, code = match.groups()
            char = chr(int(code, 16)) if code else "/"
            if char in '"\\':  # still escaped, in the short way
                char = "\\" * (2 * len(slashes) - 1) + char
            parts += s[position : match.start()], char
            length += match.start() - position + len(char)
            position = match.end()
            shift += len(match.group()) - len(char)
            self._marks.append(length)
            self._shifts.append(shift)
        parts.append(s[position:])
        return "".join(parts)

    # ---- tokens ----

    def _tokens(self) -> None:
        text, words, heads = self.bytes, self.words, rules.token_heads()
        inner, digit = rules.inner_starts(), _DIGIT
        start = words.find(_LONG)
        while start >= 0:
            end = words.find(b" ", start + 16)
            if end < 0:
                end = len(words)
            done = self._token(start) if text[start : start + 2] in heads else start
            before = text[start - 1] if start else 32
            if before in b"\\%[;.:/~" and self._may_be_glued(start, before):
                self._glued_token(start, end)
            elif text[start] in b"-_":
                at = _BULLET.match(text, start).end()
                done = self._token(at) if text[at : at + 2] in heads else done
            if digit.search(text, start, end):
                match = inner.search(text, done, end)
                while match:
                    at = match.end()
                    # a prefix as short as hf_ may stand in any long base64 text
                    if end - start <= 256 or text[at + 2] not in b"-_":
                        done = max(done, self._token(at))
                    match = inner.search(text, max(at, done), end)
                if 36 <= end - start <= 88:
                    self._whole_run(start, end)
            start = words.find(_LONG, end)

    def _may_be_glued(self, start: int, before: int) -> bool:
        text = self.bytes
        if before == 46:
            return text[max(0, start - 8) : start].endswith(rules.DOTTED)
        if before == 58:
            return text[start - 2 : start - 1].isdigit()
        if before == 47:
            return text[start] == 48
        return before not in b"[;" or text[start] in b"0123456789m"

    def _starts(self, start: int) -> list[int]:
        """Where the word really begins that has a run begin at `start`: behind an escape or a bullet, too."""
        text, starts = self.bytes, [start]
        if start and text[start - 1] in b"\\%[;":
            glued = _GLUED_ESCAPE.match(text, start)
            if glued:
                starts.append(glued.end())
        if text[starts[-1] : starts[-1] + 1] in (b"-", b"_"):
            starts.append(_BULLET.match(text, starts[-1]).end())  # type: ignore[union-attr]
        return starts

    def _whole_run(self, start: int, end: int) -> None:
        if end - start <= 50:
            match = rules.MAILCHIMP.search(self.bytes, start, end)
            if match:
                self.spans.append((match.start(), end, "mailchimp", 0, ""))
        elif end - start >= 77 and self.bytes.find(b"JQQJ9", start, end) > 0:
            self.spans.append((self._starts(start)[-1], end, "azure-key", 0, ""))

    def _token(self, start: int) -> int:
        """Note the token that starts here, and one glued to it; where they end, or `start`."""
        found = rules.token_at(self.bytes, start)
        if not found:
            return start
        kind, end = found
        self.spans.append((start, end, kind, 0, ""))
        if kind == "aws-key-id":
            secret = rules.AWS_SECRET_AFTER_ID.match(self.bytes, end)
            if secret:
                self.spans.append((*secret.span(1), "secret", 0, ""))
        return self._token(end)

    def _glued_token(self, start: int, end: int) -> None:
        """A run that begins inside a token (SG.xyz), behind an escape (\\tghp_...) or behind a bullet."""
        text = self.bytes
        before = text[start - 1] if start else 32
        for at in self._starts(start)[1:]:
            self._token(at)
        if before == 46:  # a dot
            left = start
            for _ in range(2):
                left = self.words.rfind(b" ", max(0, left - 64), left - 1) + 1
                for at in self._starts(left):
                    self._token(at)
                for match in rules.inner_starts().finditer(text, left, start):
                    self._token(match.end())
                if text.startswith(b"atlasv1.", left) and left >= 15 and text[left - 15 : left - 1].isalnum():
                    self.spans.append((left - 15, end, "terraform", 0, ""))
                if not left or text[left - 1] != 46:
                    break
        elif before == 58 or (before == 37 and text[start : start + 2] in (b"3A", b"3a")):  # a colon
            body = start if before == 58 else start + 2
            left = self._telegram_id(start)
            token = rules.TELEGRAM.match(text, body) if left >= 0 else None
            if token:
                self.spans.append((left, token.end(), "telegram", 0, ""))
        elif before == 47 and text[start - 3 : start + 1] == b"1//0":
            self._token(start - 3)
        elif before == 37 and text[start - 5 : start + 3].upper() == b"1%2F%2F0" and end - start > 30:
            self.spans.append((start - 5, end, "google-refresh", 0, ""))
        elif before == 126 and text[start - 7 : start] == b"sha256~":
            self.spans.append((start - 7, end, "openshift", 0, ""))

    def _cut_tokens(self) -> None:
        """Tokens too short to count, right before a truncation mark or the end of the text."""
        text, words, heads = self.bytes, self.words, rules.token_heads()
        for mark in self._truncations():
            end = mark
            for _ in range(3):
                tail = text[max(0, end - 12) : end]
                rest = tail.rstrip(b" \t\r\n[(<.?")  # the mark character is a ? here
                end -= len(tail) - len(rest)
                if not rest.endswith(b"\\n"):
                    break
                end -= 2
            if not end or words[end - 1] == 32:
                continue
            low = max(0, end - 200)
            start = words.rfind(b" ", low, end) + 1
            if start <= low > 0:
                continue
            before = text[start - 1] if start else 32
            if end - start < 4 and before not in b".:/":
                continue
            if before == 58 and self._cut_telegram(start, end):
                continue
            starts = self._starts(start)
            while start and text[start - 1] == 46 and len(starts) < 8:
                start = words.rfind(b" ", low, start - 1) + 1
                starts += self._starts(start)
            run = text[start:end]
            if b"-" in run or b"_" in run:
                starts += [match.end() for match in rules.inner_starts().finditer(text, start, end)]
            if before == 47:
                starts.append(start - 3)  # 1//0...
            for at in starts:
                kind = rules.cut_token_at(text, at, end) if text[at : at + 2] in heads else None
                if kind:
                    self.spans.append((at, end, kind, 0, ""))
                    break

    def _telegram_id(self, start: int) -> int:
        """Where the digits begin that stand before the colon before `start`, or -1."""
        left = self.words.rfind(b" ", max(0, start - 24), start - 1) + 1
        for at in self._starts(left):
            digits = _DIGITS_BEFORE.fullmatch(self.bytes, at, start - 1)
            if digits:
                return digits.start(1)
        return -1

    def _cut_telegram(self, start: int, end: int) -> bool:
        left = self._telegram_id(start) if self.bytes.startswith(b"AA", start) and end - start >= 6 else -1
        if left < 0 or start - left < 9:
            return False
        self.spans.append((left, end, "telegram", 0, ""))
        return True

    def _truncations(self) -> Iterator[int]:
        text = self.bytes
        if not self._finished:
            yield len(text)
        at = self.text.find("…")
        while at >= 0:
            yield at
            while self.text.startswith("…", at):
                at += 1
            at = self.text.find("…", at)
        at = text.find(b"...")
        while at >= 0:
            yield at
            at = text.find(b"...", _DOTS.match(text, at).end())  # type: ignore[union-attr]
        at = self.low.find(b"truncated")
        while at >= 0:
            before = max(text.rfind(opening, max(0, at - 40), at) for opening in (b"[", b"(", b"<"))
            if before >= 0:
                yield before
            at = self.low.find(b"truncated", at + 9)
        at = text.find(b"u2026")
        while at >= 0:
            before = at
            while before and text[before - 1] == 92:
                before -= 1
            if before < at:
                yield before
            at = text.find(b"u2026", at + 5)

    def _anchored(self) -> None:
        """Formats known by something in their middle or by the address they stand in."""
        for needle, kind, back, pattern in rules.ANCHORED:
            at = self.bytes.find(needle)
            while at >= 0:
                match = pattern.match(self.bytes, at - back) if at >= back else None
                if match:
                    self.spans.append((*match.span(1), kind, 0, ""))
                at = self.bytes.find(needle, at + len(needle))
        at = self.bytes.find(b"~")
        while at >= 0:
            if self.bytes[at - 1] == 81 and at > 4:
                match = rules.AZURE_CLIENT_SECRET.match(self.bytes, at - 5)
                if match:
                    self.spans.append((*match.span(), "azure-client-secret", 0, ""))
            at = self.bytes.find(b"~", at + 1)
        for match in rules.PASSWORD_HASH.finditer(self.bytes):
            self.spans.append((*match.span(), "password-hash", 0, ""))

    def _private_keys(self) -> None:
        text = self.bytes
        at = text.find(b"PRIVATE KEY")
        while at >= 0:
            start = text.rfind(b"BEGIN ", max(0, at - 40), at)
            header = None
            for dashes in (5, 6, 4):
                header = header or (_PEM_HEADER.match(text, start - dashes) if start >= dashes else None)
            at += 11
            if header:
                at = max(at, self._private_key(header.start(), header.end()))
            at = text.find(b"PRIVATE KEY", at)

    def _private_key(self, start: int, body: int) -> int:
        text = self.bytes
        end = text.find(b"----", body, body + 20000)
        closing = _PEM_END.match(text, end) if end >= 0 else None
        if closing:
            quoted = re.search(rb"[\"']", text[body:end])
            blocks = list(_BASE64_RUN.finditer(text, body, end))
            if blocks and quoted:  # lines of a list or of a program: its structure stays
                self.spans += [(*block.span(), "private-key", 0, "") for block in blocks]
            elif blocks:
                self.spans.append((start, closing.end(), "private-key", -1, ""))
                self._blocks.add(start)
            return closing.end()
        stop, length = body, 0
        while True:
            line = _PEM_LINE.match(text, stop)
            if not line:
                break
            stop = line.end()
            length += len(line.group(1) or b"")
            if line.group(1) and len(line.group(1)) < 40:
                break
        if length >= 8:
            self.spans.append((start, stop, "private-key", -1, ""))
        return max(stop, body)

    # ---- addresses ----

    def _addresses(self) -> None:
        text = self.bytes
        at = text.find(b"@")
        while at >= 0:
            if text[at + 1 : at + 2] == b"@":
                at = _ATS.match(text, at).end() - 1  # type: ignore[union-attr]
            nxt = at + 1
            if text[at - 1] in _NO_ADDRESS:
                at = text.find(b"@", nxt)
                continue
            scheme = text.rfind(b"://", max(0, at - 400), at)
            if scheme > 0 and self.words[scheme - 1] == 32:
                scheme = -1  # no scheme before the slashes
            if scheme > 0 and not rules.AUTHORITY_END.search(text[scheme + 3 : at]):
                nxt = self._userinfo(scheme + 3, at)
            elif at and text[at - 1] != 64:
                nxt = self._email(at) or nxt
            at = text.find(b"@", nxt)
        at = text.find(b"%40") if b"%" in text else -1
        while at >= 0:
            self._email(at, 3)
            at = text.find(b"%40", at + 3)

    def _userinfo(self, start: int, at: int) -> int:
        """user:password@ of a URL, up to the last @ of its authority."""
        text = self.bytes
        more = _MORE_AUTHORITY.match(text, at + 1)
        end = more.end() - 1 if more else at
        parts = _AUTHORITY.fullmatch(text, start, end)
        if parts:
            secret = self.text[parts.start(2) : end]
            if secret and not rules.is_template(secret) and not PLACEHOLDER.match(secret):
                self.spans.append((parts.start(2), end, "secret", 0, ""))
        elif end - start >= 20 and rules.is_secret(rules.WEAK, self.text[start:end], QUERY):
            self.spans.append((start, end, "secret", 0, ""))
        return end + 1

    def _email(self, at: int, width: int = 1) -> int | None:
        text = self.bytes
        domain = _DOMAIN.match(text, at + width)
        cut = None if domain else _CUT_DOMAIN.match(text, at + width)
        if not domain and not cut:
            return None
        local = _LOCAL_PART_BACKWARDS.match(text[max(0, at - 64) : at][::-1])
        if not local:
            return None
        start = at - local.end()
        if start and text[start - 1] in b"\\%":
            glued = _GLUED_ESCAPE.match(text, start)
            start = glued.end() if glued else start
        while start < at and text[start] in b".%+-":
            start += 1
        if start >= at:
            return None
        if cut:
            if at - start > 2 and (cut.group(2) != b"?" or self.text[cut.end(1)] == "…"):
                self.spans.append((start, cut.end(1), "email", 0, ""))
            return None
        after = text[domain.end() : domain.end() + 40]
        before = text[max(0, start - 100) : start]
        if not rules.is_email(text[start:at], domain.group(), before, after):
            return domain.end()
        self.spans.append((start, domain.end(), "email", 0, ""))
        return domain.end()

    # ---- names and values ----

    def _assignments(self) -> None:
        text, low, words, n = self.bytes + b" ", self.low, self.words, len(self.low)
        for stem, letters in _STEMS:
            size = len(stem)
            at = low.find(stem)
            while at >= 0:
                nxt = at + size
                following = text[nxt]
                if following == 115 and size == 5 and low[at - 4 : at - 1] not in _PLURALS:
                    pass  # prompt_tokens and the like, by far the most frequent
                elif following == 111 and not low.startswith(b"oriz", nxt):
                    pass  # author
                elif not 97 <= following <= 122 or following in letters:
                    end = words.find(b" ", nxt, at + 64) if words[nxt : nxt + 1] == b"A" else nxt
                    if end < 0 and n - at <= 64:
                        end = n
                    if 0 <= end < n and text[end] in _NAME_END and (size > 3 or not self._lone_key(at, end)):
                        nxt = max(nxt, self._assignment(at, end))
                at = low.find(stem, nxt)
        for sign in "&?":
            at = self.text.find(sign)  # not in the bytes, where ? stands for every other character
            while at >= 0:
                name = _QUERY_NAME.match(low, at + 1)
                if name:
                    self._assignment(at + 1, name.end())
                at = self.text.find(sign, at + 1)

    def _assignment(self, at: int, end: int) -> int:
        """Judge the value of the name around `at` that ends at `end`; up to which offset that settles it."""
        text = self.bytes
        start = self._name_start(at)
        before = text[start - 1] if start else 10
        name_text = self.text[start:end]
        parameter = self._follows(start, "?&;") or text[start - 3 : start] in (b"%26", b"%3F", b"%3f")
        name = rules.query_name_class(name_text) if parameter else rules.name_class(name_text)
        if not name and name_text.lower() == "key" and text[start - 4 : start].lower() in _KEY_AFTER:
            name = rules.TOKEN
        if text[start - 3 : start] == b"://":  # the user of a URL
            return 0
        if not name or (before == 58 and PLACEHOLDER.match(self.text, max(0, start - 10))):
            return 0
        if text[end] in b" \t" and text[end : end + 24].lstrip()[:1] not in b":=!":
            return self._unsigned_value(name, start, end)
        assign = _ASSIGN.match(text, end)
        if assign:
            return self._value(name, name_text, start, assign)
        if low_percent := _PERCENT_ASSIGN.match(text, end):
            value = _PERCENT_VALUE.match(text, low_percent.end())
            return self._add(name, value.start(), value.end(), QUERY, 0) if value else 0
        return self._unsigned_value(name, start, end)

    def _lone_key(self, at: int, end: int) -> bool:
        """Whether the name is just `key`, as in most of JSON and of code, and no parameter of a URL."""
        if end - at != 3 or not at or self.words[at - 1] != 32 or self.low[at] != 107:
            return False
        return self.low[at - 1] not in b"?&;" and self.low[at - 4 : at] not in _KEY_AFTER

    def _follows(self, start: int, chars: str) -> bool:
        """Whether one of the characters stands before `start`; ? in the bytes may stand for any other."""
        return start > 0 and self.text[start - 1] in chars

    def _name_start(self, at: int) -> int:
        text = self.bytes
        low = max(0, at - 64)
        start = max(low, self.words.rfind(b" ", low, at) + 1)
        if start and text[start - 1] in b"\\%":
            glued = _GLUED_ESCAPE.match(text, start)
            if glued and glued.end() <= at:
                return glued.end()
        return start

    def _value(self, name: str, name_text: str, start: int, assign: re.Match[bytes]) -> int:
        text = self.bytes
        quote, sign = assign.groups()
        after_sign = assign.end()
        form = JSON if quote and sign in (b":", b"=>") else QUOTED
        at = (_JSON_SPACE if form == JSON else _SPACE).match(text, after_sign).end()
        opening = _OPEN_QUOTE.match(text, at)
        if opening:
            if sign in (b"==", b"===", b"!=", b"!==") and name != rules.PASSWORD:
                return 0
            same = form == JSON and quote == opening.group(1) + opening.group(2)
            return self._quoted_value(name, opening, form, same)
        if form == JSON:
            number = _NUMBER.match(text, at)
            if number:
                if number.group().lstrip(b"-").isdigit() and rules.number_is_secret(
                    name_text, number.group()
                ):
                    added = (quote or b"").decode()
                    self.spans.append((at, number.end(), "secret", 0, added))
                return number.end()
            if text[at : at + 1] == b"[":
                return self._list_value(name, at + 1)
        if quote and form != JSON:
            return 0
        if name == rules.COOKIE:
            cookies = _COOKIES.match(text, at)
            if cookies and not rules.is_template(self.text[at : cookies.end()]):
                self.spans.append((*cookies.span(), "cookie", 0, ""))
                return cookies.end()
            return 0
        if name == rules.AUTHORIZATION:
            return self._authorization(at)
        if sign in (b"==", b"===", b"!=", b"!=="):
            return 0
        return self._bare_value(name, name_text, start, after_sign, at, sign)

    def _bare_value(self, name: str, name_text: str, start: int, sign_end: int, at: int, sign: bytes) -> int:
        text = self.bytes
        if text[at : at + 1] in b"[{(<":
            pair = _AUTH_PAIR.match(text, at) if name == rules.WEAK and name_text.lower() == "auth" else None
            return self._add(rules.PASSWORD, *pair.span(1), QUOTED, 1) if pair else 0
        before = text[start - 1] if start else 10
        if sign == b"=" and (self._follows(start, "?&") or text[start - 5 : start] == b"&amp;"):
            value, form = _QUERY_VALUE.match(text, at), QUERY
        elif sign == b"=" and name_text.isupper() and at == sign_end:
            value, form = _ENV_VALUE.match(text, at), ENV
        else:
            value, form = _LINE_VALUE.match(text, at), LINE
            if (
                not value
                or not _LINE_BEFORE.search(b"\n" * (start < 24) + text[max(0, start - 24) : start])
                or value.group(1)[-1:] in b",;)"
                or _CALL.match(value.group(1))
            ):
                value, form = _INLINE_VALUE.match(text, at), INLINE
            if (
                form == LINE
                and sign == b":"
                and name_text.isupper()
                and before not in b"\"'"
                and "_" in name_text
            ):
                form = ENV
        if not value:
            return 0
        end = value.end(value.lastindex or 0)
        if form == ENV:
            for joint in (b"&&", b"||", b"[truncated", b"<truncated"):
                joined = text.find(joint, at, end)
                end = joined if joined > at else end
        while end > at and (
            text[end - 1] in b",;)&|]}" if form in (ENV, LINE) else text[end - 1] in b".,:;?!*_"
        ):
            end -= 1
        while end > at and (self.text[end - 1] == "…" or text[end - 3 : end] == b"..."):
            end -= 3 if text[end - 1] == 46 else 1
        if end <= at:
            return 0
        if form in (INLINE, LINE) and (text[end : end + 1] in b"([" and text[end : end + 1]):
            return 0
        if form == INLINE and text[end - 1] in b"$%@#" and text[end : end + 1] == b"{":
            return 0
        if value.end() - at >= 512 and value.end() == end:
            end = _MORE_VALUE.match(text, value.end()).end()  # type: ignore[union-attr]
        return self._add(name, at, end, form, 0)

    def _unsigned_value(self, name: str, start: int, end: int) -> int:
        """Values that no sign joins to the name: --password x, <password>x</password>, name and value."""
        text = self.bytes
        if text[end] in b" \t":
            flag = text.startswith(b"--", start)
            login = flag or (b"login" in text[max(0, start - 80) : start])
            if not flag and not (login and _LOGIN_BEFORE.search(text[max(0, start - 80) : start])):
                told = _TOLD_VALUE.match(text, end)
                if told and rules.is_telling(
                    name, self.text[slice(*told.span(told.lastindex))], told.lastindex
                ):
                    return self._add(name, *told.span(told.lastindex), JSON, 0)
                return 0
            at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
            opening = _OPEN_QUOTE.match(text, at)
            if opening:
                return self._quoted_value(name, opening, QUOTED)
            value = (_INLINE_VALUE if flag else _ENV_VALUE).match(text, at)
            if value and not value.group().startswith(b"-"):
                return self._add(name, at, value.end(), INLINE if flag else ENV, 0)
            return 0
        if text[end] == 62:
            value = _ELEMENT.match(text, end) if start and text[start - 1] == 60 else None
            return (
                self._add(name, *value.span(1), QUOTED if name != rules.PASSWORD else JSON, 0) if value else 0
            )
        pair = _VALUE_NEXT.match(text, end)
        if pair and _NAME_BEFORE.search(text[max(0, start - 24) : start]):
            at = _JSON_SPACE.match(text, pair.end()).end()  # type: ignore[union-attr]
            opening = _OPEN_QUOTE.match(text, at)
            if opening:
                return self._quoted_value(name, opening, JSON)
            value = _LINE_VALUE.match(text, at)
            return self._add(name, *value.span(1), LINE, 0) if value else 0
        comma = _COMMA.match(text, end)
        if comma and _CALL_BEFORE.search(text[max(0, start - 12) : start]):
            return self._quoted_value(name, _OPEN_QUOTE.match(text, comma.end()), CALL)
        return 0

    def _quoted_value(self, name: str, opening: re.Match[bytes], form: str, same: bool = False) -> int:
        """`same`: name and value have the same quotes, so this one is sure to open, not to close, a text."""
        text = self.bytes
        start, depth, quote = opening.end(), len(opening.group(1)), opening.group(2)
        if quote == b"`" and text.startswith(b"``", start):  # a fence of Markdown
            return 0
        if not depth and text.startswith(quote * 2, start):  # triple quotes
            start += 2
            end = text.find(quote * 3, start, start + 32768)
            closed = end >= 0
        else:
            end, closed = self._closing_quote(start, quote, depth)
        if not closed:  # the text was cut; or it stands in a literal that ends on this line
            line = text.find(b"\n", start, start + 4096)
            end = min(i for i in (end, line, len(text)) if i >= 0)
            literal = _LITERAL_END.search(text, start, end)
            end = literal.start() if literal else end
            if text[start : start + 1] in (b",", b";", b":", b")", b"]", b"}"):
                return 0
        if PLACEHOLDER.match(self.text, start) or _LITERAL_NEXT.match(text, start):
            return 0
        if end <= start or (not same and text[start] in b" \t,;:)]}+\n\r"):
            return 0
        if name == rules.COOKIE and form != JSON and b"=" not in text[start:end]:
            return 0
        return self._add(name, start, end, form, (depth + 1).bit_length())

    def _closing_quote(self, start: int, quote: bytes, depth: int) -> tuple[int, bool]:
        """Where the text quoted behind `depth` backslashes that starts at `start` ends, and if it does."""
        text, at = self.bytes, start
        while True:
            at = text.find(quote, at, start + 32768)
            if at < 0:
                return -1, False
            slashes = at
            while slashes > start and text[slashes - 1] == 92:
                slashes -= 1
            count = at - slashes
            if count % (2 * (depth + 1)) == depth and (count == depth or _AFTER_VALUE.match(text, at + 1)):
                return at - depth, True
            if count < depth:
                return at - count, False
            at += 1

    def _list_value(self, name: str, at: int) -> int:
        text = self.bytes
        while True:
            item = _LIST_ITEM.match(text, at)
            if not item:
                return at
            at = item.end()
            if item.group(2):
                end, closed = self._closing_quote(at, item.group(2), len(item.group(1)))
                if not closed or _LITERAL_NEXT.match(text, at):
                    return at
                self._add(name, at, end, JSON, (len(item.group(1)) + 1).bit_length())
                at = end + len(item.group(1)) + 1

    def _authorization(self, at: int) -> int:
        """A header written out: scheme and credentials up to a quote, an escape or the end of the line."""
        text = self.bytes
        line = _HEADER_LINE.match(text, at)
        if not line:
            return 0
        value = self.text[at : line.end()].rstrip()
        scheme = rules.SCHEME.match(value)
        if scheme and scheme.group(1).lower() in rules.PARAMETER_SCHEMES:
            parameters = _PARAMETERS.match(text, at + scheme.end())
            if parameters:
                self.spans.append((*parameters.span(), "secret", 0, ""))
                return parameters.end()
        start = scheme.end() if scheme else 0
        word = value[start:].split(" ", 1)[0].rstrip(",;.…")
        if "<redacted:" in word:
            return 0
        if scheme and scheme.group(1).lower() in rules.SCHEMES:
            prose = _WORDS_FOLLOW.match(value, start + len(word)) and word.isalpha()
            if not word or prose or rules.is_template(word) or rules.is_prose(word):
                return 0
        elif not rules.is_secret(rules.TOKEN, word, INLINE):
            return 0
        return self._add(rules.AUTHORIZATION, at + start, at + start + len(word), JSON, 0)

    def _add(self, name: str, start: int, end: int, form: str, levels: int) -> int:
        value = self.text[start:end]
        head, tail = _secret_part(value, name)
        secret = value[head:tail]
        if "<redacted:" in secret or not rules.is_secret(
            name, _plain(secret, levels) if levels else secret, form
        ):
            return 0
        if name == rules.TOKEN and (
            _LOGPROB_AFTER.match(self.bytes, end)
            or _LOGPROB_BEFORE.search(self.bytes[max(0, start - 80) : start])
        ):
            return 0
        block = rules.BARE_BLOCK.fullmatch(secret) if "PRIVATE KEY" in secret else None
        if block and start + head + block.start(1) in self._blocks:
            return end
        kind = "cookie" if name == rules.COOKIE else "secret"
        self.spans.append((start + head, start + tail, kind, levels, ""))
        return end

    def _schemes(self) -> None:
        """Bearer and Basic credentials outside of an Authorization header."""
        for needle, pattern, wanted in (
            (b"bearer", _BEARER, rules.is_bearer), (b"basic", _BASIC, rules.is_basic),
        ):  # fmt: skip
            at = self.low.find(needle)
            while at >= 0:
                match = pattern.match(self.bytes, at)
                if match and wanted(match.group(1).decode()):
                    self.spans.append((*match.span(1), "secret", 0, ""))
                at = self.low.find(needle, match.end() if match else at + 5)

    def _commands(self) -> None:
        """Passwords on command lines: curl -u name:password, sshpass -p, mysql -p, docker login -p."""
        options = {option: option in self.low for option in (b" -p", b"-a", b"u")}
        for needle, option, pattern in rules.COMMANDS:
            if not options[option] or needle not in self.low:
                continue
            for match in pattern.finditer(self.bytes):
                command = self.low.rfind(needle, max(0, match.start() - 2000), match.start())
                if command < 0 or rules.COMMAND_BREAK.search(self.bytes, command, match.start()):
                    continue
                start, end = match.span("secret")
                secret = self.text[start:end]
                if not rules.is_template(secret) and not PLACEHOLDER.match(secret):
                    self.spans.append((start, end, "secret", 0, ""))


def _secret_part(value: str, name: str) -> tuple[int, int]:
    """Where the secret stands in the value of a field: behind a scheme such as Bearer."""
    if name in (rules.TOKEN, rules.AUTHORIZATION, rules.WEAK):
        scheme = rules.SCHEME.match(value)
        if scheme and (name == rules.AUTHORIZATION or scheme.group(1).lower() in rules.SCHEMES):
            return scheme.end(), len(value)
    return 0, len(value)


def _plain(secret: str, levels: int) -> str:
    """The secret as such: unescaped, percent-decoded, a PEM block without its line breaks."""
    if levels < 0:
        return re.sub(r"\\+[nr]|\s", "", secret)
    for _ in range(levels):
        if "\\" not in secret:
            break
        secret = rules.unescaped(secret)
    if not levels and "%" in secret:
        from urllib.parse import unquote

        return unquote(secret)
    return secret


def _token_of_logprob(v: dict[Any, Any]) -> bool:
    """Whether `token` in this dict is a piece of text with its probability, as models report them."""
    keys = list(v) if "token" in v and isinstance(v.get("logprob"), (int, float)) else []
    return any({keys[i - 1], keys[i]} == {"token", "logprob"} for i in range(1, len(keys)))


def _named_value(v: dict[Any, Any]) -> str:
    """The name of an entry such as {"name": "DB_PASSWORD", "value": ...}, else nothing."""
    if "value" in v:
        for key in ("name", "key", "header"):
            if isinstance(v.get(key), str):
                return v[key]
    return ""


# ---- patterns of the user -------------------------------------------------------------------------------


class _CustomPattern:
    """A pattern from the config, refused when it is no pattern or may take exponential time."""

    def __init__(self, pattern: str):
        try:
            self._pattern = re.compile(pattern)
        except (re.error, TypeError, OverflowError, RecursionError) as error:
            raise RedactionError(f"custom pattern {pattern!r} is not a regular expression: {error}") from None
        reason = rules.catastrophic(self._pattern)
        if reason:
            raise RedactionError(f"custom pattern {pattern!r} could take forever: {reason}")

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        taken = [match.span() for match in PLACEHOLDER.finditer(text)] if "<redacted:" in text else []
        starts = [start for start, _ in taken]
        for match in self._pattern.finditer(text):
            start, end = match.span()
            at = bisect_right(starts, end - 1)
            if end > start and not (at and taken[at - 1][1] > start):
                yield start, end
