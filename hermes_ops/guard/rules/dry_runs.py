"""Whether a command is told only to show what it would do: by an option of its own that nothing undoes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .names import names

_NO = names("false 0 no off f n never none") | {""}


def own_options(
    words: Sequence[str], valued: frozenset[str] = frozenset(), clusters: bool = False
) -> Iterator[tuple[str, str | None, str]]:
    """The options that a program reads as such: the name, what is glued to it, and the word behind it.

    What an option in `valued` takes along is none, nor what stands behind "--". With `clusters` letters
    stand together behind one dash, and one in `valued` takes the rest of the word, or else the next word.
    """
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
            continue
        if word == "--":
            return
        if word[:1] != "-" or word == "-":
            continue
        after = words[at + 1] if at + 1 < len(words) else ""
        if not clusters or word[:2] == "--":
            name, equals, value = word.partition("=")
            skip = not equals and name in valued
            yield name, value if equals else None, after
            continue
        for place, letter in enumerate(word[1:], 2):
            if f"-{letter}" not in valued:
                yield f"-{letter}", None, after
                continue
            skip = place == len(word)
            yield f"-{letter}", word[place:], after
            break


def is_dry(
    words: Sequence[str], dry: frozenset[str], valued: frozenset[str] = frozenset(), clusters: bool = False
) -> bool:
    """Is one of the options `dry` among words as an option, and not taken back by --no-... or =false?"""
    found = False
    for name, value, after in own_options(words, valued, clusters):
        if name.startswith("--no-") and (f"--{name[5:]}" in dry or f"-{name[5:]}" in dry):
            return False
        if name in dry:
            if value is not None and value.lower() in _NO:
                return False
            if value is None and after.lower() in ("false", "0", "no"):
                return False
            found = True
    return found
