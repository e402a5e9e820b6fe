"""What code prints, where that is certain: statements in a row that print constants or what is made of them.

The text of such code may go on to a shell. Only functions whose result is computed exactly may take part;
with anything else in the code nothing is said about what it prints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from ..judge.invocation import UNKNOWN
from ..rules.names import names
from . import script_maps
from .tokens import END, NAME, NUMBER, OPERATOR, STRING, WORDS, Token
from .value import CLEAN, DECODED, TEXT_LIMIT, Value, taint_of


class Printed:
    """What was printed so far; `text` is None while, or once, it is not certain. `end`: what print adds."""

    __slots__ = ("end", "source", "taint", "text")

    def __init__(self) -> None:
        self.text: str | None = None
        self.end = ""
        self.taint: frozenset[str] = CLEAN
        self.source = ""

    def begin(self) -> None:
        self.text = ""

    def lose(self) -> None:
        self.text = None

    def add(self, values: Iterable[Value], by: str = "", end: str = "") -> None:
        """Values are printed, with something between them and behind the last."""
        if self.text is None:
            return
        values = list(values)
        taint, source = taint_of(values)
        self.taint |= taint - {DECODED}
        self.source = self.source or source
        pieces = [shown(value) for value in values]
        if None in pieces:
            self.lose()
            return
        self.text += by.join(map(str, pieces)) + end
        if len(self.text) > TEXT_LIMIT:
            self.lose()


def shown(value: Value) -> str | None:
    """A value as print writes it; None where that is not known for certain."""
    if value.choices or value.items is not None or value.pairs is not None or not value.is_known:
        return None
    if type(value.known) not in (str, int) or value.glob:
        return None
    return None if UNKNOWN in value.text else value.text


# Python

_CALLED = names(
    "print chr str bytes bytearray int map range list tuple reversed format write decode encode "
    "join read b64decode b32decode b16decode a85decode b85decode urlsafe_b64decode "
    "standard_b64decode unhexlify a2b_hex a2b_base64 fromhex replace strip lstrip rstrip lower "
    "upper swapcase decompress expanduser getenv home unquote ord hex"
)
_WRITERS = ("sys.stdout.write", "sys.stdout.buffer.write", "print")
_EXPRESSIONS = (
    ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.BinOp, ast.operator, ast.UnaryOp,
    ast.unaryop, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue,
    ast.Starred, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Lambda, ast.arguments, ast.arg,
    ast.expr_context,
)  # fmt: skip
MOST_NODES = 2_000


def straight_module(tree: ast.Module) -> bool:
    """Does Python run its statements one after another, and only compute what it prints?"""
    for count, node in enumerate(ast.walk(tree)):
        if count > MOST_NODES:
            return False
        if isinstance(node, ast.stmt):
            if not _straight_statement(node):
                return False
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name not in _CALLED:
                return False
        elif isinstance(node, ast.comprehension):
            if node.ifs or node.is_async:
                return False
        elif not isinstance(node, (*_EXPRESSIONS, ast.Module, ast.alias)):
            return False
    return True


def _straight_statement(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name)
    if isinstance(node, ast.For):
        return isinstance(node.target, ast.Name) and not node.orelse
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Constant):
        return True
    return isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in _WRITERS


# Other languages

# By language: how a statement that prints begins.
PRINTS = {
    "perl": names("print say printf"),
    "ruby": names("puts print printf $stdout.puts $stdout.print $stdout.write STDOUT.puts STDOUT.print"),
    "node": names("console.log console.info process.stdout.write"),
    "php": names("echo print printf"),
    "lua": names("print io.write io.stdout:write io.stdout.write"),
    "r": names("cat writeLines"),
    "awk": names("print printf"),
}
# What stands between the values and behind the last of what these print: print of awk knows that itself.
_ENDS = {
    "console.log": (" ", "\n"), "console.info": (" ", "\n"), "lua print": ("\t", "\n"), "say": ("", "\n"),
    "cat": (" ", ""), "writeLines": ("\n", "\n"),
}  # fmt: skip
# Names with which code stays certain: functions that are computed, their owners, and words of declarations.
_CERTAIN = names(
    "chr pack sprintf printf format join implode atob base64_decode decode_base64 decode64 "
    "strict_decode64 unpack1 hex2bin fromcharcode fromcodepoint tostring concat str_repeat "
    "strtolower strtoupper tolowercase touppercase lc uc downcase upcase lower upper char rep "
    "strrev str_rot13 paste0 c from buffer string base64 console log info process stdout write cat "
    "writelines io puts echo print say my our const let var use require mime strict warnings "
    "toupper tolower begin array stdin read readfilesync file_get_contents fs substr argv environ "
    "home map chr hex oct ord scalar rawtochar as raw inttoutf8 repeat"
)
# What else is certain in one language alone.
_OF_LANGUAGE = {
    "ruby": names("split reverse .reverse :chr :ord"),
    "node": names("reverse split"),
    "lua": names("reverse string.reverse"),
    "awk": names("$NF $0"),
}
_CONSTANT = re.compile(r"\"[^\"$`#\\]*\"|'[^'\\]*'|\d+|ENV\{HOME\}")
_DECLARES = names("my our const let var local")
_LOADS = names("use require")
_SIGNS = frozenset(("(", ")", "[", "]", ",", "=", ".", "..", "+", ".=", "+=", "<-", "::", "-"))


def straight_script(language: str, tokens: Sequence[Token]) -> bool:
    """Does a script run its statements one after another, and only compute what it prints?"""
    if language == "awk":
        tokens = _body(tokens)
    variables: set[str] = set()
    statement: list[Token] = []
    printing = False
    for token in (*tokens, Token(END, "")):
        if token.kind != END:
            statement.append(token)
            continue
        if statement:
            kind = _kind(language, statement, variables)
            if not kind:
                return False
            printing = printing or kind == "print"
            statement = []
    return printing


def _body(tokens: Sequence[Token]) -> Sequence[Token]:
    """The statements of awk that run once: those of `BEGIN { ... }`, or of `{ ... }` on one line of input."""
    kept = list(tokens)
    while kept and kept[-1].kind == END:
        kept.pop()
    begins = 2 if kept and kept[0].text == "BEGIN" else 1
    begins = 2 if kept and kept[0].text == "END" else begins
    if len(kept) <= begins or kept[begins - 1].text != "{" or kept[-1].text != "}":
        return (Token(OPERATOR, "{"),)
    return kept[begins:-1]


def _kind(language: str, statement: Sequence[Token], variables: set[str]) -> str:
    """What a statement is that is certain: it prints, sets a variable or loads a module; "" for another."""
    first = 1 if len(statement) > 1 and statement[0].text in _DECLARES else 0
    sign = statement[first + 1] if len(statement) > first + 1 else Token(END, "")
    if statement[first].kind == NAME and sign.kind == OPERATOR and sign.text in ("=", "<-", ".=", "+="):
        variables.add(statement[first].text)
        return "sets" if _certain(language, statement, variables) else ""
    head = "".join(token.text for token in statement[:5] if token.kind in (NAME, OPERATOR))
    if any(head == name or head.startswith(name) for name in PRINTS[language]):
        return "print" if _certain(language, statement, variables) else ""
    if statement[0].text in _LOADS and len(statement) <= 6:
        return "loads"
    return ""


def _certain(language: str, statement: Sequence[Token], variables: set[str]) -> bool:
    for at, token in enumerate(statement):
        if token.kind == NAME:
            if token.text in variables or token.text in _OF_LANGUAGE.get(language, ()):
                continue
            if language == "perl" and token.text == "reverse" and at and statement[at - 1].text == "scalar":
                continue
            if language == "awk" and token.text[:1] == "$" and token.text[1:].isdigit():
                continue
            if not all(piece in _CERTAIN for piece in _pieces(token.text)):
                return False
        elif token.kind == OPERATOR:
            is_method = language == "lua" and token.text == ":"
            if not (token.text in _SIGNS or is_method or script_maps.certain(statement, at)):
                return False
        elif token.kind == STRING:
            if token.parts is not None and not all(
                isinstance(part, str) or _is_variable(part[0], variables) for part in token.parts
            ):
                return False
        elif token.kind not in (NUMBER, WORDS) or token.text == "pattern":
            return False
    return True


def _pieces(name: str) -> list[str]:
    for joint in ("::", "->", ":"):
        name = name.replace(joint, ".")
    return [piece.lower() for piece in name.lstrip("$@").split(".")]


def _is_variable(code: str, variables: set[str]) -> bool:
    return code in variables or f"${code}" in variables or _CONSTANT.fullmatch(code) is not None


# Where a list is printed item by item.
_OPENS_LISTS = frozenset(("perl", "ruby", "r"))


def printed(output: Printed | None, language: str, name: str, values: Sequence[Value]) -> None:
    """A function of PRINTS is called; what its language puts between and behind the values is known."""
    if output is None or output.text is None:
        return
    flat = list(values)
    if language in _OPENS_LISTS:
        flat = [item for value in flat for item in (value.items if value.items is not None else (value,))]
    if language == "ruby" and name.endswith("puts"):
        for value in flat:
            output.add((value,), end="" if value.text.endswith("\n") else "\n")
        if not flat:
            output.add((), end="\n")
        return
    if name.startswith("console.") and flat and "%" in flat[0].text and len(flat) > 1:
        output.lose()
        return
    by, end = _ENDS.get(f"lua {name}" if language == "lua" else name, ("", ""))
    if name == "print" and language in ("perl", "ruby"):
        end = output.end
    output.add(flat, by, end)
