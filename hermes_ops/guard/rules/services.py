"""Services and schedules: what is stopped, changed, or opened to others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..judge.invocation import Invocation
from ..verdict import Found
from .names import names
from .processes import POWER, SLEEP
from .rule import Family, approve
from .verbs import has, verb_of, verbs_of

STOPPED = approve(
    "services.stopped", "stops or restarts a service", "tell the person what should be restarted and why"
)
CHANGED = approve("services.changed", "changes which services start, or how")
SCHEDULE = approve("services.schedule", "changes what runs on a schedule", "use the agent's own cron jobs")
EXPOSED = approve("services.exposed", "opens a service of this machine to others")

_SYSTEMCTL_READS = names(
    "status show cat list-units list-unit-files list-timers list-sockets list-dependencies list-jobs "
    "list-machines is-active is-enabled is-failed is-system-running get-default help show-environment "
    "whoami list-automounts list-paths"
)
_SYSTEMCTL_STOPS = names(
    "stop restart try-restart kill isolate condrestart force-reload reload-or-restart try-reload-or-restart"
)
_SYSTEMCTL_POWER = names("reboot poweroff halt kexec emergency rescue soft-reboot exit")
# Targets that end the running system; they are reached with isolate, start or default.
_POWER_TARGETS = re.compile(
    r"(?:poweroff|reboot|halt|kexec|shutdown|soft-reboot|final|exit|runlevel[06]|umount)(?:\.target|\.service)?\Z"
    r"|systemd-(?:poweroff|reboot|halt|kexec)(?:\.service)?\Z"
)
_SYSTEMCTL_SLEEP = names("suspend hibernate hybrid-sleep suspend-then-hibernate")
_SERVICE_READS = names(
    "status --status-all list show info check --help ls describe logs log tail configtest test"
)
_CONTROLS = names(
    "service rc-service invoke-rc.d initctl sv s6-svc supervisorctl launchctl pm2 monit brew "
    "circusctl svcadm nssm dinitctl"
)
_SCHEDULES = names(
    "crontab at batch atrm schtasks fcrontab anacron Register-ScheduledTask Unregister-ScheduledTask"
)
_TUNNELS = names(
    "ngrok cloudflared bore localtunnel lt frpc chisel serveo pinggy zrok localhost.run gost rathole inlets"
)


def _systemctl(invocation: Invocation) -> Iterator[Found]:
    verb, _ = verb_of(
        invocation,
        names(
            "-H --host -M --machine -t --type -p --property -n --lines -o --output --state --root -s --signal"
        ),
    )
    part = invocation.part
    if not verb or verb in _SYSTEMCTL_READS or has(invocation.arguments, "", "--help", "--version"):
        return
    starts = verb in ("isolate", "start", "restart", "reload-or-restart", "try-restart")
    if verb in _SYSTEMCTL_POWER or (starts and any(map(_POWER_TARGETS.match, invocation.words()))):
        yield POWER.found(part)
    elif verb in _SYSTEMCTL_SLEEP:
        yield SLEEP.found(part)
    elif verb in _SYSTEMCTL_STOPS:
        yield STOPPED.found(part)
    elif verb in ("start", "reload", "daemon-reload", "daemon-reexec", "reset-failed"):
        # In one's own session these undo nothing.
        if "--user" not in invocation.words():
            yield CHANGED.found(part)
    else:
        yield CHANGED.found(part)


_BUS_POWER = re.compile(
    r"(?:^|[.\s])(?:PowerOff|Reboot|Halt|KExec|SoftReboot|PowerOffWithFlags|RebootWithFlags|HaltWithFlags)\Z"
)


def _bus(invocation: Invocation) -> Iterator[Found]:
    """loginctl, and the message buses by which the machine is switched off."""
    words = invocation.words()
    if invocation.name == "loginctl":
        verb = next((word for word in words if word[:1] != "-"), "")
        if verb in _SYSTEMCTL_POWER:
            yield POWER.found(invocation.part)
        elif verb in _SYSTEMCTL_SLEEP:
            yield SLEEP.found(invocation.part)
        elif verb in ("terminate-user", "terminate-session", "terminate-seat", "kill-user", "kill-session"):
            yield STOPPED.found(invocation.part)
    elif any("login1" in word or "systemd1" in word or "ConsoleKit" in word for word in words) and any(
        map(_BUS_POWER.search, words)
    ):
        yield POWER.found(invocation.part)


def _control(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    part = invocation.part
    verbs = verbs_of(invocation, names("-c --config -s --serverurl -u -p"))
    first, second = (*verbs, "", "")[:2]
    if name in ("service", "rc-service", "invoke-rc.d", "sv", "nssm"):
        verb = first if name in ("sv", "nssm") else second
        if verb and verb not in _SERVICE_READS:
            yield STOPPED.found(part)
    elif name == "launchctl":
        if first in ("unload", "bootout", "remove", "stop", "kill", "disable", "kickstart", "reboot"):
            yield STOPPED.found(part)
        elif first in ("load", "bootstrap", "enable", "submit", "start", "setenv", "config"):
            yield CHANGED.found(part)
    elif name == "brew":
        if first == "services" and second in ("stop", "restart", "kill", "cleanup"):
            yield STOPPED.found(part)
    elif name == "pm2":
        if first in ("delete", "kill", "stop", "del", "flush") or (
            first in ("restart", "reload") and second == "all"
        ):
            yield STOPPED.found(part)
        elif first in ("startup", "unstartup"):
            yield CHANGED.found(part)
    elif name == "supervisorctl":
        if first in ("stop", "restart", "shutdown", "remove", "reload", "signal"):
            yield STOPPED.found(part)
    elif first and first not in _SERVICE_READS and first not in ("start", "summary"):
        yield STOPPED.found(part)


def _daemon(invocation: Invocation) -> Iterator[Found]:
    """Servers that stop by their own program."""
    words = invocation.words()
    name = invocation.name
    if name == "nginx":
        if any(first == "-s" and second in ("stop", "quit") for first, second in pairwise(words)):
            yield STOPPED.found(invocation.part)
    elif name in ("apachectl", "apache2ctl", "httpd", "caddy", "haproxy"):
        if any(word in ("stop", "graceful-stop", "restart") for word in words):
            yield STOPPED.found(invocation.part)
    elif (
        name == "hermes"
        and words[:1] == ["gateway"]
        and any(word in ("stop", "restart", "uninstall") for word in words[1:])
    ):
        yield STOPPED.found(invocation.part)


def _schedule(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    lower = [word.lower() for word in words]
    if name == "crontab":
        if has(invocation.arguments, "l") and not has(invocation.arguments, "re"):
            return
        if not words and not invocation.stdin.piped:
            return
    elif name == "schtasks":
        if not any(word in ("/create", "/delete", "/change", "/run", "/end") for word in lower):
            return
    elif name in ("at", "batch"):
        if has(invocation.arguments, "lcV"):
            return
    elif name == "anacron":
        if has(invocation.arguments, "TV"):
            return
    yield SCHEDULE.found(invocation.part)


def _exposed(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    name = invocation.name
    if name in ("ssh", "autossh"):
        # Options of ssh stand before the host; what comes after belongs to the command there.
        skip = False
        for word in words:
            if skip:
                skip = False
            elif not word.startswith("-"):
                return
            elif word.startswith("-R") or (not word.startswith("--") and word.endswith("R")):
                yield EXPOSED.found(invocation.part)
                return
            else:
                skip = len(word) == 2 and word[1] in "bcDEeFIiJLlmOopQSWw"
        return
    if any(
        word in ("--version", "version", "--help", "-h", "help", "login", "list", "info") for word in words
    ):
        return
    if name == "cloudflared" and words[:1] != ["tunnel"]:
        return
    if name in ("ngrok",) and words[:1] in (["config"], ["update"], ["diagnose"]):
        return
    yield EXPOSED.found(invocation.part)


_TABLE = {
    "systemctl": _systemctl,
    **dict.fromkeys(names("loginctl dbus-send busctl gdbus qdbus qdbus6 qdbus-qt5"), _bus),
    **dict.fromkeys(_CONTROLS, _control),
    **dict.fromkeys(names("nginx apachectl apache2ctl httpd caddy haproxy hermes"), _daemon),
    **dict.fromkeys(_SCHEDULES, _schedule),
    **dict.fromkeys(_TUNNELS | names("ssh autossh"), _exposed),
}


def _check(invocation: Invocation) -> Iterable[Found]:
    return _TABLE[invocation.name](invocation)


def _script_check(invocation: Invocation) -> Iterable[Found]:
    argv = invocation.argv
    if argv and argv[0].text.startswith(("/etc/init.d/", "/etc/rc.d/", "/usr/local/etc/rc.d/")):
        return _script(invocation)
    return ()


def _script(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if words and words[0] not in _SERVICE_READS:
        yield STOPPED.found(invocation.part)


SCRIPTS = Family(
    "service-scripts",
    frozenset(),
    _script_check,
    examples=(("sudo /etc/init.d/nginx stop", "services.stopped"),),
    silent=("/etc/init.d/nginx status",),
)
FAMILY = Family(
    "services",
    frozenset(_TABLE),
    _check,
    examples=(
        ("systemctl --user restart hermes-gateway", "services.stopped"),
        ("sudo systemctl -H root@h stop nginx", "services.stopped"),
        ("sudo service postgresql stop", "services.stopped"),
        ("supervisorctl stop all", "services.stopped"),
        ("hermes gateway restart", "services.stopped"),
        ("systemctl disable --now docker.service", "services.changed"),
        ("systemctl enable x.service", "services.changed"),
        ("systemctl poweroff", "power.off"),
        ("systemctl isolate poweroff.target", "power.off"),
        ("systemctl start reboot.target", "power.off"),
        ("loginctl reboot", "power.off"),
        ("loginctl terminate-user bob", "services.stopped"),
        (
            "busctl call org.freedesktop.login1 /org/freedesktop/login1 "
            "org.freedesktop.login1.Manager PowerOff b 1",
            "power.off",
        ),
        ("systemctl suspend", "power.sleep"),
        ("crontab -r", "services.schedule"),
        ("crontab jobs.txt", "services.schedule"),
        ("ngrok http 8080", "services.exposed"),
        ("ssh -R 2222:localhost:22 host.example", "services.exposed"),
    ),
    silent=(
        "systemctl status nginx",
        "systemctl --user list-units",
        "systemctl --user start app.target",
        "loginctl list-sessions",
        "loginctl show-session 3",
        "busctl list",
        "dbus-send --session --print-reply --dest=org.example.App /app org.example.App.Reboot",
        "systemctl --user start dev-server",
        "service nginx status",
        "crontab -l",
        "ssh -i key host.example uptime",
        "ssh -L 8080:localhost:80 host.example",
        "brew services list",
        "pm2 list",
        "nginx -t",
    ),
    rules=(
        STOPPED,
        CHANGED,
        SCHEDULE,
        EXPOSED,
        POWER,
        SLEEP,
    ),
)
