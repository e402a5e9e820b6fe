"""Modes, owners and attributes of files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import UNKNOWN, Arg, Invocation
from ..verdict import Found
from . import files
from .few import few
from .names import names
from .paths import Place
from .removal import located
from .rule import Family, approve, block
from .secrets import secret_of

SYSTEM_WIDE = block("modes.system-wide", "changes modes or owners of the whole system")
SETUID_SHELL = block("modes.setuid-shell", "lets anybody who runs it become its owner")
SETUID = approve("modes.setuid", "lets a program run as its owner whoever starts it")
WORLD_WRITABLE = approve(
    "modes.world-writable", "lets every user of the machine change it", "use 755 or u+rwX"
)
SYSTEM_MODE = approve("modes.system-file", "changes the mode or owner of a file of the system")
HOME_WIDE = approve("modes.home-wide", "changes modes or owners all over a home")
KEY_READABLE = approve("modes.key-readable", "lets others read a private key", "keep it at 600")
ATTRIBUTES = approve("modes.attributes", "changes attributes that keep files from being changed or removed")

_SHELLS = re.compile(
    r"(?:^|/)(?:\.[^/]*|ba|da|z|k|c|tc|fi|a)?sh\d?\Z|/(?:python|perl|ruby|find|vim?|env|busybox|cp|awk|node|php)[\d.]*\Z"
)
_VALUED = {
    "chattr": names("-p -v"),
    "setfacl": names("-m -x -M -X --modify --remove"),
    "install": names("-o -g -t -S"),
}


def _check(invocation: Invocation) -> Iterable[Found]:
    if invocation.has("", "--help", "--version"):
        return ()
    if invocation.name == "install":
        return _install(invocation)
    return _changed(invocation)


def _changed(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    mode = ""
    if name == "chmod":
        operands, mode = _chmod_operands(invocation)
    elif name in ("chattr", "chflags"):
        operands = [argument for argument in invocation.arguments if argument.text[:1] not in "+-="]
    else:
        operands = list(invocation.operands(_VALUED.get(name, frozenset())))
        references = any(argument.text.startswith("--reference") for argument in invocation.arguments)
        if name in ("chown", "chgrp") and not references:
            operands = operands[1:]
    if name == "setcap":
        yield from _capable(invocation, operands)
    recursive = invocation.has("R", "--recursive")
    for argument in few(operands):
        yield from _one(invocation, argument, mode, recursive)


# Capabilities that make their holder root, or as good as that.
_MIGHTY = re.compile(
    r"cap_(?:setuid|setgid|setfcap|sys_admin|sys_ptrace|sys_module|sys_rawio|dac_override|dac_read_search|chown"
    r"|fowner)\b|\ball\b|^\s*[=+]",
    re.IGNORECASE,
)


def _capable(invocation: Invocation, operands: list[Arg]) -> Iterator[Found]:
    """setcap: pairs of capabilities and programs."""
    for capabilities, program in zip(operands[::2], operands[1::2], strict=False):
        grants = re.search(r"[=+][a-z]*[ep]", capabilities.text) and _MIGHTY.search(capabilities.text)
        if grants:
            shown = program.text.replace(UNKNOWN, "?")
            yield (SETUID_SHELL if _SHELLS.search(program.text) else SETUID).found(invocation.part, shown)


# Programs that run as root whoever starts them: their mode is given to another file with --reference.
_SETUID_PROGRAMS = names(
    "sudo su passwd mount umount newgrp chsh chfn gpasswd pkexec ping fusermount fusermount3 doas sudoedit"
)


def _one(invocation: Invocation, argument: Arg, mode: str, recursive: bool) -> Iterator[Found]:
    where = located(invocation, argument)
    place = where.place
    shown = argument.text.replace(UNKNOWN, "?")
    rule = files.rule_of(where, invocation.home, invocation.hermes_home)
    if rule in (files.GUARD, files.AGENT_STATE) and not _tightens(mode):
        yield rule.found(invocation.part, shown)
    elif rule is files.ACCOUNTS and (not mode or _is_world_writable(mode) or _is_loose(mode)):
        yield files.ACCOUNTS.found(invocation.part, shown)
    if place is Place.ROOT or (
        recursive and place is Place.SYSTEM and where.depth <= 2 and where.path[:5] != "/srv/"
    ):
        yield SYSTEM_WIDE.found(invocation.part, shown)
        return
    if recursive and place is Place.HOME and where.path in ("/home", "/Users"):
        yield SYSTEM_WIDE.found(invocation.part, shown)
    elif recursive and place is Place.HOME:
        yield HOME_WIDE.found(invocation.part, shown)
    if mode and _is_setuid(mode):
        shell = _SHELLS.search(where.path) or place is Place.TEMPORARY
        yield (SETUID_SHELL if shell else SETUID).found(invocation.part, shown)
    if mode and _is_world_writable(mode) and place not in (Place.TEMPORARY, Place.BUILD, Place.NOTHING):
        yield WORLD_WRITABLE.found(invocation.part, shown)
    elif place in (Place.SYSTEM, Place.DEVICE) or (place is Place.SHARED and invocation.privileged):
        yield SYSTEM_MODE.found(invocation.part, shown)
    if mode and _is_loose(mode):
        secret = secret_of(argument.text, invocation.cwd, invocation.home, invocation.hermes_home)
        if secret and ("key" in secret or "SSH" in secret) and "keys and passwords" not in secret:
            yield KEY_READABLE.found(invocation.part, secret)
    if invocation.name in ("chattr", "chflags", "icacls", "takeown", "setfacl"):
        yield ATTRIBUTES.found(invocation.part, shown)


def _chmod_operands(invocation: Invocation) -> tuple[list[Arg], str]:
    """The paths of a chmod and its mode; a mode such as -x looks like an option."""
    mode = ""
    rest: list[Arg] = []
    plain = skip = False
    for at, argument in enumerate(invocation.arguments):
        text = argument.text
        following = invocation.arguments[at + 1].text if at + 1 < len(invocation.arguments) else ""
        if skip:
            skip = False
        elif text == "--" and not plain:
            plain = True
        elif not plain and text.startswith("--ref"):
            named = text.partition("=")[2] or following
            mode = "u+s" if named.rpartition("/")[2] in _SETUID_PROGRAMS else "?"
            skip = "=" not in text
        elif not plain and text.startswith("--"):
            continue
        elif not plain and text.startswith("-") and len(text) > 1:
            if not mode and not set(text[1:]) & set("Rcfv"):
                mode = text
        elif not mode:
            mode = text
        else:
            rest.append(argument)
    return rest, mode


def _is_setuid(mode: str) -> bool:
    if mode.isdigit():
        return len(mode.lstrip("0")) == 4 and mode.lstrip("0")[0] in "4567"
    return any(
        re.search(r"(?:^|[ua])[ugoa]*[+=][rwxXt]*s", part) and not part.startswith(("g", "o"))
        for part in mode.split(",")
    )


def _is_world_writable(mode: str) -> bool:
    if mode.isdigit():
        sticky = len(mode) == 4 and mode[0] in "1357"
        return mode[-1] in "2367" and not sticky
    return any(re.match(r"[ug]*[oa][ugoa]*[+=][rxXst]*w", part) for part in mode.split(","))


def _is_loose(mode: str) -> bool:
    """Does a mode let others read."""
    if mode.isdigit():
        return mode[-1] in "4567" or (len(mode) > 1 and mode[-2] in "4567")
    return any(
        re.match(r"[u]*[goa][ugoa]*[+=][wxXst]*r", part) or part in ("+r", "=r") for part in mode.split(",")
    )


def _tightens(mode: str) -> bool:
    """Does a mode only take rights from others, as for a file of keys (600, go-rwx)."""
    return mode in ("600", "0600", "700", "0700", "400") or mode.startswith(("go-", "og-", "o-", "g-"))


def _install(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    mode = ""
    for index, word in enumerate(words):
        if word in ("-m", "--mode") and index + 1 < len(words):
            mode = words[index + 1]
        elif word.startswith("--mode="):
            mode = word[7:]
        elif word.startswith("-m") and len(word) > 2:
            mode = word[2:]
    if mode and _is_setuid(mode):
        shell = any(_SHELLS.search(word) for word in words) or any("/tmp/" in word for word in words)
        yield (SETUID_SHELL if shell else SETUID).found(invocation.part)


FAMILY = Family(
    "modes",
    names("chmod chown chgrp chattr setfacl install chflags icacls takeown setcap"),
    _check,
    examples=(
        ("chmod -R 777 /", "modes.system-wide"),
        ("chown --recursive nobody:nogroup /", "modes.system-wide"),
        ("chmod -R a+rwX /etc", "modes.system-wide"),
        ("chmod u+s /bin/bash", "modes.setuid-shell"),
        ("chmod 4755 /tmp/.s", "modes.setuid-shell"),
        ("install -m 4755 -o root /bin/bash /tmp/b", "modes.setuid-shell"),
        ("chmod --reference=/usr/bin/sudo /bin/dash", "modes.setuid-shell"),
        ("setcap cap_setuid+ep /usr/bin/python3", "modes.setuid-shell"),
        ("setcap cap_dac_override=ep /usr/local/bin/helper", "modes.setuid"),
        ("chmod u+s /usr/local/bin/helper", "modes.setuid"),
        ("chmod 777 run.sh", "modes.world-writable"),
        ("chmod -R a+w storage", "modes.world-writable"),
        ("chmod -R 755 ~", "modes.home-wide"),
        ("chown -R me ~/..", "modes.system-wide"),
        ("chmod 644 ~/.ssh/id_rsa", "modes.key-readable"),
        ("sudo chown www-data /etc/nginx/nginx.conf", "modes.system-file"),
        ("sudo chown -R www-data /var/www/site", "modes.system-file"),
        ("chattr -i ledger.ods", "modes.attributes"),
        ("chmod -R 000 ~/.hermes/plugins/hermes-ops", "guard.changed"),
        ("chmod 666 /etc/shadow", "writes.accounts"),
    ),
    silent=(
        "chmod +x run.sh",
        "chmod --reference=a.sh b.sh",
        "setcap cap_net_bind_service=+ep bin/server",
        "chmod -R u+rwX src",
        "chmod 600 ~/.ssh/id_rsa",
        "chmod 600 ~/.hermes/.env",
        "chmod 755 bin/tool",
        "chmod -x old.sh",
        "chown -R agent:agent ./data",
        "chmod 1777 /tmp/shared",
        "install -m 755 tool ~/.local/bin/tool",
    ),
    rules=(
        SYSTEM_WIDE,
        SETUID_SHELL,
        SETUID,
        WORLD_WRITABLE,
        SYSTEM_MODE,
        HOME_WIDE,
        KEY_READABLE,
        ATTRIBUTES,
        files.GUARD,
        files.AGENT_STATE,
        files.ACCOUNTS,
    ),
)
