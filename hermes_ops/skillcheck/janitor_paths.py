"""The files that the text of a skill sends its reader to, and which of them are not there.

A reading of words: paths are told from routes, placeholders, patterns and files that are only to be made.
What it reports should be wrong nine times in ten, so in doubt it is silent.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ..host.skills import _SUPPORT as SUPPORT

_LONGEST_LINE = 5_000
_MOST_LINES = 20_000

_WORD = re.compile(r"(?:\\ |[^\s\"'`()<>|;,])+")
_LINK = re.compile(r"\]\(\s*(?:<([^<>\n]{1,300})>|([^\s()<>]{1,300}))(?:\s+[\"'(][^\n)]{0,200})?\s*\)")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://\S*|\b[\w.-]+@[\w.-]+:\S+|\b(?:www\.)\S+")
_TOPS = frozenset(("opt", "etc", "root", "Users", "home", "usr", "var", "srv", "mnt", "bin", "sbin", "lib"))
_APPLE_TOPS = frozenset(("Library", "Applications", "System"))
_PASSING = ("/var/log/", "/var/cache/", "/var/tmp/", "/var/run/", "/var/folders/", "/usr/share/doc/")
_PROGRAM_FOLDERS = frozenset(("bin", "sbin", "libexec"))
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_PLACEHOLDER = re.compile(
    r"(?:path|to|your|you|user|users?name|me|myuser|name|example|foo|bar|baz|xxx+|dir|folder|file|project|repo"
    r"|yourname|your[-_].*|my[-_].*|some[-_].*|example[-_.].*|.*[-_]here)",
    re.IGNORECASE,
)
_PATTERN = re.compile(r"[*?{}\[\]$<>]|\.\.\.|\u2026|YYYY|%[A-Za-z]")
_TAIL = ".,:;!*_\u2026)]}"

_OWN = re.compile(r"(?:\$\{?HERMES_SKILL_DIR\}?|\{baseDir\})/(.+)")
_EXAMPLE = re.compile(r"\be\.g\.|\bfor example\b|\bsuch as\b|\bexamples?:", re.IGNORECASE)

# Words with which a line says that a file is made, may be absent, or is only an example.
_MADE = re.compile(
    r"\b(?:creat|writ|wrote|sav(?:e|es|ed|ing)\b|generat|output|produc|stor(?:e|es|ed|ing)\b|export|append"
    r"|log(?:s|ged|ging)?\s+(?:to|in)|mkdir|touch|tee|download|install|clon|dump|record|cache|will\s+be"
    r"|if\s+(?:it\s+|the\s+\w+\s+)?(?:exists?|present|missing|available)|optional|(?:not|n't)\s+exist|no\s+longer"
    r"|e\.g\.|for\s+example|such\s+as|example|sample|remov|delet|rm|backup|back\s+up|mount|move|rename"
    r"|\u0441\u043e\u0437\u0434|\u0437\u0430\u043f\u0438\u0441|\u0441\u043e\u0445\u0440\u0430\u043d"
    r"|\u043d\u0430\u043f\u0440\u0438\u043c\u0435\u0440|\u0443\u0434\u0430\u043b)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:ssh|scp|rsync|docker|podman|containers?|kubectl|pods?|remote|remotely|servers?|hosts?|vps|vm"
    r"|image|dockerfile|workdir|raspberry|router|on\s+(?:windows|macos|linux|ubuntu|debian|fedora|arch))\b",
    re.IGNORECASE,
)
_PROJECT = re.compile(
    r"\b(?:your|the\s+user'?s?|target|their|each|this|a|any)\s+(?:project|repo|repository|codebase|workspace)"
    r"|\b(?:project|repo|repository)\s+root\b",
    re.IGNORECASE,
)
_REDIRECT = re.compile(
    r"(?:>{1,2}|\s-o|--out(?:put)?[= ]?|--out-file[= ]?|\btee(?:\s+-a)?|\bmkdir(?:\s+-p)?|\btouch)\s*[\"']?$"
)
_MADE_HERE = re.compile(
    r"\b(?:creat\w*|writ\w*|sav(?:e|es|ed|ing)|generat\w*|output\w*|produc\w*|stor(?:e|es|ed|ing)|export\w*"
    r"|append\w*|download\w*|add|put|place)\s+"
    r"(?:(?!from\b|using\b|with\b|of\b|by\b|via\b|per\b|against\b)\w+\s+){0,4}[\"'`(*]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Missing:
    """One file that a skill names and that is not there.

    kind   "package" (of the skill itself), "outside" (an absolute or home path), "escapes" (there, but a
           link leads out of the skill, so that the host refuses to load it), "place" (a folder, or a file
           that no extension shows to be one)
    line   of SKILL.md, from 1
    """

    path: str
    line: int
    kind: str


@dataclass(frozen=True)
class Places:
    """What paths of a skill are relative to: its folder, the user's home, the home of Hermes."""

    folder: Path
    user: Path
    hermes: Path


def missing(body: str, first_line: int, places: Places) -> list[Missing]:
    """The files that a skill's body names and that are not there, each once, in order."""
    found: dict[str, Missing] = {}
    made: set[str] = set()
    for number, line in enumerate(body.split("\n")[:_MOST_LINES], first_line):
        for named in _named(line[:_LONGEST_LINE], number):
            one = _examined(named, places)
            if one == "made":
                made.add(named.path)
            elif isinstance(one, Missing):
                found.setdefault(named.path, one)
    return [one for path, one in found.items() if path not in made]


@dataclass(frozen=True)
class _Named:
    """A path as it is written on a line, with what stands before it."""

    path: str
    line: str
    before: str
    number: int
    is_link: bool = False


def _named(line: str, number: int) -> Iterator[_Named]:
    if "/" not in line and "](" not in line:
        return
    plain = _ADDRESS.sub(lambda found: " " * len(found[0]), line)
    for link in _LINK.finditer(plain):
        target = unquote((link[1] or link[2]).split("#")[0].split("?")[0])
        if target and ":" not in target and not target.startswith(("/", "~")):
            yield _Named(target.removeprefix("./"), line, line[: link.start()], number, True)
    plain = _LINK.sub(lambda found: "]" + " " * (len(found[0]) - 1), plain)
    for word in _WORD.finditer(plain):
        previous, following = plain[word.start() - 1 : word.start()], plain[word.end() : word.end() + 1]
        is_placeholder = previous == "<" or following == "<" or (previous == ">" and "<" in plain)
        if "/" not in word[0] or is_placeholder:
            continue
        text = word[0]
        option = re.search(r"[=:@](?=[~/$])", text)
        text = text[option.end() :] if option else text
        text = text.lstrip("*_[").replace("\\ ", " ")
        text = text if text.endswith("...") else text.rstrip(_TAIL)
        text = re.sub(r":\d+(?::\d+)?$", "", text)
        yield _Named(text, line, line[: word.start() + (option.end() if option else 0)], number)


def _examined(named: _Named, places: Places) -> Missing | str | None:
    """A Missing, "made" when the skill makes the file, None when it is there or nothing can be told."""
    own = _OWN.match(named.path)
    relative = own[1] if own else named.path
    if named.is_link or own or relative.removeprefix("./").split("/")[0] in SUPPORT:
        return _in_package(named, relative.removeprefix("./"), places, certain=named.is_link or bool(own))
    known = _absolute(named.path, places)
    if known is None or any(os.path.lexists(path) for path in known):
        return None
    if _MADE.search(named.line) or _REDIRECT.search(named.before):
        return "made"
    if _ELSEWHERE.search(named.line):
        return None
    *above, name = named.path.split("/")
    is_file = bool(_EXTENSION.search(name)) or (name != "" and above[-1] in _PROGRAM_FOLDERS)
    return Missing(named.path, named.number, "outside" if is_file else "place")


def _in_package(named: _Named, relative: str, places: Places, *, certain: bool) -> Missing | str | None:
    """The same for a path inside the skill; `certain` when it can be no path of the reader's project."""
    parts = relative.split("/")
    if _PATTERN.search(relative) or any(_is_placeholder(part) for part in parts):
        return None
    path = places.folder / relative
    if os.path.exists(path):
        real, root = os.path.realpath(path), os.path.realpath(places.folder)
        stays = real == root or real.startswith(root + os.sep) or ".." in parts
        return None if stays else Missing(named.path, named.number, "escapes")
    if _REDIRECT.search(named.before) or _MADE_HERE.search(named.before):
        return "made"
    if not certain and _PROJECT.search(named.line):
        return None
    if parts[0] == "scripts" and (places.hermes / relative).exists():
        return None
    is_certain = bool(_EXTENSION.search(parts[-1])) and not _EXAMPLE.search(named.line)
    return Missing(named.path, named.number, "package" if is_certain else "place")


def _absolute(written: str, places: Places) -> list[str] | None:
    """The files that an absolute or home path may mean; None for what is none, or names no certain file."""
    text = re.sub(r"^\$\{?HOME\}?(?=/)", "~", written)
    hermes = re.match(r"(?:\$\{?HERMES_HOME\}?|~/\.hermes)/(.+)", text)
    rest = hermes[1] if hermes else text[2:] if text.startswith("~/") else text.lstrip("/")
    if not rest or _PATTERN.search(rest) or any(_is_placeholder(part) for part in rest.split("/")):
        return None
    if hermes:
        return [str(places.hermes / rest), str(places.user / ".hermes" / rest)]
    if text.startswith("~/"):
        return [str(places.user / rest)]
    if not text.startswith("/") or text.startswith("//"):
        return None
    parts = rest.split("/")
    tops = _TOPS | _APPLE_TOPS if sys.platform == "darwin" else _TOPS
    if len(parts) < 2 or parts[0] not in tops or text.startswith(_PASSING):
        return None
    return [text]


def _is_placeholder(part: str) -> bool:
    return bool(_PLACEHOLDER.fullmatch(part.rsplit(".", 1)[0])) if part else False


def user_home(variables: Mapping[str, str] = os.environ) -> Path:
    """The home that `~` means."""
    return Path(os.path.expanduser("~")) if "HOME" not in variables else Path(variables["HOME"])
