"""Text as a model reads it: what cannot be seen taken out or decoded, look-alike letters made the same.

Newlines stay where they are, so that a line of the folded text is the same line of the source. `disguised`
names the lines on which something was hidden or dressed up, not just written in another alphabet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

# Cyrillic, Greek, Armenian, Cherokee and Latin-like letters that look like a Latin one.
_LOOKS = {
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "ɡ": "g", "һ": "h", "і": "i", "ј": "j", "к": "k",
    "ӏ": "l", "м": "m", "п": "n", "о": "o", "р": "p", "ԛ": "q", "г": "r", "ѕ": "s", "т": "t", "υ": "u",
    "ѵ": "v", "ѡ": "w", "ԝ": "w", "х": "x", "у": "y", "α": "a", "β": "b", "ϲ": "c", "ε": "e", "η": "n",
    "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "χ": "x", "γ": "y", "ω": "w", "ı": "i",
    "ɑ": "a", "ɩ": "i", "ʏ": "y", "օ": "o", "ո": "n", "ս": "u", "հ": "h", "ց": "g", "զ": "q", "ⅼ": "l",
    "ꮯ": "c", "ꭺ": "a", "ꭼ": "e", "ꮋ": "h", "ꮖ": "i", "ꮮ": "l", "ꮲ": "p", "ꭱ": "r", "ꮪ": "s", "ꭲ": "i",
    "ꮩ": "v", "ꮃ": "w", "ꓳ": "o", "ꓰ": "e", "ꓮ": "a", "ꓲ": "i", "ꓓ": "d", "ꓣ": "r", "ꓝ": "f", "ꓠ": "n",
}  # fmt: skip

# Characters that are not drawn: zero-width, fillers, invisible operators.
INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e\u200f"
    "\u2060\u2061\u2062\u2063\u2064\u2065\u206a\u206b\u206c\u206d\u206e\u206f\u2800\u3164\ufeff\uffa0"
    "\ufff9\ufffa\ufffb"
)
EMBEDDINGS = "\u202a\u202b\u2066\u2067\u2068"
OVERRIDES = "\u202d\u202e"
ENDS = "\u202c\u2069"
_BIDI = frozenset(EMBEDDINGS + OVERRIDES + ENDS)
_FLAGS = frozenset(("gbeng", "gbsct", "gbwls"))
_JOINER, _NON_JOINER = "\u200d", "\u200c"


@dataclass(frozen=True)
class Oddity:
    """Something of a line that cannot be seen.

    what   "tags" or "selectors" (they spell `text`), "run" (several in a row), "inside" (in the middle of a
           word), "override", "unbalanced", "bidi-without-rtl", "mixed" (a word of two alphabets)
    """

    what: str
    line: int
    text: str


@dataclass
class Folded:
    """`text` is folded and in lower case, its lines those of the source."""

    text: str
    disguised: frozenset[int] = frozenset()
    oddities: list[Oddity] = field(default_factory=list)


def fold(source: str) -> Folded:
    """Fold a text; linear in its length."""
    text = source.removeprefix("\ufeff")
    if text.isascii():
        return Folded(text.lower())
    lines, disguised, oddities = [], set(), []
    for number, line in enumerate(text.split("\n"), 1):
        if line.isascii():
            lines.append(line.lower())
            continue
        folded, changed = _line(line, number, oddities)
        lines.append(folded)
        if changed:
            disguised.add(number)
    return Folded("\n".join(lines), frozenset(disguised), oddities)


def visible(text: str, limit: int = 160) -> str:
    """A text with every invisible character written by its number, cut to `limit` characters."""
    shown = []
    for character in text[: limit * 2]:
        number = ord(character)
        if (
            character in INVISIBLE
            or character in _BIDI
            or 0xE0000 <= number <= 0xE0FFF
            or 0xFE00 <= number <= 0xFE0E
        ):
            shown.append(f"<U+{number:04X}>")
        else:
            shown.append(character)
    found = " ".join("".join(shown).split())
    return found if len(found) <= limit else found[: limit - 3] + "..."


def _line(line: str, number: int, oddities: list[Oddity]) -> tuple[str, bool]:
    line, changed = _spelled(line, number, oddities)
    if not _BIDI.isdisjoint(line):
        changed = _bidi(line, number, oddities) or changed
        line = "".join(character for character in line if character not in _BIDI)
    if not INVISIBLE.isdisjoint(line):
        line, hidden = _without_invisible(line, number, oddities)
        changed = changed or hidden
    line, dressed = _plain_letters(line)
    line, mixed = _same_letters(line, number, oddities)
    return line, changed or dressed or mixed


def _spelled(line: str, number: int, oddities: list[Oddity]) -> tuple[str, bool]:
    """Tag characters and runs of variation selectors replaced by what they spell."""

    def tags(found: re.Match[str]) -> str:
        spelled = "".join(chr(ord(one) - 0xE0000) for one in found[0] if 0xE0020 <= ord(one) <= 0xE007E)
        before = line[found.start() - 1] if found.start() else ""
        if before == "\U0001f3f4" and spelled in _FLAGS:
            return ""
        oddities.append(Oddity("tags", number, spelled))
        return f" {spelled} "

    def selectors(found: re.Match[str]) -> str:
        data = bytes(ord(one) - 0xFE00 if ord(one) < 0xE0000 else ord(one) - 0xE0100 + 16 for one in found[0])
        spelled = data.decode("utf-8", "replace")
        oddities.append(Oddity("selectors", number, spelled))
        return f" {spelled} " if spelled.isprintable() else " "

    count = len(oddities)
    line = re.sub("[\U000e0000-\U000e007f]+", tags, line)
    line = re.sub("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}", selectors, line)
    return re.sub("[\ufe00-\ufe0f\U000e0100-\U000e01ef]", "", line), len(oddities) > count


def _bidi(line: str, number: int, oddities: list[Oddity]) -> bool:
    if any(character in OVERRIDES for character in line):
        oddities.append(Oddity("override", number, line))
        return True
    has_rtl = any(unicodedata.bidirectional(one) in ("R", "AL") for one in line)
    opened = sum(one in EMBEDDINGS for one in line)
    closed = sum(one in ENDS for one in line)
    if opened > closed and not has_rtl:
        oddities.append(Oddity("unbalanced", number, line))
    elif not has_rtl:
        oddities.append(Oddity("bidi-without-rtl", number, line))
    return False


def _without_invisible(line: str, number: int, oddities: list[Oddity]) -> tuple[str, bool]:
    kept, changed, run = [], False, 0
    for i, character in enumerate(line):
        if character not in INVISIBLE:
            kept.append(character)
            run = 0
            continue
        before, after = line[i - 1 : i], line[i + 1 : i + 2]
        run += 1
        if run == 4:
            oddities.append(Oddity("run", number, line[max(0, i - 20) : i + 40]))
            changed = True
        elif character != "\u2800" and _is_letter(before) and _is_letter(after):
            changed = True
            if character != "\u00ad":
                oddities.append(Oddity("inside", number, line[max(0, i - 20) : i + 20]))
        if character in "\u2800\u3164\uffa0" and before != after:
            kept.append(" ")
    return "".join(kept), changed


def _is_letter(character: str) -> bool:
    """A Latin letter: in scripts that join letters, an invisible one between them is spelling."""
    return character.isascii() and character.isalpha()


def _plain_letters(line: str) -> tuple[str, bool]:
    """Compatibility forms (wide, mathematical, circled) as plain letters, marks on Latin letters removed."""
    plain = unicodedata.normalize("NFKD", line)
    kept, changed, marks = [], False, 0
    for character in plain:
        if unicodedata.combining(character):
            if kept and kept[-1].isascii():
                marks += 1
                changed = changed or marks > 1 or 0x0334 <= ord(character) <= 0x0338
                continue
        else:
            marks = 0
        kept.append(character)
    folded = unicodedata.normalize("NFC", "".join(kept)).lower()
    styled = sum(_is_styled(one) for one in line)
    return folded, changed or styled >= 4


def _is_styled(character: str) -> bool:
    number = ord(character)
    return (
        0x1D400 <= number <= 0x1D7FF
        or 0xFF21 <= number <= 0xFF5A
        or 0x24B6 <= number <= 0x24E9
        or 0x1F130 <= number <= 0x1F189
        or (
            0x2100 <= number <= 0x214F
            and character.isalpha()
            and number not in (0x2103, 0x2109, 0x2116, 0x2122)
        )
    )


_WORD = re.compile(r"[^\W\d_]{3,}")


def _same_letters(line: str, number: int, oddities: list[Oddity]) -> tuple[str, bool]:
    """Words that mix Latin letters with look-alikes of them in Latin letters only."""
    changed = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal changed
        word = found[0]
        foreign = [one for one in word if not one.isascii()]
        if not foreign or not all(one in _LOOKS for one in foreign):
            return word
        # A slip of the keyboard in a word of the other alphabet is none, nor is a letter of a Latin alphabet.
        if 2 * len(foreign) < len(word) and any(ord(one) > 0x36F for one in foreign):
            changed = True
            if any(not "\u0370" <= one <= "\u03ff" for one in foreign):
                oddities.append(Oddity("mixed", number, word))
        return "".join(_LOOKS.get(one, one) for one in word)

    return _WORD.sub(replaced, line), changed
