"""The parts of a page: frontmatter, prose, fenced and inline code, quotations, headings, what is not shown.

Works on folded text (fold.py). A part that is taken out of a word leaves GONE, so that offsets stay those of
the folded text and a word that markup breaks up is still one word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from .fold import Folded, fold
from .words import GONE

_FENCE = re.compile(r"^[ \t>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})[ \t]*\{?\.?([\w+#.-]*)")
_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(\S.{0,300})$|^([^\s#>|`-].{0,200})\n[=-]{3,}[ \t]*$", re.MULTILINE
)
_COMMENT = re.compile(r"(?<!\\)<!--(.*?)(?:-->|\Z)", re.DOTALL)
_COMMENT_LINK = re.compile(
    r"""^[ \t]{0,3}\[[^\]\n]{1,40}\]:[ \t]*(?:#|<>|/)[ \t]*(?:"([^"]*)"|\(([^()]*)\)|'([^']*)')[ \t]*$""",
    re.MULTILINE,
)
_HIDING = re.compile(
    r"""<(\w{1,20})\b[^<>]{0,300}?(?:style\s*=\s*["'][^"'<>]{0,200}?(?:display\s*:\s*none|"
    r"visibility\s*:\s*hidden|"""
    r"""font-size\s*:\s*0(?:\.0+)?(?:[a-z%]|;|["'])|opacity\s*:\s*0(?:\.0\d*)?\s*[;"']|"""
    r"""(?<![\w-])color\s*:\s*(?:#fff(?:fff)?\b|white\b|transparent|rgba\([^)]{0,40},\s*0(?:\.0\d*)?\))"""
    r"""(?![^"']{0,200}background)|left\s*:\s*-\d{3,}|text-indent\s*:\s*-\d{3,})|\bhidden(?:[\s>=])|"""
    r"""\bcolor\s*=\s*["']?(?:white|#fff))[^<>]{0,300}>(.*?)(?:</\1\s*>|\Z)""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""\b(?:alt|title|aria-label|aria-description|content|data-[\w-]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')"""
)
_IMAGE = re.compile(r"""!\[([^\]]{0,5000})\](?:\(([^()\s]{0,2000})(?:\s+["']([^"']{0,5000})["'])?\s*\))?""")
_LINK_TITLE = re.compile(r"""\]\([^()\s]{1,2000}\s+["']([^"']{1,5000})["']\s*\)""")
_TAG = re.compile(r"</?([a-z][\w:.-]{0,40})[^<>]{0,2000}>")
_ANY_ATTRIBUTE = re.compile(r"""[\w:.-]{1,40}\s*=\s*(?:"([^"]{8,5000})"|'([^']{8,5000})')""")
# Tags inside a word leave it whole; every other one that is known parts what stands before and after it.
_IN_WORDS_LIST = """
    a abbr acronym b bdi bdo big cite code data dfn del em font i ins kbd label mark q rp rt ruby s samp
    small span
    strike strong sub sup time tspan tt u var wbr w:r w:rpr w:t a:r a:rpr a:t r t
"""
_IN_WORDS = frozenset(_IN_WORDS_LIST.split())
_BLOCKS_LIST = """
    address article aside blockquote body br button canvas caption center col colgroup dd desc details
    dialog div dl
    dt fieldset figcaption figure footer form frame frameset g h1 h2 h3 h4 h5 h6 head header hr html iframe
    img input
    legend li link main map menu meta metadata nav noscript object ol optgroup option p param path pre
    progress
    rect section select source summary svg table tbody td template text textarea tfoot th thead title tr
    track ul
    video w:p w:br w:tab w:tc w:tr w:cr a:p a:br text:p text:h text:tab text:line-break si row string key
    value item
"""
_BLOCKS = frozenset(_BLOCKS_LIST.split())
_GLUED = re.compile(r"[^\W_]\x00*\x01[\x00\x01]*[^\W_]")
_ORDERS = re.compile(
    r"\b(?:do|follow|obey|carry out|perform|apply|execute|run)\s+(?:exactly\s+)?(?:what\s+)?(?:the|this|"
    r"that)\s+(?:\w+\s+)?"
    r"(?:block|example|quotation|quote|snippet|order|text|code|line)s?\s+"
    r"(?:says?|tells?|orders?|asks?|(?:above|below)\s+(?:with|using|in)\s+(?:the|your)\s+terminal|"
    r"(?:above|below)\s+says?)"
)
_CLASS = re.compile(
    r"""\.([a-z][\w-]{0,40})\s*\{[^}]{0,300}?(?:font-size\s*:\s*0(?:\.0+)?(?:[a-z%;}]|\s)|"
    r"display\s*:\s*none|"""
    r"""visibility\s*:\s*hidden|opacity\s*:\s*0\s*[;}]|(?:left|text-indent)\s*:\s*-\d{3,})"""
)
_SILENT = re.compile(r"<(script|style)\b[^>]{0,300}>(.*?)(?:</\1\s*>|\Z)", re.DOTALL)
_MARKUP = re.compile(r"(?<=[^\W_])[*`~\\]+(?=[^\W_])")
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(nbsp|shy|zwnj|zwj|amp|lt|gt|quot));")
_ESCAPE = re.compile(r"\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})|\\([nrt])(?=[a-z])")
_INLINE = re.compile(r"(`{1,3})(?!`)([^\n]{1,2000}?)(?<!`)\1(?!`)")
_LINE = r"(?!\n[ \t]*\n)"  # a quotation goes on over the end of a line, not of a paragraph
_QUOTES = re.compile(r"\"[^\"\n]{2,600}\"|"
                     rf"(?<![\w\"])\"(?=[^\s\"])(?:{_LINE}[^\"]){{2,600}}(?<=\S)\"(?!\w)|"
                     rf"“(?:{_LINE}[^”]){{2,600}}”|„(?:{_LINE}[^“”]){{2,600}}[“”]|«(?:{_LINE}[^»]){{2,600}}»|"
                     rf"「(?:{_LINE}[^」]){{2,600}}」|『(?:{_LINE}[^』]){{2,600}}』|"
                     r"(?<![\w'])'[^'\n]{2,600}'(?!\w)|‘[^’\n]{2,600}’")  # fmt: skip


UNSURE = "\x01"  # a tag that nobody here knows: read as nothing, and as a blank


@dataclass(frozen=True)
class Fence:
    """A fenced or indented block: its language, its first line (from 1), its lines as in the source."""

    language: str
    line: int
    code: str
    start: int
    end: int


@dataclass(frozen=True)
class Hidden:
    """A text that a page does not show: `how` it is hidden, where it begins in the folded text."""

    how: str
    start: int
    text: str


@dataclass
class Document:
    """A text of a skill with its parts; `is_page` for Markdown and HTML, whose markup has a meaning.

    ``visible`` is what is shown; ``apart`` the same with a blank for every tag, where that differs.
    """

    path: str
    source: str
    folded: Folded
    is_page: bool
    fences: list[Fence] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)
    visible: str = ""
    apart: str = ""
    body_start: int = 0

    @cached_property
    def has_orders(self) -> bool:
        """Whether the page tells its reader to do what a block or an example in it says."""
        return any(
            not re.search(
                r"\b(?:never|not|don.?t|nobody|cannot)[^\w.\n]+(?:\w+[^\w.\n]+){0,3}$",
                self.visible[max(0, at - 60) : at],
            )
            for at in (found.start() for found in _ORDERS.finditer(self.visible))
        )

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.folded.text))]

    @cached_property
    def _fence_starts(self) -> list[int]:
        return [fence.start for fence in self.fences]

    @cached_property
    def source_lines(self) -> list[str]:
        return self.source.removeprefix("\ufeff").split("\n")

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """Offset and text of every heading outside of code."""
        if not self.is_page:
            return []
        return [
            (found.start(), found[1] or found[2])
            for found in _HEADING.finditer(self.folded.text)
            if self.fence_at(found.start()) is None and found.start() >= self.body_start
        ]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        pattern = re.compile(f"{_INLINE.pattern}|{_QUOTES.pattern}")
        return [found.span() for found in pattern.finditer(self.folded.text)]

    def line_of(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def line_text(self, number: int) -> str:
        """A line of the source, "" where there is none."""
        return self.source_lines[number - 1] if 0 < number <= len(self.source_lines) else ""

    def passage(self, line: int) -> str:
        """The block of code or the paragraph that a line of the source stands in, blanks counted as one."""
        fence = self.fence_at(self.start_of(line))
        if fence is not None:
            return " ".join(fence.code.split())
        lines, first, last = self.source_lines, line - 1, line
        while 0 < first < len(lines) and lines[first - 1].strip():
            first -= 1
        while last < len(lines) and lines[last].strip():
            last += 1
        return " ".join(" ".join(lines[max(0, first) : last]).split())

    def is_hidden(self, line: int) -> bool:
        """Whether something that is not shown stands on a line."""
        return any(
            self.line_of(one.start) <= line <= self.line_of(one.start + len(one.text)) for one in self.hidden
        )

    def start_of(self, line: int) -> int:
        """Offset of the beginning of a line in the folded text."""
        return self._line_starts[min(line, len(self._line_starts)) - 1]

    def fence_at(self, offset: int) -> Fence | None:
        at = bisect_right(self._fence_starts, offset) - 1
        return self.fences[at] if at >= 0 and offset < self.fences[at].end else None

    def is_quoted(self, start: int, end: int) -> bool:
        """Whether a place lies in code, in quotation marks or in a quoted paragraph."""
        if self.is_page and self.fence_at(start) is not None:
            return True
        at = bisect_right(self._spans, (start, len(self.folded.text)))
        if at and self._spans[at - 1][0] < start and end <= self._spans[at - 1][1]:
            return True
        first = self.start_of(self.line_of(start))
        return self.is_page and self.folded.text[first : min(start, first + 20)].lstrip().startswith(
            (">", "|")
        )

    def sentence(self, start: int, end: int) -> tuple[str, str]:
        """What stands before and after a place in its sentence, at most 300 characters each."""
        text = self.folded.text
        before = re.split(r"[.!?。！？]\s|\n\s*\n|\n\s*[-*#]", text[max(0, start - 300) : start])[-1]
        after = re.split(r"[.!?。！？](?:\s|$)|\n\s*\n|\n\s*[-*#]", text[end : end + 300])[0]
        return before, after

    def around(self, start: int, end: int) -> str:
        """What a reader has just read: the paragraphs before a place, the one after, the headings above it.

        Of a block of code its comments; addresses are left out, since an attacker chooses their words.
        """
        text, fence = self.folded.text, self.fence_at(start)
        comments = ""
        if fence is not None:
            start, end = fence.start, fence.end
            comments = "\n".join(re.findall(r"^\s*(?:#|//|--|rem ).*$", text[start:end], re.MULTILINE)[:10])
        before = text[max(self.body_start, start - 1500) : start].rstrip()
        near = "\n".join(re.split(r"\n[ \t]*\n", before)[-2:])[-800:]
        after = re.split(r"\n[ \t]*\n", text[end : end + 500].lstrip("\n"))[0]
        above = [title for offset, title in self.headings[1:] if offset <= start][-2:]
        return re.sub(r"https?://\S+", " ", "\n".join((*above, near, comments, after)))

    @property
    def title(self) -> str:
        return self.headings[0][1] if self.headings else ""


def document(path: str, source: str, is_page: bool) -> Document:
    """Take a text apart."""
    folded = fold(source)
    found = Document(path, source, folded, is_page)
    text = folded.text
    if is_page:
        found.body_start = _frontmatter_end(text)
        found.fences = _fences(found)
        shown = list(text)
        covered = _mask(text, found.fences)
        _hide(found, shown, covered)
        text = "".join(shown)
        if UNSURE in text:
            if _GLUED.search(text):
                found.apart = _plain(text.replace(UNSURE, " "))
            text = text.replace(UNSURE, GONE)
    found.visible = _plain(text)
    return found


def _plain(text: str) -> str:
    """A text with its entities and escapes decoded and the markup inside its words gone."""
    text = _ENTITY.sub(_entity, text) if "&" in text else text
    text = _ESCAPE.sub(_escape, text) if "\\" in text else text
    return _MARKUP.sub(lambda one: GONE * len(one[0]), text)


def inline_code(line: str) -> list[str]:
    """The code spans of a line of the source."""
    return [found[2].strip() for found in _INLINE.finditer(line)]


def _frontmatter_end(text: str) -> int:
    if not text.startswith("---"):
        return 0
    end = re.compile(r"\n---[ \t]*(?:\n|$)").search(text, 3)
    return end.end() if end else 0


def _fences(page: Document) -> list[Fence]:
    found, lines, starts = [], page.folded.text.split("\n"), page._line_starts
    source, number = page.source_lines, 0
    while number < len(lines):
        opening = _FENCE.match(lines[number]) if starts[number] >= page.body_start else None
        if opening:
            mark, last = opening[1], number + 1
            closing = re.compile(rf"^[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
            while last < len(lines) and not closing.match(lines[last]):
                last += 1
            found.append(_fence(opening[2], number + 1, last, source, starts, page))
            number = last + 1
        elif _is_indented(lines, number) and starts[number] >= page.body_start:
            last = number
            while last < len(lines) and (not lines[last].strip() or lines[last].startswith(("    ", "\t"))):
                last += 1
            found.append(_fence("", number, last, source, starts, page))
            number = last
        else:
            number += 1
    return found


def _fence(
    language: str, first: int, last: int, source: list[str], starts: list[int], page: Document
) -> Fence:
    quoted = re.compile(r"^[ \t]*>[ \t]?")
    code = "\n".join(quoted.sub("", line) for line in source[first:last])
    end = starts[last] if last < len(starts) else len(page.folded.text)
    return Fence(language, first + 1, code, starts[first] if first < len(starts) else end, end)


def _is_indented(lines: list[str], number: int) -> bool:
    """An indented block: after a blank line, and not the rest of a list."""
    if not lines[number].startswith(("    ", "\t")) or not lines[number].strip():
        return False
    if number and lines[number - 1].strip():
        return False
    for line in reversed(lines[max(0, number - 30) : number]):
        if line.strip():
            return not line.startswith((" ", "\t")) and not re.match(r"[-*+] |\d+[.)] ", line)
    return True


def _mask(text: str, fences: list[Fence]) -> str:
    """The text with its code blocked out: what looks like a comment there is shown."""
    parts, at = [], 0
    for fence in fences:
        parts += [text[at : fence.start], re.sub(r"[^\n]", " ", text[fence.start : fence.end])]
        at = fence.end
    masked = "".join([*parts, text[at:]])
    return _INLINE.sub(lambda found: " " * len(found[0]), masked)


def _hide(page: Document, shown: list[str], covered: str) -> None:
    """Take comments, hidden elements, attributes and tags out of what is shown."""

    def out(start: int, end: int) -> None:
        for i in range(start, end):
            if shown[i] != "\n":
                shown[i] = GONE

    for pattern, how in ((_COMMENT, "comment"), (_COMMENT_LINK, "comment"), (_HIDING, "hidden element")):
        for found in pattern.finditer(covered):
            group = (
                2
                if pattern is _HIDING
                else next((i for i in range(1, (found.lastindex or 0) + 1) if found[i]), 0)
            )
            if group:
                page.hidden.append(
                    Hidden(how, found.start(group), page.folded.text[slice(*found.span(group))])
                )
            out(*found.span())
        covered = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), covered)
    for pattern, how in (
        (_ATTRIBUTE, "attribute"),
        (_IMAGE, "text of an image"),
        (_LINK_TITLE, "title of a link"),
    ):
        for found in pattern.finditer(covered):
            for group in range(1, (pattern.groups or 0) + 1):
                if found[group] and not (pattern is _IMAGE and group == 2):
                    page.hidden.append(Hidden(how, found.start(group), found[group]))
            if pattern is _IMAGE:
                out(*found.span())
    classes = {found[1] for style in _SILENT.finditer(covered) for found in _CLASS.finditer(style[2])}
    if classes:
        page.hidden += _of_classes(page, covered, classes)
    for found in _SILENT.finditer(covered):
        out(*found.span())
    for found in _TAG.finditer(covered):
        start, end = found.span()
        out(start, end)
        if found[1] in _BLOCKS:
            shown[start] = " " if shown[start] == GONE else shown[start]
        elif found[1] not in _IN_WORDS:
            shown[start] = UNSURE
        if end - start > 20 and "=" in found[0]:
            page.hidden += _attributes(page, found)


def _of_classes(page: Document, covered: str, classes: set[str]) -> Iterator[Hidden]:
    """Elements that a class hides."""
    names = "|".join(map(re.escape, sorted(classes)[:50]))
    element = re.compile(
        rf"""<(\w{{1,20}})\b[^<>]{{0,300}}?class\s*=\s*["'](?:[^"'<>]{{0,100}}\s)?(?:{names})(?:\s[^"'<>]{{0,100}})?["']"""
        r"""[^<>]{0,300}>(.*?)(?:</\1\s*>|\Z)""",
        re.DOTALL,
    )
    for found in element.finditer(covered):
        yield Hidden("hidden element", found.start(2), page.folded.text[slice(*found.span(2))])


def _attributes(page: Document, tag: re.Match[str]) -> Iterator[Hidden]:
    """Texts of at least four words in the attributes of a tag."""
    for found in _ANY_ATTRIBUTE.finditer(tag[0]):
        text = found[1] or found[2]
        if text.count(" ") >= 3 and not _ATTRIBUTE.match(found[0]):
            yield Hidden("attribute", tag.start() + found.start(1 if found[1] else 2), text)


def _entity(found: re.Match[str]) -> str:
    number = int(found[1]) if found[1] else int(found[2], 16) if found[2] else 0
    if found[3]:
        character = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "nbsp": " "}.get(found[3], GONE)
    else:
        character = chr(number) if 0 < number < 0x110000 and chr(number).isprintable() else GONE
    return character.lower()[:1] + GONE * (len(found[0]) - 1)


def _escape(found: re.Match[str]) -> str:
    if found[3]:
        return "  "
    number = int(found[1] or found[2], 16)
    character = chr(number) if number < 0x110000 and chr(number).isprintable() else " "
    return character.lower()[:1] + GONE * (len(found[0]) - 1)
