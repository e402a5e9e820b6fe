"""Run one cell: compile, execute, evaluate the last expression, report what it did to the namespace."""

import _ast
import sys

from . import errors, preview
from .definitions import MODULE_NAMES
from .spawned import Script

ONLY_AST = 0x400  # ast.PyCF_ONLY_AST
TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COROUTINE = 0x80  # inspect.CO_COROUTINE
VALUE_BYTES = 4000
_MISSING = object()


class Interruptible:
    """Whether an interrupt may raise KeyboardInterrupt now: only while a cell runs."""

    now = False


class Outcome:
    """What became of a cell. ``error`` is its traceback, ``value`` the repr of its last expression."""

    def __init__(self) -> None:
        self.value = self.error = None
        self.interrupted = False
        self.notes = []
        self.assigned, self.deleted = [], []


def compile_cell(code: str, name: str):
    """Return (tree, code of the statements, code of the last expression or None). Raises SyntaxError & Co."""
    tree = compile(code, name, "exec", ONLY_AST | TOP_LEVEL_AWAIT, True)
    whole = list(tree.body)
    last = None
    if tree.body and isinstance(tree.body[-1], _ast.Expr):
        expression = _ast.Expression(body=tree.body.pop().value)
        last = compile(expression, name, "eval", TOP_LEVEL_AWAIT, True)
    statements = compile(tree, name, "exec", TOP_LEVEL_AWAIT, True) if tree.body else None
    tree.body = whole
    return tree, statements, last


class Cells:
    """The namespace of a kernel and what its cells did to it."""

    def __init__(self, main, definitions) -> None:
        self.main = main  # the module whose namespace the cells have
        self.namespace = main.__dict__
        self.script = Script()
        self.definitions = definitions
        self.written_by = {}  # name -> number of the cell that assigned it last
        self._loop = None

    def run(self, code: str, number: int) -> Outcome:
        """Run a cell to its end, whatever it raises."""
        outcome = Outcome()
        name = f"<cell {number}>"
        errors.remember(name, code)
        before = {name: self.namespace.get(name, _MISSING) for name in variables(self.namespace)}
        tree = None
        try:
            tree, statements, last = compile_cell(code, name)
            self._prepare(code, tree)
            Interruptible.now = True
            try:
                value = self._execute(statements, last)
                if value is not None:
                    outcome.value = preview.shown(value, VALUE_BYTES)
            finally:
                Interruptible.now = False
        except KeyboardInterrupt as error:
            outcome.interrupted = True
            outcome.error = self._described(error)
        except SystemExit as error:
            self._exited(error, outcome)
        except BaseException as error:
            outcome.error = self._described(error)
        Interruptible.now = False
        self._note_changes(before, number, outcome)
        if tree is not None:
            self.definitions.observe(number, code, tree, self.namespace)
        return outcome

    def _described(self, error: BaseException) -> str:
        # The exception's own text may take for ever: it is part of what can be interrupted.
        Interruptible.now = True
        try:
            return errors.describe(error)
        finally:
            Interruptible.now = False

    def _execute(self, statements, last):
        """Run the compiled parts of a cell; return the value of the last expression, else None."""
        if any(code is not None and code.co_flags & COROUTINE for code in (statements, last)):
            return self._wait_for(self._awaited(statements, last))
        if statements is not None:
            exec(statements, self.namespace)
        return eval(last, self.namespace) if last is not None else None

    async def _awaited(self, statements, last):
        value = None
        for code in (statements, last):
            if code is not None:
                value = eval(code, self.namespace)
                if code.co_flags & COROUTINE:
                    value = await value
        return value if last is not None else None

    def _wait_for(self, coroutine):
        """Run a coroutine on the kernel's own loop, which stays, so that tasks go on in later cells."""
        import asyncio

        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(coroutine)
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                # An interrupt leaves the loop, not the task: it would go on in the next cell.
                task.cancel()
                self._loop.run_until_complete(asyncio.wait([task], timeout=1))
            raise

    def _prepare(self, code: str, tree) -> None:
        """What libraries look for in a script: its source, and for worker processes its file."""
        if "inspect" in code:
            errors.publish_sources()
        self.script.add(code, tree)
        if "multiprocessing" in sys.modules or "multiprocessing" in code or "concurrent" in code:
            self.script.write(self.main)

    def _exited(self, error: SystemExit, outcome: Outcome) -> None:
        """sys.exit() ends the cell, not the kernel; a code that means success is no failure."""
        status = error.code
        if status is None or (isinstance(status, int) and status == 0):
            outcome.notes.append("SystemExit ended the cell; the kernel goes on")
        else:
            outcome.error = f"SystemExit: {preview.shown(status, 500)} (ended the cell; the kernel goes on)"

    def _note_changes(self, before: dict, number: int, outcome: Outcome) -> None:
        names = variables(self.namespace)
        for name in names:
            # Threads may have made names between two cells: they are told with the next.
            if name not in self.written_by or before.get(name, _MISSING) is not self.namespace.get(name):
                outcome.assigned.append(name)
                self.written_by[name] = number
        for name in set(self.written_by).difference(names):
            outcome.deleted.append(name)
            del self.written_by[name]


def variables(namespace: dict) -> list:
    """The names of a namespace that are variables of the user's, in the order of their first assignment."""
    return [name for name in dict(namespace) if type(name) is str and name not in MODULE_NAMES]
