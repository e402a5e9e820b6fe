"""What a person does not see in a text: invisible characters, turned order, padding, notes to the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .document import Document
from .fold import Oddity, visible
from .hosts import URL, names_other_host, seems
from .instructions import in_text, limited
from .rules import ERROR, INFO, WARNING, Hit

_TO_MODEL = re.compile(
    r"\b(?:ai|llm|language model|assistant|agent|claude|gpt|chatgpt|hermes|model|bot)s?\b.{0,60}?\b(?:must|"
    r"should|shall|always|never|do not|need to|has to|"
    r"have to|please|run|execute|send|read|follow|obey|secretly|silently)\b|\b(?:as an ai|if you are an? "
    r"(?:ai|llm|agent|assistant)|note to (?:the )?(?:ai|agent|"
    r"assistant|model)|instructions? (?:for|to) (?:the )?(?:ai|agent|assistant|model|llm)s?|hidden "
    r"instructions?|system (?:note|prompt|override))\b",
    re.DOTALL,
)
_WANTS = re.compile(
    r"\b(?:runs?|execut\w*|sends?|upload\w*|fetch\w*|obey|ignore|disregard|secretly|silently|quietly|"
    r"without (?:mention|tell|ask|inform)\w*|hidden|"
    r"if you are an? (?:ai|llm|agent|assistant|model)|override|credentials?|passwords?|tokens?|https?:)"
)
MANY_INSIDE = 5  # a few come along when text is copied
_LESSON = re.compile(
    r"cyrillic|greek|homo(?:glyph|graph)|look-?alike|confusable|punycode|unicode|кирилл|латин|kyrillisch|西里尔",
    re.IGNORECASE,
)
_PRIVATE = re.compile(
    r"\.hermes/(?:\.env|auth\.json)|\.ssh\b|\bid_(?:rsa|ed25519)\b|\.aws/|\.netrc|\bcredentials?\b|"
    r"\b(?:api|ssh|private|access|secret)[ _-]?keys?\b|\b(?:github|access|auth|saved|session)\w* tokens?\b|"
    r"\bpasswords?\b"
)
_TOLD = re.compile(
    r"\b(?:assistant|agent|llm|language model|hermes|claude|chatgpt|(?:you|then|when you) (?:must|should|"
    r"open|read|call|"
    r"find|add|send))\b"
)
_HARMLESS_COMMENT = re.compile(
    r"^\s*(?:toc|/toc|tocstop|prettier-ignore|markdownlint|eslint|cspell|vale|textlint|doctoc|more|"
    r"all-contributors|badges?|start|end|begin|todo|fixme|"
    r"copyright|spdx|license|generated|auto-?generated|vim:|cover image|omit|include|template|region|"
    r"endregion|no toc|html-validate|snippet)\b"
)
_TOKENS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|"
    r"begin_of_text)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|"
    r"<\uff5c(?:User|Assistant|begin\u2581of\u2581sentence|end\u2581of\u2581sentence)\uff5c>",
    re.IGNORECASE,
)
_SYSTEM_TAG = re.compile(
    r"<(system|system-reminder|system_prompt|system-prompt|developer|admin)>(.{0,2000}?)(?:</\1>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_SYSTEM_LINE = re.compile(
    r"^[^\w\n]*(?:(?:SYSTEM|ADMIN(?:ISTRATOR)?|DEVELOPER|ROOT)[ _-](?:OVERRIDE|DIRECTIVE|COMMAND|BYPASS)|"
    r"(?:BEGIN|NEW|END OF) SYSTEM (?:PROMPT|INSTRUCTIONS?|MESSAGE)|"
    r"(?:MESSAGE|NOTICE|DIRECTIVE|ORDER) FROM (?:THE )?(?:SYSTEM|ANTHROPIC|OPENAI|NOUS(?: RESEARCH)?|YOUR "
    r"DEVELOPERS?|THE DEVELOPERS?|ADMIN\w*))\b",
    re.MULTILINE,
)
_BLANK = r"[ \t\u00a0\u2000-\u200a\u3000]"
_PADDING = re.compile(rf"(?<!{_BLANK}){_BLANK}{{150,}}(?=\S)")
_BLANK_LINES = re.compile(r"(?<=[^\s])[ \t]*(?:\n[ \t]*){60,}(?=\S)")
_CONCEALS = re.compile(
    r"\x1b\[(?:[\d;]*;)?8m|\x1b\[[\d;]*[ABCDHfJKSTsu]|\x1b\]\d+;|[^\n]\r(?!\n)[^\r\n]|\x08{2,}"
)
_LINK = re.compile(r"(?<!!)\[([^\]\n]{3,300})\]\(\s*<?(https?://[^\s)>]{3,1000})>?")
_DATA_IMAGE = re.compile(
    r"!\[[^\]]{0,300}\]\(\s*<?(https?://[^\s)>]*[?&=/](?:\{+|<|\$\{?|\[|%7B|%3C)[^\s)]{0,200})|"
    r"<img\b[^>]{0,300}src\s*=\s*[\"'](https?://[^\"']*[?&=](?:\{+|<|\$\{?|\[)[^\"']{0,200})",
    re.IGNORECASE,
)
_PRIVATE_SLOT = re.compile(
    r"conversation|history|secret|token|key|env|base64|data|chat|prompt|message|context|summary|content|"
    r"password|cred|memory|file",
    re.IGNORECASE,
)

# rule, severity in a page, severity in code, what is said of it
_ODD = {
    "tags": ("skill.invisible", ERROR, ERROR, "invisible tag characters spell text"),
    "selectors": ("skill.invisible", ERROR, ERROR, "a run of variation selectors carries data"),
    "run": ("skill.invisible", WARNING, WARNING, "several invisible characters in a row"),
    "inside": ("skill.invisible", INFO, WARNING, "an invisible character inside a word"),
    "override": ("skill.bidi", ERROR, ERROR, "an override that turns the order of letters around"),
    "unbalanced": ("skill.bidi", WARNING, ERROR, "a direction mark that nothing ends"),
    "bidi-without-rtl": (
        "skill.bidi",
        INFO,
        ERROR,
        "direction marks where nothing is written from right to left",
    ),
    "mixed": ("skill.lookalike", WARNING, WARNING, "a word mixes letters of two alphabets"),
}


def hidden(page: Document, is_code: bool) -> list[Hit]:
    """Every trace of text that is not meant to be seen, and of text that speaks in another's name."""
    first = {(one.what, one.line): one for one in reversed(page.folded.oddities)}
    hits = [_odd(page, one, is_code) for one in first.values()]
    inside = [one for one in page.folded.oddities if one.what == "inside"]
    if len(inside) >= MANY_INSIDE and not is_code:
        text = f"{len(inside)} invisible characters inside of words"
        shown = (visible(page.line_text(inside[0].line).strip()),)
        hits.append(Hit("skill.invisible", WARNING, page.path, inside[0].line, text, shown, "inside words"))
    if page.is_page:
        hits += _notes(page)
        hits += _other_voices(page)
        hits += _links(page)
    hits += _placed(page, is_code)
    return limited(hits)


def _odd(page: Document, odd: Oddity, is_code: bool) -> Hit:
    rule, in_page, in_code, what = _ODD[odd.what]
    severity = in_code if is_code else in_page
    if odd.what == "run" and len(odd.text) and sum(not one.isprintable() for one in odd.text) >= 16:
        severity = ERROR
    if odd.what == "tags" and len(odd.text.strip()) < 4:
        severity = WARNING
    if odd.what == "mixed" and page.is_page and _LESSON.search(page.line_text(odd.line)):
        severity = (
            INFO  # it says of itself that it shows look-alikes; what they would spell is looked at anyway
        )
    evidence = [visible(page.line_text(odd.line).strip())]
    if odd.what in ("tags", "selectors"):
        evidence.append(f"understood as: {visible(odd.text)}")
    return Hit(rule, severity, page.path, odd.line, what, tuple(evidence), odd.text[:200])


def _notes(page: Document) -> Iterator[Hit]:
    for one in page.hidden:
        text = one.text.strip()
        line = page.line_of(one.start)
        private = _PRIVATE.search(text)
        if private and _TOLD.search(text) and in_text(text) is None:
            what = f"a {one.how} that speaks of credentials"
            yield Hit("skill.hidden-text", WARNING, page.path, line, what, (visible(text),), text[:2000])
        elif one.how == "comment":
            if _HARMLESS_COMMENT.match(text) or not text:
                continue
            if _TO_MODEL.search(text) and in_text(text) is None:
                severity = WARNING if _WANTS.search(text) else INFO
                yield Hit(
                    "skill.hidden-text",
                    severity,
                    page.path,
                    line,
                    "a comment that speaks to the model",
                    (visible(text),),
                    text[:200],
                )
        elif (
            one.how == "hidden element"
            and len(text.split()) >= 3
            and page.path.lower().endswith((".md", ".mdx", ".markdown"))
        ):
            severity = ERROR if _TO_MODEL.search(text) else WARNING
            yield Hit(
                "skill.hidden-text",
                severity,
                page.path,
                line,
                "an element that is not shown",
                (visible(text),),
                text[:200],
            )
        elif (
            one.how in ("text of an image", "title of a link", "attribute")
            and _TO_MODEL.search(text)
            and len(text.split()) >= 6
        ):
            yield Hit(
                "skill.hidden-text",
                WARNING,
                page.path,
                line,
                f"the {one.how} speaks to the model",
                (visible(text),),
                text[:200],
            )


def _other_voices(page: Document) -> Iterator[Hit]:
    source = page.source.removeprefix("\ufeff")
    aligned = source if len(source) == len(page.folded.text) else page.folded.text
    for pattern, severity, what in (
        (_TOKENS, ERROR, "marks of a chat between system and model"),
        (_SYSTEM_TAG, WARNING, "a part that pretends to be the system's"),
        (_SYSTEM_LINE, ERROR, "a line that pretends to come from the system"),
    ):
        for found in pattern.finditer(aligned):
            if page.is_quoted(found.end() - 1, found.end()) or found.start() < page.body_start:
                continue
            if pattern is _SYSTEM_TAG and not found[2].strip():
                continue
            line = page.line_of(found.start())
            yield Hit(
                "skill.authority",
                severity,
                page.path,
                line,
                what,
                (visible(page.line_text(line).strip()),),
                found[0][:200],
            )


def _links(page: Document) -> Iterator[Hit]:
    for number, line in enumerate(page.source_lines, 1):
        if len(line) > 20_000 or "://" not in line:
            continue
        start = page.start_of(number)
        in_code = page.fence_at(start) is not None
        for found in _LINK.finditer(line) if not in_code else ():
            if names_other_host(found[1], found[2]):
                yield Hit(
                    "skill.link",
                    WARNING,
                    page.path,
                    number,
                    "a link leads to another host than it shows",
                    (visible(found[0]),),
                    found[0][:200],
                )
        for found in URL.finditer(line):
            why = seems(found[0])
            if why and not in_code:
                yield Hit(
                    "skill.link",
                    WARNING,
                    page.path,
                    number,
                    f"an address is not what it seems: {why}",
                    (visible(found[0]),),
                    found[0][:200],
                )
        for found in _DATA_IMAGE.finditer(line) if not in_code else ():
            url = found[1] or found[2]
            slot = re.split(r"[?&=/](?=\{|<|\$|\[|%7B|%3C)", url, maxsplit=1)[-1]
            if _PRIVATE_SLOT.search(slot) and "`" not in line[: found.start()]:
                text = "an image whose address is to be filled with data: showing it sends them"
                yield Hit(
                    "skill.exfiltrate", ERROR, page.path, number, text, (visible(found[0]),), found[0][:200]
                )


def _placed(page: Document, is_code: bool) -> Iterator[Hit]:
    """Text pushed out of sight, and characters that make a terminal hide it."""
    source = page.source
    for found in _PADDING.finditer(source):
        number = source.count("\n", 0, found.start()) + 1
        line = page.line_text(number)
        if line.count("|") > 3 or (page.fence_at(page.start_of(number)) is not None and not is_code):
            continue
        after = source[found.end() : found.end() + 160].split("\n", 1)[0]
        yield Hit(
            "skill.hidden-text",
            WARNING,
            page.path,
            number,
            "text pushed far to the right",
            (visible(after),),
            after[:200],
        )
    for found in _BLANK_LINES.finditer(source):
        number = source.count("\n", 0, found.end()) + 1
        yield Hit(
            "skill.hidden-text",
            WARNING,
            page.path,
            number,
            "text behind a screen of blank lines",
            (visible(page.line_text(number)),),
            "blank lines",
        )
    if "\x1b" in source or "\r" in source.replace("\r\n", "\n") or "\x08" in source:
        found = _CONCEALS.search(source if "\n" in source else "")
        if found:
            number = source.count("\n", 0, found.start()) + 1
            yield Hit(
                "skill.terminal",
                WARNING,
                page.path,
                number,
                "a terminal hides or overwrites text here",
                (ascii(page.line_text(number)[:120]),),
                found[0],
            )
