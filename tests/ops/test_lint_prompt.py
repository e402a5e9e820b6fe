"""The wording rules one by one: what is a fault, what only looks like one, suppressions, linear time."""

import time

import pytest

from hermes_ops.schedule.lint.prompt import Given, lint_prompt
from hermes_ops.schedule.lint.rules import Allowance, allowances, errors

PLAIN = " Read /srv/x/list.csv and report the totals by month, the largest first."


def rules(text, **options):
    return {hit.rule.id for hit in lint_prompt(text + PLAIN, **options) if hit.allowed is None}


@pytest.mark.parametrize(
    "rule, bad, clean",
    [
        ("L101", "Use the limits I gave you.", "Use the limits I gave you in /srv/x/limits.toml."),
        ("L101", "As discussed, leave out sports.", "List what was discussed by the council."),
        ("L101", "Возьми формат, о котором мы договорились.", "Напиши, о чём договорились жильцы."),
        (
            "L102",
            "List what is new since the last run.",
            "List what is new since the last run (/srv/x/last).",
        ),
        ("L102", "Do not repeat stories you already sent.", "Do not repeat stories that are in /srv/x/seen."),
        ("L109", "Prepare the usual digest.", "The usual range is 52 to 60."),
        ("L109", "Сделай сводку как обычно.", "Скажи, ходит ли автобус как обычно."),
        ("L103", "Check the hosts listed above.", "Hosts:\n- a\n- b\nCheck the hosts listed above."),
        ("L104", "You know which accounts matter.", "Say which accounts matter by the table."),
        ("L104", "Use what is in your memory.", "Say how much memory the host uses."),
        ("L105", "Continue from where you left off.", "If a feed fails, continue with the next one."),
        ("L106", "That was good, but too long.", "Say whether that page was good for readers."),
        ("L107", "Sum up the attached file.", "Count mails that have attached files."),
        ("L301", "If in doubt, ask me.", "Name what customers ask us most."),
        ("L301", "Уточни у меня цены.", "Уточни цены на сайте https://a.example.org/p."),
        ("L302", "Wait for my OK.", "Wait for the page to load."),
        ("L302", "Дождись моего ответа.", "Дождись, пока загрузится страница."),
        ("L303", "Would you like me to go on?", "Say what readers would like."),
        ("L304", "I will send you the numbers.", "The server will send you the numbers."),
        ("L305", "Use the clarify tool.", "Do not use the clarify tool."),
        ("L306", "Delete nothing without my approval.", "Delete nothing."),
        ("L401", "Deliver it with send_message.", "Never use send_message for it."),
        ("L401", "Отправь через send_message.", "Через send_message ничего не отправляй."),
        ("L402", "Post it to the Telegram channel.", "Count what was posted to the Telegram channel."),
        ("L402", "Email me the table.", "Count emails by sender."),
        ("L402", "Скинь итог в рабочий чат.", "Посчитай, кто писал в рабочий чат."),
        ("L501", "If nothing is new, say nothing.", "If nothing is new, answer with exactly [SILENT]."),
        ("L501", "Stay quiet unless it is full.", "List sensors that stay quiet."),
        ("L501", "Если нового нет, молчи.", "Перечисли датчики, которые молчат."),
        ("L501", "Only message me when it fails.", "Only report runs that failed."),
        ("L502", "End the report with [SILENT].", "With no news answer [SILENT] alone."),
        ("L503", "With no news answer NO_REPLY.", "With no news answer [SILENT], never NO_REPLY."),
        ("L201", "The weather in {{city}}.", "Find templates with {{ city }}."),
        ("L201", "The news about {topic}.", "Write each as a line in the form {title}, {price}."),
        ("L202", "Fetch it from ${BASE_URL}/x.", "Fetch it from `${BASE_URL}/x`."),
        ("L202", "The account %(name)s.", "The folder $HOME/x."),
        ("L203", "The calendar of <your name>.", "Check that every <img> has a text."),
        ("L203", "Reply 'Dear <your name>'.", "Read /srv/menu.txt and reply: 'Tonight: <names>'."),
        ("L203", "Mail 'Menu: <names>' to a@b.org.", "With no news answer 'menu: {count} <names>'."),
        ("L203", "Выгрузи 'базу <имя>'.", "Иначе ответь 'health: код <код>'."),
        ("L203", "Выгрузи базу <имя базы>.", "Каждую пиши в виде: <время> — <имя>."),
        ("L204", "Check [insert host here].", "Count lines with [ERROR]."),
        ("L204", "Сравни цены в [город].", "Смотри [страницу](https://a.example.org)."),
        ("L205", "The weather in TBD.", "Count the TODO comments in the code."),
        ("L205", "Open https://a.example.org/YOUR_PROJECT now.", "Open https://a.example.org/app now."),
        ("L603", "Read data/notes.md as well.", "Read /srv/data/notes.md as well."),
    ],
)
def test_a_rule_tells_the_fault_and_leaves_its_double_alone(rule, bad, clean):
    assert rule in rules(bad)
    assert rule not in rules(clean)


def test_clean_prompts_say_nothing_at_all():
    assert lint_prompt("Report the totals of today." + PLAIN) == []
    assert lint_prompt("Today is fine, and so is tomorrow's weather in Berlin, in two lines.") == []


def test_the_mark_of_silence_alone_is_what_counts():
    asks = "If nothing changed, stay silent and answer"
    assert "L501" not in rules(f"{asks} [SILENT].")
    assert "L501" not in rules(f"{asks} `[SILENT]`.")
    assert "L501" in rules(f"{asks} [QUIET].")


def test_what_comes_before_the_prompt_can_be_pointed_at():
    prompt = "Explain the list above in plain words."
    assert "L103" in rules(prompt)
    assert "L103" not in rules(prompt, given=Given(before=True))
    assert "L102" in rules("Say what is new since the last run of it.\n\n" + "x. " * 3)
    assert "L603" not in rules("Read data/notes.md as well.", given=Given(workdir=True))


def test_negation_ends_where_another_order_begins():
    assert "L301" not in rules("Do not ask me anything.")
    assert "L301" not in rules("Decide yourself instead of asking me.")
    assert "L301" in rules("Do not delete it, but ask me first.")
    assert "L302" in rules("Do not delete anything until I confirm.")


def test_a_place_is_line_and_column_of_the_prompt_as_it_was_written():
    text = "\u0130lk sat\u0131r.\nПрочитай файл,\n  как мы \u201cобычно\u201d договорились: и ещё {{город}}."
    places = {hit.rule.id: (hit.line, hit.column, hit.excerpt) for hit in lint_prompt(text)}
    assert places["L201"] == (3, 39, "{{город}}")


def test_short_and_long_prompts_are_warned_of():
    assert [hit.rule.id for hit in lint_prompt("Do it.")] == ["L601"]
    assert [hit.rule.id for hit in lint_prompt("Sum up the day in three lines, please. " * 400)] == ["L602"]
    assert errors(lint_prompt("Do it.")) == []
    assert errors(lint_prompt("Do it."), strict=True)


def test_languages_can_be_chosen():
    text = "Сделай сводку как обычно." + PLAIN
    assert "L109" in {hit.rule.id for hit in lint_prompt(text)}
    assert lint_prompt(text, languages=("en",)) == []
    with pytest.raises(KeyError):
        lint_prompt(text, languages=("xx",))


def test_a_suppression_needs_a_reason_and_is_kept_with_it():
    asks = "Prepare the usual digest.\n"
    (hit,) = lint_prompt(asks + "# ops-lint: allow L109 because the skill says what is usual\n" + PLAIN)
    assert hit.rule.id == "L109" and hit.allowed == "the skill says what is usual"
    told = lint_prompt(asks + "# ops-lint: allow L109\n" + PLAIN)
    assert {(hit.rule.id, hit.allowed) for hit in told} == {("L109", None), ("L001", None)}


def test_a_suppression_by_name_kind_or_in_a_comment_counts_and_the_others_are_told():
    asks = "Prepare the usual digest.\n"
    for written in (
        "ops-lint: allow history.habit because so",
        "ops-lint: allow history because so",
        "<!-- ops-lint: allow l109, L301 because so -->",
    ):
        assert errors(lint_prompt(asks + written + "\n" + PLAIN)) == [], written
    assert "L002" in rules("# ops-lint: allow L999 because so\n")
    assert "L003" in rules("# ops-lint: allow L301 because so\n")


def test_the_reason_is_no_part_of_the_prompt():
    assert rules("# ops-lint: allow L301 because we agreed on the usual format\n") == {"L003"}


def test_whoever_calls_can_allow_too():
    hits = lint_prompt("Prepare the usual digest." + PLAIN, allow=[Allowance("history", "known")])
    assert [hit.allowed for hit in hits] == ["known"]


def test_allowances_are_read_with_their_place():
    found = allowances("x\n# ops-lint: allow L101, L205 because it is so")
    assert [(one.rule, one.reason, one.offset) for one in found] == [
        ("l101", "it is so", 4),
        ("l205", "it is so", 4),
    ]


GROWING = {
    "prose": "Check the hosts and report which of them answered, as we discussed. ",
    "one sentence": "send the report and the list to my ",
    "russian": "Сообщи, какие хосты не ответили как обычно. ",
    "slots": "<your city> {{town}} ",
    "markers": "TODO ",
    "quotes": "\"'«",
    "fences": "```\n",
    "braces": "{{a<[${",
    "paths": "/.-/a@a.",
    "comments": "<!-- ",
    "suppressions": "a\n# ops-lint: allow L101\n",
    "negations": "do not ",
    "orders": "Send it over to my wife on slack. Скинь итог маме в чат. ",
    "earlier runs": "Say what is new since the last run. Draft a mail that asks us. ",
    "brackets": "(a to be (name goes ",
}


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_length_alone(name):
    """20 KB against 80 KB: four times the text may cost some six times the processor time, never sixteen."""
    unit = GROWING[name]

    def cost(size):
        text = (unit * (size // len(unit) + 1))[:size]
        begun = time.process_time()
        lint_prompt(text)
        return time.process_time() - begun

    lint_prompt(unit)
    small, large = min(cost(20_000) for _ in range(3)), min(cost(80_000) for _ in range(2))
    assert large < 11 * max(small, 0.01)


@pytest.mark.parametrize(
    "prompt",
    [
        'Run this: for d in /srv/sites/*; do du -sm "${d}"; done. Say which site grew beyond 2000 MB.',
        "Set API_URL=https://a.example.org and fetch ${API_URL}/rates, then name the three largest changes.",
    ],
)
def test_a_variable_to_which_the_prompt_gives_a_value_is_no_slot(prompt):
    assert not errors(lint_prompt(prompt))
    left = prompt.replace("for d in", "for e in").replace("Set API_URL=https://a.example.org and f", "F")
    assert [one.rule.id for one in errors(lint_prompt(left))] == ["L202"]
