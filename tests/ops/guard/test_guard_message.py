"""What is said of a call: redacted, on one line, nothing hidden, and no way around the guard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops.guard import message
from hermes_ops.guard.presence import CHAT, NOBODY, Presence
from hermes_ops.guard.verdict import Found, Verdict

TOKEN = "gh" + "p_" + "a8Kd02mXq7LrT5vBn1cZ" + "9eWf3hYj6uSg"
NEVER = Found("files.root", Verdict.BLOCK, "removes a system folder", "rm -rf /usr", "remove what you made")
RISKY = Found("git.force", Verdict.APPROVE, "rewrites shared history", "git push -f", "push to a new branch")
ALONE = Presence(NOBODY, "a scheduled job")


def all_messages(shown: str, found: Found = RISKY) -> list[str]:
    return [
        message.ask(shown, [found]),
        message.block(shown, [NEVER]),
        message.unattended(shown, [found], ALONE),
    ]


def test_an_ask_shows_command_reason_rule_radius_and_a_safer_way() -> None:
    text = message.ask("git push -f origin main", [RISKY], "347 files, 12.0 MB")
    for piece in ("git push -f origin main", RISKY.why, RISKY.rule, RISKY.part, RISKY.safer, "347 files"):
        assert piece in text


def test_a_block_says_what_to_do_instead_and_of_questions_nothing() -> None:
    text = message.block("x", [NEVER, RISKY])
    assert NEVER.why in text and NEVER.safer in text and "Do not try" in text
    assert RISKY.why not in text and "unattended" not in text


def test_an_unattended_block_says_who_is_missing_and_which_setting_governs_it() -> None:
    text = message.unattended("x", [RISKY], ALONE)
    assert "nobody can be asked here: a scheduled job" in text and "`unattended` in ops/guard.toml" in text
    there = Presence(CHAT, "a job has run", reachable=False)
    assert "the person here cannot be asked: a job has run" in message.unattended("x", [RISKY], there)


def test_a_secret_is_in_no_message_wherever_it_stands_and_however_it_is_cut() -> None:
    for padding in range(0, 400, 7):
        shown = "x" * padding + f" curl -H 'Authorization: Bearer {TOKEN}' https://example.com " + "y" * 300
        found = Found("net.out", Verdict.APPROVE, f"sends {TOKEN}", shown)
        for text in all_messages(shown, found):
            assert not any(TOKEN[at : at + 8] in text for at in range(len(TOKEN) - 8))


def test_a_secret_at_the_end_of_what_is_read_is_not_cut_in_half() -> None:
    for shift in range(0, len(TOKEN) + 2, 3):
        shown = "x " * ((message._MOST_READ - shift) // 2) + TOKEN + " rest"
        assert TOKEN[:10] not in message.command(shown)


def test_a_key_that_goes_on_behind_what_is_read_is_not_shown_from_its_middle() -> None:
    body = "\n".join("MIIEpAIBAAKCAQEA" + f"{number:048x}" for number in range(40))
    key = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{body}\n-----END RSA {'PRIVATE'} KEY-----"
    for length in range(0, message._MOST_READ, 97):
        assert "MIIEpAIB" not in message.command("x " * (length // 2) + f"cat > k <<E\n{key}\nE\n", 4000)


def test_letters_that_cannot_be_seen_are_spelled_out() -> None:
    shown = "rm\u200b -rf \u202e/tmp\u202c \x1b[31mred\x1b[0m \u3164 a\ufe0f\rb"
    text = message.command(shown)
    assert "<U+200B>" in text and "<U+202E>" in text and "<U+001B>[31m" in text and "<U+3164>" in text
    assert "<U+FE0F>" in text and "\r" not in text
    assert message.command("echo жук 漢字 é") == "echo жук 漢字 é"


@given(st.text(max_size=300))
def test_a_message_is_one_line_that_no_terminal_obeys(shown: str) -> None:
    for text in all_messages(shown, Found("a.b", Verdict.APPROVE, shown, shown, shown)):
        assert text.isprintable() and len(text) < 2500


def test_a_long_command_keeps_both_ends() -> None:
    text = message.command("begin " + "x" * 3000 + " end")
    assert text.startswith("begin") and text.endswith(" end") and len(text) < message.MOST_COMMAND + 10


def test_many_findings_are_counted_not_listed() -> None:
    many = [Found(f"a.r{number}", Verdict.APPROVE, f"reason {number}") for number in range(7)]
    text = message.ask("x", many)
    assert "reason 2" in text and "reason 3" not in text and "and 4 more" in text


@pytest.mark.parametrize(
    "other",
    [
        ([RISKY], "terminal", "git push -f origin dev", "/w"),
        ([RISKY], "terminal", "git push -f", "/elsewhere"),
        ([RISKY], "process", "git push -f", "/w"),
        ([Found("git.other", Verdict.APPROVE, "x")], "terminal", "git push -f", "/w"),
        ([RISKY, NEVER], "terminal", "git push -f", "/w"),
    ],
)
def test_an_answer_is_kept_for_one_finding_on_one_command_in_one_place(other: tuple) -> None:
    key = message.rule_key([RISKY], "terminal", "git push -f", "/w")
    assert key == message.rule_key([RISKY, RISKY], "terminal", "git push -f", "/w")
    assert key.startswith("hermes-ops:git.force:") and key != message.rule_key(*other)
