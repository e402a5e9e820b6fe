"""Switching the machine off, and ending processes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import AGENT, UNKNOWN, Invocation
from ..verdict import Found
from .names import names
from .rule import Family, approve, block

POWER = block("power.off", "switches the machine off or restarts it")
SLEEP = approve("power.sleep", "puts the machine to sleep")
KILL_ALL = block("processes.kill-all", "ends every process that may be ended", "kill one process by its id")
KILL_INIT = block("processes.kill-init", "signals the first process of the system")
BY_NAME = approve(
    "processes.kill-by-name",
    "ends every process of a common name, the agent's own among them",
    "kill the one that is meant by its id, with SIGTERM first",
)
OTHERS = approve("processes.kill-others", "ends processes of other users")

_POWER = names("shutdown reboot poweroff halt telinit Restart-Computer Stop-Computer")
# Names that more than one program of a machine answers to, or that keep it running.
_COMMON = names(
    "python python3 python2 node java ruby perl php bash sh zsh go docker dockerd containerd postgres "
    "postgresql mysqld mysql mariadbd mongod redis-server nginx apache2 httpd sshd ssh systemd init "
    "launchd Xorg gnome-shell kwin plasmashell Finder WindowServer explorer svchost tmux screen "
    "hermes hermes-agent hermes-gateway gateway cron crond rsyslogd NetworkManager dbus-daemon "
    "kubelet chrome firefox code"
)
# A pattern of digits, as of the names in /proc: every process has such an id.
_EVERY_ID = re.compile(rf"[{UNKNOWN}\[]+0-9[{UNKNOWN}\]]+(?:[{UNKNOWN}*?\[\]]|0-9)*\Z")
_SIGNALS_VALUED = names("-s --signal -n -q")


def _power(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if name == "shutdown" and any(word in ("-c", "-a", "/a", "--help", "--show") for word in words):
        return
    if invocation.has("", "--help", "--version", "--wtmp-only"):
        return
    if name in ("halt", "reboot", "poweroff") and "-w" in words:
        return
    if name in ("telinit", "init"):
        if words and words[0] in ("0", "6", "1", "s", "S"):
            yield POWER.found(invocation.part)
        return
    yield POWER.found(invocation.part)


def _kill(invocation: Invocation) -> Iterator[Found]:
    words = [word for word in invocation.words()]
    if any(word in ("-l", "-L", "--list", "--help", "--table") for word in words):
        return
    signal_zero = False
    targets: list[str] = []
    skip = False
    plain = False
    for index, word in enumerate(words):
        if skip:
            signal_zero = word == "0"
            skip = False
        elif plain:
            targets.append(word)
        elif word == "--":
            plain = True
        elif word in ("-s", "-n", "--signal"):
            skip = True
        elif word.startswith("-") and index == 0 and len(words) > 1:
            signal_zero = word == "-0"
        elif word.startswith("-") and word[1:].isalpha() and not targets:
            continue
        else:
            targets.append(word)
    if signal_zero:
        return
    if any(argument.source == AGENT for argument in invocation.arguments):
        yield BY_NAME.found(invocation.part, AGENT)
    if "-1" in targets or any(map(_EVERY_ID.match, targets)):
        yield KILL_ALL.found(invocation.part)
    elif "1" in targets:
        yield KILL_INIT.found(invocation.part)
    elif invocation.privileged and targets:
        yield OTHERS.found(invocation.part)


def _by_name(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if any(word in ("-l", "--list", "-0", "--version", "--help", "-h", "-V") for word in words):
        return
    if invocation.name == "killall5":
        yield KILL_ALL.found(invocation.part)
        return
    user = any(word in ("-u", "-U", "--euid", "--uid", "--user") for word in words)
    full = any(
        word == "--full" or (word.startswith("-") and not word.startswith("--") and "f" in word)
        for word in words
    )
    patterns = [
        argument.text
        for argument in invocation.operands(
            names("-s --signal -u -U -g -P -t -F --parent --euid --pidfile -G")
        )
    ]
    if user and not patterns:
        yield (OTHERS if invocation.privileged else KILL_ALL).found(invocation.part)
        return
    for pattern in patterns:
        plain = pattern.strip("^$")
        if plain in (".", ".*", "", "*") or (UNKNOWN in plain and not plain.strip(UNKNOWN)):
            yield (BY_NAME if UNKNOWN in plain else KILL_ALL).found(invocation.part)
        elif plain in _COMMON or plain.startswith("hermes"):
            yield BY_NAME.found(invocation.part, plain)
        elif not full and invocation.privileged:
            yield OTHERS.found(invocation.part, plain)


def _taskkill(invocation: Invocation) -> Iterator[Found]:
    words = [word.lower() for word in invocation.words()]
    if "/im" in words or "-name" in words or invocation.name == "Stop-Process":
        yield BY_NAME.found(invocation.part)


def _suspend(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if invocation.name == "pmset":
        if "sleepnow" in words:
            yield SLEEP.found(invocation.part)
    else:
        yield SLEEP.found(invocation.part)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name in _POWER or name == "init":
        return _power(invocation)
    if name == "kill":
        return _kill(invocation)
    if name in ("taskkill", "Stop-Process", "spps", "tskill"):
        return _taskkill(invocation)
    if name in ("pm-suspend", "pm-hibernate", "pmset", "rtcwake"):
        return _suspend(invocation)
    return _by_name(invocation)


FAMILY = Family(
    "processes",
    _POWER
    | names(
        "init kill pkill killall skill slay killall5 taskkill Stop-Process spps tskill pm-suspend "
        "pm-hibernate pmset rtcwake"
    ),
    _check,
    examples=(
        ("shutdown -h now", "power.off"),
        ("sudo reboot", "power.off"),
        ("init 0", "power.off"),
        ("kill -9 -1", "processes.kill-all"),
        ("kill -s KILL -- -1", "processes.kill-all"),
        ("for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done", "processes.kill-all"),
        ("cd /proc && kill -9 [0-9]*", "processes.kill-all"),
        ("kill -9 1", "processes.kill-init"),
        ("pkill -9 python", "processes.kill-by-name"),
        ("killall hermes", "processes.kill-by-name"),
        ("pkill -f .", "processes.kill-all"),
        ("sudo pkill -9 backupd", "processes.kill-others"),
        ("sudo kill -9 4312", "processes.kill-others"),
        ("taskkill /F /IM python.exe", "processes.kill-by-name"),
        ("pm-suspend", "power.sleep"),
    ),
    silent=(
        "kill 4312",
        "kill -9 4312",
        "kill %1",
        "kill -0 4312",
        "kill -l",
        "kill -TERM -4312",
        "pkill -f 'vite --port 5173'",
        "pkill -f vite",
        "shutdown -c",
        "shutdown --help",
    ),
    rules=(POWER, SLEEP, KILL_ALL, KILL_INIT, BY_NAME, OTHERS),
)
