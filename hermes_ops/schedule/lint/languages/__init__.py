"""The languages that prompts are read in, each a table `<name>.toml`: sets, words, and phrases by rule.

A language is added by adding its table here and its name to LANGUAGES. A table that cannot be read is a fault
of this plugin: it raises ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..phrases import Matcher, WordSet, word_set

LANGUAGES = ("en", "ru")


@dataclass(frozen=True)
class Language:
    """One language: ``sets`` of its phrases, ``words`` that other rules look for, ``phrases`` by rule id."""

    name: str
    sets: Mapping[str, str]
    words: Mapping[str, str]
    phrases: Mapping[str, tuple[str, ...]]


@cache
def language(name: str) -> Language:
    """The table of a language. Raises KeyError for one that there is not."""
    import tomllib

    if name not in LANGUAGES:
        raise KeyError(name)
    table = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    phrases = {rule: tuple(text.strip("\n").split("\n")) for rule, text in table["phrases"].items()}
    return Language(name, table["sets"], table["words"], phrases)


@cache
def matcher(name: str) -> Matcher:
    """What finds the phrases of a language; their tags are rule ids."""
    found = language(name)
    return Matcher(found.phrases, found.sets)


@cache
def shared_set(name: str) -> WordSet:
    """A set of all languages together: a tool is named in Latin letters, and forbidden in any language."""
    return word_set(" ".join(language(known).sets.get(name, "") for known in LANGUAGES))


@cache
def words(name: str, languages: tuple[str, ...] = LANGUAGES) -> WordSet:
    """Words of some languages together."""
    return word_set(" ".join(language(known).words[name] for known in languages))
