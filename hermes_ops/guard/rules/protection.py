"""What keeps the agent in check: its approvals, its plugins, the guard and the policy of the guard."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from ..judge.invocation import UNKNOWN, Arg, Invocation
from ..verdict import Found
from .hermes_state import PLUGIN_NAMES
from .names import names
from .rule import ENVIRONMENT as NEEDS_ENVIRONMENT
from .rule import Family, approve, block
from .verbs import plain, verb_of

YOLO = block("guard.approvals-off", "switches the questions to a person off", "ask the person to decide")
DISABLED = block("guard.disabled", "switches the guard off or removes it", "ask the person to do it")
ACCEPTED = block("guard.policy-accepted", "accepts a policy of the guard in the person's place")
SETTING = block("guard.setting-changed", "changes a setting that decides what may run")
PLUGIN = approve("guard.plugin-changed", "changes which plugins or hooks the agent runs with")
OTHER_HOME = approve("guard.other-home", "runs an agent with another home, where this guard may not be")
ENVIRONMENT = block("guard.environment", "sets a variable that switches checks of the agent off")

# Variables of the host by which a session asks nobody.
_VARIABLES = names(
    "HERMES_YOLO_MODE HERMES_ACCEPT_HOOKS HERMES_SAFE_MODE HERMES_IGNORE_USER_CONFIG HERMES_IGNORE_RULES "
    "HERMES_DISABLE_FILE_STATE_GUARD HERMES_WRITE_SAFE_ROOT"
)
_OPS_VARIABLES = re.compile(r"(?:HERMES_)?OPS_GUARD\w*\Z")
_OFF = names("0 false no off none '' \"\"")
_SETTINGS = re.compile(
    r"(?:approvals?|security|hooks?|hooks_auto_accept|quick_commands|plugins|ops\.guard|guard|permissions?|command_allowlist|terminal\.(?:backend|env|docker)|yolo)(?:[.\[]|\Z)",
    re.IGNORECASE,
)
_YOLO_OPTIONS = names("--yolo --accept-hooks --safe-mode --ignore-user-config --ignore-rules")
_ASKS = names("-z --oneshot -q --query")
_HERMES_VALUED = names("-p --profile -m --model --provider -s --skills -t --toolsets")
# Modules of python that run another one.
_RUNNERS = names("runpy trace cProfile profile pdb")
_SETTERS = names("export declare typeset local readonly env setx set setenv launchctl")


def _is_switch(name: str, value: str) -> bool:
    if name in _VARIABLES:
        return value.strip().lower() not in _OFF and value.strip() != ""
    return bool(_OPS_VARIABLES.match(name))


def _environment(invocation: Invocation) -> Iterator[Found]:
    for name, argument in invocation.environment.items():
        if _is_switch(name, argument.text):
            yield ENVIRONMENT.found(invocation.part, name)


def _set(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if (
            not equals
            and invocation.name in ("setx", "setenv", "launchctl", "set")
            and index + 1 < len(words)
        ):
            value = words[index + 1]
        if (equals or value) and _is_switch(name, value):
            yield ENVIRONMENT.found(invocation.part, name)


def _hermes(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, _HERMES_VALUED)
    words = [argument.text for argument in rest]
    part = invocation.part
    if not _YOLO_OPTIONS.isdisjoint(invocation.words()):
        yield YOLO.found(part)
    if verb == "chat" or not _ASKS.isdisjoint(invocation.words()):
        yield from _elsewhere(invocation)
    if "--help" in words or "-h" in words:
        return
    first = words[0] if words else ""
    given = [argument.text for argument in plain(rest)]
    if verb == "plugins":
        yield from _plugins(part, first, given)
    elif verb == "config":
        if first in ("set", "unset", "delete", "remove", "reset") and (
            len(given) < 2 or _SETTINGS.match(given[1])
        ):
            yield SETTING.found(part, " ".join(given[1:3]))
        elif first == "edit":
            yield PLUGIN.found(part)
    elif verb == "ops":
        yield from _ops(part, given)
    elif verb == "hooks":
        if first in ("remove", "revoke", "clear", "disable", "approve", "accept", "allow", "add", "trust"):
            yield PLUGIN.found(part)
    elif verb in ("uninstall", "reset") or (verb == "profile" and first in ("delete", "remove", "rm")):
        yield DISABLED.found(part)
    elif verb in ("memory", "sessions", "skills", "cron") and first in (
        "reset",
        "clear",
        "prune",
        "purge",
        "delete-all",
        "wipe",
    ):
        yield PLUGIN.found(part, "it deletes what the agent keeps")
    elif verb == "pairing" and first in ("approve", "revoke", "clear"):
        yield PLUGIN.found(part, "it changes who may talk to the agent")
    elif verb == "debug" and first == "share":
        yield PLUGIN.found(part, "it uploads the agent's logs")
    elif verb in ("import", "restore"):
        yield PLUGIN.found(part, "it replaces the agent's state")
    elif verb == "update":
        yield PLUGIN.found(part, "it replaces the agent's own code")


def _elsewhere(invocation: Invocation) -> Iterator[Found]:
    """An agent in a home that is neither this one nor one of its profiles."""
    named = invocation.environment.get("HERMES_HOME")
    own = invocation.hermes_home.rstrip("/") or f"{invocation.home}/.hermes"
    if named is not None and not f"{named.text.rstrip('/')}/".startswith(f"{own}/"):
        yield OTHER_HOME.found(invocation.part, named.text.replace(UNKNOWN, "?"))


def _plugins(part: str, first: str, given: list[str]) -> Iterator[Found]:
    if first not in ("disable", "remove", "uninstall", "rm", "delete", "enable", "install", "update"):
        return
    named = [word for word in given[1:]]
    takes_away = first in ("disable", "remove", "uninstall", "rm", "delete")
    if takes_away and (
        not named or any(word.rpartition("/")[2] in PLUGIN_NAMES or "\0" in word for word in named)
    ):
        yield DISABLED.found(part)
    else:
        yield PLUGIN.found(part)


_SWITCHED = (["off"], ["disable"], ["mode"], ["report"])


def _ops(part: str, given: list[str]) -> Iterator[Found]:
    if given[:2] == ["guard", "accept"]:
        yield ACCEPTED.found(part)
    elif given[:1] == ["uninstall"] or (given[:1] == ["guard"] and given[1:2] in _SWITCHED):
        yield DISABLED.found(part)
    elif given[:2] == ["skills", "accept"]:
        yield PLUGIN.found(part)


def _check(invocation: Invocation) -> Iterable[Found]:
    if invocation.name in _SETTERS:
        return _set(invocation)
    if invocation.name == "hermes-ops":
        return _as_hermes(invocation, [Arg("ops"), *invocation.arguments])
    return _hermes(invocation)


def _as_hermes(invocation: Invocation, arguments: Sequence[Arg]) -> Iterator[Found]:
    yield from _hermes(Invocation("hermes", [Arg("hermes"), *arguments], part=invocation.part))


# Options of python, in clusters of one letter each; those that take a value end theirs.
_VALUED_LETTERS = frozenset("WX")


def _run_by_python(invocation: Invocation) -> tuple[str, str, Sequence[Arg]]:
    """The module or the file that python runs, the other one "", and what it is given."""
    arguments = invocation.arguments
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        index += 1
        if not text.startswith("-"):
            return "", text, arguments[index:]
        if text.startswith("--"):
            index += text == "--check-hash-based-pycs"
            continue
        for place, letter in enumerate(text[1:], 2):
            value = text[place:]
            if letter == "m":
                module = value or (arguments[index].text if index < len(arguments) else "")
                return module, "", arguments[index if value else index + 1 :]
            if letter == "c":
                return "", "", ()
            if letter in _VALUED_LETTERS:
                index += not value
                break
    return "", "", ()


def _module(invocation: Invocation) -> Iterator[Found]:
    """`python -m hermes_ops guard accept`, `python .../hermes_ops/__main__.py guard accept`."""
    module, file, rest = _run_by_python(invocation)
    if file:
        path = posixpath.join(invocation.cwd or "", file)
        folders = [part for part in path.split("/") if part not in ("", ".")]
        if folders[-1:] == ["__main__.py"]:
            del folders[-1]
        last = folders[-1] if folders else ""
        module = "hermes_ops" if last in PLUGIN_NAMES else ""
        if last in ("hermes", "hermes-agent") or folders[-2:] == ["hermes_cli", "main.py"]:
            module = "hermes_cli"
    if module.partition(".")[0] == "hermes_ops":
        yield from _as_hermes(invocation, [Arg("ops"), *rest])
    elif module.partition(".")[0] == "hermes_cli":
        yield from _as_hermes(invocation, rest)
    elif module in _RUNNERS and rest:
        python = Invocation(
            "python3", [Arg("python3"), Arg("-m"), *rest], cwd=invocation.cwd, part=invocation.part
        )
        yield from _module(python)


FAMILY = Family(
    "protection",
    names("hermes hermes-agent hermes-ops") | _SETTERS,
    _check,
    examples=(
        ("export HERMES_YOLO_MODE=1", "guard.environment"),
        ("hermes --yolo chat", "guard.approvals-off"),
        ("hermes plugins disable hermes-ops", "guard.disabled"),
        ("hermes -p work plugins remove hermes-ops", "guard.disabled"),
        ("hermes ops uninstall", "guard.disabled"),
        ("hermes config set approvals.mode off", "guard.setting-changed"),
        ("hermes ops guard accept", "guard.policy-accepted"),
        ("hermes plugins enable other", "guard.plugin-changed"),
        ("HERMES_HOME=/tmp/x hermes -z 'tidy up'", "guard.other-home"),
    ),
    silent=(
        "hermes ops guard status",
        "HERMES_HOME=~/.hermes/profiles/work hermes -z hello",
        "hermes ops guard explain 'rm -rf /'",
        "hermes config set model.default x",
        "hermes plugins list",
        "hermes cron list",
        "export PATH=$HOME/bin:$PATH",
        "unset HERMES_YOLO_MODE",
    ),
    rules=(YOLO, DISABLED, ACCEPTED, SETTING, PLUGIN, ENVIRONMENT, OTHER_HOME),
)
ENVIRONMENTS = Family(
    "protection-environment",
    frozenset(),
    _environment,
    examples=(("HERMES_YOLO_MODE=1 hermes chat", "guard.environment"),),
    silent=("HERMES_HOME=/tmp/h hermes ops status", "FOO=1 make"),
    needs=NEEDS_ENVIRONMENT,
)


def _module_check(invocation: Invocation) -> Iterable[Found]:
    return _module(invocation)


MODULES = Family(
    "protection-modules",
    names("python python2 python3 pypy pypy3") | {f"python3.{minor}" for minor in range(6, 16)},
    _module_check,
    examples=(
        ("python3 -m hermes_ops guard accept", "guard.policy-accepted"),
        ("python3 -I ~/.hermes/plugins/hermes_ops/__main__.py guard accept --yes", "guard.policy-accepted"),
        ("python3 -Im hermes_ops.__main__ guard accept", "guard.policy-accepted"),
        ("env -i setsid python3 /opt/suite/hermes-ops guard accept --yes", "guard.policy-accepted"),
        ("python3 -m runpy hermes_ops guard accept", "guard.policy-accepted"),
        ("python3 /opt/venv/bin/hermes plugins disable hermes-ops", "guard.disabled"),
    ),
    silent=(
        "python3 -m pytest",
        "python3 -m hermes_ops guard status",
        "python3 ~/.hermes/plugins/hermes_ops/__main__.py guard log",
        "python3 hermes_ops/tests/run.py guard accept",
        "python3 accept.py guard accept",
    ),
)
