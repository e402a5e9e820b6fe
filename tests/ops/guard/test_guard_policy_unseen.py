"""No padding takes a command out of the reach of a policy: what stands behind a limit is asked about."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest

from hermes_ops.guard.accepted import parse_text
from hermes_ops.guard.judge.judge import Surroundings
from hermes_ops.guard.policy import BUILT_IN, Policy, judge
from hermes_ops.guard.policy_unseen import ID
from hermes_ops.guard.rules.canary import CANARY

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")
POLICY = """
[[rule]]
id = "never"
verdict = "block"
argv = "never-stub **"
reason = "r"
[[rule]]
id = "asked"
verdict = "approve"
argv = "sudo asked-stub **"
reason = "r"
[[rule]]
id = "kept"
verdict = "block"
path = ["**/kept-*"]
reason = "r"
"""
PADS = ("true; ", "true\n", ":;", "a=b ;", "(true) ;", "true && ", "echo | ", "echo $(true) ;", "{ :; }; ")


def parse(text: str) -> Policy:
    return parse_text(text, Path("guard.toml"))


def verdict(text: str, policy: str = POLICY) -> str:
    return str(judge(parse(policy), text, WHERE).verdict)


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("times", [1_000, 4_000])
def test_padding_in_front_of_a_command_of_a_rule_hides_nothing(pad: str, times: int):
    assert verdict(pad * times + "./never-stub padded") == "block"
    assert verdict(pad * times + "cat x/kept-1") == "block"
    assert verdict(pad * times + "sudo asked-stub now") == "approve"


@pytest.mark.parametrize("pad", PADS)
def test_padding_behind_it_hides_nothing_either(pad: str):
    assert verdict(f"./never-stub padded {'|' if pad == 'echo | ' else ';'} {pad * 4_000} true") == "block"


def test_the_canary_behind_padding_is_stopped():
    for pad in PADS:
        assert str(judge(BUILT_IN, pad * 4_000 + CANARY, WHERE).verdict) != "allow", pad


def test_what_is_decoded_is_looked_at_too():
    inner = base64.b64encode(("true; " * 4_000 + "never-stub x").encode()).decode()
    assert verdict(f"echo {inner} | base64 -d | bash") == "block"


UNNAMED = ('n"eve"r-stub x', "never-'stub' x", "a=never-; b=stub; $a$b x", "`x` y")


@pytest.mark.parametrize("command", UNNAMED)
def test_a_program_that_is_not_spelled_out_is_asked_about(command: str):
    assert verdict("true; " * 4_000 + command) != "allow"


def test_text_that_may_be_data_is_asked_about_and_not_blocked():
    text = "true; " * 4_000 + "cat > notes.md <<'E'\nnever-stub x\nE\n"
    assert verdict(text) == "approve"


@pytest.mark.parametrize("pad", PADS[:5])
def test_a_long_text_that_names_nothing_of_the_policy_is_not_asked_about_by_it(pad: str):
    judgement = judge(parse(POLICY), pad * 4_000 + "true", WHERE)
    assert all(found.rule != ID for found in judgement.findings)


def test_a_rule_that_can_be_about_anything_is_asked_about():
    rule = "[[rule]]\nid = 'all'\nverdict = 'approve'\npath = ['*']\nreason = 'r'\n"
    assert verdict("true; " * 4_000, rule) == "approve"


def test_the_question_cannot_be_switched_off_with_the_one_about_the_limit():
    off = POLICY + "[[off]]\nrule = 'unread.limit'\nreason = 'r'\n"
    assert verdict("true; " * 4_000 + "sudo asked-stub x", off) == "approve"


def test_many_places_take_no_long_time():
    policy, text = parse(POLICY), "true; " * 1_000 + "echo never-stub kept-1; " * 20_000
    began = time.perf_counter()
    judge(policy, text, WHERE)
    # Some ten milliseconds; what is told from it is a judgement of every place.
    assert time.perf_counter() - began < 2.0
