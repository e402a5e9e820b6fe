"""The languages that prompts are read in.

Each has two tables: `<name>.toml` with sets, words, and phrases by rule, and `<name>_patterns.toml` with
patterns, which are phrases that count only beside words of other kinds (../patterns.py).
A language is added by adding its tables here and its name to LANGUAGES. A table that cannot be read is a
fault of this plugin: it raises ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..patterns import Pattern, read_patterns
from ..phrases import Matcher, WordSet, word_set

LANGUAGES = ("en", "ru")


@dataclass(frozen=True)
class Language:
    """One language: ``sets`` of its phrases, ``words`` that other rules look for, ``phrases`` by rule id.

    ``patterns`` by their tag, which begins with the rule id.
    """

    name: str
    sets: Mapping[str, str]
    words: Mapping[str, str]
    phrases: Mapping[str, tuple[str, ...]]
    patterns: Mapping[str, Pattern]


@cache
def language(name: str) -> Language:
    """The table of a language. Raises KeyError for one that there is not."""
    import tomllib

    if name not in LANGUAGES:
        raise KeyError(name)
    table, general = (
        tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))
        for file in (f"{name}.toml", f"{name}_patterns.toml")
    )
    phrases = {rule: tuple(text.strip("\n").split("\n")) for rule, text in table["phrases"].items()}
    sets = {**table["sets"], **general["sets"]}
    return Language(name, sets, table["words"], phrases, read_patterns(general["pattern"], sets))


@cache
def matcher(name: str) -> Matcher:
    """What finds the phrases and patterns of a language; a tag is a rule id, or that of a pattern."""
    found = language(name)
    patterns = {tag: pattern.phrases for tag, pattern in found.patterns.items()}
    return Matcher({**found.phrases, **patterns}, found.sets)


@cache
def shared_set(name: str) -> WordSet:
    """A set of all languages together: a tool is named in Latin letters, and forbidden in any language."""
    return word_set(" ".join(language(known).sets.get(name, "") for known in LANGUAGES))


@cache
def words(name: str, languages: tuple[str, ...] = LANGUAGES) -> WordSet:
    """Words of some languages together."""
    return word_set(" ".join(language(known).words[name] for known in languages))
