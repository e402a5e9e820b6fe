"""Which statements made the kernel's own classes and decorated functions.

Such objects cannot be pickled by value: a checkpoint holds the text of their statement and runs it again.
This module is always loaded, so it imports builtin modules only.
"""

import sys
from _ast import AST, AnnAssign, Assign, AsyncFunctionDef, ClassDef, FunctionDef, ImportFrom, Name

FUNCTION = type(lambda: None)
CLASS_DICT = type.__dict__["__dict__"].__get__
CLASS_BASES = type.__dict__["__mro__"].__get__
CLASS_MODULE = type.__dict__["__module__"].__get__
CLASS_QUALNAME = type.__dict__["__qualname__"].__get__

# What a module has before any user code ran.
MODULE_NAMES = frozenset(
    {
        "__annotate__",
        "__annotations__",
        "__builtins__",
        "__cached__",
        "__conditional_annotations__",
        "__doc__",
        "__file__",
        "__loader__",
        "__name__",
        "__package__",
        "__spec__",
        "__warningregistry__",
    }
)

# Their pickle is a mere reference to a global name, so that name must be made again by its statement.
BY_REFERENCE = frozenset(
    {
        ("functools", "_lru_cache_wrapper"),
        ("typing", "TypeVar"),
        ("typing", "ParamSpec"),
        ("typing", "TypeVarTuple"),
        ("typing", "TypeAliasType"),
        ("typing", "NewType"),
    }
)


class Definition:
    """One object that statements made: running ``source`` in the namespace binds it to ``name`` again."""

    __slots__ = ("attributes", "cell", "name", "source", "value")

    def __init__(self, name: str, value: object, source: str, cell: int) -> None:
        self.name, self.value, self.source, self.cell = name, value, source, cell
        # What the class held when its cell had ended.
        self.attributes = dict(CLASS_DICT(value)) if is_class(value) else {}


class Definitions:
    """The definitions whose objects the namespace still holds, oldest first."""

    def __init__(self) -> None:
        self._all: list = []

    def observe(self, cell: int, source: str, tree: object, namespace: dict) -> None:
        """Remember what the top-level statements of a cell that has run (``tree``) bound to their names."""
        statements: dict = {}
        _collect(tree.body, statements)
        if not statements:
            return
        lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        start = _FUTURE if _postpones_annotations(tree) else ""
        for name, bindings in statements.items():
            value = namespace.get(name)
            if self.of(value) is None and _is_made_here(value, bindings[-1]):
                text = self._older_source(name, bindings) or start
                text += "".join(statement_text(node, lines) for node in _last_making(name, bindings))
                self.add(Definition(name, value, text, cell), namespace)

    def add(self, definition: Definition, namespace: dict) -> None:
        """Append one, and forget those whose object no name is bound to any more."""
        bound = {id(value) for value in dict(namespace).values()}
        self._all = [known for known in self._all if id(known.value) in bound]
        self._all.append(definition)

    def of(self, value: object) -> "Definition | None":
        """Return the definition that made exactly this object."""
        for known in self._all:
            if known.value is value:
                return known
        return None

    def all(self) -> list:
        """Return the definitions in the order in which they ran."""
        return list(self._all)

    def _older_source(self, name: str, bindings: list) -> str:
        """The text that must run first when the statements start from an older object of that name."""
        if not _uses(_last_making(name, bindings)[0], name):
            return ""
        older = [known.source for known in self._all if known.name == name]
        return older[-1] if older else ""


def ids(*classes: type) -> frozenset:
    """Return a set to look classes up in by id: hashing a class runs code of its metaclass."""
    return frozenset(map(id, classes))


def is_class(value: object) -> bool:
    """Whether it is a class, asked without running code of the value."""
    return issubclass(type(value), type)


def is_by_reference(value: object) -> bool:
    """Whether pickle would store a mere name for this object, which is no class."""
    kind = type(value)
    module = CLASS_MODULE(kind)
    return type(module) is str and (module, CLASS_QUALNAME(kind)) in BY_REFERENCE


def found_at(module: object, qualname: object) -> object:
    """Return what a dotted name leads to in a loaded module, None when nothing; runs no user code."""
    if type(module) is not str or type(qualname) is not str or module not in sys.modules:
        return None
    first, *rest = qualname.split(".")
    found = getattr(sys.modules[module], "__dict__", {}).get(first)
    for part in rest:
        found = CLASS_DICT(found).get(part) if is_class(found) else None
    return found


def statement_text(node: object, lines: list) -> str:
    """Return the text of a statement so that it can run alone, whatever block it stands in."""
    first = min([node.lineno, *[decorator.lineno for decorator in getattr(node, "decorator_list", ())]])
    taken = [line.encode("utf-8", "surrogatepass") for line in lines[first - 1 : node.end_lineno]]
    taken[-1] = taken[-1][: node.end_col_offset]
    before = taken[0][: node.col_offset]
    if before.strip():  # behind a colon or a semicolon
        taken[0] = taken[0][node.col_offset :]
        before = b""
    text = b"\n".join(taken).decode("utf-8", "surrogatepass") + "\n"
    return f"if True:\n{text}" if before else text


_FUTURE = "from __future__ import annotations\n"


def _collect(statements: list, found: dict) -> None:
    """Fill ``found``: name -> the statements that may bind it, in order, also those inside blocks."""
    for node in statements:
        if isinstance(node, (ClassDef, FunctionDef, AsyncFunctionDef)):
            if isinstance(node, ClassDef) or node.decorator_list:
                found.setdefault(node.name, []).append(node)
            continue
        targets = node.targets if isinstance(node, Assign) else [getattr(node, "target", None)]
        if isinstance(node, (Assign, AnnAssign)):
            for target in targets:
                if isinstance(target, Name):
                    found.setdefault(target.id, []).append(node)
        elif type(node).__name__ == "TypeAlias":
            found.setdefault(node.name.id, []).append(node)
        for block in ("body", "orelse", "finalbody"):
            _collect(getattr(node, block, ()), found)
        for branch in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
            _collect(branch.body, found)


def _is_made_here(value: object, statement: object) -> bool:
    """Whether a checkpoint needs the statement's text to bring the value back."""
    if is_class(value):
        module = CLASS_MODULE(value)
        return module == "__main__" or found_at(module, CLASS_QUALNAME(value)) is not value
    if isinstance(statement, (FunctionDef, AsyncFunctionDef)):
        return value is not None and type(value) is not FUNCTION
    return is_by_reference(value)


def _last_making(name: str, bindings: list) -> list:
    """The statements from the last one on that does not itself use the name it binds."""
    start = len(bindings) - 1
    while start and _uses(bindings[start], name):
        start -= 1
    return bindings[start:]


def _uses(statement: object, name: str) -> bool:
    """Whether a statement reads ``name`` when it runs; bodies of functions and classes do not count."""
    if isinstance(statement, ClassDef):
        parts = [*statement.decorator_list, *statement.bases, *statement.keywords]
    elif isinstance(statement, (FunctionDef, AsyncFunctionDef)):
        parts = [*statement.decorator_list, statement.args]
    else:
        parts = [statement.value]
    return any(_mentions(part, name) for part in parts)


def _mentions(node: object, name: str) -> bool:
    if isinstance(node, Name):
        return node.id == name
    if isinstance(node, list):
        return any(_mentions(item, name) for item in node)
    return isinstance(node, AST) and any(
        _mentions(getattr(node, field, None), name) for field in node._fields
    )


def _postpones_annotations(tree: object) -> bool:
    return any(
        isinstance(node, ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )
