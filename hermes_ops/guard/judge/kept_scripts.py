"""Commands that a line keeps in the settings of a tool, and the words by which the tool runs them."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..rules.dry_runs import is_dry
from ..rules.names import names as listed
from . import builtins, carriers, danger, git, interpreters, later, planted
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_PACKAGE, _COMPOSER = "package.json", "composer.json"
# What is kept under this name is the folder of the hooks of git.
HOOKS = ("git", "hooks")
MOST_SCRIPTS = 24
# A later setting may be made elsewhere, or never: what was set before it is kept beside it.
_MOST_ALTERNATIVES = 4
_MOST_OPERANDS = 12
_MOST_PATTERN = 100
_SCRIPT_KEY = re.compile(r"scripts(?:\.(?P<name>[^.\[]+)|\[[\"']?(?P<quoted>[^\]\"']+)[\"']?\])?\Z")
_NODE_VALUED = listed(
    "--prefix -C --workspace -w --filter -F --cwd --dir --registry --loglevel --script-shell --cache "
    "--userconfig --globalconfig --scope --tag --otp --node-options --before --omit --include --reporter "
    "--config"
)
_INSTALLED = listed("preinstall install postinstall prepublish preprepare prepare postprepare")
_PACKED = listed("prepack prepare postpack")
# The scripts that a verb runs, besides one that is called as the verb is.
_LIFE: dict[str, frozenset[str]] = {
    **dict.fromkeys(listed("install i in ci add clean-install rebuild update link"), _INSTALLED),
    **dict.fromkeys(listed("t tst test"), listed("pretest test posttest")),
    **dict.fromkeys(listed("it install-test"), _INSTALLED | listed("pretest test posttest")),
    "pack": _PACKED,
    "publish": _PACKED | listed("prepublishOnly prepublish publish postpublish"),
    "version": listed("preversion version postversion"),
    "restart": listed("prerestart restart postrestart prestop stop poststop prestart start poststart"),
    "start": listed("prestart start poststart"),
    "stop": listed("prestop stop poststop"),
}
_RUNS = listed("run run-script rum urn")
# With --ignore-scripts these run what they are called after, and nothing before and after it.
_NAMED = listed("t tst test it install-test start stop restart")
_COMPOSER_RUNS = listed("run run-script")
_COMPOSER_EVENTS = listed(
    "install i update u upgrade require remove dump-autoload dumpautoload create-project reinstall"
)


def _package(walk: Walk, call: Invocation) -> Stream | None:
    """npm, pnpm, yarn and bun: `pkg set scripts.x=...`, and what runs x."""
    operands = list(call.operands(_NODE_VALUED))
    texts = [each.text for each in operands[:3]]
    if texts[:1] == ["pm"]:
        operands, texts = operands[1:], texts[1:]
    if texts[:1] == ["pkg"]:
        _changed(walk, texts[1:2], operands[2:], "--json" in call.words())
    elif texts[:1] == ["set-script"] and len(operands) > 2:
        _keep(walk, _PACKAGE, texts[1], operands[2])
    elif walk.kept and operands:
        _run_package(walk, call, _from_verb(call, operands))
    other = _OTHERWISE.get(call.name)
    return other(walk, call) if other is not None else None


# What else is known of these programs.
_OTHERWISE = {
    name: table[name]
    for table in (carriers.HANDLERS, interpreters.HANDLERS)
    for name in ("npm", "pnpm", "yarn", "bun")
    if name in table
}


def _changed(walk: Walk, verb: list[str], settings: list[Arg], as_json: bool) -> None:
    for setting in settings[:MOST_SCRIPTS]:
        key, equals, value = setting.text.partition("=")
        if verb == ["set"] and equals:
            for name, text in _scripts(key, value, as_json):
                _keep(walk, _PACKAGE, name, Arg(text, False, setting.taint, setting.source))


def _keep(walk: Walk, tool: str, name: str, command: Arg) -> None:
    """Keep a command beside those kept before under its name; of too many the least dangerous goes."""
    keys = _keys(tool, name)
    for key in keys:
        held = walk.kept.get(key)
        if held is None or held.text == command.text:
            walk.kept[key] = command
            return
    least = min(keys, key=lambda key: danger.of_value(walk.kept[key]))
    if danger.of_value(command) >= danger.of_value(walk.kept[least]):
        walk.kept[least] = command


def _keys(tool: str, name: str) -> list[tuple[str, str]]:
    return [(tool + "'" * number, name) for number in range(_MOST_ALTERNATIVES)]


def _from_verb(call: Invocation, operands: list[Arg]) -> list[Arg]:
    """Operands from the first that is a verb: before it may stand the value of an option not known here."""
    if operands[0].text in _RUNS or operands[0].text in _LIFE:
        return operands
    for reading in (operands, list(call.operands())):
        for at, operand in enumerate(reading[:_MOST_OPERANDS]):
            if operand.text in _RUNS and at + 1 < len(reading):
                return reading[at:]
    return operands


def _scripts(key: str, value: str, as_json: bool) -> Iterator[tuple[str, str]]:
    """The scripts that one setting names, each with its command."""
    found = _SCRIPT_KEY.match(key)
    if found is None:
        return
    given: object = value
    if as_json:
        try:
            given = json.loads(value)
        except (ValueError, RecursionError):
            given = value
    name = found["name"] or found["quoted"]
    if name:
        yield name, str(given)
    elif isinstance(given, dict):
        for each, text in [*given.items()][:MOST_SCRIPTS]:
            if isinstance(text, str):
                yield str(each), text


def _run_package(walk: Walk, call: Invocation, operands: list[Arg]) -> None:
    verb = operands[0].text
    if verb in _RUNS and len(operands) > 1:
        script = operands[1].text
        wanted, given = {f"pre{script}", script, f"post{script}"}, operands[2:]
    elif verb in _LIFE:
        wanted, given = _LIFE[verb], operands[1:] if verb in ("test", "t", "tst", "start") else []
    elif call.name != "npm":
        wanted, given = {f"pre{verb}", verb, f"post{verb}"}, operands[1:]
    else:
        return
    if is_dry(call.words(), _IGNORES, _NODE_VALUED):
        if verb in _LIFE and verb not in _NAMED:
            return
        named = {script} if verb in _RUNS else {verb}
        wanted = {name for name in wanted if name in named or not name.startswith(("pre", "post"))}
    _run(walk, call, _PACKAGE, wanted, given)


_IGNORES = listed("--ignore-scripts")


def _run_matching(walk: Walk, call: Invocation, patterns: list[Arg], given: list[Arg]) -> None:
    """Judge the scripts of package.json that are named, or whose names a pattern such as build:* fits."""
    wanted: set[str] = set()
    for pattern in patterns[:_MOST_OPERANDS]:
        text = pattern.text[:_MOST_PATTERN].split(" ")[0]
        if "*" in text:
            fits = [name for tool, name in walk.kept if tool == _PACKAGE and fnmatch.fnmatchcase(name, text)]
            wanted.update(fits[:MOST_SCRIPTS])
        else:
            wanted |= {f"pre{text}", text, f"post{text}"}
    _run(walk, call, _PACKAGE, wanted, given)


def _run_all(walk: Walk, call: Invocation) -> Stream | None:
    """run-s, run-p, npm-run-all: the operands are names of scripts."""
    if walk.kept:
        _run_matching(walk, call, list(call.operands()), [])
    return None


def _node(walk: Walk, call: Invocation) -> Stream | None:
    """node --run NAME; what else node runs is known elsewhere."""
    words = call.argv[1 : 1 + _MOST_OPERANDS] if walk.kept else []
    for at, word in enumerate(words):
        if word.text == "--run" and at + 1 < len(words):
            _run_matching(walk, call, words[at + 1 : at + 2], words[at + 2 :])
        elif word.text.startswith("--run="):
            _run_matching(walk, call, [Arg(word.text[6:])], words[at + 1 :])
    return interpreters.HANDLERS[call.name](walk, call)


def _deno(walk: Walk, call: Invocation) -> Stream | None:
    """deno task NAME."""
    operands = list(call.operands(_DENO_VALUED))
    if walk.kept and len(operands) > 1 and operands[0].text == "task":
        _run_matching(walk, call, operands[1:2], operands[2:])
    return interpreters.HANDLERS["deno"](walk, call)


_DENO_VALUED = listed("--config -c --cwd --filter -f")


def _corepack(walk: Walk, call: Invocation) -> Stream | None:
    """corepack npm@10 WORDS: npm itself."""
    words = call.argv[1:]
    name = words[0].text.partition("@")[0] if words else ""
    if name in ("npm", "npx", "pnpm", "pnpx", "yarn"):
        return walk.words([Arg(name), *words[1:]], call.stdin)
    return None


def _run(
    walk: Walk, call: Invocation, tool: str, wanted: frozenset[str] | set[str], given: list[Arg]
) -> None:
    """Judge the kept commands of these names, with the words that they are given besides."""
    for tool_at, name in [key for each in sorted(wanted) for key in _keys(tool, each)]:
        kept = walk.kept.get((tool_at, name))
        if kept is None:
            continue
        words = (
            ""
            if name.startswith(("pre", "post"))
            else "".join(f" {builtins.quoted(each.text)}" for each in given)
        )
        walk.shell(Arg(kept.text + words, False, kept.taint, kept.source), call.stdin)


def _commands(text: str) -> list[str]:
    """The commands in a JSON text: of a list one after the other."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    if isinstance(given, list):
        return ["\n".join(each for each in given if isinstance(each, str))]
    return [given] if isinstance(given, str) else [text]


def _composer(walk: Walk, call: Invocation) -> Stream | None:
    operands = list(call.operands(listed("-d --working-dir")))
    texts = [each.text for each in operands[:3]]
    if texts[:1] == ["config"] and len(operands) > 2:
        found = _SCRIPT_KEY.match(texts[1])
        if found and found["name"]:
            for command in operands[2 : 2 + MOST_SCRIPTS]:
                for text in _commands(command.text) if "--json" in call.words() else [command.text]:
                    text = text.removeprefix("@") if text.startswith("@php ") else text
                    _keep(walk, _COMPOSER, found["name"], Arg(text, False, command.taint, command.source))
    elif walk.kept and texts and "--no-scripts" not in call.words():
        if texts[0] in _COMPOSER_EVENTS:
            names = {
                name for tool, name in walk.kept if tool == _COMPOSER and name.startswith(("pre-", "post-"))
            }
            _run(walk, call, _COMPOSER, names, [])
        elif texts[0] in _COMPOSER_RUNS:
            _run(walk, call, _COMPOSER, set(texts[1:2]), operands[2:])
        else:
            _run(walk, call, _COMPOSER, set(texts[:1]), operands[1:])
    return None


def _git(walk: Walk, call: Invocation) -> Stream | None:
    """git config core.hooksPath FOLDER; what else git runs is known elsewhere."""
    words = call.argv[1:]
    for at, word in enumerate(words[:-1]):
        after = words[at + 1]
        key, equals, value = after.text.partition("=")
        if word.text.lower() == "core.hookspath":
            walk.kept[HOOKS] = after
        elif word.text == "-c" and equals and key.lower() == "core.hookspath":
            walk.kept[HOOKS] = Arg(value, False, after.taint, after.source)
    return git.git(walk, call)


def _aliases(walk: Walk, call: Invocation) -> Stream | None:
    """gh alias set NAME '!COMMAND', or with --shell."""
    operands = list(call.operands())
    if [each.text for each in operands[:2]] == ["alias", "set"] and len(operands) > 3:
        command = operands[3]
        if command.text == "-":
            command = Arg((call.stdin.text or "").strip(), False, call.stdin.taint, call.stdin.source)
        if command.text.startswith("!") or call.has("s", "--shell"):
            later.defined(walk, Arg(command.text.lstrip("!"), False, command.taint, command.source))
    return None


_INPUTS = frozenset(("-", "/dev/stdin", "/dev/fd/0"))
_FILE_OPTIONS = listed("-f --justfile --file -t --taskfile")


def _from_input(walk: Walk, call: Invocation) -> Stream | None:
    """just -f -: the recipes come in on stdin."""
    words = call.words()
    if call.stdin.text and any(
        word in _FILE_OPTIONS and words[at + 1] in _INPUTS for at, word in enumerate(words[:-1])
    ):
        found = planted.tasks(walk, call.stdin.text)
        if found is not None:
            walk.report([found], call)
    return None


HANDLERS: dict[str, Callable[[Walk, Invocation], Stream | None]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _package),
    **dict.fromkeys(("run-s", "run-p", "npm-run-all", "npm-run-all2"), _run_all),
    **dict.fromkeys(("node", "nodejs"), _node),
    "deno": _deno,
    "corepack": _corepack,
    "composer": _composer,
    "git": _git,
    **dict.fromkeys(("gh", "glab"), _aliases),
    **dict.fromkeys(("just", "go-task"), _from_input),
}
