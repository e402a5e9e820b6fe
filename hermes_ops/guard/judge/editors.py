"""Editors and debuggers that are scripted on the command line: vim -c, ex and ed on the input, gdb -ex."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..code.spelled_paths import spelled
from ..rules.names import names as listed
from ..verdict import Verdict
from . import decode, flows, interpreters, other_languages, shells
from .invocation import Arg, Invocation, Stream
from .other_languages import as_word, removals

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 8_000
_MOST_LINES, _MOST_CALLS, _DEEPEST = 60, 12, 4

_RANGE = r"[\d.$%,'<>]{0,20} {0,2}"
# What stands before a command: modifiers, loops over buffers and lines, an event, the name of a new command,
# the keys that are typed.
_BEFORE = re.compile(
    rf"{_RANGE}(?:"
    r"(?:sil(?:ent)?|noa(?:utocmd)?|kee(?:palt|pjumps|pmarks|ppatterns|p[ajmp])?|lockm(?:arks)?|nos(?:wapfile)?|hid(?:e)?"
    r"|uns(?:ilent)?|san(?:dbox)?|\d{0,3}verb(?:ose)?|\d{0,3}vert(?:ical)?|hor(?:izontal)?|\d{0,3}tab|bo(?:tright)?"
    r"|to(?:pleft)?|abo(?:veleft)?|bel(?:owright)?|lefta(?:bove)?|rightb(?:elow)?|conf(?:irm)?|bro(?:wse)?|try|else"
    r"|fina(?:lly)?|(?:if|while) \d{1,4}"
    r"|(?:buf|arg|win|tab|c|cf|l|lf)do|foldd(?:oopen)?|folddoc(?:losed)?)!?[\s:]+"
    r"|(?:hid(?:e)?|tab|vert(?:ical)?)(?=!)"
    r"|(?:g(?:lobal)?!?|v(?:global)?) ?([^\w\s!\"|])(?:\\.|(?!\1)[^\\]){0,400}\1[\s:]*"
    r"|com(?:mand)?!? +(?:-\S+ +){0,6}\w+ +:*"
    r"|norm(?:al)?!? [^:]{0,100}:"
    r")"
)
_EVENT = re.compile(r"au(?:tocmd)?!? +(?P<first>\S+ +\S+) +(?P<third>\S+ +)?(?:(?:\+\+\w+|nested) +){0,2}")
# Commands that end in a command of the shell: a filter, a read from it, a write to it, a terminal.
_TO_SHELL = re.compile(
    rf"(?:{_RANGE}(?:!|r(?:ead)? {{0,2}}!|w(?:rite)?!? {{0,2}}!|[eE] +!)"
    r"|te[rminal]{0,6}!?\s+(?:\+\+\S+\s+){0,4})(.*)",
    re.DOTALL,
)
_EXECUTES = re.compile(r"exe(?:cute)?\s(.*)", re.DOTALL)
_WRITES = re.compile(
    rf"(?:{_RANGE}(?:w(?:rite)?|wq|x(?:it)?|sav(?:eas)?|up(?:date)?)!?|redir!?)"
    r" (?:>>? ?)?(?P<path>[~/$]\S+)"
)
_EDITS = re.compile(
    r"(?:[eE](?:dit)?|fin(?:d)?|[vs]?sp(?:lit)?|tabe(?:dit)?|tabnew|new)!? (?P<path>[~/$]\S+)"
)
_WRITES_BACK = re.compile(rf"{_RANGE}(?:w(?:rite|q|a|qa)?|x(?:it|a)?|up(?:date)?)!?\s*\Z")
# Programs that other commands start: `set makeprg=...`, `let &makeprg = "..."`.
_PROGRAM = r"(?:makeprg|mp|grepprg|gp|equalprg|ep|formatprg|fp|keywordprg|kp)"
_SETS = re.compile(rf"set?(?:l(?:ocal)?|g(?:lobal)?)? [^|\n]{{0,200}}?\b{_PROGRAM}=((?:\\.|\S)+)")
_LETS = re.compile(rf"let &(?:\w:)?{_PROGRAM}\s*\.?=\s*")
_CALLS = re.compile(
    r"(?<!\w)call\(\s*(?:function\(\s*)?[\"'](?:system(?:list)?|jobstart|termopen|execute)[\"']\)?\s*,\s*\[\s*"
)
_KEYS = re.compile(r"(?<!\w)feedkeys\(\s*")
_END_OF_KEYS = re.compile(r"\\?<(?:CR|Enter|Return|NL)>|[\r\n]", re.IGNORECASE)
_LAST_KEYS = re.compile(r"(?:\\?<(?:CR|Enter|Return|NL)>|\\[rn])\Z", re.IGNORECASE)
# Functions of Vim that run a command: the value is a text or a list of words.
_RUNS = re.compile(
    r"(?<![\w.])(?:system(?:list)?|jobstart|job_start|termopen|term_start|libcall)\(\s*(?P<list>\[[^\]\n]{0,400}\])?"
)
_WRITES_FILE = re.compile(r"(?<!\w)writefile\(\s*(?P<list>\[[^\]\n]{0,400}\]|[\w:.]+)\s*,\s*")
_RENAMES = re.compile(r"(?<!\w)rename\(\s*")
_DELETES = re.compile(r"(?<![\w.])delete\(\s*")
_STRING = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'((?:''|[^'])*)'")
# Lines that are code of another language: `:lua os.execute(...)`, gdb's `python ...`.
_EMBEDDED = re.compile(
    r"^[\s:]*(lua|py3?x?|python[3x]?|pi|script|perl|ruby|luado|py(?:thon)?[3x]?do|perldo|rubydo)\s+(?!--)(.+)",
    re.DOTALL,
)
_EMBEDDED_LANGUAGES = {"lua": "lua", "perl": "perl", "ruby": "ruby"}


def _embedded(walk: Walk, call: Invocation, text: str) -> bool:
    """Judge code of another language that a line of an editor or a debugger holds."""
    found = _EMBEDDED.match(text)
    if found is None:
        return False
    language = _EMBEDDED_LANGUAGES.get(found[1].removesuffix("do"), "python")
    interpreters.code(walk, call, language, Arg(found[2].removeprefix("="), False))
    return True


def _editor(walk: Walk, call: Invocation) -> Stream | None:
    """vim -c ':!command', +'!command', --cmd; ex and ed with !command on the input."""
    words = call.argv[1:]
    scripts: list[str] = []
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else None
        if word.text == "-l" and after is not None and call.name == "nvim":
            interpreters.script(walk, call, "lua", after)
            return None
        option, equals, value = word.text.partition("=")
        if equals and option in ("--cmd", "--remote-expr", "-c"):
            scripts.append(value)
        elif option in ("--remote-send", "--remote-expr") and after is not None:
            scripts.extend(_typed(after.text) if option[9:] == "send" else [after.text])
        elif word.text.startswith("!") and call.name in ("ed", "red"):
            scripts.append(word.text)
        elif word.text in ("-S", "-s", "-u", "-W") and after is not None:
            scripts.append(flows.file_stream(walk, after.text).text or "")
        elif word.text in ("-c", "--cmd") and after is not None:
            scripts.append(after.text)
        elif word.text.startswith("+") and len(word.text) > 1:
            scripts.append(word.text[1:])
        elif word.text.startswith("-c") and len(word.text) > 2:
            scripts.append(word.text[2:])
    for name in ("VIMINIT", "EXINIT", "NVIM_INIT"):
        kept = call.environment.get(name) or walk.parameter(name)
        if kept is not None:
            scripts.append(kept.text)
    if call.stdin.text:
        scripts.extend(call.stdin.text.splitlines()[:50])
    whole = "\n".join(scripts)[:LONGEST]
    edited = ""
    for script in scripts:
        if not _embedded(walk, call, script):
            for line in _commands(script[:LONGEST]):
                _command(walk, call, line, whole)
                found = _EDITS.match(line.lstrip(" \t\r:"))
                edited = found["path"] if found is not None else edited
                if edited and _WRITES_BACK.match(line.lstrip(" \t\r:")):
                    walk.shell(Arg(f"cat > {as_word(edited)}"))
                    edited = ""
    return None


def _typed(keys: str) -> list[str]:
    """The commands in keys that are typed: `:!command<CR>`."""
    return [text.partition(":")[2] for text in _END_OF_KEYS.split(keys[:LONGEST])[:_MOST_CALLS]]


def _bare(line: str) -> list[str]:
    """A command without what stands before it; several where it is not clear where that ends."""
    for _ in range(6):
        found = _BEFORE.match(line)
        if found is None:
            break
        line = line[found.end() :].lstrip(" \t\r:")
    event = _EVENT.match(line)
    if event is None:
        return [line]
    return [
        line[end:].lstrip(" :")
        for end in sorted({event.end("first"), event.end("third"), event.end()} - {-1})
    ]


def _commands(script: str) -> list[str]:
    return re.split(r"\n|(?<!\|)\|(?!\|)", script)[:_MOST_LINES]


def _command(walk: Walk, call: Invocation, line: str, whole: str, depth: int = 0) -> None:
    """One command of an editor; `whole`: the text in which its variables are set."""
    whole_line = line.lstrip(" \t\r:")
    several = _bare(whole_line)
    for each in several[1:]:
        if depth < _DEEPEST:
            _command(walk, call, each, whole, depth + 1)
    line = several[0]
    found = _TO_SHELL.match(line)
    if found is not None:
        walk.shell(Arg(_LAST_KEYS.sub("", found[1]).strip()))
        return
    if (depth or line != whole_line) and _embedded(walk, call, line):
        return
    found = _SETS.match(line)
    if found is not None:
        walk.shell(Arg(re.sub(r"\\(.)", r"\1", found[1])))
    found = _LETS.match(line)
    made = spelled(line, found.end()) if found is not None else None
    if made is not None:
        walk.shell(Arg(made[0]))
    for found in list(_KEYS.finditer(line))[:_MOST_CALLS]:
        made = spelled(line, found.end())
        for inner in _typed(made[0]) if made is not None and depth < _DEEPEST else []:
            _command(walk, call, inner, whole, depth + 1)
    found = _EXECUTES.match(line)
    if found is not None and depth < _DEEPEST:
        made = spelled(f"{found[1]}\n{whole}", 0)
        if made is not None:
            for inner in _commands(made[0]):
                _command(walk, call, inner, whole, depth + 1)
    found = _WRITES.match(line)
    if found is not None:
        walk.shell(Arg(f"cat > {as_word(found['path'])}"))
    for text in _calls(f"{line}\n{whole}", len(line)):
        walk.shell(Arg(text))
    if _RUNS.search(line) is not None and re.search(r"\bfor?\b|\blet\b", whole):
        # What runs is a value that is not followed: one of the texts it may be.
        for text in _strings(whole)[:_MOST_CALLS]:
            if " " in text.strip():
                walk.findings.extend(each for each in walk.captured(text) if each.verdict == Verdict.BLOCK)


def _calls(code: str, end: int) -> Iterator[str]:
    """What the functions in a line do, as the shell would do it; behind `end` names are only looked up."""
    line = code[:end]
    for found in list(_RUNS.finditer(line))[:_MOST_CALLS]:
        if found["list"]:
            yield " ".join(map(shlex.quote, _strings(found["list"])))
        elif (made := spelled(code, found.end())) is not None:
            yield made[0]
    for found in list(_CALLS.finditer(line))[:_MOST_CALLS]:
        made = spelled(code, found.end())
        if made is not None:
            yield made[0].lstrip("!: ")
    for found in list(_WRITES_FILE.finditer(line))[:_MOST_CALLS]:
        path = spelled(code, found.end())
        if path is not None:
            lines = _strings(found["list"])
            given = " ".join(map(shlex.quote, lines)) if lines else "''"
            appends = re.match(r"\s*,\s*[\"']\w*a", code[path[1] : path[1] + 20])
            said = f"printf '%s\\n' {given}" if lines or found["list"] != "[]" else ":"
            yield f"{said} {'>>' if appends else '>'} {as_word(path[0])}"
    for found in list(_RENAMES.finditer(line))[:_MOST_CALLS]:
        source = spelled(code, found.end())
        comma = re.compile(r"\s*,\s*").match(code, source[1]) if source is not None else None
        target = spelled(code, comma.end()) if comma is not None else None
        if source is not None and target is not None:
            yield f"mv -- {as_word(source[0])} {as_word(target[0])}"
    for found in list(_DELETES.finditer(line))[:_MOST_CALLS]:
        path = spelled(code, found.end())
        if path is not None and not re.match(r"\s*,\s*[\"'](?:rf|d)", code[path[1] : path[1] + 12]):
            yield f"rm -f -- {as_word(path[0])}"
    if _DELETES.search(line):
        yield from removals(code)


def _strings(text: str) -> list[str]:
    return [
        found[1].replace('\\"', '"') if found[1] is not None else found[2].replace("''", "'")
        for found in _STRING.finditer(text)
    ]


# What a line of a debugger gives to a shell; names may be shortened, and other commands stand before them.
_LEADS = (
    r"(?:with [^\n]{0,200}?-- +"
    r"|(?:thread|frame|inferior|proc\w*) +apply +(?:\S+ +){1,3}?|[tf]?faas? +|[tf]aas +"
    r"|(?:if|while) [^\n]{0,60}?\n[ \t]*){0,2}"
)
_SHELL = r"(?:she?l{0,2}\b|!|pl(?:atform)?\s+she?l{0,2}\b|make\b)"
_DEBUGGER_COMMAND = re.compile(rf"^[ \t]*{_LEADS}{_SHELL}[ \t]*(.+)", re.MULTILINE)
# What a debugger has the program run that it holds, and what it pipes into.
_DEBUGGER_CALL = re.compile(
    r"(?:^[ \t]*(?:call|print|p|expr(?:ession)?|e|compile code|output|set var(?:iable)?|po)\b"
    r"[^\n\"]{0,200}?\b(?:system|popen)|\$_shell)\s{0,4}\(\s{0,4}\"((?:\\.|[^\"\\\n])*)\"",
    re.MULTILINE,
)
_DEBUGGER_PIPE = re.compile(r"^[ \t]*(?:pipe|\|)\s[^|\n]*\|\s*(.+)", re.MULTILINE)
_ALIAS = re.compile(
    rf"^[ \t]*(?:alias +(?:-\S+ +){{0,4}}([\w-]{{1,40}}) *= *|command +alias +(?:-\S+ +){{0,4}}"
    rf"([\w-]{{1,40}}) +){_SHELL}",
    re.MULTILINE,
)
# Lines made of a form and its values, and lines that a script of Python has the debugger run.
_MADE = re.compile(r"^[ \t]*ev(?:al?)? +(\"(?:\\.|[^\"\\\n])*\"[^\n]*)", re.MULTILINE)
_EXECUTED = re.compile(r"gdb\.execute\(\s{0,4}|HandleCommand\(\s{0,4}")
_VALUE = re.compile(r"\"((?:\\.|[^\"\\])*)\"|([^\s,\"]+)")
_SCHEME = re.compile(r"^[ \t]*gu(?:ile)?[ \t]+(.+)", re.MULTILINE)
_SOURCED = re.compile(
    r"^[ \t]*(?:so(?:urce)?|command +(?:source|script +import)) +"
    r"(?:-\S+ +){0,4}(\S+)",
    re.MULTILINE,
)
_RUN = re.compile(
    r"^[ \t]*(?:r(?:un)?|start|starti|set args|process launch(?: [^\n]{0,100}?--)?)[ \t]+"
    r"(\S.*)",
    re.MULTILINE,
)
_PROGRAM_RUN = re.compile(r"^[ \t]*(?:file|exec-file|target create)[ \t]+[\"']?([^\s\"']+)", re.MULTILINE)
_LINES = re.compile(r"--?(?:ex|iex|eiex|(?:early-|init-|early-init-)?ev[a-z-]*|o|O|k|one-line[a-z-]*)")
_FILES = re.compile(r"--?(?:x|ix|eix|s|S|(?:init-|early-init-)?com[a-z]*|source[a-z-]*)")


def _debugger(walk: Walk, call: Invocation) -> Stream | None:
    """gdb --args COMMAND and -ex 'shell COMMAND'."""
    words = call.argv[1:]
    lines: list[str] = []
    program, at = "", 0
    while at < len(words):
        text = words[at].text
        after = words[at + 1].text if at + 1 < len(words) else ""
        at += 1
        option, equals, value = text.partition("=")
        if text in ("--args", "-args"):
            shells.exec_words(walk, call, words[at:])
            program = program or after
            break
        if text == "--" and "lldb" in call.name:
            shells.exec_words(walk, call, words[at:])
            break
        if _LINES.fullmatch(option):
            lines.append(value if equals else after)
            at += not equals
        elif _FILES.fullmatch(option):
            lines.append(_sourced(walk, call, value if equals else after))
            at += not equals
        elif text.startswith("-x"):
            lines.append(_sourced(walk, call, text[2:]))
        elif text[:1] != "-" and not program:
            program = text
    if call.stdin.text:
        lines.append(call.stdin.text)
    for each in lines:
        _debugged(walk, call, each[:LONGEST])
    given = "\n".join(lines)[:LONGEST]
    _aliased(walk, given)
    named = _PROGRAM_RUN.search(given)
    program = named[1] if named is not None else program
    for found in list(_RUN.finditer(given))[:_MOST_CALLS] if program else []:
        walk.shell(Arg(f"{as_word(program)} {found[1]}"))
    return None


def _sourced(walk: Walk, call: Invocation, path: str) -> str:
    """The lines of a script of a debugger; a script of Python is judged as one."""
    if path.endswith(".py"):
        interpreters.script(walk, call, "python", Arg(path))
        return ""
    return flows.file_stream(walk, path).text or ""


def _debugged(walk: Walk, call: Invocation, given: str, depth: int = 0) -> None:
    """Lines that a debugger is given."""
    for line in given.splitlines()[:200]:
        _embedded(walk, call, line)
    for pattern in (_DEBUGGER_COMMAND, _DEBUGGER_CALL, _DEBUGGER_PIPE):
        for found in list(pattern.finditer(given))[:_MOST_CALLS]:
            walk.shell(Arg(found[1].replace('\\"', '"') if pattern is _DEBUGGER_CALL else found[1]))
    for found in list(_SCHEME.finditer(given))[:_MOST_CALLS]:
        other_languages.code(walk, Arg(found[1]))
    if depth >= 2:
        return
    inner: list[str] = []
    for found in list(_MADE.finditer(given))[:_MOST_CALLS]:
        values = [each[1] if each[1] is not None else each[2] for each in _VALUE.finditer(found[1])]
        inner.append(decode.printf(values[:20]) or "")
    for found in list(_EXECUTED.finditer(given))[:_MOST_CALLS]:
        made = spelled(given, found.end())
        inner.append(made[0] if made is not None else "")
    inner += [_sourced(walk, call, found[1]) for found in list(_SOURCED.finditer(given))[:_MOST_CALLS]]
    text = "\n".join(filter(None, inner))[:LONGEST]
    if text:
        _debugged(walk, call, text, depth + 1)


def _aliased(walk: Walk, given: str) -> None:
    """Commands behind another name of the command that hands them to a shell."""
    names = [re.escape(found[1] or found[2]) for found in _ALIAS.finditer(given)][:_MOST_CALLS]
    if not names:
        return
    uses = re.compile(rf"^[ \t]*(?:{'|'.join(names)})[ \t]+(.+)", re.MULTILINE)
    for found in list(uses.finditer(given))[:_MOST_CALLS]:
        walk.shell(Arg(found[1]))


_DEBUGGERS = listed(
    "gdb lldb gdb-multiarch gdbtui cgdb rust-gdb rust-gdbgui rust-lldb pwndbg gef arm-none-eabi-gdb "
    "aarch64-linux-gnu-gdb arm-linux-gnueabihf-gdb riscv64-unknown-elf-gdb x86_64-linux-gnu-gdb "
    "avr-gdb xtensa-esp32-elf-gdb lldb-14 lldb-15 lldb-16 lldb-17 lldb-18 lldb-19 lldb-20 lldb-mi"
)
HANDLERS = {
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "ed", "view", "vimdiff", "gvim", "nvi", "vim.tiny"), _editor),
    **dict.fromkeys(sorted(_DEBUGGERS), _debugger),
}
