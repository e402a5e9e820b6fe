"""Calls that remove a folder with all below it, in languages that have no judge of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .spelled_paths import Speller

LONGEST = 20_000
_MOST = 16
# Functions whose first argument is the folder: of Go, Rust, Haskell, Elixir, Erlang, Lisp, Clojure, Swift,
# Prolog, Nim, D, V, Zig, Crystal, C++, C#, Java and Emacs.
_REMOVES = re.compile(
    r"(?<!\w)(?:RemoveAll|remove_dir_all|deleteDirectory|removeDirectoryRecursive|removePathForcibly|rm_rf"
    r"|del_dir_r|rmtree|rm_r|remove_all|delete-directory/files|delete-directory-tree|delete-directory-and-files"
    r"|delete-directory|delete-file-recursively|delete-tree|delete-dir|delete_directory_and_contents"
    r"|delete_directory_contents|removeDir|rmdirRecurse|rmdir_all|deleteTreeAbsolute|deleteTree|removeItem"
    r"|Directory\.Delete|f-delete|removeTree|recursive_rm|remove\.all|rmrf|removeRecursively)[!?]?"
    r"(?:[\s($]{0,6}(?:=<<\s{0,4})?)(?:(?:atPath|at|path|_)\s{0,2}[:=]\s{0,4})?"
)
# Functions that remove a tree when another argument says so.
_REMOVES_WHEN = re.compile(r"(?<!\w)(?P<name>rm|rmdir|delete)\.?\(\s{0,4}")
_WHEN = {
    "rm": re.compile(r"recursive\s{0,4}=\s{0,4}true"),
    "rmdir": re.compile(r",\s{0,4}[\"']s[\"']"),
    "delete": re.compile(r",\s{0,4}[\"']rf[\"']"),
}
_LONGEST_CALL = 200
# Folders that have a method to remove them.
_FOLDER = re.compile(r"(?<!\w)(?:File|Directory|Paths\.get|Path\.of|Path)\(\s{0,4}")
_METHOD = re.compile(
    r"[\s)]{0,6}(?:!!)?\.(?:toFile\(\)\.)?(?:deleteDir|deleteRecursively|removeRecursively|deleteTree"
    r"|delete(?:Sync)?\(\s{0,4}recursive:\s{0,4}true)"
)
_NAMED = re.compile(
    r"(?<![\w.])([A-Za-z_]\w{0,40})\.(?:deleteDir|deleteRecursively|removeRecursively|deleteTree)\b"
)
# What stands before a function that is handed its folder: `getHomeDirectory >>= remove`, `path |> remove`.
_HANDED = re.compile(r"\s{0,4}(?:>>=|\|>)\s{0,4}$")
_QUALIFIER = re.compile(r"[\w.:/-]{1,60}$")
_NAME = re.compile(r"[A-Za-z_]\w{0,40}")


def removed(code: str) -> Iterator[str]:
    """The folders that code removes with all below them: "~" is the home, "/*" all that a folder holds."""
    code = code[:LONGEST]
    speller = Speller(code)
    left = _MOST
    for found in _REMOVES.finditer(code):
        left -= 1
        if left < 0:
            return
        path = _handed(speller, found.start()) or _given(speller, found.end())
        if path is not None:
            yield path
    for found in _REMOVES_WHEN.finditer(code):
        left -= 1
        if left < 0:
            return
        rest = code[found.end() : found.end() + _LONGEST_CALL].partition("\n")[0]
        path = _given(speller, found.end()) if _WHEN[found["name"]].search(rest) else None
        if path is not None:
            yield path
    for found in _FOLDER.finditer(code):
        left -= 1
        if left < 0:
            return
        given = speller.spelled(found.end())
        if given is not None and _METHOD.match(code, given[1]):
            yield given[0]
    for found in _NAMED.finditer(code):
        left -= 1
        given = speller.bound(found[1], found.end()) if left >= 0 else None
        if given is not None:
            yield given[0]


def _given(speller: Speller, at: int) -> str | None:
    found = speller.spelled(at)
    if found is not None:
        return found[0]
    return speller.held() if _NAME.match(speller.code, at) else None


def _handed(speller: Speller, at: int) -> str | None:
    """The folder that comes over a pipe of the language."""
    start = max(0, at - 160)
    before = _QUALIFIER.sub("", speller.code[start:at])
    arrow = _HANDED.search(before)
    if arrow is None:
        return None
    end = start + len(before[: arrow.start()].rstrip())
    for place in range(max(start, end - 60), end):
        if not speller.code[place].isspace():
            found = speller.spelled(place)
            if found is not None and found[1] == end:
                return found[0]
    return None
