"""The tree of shell text: what the reader returns and the judge walks.

Every node keeps the span of source it was read from as (start, end) offsets into the text that was read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Span = tuple[int, int]


@dataclass(slots=True)
class Text:
    """Literal characters, with quotes and escapes taken away and ANSI-C escapes decoded."""

    value: str
    quoted: bool = False  # quoted text is neither split nor a glob, and a quoted word is no keyword


@dataclass(slots=True)
class Param:
    """`$name`, `${name}` and its forms; `$1`, `$@`, `$?` have those names."""

    name: str
    # :- - := = :+ + :? ? # ## % %% / // : ^ ^^ , ,, ~ ~~ @ as they stand; "len" for ${#name}; "!" for
    # ${!name}, also before another operator; "!*" and "!@" for the names that begin with it; "bad" for what
    # bash refuses when it gets there (`argument` is all of it), and for words that brace expansion left out
    op: str = ""
    argument: Word | None = None  # what follows the operator, unexpanded; for "/" it holds both halves
    index: Word | None = None  # ${name[index]}
    quoted: bool = False


@dataclass(slots=True)
class Substitution:
    """`$(...)`, backticks, `<(...)`, `>(...)` and `${ ...; }`; kind is "$(", "`", "<(", ">(" or "${"."""

    script: Script
    kind: str
    quoted: bool = False


@dataclass(slots=True)
class Arithmetic:
    """`$((...))`, `$[...]`: its text, and the parts (parameters, substitutions) found inside."""

    text: str
    parts: tuple[Part, ...] = ()
    quoted: bool = False


Part = Text | Param | Substitution | Arithmetic


@dataclass(slots=True)
class Word:
    """One word before expansion. Braces are expanded already: `{a,b}` has become two words."""

    parts: tuple[Part, ...]
    span: Span = (0, 0)

    def literal(self) -> str | None:
        """The text of a word without expansions, quotes removed; None when something would be expanded."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return parts[0].value
        if all(type(part) is Text for part in parts):
            return "".join(part.value for part in parts)  # type: ignore[union-attr]
        return None


@dataclass(slots=True)
class Assignment:
    """`name=value`, `name+=value`, `name[index]=value`, `name=(a b c)`.

    In an array `[key]=value` is one word.
    """

    name: str
    value: Word | None = None
    array: tuple[Word, ...] | None = None
    appends: bool = False
    index: Word | None = None


@dataclass(slots=True)
class HereDocument:
    """A here-document. `word` holds the body; with an unquoted delimiter its expansions are parts of it."""

    body: str
    quoted: bool
    word: Word
    ended: bool = True  # False when the delimiter never came; bash takes the rest of the text


@dataclass(slots=True)
class Redirect:
    """`op` is "<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-" or "<<<"."""

    op: str
    target: Word | None
    fd: str = ""  # "" the default of the operator; else digits or a name from {name}
    document: HereDocument | None = None


@dataclass(slots=True)
class Simple:
    """A simple command: assignments, words and redirections, any of which may be missing.

    Of `declare -a x=(a b)` the array is an assignment, and its name a word. `export X=y` has the word X=y.
    """

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    span: Span = (0, 0)


@dataclass(slots=True)
class Pipeline:
    """Commands joined by | or |& (`joins[i]` stands between commands i and i+1)."""

    commands: tuple[Command, ...]
    joins: tuple[str, ...] = ()
    negated: bool = False
    timed: bool = False
    span: Span = (0, 0)


@dataclass(slots=True)
class Compound:
    """A compound command.

    `kind`: "group" {}, "subshell" (), "if", "while", "until", "for", "for((", "select", "case", "[[", "((",
    "coproc". `bodies`: every list inside, conditions first, in the order of the text. `words`: what for and
    select iterate over, the subject of case, the operands of [[. `name`: the variable of for and select, the
    name of coproc. `patterns`: of case, one tuple of words per body. `parts`: parameters and substitutions
    inside (( )).
    """

    kind: str
    bodies: tuple[Script, ...] = ()
    words: tuple[Word, ...] = ()
    name: str = ""
    patterns: tuple[tuple[Word, ...], ...] = ()
    parts: tuple[Part, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    span: Span = (0, 0)


@dataclass(slots=True)
class Function:
    """A definition; the body runs when the name is called."""

    name: str
    body: Command
    span: Span = (0, 0)


Command = Simple | Pipeline | Compound | Function


@dataclass(slots=True)
class Item:
    """One pipeline of a list and the operator after it: "&&", "||", ";" (newline too), "&", "" at the end.

    A pipeline of a single command, neither negated nor timed, is that command itself.
    """

    command: Command
    after: str = ""


@dataclass(slots=True)
class Script:
    items: tuple[Item, ...] = ()
    span: Span = (0, 0)


@dataclass(slots=True)
class Reading:
    """What the reader made of a text.

    `problem` is empty when all of it was read; else it names the construct that was not understood, and
    `script` holds what came before it. `stopped` says that a limit (length, tokens, depth) ended the reading.
    """

    text: str
    script: Script = field(default_factory=Script)
    problem: str = ""
    at: int = 0
    stopped: bool = False
