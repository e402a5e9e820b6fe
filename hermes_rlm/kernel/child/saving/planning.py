"""Deciding what goes into which record of a checkpoint; nothing is pickled here."""

from abc import ABCMeta
from types import FunctionType, ModuleType

from ..definitions import (
    CLASS_BASES,
    CLASS_DICT,
    CLASS_QUALNAME,
    MODULE_NAMES,
    Definition,
    Definitions,
    ids,
    is_by_reference,
    is_class,
)
from .groups import grouped

_PLAIN_METACLASSES = ids(type, ABCMeta)
_ATOMS = ids(type(None), bool, int, float, complex, str, bytes)


class Member:
    """An object and all names of the namespace that are bound to it; a quiet one is no loss."""

    __slots__ = ("is_quiet", "names", "value")

    def __init__(self, names: list, value: object, is_quiet: bool = False) -> None:
        self.names, self.value, self.is_quiet = names, value, is_quiet


class Plan:
    """The records to write: modules and definitions one by one, values in groups that share objects."""

    def __init__(self, namespace: dict, definitions: Definitions, hidden: frozenset) -> None:
        """``namespace`` is a snapshot nobody changes any more."""
        self.nameless: list = []  # keys of the namespace that are no plain strings
        members: dict = {}
        for name, value in namespace.items():
            if type(name) is not str:
                self.nameless.append(name)
            elif name not in hidden and name not in MODULE_NAMES:
                members.setdefault(id(value), Member([], value)).names.append(name)
        self.modules = [member for member in members.values() if issubclass(type(member.value), ModuleType)]
        self.definitions: list = []  # (member, definition)
        self.fallbacks: dict = {}  # id of a value -> the definition to use when it does not pickle
        for definition in definitions.all():
            member = members.get(id(definition.value))
            if member is not None and (is_class(member.value) or is_by_reference(member.value)):
                self.definitions.append((member, definition))
            elif member is not None:
                self.fallbacks[id(member.value)] = definition
        provided = [*self.modules, *(member for member, _ in self.definitions)]
        helpers = {
            id(namespace[name]): name for name in hidden if id(type(namespace.get(name))) not in _ATOMS
        }
        # Objects other records (or every kernel) provide: pickled as a reference to their name.
        self.named = helpers | {id(member.value): member.names[0] for member, _ in self.definitions}
        taken = {id(member.value) for member in provided}
        values = [member for member in members.values() if id(member.value) not in taken]
        positions = grouped([member.value for member in values], self.named)
        self.groups = [[values[position] for position in group] for group in positions]


def attributes(definition: Definition) -> list:
    """Return members for the attributes of a class that its statement may not bring back as they are now.

    All that hold data, since cells change them without a trace; methods and other descriptors when they
    were set after the class was made. Those the class had at the end of its cell are quiet.
    """
    if not is_class(definition.value) or id(type(definition.value)) not in _PLAIN_METACLASSES:
        return []
    found = []
    for name, value in dict(CLASS_DICT(definition.value)).items():
        if type(name) is not str or name == "_abc_impl" or (name[:2] == "__" == name[-2:]):
            continue
        same = definition.attributes.get(name, definition) is value
        if not same or not _is_part(definition.value, name, value):
            found.append(Member([name], value, is_quiet=same))
    return found


def _is_part(owner: type, name: str, value: object) -> bool:
    """Whether an attribute is a method that stands in the class, another descriptor, or an inner class."""
    if type(value) is FunctionType:
        return value.__qualname__ == f"{CLASS_QUALNAME(owner)}.{name}"
    return is_class(value) or any("__get__" in CLASS_DICT(base) for base in CLASS_BASES(type(value)))
