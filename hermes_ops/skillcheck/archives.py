"""Archives opened in memory: bounded in size, number and depth; never written to the disk."""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from .entries import FILE, LINK, MAX_HEAD, MAX_SKILL, MEMBER, SPECIAL, Entry
from .kinds import ARCHIVE, kind_of
from .rules import ERROR, WARNING, Hit

MAX_MEMBERS = 2_000
MAX_NESTING = 3
BOMB_RATIO = 200  # more bytes than this from one packed byte, and over BOMB_SIZE: made to fill a disk
BOMB_SIZE = 20_000_000

_FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    IndexError,
    KeyError,
    MemoryError,
)


@dataclass
class Budget:
    """How many unpacked bytes and members may still be looked at in one skill."""

    size: int = MAX_SKILL
    members: int = MAX_MEMBERS


@dataclass
class Unpacked:
    """What was found in archives: their files, and what is wrong with them."""

    entries: list[Entry] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)


class _Stop(Exception):
    """Nothing more of this archive is looked at; a hit says why."""


def unpack(entry: Entry, budget: Budget, nesting: int = 1) -> Unpacked:
    """Everything in an archive, archives inside it too, as entries named "archive!/member". Never raises."""
    result = Unpacked()
    kind = kind_of(entry.name, entry.data)
    if kind.what != ARCHIVE:
        return result
    if nesting > MAX_NESTING:
        result.hits.append(
            _hit(
                entry,
                WARNING,
                f"archives in archives, more than {MAX_NESTING} deep: not opened",
                is_unread=True,
            )
        )
        return result
    if not entry.is_whole or entry.tail:
        result.hits.append(_hit(entry, WARNING, "an archive too large to open", is_unread=True))
        return result
    try:
        for member in _members(entry, kind.detail, budget, result.hits):
            result.entries.append(member)
            if member.kind == FILE:
                inner = unpack(member, budget, nesting + 1)
                result.entries += inner.entries
                result.hits += inner.hits
    except _Stop:
        pass
    except _FAULTS as error:
        result.hits.append(
            _hit(
                entry, WARNING, f"broken: {type(error).__name__}; the rest was not looked at", is_unread=True
            )
        )
    return result


def _members(entry: Entry, detail: str, budget: Budget, hits: list[Hit]) -> Iterator[Entry]:
    if detail == "zip":
        yield from _zip(entry, budget, hits)
    elif detail == "tar":
        yield from _tar(entry, entry.data, budget, hits)
    else:
        content = _expanded(entry, detail, budget, hits)
        if kind_of("", content).detail == "tar":
            yield from _tar(entry, content, budget, hits)
        else:
            name = entry.name.rpartition(".")[0] or "content"
            yield _member(entry, name, content, 0)


def _zip(entry: Entry, budget: Budget, hits: list[Hit]) -> Iterator[Entry]:
    with zipfile.ZipFile(io.BytesIO(entry.data)) as archive:
        infos = archive.infolist()
        declared = sum(info.file_size for info in infos)
        if declared > BOMB_SIZE and declared > BOMB_RATIO * max(1, entry.size):
            hits.append(_hit(entry, ERROR, f"a bomb: {entry.size} bytes that become {declared}"))
            raise _Stop
        seen: set[str] = set()
        for info in infos:
            _count(entry, budget, hits)
            name, mode = info.filename, info.external_attr >> 16
            _check_name(entry, name, hits)
            if name in seen:
                hits.append(
                    _hit(
                        entry,
                        WARNING,
                        f"two members are named {name[:100]!r}: tools differ in which they take",
                    )
                )
            seen.add(name)
            if name.endswith("/"):
                continue
            if info.flag_bits & 1:
                hits.append(
                    _hit(entry, ERROR, f"{name[:100]!r} is encrypted: it cannot be looked at", is_unread=True)
                )
                continue
            with archive.open(info) as opened:
                content = _read(entry, opened, budget, hits)
            if stat.S_ISLNK(mode):
                yield _link(entry, name, content.decode("utf-8", "replace"))
            else:
                yield _member(entry, name, content, stat.S_IMODE(mode))


def _tar(entry: Entry, content: bytes, budget: Budget, hits: list[Hit]) -> Iterator[Entry]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for info in archive:
            _count(entry, budget, hits)
            _check_name(entry, info.name, hits)
            if info.issym() or info.islnk():
                yield _link(entry, info.name, info.linkname)
            elif info.isfile():
                opened = archive.extractfile(info)
                if opened is not None:
                    with opened:
                        yield _member(entry, info.name, _read(entry, opened, budget, hits), info.mode)
            elif not info.isdir():
                yield Entry(f"{entry.path}{MEMBER}{_clean(info.name)}", SPECIAL, note="device or pipe")


def _expanded(entry: Entry, detail: str, budget: Budget, hits: list[Hit]) -> bytes:
    """The content of a file that is only packed, at most the budget of it."""
    limit = min(budget.size, MAX_SKILL) + 1
    if detail == "gzip":
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        content = unpacker.decompress(entry.data, limit)
    elif detail == "bzip2":
        content = bz2.BZ2Decompressor().decompress(entry.data, limit)
    else:
        content = lzma.LZMADecompressor(memlimit=256_000_000).decompress(entry.data, limit)
    _spend(entry, len(content), budget, hits)
    return content


def _read(entry: Entry, opened: object, budget: Budget, hits: list[Hit]) -> bytes:
    content = opened.read(budget.size + 1)  # type: ignore[attr-defined]
    _spend(entry, len(content), budget, hits)
    return content


def _spend(entry: Entry, size: int, budget: Budget, hits: list[Hit]) -> None:
    budget.size -= size
    if budget.size < 0:
        is_bomb = size > BOMB_SIZE and size > BOMB_RATIO * max(1, entry.size)
        hits.append(
            _hit(
                entry,
                ERROR if is_bomb else WARNING,
                f"{'a bomb: ' if is_bomb else ''}over {MAX_SKILL:,} bytes unpacked; not looked at further",
                is_unread=True,
            )
        )
        budget.size = 0
        raise _Stop


def _count(entry: Entry, budget: Budget, hits: list[Hit]) -> None:
    budget.members -= 1
    if budget.members < 0:
        said = f"more than {MAX_MEMBERS:,} members; the rest was not looked at"
        hits.append(_hit(entry, ERROR, said, is_unread=True))
        raise _Stop


def _check_name(entry: Entry, name: str, hits: list[Hit]) -> None:
    plain = name.replace("\\", "/")
    if plain.startswith("/") or ".." in plain.split("/") or plain[1:3] == ":/":
        hits.append(_hit(entry, ERROR, f"a member would be written outside of the folder: {name[:200]!r}"))
    elif "\x00" in name:
        hits.append(_hit(entry, ERROR, f"the name of a member holds a zero byte: {name[:200]!r}"))


def _member(entry: Entry, name: str, content: bytes, mode: int) -> Entry:
    head, tail = content[:MAX_HEAD], content[MAX_HEAD:][-1_000_000:]
    digest = hashlib.sha256(content).hexdigest()
    path = f"{entry.path}{MEMBER}{_clean(name)}"
    return Entry(path, FILE, head, tail, len(content), mode, "", digest)


def _link(entry: Entry, name: str, target: str) -> Entry:
    return Entry(f"{entry.path}{MEMBER}{_clean(name)}", LINK, note=target)


def _clean(name: str) -> str:
    """The name of a member as a path that stays where it is."""
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")) or "-"


def _hit(entry: Entry, severity: str, text: str, *, is_unread: bool = False) -> Hit:
    return Hit("skill.archive", severity, entry.path, 0, text, match=text, is_unread=is_unread)
