"""What becomes of text that is typed at a terminal: keys that erase, discard or quote are carried out."""

from __future__ import annotations

import re

from .shell.reader import read

_INTERRUPT, _ERASE, _QUOTE = "\x03", "\x08\x7f", "\x16"
_LINE_ERASE, _WORD_ERASE, _SPENT = "\x15", "\x17", "\x04\x1a"
_EDITING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Keys of which only the terminal can tell what they do to the line: they move in it, recall or complete.
_UNTOLD = re.compile(r"[\x00-\x02\x05-\x07\x0b\x0c\x0e-\x14\x18\x19\x1b-\x1f]")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[@-~]|.)?", re.DOTALL)
# Characters with keys among them that are followed one by one.
LONGEST = 20_000


def has_keys(text: str) -> bool:
    """Is there anything in a text that a terminal may take for a key and not for text?"""
    return not text.isprintable() and _EDITING.search(text) is not None


def untold(data: str) -> str:
    """The first key in what is typed of which nobody can tell here what it does, as "U+001B"; "" for none.

    A key that is quoted by ^V is text.
    """
    if len(data) > LONGEST and has_keys(data):
        return f"among {len(data)} characters"
    found = _UNTOLD.search(re.sub(r"\x16.", "", data, flags=re.DOTALL))
    return f"U+{ord(found[0]):04X}" if found else ""


def views(before: str, data: str) -> list[str]:
    """The texts that a program may get which is given `data` after `before`: the edited one is the first.

    Beside it the same text as it stands, for input that no terminal edits, the text after the last ^C, and
    what a terminal makes of it whose ^W erases letters and digits only.
    """
    text = before + data
    if not has_keys(text) or len(text) > 4 * LONGEST:
        return [text]
    found = [edited(text), text.replace("\0", "")]
    if _INTERRUPT in text:
        found.append(edited(text.rpartition(_INTERRUPT)[2]))
    if _WORD_ERASE in text:
        found.append(edited(text, by_blanks=False))
    return list(dict.fromkeys(found))


def edited(text: str, by_blanks: bool = True) -> str:
    """Text with its keys carried out as a terminal or readline does. ^C leaves the commands that were whole.

    `by_blanks`: ^W erases up to a blank, as in a shell; else as the terminal itself does.
    """
    done: list[str] = []
    line: list[str] = []
    quoted = False
    for letter in _SEQUENCE.sub("", text):
        if quoted:
            quoted = False
            line.append(letter.replace("\0", ""))
        elif letter == _QUOTE:
            quoted = True
        elif letter in "\r\n":
            done += [*line, "\n"]
            line.clear()
        elif letter in _ERASE:
            del line[-1:]
        elif letter == _LINE_ERASE:
            line.clear()
        elif letter == _WORD_ERASE:
            _erase_word(line, by_blanks)
        elif letter == _INTERRUPT:
            done, line = [_whole("".join(done))], []
        elif letter == "\t" or letter >= " ":
            line.append(letter)
    return "".join((*done, *line))


def _erase_word(line: list[str], by_blanks: bool) -> None:
    if by_blanks:
        while line and line[-1].isspace():
            line.pop()
        while line and not line[-1].isspace():
            line.pop()
        return
    begun = False
    while line and (not begun or line[-1].isalnum() or line[-1] == "_"):
        begun = begun or line[-1].isalnum() or line[-1] == "_"
        line.pop()


def _whole(text: str) -> str:
    """The commands of a text that are whole: an interrupt discards the one that is still open."""
    reading = read(text)
    if not reading.problem:
        return text
    items = reading.script.items
    return text[: items[-1].command.span[1]] + "\n" if items else ""
