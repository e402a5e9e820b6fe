"""Archivers and compressors that remove what they have packed, and programs that throw into a trash."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from ..judge.invocation import FOUND_ALL, UNKNOWN, Arg, Invocation
from ..verdict import Found, Verdict
from .dry_runs import own_options
from .names import names
from .removal import removed
from .rule import Family
from .verbs import plain

_TARS = names("tar bsdtar gtar star cpio")
_SEVENS = names("7z 7za 7zz 7zr")
# Archivers with a verb, and the verbs by which the files go into the archive.
_MOVING_VERBS = {
    "rar": names("m mf"),
    **dict.fromkeys(("arj", "lha", "lharc", "jlha"), names("m")),
}
_RAR_ADDS, _RAR_DELETES = names("a u f"), names("-df -dr -dw")
# Compressors that put a packed file in the place of a plain one.
_COMPRESSORS = names("gzip bzip2 xz lzma pigz pbzip2 pixz compress lbzip2 lzip")
_KEEPS = names("-c -k -l -t --stdout --to-stdout --keep --list --test --help --version")
_PACKED_VALUED = names("-S --suffix -b -p")
# Compressors that remove a packed file by one of these options.
_REMOVING = {
    **dict.fromkeys(("zstd", "zstdmt", "pzstd", "unzstd", "lz4"), names("--rm")),
    "brotli": names("-j --rm"),
    "lzop": names("-U --delete"),
}
_ONLY_SHOWS = names("-l -t --list --test --help --version")
_ZSTD_VALUED = names("-o -D --output -S --suffix --output-dir-flat --output-dir-mirror --filelist")
_TRASHES = names("trash trash-put gvfs-trash rmtrash trashy send2trash")
_MOST_LINES = 40
# Ends of lines, and the zero that ends a name of find -print0.
_LINE_ENDS = re.compile("[\n\ue001]")

# Letters of tar that take a word along.
_TAR_VALUED = frozenset("fCbTXgVNLIKFH")
_TAR_LONG = names(
    "--file --files-from --exclude --exclude-from --directory --use-compress-program --transform --format "
    "--owner --group --mode --mtime --blocking-factor --listed-incremental --label --newer --after-date"
)


def _tar(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    # A beginning of the name will do.
    if not any(word.startswith("--rem") and "--remove-files".startswith(word) for word in words):
        return
    yield from removed(invocation, [*_members(invocation), *_listed(invocation)], True)


def _members(invocation: Invocation) -> Iterator[Arg]:
    """What tar packs, each from the folder that the -C before it names."""
    folder = ""
    arguments = iter(invocation.arguments)
    for at, argument in enumerate(arguments):
        text = argument.text
        bundle = at == 0 and text[:1] != "-" and invocation.name != "cpio"
        if text[:1] != "-" and not bundle:
            yield Arg(_below(folder, text), argument.glob, argument.taint, argument.source)
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            if name in _TAR_LONG:
                value = value if equals else getattr(next(arguments, None), "text", "")
            if name == "--directory":
                folder = _below(folder, value)
        else:
            for place, letter in enumerate(text):
                if letter not in _TAR_VALUED:
                    continue
                value = "" if bundle else text[place + 1 :]
                value = value or getattr(next(arguments, None), "text", "")
                if letter == "C":
                    folder = _below(folder, value)
                if not bundle:
                    break


def _below(folder: str, text: str) -> str:
    if not folder or text[:1] in ("/", "~"):
        return text
    return f"{folder.rstrip('/')}/{text}"


def _listed(invocation: Invocation) -> list[Arg]:
    """Names on the input, for archivers that read them there."""
    stdin = invocation.stdin
    words = invocation.words()
    from_list = invocation.name in _TARS and invocation.name != "cpio" and any(map(_LIST.match, words))
    if from_list and stdin.text is None:
        return [Arg(UNKNOWN)]
    if not stdin.text or not (from_list or invocation.name == "cpio" or _reads_names(words)):
        return []
    lines = [line for line in _LINE_ENDS.split(stdin.text)[:_MOST_LINES] if line]
    if stdin.source != FOUND_ALL:
        return [Arg(line) for line in lines]
    # A search for everything turns up all that is in the folder.
    return [Arg(line.removesuffix(UNKNOWN) + "*" * line.endswith("/" + UNKNOWN), True) for line in lines]


# The option of tar for a list of names, which is given to the rules as the input.
_LIST = re.compile(r"-[A-Za-z]*T|--files-f")


def _reads_names(words: list[str]) -> bool:
    return any(
        word in ("-T-", "--files-from=-") or (word[:1] == "-" and word[:2] != "--" and word[-1:] == "@")
        for word in words
    ) or any(pair in (("-T", "-"), ("--files-from", "-")) for pair in pairwise(words))


def _zip(invocation: Invocation) -> Iterator[Found]:
    if not any(map(_moves_into_zip, invocation.words())):
        return
    operands: list[Arg] = []
    for argument in invocation.arguments:
        if argument.text in ("-x", "-i", "--exclude", "--include"):
            break
        if argument.text[:1] != "-":
            operands.append(argument)
    yield from removed(invocation, [*operands[1:], *_listed(invocation)], True)


def _moves_into_zip(word: str) -> bool:
    """Is it the option -m, alone or in a cluster such as -rmq?"""
    if word.startswith("--mo") and "--move".startswith(word):
        return True
    if word[:1] != "-" or word[:2] == "--":
        return False
    for letter in word[1:]:
        if letter in "bnOPtsFxi":
            return False
        if letter == "m":
            return True
    return False


def _with_verb(invocation: Invocation) -> Iterator[Found]:
    """7z a -sdel ARCHIVE FILES, rar m ARCHIVE FILES; without files all of the working folder's."""
    name = invocation.name
    operands = plain(invocation.arguments)
    verb = operands[0].text.lower() if operands else ""
    words = [word.lower() for word in invocation.words()]
    if name in _SEVENS:
        moves = verb in ("a", "u") and "-sdel" in words
    else:
        moves = verb in _MOVING_VERBS[name] or (
            name == "rar" and verb in _RAR_ADDS and not _RAR_DELETES.isdisjoint(words)
        )
    if moves:
        yield from removed(invocation, operands[2:] or [Arg("*", True)], True)


def _packed(invocation: Invocation) -> Iterator[Found]:
    if _does(invocation, _KEEPS):
        return
    recursive = invocation.has("r", "--recursive") and invocation.name in ("gzip", "pigz", "compress", "lzip")
    yield from _worst(invocation, invocation.operands(_PACKED_VALUED), recursive)


def _does(invocation: Invocation, wanted: frozenset[str]) -> bool:
    """Is one of some options there, as no other option's value? A long name may be shortened."""
    return any(
        name in wanted or (len(name) > 4 and any(full.startswith(name) for full in wanted))
        for name, _, _ in own_options(invocation.words(), _PACKED_VALUED, clusters=True)
    )


def _packed_away(invocation: Invocation) -> Iterator[Found]:
    """Compressors that keep what they pack unless they are told otherwise."""
    words = invocation.words()
    if any(word in _REMOVING[invocation.name] for word in words) and not _does(invocation, _ONLY_SHOWS):
        recursive = any(word[:2] != "--" and word[:1] == "-" and "r" in word for word in words)
        yield from _worst(invocation, invocation.operands(_ZSTD_VALUED), recursive or "--recursive" in words)


def _trashed(invocation: Invocation) -> Iterator[Found]:
    yield from _worst(invocation, invocation.operands(), True)


def _gio(invocation: Invocation) -> Iterator[Found]:
    verb, *operands = [*invocation.operands(), Arg("")]
    if verb.text == "trash":
        yield from _worst(invocation, operands, True)
    elif verb.text == "remove":
        yield from removed(invocation, [each for each in operands if each.text], False)
    elif verb.text in ("move", "rename"):
        yield from _worst(invocation, operands[:-2], True)


def _worst(invocation: Invocation, arguments: Iterable[Arg], recursive: bool) -> Iterator[Found]:
    """What must never go; the rest can be had back from the trash or out of the packed file."""
    kept = [argument for argument in arguments if argument.text]
    yield from (found for found in removed(invocation, kept, recursive) if found.verdict is Verdict.BLOCK)


_CHECKS: dict[str, Callable[[Invocation], Iterable[Found]]] = {
    **dict.fromkeys(_TARS, _tar),
    "zip": _zip,
    **dict.fromkeys((*_SEVENS, *_MOVING_VERBS), _with_verb),
    **dict.fromkeys(_COMPRESSORS, _packed),
    **dict.fromkeys(_REMOVING, _packed_away),
    **dict.fromkeys(_TRASHES, _trashed),
    "gio": _gio,
}


def _check(invocation: Invocation) -> Iterable[Found]:
    return _CHECKS[invocation.name](invocation)


FAMILY = Family(
    "archiving",
    frozenset(_CHECKS),
    _check,
    examples=(
        ("tar --remove-files -czf a.tgz /usr", "files.system-removal"),
        ("tar -C / --remove-files -cf a.tar etc", "files.system-removal"),
        ("zip -rmq a.zip ~", "files.home-removal"),
        ("find /etc -type f | zip -m@ a.zip", "files.system-removal"),
        ("7z a -sdel a.7z ~/.hermes", "files.agent-state-removal"),
        ("rar m a.rar /etc", "files.system-removal"),
        ("zip -rm a.zip src", "files.folder-removal"),
        ("gzip -r /etc", "files.system-removal"),
        ("gio trash ~", "files.home-removal"),
    ),
    silent=(
        "tar czf a.tgz src",
        "tar czf a.tgz -C / etc",
        "tar --remove-files -czf a.tgz -C /tmp/work-1 .",
        "zip -r a.zip src",
        "zip -rm a.zip dist",
        "7z a a.7z src",
        "rar a a.rar src",
        "gzip notes.txt",
        "gzip -r build",
        "gio trash old",
    ),
)
