"""What a line takes away and then makes again: files that it empties and fills, folders that a tool fills."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..rules.names import names as listed
from .invocation import Invocation, Target

if TYPE_CHECKING:
    from .walk import Walk


class Maker(NamedTuple):
    """A tool that fills folders of the project: one of `words` must be there; `deep`: wherever they lie."""

    words: frozenset[str]
    folders: frozenset[str]
    deep: bool = False


_UPDATES = listed("-u --updateSnapshot --update --update-snapshots")
_SNAPSHOTS = Maker(_UPDATES, frozenset(("__snapshots__",)), True)
MAKERS: dict[str, Maker] = {
    "composer": Maker(listed("install update i u"), frozenset(("vendor",))),
    "go": Maker(listed("vendor"), frozenset(("vendor",))),
    "cargo": Maker(listed("vendor"), frozenset(("vendor",))),
    **dict.fromkeys(("jest", "vitest"), _SNAPSHOTS),
}
_REMOVED, _EMPTIED = "files.folder-removal", "files.emptied"


def by_command(walk: Walk, call: Invocation) -> None:
    """A tool that fills a folder anew: that the line removed it before is nothing to ask about."""
    maker = MAKERS.get(call.name)
    if maker is None or call.place or not walk.findings or maker.words.isdisjoint(call.words()):
        return
    cwd = walk.folder().path or ""

    def filled(path: str) -> bool:
        folder, name = posixpath.split(path.rstrip("/"))
        if name not in maker.folders:
            return False
        inside = not folder.startswith("/") or folder == cwd or folder.startswith(cwd.rstrip("/") + "/")
        return inside if maker.deep else folder in ("", ".", cwd)

    walk.findings[:] = [
        found
        for found in walk.findings
        if found.rule != _REMOVED or not found.targets or not all(map(filled, found.targets))
    ]


def by_appending(walk: Walk, targets: Sequence[Target]) -> None:
    """`> list; for ...; do echo ... >> list; done` writes a file anew, as `>` with content does."""
    for target in targets:
        if target.op == ">>" and any(found.rule == _EMPTIED for found in walk.findings):
            key = (walk.state.file_key(target.arg.text, walk.folder().path),)
            walk.findings[:] = [
                found for found in walk.findings if found.rule != _EMPTIED or found.targets != key
            ]
