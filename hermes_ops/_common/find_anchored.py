"""Search a text for secrets known by what stands around them: address, statement, known file."""

from __future__ import annotations

from .patterns import PLACEHOLDER, Lazy
from .searched_text import SearchedText
from .secret_values import is_template

# needle in lower case | kind | characters before it where the pattern starts | pattern; group 1: the secret
_ANCHORED = (
    (b"hooks.slack.com/", "slack-webhook", 0,
     Lazy(rb"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{8,512})")),
    (b"/api/webhooks/", "discord-webhook", 0, Lazy(rb"/api/webhooks/([0-9]{10,24}/[\w-]{16,512})")),
    (b"webhook.office.com/", "teams-webhook", 0, Lazy(rb".{19}webhookb2/([\w@/-]{32,512})")),
    (b"ifttt.com/trigger/", "ifttt-webhook", 0,
     Lazy(rb".{18}[\w-]{1,128}(?:/json)?/with/key/([\w-]{16,128})")),
    (b"identified by", "secret", 0,
     Lazy(rb"(?i:identified by)[ \t]{1,8}(?:(?i:password)[ \t]{1,8})?\\*['\"]"
          rb"(?![A-Za-z_ ]*['\"\\])([^\s'\"\\]{1,256})\\*['\"]")),
    (b"dockerconfigjson", "secret", 0,
     Lazy(rb"dockerconfigjson\\*[\"']?[ \t]*:[ \t]*\\*[\"']?([A-Za-z0-9+/]{20,65536}={0,2})")),
    (b"unseal key ", "vault-unseal", 0, Lazy(rb".{11}[0-9]{1,2}: ?([A-Za-z0-9+/]{40,64}={0,2})")),
    (b":thin:", "secret", 0, Lazy(rb":thin:[\w$#-]{1,64}/([^\s\"'\\/@]{1,128})@")),
    (b"@tcp(", "secret", 128, Lazy(rb"(?s:.){0,128}[\w.-]:([^\s\"'\\`/@:]{1,100})@tcp\(")),
    (b"http cookie file", "cookie", 0, None),
)  # fmt: skip
_AZURE_CLIENT_SECRET = Lazy(rb"[\w~.-]{3}[0-9]Q~[\w~.-]{16,36}")
_PASSWORD_HASH = Lazy(
    rb"\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}"
    rb"|(?:apr)?1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
    rb"|[56y]\$(?:rounds=[0-9]{1,9}\$)?[^\s:$\"'\\]{2,40}\$[./A-Za-z0-9]{40,128})"
)
_COOKIE_LINE = Lazy(
    rb"(?:TRUE|FALSE)(?:\t|\\+t)/[^\s\\]{0,256}(?:\t|\\+t)(?:TRUE|FALSE)(?:\t|\\+t)"
    rb"[0-9]{1,20}(?:\t|\\+t)[^\s\\]{1,256}?(?:\t|\\+t)([^\s\\\"']{1,4096})"
)


def find_anchored(scan: SearchedText) -> None:
    """Note the secrets of webhooks, statements and files that are known by their surroundings."""
    absent = [char for char in (b"/", b"@") if char not in scan.low]  # one character is found in no time
    for needle, kind, back, pattern in _ANCHORED:
        if any(char in needle for char in absent):
            continue
        at = scan.low.find(needle)
        if at >= 0 and pattern is None:
            _add_all(scan, kind, _COOKIE_LINE)
            continue
        while at >= 0:
            match = pattern.match(scan.bytes, max(0, at - back))
            if match:
                _add(scan, kind, *match.span(1))
            at = scan.low.find(needle, at + len(needle))
    at = scan.bytes.find(b"~")
    while at >= 0:
        if scan.bytes[at - 1] == 81 and at > 4:
            match = _AZURE_CLIENT_SECRET.match(scan.bytes, at - 5)
            if match:
                scan.spans.append((*match.span(), "azure-client-secret", 0, ""))
        at = scan.bytes.find(b"~", at + 1)
    for match in _PASSWORD_HASH.finditer(scan.bytes):
        scan.spans.append((*match.span(), "password-hash", 0, ""))


def _add_all(scan: SearchedText, kind: str, pattern: Lazy) -> None:
    for match in pattern.finditer(scan.bytes):
        _add(scan, kind, *match.span(1))


def _add(scan: SearchedText, kind: str, start: int, end: int) -> None:
    secret = scan.text[start:end]
    if not is_template(secret) and not PLACEHOLDER.search(secret):
        scan.spans.append((start, end, kind, 0, ""))
