"""The cells that produced a session's live names, as one Python script.

The same journal gives the same bytes. The script is always valid Python: a cell that cannot be run again (its
code was cut or left out, or it was stopped by hand) stands in it as a comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from . import slicing
from ._common.patterns import PLACEHOLDER
from ._common.terminal import printable
from .cells import CUT_MARK, LEFT_OUT, Cell
from .display import moment
from .effects import bindings, declarations
from .tool_arguments import TOOLS

KERNEL_TOOLS = frozenset((*TOOLS, "ToolError"))
_COROUTINE = 0x80  # inspect.CO_COROUTINE
_WIDTH = 100
_FUTURE = "from __future__ import "


def script(entries: Sequence[Cell], session_id: str = "") -> str:
    """Return the script for the entries of a journal, in their order."""
    found = slicing.of_live_names(entries)
    pieces, futures, has_loop = [], set(), False
    names = _Names(entries[index].code for index in found.cells)
    for index in found.cells:
        tree = found.trees[index]
        futures |= set(_futures(tree))
        text, needs_loop = _cell(entries[index], tree, names)
        if needs_loop and not has_loop:
            pieces.append(names.loop_setup())
        has_loop = has_loop or needs_loop
        pieces.append(text)
    header = _comments(_header(entries, found, session_id))
    imports = [f"{_FUTURE}{', '.join(sorted(futures))}\n"] if futures else []
    return "\n".join([header, *imports, *pieces])


# The header -----------------------------------------------------------------------------------------


def _header(entries: Sequence[Cell], found: slicing.Slice, session_id: str) -> list[str]:
    """Return what there is to know about the script, a paragraph each."""
    ran = [entry for entry in entries if not entry.event or entry.event == "interrupted"]
    named = f"Session {session_id or 'unknown'}"
    if not ran:
        return [f"{named}: its journal holds no cells."]
    start, end = (moment(at) for at in (min(cell.at for cell in ran), max(cell.at for cell in ran)))
    kept = [entries[index].number for index in found.cells]
    left = [cell.number for cell in ran if cell.number not in kept]
    lines = [
        f"{named}: the cells that produced its live names, as one script.",
        f"Recorded {start} to {end}; cells {ran[0].number} to {ran[-1].number}.",
        f"Live names: {', '.join(found.live) or 'none'}.",
    ]
    if left:
        lines.append(f"Left out, as no live name needs them: {_cells(left)}.")
    return lines + [f"WARNING: {text}" for text in _warnings(entries, found)]


def _warnings(entries: Sequence[Cell], found: slicing.Slice) -> list[str]:
    lines = []
    cells = [entries[index] for index in found.cells]
    hidden = [
        f"{mark} ({_cells([cell.number])})"
        for cell in cells
        for mark in sorted({match.group() for match in PLACEHOLDER.finditer(cell.code)})
    ]
    if hidden:
        lines.append(
            f"secrets were replaced when the cells were recorded; put in your own: {', '.join(hidden)}."
        )
    still = [entries[index].number for index in found.cells if _not_run(entries[index], found.trees[index])]
    if still:
        lines.append(f"stands here as a comment, for the reason given there: {_cells(still)}.")
    for what, names in _undefined(entries, found):
        lines.append(f"{what}: {', '.join(names)}.")
    if found.unmade:
        lines.append(f"came back from a checkpoint, and no cell here makes them: {', '.join(found.unmade)}.")
    if found.differing:
        lines.append(
            "came back from a checkpoint in an earlier state than this script gives them: "
            f"{', '.join(found.differing)}."
        )
    return lines


def _undefined(entries: Sequence[Cell], found: slicing.Slice) -> list[tuple[str, list[str]]]:
    """Return names that cells use and nothing in the script defines, in two kinds."""
    tools, others = [], []
    for name, users in found.undefined.items():
        if name not in slicing.GIVEN:
            text = f"{name} ({_cells([entries[index].number for index in users])})"
            (tools if name in KERNEL_TOOLS else others).append(text)
    kinds = (
        ("tools of the kernel, which a script does not have", tools),
        ("defined by no cell here", others),
    )
    return [(what, names) for what, names in kinds if names]


def _cells(numbers: Sequence[int]) -> str:
    """Return numbers of cells as text, runs of them together."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][-1:] = [runs[-1][-1], number] if len(runs[-1]) == 1 else [number]
        else:
            runs.append([number])
    return f"cell{'s' if len(numbers) > 1 else ''} {', '.join('-'.join(map(str, run)) for run in runs)}"


def _comments(paragraphs: Iterable[str]) -> str:
    import textwrap

    lines = [
        line
        for text in paragraphs
        for line in textwrap.wrap(printable(text), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    ]
    return "".join(f"# {line}\n" for line in lines)


# One cell -------------------------------------------------------------------------------------------


class _Names:
    """Names that the script itself needs, chosen so that no cell uses them."""

    def __init__(self, sources: Iterable[str]) -> None:
        used = {word for source in sources for word in re.findall(r"\w+", source)}

        def free(name: str) -> str:
            while any(word.startswith(name) for word in used):
                name = f"_{name}"
            return name

        self.asyncio, self.loop, self.cell = free("_asyncio"), free("_loop"), free("_cell")

    def loop_setup(self) -> str:
        """Return what makes the event loop in which all cells with await run, as in the kernel."""
        return (
            f"import asyncio as {self.asyncio}\n\n{self.loop} = {self.asyncio}.new_event_loop()\n"
            f"{self.asyncio}.set_event_loop({self.loop})\n"
        )


def _cell(cell: Cell, tree: ast.Module | None, names: _Names) -> tuple[str, bool]:
    """Return the text of a cell, its heading included, and whether it needs the event loop."""
    reason = _not_run(cell, tree)
    if reason or tree is None:
        code = "".join(f"#   {printable(line)}\n" for line in cell.code.splitlines())
        return f"# cell {cell.number}, not run: {reason}\n{code}", False
    source, heading = _as_part(cell.code, tree), f"# cell {cell.number}\n"
    if not cell.ok:
        bound = ", ".join(sorted(cell.assigned)) or "nothing"
        heading = f"# cell {cell.number}, failed partway: it bound {printable(bound)} before its error\n"
    if not cell.ok or slicing.ends_early(tree):
        source = f"try:\n{_indented(source)}except (Exception, SystemExit):\n    pass\n"
    if not _is_coroutine(source):
        return heading + source, False
    return heading + _awaited(cell.number, source, tree, names), True


def _not_run(cell: Cell, tree: ast.Module | None) -> str:
    """Return why a cell cannot be run again, nothing when it can."""
    if cell.code == LEFT_OUT:
        return "its code was not recorded"
    if cell.code.endswith(CUT_MARK):
        return "its code was recorded in part"
    if cell.event == "interrupted" and not cell.ok:
        return "it was interrupted, and would not end by itself"
    return "" if tree is not None else "its code is no Python that can be read here"


def _awaited(number: int, source: str, tree: ast.Module, names: _Names) -> str:
    """Return a cell with top-level await as a coroutine that the script's loop runs to its end."""
    shared = ", ".join(sorted(set(bindings(tree.body))))
    function = f"{names.cell}_{number}"
    wrapped = (
        f"async def {function}():\n{f'    global {shared}{chr(10)}' if shared else ''}{_indented(source)}\n\n"
        f"{names.loop}.run_until_complete({function}())\n"
    )
    if slicing.parse(wrapped) is not None:
        return wrapped
    # What a function cannot hold, as `from module import *`, an interactive cell can.
    flags = f"flags=0x{ast.PyCF_ALLOW_TOP_LEVEL_AWAIT:x}"
    code = f'compile({_literal(source)}, "<cell {number}>", "exec", {flags})'
    return f"{names.loop}.run_until_complete(eval({code}, globals()))\n"


def _literal(source: str) -> str:
    """Return a source as a literal with one line per line."""
    return "(\n" + "".join(f"    {line!a}\n" for line in source.splitlines(keepends=True)) + ")"


def _is_coroutine(source: str) -> bool:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    return bool(code.co_flags & _COROUTINE)


def _indented(source: str) -> str:
    """Indent a source by one level, except the lines that begin inside a string."""
    inside = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Constant, ast.JoinedStr))
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    lines = re.split(r"(?<=\n)", source)
    return "".join(
        line if number in inside or not line.strip() else f"    {line}"
        for number, line in enumerate(lines, 1)
    )


def _futures(tree: ast.Module | None) -> list[str]:
    """Return the features a cell imports from __future__, which a script has to do at its top."""
    body = tree.body if tree is not None else []
    return [
        alias.name
        for node in body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level
        for alias in node.names
    ]


def _as_part(code: str, tree: ast.Module) -> str:
    """Return the source of a cell's tree, ending in a newline, without what must stand at a script's top."""
    whole = ast.parse(code)
    if len(tree.body) < len(whole.body) or _futures(tree) or any(True for _ in declarations(tree.body)):
        whole.body = whole.body[: len(tree.body)]
        code = ast.unparse(_WithoutDeclarations().visit(whole))
    code = code.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return f"{code}\n" if code.strip() else "pass\n"


class _WithoutDeclarations(ast.NodeTransformer):
    """Takes the imports from __future__ and the global statements out of a cell, not out of its functions."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        return ast.Pass() if node.module == "__future__" and not node.level else node

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        return ast.Pass()

    def visit_FunctionDef(self, node: ast.stmt) -> ast.stmt:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef
