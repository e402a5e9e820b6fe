"""Search a text for names of secret fields, and have the value read that each of them stands beside."""

from __future__ import annotations

from .patterns import PLACEHOLDER, Lazy
from .read_values import (
    COLOUR,
    ENV_VALUE,
    FLAG_VALUE,
    JSON_SPACE,
    LINE_VALUE,
    OPEN_QUOTE,
    SPACE,
    add,
    quoted_value,
    value_after_sign,
)
from .searched_text import GLUED_ESCAPE, SearchedText
from .secret_names import PASSWORD, TOKEN, name_class, query_name_class
from .secret_values import CALL, ENV, INLINE, JSON, LINE, QUERY, QUOTED, is_telling

# Parts of the names of secret fields, and the lower-case letters that may follow one within its word.
_STEMS = ((b"pass", b"wpc"), (b"pw", b"d"), (b"secret", b""), (b"token", b"s"), (b"key", b"s"),
          (b"credential", b"s"), (b"cookie", b"s"), (b"auth", b"o"), (b"pin", b""))  # fmt: skip
_KEY_AFTER = (b"api ", b"ess ", b"ret ")  # API key, access key, secret key
_PLURALS = (b"api", b"ess", b"uth", b"esh")  # api_tokens, access_tokens, auth_tokens, refresh_tokens
_NAME_END = frozenset(b"\"'`\\]:=%*_ \t\r\n>!(<\x1b")
_ASSIGN = Lazy(
    rb"(\\*[\"'`])?\]?(?:\*\*|__)?(?:" + COLOUR + rb")?[ \t]{0,20}"
    rb"(?::[ \t]*(?:str|String|string|bytes|Final|Optional\[str\]|str[ ]*\|[ ]*None|&(?:'static )?str)[ \t]*"
    rb"(?==[^=]))?"
    rb"(=>|:=|={1,3}|!==?|:(?![:=]))"
)
_QUERY_NAME = Lazy(rb"(?:amp;)?[a-z0-9-]{0,24}(?:sig|signature|code|hmac|sign)(?==)")
_PERCENT_ASSIGN = Lazy(rb"(?:%22)?%3[AaDd](?:%20|\+)?(?:%22)?")
_VALUE_NEXT = Lazy(
    rb"(\\*[\"'`])?(?:[\s,]|\\+[nr]){1,40}"
    rb"(?:\\*\"\w{1,24}\\*\"[ \t]*:[ \t]*\\*\"[^\"\\]{0,64}\\*\",(?:\s|\\+[nr]){0,40})?"
    rb"\\*[\"'`]?(?:[vV]alue|content)\\*[\"'`]?[ \t]*[:=]"
)
_NAME_BEFORE = Lazy(rb"(?:name|key|header|Name|Key)\\*[\"']?[ \t]*[:=][ \t]*\\*[\"']?[\w/.-]{0,40}$")
_CALL_BEFORE = Lazy(rb"\w\([ \t]*\\*[\"']$")
_ROW_BEFORE = Lazy(rb"[\s(\[,]\([ \t]*\\*[\"']$")
_COMMA = Lazy(rb"\\*[\"']\s*,\s*(?=\\*[\"'])")
_TOLD_VALUE = Lazy(  # "the password is x"; a cell of a table or a word after the name; "password 'x'"
    rb"[ \t]+(?:is[ \t]+generated[ \t]+for[ \t]+[^\s:]{1,40}:|(?:is|was)(?:[ \t]+set[ \t]+to)?:?|(?:"
    rb"(?:for|of)[ \t]+[^\s:]{1,40}|\[[^\]\n\\]{0,32}\]):|--body|--value|<<<)[ \t]+"
    rb"(?:\\*[\"'`])?([^\s\"'`\\,;]{6,256})"
    rb"|[ \t]*\|?[ \t]*([A-Za-z0-9+/_=.-]{20,512})(?=[\s|\"']|\\+[nrt\"']|\Z)"
    rb"|[ \t]+\\*[\"'`]([^\s\"'`\\]{6,64})\\*[\"'`]"
)
_TABLE_CELL = Lazy(
    rb"(?:[ \t]{2,64}|[ \t]*\|[ \t]*)([^\s|\"'`\\]{6,256})(?=[ \t]*(?:[|\r\n]|\\+[nr]|[\"']|\Z))"
)
_NEXT_ELEMENT = Lazy(  # <key>PASSWORD</key><string>x</string>, a row of a table
    rb"</(?:key|th|td|dt|name)>(?:\s|\\+[nrt]){0,40}<(?:string|td|dd|value)>([^<>\s\\]{1,4096})</"
)
_ELEMENT = Lazy(rb">([^<\s]{1,4096})</")
_LOGIN_BEFORE = Lazy(rb"login[ \t]+(?:[^\s\\]{1,64}[ \t]+|[\w@.+-]{1,64}[ \t]*(?:\r?\n|\\+n)[ \t]+)$")
_PERCENT_VALUE = Lazy(
    rb"(?:[A-Za-z0-9._~+*!-]|%(?!2[026Cc]|3[BbCcEe]|0[AaDd]|[57][DdBb])[0-9A-Fa-f]{2}){1,4096}"
)


def find_assignments(scan: SearchedText) -> None:
    text, low, words, n = scan.bytes + b" ", scan.low, scan.words, len(scan.low)
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
                if 0 <= end < n and text[end] in _NAME_END and (size > 3 or not _lone_key(scan, at, end)):
                    nxt = max(nxt, _assignment(scan, at, end))
            at = low.find(stem, nxt)
    for sign in "&?":
        at = scan.text.find(sign)  # not in the bytes, where ? stands for every other character
        while at >= 0:
            name = _QUERY_NAME.match(low, at + 1)
            if name:
                _assignment(scan, at + 1, name.end())
            at = scan.text.find(sign, at + 1)


def _assignment(scan: SearchedText, at: int, end: int) -> int:
    """Judge the value of the name around `at` that ends at `end`; up to which offset that settles it."""
    text = scan.bytes
    start = _name_start(scan, at)
    before = text[start - 1] if start else 10
    name_text = scan.text[start:end]
    parameter = scan.follows(start, "?&;") or text[start - 3 : start] in (b"%26", b"%3F", b"%3f")
    name = query_name_class(name_text) if parameter else name_class(name_text)
    if not name and name_text.lower() == "key" and text[start - 4 : start].lower() in _KEY_AFTER:
        name = TOKEN
    if text[start - 3 : start] == b"://":  # the user of a URL
        return 0
    if not name or (before == 58 and PLACEHOLDER.match(scan.text, max(0, start - 10))):
        return 0
    if text[end] in b" \t" and text[end : end + 24].lstrip()[:1] not in b":=!":
        return _unsigned_value(scan, name, start, end)
    assign = _ASSIGN.match(text, end)
    if assign:
        return value_after_sign(scan, name, name_text, start, assign)
    if low_percent := _PERCENT_ASSIGN.match(text, end):
        value = _PERCENT_VALUE.match(text, low_percent.end())
        return add(scan, name, value.start(), value.end(), QUERY, 0) if value else 0
    return _unsigned_value(scan, name, start, end)


def _lone_key(scan: SearchedText, at: int, end: int) -> bool:
    """Whether the name is just `key`, as in most of JSON and of code, and no parameter of a URL."""
    if end - at != 3 or not at or scan.words[at - 1] != 32 or scan.low[at] != 107:
        return False
    return scan.low[at - 1] not in b"?&;" and scan.low[at - 4 : at] not in _KEY_AFTER


def _name_start(scan: SearchedText, at: int) -> int:
    text = scan.bytes
    low = max(0, at - 64)
    start = max(low, scan.words.rfind(b" ", low, at) + 1)
    if start and text[start - 1] in b"\\%":
        glued = GLUED_ESCAPE.match(text, start)
        if glued and glued.end() <= at:
            return glued.end()
    return start


def _unsigned_value(scan: SearchedText, name: str, start: int, end: int) -> int:
    """Values that no sign joins to the name: --password x, <password>x</password>, name and value."""
    text = scan.bytes
    if text[end] in b" \t":
        flag = text.startswith(b"--", start)
        login = flag or (b"login" in text[max(0, start - 80) : start])
        if not flag and not (login and _LOGIN_BEFORE.search(text[max(0, start - 80) : start])):
            told = _TABLE_CELL.match(text, end) if name == PASSWORD else None
            if told and is_telling(name, scan.text[slice(*told.span(1))], 4):
                return add(scan, name, *told.span(1), JSON, 0)
            told = _TOLD_VALUE.match(text, end)
            if told and is_telling(name, scan.text[slice(*told.span(told.lastindex))], told.lastindex):
                return add(scan, name, *told.span(told.lastindex), JSON, 0)
            return 0
        at = SPACE.match(text, end).end()  # type: ignore[union-attr]
        opening = OPEN_QUOTE.match(text, at)
        if opening:
            return quoted_value(scan, name, opening, QUOTED)
        value = (FLAG_VALUE if flag else ENV_VALUE).match(text, at)
        if value and not value.group().startswith(b"-"):
            end = at + len(value.group().rstrip(b",.:]}" if flag else b""))
            return add(scan, name, at, end, INLINE if flag else ENV, 0)
        return 0
    if text[end] == 60:
        value = _NEXT_ELEMENT.match(text, end) if start and text[start - 1] == 62 else None
        return add(scan, name, *value.span(1), QUOTED, 0) if value else 0
    if text[end] == 40:
        setter = scan.text[start:end].lower().startswith(("set", "with")) or text[start - 1 : start] == b"."
        opening = OPEN_QUOTE.match(text, end + 1) if setter else None
        return quoted_value(scan, name, opening, CALL) if opening else 0
    if text[end] == 62:
        value = _ELEMENT.match(text, end) if start and text[start - 1] == 60 else None
        return add(scan, name, *value.span(1), QUOTED if name != PASSWORD else JSON, 0) if value else 0
    pair = _VALUE_NEXT.match(text, end)
    if pair and _NAME_BEFORE.search(text[max(0, start - 56) : start]):
        at = JSON_SPACE.match(text, pair.end()).end()  # type: ignore[union-attr]
        opening = OPEN_QUOTE.match(text, at)
        if opening:
            return quoted_value(scan, name, opening, JSON)
        value = LINE_VALUE.match(text, at)
        return add(scan, name, *value.span(1), LINE, 0) if value else 0
    comma = _COMMA.match(text, end)
    if comma and _CALL_BEFORE.search(text[max(0, start - 12) : start]):
        return quoted_value(scan, name, OPEN_QUOTE.match(text, comma.end()), CALL)
    if comma and _ROW_BEFORE.search(text[max(0, start - 12) : start]):  # a row of SQL, a pair of a list
        opening = OPEN_QUOTE.match(text, comma.end())
        value = scan.text[opening.end() : opening.end() + 256].split(opening.group(2).decode())[0]
        if is_telling(name, value, 4):
            return quoted_value(scan, name, opening, CALL)
    if comma and text[start : start + 2] == b"--":  # the arguments of a program
        return quoted_value(scan, name, OPEN_QUOTE.match(text, comma.end()), CALL)
    return 0
