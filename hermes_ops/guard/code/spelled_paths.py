"""Paths as code of any language spells them: strings, the home, joins of them, and names they are bound to.

Nothing here knows one language: `joinpath(homedir(), "x")`, `Path.join(System.user_home!(), "x")` and
`(concat (getenv "HOME") "/x")` are read alike. A path that cannot be told is None, never a guess.
"""

from __future__ import annotations

import re

from ..judge.invocation import UNKNOWN
from ..rules.names import names

_DEEPEST, _MOST_STEPS, _MOST_PIECES, _MOST_NAMES = 6, 300, 8, 16
LONGEST_NAME, LONGEST_PATH = 60, 1_000
# What the languages call the home of the user.
_ENVIRONMENT = (
    r"\(?\s{0,4}(?:(?:\w{1,20}::){1,3}|[\w.]{1,40}[.:/-]|[\w-]{1,20}[:-])?(?:getenv|get_env|fetch_env|getEnv|Getenv|lookupEnv|LookupEnv"
    r"|posix-getenv|environment-variable|env|var|fetch)[!?]?[\s(]{0,4}[\"']HOME[\"']\s?\)?"
)
HOME = re.compile(
    rf"{_ENVIRONMENT}|(?:[\w.]{{1,40}}\.)?(?:ENV|environ|environment|env)\s?\[\s?[\"']HOME[\"']\s?\]!?"
    r"|homedir\(\)|\(?\s?System[./]getProperty[\s(]{0,3}[\"']user\.home[\"']\s?\)?|System\.user_home!?(?:\(\))?"
    r"|(?:Path|Dir|os)\.home\b(?:\(\))?|NSHomeDirectory\(\)"
    r"|FileManager\.default\.homeDirectoryForCurrentUser(?:\.path)?"
    r"|(?:\w{1,40}\.){0,4}getHomeDir(?:ectory)?\b(?:\(\))?|\(?find-system-path\s+(?:'|\(quote\s+)home-dir\){0,2}"
    r"|\(?(?:user-homedir-pathname|(?:babashka\.)?fs/home)\)|(?:\w{1,40}(?:::|\.)){0,4}home_dir\(\)(?:\.unwrap\(\))?"
    r"|(?:os\.)?UserHomeDir\(\)|\$\{?HOME\b\}?|\$::env\(HOME\)|\$env\(HOME\)|vim\.env\.HOME"
    r"|Environment\.GetFolderPath\([\w.]*UserProfile\)"
)
_STRING = re.compile(
    r"(?:#[pP]|~[csCSp]|@|c|r)?(?:\"((?:\\.|[^\"\\\n])*)\"|'((?:\\.|[^'\\\n])*)')", re.DOTALL
)
_NAME = re.compile(r"[A-Za-z_$][\w.$]*(?:(?:::?|/|->|-)[A-Za-z_]\w*)*[!?]?", re.ASCII)
_OPERATOR = re.compile(r"\s{0,4}(\+\+?|<>|\.\.?|\*|\^|&|</>|/)\s{0,4}")
_GAP = re.compile(r"[\s(]{0,8}(?:new\s+)?(?:\w{1,20}:\s+)?")
_BETWEEN = re.compile(r"\s{0,8},?\s{0,8}")
_END = re.compile(r"[\s)]{0,8}")
# Functions by the last piece of their name: those that join with a slash, that put texts together, that give
# the path they are given, and that give what a folder holds.
_JOINS = names("joinpath join fullfile build-path combine path-append merge-pathnames appendingpathcomponent")
_TEXTS = names("concat string-append concatenate str strcat string cstring")
_SAME = names(
    "expanduser expand expand-file-name expand_path abspath realpath normpath path of get file url list "
    "fileurlwithpath directory string->path pathname from new tilde to_charlist fspath glob fileobj p "
    "io.file truepath ensure-directory-pathname parse-namestring expandtilde"
)
_HOLDS = names("readdir ls ls! listdir list_dir list_dir! directory-list directory-files list-dir children")
# What joins a name with what it is set to.
_BINDS = (
    r"(?:\s{0,2},\s{0,2}\w{1,20}){0,2}(?:\s{0,4}(?::=|<-|=(?!=)|∈)\s{0,4}|\s{1,4}in\s{1,4}|\s{1,4}(?=[(\"]))"
)
_JOINERS = frozenset(("</>", "/"))


class Speller:
    """Reads the paths of one piece of code, in a bounded number of steps."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.left = _MOST_STEPS
        self._bindings: dict[str, int] = {}  # by name: where what it is set to begins, -1 for nowhere

    def spelled(self, at: int, depth: int = 0) -> tuple[str, int] | None:
        """The path that an expression at a place comes to, with "~" for the home, and where it ends."""
        found = self.atom(at, depth)
        if found is None:
            return None
        code = self.code
        text, at = found
        for _ in range(_MOST_PIECES):
            operator = _OPERATOR.match(code, at)
            if operator is None:
                break
            following = self.atom(operator.end(), depth)
            if following is None:
                if operator[1] not in (".", "/") and code[operator.end() : operator.end() + 1].isalpha():
                    text += UNKNOWN
                break
            text = joined(text, following[0]) if operator[1] in _JOINERS else text + following[0]
            at = following[1]
        return text[:LONGEST_PATH], at

    def atom(self, at: int, depth: int) -> tuple[str, int] | None:
        """One operand: the home, a string, a call, a name."""
        self.left -= 1
        if depth > _DEEPEST or self.left < 0:
            return None
        code = self.code
        gap = _GAP.match(code, at)
        begin = gap.end() if gap is not None else at
        for place in dict.fromkeys((at, begin, begin - 1)):
            home = HOME.match(code, place) if place >= at else None
            if home is not None:
                return "~", home.end()
        if code.startswith("os.root", begin):
            return "/", begin + len("os.root")
        string = _STRING.match(code, begin)
        if string is not None:
            text = next(group for group in string.groups() if group is not None)
            return text.replace("\\\\", "\\").replace('\\"', '"'), string.end()
        name = _NAME.match(code, begin)
        if name is None or len(name[0]) > LONGEST_NAME:
            return None
        return self._called(name, depth, code[at:begin].rstrip().endswith("("))

    def _called(self, name: re.Match[str], depth: int, is_list: bool) -> tuple[str, int] | None:
        """A function of paths with its arguments, in brackets or behind it as in Lisp; or a name."""
        code = self.code
        last = re.split(r"[.:/]", name[0])[-1].lower()
        at = name.end()
        opens = code[at : at + 1] == "("
        kind = next((kind for kind in (_JOINS, _TEXTS, _SAME, _HOLDS) if last in kind), None)
        if kind is None or not (opens or (is_list and code[at : at + 1] == " ")):
            return None if opens else self.bound(name[0], name.end(), depth)
        pieces: list[str] = []
        at += opens
        for _ in range(_MOST_PIECES):
            found = self.spelled(at, depth + 1)
            if found is None:
                break
            pieces.append(found[0])
            at = found[1]
            between = _BETWEEN.match(code, at)
            at = between.end() if between is not None else at
            if kind is _SAME or kind is _HOLDS or code[at : at + 1] == ")":
                break
        if not pieces:
            return None
        at = code.find(")", at, at + 80) + 1 or at
        text = pieces[0]
        if kind is _SAME and text.startswith("$HOME"):
            text = "~" + text[len("$HOME") :]
        for piece in pieces[1:] if kind in (_JOINS, _TEXTS) else ():
            text = joined(text, piece) if kind is _JOINS else text + piece
        return (joined(text, "*") if kind is _HOLDS else text)[:LONGEST_PATH], at

    def bound(self, name: str, end: int, depth: int = 0) -> tuple[str, int] | None:
        """The path that a name is set to in the code; `end`: where the name ends that asks for it."""
        self.left -= 1
        if len(name) > LONGEST_NAME or depth > _DEEPEST or self.left < 0:
            return None
        if name not in self._bindings:
            if len(self._bindings) >= _MOST_NAMES:
                return None
            place = re.search(rf"(?<![\w.$-]){re.escape(name)}{_BINDS}", self.code)
            self._bindings[name] = place.end() if place is not None else -1
        begin = self._bindings[name]
        found = self.spelled(begin, depth + 1) if begin >= 0 else None
        return None if found is None else (found[0], end)

    def held(self) -> str | None:
        """The folder whose names a loop goes through, as a pattern: readdir("/") gives "/*"."""
        found = _HELD.search(self.code)
        path = self.spelled(found.start()) if found is not None else None
        return path[0] if path is not None else None


def joined(folder: str, name: str) -> str:
    """A name below a folder; an absolute one is itself."""
    return name if name.startswith(("/", "~")) else f"{folder.rstrip('/')}/{name}"


def spelled(code: str, at: int) -> tuple[str, int] | None:
    """The path that an expression at a place comes to, with "~" for the home, and where it ends."""
    return Speller(code).spelled(at)


_HELD = re.compile(
    r"(?<![\w-])(?:readdir|File\.ls!?|list_dir|directory-files|directory-list|fs/list-dir)[\s(]"
)
