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

SEEN_LIMIT = 200_000

_ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented)})
_CLOSED = frozenset({CodeType, CoroutineType, FrameType, GeneratorType, BuiltinFunctionType})
_HASHED = frozenset({dict, set, frozenset})


def grouped(variables: list, named: dict, limit: int = SEEN_LIMIT) -> list:
    """Return lists of positions in ``variables`` (values), each list sharing objects, in first-seen order.

    Looks at no more than ``limit`` objects, the ones nearest to the variables first; what lies deeper
    is taken as not shared. ``named`` holds the ids of objects that are pickled as references.
    """
    leaders = list(range(len(variables)))

    def leader(position: int) -> int:
        while leaders[position] != position:
            leaders[position] = leaders[leaders[position]]
            position = leaders[position]
        return position

    stops = _namespaces()
    owners: dict = {}  # id of an object -> the first variable it was reached from
    kept = []  # their ids stay theirs while the walk lasts
    waiting = deque((value, position) for position, value in enumerate(variables))
    while waiting and limit > 0:
        value, position = waiting.popleft()
        kind = type(value)
        if kind in _ATOMS or kind in _CLOSED or id(value) in named or id(value) in stops:
            continue
        if kind is tuple and not value:  # there is only one
            continue
        if issubclass(kind, (type, ModuleType)):
            continue
        owner = owners.get(id(value))
        if owner is not None:
            leaders[leader(position)] = leader(owner)
            continue
        owners[id(value)] = position
        kept.append(value)
        inner = _referents(value, kind, limit)
        limit -= len(inner) + 1
        waiting.extend((item, position) for item in inner if type(item) not in _ATOMS)
    groups: dict = {}
    for position in range(len(variables)):
        groups.setdefault(leader(position), []).append(position)
    return sorted(groups.values())


def _referents(value, kind, limit: int) -> Sequence:
    if kind is FunctionType:  # its globals are the namespace itself
        return [value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__]
    if kind is list or kind is tuple:
        return value[:limit]
    if kind in _HASHED and len(value) > limit:
        return ()
    return gc.get_referents(value)


def _namespaces() -> set:
    """The ids of all modules' dictionaries, where a walk would leave the variables."""
    return {id(getattr(module, "__dict__", None)) for module in list(sys.modules.values())}
