"""Walks the statements of Python in order: assignments, imports, branches, loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..judge.invocation import OPAQUE
from ..rules.names import names
from . import folding
from .acts import Exhausted
from .python_functions import FORKS, Functions, calls_in
from .python_names import canonical
from .value import Value, add, either

ROUNDS = 64
_BLOCKING = names("accept wait waitpid wait3 wait4 recv sleep input select join read get poll _exit")
_KINDS = frozenset(["is_dir", "is_file", "is_symlink", "isdir", "isfile", "islink", "exists", "lexists"])
_ENDLESS = frozenset(["endless", "itertools.count()", "itertools.repeat()", "itertools.cycle()"])
_STARTS = frozenset(["Popen", "run", "call", "spawn", "system", "startfile", "spawnl", "spawnv"])


class Walk(Functions):
    """One reading of Python code; what it does goes to `acts`."""

    def module(self, tree: ast.Module) -> None:
        self.body(tree.body)
        while self.defined:
            node, value = self.defined.popitem()
            if node not in self.used:
                self.apply(value, [], {}, sure=False)

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.steps -= 1
            if self.steps < 0:
                raise Exhausted
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement)

    def expression(self, node: ast.Expr) -> None:
        if type(node.value) is not ast.Constant:
            value = self.evaluate(node.value)
            if self.unwritten and value.of is not None and any(one is value for one in self.unwritten):
                self.acts.write(value.of, empties=True)

    def assignment(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def augmented(self, node: ast.AugAssign) -> None:
        value = self.evaluate(node.value)
        if type(node.target) is ast.Name:
            before = self.resolve(node.target.id)
            self.bind(node.target.id, self.operate(type(node.op), before, value))
        else:
            before = self.evaluate(node.target)
            self.assign(node.target, add(before, value) if type(node.op) is ast.Add else Value())

    def declared(self, node: ast.Global | ast.Nonlocal) -> None:
        """From here on these names are those of the module, or of the function around this one."""
        here = len(self.scopes) - 1
        for name in node.names:
            around = (place for place in range(here - 1, 0, -1) if name in self.scopes[place])
            self.outer[here, name] = next(around, 0) if type(node) is ast.Nonlocal else 0

    def written_module(self, name: str) -> None:
        """A module that this line wrote runs when it is imported."""
        held = self.acts.held(f"{name.replace('.', '/')}.py")
        if held is not None and held.is_text:
            self.text(held.text)

    def imported(self, node: ast.Import) -> None:
        for alias in node.names:
            self.written_module(alias.name)
            if alias.asname:
                self.bind(alias.asname, Value(name=canonical(alias.name)))
            else:
                head = alias.name.partition(".")[0]
                self.bind(head, Value(name=canonical(head)))

    def imported_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        self.written_module(module)
        for alias in node.names:
            if alias.name == "*":
                self.starred.append(module)
                for name in _STAR.get(module, ()):
                    self.bind(name, Value(name=f"{module}.{name}"))
            else:
                name = canonical(f"{module}.{alias.name}")
                known = folding.named_constant(name)
                if known is None:
                    known = (
                        self.member(Value(name="os"), "environ") if name == "os.environ" else Value(name=name)
                    )
                self.bind(alias.asname or alias.name, known)

    def result(self, node: ast.Return) -> None:
        if node.value is not None:
            self.returned.append(self.evaluate(node.value))

    def raised(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.evaluate(node.exc)

    def asserted(self, node: ast.Assert) -> None:
        self.evaluate(node.test)

    def deleted(self, node: ast.Delete) -> None:
        for target in node.targets:
            if type(target) is not ast.Name:
                self.evaluate(target)

    def ways(self, bodies: list[list[ast.stmt]]) -> None:
        """Walk each body from the same names, then keep for each name all that it may be."""
        outer = self.branch
        ends: list[dict[tuple[int, str], Value]] = []
        starts: dict[tuple[int, str], Value | None] = {}
        for statements in bodies:
            self.branch = log = {}
            self.body(statements)
            ends.append({key: self.scopes[key[0]][key[1]] for key in log if key[0] < len(self.scopes)})
            for (scope, name), before in log.items():
                starts.setdefault((scope, name), before)
                if scope >= len(self.scopes):
                    continue
                if before is None:
                    self.scopes[scope].pop(name, None)
                else:
                    self.scopes[scope][name] = before
        self.branch = outer
        for (scope, name), before in starts.items():
            if scope >= len(self.scopes):
                continue
            values = [end.get((scope, name), before) for end in ends]
            kept = [value for value in values if value is not None]
            if outer is not None:
                outer.setdefault((scope, name), before)
            self.scopes[scope][name] = either(kept)

    def condition(self, node: ast.If) -> None:
        test = node.test
        if type(test) is ast.Constant:
            self.body(node.body if test.value else node.orelse)
            return
        self.evaluate(test)
        guarded = self.acts.guarded
        denied = type(test) is ast.UnaryOp and type(test.op) is ast.Not
        narrowed = self.narrowed(test.operand if denied else test) if self.in_loop else None
        if narrowed is not None and not denied:
            whole = self.resolve(narrowed[0])
            self.bind(*narrowed)
        elif self.in_loop and not calls_in(test) & _KINDS:
            self.acts.guarded = True
        self.ways([node.body, node.orelse])
        leaves = type(node.body[-1]) in (ast.Continue, ast.Break, ast.Return)
        self.acts.guarded = guarded
        if narrowed is None:
            self.acts.guarded = guarded or (self.in_loop and leaves)
        elif not denied:
            self.bind(narrowed[0], whole)
        elif leaves:
            self.bind(*narrowed)

    def narrowed(self, test: ast.expr) -> tuple[str, Value] | None:
        """`name.endswith(".pyc")` over the names of a folder: the name, and the pattern left of it."""
        if type(test) is not ast.Call or type(test.func) is not ast.Attribute or len(test.args) != 1:
            return None
        owner, method = test.func.value, test.func.attr
        if type(owner) is not ast.Name or method not in ("endswith", "startswith"):
            return None
        whole, given = self.resolve(owner.id), self.evaluate(test.args[0])
        ends = given.items or [given]
        if (
            not whole.glob
            or whole.text != "*"
            or not all(end.is_text and end.is_known and end.text for end in ends)
        ):
            return None
        patterns = [f"*{end.text}" if method == "endswith" else f"{end.text}*" for end in ends]
        return owner.id, either(replace(whole, known=pattern, choices=()) for pattern in patterns)

    def attempt(self, node: ast.Try) -> None:
        if node.handlers:
            self.ways([[*node.body, *node.orelse], *[handler.body for handler in node.handlers]])
        else:
            self.body(node.body)
        self.body(node.finalbody)

    def match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        self.ways([case.body for case in node.cases])

    def context(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
            if value.name == "file(w)" and value.of is not None and type(node.body[0]) is ast.Pass:
                self.acts.write(value.of, empties=True)
        self.body(node.body)

    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.evaluate(node.iter)
        items = folding.elements(over)
        if over.name in _ENDLESS:
            self.endless(node)
        before = self.in_loop, self.acts.guarded
        if items is not None and len(items) <= ROUNDS:
            for item in items:
                self.assign(node.target, item)
                self.body(node.body)
        else:
            self.acts.prints_more()
            self.in_loop = True
            self.assign(node.target, self.element(over) if items is None else either(items[:4]))
            self.body(node.body)
            if items is not None:
                self._veil(node.body)
        self.in_loop, self.acts.guarded = before
        self.body(node.orelse)

    def _veil(self, statements: list[ast.stmt]) -> None:
        """What a loop over too many constants puts together is not known."""
        for statement in statements:
            target = None
            if type(statement) is ast.AugAssign:
                target = statement.target
            elif type(statement) is ast.Assign and type(statement.value) is ast.BinOp:
                target = statement.targets[0]
            if type(target) is ast.Name and self.resolve(target.id).is_text:
                self.bind(target.id, Value(taint=frozenset([OPAQUE])))

    def repeat(self, node: ast.While) -> None:
        endless = type(node.test) is ast.Constant and bool(node.test.value)
        value = Value() if endless else self.evaluate(node.test)
        if endless or calls_in(node.test) & FORKS:
            self.endless(node)
        elif value.known is False:
            return
        before = self.in_loop, self.acts.guarded
        self.in_loop = True
        self.body(node.body)
        self._veil(node.body)
        self.in_loop, self.acts.guarded = before
        self.body(node.orelse)

    def endless(self, node: ast.While | ast.For | ast.AsyncFor) -> None:
        calls = set()
        stops = False
        for statement in node.body:
            calls |= calls_in(statement)
            stops = stops or any(type(one) in (ast.Break, ast.Return) for one in ast.walk(statement))
        if type(node) is ast.While:
            calls |= calls_in(node.test)
        if calls & _BLOCKING or stops:
            return
        itself = any(type(one) is ast.Name and one.id == "__file__" for one in ast.walk(node))
        if calls & FORKS or (itself and calls & _STARTS):
            self.mark(node.lineno)
            self.acts.report("code.fork-bomb")


# What `from module import *` binds, of what matters here.
_STAR = {
    "os": names(
        "system popen remove unlink execv execvp execl execlp kill environ path rename fork dup2 chmod chown "
        "walk listdir getenv truncate chdir"
    ),
    "subprocess": names("run call check_call check_output Popen getoutput getstatusoutput"),
    "shutil": names("rmtree move copy copy2 copyfile copytree chown"),
    "pathlib": names("Path PurePath PosixPath"),
    "socket": names("socket create_connection"),
    "hermes_tools": names("terminal write_file patch read_file"),
    "base64": names("b64decode b32decode b85decode"),
    "urllib.request": names("urlopen urlretrieve Request"),
}

_STATEMENTS: dict[type, Callable[[Walk, ast.AST], None]] = {
    ast.Expr: Walk.expression,
    ast.Assign: Walk.assignment,
    ast.AnnAssign: Walk.annotated,
    ast.AugAssign: Walk.augmented,
    ast.Import: Walk.imported,
    ast.ImportFrom: Walk.imported_from,
    ast.Global: Walk.declared,
    ast.Nonlocal: Walk.declared,
    ast.Return: Walk.result,
    ast.Raise: Walk.raised,
    ast.Assert: Walk.asserted,
    ast.Delete: Walk.deleted,
    ast.If: Walk.condition,
    ast.Try: Walk.attempt,
    ast.Match: Walk.match,
    ast.With: Walk.context,
    ast.AsyncWith: Walk.context,
    ast.For: Walk.loop,
    ast.AsyncFor: Walk.loop,
    ast.While: Walk.repeat,
    ast.FunctionDef: Walk.definition,
    ast.AsyncFunctionDef: Walk.definition,
    ast.ClassDef: Walk.class_definition,
}  # type: ignore[dict-item]
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Walk.attempt  # type: ignore[assignment]
