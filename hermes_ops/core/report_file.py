"""Reports that commands write to a file: never in the place of anything that is no report of ours."""

from __future__ import annotations

import json
from pathlib import Path

from .._common.files import read_regular, write_atomic
from ..errors import OpsError

WRITTEN_BY = "hermes ops"  # pages name it as their generator, JSON in the field `written_by`
GENERATOR = f'<meta name="generator" content="{WRITTEN_BY}">'
_BEGINNING = 4000  # bytes in which a page or a text says that it is ours


def write(path: Path, content: str, home: Path) -> bool:
    """Write a report; returns whether anything changed.

    OpsError, and nothing is written, when something else stands there, or when a new file would lie among
    those of the host: below its home only `ops/` is ours.
    """
    path = path.absolute()
    if path.is_dir():
        raise OpsError(f"{path} is a directory; --out takes the name of a file")
    if not path.parent.is_dir():
        raise OpsError(f"{path.parent} is not there; --out takes a file in an existing directory")
    try:
        there = _content(path)
        if there == content.encode("utf-8"):
            return False
        hosts = _is_of_the_host(path, home)
        if there is None and hosts:
            raise OpsError(f"{path} would lie among the files of the host; take {home / 'ops'}, or elsewhere")
        if there is not None and not is_ours(there) and (there or hosts):
            raise OpsError(f"{path} is no report that hermes ops wrote: move it away, or take another name")
        write_atomic(path, content)
    except OSError as error:
        raise OpsError(f"{path}: {error.strerror or error}") from None
    return True


def is_ours(content: bytes) -> bool:
    """Whether a content is a report of ours: a page, a table as text or Markdown, or JSON."""
    start = content[:_BEGINNING].decode("utf-8", "replace")
    if start.startswith("<!doctype html>"):
        return GENERATOR in start
    if start.lstrip().startswith("{"):
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            return False
        return str(data.get("written_by")).startswith(f"{WRITTEN_BY} ")
    return any(f"Written by `{WRITTEN_BY} " in line for line in start.splitlines()[:3])


def _content(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None


def _is_of_the_host(path: Path, home: Path) -> bool:
    from ..host.profiles import FOLDER

    home = home.resolve()
    root = home.parent.parent if home.parent.name == FOLDER else home  # a profile lies in the root's home
    real = path.parent.resolve() / path.name
    return real.is_relative_to(root) and not any(real.is_relative_to(one / "ops") for one in (home, root))
