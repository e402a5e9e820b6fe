"""Worker processes that do not fork start from a file: multiprocessing runs the script again in each.

A kernel has no script. In its place stands a file with the imports, definitions and constants of all
cells, so that a function defined in a cell is found by the workers of a pool, whatever starts them.
"""

import _ast

from .definitions import statement_text

KEPT_CHARACTERS = 1 << 20
_ALWAYS = (_ast.Import, _ast.ImportFrom, _ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)
# One statement that cannot be run again must not cost the others.
_SCRIPT = """\
for _statement in {statements!r}:
    try:
        exec(compile(_statement, {path!r}, "exec"))
    except Exception:
        pass
"""


class Script:
    """Collects what workers need of the cells and writes it down once multiprocessing is used."""

    def __init__(self) -> None:
        self.path = None  # where to write; None: nowhere
        self._statements = []

    def add(self, code: str, tree) -> None:
        """Take the statements of a cell that define something, before it is run."""
        lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for node in tree.body:
            if isinstance(node, _ALWAYS) or _is_constant(node):
                self._statements.append(statement_text(node, lines))
        while sum(map(len, self._statements)) > KEPT_CHARACTERS:
            del self._statements[0]

    def write(self, main) -> None:
        """Write the file and make it the script of the module ``main``; a failure changes nothing."""
        if self.path is None:
            return
        import os

        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(_SCRIPT.format(statements=self._statements, path=self.path))
        except (OSError, UnicodeError):
            return
        main.__file__ = self.path


def _is_constant(node) -> bool:
    return (
        isinstance(node, _ast.Assign)
        and isinstance(node.value, _ast.Constant)
        and all(isinstance(target, _ast.Name) for target in node.targets)
    )
