"""The files of a skill as files: links, pipes, names, compiled content, what the host is kept from."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import unicodedata
from collections.abc import Iterator

from .entries import FILE, LINK, MANIFEST, MEMBER, SPECIAL, UNREAD, Entry, Skill
from .fold import INVISIBLE, OVERRIDES, fold, visible
from .instructions import in_text
from .kinds import BINARY, COMPILED, OPAQUE, PICKLE, Kind
from .rules import ERROR, INFO, WARNING, Hit

_IGNORE_FILES = (".skillignore", ".clawhubignore")
_AGENT_FILES = frozenset(
    ("agents.md", "claude.md", "soul.md", ".cursorrules", "gemini.md", ".hermes.md", "hermes.md")
)
_NATIVE = (
    "ELF",
    "Mach-O",
    "Windows program",
    "Dalvik",
    "LLVM bitcode",
    "so",
    "dll",
    "dylib",
    "exe",
    "com",
    "scr",
    "pyd",
    "node",
    "bin",
    "o",
    "a",
    "lib",
)
_DOUBLE = re.compile(
    r"\.(?:md|txt|pdf|png|jpe?g|gif|docx?|csv|json)[ .]*\.(?:sh|exe|bat|cmd|js|py|scr|com|ps1|vbs|jar|"
    r"command|app)$",
    re.IGNORECASE,
)


def links_and_specials(skill: Skill) -> Iterator[Hit]:
    """What is no file: links that leave or loop, pipes, and what could not be read."""
    paths = {entry.path for entry in skill.entries}
    for entry in skill.entries:
        if entry.kind == SPECIAL:
            yield Hit(
                "skill.special", ERROR, entry.path, 0, f"a {entry.note}; it was not opened", match=entry.note
            )
        elif entry.kind == UNREAD:
            said = f"not read: {entry.note}"
            yield Hit("skill.unread", WARNING, entry.path, 0, said, match=entry.note, is_unread=True)
        elif entry.kind == LINK:
            yield from _link(skill, entry, paths)
    if skill.limited:
        said = f"{skill.limited}: the rest was not looked at"
        yield Hit("skill.huge", ERROR, "", 0, said, match=skill.limited, is_unread=True)


def _link(skill: Skill, entry: Entry, paths: set[str]) -> Iterator[Hit]:
    target = entry.note
    shown = (f"{entry.path} -> {visible(target)}",)

    def hit(severity: str, text: str) -> Hit:
        return Hit("skill.symlink", severity, entry.path, 0, text, shown, target)

    inside, _, own = entry.path.rpartition(MEMBER)
    where = posixpath.normpath(posixpath.join(posixpath.dirname(own), target))
    if target.startswith("/") or where.startswith(".."):
        if skill.root is not None and not inside:
            real = posixpath.realpath(posixpath.join(str(skill.root), entry.path))
            if real == str(skill.root.resolve()) or real.startswith(f"{skill.root.resolve()}/"):
                yield hit(WARNING, "a link by an absolute path to what lies in the skill itself")
                return
        yield hit(ERROR, "a link that leaves the skill")
        return
    full = f"{inside}{MEMBER}{where}" if inside else where
    if where == "." or own == where or own.startswith(f"{where}/") or _loops(skill, entry):
        yield hit(WARNING, "a link that leads to itself or to a folder above it")
    elif full not in paths and not any(path.startswith(f"{full}/") for path in paths):
        yield hit(INFO, "a link that leads nowhere")


def _loops(skill: Skill, entry: Entry) -> bool:
    targets = {
        one.path: posixpath.normpath(posixpath.join(posixpath.dirname(one.path), one.note))
        for one in skill.entries
        if one.kind == LINK
    }
    at, seen = entry.path, set()
    while at in targets and at not in seen:
        seen.add(at)
        at = targets[at]
    return at in seen


def content(entry: Entry, kind: Kind, skill: Skill) -> Iterator[Hit]:
    """What the content of a file is, where it is nothing that can be reviewed."""
    if kind.what == COMPILED:
        native = kind.detail in _NATIVE
        text = f"compiled ({kind.detail}): not reviewable"
        if kind.detail == "Python bytecode" and entry.data[4:8] == b"\x01\x00\x00\x00":
            native, text = True, f"{text}; Python takes it whatever its source says (unchecked hash)"
        source = _source_of(entry.path)
        if not native and source and skill.entry(source) is not None:
            text += f"; what runs may differ from {source}"
        yield Hit(
            "skill.compiled",
            ERROR if native or kind.detail == "Java class" else WARNING,
            entry.path,
            0,
            text,
            match=kind.detail,
        )
    elif kind.what == PICKLE:
        called = _called(entry.data)
        text = (
            f"a pickle that calls {called} when it is loaded"
            if called
            else "a pickle: loading it runs whatever is in it"
        )
        yield Hit(
            "skill.pickle", ERROR if called else WARNING, entry.path, 0, text, match=called or kind.detail
        )
    elif kind.what == OPAQUE:
        yield Hit(
            "skill.opaque",
            WARNING,
            entry.path,
            0,
            f"{kind.detail}: it cannot be looked into here",
            match=kind.detail,
        )
    elif kind.what == BINARY:
        severity = WARNING if entry.mode & 0o111 else INFO
        yield Hit(
            "skill.opaque",
            severity,
            entry.path,
            0,
            f"no text and no known format ({kind.detail})",
            match=kind.detail,
        )
    if entry.kind == FILE and not entry.is_whole:
        seen = f"only the first {len(entry.data):,} and the last {len(entry.tail):,} were looked at"
        text = f"{entry.size:,} bytes: {seen}"
        yield Hit("skill.huge", WARNING, entry.path, 0, text, match="huge", is_unread=True)


_DANGEROUS_LIST = """
    os posix nt subprocess builtins __builtin__ sys socket shutil runpy importlib pty commands
    webbrowser ctypes code
"""
_DANGEROUS = frozenset(_DANGEROUS_LIST.split())
_BUILTINS_LIST = """
    eval exec compile open __import__ getattr input breakpoint
"""
_BUILTINS = frozenset(_BUILTINS_LIST.split())


def _called(data: bytes) -> str:
    """The first function in a pickle that no model or table needs, "" when there is none. Loads nothing."""
    import pickletools

    texts: list[str] = []
    try:
        for number, (code, argument, _) in enumerate(pickletools.genops(data)):
            name = ""
            if code.name == "GLOBAL" and isinstance(argument, str):
                name = argument.replace(" ", ".")
            elif code.name == "STACK_GLOBAL" and len(texts) > 1:
                name = f"{texts[-2]}.{texts[-1]}"
            elif isinstance(argument, str):
                texts = [*texts[-7:], argument]
            module, _, function = name.rpartition(".")
            top = module.partition(".")[0]
            if top in _DANGEROUS and (top not in ("builtins", "__builtin__") or function in _BUILTINS):
                return name
            if number > 200_000:
                break
    except Exception:  # hostile input ends pickletools in many ways; what was read until then was harmless
        return ""
    return ""


def _source_of(path: str) -> str:
    found = re.fullmatch(r"(.*?)(?:__pycache__/)?([^/]+?)(?:\.cpython-\d+|\.pypy\d+|\.opt-\d)*\.pyc", path)
    return f"{found[1]}{found[2]}.py" if found else ""


def names(skill: Skill) -> Iterator[Hit]:
    """Names that hide what a file is, and files that other agents obey."""
    lowered: dict[str, str] = {}
    for entry in skill.entries:
        name = entry.name

        def hit(severity: str, text: str, entry: Entry = entry) -> Hit:
            return Hit("skill.file-name", severity, entry.path, 0, text, (visible(entry.path),), entry.path)

        if any(one in OVERRIDES for one in entry.path):
            yield hit(ERROR, "a character in its name turns the order of letters around")
        elif any(one in INVISIBLE and one not in "\u200c\u200d" for one in entry.path) or any(
            unicodedata.category(one) == "Cc" for one in entry.path
        ):
            yield hit(WARNING, "an invisible or control character in its name")
        elif not name.isascii() and any(one.what == "mixed" for one in fold(name).oddities):
            yield hit(WARNING, "its name mixes letters of two alphabets")
        if _DOUBLE.search(name):
            yield hit(WARNING, "its name shows another kind of file than it is")
        elif name != name.strip() or name.startswith("-"):
            yield hit(
                WARNING, "its name begins or ends with a blank or a dash: commands take it for something else"
            )
        folded = entry.path.lower()
        if folded in lowered and lowered[folded] != entry.path:
            yield hit(
                WARNING, f"differs only in case from {lowered[folded]}: some systems keep one of the two"
            )
        lowered[folded] = entry.path
        said = in_text(name.rpartition(".")[0].lower())
        if said:
            yield Hit(
                said[0].rule, ERROR, entry.path, 0, f"its name {said[0].what}", (visible(name),), said[1]
            )
        if name.lower() in _AGENT_FILES and not skill.is_loose and not entry.in_archive:
            text = "agents that work in this folder take this file for instructions"
            yield Hit("skill.persist", INFO, entry.path, 0, text, match=entry.path)


def ignored(skill: Skill) -> Iterator[Hit]:
    """Files that the skill itself keeps from the scan of the host."""
    for name in _IGNORE_FILES:
        entry = skill.entry(name)
        if entry is None or not entry.data:
            continue
        patterns = [line.strip() for line in entry.data.decode("utf-8", "replace").splitlines()]
        patterns = [one for one in patterns if one and not one.startswith("#")]
        covered = sorted(
            one.path
            for one in skill.entries
            if one.name not in (MANIFEST, *_IGNORE_FILES)
            and any(_covers(pattern, one.path) for pattern in patterns)
        )
        code = [
            path
            for path in covered
            if re.search(r"\.(?:md|txt|png|jpe?g|gif|svg|log)$|(?:^|/)LICEN[CS]E$", path) is None
        ]
        if covered:
            text = f"the host's scan passes by {len(covered)} files of the skill"
            shown = (", ".join((code or covered)[:8]),)
            yield Hit(
                "skill.ignored", WARNING if code else INFO, name, 0, text, shown, " ".join(covered)[:500]
            )


def _covers(pattern: str, path: str) -> bool:
    plain = pattern.strip("/")
    if not plain:
        return False
    parts = path.split("/")
    return (
        fnmatch.fnmatch(path, plain)
        or path.startswith(f"{plain}/")
        or any(fnmatch.fnmatch(part, plain) for part in parts)
    )
