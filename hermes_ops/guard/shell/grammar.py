"""Lists, pipelines, simple commands and redirections."""

from __future__ import annotations

import re

from .braces import braced
from .expansions import enclosed, merged, unclosed
from .here_documents import begin, gather
from .source import Exhausted, Source, Unreadable
from .tokens import (
    AFTER,
    ASSIGNED,
    CLOSER,
    CONTROL,
    DOUBLE,
    EMPTY_PARENTHESES,
    GAP,
    LINE_GAP,
    NEGATION,
    PIECEWISE,
    PIPE,
    PLAIN,
    REDIRECTION,
    SINGLE,
    TIME,
    TIME_OPTION,
    TOKEN,
)
from .tree import Assignment, Command, Function, Item, Part, Pipeline, Redirect, Script, Simple, Text, Word
from .words import pieces

# Commands that take `name=(a b)` among their arguments.
_NOTHING = re.compile(r"[\n;]|&(?!>)|\Z")
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly", "alias", "eval", "let"))


def gap(source: Source, pos: int) -> int:
    """Skip blanks, comments and newlines, and the bodies of here-documents that were begun."""
    while source.pending:
        pos = LINE_GAP.match(source.text, pos).end()  # type: ignore[union-attr]
        if not source.text.startswith("\n", pos):
            break
        pos = gather(source, pos + 1)
    else:
        pos = GAP.match(source.text, pos).end()  # type: ignore[union-attr]
    if source.folds:
        source.unfold(pos)
    return pos


def script(source: Source, pos: int, items: list[Item] | None = None) -> tuple[Script, int]:
    """Read a list up to what cannot go on with it: the end, `)`, `;;`, or a keyword like `then` or `done`."""
    items = [] if items is None else items
    pos = gap(source, pos)
    start, required = pos, ""
    while True:
        text = source.text
        if pos >= len(text):
            break
        sign = text[pos]
        if sign == ")" or sign == ";" or (sign in "tefd}" and CLOSER.match(text, pos)):
            break
        if pos > source.limit:
            raise Exhausted("too long")
        source.spend(1)
        command, pos = pipeline(source, pos)
        if source.folds:
            source.unfold(pos)
        match = AFTER.match(source.text, pos)
        assert match
        after = match[1] or ""
        if after == "\n":
            items.append(Item(command, ";"))
            pos = gap(source, match.start(1))
            required = ""
        elif after:
            items.append(Item(command, after))
            pos = gap(source, match.end())
            required = after if len(after) == 2 else ""
        else:
            items.append(Item(command, ""))
            pos = match.end()
            required = ""
            break
    if required:
        raise Unreadable(f"a {required} with no command after it", pos)
    if (
        pos < len(source.text)
        and source.text[pos] == ";"
        and source.text[pos + 1 : pos + 2] not in (";", "&")
    ):
        raise Unreadable("an unexpected `;`", pos)
    return Script(tuple(items), (start, pos)), pos


def pipeline(source: Source, pos: int) -> tuple[Command, int]:
    """Read commands joined by `|`, with `!` and `time` before them. A single command comes as it is."""
    start, negated, timed = pos, False, False
    while True:
        text = source.text
        sign = text[pos : pos + 1]
        if sign == "!" and (match := NEGATION.match(text, pos)):
            negated = not negated
        elif sign == "t" and (match := TIME.match(text, pos)):
            timed = True
        elif not (timed and sign == "-" and (match := TIME_OPTION.match(text, pos))):
            break
        source.spend(1)
        pos = LINE_GAP.match(text, match.end()).end()  # type: ignore[union-attr]
        if source.folds:
            source.unfold(pos)
    if pos > start and _NOTHING.match(source.text, pos):
        return Pipeline((Simple((), span=(pos, pos)),), (), negated, timed, (start, pos)), pos
    command, end = source.command(source, pos)
    if source.folds:
        source.unfold(end)
    match = PIPE.match(source.text, end)
    if match is None:
        if pos == start:
            return command, end
        return Pipeline((command,), (), negated, timed, (start, end)), end
    commands, joins = [command], []
    while match is not None:
        joins.append(match[1])
        pos = gap(source, match.end())
        if pos >= len(source.text):
            raise Unreadable("a | with no command after it", pos)
        source.spend(1)
        command, end = source.command(source, pos)
        commands.append(command)
        if source.folds:
            source.unfold(end)
        match = PIPE.match(source.text, end)
    return Pipeline(tuple(commands), tuple(joins), negated, timed, (start, end)), end


def simple(source: Source, pos: int) -> tuple[Command, int]:
    """Read a simple command; or a function definition `name() ...`."""
    text = source.text
    words: list[Word] = []
    assignments: list[Assignment] = []
    redirects: list[Redirect] = []
    declares = False
    match = TOKEN.match(text, pos)
    assert match
    start = end = match.start(match.lastindex)  # type: ignore[arg-type]
    for taken in range(2 * source.steps + 1):  # noqa: B007
        kind = match.lastindex
        if kind == PLAIN:
            value = match[1]
            if not words and ("=" in value or "[" in value) and ASSIGNED.match(value):
                end = _assigned(source, match.start(1), words, assignments)
                text = source.text
            else:
                if "{" in value:
                    words += braced(source, (Text(value),), match.span(1))
                else:
                    words.append(Word((Text(value),), match.span(1)))
                if len(words) == 1:
                    declares = value in _DECLARES
                end = match.end()
        elif kind == SINGLE:
            words.append(Word((Text(match[2], True),), (match.start(2) - 1, match.end())))
            end = match.end()
        elif kind == DOUBLE:
            words.append(Word((Text(match[3], True),), (match.start(3) - 1, match.end())))
            end = match.end()
        elif kind == CONTROL:
            if match[6] == "(":
                if len(words) == 1 and not assignments and not redirects:
                    return _function(source, words[0], start, match.start(6))
                raise Unreadable("an unexpected `(`", match.start(6))
            break
        elif kind == REDIRECTION:
            if source.folds and text.startswith("\\\n", match.end()):
                source.join(match.end())
                text = source.text
                match = TOKEN.match(text, match.start())
                assert match
                continue
            redirect, end = redirection(source, match.start(5) - len(match[4] or ""))
            redirects.append(redirect)
            text = source.text
        else:
            end = match.end()
            if source.folds:
                source.unfold(end)
                text = source.text
                match = TOKEN.match(text, end)
                assert match
                if match.lastindex != PIECEWISE:
                    continue
            if (not words or declares) and (
                (begins := ASSIGNED.match(text, end))
                and (not words or (begins[2] and text.startswith("(", begins.end())))
            ):
                end = _assigned(source, end, words, assignments)
            else:
                at = end
                parts: list[Part] = []
                end = pieces(source, at, parts)
                _add(source, words, parts, at, end)
            text = source.text
        match = TOKEN.match(text, end)
        assert match
    else:
        raise Exhausted("too many words")
    source.spend(taken // 2)
    if start == end:
        raise unclosed(source, "a missing command", start, start)
    return Simple(tuple(words), tuple(assignments), tuple(redirects), (start, end)), end


def _add(source: Source, words: list[Word], parts: list[Part], start: int, end: int) -> None:
    if any(type(part) is Text and not part.quoted and "{" in part.value for part in parts):
        words += braced(source, tuple(parts), (start, end))
    else:
        words.append(Word(tuple(parts), (start, end)))


def word(source: Source, pos: int, what: str) -> tuple[Word, int]:
    """Read one word, without brace expansion. `what` is said to be wrong where the text ends instead."""
    if source.folds:
        pos = LINE_GAP.match(source.text, pos).end()  # type: ignore[union-attr]
        source.unfold(pos)
    match = TOKEN.match(source.text, pos)
    assert match
    kind = match.lastindex
    if kind == PLAIN:
        return Word((Text(match[1]),), match.span(1)), match.end()
    if kind in (SINGLE, DOUBLE):
        return Word((Text(match[kind], True),), (match.start(kind) - 1, match.end())), match.end()
    start = match.end()
    if kind == PIECEWISE:
        parts: list[Part] = []
        end = pieces(source, start, parts)
        if end > start:
            return Word(tuple(parts), (start, end)), end
    raise unclosed(source, what, match.start(kind), match.start(kind))  # type: ignore[arg-type]


def words_until_newline(source: Source, pos: int) -> tuple[tuple[Word, ...], int]:
    """Read words, with brace expansion, up to an operator or a newline."""
    words: list[Word] = []
    for _ in range(source.steps + 1):
        match = TOKEN.match(source.text, pos)
        assert match
        if match.lastindex in (REDIRECTION, CONTROL):
            break
        one, pos = word(source, pos, "a missing word")
        _add(source, words, list(one.parts), *one.span)
    else:
        raise Exhausted("too many words")
    source.spend(len(words))
    return tuple(words), pos


def redirection(source: Source, pos: int) -> tuple[Redirect, int]:
    """Read the redirection at `pos`."""
    match = TOKEN.match(source.text, pos)
    assert match
    source.spend(2)
    op, fd = match[5], match[4] or ""
    after = TOKEN.match(source.text, match.end())
    if after and after[4] and op in ("<&", ">&"):
        # A number may stand right before the next redirection.
        end = after.end(4)
        return Redirect(op, Word((Text(after[4]),), after.span(4)), fd.strip("{}")), end
    target, end = word(source, match.end(), f"a {op} without a target")
    document = None
    if op == "<<" or op == "<<-":
        document = begin(source, op, target.parts, source.text[target.span[0] : target.span[1]])
    return Redirect(op, target, fd.strip("{}"), document), end


def redirections(source: Source, pos: int) -> tuple[tuple[Redirect, ...], int]:
    """Read the redirections that follow a compound command."""
    found: list[Redirect] = []
    while True:
        if source.folds:
            pos = LINE_GAP.match(source.text, pos).end()  # type: ignore[union-attr]
            source.unfold(pos)
        match = TOKEN.match(source.text, pos)
        assert match
        if match.lastindex != REDIRECTION:
            return tuple(found), pos
        source.spend(1)
        redirect, pos = redirection(source, match.start(5) - len(match[4] or ""))
        found.append(redirect)


def _assigned(source: Source, pos: int, words: list[Word], assignments: list[Assignment]) -> int:
    """Read the assignment at `pos`; or the word, where `name[...]` is followed by no `=`."""
    match = ASSIGNED.match(source.text, pos)
    assert match
    name, end, index, sign = match[1], match.end(), None, match[2]
    if match[3]:
        inner: list[Part] = []
        end = enclosed(source, end, "]", False, inner)
        text = source.text
        index = Word(merged(inner), (match.end(), end - 1))
        sign = "+=" if text.startswith("+=", end) else "=" if text.startswith("=", end) else ""
        if not sign:
            parts: list[Part] = [Text(f"{name}["), *inner, Text("]")]
            after = pieces(source, end, parts)
            _add(source, words, list(merged(parts)), pos, after)
            return after
        end += len(sign)
    appends = sign == "+="
    if source.text.startswith("(", end):
        array, after = _array(source, end + 1)
        assignments.append(Assignment(name, None, array, appends, index))
        written = Text(source.text[end:after], True)
        rest: list[Part] = []
        end, after = after, pieces(source, after, rest)
        if after > end:
            # `name=(a)b` is a string; what the parentheses hold is expanded all the same.
            text = Word((written, *rest), (pos, after))
            assignments.append(Assignment(name, text, None, appends, index))
        if words:
            words.append(Word((Text(name),), (pos, after)))
        return after
    value: list[Part] = []
    after = pieces(source, end, value)
    assignments.append(Assignment(name, Word(tuple(value), (end, after)), None, appends, index))
    return after


def _array(source: Source, pos: int) -> tuple[tuple[Word, ...], int]:
    """Read the words of `name=( ... )` from behind the parenthesis; `[index]=value` stays one word."""
    words: list[Word] = []
    for _ in range(source.steps + 1):
        source.spend(1)
        pos = gap(source, pos)
        text = source.text
        sign = text[pos : pos + 1]
        if sign == ")":
            break
        if sign == "[":
            parts: list[Part] = []
            end = enclosed(source, pos + 1, "]", False, parts)
            parts = [Text("["), *parts, Text("]")]
            end = pieces(source, end, parts)
            words.append(Word(merged(parts), (pos, end)))
            pos = end
            continue
        one, pos = word(source, pos, "an array that is never closed")
        _add(source, words, list(one.parts), *one.span)
    else:
        raise Exhausted("too many words")
    source.spend(len(words))
    return tuple(words), pos + 1


def _function(source: Source, name: Word, start: int, pos: int) -> tuple[Command, int]:
    if source.folds:
        source.unfold(pos)
    match = EMPTY_PARENTHESES.match(source.text, pos)
    if not match:
        raise Unreadable("an unexpected `(`", pos)
    literal = name.literal()
    if literal is None:
        literal = source.text[name.span[0] : name.span[1]]
    return function_body(source, literal, start, match.end())


def function_body(source: Source, name: str, start: int, pos: int) -> tuple[Command, int]:
    """Read the compound command that is the body of a function."""
    source.enter()
    at = gap(source, pos)
    body, end = source.command(source, at)
    if type(body) is Simple or type(body) is Function:
        raise Unreadable(f"a function ({name[:40]}) whose body is no compound command", at)
    source.depth += 1
    return Function(name, body, (start, end)), end
