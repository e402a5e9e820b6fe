"""Restoring: the whole file is checked first, then each record comes back, or costs its own names alone."""

import io
import json
import os

from ..definitions import Definition, Definitions
from .format import CheckpointError, open_private, read_exactly, read_manifest, verify
from .functions import MissingName, module_named
from .pickling import RecordPickler, RecordUnpickler, reason

_COMPARED_BYTES = 16 << 20
_ORDER = {"module": 0, "definition": 1, "value": 2, "attributes": 3}
_CONTAINERS = {"list": list, "dict": dict, "set": set}
_MISSING = object()


def restore(
    namespace: dict,
    cells: Definitions,
    *,
    path: str,
    key: bytes,
    overwrite: bool,
    session: "str | None",
    hidden: frozenset = frozenset(),
) -> dict:
    """Bring the names of a checkpoint back into the namespace and return the fields of the reply.

    A name that exists is kept unless ``overwrite``: its value may be newer, also when it was changed in
    place. ``session`` None takes any session's file.
    Nothing is unpickled before the file's owner, mode, format, session and signature are found right; a
    refusal is told in "error". KeyboardInterrupt takes every binding back and is raised again.
    """
    reply = {"ok": False, "restored": [], "kept": [], "failed": [], "saved_at": 0.0, "cell": 0, "session": ""}
    try:
        descriptor = open_private(path)
        try:
            manifest = _checked_manifest(descriptor, key, session)
            run = Restoration(namespace, cells, descriptor, manifest)
            kept = run.keep(overwrite, hidden)
            run.load()
        finally:
            os.close(descriptor)
    except CheckpointError as error:
        return {**reply, "error": str(error)}
    except OSError as error:
        return {**reply, "error": f"the checkpoint cannot be read: {error.strerror or error}"}
    reply.update({field: manifest[field] for field in ("saved_at", "cell", "session")})
    return {**reply, "ok": True, "restored": run.restored, "kept": kept, "failed": run.failed}


def _checked_manifest(descriptor: int, key: bytes, session: "str | None") -> dict:
    manifest = read_manifest(descriptor)
    verify(descriptor, key)
    if session is not None and manifest["session"] != session:
        raise CheckpointError("refused: it is the checkpoint of another session")
    return manifest


class Restoration:
    """One run over the records of a checkpoint that was found right."""

    def __init__(self, namespace: dict, cells: Definitions, descriptor: int, manifest: dict) -> None:
        self._namespace, self._cells, self._descriptor = namespace, cells, descriptor
        self._pending = sorted(manifest["records"], key=lambda record: _ORDER[record["kind"]])
        self._wanted: set = set()
        self._reasons: dict = {}  # id of a pending record -> why it failed last
        self._before: dict = {}  # name -> what it was bound to before this run
        self._lent: list = []  # (record, values, their pickle) bound only while definitions run
        self.restored: list = []
        self.failed: list = []

    def keep(self, overwrite: bool, hidden: frozenset) -> list:
        """Decide which names are left alone, drop records nobody wants, and return the kept names."""
        names = [
            name for record in self._pending if record["kind"] != "attributes" for name in record["names"]
        ]
        kept = [name for name in names if not overwrite and name in self._namespace and name not in hidden]
        self._wanted = set(names).difference(kept)
        self._pending = [record for record in self._pending if self._wanted.intersection(record["names"])]
        return kept

    def load(self) -> None:
        """Load all records, again and again while some that failed may have got what they need."""
        try:
            while self._round():
                pass
        except BaseException:
            self._undo()
            raise
        for record in self._pending:
            why = self._reasons.get(id(record), "it needs what could not be restored")
            names = [name for name in record["names"] if name in self._wanted]
            if record["kind"] == "attributes":
                names = [f"attributes of {name}" for name in record["names"]]
            self.failed += [{"name": name, "reason": why} for name in names]

    def _round(self) -> bool:
        """Try every pending record once; whether another round may help."""
        before = len(self._pending)
        for kind, load in (("module", self._module), ("definition", self._definition)):
            self._try_all(kind, load)
        self._return_loans()
        self._try_all("value", self._value)
        progress = len(self._pending) < before
        if not progress or all(record["kind"] == "attributes" for record in self._pending):
            self._try_all("attributes", self._attributes)
            return False
        return True

    def _try_all(self, kind: str, load) -> None:
        for record in [record for record in self._pending if record["kind"] == kind]:
            try:
                load(record)
            except (KeyboardInterrupt, CheckpointError):
                raise
            except BaseException as error:  # whatever a value's own code raises costs its names alone
                self._reasons[id(record)] = reason(error)
            else:
                self._pending.remove(record)

    def _module(self, record: dict) -> None:
        module = module_named(self._data(record).decode("utf-8", "surrogatepass"))
        self._bind(dict.fromkeys(record["names"], module))

    def _value(self, record: dict) -> None:
        self._bind(self._unpickled(record))

    def _attributes(self, record: dict) -> None:
        (name,) = record["names"]
        if name not in self.restored:
            raise MissingName(name)
        for attribute, value in self._unpickled(record).items():
            type.__setattr__(self._namespace[name], attribute, value)

    def _definition(self, record: dict) -> None:
        """Run the statements of a definition; values they ask for are lent to them."""
        fields = json.loads(self._data(record))
        asked: set = set()
        while True:
            try:
                value = self._run(fields)
                break
            except NameError as error:
                name = getattr(error, "name", None)
                if name in asked or not self._lend(name):
                    raise
                asked.add(name)
        self._bind(dict.fromkeys(record["names"], value))
        definition = Definition(fields["binds"], value, fields["source"], fields["cell"])
        self._cells.add(definition, self._namespace)

    def _run(self, fields: dict) -> object:
        """Return what the statements bind, leaving the namespace as it was."""
        code = compile(fields["source"], f"<definition of {fields['binds']}>", "exec", dont_inherit=True)
        before = {name: self._namespace.get(name, _MISSING) for name in code.co_names}
        for name in before:
            self._remember(name)
        try:
            exec(code, self._namespace)
            return self._namespace[fields["binds"]]
        finally:
            for name, value in before.items():
                self._put(name, value)

    def _lend(self, name: object) -> bool:
        """Bind a value that is to be restored for as long as definitions run; whether there is one.

        They may change it, as a decorator that registers a class does; the saved value has that change.
        """
        for record in self._pending:
            if record["kind"] != "value" or name not in record["names"] or name in self._namespace:
                continue
            try:
                values = self._unpickled(record)
            except (KeyboardInterrupt, CheckpointError):
                raise
            except BaseException:
                kind = record["types"][record["names"].index(name)]
                if kind not in _CONTAINERS:
                    return False
                values = {name: _CONTAINERS[kind]()}  # it holds what is not defined yet
                self._lent.append((record, values, None))
            else:
                self._lent.append((record, values, self._pickled(record, values)))
            for lent, value in values.items():
                self._remember(lent)
                self._namespace.setdefault(lent, value)
            return True
        return False

    def _return_loans(self) -> None:
        """Keep lent values the definitions left as they were; unbind the others, to be loaded afresh."""
        for record, values, pickled in self._lent:
            for name, value in values.items():
                if self._namespace.get(name) is value and self._before[name] is _MISSING:
                    del self._namespace[name]
            if pickled is not None and pickled == self._pickled(record, values):
                self._bind(values)
                self._pending.remove(record)
        self._lent = []

    def _pickled(self, record: dict, values: dict) -> "bytes | None":
        if record["length"] > _COMPARED_BYTES:
            return None
        file = io.BytesIO()
        try:
            RecordPickler(file, self._namespace, {}).dump(values)
        except (KeyboardInterrupt, CheckpointError):
            raise
        except BaseException:
            return None
        return file.getvalue()

    def _unpickled(self, record: dict) -> dict:
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(record["offset"])
            values = RecordUnpickler(file).load()
        if type(values) is not dict:
            raise TypeError("the record holds no names")
        return values

    def _data(self, record: dict) -> bytes:
        return read_exactly(self._descriptor, record["offset"], record["length"])

    def _bind(self, values: dict) -> None:
        for name, value in values.items():
            if name in self._wanted:
                self._remember(name)
                self._namespace[name] = value
                self.restored.append(name)

    def _remember(self, name: str) -> None:
        self._before.setdefault(name, self._namespace.get(name, _MISSING))

    def _put(self, name: str, value: object) -> None:
        if value is _MISSING:
            self._namespace.pop(name, None)
        else:
            self._namespace[name] = value

    def _undo(self) -> None:
        for name, value in self._before.items():
            self._put(name, value)
