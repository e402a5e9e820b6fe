"""What a walk carries along, and the call of the rules for each command it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..rules.families import ALWAYS, BY_PROGRAM, WITH_ENVIRONMENT, WITH_REDIRECTS
from ..rules.names import names as listed
from ..rules.rule import Family
from ..shell.tree import Command
from ..verdict import Found, Verdict
from . import names, reasons
from .budget import Budget
from .consumers import Consumer
from .dispatch import HANDLERS
from .invocation import Arg, Invocation, Stream
from .scope import Scope
from .wrappers import VERBS, WRAPPERS

MOST_ARGUMENTS, LAST_ARGUMENTS = 300, 50
# Arguments that cost as much as a command.
ARGUMENTS_A_STEP = 8

NO_INPUT = Stream()

_PROGRAMS = frozenset(BY_PROGRAM) | frozenset(HANDLERS) | frozenset(WRAPPERS) | frozenset(VERBS)


class Judging(Scope):
    """What a walk carries along besides the state, and the call of the rules for a command."""

    def __init__(
        self,
        cwd: str | None,
        home: str,
        hermes_home: str,
        place: str = "",
        extra: Sequence[Family] = (),
        allowed: Callable[[Invocation], bool] | None = None,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(cwd, home, hermes_home)
        self.began = cwd
        self.place = place
        self.extra = extra
        self.allowed = allowed
        self.findings: list[Found] = []
        self.budget = budget or Budget()
        self.spend = self.budget.spend
        self.depth = 0
        self.text = ""
        # What unknown pieces of the text itself carry with them, when the text was made by a command.
        self.ambient: frozenset[str] = frozenset()
        self.ambient_source = ""
        self.calls: list[tuple[Command, int]] = []  # functions being called, and `concurrent` when they were
        self.concurrent = 0
        self.called: set[str] = set()
        self.texts: dict[int, tuple[Command, str]] = {}  # bodies of functions, with the text they stand in
        self.wrappers: tuple[str, ...] = ()
        self.programs = _PROGRAMS
        self.expanding: tuple[str, ...] = ()  # aliases being expanded
        self.exposed = False  # a container that holds the machine's own root
        self.broken = False  # the words come from text that could not be read, or from another command
        self.again = 0
        self.unread = ""
        self.cut: list[str] = []  # texts that the walk did not come to the end of, the innermost first
        self.numbers = 0
        self.input: Stream = NO_INPUT  # of the command that is being judged
        self.inherited: Stream = NO_INPUT  # what the last command with redirections would have got without
        self.replaced: Stream | None = None  # the input that `exec <file` has put another in the place of
        self.consumers: dict[str, Consumer] = {}  # by the path that is written to
        self.fifos: set[str] = set()
        self.links: dict[str, str] = {}  # the paths of links that this line makes, and where they lead to
        self.mounts: set[str] = set()
        self.planted: set[str] = set()  # the files of this line that are being judged
        self.kept: dict[tuple[str, str], Arg] = {}  # commands in settings, by the file of a tool and a name
        self.made: set[str] = set()  # the names of containers that this text makes

    # Judging.

    def judge(self, invocation: Invocation) -> None:
        """Call the rules for one command."""
        if not invocation.home:
            invocation.home = self.home
            invocation.hermes_home = self.hermes_home
            invocation.cwd = self.folder().path
            invocation.made = self.made
            if not invocation.place:
                invocation.place = self.place
        families = BY_PROGRAM.get(invocation.name)
        whole = invocation.argv
        count = len(whole)
        if count > MOST_ARGUMENTS:
            if families or self.extra:
                self.report([reasons.LIMIT.found(names.shown(invocation), f"{count} arguments")])
            invocation.argv = [*whole[: MOST_ARGUMENTS - LAST_ARGUMENTS], *whole[-LAST_ARGUMENTS:]]
        found: list[Found] = []
        if families:
            if count >= ARGUMENTS_A_STEP:
                self.spend(min(count, MOST_ARGUMENTS) // (ARGUMENTS_A_STEP // 2))
            if not _only_helps(invocation):
                for family in families:
                    found += family.check(invocation)
        for check in ALWAYS:
            found += check(invocation)
        if invocation.redirects:
            for check in WITH_REDIRECTS:
                found += check(invocation)
        if invocation.environment:
            for check in WITH_ENVIRONMENT:
                found += check(invocation)
        for family in self.extra:
            if not family.programs or invocation.name in family.programs:
                found += family.check(invocation)
        if found:
            self.report(found, invocation)
        invocation.argv = whole

    def report(self, found: list[Found], invocation: Invocation | None = None) -> None:
        """Keep findings: what a container loses is a person's to decide; what policy allows is not asked."""
        place = invocation.place if invocation is not None else self.place
        if invocation is not None:
            part = ""
            for at, each in enumerate(found):
                if not each.part:
                    part = part or names.shown(invocation)
                    found[at] = each.at(part)
        if place in ("container", "chroot"):
            found = [lowered(each) for each in found]
        if (
            self.allowed is not None
            and invocation is not None
            and any(each.verdict == Verdict.APPROVE for each in found)
            and self.allowed(invocation)
        ):
            found = [each for each in found if each.verdict != Verdict.APPROVE]
        self.findings.extend(found)
        self.spend(len(found))


# Programs of which any verb with --help prints its help, but for those that hand their words on.
_HELPFUL = listed(
    "docker podman kubectl helm terraform tofu git gh glab gcloud az npm pnpm yarn cargo systemctl"
)
_HANDS_ON = frozenset(("exec", "run", "debug", "x", "dlx", "submodule", "rebase", "bisect"))


def _only_helps(invocation: Invocation) -> bool:
    words = invocation.argv
    return (
        words[-1].text == "--help"
        and invocation.name in _HELPFUL
        and not any(word.text in _HANDS_ON or word.text == "--" for word in words)
    )


# What a container or a changed root loses with its files is not lost to the machine.
_LOSES_FILES = (
    "files.",
    "disk.",
    "power.",
    "processes.",
    "modes.",
    "writes.",
    "code.machine-off",
    "code.fork-bomb",
    "code.processes-ended",
)


def lowered(found: Found) -> Found:
    """A finding about files inside a container or a changed root: a person decides."""
    if found.verdict != Verdict.BLOCK or not found.rule.startswith(_LOSES_FILES):
        return found
    return found.with_verdict(Verdict.APPROVE)
