"""Files that a program writes because of where an operand stands, or because its script says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from ..judge.invocation import Arg, Invocation
from .names import names

_SPLIT_VALUED = names("-a -b -C -l -n -t -s -p --bytes --lines --number --suffix-length --filter")
_UNIQ_VALUED = names("-f -s -w")
_XXD_VALUED = names("-c -cols -g -groupsize -l -len -o -s -seek -n -name -R")
_SUFFIX = re.compile(r"\.(?:gz|tgz|Z|bz2|xz|lzma|zst|lz4|br)\Z")
# `w FILE` as a command of sed, or as a flag of its s.
_SED_WRITES = re.compile(
    r"(?:(?:\A|[;{}\n])\s*(?:\d+|\$|/(?:\\.|[^/\\\n])*/)?\s*(?:,\s*(?:\d+|\$|/(?:\\.|[^/\\\n])*/))?\s*!?\s*[wW]"
    r"|(?:\A|[;{}\n\s\d$/])s(?P<mark>[/|#,@!:])(?:\\.|(?!(?P=mark))[^\\\n])*(?P=mark)"
    r"(?:\\.|(?!(?P=mark))[^\\\n])*(?P=mark)[gpiImM0-9]*w)[ \t]+(?P<file>[^\n]+)"
)
_LONGEST_SCRIPT = 4_000


def _second(valued: frozenset[str]) -> Callable[[Invocation], Iterator[Arg]]:
    def find(invocation: Invocation) -> Iterator[Arg]:
        yield from list(invocation.operands(valued))[1:2]

    return find


def _unpacked(invocation: Invocation) -> Iterator[Arg]:
    """gunzip x.gz writes x."""
    if invocation.has("clt", "--stdout", "--to-stdout", "--list", "--test"):
        return
    opens = invocation.name.startswith("un") or invocation.name in ("gunzip", "bunzip2")
    if not opens and not invocation.has("d", "--decompress", "--uncompress"):
        return
    for argument in invocation.operands(names("-S --suffix -o")):
        plain = _SUFFIX.sub("", argument.text)
        if plain != argument.text:
            yield Arg(plain, argument.glob)


def sed(invocation: Invocation) -> Iterator[Arg]:
    """The files that a script of sed names."""
    for argument in invocation.arguments[:20]:
        text = argument.text
        if "w" not in text or len(text) > _LONGEST_SCRIPT:
            continue
        for found in _SED_WRITES.finditer(text.removeprefix("--expression=")):
            yield Arg(found["file"].strip())


def _dasel(invocation: Invocation) -> Iterator[Arg]:
    """dasel put -f FILE, where -o names no other."""
    words = invocation.words()
    if words[:1] not in (["put"], ["delete"]):
        return
    given = dict(pairwise(words))
    out = given.get("-o") or given.get("--out") or given.get("-f") or given.get("--file")
    if out and out not in ("-", "stdout"):
        yield Arg(out)


def _sftp(invocation: Invocation) -> Iterator[Arg]:
    """sftp host:file LOCAL, and `get file LOCAL` on the input."""
    yield from list(invocation.operands(names("-b -B -c -D -F -i -J -l -o -P -R -S -s -X")))[1:2]
    for line in (invocation.stdin.text or "")[:_LONGEST_SCRIPT].splitlines():
        words = [word for word in line.split() if not word.startswith("-")]
        if words[:1] in (["get"], ["reget"], ["mget"]) and len(words) > 2:
            yield Arg(words[2].strip("\"'"))


BY_PROGRAM: dict[str, Callable[[Invocation], Iterator[Arg]]] = {
    "uniq": _second(_UNIQ_VALUED),
    "xxd": _second(_XXD_VALUED),
    "split": _second(_SPLIT_VALUED),
    **dict.fromkeys(names("gunzip bunzip2 unxz unzstd unlzma gzip bzip2 xz zstd lzma lz4"), _unpacked),
    **dict.fromkeys(("sed", "gsed"), sed),
    "dasel": _dasel,
    "sftp": _sftp,
}
