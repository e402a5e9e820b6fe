"""Read the value that stands beside the name of a secret field, and note it when it is a secret."""

from __future__ import annotations

import re

from .patterns import PLACEHOLDER, Lazy
from .searched_text import SearchedText, plain
from .secret_names import (
    AUTHORIZATION,
    COOKIE,
    PARAMETER_SCHEMES,
    PASSWORD,
    SCHEME,
    SCHEMES,
    TOKEN,
    WEAK,
    number_is_secret,
)
from .secret_values import ENV, INLINE, JSON, LINE, QUERY, QUOTED, is_prose, is_secret, is_template

_AUTH_PAIR = Lazy(
    rb"\([ \t]*\\*[\"'][^\"'\\\n]{0,128}\\*[\"'][ \t]*,[ \t]*\\*[\"']([^\"'\\\n]{1,256})\\*[\"'][ \t]*\)"
)
_LINE_BEFORE = Lazy(
    rb"(?:^|[\n\r\"'`]|\\+[nrt])[ \t]*(?:(?:export|set|declare|local|readonly|-x|env|ENV|ARG|[-*+|>#]|//|"
    rb"[0-9]{1,6}[|:\t]|\$env:)[ \t]*){0,4}$"
)

COLOUR = rb"(?:\x1b|\\+(?:x1b|u001[bB]|033|e))\[[0-9;]{0,12}m"
_DOTTED_BACKWARDS = Lazy(rb"(?:\.[\w-]{1,40}){1,6}")
SPACE = Lazy(rb"[ \t]*(?:\*\*|__|!![a-z]{1,8}|" + COLOUR + rb")?[ \t]*")
JSON_SPACE = Lazy(rb"(?:\s|\\+[nrt]){0,256}")
_LITERAL_END = Lazy(rb"(?<!\\)\\*[\"'](?=[\s,)\]}:;]|\Z)")
_LITERAL_NEXT = Lazy(rb"\\*[\"'](?:[\s,)\]}:;]|\Z)")
OPEN_QUOTE = Lazy(rb"(?:[bBrRuUfF]{1,2}(?=\\*[\"']))?(\\*)([\"'`])")
# A backslash that belongs to the value; or a character beyond ASCII, as it stands in JSON and in programs.
_NO_ESCAPE = (
    rb"\\+(?:(?![nrtbfuUxva0e\"'`\\/\s,;&|<>()\[\]{}])"
    rb"|u(?!00[0-7])[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|x[89a-fA-F][0-9a-fA-F])"
)


def _bare(chars: bytes) -> bytes:
    return rb"%b{0,512}(?:%b%b{0,512}){0,8}" % (chars, _NO_ESCAPE, chars)


LINE_VALUE = Lazy(
    rb"("
    + _bare(rb"[^\s\x00-\x1f\"'`\\]")
    + rb")[ \t]*(?:[ \t]#[^\r\n\\\"']{0,512})?(?=[\r\n]|\\+[nr]|\\*[\"'`]|\Z)"
)
ENV_VALUE = Lazy(_bare(rb"[^\s\x00-\x1f\"'`\\]"))
FLAG_VALUE = Lazy(_bare(rb"[^\s\x00-\x1f\"'`\\;&|<>()]"))
INLINE_VALUE = Lazy(_bare(rb"[^\s\x00-\x1f\"'`\\,;&|<>()\[\]{}]"))
_NON_ASCII_ESCAPE = Lazy(r"(?<!\\)(\\+)(?:u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|x[0-9a-fA-F]{2})")
_WIDE_ESCAPE = Lazy(rb"\\+(?:u(?!00)[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5})$")
_ELLIPSIS = Lazy(rb"\.\.\.$|\\+u2026$")
_CALL = Lazy(rb"[A-Za-z_$&*][\w.:]*[(\[](?![^()\[\]]{0,64}[)\]]\w)")
_QUERY_VALUE = Lazy(rb"[^\s&\"'<>\\#`;,)\]}|]{1,4096}")
_MORE_VALUE = Lazy(rb"[A-Za-z0-9+/=_.~-]*")
_AFTER_VALUE = Lazy(rb"\s*(?:\\|[,}\]:;)\"']|\Z)")
_BLOCK_VALUE = Lazy(  # YAML: the line below | or >
    rb"[|>][+-]?[0-9]?[ \t]*(?:[\r\n]|\\+[nr]){1,4}[ \t]+"
    rb"([^\s\"'`\\:]{4,512})(?=[ \t]*(?:[\r\n]|\\+[nr\"']|[\"']|\Z))"
)
_NESTED_VALUE = Lazy(rb"\{(?:\s|\\+[nrt]){0,64}\\*[\"'][vV]alue\\*[\"'][ \t]*:[ \t]*(?=\\*[\"'])")
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
_BARE_BLOCK = Lazy(r"(?:\s|\\+[nr])*(-----BEGIN [^-]*-----.*?-----END [^-]*-----)(?:\s|\\+[nr])*", re.DOTALL)


def value_after_sign(
    scan: SearchedText, name: str, name_text: str, start: int, assign: re.Match[bytes]
) -> int:
    """Read the value behind the sign that `assign` matched; up to which offset that settles the name."""
    text = scan.bytes
    quote, sign = assign.groups()
    after_sign = assign.end()
    form = JSON if quote and sign in (b":", b"=>") else QUOTED
    at = (JSON_SPACE if form == JSON else SPACE).match(text, after_sign).end()
    opening = OPEN_QUOTE.match(text, at)
    if opening:
        if sign in (b"==", b"===", b"!=", b"!==") and name != PASSWORD:
            return 0
        same = form == JSON and quote == opening.group(1) + opening.group(2)
        return quoted_value(scan, name, opening, form, same)
    if form == JSON:
        number = _NUMBER.match(text, at)
        if number:
            if number.group().lstrip(b"-").isdigit() and number_is_secret(name_text, number.group()):
                added = (quote or b"").decode()
                scan.spans.append((at, number.end(), "secret", 0, added))
            return number.end()
        if text[at : at + 1] == b"[":
            return _list_value(scan, name, at + 1)
        nested = _NESTED_VALUE.match(text, at)
        if nested:
            opening = OPEN_QUOTE.match(text, nested.end())
            return quoted_value(scan, name, opening, JSON) if opening else 0
    if quote and form != JSON:
        return 0
    if name == COOKIE:
        cookies = _COOKIES.match(text, at)
        if cookies and not is_template(scan.text[at : cookies.end()]):
            scan.spans.append((*cookies.span(), "cookie", 0, ""))
            return cookies.end()
        return 0
    if name == AUTHORIZATION:
        return _authorization(scan, at)
    if sign in (b"==", b"===", b"!=", b"!=="):
        return 0
    block = _BLOCK_VALUE.match(text, at) if sign == b":" and text[at : at + 1] in b"|>" else None
    if block:
        return add(scan, name, *block.span(1), LINE, 0)
    return _bare_value(scan, name, name_text, start, after_sign, at, sign)


def _bare_value(
    scan: SearchedText, name: str, name_text: str, start: int, sign_end: int, at: int, sign: bytes
) -> int:
    text = scan.bytes
    flag = text.startswith(b"--", start)
    if sign == b":" and text[start - 2 : start] == b"${":  # ${PASSWORD:?must be set}, ${PASSWORD:-default}
        if text[at : at + 1] in b"?+":
            return 0
        at += text[at : at + 1] == b"-"
    if text[at : at + 1] in b"[{(<":
        pair = _AUTH_PAIR.match(text, at) if name == WEAK and name_text.lower() == "auth" else None
        return add(scan, PASSWORD, *pair.span(1), QUOTED, 1) if pair else 0
    before = text[start - 1] if start else 10
    if sign == b"=" and (scan.follows(start, "?&") or text[start - 5 : start] == b"&amp;"):
        value, form = _QUERY_VALUE.match(text, at), QUERY
    elif sign == b"=" and name_text.isupper() and at == sign_end:
        value, form = ENV_VALUE.match(text, at), ENV
    else:
        value, form = LINE_VALUE.match(text, at), LINE
        if (
            not value
            or not _stands_in_a_line(text, start, sign_end == at and sign == b"=")
            or value.group(1)[-1:] in b",;)"
            or _CALL.match(value.group(1))
        ):
            value, form = (FLAG_VALUE if flag else INLINE_VALUE).match(text, at), INLINE
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
    end = _trimmed(scan, at, end, form)
    if end <= at:
        return 0
    if form in (INLINE, LINE) and (text[end : end + 1] in b"([" and text[end : end + 1]):
        return 0
    if form == INLINE and text[end - 1] in b"$%@#" and text[end : end + 1] == b"{":
        return 0
    if value.end() - at >= 512 and value.end() == end:
        if not is_secret(name, scan.text[at:end], form):
            return 0  # its head decides: each of many names must not read to the end of the text
        end = _MORE_VALUE.match(text, value.end()).end()  # type: ignore[union-attr]
    return add(scan, name, at, end, form, 0)


def _stands_in_a_line(text: bytes, start: int, property_: bool) -> bool:
    """Whether the name at `start` begins its line; `property_`: or ends a dotted name, app.db.password=x."""
    if property_ and text[start - 1 : start] == b".":
        dotted = _DOTTED_BACKWARDS.match(text[max(0, start - 80) : start][::-1])
        start -= dotted.end() if dotted else 0
        if text[start - 1 : start] == b"\\":  # the n of an escaped newline
            start += 1
    return _LINE_BEFORE.search(b"\n" * (start < 24) + text[max(0, start - 24) : start]) is not None


def _trimmed(scan: SearchedText, at: int, end: int, form: str) -> int:
    """Where a bare value ends, without the punctuation and the mark of a truncation that follow it.

    A character beyond Latin-1 (a ? in the bytes) at the end is no part of the value within a sentence.
    """
    text = scan.bytes
    ends = b",;)&|]}" if form in (ENV, LINE) else b".,:;?!*_"
    while end > at:
        wide = _WIDE_ESCAPE.search(text, max(at, end - 14), end) if form == INLINE else None
        if wide:
            end = wide.start()
        elif text[end - 1] in ends and not _closes(text, at, end):
            end -= 1
        else:
            break
    while end > at:
        cut = _ELLIPSIS.search(text, max(at, end - 9), end)
        if scan.text[end - 1] == "…":
            end -= 1
        elif cut:
            end = cut.start()
        else:
            break
    return end


def _closes(text: bytes, at: int, end: int) -> bool:
    """Whether the last character closes a bracket that the value opens: ${{secrets.TOKEN}}."""
    opening = {125: b"{", 93: b"[", 41: b"("}.get(text[end - 1])
    return opening is not None and text.count(opening, at, end) >= text.count(text[end - 1 : end], at, end)


def quoted_value(
    scan: SearchedText, name: str, opening: re.Match[bytes], form: str, same: bool = False
) -> int:
    """`same`: name and value have the same quotes, so this one is sure to open, not to close, a text."""
    text = scan.bytes
    start, depth, quote = opening.end(), len(opening.group(1)), opening.group(2)
    if quote == b"`" and text.startswith(b"``", start):  # a fence of Markdown
        return 0
    if not depth and text.startswith(quote * 2, start):  # triple quotes
        start += 2
        end = text.find(quote * 3, start, start + 32768)
        closed = end >= 0
    else:
        end, closed = _closing_quote(scan, start, quote, depth)
    if not closed:  # the text was cut; or it stands in a literal that ends on this line
        line = text.find(b"\n", start, start + 4096)
        end = min(i for i in (end, line, len(text)) if i >= 0)
        literal = _LITERAL_END.search(text, start, end)
        end = literal.start() if literal else end
        if text[start : start + 1] in (b",", b";", b":", b")", b"]", b"}"):
            return 0
    if PLACEHOLDER.match(scan.text, start) or _LITERAL_NEXT.match(text, start):
        return 0
    if end <= start or (not same and (text[start] in b" \t,;:)]}+\n\r" or _blank_at(text, start, depth))):
        return 0
    if name == COOKIE and form != JSON and b"=" not in text[start:end]:
        return 0
    return add(scan, name, start, end, form, (depth + 1).bit_length())


def _blank_at(text: bytes, start: int, depth: int) -> bool:
    """Whether an escaped line end or tab stands there, within a text whose quotes have `depth` backslashes.

    JSON within JSON escapes a quote by 1, 3, 7 backslashes where it escapes a line end by 1, 2, 4.
    """
    slashes = (depth + 1) // 2
    letter = text[start + slashes : start + slashes + 1]
    return depth > 0 and text.startswith(b"\\" * slashes, start) and letter in (b"n", b"r", b"t")


def _closing_quote(scan: SearchedText, start: int, quote: bytes, depth: int) -> tuple[int, bool]:
    """Where the text quoted behind `depth` backslashes that starts at `start` ends, and if it does."""
    text, at = scan.bytes, start
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


def _list_value(scan: SearchedText, name: str, at: int) -> int:
    text = scan.bytes
    while True:
        item = _LIST_ITEM.match(text, at)
        if not item:
            return at
        at = item.end()
        if item.group(2):
            end, closed = _closing_quote(scan, at, item.group(2), len(item.group(1)))
            if not closed or _LITERAL_NEXT.match(text, at):
                return at
            add(scan, name, at, end, JSON, (len(item.group(1)) + 1).bit_length())
            at = end + len(item.group(1)) + 1


def _authorization(scan: SearchedText, at: int) -> int:
    """A header written out: scheme and credentials up to a quote, an escape or the end of the line."""
    text = scan.bytes
    line = _HEADER_LINE.match(text, at)
    if not line:
        return 0
    value = scan.text[at : line.end()].rstrip()
    scheme = SCHEME.match(value)
    if scheme and scheme.group(1).lower() in PARAMETER_SCHEMES:
        parameters = _PARAMETERS.match(text, at + scheme.end())
        if parameters:
            scan.spans.append((*parameters.span(), "secret", 0, ""))
            return parameters.end()
    start = scheme.end() if scheme else 0
    word = value[start:].split(" ", 1)[0].rstrip(",;.…")
    if "<redacted:" in word:
        return 0
    if scheme and scheme.group(1).lower() in SCHEMES:
        prose = _WORDS_FOLLOW.match(value, start + len(word)) and word.isalpha()
        if not word or prose or is_template(word) or is_prose(word):
            return 0
    elif not is_secret(TOKEN, word, INLINE):
        return 0
    return add(scan, AUTHORIZATION, at + start, at + start + len(word), JSON, 0)


def add(scan: SearchedText, name: str, start: int, end: int, form: str, levels: int) -> int:
    value = scan.text[start:end]
    head, tail = secret_part(value, name)
    secret = value[head:tail]
    if not levels and "\\" in secret:
        escape = _NON_ASCII_ESCAPE.search(secret)
        levels = len(escape.group(1)).bit_length() if escape else 0
    if "<redacted:" in secret or not is_secret(name, plain(secret, levels) if levels else secret, form):
        return 0
    if name == TOKEN and (
        _LOGPROB_AFTER.match(scan.bytes, end)
        or _LOGPROB_BEFORE.search(scan.bytes[max(0, start - 80) : start])
    ):
        return 0
    block = _BARE_BLOCK.fullmatch(secret) if "PRIVATE KEY" in secret else None
    if block and start + head + block.start(1) in scan.blocks:
        return end
    kind = "cookie" if name == COOKIE else "secret"
    scan.spans.append((start + head, start + tail, kind, levels, ""))
    return end


def secret_part(value: str, name: str) -> tuple[int, int]:
    """Where the secret stands in the value of a field: behind a scheme such as Bearer."""
    if name in (TOKEN, AUTHORIZATION, WEAK):
        scheme = SCHEME.match(value)
        if scheme and (name == AUTHORIZATION or scheme.group(1).lower() in SCHEMES):
            return scheme.end(), len(value)
    return 0, len(value)
