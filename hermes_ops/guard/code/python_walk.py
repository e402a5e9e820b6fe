"""Walks the statements of Python in order: assignments, branches, loops, functions, and what is called."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..judge.invocation import OPAQUE
from ..rules.names import names
from . import folding
from .acts import Acts, Exhausted
from .python_calls import judge_call
from .python_expressions import MARK, PATH, Call, Expressions, canonical
from .value import Value, add, either, unknown

# How deep functions call functions, and exec runs text in text.
DEPTH = 5
# How many rounds of a loop over spelled-out items are walked one by one.
ROUNDS = 64

_PARAMETER = Value(name="parameter")
_BLOCKING = names("accept wait waitpid wait3 wait4 recv sleep input select join read get poll _exit")
_FORKS = frozenset(["fork", "forkpty", "vfork", "Process"])
# Tests of what a file is, which keep none of them out.
_KINDS = frozenset(["is_dir", "is_file", "is_symlink", "isdir", "isfile", "islink", "exists", "lexists"])
_ENDLESS = frozenset(["endless", "itertools.count()", "itertools.repeat()", "itertools.cycle()"])
_STARTS = frozenset(["Popen", "run", "call", "spawn", "system", "startfile", "spawnl", "spawnv"])


# The name under which code is parsed: the parser's own remarks about it are nobody's business.
_SOURCE = "<judged code>"
warnings.filterwarnings("ignore", module=re.escape(_SOURCE))


def parsed(code: str, mode: str = "exec") -> ast.Module | ast.Expression | None:
    """The syntax tree of Python text; None when there is none."""
    try:
        return ast.parse(code, _SOURCE, mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Walk(Expressions):
    """One reading of Python code; what it does goes to `acts`."""

    def __init__(
        self, acts: Acts, steps: int, argv: tuple[str, ...] = (), lines: list[str] | None = None
    ) -> None:
        super().__init__(acts, steps)
        self.argv = argv
        self.lines = lines or []
        self.depth = 0
        self.in_loop = False
        self.active: list[ast.AST] = []
        self.defined: dict[ast.AST, Value] = {}
        self.used: set[ast.AST] = set()
        self.returned: list[Value] = []

    # The whole

    def module(self, tree: ast.Module) -> None:
        self.body(tree.body)
        while self.defined:
            node, value = self.defined.popitem()
            if node not in self.used:
                self.apply(value, [], {}, sure=False)

    def text(self, code: str) -> bool:
        """Walk code given as text (exec); False when it cannot be read as Python."""
        if self.depth >= DEPTH:
            return False
        self.spend(len(code) // 8)
        tree = parsed(code.replace("\0", MARK))
        if tree is None:
            return False
        self.depth += 1
        lines, self.lines = self.lines, []
        try:
            self.body(tree.body)
        finally:
            self.depth -= 1
            self.lines = lines
        return True

    def expression_text(self, code: str) -> Value | None:
        """The value of an expression given as text (eval)."""
        if self.depth >= DEPTH:
            return None
        self.spend(len(code) // 32)
        tree = parsed(code.replace("\0", MARK).strip(), "eval")
        if tree is None:
            return None
        self.depth += 1
        lines, self.lines = self.lines, []
        try:
            return self.evaluate(tree.body)
        finally:
            self.depth -= 1
            self.lines = lines

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.steps -= 1
            if self.steps < 0:
                raise Exhausted
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement)

    # Simple statements

    def expression(self, node: ast.Expr) -> None:
        if type(node.value) is not ast.Constant:
            self.evaluate(node.value)

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

    def imported(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname:
                self.bind(alias.asname, Value(name=canonical(alias.name)))
            else:
                head = alias.name.partition(".")[0]
                self.bind(head, Value(name=canonical(head)))

    def imported_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
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

    # Branches

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
        elif self.in_loop and not _calls(test) & _KINDS:
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
        """`name.endswith(".pyc")` over the names of a folder: the name, and the pattern that is left of it."""
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

    # Loops

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
        if endless or _calls(node.test) & _FORKS:
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
            calls |= _calls(statement)
            stops = stops or any(type(one) in (ast.Break, ast.Return) for one in ast.walk(statement))
        if type(node) is ast.While:
            calls |= _calls(node.test)
        if calls & _BLOCKING or stops:
            return
        itself = any(type(one) is ast.Name and one.id == "__file__" for one in ast.walk(node))
        if calls & _FORKS or (itself and calls & _STARTS):
            self.mark(node.lineno)
            self.acts.report("code.fork-bomb")

    # Functions and classes

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        value = Value(name=f"function {node.name}", function=node)
        for decorator in node.decorator_list:
            wrapper = self.evaluate(decorator)
            if wrapper.function is not None:
                self.apply(wrapper, [value], {})
        self.defined[node] = value
        self.bind(node.name, value)

    def class_definition(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            self.evaluate(base)
        self.scopes.append({})
        self.body(node.body)
        members = self.scopes.pop()
        self.bind(node.name, Value(name=f"class {node.name}", pairs=members))

    def member(self, value: Value, attr: str) -> Value:
        if value.pairs is not None and value.name.startswith(("class ", "instance ")):
            return value.pairs.get(attr) or Value(of=value)
        if attr == "argv" and value.name == "sys" and self.argv:
            return Value(items=[Value("-c"), *[Value(word) for word in self.argv[:64]]])
        return super().member(value, attr)

    def apply(
        self, function: Value, args: list[Value], keywords: dict[str, Value], sure: bool = True
    ) -> Value:
        """Walk the body of a function of the code with its parameters bound. `sure` False: nobody calls it."""
        node = function.function
        if node in self.active:
            if _FORKS & _calls(node):  # type: ignore[arg-type]
                self.acts.report("code.fork-bomb")
            return Value()
        if len(self.active) >= DEPTH:
            return Value()
        self.used.add(node)  # type: ignore[arg-type]
        parameters = node.args  # type: ignore[union-attr]
        names = [*parameters.posonlyargs, *parameters.args]
        scope: dict[str, Value] = {}
        defaults = parameters.defaults
        for place, parameter in enumerate(names):
            later = place - (len(names) - len(defaults))
            if place < len(args):
                scope[parameter.arg] = args[place]
            elif parameter.arg in keywords:
                scope[parameter.arg] = keywords[parameter.arg]
            elif later >= 0:
                scope[parameter.arg] = self.evaluate(defaults[later])
            else:
                scope[parameter.arg] = _PARAMETER
        for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=False):
            given = keywords.get(parameter.arg)
            scope[parameter.arg] = given or (self.evaluate(default) if default is not None else _PARAMETER)
        if parameters.vararg is not None:
            scope[parameters.vararg.arg] = Value(items=args[len(names) :]) if sure else _PARAMETER
        if parameters.kwarg is not None:
            scope[parameters.kwarg.arg] = Value(pairs=dict(keywords))
        before = self.returned, self.in_loop, self.acts.guarded
        self.returned, self.in_loop = [], self.in_loop or not sure
        self.active.append(node)  # type: ignore[arg-type]
        self.scopes.append(scope)
        try:
            if type(node) is ast.Lambda:
                return self.evaluate(node.body)
            self.body(node.body)  # type: ignore[union-attr]
            return either(self.returned) if self.returned else Value()
        finally:
            self.scopes.pop()
            self.active.pop()
            self.returned, self.in_loop, self.acts.guarded = before

    # Calls

    def mark(self, line: int) -> None:
        """Name the line that the next findings are about."""
        if 0 < line <= len(self.lines):
            self.acts.part = self.lines[line - 1].strip().replace(MARK, "?")[:160]

    def called(self, function: Value, call: Call, node: ast.AST | None) -> Value:
        self.mark(call.line)
        if function.function is not None:
            args = call.args
            if call.receiver.name.startswith("instance "):
                args = [call.receiver, *args]
            return self.apply(function, args, call.keywords)
        if function.choices:
            return either(self.called(one, replace(call, name=one.name), node) for one in function.choices)
        if call.name.startswith("class ") and function.pairs is not None:
            instance = replace(function, name="instance " + call.name[6:])
            maker = function.pairs.get("__init__")
            if maker is not None and maker.function is not None:
                self.apply(maker, [instance, *call.args], call.keywords)
            return instance
        result = judge_call(self, call, function)
        if result is not None:
            return result
        return self.unread(call, function)

    def unread(self, call: Call, function: Value) -> Value:
        """A call of something that has no meaning here: its value is not known, its taints are kept."""
        receiver = call.receiver
        if receiver.items is not None or receiver.pairs is not None:
            result = self.changed(call)
            if result is not None:
                return result
        name = call.name or (f"{receiver.name}.{call.method}" if receiver.name else "")
        result = unknown(receiver, *call.all(), name=f"{name}()" if name and len(name) < 160 else "")
        if (
            receiver.is_known
            and receiver.name != PATH
            and call.method
            and all(one.is_known for one in call.args)
        ):
            result.taint = result.taint | {OPAQUE}
        if function.of is not None:
            result.of = function.of
        elif call.args and call.args[0].is_text:
            result.of = call.args[0]
        return result

    def changed(self, call: Call) -> Value | None:
        """The methods of a list or dict that change it."""
        items, args = call.receiver.items, call.args
        if items is not None:
            if call.method == "append" and args:
                items.append(args[0])
                return Value(None)
            if call.method == "extend" and args:
                items.extend(folding.elements(args[0]) or [self.element(args[0])])
                return Value(None)
            if call.method == "insert" and len(args) == 2 and type(args[0].known) is int:
                items.insert(args[0].known, args[1])
                return Value(None)
            if call.method == "reverse":
                items.reverse()
                return Value(None)
            if call.method == "pop" and items:
                place = args[0].known if args else -1
                return items[place] if type(place) is int and -len(items) <= place < len(items) else Value()
            if call.method in ("copy", "sort"):
                return call.receiver
        pairs = call.receiver.pairs
        if pairs is not None and not call.receiver.name:
            if call.method == "items":
                return Value(items=[Value(items=[Value(key), value]) for key, value in pairs.items()])
            if call.method == "values":
                return Value(items=list(pairs.values()))
            if call.method == "keys":
                return Value(items=[Value(key) for key in pairs])
            if call.method in ("get", "pop", "setdefault") and args and args[0].is_known:
                return pairs.get(args[0].text) or (args[1] if len(args) > 1 else Value(None))
            if call.method == "copy":
                return replace(call.receiver, pairs=dict(pairs))
            if call.method == "update" and args and args[0].pairs is not None:
                pairs.update(args[0].pairs)
                return Value(None)
        return None


def _calls(node: ast.AST) -> set[str]:
    """The last names of what is called in a tree."""
    names = set()
    for one in ast.walk(node):
        if type(one) is ast.Call:
            target = one.func
            names.add(target.attr if type(target) is ast.Attribute else getattr(target, "id", ""))
    return names


_STAR = {
    "os": ("system", "popen", "remove", "unlink", "execv", "execvp", "execl", "execlp", "kill", "environ", "path",
           "rename", "fork", "dup2", "chmod", "chown", "walk", "listdir", "getenv", "truncate", "chdir"),
    "subprocess": ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"),
    "shutil": ("rmtree", "move", "copy", "copy2", "copyfile", "copytree", "chown"),
    "pathlib": ("Path", "PurePath", "PosixPath"),
    "socket": ("socket", "create_connection"),
    "hermes_tools": ("terminal", "write_file", "patch", "read_file"),
    "base64": ("b64decode", "b32decode", "b85decode"),
    "urllib.request": ("urlopen", "urlretrieve", "Request"),
}  # fmt: skip

_STATEMENTS: dict[type, Callable[[Walk, ast.AST], None]] = {
    ast.Expr: Walk.expression,
    ast.Assign: Walk.assignment,
    ast.AnnAssign: Walk.annotated,
    ast.AugAssign: Walk.augmented,
    ast.Import: Walk.imported,
    ast.ImportFrom: Walk.imported_from,
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
