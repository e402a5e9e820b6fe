"""The hashes that the host itself keeps of skills, and the same hashes of what lies there now.

`skills/.hub/lock.json` for what was installed from a hub (`content_hash`: the first 16 digits of a SHA-256
over paths and contents, see the host's tools/skills_guard.py), `skills/.bundled_manifest` for what the host
brought itself (MD5, tools/skills_sync.py).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .._common.files import open_regular, read_regular
from .rules import INFO, WARNING, Hit

_MAX_FILES = 5_000
_MAX_BYTES = 200_000_000
_PIECE = 1 << 20


@dataclass(frozen=True)
class Kept:
    """What the host keeps of the skills below one root: hub entries by folder, its own by name."""

    hub: dict[str, tuple[str, str]]  # folder below the root -> hash, where it came from
    own: dict[str, str]  # name -> MD5
    problem: str = ""


def kept(root: Path) -> Kept:
    """Read both files of one skills folder; what cannot be read is said in `problem`, the rest holds."""
    hub: dict[str, tuple[str, str]] = {}
    own: dict[str, str] = {}
    problems = []
    try:
        data = json.loads(read_regular(root / ".hub" / "lock.json", 20_000_000))
        installed = data.get("installed", {}) if isinstance(data, dict) else {}
        for name, entry in installed.items() if isinstance(installed, dict) else ():
            if isinstance(entry, dict) and isinstance(entry.get("content_hash"), str):
                folder = str(entry.get("install_path") or name).strip("/")
                hub[folder] = (
                    entry["content_hash"],
                    str(entry.get("identifier") or entry.get("source") or "a hub"),
                )
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        problems.append(f"{root / '.hub' / 'lock.json'}: {getattr(error, 'strerror', None) or 'not JSON'}")
    try:
        text = read_regular(root / ".bundled_manifest", 5_000_000).decode("utf-8", "replace")
        for line in text.splitlines():
            name, _, digest = line.strip().partition(":")
            if name and digest:
                own[name.strip()] = digest.strip()
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(f"{root / '.bundled_manifest'}: {error.strerror or type(error).__name__}")
    return Kept(hub, own, "; ".join(problems))


def disagreement(folder: Path, below: str, name: str, known: Kept) -> Iterator[Hit]:
    """Say when the host's hash of a skill is not that of the folder now; nothing where it has none."""
    if below in known.hub:
        recorded, source = known.hub[below]
        now = hub_hash(folder)
        if now and now != recorded:
            text = f"the host recorded another content when it installed it from {source}"
            yield Hit(
                "skill.host-hash", WARNING, "", 0, text, (f"the host: {recorded}", f"now: {now}"), recorded
            )
    elif name in known.own:
        now = own_hash(folder)
        if now and now != known.own[name]:
            text = "it is not as the host brought it (edited, or behind an update)"
            shown = (f"the host: {known.own[name]}", f"now: {now}")
            yield Hit("skill.host-hash", INFO, "", 0, text, shown, known.own[name])


def hub_hash(folder: Path) -> str:
    """The host's `content_hash` of a folder, "" when it has more than is read here."""
    digest = hashlib.sha256()
    return f"sha256:{digest.hexdigest()[:16]}" if _feed(digest, folder, b"\x00") else ""


def own_hash(folder: Path) -> str:
    """The host's hash of a skill it brought, "" when it has more than is read here."""
    digest = hashlib.md5(usedforsecurity=False)
    return digest.hexdigest() if _feed(digest, folder, b"") else ""


def _feed(digest: hashlib._Hash, folder: Path, between: bytes) -> bool:
    size = 0
    found = list(_files(folder))
    if len(found) > _MAX_FILES:
        return False
    for parts in sorted(found):
        digest.update("/".join(parts).encode("utf-8", "surrogateescape") + between)
        try:
            with open_regular(folder.joinpath(*parts)) as opened:
                while piece := opened.read(_PIECE):
                    size += len(piece)
                    if size > _MAX_BYTES:
                        return False
                    digest.update(piece)
        except OSError:
            return False
    return True


def _files(folder: Path) -> Iterator[tuple[str, ...]]:
    """Every regular file, links to files too, as parts of its path; links to folders are not followed."""
    count = 0
    for at, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        below = Path(at).relative_to(folder).parts
        for name in names:
            try:
                is_file = stat.S_ISREG(os.stat(os.path.join(at, name)).st_mode)
            except OSError:
                continue
            if is_file:
                count += 1
                yield (*below, name)
                if count > _MAX_FILES:
                    return
