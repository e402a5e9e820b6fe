"""Pickling one record: as the standard library does, and with functions, modules and the kernel's classes."""

import pickle
import sys
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType

from ..definitions import CLASS_MODULE, CLASS_QUALNAME, found_at, is_class
from . import functions

PROTOCOL = 5
REASON_LENGTH = 300

_NAME_LENGTH = 100
_CLASS_NAME = type.__dict__["__name__"].__get__
# Classes that are known to come back from what they pickle to; records with others are tried once.
_WELL_KNOWN = frozenset(
    {
        "builtins",
        "collections",
        "copyreg",
        "datetime",
        "decimal",
        "fractions",
        "pathlib",
        "re",
        "uuid",
        functions.__name__,
    }
)


class RecordPickler(pickle.Pickler):
    """Pickles one record to a file.

    After `dump`, ``is_plain`` tells whether every class in it is well known.
    """

    def __init__(self, file, namespace: dict, named: dict) -> None:
        """``named``: id of an object -> the name under which another record (or the kernel) provides it."""
        super().__init__(file, PROTOCOL)
        self.is_plain = True
        self._namespace, self._named = namespace, named
        self._cells: dict = {}  # id of a cell -> its stand-in and itself

    def reducer_override(self, value):
        """How to pickle anything that is no plain data; NotImplemented leaves it to pickle."""
        name = self._named.get(id(value))
        if name is not None:
            self.is_plain = False
            return functions.main_attribute, (name,)
        kind = type(value)
        if kind is FunctionType:
            return self._function(value)
        if kind is CellType:
            content = _content(value)
            return functions.same, (self._stand_in(value),), content, None, None, functions.set_cell
        if kind is CodeType:
            return functions.make_code, functions.code_arguments(value)
        if is_class(value):
            return self._class(value)
        if issubclass(kind, ModuleType):
            return functions.module_named, (importable_name(value),)
        if kind is BuiltinFunctionType:
            self._note_module(value.__module__)
        return NotImplemented

    def _note_module(self, module) -> None:
        if type(module) is str and module not in _WELL_KNOWN:
            self.is_plain = False

    def _class(self, value):
        module, qualname = CLASS_MODULE(value), CLASS_QUALNAME(value)
        self._note_module(module)
        if module != "__main__":
            return NotImplemented
        self._check_definition(value, qualname)
        return functions.main_class, (qualname,)

    def _check_definition(self, value, qualname: str) -> None:
        """Check that ``value`` will be found where its qualified name says."""
        root = qualname.partition(".")[0]
        if "<locals>" in qualname:
            raise pickle.PicklingError(f"class {qualname} was made inside a function")
        if found_at("__main__", qualname) is not value:
            raise pickle.PicklingError(f"class {qualname} was defined anew or deleted since")
        if id(self._namespace.get(root)) not in self._named:
            raise pickle.PicklingError(f"class {qualname} was not made by a statement of a cell")

    def _function(self, value):
        module, qualname = value.__module__, value.__qualname__
        if module != "__main__" and found_at(module, qualname) is value:
            self._note_module(module)
            return NotImplemented
        root = qualname.partition(".")[0]
        is_method = module == "__main__" and root != qualname and found_at(module, qualname) is value
        if is_method and id(self._namespace.get(root)) in self._named:
            return functions.main_class, (qualname,)
        cells = [self._stand_in(cell) for cell in value.__closure__ or ()]
        arguments = (value.__code__, self._globals_name(value), tuple(cells))
        state = functions.function_state(value, cells)
        return functions.make_function, arguments, state, None, None, functions.set_function

    def _globals_name(self, value) -> str:
        names = value.__globals__
        if names is self._namespace:
            return "__main__"
        name = names.get("__name__")
        if type(name) is str and getattr(sys.modules.get(name), "__dict__", None) is names:
            return importable_name(sys.modules[name])
        raise pickle.PicklingError(f"function {value.__qualname__} belongs to no module")

    def _stand_in(self, cell) -> functions.CellKey:
        return self._cells.setdefault(id(cell), (functions.CellKey(), cell))[0]


class RecordUnpickler(pickle.Unpickler):
    """Unpickles one record; names of `__main__` are looked up in the namespace, never imported."""

    def find_class(self, module: str, name: str) -> object:
        if module == "__main__":
            return functions.main_class(name)
        return super().find_class(module, name)


def importable_name(module: ModuleType) -> str:
    """Return the name a module can be imported by in a new kernel, or raise PicklingError."""
    name = ModuleType.__getattribute__(module, "__dict__").get("__name__")
    if type(name) is not str or sys.modules.get(name) is not module:
        raise pickle.PicklingError(f"module {str(name)[:_NAME_LENGTH]!r} cannot be imported by that name")
    if name != "__main__" and ModuleType.__getattribute__(module, "__dict__").get("__spec__") is None:
        raise pickle.PicklingError(f"module {name[:_NAME_LENGTH]!r} was made by hand in this kernel")
    return name


def type_name(value: object) -> str:
    """Return the bounded name of a value's class without asking the value or its metaclass."""
    return _CLASS_NAME(type(value))[:_NAME_LENGTH]


def reason(error: BaseException) -> str:
    """Return what an exception says in one bounded line, also when saying it fails."""
    try:
        text = str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = ""
    text = " ".join(text[: 2 * REASON_LENGTH].split())
    kind = type_name(error)
    if isinstance(error, RecursionError):
        text = "it is nested too deeply"
    if kind not in ("PicklingError", "MissingName"):
        text = f"{kind}: {text}" if text else kind
    return text if len(text) <= REASON_LENGTH else text[: REASON_LENGTH - 1] + "…"


def _content(cell):
    try:
        return (cell.cell_contents,)
    except ValueError:
        return None
