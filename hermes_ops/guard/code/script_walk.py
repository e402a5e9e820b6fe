"""Walks a script: what its calls come to."""

from __future__ import annotations

import re
from functools import lru_cache

from ..judge.invocation import OPAQUE, REMOTE, SECRET, UNKNOWN
from ..rules.names import names
from . import script_maps
from .acts import ENVIRONMENT, Acts, Exhausted
from .printing import PRINTS, printed
from .script_awk import piped
from .script_calls import KINDS, METHODS
from .script_expressions import DEPTH
from .script_names import RECEIVES, Names
from .script_values import fold, substring
from .tokens import NAME, NUMBER, OPERATOR, SHELL, STRING, WORDS, Token
from .value import DECODED, Value, add, unknown

_JOINERS = frozenset([".", "->", "::", "?.", "&."])
# Functions of Perl that are folded, and often written without brackets.
_BARE_FOLDS = names("join sprintf reverse lc pack shift pop")
# Methods that give text to a process, and functions that start one.
_FEEDS = names("write puts print end printf")
_STARTED = re.compile(r"(?:popen\w*|spawn|exec|open3|capture\w*|execFile)\(\)\Z")
_BARE_CALLS = frozenset(["perl", "ruby", "lua", "php", "awk"])
# Words that go on with the statement behind a call without arguments.
_AFTER_CALLS = names("if unless while until or and for foreach x eq do")
_SHELL_PROGRAM = re.compile(
    r"\s*(?:exec\s+)?(?:/\S*/)?(?:ba|z|da|k)?sh(?:\.exe)?(?:\s+-[il]+)*\s*(?:[0-9]*[<>]&?\s*\S+\s*)*\Z"
)
_DUPLICATE = re.compile(r"[<>]&\s*=?\s*(?:\d+|\$?[A-Z_a-z]\w*)")
# The functions of PRINTS that are called as others are: print is a word of its own in these languages.
_PRINTERS = {
    language: {name.replace(":", ".") for name in functions} - {"print", "echo", "puts", "say"}
    for language, functions in PRINTS.items()
    if language != "awk"
}
_FORKS = frozenset(["fork", "pcntl_fork", "Process.fork", "Kernel.fork", "CORE::fork", "child_process.fork"])


@lru_cache(maxsize=4_096)
def _kind(language: str, name: str) -> str:
    kinds = KINDS[language]
    if language == "php":
        name = name.lower().lstrip("\\")
    elif language == "node":
        name = re.sub(r"\A(?:globalThis|window|global)\.", "", name).replace(".promises.", ".")
        name = re.sub(r"\A(?:node:)?fs/promises\.", "fs.", name)
    name = name.removeprefix("::")
    return kinds.get(name) or kinds.get(name.replace("::", ".")) or ""


def _maps(value: Value) -> bool:
    return value.name.rpartition(".")[2] in ("map", "collect")


class Script(Names):
    """One reading of a script; what it does goes to `acts`."""

    def __init__(self, language: str, code: str, acts: Acts, depth: int = 0) -> None:
        super().__init__(language, code, acts, depth)
        self.methods = METHODS.get(language, {})
        self.code = code
        self.fed: dict[str, Value] = {}  # what awk prints into commands

    def judge(self) -> None:
        """Walk the script to its end, for each line of its input where it is run for each."""
        self.assign_given(self.code)
        for value in self.rounds(self.code):
            if not self.record(value):
                break
            self.at = 0
            while self.at < len(self.tokens):
                self.statements("")
                self.at += 1
        for command, content in self.fed.items():
            self.run(Value(command), content)
        self._fork_bomb()
        if self.connected and self.shell_started:
            self.acts.report("code.reverse-shell")

    def postfix(self, value: Value, token: Token | None = None) -> Value:
        receiver = Value()
        while (following := self.peek()) is not None:
            text = following.text if following.kind == OPERATOR else ""
            if text in _JOINERS or (text == ":" and self.language == "lua"):
                after = self.peek(1)
                if after is None or (text == "." and self.language in ("perl", "php")):
                    break
                if after.kind == NAME:
                    self.at += 2
                    receiver, token = value, after
                    value = self.member(value, after.text.replace("->", ".").replace("::", "."))
                elif after.text in ("(", "[", "{"):
                    self.at += 1
                else:
                    break
            elif text == "(" and not (following.spaced and self.language in ("ruby", "awk")):
                if not value.name and not value.is_text:
                    break
                mapped = script_maps.of_method(self, receiver) if _maps(value) else None
                if mapped is not None:
                    value, receiver = mapped, Value()
                    continue
                self.bind_callback(receiver)
                self.at += 1
                value, receiver = self.called(value, receiver, self.listed(")")), Value()
            elif text == "[" and not following.spaced:
                self.at += 1
                value = self.item(value, self.listed("]"))
            elif text == "{" and self._is_element(token, following):
                self.at += 1
                key = "".join(self._until("}"))
                name = token.text if token is not None else ""
                value = self.variable(key) if name == "$ENV" else Value(name=f"{name}{{}}")
            elif self._is_tag(value, token, following):
                self.at += 1
                value = self.called(value, receiver, [self.text(following)])
            elif self._is_bare_call(value, token, following):
                value, receiver = self.called(value, receiver, self.arguments()), Value()
            else:
                if (text == "{" or following.text == "do") and self.language == "ruby" and value.name:
                    self.bind_block(
                        receiver if receiver.name or receiver.is_text or receiver.items else value
                    )
                break
        return value

    def _is_element(self, token: Token | None, following: Token) -> bool:
        """$hash{key} of Perl."""
        return (
            self.language == "perl" and token is not None and token.text[:1] == "$" and not following.spaced
        )

    def _is_tag(self, value: Value, token: Token | None, following: Token) -> bool:
        """$`command` of JavaScript."""
        if self.language != "node" or token is None or following.kind != STRING or following.spaced:
            return False
        return self.kind_of(value.name) == "shell"

    def _is_bare_call(self, value: Value, token: Token | None, following: Token) -> bool:
        """Do arguments without brackets follow: `system "ls"`?"""
        if self.language not in _BARE_CALLS or token is None or not value.name:
            return False
        kind = self.kind_of(value.name) or (value.name if value.name in _BARE_FOLDS else "")
        kind = kind or (value.name if value.name == "printf" and self.language != "awk" else "")
        if not kind and not (self.language == "ruby" and value.name.rpartition(".")[2] in self.methods):
            return False
        if self.language == "lua":
            return following.kind == STRING
        if following.kind in (STRING, SHELL, NUMBER, WORDS):
            return True
        if following.kind == NAME:
            if kind in ("remove", "tree") and following.text in ("for", "foreach"):
                self.at += 1
                return True
            return following.text not in _AFTER_CALLS
        if following.kind != OPERATOR or self.language not in ("perl", "ruby", "awk"):
            return False
        if following.text in ("(", "-", "{"):
            return following.spaced
        return following.text == "<" or (following.text in ("\\", "[", "*") and following.spaced)

    def kind_of(self, name: str) -> str:
        """What a function stands for, a key of ACTS; "" for nothing."""
        return _kind(self.language, name) if name else ""

    def called(self, function: Value, receiver: Value, args: list[Value]) -> Value:
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted
        name = function.name
        if name in _PRINTERS.get(self.language, ()):
            self.prints(name, args)
        if function.is_text and not name:
            name = function.text if self.language == "php" else ""
        kind = self.kind_of(name)
        method = name.rpartition(".")[2]
        if kind:
            from .script_acts import ACTS

            result = ACTS[kind](self, args, name)
            return result if result is not None else Value(name=f"{name}()")
        source = receiver
        if function.of is not None and (name.startswith(".") or function.of.name == "arguments"):
            source = function.of
        known = source.is_text or source.items is not None or bool(source.taint)
        if method == "substr":
            return substring([source, *args] if known else args, 1 if self.language == "awk" else 0)
        if method in _FEEDS and args and self._fed_process(function.of or receiver, args):
            return Value(name=f"{name}()")
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

    def prints(self, name: str, args: list[Value]) -> None:
        """A function that prints is called with these values."""
        if name == "printf":
            text = fold("sprintf", args)
            args = [text if text is not None else Value()]
        printed(self.acts.given.printed, self.language, name, args)

    def _fed_process(self, receiver: Value, args: list[Value]) -> bool:
        """Text is written to a process that the script started: it is that process's input."""
        process: Value | None = receiver
        for _ in range(3):
            if process is None:
                return False
            if process.of is not None and process.of.is_text and _STARTED.search(process.name):
                self.run(process.of, args[0])
                return True
            process = process.of
        return False

    def other(self, name: str, method: str, receiver: Value, args: list[Value]) -> Value:
        """A call of something that has no meaning here."""
        given = self.input_called(name, args)
        if given is not None:
            return given
        if name in (
            "vim.uv.os_homedir",
            "vim.loop.os_homedir",
            "os.homedir",
            "Dir.home",
            "Deno.homedir",
            "path.expand",
        ):
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
        if method in RECEIVES and self.connected:
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

    def awk_pipe(self, value: Value) -> None:
        piped(self, value)

    def feed(self, command: Value, content: Value) -> None:
        """What is printed into a command, which runs when the script is at its end."""
        if not command.is_text:
            self.run(command)
        elif command.text in self.fed:
            self.fed[command.text] = add(self.fed[command.text], content)
        else:
            self.fed[command.text] = content

    def run(self, command: Value, stdin: Value | None = None) -> None:
        """Shell text is run."""
        for one in command.each():
            if one.is_text:
                if _SHELL_PROGRAM.match(one.text):
                    self.shell_started = True
                    if _DUPLICATE.search(one.text):
                        self.connected = self.connected or self.language == "awk"
                if self.connected and re.search(r"\bsh\b.*[<>]&", one.text):
                    self.shell_started = True
        self.acts.run(command, stdin=stdin)

    def evaluate(self, code: Value) -> None:
        """Text is run as code of the same language."""
        for one in code.each():
            if DECODED in one.taint:
                self.acts.report("code.decoded-exec")
            if one.is_text and one.text.strip(UNKNOWN) and not one.taint & {OPAQUE, REMOTE}:
                if self.depth < DEPTH:
                    inner = Script(self.language, one.text, self.acts, self.depth + 1)
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
            r"\bwhile (?:\( )?(?:1|true|fork)\b|\bloop [{d]|\bfor \( \)|\buntil (?:\( )?(?:0|false)\b",
            joined_names,
        ):
            self.acts.report("code.fork-bomb")
