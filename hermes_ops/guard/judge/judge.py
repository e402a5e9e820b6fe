"""The judgement of a text: read it, walk it, fall back on the lexical view where it cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..rules.rule import Family
from ..verdict import Found, Judgement, Verdict, judged
from . import beyond, names, reasons
from .budget import Budget, Exhausted
from .invocation import Invocation
from .walk import Walk


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known about where the text would run. `cwd` None: not known; `hermes_home`: the host's home."""

    cwd: str | None = None
    home: str = ""  # the home of the user; "" is looked up
    hermes_home: str = ""
    is_container: bool = False  # the terminal backend is an isolated container


_NOWHERE = Surroundings()


def judge_shell(
    text: str,
    surroundings: Surroundings | None = None,
    *,
    extra: Sequence[Family] = (),
    allowed: Callable[[Invocation], bool] | None = None,
    budget: Budget | None = None,
    unseen: Callable[[str], Iterable[Found]] | None = None,
) -> Judgement:
    """Judge a shell command line or script of any length. Never raises, never runs anything.

    `extra` are families besides the built-in ones; `allowed` says of a command that nobody has to be asked
    about it (what must never run stays blocked). `budget` is what the texts of a tool call share. A text over
    the limits is judged by its lexical view; `unseen` says what else is to be said of such text.
    """
    where = surroundings or _NOWHERE
    walk: Walk | None = None
    try:
        home = where.home or os.path.expanduser("~")
        walk = Walk(
            where.cwd,
            home,
            where.hermes_home or f"{home}/.hermes",
            "container" if where.is_container else "",
            extra,
            allowed,
            budget,
        )
        try:
            walk.whole(text)
            judgement, texts = judged(walk.findings, walk.unread), (text,)
        except Exhausted:
            judgement, texts = _cut_short(walk), (text, *walk.cut)
        if unseen is None or not judgement.unread:
            return judgement
        more = unseen("\n".join(dict.fromkeys(texts)))
        return judged([*judgement.findings, *more], judgement.unread)
    except Exception as error:  # the boundary: an error of ours must not let a command through
        findings = walk.findings if walk is not None else []
        detail = f"{type(error).__name__}: {error}"
        return judged([*findings, reasons.ERROR.found("", names.printable(detail))], "error")


def _cut_short(walk: Walk) -> Judgement:
    """The steps are used up: what was found counts, and the rest is searched for words of risk."""
    if not any(found.verdict == Verdict.BLOCK for found in walk.findings):
        texts = list(dict.fromkeys(walk.cut))
        walk.again_from_here()
        try:
            for text in texts:
                beyond.judge(walk, text)
        except Exhausted:
            walk.findings.append(reasons.LIMIT.found(""))
    return judged(walk.findings, "limit")
