"""Names of script languages: what they are bound to, imports, loops, members, the environment."""

from __future__ import annotations

from ..judge.invocation import OPAQUE, REMOTE, SECRET, UNKNOWN
from ..rules.names import names
from . import script_maps
from .acts import ENVIRONMENT
from .folding import elements
from .given import THE_SHELL
from .printing import PRINTS, printed
from .script_awk import printed as printed_by_awk
from .script_calls import SKIPPED
from .script_expressions import ASSIGNMENT
from .script_input import INPUT_NAMES, Inputs, is_input_name
from .script_values import fold
from .tokens import END, NAME, OPERATOR, STRING, WORDS, Token
from .value import Value, either, unknown

_PRINTS_OF_RUBY = frozenset(["p", "pp", "puts"])
WHOLE_ENVIRONMENT = frozenset(["process.env", "%ENV", "ENV", "$_ENV", "$_SERVER", "Deno.env"])
RECEIVES = frozenset(["gets", "recv", "readpartial", "sysread", "receive", "readline"])
# Methods of Ruby's texts that take no arguments, and no brackets.
_CHANGES = names("reverse downcase upcase strip chomp")
_EACH = names("forEach each map each_child flat_map filter some select reject each_entry")


class Names(Inputs):
    """Expressions whose names stand for something."""

    def is_skipped(self, text: str) -> bool:
        """Does a word stand for nothing itself? p prints in Ruby, and is a name like any other elsewhere."""
        return text in SKIPPED and (self.language == "ruby" or text not in _PRINTS_OF_RUBY)

    def name_at(self, place: int) -> str:
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.kind == NAME and not self.is_skipped(token.text):
                return token.text
            if token.kind == OPERATOR and token.text not in ("(", "[", "{"):
                break
            place += 1
        return ""

    def bind(self, start: int, value: Value) -> None:
        """Bind what stands on the left of an assignment: a name, or names in brackets."""
        end = self.at
        names: list[str] = []
        holes = depth = 0
        rest = ""
        for place in range(start, min(end, start + 40)):
            token = self.tokens[place]
            if token.kind == OPERATOR:
                if token.text in ASSIGNMENT:
                    break
                depth += token.text in "([{" and len(token.text) == 1
                if token.text in (".", "->"):
                    return
                if token.text == ":" and names:
                    names[-1] = f"{names[-1]} "
                holes += token.text == "," and self.tokens[place - 1].text in ("[", ",")
                if token.text in ("...", "*") and place + 1 < end:
                    rest = self.tokens[place + 1].text
            elif token.kind == NAME and not self.is_skipped(token.text):
                if names and names[-1].endswith(" "):
                    names[-1] += token.text
                else:
                    names.append(token.text)
        if not depth and names:
            self.names[names[0]] = value
            return
        for place, name in enumerate(names, holes):
            source, _, target = name.partition(" ")
            if name == rest and value.items is not None:
                self.names[name] = Value(items=value.items[place:])
            elif value.items is not None:
                self.names[source] = value.items[place] if place < len(value.items) else Value()
            elif value.name:
                self.names[target or source] = Value(name=f"{value.name}.{source}")
            else:
                self.names[source] = value

    def named(self, token: Token) -> Value:
        text = token.text
        if text == "import" and self.language == "node":
            return self._import()
        if self.is_skipped(text) and text not in self.names:
            return self._skipped(text)
        if text == "printf" and self.language == "awk":
            return printed_by_awk(self, True)  # type: ignore[arg-type]
        if text == UNKNOWN:
            return self.postfix(Value(UNKNOWN, taint=frozenset([OPAQUE]), source=THE_SHELL), token)
        if self.language == "perl" and text in ("map", "scalar"):
            mapped = script_maps.of_perl(self) if text == "map" else self.operand()  # type: ignore[arg-type]
            if mapped is not None:
                return mapped
        bound = self.names.get(text)
        if text in ("true", "false", "null", "nil", "undef", "undefined", "None", "TRUE", "FALSE"):
            return Value(text.lower() == "true" if text.lower() in ("true", "false") else None)
        special = self._special(text)
        value = special if special is not None else bound if bound is not None else self._dotted(text)
        return self.postfix(value, token)

    def _dotted(self, text: str) -> Value:
        """A name with its owner resolved: cp.exec where cp is child_process."""
        if self.language == "lua" and text.startswith("vim.env."):
            return self.variable(text[len("vim.env.") :])
        if self.language == "lua":
            text = text.replace(":", ".")
        for joiner in (".", "->", "::"):
            head, found, tail = text.partition(joiner)
            if found and head == "ENV" and not tail.startswith("fetch"):
                return self.variable(tail.partition(".")[0])
            owner = (self.names.get(head) or self.special_arguments(head)) if found else None
            if owner is not None:
                value = self.member(owner, tail.replace("->", ".").replace("::", "."))
                return value
        return Value(name=text.replace("->", ".").lstrip("\\"))

    def _special(self, text: str) -> Value | None:
        if text in ("__dirname", "$PWD", "__DIR__"):
            return Value(self.acts.cwd or ".")
        arguments = self.special_arguments(text)
        if arguments is not None and text not in self.names:
            return arguments
        if text == "shift" and self.language == "perl" and not self.is_next("(", "@"):
            following = self.peek()
            if following is None or following.text[:1] != "@" or following.text == "@ARGV":
                return self.shifted()
        if self.language == "ruby" and self.gives_input(text) and not self.is_next("("):
            return self.acts.given.input()
        if self.language == "awk" and text == "ENVIRON":
            return Value(name="ENV")
        if text in WHOLE_ENVIRONMENT:
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
            owner = self.module(module.text)
            for pieces in names:
                if len(pieces) > 1 and pieces[1] == "{":
                    self.names[pieces[-1] if pieces[-1] != "{" else pieces[0]] = Value(
                        name=f"{owner}.{pieces[0]}"
                    )
                else:
                    self.names[pieces[-1]] = Value(name=owner)
        return Value()

    @staticmethod
    def module(name: str) -> str:
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
            if self.language == "awk":
                return printed_by_awk(self, False)  # type: ignore[arg-type]
            if self.connected and self.language == "perl" and self._is_handle(token):
                self.at += 1
                self.acts.send(self.arguments())
                return Value()
            piped = self.names.get(token.text) if token.kind == NAME else None
            if piped is not None and piped.name == "pipe":
                self.at += 1
                for value in self.arguments():
                    self.run(value)
                return Value()
            given = self.arguments()
            if text in PRINTS.get(self.language, ()):
                printed(self.acts.given.printed, self.language, text, given)
            return unknown(*given)
        value = self.operand()
        if text == "do" and value.name == "block" and value.of is not None and value.of.items:
            return value.of.items[-1]
        return value

    def _is_handle(self, token: Token) -> bool:
        """`print $socket LIST`: a name with a value behind it that no operator joins to it."""
        following = self.peek(1)
        if token.kind != NAME or following is None:
            return False
        return following.kind in (STRING, NAME, WORDS) or (following.text == "<" and following.spaced)

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
        if self.language == "perl" and text in ("for", "foreach") and self.is_next("("):
            over = self.operand()
            self.names["$_"] = self.element(over)
            return Value()
        name = ""
        place = self.at
        if self.language == "lua":
            while (token := self.peek(place - self.at + 1)) is not None and token.text == ",":
                place += 2
        last = min(place + 6, len(self.tokens))
        while place < last:
            token = self.tokens[place]
            if token.kind == NAME and not self.is_skipped(token.text) and token.text[:1] != "@":
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
        over = self.operand() if self.is_next("(") else self.expression()
        if text == "while" and self.language == "perl" and (over.is_text or over.name == "sys.stdin.read()"):
            self.names["$_"] = over
        return over

    def element(self, value: Value) -> Value:
        if is_input_name(value.name):
            return self.acts.given.input()
        items = elements(value) if not value.is_text else None
        if value.of is not None and (
            (value.name == "block" and self.language == "lua") or value.name.rpartition(".")[2] in _EACH
        ):
            items = value.of.items
        if value.name.endswith("popen()"):
            return value
        if items:
            return either(items[:4])
        return value if value.is_text else unknown(value)

    def member(self, value: Value, attr: str) -> Value:
        name = value.name
        if name in WHOLE_ENVIRONMENT:
            return self.variable(attr)
        arguments = self.special_arguments(f"{name}.{attr}") if name in ("process", "Deno", "Bun") else None
        if arguments is not None:
            return arguments
        if f"{name}.{attr}" in WHOLE_ENVIRONMENT:
            return Value(name=f"{name}.{attr}", taint=frozenset([SECRET]), source=ENVIRONMENT)
        if self.connected and attr in RECEIVES and self.language == "ruby":
            return Value(taint=frozenset([REMOTE]), source="a socket", name=f"{name}.{attr}()")
        if value.is_text and self.language == "ruby" and attr in _CHANGES and not self.is_next("("):
            return fold(attr, [value]) or Value()
        if value.is_text and name != "file":
            return Value(name=f".{attr}", of=value)
        if value.items is not None and attr in ("length", "size"):
            return Value()
        if value.items is not None and self.language == "ruby" and not self.is_next("("):
            folded = fold(attr, [value])
            if folded is not None:
                return folded
        full = f"{name}.{attr}" if name and len(name) < 160 else f".{attr}"
        made_of = value if value.items is not None or value.of is not None else None
        return Value(name=full, taint=value.taint, source=value.source, of=made_of)

    def variable(self, name: str) -> Value:
        """One variable of the environment."""
        if name in ("toObject", "to_h", "to_a", "inspect", "to_s", "map", "each"):
            return Value(name=f"ENV.{name}", taint=frozenset([SECRET]), source=ENVIRONMENT)
        return self.acts.variable(name) or Value(name="variable", source=name)

    def item(self, value: Value, keys: list[Value]) -> Value:
        key = keys[0] if keys else Value()
        if value.name in WHOLE_ENVIRONMENT and key.is_text:
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

    def bind_callback(self, receiver: Value) -> None:
        """`files.forEach(f => ...)`: the name of what each call sees."""
        token = self.peek(-1)
        if token is None or (
            token.text not in _EACH and not (token.text == "on" and receiver.name in INPUT_NAMES)
        ):
            return
        ahead = 1
        while (one := self.peek(ahead)) is not None and ahead < 5:
            if one.kind == NAME and not self.is_skipped(one.text):
                self.names[one.text] = self.element(receiver)
                return
            ahead += 1

    def bind_block(self, receiver: Value) -> None:
        """`list.each { |f| ... }`"""
        for ahead in range(1, 4):
            one, before = self.peek(ahead), self.peek(ahead - 1)
            if one is not None and before is not None and before.text == "|" and one.kind == NAME:
                self.names[one.text] = self.element(receiver)
                return
