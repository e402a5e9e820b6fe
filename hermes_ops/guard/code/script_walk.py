"""Walks the tokens of a script language: what is bound, put together and called."""

from __future__ import annotations

import re

from ..judge.invocation import OPAQUE, REMOTE, SECRET, UNKNOWN
from .acts import ENVIRONMENT, Acts, Exhausted
from .folding import elements
from .script_calls import KINDS, METHODS, SKIPPED
from .script_values import fold
from .tokens import END, NAME, NUMBER, OPERATOR, SHELL, STRING, WORDS, Token, tokens
from .value import DECODED, Value, add, either, joined, taint_of, unknown

DEPTH = 4
STEPS = 12_000

_CONCATENATION = {"node": "+", "perl": ".", "php": ".", "ruby": "+", "lua": "..", "r": "", "applescript": "&"}
_ASSIGNMENT = frozenset(["=", ":=", "<-", "||=", "??="])
_JOINERS = frozenset([".", "->", "::", "?.", "&."])
_BARE_CALLS = frozenset(["perl", "ruby", "lua", "php", "awk"])
_EACH = frozenset(
    ["forEach", "each", "map", "each_child", "flat_map", "filter", "some", "select", "reject", "each_entry"]
)
_SHELL_PROGRAM = re.compile(
    r"\s*(?:exec\s+)?(?:/\S*/)?(?:ba|z|da|k)?sh(?:\.exe)?(?:\s+-[il]+)*\s*(?:[0-9]*[<>]&?\s*\S+\s*)*\Z"
)
_DUPLICATE = re.compile(r"[<>]&\s*=?\s*(?:\d+|\$?[A-Z_a-z]\w*)")
_WHOLE_ENVIRONMENT = frozenset(["process.env", "%ENV", "ENV", "$_ENV", "$_SERVER", "Deno.env"])
_RECEIVES = frozenset(["gets", "recv", "readpartial", "sysread", "receive", "readline"])
_FORKS = frozenset(["fork", "pcntl_fork", "Process.fork", "Kernel.fork", "CORE::fork", "child_process.fork"])


class Script:
    """One reading of a script; what it does goes to `acts`."""

    def __init__(
        self, language: str, code: str, acts: Acts, argv: tuple[str, ...] = (), depth: int = 0
    ) -> None:
        self.language, self.acts, self.argv, self.depth = language, acts, argv, depth
        self.folded = language == "php"
        self.tokens = tokens(language, code)
        self.at = 0
        self.steps = STEPS
        self.names: dict[str, Value] = {}
        self.kinds, self.methods = KINDS[language], METHODS.get(language, {})
        self.connected = self.shell_started = False
        self.plus = _CONCATENATION.get(language, "")

    # Tokens

    def peek(self, ahead: int = 0) -> Token | None:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def is_next(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind in (OPERATOR, END) and token.text in texts

    def skip_lines(self) -> None:
        while (token := self.peek()) is not None and token.kind == END and token.text == "\n":
            self.at += 1

    # The whole

    def judge(self) -> None:
        """Walk the script to its end."""
        while self.at < len(self.tokens):
            self.statements("")
            self.at += 1
        self._fork_bomb()
        if self.connected and self.shell_started:
            self.acts.report("code.reverse-shell")

    def statements(self, until: str) -> list[Value]:
        """The values of the statements up to a closing bracket, which is taken along."""
        values: list[Value] = []
        while (token := self.peek()) is not None:
            if token.kind == OPERATOR and token.text == until:
                self.at += 1
                break
            if token.kind == END or (token.text in (",", "]", ")", "}") and token.kind == OPERATOR):
                if until and token.text in ("]", ")", "}") and token.text != until:
                    break
                self.at += 1
                continue
            before = self.at
            values.append(self.expression())
            if self.at == before:
                self.at += 1
        return values

    # Expressions

    def expression(self) -> Value:
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted
        start = self.at
        value = self.operand()
        while (token := self.peek()) is not None:
            text = token.text
            if token.kind == END:
                following = self._continued()
                if not following:
                    break
                continue
            if token.kind != OPERATOR:
                if (
                    self.language == "awk"
                    and token.kind in (STRING, NAME, NUMBER)
                    and text not in ("in", "getline")
                ):
                    value = add(value, self.operand())
                    continue
                if token.kind == NAME and text in ("or", "and", "x", "if", "unless", "while", "until"):
                    self.at += 1
                    if text in ("or", "and"):
                        other = self.expression()
                        value = either([value, other]) if text == "or" else unknown(value, other)
                    continue
                break
            if text in (",", ")", "]", "}", ":", "{", ";"):
                break
            self.at += 1
            if text in _ASSIGNMENT:
                self.skip_lines()
                right = self.expression()
                self.bind(start, right)
                value = right
            elif text in ("+=", ".="):
                name = self._name_at(start)
                right = self.expression()
                value = add(self.names.get(name, Value()), right)
                self.names[name] = value
            elif text == self.plus:
                self.skip_lines()
                value = add(value, self.operand())
            elif text == "?":
                self.skip_lines()
                first = self.expression()
                self.skip_lines()
                if self.is_next(":"):
                    self.at += 1
                    value = either([first, self.expression()])
            elif text in ("||", "??"):
                self.skip_lines()
                other = self.expression()
                value = either([value, other]) if value.known is not None else other
            elif text == "|" and self.language == "awk":
                self._awk_pipe(value)
            elif (
                text in (">", ">>")
                and self.language == "awk"
                and (after := self.peek())
                and after.kind != NUMBER
            ):
                if after.kind == STRING:
                    self.acts.write(self.operand())
                else:
                    self.operand()
            elif text in ("=>", "&&"):
                self.skip_lines()
                value = self.expression()
            elif text == "<<":
                right = self.operand()
                if value.items is not None:
                    value.items.append(right)
            else:
                self.skip_lines()
                value = unknown(value, self.operand())
        return value

    def _continued(self) -> bool:
        """Does the next line go on with a dot or an operator: `x\\n  .then(...)`?"""
        ahead = 0
        while (token := self.peek(ahead)) is not None and token.kind == END and token.text == "\n":
            ahead += 1
        if token is not None and token.kind == OPERATOR and ahead:
            if token.text in (".", "->", "?.", self.plus) and token.text:
                self.at += ahead
                return token.text == self.plus
        return False

    def _name_at(self, place: int) -> str:
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.kind == NAME and token.text not in SKIPPED:
                return token.text
            if token.kind == OPERATOR and token.text not in ("(", "[", "{"):
                break
            place += 1
        return ""

    def bind(self, start: int, value: Value) -> None:
        """Bind what stands on the left of an assignment: a name, or names in brackets."""
        end = self.at
        names: list[str] = []
        depth = 0
        for place in range(start, min(end, start + 40)):
            token = self.tokens[place]
            if token.kind == OPERATOR:
                if token.text in _ASSIGNMENT:
                    break
                depth += token.text in "([{" and len(token.text) == 1
                if token.text in (".", "->"):
                    return
                if token.text == ":" and names:
                    names[-1] = f"{names[-1]} "
            elif token.kind == NAME and token.text not in SKIPPED:
                if names and names[-1].endswith(" "):
                    names[-1] += token.text
                else:
                    names.append(token.text)
        if not depth and names:
            self.names[names[0]] = value
            return
        for place, name in enumerate(names):
            source, _, target = name.partition(" ")
            if value.items is not None:
                self.names[source] = value.items[place] if place < len(value.items) else Value()
            elif value.name:
                self.names[target or source] = Value(name=f"{value.name}.{source}")
            else:
                self.names[source] = value

    def operand(self) -> Value:
        token = self.peek()
        if token is None:
            return Value()
        self.at += 1
        kind, text = token.kind, token.text
        if kind == STRING:
            return self.postfix(self.text(token))
        if kind == SHELL:
            command = self.text(token)
            self.run(command)
            return self.postfix(Value(name="output", taint=command.taint & {SECRET}))
        if kind == WORDS:
            items = [] if text == "pattern" else [Value(word) for word in text.split()]
            return self.postfix(Value(items=items) if text != "pattern" else Value(name="pattern"))
        if kind == NUMBER:
            return Value(self._number(text))
        if kind == NAME:
            return self.named(token)
        if kind == END:
            self.at -= 1
            return Value()
        return self._operator(text)

    @staticmethod
    def _number(text: str) -> object:
        try:
            if "." in text:
                return float(text)
            digits = text.lower()
            if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xob":
                return int(digits, 8)
            return int(digits, 0)
        except ValueError:
            return 0

    def _operator(self, text: str) -> Value:
        if text == "(":
            values = self.listed(")")
            return self.postfix(values[0] if len(values) == 1 else Value(items=values))
        if text == "[":
            values = self.listed("]")
            return self.postfix(Value(items=values))
        if text == "{":
            values = self.statements("}")
            taint, source = taint_of(values)
            return self.postfix(
                Value(name="block", items=None, of=Value(items=values), taint=taint, source=source)
            )
        if text == "<" and self.language == "perl":
            pieces = []
            while (token := self.peek()) is not None and not self.is_next(">") and token.kind != END:
                pieces.append(token.text)
                self.at += 1
            self.at += 1
            handle = "".join(pieces)
            if handle in self.names or handle in ("STDIN", ""):
                return self.names.get(handle, Value(name="STDIN"))
            return Value(handle, glob=True)
        if text == "|" and self.language == "awk":
            self._awk_pipe(Value())
            return Value()
        if text == "-":
            value = self.operand()
            return Value(-value.known) if type(value.known) in (int, float) else value  # type: ignore[operator]
        if text in (")", "]", "}", ",", ":"):
            self.at -= 1
            return Value()
        return self.operand()

    def listed(self, closing: str) -> list[Value]:
        """Values up to a closing bracket, which is taken along."""
        values: list[Value] = []
        while (token := self.peek()) is not None:
            if token.kind == OPERATOR and token.text == closing:
                self.at += 1
                break
            if token.kind == END or (token.kind == OPERATOR and token.text in (",", ":")):
                self.at += 1
                continue
            if token.kind == OPERATOR and token.text in (")", "]", "}"):
                break
            before = self.at
            value = self.expression()
            if self.at == before:
                self.at += 1
            values.append(value)
        return values

    def text(self, token: Token) -> Value:
        """The value of a string with what is put into it."""
        if token.parts is None:
            return Value(token.text)
        pieces: list[Value] = []
        for part in token.parts:
            if isinstance(part, str):
                pieces.append(Value(part))
            else:
                pieces.append(self.inner(part[0]))
        return joined(pieces)

    def inner(self, code: str) -> Value:
        """An expression inside a string."""
        if len(code) > 2_000 or self.depth >= DEPTH:
            return Value()
        if self.language in ("perl", "php", "powershell"):
            code = "$" + code.lstrip("$")
        kept = self.tokens, self.at
        self.tokens, self.at = tokens(self.language, code), 0
        try:
            self.depth += 1
            return self.expression()
        finally:
            self.depth -= 1
            self.tokens, self.at = kept

    # Names

    def named(self, token: Token) -> Value:
        text = token.text
        if text == "import" and self.language == "node":
            return self._import()
        if text in SKIPPED:
            return self._skipped(text)
        bound = self.names.get(text)
        if text in ("true", "false", "null", "nil", "undef", "undefined", "None", "TRUE", "FALSE"):
            return Value(text.lower() == "true" if text.lower() in ("true", "false") else None)
        special = self._special(text)
        value = special if special is not None else bound if bound is not None else self._dotted(text)
        return self.postfix(value, token)

    def _dotted(self, text: str) -> Value:
        """A name with its owner resolved: cp.exec where cp is child_process."""
        for joiner in (".", "->", "::"):
            head, found, tail = text.partition(joiner)
            if found and head in self.names:
                owner = self.names[head]
                value = self.member(owner, tail.replace("->", ".").replace("::", "."))
                return value
        return Value(name=text.replace("->", ".").lstrip("\\"))

    def _special(self, text: str) -> Value | None:
        if text in ("__dirname", "$PWD", "__DIR__"):
            return Value(self.acts.cwd or ".")
        if text in ("@ARGV", "$argv", "ARGV", "arg"):
            return Value(name="arguments", items=[Value(word) for word in self.argv] if self.argv else None)
        if text in _WHOLE_ENVIRONMENT:
            return Value(name=text, taint=frozenset([SECRET]), source=ENVIRONMENT)
        if text in ("Dir.home", "Dir.pwd"):
            return Value((self.acts.home or "~") if text == "Dir.home" else self.acts.cwd or ".")
        return None

    def _import(self) -> Value:
        """import fs, { rmSync as rm } from "node:fs"; import * as cp from "child_process"."""
        if self.is_next("("):
            return self.postfix(Value(name="require"), None)
        names: list[list[str]] = []
        braces = False
        while (token := self.peek()) is not None and token.kind not in (STRING, END):
            self.at += 1
            if token.text == "{":
                braces = True
            elif token.text == "as" and names:
                names[-1].append("as")
            elif token.kind == NAME and token.text not in ("from", "type"):
                if names and names[-1][-1] == "as":
                    names[-1][-1] = token.text
                else:
                    names.append([token.text, "{"] if braces else [token.text])
        module = self.peek()
        if module is not None and module.kind == STRING:
            self.at += 1
            owner = self._module(module.text)
            for pieces in names:
                if len(pieces) > 1 and pieces[1] == "{":
                    self.names[pieces[-1] if pieces[-1] != "{" else pieces[0]] = Value(
                        name=f"{owner}.{pieces[0]}"
                    )
                else:
                    self.names[pieces[-1]] = Value(name=owner)
        return Value()

    @staticmethod
    def _module(name: str) -> str:
        name = name.removeprefix("node:").removesuffix("/promises")
        return {"graceful-fs": "fs", "fs-extra": "fs", "shelljs": "shell", "node-fetch": "fetch"}.get(
            name, name
        )

    def _skipped(self, text: str) -> Value:
        token = self.peek()
        if text in ("function", "sub", "def", "fn", "class", "module", "package", "catch"):
            if token is not None and token.kind == NAME:
                self.at += 1
            if self.is_next("("):
                self.at += 1
                self.listed(")")
            return Value()
        if token is None or token.kind == END:
            return Value()
        if text in ("for", "foreach", "while", "until", "if", "unless", "elsif", "elseif", "switch"):
            return self._condition(text)
        if text in ("print", "echo", "puts", "say", "p", "die", "warn", "pp"):
            if self.language == "awk" and text == "print":
                return self.expression()
            piped = self.names.get(token.text) if token.kind == NAME else None
            if piped is not None and piped.name == "pipe":
                self.at += 1
                for value in self.arguments():
                    self.run(value)
                return Value()
            return unknown(*self.arguments())
        return self.operand()

    def _condition(self, text: str) -> Value:
        """A loop over known items binds its name to all of them."""
        if text == "foreach" and self.language == "php" and self.is_next("("):
            self.at += 1
            over = self.expression()
            if (token := self.peek()) is not None and token.text == "as":
                self.at += 1
                for name in self._until(")"):
                    self.names[name] = self.element(over)
            return Value()
        name = ""
        place = self.at
        if self.language == "lua":
            while (token := self.peek(place - self.at + 1)) is not None and token.text == ",":
                place += 2
        while place < min(place + 6, len(self.tokens)):
            token = self.tokens[place]
            if token.kind == NAME and token.text not in SKIPPED and token.text[:1] != "@":
                name = token.text
                break
            place += 1
        following = self.tokens[place + 1] if place + 1 < len(self.tokens) else None
        is_loop = text in ("for", "foreach") and following is not None
        if is_loop and name and (following.text in ("in", "of", "(") or following.kind == WORDS):
            self.at = place + 1 + (following.text in ("in", "of"))
            over = self.expression()
            self.names[name] = self.element(over)
            return Value()
        if is_loop and self.language in ("perl", "php"):
            over = self.operand()
            self.names["$_"] = self.element(over)
            if (
                following is not None
                and self.is_next(")") is False
                and over.items is None
                and over.name == ""
            ):
                return Value()
            return Value()
        return self.operand() if self.is_next("(") else self.expression()

    def element(self, value: Value) -> Value:
        items = elements(value) if not value.is_text else None
        if value.name == "block" and value.of is not None and self.language == "lua":
            items = value.of.items
        if items:
            return either(items[:4])
        return value if value.is_text else unknown(value)

    # What follows a value

    def member(self, value: Value, attr: str) -> Value:
        name = value.name
        if name in _WHOLE_ENVIRONMENT:
            return self.variable(attr)
        if f"{name}.{attr}" in _WHOLE_ENVIRONMENT:
            return Value(name=f"{name}.{attr}", taint=frozenset([SECRET]), source=ENVIRONMENT)
        if self.connected and attr in _RECEIVES and self.language == "ruby":
            return Value(taint=frozenset([REMOTE]), source="a socket", name=f"{name}.{attr}()")
        if value.is_text and name != "file":
            return Value(name=f".{attr}", of=value)
        if value.items is not None and attr in ("length", "size", "first", "last"):
            return value.items[0] if attr == "first" and value.items else Value()
        return Value(name=f"{name}.{attr}" if name and len(name) < 160 else f".{attr}", taint=value.taint,
                     source=value.source, of=value if value.items is not None or value.of is not None else value.of)  # fmt: skip

    def variable(self, name: str) -> Value:
        """One variable of the environment."""
        if name in ("HOME", "USERPROFILE"):
            return Value(self.acts.home or "~")
        if name == "HERMES_HOME":
            return Value(self.acts.hermes_home or f"{self.acts.home or '~'}/.hermes")
        if name in ("TMPDIR", "TEMP", "TMP"):
            return Value("/tmp")
        if name in ("toObject", "to_h", "to_a", "inspect", "to_s", "map", "each"):
            return Value(name=f"ENV.{name}", taint=frozenset([SECRET]), source=ENVIRONMENT)
        return Value(name="variable", source=name)

    def postfix(self, value: Value, token: Token | None = None) -> Value:
        receiver = Value()
        while (following := self.peek()) is not None:
            text = following.text
            if (following.kind == OPERATOR and text in _JOINERS) or (
                text == ":" and self.language == "lua" and following.kind == OPERATOR
            ):
                after = self.peek(1)
                if after is None or after.kind != NAME:
                    if after is not None and after.text == "(" and text in (".", "->", "?."):
                        self.at += 1
                        continue
                    if after is not None and after.text in ("[", "{") and text in ("->", "?."):
                        self.at += 1
                        continue
                    break
                if text == "." and self.language in ("perl", "php"):
                    break
                self.at += 2
                receiver = value
                value = self.member(value, after.text.replace("->", ".").replace("::", "."))
                token = after
                continue
            if (
                following.kind == OPERATOR
                and text == "("
                and (not following.spaced or self.language not in ("ruby", "awk"))
            ):
                if not value.name and value.function is None and not value.is_text:
                    break
                self._bind_callback(receiver)
                self.at += 1
                args = self.listed(")")
                value, receiver = self.called(value, receiver, args), Value()
                continue
            if following.kind == OPERATOR and text == "[" and not following.spaced:
                self.at += 1
                keys = self.listed("]")
                value = self.item(value, keys)
                continue
            if (
                following.kind == OPERATOR
                and text == "{"
                and self.language == "perl"
                and token is not None
                and not following.spaced
            ):
                if token.text[:1] == "$":
                    self.at += 1
                    key = "".join(self._until("}"))
                    value = self.variable(key) if token.text == "$ENV" else Value(name=f"{token.text}{{}}")
                    continue
            if (
                following.kind == STRING
                and token is not None
                and not following.spaced
                and following.parts is not False
            ):
                if self.language == "node" and self.kind_of(value.name) == "shell":
                    self.at += 1
                    value = self.called(value, receiver, [self.text(following)])
                    continue
            if self._is_bare_call(value, token, following):
                value, receiver = self.called(value, receiver, self.arguments()), Value()
                continue
            if (following.kind == OPERATOR and text == "{") or following.text == "do":
                if self.language == "ruby" and value.name:
                    self._bind_block(
                        receiver if receiver.name or receiver.is_text or receiver.items else value
                    )
            break
        if (
            token is not None
            and value.name
            and self.language in ("perl", "ruby")
            and self.kind_of(value.name) == "shell"
        ):
            return value
        if value.name in _FORKS and token is not None and value.of is None:
            return Value(name=value.name)
        return value

    def _until(self, closing: str) -> list[str]:
        pieces = []
        while (token := self.peek()) is not None:
            self.at += 1
            if token.kind == OPERATOR and token.text == closing:
                break
            pieces.append(token.text)
        return pieces

    def _is_bare_call(self, value: Value, token: Token | None, following: Token) -> bool:
        if self.language not in _BARE_CALLS or token is None or not value.name:
            return False
        kind = self.kind_of(value.name)
        method = value.name.rpartition(".")[2]
        if (
            not kind
            and not (value.name.startswith(".") and method in self.methods)
            and method not in self.methods
        ):
            return False
        if not kind and self.language not in ("ruby",):
            return False
        if self.language == "lua":
            return following.kind == STRING
        if following.kind in (STRING, SHELL, NUMBER, WORDS):
            return True
        if following.kind == NAME:
            if kind in ("remove", "tree") and following.text in ("for", "foreach"):
                self.at += 1
                return True
            return following.text not in (
                "if",
                "unless",
                "while",
                "until",
                "or",
                "and",
                "for",
                "foreach",
                "x",
                "eq",
                "do",
            )
        return following.kind == OPERATOR and (
            (following.text in ("\\", "<", "[", "*")
            and (self.language in ("perl", "ruby"))
            and (following.spaced or following.text == "<"))
            or (following.text in ("(", "-", "{") and following.spaced and self.language in ("perl", "ruby", "awk"))
        )  # fmt: skip

    def arguments(self) -> list[Value]:
        """Arguments without brackets, up to the end of the statement."""
        values: list[Value] = []
        while (token := self.peek()) is not None and token.kind != END:
            if token.kind == OPERATOR and token.text in (")", "]", "}"):
                break
            if token.kind == NAME and token.text in (
                "if",
                "unless",
                "while",
                "until",
                "or",
                "and",
                "for",
                "foreach",
                "do",
            ):
                break
            if token.kind == OPERATOR and token.text in (",", "=>", ":"):
                self.at += 1
                self.skip_lines()
                continue
            before = self.at
            values.append(self.expression())
            if self.at == before:
                self.at += 1
        return [item for value in values for item in (value.items if self._is_list(value) else [value])]

    def _is_list(self, value: Value) -> bool:
        return value.items is not None and self.language == "perl"

    def _bind_callback(self, receiver: Value) -> None:
        """`files.forEach(f => ...)`: the name of what each call sees."""
        token = self.peek(-1)
        if token is None or token.text not in _EACH:
            return
        ahead = 1
        while (one := self.peek(ahead)) is not None and ahead < 5:
            if one.kind == NAME and one.text not in SKIPPED:
                self.names[one.text] = self.element(receiver)
                return
            ahead += 1

    def _bind_block(self, receiver: Value) -> None:
        """`list.each { |f| ... }`"""
        for ahead in range(1, 4):
            one, before = self.peek(ahead), self.peek(ahead - 1)
            if one is not None and before is not None and before.text == "|" and one.kind == NAME:
                self.names[one.text] = self.element(receiver)
                return

    def item(self, value: Value, keys: list[Value]) -> Value:
        key = keys[0] if keys else Value()
        if value.name in _WHOLE_ENVIRONMENT and key.is_text:
            return self.variable(key.text)
        if value.name == "Dir" and key.is_text:
            return Value(key.text, glob=True)
        if (
            value.items is not None
            and type(key.known) is int
            and -len(value.items) <= key.known < len(value.items)
        ):
            return value.items[key.known]
        if value.is_text and type(key.known) is int and value.is_known and key.known < len(value.text):
            return Value(value.text[key.known])
        if value.name == "arguments":
            return Value(name="argument")
        if key.is_text and value.name and value.name not in ("variable",):
            return self.member(value, key.text)
        return Value(taint=value.taint, source=value.source)

    # Calls

    def kind_of(self, name: str) -> str:
        if self.folded:
            name = name.lower().lstrip("\\")
        if self.language == "node":
            name = (
                name.replace(".promises.", ".")
                .removeprefix("globalThis.")
                .removeprefix("window.")
                .removeprefix("global.")
            )
            name = re.sub(r"^(?:node:)?fs/promises\.", "fs.", name)
        elif name.startswith("::"):
            name = name[2:]
        return self.kinds.get(name) or self.kinds.get(name.replace("::", ".")) or ""

    def called(self, function: Value, receiver: Value, args: list[Value]) -> Value:
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted
        name = function.name
        if function.is_text and not name:
            name = function.text if self.language == "php" else ""
        kind = self.kind_of(name)
        method = name.rpartition(".")[2]
        if kind:
            from .script_acts import ACTS

            result = ACTS[kind](self, args, name)
            return result if result is not None else Value(name=f"{name}()")
        source = function.of if name.startswith(".") and function.of is not None else receiver
        known = source.is_text or source.items is not None
        result = fold(name, [source, *args] if known else args)
        if result is not None:
            return result
        kind = self.methods.get(method, "")
        if kind and (receiver.name or receiver.is_text or "." in name):
            from .script_acts import ACTS

            result = ACTS[kind](self, [receiver, *args] if kind.startswith("self") else args, name)
            if result is not None:
                return result
        return self.other(name, method, source if known else receiver, args)

    def other(self, name: str, method: str, receiver: Value, args: list[Value]) -> Value:
        """A call of something that has no meaning here."""
        if name in ("os.homedir", "Dir.home", "Deno.homedir", "path.expand"):
            return Value(self.acts.home or "~")
        if name in (
            "os.tmpdir",
            "Dir.tmpdir",
            "sys_get_temp_dir",
            "tempfile",
            "Dir.mktmpdir",
            "fs.mkdtempSync",
        ):
            return Value("/tmp/tmp" + UNKNOWN)
        if name in ("process.cwd", "Dir.pwd", "getcwd"):
            return Value(self.acts.cwd or ".")
        if name in ("os.getenv", "getenv", "ENV.fetch", "Sys.getenv", "Deno.env.get", "env"):
            return (
                self.variable(args[0].text)
                if args
                else Value(name="env", taint=frozenset([SECRET]), source=ENVIRONMENT)
            )
        if method in ("pipe", "dup2", "reopen") and self.connected:
            self.shell_started = self.shell_started or method == "reopen"
        if method == "then" and any(self.kind_of(arg.name) == "eval" for arg in args):
            self.acts.execute(receiver)
        if method in _RECEIVES and self.connected:
            return Value(taint=frozenset([REMOTE]), source="a socket", name=f"{name}()")
        if method in ("push", "append", "unshift") and receiver.items is not None:
            receiver.items.extend(args)
            return receiver
        made = unknown(receiver, *args, name=f"{name}()" if name and len(name) < 160 else "")
        if (
            receiver.is_text
            and receiver.is_known
            and all(arg.is_known for arg in args)
            and method not in ("test", "match")
        ):
            made.taint = made.taint | {OPAQUE}
        return made

    def _awk_pipe(self, value: Value) -> None:
        """print x | "cmd" and "cmd" | getline."""
        if self.is_next("&"):
            self.at += 1
        token = self.peek()
        if value.is_text and value.text.startswith("/inet"):
            self.connected = True
        elif token is not None and token.kind == NAME and token.text == "getline":
            if self.connected and not value.is_text:
                self.acts.report("code.reverse-shell")
            self.run(value)
        elif token is not None:
            self.run(self.operand())

    def run(self, command: Value) -> None:
        """Shell text is run."""
        for one in command.each():
            if one.is_text:
                if _SHELL_PROGRAM.match(one.text):
                    self.shell_started = True
                    if _DUPLICATE.search(one.text):
                        self.connected = self.connected or self.language == "awk"
                if self.connected and re.search(r"\bsh\b.*[<>]&", one.text):
                    self.shell_started = True
        self.acts.run(command)

    def evaluate(self, code: Value) -> None:
        """Text is run as code of the same language."""
        for one in code.each():
            if DECODED in one.taint:
                self.acts.report("code.decoded-exec")
            if one.is_text and one.text.strip(UNKNOWN) and not one.taint & {OPAQUE, REMOTE}:
                if self.depth < DEPTH:
                    inner = Script(self.language, one.text, self.acts, self.argv, self.depth + 1)
                    inner.names.update(self.names)
                    inner.steps = self.steps // 2
                    inner.judge()
            elif one.name in ("block", "pattern"):
                continue
            else:
                self.acts.execute(one)

    def _fork_bomb(self) -> None:
        names = [token.text for token in self.tokens if token.kind in (NAME, NUMBER, OPERATOR)]
        forks = any(name in _FORKS for name in names) or any(name.endswith(".fork") for name in names)
        if not forks or {"wait", "waitpid", "sleep", "exit", "accept", "break", "last", "pcntl_wait"} & set(
            names
        ):
            return
        joined_names = " ".join(names)
        if re.search(
            r"\bwhile (?:\( )?(?:1|true)\b|\bloop [{d]|\bfor \( \)|\buntil (?:\( )?(?:0|false)\b",
            joined_names,
        ):
            self.acts.report("code.fork-bomb")
