"""Skills behind an address, read before they are installed: archives and single files, in memory alone."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from functools import partial
from urllib.parse import quote, urlsplit

from ..core import http
from ..errors import OpsError, Unreadable
from .archives import Budget, unpack
from .entries import FILE, LINK, MAX_HEAD, MEMBER, Entry, Skill, partition
from .kinds import ARCHIVE, TEXT, kind_of
from .rules import Hit

MAX_BYTES = 30_000_000
TIMEOUT = 60.0

_GITHUB = re.compile(r"/([\w.-]+)/([\w.-]+?)(?:\.git)?(?:/(tree|blob)/([^/]+)(?:/(.*))?)?/?")
_GITLAB = re.compile(r"/(.+?)(?:\.git)?(?:/-/(tree|blob)/([^/]+)(?:/(.*))?)?/?")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")


def is_address(text: str) -> bool:
    """Whether an argument is an address and no path."""
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://", text) is not None


def fetch(url: str) -> tuple[list[Skill], list[Hit]]:
    """The skills behind an https address (http only on this machine), and what is wrong with the archive.

    Takes a repository on GitHub, GitLab or Codeberg (a branch and a folder too), an archive, or one file.
    Raises OpsError for an address that cannot be taken, Unreadable when it cannot be fetched.
    """
    direct, below = resolved(url)
    answer = http.request(
        direct, timeout=TIMEOUT, max_bytes=MAX_BYTES, tries=2, may_follow=partial(_may_follow, direct)
    )
    if answer.status != 200:
        raise Unreadable(http.shown(direct), f"HTTP status {answer.status}")
    return skills_in(answer.body, url, below)


def resolved(url: str) -> tuple[str, str]:
    """The address to ask, and the folder of the archive that is meant ("" for all of it). OpsError."""
    url = url.strip()
    if not _may_be_asked(url):
        raise OpsError(f"{http.shown(url)}: expected an address that begins with https://")
    parts = urlsplit(url)
    host = (parts.hostname or "").lower().removeprefix("www.")
    if host in ("github.com", "codeberg.org"):
        found = _GITHUB.fullmatch(parts.path)
        if found:
            owner, name, kind, ref, path = found.groups()
            if kind == "blob":
                if host == "github.com":
                    return f"https://raw.githubusercontent.com/{owner}/{name}/{ref}/{path}", ""
                return f"https://codeberg.org/{owner}/{name}/raw/branch/{ref}/{path}", ""
            if host == "github.com":
                return f"https://codeload.github.com/{owner}/{name}/tar.gz/{quote(ref or 'HEAD')}", path or ""
            return f"https://codeberg.org/{owner}/{name}/archive/{quote(ref or 'main')}.tar.gz", path or ""
    if host == "gitlab.com" and "/-/archive/" not in parts.path and "/-/raw/" not in parts.path:
        found = _GITLAB.fullmatch(parts.path)
        if found:
            project, kind, ref, path = found.groups()
            if kind == "blob":
                return f"https://gitlab.com/{project}/-/raw/{ref}/{path}", ""
            name = project.rpartition("/")[2]
            return f"https://gitlab.com/{project}/-/archive/{quote(ref or 'HEAD')}/{name}.tar.gz", path or ""
    if parts.path.endswith(".git"):
        raise OpsError(f"{http.shown(url)}: git is not run here; clone it elsewhere and scan the folder")
    return url, ""


def skills_in(body: bytes, url: str, below: str = "") -> tuple[list[Skill], list[Hit]]:
    """The skills in what was fetched: an archive, or a single text; `below` is a folder of the archive."""
    name = urlsplit(url).path.rstrip("/").rpartition("/")[2] or "SKILL.md"
    if not body:
        raise Unreadable(http.shown(url), "the answer is empty")
    whole = Entry(name, FILE, body, size=len(body), sha256=hashlib.sha256(body).hexdigest())
    kind = kind_of(name, body)
    if kind.what != ARCHIVE:
        if kind.what == TEXT and re.match(r"\s*<(?:!doctype|html)\b", kind.text[:200], re.IGNORECASE):
            raise Unreadable(
                http.shown(url), "a web page, and no skill: give the address of the raw file or archive"
            )
        if name.endswith((".md", ".markdown")) or kind.text.startswith("---"):
            name = "SKILL.md"
        entry = Entry(name, FILE, body[:MAX_HEAD], body[MAX_HEAD:], len(body), 0, "", whole.sha256)
        return [Skill(http.shown(url).rpartition("/")[2] or name, url, [entry])], []
    opened = unpack(whole, Budget())
    return _partitioned(opened.entries, whole, url, below), opened.hits


def _partitioned(entries: list[Entry], whole: Entry, url: str, below: str) -> list[Skill]:
    """The skills of an archive. Archives inside it stay what they are; their members come along."""
    cut = len(whole.path) + len(MEMBER)
    by_path = {entry.path[cut:]: entry for entry in entries}
    top = _common_folder(by_path)
    kept = {path[len(top) :]: entry for path, entry in by_path.items()}
    if below:
        inside = f"{below.strip('/')}/"
        kept = {path[len(inside) :]: entry for path, entry in kept.items() if path.startswith(inside)}
        if not kept:
            raise OpsError(f"{http.shown(url)}: there is no folder {below!r} in it")
    direct = {path: entry for path, entry in kept.items() if MEMBER not in path}
    owned, loose = partition(direct)
    name = below.rstrip("/").rpartition("/")[2] or top.rstrip("/") or whole.name
    skills = [
        Skill(
            folder.rpartition("/")[2] or name, url, [_renamed(direct[path], path, folder) for path in paths]
        )
        for folder, paths in owned.items()
    ]
    if loose:
        skills.append(
            Skill(name, url, [_renamed(direct[path], path, "") for path in loose], is_loose=bool(owned))
        )
    return skills


def _renamed(entry: Entry, path: str, folder: str) -> Entry:
    cut = len(folder) + 1 if folder else 0
    return Entry(
        path[cut:], entry.kind, entry.data, entry.tail, entry.size, entry.mode, entry.note, entry.sha256
    )


def _common_folder(paths: dict[str, Entry]) -> str:
    """The folder that everything lies in, with its slash; "" when there is none."""
    first = {path.split("/")[0] for path, entry in paths.items() if entry.kind in (FILE, LINK)}
    folder = next(iter(first), "")
    return f"{folder}/" if len(first) == 1 and all(path.startswith(f"{folder}/") for path in paths) else ""


def _may_be_asked(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return False
    return parts.scheme.lower() == "https" or (parts.scheme.lower() == "http" and host in _LOOPBACK)


def _may_follow(first: str, url: str) -> bool:
    """Whether a redirect is followed: https alone, and from elsewhere never to this machine."""
    return _may_be_asked(url) and (_is_near(first) or not _is_near(url))


def _is_near(url: str) -> bool:
    """Whether an address names this machine or its network by number or by `localhost`."""
    host = (urlsplit(url).hostname or "").lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return re.fullmatch(r"[\d.]+|0x[\da-f.x]+", host) is not None
