"""Encoded pieces of a text - base64, hexadecimal, percent signs - read and looked at like the text itself."""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from . import judged
from .document import Document
from .fold import visible
from .instructions import Topic, in_text, limited
from .rules import ERROR, INFO, WARNING, Hit

MAX_PIECES = 60  # of one file
MAX_PIECE = 200_000
MAX_DEPTH = 2

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:[ \t>#*/]*\r?\n[ \t>#*/]*[A-Za-z0-9+/_-]{16,})*={0,2}")
# Neither of base64 nor of an address: letters, numbers and marks without a blank.
_BASE85 = re.compile(
    r"(?<![!-~])(?=[!-~]{0,80}[!#$%&()*;<>?@^`{|}~])(?![!-~]{0,30}://)[!#-&(-~]{40,}(?![!-~])"
)
_SPEAKS = re.compile(r"\s*(?:assistant|agent|system|ai|model|hermes)\s*[:,]", re.IGNORECASE)
_APPLIES = re.compile(
    r"\bdecod\w*\b.{0,80}\b(?:appl\w+|follow\w*|obey\w*|execut\w*|run|carry|do what)\b",
    re.DOTALL | re.IGNORECASE,
)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:]?){16,}")
_ESCAPED = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\[0-7]{3}){12,}|(?:\\u00[0-9a-fA-F]{2}){12,}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){12,}")
_NUMBERS = re.compile(r"(?:\b(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6]|10|9)\b\s*,\s*){16,}\d{1,3}")
_SHELLISH = re.compile(
    r"\b(?:curl|wget|bash|sh|nc|python3?|perl|eval|rm|chmod|cat|base64|powershell|iex|invoke-expression|"
    r"osascript|exec|import|"
    r"require|child_process|os\.system|subprocess|socket)\b",
    re.IGNORECASE,
)


def encoded(page: Document, topic: Topic) -> list[Hit]:
    """What the encoded pieces of a text say once they are decoded; excused in a page about attacks."""
    hits: list[Hit] = []
    is_applied = page.is_page and _APPLIES.search(page.source) is not None
    for line, how, decoded in _pieces(page.source):
        found = _looked_at(page.path, line, how, decoded, 1, is_applied)
        is_example = topic.is_attacks and page.is_page and not page.is_hidden(line)
        hits += (hit.at(INFO) if is_example else hit for hit in found)
    return limited(hits)


def _looked_at(
    path: str, line: int, how: str, decoded: str, depth: int, is_applied: bool = False
) -> Iterator[Hit]:
    said = in_text(decoded)
    if said is not None:
        yield Hit("skill.encoded", ERROR, path, line, f"{how}: {said[0].what}", (visible(decoded),), said[1])
        return
    commands = judged.unseen(path, line, decoded) if _SHELLISH.search(decoded) else []
    grave = [hit for hit in commands if hit.severity in (ERROR, WARNING)]
    if grave:
        yield Hit(
            "skill.encoded", ERROR, path, line, f"{how}: {grave[0].text}", (visible(decoded),), decoded[:200]
        )
        return
    if depth < MAX_DEPTH:
        inner = [
            hit
            for _, then, text in _pieces(decoded)
            for hit in _looked_at(path, line, f"{how}, then {then}", text, depth + 1)
        ]
        if inner:
            yield from inner
            return
    if _SHELLISH.search(decoded) and re.search(r"https?://|[|;&$`]|-[a-z]\b", decoded):
        yield Hit(
            "skill.encoded",
            WARNING,
            path,
            line,
            f"{how}: a command or code",
            (visible(decoded),),
            decoded[:200],
        )
    elif len(re.findall(r"[A-Za-z]{2,}", decoded)) >= 4:
        severity = WARNING if is_applied or _SPEAKS.match(decoded) else INFO
        yield Hit("skill.encoded", severity, path, line, f"{how}: text", (visible(decoded),), decoded[:200])


def _pieces(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, encoding and decoded text of every piece that decodes to text."""
    count = 0
    for how, pattern, decode in (
        ("base64", _BASE64, _from_base64),
        ("hexadecimal", _HEX, _from_hex),
        ("escapes", _ESCAPED, _from_escapes),
        ("percent signs", _PERCENT, unquote_to_bytes),
        ("numbers of characters", _NUMBERS, _from_numbers),
        ("base85", _BASE85, _from_base85),
    ):
        for found in pattern.finditer(text):
            if count >= MAX_PIECES:
                return
            if _is_media(text, found.start()):
                continue
            decoded = _as_text(decode(found[0][:MAX_PIECE]))
            if not decoded and pattern is _BASE64:
                how, decoded = "base64 backwards", _as_text(decode(found[0][:MAX_PIECE][::-1]))
            if decoded:
                count += 1
                yield text.count("\n", 0, found.start()) + 1, how, decoded


def _is_media(text: str, at: int) -> bool:
    """Inside a `data:image/...;base64,` address."""
    before = text[max(0, at - 80) : at]
    return (
        re.search(r"data:(?:image|font|audio|video)/[\w.+-]+(?:;[\w=-]+)*,?(?:;base64,)?$", before)
        is not None
    )


def _from_base64(written: str) -> bytes:
    plain = re.sub(r"[^A-Za-z0-9+/_-]", "", written).replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        try:
            data = base64.b64decode(plain[: len(plain) // 4 * 4])
        except (binascii.Error, ValueError):
            return b""
    if data[:2] in (b"\x1f\x8b", b"x\x9c", b"x\xda"):
        try:
            return zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(data, MAX_PIECE)
        except zlib.error:
            return b""
    if data[1:2] == b"\x00" and data[3:4] == b"\x00":  # UTF-16, as PowerShell takes it
        return data[: len(data) // 2 * 2].decode("utf-16-le", "replace").encode("utf-8", "replace")
    return data


def _from_base85(written: str) -> bytes:
    for decode in (base64.b85decode, base64.a85decode):
        try:
            return decode(written)
        except (ValueError, binascii.Error, struct.error, OverflowError):
            continue
    return b""


def _from_hex(written: str) -> bytes:
    plain = re.sub(r"[^0-9a-fA-F]", "", written)
    return bytes.fromhex(plain[: len(plain) // 2 * 2])


def _from_escapes(written: str) -> bytes:
    return bytes(
        int(found[1] or found[2], 16) if found[1] or found[2] else int(found[3], 8) & 255
        for found in re.finditer(r"\\x([0-9a-fA-F]{2})|\\u00([0-9a-fA-F]{2})|\\([0-7]{3})", written)
    )


def _from_numbers(written: str) -> bytes:
    return bytes(number for one in written.split(",") if (number := int(one.strip() or 0)) < 256)


def _as_text(data: bytes) -> str:
    """Decoded bytes as text, "" when they are none."""
    if len(data) < 12:
        return ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    good = sum(one.isprintable() or one in "\n\r\t" for one in text)
    letters = sum(one.isalpha() or one == " " for one in text)
    return text if good / len(text) > 0.97 and letters / len(text) > 0.5 else ""
