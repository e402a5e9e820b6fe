"""Patterns: what a phrase needs beside it, what keeps it from being a fault, what only looks like one."""

import pytest

from hermes_ops.schedule.lint.patterns import read_patterns
from hermes_ops.schedule.lint.phrases import Matcher
from hermes_ops.schedule.lint.prompt import lint_prompt
from hermes_ops.schedule.lint.text import read_prompt

PLAIN = " Name the totals by month, the largest first."


def rules(text):
    return {hit.rule.id for hit in lint_prompt(text + PLAIN)}


@pytest.mark.parametrize(
    "rule, bad, clean",
    [
        # delivery: a verb of passing on in an order, with a channel or a recipient
        ("L402", "Add it up, then sling it into the band chat.", "Add up what was slung into the band chat."),
        ("L402", "Stick the result in the #ops room.", "Say what stands in the #ops room."),
        ("L402", "When done poke the webhook with the sum.", "Count which services poke the webhook."),
        ("L402", "Hand the landlord a text with the sum.", "Hand in a text with the sum."),
        ("L402", "I want it on my phone by noon.", "I want it by noon."),
        ("L402", "The table should land in the ops channel.", "The table should hold the ops channel."),
        ("L402", "Drop it in the inbox of Ann on Slack.", "Drop it into the folder inbox /srv/in."),
        ("L402", "Посчитай и закинь в чат смены.", "Посчитай, что писали в чат смены."),
        ("L402", "Итог улетает письмом директору.", "Итог попадёт к директору сам, письмом не надо."),
        ("L402", "В канал выложи три новости.", "В канал ничего не выкладывай."),
        ("L402", "Сумму сообщи и позвони бухгалтеру.", "Сумму сообщи. Кто звонил бухгалтеру?"),
        # human: an answer, a reading, a consent of a person in the run
        ("L302", "Give one riddle and see what I guess.", "Give one riddle and its answer."),
        ("L302", "Delete it only once the manager signs off.", "List what the manager signs off."),
        ("L302", "Wait to hear which one I like.", "Say which one readers like."),
        ("L301", "Grab the reading off him.", "Grab the reading off the page."),
        ("L301", "Have someone on site confirm it.", "Have the table sorted by site."),
        ("L301", "Double-check with Lena before you move it.", "Double-check before you move it."),
        ("L301", "Get Olga's okay before the restart.", "List what has the okay status."),
        ("L301", "Согласуй список с Ольгой.", "Ни с кем список не согласовывай."),
        ("L301", "Уточни сумму у Петра.", "Уточни сумму на сайте https://a.example.org."),
        ("L302", "Предложишь три темы, я выберу.", "Предложи три темы и выбери одну."),
        ("L302", "Ждёшь мой ответ и правишь его.", "Ждёшь ответ сервера и пишешь код."),
        ("L302", "Удаляй после того, как Пётр подтвердит.", "Удаляй, когда тест подтвердит."),
        # history: definite references to what was agreed, given, passed
        ("L101", "Leave out the towns we already ruled out.", "Leave out towns under 1000 people."),
        ("L101", "Mind the limits we settled on.", "Mind the limits in /srv/limits.toml we settled on."),
        ("L101", "Sort it the way you did.", "Sort it the way the page does."),
        ("L107", "Name the plants in the pic.", "Name the plants in the picture /srv/p.jpg."),
        ("L105", "Pick the tale up where it ended.", "Pick three tales up to a page long."),
        ("L102", "Use the prices you quoted.", "Use the prices they quoted."),
        ("L101", "Возьми темы, которые мы отобрали.", "Возьми темы, которые отобрало жюри."),
        ("L101", "Добавь в табличку, что я скинул.", "Добавь в /srv/t.csv, что пришло."),
        ("L102", "Перечисли новое с того раза.", "Скажи, когда в последний раз шёл дождь."),
        ("L102", "Слова, что уже прошли, не бери.", "Слова из /srv/w.txt не бери."),
        # placeholders
        ("L204", "News of [RIVAL 1] and [RIVAL 2].", "Count lines with [ERROR] in them."),
        ("L204", "Weather in [CITY].", "Scan for merge tags like [CITY] in it."),
        ("L205", "The party (date: TBC, in May).", "Count talks whose room says TBC."),
        ("L205", "Warn above XX metres.", "Warn of the XX century."),
        ("L205", "Поздравь ИМЯ ФАМИЛИЯ.", "Столбцы: ИМЯ ФАМИЛИЯ."),
        ("L205", "Город такой-то, погода.", "Город Тверь, погода."),
        ("L205", "Порог: уточнить.", "Порог уточнить по файлу."),
        ("L205", "Meet (name to be added).", "Meet (names are in the list)."),
        ("L201", "Weather in #CITY#.", "Posts about #city today."),
        # silence
        ("L501", "Only chime in if it fails.", "Only list it if it fails."),
        ("L501", "No hits = no output.", "No hits: write a line."),
        ("L501", "If dry, keep schtum.", "If dry, water it."),
        ("L501", "Нет изменений — молчок.", "Нет изменений — так и скажи."),
        ("L501", "Голос подавай только если упало.", "Голос диктора опиши, если есть."),
        ("L501", "Если пусто, писать незачем.", "Если пусто, пиши прочерк."),
        ("L502", "Answer '[SILENT] all is well'.", "Never answer '[SILENT] all is well'."),
        ("L502", "Write 'all quiet' followed by [SILENT].", "Write [SILENT] alone."),
        ("L502", "Ответь [SILENT] и перечисли темы.", "Ответь ровно [SILENT]."),
    ],
)
def test_a_pattern_tells_the_fault_and_leaves_its_double_alone(rule, bad, clean):
    assert rule in rules(bad)
    assert not {found for found in rules(clean) if found[1] in "12345"}


@pytest.mark.parametrize(
    "clean",
    [
        "Draft an email that asks the tenants to text me by Friday.",
        "Составь письмо родителям с просьбой ответить мне, пока я не подтвердил заказ.",
        "Write a checklist for a phone interview: greet, ask about pay, say goodbye.",
        "Подготовь памятку курьеру: спросить код двери, улыбаться.",
        "Do not send new mails; list the drafts.",
        "Набросай письмо. Отправлять не нужно.",
        "Give one journaling question. I will write my answer in my notebook.",
        "Дай вопрос на вечер. Ответ я запишу сам.",
        "Write the reply. I'll send it on from my own account.",
        "Если новостей нет, ответь ровно [SILENT], молчать нельзя без метки.",
        "Молчать нельзя: если новостей нет, напиши об этом.",
        "Sort the requests: urgent, today, can wait. Заявки: срочно, может подождать.",
        "Read /srv/x.sha (written by the previous run) and compare it with the page.",
        "List what is new since the last run. The ids are in /srv/ids.json; replace it.",
        "Rates please:\nUSD\nCHF\nNOK\nOnly those in the list above.",
        "Leave {guest} and {room} as they are in the text.",
    ],
)
def test_what_only_looks_like_an_order_is_left_alone(clean):
    assert not {found for found in rules(clean) if found[1] in "12345"}


def held(row, text, sets=None):
    """The texts that a pattern of one row holds for."""
    sets = sets or {"kind": "chat *room"}
    (pattern,) = read_patterns([{"rule": "L402", **row}], sets).values()
    prompt = read_prompt(text)
    matcher = Matcher({"x": pattern.phrases}, sets)
    matches = [match for sentence in prompt.sentences for match in matcher.find(sentence)]
    return [text[one.start : one.end] for one in matches if pattern.holds(one, prompt, frozenset(["not"]))]


def test_a_pattern_holds_by_the_words_beside_it():
    row = {"phrases": "send", "beside": ["@kind"], "unless": "draft", "within": 4}
    assert held(row, "Send it to the chatroom.") == ["Send"]
    assert held(row, "Send it to the rooms.") == []
    assert held(row, "Send it off to all of the chatroom.") == []
    assert held(row, "Send the draft to the chat.") == []


def test_a_pattern_may_need_a_prompt_that_names_no_place_or_a_phrase_that_denies_nothing():
    assert held({"phrases": "send ..3 now", "bare": True}, "Read /srv/x. Send it now.") == []
    assert held({"phrases": "send ..3 now", "positive": True}, "Send it not now.") == []
    assert held({"phrases": "send ..3 now"}, "Read /srv/x. Send it not now.") == ["Send it not now"]


@pytest.mark.parametrize("row", [{"phrases": "a", "near": "b"}, {"phrases": "a", "unless": "@none"}, {}])
def test_a_row_that_cannot_be_read_is_refused(row):
    with pytest.raises(ValueError, match="pattern 0"):
        read_patterns([{"rule": "L402", **row}], {})
