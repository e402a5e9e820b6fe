"""What code does to files, processes and the network, judged by the shell's rules where there is a form."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.invocation import OPAQUE, REMOTE, SECRET, UNKNOWN
from ..rules.files import write_findings
from ..rules.names import names
from ..rules.secrets import secret_of
from ..verdict import Found, Verdict
from .given import NOTHING_GIVEN, Given, stream_of, value_held, value_of
from .value import DECODED, Value, add, taint_of
from .wording import found

if TYPE_CHECKING:
    from .judge import Shell

# How often one text asks the shell's judge.
SHELL_LIMIT, SHELL_TEXT = 64, 24_000
# How many paths one text may touch.
PATH_LIMIT = 500
ENVIRONMENT = "the environment"
# Paths under which a program finds what comes in.
INPUTS = frozenset(["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
_SAFE_GLOB = re.compile(r"[A-Za-z0-9_@%+=:,./*?\[\]-]+\Z")
_LOOPBACK = re.compile(
    r"(?:[a-z]+://)?(?:[^/@]*@)?(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0)(?:[:/]|\Z)"
)
_SHELLS = names("sh bash zsh dash ksh ash fish cmd cmd.exe powershell pwsh")
# A word of a shell command that starts with it runs what follows it as a program.
_HOLD = "unknown-program"
# What is not known in code is some text; only in a shell may it be nothing, so that "$x/bin" becomes /bin.
_SOME_FOLDER = "unknown-folder"
_UNKNOWN_FOLDER = re.compile(rf"(?<![^\s'\"=]){UNKNOWN}(?=/)")


def quoted(text: str, glob: bool = False) -> str:
    """A word for shell text that stands for `text`; `glob` leaves * ? [ ] to match."""
    if (_SAFE_GLOB if glob else _SAFE).match(text):
        return text
    if glob:
        return "".join(
            piece if piece[:1] in "*?[]" else "'" + piece.replace("'", "'\"'\"'") + "'"
            for piece in re.findall(r"[*?\[\]]+|[^*?\[\]]+", text)
        )
    return "'" + text.replace("'", "'\"'\"'") + "'"


class Exhausted(Exception):
    """The code takes more steps than are spent on one text."""


class Acts:
    """Collects the findings of what one piece of code does."""

    def __init__(
        self,
        shell: Shell,
        home: str = "",
        cwd: str | None = None,
        hermes_home: str = "",
        given: Given = NOTHING_GIVEN,
    ) -> None:
        self.shell, self.home, self.cwd, self.hermes_home = shell, home, cwd, hermes_home
        self.given = given
        self.folder = ""  # where the code changed to; "" while it has not
        self.found: list[Found] = []
        self.files: dict[str, Value] = {}  # what the code wrote, by path
        self.part = ""
        self.unsure = (
            False  # in a part that nothing is known to run, or that is read without its surroundings
        )
        self.guarded = False  # inside a condition of a loop: not every file is met
        self._text = self._paths = 0
        self._ran: set[str] = set()
        self._asked: dict[str, list[Found]] = {}

    def renew(self) -> None:
        """Spend as much again: the text is read another way."""
        self._text = self._paths = 0

    def prints_more(self) -> None:
        """Something is printed, or done, that the text of the output is not certain with."""
        if self.given.printed is not None:
            self.given.printed.lose()

    def report(self, rule: str, detail: str = "") -> None:
        self.found.append(found(rule, self.part, detail))

    def ask(self, text: str, ceiling: Verdict = Verdict.BLOCK) -> bool:
        """Judge shell text that stands for what the code does; True when something was found."""
        if text not in self._asked:
            self._text += len(text)
            if len(self._asked) >= SHELL_LIMIT or self._text > SHELL_TEXT:
                self.report("code.unread", "more acts than are read of one text")
                return True
            self._asked[text] = self.shell(text)
        for one in self._asked[text]:
            verdict = min(one.verdict, ceiling)
            self.found.append(replace(one, part=self.part or one.part, verdict=verdict))
        return bool(self._asked[text])

    # Paths

    def expanded(self, text: str) -> str:
        """A path with ~ and the code's own change of folder resolved."""
        self._paths += 1
        if self._paths > PATH_LIMIT:
            raise Exhausted
        if text[:1] == "~" and (len(text) == 1 or text[1] == "/"):
            return (self.home or "~") + text[1:]
        if self.folder and text[:1] not in ("/", "~", UNKNOWN):
            return posixpath.join(self.folder, text)
        return _SOME_FOLDER + text[1:] if text[:2] == UNKNOWN + "/" else text

    def word(self, path: Value) -> str:
        text = self.expanded(path.text)
        if text[:2] == "~/" or text == "~":
            return "~" + (("/" + quoted(text[2:], path.glob)) if text[2:] else "")
        return quoted(text, path.glob)

    def change_folder(self, path: Value) -> None:
        self.folder = self.expanded(path.text)

    def remove(self, path: Value, tree: bool = False, guarded: bool | None = None) -> None:
        """A file, an empty folder or (tree) everything below a path goes."""
        guarded = self.guarded if guarded is None else guarded
        for one in path.each():
            text = one.text
            if text == UNKNOWN and not one.taint and (not tree or one.name.startswith("parameter")):
                continue
            if one.deep:
                folder, _, name = text.rpartition("/")
                if tree or name == "*":
                    self.ask(f"rm -rf -- {self.word(one)}", Verdict.APPROVE if guarded else Verdict.BLOCK)
                else:
                    place = quoted(self.expanded(folder or "/"))
                    self.ask(f"find {place} -name {quoted(name)} -delete", Verdict.BLOCK)
            else:
                ceiling = Verdict.APPROVE if guarded and one.glob else Verdict.BLOCK
                self.ask(f"rm {'-rf' if tree else '-f'} -- {self.word(one)}", ceiling)

    def write(
        self, path: Value, content: Value | None = None, empties: bool = False, appends: bool = False
    ) -> None:
        """A file is written; `content` when it is known, `empties` when nothing is put into it."""
        for one in path.each():
            text = self.expanded(one.text)
            if content is not None and UNKNOWN not in text and len(self.files) < 64:
                before = self.held(text) if appends else None
                self.files[text] = content if before is None else add(before, content)
                self.given.keep(text, stream_of(self.files[text]))
            if text[:1] == UNKNOWN and text in (UNKNOWN, UNKNOWN + UNKNOWN):
                continue
            self.add(write_findings(text, self.cwd, self.home, self.hermes_home))
            if empties and not self._is_new(text):
                self.ask(f": > {self.word(one)}")

    def _is_new(self, text: str) -> bool:
        return UNKNOWN in text or text.endswith(
            ("__init__.py", ".gitkeep", ".keep", "py.typed", ".lock", ".pid")
        )

    def unpack(self, archive: Value, folder: Value | None) -> None:
        """An archive unpacked into a folder, else into the working one."""
        name = self.word(archive) if archive.is_text else "archive.tar"
        into = f" -C {self.word(folder)}" if folder is not None and folder.is_text else ""
        self.ask(f"tar xf {name}{into}")

    def add(self, findings: Sequence[Found]) -> None:
        for one in findings:
            self.found.append(replace(one, part=self.part or one.part))

    def secret(self, path: Value) -> str:
        """What credential a path is, "" when it is none."""
        for one in path.each():
            text = self.expanded(one.text)
            if text not in ("", UNKNOWN) and secret_of(text, self.cwd, self.home, self.hermes_home):
                return text
        return ""

    def read(self, path: Value) -> Value:
        """The content of a file; a credential that is read is a finding of its own."""
        source = self.secret(path)
        if source:
            self.ask(f"cat {self.word(path)}")
            return Value(taint=frozenset([SECRET]), source=source)
        for one in path.each():
            text = self.expanded(one.text)
            held = self.held(text)
            if held is not None:
                return held
            if text in INPUTS:
                return self.given.input()
            if text.startswith("/proc/") and text.endswith("/environ"):
                return Value(taint=frozenset([SECRET]), source=text)
        return Value(name="file content", taint=path.taint, source=path.source)

    def held(self, path: str) -> Value | None:
        """What a file holds that this code or the line around it wrote; None when it is another one."""
        if path in self.files:
            return self.files[path]
        held = self.given.held(path)
        return value_held(held) if held is not None else None

    def variable(self, name: str) -> Value | None:
        """A variable of the environment; None when nothing is known of it."""
        if name in ("HOME", "USERPROFILE"):
            return Value(self.home or "~")
        if name == "HERMES_HOME":
            return Value(self.hermes_home or f"{self.home or '~'}/.hermes")
        if name in ("TMPDIR", "TEMP", "TMP"):
            return Value("/tmp")
        arg = self.given.variable(name)
        return value_of(arg) if arg is not None and arg.known else None

    def pair(self, program: str, source: Value, target: Value) -> None:
        """Two paths handed to mv, cp or ln."""
        for one in source.each():
            for other in target.each():
                if one.text != UNKNOWN or other.text != UNKNOWN:
                    self.ask(f"{program} -- {self.word(one)} {self.word(other)}")

    # Processes

    def _in_folder(self, text: str, folder: Value | None) -> str:
        where = folder.text if folder is not None and folder.is_text else self.folder
        return f"cd {quoted(self.expanded(where))} && {text}" if where and where != UNKNOWN else text

    def _substituted(self, text: str, value: Value) -> str:
        """Shell text whose first unknown piece is a secret or a download says so by a substitution."""
        if SECRET in value.taint:
            inner = "env" if value.source == ENVIRONMENT else f"cat {self.word(Value(value.source))}"
            return text.replace(UNKNOWN, f"$({inner})", 1)
        return text

    def _runs_written(self, text: str) -> None:
        """Programs that the code wrote before and now runs."""
        for path, content in self.files.items():
            if path not in text and posixpath.basename(path) not in text:
                continue
            words = text.split()
            if content.taint & {REMOTE}:
                self.report("code.remote-exec", path)
            elif OPAQUE in content.taint:
                self.report("code.opaque-exec", path)
            elif content.is_text and words and path not in self._ran:
                self._ran.add(path)
                self._run_content(posixpath.basename(words[0].strip("'\"")), path, content.text)

    def _run_content(self, program: str, path: str, content: str) -> None:
        """A file that the code wrote is run by a program, or by itself."""
        from .judge import judge_code, language_of

        if program == posixpath.basename(path):
            first = content.partition("\n")[0]
            program = (
                first.split()[-1].rpartition("/")[2] if first.startswith("#!") and len(first) > 3 else "sh"
            )
        if program in _SHELLS:
            self.ask(content)
        elif language := language_of(program):
            inner = judge_code(
                language, content, self.shell, self.home, self.cwd, self.hermes_home, self.given
            )
            self.add(inner)

    def run(self, command: Value, folder: Value | None = None, stdin: Value | None = None) -> None:
        """Shell text is run."""
        self.prints_more()
        for one in command.each():
            text = one.text
            if DECODED in one.taint:
                self.report("code.decoded-exec")
            if OPAQUE in one.taint and (not one.is_text or text[:1] == UNKNOWN):
                self.report("code.opaque-exec")
                continue
            if REMOTE in one.taint and (not one.is_text or text[:1] == UNKNOWN):
                self.report(
                    "code.reverse-shell" if "socket" in one.source else "code.remote-exec", one.source
                )
                continue
            if text == UNKNOWN:
                continue
            text = _UNKNOWN_FOLDER.sub(_SOME_FOLDER, text)
            if text[:1] == UNKNOWN:
                text = _HOLD + text[1:]
            text = self._substituted(text, one)
            if self.files:
                self._runs_written(text)
            self.ask(self._with_stdin(self._in_folder(text, folder), stdin))

    def _with_stdin(self, text: str, stdin: Value | None) -> str:
        if stdin is None:
            return text
        if SECRET in stdin.taint:
            inner = "env" if stdin.source == ENVIRONMENT else f"cat {self.word(Value(stdin.source))}"
            return f"{inner} | {text}"
        if REMOTE in stdin.taint:
            return f"curl -s https://example.invalid/ | {text}"
        if stdin.text.strip(UNKNOWN + " \n"):
            return f"{text} <<'END_OF_INPUT'\n{stdin.text}\nEND_OF_INPUT"
        return f"{_HOLD} | {text}" if OPAQUE in stdin.taint else text

    def run_words(
        self, words: Sequence[Value], folder: Value | None = None, stdin: Value | None = None
    ) -> None:
        """A program is run with a list of arguments."""
        self.prints_more()
        if not words:
            return
        ways = max(len(word.choices) for word in words[1:65]) if len(words) > 1 else 0
        if ways > 1:
            for way in range(ways):
                ends = [min(way, len(word.choices) - 1) for word in words]
                one = [
                    replace(word.choices[end], choices=()) if word.choices else word
                    for word, end in zip(words, ends, strict=True)
                ]
                self.run_words(one, folder, stdin)
            return
        first = words[0]
        for program in first.each():
            name = program.text
            if name[:1] == UNKNOWN:
                if program.taint & {OPAQUE, REMOTE}:
                    self.report("code.opaque-exec" if OPAQUE in program.taint else "code.remote-exec")
                    continue
                if name == UNKNOWN and len(words) == 1:
                    continue
                name = _HOLD
            pieces = [quoted(self.expanded(name) if name[:1] == "~" else name)]
            for word in words[1:65]:
                text = word.text
                if SECRET in word.taint and UNKNOWN in text:
                    inner = "env" if word.source == ENVIRONMENT else f"cat {self.word(Value(word.source))}"
                    before, _, after = text.partition(UNKNOWN)
                    pieces.append(
                        (quoted(before) if before else "")
                        + f'"$({inner})"'
                        + (quoted(after) if after else "")
                    )
                elif REMOTE in word.taint and text == UNKNOWN:
                    pieces.append('"$(curl -s https://example.invalid/)"')
                elif OPAQUE in word.taint and text == UNKNOWN and posixpath.basename(name) in _SHELLS:
                    self.report("code.opaque-exec")
                    pieces.append(quoted(text))
                else:
                    pieces.append(quoted(_UNKNOWN_FOLDER.sub(_SOME_FOLDER, text)))
            text = " ".join(pieces)
            if self.files:
                self._runs_written(text)
            self.ask(self._with_stdin(self._in_folder(text, folder), stdin))

    def kill(self, process: Value, group: bool = False) -> None:
        """A signal goes to a process id."""
        for one in process.each():
            if one.known in (-1, "-1") or (group and one.known in (1, "1")):
                self.report("code.processes-ended")
            elif one.known in (1, "1"):
                self.ask("kill -9 1")

    # The network

    def send(self, values: Sequence[Value], address: Value | None = None) -> None:
        """Values leave the machine."""
        taint, source = taint_of(values)
        if SECRET not in taint:
            return
        if address is not None and address.is_text and _LOOPBACK.match(address.text):
            return
        self.report("code.secret-sent", source)

    def execute(self, value: Value, weak: bool = False) -> None:
        """Text that is not known is run as code. `weak`: only when it is known to be suspect."""
        if REMOTE in value.taint:
            self.report(
                "code.reverse-shell" if "socket" in value.source else "code.remote-exec", value.source
            )
        elif OPAQUE in value.taint or not (weak or self.unsure):
            self.report("code.opaque-exec")
