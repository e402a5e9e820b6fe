"""Twenty seconds of scripts/fuzz-guard: nothing that is judged raises or takes long."""

from __future__ import annotations

import os
import random

import pytest

from hermes_ops.guard.judge.judge import judge_shell
from hermes_ops.guard.verdict import Verdict
from scripts.lib import fuzz_guard

SECONDS = float(os.environ.get("GUARD_FUZZ_SECONDS", "20"))


@pytest.mark.once
def test_no_text_makes_the_guard_raise_or_take_long():
    # Twice what the script allows: the machine may be slow, and busy with other tests.
    outcome = fuzz_guard.fuzz(SECONDS, os.environ.get("GUARD_SEED", "1"), 2 * fuzz_guard.BAR)
    assert outcome.failures == []
    assert outcome.texts > 100


def test_the_fuzzer_tells_what_raises_and_what_is_slow(monkeypatch: pytest.MonkeyPatch):
    def broken(text: str) -> None:
        raise ValueError(text)

    failures = fuzz_guard.fuzz(5, "1", 0.0).failures
    assert len(failures) == 5 and all(said.endswith(" ms") for said, _ in failures)
    monkeypatch.setattr(fuzz_guard, "judge", broken)
    failures = fuzz_guard.fuzz(5, "1").failures
    assert len(failures) == 5 and all(said.startswith("ValueError") for said, _ in failures)


def test_the_same_seed_gives_the_same_texts():
    def texts(seed: str) -> list[str]:
        of = random.Random(seed)
        return [fuzz_guard.text(of, ["rm -rf x", "echo a | b"]) for _ in range(50)]

    assert texts("a") == texts("a") != texts("b")


@pytest.mark.parametrize(
    "text",
    [
        "curl -K - https<<-E\n://example.com < 'data=@body.json'",
        "curl -K - <<'E'\n= x\nE",
        "node -e \"eval('a\\9b\\8')\"",
        "node -e \"eval('a\\\u00b2')\"",
        "sed -i s/a/b/ scripts" + "\\" * 1_000,
        "sed -n " + "0" * 5_000 + "p x",
        "date +" + "%0" * 10_000,
        "find " + "a " * 2_000 + "| xargs rm",
        "tclsh <<< '" + "eval " * 4_000 + "'",
        "perl -e '" + "map{chr}" * 2_000 + "'",
        "tmux set-hook -g session-created 'run-shell \"'" + "esac" * 25_000,
    ],
    ids=lambda text: text[:30],
)
def test_texts_that_once_failed_are_judged(text: str) -> None:
    assert judge_shell(text).unread != "error"


def test_a_long_command_of_tmux_is_asked_about_and_what_it_begins_with_is_read() -> None:
    filler = " x" * 10_000
    assert judge_shell(f"tmux bind-key k run-shell 'echo{filler}'").verdict is Verdict.APPROVE
    assert judge_shell(f"tmux bind-key k run-shell 'rm -rf /' {filler}").verdict is Verdict.BLOCK
