"""A kernel reduced to its namespace and its checkpoints, in a process of its own.

Run as a script it is that kernel: it reads one JSON command per line and answers with one line each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CHILD = Path(__file__).resolve().parents[2] / "hermes_rlm" / "kernel" / "child"
KEY = bytes(range(32))
LIMIT = 500 << 20

_BOOT = """
import importlib.machinery, importlib.util, sys, types
def load(name, path):
    spec = importlib.util.spec_from_file_location(
        name, path + "/__init__.py", submodule_search_locations=[path]
    )
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
load("_hermes_rlm_kernel", sys.argv[1])
spec = importlib.util.spec_from_file_location("loop", sys.argv[2])
loop = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loop)
loop.serve()
"""


class Kernel:
    """The parent's side; as a context manager it ends the process."""

    def __init__(self, python: str = sys.executable) -> None:
        command = [python, "-I", "-S", "-c", _BOOT, str(CHILD), __file__]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, **command: object) -> None:
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> object:
        line = self.process.stdout.readline()
        assert line, "the kernel ended"
        return json.loads(line)

    def run(self, code: str) -> None:
        """Run a cell; an exception of it fails the test."""
        self.send(op="run", code=code)
        error = self.answer()
        assert error is None, error

    def value(self, expression: str) -> object:
        """The value of an expression, which JSON must be able to hold."""
        self.send(op="value", code=expression)
        return self.answer()

    def ask_save(self, path: Path, **options: object) -> None:
        self.send(op="save", path=str(path), **options)

    def save(self, path: Path, **options: object) -> dict:
        self.ask_save(path, **options)
        return self.answer()

    def restore(self, path: Path, **options: object) -> dict:
        self.send(op="restore", path=str(path), **options)
        return self.answer()


def _saving() -> Any:
    """The checkpoint code, loaded as a kernel loads it."""
    package = sys.modules["_hermes_rlm_kernel"]
    return package.load_package("_hermes_rlm_kernel.saving", str(CHILD / "saving"))


def serve() -> None:
    """Answer commands until the input ends; runs in the kernel process."""
    import ast
    import importlib
    import traceback
    import types

    definitions = importlib.import_module("_hermes_rlm_kernel.definitions").Definitions()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    namespace, cell = main.__dict__, 0

    def run(code: str) -> str | None:
        tree = ast.parse(code)
        try:
            exec(compile(code, f"<cell {cell}>", "exec", dont_inherit=True), namespace)
        except BaseException:
            return traceback.format_exc()
        finally:
            definitions.observe(cell, code, tree, namespace)
        return None

    def save(path: str, session: str = "s", name: str = "n", limit: int = LIMIT) -> dict:
        save = _saving().save
        fields = {"session": session, "name": name, "cell": cell, "limit": limit, "key": KEY}
        return save(namespace, definitions, path=path, hidden=frozenset(), **fields)

    def restore(path: str, session: str | None = "s", overwrite: bool = False) -> dict:
        restore = _saving().restore
        fields = {"session": session, "overwrite": overwrite, "key": KEY}
        return restore(namespace, definitions, path=path, hidden=frozenset(), **fields)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        command = json.loads(line)
        op = command.pop("op")
        cell += op == "run"
        try:
            if op == "run":
                answer = run(command["code"])
            elif op == "value":
                answer = eval(command["code"], namespace)
            else:
                answer = {"save": save, "restore": restore}[op](**command)
        except BaseException as error:
            answer = {"raised": type(error).__name__, "text": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def carried(path: Path, code: str, check: str, first_code: str = "") -> tuple[dict, dict]:
    """Save what `code` makes, restore, save again and restore again; `check` must hold in each new kernel.

    Returns the replies of the first save and the first restore. The records of both files must agree.
    Every kernel begins with `first_code`.
    """
    with Kernel() as first:
        first.run(first_code)
        first.run(code)
        saved = first.save(path)
        assert saved["ok"], saved
    records = records_of(path)
    with Kernel() as second:
        second.run(first_code)
        restored = second.restore(path)
        assert restored["ok"] and not restored["failed"], restored
        assert sorted(restored["restored"]) == sorted(saved["saved"])
        again = second.save(path)
        assert again["ok"] and sorted(again["saved"]) == sorted(saved["saved"]), again
        second.run(check)
    assert records_of(path) == records
    with Kernel() as third:
        third.run(first_code)
        assert sorted(third.restore(path)["restored"]) == sorted(saved["saved"])
        third.run(check)
    return saved, restored


def records_of(path: Path) -> list:
    """Kind, names and types of every record of a file, sorted."""
    from hermes_rlm.kernel.child.saving.format import open_private, read_manifest

    descriptor = open_private(str(path))
    try:
        records = read_manifest(descriptor)["records"]
    finally:
        os.close(descriptor)
    return sorted((record["kind"], sorted(record["names"]), sorted(record["types"])) for record in records)


def reasons(saved: dict) -> dict[str, str]:
    """Name -> why it was not saved."""
    return {row["name"]: row["reason"] for row in saved["skipped"]}
