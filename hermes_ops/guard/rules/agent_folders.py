"""Programs that change whole folders at once, pointed at the guard or at what the agent lives by."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import UNKNOWN, Invocation
from ..verdict import Found
from .files import GUARD
from .hermes_state import PLUGIN_NAMES, Part, part_of
from .names import names
from .paths import Place, locate
from .protection import DISABLED
from .rule import Family, approve
from .verbs import plain, verb_of

STATE = approve("guard.state-folder", "changes many files of the agent's state at once", "name the one file")

REPLACED = approve(
    "guard.replaced", "puts another copy of the guard in its place", "let the person install it"
)

# The options that name the folder which is written to; without one it is the working folder.
_FOLDER = {
    **dict.fromkeys(("tar", "bsdtar", "gtar"), names("-C --directory --cd")),
    "unzip": names("-d"),
    "7z": names("-o"),
    "7za": names("-o"),
    "cpio": names("-D --directory"),
    "patch": names("-d --directory"),
    "git": names("-C --work-tree"),
    **dict.fromkeys(("pip", "pip3"), names("-t --target --prefix")),
    "uv": names("--target --prefix --directory"),
    "wget": names("-P --directory-prefix"),
    "curl": names("--output-dir"),
    "aria2c": names("-d --dir"),
}
_UNPACKERS = names("tar bsdtar gtar unzip 7z 7za cpio unrar patch")
# What git does to the files of a working tree.
_CHANGING = names(
    "checkout switch reset restore pull merge rebase apply am stash clean cherry-pick revert rm mv read-tree "
    "checkout-index submodule"
)
_GIT_VALUED = names("-C -c --git-dir --work-tree --namespace --exec-path --config-env")
_DISTRIBUTIONS = PLUGIN_NAMES | names("hermes-unroll-ops-rlm hermes_unroll_ops_rlm hermes-agent hermes_agent")


def _folders(invocation: Invocation) -> Iterator[str]:
    """The folders that the options of a command name."""
    wanted = _FOLDER.get(invocation.name, frozenset())
    words = invocation.words()
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        cluster = word[:1] == "-" and word[1:].isalpha() and f"-{word[-1]}" in wanted
        if (word in wanted or cluster) and index + 1 < len(words):
            yield words[index + 1]
        elif equals and name in wanted:
            yield value
        elif word[:2] in wanted and len(word) > 2 and word[1] != "-":
            yield word[2:]


def _changes_files(invocation: Invocation) -> bool:
    name = invocation.name
    words = invocation.words()
    if name in ("tar", "bsdtar", "gtar"):
        bundle = words[0] if words and words[0][:1] != "-" else ""
        return "x" in bundle or invocation.has("x", "--extract", "--get")
    if name == "cpio":
        return invocation.has("ip", "--extract", "--pass-through")
    if name == "unzip":
        return not invocation.has("lptvzZ")
    if name in ("7z", "7za", "unrar"):
        return words[:1] in (["x"], ["e"])
    if name == "patch":
        return not invocation.has("", "--dry-run")
    return True


def _of(invocation: Invocation, folder: str) -> Part | None:
    if not folder or folder[0] == UNKNOWN:
        return None
    where = locate(folder, invocation.cwd, invocation.home, invocation.hermes_home)
    part = part_of(where.path, invocation.home, invocation.hermes_home)
    return Part.STATE if part is None and where.place is Place.HERMES else part


def _unpacked(invocation: Invocation) -> Iterator[Found]:
    """Into the guard, or over the folders that hold it."""
    folders = [*_folders(invocation)]
    if invocation.name == "unrar":
        folders = invocation.words()[2:][-1:]
    for folder in folders or [invocation.cwd or ""]:
        part = _of(invocation, folder)
        if part in (Part.GUARD, Part.STATE):
            yield GUARD.found(invocation.part, folder)
        elif part is Part.PLUGIN or part is Part.CODE:
            yield STATE.found(invocation.part, folder)


def _git(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, _GIT_VALUED)
    if verb in ("clone", "worktree"):
        folders = [argument.text for argument in plain(rest)[1:]]
        changing = True
    else:
        folders = [*_folders(invocation)] or [invocation.cwd or ""]
        changing = verb in _CHANGING
    if not changing or (verb == "stash" and rest and rest[0].text in ("list", "show")):
        return
    for folder in folders:
        part = _of(invocation, folder)
        if part is Part.GUARD:
            yield GUARD.found(invocation.part, folder)
        elif part is Part.STATE:
            yield STATE.found(invocation.part, folder)


def _installed(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if "uninstall" in words[:2]:
        if any(word in _DISTRIBUTIONS for word in words):
            yield DISABLED.found(invocation.part)
        return
    if "install" in words[:2]:
        yield from _replaced(invocation, words)
    yield from _unpacked(invocation) if [*_folders(invocation)] else ()


_REQUIREMENT = re.compile(r"[\w.-]+")
_LATEST = names("-U --upgrade")


def _replaced(invocation: Invocation, words: list[str]) -> Iterator[Found]:
    """Another copy in the place of the guard: a pinned or a forced one, a folder that bears its name."""
    plain_upgrade = not _LATEST.isdisjoint(words)
    for word in words:
        found = _REQUIREMENT.match(word)
        named = found is not None and found[0] in _DISTRIBUTIONS
        pinned = named and (len(word) > len(found[0]) if found else False)
        folder = word.rstrip("/").rpartition("/")[2] if "/" in word else ""
        other = any(name in folder.lower() for name in PLUGIN_NAMES)
        if pinned or other or (named and "--force-reinstall" in words and not plain_upgrade):
            yield REPLACED.found(invocation.part, word)
            return


def _fetched(invocation: Invocation) -> Iterator[Found]:
    """A file of a known name, fetched into a folder."""
    for folder in _folders(invocation):
        for argument in invocation.arguments:
            text = argument.text
            if text.startswith("-") or text == folder:
                continue
            name = posixpath.basename(text.partition("?")[0])
            part = _of(invocation, posixpath.join(folder, name)) if name else None
            if part is Part.GUARD or part is Part.STATE:
                yield GUARD.found(invocation.part, f"{folder}/{name}")
                return


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name == "git":
        return _git(invocation)
    if name in _UNPACKERS:
        return _unpacked(invocation) if _changes_files(invocation) else ()
    if name in ("wget", "curl", "aria2c"):
        return _fetched(invocation)
    return _installed(invocation)


FAMILY = Family(
    "agent-folders",
    frozenset(_FOLDER) | _UNPACKERS | {"pipx"},
    _check,
    examples=(
        ("tar xf x.tar -C ~/.hermes/plugins/hermes-ops", "guard.changed"),
        ("unzip -o x.zip -d ~/.hermes/plugins/hermes-ops", "guard.changed"),
        ("git -C ~/.hermes/plugins/hermes-ops reset --hard HEAD~9", "guard.changed"),
        ("cd ~/.hermes/plugins/hermes-ops && git checkout HEAD~5", "guard.changed"),
        ("patch -d ~/.hermes/plugins/hermes-ops -p1 < x.patch", "guard.changed"),
        ("git clone https://example.com/x ~/.hermes/plugins/hermes-ops", "guard.changed"),
        ("pip install --target ~/.hermes/plugins/hermes-ops other", "guard.changed"),
        ("wget -P ~/.hermes https://example.com/config.yaml", "guard.changed"),
        ("pip uninstall -y hermes-unroll-ops-rlm", "guard.disabled"),
        ("pip install --force-reinstall hermes-unroll-ops-rlm==0.0.1", "guard.replaced"),
        ("pip install -e /tmp/evil_hermes_ops", "guard.replaced"),
        ("git -C ~/.hermes pull", "guard.state-folder"),
        ("tar xf x.tar -C ~/.hermes/plugins/other", "guard.state-folder"),
    ),
    silent=(
        "tar tf x.tar -C ~/.hermes",
        "tar czf /tmp/backup.tgz -C ~ notes",
        "tar xf x.tar -C build",
        "unzip -l x.zip -d ~/.hermes",
        "git -C ~/.hermes/plugins/hermes-ops log --oneline",
        "git -C ~/src/app pull",
        "pip install --target build/lib requests",
        "wget -P downloads https://example.com/config.yaml",
        "pip uninstall -y requests",
        "pip install -U hermes-unroll-ops-rlm",
        "pip install hermes-unroll-ops-rlm",
    ),
    rules=(GUARD, DISABLED, STATE, REPLACED),
)
