"""Interpreters of languages that have no judge of their own: the commands in the strings of their code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..code.spelled_paths import HOME
from ..code.tree_calls import removed
from ..rules.names import names as listed
from ..verdict import Verdict
from . import decode, flows
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

# By program: the options whose value is code. All of them take a script, and most of them one on the input.
_EVALUATES = {
    **dict.fromkeys(("octave", "octave-cli"), "--eval"),
    "julia": "-e -E --eval --print", "elixir": "-e --eval", "erl": "-eval",
    "iex": "-e --eval", "guile": "-c -e", "sbcl": "--eval --load", "clisp": "-x", "ecl": "--eval -eval",
    "groovy": "-e", "gnuplot": "-e", "scala": "-e", "scala-cli": "-e --execute-script", "kotlin": "-e",
    "ghc": "-e", "runghc": "-e", "ocaml": "-e", "swipl": "-g -t", "maxima": "--batch-string", "sage": "-c",
    "matlab": "-r -batch", "racket": "-e", "csi": "-e -eval", "bb": "-e", "clojure": "-e --eval",
    "clj": "-e --eval", "crystal": "eval", "emacs": "--eval --execute -eval -execute",
    "emacsclient": "--eval -e -eval", "nim": "--eval", "janet": "-e", "fennel": "-e",
    "pike": "-e", "jython": "-c", "rdmd": "--eval",
    "newlisp": "-e", "hy": "-c", "gosh": "-e", "mix": "-e --eval", "kotlinc": "-e -expression", "jshell": "",
    "swift": "-e", "tcc": "", "jrunscript": "-e", "v": "-e", "gforth": "-e", "gsi": "-e", "bigloo": "-eval",
    **dict.fromkeys(("scheme", "mit-scheme", "chez", "petite", "utop", "sml", "cling", "gst"), "--eval -e"),
    "poly": "--eval", "fsharpi": "--exec", "kak": "-e", "xcrun": "-e", "root": "-e", "csharp": "-e",
    "amm": "-c --code", "jbang": "-c --code",
}  # fmt: skip
_OPTIONS = {name: listed(text) for name, text in _EVALUATES.items()}
# Words by which code starts a program.
_STARTS = re.compile(
    r"system|shell|\bunix\(|\bdos\(|exec|popen|spawn|\brun\b|run-program|\bcmd\b|:cmd\(|process|syscmd|subprocess|\bsh\b|\.!|qx"
    r"|readpipe|RemoveAll|Command|backtick|`",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[\"'`]")
_QUOTED = {
    '"': re.compile(r"\"((?:\\.|[^\"\\\n])*)\"", re.DOTALL),
    "'": re.compile(r"'((?:\\.|[^'\\\n])*)'", re.DOTALL),
    "`": re.compile(r"`([^`'\n]*)[`']"),
}
# Lines that the prompt of a language gives to a shell: `! command` of gnuplot, `:! command` of GHCi.
_TO_SHELL = re.compile(r"^[ \t]{0,40}:?![ \t]{0,40}(.+)|%sh\{([^}]*)\}", re.MULTILINE)
# Comments of C and its like. Strings come first: what looks like a comment in one stays. What is not closed
# goes to the end, so that no text is searched twice.
_COMMENTS = re.compile(
    r"(?P<string>\"(?:\\[\s\S]|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n]){1,8}'|`[^`]*`?)"
    r"|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|(?<![:\w])//[^\n]*"
)
# Strings in which a quotation mark or a backslash is a letter: code that has one keeps its comments.
_RAW_STRING = re.compile(r"R\"|r#|@\"|\$\"|\"\"\"")
# The home of the user that is put into a string: "rm -rf $(homedir())", "#{System.user_home!()}".
_HOME_PUT_IN = re.compile(rf"(?:\$\(|#\{{|\$\{{|\\\()(?:{HOME.pattern})[)}}]")
LONGEST = 20_000
MOST_TEXTS = 24


def removals(code: str) -> Iterator[str]:
    """The removals of trees that code spells out, as the shell would do them."""
    for path in removed(code):
        yield f"rm -rf -- {as_word(path)}"


def as_word(path: str) -> str:
    """A path of code as a word of the shell: "~" and what a folder holds stay as they are."""
    home = "~" if path == "~" or path.startswith("~/") else ""
    rest, star, _ = path[len(home) :].partition("*")
    slash = "/" if home and rest.startswith("/") else ""
    rest = rest.removeprefix("/") if slash else rest
    return home + slash + (shlex.quote(rest) if rest else "") + star


def texts(code: str) -> Iterator[str]:
    """The shell texts that code of any language may run, and the removals that it spells out."""
    yield from removals(code)
    yield from _strings(code[:LONGEST])


def _strings(code: str) -> Iterator[str]:
    """The strings of code that may be commands, and the strings of a line as the words of one."""
    left = MOST_TEXTS
    for found in _TO_SHELL.finditer(code):
        left -= 1
        yield found[1] or found[2]
        if left <= 0:
            return
    if _STARTS.search(code) is None:
        return
    for line in code.split("\n"):
        strings = [found[1] for found in _quoted(_with_home(line))]
        strings = [_HOME_PUT_IN.sub("~", string.replace('\\"', '"')) for string in strings]
        if 1 < len(strings) <= 12 and any(string[:1] == " " or string[-1:] == " " for string in strings):
            left -= 1
            yield "".join(strings)
        for string in strings:
            if " " in string.strip():
                left -= 1
                yield string
        if 1 < len(strings) <= 12 and all(string and " " not in string for string in strings):
            left -= 1
            yield " ".join(strings)
        if left <= 0:
            return


def _quoted(line: str) -> Iterator[re.Match[str]]:
    """The strings of a line. Where one is never closed, no other in such quotes behind it is."""
    open_to_the_end: set[str] = set()
    at = 0
    while (opening := _OPENING.search(line, at)) is not None:
        quote, at = opening[0], opening.end()
        if quote in open_to_the_end:
            continue
        found = _QUOTED[quote].match(line, opening.start())
        if found is None:
            open_to_the_end.add(quote)
        else:
            yield found
            at = found.end()


def _with_home(line: str) -> str:
    """A line in which the home of the user, where code asks for it beside the strings, is one of them."""
    if "home" not in line.lower() or len(line) > _LONGEST_LINE:
        return line
    pieces, last = [], 0
    for found in _quoted(line):
        outside = line[last : found.start()]
        # The name of the variable is a string itself: getenv("HOME").
        asks = found[1] == "HOME" and (
            before := HOME.search(line, max(0, found.start() - 40), found.end() + 1)
        )
        if asks and before.end() >= found.end():
            outside = line[last : max(last, before.start())]
            pieces += [HOME.sub('"~"', outside), '"~"']
        else:
            pieces += [HOME.sub('"~"', outside), found[0]]
        last = found.end()
    return "".join([*pieces, HOME.sub('"~"', line[last:])])


_LONGEST_LINE = 2_000


def without_comments(code: str) -> str:
    """Code of a language like C without its comments."""
    if _RAW_STRING.search(code):
        return code
    return _COMMENTS.sub(lambda match: (match["string"] or " ").replace("\\\n", ""), code[:LONGEST])


# Code that does nothing but print a text.
_PRINTS = re.compile(
    r"[\s(]*(?:princ|prin1|println!?|print_string|print_endline|prints?f?|displayln|display|disp|puts|putStrLn|putStr"
    r"|IO\.puts|IO\.write|io:format|io:fwrite|io:put_chars|write-string|writeln|write|say"
    r"|System\.out\.println?)[\s(]*\"(?P<text>(?:[^\"\\~%$#]|\\[nt\\\"]|~n|~(?=[/\s\"]))*)\"[\s)]*[;.]?"
    r"(?:[\s,]*(?:halt|init:stop)\(\)[\s.]*)?"
)


def printed(text: Arg) -> Stream | None:
    """What code of one statement prints, which is a text; None for other code."""
    found = _PRINTS.fullmatch(text.text[:LONGEST])
    if found is None:
        return None
    said = decode.escapes(found["text"].replace("~n", "\n")).rstrip("\n") + "\n"
    return Stream(said, True, text.taint, text.source)


def code(walk: Walk, text: Arg) -> None:
    """Judge the commands in code of a language without a judge."""
    for command in _strings(text.text[:LONGEST]):
        # A string may as well be data: what must never run is not written down for fun beside `system`.
        walk.findings.extend(found for found in walk.captured(command) if found.verdict == Verdict.BLOCK)
    for command in removals(text.text):
        walk.findings.extend(walk.captured(command))


def run(walk: Walk, call: Invocation) -> Stream | None:
    """Code in an option, in a script of this line, or on the input."""
    words = call.argv[1:]
    wanted = _OPTIONS[call.name]
    given = False
    output: list[Stream | None] = []
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=" if ":" not in word.text[:12] else ":")
        if name in wanted and (equals or at + 1 < len(words)):
            given = True
            source = Arg(value, False, word.taint, word.source) if equals else words[at + 1]
            code(walk, source)
            output.append(printed(source))
        elif word.text[:1] == "(" and word.text[-1:] == ")" and (not at or words[at - 1].text[:1] != "-"):
            given = True
            code(walk, word)
        elif word.text and word.text[0] != "-" and walk.state.files:
            held = flows.file_stream(walk, word.text)
            if held.text is not None:
                code(walk, Arg(held.text, False, held.taint, held.source))
    if not given and call.stdin.text:
        source = Arg(call.stdin.text, False, call.stdin.taint, call.stdin.source)
        code(walk, source)
        output.append(printed(source))
    return output[0] if len(output) == 1 else None


HANDLERS = dict.fromkeys(_EVALUATES, run)
