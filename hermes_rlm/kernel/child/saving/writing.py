"""Saving: every variable into a record of its own, so that one that cannot be saved costs one name."""

import io
import json
import sys
import time

from ..definitions import Definition, Definitions
from .file import CheckpointFile, OverLimit, over_limit
from .format import CheckpointError
from .pickling import RecordPickler, RecordUnpickler, importable_name, reason, type_name
from .planning import Member, Plan, attributes
from .time_limit import Shares, TooSlow

TRIED_BYTES = 16 << 20

_SHOWN_NAME = 100


def save(
    namespace: dict,
    cells: Definitions,
    *,
    path: str,
    key: bytes,
    session: str,
    name: str,
    cell: int,
    limit: int,
    seconds: "float | None" = None,
    hidden: frozenset = frozenset(),
) -> dict:
    """Write a checkpoint of the namespace to ``path`` and return the fields of the reply.

    ``seconds``: what takes so long that others would not be saved is skipped, as is one for which
    there is no room below ``limit``. ``hidden``: names that are bound to the kernel's own helpers. "ok" is
    said only when the new file has been read back and stands at ``path``; otherwise the old one does, and
    "error" says why.
    KeyboardInterrupt leaves the old file too and is raised again.
    """
    try:
        with CheckpointFile(path, key, limit) as file:
            manifest = {"session": session, "name": name, "saved_at": time.time(), "cell": cell}
            manifest["python"] = f"{sys.version_info[0]}.{sys.version_info[1]}"
            records = Records(file, namespace, cells, hidden, Shares(seconds))
            records.write()
            if records.skipped and not records.written:
                first = records.skipped[0]
                error = f"nothing could be saved; {first['name']}: {first['reason']}"
                return {"ok": False, "saved": [], "skipped": records.skipped, "size": 0, "error": error}
            size = file.commit({**manifest, "records": records.written, "skipped": records.skipped})
    except CheckpointError as error:
        return {"ok": False, "saved": [], "skipped": [], "size": 0, "error": str(error)}
    saved = [name for record in records.written if record["kind"] != "attributes" for name in record["names"]]
    return {"ok": True, "saved": saved, "skipped": records.skipped, "size": size}


class Records:
    """The records of one checkpoint; what could not be written is in ``skipped`` with the reason."""

    def __init__(
        self, file: CheckpointFile, namespace: dict, cells: Definitions, hidden: frozenset, shares: Shares
    ) -> None:
        self._file, self._namespace, self._shares = file, namespace, shares
        self._plan = Plan(dict(namespace), cells, hidden)
        self._slow: list = []  # (kind, member, owner) that took too long at first
        self.written: list = []
        self.skipped: list = []

    def write(self) -> None:
        """Write all records in the order in which a restore can use them."""
        for key in self._plan.nameless:
            self._skip([f"<{type_name(key)}>"], key, "its name is not a plain string")
        for member in self._plan.modules:
            self._attempt("module", member, _module_payload)
        for member, definition in self._plan.definitions:
            self._define(member, definition)
        for group in self._plan.groups:
            self._values("value", group, [])
        for member, definition in self._plan.definitions:
            owned = attributes(definition)
            if owned:
                self._values("attributes", owned, member.names[:1])
        # With all others saved, what took long may take what time is left.
        self._shares.are_whole = True
        for kind, member, owner in self._slow:
            self._values(kind, [member], owner)

    def _attempt(self, kind: str, member: Member, payload) -> None:
        """Write what ``payload`` makes of the value, or skip the member."""
        try:
            data = payload(member.value)
        except Exception as error:
            self._skip(member.names, member.value, reason(error))
            return
        start = self._file.position
        self._file.write(data)
        self._wrote(kind, member.names, [type_name(member.value)] * len(member.names), start)

    def _define(self, member: Member, definition: Definition) -> None:
        def payload(_value: object) -> bytes:
            compile(definition.source, "<definition>", "exec", dont_inherit=True)
            fields = {"source": definition.source, "binds": definition.name, "cell": definition.cell}
            return json.dumps(fields).encode("utf-8")

        self._attempt("definition", member, payload)

    def _values(self, kind: str, members: list, owner: list) -> None:
        """Write members into one record; those that cannot be pickled are found and left out."""
        failure = self._pickle(kind, members, owner)
        if failure is None:
            return
        failures = {id(members[0]): failure} if len(members) == 1 else self._failures(members)
        for member in members:
            failure = failures.get(id(member))
            if isinstance(failure, Slow) and not self._shares.are_whole:
                self._slow.append((kind, member, owner))
            elif failure is not None:
                self._give_up(member, failure, owner)
        good = [member for member in members if id(member) not in failures]
        # Where each pickles, but not all of them together, each gets a record of its own.
        for group in [good] if failures and good else [[member] for member in good]:
            self._values(kind, group, owner)

    def _failures(self, members: list) -> dict:
        """Return id of a member -> why it does not pickle, by trying halves."""
        failure = self._probe(members)
        if failure is None:
            return {}
        if len(members) == 1:
            return {id(members[0]): failure}
        middle = len(members) // 2
        return self._failures(members[:middle]) | self._failures(members[middle:])

    def _give_up(self, member: Member, failure: str, owner: list) -> None:
        definition = self._plan.fallbacks.get(id(member.value))
        if definition is not None and not owner:
            self._define(member, definition)
        elif not member.is_quiet:
            names = [f"{owner[0]}.{name}" for name in member.names] if owner else member.names
            self._skip(names, member.value, failure)

    def _pickle(self, kind: str, members: list, owner: list) -> "str | None":
        """Write one record and try it; on failure take it back and return the reason."""
        start = self._file.position
        named = [(name, member) for member in members for name in member.names]
        failure = self._attempt_pickle(
            self._file, members, lambda: self._file.read(start, self._file.position - start)
        )
        if failure is not None:
            self._file.rewind(start)
            return failure
        if owner:
            self._wrote(kind, owner, ["type"], start)
        else:
            self._wrote(
                kind, [name for name, _ in named], [type_name(member.value) for _, member in named], start
            )
        return None

    def _probe(self, members: list) -> "str | None":
        sink = Sink(self._file.room)
        return self._attempt_pickle(sink, members, sink.getvalue)

    def _attempt_pickle(self, file, members: list, written) -> "str | None":
        """Pickle members to ``file`` and, where classes may not come back, unpickle what was ``written``."""
        value = {name: member.value for member in members for name in member.names}
        start = file.position
        pickler = RecordPickler(file, self._namespace, self._plan.named)
        try:
            with self._shares:
                pickler.dump(value)
        except OverLimit as error:
            return str(error)
        except TooSlow as error:
            return Slow(error)
        except (KeyboardInterrupt, CheckpointError):
            raise
        except BaseException as error:  # whatever a value's own code raises costs its name alone
            return reason(error)
        if pickler.is_plain or file.position - start > TRIED_BYTES:
            return None
        try:
            with self._shares:
                RecordUnpickler(io.BytesIO(written())).load()
        except (KeyboardInterrupt, CheckpointError):
            raise
        except BaseException as error:
            return f"it pickles, but does not unpickle: {reason(error)}"
        return None

    def _wrote(self, kind: str, names: list, types: list, start: int) -> None:
        record = {"kind": kind, "names": names, "types": types, "offset": start}
        self.written.append({**record, "length": self._file.position - start})

    def _skip(self, names: list, value: object, why: str) -> None:
        self.skipped += [{"name": name, "type": type_name(value), "reason": str(why)} for name in names]


class Slow(str):
    """The reason of a failure that more time may mend."""

    __slots__ = ()


def _module_payload(module: object) -> bytes:
    return importable_name(module).encode("utf-8", "surrogatepass")


class Sink(io.BytesIO):
    """Takes a pickle that is not kept; only as much of it as would be tried, and no more than fits."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.position, self._room = 0, room

    def write(self, data) -> int:
        size = memoryview(data).nbytes
        if self.position + size > self._room:
            raise over_limit()
        if self.position + size <= TRIED_BYTES:
            super().write(data)
        self.position += size
        return size
