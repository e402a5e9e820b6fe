"""Functions and classes of Python code: their bodies are walked with the values they are called with."""

from __future__ import annotations

import ast
import re
import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace

from ..judge.invocation import OPAQUE
from . import folding
from .acts import Acts
from .python_calls import judge_call
from .python_expressions import Expressions
from .python_names import MARK, PATH, Call
from .value import Value, either, unknown

# How deep functions call functions, and exec runs text in text.
DEPTH = 5
FORKS = frozenset(["fork", "forkpty", "vfork", "Process"])
_PARAMETER = Value(name="parameter")
# The name under which code is parsed: the parser's own remarks about it are nobody's business.
_SOURCE = "<judged code>"
warnings.filterwarnings("ignore", module=re.escape(_SOURCE))


def parsed(code: str, mode: str = "exec") -> ast.Module | ast.Expression | None:
    """The syntax tree of Python text; None when there is none."""
    try:
        return ast.parse(code, _SOURCE, mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def calls_in(node: ast.AST) -> set[str]:
    """The last names of what is called in a tree."""
    names = set()
    for one in ast.walk(node):
        if type(one) is ast.Call:
            target = one.func
            names.add(target.attr if type(target) is ast.Attribute else getattr(target, "id", ""))
    return names


class Functions(Expressions):
    """Expressions that know the functions of the code."""

    def __init__(self, acts: Acts, steps: int, lines: list[str] | None = None) -> None:
        super().__init__(acts, steps)
        self.lines = lines or []
        self.unwritten: list[Value] = []  # files opened for writing that nothing was put into yet
        self.depth = 0
        self.in_loop = False
        self.active: list[ast.AST] = []
        self.defined: dict[ast.AST, Value] = {}
        self.used: set[ast.AST] = set()
        self.returned: list[Value] = []

    def text(self, code: str) -> bool:
        """Walk code given as text (exec); False when it cannot be read as Python."""
        if self.depth >= DEPTH:
            return False
        self.spend(12 + len(code) // 8)
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
        self.spend(8 + len(code) // 16)
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
        if value.name == "sys":
            given = self.acts.given
            if attr in ("argv", "orig_argv"):
                return Value(name="sys.argv", items=given.arguments(("-c",)))
            if attr == "stdin":
                taint, source = given.stdin.taint, given.stdin.source or "the input"
                return Value(name="sys.stdin", items=given.lines(), taint=taint, source=source)
        return super().member(value, attr)

    def apply(
        self, function: Value, args: list[Value], keywords: dict[str, Value], sure: bool = True
    ) -> Value:
        """Walk the body of a function with its parameters bound. `sure` False: nobody calls it."""
        node = function.function
        if node in self.active:
            if FORKS & calls_in(node):  # type: ignore[arg-type]
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
        before = self.returned, self.in_loop, self.acts.guarded, self.acts.unsure
        self.returned, self.in_loop = [], self.in_loop or not sure
        self.acts.unsure = self.acts.unsure or not sure
        self.active.append(node)  # type: ignore[arg-type]
        self.scopes.append(scope)
        try:
            if type(node) is ast.Lambda:
                return self.evaluate(node.body)
            self.body(node.body)  # type: ignore[union-attr]
            return either(self.returned) if self.returned else Value()
        finally:
            self.scopes.pop()
            if self.outer:
                self.outer = {key: at for key, at in self.outer.items() if key[0] < len(self.scopes)}
            self.active.pop()
            self.returned, self.in_loop, self.acts.guarded, self.acts.unsure = before

    def touched(self, values: list[Value]) -> None:
        """Something may be put into these files: they were handed on or written to."""
        inner = [item for value in values for item in (value.items or ())]
        self.unwritten = [
            handle for handle in self.unwritten if not any(handle is value for value in (*values, *inner))
        ]

    def mark(self, line: int) -> None:
        """Name the line that the next findings are about."""
        if 0 < line <= len(self.lines):
            self.acts.part = self.lines[line - 1].strip().replace(MARK, "?")[:160]

    def called(self, function: Value, call: Call, node: ast.AST | None) -> Value:
        self.mark(call.line)
        if self.unwritten and (call.args or call.keywords):
            self.touched(call.all())
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

    @abstractmethod
    def body(self, statements: Iterable[ast.stmt]) -> None:
        """Walk statements in order."""
