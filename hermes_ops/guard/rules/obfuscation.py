"""Names that are not what they look like, and variables that make a command something else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from ..judge.invocation import UNKNOWN, Invocation
from ..verdict import Found
from .names import names
from .rule import Family, approve

LOOKALIKE = approve(
    "obfuscation.look-alike",
    "the command's name has letters that only look like others",
    "type it in plain letters",
)
INVISIBLE = approve(
    "obfuscation.invisible", "the command holds invisible letters, or letters that turn its order around"
)
PRELOAD = approve("obfuscation.preload", "loads foreign code into the program that is started")
STARTUP = approve(
    "obfuscation.startup-file", "makes a shell or an interpreter run a file of its choice first"
)
SEARCH_PATH = approve("obfuscation.search-path", "makes other folders provide the programs that are started")
TOOL_COMMAND = approve("obfuscation.tool-command", "makes a tool run a command of its own")

_PRELOADS = names(
    "LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH"
)
_STARTUPS = names(
    "BASH_ENV ENV PYTHONSTARTUP PERL5OPT RUBYOPT NODE_OPTIONS PYTHONINSPECT PERL5DB JAVA_TOOL_OPTIONS "
    "_JAVA_OPTIONS ZDOTDIR"
)
_COMMANDS = names(
    "GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR PAGER "
    "LESSOPEN MANPAGER EDITOR VISUAL BROWSER GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS"
)
_SAFE_OPTIONS = re.compile(
    r"\s*(?:--(?:max[-_]old[-_]space[-_]size|max-http-header-size|openssl-legacy-provider|enable-source-maps|no-warnings|inspect|"
    r"experimental-[\w-]+|trace-[\w-]+|unhandled-rejections|no-deprecation|dns-result-order|stack-trace-limit|tls-[\w.-]+)(?:=\S+)?"
    r"|-Xm[sx]\S+|-XX:\S+|-D[\w.]+=\S*|-W\S*|--yjit|--jit|-Xss\S+)\s*"
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u061c\u200e\u200f]")
# Programs of common use are made of these letters alone.
_PLAIN = re.compile(r"[\x00-\x7f]*\Z")
# Zero-width joiners belong to emoji and to Indic and Arabic script.
_JOINED = re.compile("[\u0600-\u06ff\u0900-\u0dff\u200d\ufe0f\U0001f000-\U0001faff\u2600-\u27bf]")


_LONGEST_NAME = 256


def _name(invocation: Invocation) -> Iterator[Found]:
    text = invocation.argv[0].text[:_LONGEST_NAME]
    if _INVISIBLE.search(text):
        yield INVISIBLE.found(invocation.part)
        return
    name = text.rpartition("/")[2]
    if _is_lookalike(name):
        yield LOOKALIKE.found(invocation.part, repr(name)[1:-1])


def _is_lookalike(name: str) -> bool:
    """Are there letters that fold to, or look like, plain ones? Names wholly in another script are names."""
    if unicodedata.normalize("NFKC", name).isascii():
        return True
    plain = sum(1 for letter in name if letter.isascii() and letter.isalpha())
    scripts = {
        unicodedata.name(letter, "?").split(" ")[0]
        for letter in name
        if not letter.isascii() and letter.isalpha()
    }
    mixed = bool(
        scripts
        & {
            "CYRILLIC",
            "GREEK",
            "ARMENIAN",
            "CHEROKEE",
            "COPTIC",
            "LISU",
            "MATHEMATICAL",
            "FULLWIDTH",
            "LATIN",
        }
    )
    return mixed and (plain > 0 or len(name) <= 4)


def _arguments(invocation: Invocation) -> Iterator[Found]:
    for argument in invocation.argv[1:]:
        text = argument.text
        if not text.isascii() and _BIDI.search(text) and not _JOINED.search(text):
            yield INVISIBLE.found(invocation.part)
            return


def _variables(invocation: Invocation) -> Iterator[Found]:
    for name, argument in invocation.environment.items():
        yield from _variable(invocation, name, argument.text)


def _variable(invocation: Invocation, name: str, value: str) -> Iterator[Found]:
    if name in _PRELOADS:
        if value and (
            name not in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH") or _is_foreign(value)
        ):
            yield PRELOAD.found(invocation.part, name)
    elif name in _STARTUPS:
        if name == "ENV" and not value.startswith(("/", ".", "~", UNKNOWN)):
            return
        if name in ("NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "RUBYOPT", "PERL5OPT"):
            if not _SAFE_OPTIONS.sub("", " ".join(value[:2000].split())).strip() or value == UNKNOWN:
                return
        elif name == "PYTHONINSPECT" or not value:
            return
        yield STARTUP.found(invocation.part, name)
    elif name == "PATH":
        first = value.split(":")[0]
        if first in (".", "") or _is_foreign(first):
            yield SEARCH_PATH.found(invocation.part, first)
    elif name in _COMMANDS and any(sign in value for sign in (";", "|", "$(", "`", "&&", "curl", "/tmp/")):
        yield TOOL_COMMAND.found(invocation.part, name)


def _is_foreign(folders: str) -> bool:
    return folders.startswith(("/tmp", "/var/tmp", "/dev/shm")) or ":/tmp/" in folders


def _check(invocation: Invocation) -> Iterable[Found]:
    argv = invocation.argv
    if argv:
        if not argv[0].text.isascii():
            return _name(invocation)
        for argument in argv:
            if not argument.text.isascii():
                return [*_arguments(invocation), *_variables(invocation)]
    return _variables(invocation) if invocation.environment else ()


def _exported_check(invocation: Invocation) -> Iterable[Found]:
    return _exported(invocation)


def _exported(invocation: Invocation) -> Iterator[Found]:
    for argument in invocation.arguments:
        name, equals, value = argument.text.partition("=")
        if equals and (name in _PRELOADS or name in _STARTUPS or name in ("PATH",)):
            yield from _variable(invocation, name, value)


FAMILY = Family(
    "obfuscation",
    frozenset(),
    _check,
    examples=(
        ("гm -rf /", "obfuscation.look-alike"),
        ("ｌｓ -l", "obfuscation.look-alike"),
        ("gіt status", "obfuscation.look-alike"),
        ("l\u200bs -la", "obfuscation.invisible"),
        ("LD_PRELOAD=./hook.so ls", "obfuscation.preload"),
        ("BASH_ENV=/tmp/x bash -c true", "obfuscation.startup-file"),
        ("PATH=/tmp/x:/usr/bin make", "obfuscation.search-path"),
        ("GIT_SSH_COMMAND='sh -c \"x | y\"' git fetch", "obfuscation.tool-command"),
    ),
    silent=(
        "echo '日本語 текст'",
        "grep -rn 'naïve café' docs",
        "git commit -m '✨ Add ünïcödé'",
        "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
        "ENV=production make",
        "GIT_SSH_COMMAND='ssh -i key' git fetch",
        "LD_LIBRARY_PATH=./lib ./app",
        "PYTHONPATH=src pytest",
    ),
    rules=(LOOKALIKE, INVISIBLE, PRELOAD, STARTUP, SEARCH_PATH, TOOL_COMMAND),
)
EXPORTS = Family(
    "obfuscation-exports",
    names("export declare typeset"),
    _exported_check,
    examples=(("export LD_PRELOAD=/tmp/x.so", "obfuscation.preload"),),
    silent=("export PATH=$HOME/bin:$PATH", "export NODE_ENV=production"),
)
