"""Moving the spans of a tree: from a piece of text to the text it stands in."""

from __future__ import annotations

from collections.abc import Callable

from . import tree
from .source import Source
from .tree import Span

_SLOTS = {
    kind: [
        name for name in kind.__slots__ if name not in ("value", "quoted", "name", "op", "kind", "fd", "text")
    ]
    for kind in (tree.Param, tree.Substitution, tree.Arithmetic, tree.Redirect, tree.HereDocument)
}
_SLOTS |= {
    kind: list(kind.__slots__)
    for kind in (
        tree.Word,
        tree.Assignment,
        tree.Simple,
        tree.Pipeline,
        tree.Compound,
        tree.Function,
        tree.Item,
        tree.Script,
    )
}


def shift(script: object, piece: Source, by: int, whole: Span | None) -> None:
    """Move the spans of what was read from `piece`, which begins at `by`; to `whole` where that is given."""
    if whole is not None:
        _move(script, lambda span: whole)
    else:
        _move(script, lambda span: (span[0] + by, span[1] + by))


def restore(script: object, change: Callable[[Span], Span]) -> None:
    """Give every span of a tree through `change`."""
    _move(script, change)


def _move(node: object, change: Callable[[Span], Span]) -> None:
    names = _SLOTS.get(type(node))
    if names is None:
        return
    for name in names:
        value = getattr(node, name)
        if name == "span":
            node.span = change(value)
        elif type(value) is tuple:
            for each in value:
                if type(each) is tuple:
                    for one in each:
                        _move(one, change)
                else:
                    _move(each, change)
        elif value is not None:
            _move(value, change)
