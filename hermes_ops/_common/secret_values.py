"""Values that look like secrets, and those that only stand where one could: templates, paths, names."""

from __future__ import annotations

import re

from .patterns import Lazy
from .secret_names import (
    AUTHORIZATION,
    BARE_PASS,
    COOKIE,
    PASSWORD,
    SCHEMES,
    TOKEN,
    WEAK,
    name_class,
    words,
)

# How a value stands beside its name.
JSON, QUOTED, CALL, ENV, LINE, QUERY, INLINE = "json", "quoted", "call", "env", "line", "query", "inline"

_TEMPLATE = Lazy(
    r"\$\{?[A-Z_][A-Z0-9_.:-]*\}?|\$\(.*|\$[0-9@*#?]|`.*`|%[A-Za-z_]\w*%|%env\(.*\)%"
    r"|(?:[:@/ ]?%\(?\w*\)?[sdr])+"
    r"|\{\{.*\}\}|\$\{.*\}|#\{.*\}|\{[A-Za-z_][\w.\[\]\"'()!:]*\}|(?:[:@/ ]?\{\})+|(?:[:@/ ]?<[^<>]*>)+"
    r"|\[[A-Za-z_. -]+\]"
    r"|:[a-z_]+|\?|[*•.…_#xX-]{3,}|ENC\[.*|!(?:vault|secret|Ref|Sub|GetAtt|env|ENV|lookup|reference)\b.*"
    r"|\{cipher\}.*|&[a-z_]+"
    r"|(?:process\.env|os\.environ|os\.getenv|import\.meta\.env|ENV|env|vars|secrets|var|local|module"
    r"|data)[.(\[].*",
    re.DOTALL,
)
_LOWER_VARIABLE = Lazy(r"\$[a-z]\w*")
_TEMPLATE_PART = Lazy(
    r"\$\{[^{}]*\}|\$?\{\{[^{}]*\}\}|\$\([^()]*\)|\$[A-Z_][A-Z0-9_]*|\{[A-Za-z_][A-Za-z_.]*\}"
)
_NOTHING = words(
    "none null nil undefined true false yes no on off str string int integer bool boolean number float "
    "bytes text any object array list dict void uuid varchar char optional required secretstr n/a na tbd "
    "todo changeme change-me change_me replaceme replace-me replace_me placeholder example dummy redacted "
    "password passwort passwd "
    "masked hidden removed include omit same-origin unset empty not-set missing unknown"
)
_PLACEHOLDER = Lazy(
    r"your[-_. ].*|(?-i:[Yy]our[A-Z][A-Za-z]*|YOUR[A-Z]+)"
    r"|(?:insert|replace|enter|paste|put|change)[-_ ](?:me|your|with|the"
    r"|this)\b.*"
    r"|.*[-_ ]here|<[a-z_ -]+|[A-Z_-]{0,24}x{6,}[-x*.…_ ]*\w{0,8}"
    r"|[A-Z]{2,12}[-_](?:[A-Z]{2,12}[-_])?|x{4,}[-x*.…_ ]*\w{0,6}|.*\*{3,}|(?:\["
    r"|\()?redacted.*|\([a-z ]*\)",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE_NAME = Lazy(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS|ID)"
)
_PATH = Lazy(
    r"(?:~|\.{0,2})/(?:[a-z0-9._@-]+/)*[A-Za-z0-9._-]*|[\w./-]+\.(?:pem|key|json|txt|crt|ya?ml)|file:.*"
)
_SOME_PATH = Lazy(r"(?:~|\.{1,2})/[\w./-]+|/[\w.-]+/[\w./-]+")
_VERSION_RANGE = Lazy(r"[\^~<>=v ]{0,4}[0-9]+(?:\.[0-9x*]+){1,2}(?:[-+.][\w.-]{1,24})?")
_REFERENCE = Lazy(r"(?:op|vault|ssm|arn|awssm|env|file|keyring|ref\+\w+):[\w/][\w/.#:@-]*|projects/[\w/.-]+")
_COLOR = Lazy(r"#[0-9a-fA-F]{3,8}")
_CONSTANT = Lazy(r"[A-Z]+(?:_[A-Z]+)+")
_URL = Lazy(r"(?:https?|op|vault|ssm|arn|gcp|aws|awssm|env|file|secret|keyring|ref\+\w+):/{0,2}[^\s@]*")
_IDENTIFIER = Lazy(r"[A-Za-z_$&*@][A-Za-z_]*[0-9]{0,2}")
_CHAIN = Lazy(
    r"[A-Za-z_$&*@!]+[0-9]{0,3}[A-Za-z_]*[0-9]{0,2}(?:(?:\.|->|::|\?\.)[A-Za-z_]+[0-9]{0,3}[A-Za-z_]*)+!?"
)
_SNAKE_OR_CAMEL = Lazy(
    r"[a-z]+(?:_[a-z]+)+[0-9]?|[a-z]+(?:[A-Z][a-z]+)+[0-9]?|[A-Z][a-z]+(?:[A-Z][a-z]+)*|[A-Z_]+"
)
_CODE_WORDS = Lazy(
    r"pass|pw|tok|secret|key|cred|auth|user|val|arg|param|input|str|config|conf|opt|default|hash|name|env"
    r"|data|form"
    r"|req|res|self|row|field|type|hidden|incorrect|wrong|expired|invalid|disabled|enabled|denied|sent"
    r"|generat|manag"
    r"|prompt|must|should|reset|change|forgot|login|session|basic|bearer|oauth|saved|stored|encrypt|plain"
    r"|protect|set",
    re.IGNORECASE,
)
_HYPHENATED = Lazy(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_ALGORITHM = Lazy(
    r"(?:sha|md|hs|rs|es|base|utf|x|aes|oauth|v|ed|rsa|http|ipv|s|ec|p)-?_?[0-9]{1,5}", re.IGNORECASE
)
_LABEL = Lazy(
    r"(?:your|enter|must|please|the|password|passwort|token|secret|key|api|is|for|a|required)\b",
    re.IGNORECASE,
)
_UUID_OR_DIGITS = Lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\d.,:/_+-]+")
_RANDOM_PART = Lazy(r"(?=[A-Za-z+/=_]{0,40}[0-9])[A-Za-z0-9+/=_%]{10}")
_LETTER, _DIGIT = Lazy(r"[A-Za-z]"), Lazy(r"[0-9]")


LONGEST_JUDGED = 1024


def is_secret(name: str, value: str, form: str) -> bool:
    """Whether `value` is a secret, given the class of its field's name and the form in which it stands there.

    JSON: the name is quoted, as in structured data; there any value counts that is no template, type name or
    placeholder. The other forms occur in code and prose too, so the value has to look like one.
    """
    value = value[:LONGEST_JUDGED]  # what is longer is judged by its head, in bounded time
    if not value.strip() or is_template(value):
        return False
    if name == WEAK:
        if form == INLINE:
            return False
        return (
            _looks_random(value, 16)
            and _RANDOM_PART.search(value) is not None
            and (form != QUERY or not _UUID_OR_DIGITS.fullmatch(value))
        )
    if name == BARE_PASS and (value.isdigit() or " " in value or form in (LINE, INLINE, QUOTED)):
        return _looks_random(value, 6 if form == QUOTED else 8)
    if _REFERENCE.fullmatch(value) or (name == COOKIE and _CHAIN.fullmatch(value)):
        return False
    if name != PASSWORD:
        if value.isalpha() and value.lower().endswith("token"):
            return False  # the name of another field
        if _VARIABLE_NAME.fullmatch(value) or _PATH.fullmatch(value) or _URL.fullmatch(value):
            return False
        if _COLOR.fullmatch(value) or _VERSION_RANGE.fullmatch(value) or value.strip().lower() in SCHEMES:
            return False
        if "_" in value and value.islower() and name_class(value) == TOKEN and not _DIGIT.search(value):
            return False  # the name of another field
    elif form != JSON and (_VARIABLE_NAME.fullmatch(value) or _SOME_PATH.fullmatch(value)):
        return False
    if form in (JSON, QUERY):
        return True
    if form == QUOTED:
        return _quoted_is_secret(name, value)
    if form == CALL:
        return _looks_random(value, 6) or (name in (AUTHORIZATION, COOKIE) and len(value) >= 6)
    if form == ENV:
        if name == PASSWORD:
            return not value.endswith("()") and not (value.isdigit() and len(value) < 4)
        return len(value) >= 4 and not value.isdigit() and not _CHAIN.fullmatch(value)
    return _bare_is_secret(name, value, form)


def is_telling(name: str, value: str, way: int) -> bool:
    """Whether a value that follows its name without a sign looks like a secret and like nothing else.

    way 1: "the password is x"; 2: a word or a table cell after the name; 3: a quoted word after it; 4: a cell
    of a table, or the next one of a row, after the name of a password or a token.
    """
    digits, upper, lower = _DIGIT.search(value), value.lower() != value, value.upper() != value
    if not digits or not _looks_random(value, 6) or is_template(value):
        return False
    if way == 1:
        return (upper and lower) or re.search(r"[^\w.-]", value.rstrip(".:!?")) is not None
    if way == 2:
        return upper and lower and len(_DIGIT.findall(value)) >= 3 and _RANDOM_PART.search(value) is not None
    if way == 4:
        return len(value) >= 8 and len(_DIGIT.findall(value)) >= 2 and not _VERSION_RANGE.fullmatch(value)
    return name == PASSWORD


def is_template(value: str) -> bool:
    """Whether the value stands for a secret without being one: ${VAR}, {{ x }}, <your-key>, ****."""
    if value.lower() in _NOTHING or _TEMPLATE.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    if len(value) < 3 and not value.isascii() and not any(map(str.isalnum, value)):  # an emoji
        return True
    if _LOWER_VARIABLE.fullmatch(value):
        return _CODE_WORDS.search(value) is not None
    if "{" not in value and "$" not in value:
        return False
    rest = _TEMPLATE_PART.sub("", value)
    return rest != value and (len(rest) < 6 or (len(rest) < 24 and _DIGIT.search(rest) is None))


def _looks_random(value: str, least: int) -> bool:
    return (
        len(value) >= least
        and " " not in value
        and _LETTER.search(value) is not None
        and _DIGIT.search(value) is not None
        and not _PATH.fullmatch(value)
        and not _CHAIN.fullmatch(value)
        and not _ALGORITHM.fullmatch(value)
    )


def _quoted_is_secret(name: str, value: str) -> bool:
    if " " in value:
        return name == PASSWORD and len(value) >= 12 and not _LABEL.search(value)
    if name == PASSWORD:
        return not (value[:1].isupper() and value.isalpha() and _CODE_WORDS.search(value))
    if len(value) < 6 or value[0] in "[(^" or _ALGORITHM.fullmatch(value) or _CONSTANT.fullmatch(value):
        return False
    return (
        (len(value) >= 8 and not _IDENTIFIER.fullmatch(value)) or _looks_random(value, 6) or len(value) >= 20
    )


def _bare_is_secret(name: str, value: str, form: str) -> bool:
    if _CHAIN.fullmatch(value) or _ALGORITHM.fullmatch(value):
        return False
    if value.isdigit():
        return name == PASSWORD and len(value) >= 4
    if not _IDENTIFIER.fullmatch(value):
        if _LETTER.search(value) is None:
            return name == PASSWORD and len(value) >= 6 and not _UUID_OR_DIGITS.fullmatch(value)
        if name == PASSWORD:
            if form == INLINE and _HYPHENATED.fullmatch(value):
                return False
            return len(value) >= 4 and (_DIGIT.search(value) is not None or form == LINE or len(value) >= 8)
        if form == INLINE and len(value) < 24 and len(_DIGIT.findall(value)) < 2:
            return False
        return _looks_random(value, 6)
    if name != PASSWORD or _SNAKE_OR_CAMEL.fullmatch(value) or _CODE_WORDS.search(value):
        return False
    return len(value) >= 4 and (form == LINE or value[-1].isdigit())


_PROSE = words(
    "authentication auth token tokens scheme header headers credentials credential is and or the a an of "
    "for with required format string type authorization access in value jwt api key not must to from as "
    "method flow"
)


def is_prose(word: str) -> bool:
    """Whether the word after `Bearer` or the like is part of a sentence."""
    return word.lower().rstrip(".,;:") in _PROSE


def is_bearer(value: str) -> bool:
    """Whether what follows `Bearer` in a text is a token."""
    return len(value) >= 12 and _looks_random(value, 12) and not is_template(value)


def is_basic(value: str) -> bool:
    """Whether what follows `Basic` in a text is name:password in base64."""
    import binascii

    try:
        return b":" in binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
