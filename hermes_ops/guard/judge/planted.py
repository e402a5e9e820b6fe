"""Files that this line writes and then runs by another name: a glob, a folder, a build, a path variable.

What a shell or an interpreter is given by its plain name is judged by them. Here is what else may run a file:
its content is judged in the language that its name or first line says, and only what must never run counts.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..code.judge import judge_code, language_of, load
from ..rules.names import names as listed
from ..verdict import Found, Verdict
from . import flows, names, nets, other_languages, reasons
from .everyday import EVERYDAY
from .invocation import UNKNOWN, Arg, Invocation, Stream
from .shells import SHELLS

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 20_000
MOST_FILES = 12
MOST_WORDS = 40
MOST_LINES = 400
LONGEST_LINE, LONGEST_NAME = 2_000, 200

# What stays data whoever reads it, unless a build tool asks for it by its name.
_DOCUMENTS = listed(
    "md txt rst adoc html htm css json jsonl yml yaml toml csv tsv xml ini cfg conf log svg tex ipynb lock "
    "sql env gitignore dockerignore patch diff po proto graphql"
)
_SHELL, _SOURCE, _SCRIPTS, _TASKS, _SECTIONS = "shell", "source", "package scripts", "tasks", "sections"
_LANGUAGES = {
    **dict.fromkeys(listed("sh bash zsh ksh command"), _SHELL),
    "py": "python", "js": "node", "mjs": "node", "cjs": "node", "ts": "node", "rb": "ruby", "pl": "perl",
    "pm": "perl", "php": "php", "lua": "lua", "awk": "awk", "tcl": "tcl", "R": "r", "r": "r", "mk": "make",
    "ps1": "powershell", "bat": "cmd", "cmd": "cmd",
    **dict.fromkeys(
        listed("c cc cpp cxx h hpp go rs java kt kts scala groovy gradle cs swift m mm zig d nim hs ml ex "
               "exs erl jl el lisp scm clj cljs cr dart v f90 pas"), _SOURCE),
}  # fmt: skip
_LIKE_C = listed("c cc cpp cxx h hpp go rs java kt kts scala cs swift m mm zig")
_BY_NAME = {
    **dict.fromkeys(("makefile", "gnumakefile"), "make"),
    **dict.fromkeys(("package.json", "composer.json", "deno.json", "deno.jsonc"), _SCRIPTS),
    **dict.fromkeys(
        listed(
            "justfile .justfile rakefile taskfile.yml taskfile.yaml procfile lefthook.yml lefthook.yaml "
            ".lefthook.yml .pre-commit-config.yaml"
        ),
        _TASKS,
    ),
    **dict.fromkeys(
        listed("pyproject.toml pipfile tox.ini mise.toml .mise.toml makefile.toml pixi.toml"), _SECTIONS
    ),
    **dict.fromkeys(("sconstruct", "wscript"), "python"),
    **dict.fromkeys(("gemfile", "vagrantfile", "fastfile", "guardfile", "capfile", "podfile"), "ruby"),
    ".envrc": _SHELL,
    "build.rs": _SOURCE,
}
# The sections of a settings file whose values are commands.
_COMMAND_SECTIONS = re.compile(
    r"(?:.*\.)?(?:tasks?|scripts)(?:\..*)?\Z|testenv\b.*\Z|env\.\w+\Z|tool\.tox\b.*\Z"
)
# Programs that run or compile what they are given, and the files that they look for without being told.
_COMPILERS = listed(
    "gcc cc clang g++ c++ clang++ rustc ghc javac kotlinc scalac gfortran nasm tcc zig nim dmd ldc2 swiftc"
)
_LOOKED_FOR: dict[str, frozenset[str]] = {
    **dict.fromkeys(("make", "gmake", "bmake"), listed("Makefile makefile GNUmakefile")),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun", "npx"), listed("package.json")),
    "composer": listed("composer.json"),
    "deno": listed("deno.json deno.jsonc"),
    "just": listed("justfile Justfile .justfile"),
    **dict.fromkeys(("task", "go-task"), listed("Taskfile.yml Taskfile.yaml pyproject.toml")),
    "rake": listed("Rakefile"),
    **dict.fromkeys(("foreman", "honcho", "overmind"), listed("Procfile")),
    **dict.fromkeys(("pip", "pip3"), listed("setup.py")),
    "cargo": listed("build.rs Makefile.toml"),
    **dict.fromkeys(("poe", "pdm", "hatch", "rye", "poetry", "uv"), listed("pyproject.toml")),
    "pixi": listed("pixi.toml pyproject.toml"),
    "pipenv": listed("Pipfile"),
    "tox": listed("tox.ini pyproject.toml"),
    "nox": listed("noxfile.py"),
    "pytest": listed("conftest.py"),
    **dict.fromkeys(("invoke", "inv"), listed("tasks.py")),
    "fab": listed("fabfile.py"),
    "doit": listed("dodo.py"),
    "scons": listed("SConstruct"),
    "waf": listed("wscript"),
    **dict.fromkeys(("mise", "rtx"), listed("mise.toml .mise.toml")),
    "pre-commit": listed(".pre-commit-config.yaml"),
    "lefthook": listed("lefthook.yml lefthook.yaml .lefthook.yml"),
    "direnv": listed(".envrc"),
    "bundle": listed("Gemfile"),
    "vagrant": listed("Vagrantfile"),
    "fastlane": listed("Fastfile"),
    "gulp": listed("gulpfile.js gulpfile.mjs gulpfile.cjs gulpfile.ts"),
    "grunt": listed("Gruntfile.js"),
    **{
        tool: listed(" ".join(f"{tool}.config.{ending}" for ending in ("js", "mjs", "cjs", "ts")))
        for tool in ("webpack", "vite", "vitest", "rollup", "jest", "eslint", "next", "tsup", "playwright")
    },
}
# Programs that run another one by its name: what that one is, the words tell.
_BY_NAME_ONLY = frozenset(("npx", "bunx", "pnpx", "uvx", "pipx"))
# A file that is named as the program's own, whatever its name.
_OWN_KIND = {
    **dict.fromkeys(("just", "task", "go-task", "foreman", "honcho", "pre-commit", "lefthook"), _TASKS),
    **dict.fromkeys(("poe", "tox"), _SECTIONS),
}
# Files that a program runs wherever its folder lies.
_HOOKS = {"git": "*hooks/[a-z]*"}
# Verbs without which the files are not run.
_RUNNING_VERBS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("npm", "yarn", "pnpm", "bun"),
        listed("run run-script start test t stop restart install i ci exec build go"),
    ),
    **dict.fromkeys(("pip", "pip3"), listed("install wheel download")),
    "cargo": listed("build run test check b r t c install bench make"),
    **dict.fromkeys(("pdm", "hatch", "rye", "poetry", "uv", "pipenv", "pixi"), listed("run")),
    "deno": listed("task"),
    **dict.fromkeys(("mise", "rtx"), listed("run r tasks")),
    **dict.fromkeys(("pre-commit", "lefthook"), listed("run")),
    "direnv": listed("allow permit grant exec reload"),
    "bundle": listed("install exec update"),
    "vagrant": listed("up provision reload validate status"),
    "go": listed("run build test generate install"),
    "git": listed("commit push merge checkout switch rebase pull am cherry-pick clone"),
}
_RUNNERS = (
    _COMPILERS
    | frozenset(_LOOKED_FOR)
    | frozenset(_HOOKS)
    | listed(
        "go java kotlin scala groovy dart swift run-parts crystal runghc tsx ts-node deno julia elixir nim"
    )
)
_FOLDER_OPTIONS = frozenset(
    ("-C", "--directory", "--prefix", "--cwd", "-d", "--working-directory", "-f", "--file")
)


def run(walk: Walk, call: Invocation) -> None:
    """Look for files of this line that a command runs by another name than that of a script."""
    name = _runner(call)
    seen = 0
    plain = name in SHELLS or bool(language_of(name)) or name in ("source", ".")
    if name in EVERYDAY and name not in _RUNNERS:
        return
    for key in [*walk.state.files]:
        stream = flows.file_stream(walk, key)
        if not stream.text or len(stream.text) > LONGEST or key.startswith("/dev/") or key in walk.planted:
            continue
        sure = _is_run(walk, call, key, plain, name)
        if sure is None:
            continue
        seen += 1
        if seen > MOST_FILES:
            return
        walk.planted.add(key)
        try:
            found = _judged(walk, key, stream, name if plain else "", _OWN_KIND.get(name, ""))
        finally:
            walk.planted.remove(key)
        if found is None:
            continue
        if name in _COMPILERS:
            _compiled(walk, call, key, stream)
        if sure:
            walk.report([found], call)
        else:
            walk.report([reasons.OPAQUE_FILE.found(names.shown(call), names.printable(key))], call)


def _runner(call: Invocation) -> str:
    """The program that looks for files of its own: `npx gulp` is gulp, and `hatch run x` is hatch."""
    name = call.name
    if name in _BY_NAME_ONLY:
        return next((word.text for word in call.argv[1:6] if word.text in _LOOKED_FOR), name)
    if call.wrappers and name not in _RUNNERS:
        return next((each for each in reversed(call.wrappers) if each in _LOOKED_FOR), name)
    return name


def _is_run(walk: Walk, call: Invocation, key: str, plain: bool, name: str) -> bool | None:
    """Does a command run a file: True when that is its purpose, False when it may, None when it does not."""
    words = call.argv[1 : MOST_WORDS + 1]
    base = posixpath.basename(key)
    if name == base and "/" not in call.argv[0].text and _on_path(walk, key):
        return True
    if name in _HOOKS and not fnmatchcase(key, _HOOKS[name]) and not _in_hooks(walk, key):
        return None
    if base in _LOOKED_FOR.get(name, ()):
        verbs = _RUNNING_VERBS.get(name) if name == call.name else None
        if verbs is None or any(word.text in verbs for word in words):
            return True if _folder_of(walk, words) in ("", posixpath.dirname(key), None) else None
        return None
    runs = name in _RUNNERS
    if runs and name in _RUNNING_VERBS and not any(word.text in _RUNNING_VERBS[name] for word in words):
        return None
    if name in _HOOKS:
        return True
    for word in words:
        pattern = word.glob or UNKNOWN in word.text or "*" in word.text
        if plain and not pattern and walk.folder().path is not None:
            continue
        fits = _names_file(walk, word, key)
        if fits:
            return (
                True
                if plain or (runs and name not in _COMPILERS)
                else False
                if runs or _stranger(walk, call)
                else None
            )
        if plain and word.text[:1] != "-":
            break
    if name == "go" and any(word.text in (".", "./...") for word in words) and key.endswith(".go"):
        return True
    return None


def _in_hooks(walk: Walk, key: str) -> bool:
    """Is a file in the folder that this line has given git for its hooks?"""
    folder = walk.kept.get(("git", "hooks"))
    if folder is None:
        return False
    return posixpath.dirname(key) == walk.state.file_key(folder.text, walk.folder().path)


def _stranger(walk: Walk, call: Invocation) -> bool:
    return call.name not in walk.programs and call.name.isascii() and bool(call.name)


def _names_file(walk: Walk, word: Arg, key: str) -> bool:
    """Does a word name a file of this line: by its path, by a glob, by what a search would find?"""
    text = word.text
    if not text or text[0] == "-" or " " in text:
        return False
    if text in ("*", UNKNOWN) or not text.strip("*/." + UNKNOWN):
        return word.text == UNKNOWN and bool(word.source) and word.source == key
    path = walk.state.file_key(text, walk.folder().path)
    if path == key:
        return True
    if "*" in path or "?" in path or "[" in path or UNKNOWN in path:
        pattern = path.replace("/" + UNKNOWN + "/", "/*").replace(UNKNOWN, "*")
        if path.startswith(UNKNOWN):
            pattern = "*" + pattern.lstrip("*")
        return (
            fnmatchcase(key, pattern) or fnmatchcase("/" + key, pattern) or fnmatchcase("./" + key, pattern)
        )
    # The folder is not known: the same name is the same file.
    return (
        walk.folder().path is None
        and not posixpath.isabs(path)
        and (posixpath.basename(path) == posixpath.basename(key))
    )


def _on_path(walk: Walk, key: str) -> bool:
    """Is the folder of a file put before the others on this line?"""
    path = walk.parameter("PATH")
    if path is None:
        return False
    folder = posixpath.dirname(key)
    for entry in path.text.split(":"):
        if entry and (
            entry == folder or (entry.replace(UNKNOWN, "").strip("/") == folder.strip("/") and folder)
        ):
            return True
    return False


def _folder_of(walk: Walk, words: list[Arg]) -> str | None:
    """The folder that an option names, as the files of this line are named; None for the current one."""
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        given = ""
        if name in _FOLDER_OPTIONS:
            given = value if equals else words[at + 1].text if at + 1 < len(words) else ""
        elif name[:2] == "-C" and len(name) > 2:
            given = name[2:]
        if given:
            return walk.state.file_key(given, walk.folder().path)
    here = walk.folder().path
    return here or ""


def _judged(walk: Walk, key: str, stream: Stream, program: str, kind: str = "") -> Found | None:
    """What must never run, of the content of a file in its language; `kind`: that of one which says none."""
    text = stream.text or ""
    language = _language(key, text, program) or kind
    if not language:
        return None
    for shell in _shell_texts(language, key, text):
        found = nets.dangerous(walk, shell)
        if found is not None:
            return found
    if language in (_SHELL, _SOURCE, _SCRIPTS, _TASKS, _SECTIONS):
        return None
    walk.budget.give_back(load(language))
    found = judge_code(language, text, walk.captured, walk.home, walk.folder().path)
    return next((each for each in found if each.verdict == Verdict.BLOCK), None)


def _language(key: str, text: str, program: str) -> str:
    """The language of a file, "" when it is a document."""
    if program in SHELLS or program in ("source", "."):
        return _SHELL
    base = posixpath.basename(key)
    named = _BY_NAME.get(base.lower())
    if named is not None:
        return named
    if program and language_of(program):
        return language_of(program)
    _, dot, ending = base.rpartition(".")
    if dot and ending in _LANGUAGES:
        return _LANGUAGES[ending]
    found = re.match(r"#!\s*\S*?(?:env(?:\s+-S)?\s+)?([\w.]+)(?:\s|$)", text)
    if found:
        return _SHELL if found[1] in SHELLS else language_of(found[1])
    return "" if dot and ending.lower() in _DOCUMENTS else _SHELL


def _source(key: str, text: str) -> str:
    """A program without its comments, where its language has those of C."""
    return other_languages.without_comments(text) if key.rpartition(".")[2] in _LIKE_C else text


def _shell_texts(language: str, key: str, text: str) -> Iterator[str]:
    """The shell texts in a file of a language that has no judge."""
    if language == _SHELL:
        yield text
    elif language == _SOURCE:
        yield from other_languages.texts(_source(key, text))
    elif language == _SCRIPTS:
        yield from _scripts(text)
    elif language == _SECTIONS:
        yield from _sections(text)
    elif language == _TASKS:
        yield _tasks(text)


def _scripts(text: str) -> Iterator[str]:
    """The commands under "scripts" and "tasks" of a JSON file."""
    try:
        settings = json.loads(text)
    except ValueError:
        return
    for section in ("scripts", "tasks"):
        named = settings.get(section) if isinstance(settings, dict) else None
        for script in [*named.values()][:MOST_FILES] if isinstance(named, dict) else ():
            if isinstance(script, dict):
                script = script.get("command") or script.get("cmd")
            for command in script if isinstance(script, list) else [script]:
                if isinstance(command, str):
                    yield command


_QUOTED = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'")


def _sections(text: str) -> Iterator[str]:
    """The commands in the sections of a settings file that hold some: quoted ones, and bare lines."""
    inside = whole = False
    for line in text.splitlines()[:MOST_LINES]:
        section = "" if whole else _section(line)
        if section:
            inside = bool(_COMMAND_SECTIONS.match(section))
            continue
        if not inside or len(line) > LONGEST_LINE:
            continue
        if '"""' in line or "'''" in line:
            whole = not whole
            line = line.replace('"""', "").replace("'''", "")
        quoted = [] if whole else [first or second for first, second in _QUOTED.findall(line)]
        if quoted:
            yield from (each.replace('\\"', '"') for each in quoted)
        elif line.strip():
            name, equals, value = line.partition("=")
            yield value if equals and name.strip().isidentifier() else line


def _section(line: str) -> str:
    """The name of the section that a line begins, "" for any other line."""
    head = line.partition("#")[0].strip()
    if head[:1] != "[" or head[-1:] != "]" or len(head) > LONGEST_NAME:
        return ""
    name = head.strip("[] \t")
    return "" if name[:1] in ("'", '"', "") else name.replace('"', "")


def _tasks(text: str) -> str:
    lines = [line.strip().lstrip("@-").strip() for line in text.splitlines() if line[:1] in (" ", "\t")]
    lines += [line.partition(":")[2] for line in text.splitlines() if re.match(r"\s*(?:- |[\w-]+:)", line)]
    return "\n".join(line.removeprefix("cmd:").strip(" '\"") for line in lines if line)


def tasks(walk: Walk, text: str) -> Found | None:
    """What must never run, of the recipes of a task runner."""
    return nets.dangerous(walk, _tasks(text)) if len(text) <= LONGEST else None


def _compiled(walk: Walk, call: Invocation, key: str, stream: Stream) -> None:
    """A program that was compiled runs what its source says."""
    words = call.words()
    output = "a.out"
    for at, word in enumerate(words[:-1]):
        if word == "-o":
            output = words[at + 1]
    for text in other_languages.texts(_source(key, stream.text or "")):
        if nets.dangerous(walk, text) is not None:
            flows.remember(walk, output, Stream(text, True))
            return
