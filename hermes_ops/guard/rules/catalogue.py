"""The page of all rules, made from the tables that the guard works with."""

from __future__ import annotations

from collections.abc import Iterator

from ..code import wording
from ..judge import reasons
from . import families
from .rule import Rule

_HEAD = """# Rules of the command guard

Made by `python -m hermes_ops.guard.rules.catalogue`. **block** must never run, also when no questions are
asked; **approve** is for a person to decide. In a container or a chroot a block becomes an approve.
Statements given to a database client are judged besides by what they say (`sql.*`, `mongo.*`, `redis.*`).
"""
_COLUMNS = "| rule | verdict | what it says | instead |\n|---|---|---|---|\n"


def _sections() -> Iterator[tuple[str, list[Rule]]]:
    seen: set[str] = set()
    for family in families.FAMILIES:
        fresh = [rule for rule in family.rules if rule.id not in seen]
        seen.update(rule.id for rule in fresh)
        if fresh:
            yield family.name, fresh
    yield "what the reading itself finds", [rule for rule in reasons.RULES if rule.id not in seen]
    yield (
        "code in other languages",
        [
            Rule(identifier, verdict, why, safer)
            for identifier, (verdict, why, safer) in wording.RULES.items()
        ],
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def markdown() -> str:
    """The text of docs/ops/guard-rules.md."""
    pieces = [_HEAD]
    for title, rules in _sections():
        rows = [
            f"| `{rule.id}` | {rule.verdict} | {_cell(rule.why)} | {_cell(rule.safer)} |\n" for rule in rules
        ]
        pieces.append(f"\n## {title[0].upper()}{title[1:]}\n\n{_COLUMNS}{''.join(rows)}")
    return "".join(pieces)


if __name__ == "__main__":
    print(markdown(), end="")
