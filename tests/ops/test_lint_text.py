"""How a prompt is read: folding, data, sentences, and the phrase language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops.schedule.lint.phrases import Matcher
from hermes_ops.schedule.lint.text import fold, read_prompt

SETS = {"leads": "and then please", "stop": "which", "talk": "chat talk"}


def words(text):
    return [[token.text for token in sentence.tokens] for sentence in read_prompt(text).sentences]


def found(phrase, text):
    matcher = Matcher({"x": [phrase]}, SETS)
    prompt = read_prompt(text)
    return [
        text[match.start : match.end] for sentence in prompt.sentences for match in matcher.find(sentence)
    ]


@pytest.mark.parametrize(
    "text, folded",
    [
        ("DON\u2019T", "don't"),
        ("\u201cA\u201d", '"a"'),
        ("\u0130stanbul", "istanbul"),
        ("\u0401лка, еще ещё", "елка, еще еще"),
        ("ТЫ", "ты"),
        ("a\u00a0b", "a b"),
    ],
)
def test_folding_makes_one_form_of_many(text, folded):
    assert fold(text) == folded


@given(st.text(max_size=200))
def test_folding_keeps_every_offset(text):
    assert len(fold(text)) == len(text)


@given(st.text(alphabet="aB .,!?\n`\"'<>{}[]/#@$%-_*ё\u0130\u00ad\u2019«»", max_size=120))
@settings(max_examples=300)
def test_any_text_can_be_read_and_words_lie_where_they_stand(text):
    prompt = read_prompt(text)
    for token in prompt.tokens:
        assert 0 <= token.start < token.end <= len(text)
        line, column = prompt.position(token.start)
        assert text.split("\n")[line - 1][column - 1 :].startswith(
            text[token.start : token.end].split("\n")[0]
        )


def test_contractions_are_the_words_they_stand_for():
    assert words("Don\u2019t ask; I'll wait, can't you?") == [
        ["do", "not", "ask", "i", "will", "wait", "can", "not", "you"]
    ]


def test_paths_addresses_and_urls_are_one_word_and_leave_the_full_stop():
    assert words("Read /var/log/app.log. Open https://a.example.org/x?y=1, mail me@example.org.") == [
        ["read", "<path>"],
        ["open", "<url>", "mail", "<address>"],
    ]


def test_a_list_is_many_sentences_and_a_wrapped_line_is_none():
    assert words("Check these:\n- one\n- two") == [["check", "these"], ["one"], ["two"]]
    assert words("Check the hosts and\nsay which answer.\nThen stop") == [
        ["check", "the", "hosts", "and", "say", "which", "answer"],
        ["then", "stop"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Print this:\n```\nas we discussed\n```\nDone",
        "Find mails with \u201cas we discussed\u201d in them",
        "Find mails with \u00abas we discussed\u00bb in them",
        "Find `as we discussed` in the mails",
        "<!-- as we discussed --> Find mails",
        "> as we discussed\n\nFind that",
    ],
)
def test_what_is_quoted_is_data(text):
    assert not [one for one in words(text) if "discussed" in one]


def test_a_fence_that_is_never_closed_hides_nothing():
    assert found("as we", "```\nas we said") == ["as we"]


def test_a_prompt_that_is_quoted_as_a_whole_is_read():
    assert found("as we", '"Check the hosts as we said, each of them"') == ["as we"]


@pytest.mark.parametrize(
    "phrase, text, match",
    [
        ("as we said", "Do it as we said.", ["as we said"]),
        ("as i|we ?have agreed", "as we have agreed", ["as we have agreed"]),
        ("agree* on", "we agreed on it", ["agreed on"]),
        ("our @talk", "in our chat", ["our chat"]),
        ("send ..2 now", "send it all now", ["send it all now"]),
        ("send ..2 now", "send it all of it now", []),
        ("send ~3 now", "send it which waits now", []),
        ("^ continue", "Continue. Then continue", ["Continue"]),
        ("ready $", "is ready, then", ["ready"]),
        ("ready .", "is ready, then", []),
        ("! ask me", "and ask me", ["ask me"]),
        ("! ask me", "people ask me", []),
        ("! ask me", "Well, ask me", ["ask me"]),
        ("read <path>", "Read /etc/hosts", ["Read /etc/hosts"]),
        ("we said", "we. said", []),
    ],
)
def test_a_phrase_finds_what_it_describes(phrase, text, match):
    assert found(phrase, text) == match


@pytest.mark.parametrize("phrase", ["..3 now", "ag*", "a|$ b", "say @nothing", ""])
def test_a_phrase_that_cannot_be_read_is_refused(phrase):
    with pytest.raises(ValueError):
        Matcher({"x": [phrase]}, SETS)
