"""What a cell does to the names of its session, read from its syntax tree; nothing is executed.

Which names were bound is in the journal. The tree says what the journal cannot: which values a cell used,
which it may have changed in place, and what may be part of what. Where it cannot be known the answer is
yes: an export with a cell too many still gives the same names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods that by convention leave their object as it is (unless called with inplace=True).
READ_ONLY = _words("""
    agg aggregate as_posix astype capitalize casefold copy corr count cumsum decode describe diff
    drop_duplicates dropna duplicated encode endswith exists fillna format get glob groupby head index
    info is_dir is_file isalpha isdigit isin isna isnull items iterdir join keys ljust lower lstrip max
    mean median melt min mode nlargest notna notnull nsmallest nunique partition pivot_table quantile
    read_bytes read_text reset_index resolve rjust rolling rstrip sample select_dtypes set_index
    sort_index sort_values split splitlines startswith stat std strftime strip sum tail title to_dict
    to_list to_markdown to_numpy to_string tolist unique upper value_counts values zfill
""")
# Functions and methods of imported modules that change what is given to them, or the module's own state.
CHANGING = _words("""
    add append basicConfig chdir clear config copyto discard extend fill_diagonal filterwarnings heapify
    heappop heappush heappushpop heapreplace insert insort insort_left insort_right pop putenv putmask
    register remove seed shuffle simplefilter unsetenv update use
""")
# Builtins whose result has no part of their arguments, and those that may have, all without changing them.
FRESH = _words("""
    abs all any ascii bin bool bytes callable chr complex float format hash hex id int isinstance
    issubclass len oct ord pow print range repr round str sum type
""")
HARMLESS = FRESH | _words("""
    dict dir divmod enumerate filter frozenset getattr hasattr help iter list map max memoryview min
    reversed set slice sorted super tuple vars zip
""")

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
COMPOUND = tuple(
    getattr(ast, name)
    for name in ("For", "AsyncFor", "While", "If", "With", "AsyncWith", "Try", "TryStar", "Match")
    if hasattr(ast, name)
)


@dataclass
class Effects:
    """What one cell does; every set holds names of the session.

    reads           whose value before the cell it uses
    handed          those of them that are not merely called: they may become part of what it binds
    bound           what its statements bind, in whatever branch
    imported        what import statements bind; classes: what class statements bind
    changes         whose value it may change in place
    parts           name -> names whose values may be, or be part of, its value from now on
    later_reads     used, and later_changes changed, when what it defines is called
    """

    reads: set[str] = field(default_factory=set)
    handed: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    parts: dict[str, set[str]] = field(default_factory=dict)
    later_reads: set[str] = field(default_factory=set)
    later_changes: set[str] = field(default_factory=set)


def of_cell(tree: ast.Module, is_module: Callable[[str], bool], finished: bool = True) -> Effects:
    """Read the effects of a cell. `is_module` tells of a name of the session whether an import bound it.

    Of a cell that failed the last statement did not end. If it is a simple one it changed nothing, unless
    it is a function that failed in the middle.
    """
    reader = _Reader(is_module)
    for statement in tree.body:
        changed = set(reader.effects.changes)
        reader.statement(statement)
        if not finished and statement is tree.body[-1] and not _may_stop_inside(statement):
            reader.effects.changes = changed
    return reader.effects


def _may_stop_inside(statement: ast.stmt) -> bool:
    if isinstance(statement, COMPOUND):
        return True
    called = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id not in HARMLESS for function in called)


def bindings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that statements bind in the scope they stand in (not in functions inside them)."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            waiting += node.decorator_list
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, _COMPREHENSIONS):
            yield from _walrus_targets(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imported(node)
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        else:
            named = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(named, str):  # of except and of the patterns of match
                yield named
            waiting += ast.iter_child_nodes(node)


def _walrus_targets(comprehension: ast.AST) -> Iterator[str]:
    """An assignment expression in a comprehension binds in the scope around it."""
    for node in ast.walk(comprehension):
        if isinstance(node, ast.NamedExpr):
            yield node.target.id


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name.partition(".")[0]


class _ClassScope(dict):
    """What a class body binds; the functions in it do not see it."""


class _Reader(ast.NodeVisitor):
    """Walks a cell. `_scopes` are the functions, classes and comprehensions around the current node: the
    local names of each, with the names of the session that may be part of their values."""

    def __init__(self, is_module: Callable[[str], bool]) -> None:
        self.effects = Effects()
        self._is_module = lambda name: name in self.effects.imported or is_module(name)
        self._scopes: list[dict[str, set[str]]] = []
        self._deferred = 0  # depth in functions: what stands there happens when they are called
        self._surely_bound: set[str] = set()

    def statement(self, node: ast.stmt) -> None:
        """Read the next statement of the cell itself."""
        self.visit(node)
        names = set(bindings([node]))
        self.effects.bound |= names
        if isinstance(node, ast.Delete):
            self._surely_bound -= names
        elif not isinstance(node, COMPOUND) or isinstance(node, (ast.With, ast.AsyncWith)):
            self._surely_bound |= names

    # Names ---------------------------------------------------------------------------------------

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)

    def _read(self, name: str, *, handed: bool) -> None:
        if self._is_local(name):
            return
        if self._deferred:
            self.effects.later_reads.add(name)
            return
        if name in self.effects.bound:
            # It may be a function of this cell, and be called here.
            self.effects.reads |= self.effects.later_reads - self._surely_bound
            self.effects.changes |= self.effects.later_changes
        if name in self._surely_bound:
            return
        self.effects.reads.add(name)
        if handed:
            self.effects.handed.add(name)

    def _change(self, names: set[str]) -> None:
        if self._deferred:
            self.effects.later_changes |= names
        else:
            self.effects.changes |= names
            self.effects.reads |= names - self._surely_bound

    def _becomes(self, target: ast.AST, value: ast.AST) -> None:
        """Note that the names in a target now hold what an expression gives, or parts of it."""
        parts = self._origins(value)
        for name in bindings([target]):
            scope = next((scope for scope in reversed(self._scopes) if name in scope), None)
            if scope is not None:
                scope[name] |= parts
            elif not self._deferred:
                self.effects.parts.setdefault(name, set()).update(parts)
        for name in self._stored_in(target):
            self.effects.parts.setdefault(name, set()).update(parts)

    def _stored_in(self, target: ast.AST) -> set[str]:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            return self._origins(target)
        if isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
            return {name for child in ast.iter_child_nodes(target) for name in self._stored_in(child)}
        return set()

    def _origins(self, node: ast.AST | None) -> set[str]:
        """Return the names of the session whose values an expression's value may be, or be part of."""
        if isinstance(node, ast.Name):
            scope = next((scope for scope in reversed(self._scopes) if node.id in scope), None)
            return {node.id} if scope is None else set(scope[node.id])
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred, ast.Await, ast.NamedExpr)):
            return self._origins(node.value)
        if isinstance(node, ast.Call):
            return self._origins_of_call(node)
        if isinstance(node, ast.IfExp):
            return self._origins(node.body) | self._origins(node.orelse)
        if isinstance(node, (ast.BoolOp, ast.List, ast.Tuple, ast.Set, ast.Dict)):
            values = node.elts if hasattr(node, "elts") else node.values
            return {name for value in values for name in self._origins(value)}
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr, ast.Mult)):
            return self._origins(node.left) | self._origins(node.right)  # of lists and dicts
        if isinstance(node, _COMPREHENSIONS):
            return {name for part in node.generators for name in self._origins(part.iter)}
        return set()

    def _origins_of_call(self, node: ast.Call) -> set[str]:
        if isinstance(node.func, ast.Name):
            if node.func.id in FRESH:
                return set()
            found: set[str] = set()
        else:
            found = {name for name in self._origins(node.func) if not self._is_module(name)}
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            found |= self._origins(argument)
        return found

    # What changes something ----------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        changed = self._changed_by_call(node, arguments)
        self._change({name for part in changed for name in self._origins(part)})
        if isinstance(node.func, ast.Name):
            self._read(node.func.id, handed=False)
        else:
            self.visit(node.func)
        for argument in arguments:
            self.visit(argument)

    def _changed_by_call(self, node: ast.Call, arguments: list[ast.expr]) -> list[ast.expr]:
        """Return the expressions whose values a call may change."""
        if isinstance(node.func, ast.Name):
            name = node.func.id
            harmless = name in HARMLESS or name[:1].isupper()
            if self._is_module(name):
                harmless = name not in CHANGING
            return [] if harmless else arguments
        if not isinstance(node.func, ast.Attribute):
            return arguments
        method, receiver = node.func.attr, node.func.value
        if all(map(self._is_module, self._origins(receiver) or {""})):
            changes = method in CHANGING or method.startswith("set")
            return [receiver, *arguments] if changes else []
        inplace = any(keyword.arg == "inplace" for keyword in node.keywords)
        if method in READ_ONLY and not inplace:
            return []
        for name in self._origins(receiver):
            for argument in arguments:
                self.effects.parts.setdefault(name, set()).update(self._origins(argument))
        return [receiver]

    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._change(self._origins(node.value))
        self.generic_visit(node)

    visit_Subscript = visit_Attribute

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._change(self._origins(node.target))
        if isinstance(node.target, ast.Name):
            self._read(node.target.id, handed=True)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Store):
            self._read(node.id, handed=True)
        elif self._deferred and not self._is_local(node.id):
            self.effects.later_changes.add(node.id)  # declared global

    # What binds ----------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._becomes(target, node.value)
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._becomes(node.target, node.value)
        self.generic_visit(node)

    visit_NamedExpr = visit_AnnAssign

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._becomes(node.target, node.iter)
        self.generic_visit(node)

    visit_AsyncFor = visit_For

    def visit_withitem(self, node: ast.withitem) -> None:
        if node.optional_vars is not None:
            self._becomes(node.optional_vars, node.context_expr)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        if not self._scopes:
            self.effects.imported.update(_imported(node))

    visit_ImportFrom = visit_Import

    # Scopes --------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        parameters = [part for part in ast.walk(arguments) if isinstance(part, ast.arg)]
        annotations = [part.annotation for part in parameters] + [getattr(node, "returns", None)]
        evaluated = [*getattr(node, "decorator_list", ()), *arguments.defaults, *arguments.kw_defaults]
        for part in evaluated + annotations:
            if part is not None:
                self.visit(part)
        body = node.body if isinstance(node.body, list) else [node.body]
        own = {part.arg for part in parameters} | set(bindings(body))
        own -= {name for part in declarations(body) for name in part.names}
        around = self._scopes
        self._scopes = [scope for scope in around if not isinstance(scope, _ClassScope)]
        self._scopes.append({name: set() for name in own})
        self._deferred += 1
        for part in body:
            self.visit(part)
        self._deferred -= 1
        self._scopes = around

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not self._scopes:
            self.effects.classes.add(node.name)
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(part)
        self._scopes.append(_ClassScope((name, set()) for name in bindings(node.body)))
        for part in node.body:
            self.visit(part)
        self._scopes.pop()

    def _visit_comprehension(self, node: ast.AST) -> None:
        scope: dict[str, set[str]] = {}
        self.visit(node.generators[0].iter)
        self._scopes.append(scope)
        for part in node.generators:
            scope.update((name, self._origins(part.iter)) for name in bindings([part.target]))
        for child in ast.iter_child_nodes(node):
            self.visit(child)
        self._scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension


def declarations(nodes: Iterable[ast.AST]) -> Iterator[ast.Global | ast.Nonlocal]:
    """Yield the global and nonlocal statements of a function itself."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield node
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
