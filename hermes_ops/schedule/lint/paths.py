"""Paths that a prompt names: which of them a run needs to find, and whether they are there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .languages import words
from .text import DATA, PATH, Prompt, Sentence, Token

_PLAIN = re.compile(r"(?:~|/)[\w./@%+=:, -]{0,300}")
_VARIABLE = re.compile(r"[{}<>$*\[\]%]|yyyy|\bdd\b|гггг", re.IGNORECASE)
BEFORE = 8  # words before a path in which a word of writing makes it one that the run creates


@dataclass(frozen=True)
class Named:
    """A path as written, with its offsets in the prompt."""

    path: str
    start: int
    end: int


def needed_paths(prompt: Prompt) -> list[Named]:
    """The whole paths that a run reads, each once: not those it writes, and none with a variable part.

    What is said about another machine, or together with "if it is there", is left out.
    """
    writing, elsewhere = words("writing"), words("elsewhere")
    made: set[str] = set()
    found: dict[str, Named] = {}
    for sentence in prompt.sentences:
        remote = any(elsewhere.takes(token.text) for token in sentence.tokens)
        for named, position in _paths(sentence, prompt):
            before = [token.text for token in sentence.tokens[max(0, position - BEFORE) : position]]
            if remote or any(map(writing.takes, before)):
                made.add(named.path)
            elif not _VARIABLE.search(named.path):
                found.setdefault(named.path, named)
    return [named for path, named in found.items() if path not in made]


def missing(path: str) -> bool:
    """Whether a whole path is not there although the folder at its beginning is; unknown counts as there.

    A beginning that is not there (`/v1/items`) says that it is no path of this machine.
    """
    whole = os.path.expanduser(path)
    parts = whole.split("/")
    if len(parts) < 3 or not os.path.isdir("/" + parts[1]):
        return False
    try:
        os.stat(whole)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _paths(sentence: Sentence, prompt: Prompt) -> Iterator[tuple[Named, int]]:
    for position, token in enumerate(sentence.tokens):
        text = _written(token, prompt)
        if text:
            yield Named(text, token.start, token.end), position


def _written(token: Token, prompt: Prompt) -> str:
    text = prompt.text[token.start : token.end]
    if token.kind == PATH:
        return text if text.startswith(("/", "~/")) and len(text) > 2 else ""
    if token.kind == DATA:
        inner = text.strip("`\"'")
        return inner if _PLAIN.fullmatch(inner) and " " not in inner and "/" in inner[1:] else ""
    return ""
