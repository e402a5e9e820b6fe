"""Judges text made at random for some seconds; tells the slowest and what fails. See scripts/fuzz-guard."""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.judge.reasons import ERROR
from hermes_ops.guard.shell.lexical import pieces
from hermes_ops.guard.shell.reader import read
from tests.ops.guard.corpus_commands import commands
from tests.ops.guard.generated_commands import script
from tests.ops.guard.mutations import PIECES, mutated
from tests.ops.guard.program_texts import program_text

BAR = 0.050  # seconds of processor time for one text
TRIES = 5  # how often a slow text is tried again: the least time counts, the others were the machine's
SHOWN = 600  # characters of a text that are printed; the seed gives the rest
WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


@dataclass
class Outcome:
    """What came out: the number of texts, the slowest with its seconds, and what failed."""

    texts: int = 0
    slowest: float = 0.0
    slowest_text: str = ""
    failures: list[tuple[str, str]] = field(default_factory=list)


def text(of: random.Random, bases: list[str]) -> str:
    """The next text: one for a program, a base changed a little, a script, noise, or one thing many times."""
    kind = of.random()
    if kind < 0.12:
        return program_text(of)
    if kind < 0.55:
        return mutated(of.choice(bases), bases, of)
    if kind < 0.70:
        made = script(of.getrandbits(48), of.randrange(4))
        return made if of.random() < 0.5 else mutated(made, bases, of)
    if kind < 0.80:
        return "".join(of.choice(PIECES) for _ in range(of.choice((5, 50, 500))))
    if kind < 0.88:
        return of.randbytes(of.choice((10, 100, 2_000))).decode(
            of.choice(("latin-1", "utf-8")), "surrogateescape"
        )
    if kind < 0.94:
        some = "".join(of.choice(PIECES) for _ in range(of.randrange(1, 6)))
        return of.choice(bases)[:200] + some * (of.choice((30, 1_000, 100_000)) // len(some) + 1)
    base = mutated(of.choice(bases), bases, of)
    joined = of.choice(("; ", "\n", " | ", " && ", " "))
    return joined.join([base] * (of.choice((1_000, 20_000, 120_000)) // (len(base) + 1) + 1))


def judge(given: str) -> None:
    reading = read(given)
    assert reading.text == given and isinstance(pieces(given), list)
    judgement = judge_shell(given, WHERE)
    errors = [found for found in judgement.findings if found.rule == ERROR.id]
    assert not errors, errors


def seconds(given: str) -> float:
    """The processor time of one judgement."""
    start = time.thread_time()
    judge_shell(given, WHERE)
    return time.thread_time() - start


def fuzz(limit: float, seed: str, bar: float = BAR) -> Outcome:
    """Judge for `limit` seconds of processor time; stops at the first five failures. `bar` in seconds."""
    of = random.Random(seed)
    bases = commands()
    outcome = Outcome()
    end = time.process_time() + limit
    while time.process_time() < end and len(outcome.failures) < 5:
        given = text(of, bases)
        outcome.texts += 1
        try:
            judge(given)
            took = seconds(given)
            if took > outcome.slowest:
                took = min(took, *(seconds(given) for _ in range(TRIES)))
        except Exception as error:
            outcome.failures.append((f"{type(error).__name__}: {error}"[:1_000], given))
            continue
        if took > bar:
            outcome.failures.append((f"{took * 1_000:.0f} ms", given))
        if took > outcome.slowest:
            outcome.slowest, outcome.slowest_text = took, given
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz-guard", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=600.0, help="how long (600)")
    parser.add_argument(
        "seed", nargs="?", default=str(int(time.time())), help="by the time of day when not given"
    )
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    outcome = fuzz(given.seconds, given.seed)
    slowest = outcome.slowest_text
    print(f"{outcome.texts} texts; the slowest took {outcome.slowest * 1_000:.1f} ms:")
    print(f"  {len(slowest)} characters: {slowest[:SHOWN]!r}")
    for said, failed in outcome.failures:
        print(f"FAILED: {said}\n  {len(failed)} characters: {failed[:SHOWN]!r}")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
