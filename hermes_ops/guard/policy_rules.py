"""What a policy file can say of a command: argv patterns and path patterns, as rules and as allowances.

A pattern is anchored at both ends: it describes one whole simple command. Each word of it is a glob for one
whole argument; "**" stands for any number of arguments. The program is compared by its name without a folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from .judge.invocation import UNKNOWN, Arg, Invocation, Target
from .rules.rule import Family
from .verdict import Found, Verdict

ANY = "**"
FAMILY = "policy"
_GLOB = frozenset("*?[")
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
        return _match(wanted, given, _word) or (
            invocation.appended and _match(wanted, [*given, UNKNOWN], _word)
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
        if words is None or not _program(words[0], invocation, folders=_SYSTEM_FOLDERS):
            return False
        if invocation.appended and words[-1] != ANY:
            return False
        return _match(words[1:], [arg.text for arg in invocation.arguments], _strictly)

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
            touched = next((path for path in _paths(invocation) if self._names(path, invocation)), None)
            if touched is None:
                return ()
            part = part or touched.text
        return (Found(self.id, self.verdict, self.reason, part, self.safer),)

    def family(self) -> Family:
        """The rule as the judge takes it; it looks at every command, since a wrapper may hide the program."""
        examples = tuple((command, self.id) for command in self.match)
        return Family(FAMILY, frozenset(), self.check, examples, self.not_match)

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


def path_matches(pattern: str, path: Arg, cwd: str | None, home: str, whole: bool) -> bool:
    """Whether a file named in a command is one of a pattern's.

    A pattern without "/" is about names of files, one that begins with "/" or "~/" about whole paths, any
    other about the end of a path. "*" stays within one folder, "**" does not. `whole`: a folder stands for
    what is below it.
    """
    text = _absolute(path.text, cwd, home)
    if pattern.startswith("~/"):
        pattern = home + pattern[1:]
    if not pattern.startswith("/"):
        pattern = "**/" + pattern
    if _path_expression(pattern).fullmatch(text):
        return True
    if path.glob and _path_expression(text).fullmatch(pattern.rstrip("*").rstrip("/")):
        return True
    if not whole or not pattern.startswith("/"):
        return False
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return fixed.startswith(text.rstrip("/") + "/")


def _paths(invocation: Invocation) -> Iterator[Arg]:
    """What may name a file: arguments, values of --option=value and name=value, targets of redirections."""
    for arg in invocation.arguments:
        if not arg.text.startswith("-"):
            yield arg
        name, equals, value = arg.text.partition("=")
        if equals and value and "/" not in name:
            yield Arg(value, arg.glob)
    for target in invocation.redirects:
        if target.op not in ("<&", ">&") or target.writes:
            yield target.arg


def _absolute(text: str, cwd: str | None, home: str) -> str:
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if not text.startswith("/"):
        text = f"{cwd}/{text}" if cwd else f"/{text}"
    text = posixpath.normpath(text)
    return text[1:] if text.startswith("//") else text


@lru_cache(maxsize=512)
def _path_expression(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(/?\*\*/?|\*|\?|\[[^]/]+\])", pattern)
    found = []
    for part in parts:
        if "**" in part:
            before, after = part.startswith("/"), part.endswith("/")
            # "/a/**" is also "/a" itself, "**/a" also "/a".
            found.append("(?:/.*)?/" if after and before else "(?:.*/)?" if after else "(?:/.*)?")
        elif part == "*":
            found.append("[^/]*")
        elif part == "?":
            found.append("[^/]")
        elif part.startswith("[") and len(part) > 2:
            inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
            found.append(f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]")
        else:
            found.append(re.escape(part))
    try:
        return re.compile("".join(found), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))


def _writes_file(target: Target) -> bool:
    return target.writes and target.arg.text != "/dev/null"


def _program(wanted: str, invocation: Invocation, folders: frozenset[str] | None) -> bool:
    """Whether the program of a command is the one of a pattern; `folders`: where one may lie for that."""
    if wanted == ANY:
        return True
    if not invocation.name or not invocation.argv:
        return False
    written = invocation.argv[0].text
    if folders is None:
        return _word(wanted.rpartition("/")[2], invocation.name)
    if "/" in wanted:
        return _word(wanted, written)
    return _word(wanted, invocation.name) and ("/" not in written or posixpath.dirname(written) in folders)


def _word(wanted: str, given: str) -> bool:
    return wanted == given or (not _GLOB.isdisjoint(wanted) and fnmatchcase(given, wanted))


def _strictly(wanted: str, given: str) -> bool:
    # What is not known may become several arguments, or a path that leads out of its folder.
    if UNKNOWN in given:
        return False
    if ".." in given.split("/") and ".." not in wanted.split("/"):
        return False
    return _word(wanted, given)


def _match(wanted: Sequence[str], given: Sequence[str], word: Callable[[str, str], bool]) -> bool:
    """Whether words match a pattern from end to end; takes at most the product of their numbers."""
    at, place, again, kept = 0, 0, -1, 0
    while place < len(given):
        if at < len(wanted) and wanted[at] == ANY:
            again, kept = at, place
            at += 1
        elif at < len(wanted) and word(wanted[at], given[place]):
            at, place = at + 1, place + 1
        elif again >= 0:
            kept += 1
            at, place = again + 1, kept
        else:
            return False
    return all(left == ANY for left in wanted[at:])
