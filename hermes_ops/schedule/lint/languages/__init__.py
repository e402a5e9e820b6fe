"""The languages that prompts are read in: each is a module with SETS and PHRASES (see ../phrases.py).

PHRASES gives, for the id of a rule, the phrases by which it is found. Words are written as `text.fold` leaves
them: small letters, plain apostrophes, "do not" for "don't", е for ё. A language is added by adding its
module here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

LANGUAGES = ("en", "ru")


@cache
def language(name: str) -> ModuleType:
    """The tables of a language. Raises KeyError for one that there is not."""
    if name not in LANGUAGES:
        raise KeyError(name)
    return import_module(f".{name}", __package__)
