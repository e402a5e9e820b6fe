"""What programs that answer a question print, where that is known: pwd, which, dirname, mktemp, ls, find."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from ..rules import find_tests, stores
from ..rules.artefacts import is_artefact
from ..rules.names import names as listed
from ..rules.paths import Place, locate
from . import danger, decode, flows
from .invocation import AGENT, FOUND, FOUND_ALL, SECRET, UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_SECRET = frozenset((SECRET,))
# What lies at the root of a system, as far as it is the same everywhere.
_ROOT_NAMES = "bin\nboot\ndev\netc\nhome\nlib\nopt\nproc\nroot\nsbin\nsrv\nsys\ntmp\nusr\nvar\n"
_MOST_NUMBERS = 64


def _text(value: str | None) -> Stream:
    return flows.ANYTHING if value is None else Stream(value + "\n", True)


def _operands(call: Invocation, valued: str = "") -> list[Arg]:
    return list(call.operands(frozenset(f"-{letter}" for letter in valued)))


def _pwd(walk: Walk, call: Invocation) -> Stream:
    return _text(walk.folder().path)


def _which(walk: Walk, call: Invocation) -> Stream:
    names = [arg.text for arg in _operands(call) if arg.known]
    if call.name == "type" and not call.has("pP"):
        return flows.ANYTHING
    return (
        _text("\n".join(name if "/" in name else f"/usr/bin/{name}" for name in names))
        if names
        else flows.ANYTHING
    )


def _command(walk: Walk, call: Invocation) -> Stream:
    """`command -v name`."""
    return _which(walk, call)


def _per_path(change):
    def answer(walk: Walk, call: Invocation) -> Stream:
        paths = [arg.text for arg in _operands(call, "s")]
        if not paths or call.appended:
            return flows.ANYTHING
        results = [change(walk, path) for path in paths]
        return flows.ANYTHING if None in results else _text("\n".join(results))

    return answer


def _real(walk: Walk, path: str) -> str | None:
    here = walk.folder().path
    if not path.startswith("/"):
        if here is None:
            return None
        path = posixpath.join(here, path)
    return posixpath.normpath(path)


def _dirname(walk: Walk, path: str) -> str | None:
    return posixpath.dirname(path.rstrip("/") or "/") or "."


def _basename(walk: Walk, call: Invocation) -> Stream:
    operands = [arg.text for arg in _operands(call, "s")]
    if not operands:
        return flows.ANYTHING
    name = posixpath.basename(operands[0].rstrip("/")) or "/"
    if len(operands) > 1 and name.endswith(operands[1]) and name != operands[1]:
        name = name[: -len(operands[1])]
    return _text(name)


def _mktemp(walk: Walk, call: Invocation) -> Stream:
    operands = [arg.text for arg in _operands(call, "p")]
    template = operands[0] if operands else "tmp.XXXXXXXXXX"
    folder = "" if "/" in template or (operands and not call.has("t", "--tmpdir")) else "/tmp/"
    for at, word in enumerate(call.words()[:-1]):
        if word == "-p":
            folder = call.words()[at + 1].rstrip("/") + "/"
    return _text(folder + template)


def _whoami(walk: Walk, call: Invocation) -> Stream:
    return _text(posixpath.basename(walk.home))


def _getent(walk: Walk, call: Invocation) -> Stream:
    words = call.words()
    if words[:1] != ["passwd"]:
        return flows.ANYTHING
    name = words[1] if len(words) > 1 else posixpath.basename(walk.home)
    home = "/root" if name == "root" else walk.home
    return _text(f"{name}:x:1000:1000::{home}:/bin/bash")


def numbers(words: list[str]) -> range | None:
    """The numbers that seq prints for its operands; None where they are not known."""
    if not words or len(words) > 3 or not all(re.fullmatch(r"-?\d{1,9}", word) for word in words):
        return None
    ends = [int(word) for word in words]
    first = ends[0] if len(ends) > 1 else 1
    step = ends[1] if len(ends) > 2 else 1
    return range(first, ends[-1] + (1 if step > 0 else -1), step) if step else None


def _seq(walk: Walk, call: Invocation) -> Stream:
    values = numbers(call.words())
    if values is None or not 0 < len(values) <= _MOST_NUMBERS:
        return flows.ANYTHING
    return _text("\n".join(map(str, values)))


def _ls(walk: Walk, call: Invocation) -> Stream:
    """The names in the root; of other folders only that they are names."""
    operands = [arg for arg in _operands(call) if arg.known]
    if call.has("ls", "--size", "--long"):
        return flows.ANYTHING
    if call.has("d", "--directory") and operands:
        return _text("\n".join(arg.text for arg in operands))
    if operands and all(flows.file_stream(walk, arg.text).text is not None for arg in operands):
        return _text("\n".join(arg.text for arg in operands))
    folder = operands[0].text if operands else "."
    kept = [arg for arg in operands if arg.glob or SECRET in flows.file_stream(walk, arg.text).taint]
    if any(SECRET in flows.file_stream(walk, arg.text).taint for arg in kept):
        # Names of credentials, which whoever reads them may send.
        return _text("\n".join(arg.text if arg.glob else f"{arg.text.rstrip('/')}/{UNKNOWN}" for arg in kept))
    at_root = walk.folder().path == "/"
    if (folder and not folder.rstrip("/")) or (folder in (".", "./") and at_root):
        return Stream(_ROOT_NAMES, True)
    if folder == "/*" or (folder == "*" and at_root):
        return Stream("".join(f"/{name}\n" for name in _ROOT_NAMES.split()), True)
    if len(operands) == 1 and not operands[0].glob and folder.startswith("/"):
        return Stream(f"{UNKNOWN}\n", True, source=FOUND_ALL)
    return flows.ANYTHING


_NARROWS = re.compile(
    r"-(?:i?name|i?path|i?regex|type|[acm](?:time|min)|newer\w*|size|user|group|perm|empty|[il]?name|links|inum"
    r"|samefile|nouser|nogroup|xtype|wholename|maxdepth)\Z"
)
# Tests that leave the files as they are: only the kind or the depth is chosen.
_NARROWS_LITTLE = re.compile(r"-(?:x?type|maxdepth)\Z")
_PRINTS_NOT = listed("-delete -exec -execdir -ok -okdir -printf -fprint -ls -fls")


def found(words: list[Arg]) -> tuple[list[Arg], str | None]:
    """The folders that find searches, and the last component of its finds: None for all, "" for something."""
    roots: list[Arg] = []
    at = 1
    while at < len(words) and (
        words[at].text in ("-H", "-L", "-P") or words[at].text[:1] not in ("-", "(", "!")
    ):
        if words[at].text[:1] != "-":
            roots.append(words[at])
        at += 1
    texts = [word.text for word in words]
    scopes = find_tests.branches(texts)
    if any(all(text == "-maxdepth" for text in _narrowing(texts, *scope)) for scope in scopes):
        return roots or [Arg(".")], None
    return roots or [Arg(".")], _name_of_all(texts, scopes)


_NAMES = listed("-name -iname -path -ipath -wholename")
_WEAK_WHEN_DENIED = _NAMES | {"-empty"}


def _narrowing(texts: list[str], begin: int, end: int) -> list[str]:
    """The tests that leave some of the files; nearly everything has not one certain name."""
    return [
        texts[at]
        for at in range(begin, end)
        if _NARROWS.match(texts[at])
        and not (texts[at] in _WEAK_WHEN_DENIED and find_tests.is_denied(texts, at))
    ]


def _name_of_all(texts: list[str], scopes: list[tuple[int, int]]) -> str:
    """The name that stands for whatever find prints; "" where the tests of names leave that open."""
    named = []
    for begin, end in scopes:
        places = [at for at in range(begin, end - 1) if texts[at] in ("-name", "-iname")]
        if not places or any(find_tests.is_denied(texts, at) for at in places):
            return ""
        named += [texts[at + 1] for at in places]
    # Of several names each may be the one: they are alike where a build makes them all.
    return named[0] if len(named) == 1 or all(is_artefact([name]) for name in named) else ""


def _find(walk: Walk, call: Invocation) -> Stream:
    texts = [word.text for word in call.argv]
    if not _PRINTS_NOT.isdisjoint(texts) or "|" in texts:
        return flows.ANYTHING
    roots, name = found(call.argv)
    end = decode.ZERO if "-print0" in texts else "\n"
    narrowed = all(
        any(not _NARROWS_LITTLE.match(text) for text in _narrowing(texts, *scope))
        for scope in find_tests.branches(texts)
    )
    lines = []
    for root in sorted(roots, key=danger.of_value, reverse=True)[:4]:
        if not root.text:
            continue  # find says that there is no such folder
        base = root.text.rstrip("/")
        if name is None:
            lines.append(root.text)
        lines.append(f"{base}/{UNKNOWN}" + (f"/{name}" if name else ""))
    return Stream("".join(line + end for line in lines), True, source=FOUND if narrowed else FOUND_ALL)


def _ps(walk: Walk, call: Invocation) -> Stream:
    """The ids of all processes: the first is there on every system."""
    line = " ".join(call.words())
    if re.search(r"(?:^|\s)-?\w*[eAax]\w*(?:\s|$)", line) and re.search(r"o\s*(?:pid|tgid)=?(?:\s|$)", line):
        return Stream(f"1\n{UNKNOWN}\n", True)
    return flows.ANYTHING


def _pgrep(walk: Walk, call: Invocation) -> Stream:
    operands = [arg.text for arg in _operands(call, "uUGgPt")]
    if operands and operands[-1] in (".", ".*", ""):
        return Stream(f"1\n{UNKNOWN}\n", True)
    if operands and "hermes" in operands[-1]:
        return Stream(f"{UNKNOWN}\n", True, source=AGENT)
    return flows.ANYTHING


def _keys(walk: Walk, call: Invocation) -> Stream | None:
    """gpg: secret keys."""
    if any(word.startswith(("--export-secret", "--export-ssh-key")) for word in call.words()):
        return Stream(None, True, _SECRET, "GnuPG keys")
    return None


def _kept(walk: Walk, call: Invocation) -> Stream | None:
    """Programs that print credentials that they keep."""
    taint = stores.taint(call)
    return Stream(None, True, taint, f"what {call.name} keeps") if taint else None


def _listing(walk: Walk, call: Invocation) -> Stream | None:
    """grep -l below a folder of the agent: names of what is in it."""
    if not call.has("lL", "--files-with-matches", "--files-without-match"):
        return None
    lines = []
    for argument in list(call.operands(frozenset(("-e", "-f", "-m"))))[:8]:
        where = locate(argument.text, walk.folder().path, walk.home, walk.hermes_home)
        if "/" in argument.text and where.place is Place.HERMES:
            lines.append(f"{argument.text.rstrip('/')}/{UNKNOWN}\n")
    return Stream("".join(lines), True, source=FOUND) if lines else None


def _uname(walk: Walk, call: Invocation) -> Stream:
    return _text("Linux") if not call.argv[1:] or call.words() == ["-s"] else flows.ANYTHING


ANSWERS = {
    "pwd": _pwd,
    **dict.fromkeys(("which", "type", "whereis"), _which),
    "command": _command,
    **dict.fromkeys(("realpath", "readlink", "grealpath"), _per_path(_real)),
    "dirname": _per_path(_dirname),
    "basename": _basename,
    "mktemp": _mktemp,
    "whoami": _whoami,
    "getent": _getent,
    "seq": _seq,
    "ls": _ls,
    **dict.fromkeys(("find", "gfind"), _find),
    "ps": _ps,
    **dict.fromkeys(("pgrep", "pidof"), _pgrep),
    "uname": _uname,
}
# Asked before anything else is said of their output.
KEY_PRINTERS = {
    **dict.fromkeys(("gpg", "gpg2"), _keys),
    **dict.fromkeys(stores.NAMES, _kept),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "zgrep"), _listing),
}
