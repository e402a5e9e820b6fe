"""What is built in: every rule with the verdicts it may give, and the examples it is held to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .code import examples, wording
from .code.judge import judge_code
from .judge import reasons
from .judge.judge import Surroundings, judge_shell
from .rules.families import FAMILIES
from .verdict import Verdict

# Judged in places that do not depend on the machine.
SURROUNDINGS = Surroundings(cwd="/home/user/project", home="/home/user", hermes_home="/home/user/.hermes")


@dataclass(frozen=True)
class Failed:
    """An example that did not come out as its rule says."""

    family: str
    command: str
    wanted: str
    came_out: str


# Families whose ids are made from the statement they are about ("sql.drop-table"); all of them may ask.
MADE = ("sql.", "mongo.", "redis.")
# What is asked about a call as a whole, and about none of its commands.
_OF_CALLS = {"guard.too-many-files": Verdict.APPROVE}
# What is asked when the guard itself fails: no policy takes that away.
ALWAYS_ASKED = frozenset((reasons.ERROR.id,))


@cache
def verdicts() -> dict[str, frozenset[Verdict]]:
    """The verdicts of every built-in rule by its id; one may ask here and block there."""
    listed = [(rule.id, rule.verdict) for family in FAMILIES for rule in family.rules]
    listed += [(rule.id, rule.verdict) for rule in reasons.RULES]
    listed += _OF_CALLS.items()
    listed += [(identifier, rule[0]) for identifier, rule in wording.RULES.items()]
    found: dict[str, frozenset[Verdict]] = {}
    for identifier, verdict in listed:
        found[identifier] = found.get(identifier, frozenset()) | {verdict}
    return found


def self_test() -> tuple[int, list[Failed]]:
    """Judge the examples of every rule; how many there are, and those that come out otherwise."""
    count, failed = 0, []
    for family in FAMILIES:
        for command, rule in family.examples:
            count += 1
            found = [one.rule for one in judge_shell(command, SURROUNDINGS).findings]
            if rule not in found:
                failed.append(Failed(family.name, command, rule, ", ".join(found) or "allow"))
        ours = {rule.id for rule in family.rules}
        for command in family.silent:
            count += 1
            found = [one.rule for one in judge_shell(command, SURROUNDINGS).findings if one.rule in ours]
            if found:
                failed.append(Failed(family.name, command, "allow", ", ".join(found)))
    of_code, failed_code = _test_code()
    return count + of_code, failed + failed_code


def _test_code() -> tuple[int, list[Failed]]:
    """Judge the examples of code in other languages."""
    wanted = [(language, code, rule) for language, code, rule, _ in examples.EXAMPLES]
    wanted += [(language, code, "") for language, code in examples.SILENT]
    failed = []
    for language, code, rule in wanted:
        found = [
            one.rule
            for one in judge_code(
                language,
                code,
                lambda text: list(judge_shell(text, SURROUNDINGS).findings),
                SURROUNDINGS.home,
                SURROUNDINGS.cwd,
                SURROUNDINGS.hermes_home,
            )
        ]
        if (rule not in found) if rule else found:
            failed.append(Failed(f"code ({language})", code, rule or "allow", ", ".join(found) or "allow"))
    return len(wanted), failed
