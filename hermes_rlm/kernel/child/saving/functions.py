"""What stands in pickles for functions, closures, code, modules and names of the kernel's namespace.

Pickles refer to these by this module's name and theirs: renaming one needs a new file format.
"""

import importlib
import marshal
import sys
from importlib.util import MAGIC_NUMBER
from types import CellType, FunctionType

from ..definitions import found_at

_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
_STATE = ("__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__doc__", "__module__")


class CellKey:
    """Stands for a closure cell inside a pickle, so that functions that share the cell share it again."""

    def __reduce__(self):
        return make_cell, ()


def make_cell():
    return CellType()


def same(value):
    return value


def set_cell(cell, content) -> None:
    cell.cell_contents = content[0]


def code_arguments(code) -> tuple:
    """Return the arguments of `make_code` for a code object; ValueError when marshal cannot hold it."""
    return _PYTHON, MAGIC_NUMBER, marshal.dumps(code)


def make_code(python, magic, data):
    # Code of another version would crash the interpreter.
    if magic != MAGIC_NUMBER:
        raise ValueError(f"function code of Python {python} cannot run on Python {_PYTHON}")
    return marshal.loads(data)


def function_state(function, cells: list) -> dict:
    """Return everything of a function but its code and globals; ``cells`` are the stand-ins of its cells."""
    state = {name: getattr(function, name, None) for name in _STATE}
    state["__dict__"] = dict(function.__dict__)
    state["__type_params__"] = getattr(function, "__type_params__", ())
    try:
        state["__annotations__"] = function.__annotations__
    except Exception:  # 3.14 evaluates them now, and a name in them may not exist
        state["__annotations__"] = {}
    state["cells"] = []
    for key, cell in zip(cells, function.__closure__ or (), strict=True):
        try:
            state["cells"].append((key, cell.cell_contents))
        except ValueError:  # an empty cell
            pass
    return state


def make_function(code, module, cells):
    """Return a bare function whose globals are those of a module; `set_function` completes it."""
    return FunctionType(code, module_named(module).__dict__, None, None, tuple(cells) or None)


def set_function(function, state: dict) -> None:
    for cell, content in state.pop("cells"):
        cell.cell_contents = content
    function.__dict__.update(state.pop("__dict__"))
    parameters = state.pop("__type_params__")
    if parameters:
        function.__type_params__ = parameters
    for name, value in state.items():
        setattr(function, name, value)


def module_named(name):
    """Return a module, imported when it is not loaded."""
    if name != "__main__":
        importlib.import_module(name)
    return sys.modules[name]


def main_attribute(name):
    """Return what a name of the namespace is bound to. Raises MissingName when it is not there (yet)."""
    try:
        return sys.modules["__main__"].__dict__[name]
    except KeyError:
        raise MissingName(name) from None


def main_class(qualname):
    """Return the class or method of the namespace a dotted name leads to."""
    found = found_at("__main__", qualname)
    if found is None:
        raise MissingName(qualname)
    return found


class MissingName(Exception):
    """A record refers to a name of the namespace that is not bound."""

    def __str__(self) -> str:
        return f"it needs {self.args[0]!r}, which could not be restored"
