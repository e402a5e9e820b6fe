"""Commands that a line keeps in the settings of a tool, and the words by which the tool runs them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import builtins, carriers, git, interpreters, later, planted
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_PACKAGE, _COMPOSER = "package.json", "composer.json"
# What is kept under this name is the folder of the hooks of git.
HOOKS = ("git", "hooks")
MOST_SCRIPTS = 24
_SCRIPT_KEY = re.compile(r"scripts(?:\.(?P<name>[^.\[]+)|\[[\"']?(?P<quoted>[^\]\"']+)[\"']?\])?\Z")
_NODE_VALUED = listed("--prefix -C --workspace -w --filter -F --cwd --dir --registry")
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
        walk.kept[_PACKAGE, texts[1]] = operands[2]
    elif walk.kept and operands and "--ignore-scripts" not in call.words():
        _run_package(walk, call, operands)
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
        if verb == ["delete"]:
            found = _SCRIPT_KEY.match(setting.text)
            if found:
                walk.kept.pop((_PACKAGE, found["name"] or found["quoted"] or ""), None)
        elif verb == ["set"] and equals:
            for name, text in _scripts(key, value, as_json):
                walk.kept[_PACKAGE, name] = Arg(text, False, setting.taint, setting.source)


def _scripts(key: str, value: str, as_json: bool) -> Iterator[tuple[str, str]]:
    """The scripts that one setting names, each with its command."""
    found = _SCRIPT_KEY.match(key)
    if found is None:
        return
    given: object = value
    if as_json:
        try:
            given = json.loads(value)
        except ValueError:
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
    _run(walk, call, _PACKAGE, wanted, given)


def _run(
    walk: Walk, call: Invocation, tool: str, wanted: frozenset[str] | set[str], given: list[Arg]
) -> None:
    """Judge the kept commands of these names, with the words that they are given besides."""
    for name in sorted(wanted):
        kept = walk.kept.get((tool, name))
        if kept is None:
            continue
        words = (
            ""
            if name.startswith(("pre", "post"))
            else "".join(f" {builtins.quoted(each.text)}" for each in given)
        )
        walk.shell(Arg(kept.text + words, False, kept.taint, kept.source), call.stdin)


def _composer(walk: Walk, call: Invocation) -> Stream | None:
    operands = list(call.operands(listed("-d --working-dir")))
    texts = [each.text for each in operands[:3]]
    if texts[:1] == ["config"] and len(operands) > 2:
        found = _SCRIPT_KEY.match(texts[1])
        if found and found["name"]:
            command = operands[2]
            text = command.text.removeprefix("@") if command.text.startswith("@php ") else command.text
            walk.kept[_COMPOSER, found["name"]] = Arg(text, False, command.taint, command.source)
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
    "composer": _composer,
    "git": _git,
    **dict.fromkeys(("gh", "glab"), _aliases),
    **dict.fromkeys(("just", "go-task"), _from_input),
}
