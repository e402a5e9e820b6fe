"""What a policy says of text that the judge did not come to the end of.

No rule has seen the commands behind a limit, so the words that rules are about are looked for in it.
Where one stands, the command around it is judged by itself, and in any case a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .judge.beyond import LONGEST
from .judge.budget import Budget
from .judge.judge import Surroundings, judge_shell
from .policy_rules import FAMILY, Rule
from .rules.rule import Family
from .verdict import Found, Verdict

ID = f"{FAMILY}.unread"
_MOST_PLACES = 12
_STEPS, _SECONDS = 200, 0.008
_SHORT = 2_000  # characters of a text whose pieces are judged in any case
_BEFORE, _BEHIND = 200, 1_000  # characters around a word that are taken for its command
_QUOTES = str.maketrans(dict.fromkeys("\"'\\"))
# A command whose program is not spelled out may be any.
_UNNAMED = re.compile(r"(?:\A|[\n;&|({])[ \t]*[\"']?[$`]")
_WORD = re.compile(r"[\w-]")


def findings(rules: Sequence[Rule], text: str, where: Surroundings | None) -> list[Found]:
    """What rules of a policy may have to say of a text that was not read or walked to its end."""
    families = tuple(rule.family() for rule in rules)
    places: dict[int, str] = {}
    named = ""
    is_long = len(text) > LONGEST
    plain = "" if is_long else text.translate(_QUOTES)
    for rule in rules:
        words = rule.telling()
        if not words:
            return [_asked(rule.id, f"{rule.id} may be about any of it")]
        for word in words:
            found = _places(text, word)
            places |= dict.fromkeys(found, word)
            if found or _places(plain, word):
                named = named or word
    if not named and is_long:
        return [_asked("", f"it has {len(text)} characters")]
    if not named:
        unnamed = _UNNAMED.search(text) if len(text) > _SHORT else None
        return [_asked(unnamed[0].strip(), "which programs it runs is not spelled out")] if unnamed else []
    found = _around(text, sorted(places), families, where)
    return [*found, _asked(named, f"a rule of the policy is about {named}")]


def _asked(part: str, detail: str) -> Found:
    why = f"not all of this was read, and {detail}"
    return Found(ID, Verdict.APPROVE, why, part, "run it in shorter parts")


def _places(text: str, word: str) -> list[int]:
    """Where a word stands in a text: the first places and the last."""
    first: list[int] = []
    at = text.find(word)
    while at >= 0 and len(first) < _MOST_PLACES:
        if _stands_alone(text, at, word):
            first.append(at)
        at = text.find(word, at + len(word))
    last = text.rfind(word)
    if last >= 0 and last not in first and _stands_alone(text, last, word):
        first.append(last)
    return first


def _stands_alone(text: str, at: int, word: str) -> bool:
    """Whether a short word is no part of a longer one; of a long one that does not matter."""
    if len(word) > 4:
        return True
    before, behind = text[at - 1 : at] if at else "", text[at + len(word) : at + len(word) + 1]
    return not (_WORD.match(before) or _WORD.match(behind))


def _around(
    text: str, places: list[int], families: tuple[Family, ...], where: Surroundings | None
) -> Iterable[Found]:
    """What the rules say of the commands around some places, each judged by itself."""
    budget, found, end = Budget(_STEPS, _SECONDS), [], 0
    # In a here-document it may be data.
    most = Verdict.APPROVE if "<<" in text else Verdict.BLOCK
    for at in [*places[: _MOST_PLACES - 1], *places[_MOST_PLACES - 1 :][-1:]]:
        if at < end:
            continue
        begin = max(text.rfind(sign, max(0, at - _BEFORE), at) for sign in "\n;&|")
        begin = begin + 1 if begin >= 0 else at
        stops = (text.find(sign, at, at + _BEHIND) for sign in "\n;")
        end = min((stop for stop in stops if stop >= 0), default=at + _BEHIND)
        judgement = judge_shell(text[begin:end], where, extra=families, budget=budget)
        found += [
            one.with_verdict(min(one.verdict, most))
            for one in judgement.findings
            if one.rule.startswith(f"{FAMILY}.")
        ]
    return found
