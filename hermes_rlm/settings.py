"""Every HERMES_RLM_* knob: its default, what it accepts, and where its value comes from.

A knob is read from the environment, else from ``$HERMES_HOME/.env``; an empty value counts as not set.
A value that is not accepted is named in ``Settings.problems`` and the default is used.

KNOBS drives all of it: `load` for the plugin, `describe` for doctor, `as_markdown` for the documentation.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PREFIX = "HERMES_RLM_"
ENV_FILE = ".env"

# An executable may appear or go while neither .env nor the environment changes.
RECHECK_SECONDS = 30.0
MAX_ENV_BYTES = 1_048_576

_SHOWN_CHARS = 60
_NAMED_UNKNOWN = 20
_CACHED_HOMES = 64


@dataclass(frozen=True)
class Settings:
    """The values in force for one home. ``problems`` are lines for doctor and the log."""

    max_kernels: int = 12
    max_rss_mb: int = 2048
    rss_policy: str = "warn"
    idle_seconds: int = 3600
    python: str = ""  # absolute path of the kernel's interpreter; "" is the one the host runs on
    depth: int = 0
    enable_checkpoint: bool = True
    enable_python_skills: bool = True
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Knob:
    """One setting: ``field`` of Settings, how its text is read (``kind``), and what it does."""

    field: str
    kind: str  # a key of _READERS: integer, choice, flag or interpreter
    does: str
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The variable's name, HERMES_RLM_..."""
        return PREFIX + self.field.upper()

    @property
    def default(self) -> Any:
        """The default, as it stands in Settings."""
        return getattr(Settings, self.field)

    @property
    def accepted(self) -> str:
        """What may be written, for people."""
        if self.kind == "integer":
            return f"a whole number from {self.least} to {self.most}"
        if self.kind == "choice":
            return " or ".join(self.choices)
        if self.kind == "flag":
            return "1 or 0 (also true/false, yes/no, on/off)"
        return "the absolute path of an executable Python, or the name of one on PATH"

    def read(self, text: str, environ: Mapping[str, str]) -> Any:
        """The value that ``text`` means. Raises ValueError, with a reason where one says more."""
        return _READERS[self.kind](self, text.strip(), environ)


KNOBS: tuple[Knob, ...] = (
    Knob(
        "max_kernels",
        "integer",
        "Kernels alive at once; one more ends the kernel that was idle longest, never a busy one.",
        least=1,
        most=1000,
    ),
    Knob(
        "max_rss_mb",
        "integer",
        "Memory of one kernel with its child processes, in MB, above which the policy below acts.",
        least=64,
        most=16_777_216,
    ),
    Knob(
        "rss_policy",
        "choice",
        "What happens above that: a warning with a remedy, or an autosave and the end of the kernel.",
        choices=("warn", "stop"),
    ),
    Knob(
        "idle_seconds",
        "integer",
        "Seconds without a call after which a kernel is saved and ended.",
        least=1,
        most=31_536_000,
    ),
    Knob("python", "interpreter", "Python of the kernels; without it the one that Hermes runs on."),
    Knob(
        "depth",
        "integer",
        "How deep Hermes runs inside Hermes. Shown by status, never trusted.",
        most=100,
    ),
    Knob("enable_checkpoint", "flag", "Checkpoints and autosaves; 0 leaves no code that pickles."),
    Knob(
        "enable_python_skills",
        "flag",
        "Skills that bring Python modules; 0 puts none on the path of a kernel.",
    ),
)

# Names of the same family that nothing reads yet. They are no mistakes.
RESERVED = frozenset(
    PREFIX + name
    for name in (
        *("PARALLEL", "CHILD_REASONING", "CHILD_MAX_TURNS", "CHILD_IGNORE_RULES", "LEAF_PROFILE"),
        *("HARNESS_INJECT", "FAST_BASE_URL", "FAST_MODEL", "FAST_KEY_ENV", "FAST_API_KEY", "WARM_URL"),
        *("CODER_REASONING", "CODER_MAX_TURNS", "CODER_TIMEOUT", "CODER_RETRIES", "CODER_PARALLEL"),
        *("CODER_REVIEW", "CODER_CMD"),
        *("ENABLE_REFINE", "ENABLE_SUBAGENTS", "ENABLE_CODER", "ENABLE_IMPROVE"),
    )
)
# Set by the plugin itself for the processes it starts.
INTERNAL = frozenset({PREFIX + "KERNEL_ID"})


@dataclass(frozen=True)
class Row:
    """One knob as it stands: ``source`` is "default", "environment" or ".env"."""

    knob: Knob
    value: Any
    source: str
    problem: str | None = None


def load(home: str | os.PathLike[str], environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of ``home``. Never raises; costs one stat and a look at the environment when unchanged."""
    path = os.path.join(home, ENV_FILE)
    given = tuple((name, environ[name]) for name in environ if name.startswith(PREFIX))
    state = (_signature(path), given)
    now = time.monotonic()
    cached = _cache.get(path)
    if cached is not None and cached[0] == state and now - cached[1] < RECHECK_SECONDS:
        return cached[2]
    rows, problems = _resolve(path, environ)
    settings = Settings(**{row.knob.field: row.value for row in rows}, problems=tuple(problems))
    if len(_cache) >= _CACHED_HOMES:
        _cache.clear()
    _cache[path] = (state, now, settings)
    return settings


def describe(home: str | os.PathLike[str], environ: Mapping[str, str] = os.environ) -> list[Row]:
    """One row per knob, in the order of KNOBS, read anew.

    Problems that belong to no knob (a name that does not exist, a .env that cannot be read) are only in
    `load(home).problems`.
    """
    return _resolve(os.path.join(home, ENV_FILE), environ)[0]


def as_markdown() -> str:
    """KNOBS as a table for the documentation."""
    lines = ["| Variable | Default | Accepts | What it does |", "|---|---|---|---|"]
    for knob in KNOBS:
        lines.append(f"| `{knob.name}` | {shown(knob)} | {knob.accepted} | {knob.does} |")
    return "\n".join(lines) + "\n"


def shown(knob: Knob, value: Any = None) -> str:
    """A value of the knob (its default when None) as a person would write it."""
    value = knob.default if value is None else value
    if knob.kind == "flag":
        return str(int(value))
    return str(value) if value != "" else "the Python of Hermes"


# path of .env -> (its signature and the variables of the environment, monotonic time, settings)
_cache: dict[str, tuple[tuple[Any, ...], float, Settings]] = {}


def _resolve(path: str, environ: Mapping[str, str]) -> tuple[list[Row], list[str]]:
    """All rows, and all problems: of the file, of the knobs, of the names."""
    stored, file_problem = _read_env_file(path)
    # The host puts its .env into its environment; what is equal in both was said in the file.
    given = {name: value for name, value in environ.items() if stored.get(name) != value}
    rows = [_row(knob, given, stored) for knob in KNOBS]
    problems = [file_problem] if file_problem else []
    problems += [row.problem for row in rows if row.problem]
    problems += _unknown_names(given, "environment") + _unknown_names(stored, ENV_FILE)
    return rows, problems


def _row(knob: Knob, environ: Mapping[str, str], stored: Mapping[str, str]) -> Row:
    for source, values in (("environment", environ), (ENV_FILE, stored)):
        text = values.get(knob.name, "")
        if not text.strip():
            continue
        try:
            return Row(knob, knob.read(text, environ), source)
        except ValueError as error:
            reason = f"{error}; " if str(error) else ""
            problem = (
                f"{knob.name}={_printable(text)} ({source}) is not accepted: {reason}"
                f"expected {knob.accepted}; the default is used: {shown(knob)}"
            )
            return Row(knob, knob.default, "default", problem)
    return Row(knob, knob.default, "default")


def _unknown_names(values: Mapping[str, str], source: str) -> list[str]:
    known = {knob.name for knob in KNOBS} | RESERVED | INTERNAL
    unknown = sorted(name for name in values if name.startswith(PREFIX) and name not in known)
    problems = [
        f"{_printable(name)[1:-1]} ({source}) is no setting{_hint(name)}" for name in unknown[:_NAMED_UNKNOWN]
    ]
    if len(unknown) > _NAMED_UNKNOWN:
        problems.append(f"{len(unknown) - _NAMED_UNKNOWN} more names ({source}) are no settings")
    return problems


def _hint(name: str) -> str:
    from difflib import get_close_matches

    # The common prefix would make all names look alike, so only what follows it is compared.
    known = [known[len(PREFIX) :] for known in (*(knob.name for knob in KNOBS), *sorted(RESERVED))]
    meant = get_close_matches(name[len(PREFIX) :][:_SHOWN_CHARS].upper(), known, 1, 0.6)
    return f"; did you mean {PREFIX}{meant[0]}?" if meant else ""


def _printable(text: str) -> str:
    """The text in quotes, ASCII, without control characters and bounded, as a report can hold it."""
    cut = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."
    return ascii(cut)


# The readers of the kinds: stripped text to value, or ValueError.


def _integer(knob: Knob, text: str, environ: Mapping[str, str]) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        raise ValueError
    value = int(text)
    if not knob.least <= value <= knob.most:
        raise ValueError
    return value


def _choice(knob: Knob, text: str, environ: Mapping[str, str]) -> str:
    if text.lower() not in knob.choices:
        raise ValueError
    return text.lower()


_FLAGS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def _flag(knob: Knob, text: str, environ: Mapping[str, str]) -> bool:
    if text.lower() not in _FLAGS:
        raise ValueError
    return _FLAGS[text.lower()]


def _interpreter(knob: Knob, text: str, environ: Mapping[str, str]) -> str:
    """The absolute path; links are kept, because a venv's Python finds its venv by its own path."""
    if os.sep not in text:
        found = shutil.which(text, path=environ.get("PATH", os.defpath)) if "\0" not in text else None
        if found is None or not os.path.isabs(found):
            raise ValueError("no such program on PATH")
        return found
    path = os.path.expanduser(text)
    if not os.path.isabs(path):
        raise ValueError("the path is relative")
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise ValueError(getattr(error, "strerror", None) or "not a path") from None
    if not stat.S_ISREG(mode):
        raise ValueError("it is a directory" if stat.S_ISDIR(mode) else "it is not a file")
    if not os.access(path, os.X_OK):
        raise ValueError("it is not executable")
    return path


_READERS: dict[str, Callable[[Knob, str, Mapping[str, str]], Any]] = {
    "integer": _integer,
    "choice": _choice,
    "flag": _flag,
    "interpreter": _interpreter,
}


# The .env file.

_ASSIGNMENT = re.compile(rf"[ \t]*(?:export[ \t]+)?({PREFIX}[^\s=]*)[ \t]*=(.*)", re.DOTALL)
_QUOTED = re.compile(r"""'((?:\\['\\]|[^'])*)'|"((?:\\.|[^"\\])*)\"""", re.DOTALL)
_COMMENT = re.compile(r"(?:^|[ \t])#.*", re.DOTALL)


def _signature(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def _read_env_file(path: str) -> tuple[dict[str, str], str | None]:
    """The HERMES_RLM_* values of the file, the last of a name winning, and what is wrong with the file."""
    try:
        raw = _read_bounded(path)
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return {}, f"{Path(path)}: cannot be read ({reason}); only the environment counts"
    problem = None
    if len(raw) > MAX_ENV_BYTES:
        raw = raw[:MAX_ENV_BYTES].rpartition(b"\n")[0]
        problem = f"{Path(path)}: larger than {MAX_ENV_BYTES} bytes; the rest of it is not read"
    values = {}
    # Other bytes than UTF-8 survive, as they do in os.environ: a path may hold them.
    for line in re.split(r"\r\n|\n|\r", raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")):
        found = _ASSIGNMENT.fullmatch(line)
        if found:
            values[found[1]] = _unquote(found[2].strip())
    return values, problem


def _read_bounded(path: str) -> bytes:
    # Without O_NONBLOCK a named pipe in its place would block for ever.
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("not a file")
        return file.read(MAX_ENV_BYTES + 1)


def _unquote(text: str) -> str:
    """The value as written after "=": without quotes, or without a comment that follows a blank."""
    quoted = _QUOTED.match(text)
    if quoted:
        if quoted[1] is not None:
            return re.sub(r"\\(['\\])", r"\1", quoted[1])
        return re.sub(r"\\([\"\\$`])", r"\1", quoted[2])
    return _COMMENT.sub("", text, count=1).rstrip()
