"""The texts of YAML: which type a plain one has, what a quoted one holds, how lines of one are joined."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

_BOOLS = {
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*)")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|(?<![-+])\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
)
_TIME = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?"
)
_ESCAPES = {
    **dict(zip('0abtnvfre "/\\', '\0\a\b\t\n\v\f\r\x1b "/\\', strict=True)),
    "\t": "\t",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEX = {"x": 2, "u": 4, "U": 8}


class Broken(ValueError):
    """No YAML: PyYAML refuses it too."""


class Unsupported(ValueError):
    """It may be YAML, and this reader does not know the construct."""


def resolved(text: str) -> Any:
    """A plain text as the type YAML 1.1 takes it for."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        return _number(text)
    if _FLOAT.fullmatch(text):
        return _decimal(text)
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text)
    except ValueError as error:
        raise Broken(f"{text!r}: {error}") from None
    if _TIME.fullmatch(text):
        return datetime(*(int(part) for part in re.findall(r"\d+", text)[:6]))
    if text == "=":
        raise Unsupported("the default value `=`")
    return text


def _number(text: str) -> int:
    plain = text.replace("_", "")
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    if digits.startswith(("0b", "0x")):
        if len(digits) == 2:
            raise Broken(f"{text!r} is no number")
        return sign * int(digits, 0)
    if digits.startswith("0") and digits != "0":
        return sign * int(digits, 8)
    total = 0
    for part in digits.split(":"):
        total = total * 60 + int(part)
    return sign * total


def _decimal(text: str) -> float:
    plain = text.replace("_", "").lower()
    sign = -1.0 if plain.startswith("-") else 1.0
    digits = plain.lstrip("+-")
    if digits == ".inf":
        return sign * float("inf")
    if digits == ".nan":
        return float("nan")
    total = 0.0
    for part in digits.split(":"):
        total = total * 60 + float(part)
    return sign * total


def closing(text: str, mark: str) -> int | None:
    """Where the quotation that `text` is in ends."""
    index = 0
    while index < len(text):
        if mark == '"' and text[index] == "\\":
            index += 2
            continue
        if text[index] == mark:
            if mark == "'" and text[index + 1 : index + 2] == "'":
                index += 2
                continue
            return index
        index += 1
    return None


def folded_lines(lines: list[str], mark: str) -> str:
    """The lines of a quotation as one text: a break is a blank, an empty line a break."""
    text = lines[0]
    empty = 0
    for number, line in enumerate(lines[1:], 1):
        stripped = line.strip() if number < len(lines) - 1 else line.lstrip()
        if not stripped and number < len(lines) - 1:
            empty += 1
            continue
        if mark == '"' and re.search(r"\\[ \t]+$", text):
            raise Unsupported("an escaped blank at the end of a line")
        if mark == '"' and re.search(r"(?<!\\)(?:\\\\)*\\$", text):
            text = text + "\n" if empty else text[:-1] + stripped
        else:
            text = text.rstrip(" \t") + ("\n" * empty if empty else " ") + stripped
        empty = 0
    return text


def folded(lines: list[str]) -> str:
    """The lines of a `>` block: those at its indent flow together, those indented further stand alone."""
    text, empty, before = "", 0, None
    for line in lines:
        if not line:
            empty += 1
            continue
        more = line[0] in " \t"
        if before is None:
            text = "\n" * empty + line
        elif more or before:
            text += "\n" * (empty + 1) + line
        else:
            text += ("\n" * empty if empty else " ") + line
        before, empty = more, 0
    return text


def unquoted(raw: str, mark: str) -> str:
    if mark == "'":
        return raw.replace("''", "'")
    parts, index = [], 0
    while index < len(raw):
        character = raw[index]
        if character != "\\":
            parts.append(character)
            index += 1
            continue
        code = raw[index + 1 : index + 2]
        if code in _HEX:
            digits = raw[index + 2 : index + 2 + _HEX[code]]
            if not re.fullmatch(rf"[0-9a-fA-F]{{{_HEX[code]}}}", digits) or int(digits, 16) > 0x10FFFF:
                raise Broken(f"\\{code}{digits} is no character")
            parts.append(chr(int(digits, 16)))
            index += 2 + _HEX[code]
        elif code in _ESCAPES:
            parts.append(_ESCAPES[code])
            index += 2
        elif code == "\n":
            raise Unsupported("an escaped break before an empty line")
        else:
            raise Broken(f"unknown escape \\{code}")
    return "".join(parts)
