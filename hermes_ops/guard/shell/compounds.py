"""Compound commands: groups, subshells, if, loops, case, [[ ]], (( )), coproc, and `function`."""

from __future__ import annotations

import re
from collections.abc import Callable

from .arithmetic import closing
from .conditions import condition
from .expansions import arithmetic, unclosed
from .grammar import function_body, gap, redirections, simple, word, words_until_newline
from .source import Source, Unreadable
from .tokens import CONTROL, EMPTY_PARENTHESES, LINE_GAP, PIECEWISE, PLAIN, TOKEN
from .tree import Command, Compound, Item, Param, Script, Word

_ENDS = r"(?=[ \t\n;&|<>()]|\Z)"
_WORD_ENDS = re.compile(_ENDS)
_IN = re.compile("in" + _ENDS)
_ESAC = re.compile("esac" + _ENDS)
# What for and select go through where no words are given.
_ARGUMENTS = Word((Param("@", quoted=True),))
_CLAUSE_END = re.compile(r";;&|;;|;&")


def command(source: Source, pos: int) -> tuple[Command, int]:
    """Read one command with its redirections: compound, function definition, or simple."""
    text = source.text
    match = TOKEN.match(text, pos)
    assert match
    kind = match.lastindex
    if kind == PLAIN:
        handler = _KEYWORDS.get(match[1])
        if handler is None:
            return simple(source, pos)
        source.enter()
        source.spend(2)
        found, end = handler(source, match.start(1), match.end())
    elif kind == CONTROL and match[6] == "(":
        source.enter()
        found, end = _parenthesis(source, match.start(6))
    elif kind == PIECEWISE and (keyword := _CUT_KEYWORD.match(text, match.end())):
        # `while(` and the like: a keyword right before a parenthesis or a redirection.
        source.enter()
        found, end = _KEYWORDS[keyword[0]](source, keyword.start(), keyword.end())
    else:
        return simple(source, pos)
    source.depth += 1
    if type(found) is Compound:
        found.redirects, end = redirections(source, end)
        found.span = (found.span[0], end)
    return found, end


def _list(source: Source, pos: int, what: str) -> tuple[Script, int]:
    """A list that must hold a command."""
    script, pos = source.script(source, pos)
    if not script.items:
        raise unclosed(source, f"{what} without a command", pos, pos)
    return script, pos


def _expect(source: Source, pos: int, token: str, what: str) -> int:
    """Where `token` ends, which must come next."""
    pos = gap(source, pos)
    text = source.text
    end = pos + len(token)
    if not text.startswith(token, pos) or (token != ")" and not _WORD_ENDS.match(text, end)):
        raise unclosed(source, f"{what} without `{token}`", pos, pos)
    return end


def _parenthesis(source: Source, start: int) -> tuple[Compound, int]:
    if source.folds:
        source.unfold(start)
    if source.text.startswith("((", start):
        end = closing(source, start)
        if end >= 0:
            found, end = arithmetic(source, start + 2, end, False)
            return Compound("((", parts=found.parts, span=(start, end + 2)), end + 2
    body, pos = _list(source, start + 1, "a subshell")
    end = _expect(source, pos, ")", "a (")
    return Compound("subshell", (body,), span=(start, end)), end


def _group(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    body, pos = _list(source, pos, "a {")
    end = _expect(source, pos, "}", "a {")
    return Compound("group", (body,), span=(start, end)), end


def _if(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    bodies: list[Script] = []
    while True:
        test, pos = _list(source, pos, "an if")
        pos = _expect(source, pos, "then", "an if")
        body, pos = _list(source, pos, "an if")
        bodies += (test, body)
        if source.text.startswith("elif", pos):
            pos = _expect(source, pos, "elif", "an if")
            continue
        if source.text.startswith("else", pos):
            body, pos = _list(source, pos + 4, "an else")
            bodies.append(body)
        end = _expect(source, pos, "fi", "an if")
        return Compound("if", tuple(bodies), span=(start, end)), end


def _loop(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    kind = source.text[start : start + 5]
    test, pos = _list(source, pos, f"a {kind}")
    body, end = _do(source, pos, kind)
    return Compound(kind, (test, body), span=(start, end)), end


def _do(source: Source, pos: int, kind: str) -> tuple[Script, int]:
    """The body of a loop: do ... done, or in braces after for and select."""
    pos = gap(source, pos)
    if kind in ("for", "select") and source.text.startswith("{", pos):
        body, pos = _list(source, _expect(source, pos, "{", kind), f"a {kind}")
        return body, _expect(source, pos, "}", f"a {kind}")
    body, pos = _list(source, _expect(source, pos, "do", f"a {kind}"), f"a {kind}")
    return body, _expect(source, pos, "done", f"a {kind}")


def _for(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    kind = "for" if source.text.startswith("for", start) else "select"
    pos = gap(source, pos) if source.folds else pos
    match = TOKEN.match(source.text, pos)
    assert match
    if kind == "for" and match[6] == "(":
        return _arithmetic_for(source, start, match.start(6))
    name, pos = word(source, pos, f"a {kind} without a variable")
    words: tuple[Word, ...] = (_ARGUMENTS,)
    pos = gap(source, pos)
    if _IN.match(source.text, pos):
        words, pos = words_until_newline(source, pos + 2)
        pos = _blanks(source, pos)
        if source.text[pos : pos + 1] not in (";", "\n"):
            raise unclosed(source, f"a {kind} without `do`", pos, pos)
    if source.text.startswith(";", pos):
        pos += 1
    body, end = _do(source, pos, kind)
    return Compound(kind, (body,), words, name.literal() or "", span=(start, end)), end


def _blanks(source: Source, pos: int) -> int:
    match = LINE_GAP.match(source.text, pos)
    assert match
    if source.folds:
        source.unfold(match.end())
    return match.end()


def _arithmetic_for(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    if source.folds:
        source.unfold(pos)
    end = closing(source, pos) if source.text.startswith("((", pos) else -1
    if end < 0:
        raise Unreadable("a for with an unexpected `(`", pos)
    found, end = arithmetic(source, pos + 2, end, False)
    pos = gap(source, end + 2)
    if source.text.startswith(";", pos):
        pos += 1
    body, end = _do(source, pos, "for")
    return Compound("for((", (body,), parts=found.parts, span=(start, end)), end


def _case(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    subject, pos = word(source, pos, "a case without a subject")
    pos = _expect(source, pos, "in", "a case")
    patterns: list[tuple[Word, ...]] = []
    bodies: list[Script] = []
    while True:
        pos = gap(source, pos)
        text = source.text
        if _ESAC.match(text, pos):
            break
        if text.startswith("(", pos):
            pos += 1
        alternatives: list[Word] = []
        while True:
            one, pos = word(source, pos, "a case without `esac`")
            alternatives.append(one)
            pos = _blanks(source, pos)
            if not source.text.startswith("|", pos):
                break
            pos += 1
        pos = _expect(source, pos, ")", "a case")
        body, pos = source.script(source, pos)
        patterns.append(tuple(alternatives))
        bodies.append(body)
        source.spend(1)
        match = _CLAUSE_END.match(source.text, pos)
        if not match:
            pos = _expect(source, pos, "esac", "a case") - 4
            break
        pos = match.end()
    end = _expect(source, pos, "esac", "a case")
    return Compound("case", tuple(bodies), (subject,), "", tuple(patterns), span=(start, end)), end


def _coproc(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    match = TOKEN.match(source.text, pos)
    assert match
    name = ""
    if match.lastindex == PLAIN and match[1] not in _KEYWORDS:
        after = TOKEN.match(source.text, match.end())
        assert after
        is_compound = after[1] in _KEYWORDS and after[1] not in ("function", "coproc")
        if is_compound or (after[6] == "(" and not EMPTY_PARENTHESES.match(source.text, after.start(6))):
            name, pos = match[1], match.end()
    at = gap(source, pos)
    body, end = source.command(source, at)
    return Compound(
        "coproc", (Script((Item(body),), (at, end)),), name=name or "COPROC", span=(start, end)
    ), end


def _function(source: Source, start: int, pos: int) -> tuple[Command, int]:
    name, pos = word(source, pos, "a function without a name")
    match = EMPTY_PARENTHESES.match(source.text, pos)
    if match:
        pos = match.end()
    literal = name.literal()
    if literal is None:
        literal = source.text[name.span[0] : name.span[1]]
    return function_body(source, literal, start, pos)


def _condition(source: Source, start: int, pos: int) -> tuple[Compound, int]:
    words, end = condition(source, pos)
    return Compound("[[", words=words, span=(start, end)), end


def _unexpected(source: Source, start: int, pos: int) -> tuple[Command, int]:
    raise Unreadable(f"an unexpected `{source.text[start:pos]}`", start)


_KEYWORDS: dict[str, Callable[[Source, int, int], tuple[Command, int]]] = {
    "{": _group,
    "if": _if,
    "while": _loop,
    "until": _loop,
    "for": _for,
    "select": _for,
    "case": _case,
    "coproc": _coproc,
    "function": _function,
    "[[": _condition,
    **dict.fromkeys(("then", "else", "elif", "fi", "do", "done", "esac", "}", "!"), _unexpected),
}
_CUT_KEYWORD = re.compile(r"(?:\{|if|while|until|for|case|then|else|elif|do|!)(?=[<>()])")
