"""PowerShell and cmd: commands split into words, removers and downloaders turned into the shell's."""

from __future__ import annotations

import base64
import binascii
import re

from ..judge.invocation import REMOTE, UNKNOWN
from .acts import ENVIRONMENT, Acts, quoted
from .value import Value

DEPTH = 3

_PIECE = re.compile(
    r"""
    (?P<comment> <\#.*?(?:\#>|\Z) | (?<!\S)\#[^\n]* )
  | (?P<here> @"\r?\n(?P<hd>.*?)\n"@ | @'\r?\n(?P<hs>.*?)\n'@ )
  | (?P<double> "(?P<d>(?:[^"`]|`.|"")*)(?:"|\Z) )
  | (?P<single> '(?P<s>(?:[^']|'')*)(?:'|\Z) )
  | (?P<space> [ \t\r]+ | `\r?\n )
  | (?P<end> \n | ;+ | \|\|? | && )
  | (?P<bracket> [(){}] )
  | (?P<word> (?:`.|[^\s"'`;|(){}&]|&(?!&))+ )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{?(?:env:(?P<env>\w+)|(?P<name>\w+))\}?", re.IGNORECASE)
_FORMS = {
    "remove-item": "rm", "rm": "rm", "del": "rm", "erase": "rm", "rd": "rm", "ri": "rm", "rmdir": "rm",
    "stop-computer": "poweroff", "restart-computer": "reboot",
    "format-volume": "disk", "clear-disk": "disk", "initialize-disk": "disk", "remove-partition": "disk",
    "invoke-expression": "iex", "iex": "iex", "invoke-command": "iex", "icm": "iex",
    "start-process": "start", "saps": "start", "start": "start",
    "invoke-webrequest": "fetch", "iwr": "fetch", "invoke-restmethod": "fetch", "irm": "fetch",
    "curl": "fetch",     "wget": "fetch", "start-bitstransfer": "fetch",
    "set-content": "write", "add-content": "write", "out-file": "write", "sc": "write", "ac": "write",
    "clear-content": "clear", "clc": "clear",
    "get-content": "read", "gc": "read", "cat": "read", "type": "read",
    "move-item": "mv", "mi": "mv", "move": "mv", "mv": "mv", "rename-item": "mv",
    "copy-item": "cp", "cpi": "cp", "copy": "cp", "cp": "cp",
    "set-location": "cd", "cd": "cd", "sl": "cd", "chdir": "cd", "push-location": "cd",
    "stop-service": "service", "remove-service": "service",
    "foreach": "nothing", "if": "nothing", "else": "nothing", "while": "nothing", "function": "nothing",
    "param": "nothing", "return": "nothing", "try": "nothing", "catch": "nothing", "select-object": "nothing",
    "set-executionpolicy": "nothing", "write-host": "nothing", "write-output": "nothing", "echo": "nothing",
    "select-string": "nothing", "where-object": "nothing",
    "foreach-object": "nothing",
    "get-childitem": "list",     "gci": "list", "ls": "list", "dir": "list",
    "cmd": "cmd", "cmd.exe": "cmd", "powershell": "powershell", "powershell.exe": "powershell",
    "pwsh": "powershell",
}  # fmt: skip
_VALUED = frozenset(
    ["-include", "-exclude", "-filter", "-erroraction", "-ea", "-encoding", "-method", "-uri"]
)


# `$name=value` in one word.
_GLUED = re.compile(r"\A(\$\w+)=(?=.)(.*)", re.DOTALL)


class PowerShell:
    """Reads PowerShell pipelines; what they do goes to `acts`."""

    def __init__(self, acts: Acts, depth: int = 0) -> None:
        self.acts, self.depth = acts, depth
        self.names: dict[str, Value] = {}
        self.connected = False

    def value(self, text: str) -> str:
        """A text with its variables put in."""

        def one(match: re.Match[str]) -> str:
            environment, name = match["env"], match["name"]
            if (environment or name).lower() in ("userprofile", "home", "homepath"):
                return self.acts.home or "~"
            if environment and environment.lower() in ("systemroot", "windir"):
                return "C:\\Windows"
            if environment and environment.lower() in ("systemdrive", "homedrive"):
                return "C:"
            if environment and environment.lower() in ("temp", "tmp"):
                return "/tmp"
            bound = self.names.get(name.lower()) if name else None
            return bound.text if bound is not None else UNKNOWN

        return _VARIABLE.sub(one, text)

    def judge(self, text: str) -> None:
        """Read all pipelines of a script."""
        words: list[str] = []
        current: list[tuple[list[str], str]] = []
        glued = False
        for match in _PIECE.finditer(text):
            if match["comment"]:
                continue
            if match["space"]:
                glued = False
                continue
            if match["end"] or match["bracket"]:
                mark = match.group()
                if words:
                    current.append((words, mark))
                    words = []
                if mark not in ("|",) and match["end"]:
                    self.pipeline(current)
                    current = []
                glued = False
                continue
            piece = self._piece(match)
            if glued and words:
                words[-1] += piece
            else:
                words.append(piece)
            glued = True
        if words:
            current.append((words, ""))
        self.pipeline(current)

    def _piece(self, match: re.Match[str]) -> str:
        if match["double"]:
            return self.value(re.sub(r"`(.)", r"\1", match["d"].replace('""', '"')))
        if match["single"]:
            return match["s"].replace("''", "'")
        if match["here"]:
            return self.value(match["hd"]) if match["hd"] is not None else match["hs"] or ""
        word = match.group()
        return (
            word
            if word.startswith("$") and "=" in word
            else self.value(word.replace("`", ""))
            if word[:1] != "$"
            else word
        )

    def pipeline(self, commands: list[tuple[list[str], str]]) -> None:
        """Commands joined by | or by brackets; what one gives, the next may run."""
        text = " ".join(" ".join(words) for words, _ in commands)
        lowered = text.lower()
        if "net.sockets.tcpclient" in lowered or "net.sockets.socket" in lowered:
            self.connected = True
        fetched = bool(
            re.search(
                r"\b(?:downloadstring|downloaddata|invoke-webrequest|iwr|irm|invoke-restmethod|curl|wget)\b",
                lowered,
            )
        )
        if "frombase64string" in lowered and re.search(r"\b(?:iex|invoke-expression)\b", lowered):
            self._encoded(text)
        listed = ""
        for words, _ in commands:
            words = [*_GLUED.sub(r"\1\0=\0\2", words[0]).split("\0"), *words[1:]] if words else words
            if len(words) > 2 and words[0][:1] == "$" and words[1] == "=":
                self.names[words[0][1:].lower()] = Value(self.value(words[2]) if len(words) == 3 else UNKNOWN)
                words = words[2:]
            if words and words[0] in ("&", "."):
                words = words[1:]
            if not words:
                continue
            words = [self.value(word) for word in words]
            form = _FORMS.get(words[0].lower())
            if form == "list":
                operands = _operands(words[1:])
                listed = operands[0] if operands else "."
            if form == "rm" and not _operands(words[1:]) and listed:
                words = [*words, listed.rstrip("/\\") + "/*"]
            self.command(words, form, fetched)

    def _encoded(self, text: str) -> None:
        match = re.search(r"[A-Za-z0-9+/=]{16,}", text)
        if match is None:
            self.acts.report("code.opaque-exec")
            return
        try:
            data = base64.b64decode(match.group() + "=" * (-len(match.group()) % 4))
            decoded = data.decode("utf-16-le" if b"\0" in data else "utf-8")
        except (binascii.Error, ValueError):
            self.acts.report("code.opaque-exec")
            return
        self.inner(decoded)

    def inner(self, text: str) -> None:
        if self.depth < DEPTH:
            PowerShell(self.acts, self.depth + 1).judge(text)

    def command(self, words: list[str], form: str | None, fetched: bool) -> None:
        """One command with its words."""
        acts, operands = self.acts, _operands(words[1:])
        recursive = any(re.fullmatch(r"-r(?:ec\w*)?|/s", word, re.IGNORECASE) for word in words[1:])
        if form == "rm":
            for operand in operands:
                acts.remove(Value(operand.replace("\\", "/"), glob=True), tree=recursive)
        elif form in ("poweroff", "reboot"):
            acts.report("code.machine-off")
        elif form == "disk":
            acts.ask("mkfs.ext4 /dev/sda")
        elif form == "iex":
            rest = " ".join(operands)
            if fetched:
                acts.report("code.remote-exec")
            elif self.connected and (UNKNOWN in rest or not rest):
                acts.report("code.reverse-shell")
            elif rest.strip(UNKNOWN + " ") and words[0].lower() not in ("invoke-command", "icm"):
                self.inner(rest)
            elif words[0].lower() not in ("invoke-command", "icm"):
                acts.report("code.opaque-exec")
        elif form == "start":
            arguments = [word.strip("@(),'\"") for operand in operands for word in operand.split()]
            if arguments:
                acts.run_words([Value(word) for word in arguments])
        elif form == "write":
            for operand in operands[:1]:
                acts.write(Value(operand.replace("\\", "/")))
        elif form == "clear":
            for operand in operands[:1]:
                acts.write(Value(operand.replace("\\", "/")), empties=True)
        elif form == "read":
            for operand in operands[:1]:
                acts.read(Value(operand.replace("\\", "/")))
        elif form in ("mv", "cp") and len(operands) > 1:
            acts.pair(form, *(Value(operand.replace("\\", "/")) for operand in operands[:2]))
        elif form == "cd" and operands:
            acts.change_folder(Value(operands[0].replace("\\", "/")))
        elif form == "service":
            acts.ask(f"systemctl stop {quoted(operands[0] if operands else 'x')}")
        elif form == "fetch":
            self._fetch(words)
        elif form == "cmd":
            judge_cmd(
                " ".join(words[2:] if len(words) > 1 and words[1].lower().startswith("/") else words[1:]),
                acts,
            )
        elif form == "powershell":
            self.inner(" ".join(operands))
        elif form is None and words[0][:1] not in ("$", "[", "@", "-") and UNKNOWN not in words[0]:
            acts.run_words([Value(word) for word in words])

    def _fetch(self, words: list[str]) -> None:
        text = " ".join(words)
        if re.search(r"get-childitem env:|gci env:|\benv:\*", text, re.IGNORECASE):
            self.acts.send([Value(taint=frozenset(["secret"]), source=ENVIRONMENT)])
        for place, word in enumerate(words[:-1]):
            if word.lower() in ("-infile", "-body", "-form"):
                secret = self.acts.secret(Value(words[place + 1].replace("\\", "/")))
                if secret:
                    self.acts.report("code.secret-sent", secret)
            if word.lower() in ("-outfile", "-o"):
                self.acts.write(Value(words[place + 1].replace("\\", "/")), Value(taint=frozenset([REMOTE])))


def judge_powershell(code: str, acts: Acts) -> None:
    """A PowerShell script or command line."""
    PowerShell(acts).judge(code)


def _operands(words: list[str]) -> list[str]:
    """What is no option, and the values of -Path and its like."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word[:1] == "-" and len(word) > 1 and word[1:2].isalpha():
            skip = word.lower() in _VALUED
        elif not re.fullmatch(r"/[a-zA-Z]", word):
            found.extend(piece for piece in word.split(",") if piece)
    return found


_CMD_WORD = re.compile(r'"[^"\n]*"?|[^\s"&|<>()]+|&&?|\|\|?|>>?|[()]|\n')


def judge_cmd(text: str, acts: Acts) -> None:
    """A line or batch file of cmd."""
    words: list[str] = []
    for match in _CMD_WORD.finditer(text + "\n"):
        word = match.group()
        if word in ("&", "&&", "|", "||", "\n", "(", ")"):
            if words:
                _cmd(words, acts)
            words = []
        else:
            words.append(word.strip('"').replace("^", ""))


def _cmd(words: list[str], acts: Acts) -> None:
    name = words[0].lstrip("@").lower().removesuffix(".exe")
    operands = [_expanded(word, acts) for word in words[1:] if not re.fullmatch(r"/\S{1,3}", word)]
    flags = {word.lower() for word in words[1:] if word[:1] == "/"}
    if ">" in operands:
        target = operands[operands.index(">") + 1 :]
        if target:
            acts.write(Value(target[0]))
        operands = operands[: operands.index(">")]
    if name in ("rd", "rmdir", "del", "erase", "deltree"):
        for operand in operands:
            acts.remove(Value(operand, glob=True), tree="/s" in flags or name == "deltree")
    elif name == "format" and operands:
        acts.ask("mkfs.ext4 /dev/sda")
    elif name == "shutdown" and flags & {"/s", "/r", "/p", "/h"}:
        acts.report("code.machine-off")
    elif name == "call" or (name == "start" and operands):
        acts.run_words([Value(operand) for operand in operands])
    elif name == "cd" and operands:
        acts.change_folder(Value(operands[-1]))
    elif name == "reg" and operands[:1] == ["delete"]:
        acts.report("code.unread", "reg delete")
    elif name == "vssadmin" and "delete" in operands:
        acts.report("code.cloud-deletion", "shadow copies")
    elif name not in ("echo", "rem", "set", "if", "for", "dir", "type", "exit", "pause", "title"):
        acts.run_words([Value(word) for word in words])


def _expanded(word: str, acts: Acts) -> str:
    def one(match: re.Match[str]) -> str:
        name = match[1].lower()
        if name in ("userprofile", "homepath"):
            return acts.home or "~"
        if name in ("systemroot", "windir"):
            return "C:\\Windows"
        if name in ("systemdrive", "homedrive"):
            return "C:"
        return "/tmp" if name in ("temp", "tmp") else UNKNOWN

    return re.sub(r"%(\w+)%", one, word).replace("\\", "/")
