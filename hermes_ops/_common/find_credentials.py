"""Search a text for e-mail addresses and passwords of URLs, and for Bearer and Basic credentials."""

from __future__ import annotations

import re

from .patterns import PLACEHOLDER, Lazy
from .searched_text import GLUED_ESCAPE, SearchedText
from .secret_names import WEAK, words
from .secret_values import QUERY, is_basic, is_bearer, is_secret, is_template

_ATS = Lazy(rb"@+")
_NAMES = words("password passwd passwort pass pwd secret token")  # in place of a password: user:password@host
_NO_ADDRESS = frozenset(b" \t\r\n/\"'<>\\`")  # before an @: neither a local part nor a password ends so
_AUTHORITY = Lazy(rb"([^\s/?#\"'<>\\`:@]{0,256}):([^\s/\"'<>\\`]{1,256})")
_MORE_AUTHORITY = Lazy(rb"(?:[^\s/\"'<>\\`@,;]{0,128}@)+(?=[A-Za-z0-9\[.-])")
_LOCAL_PART_BACKWARDS = Lazy(rb"[A-Za-z0-9._%+\xc0-\xff-]{1,64}")
_DOMAIN = Lazy(
    rb"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?)+"
)

_CUT_DOMAIN = Lazy(rb"([A-Za-z0-9-]{0,63}\.?)(?=(\?|\.\.\.|[\[<(]trunc|\\+u2026))")
_AUTHORITY_END = Lazy(rb"[\s/\"'<>\\`]|^[^:]*[?#]")
_BEARER = Lazy(rb"bearer(?:[ \t]{1,8}|%20|\+)(?:\\*[\"'])?([A-Za-z0-9._~+/=-]{8,8192})", re.IGNORECASE)
_BASIC = Lazy(rb"basic(?:[ \t]{1,8}|%20)([A-Za-z0-9+/]{8,4096}={0,2})", re.IGNORECASE)
_NO_MAIL_ENDINGS = words(
    "png jpg jpeg gif webp svg avif ico css scss js mjs cjs jsx ts tsx json yaml yml toml lock service "
    "socket timer mount target slice scope device swap html htm map patch diff txt log whl tar gz zip tgz "
    "conf cfg ini py latest setter getter"
)
_COMMON_ENDINGS = words(
    "com org net edu gov mil int info biz dev app io ai local internal corp lan test example invalid "
    "localdomain home name pro xyz online site store tech cloud email agency engineering systems "
    "solutions group company mobi travel museum shop blog live news media studio design digital software "
    "network tools games world global eu"
)
_VERSION = Lazy(rb"v?[0-9]+\.[0-9x]")
_REMOTE_PATH = Lazy(rb":(?:[~/.]|[\w.-]{1,64}/|[\w-]{1,40}\.git)")
_REMOTE_COMMAND = Lazy(
    rb"(?:^|[^\w-]|\\[nrt]|\\[xuU][0-9a-f]{2,8})(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id|autossh|sshfs)\s[^\n"
    rb"|;&\"']{0,80}$"
)


def find_addresses(scan: SearchedText) -> None:
    """Note the e-mail addresses, and the passwords in the addresses of servers."""
    text = scan.bytes
    at = text.find(b"@")
    while at >= 0:
        if text[at + 1 : at + 2] == b"@":
            at = _ATS.match(text, at).end() - 1  # type: ignore[union-attr]
        nxt = at + 1
        if text[at - 1] in _NO_ADDRESS:
            at = text.find(b"@", nxt)
            continue
        scheme = text.rfind(b"://", max(0, at - 400), at)
        if scheme > 0 and scan.words[scheme - 1] == 32:
            scheme = -1  # no scheme before the slashes
        if scheme > 0 and not _AUTHORITY_END.search(text[scheme + 3 : at]):
            nxt = _userinfo(scan, scheme + 3, at)
        elif at and text[at - 1] != 64:
            nxt = _email(scan, at) or nxt
        at = text.find(b"@", nxt)
    at = text.find(b"%40") if b"%" in text else -1
    while at >= 0:
        _email(scan, at, 3)
        at = text.find(b"%40", at + 3)


def _userinfo(scan: SearchedText, start: int, at: int) -> int:
    """user:password@ of a URL, up to the last @ of its authority."""
    text = scan.bytes
    more = _MORE_AUTHORITY.match(text, at + 1)
    end = more.end() - 1 if more else at
    parts = _AUTHORITY.fullmatch(text, start, end)
    if parts:
        secret = scan.text[parts.start(2) : end]
        if (
            secret
            and secret.lower() not in _NAMES
            and not is_template(secret)
            and not PLACEHOLDER.match(secret)
        ):
            scan.spans.append((parts.start(2), end, "secret", 0, ""))
    elif end - start >= 20 and is_secret(WEAK, scan.text[start:end], QUERY):
        scan.spans.append((start, end, "secret", 0, ""))
    return end + 1


def _email(scan: SearchedText, at: int, width: int = 1) -> int | None:
    text = scan.bytes
    domain = _DOMAIN.match(text, at + width)
    cut = None if domain else _CUT_DOMAIN.match(text, at + width)
    if not domain and not cut:
        return None
    local = _LOCAL_PART_BACKWARDS.match(text[max(0, at - 64) : at][::-1])
    if not local:
        return None
    start = at - local.end()
    if start and text[start - 1] in b"\\%":
        glued = GLUED_ESCAPE.match(text, start)
        start = glued.end() if glued else start
    while start < at and text[start] in b".%+-":
        start += 1
    if start >= at:
        return None
    if cut:
        if at - start > 2 and (cut.group(2) != b"?" or scan.text[cut.end(1)] == "…"):
            scan.spans.append((start, cut.end(1), "email", 0, ""))
        return None
    after = text[domain.end() : domain.end() + 40]
    before = text[max(0, start - 100) : start]
    if not is_email(text[start:at], domain.group(), before, after):
        return domain.end()
    scan.spans.append((start, domain.end(), "email", 0, ""))
    return domain.end()


def find_schemes(scan: SearchedText) -> None:
    """Bearer and Basic credentials outside of an Authorization header."""
    for needle, pattern, wanted in (
        (b"bearer", _BEARER, is_bearer), (b"basic", _BASIC, is_basic),
    ):  # fmt: skip
        at = scan.low.find(needle)
        while at >= 0:
            match = pattern.match(scan.bytes, at)
            if match and wanted(match.group(1).decode()):
                scan.spans.append((*match.span(1), "secret", 0, ""))
            at = scan.low.find(needle, match.end() if match else at + 5)


def is_email(local: bytes, domain: bytes, before: bytes, after: bytes) -> bool:
    """Whether local@domain is the address of a person: no package version, remote path or matrix product.

    `before` and `after` are the text around it, some dozens of characters of each.
    """
    labels = domain.split(b".")
    ending = labels[-1].decode("latin-1")
    if len(labels) < 2 or not ending.isalpha() or len(ending) < 2 or _VERSION.match(domain):
        return False
    if ending != ending.lower() and ending != ending.upper():
        return False
    ending = ending.lower()
    if ending in _NO_MAIL_ENDINGS and not (len(ending) == 2 and len(labels) > 2):
        return False
    if local in (b"git", b"hg", b"svn") or _REMOTE_PATH.match(after):
        return False
    if after[:1] in (b"(", b"[", b"_", b"=") or (before[-1:] in (b"/", b"@") and not before.endswith(b"//")):
        return False
    if len(ending) > 2 and ending not in _COMMON_ENDINGS and (len(local) < 3 or len(labels[-2]) < 3):
        return False
    return not _REMOTE_COMMAND.search(before)
