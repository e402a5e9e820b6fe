"""Names of Python: what functions are usually called by, and a call about to be judged."""

from __future__ import annotations

from dataclasses import dataclass

from ..rules.names import names
from .value import Value

# Stands in source text for UNKNOWN, which Python's parser refuses: a letter that no code uses.
MARK = "\u16f0"
# The name of a path, whatever made it.
PATH = "pathlib.Path()"
MODULES = names(
    "os sys subprocess shutil builtins posix pty socket ctypes pathlib requests importlib base64 signal"
)
_SAME = {
    "posix": "os",
    "nt": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "builtins": "",
    "__builtin__": "",
    "__builtins__": "",
    "_io": "io",
    "urllib2": "urllib.request",
    "commands": "subprocess",
    "_pickle": "pickle",
    "cPickle": "pickle",
    "dill": "pickle",
    "cloudpickle": "pickle",
    "_socket": "socket",
    "_thread": "threading",
    "importlib._bootstrap": "importlib",
}


@dataclass(slots=True)
class Call:
    """A call about to be judged: what is called, on what, with which values."""

    name: str
    args: list[Value]
    keywords: dict[str, Value]
    receiver: Value
    method: str = ""
    line: int = 0
    chained: bool = False  # the receiver is itself made by a call on the spot

    def arg(self, place: int, *names: str) -> Value | None:
        """The argument at a place or under one of its names."""
        if 0 <= place < len(self.args):
            return self.args[place]
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return None

    def all(self) -> list[Value]:
        return [*self.args, *self.keywords.values()] if self.keywords else self.args


def canonical(name: str) -> str:
    """The name a function is usually called by: posix.system is os.system, shutil.os.system as well."""
    if ".os." in name:
        name = name[name.rindex(".os.") + 1 :]
    elif ".sys.modules" in name:
        name = "sys.modules"
    head, dot, tail = name.partition(".")
    same = _SAME.get(head)
    if same is None:
        return name
    return f"{same}.{tail}" if same and dot else tail if dot else same or name
