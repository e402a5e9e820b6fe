"""Skills as a job names them: where the host would find one, by the rules of its own lookup."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from .._common.config import HostConfig
from .._common.files import read_regular

_IGNORED = """
    .git .github .hub .archive .venv venv node_modules site-packages __pycache__ .tox .nox
    .pytest_cache .mypy_cache .ruff_cache
"""
_SKIPPED = frozenset(_IGNORED.split())
_SUPPORT = frozenset(("references", "templates", "assets", "scripts"))
_NAME = re.compile(r"^name:[ \t]*[\"']?([^\"'\n#]{1,80}?)[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)
_MAX_SKILLS = 5_000


class Skills:
    """The skills and bundles of a home, and of `skills.external_dirs`."""

    def __init__(self, home: Path, config: HostConfig) -> None:
        self._home = home
        self._known = config.known
        self._roots = [home / "skills", *_external(home, config)]
        self._by_name: dict[str, list[Path]] | None = None

    def find(self, name: str) -> list[Path] | None:
        """Every skill (or bundle) that `name` may mean; more than one is refused by the host.

        None when it cannot be told: a plugin's skill ("plugin:skill"), or a config that cannot be read.
        """
        name = name.strip().removeprefix("/")
        found = self._lookup(name)
        if not found and ":" in name:
            found = self._lookup(name.replace(":", "/", 1))
            return found or None
        return found or (None if not self._known else [])

    def _lookup(self, name: str) -> list[Path]:
        if self._by_name is None:
            self._by_name = self._index()
        path = Path(name)
        key = name if not path.is_absolute() else self._relative(path)
        bundles = self._by_name.get(f"bundle {_slug(name)}")
        return bundles or list(dict.fromkeys(self._by_name.get(key, ())))

    def _relative(self, path: Path) -> str:
        for root in self._roots:
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return path.as_posix()

    def _index(self) -> dict[str, list[Path]]:
        index: dict[str, list[Path]] = {}

        def add(key: str, path: Path) -> None:
            if path not in index.setdefault(key, []):
                index[key].append(path)

        for root in self._roots:
            for file in _skill_files(root):
                relative = file.parent.relative_to(root).as_posix()
                resolved = file.resolve()
                for key in {relative, file.parent.name, _written_name(file)}:
                    if key:
                        add(key, resolved)
        try:
            bundles = sorted((self._home / "skill-bundles").glob("*.y*ml"))
        except OSError:
            bundles = []
        for file in bundles:
            for key in {file.stem, _written_name(file)}:
                if key:
                    add(f"bundle {_slug(key)}", file)
        return index


def why_unreadable(file: Path) -> str | None:
    """Why the host cannot load a skill that is there; None: it can."""
    try:
        read_regular(file).decode("utf-8")
    except UnicodeDecodeError:
        return "no UTF-8"
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def _skill_files(root: Path) -> Iterator[Path]:
    """Every SKILL.md below `root`, links followed, as the host walks."""
    seen: set[str] = set()
    count = 0
    for folder, names, files in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            names[:] = []
            continue
        seen.add(real)
        has_skill = "SKILL.md" in files
        names[:] = sorted(
            name for name in names if name not in _SKIPPED and not (has_skill and name in _SUPPORT)
        )
        if has_skill:
            yield Path(folder, "SKILL.md")
            count += 1
            if count >= _MAX_SKILLS:
                return


def _written_name(file: Path) -> str:
    try:
        with open(file, encoding="utf-8-sig", errors="replace") as opened:
            head = opened.read(4000)
    except OSError:
        return ""
    if file.name == "SKILL.md":
        if not head.startswith("---"):
            return ""
        head = head[3:].partition("\n---")[0]
    found = _NAME.search(head)
    return found[1].strip() if found else ""


def _external(home: Path, config: HostConfig) -> list[Path]:
    written = config.get("skills.external_dirs")
    items = [written] if isinstance(written, str) else written if isinstance(written, list) else []
    roots = []
    for item in items:
        text = str(item).strip()
        if text:
            path = Path(os.path.expanduser(os.path.expandvars(text)))
            roots.append(path if path.is_absolute() else home / path)
    return [root for root in roots if root.is_dir()]


def _slug(name: str) -> str:
    return re.sub(
        r"-{2,}", "-", re.sub(r"[^a-z0-9-]", "", name.lower().replace(" ", "-").replace("_", "-"))
    ).strip("-")
