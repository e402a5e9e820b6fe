"""What programs that print or recode text would print, where it is known: echo, printf, base64, rev, tr.

Every function returns the text, or None when it cannot be told. Nothing is run; sizes are bounded.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable
from functools import lru_cache

LONGEST = 65536
# Stands for a zero byte in text that is known; the zero letter itself marks what is not known.
ZERO = "\ue001"
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", '"': '"', "'": "'",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0[0-7]{1,3}|[0-7]{1,3}|c|.)", re.DOTALL
)
_CONVERSION = re.compile(r"%(?:%|\([^)]*\)T|([-+ #0]*)(\*|\d+)?(?:\.(\d+))?([diouxXcsbqeEfgGaA]))")


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
    """What printf prints."""
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        return ""
    form, values = words[0], words[1:]
    output: list[str] = []
    rounds = 0
    while True:
        before = len(values)
        values = _printed(form, values, output)
        rounds += 1
        if not values or len(values) == before or rounds > 200:
            break
    return "".join(output)[:LONGEST]


def _printed(form: str, values: list[str], output: list[str]) -> list[str]:
    at = 0
    for found in _CONVERSION.finditer(form):
        output.append(escapes(form[at : found.start()]))
        at = found.end()
        kind = found[4]
        if found[0] == "%%":
            output.append("%")
            continue
        if kind is None:
            values = values[1:]
            continue
        if found[2] == "*":
            values = values[1:]
        value = values[0] if values else ""
        values = values[1:]
        output.append(_converted(kind, value, found[3], found[2]))
    output.append(escapes(form[at:]))
    return values


def _converted(kind: str, value: str, precision: str | None, width: str | None) -> str:
    if kind == "b":
        value = escapes(value)
    elif kind == "c":
        value = value[:1]
    elif kind in "diouxX":
        number = _number(value)
        value = {"o": f"{number:o}", "x": f"{number:x}", "X": f"{number:X}"}.get(kind, str(number))
    elif kind == "s" and precision is not None:
        value = value[: int(precision)]
    if width and width != "*" and len(width) < 5:
        value = value.rjust(int(width))
    return value


def _number(value: str) -> int:
    if value[:1] in ("'", '"') and len(value) > 1:
        return ord(value[1])
    try:
        return int(value, 16 if value[:2].lower() == "0x" else 8 if value[:1] == "0" and value != "0" else 10)
    except ValueError:
        return 0


def _as_text(data: bytes) -> str:
    """Bytes as text; what is no UTF-8 keeps its bytes as letters, so that packed data can be unpacked."""
    data = data[:LONGEST]
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


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


def _rev(words: list[str], text: str) -> str | None:
    return "\n".join(line[::-1] for line in text.split("\n"))


def _tac(words: list[str], text: str) -> str | None:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return "\n".join(reversed(lines)) + "\n"


_CLASSES = {
    "alpha": "A-Za-z", "lower": "a-z", "upper": "A-Z", "digit": "0-9", "space": " \t\n\r\f\v",
    "alnum": "0-9A-Za-z", "blank": " \t", "xdigit": "0-9A-Fa-f", "punct": "!-/:-@[-`{-~",
}  # fmt: skip


@lru_cache(maxsize=64)
def _letters(text: str) -> str:
    text = re.sub(r"\[:(\w+):\]", lambda found: _CLASSES.get(found[1], ""), text)
    text = escapes(text)
    letters: list[str] = []
    at = 0
    while at < len(text):
        if at + 2 < len(text) and text[at + 1] == "-" and 0 <= ord(text[at + 2]) - ord(text[at]) < 256:
            letters.extend(chr(code) for code in range(ord(text[at]), ord(text[at + 2]) + 1))
            at += 3
        else:
            letters.append(text[at])
            at += 1
    return "".join(letters)


def _tr(words: list[str], text: str) -> str | None:
    options = "".join(word[1:] for word in words if re.fullmatch(r"-[cCdst]+", word))
    sets = [_letters(word) for word in words if not re.fullmatch(r"-[cCdst]+", word) and word != "--"]
    if not sets:
        return None
    if "c" in options.lower():
        if "d" in options:
            return "".join(letter for letter in text if letter in sets[0])
        return None
    if "d" in options:
        return "".join(letter for letter in text if letter not in sets[0])
    if len(sets) > 1 and sets[1]:
        second = sets[1] + sets[1][-1] * max(0, len(sets[0]) - len(sets[1]))
        text = text.translate({ord(old): new for old, new in zip(sets[0], second, strict=False)})
    if "s" in options:
        squeezed = sets[-1]
        text = re.sub(f"([{re.escape(squeezed)}])\\1+", r"\1", text) if squeezed else text
    return text


def _cut(words: list[str], text: str) -> str | None:
    line = " ".join(words)
    found = re.search(r"-([cbf])\s*(\d*)(-?)(\d*)(?:\s|$)", line)
    if not found or not (found[2] or found[4]):
        return None
    first = int(found[2]) - 1 if found[2] else 0
    last = int(found[4]) if found[4] else (None if found[3] else first + 1)
    if found[1] != "f":
        return "\n".join(part[first:last] for part in text.split("\n"))
    between = "\t"
    for at, word in enumerate(words):
        if word == "-d" and at + 1 < len(words):
            between = words[at + 1]
        elif word.startswith("-d"):
            between = word[2:]
    if not between:
        return None
    return "\n".join(
        between.join(part.split(between)[first:last]) if between in part else part
        for part in text.split("\n")
    )


_SUBSTITUTE = re.compile(r"s(.)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1([gIi0-9]*)", re.DOTALL)


def _sed(words: list[str], text: str) -> str | None:
    scripts: list[str] = []
    at = 0
    extended = False
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("-e", "--expression") and at < len(words):
            scripts.append(words[at])
            at += 1
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word in ("-E", "-r"):
            extended = True
        elif word.startswith("-"):
            return None
        elif not scripts:
            scripts.append(word)
        else:
            return None
    for script in scripts:
        for single in re.split(r";\s*", script):
            found = _SUBSTITUTE.fullmatch(single.strip())
            if found is None:
                return None
            result = _substituted(found[2], found[3], found[4], extended, text)
            if result is None:
                return None
            text = result
    return text


def _substituted(pattern: str, new: str, flags: str, extended: bool, text: str) -> str | None:
    # Only patterns of plain letters, classes and dots: nothing that could take long.
    if (
        re.search(r"[*+?{}()|]", pattern)
        or len(text) > 4096
        or "\\" in pattern.replace("\\/", "").replace("\\.", "")
    ):
        return None
    pattern = pattern.replace("\\/", "/")
    new = re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), new)
    try:
        expression = re.compile(pattern, re.IGNORECASE if "i" in flags.lower() else 0)
    except re.error:
        return None
    lines = text.split("\n")
    count = 0 if "g" in flags else 1
    return "\n".join(
        expression.sub(lambda found: new.replace("&", found[0]), line, count=count) for line in lines
    )


def _head(words: list[str], text: str) -> str | None:
    found = re.search(r"(?:^|\s)-?-(?:(c|bytes=)\s*(\d+)|(?:n|lines=)?\s*(\d+))", " ".join(words))
    if found and found[2]:
        return text[: int(found[2])]
    lines = int(found[3]) if found and found[3] else 10
    return "".join(line + "\n" for line in text.rstrip("\n").split("\n")[:lines])


def _tail(words: list[str], text: str) -> str | None:
    found = re.search(r"(?:^|\s)-(?:(c|n)?\s*(\+?)(\d+))", " ".join(words))
    number = int(found[3]) if found else 10
    if found and found[1] == "c":
        return text[number - 1 :] if found[2] else text[max(0, len(text) - number) :]
    lines = text.rstrip("\n").split("\n")
    return "\n".join(lines[number - 1 :] if found and found[2] else lines[-number:] if number else []) + "\n"


def _openssl(words: list[str], text: str) -> str | None:
    verb = words[0] if words else ""
    if verb not in ("base64", "enc") or (verb == "enc" and not {"-base64", "-a"} & set(words)):
        return None
    return _base64(["-d"] if "-d" in words else [], text)


def _rot(words: list[str], text: str) -> str | None:
    return codecs.encode(text, "rot13")


def _fold(words: list[str], text: str) -> str | None:
    return None if len(text) > 75 else text


def _same(words: list[str], text: str) -> str | None:
    return text


def _sorted(words: list[str], text: str) -> str | None:
    if [word for word in words if word != "-r"]:
        return None
    lines = text.rstrip("\n").split("\n")
    return "\n".join(sorted(lines, reverse="-r" in words)) + "\n"


def _paste(words: list[str], text: str) -> str | None:
    line = " ".join(words)
    if "-s" not in line:
        return None
    found = re.search(r"-s?d\s*(\S*)", line)
    between = (found[1] if found else "\t").strip("'\"") if found else "\t"
    return between.join(text.rstrip("\n").split("\n")) + "\n"


# Programs that print their input in another form: (words after the name, input) -> output.
RECODERS: dict[str, Callable[[list[str], str], str | None]] = {
    "base64": _base64,
    "base32": _base32,
    "gbase64": _base64,
    "xxd": _xxd,
    "rev": _rev,
    "tac": _tac,
    "tr": _tr,
    "cut": _cut,
    "sed": _sed,
    "gsed": _sed,
    "head": _head,
    "tail": _tail,
    "openssl": _openssl,
    "rot13": _rot,
    "fold": _fold,
    "cat": _same,
    "tee": _same,
    "sort": _sorted,
    "paste": _paste,
    "dos2unix": _same,
    "stdbuf": _same,
    "pv": _same,
    "sponge": _same,
}


def unpacked(words: list[str], text: str) -> str | None:
    """The content of gzip, bzip2, xz or zlib data of bounded size; None when it is none of them."""
    import bz2
    import lzma
    import zlib

    try:
        data = text.encode("latin-1")
        if data[:2] == b"\x1f\x8b":
            return _as_text(zlib.decompressobj(31).decompress(data, LONGEST))
        if data[:3] == b"BZh":
            return _as_text(bz2.BZ2Decompressor().decompress(data, LONGEST))
        if data[:6] == b"\xfd7zXZ\x00":
            return _as_text(lzma.LZMADecompressor(memlimit=1 << 24).decompress(data, LONGEST))
        return _as_text(zlib.decompressobj().decompress(data, LONGEST))
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
