"""The options of interpreters: which hold code, which take a word along, which load a file first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..rules.names import names
from .invocation import Arg


@dataclass(frozen=True, slots=True)
class Shape:
    """How an interpreter takes its options.

    `inline`: letters whose value is code, and `ends`: all behind the first of them are its arguments.
    `valued`: letters that take another word; `glued`: letters whose value is the rest of their word only.
    `code`, `takes`, `loads`: options by their whole name whose value is code, some word, a file that runs
    first. `uses`: letters whose value is put before the code (perl -M); `module`: a letter that names a
    module and ends the options; `loops`: letters by which the code runs for each line.
    """

    language: str
    inline: str = ""
    valued: str = ""
    glued: str = ""
    code: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    uses: str = ""
    module: str = ""
    loops: str = ""
    ends: bool = False


@dataclass(slots=True)
class Words:
    """The words of a call of an interpreter: code, files that run first, and what is left for the program.

    `loops`: the code runs for each line; `shows`: it prints the value of its code; `flags`: other letters.
    """

    code: list[Arg] = field(default_factory=list)
    loaded: list[Arg] = field(default_factory=list)
    used: list[Arg] = field(default_factory=list)
    module: Arg | None = None
    loops: bool = False
    shows: bool = False
    flags: str = ""
    rest: list[Arg] = field(default_factory=list)


PYTHON = Shape("python", "c", "WXQ", takes=names("--check-hash-based-pycs"), module="m", ends=True)
NODE = Shape(
    "node",
    "ep",
    "CL",
    code=names("--eval --print -pe"),
    takes=names(
        "--env-file --env-file-if-exists --conditions --input-type --inspect-port --title --icu-data-dir "
        "--openssl-config --test-name-pattern --watch-path --stack-trace-limit --cwd --config --tsconfig "
        "--redirect-warnings --unhandled-rejections --trace-event-categories --diagnostic-dir"
    ),
    loads=names("-r --require --import --loader --experimental-loader --preload"),
)
MONGO = Shape(
    "node",
    code=names("--eval"),
    takes=names("--host --port -u --username -p --password --authenticationDatabase --db"),
    loads=names("-f --file"),
)
PERL = Shape("perl", "eE", "ID", "iFx", uses="Mm", loops="np")
RUBY = Shape("ruby", "e", "ECI", "iFTWxK", loads=names("-r --require"), loops="np")
PHP = Shape("php", "rRBE", "cdtS", loads=names("-f --file"), code=names("--run --process-code"), loops="R")
LUA = Shape("lua", "e", loads=names("-l"))
R = Shape("r", "e", code=names("-e"), takes=names("-f --file -g --gui"))
APPLESCRIPT = Shape("applescript", "e", "ls")
TCL = Shape("tcl", takes=names("-encoding"))


def _value(words: Sequence[Arg], at: int, glued: str, by: Arg) -> Arg | None:
    """The value of an option: what is glued to it, else the next word."""
    if glued:
        return Arg(glued, False, by.taint, by.source)
    return words[at] if at < len(words) else None


def read_words(shape: Shape, words: Sequence[Arg]) -> Words:
    """Tell the words behind the name of an interpreter apart."""
    read = Words()
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        if text[:1] != "-" or text == "-":
            break
        at += 1
        if text == "--":
            break
        name, _, value = text.partition("=")
        if name in shape.code or name in shape.takes or name in shape.loads:
            given = _value(words, at, value, word)
            at += not value
            read.shows = read.shows or (shape is NODE and name in ("--print", "-pe"))
            if given is not None and name not in shape.takes:
                (read.code if name in shape.code else read.loaded).append(given)
            continue
        if text.startswith("--"):
            continue
        at = _cluster(shape, words, at, read)
        if read.module is not None or (shape.ends and read.code):
            break
    read.rest = list(words[at:])
    return read


def _cluster(shape: Shape, words: Sequence[Arg], at: int, read: Words) -> int:
    """Letters behind one hyphen; where the words go on."""
    word = words[at - 1]
    for place, letter in enumerate(word.text[1:], 2):
        rest = word.text[place:]
        read.loops = read.loops or letter in shape.loops
        read.shows = read.shows or (shape is NODE and letter == "p")
        read.flags += letter
        if letter in shape.glued or rest[:1] == ":":
            break
        short = f"-{letter}"
        for letters, found in ((shape.inline, read.code), (shape.uses, read.used)):
            if letter in letters:
                given = _value(words, at, rest, word)
                if given is not None:
                    found.append(given)
                return at + (not rest)
        if short in shape.loads:
            given = _value(words, at, rest, word)
            if given is not None:
                read.loaded.append(given)
            return at + (not rest)
        if letter in shape.module:
            read.module = _value(words, at, rest, word)
            return at + (not rest)
        if letter in shape.valued:
            return at + (not rest)
    return at
