"""Which variables share mutable objects and therefore must be pickled together."""

import gc
import sys
from collections import deque
from collections.abc import Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
)

from ..definitions import ids

SEEN_LIMIT = 200_000

_ATOMS = ids(type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
_CLOSED = ids(CodeType, CoroutineType, FrameType, GeneratorType, BuiltinFunctionType)
_HASHED = ids(dict, set, frozenset)


def grouped(variables: list, named: dict, limit: int = SEEN_LIMIT) -> list:
    """Return lists of positions in ``variables`` (values), each list sharing objects, in first-seen order.

    Looks at no more than about ``limit`` objects, the ones nearest to the variables first; what lies deeper
    is taken as not shared. ``named`` holds the ids of objects that are pickled as references.
    """
    sets = _Sets(len(variables))
    borders = _namespaces().union(named)
    owners: dict = {}  # id of an object -> the first variable it was reached from
    kept = []  # their ids stay theirs while the walk lasts
    # Taken in turn, so that a huge variable does not use up the limit of all others.
    walks = deque((position, deque([value])) for position, value in enumerate(variables))
    while walks and limit > 0:
        position, waiting = walks.popleft()
        value = waiting.popleft()
        if id(value) in owners:
            sets.join(position, owners[id(value)])
        elif id(value) not in borders and not _is_closed(value):
            owners[id(value)] = position
            kept.append(value)
            inner = _referents(value, limit)
            limit -= len(inner) + 1
            waiting.extend(item for item in inner if id(type(item)) not in _ATOMS)
        if waiting:
            walks.append((position, waiting))
    return sets.members()


class _Sets:
    """Disjoint sets of positions."""

    def __init__(self, count: int) -> None:
        self._leaders = list(range(count))

    def join(self, one: int, other: int) -> None:
        self._leaders[self._leader(one)] = self._leader(other)

    def members(self) -> list:
        found: dict = {}
        for position in range(len(self._leaders)):
            found.setdefault(self._leader(position), []).append(position)
        return sorted(found.values())

    def _leader(self, position: int) -> int:
        leaders = self._leaders
        while leaders[position] != position:
            leaders[position] = leaders[leaders[position]]
            position = leaders[position]
        return position


def _is_closed(value) -> bool:
    """Whether nothing behind it can be shared between variables in a way a pickle would show."""
    kind = type(value)
    if id(kind) in _ATOMS or id(kind) in _CLOSED or issubclass(kind, (type, ModuleType)):
        return True
    return kind is tuple and not value  # there is only one


def _referents(value, limit: int) -> Sequence:
    kind = type(value)
    if kind is FunctionType:  # its globals are the namespace itself
        return [value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__]
    if kind is list or kind is tuple:
        return value[:limit]
    if id(kind) in _HASHED and len(value) > limit:
        return ()
    return gc.get_referents(value)


def _namespaces() -> set:
    """The ids of all modules' dictionaries, where a walk would leave the variables."""
    return {id(getattr(module, "__dict__", None)) for module in list(sys.modules.values())}
