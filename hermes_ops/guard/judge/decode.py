"""What programs that print or recode text would print, where it is known: echo, printf, base64, rev, tr.

Every function returns the text, or None when it cannot be told. Nothing is run; sizes are bounded.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable

from . import stream_editor

LONGEST = 65536
_REST = "\n\0\n"  # a line that is not known: what is left out of a text that is too long


def bounded(text: str) -> str:
    """A text of bounded length; that it goes on is said by an unknown line at its end."""
    return text if len(text) <= LONGEST else text[: LONGEST - len(_REST)] + _REST


# Stands for a zero byte in text that is known; the zero letter itself marks what is not known.
ZERO = "\ue001"
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", '"': '"', "'": "'",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0[0-7]{1,3}|[0-7]{1,3}|c|.)", re.DOTALL
)
_CONVERSION = re.compile(r"%(?:%|([-+ #0']*)(\*|\d+)?(?:\.(\*|-?\d*))?(?:hh|h|ll|l|j|z|t|L)?([diouxXcsbq])?)")


def escapes(text: str) -> str:
    """Backslash escapes as `echo -e` and printf take them; `\\c` ends the text."""
    if "\\" not in text:
        return text
    ended = text.find("\\c")
    if ended >= 0 and (ended == 0 or text[ended - 1] != "\\"):
        text = text[:ended]
    return _ESCAPE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = found[1]
    kind = code[0]
    if kind in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number).replace("\0", ZERO) if number < 0x110000 else ""
    if kind in "01234567":
        return chr(int(code, 8) & 0xFF).replace("\0", ZERO)
    return _ESCAPES.get(kind, "\\" + code)


def echo(words: list[str]) -> str:
    """What echo prints."""
    newline, interpret = True, False
    at = 0
    while at < len(words) and re.fullmatch(r"-[neE]+", words[at]):
        for letter in words[at][1:]:
            newline = newline and letter != "n"
            interpret = letter == "e" if letter in "eE" else interpret
        at += 1
    text = " ".join(words[at:])
    # dash's echo takes escapes without -e; the text that has fewer backslashes is the dangerous one.
    if interpret:
        text = escapes(text)
    return text + ("\n" if newline else "")


def printf(words: list[str]) -> str | None:
    """What printf prints; None for a conversion that is not followed."""
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        return ""
    form, values = words[0], words[1:]
    output: list[str] = []
    for _ in range(_MOST_ROUNDS):
        before = len(values)
        rest = _printed(form, values, output)
        if rest is None:
            return None
        if not rest or len(rest) == before or output[-1:] == [_END]:
            break
        values = rest
    else:
        return None
    return bounded("".join(output).partition(_END)[0])


_MOST_ROUNDS = 2000
_END = "\ue002"  # what `\c` in an argument of %b makes: nothing is printed behind it


def _printed(form: str, values: list[str], output: list[str]) -> list[str] | None:
    """One round through the format; the values that are left."""
    queue = iter(values)
    used = 0

    def following() -> str:
        nonlocal used
        used += 1
        return next(queue, "")

    at = 0
    for found in _CONVERSION.finditer(form):
        output.append(escapes(form[at : found.start()]))
        at = found.end()
        flags, width, precision, kind = found.groups()
        if found[0] == "%%":
            output.append("%")
        elif kind is None:
            return None
        else:
            width = following() if width == "*" else width or ""
            precision = following() if precision == "*" else precision
            text = _converted(kind, following(), precision)
            output.append(_padded(text, width, flags))
            if _END in text:
                return []
    output.append(escapes(form[at:]))
    return values[used:]


def _converted(kind: str, value: str, precision: str | None) -> str:
    if kind == "b":
        ended = _STOP.search(value)
        value = escapes(value[: ended.end()]) + _END if ended else escapes(value)
    elif kind == "q":
        value = value if re.fullmatch(r"[\w@%+=:,./-]+", value) else _SPECIAL.sub(r"\\\g<0>", value) or "''"
    elif kind == "c":
        value = value[:1]
    elif kind in "diouxX":
        number = _number(value)
        value = {"o": f"{number:o}", "x": f"{number:x}", "X": f"{number:X}"}.get(kind, str(number))
    elif kind in "sb" and precision is not None:
        length = int(precision[:9]) if precision.lstrip("-").isdigit() else 0
        value = value[:length] if length >= 0 else value
    return value


_STOP = re.compile(r"(?<!\\)(?:\\\\)*\\c")
_SPECIAL = re.compile(r"[^\w@%+=:,./-]")


def _padded(text: str, width: str, flags: str) -> str:
    if not re.fullmatch(r"-?\d{1,4}", width):
        return text
    size = int(width)
    if size < 0 or "-" in flags:
        return text.ljust(abs(size))
    return text.zfill(size) if "0" in flags and text.lstrip("-").isdigit() else text.rjust(size)


def _number(value: str) -> int:
    if value[:1] in ("'", '"') and len(value) > 1:
        return ord(value[1])
    try:
        return int(value, 16 if value[:2].lower() == "0x" else 8 if value[:1] == "0" and value != "0" else 10)
    except ValueError:
        return 0


def _as_text(data: bytes) -> str:
    """Bytes as text; what is no UTF-8 keeps its bytes as letters, so that packed data can be unpacked."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return bounded(text.replace("\0", ZERO))


def from_base64(text: str) -> str | None:
    """The text that base64 stands for; None when it is no base64."""
    packed = re.sub(r"[^A-Za-z0-9+/=_-]", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    if not packed:
        return ""
    try:
        return _as_text(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    except (binascii.Error, ValueError):
        return None


def _base64(words: list[str], text: str) -> str | None:
    if _wants(words, "dD", "--decode"):
        return from_base64(text)
    encoded = base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()
    return encoded + "\n"


def _base32(words: list[str], text: str) -> str | None:
    if not _wants(words, "dD", "--decode"):
        return base64.b32encode(text.encode("utf-8", "surrogateescape")).decode() + "\n"
    packed = re.sub(r"[^A-Za-z2-7]", "", text).upper()
    try:
        return _as_text(base64.b32decode(packed + "=" * (-len(packed) % 8)))
    except (binascii.Error, ValueError):
        return None


def _basenc(words: list[str], text: str) -> str | None:
    kind = next((_BASES[word] for word in words if word in _BASES), None)
    return kind(words, text) if kind is not None else None


def _base16(words: list[str], text: str) -> str | None:
    if _wants(words, "d", "--decode"):
        return from_hex(text)
    return text.encode("utf-8", "surrogateescape").hex().upper() + "\n"


_BASES = {"--base64": _base64, "--base64url": _base64, "--base32": _base32, "--base16": _base16}


def _xxd(words: list[str], text: str) -> str | None:
    if not _wants(words, "r", "--revert"):
        return text.encode("utf-8", "surrogateescape").hex() + "\n" if _wants(words, "p", "--plain") else None
    if not _wants(words, "p", "--plain"):
        text = re.sub(r"(?m)^[0-9a-f]+:\s*((?:[0-9a-f]{2,4} ?)+).*$", r"\1", text)
    return from_hex(text)


def from_hex(text: str) -> str | None:
    """The text that hexadecimal digits stand for."""
    digits = re.sub(r"[^0-9A-Fa-f]", "", text)
    return _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _wants(words: list[str], letters: str, *names: str) -> bool:
    for word in words:
        if word.startswith("--"):
            if any(len(word) > 3 and name.startswith(word) for name in names):
                return True
        elif word.startswith("-") and any(letter in word for letter in letters):
            return True
    return False


def _sed(words: list[str], text: str) -> str | None:
    silent, extended = _wants(words, "n"), _wants(words, "Er", "--regexp-extended")
    found = stream_editor.edited([word for word in words if word[:1] != "-"], text, silent, extended)
    return found.text if found else None


def _openssl(words: list[str], text: str) -> str | None:
    verb = words[0] if words else ""
    if verb not in ("base64", "enc") or (verb == "enc" and not {"-base64", "-a"} & set(words)):
        return None
    return _base64(["-d"] if "-d" in words else [], text)


def _rot(words: list[str], text: str) -> str | None:
    return codecs.encode(text, "rot13")


# Programs that print their input in another form: (words after the name, input) -> output.
RECODERS: dict[str, Callable[[list[str], str], str | None]] = {
    "base64": _base64,
    "base32": _base32,
    "basenc": _basenc,
    "gbase64": _base64,
    "xxd": _xxd,
    "openssl": _openssl,
    "sed": _sed,
    "rot13": _rot,
}


def unpacked(words: list[str], text: str) -> str | None:
    """The content of gzip, bzip2, xz or zlib data of bounded size; None when it is none of them."""
    import bz2
    import lzma
    import zlib

    try:
        data = text.replace(ZERO, "\0").encode("latin-1")
        if data[:2] == b"\x1f\x8b":
            return _as_text(zlib.decompressobj(31).decompress(data, LONGEST + 1))
        if data[:3] == b"BZh":
            return _as_text(bz2.BZ2Decompressor().decompress(data, LONGEST + 1))
        if data[:6] == b"\xfd7zXZ\x00":
            return _as_text(lzma.LZMADecompressor(memlimit=1 << 24).decompress(data, LONGEST + 1))
        return _as_text(zlib.decompressobj().decompress(data, LONGEST + 1))
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return None


# Programs that unpack; of some of them only with -d.
for _name in (
    "zcat",
    "gunzip",
    "bzcat",
    "bunzip2",
    "xzcat",
    "unxz",
    "gzip",
    "bzip2",
    "xz",
    "pigz",
    "zlib-flate",
):
    RECODERS[_name] = unpacked
