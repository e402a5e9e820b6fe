"""What Python expressions come to: constants folded, names resolved, calls handed on."""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from ..judge.invocation import OPAQUE, SECRET, UNKNOWN
from . import folding, text_methods
from .acts import ENVIRONMENT, Acts, Exhausted
from .given import THE_SHELL
from .python_names import MARK, MODULES, PATH, Call, canonical
from .python_sequences import Sequences
from .value import ITEM_LIMIT, TEXT_LIMIT, Value, add, either, joined, unknown

_OPAQUE = frozenset([OPAQUE])
_ARITHMETIC: dict[type, Callable[[object, object], object]] = {
    ast.Sub: operator.sub,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.RShift: operator.rshift,
}


class Expressions(Sequences):
    """Evaluates expressions over scopes of names; `called` decides what a call does."""

    def __init__(self, acts: Acts, steps: int) -> None:
        self.acts = acts
        self.steps = steps
        self.scopes: list[dict[str, Value]] = [{}]
        self.branch: dict[tuple[int, str], Value | None] | None = None
        self.attributes: dict[str, Value] = {}
        self.starred: list[str] = []
        self.outer: dict[tuple[int, str], int] = {}  # names of a scope that are those of another one

    def spend(self, count: int = 1) -> None:
        self.steps -= count
        if self.steps < 0:
            raise Exhausted

    def bind(self, name: str, value: Value, scope: int = -1) -> None:
        place = len(self.scopes) - 1 if scope < 0 else scope
        if self.outer:
            place = self.outer.get((place, name), place)
        bound = self.scopes[place]
        if self.branch is not None:
            self.branch.setdefault((place, name), bound.get(name))
        bound[name] = value

    def resolve(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            value = scope.get(name)
            if value is not None:
                return value
        return Value(name=canonical(name))

    def evaluate(self, node: ast.AST) -> Value:
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted
        handler = _HANDLERS.get(type(node))
        if handler is None:
            return Value()
        return handler(self, node)

    def constant(self, node: ast.Constant) -> Value:
        known = node.value
        if type(known) is str and MARK in known:
            known = known.replace(MARK, UNKNOWN)
            if known == UNKNOWN:
                return Value(known, taint=_OPAQUE, source=THE_SHELL)
        return Value(known)

    def name(self, node: ast.Name) -> Value:
        if MARK in node.id:
            return Value(UNKNOWN)
        return self.resolve(node.id)

    def attribute(self, node: ast.Attribute) -> Value:
        if type(node.value) is ast.Name:
            stored = self.attributes.get(f"{node.value.id}.{node.attr}") if self.attributes else None
            if stored is not None:
                return stored
        return self.member(self.evaluate(node.value), node.attr)

    def member(self, value: Value, attr: str) -> Value:
        """An attribute of a value."""
        name = value.name
        if name == PATH:
            return self.path_member(value, attr)
        if not name:
            dunder = f"object.{attr}" if attr[:2] == "__" else ""
            return Value(name=dunder, taint=value.taint, source=value.source, of=value)
        full = canonical(f"{name}.{attr}")
        known = folding.named_constant(full)
        if known is not None:
            return known
        if full == "os.environ":
            return Value(name=full, taint=frozenset([SECRET]), source=ENVIRONMENT)
        return Value(name=full, taint=value.taint, source=value.source, of=value.of, items=None)

    def path_member(self, value: Value, attr: str) -> Value:
        if attr in ("parent", "parents") and value.is_text:
            return replace(folding.function("os.path.dirname", [value]) or Value(), name=PATH)
        if attr == "path":
            return value
        if attr in ("name", "stem", "suffix") and value.is_text:
            return folding.function("os.path.basename", [value]) or Value()
        return Value(name=f"{PATH}.{attr}", of=value)

    def binary(self, node: ast.BinOp) -> Value:
        if type(node.op) is ast.Add:
            chain, left = [], node
            while type(left) is ast.BinOp and type(left.op) is ast.Add:
                chain.append(left.right)
                left = left.left  # type: ignore[assignment]
            value = self.evaluate(left)
            for right in reversed(chain):
                value = add(value, self.evaluate(right))
            return value
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.operate(type(node.op), left, right)

    def operate(self, kind: type, left: Value, right: Value) -> Value:
        if kind is ast.Add:
            return add(left, right)
        if kind is ast.Div and PATH in (left.name, right.name):
            return either(self.path([one, other]) for one in left.each() for other in right.each())
        a, b = left.known, right.known
        if kind is ast.Mod and type(a) is str:
            self.spend(len(a) // 128)
            return text_methods.percent(left, right)
        if kind is ast.Mult:
            if type(a) is int and type(b) in (str, bytes):
                left, right, a, b = right, left, b, a
            if type(a) in (str, bytes) and type(b) is int and len(a) * max(b, 0) <= TEXT_LIMIT:  # type: ignore[arg-type]
                return Value(a * b)  # type: ignore[operator]
            if left.items is not None and type(b) is int and len(left.items) * max(b, 0) <= ITEM_LIMIT:
                return Value(items=left.items * b)
            if type(a) is int and type(b) is int and a.bit_length() + b.bit_length() < 4096:
                return Value(a * b)
        if kind is ast.BitOr and left.pairs is not None and right.pairs is not None:
            return Value(pairs={**left.pairs, **right.pairs})
        function = _ARITHMETIC.get(kind)
        if function is not None and type(a) is int and type(b) is int:
            try:
                return Value(function(a, b))
            except (ArithmeticError, ValueError):
                return Value()
        if kind is ast.LShift and type(a) is int and type(b) is int and 0 <= b < 64 and a.bit_length() < 4096:
            return Value(a << b)
        result = unknown(left, right)
        if kind is ast.BitOr:
            result.of = left if type(a) is int else right  # the bits that are set for sure
        return result

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        known = value.known
        if type(known) in (int, float):
            if type(node.op) is ast.USub:
                return Value(-known)  # type: ignore[operator]
            if type(node.op) is ast.Invert and type(known) is int:
                return Value(~known)
            if type(node.op) is ast.UAdd:
                return value
        return Value()

    def boolean(self, node: ast.BoolOp) -> Value:
        values = [self.evaluate(one) for one in node.values]
        if type(node.op) is ast.Or and values[0].is_text and values[0].is_known and values[0].known:
            return values[0]
        kept = [value for value in values if value.known is not None or value is values[-1]]
        return either(kept or values)

    def conditional(self, node: ast.IfExp) -> Value:
        test = self.evaluate(node.test)
        if type(test.known) is bool:
            return self.evaluate(node.body if test.known else node.orelse)
        return either([self.evaluate(node.body), self.evaluate(node.orelse)])

    def compare(self, node: ast.Compare) -> Value:
        self.evaluate(node.left)
        for one in node.comparators:
            self.evaluate(one)
        return Value()

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        for one in node.elts[:ITEM_LIMIT]:
            if type(one) is ast.Starred:
                inner = self.evaluate(one.value)
                items.extend(folding.elements(inner) or [self.element(inner)])
            else:
                items.append(self.evaluate(one))
        return Value(items=items)

    def mapping(self, node: ast.Dict) -> Value:
        pairs: dict[str, Value] = {}
        taint, source = frozenset(), ""
        for key, one in zip(node.keys[:ITEM_LIMIT], node.values, strict=False):
            value = self.evaluate(one)
            if key is None:
                pairs.update(value.pairs or {})
                taint, source = taint | value.taint, source or value.source
            else:
                pairs[self.evaluate(key).text] = value
        return Value(pairs=pairs, taint=taint, source=source)

    def template(self, node: ast.JoinedStr) -> Value:
        return joined([self.evaluate(one) for one in node.values])

    def field(self, node: ast.FormattedValue) -> Value:
        value = self.evaluate(node.value)
        if node.conversion == ord("r") and value.is_text:
            return replace(value, known=repr(value.text).replace("\\x00", UNKNOWN), choices=())
        return value

    def subscript(self, node: ast.Subscript) -> Value:
        base, key = self.evaluate(node.value), self.evaluate(node.slice)
        return self.item(base, key)

    def item(self, base: Value, key: Value) -> Value:
        """base[key]"""
        known = key.known
        if base.items is not None and type(known) is int:
            return base.items[known] if -len(base.items) <= known < len(base.items) else Value()
        if base.pairs is not None and key.is_known:
            found = base.pairs.get(key.text)
            if found is not None:
                return found
        if type(base.known) in (str, bytes) and type(known) is int:
            try:
                return Value(base.known[known], taint=base.taint, source=base.source)  # type: ignore[index]
            except IndexError:
                return Value()
        if type(known) is slice and (type(base.known) in (str, bytes) or base.items is not None):
            if base.items is not None:
                return replace(base, items=base.items[known])
            if not (type(base.known) is str and UNKNOWN in base.known):
                return replace(base, known=base.known[known], choices=())  # type: ignore[index]
        if base.name == "os.environ":
            return self.variable(key)
        if base.name.startswith("sh.") and base.name.count(".") == 1:
            # A program of plumbum with arguments of its own.
            return Value(name="functools.partial()", of=base, items=key.items or [key])
        if base.name and key.is_text:
            return self.looked_up(base, key.text)
        taint = base.taint
        if base.source == ENVIRONMENT and key.is_text:
            taint = taint - {SECRET}  # one variable, as a program is meant to use it
        return Value(
            name=f"{base.name}[]" if base.name else "", taint=taint, source=base.source, of=base.of or None
        )

    def looked_up(self, base: Value, key: str) -> Value:
        """A name looked up in a table of names: globals()["os"], sys.modules["os"], vars(os)["system"]."""
        name = base.name
        if name in ("globals()", "locals()", "vars()") and base.of is None:
            return self.resolve(key)
        if name == "plumbum.local":
            return Value(name=f"sh.{key}")
        if name == "vars()" and base.of is not None:
            return self.member(base.of, key)
        if name == "sys.modules" or name.endswith("__builtins__"):
            return Value(name=canonical(key))
        if name.endswith(("__dict__", "__globals__")):
            owner = name.rpartition(".")[0]
            if key in MODULES or not owner:
                return Value(name=key)
            if name.endswith("__globals__"):
                return Value(
                    name=f"os.{key}" if key in ("system", "popen", "execv", "remove", "unlink") else key
                )
            return Value(name=canonical(f"{owner}.{key}"))
        return Value(name=f"{name}[]", taint=base.taint, source=base.source, of=base.of)

    def variable(self, key: Value) -> Value:
        """One variable of the environment."""
        return self.acts.variable(key.text) or Value(name="os.environ[]", source=key.text)

    def part(self, node: ast.Slice) -> Value:
        ends = [
            self.evaluate(one) if one is not None else Value(None)
            for one in (node.lower, node.upper, node.step)
        ]
        if all(type(end.known) is int or end.known is None for end in ends):
            return Value(slice(*(end.known for end in ends)))  # type: ignore[arg-type]
        return Value()

    def awaited(self, node: ast.Await | ast.Starred | ast.Yield | ast.YieldFrom) -> Value:
        return self.evaluate(node.value) if node.value is not None else Value()

    def walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target.id, value)
        return value

    def function(self, node: ast.Lambda) -> Value:
        return Value(name="lambda", function=node)

    def call(self, node: ast.Call) -> Value:
        target = node.func
        receiver, method = Value(), ""
        if type(target) is ast.Attribute:
            method = target.attr
            stored = None
            if self.attributes and type(target.value) is ast.Name:
                stored = self.attributes.get(f"{target.value.id}.{method}")
            if stored is not None:
                function = stored
            else:
                receiver = self.evaluate(target.value)
                function = (
                    Value() if receiver.is_text and receiver.name != PATH else self.member(receiver, method)
                )
        else:
            function = self.evaluate(target)
        args: list[Value] = []
        for one in node.args:
            if type(one) is ast.Starred:
                inner = self.evaluate(one.value)
                args.extend(folding.elements(inner) or [self.element(inner)])
            else:
                args.append(self.evaluate(one))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            else:
                keywords.update(value.pairs or {})
        chained = bool(method) and type(target.value) is ast.Call  # type: ignore[attr-defined]
        made = Call(function.name, args, keywords, receiver, method, node.lineno, chained)
        return self.called(function, made, node)

    @abstractmethod
    def called(self, function: Value, call: Call, node: ast.AST | None) -> Value:
        """What a call does and gives."""


def _slot(method: str) -> Callable[[Expressions, ast.AST], Value]:
    return getattr(Expressions, method)


_HANDLERS: dict[type, Callable[[Expressions, ast.AST], Value]] = {
    ast.Constant: _slot("constant"),
    ast.Name: _slot("name"),
    ast.Attribute: _slot("attribute"),
    ast.Call: _slot("call"),
    ast.BinOp: _slot("binary"),
    ast.UnaryOp: _slot("unary"),
    ast.BoolOp: _slot("boolean"),
    ast.IfExp: _slot("conditional"),
    ast.Compare: _slot("compare"),
    ast.List: _slot("sequence"),
    ast.Tuple: _slot("sequence"),
    ast.Set: _slot("sequence"),
    ast.Dict: _slot("mapping"),
    ast.JoinedStr: _slot("template"),
    ast.FormattedValue: _slot("field"),
    ast.Subscript: _slot("subscript"),
    ast.Slice: _slot("part"),
    ast.Await: _slot("awaited"),
    ast.Starred: _slot("awaited"),
    ast.Yield: _slot("awaited"),
    ast.YieldFrom: _slot("awaited"),
    ast.NamedExpr: _slot("walrus"),
    ast.Lambda: _slot("function"),
    ast.ListComp: _slot("comprehension"),
    ast.SetComp: _slot("comprehension"),
    ast.GeneratorExp: _slot("comprehension"),
    ast.DictComp: _slot("mapping_comprehension"),
}
