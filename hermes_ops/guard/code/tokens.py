"""Tokens of script languages: strings with what is put into them, names, numbers, operators."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..judge.invocation import UNKNOWN

# What is longer is read up to here.
LIMIT = 40_000
TOKENS = 4_000

STRING, SHELL, NAME, NUMBER, OPERATOR, END, WORDS = (
    "string",
    "shell",
    "name",
    "number",
    "operator",
    "end",
    "words",
)


@dataclass(slots=True)
class Token:
    """`text` is the content. `parts`: of a string with something put in, texts and (code,) in turn."""

    kind: str
    text: str
    parts: list[str | tuple[str]] | None = None
    spaced: bool = False  # white space before it


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a language writes comments, strings and names."""

    comments: str
    name: str
    interpolation: str = ""  # a pattern with the group "code" for what is put into strings
    single_escapes: bool = False  # '\n' is a newline, as in JavaScript
    single_interpolates: bool = False
    backtick: str = ""  # "shell" or "template"
    regex: bool = False
    quote_words: bool = False  # q{} qq{} qx{} qw{} of Perl, %q %w %x of Ruby
    here_documents: str = ""
    long_brackets: bool = False  # [[ ]] of Lua
    newline_ends: bool = True
    single_quotes: bool = True
    semicolon: str = ";"
    extra: frozenset[str] = field(default_factory=frozenset)


_QUALIFIED = r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*[!?]?)*"
SYNTAX: dict[str, Syntax] = {
    "node": Syntax(
        comments=r"//[^\n]*|/\*.*?(?:\*/|\Z)|\A#![^\n]*",
        name=r"[A-Za-z_$#@][\w$]*",
        interpolation=r"\$\{(?P<code>[^{}]*)\}",
        single_escapes=True,
        backtick="template",
        regex=True,
    ),
    "perl": Syntax(
        comments=r"#[^\n]*|^=\w+.*?(?:^=cut[^\n]*|\Z)|^__END__.*",
        name=rf"[$@%&*]{{1,8}}(?:\{{\^?\w+\}}|{_QUALIFIED}|[0-9]+|[!_@&/\\;,.])|{_QUALIFIED}",
        interpolation=r"\$\{?(?P<code>[A-Za-z_]\w*(?:\{[^{}\"]*\}|->\{[^{}\"]*\}|\[-?\d+\])?)\}?"
        r"|@\{\[(?P<code2>.*?)\]\}|@(?P<code3>ARGV|F|_)\b",
        backtick="shell",
        regex=True,
        quote_words=True,
        here_documents=r"<<~?(?:\"(\w+)\"|'(\w+)'|(\w+))",
        newline_ends=False,
    ),
    "ruby": Syntax(
        comments=r"#(?!\{)[^\n]*|^=begin.*?(?:^=end|\Z)|^__END__.*",
        name=r"[$@:]{0,2}[A-Za-z_]\w*(?:(?:\.|::|&\.)[A-Za-z_]\w*)*[!?]?",
        interpolation=r"#\{(?P<code>[^{}]*)\}",
        backtick="shell",
        regex=True,
        quote_words=True,
        here_documents=r"<<[~-](?:\"(\w+)\"|'(\w+)'|(\w+))|<<(?:\"([A-Z]\w*)\"|'([A-Z]\w*)'|([A-Z]\w*))",
    ),
    "php": Syntax(
        comments=r"//[^\n]*?(?=\?>|\n|\Z)|#(?!\[)[^\n]*|/\*.*?(?:\*/|\Z)|<\?php|<\?=|\?>",
        name=rf"\$?\\?{_QUALIFIED}",
        interpolation=r"\{\$(?P<code>[^{}]*)\}|\$(?P<code2>[A-Za-z_]\w*(?:\[\d+\])?)",
        backtick="shell",
        here_documents=r"<<<(?:\"(\w+)\"|'(\w+)'|(\w+))",
        newline_ends=False,
    ),
    "lua": Syntax(
        comments=r"--\[\[.*?(?:\]\]|\Z)|--[^\n]*",
        name=r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*",
        single_escapes=True,
        long_brackets=True,
    ),
    "awk": Syntax(comments=r"#[^\n]*", name=r"\$?[A-Za-z_]\w*|\$\d+", regex=True, single_quotes=False),
    "r": Syntax(comments=r"#[^\n]*", name=r"[A-Za-z.][\w.]*(?:::{1,2}[A-Za-z.][\w.]*)?", single_escapes=True),
    "applescript": Syntax(
        comments=r"--[^\n]*|\(\*.*?(?:\*\)|\Z)|#[^\n]*",
        name=r"[A-Za-z_]\w*",
        single_quotes=False,
        semicolon="",
    ),
    "powershell": Syntax(
        comments=r"<\#.*?(?:\#>|\Z)|(?<!\S)\#[^\n]*",
        name=r"\$(?:env:|global:|script:)?\w+|\$\{[^}]*\}|[A-Za-z_][\w]*(?:-[A-Za-z]\w*)*(?:(?:\.|::)[A-Za-z_]\w*)*",
        interpolation=r"\$(?P<code>(?:env:)?\w+)|\$\((?P<code2>[^()]*)\)",
    ),
}

_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    "e": "\x1b",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}
_ESCAPE = re.compile(
    r"\\(x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{1,2}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|[0-7]{1,3}|.|\Z)", re.DOTALL
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_SPACE = re.compile(r"[ \t\r\f\v]+|\\\r?\n")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[oO]?[0-7]+(?![\d.])|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_OPERATOR = re.compile(
    r"=>|->|\.\.\.|\.\.|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.|::|\+=|\.=|\|=|>>|<<|=~|!~|[-+*/%=<>!&|^~?:.,(){}\[\];@\\$#]"
)
_QUOTE_WORD = {
    "perl": re.compile(r"(?P<how>q[qxwr]?)(?:\s*(?P<open>[\[({<|!/#~,@^+:\"'])|\s+(?P<open2>[a-z]))"),
    "ruby": re.compile(r"%(?P<how>[qQwWxiI]?)(?P<open>[\[({<|!/~^+])"),
}
_SUBSTITUTION = re.compile(r"(?:s|tr|y|m)\s*(?P<open>[/|!#{(\[,~])")


def unescaped(text: str) -> str:
    """The text of a string literal with its backslash escapes resolved."""
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body[:1] in ("x", "u") and len(body) > 1:
            code = int(body[1:].strip("{}"), 16)
            return chr(code) if 0 < code < 0x110000 else ""
        if body and not body.strip("01234567"):
            return chr(int(body, 8) & 0xFF) if body != "0" else ""
        return "" if body == "\n" else _ESCAPES.get(body, body)

    return _ESCAPE.sub(one, text)


def _closing(text: str, start: int, opening: str) -> int:
    """The place of the bracket or letter that closes what `opening` opened before `start`."""
    closing = _PAIRS.get(opening)
    place, depth = start, 1
    while place < len(text):
        letter = text[place]
        if letter == "\\":
            place += 1
        elif closing is None:
            if letter == opening:
                return place
        elif letter == opening:
            depth += 1
        elif letter == closing:
            depth -= 1
            if depth == 0:
                return place
        place += 1
    return len(text)


class Reader:
    """Splits the text of one language into tokens."""

    def __init__(self, language: str, text: str) -> None:
        self.language, self.syntax, self.text = language, SYNTAX[language], text[:LIMIT]
        self.tokens: list[Token] = []
        self.rest = ""  # what was not read
        self.pending: list[tuple[Token, str, bool]] = []
        self.comment = re.compile(self.syntax.comments, re.DOTALL | re.MULTILINE)
        self.name = re.compile(self.syntax.name)
        self.inner = re.compile(self.syntax.interpolation) if self.syntax.interpolation else None

    def interpolated(self, raw: str, escapes: bool = True) -> Token:
        decode: Callable[[str], str] = unescaped if escapes else str
        if self.inner is None or not self.inner.search(raw):
            return Token(STRING, decode(raw))
        parts: list[str | tuple[str]] = []
        last = 0
        for match in self.inner.finditer(raw):
            if raw[match.start() - 1 : match.start()] == "\\" and self.language != "powershell":
                continue
            parts.append(decode(raw[last : match.start()]))
            parts.append((next((group for group in match.groups() if group is not None), ""),))
            last = match.end()
        parts.append(decode(raw[last:]))
        return Token(STRING, "".join(part if isinstance(part, str) else UNKNOWN for part in parts), parts)

    def _wants_operand(self) -> bool:
        if not self.tokens:
            return True
        last = self.tokens[-1]
        if last.kind == OPERATOR:
            return last.text not in (")", "]", "}")
        if last.kind == NAME:
            return last.text in (
                "return", "typeof", "case", "in", "of", "and", "or", "not", "if", "unless", "split", "grep",
                "when", "while", "print", "match", "join", "map", "puts", "await", "else",
            )  # fmt: skip
        return last.kind == END

    def read(self) -> list[Token]:
        """All tokens; at most TOKENS of them."""
        place, text, spaced = 0, self.text, False
        while place < len(text) and len(self.tokens) < TOKENS:
            if match := _SPACE.match(text, place):
                place, spaced = match.end(), True
                continue
            count = len(self.tokens)
            place = self._token(place)
            if len(self.tokens) > count:
                self.tokens[count].spaced = spaced
                spaced = False
        self.rest = text[place:] if place < len(text) else ""
        return self.tokens

    def _token(self, place: int) -> int:
        text, syntax = self.text, self.syntax
        letter = text[place]
        if letter.isalpha() or letter == "_":
            if syntax.quote_words and letter in "qsytm" and (after := self._quote_word(place)):
                return after
            match = self.name.match(text, place)
            if match is not None:
                self.tokens.append(Token(NAME, match.group()))
                return match.end()
        if letter == "\n":
            place = self._lines_end(place + 1)
            self.tokens.append(Token(END, "\n"))
            return place
        if (match := self.comment.match(text, place)) and match.end() > place:
            return match.end()
        if letter == '"' or (letter == "'" and syntax.single_quotes):
            return self._quoted(place, letter)
        if letter == "`" and syntax.backtick:
            end = _closing(text, place + 1, "`")
            token = self.interpolated(text[place + 1 : end])
            if syntax.backtick == "shell":
                token.kind = SHELL
            self.tokens.append(token)
            return end + 1
        if syntax.long_brackets and (match := re.compile(r"\[(=*)\[").match(text, place)):
            closing = f"]{match[1]}]"
            end = text.find(closing, match.end())
            end = len(text) if end < 0 else end
            self.tokens.append(Token(STRING, text[match.end() : end].removeprefix("\n")))
            return end + len(closing)
        if syntax.quote_words and (after := self._quote_word(place)):
            return after
        if (
            syntax.here_documents
            and letter == "<"
            and (match := re.compile(syntax.here_documents).match(text, place))
        ):
            names = [group for group in match.groups() if group]
            token = Token(STRING, "")
            self.tokens.append(token)
            self.pending.append((token, names[0], "'" not in match.group()))
            return match.end()
        if letter == "@" and self.language == "powershell" and text[place + 1 : place + 2] in ("'", '"'):
            quote = text[place + 1]
            end = text.find("\n" + quote + "@", place)
            end = len(text) if end < 0 else end
            raw = text[place + 2 : end].lstrip("\r\n")
            self.tokens.append(self.interpolated(raw, False) if quote == '"' else Token(STRING, raw))
            return end + 3
        if letter == "/" and syntax.regex and self._wants_operand():
            end = self._pattern_end(place + 1)
            if end > 0:
                self.tokens.append(Token(WORDS, "pattern"))
                return end
        if letter == UNKNOWN:
            self.tokens.append(Token(NAME, UNKNOWN))
            return place + 1
        if match := _NUMBER.match(text, place):
            self.tokens.append(Token(NUMBER, match.group().replace("_", "")))
            return match.end()
        if match := self.name.match(text, place):
            self.tokens.append(Token(NAME, match.group()))
            return match.end()
        if self.language == "r" and text.startswith("<-", place):
            self.tokens.append(Token(OPERATOR, "<-"))
            return place + 2
        if match := _OPERATOR.match(text, place):
            kind = END if match.group() == syntax.semicolon else OPERATOR
            self.tokens.append(Token(kind, match.group()))
            return match.end()
        return place + 1

    def _lines_end(self, place: int) -> int:
        """Take the here-documents that begin behind this line."""
        for token, name, expands in self.pending:
            match = re.compile(rf"^[ \t]*{name}\b;?", re.MULTILINE).search(self.text, place)
            end = match.start() if match else len(self.text)
            raw = self.text[place:end]
            made = self.interpolated(raw) if expands else Token(STRING, raw)
            token.text, token.parts = made.text, made.parts
            place = match.end() if match else len(self.text)
        self.pending.clear()
        return place

    def _quoted(self, place: int, quote: str) -> int:
        text = self.text
        if self.language == "powershell":
            match = re.compile(rf"(?:[^{quote}`]|`.|{quote}{quote})*", re.DOTALL).match(text, place + 1)
            end = match.end() if match else len(text)
            raw = text[place + 1 : end].replace(quote * 2, quote)
            token = (
                self.interpolated(re.sub(r"`(.)", r"\1", raw), False) if quote == '"' else Token(STRING, raw)
            )
            self.tokens.append(token)
            return end + 1
        end = _closing(text, place + 1, quote)
        raw = text[place + 1 : end]
        if quote == '"' or self.syntax.single_escapes:
            token = (
                self.interpolated(raw)
                if quote == '"' and self.language != "node"
                else Token(STRING, unescaped(raw))
            )
        else:
            token = Token(STRING, raw.replace("\\'", "'").replace("\\\\", "\\"))
        self.tokens.append(token)
        return end + 1

    def _pattern_end(self, place: int) -> int:
        in_class = False
        while place < len(self.text):
            letter = self.text[place]
            if letter == "\\":
                place += 1
            elif letter == "\n":
                return 0
            elif letter == "[":
                in_class = True
            elif letter == "]":
                in_class = False
            elif letter == "/" and not in_class:
                place += 1
                while place < len(self.text) and self.text[place].isalpha():
                    place += 1
                return place
            place += 1
        return 0

    def _quote_word(self, place: int) -> int:
        """q{} and its kin; s/// and tr/// are passed over, their code included in nothing."""
        text = self.text
        before = text[place - 1] if place else ""
        if before and (before.isalnum() or before in "_$@%&>.:"):
            return 0
        if self.language == "perl" and (match := _SUBSTITUTION.match(text, place)):
            opening = match["open"]
            if opening in ",#(" and match.end() - match.start() > 2 and opening != "(":
                return 0
            end = _closing(text, match.end(), opening)
            if text[place] in "sty":
                second = end + 1
                if opening in _PAIRS:
                    while second < len(text) and text[second] != opening and text[second].isspace():
                        second += 1
                    second += 1
                begun = second
                end = _closing(text, second, opening)
                flags = re.compile(r"[a-z]*").match(text, end + 1)
                if text[place] == "s" and flags and "e" in flags.group():
                    self.tokens.append(Token(WORDS, "pattern"))
                    self.tokens.append(Token(END, ";"))
                    code = text[begun:end].replace("\\" + opening, opening)
                    self.tokens.extend(Reader(self.language, code).read())
                    self.tokens.append(Token(END, ";"))
                    return end + 1 + len(flags.group())
            self.tokens.append(Token(WORDS, "pattern"))
            flags = re.compile(r"[a-z]*").match(text, end + 1)
            return end + 1 + len(flags.group() if flags else "")
        match = _QUOTE_WORD[self.language].match(text, place)
        if match is None or (self.language == "ruby" and not self._wants_operand() and not match["how"]):
            return 0
        groups = match.groupdict()
        opening = groups.get("open") or groups.get("open2") or ""
        if self.language == "perl" and (
            opening in ",=" or text[match.start() : match.end() + 1].rstrip()[-2:] == "=>"
        ):
            return 0
        end = _closing(text, match.end(), opening)
        raw, how = text[match.end() : end], match["how"].lower()
        if how in ("qw", "w", "i"):
            self.tokens.append(Token(WORDS, raw))
        elif how in ("qx", "x"):
            token = self.interpolated(raw)
            token.kind = SHELL
            self.tokens.append(token)
        elif how == "q":
            self.tokens.append(Token(STRING, raw) if match["how"] == "q" else self.interpolated(raw))
        else:
            self.tokens.append(self.interpolated(raw))
        return end + 1


def tokens(language: str, text: str) -> list[Token]:
    """The tokens of a text in a language of SYNTAX."""
    return Reader(language, text).read()


def tokens_and_rest(language: str, text: str) -> tuple[list[Token], str]:
    """The tokens, and what is behind the limits."""
    reader = Reader(language, text)
    return reader.read(), reader.rest + text[LIMIT:]
