"""One command that would run, as the rules see it: expanded words, redirections, input and place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

# Stands in an argument for a piece that only running the command could tell.
UNKNOWN = "\0"

# What a value carries with it: it came from a credential (or an environment dump), from the network, was
# decoded from something unknown, or was printed by a shell that takes its commands from somewhere unknown;
# or it is the credential of one service, which that service may be sent, or one that a store keeps.
SECRET, REMOTE, OPAQUE, SHELL, TOKEN, KEPT = "secret", "remote", "opaque", "shell", "token", "kept"

# The source of names that a search turns up: of some of those below a folder, or of all.
FOUND, FOUND_ALL = "a search", "a search for everything"
# The source of a folder that is printed by code which asks where the guard is installed.
GUARD_FOLDER = "where the guard is"
# The source of ids of containers that the text itself has started.
CONTAINER = "a container started here"
# The source of ids of the processes by which the agent runs.
AGENT = "a process of the agent"


@dataclass(slots=True)
class Arg:
    """A word after expansion. `text` holds UNKNOWN for what is not known; `glob` when it would be matched."""

    text: str
    glob: bool = False
    taint: frozenset[str] = frozenset()
    source: str = ""  # where the taint comes from, as it may be shown: "~/.ssh/id_rsa"
    variable: str = ""  # the variable of unknown value that is the whole word: "PYTHON" for "$PYTHON"

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text


@dataclass(slots=True)
class Stream:
    """What comes in on stdin. `text` is the content when known; None when not, or nothing is piped in."""

    text: str | None = None
    piped: bool = False  # something is piped or redirected in
    taint: frozenset[str] = frozenset()
    source: str = ""


@dataclass(slots=True)
class Target:
    """A redirection after expansion, without here-documents (those are `stdin`)."""

    op: str
    arg: Arg
    fd: str = ""

    @property
    def writes(self) -> bool:
        return self.op in (">", ">>", ">|", "<>", "&>", "&>>") or (
            self.op == ">&" and not self.arg.text.isdigit() and self.arg.text != "-"
        )


@dataclass(slots=True)
class Invocation:
    """A command about to run, after wrappers (sudo, env, xargs, ...) were taken off.

    `name` is the basename of the program, "" when it is not known. `argv[0]` is the program as written.
    `place` is "" on this machine, else "container", "remote" or "chroot". `cwd` is None when not known.
    `wrappers` are the names of what was taken off, outermost first. `appended`: further arguments that are
    not known follow (xargs, find -exec). `made`: the names of containers that the text made before.
    """

    name: str
    argv: list[Arg]
    redirects: list[Target] = field(default_factory=list)
    stdin: Stream = field(default_factory=Stream)
    environment: dict[str, Arg] = field(default_factory=dict)
    cwd: str | None = None
    home: str = ""
    hermes_home: str = ""
    place: str = ""
    wrappers: tuple[str, ...] = ()
    appended: bool = False
    part: str = ""
    made: Collection[str] = ()

    @property
    def privileged(self) -> bool:
        return not {"sudo", "doas", "su", "pkexec", "run0"}.isdisjoint(self.wrappers)

    @property
    def arguments(self) -> list[Arg]:
        return self.argv[1:]

    def words(self) -> list[str]:
        """The texts of the arguments, UNKNOWN pieces included."""
        return [arg.text for arg in self.argv[1:]]

    def operands(self, valued: frozenset[str] = frozenset()) -> Iterator[Arg]:
        """The arguments that are no options, in order; an option in `valued` takes the next word along."""
        plain, skip = False, False
        for arg in self.argv[1:]:
            if skip:
                skip = False
            elif plain or not arg.text.startswith("-") or arg.text == "-":
                yield arg
            elif arg.text == "--":
                plain = True
            else:
                skip = arg.text in valued

    def has(self, letters: str = "", *names: str) -> bool:
        """Is one of the options there: `letters` in a cluster of short ones, `names` long ("--force").

        A long option counts when it is a beginning of a name of at least three letters ("--rec"), as GNU
        getopt takes it.
        """
        for arg in self.argv[1:]:
            text = arg.text
            if text[:1] != "-":
                continue
            if text == "--":
                return False
            if text[1:2] == "-":
                given = text.partition("=")[0]
                for name in names:
                    if given == name or (len(given) > 4 and name.startswith(given)):
                        return True
            else:
                for letter in letters:
                    if letter in text[1:]:
                        return True
        return False
