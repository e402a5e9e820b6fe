"""Quotes, parameters and substitutions: everything in a word that is not plain text."""

from __future__ import annotations

import re

from .arithmetic import closing
from .escapes import ansi_c
from .source import Exhausted, Source, Unreadable
from .spans import shift
from .tokens import DOCUMENT, ENDS, NAME, QUOTED
from .tree import Arithmetic, Item, Param, Part, Script, Span, Substitution, Text, Word

_ANSI_C = re.compile(r"\$'([^'\\]*(?:\\[\s\S][^'\\]*)*)'")
_BACKQUOTED = re.compile(r"`([^`\\]*(?:\\[\s\S][^`\\]*)*)`")
_IN_BACKQUOTES = re.compile(r"\\([\\`$])")
_IN_QUOTED_BACKQUOTES = re.compile(r"\\([\\`$\"])")
_PARAMETER = re.compile(rf"\$({NAME}|[0-9@*#?$!-])")
_NAMES = rf"{NAME}|[0-9]+|[@*#?$!-]"
_LENGTH = re.compile(rf"\$\{{#({_NAMES})(?=[}}\[])")
_HEAD = re.compile(rf"\$\{{(!(?=[A-Za-z_0-9@*#?]))?({_NAMES})")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?|//?|\^\^?|,,?|~~?|@(?=[A-Za-z]\})|:|\*(?=\})|@(?=\})|(?=\})")
# What ends the plain text in ${name...}, in [...] and in $[...]; inside double quotes a single quote is text.
_UNTIL = {
    "}": re.compile(r"[^}'\"`$\\<>]+"),
    "]": re.compile(r"[^\]\['\"`$\\<>]+"),
    "]}": re.compile(r"[^}\]\['\"`$\\<>]+"),
}
_ESCAPED_IN_QUOTES = ("$", "`", '"', "\\", "\n", "}")
_CUT_HEAD = re.compile(r"[A-Za-z0-9_@*#?$!:=+^,~%/-]*(?=\\\n)")
_TOKEN = re.compile(r"[;&|()<>]+|[^\s;&|()<>]+")
_EXPANDS = re.compile(r"[$`\\]")


def special(source: Source, pos: int, parts: list[Part]) -> int:
    """Read the piece that begins with the quote, `$`, backquote or angle bracket at `pos` into `parts`.

    Gives where it ends: `pos` itself when there is no piece, because the word ends there.
    """
    text = source.text
    sign = text[pos]
    if sign in "$<>" and text.startswith("\\\n", pos + 1):
        source.join(pos + 1)
        return special(source, pos, parts)
    if sign == "$":
        if text.startswith("'", pos + 1):
            return _ansi_c_quoted(source, pos, parts)
        if text.startswith('"', pos + 1):
            return double_quoted(source, pos + 2, parts)
        return dollar(source, pos, parts, False)
    if sign == '"':
        return double_quoted(source, pos + 1, parts)
    if sign == "`":
        return _backquoted(source, pos, parts, False)
    if sign == "<" or sign == ">":
        return (
            substitution(source, pos + 2, sign + "(", False, parts) if text[pos + 1 : pos + 2] == "(" else pos
        )
    if sign == "'":
        end = text.find("'", pos + 1)
        if end < 0:
            raise Unreadable("a single quote that is never closed", pos)
        parts.append(Text(text[pos + 1 : end], True))
        return end + 1
    if text.startswith("\n", pos + 1):
        return pos + 2
    parts.append(Text(text[pos + 1 : pos + 2] or "\\", True))
    return min(pos + 2, len(text))


def _ansi_c_quoted(source: Source, pos: int, parts: list[Part]) -> int:
    match = _ANSI_C.match(source.text, pos)
    if not match:
        raise Unreadable("a $' quote that is never closed", pos)
    parts.append(Text(ansi_c(match[1]) if "\\" in match[1] else match[1], True))
    return match.end()


def double_quoted(source: Source, pos: int, parts: list[Part]) -> int:
    """Read from behind the opening double quote into `parts`; gives where the closing one ends."""
    already = len(parts)
    end = expanded(source, pos, parts, QUOTED)
    if end < 0:
        raise Unreadable("a double quote that is never closed", pos)
    if len(parts) == already:
        parts.append(Text("", True))
    return end


def expanded(source: Source, pos: int, parts: list[Part], pattern: re.Pattern[str]) -> int:
    """Read text with expansions but without words: pattern QUOTED or DOCUMENT. -1 when its end is missing."""
    text = source.text
    literal: list[str] = []
    for taken in range(source.steps + 1):  # noqa: B007
        match = pattern.match(text, pos)
        if match is None:
            return -1
        kind = match.lastindex
        pos = match.end()
        if kind == 1 or kind == 6:
            literal.append(match[kind])
            continue
        if kind == 5:
            continue
        if kind == 7 and match[7] == "\\":
            literal.append("\\")
            continue
        if literal:
            parts.append(Text("".join(literal), True))
            literal = []
        if kind == ENDS:
            break
        if kind == 7:
            pos = match.start()
            if match[7] == "`":
                pos = _backquoted(source, pos, parts, True)
            else:
                pos = dollar(source, pos, parts, True)
            text = source.text
        elif kind == 3 and text.startswith("\\\n", pos):
            source.join(pos)
            text = source.text
            pos = match.start()
        else:
            parts.append(Param(match[kind], quoted=True))
    else:
        raise Exhausted("too many words")
    source.spend(taken)
    return pos


def dollar(source: Source, pos: int, parts: list[Part], quoted: bool) -> int:
    """Read what begins with the `$` at `pos`, except $'...' and $"...": a lone one is text."""
    text = source.text
    while text.startswith("\\\n", pos + 1):
        source.join(pos + 1)
        text = source.text
    sign = text[pos + 1 : pos + 2]
    if sign == "(":
        while text.startswith("\\\n", pos + 2):
            source.join(pos + 2)
            text = source.text
        if text.startswith("(", pos + 2):
            return _double_parenthesis(source, pos + 1, quoted, parts)
        return substitution(source, pos + 2, "$(", quoted, parts)
    if sign == "{":
        return _parameter(source, pos, parts, quoted)
    if sign == "[":
        inner: list[Part] = []
        start = pos + 2
        pos = enclosed(source, start, "]", True, inner)
        parts.append(Arithmetic(source.text[start : pos - 1], _without_text(inner), quoted))
        return pos
    match = _PARAMETER.match(text, pos)
    if match:
        while text.startswith("\\\n", match.end()) and match[1].isidentifier():
            source.join(match.end())
            text = source.text
            match = _PARAMETER.match(text, pos)
            assert match
        parts.append(Param(match[1], quoted=quoted))
        return match.end()
    parts.append(Text("$", quoted))
    return pos + 1


def _double_parenthesis(source: Source, pos: int, quoted: bool, parts: list[Part]) -> int:
    """Read `((...))` behind a `$` at `pos`: arithmetic, or a substitution that begins with a subshell.

    Which of them it is bash sees when it gets there, so one that cannot be read is no error before.
    """
    end = closing(source, pos)
    if end >= 0:
        part, end = arithmetic(source, pos + 2, end, quoted)
        parts.append(part)
        return end + 2
    state = source.state()
    try:
        return substitution(source, pos + 1, "$(", quoted, parts)
    except Unreadable as error:
        closing(source, pos)
        end = source.parens.get(pos, -1)
        if end < 0:
            raise
        source.restore(state)
        source.inside.append(Unreadable(f"in a substitution, {error.what}", pos))
        return end + 1


def substitution(source: Source, pos: int, kind: str, quoted: bool, parts: list[Part]) -> int:
    """Read `$(...)`, `<(...)`, `>(...)` from behind the parenthesis, or `${ ...; }` from behind the brace."""
    source.enter()
    source.spend(2)
    pending, begun, start = source.pending, source.begun, pos
    source.pending, source.begun = [], 0
    source.substituted += 1
    script, pos = source.script(source, pos)
    closer = "}" if kind == "${" else ")"
    if not source.text.startswith(closer, pos):
        raise unclosed(source, f"a {kind} that is never closed", start, pos)
    # The body of a here-document that was begun but not given inside comes after the line all this stands in.
    late = source.pending
    pending[begun:begun] = late
    source.pending, source.begun = pending, begun + len(late)
    source.substituted -= 1
    source.depth += 1
    parts.append(Substitution(script, kind, quoted))
    return pos + 1


def unclosed(source: Source, at_end: str, start: int, pos: int) -> Unreadable:
    """The error of something that is not there at `pos`: `at_end` names it, where the text just ends."""
    if pos >= len(source.text):
        return Unreadable(at_end, start)
    found = _TOKEN.match(source.text, pos)
    return Unreadable(f"an unexpected `{found[0][:20] if found else source.text[pos]}`", pos)


def _backquoted(source: Source, pos: int, parts: list[Part], quoted: bool) -> int:
    match = _BACKQUOTED.match(source.text, pos)
    if not match:
        raise Unreadable("a backquote that is never closed", pos)
    inner = match[1]
    exact = "\\" not in inner
    if not exact:
        inner = (_IN_QUOTED_BACKQUOTES if quoted else _IN_BACKQUOTES).sub(r"\1", inner)
    source.enter()
    source.spend(3)
    piece = source.part(inner)
    items: list[Item] = []
    error = None
    try:
        _, end = piece.script(piece, 0, items)
        if end < len(piece.text):
            error = unclosed(piece, "a command", 0, end)
    except Unreadable as raised:
        error = raised
    script = Script(tuple(items), (0, len(piece.text)))
    source.absorb(piece, pos, error, "in backquotes")
    source.depth += 1
    shift(script, piece, match.start(1), None if exact and not piece.cuts else match.span(1))
    parts.append(Substitution(script, "`", quoted))
    return match.end()


def arithmetic(source: Source, pos: int, end: int, quoted: bool) -> tuple[Arithmetic, int]:
    """Read the expansions of an arithmetic expression from `pos` to `end`; gives where `end` is now.

    Quotes protect nothing there.
    """
    start, inner = pos, []
    text = source.text
    while match := _EXPANDS.search(text, pos, end):
        pos = match.end()
        if match[0] == "\\":
            pos += 1
            continue
        source.spend(1)
        state = source.state()
        try:
            pos = (dollar if match[0] == "$" else _backquoted)(source, match.start(), inner, True)
        except Unreadable as error:
            # bash looks into it only when it gets there.
            source.restore(state)
            source.inside.append(Unreadable(f"in arithmetic, {error.what}", start))
            pos = len(source.text)
        end -= len(text) - len(source.text)
        text = source.text
    return Arithmetic(text[start:end].replace("\\\n", ""), _without_text(inner), quoted), end


def enclosed(
    source: Source, pos: int, close: str, quoted: bool, parts: list[Part], single: str = "quotes"
) -> int:
    """Read up to one of the signs in `close` and past it; blanks and operators are text.

    `close` is "}", or "]" for what stands in square brackets, which nest; "]}" where a brace ends that too.
    `single` says what single quotes are: "quotes"; "text", in the default value of a parameter between double
    quotes; or, in what is "evaluated" as arithmetic, as an index is, a way to hide `close` and no more.
    """
    source.enter()
    start, nested, is_index = pos, 0, close[0] == "]"
    if is_index:
        single = "evaluated"
    text, plain = source.text, _UNTIL[close]
    for taken in range(source.steps + 1):  # noqa: B007
        match = plain.match(text, pos)
        if match:
            parts.append(Text(match[0], quoted))
            pos = match.end()
        sign = text[pos : pos + 1]
        if sign == "":
            raise Unreadable(f"a {'[' if is_index else '${'} that is never closed", start)
        if sign in close and (sign == "}" or not nested):
            pos += 1
            break
        is_text = (
            sign in "[]" or (sign == "'" and single == "text") or (sign in "<>" and (quoted or is_index))
        )
        if sign == "'" and single == "evaluated":
            pos = _evaluated(source, pos, parts)
        elif is_text:
            nested += {"[": 1, "]": -1}.get(sign, 0)
            parts.append(Text(sign, quoted))
            pos += 1
        elif sign == "\\" and quoted and text[pos + 1 : pos + 2] not in _ESCAPED_IN_QUOTES:
            parts.append(Text("\\", True))
            pos += 1
        elif sign == "`" or (sign == "$" and (quoted or text[pos + 1 : pos + 2] not in ("'", '"'))):
            pos = (_backquoted if sign == "`" else dollar)(source, pos, parts, quoted)
        else:
            after = special(source, pos, parts)
            if after == pos:
                parts.append(Text(sign, quoted))
                after += 1
            pos = after
        text = source.text
    else:
        raise Exhausted("too many words")
    source.spend(taken)
    source.depth += 1
    return pos


def _evaluated(source: Source, pos: int, parts: list[Part]) -> int:
    """Read single quotes in arithmetic: what stands between them is expanded all the same."""
    end = source.text.find("'", pos + 1)
    if end < 0:
        raise Unreadable("a single quote that is never closed", pos)
    parts += piece(source, source.text[pos + 1 : end], (pos + 1, end), "in arithmetic")
    return end + 1


def piece(source: Source, text: str, span: Span, where: str) -> tuple[Part, ...]:
    """The parts of a text that is expanded as between double quotes, and stands at `span`.

    bash reads it only when it gets there: what is wrong in it is said to be `where`.
    """
    if not _EXPANDS.search(text):
        return (Text(text, True),)
    source.spend(4 + len(text) // 400)
    inner = source.part(text)
    parts: list[Part] = []
    wrong = None
    try:
        expanded(inner, 0, parts, DOCUMENT)
    except Unreadable as error:
        wrong = error
    source.absorb(inner, span[0], wrong, where)
    word = Word(tuple(parts), (0, 0))
    shift(word, inner, span[0], span if inner.cuts or len(text) != span[1] - span[0] else None)
    return word.parts


def _parameter(source: Source, pos: int, parts: list[Part], quoted: bool) -> int:
    """Read `${...}` from its `$`."""
    text = source.text
    while source.folds and (cut := _CUT_HEAD.match(text, pos + 2)):
        source.join(cut.end())
        text = source.text
    if text[pos + 2 : pos + 3] in (" ", "\t", "\n", "|"):
        return substitution(source, pos + 3, "${", quoted, parts)
    length = _LENGTH.match(text, pos)
    head = length or _HEAD.match(text, pos)
    if not head:
        return _bad(source, pos, parts, quoted)
    name, indirect = (head[1], False) if length else (head[2], bool(head[1]))
    end, index = head.end(), None
    if text.startswith("[", end):
        inner: list[Part] = []
        start, end = end + 1, enclosed(source, end + 1, "]}", quoted, inner)
        text = source.text
        if text[end - 1] == "}":
            parts.append(Param("", "bad", Word(merged(inner), (start, end - 1)), None, quoted))
            return end
        index = Word(merged(inner), (start, end - 1))
        while source.folds and (cut := _CUT_HEAD.match(text, end)):
            source.join(cut.end())
            text = source.text
    operator = _OPERATOR.match(text, end)
    if not operator or (length and not text.startswith("}", end)):
        return _bad(source, pos, parts, quoted)
    op = "len" if length else ("!" if indirect else "") + operator[0]
    end = operator.end()
    if text.startswith("}", end):
        argument = Word((), (end, end)) if operator[0] and operator[0] not in "*@" else None
        parts.append(Param(name, op, argument, index, quoted))
        return end + 1
    inner = []
    # In the patterns of # % / ^ , single quotes quote even between double quotes.
    single = "text" if quoted and operator[0][0] not in "#%/^,~" else "quotes"
    if operator[0] == ":":
        single = "evaluated"
    start, end = end, enclosed(source, end, "}", quoted, inner, single)
    parts.append(Param(name, op, Word(merged(inner), (start, end - 1)), index, quoted))
    return end


def _bad(source: Source, pos: int, parts: list[Part], quoted: bool) -> int:
    inner: list[Part] = []
    end = enclosed(source, pos + 2, "}", quoted, inner)
    parts.append(Param("", "bad", Word(merged(inner), (pos + 2, end - 1)), None, quoted))
    return end


def merged(parts: list[Part]) -> tuple[Part, ...]:
    """Parts with literal neighbours of one kind made one."""
    whole: list[Part] = []
    for part in parts:
        last = whole[-1] if whole else None
        if type(part) is Text and type(last) is Text and part.quoted == last.quoted:
            last.value += part.value
        else:
            whole.append(part)
    return tuple(whole)


def _without_text(parts: list[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if type(part) is not Text)
