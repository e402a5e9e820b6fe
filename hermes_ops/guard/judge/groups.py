"""Extended patterns in words: `@(a|b)` is one of several words, `!(a)` and `*(a)` may be anything."""

from __future__ import annotations

from ..shell.tree import Part, Text, Word

_MOST = 12


def alternatives(word: Word) -> list[Word]:
    """The words a word with pattern groups may stand for, with `*` for a group that may be anything."""
    done: list[Word] = []
    waiting = [word]
    while waiting:
        parts = waiting.pop(0).parts
        at = next((n for n, part in enumerate(parts) if n and _is(part, "(")), 0)
        sign = parts[at - 1].value[-1:] if at and type(parts[at - 1]) is Text else ""
        end = _closing(parts, at) if at and sign in tuple("!@+*?") else 0
        if not end:
            done.append(Word(parts, word.span))
            continue
        before = (*parts[: at - 1], Text(parts[at - 1].value[:-1]))  # type: ignore[union-attr]
        choices = _choices(sign, parts[at + 1 : end]) if len(waiting) + len(done) < _MOST else ["*"]
        waiting.extend(Word((*before, Text(text), *parts[end + 1 :]), word.span) for text in choices)
    return done


def _is(part: Part, sign: str) -> bool:
    return type(part) is Text and part.value == sign and not part.quoted


def _closing(parts: tuple[Part, ...], at: int) -> int:
    depth = 0
    for place in range(at, len(parts)):
        if _is(parts[place], "("):
            depth += 1
        elif _is(parts[place], ")"):
            depth -= 1
            if not depth:
                return place
    return 0


def _choices(sign: str, inner: tuple[Part, ...]) -> list[str]:
    plain = all(type(part) is Text and not part.quoted and part.value != "(" for part in inner)
    if sign in "!*" or not plain:
        return ["*"]
    texts = "".join(part.value for part in inner if type(part) is Text).split("|")[:_MOST]
    return [*texts, ""] if sign == "?" else texts
