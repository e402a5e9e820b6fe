"""What a policy file can say of a command: argv patterns and path patterns, as rules and as allowances.

A pattern is anchored at both ends: it describes one whole simple command. Each word of it is a glob for one
whole argument; "**" stands for any number of arguments. The program is compared by its name without a folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .judge.invocation import UNKNOWN, Arg, Invocation, Target
from .judge.wrappers import WRAPPERS
from .policy_paths import ANY, GLOB, is_named, literals, matches, named_in, path_matches
from .rules.rule import Family
from .verdict import Found, Verdict

FAMILY = "policy"
# Variables before a command that make it another one; an allowance is about the command alone.
_TELLING = re.compile(
    r"PATH|HOME|IFS|ENV|BASH_ENV|PROMPT_COMMAND|PS4|SHELLOPTS|LD_.*|DYLD_.*|.*(_COMMAND|_SSH|PAGER|EDITOR|OPTS)"
    r"|(PYTHON|PERL|RUBY|NODE|GIT|SSH|HERMES).*"
)
_SYSTEM_FOLDERS = frozenset(
    ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin")
)
# Wrappers after which a command runs as before; the others have to stand in an allowance.
_TRANSPARENT = frozenset(
    ("command", "builtin", "exec", "env", "time", "nice", "ionice", "nohup", "timeout", "stdbuf", "setsid")
)
# Characters beside the wildcards that the program of an allowance must have.
_LEAST_LITERAL = 2
# Programs that take a whole folder along: a pattern below it is meant as well.
_WHOLE = frozenset(("rm", "mv", "find", "shred", "srm"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """The words of an argv pattern, the first the program."""

    words: tuple[str, ...]

    def stops(self, invocation: Invocation) -> bool:
        """Whether a rule with this pattern is about a command, whatever it is wrapped in.

        The pattern may begin with a wrapper ("sudo", "xargs"), which must then be there. Arguments that are
        not known may be anything that a glob allows.
        """
        words = self._behind_wrappers(invocation, strict=False)
        if words is None or not _program(words[0], invocation, folders=None):
            return False
        given = [arg.text for arg in invocation.arguments]
        wanted = words[1:]
        return matches(wanted, given, is_named) or (
            invocation.appended and matches(wanted, [*given, UNKNOWN], is_named)
        )

    def allows(self, invocation: Invocation) -> bool:
        """Whether an allowance with this pattern covers a command as a whole: nothing about it is left open.

        A wrapper that changes who runs it or where (sudo, ssh) must stand in the pattern. What is not known
        is covered by "**" alone, and ".." in a path only by "**" or by ".." in the pattern. Output to a file,
        tainted input and variables that change what runs are covered by nothing.
        """
        if invocation.stdin.taint or any(_writes_file(target) for target in invocation.redirects):
            return False
        if any(_TELLING.fullmatch(name) for name in invocation.environment):
            return False
        words = self._behind_wrappers(invocation, strict=True)
        if words is None or not names_program(words[0]):
            return False
        if not _program(words[0], invocation, folders=_SYSTEM_FOLDERS):
            return False
        if invocation.appended and words[-1] != ANY:
            return False
        return matches(words[1:], [arg.text for arg in invocation.arguments], _strictly)

    def _behind_wrappers(self, invocation: Invocation, *, strict: bool) -> tuple[str, ...] | None:
        """The pattern from the program on; None when a wrapper is missing, or (strict) one is not covered."""
        words = self.words
        open_wrappers = list(invocation.wrappers)
        while len(words) > 1 and words[0] in open_wrappers and words[0] != invocation.name:
            # What stands before a wrapper of the pattern is not covered by it.
            place = open_wrappers.index(words[0])
            if strict and not _TRANSPARENT.issuperset(open_wrappers[:place]):
                return None
            del open_wrappers[: place + 1]
            words = words[1:]
        if strict and not _TRANSPARENT.issuperset(open_wrappers):
            return None
        if strict and invocation.place and words is self.words:
            return None
        return words


@dataclass(frozen=True, slots=True)
class Rule:
    """One [[rule]]: it stops what its pattern and its paths describe; both, when both are there."""

    id: str
    verdict: Verdict
    reason: str
    safer: str
    argv: Pattern | None
    paths: tuple[str, ...]
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()

    def check(self, invocation: Invocation) -> Iterable[Found]:
        if self.argv is not None and not self.argv.stops(invocation):
            return ()
        part = invocation.part
        if self.paths:
            touched = next((path for path in named_in(invocation) if self._names(path, invocation)), None)
            if touched is None:
                return ()
            part = part or touched.text
        return (Found(self.id, self.verdict, self.reason, part, self.safer),)

    def family(self) -> Family:
        """The rule as the judge takes it; it looks at every command, since a wrapper may hide the program."""
        examples = tuple((command, self.id) for command in self.match)
        return Family(FAMILY, frozenset(), self.check, examples, self.not_match)

    def telling(self) -> tuple[str, ...]:
        """What must stand in a text that this rule can be about: one of these; () when nothing need."""
        if self.argv is not None:
            program = next((word for word in self.argv.words if word not in WRAPPERS), self.argv.words[-1])
            words = (program,) if literals(program) else self.argv.words
            found = (_longest(literals(word)) for word in words)
            return tuple(sorted((text for text in found if len(text) > 1), key=len)[-1:])
        names = [_longest(literals(pattern.replace("/", "*"))) for pattern in self.paths]
        return tuple(names) if all(len(name) > 1 for name in names) else ()

    def _names(self, path: Arg, invocation: Invocation) -> bool:
        return any(
            path_matches(pattern, path, invocation.cwd, invocation.home, invocation.name in _WHOLE)
            for pattern in self.paths
        )


@dataclass(frozen=True, slots=True)
class Allow:
    """One [[allow]]: a command that need not be asked about; what must never run is not touched by it."""

    where: str
    argv: Pattern
    reason: str
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()

    def covers(self, invocation: Invocation) -> bool:
        return self.argv.allows(invocation)


def names_program(word: str) -> bool:
    """Whether a word of a pattern says which program it means, and not nearly any."""
    return bool(word) and (GLOB.isdisjoint(word) or sum(map(len, literals(word))) >= _LEAST_LITERAL)


def allowance_fault(words: tuple[str, ...]) -> str:
    """Why words are too wide for an allowance, "" when they are not."""
    for place, word in enumerate(words):
        if not names_program(word):
            return f"an allowance names its program, not {word!r}" + (" behind a wrapper" if place else "")
        if word not in WRAPPERS or place + 1 == len(words):
            break
    return ""


def _writes_file(target: Target) -> bool:
    return target.writes and target.arg.text != "/dev/null"


def _longest(texts: list[str]) -> str:
    return max(texts, key=len, default="")


def _program(wanted: str, invocation: Invocation, folders: frozenset[str] | None) -> bool:
    """Whether the program of a command is the one of a pattern; `folders`: where one may lie for that."""
    if wanted == ANY:
        return True
    if not invocation.name or not invocation.argv:
        return False
    written = invocation.argv[0].text
    if folders is None:
        return is_named(wanted.rpartition("/")[2], invocation.name)
    if "/" in wanted:
        return is_named(wanted, written)
    return is_named(wanted, invocation.name) and ("/" not in written or posixpath.dirname(written) in folders)


def _strictly(wanted: str, given: str) -> bool:
    # What is not known may become several arguments, or a path that leads out of its folder.
    if UNKNOWN in given:
        return False
    if ".." in given.split("/") and ".." not in wanted.split("/"):
        return False
    return is_named(wanted, given)
