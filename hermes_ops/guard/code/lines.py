"""Languages whose programs are lines of commands: make, Tcl, AppleScript."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..judge.invocation import UNKNOWN
from .acts import Acts
from .value import Value

_MAKE_VARIABLE = re.compile(r"\$[({](?P<name>[\w.-]+)[)}]|\$(?P<short>[@<^?*])|\$\$")
_MAKE_SHELL = re.compile(r"\$\(shell\s+(?P<command>(?:[^()]|\([^()]*\))*)\)")
_MAKE_BINDING = re.compile(
    r"^(?:export\s+|override\s+)?(?P<name>[\w.-]+)\s*(?P<how>[:?+!]?:?=)\s*(?P<value>.*)$"
)


# Rules may stand in another file, be made up by make, or another goal be the first.
_MAKE_ELSEWHERE = re.compile(r"^[ \t]*(?:[-s]?include|define|\.DEFAULT_GOAL)\b|\$[({]eval", re.MULTILINE)


def makefile_of(code: str, wanted: Collection[str], dry: bool = False) -> str:
    """A makefile without the recipes that making some targets does not come to.

    `wanted`: the targets, of which none means the first. Where a name is only known to make (a variable, a
    pattern, an included file), the recipe stays. `dry`: as make -n runs it, no recipe but lines with +.
    """
    lines = re.sub(r"\\\n[ \t]*", " ", code).split("\n")
    rules = [_rule(line) for line in lines]
    reached: set[str] | None = None
    if not _MAKE_ELSEWHERE.search(code):
        reached = _reached(wanted, [rule for rule in rules if rule is not None])
    kept, keeps = [], True
    for line, rule in zip(lines, rules, strict=True):
        if line.startswith("\t"):
            if keeps and (not dry or line.lstrip("\t @-").startswith("+")):
                kept.append(line)
            continue
        if rule is not None:
            keeps = reached is None or any(name in reached or _may_be_any(name) for name in rule[0])
            line = line if keeps and not dry else line.partition(";")[0]
        kept.append(line)
    return "\n".join(kept)


def _rule(line: str) -> tuple[list[str], list[str]] | None:
    """The targets of a rule and what they need; None for another line."""
    head, colon, rest = line.partition(":")
    rest = rest.removeprefix(":").partition(";")[0].partition("#")[0]
    targets = head.split()
    if not colon or not targets or line[0] == "\t" or "=" in head or "#" in head or "=" in rest:
        return None
    return targets, rest.split()


def _reached(wanted: Collection[str], rules: list[tuple[list[str], list[str]]]) -> set[str]:
    """The targets that making some comes to: their needs, and the needs of those."""
    needs: dict[str, list[str]] = {}
    pending = list(wanted)
    for targets, needed in rules:
        if targets[0][0] == ".":
            continue
        if not pending and not wanted:
            pending = list(targets)  # made is what stands first
        for name in targets:
            if _may_be_any(name):
                pending += needed
            else:
                needs.setdefault(name, []).extend(needed)
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += needs.get(name, ())
    return reached


def _may_be_any(name: str) -> bool:
    """Is a target only known to make, or one that has a meaning of its own?"""
    return "$" in name or "%" in name or name[0] == "."


def judge_make(code: str, acts: Acts) -> None:
    """A makefile: its recipes, $(shell ...) and != are shell text. All targets count."""
    names: dict[str, str] = {"MAKE": "make", "CURDIR": acts.cwd or ".", "HOME": acts.home or "~"}

    def expanded(text: str) -> str:
        def one(match: re.Match[str]) -> str:
            if match.group() == "$$":
                return "$"
            return names.get(match["name"], UNKNOWN) if match["name"] else UNKNOWN

        for _ in range(3):
            if "$(" not in text and "${" not in text:
                break
            text = _MAKE_VARIABLE.sub(one, text)
        return text.replace("$$", "$")

    in_recipe = False
    for line in re.sub(r"\\\n\t?", " ", code).split("\n"):
        for match in _MAKE_SHELL.finditer(line):
            acts.run(Value(expanded(match["command"])))
        if line.startswith("\t") and in_recipe:
            acts.part = line.strip()[:160]
            command = expanded(_MAKE_SHELL.sub(UNKNOWN, line.strip())).lstrip("@-+ ")
            if command:
                acts.run(Value(command))
            continue
        binding = _MAKE_BINDING.match(line)
        if binding:
            if binding["how"] == "!=":
                acts.run(Value(expanded(binding["value"])))
            else:
                names[binding["name"]] = expanded(binding["value"].split(" #")[0].strip())
            continue
        if ":" in line and not line.startswith("#"):
            in_recipe = True
            _, semicolon, command = line.partition(";")
            if semicolon:
                acts.run(Value(expanded(command.strip())))


def _tcl_words(line: str) -> list[str]:
    """The words of one Tcl command: braces and quotes taken off, variables unknown."""
    words, place = [], 0
    while place < len(line):
        letter = line[place]
        if letter.isspace():
            place += 1
            continue
        if letter == "{":
            depth, end = 1, place + 1
            while end < len(line) and depth:
                depth += {"{": 1, "}": -1}.get(line[end], 0)
                end += 1
            words.append(line[place + 1 : end - 1])
            place = end
        elif letter == '"':
            end = line.find('"', place + 1)
            end = len(line) if end < 0 else end
            words.append(line[place + 1 : end])
            place = end + 1
        else:
            match = re.compile(r"(?:\[[^\]]{0,400}\]|\\.|[^\s\\\[])+|.").match(line, place)
            words.append(match.group() if match else letter)
            place = match.end() if match else place + 1
    return words


_TCL_BLOCK = re.compile(
    r"(?:\}\s*)?(?:if|else|elseif|while|for|foreach|proc|catch|after|try|namespace|eval|expect)\b"
)


# A list of names that a pattern gives, put in word by word.
_TCL_GLOB = re.compile(r"\{\*\}\[glob\s+(?:-\w{1,20}\s+){0,4}([^\]\n]{0,200})\]")


_TCL_NAMES = re.compile(r"\[glob\s+(?:-\w{1,20}\s+){0,4}(\S+)\]")


def _tcl_output(piece: str, words: list[str], acts: Acts) -> None:
    """puts prints; what else is no assignment may print as well."""
    output = acts.given.printed
    if output is None:
        return
    if words[0] == "puts" and not any(mark in piece for mark in "[\\"):
        channel = words[1:-1]
        end = "" if "-nonewline" in channel else "\n"
        if channel in ([], ["stdout"], ["-nonewline"], ["-nonewline", "stdout"]):
            output.add([Value(word) for word in words[1:][-1:]], end=end)
            return
    if words[0] != "set" or "[" in piece or "\\" in piece:
        output.lose()


def _tcl_commands(line: str) -> list[str]:
    """The commands of a line: it is parted at a ; behind which no brace or quotation mark closes first."""
    commands, end, closes = [], len(line), False
    for place in range(len(line) - 1, -1, -1):
        letter = line[place]
        if letter == ";" and not closes:
            commands.append(line[place + 1 : end])
            end = place
        elif letter in '{}"':
            closes = letter != "{"
    return [line[:end], *reversed(commands)]


_TCL_DEEPEST = 6


def judge_tcl(code: str, acts: Acts, depth: int = 0) -> None:
    """Tcl and expect: exec, spawn, file delete, open |..., eval."""
    names: dict[str, str] = {}
    if depth > _TCL_DEEPEST:
        acts.report("code.unread")
        return
    if not depth and acts.given.printed is not None:
        acts.given.printed.begin()

    def expanded(word: str) -> str:
        if re.fullmatch(r"\$(?:::)?env\(HOME\)(?:/.*)?", word):
            return (acts.home or "~") + word.partition(")")[2]
        return re.sub(r"\$\{?(\w+)(?:\([^)]{0,80}\))?\}?", lambda match: names.get(match[1], UNKNOWN), word)

    globs = "[glob" in code
    code = _TCL_GLOB.sub(r"\1", re.sub(r"\\\n\s*", " ", code))
    for line in code.split("\n"):
        line = line.strip()
        if not line or line[0] == "#":
            continue
        pieces = [piece.strip() for piece in _tcl_commands(line)]
        pieces += re.findall(r"\[((?:exec|open|eval|file delete)[^\[\]]*)\]", line)
        if _TCL_BLOCK.match(line):
            pieces += re.findall(r"\{\s*((?:exec|spawn|file delete|eval|open)\b[^{}]*)\}", line)
        for piece in pieces:
            words = [expanded(word) for word in _tcl_words(piece)]
            if not words:
                continue
            acts.part = piece[:160]
            _tcl_output(piece, words, acts)
            if words[0] == "foreach" and len(words) > 2 and (found := _TCL_NAMES.fullmatch(words[2])):
                names[words[1]] = found[1]
            elif words[0] == "set" and len(words) == 3:
                names[words[1]] = words[2]
            elif words[0] in ("exec", "spawn", "system"):
                rest = [
                    word
                    for word in words[1:]
                    if word not in ("--", "-ignorestderr", "-keepnewline", "-noecho")
                ]
                if rest:
                    acts.run_words([Value(word, glob=True) for word in rest])
            elif words[:2] == ["file", "delete"]:
                for word in words[2:]:
                    if word[:1] != "-":
                        acts.remove(Value(word, glob=globs and "*" in word), tree="-force" in words)
            elif words[0] == "open" and len(words) > 1:
                if words[1][:1] == "|":
                    acts.run(Value(words[1][1:]))
                elif len(words) > 2 and words[2][:1] in ("w", "a"):
                    acts.write(Value(words[1]))
            elif words[0] in ("eval", "uplevel", "subst") and len(words) > 1 and words[1].strip(UNKNOWN):
                judge_tcl(" ".join(words[1:]), acts, depth + 1)


# A string that is never closed goes to the end, so that no text is searched twice.
_APPLE_TEXT = r"\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z)|[A-Za-z_]\w*|quoted form of"
_APPLE_SHELL = re.compile(
    rf"\bdo shell script\s+(?P<text>(?:{_APPLE_TEXT})(?:\s*&\s*(?:{_APPLE_TEXT}))*)(?P<rest>[^\n]*)"
)
_APPLE_SET = re.compile(
    rf"\bset\s+(?P<name>\w+)\s+to\s+(?P<text>(?:{_APPLE_TEXT})(?:\s*&\s*(?:{_APPLE_TEXT}))*)"
)
_APPLE_OFF = re.compile(
    r"\btell\s+(?:application|app)\s+\"?(?:System Events|Finder|loginwindow)\"?"
    r"[^\n]{0,200}?(?:\bto\b|\n)\s{0,40}(?:shut down|restart)",
    re.IGNORECASE,
)
_APPLE_REMARK = re.compile(
    r"(?P<string>\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z))|--[^\n]*|\(\*.*?(?:\*\)|\Z)|#[^\n]*", re.DOTALL
)


def judge_applescript(code: str, acts: Acts) -> None:
    """AppleScript: `do shell script`, and telling the system to shut down."""
    code = _APPLE_REMARK.sub(lambda match: match["string"] or "", code)
    names: dict[str, str] = {}

    def text(expression: str) -> str:
        pieces = []
        for piece in re.findall(_APPLE_TEXT, expression):
            if piece[0] == '"':
                pieces.append(re.sub(r"\\(.)", r"\1", piece[1:].removesuffix('"')))
            elif piece != "quoted form of":
                pieces.append(names.get(piece, UNKNOWN))
        return "".join(pieces)

    for match in _APPLE_SET.finditer(code):
        names[match["name"]] = text(match["text"])
    for match in _APPLE_SHELL.finditer(code):
        acts.part = match.group()[:160]
        command = text(match["text"])
        acts.run(Value(f"sudo {command}" if "administrator privileges" in match["rest"] else command))
    if _APPLE_OFF.search(code):
        acts.report("code.machine-off")
