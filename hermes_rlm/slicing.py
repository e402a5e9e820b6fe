"""Which cells of a session produced the names that are live at its end.

The cells are followed in order. Each name has a version: the cell that wrote it last, by binding it or by
changing its value in place. A cell needs the cells that wrote what it read or changed; the script of a
session is what its live names need, all the way back.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from . import effects
from .cells import Cell

# Names that every module has.
GIVEN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__annotations__"}
_ENDS_EARLY = frozenset(("exit", "quit", "_exit", "SystemExit"))


@dataclass(frozen=True)
class _Version:
    """One state of a name's value.

    cell      index of the entry that wrote it, None when no cell of the journal did
    objects   marks of the objects that may be part of it; names that share one may change together
    """

    cell: int | None
    objects: frozenset[int]
    is_module: bool = False
    is_class: bool = False
    later_reads: frozenset[str] = frozenset()
    later_changes: frozenset[str] = frozenset()


@dataclass
class Slice:
    """The outcome for one journal; cells are indexes of its entries.

    cells      what the live names need, in order
    trees      their syntax trees, None for what does not parse; those of failed cells end where it is sure
               that they did not get further
    live       names, sorted
    undefined  name -> cells that use it though no cell before them defines it
    unmade     live names that came back from a checkpoint while no cell of the journal made them
    differing  live names that came back from an earlier state than the last one a cell of the slice gives
    """

    cells: list[int] = field(default_factory=list)
    trees: dict[int, ast.Module | None] = field(default_factory=dict)
    live: list[str] = field(default_factory=list)
    undefined: dict[str, list[int]] = field(default_factory=dict)
    unmade: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)


def of_live_names(entries: Sequence[Cell]) -> Slice:
    """Follow the entries of a journal and return the slice of the names that are live after the last."""
    history = _History()
    for index, entry in enumerate(entries):
        history.follow(index, entry)
    return history.slice()


def parse(code: str) -> ast.Module | None:
    """Return the syntax tree of a cell that compiles, None for one that does not. Executes nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
            compile(tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree


def ends_early(tree: ast.Module) -> bool:
    """Tell whether a cell mentions what ends a script: it may have stopped in the middle and be ok."""
    return any(
        getattr(node, "id", None) in _ENDS_EARLY or getattr(node, "attr", None) in _ENDS_EARLY
        for node in ast.walk(tree)
    )


def _evaluated_first(statement: ast.stmt) -> ast.expr:
    """Return the expression that a for, while, if or match statement begins with, else an empty one."""
    for name in ("iter", "test", "subject"):
        if hasattr(statement, name):
            return getattr(statement, name)
    return ast.Constant(None)


class _History:
    """The versions of all names, followed from the first entry to the last."""

    def __init__(self) -> None:
        self._now: dict[str, _Version] = {}
        self._past: dict[str, list[tuple[int, _Version]]] = {}  # name -> (number of the cell, version)
        self._needs: dict[int, set[int]] = {}  # cell -> cells
        self._removed: dict[str, int] = {}  # name -> cell that removed it last
        self._writes: dict[int, set[str]] = {}
        self._undefined: dict[str, list[int]] = {}
        self._trees: dict[int, ast.Module | None] = {}
        self._marks = count()

    def follow(self, index: int, entry: Cell) -> None:
        if entry.event == "reset" or (entry.event == "lost" and not entry.deleted):
            self._now.clear()
            self._removed.clear()
        elif entry.event == "lost":
            self._forget(entry.deleted)
        elif entry.event == "restored":
            for name in entry.assigned:
                self._now[name] = self._as_of(name, entry.as_of)
        else:
            self._run(index, entry)

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._now.pop(name, None)

    def _as_of(self, name: str, number: int) -> _Version:
        versions = [version for cell, version in self._past.get(name, ()) if cell <= number]
        return versions[-1] if versions else _Version(None, frozenset((next(self._marks),)))

    def _run(self, index: int, entry: Cell) -> None:
        tree = self._trees[index] = parse(entry.code)
        found = effects.Effects()
        if tree is not None:
            finished = not ends_early(tree) if entry.ok else self._cut_where_it_failed(tree)
            found = effects.of_cell(tree, self._is_module, finished)
        self._needs[index], self._writes[index] = set(), set()
        reads, changes = self._reached(found)
        for name in sorted(reads):
            self._use(index, name, found)
        touched = self._objects(changes)  # before the names are bound anew, and after that
        self._bind(index, entry, found)
        self._share(found)
        self._change(index, entry.number, touched | self._objects(changes))
        self._forget(entry.deleted)
        self._removed.update(dict.fromkeys(entry.deleted, index))

    def _cut_where_it_failed(self, tree: ast.Module) -> bool:
        """Drop the statements of a failed cell that cannot have run, as a name they use was not there.

        Returns whether all that is left ran to its end.
        """
        there = set(self._now) | GIVEN
        for position, statement in enumerate(tree.body):
            found = effects.of_cell(ast.Module([statement], []), self._is_module)
            if not found.reads <= there | found.bound:
                begin = ast.Module([ast.Expr(_evaluated_first(statement))], [])
                first = effects.of_cell(begin, self._is_module)
                partly = isinstance(statement, effects.COMPOUND) and first.reads <= there
                del tree.body[position + partly :]
                return not partly
            there |= found.bound
        return False

    def _is_module(self, name: str) -> bool:
        return name in self._now and self._now[name].is_module

    def _reached(self, found: effects.Effects) -> tuple[set[str], set[str]]:
        """Return what a cell reads and changes, also through the functions that it can reach."""
        reads, changes = set(), set(found.changes)
        waiting = set(found.reads)
        while waiting:
            name = waiting.pop()
            reads.add(name)
            if name in self._now:
                changes |= self._now[name].later_changes
                waiting |= self._now[name].later_reads - reads
        return reads, changes

    def _use(self, index: int, name: str, found: effects.Effects) -> None:
        version = self._now.get(name)
        if version is not None:
            self._need(index, version)
        elif name in self._removed:
            # What a cell does may rest on a name that is not there.
            self._needs[index].add(self._removed[name])
        elif name not in found.bound:
            self._undefined.setdefault(name, []).append(index)

    def _need(self, index: int, version: _Version) -> None:
        if version.cell is not None and version.cell != index:
            self._needs[index].add(version.cell)

    def _bind(self, index: int, entry: Cell, found: effects.Effects) -> None:
        """Give new versions to what the journal says was bound."""
        later_reads, later_changes = set(found.later_reads), set(found.later_changes)
        for name in found.reads & self._now.keys():
            if name in found.handed or self._now[name].is_class:
                later_reads |= self._now[name].later_reads
                later_changes |= self._now[name].later_changes
        objects = {name: self._objects(found.parts.get(name, ())) for name in entry.assigned}
        for name in entry.assigned:
            if name in self._now and name not in found.bound:
                # Bound by something the tree does not show: the value before may be part of it.
                self._need(index, self._now[name])
            version = _Version(
                index,
                objects[name] or frozenset((next(self._marks),)),
                name in found.imported,
                name in found.classes,
                frozenset(later_reads),
                frozenset(later_changes),
            )
            self._set(index, entry.number, name, version)

    def _objects(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(mark for name in names if name in self._now for mark in self._now[name].objects)

    def _share(self, found: effects.Effects) -> None:
        for name, parts in found.parts.items():
            if name in self._now and parts:
                objects = self._now[name].objects | self._objects(parts)
                self._now[name] = replace(self._now[name], objects=objects)

    def _change(self, index: int, number: int, touched: frozenset[int]) -> None:
        """Give new versions to all names whose values may have a part in what a cell changed in place."""
        for name, version in list(self._now.items()):
            if version.objects & touched:
                self._need(index, version)
                self._set(index, number, name, replace(version, cell=index))

    def _set(self, index: int, number: int, name: str, version: _Version) -> None:
        self._now[name] = version
        self._past.setdefault(name, []).append((number, version))
        self._writes[index].add(name)

    def slice(self) -> Slice:
        needed: set[int] = set()
        waiting = {version.cell for version in self._now.values() if version.cell is not None}
        while waiting:
            index = waiting.pop()
            needed.add(index)
            waiting |= self._needs[index] - needed
        cells = sorted(needed)
        given = {name: index for index in cells for name in self._writes[index]}
        undefined = {
            name: [index for index in users if index in needed] for name, users in self._undefined.items()
        }
        return Slice(
            cells=cells,
            trees={index: self._trees[index] for index in cells},
            live=sorted(self._now),
            undefined={name: undefined[name] for name in sorted(undefined) if undefined[name]},
            unmade=sorted(name for name, version in self._now.items() if version.cell is None),
            differing=sorted(
                name
                for name, version in self._now.items()
                if version.cell is not None and given[name] != version.cell
            ),
        )
