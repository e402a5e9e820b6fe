"""Values over and over in Python: comprehensions, what a loop sees of a folder, unpacking, assignment."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from ..judge.invocation import UNKNOWN
from . import folding
from .acts import Acts
from .python_names import PATH
from .value import ITEM_LIMIT, Value, taint_of, unknown


class Sequences(ABC):
    """What is done with sequences of values; expressions and names are the business of its heirs."""

    acts: Acts
    scopes: list[dict[str, Value]]
    attributes: dict[str, Value]

    @abstractmethod
    def evaluate(self, node: ast.AST) -> Value:
        """The value of an expression."""

    @abstractmethod
    def bind(self, name: str, value: Value, scope: int = -1) -> None:
        """Bind a name in a scope."""

    @abstractmethod
    def spend(self, count: int = 1) -> None:
        """Spend steps; raises Exhausted when there are none left."""

    def element(self, value: Value) -> Value:
        """What one round of `for x in value` sees when the items are not known."""
        name = value.name
        if name == "os.walk()":
            folder = value.of or Value()
            names = Value(items=[Value("*", glob=True, deep=True)])
            return Value(items=[replace(folder, deep=True, name="", choices=()), names, names])
        if name == "listing()":
            return replace(value.of, name=value.of.name) if value.of is not None else Value()
        if name == "file(r)" and value.of is not None:
            return self.acts.read(value.of)
        taint = value.taint
        if value.is_text and value.name != PATH:
            return Value(UNKNOWN, taint=taint, source=value.source)
        return Value(
            name=f"{name}[]" if name and len(name) < 120 else "",
            taint=taint,
            source=value.source,
            of=value.of,
        )

    def path(self, parts: list[Value]) -> Value:
        """A pathlib.Path of its parts."""
        whole = (
            folding.function("os.path.join", parts) if len(parts) > 1 else parts[0] if parts else Value(".")
        )
        if whole is None or not whole.is_text:
            taint, source = taint_of(parts)
            return Value(UNKNOWN, name=PATH, taint=taint, source=source)
        return replace(whole, name=PATH, of=None)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        results: list[Value] = []
        opaque = [False]
        self.scopes.append({})
        before = self.acts.guarded
        try:
            self._rounds(node.generators, lambda: results.append(self.evaluate(node.elt)), opaque)
        finally:
            self.scopes.pop()
            self.acts.guarded = before
        if opaque[0]:
            return Value(
                name="comprehension",
                taint=taint_of(results)[0],
                source=taint_of(results)[1],
                items=None,
                of=results[0] if results else None,
            )
        return Value(items=results)

    def mapping_comprehension(self, node: ast.DictComp) -> Value:
        pairs: dict[str, Value] = {}
        opaque = [False]

        def one() -> None:
            pairs[self.evaluate(node.key).text] = self.evaluate(node.value)

        self.scopes.append({})
        try:
            self._rounds(node.generators, one, opaque)
        finally:
            self.scopes.pop()
        taint, source = taint_of(pairs.values())
        return Value(taint=taint, source=source) if opaque[0] else Value(pairs=pairs)

    def _rounds(
        self, generators: list[ast.comprehension], body: Callable[[], object], opaque: list[bool]
    ) -> None:
        first, rest = generators[0], generators[1:]
        over = self.evaluate(first.iter)
        items = folding.elements(over)
        if items is None or len(items) > ITEM_LIMIT:
            items = [self.element(over)]
            opaque[0] = True
        for item in items:
            self.spend()
            self.assign(first.target, item)
            if any(self._is_false(test) for test in first.ifs):
                continue
            if first.ifs and opaque[0]:
                self.acts.guarded = True
            if rest:
                self._rounds(rest, body, opaque)
            else:
                body()

    def _is_false(self, test: ast.expr) -> bool:
        value = self.evaluate(test)
        return value.known is False or (value.known == 0 and type(value.known) is int)

    def assign(self, target: ast.AST, value: Value) -> None:
        kind = type(target)
        if kind is ast.Name:
            self.bind(target.id, value)  # type: ignore[attr-defined]
        elif kind in (ast.Tuple, ast.List):
            targets = target.elts  # type: ignore[attr-defined]
            self.spend(len(value.known) // 4 if type(value.known) in (str, bytes) else 0)  # type: ignore[arg-type]
            items = folding.elements(value)
            for place, one in enumerate(targets):
                if type(one) is ast.Starred:
                    self.assign(one.value, Value(items=(items or [])[place:]) if items else unknown(value))
                elif items is not None and place < len(items):
                    self.assign(one, items[place])
                else:
                    self.assign(one, self.element(value))
        elif kind is ast.Attribute:
            owner = target.value  # type: ignore[attr-defined]
            if type(owner) is ast.Name and len(self.attributes) < 256:
                self.attributes[f"{owner.id}.{target.attr}"] = value  # type: ignore[attr-defined]
            else:
                self.evaluate(owner)
        elif kind is ast.Subscript:
            base = self.evaluate(target.value)  # type: ignore[attr-defined]
            key = self.evaluate(target.slice)  # type: ignore[attr-defined]
            if base.pairs is not None and key.is_known and len(base.pairs) < ITEM_LIMIT:
                base.pairs[key.text] = value
            elif (
                base.items is not None
                and type(key.known) is int
                and -len(base.items) <= key.known < len(base.items)
            ):
                base.items[key.known] = value
            elif base.name == "os.environ":
                self.exported(key, value)
        elif kind is ast.Starred:
            self.assign(target.value, value)  # type: ignore[attr-defined]

    def exported(self, key: Value, value: Value) -> None:
        """A variable is set for the processes that the code starts."""
        if key.is_known and key.text.startswith(("HERMES_", "LD_", "DYLD_", "BASH_ENV", "PROMPT_COMMAND")):
            self.acts.ask(f"export {key.text}={self.acts.word(value)}")
