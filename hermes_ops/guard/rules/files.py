"""Files that decide who may do what, or that run by themselves: what is said of writing one."""

from __future__ import annotations

import os
import re

from .. import links
from ..judge.invocation import UNKNOWN
from ..verdict import Found, Verdict
from .disk import OVERWRITTEN
from .hermes_state import Part, part_named
from .names import names
from .paths import Located, Place, components, locate
from .rule import Rule, approve, block
from .secrets import below_hermes, below_home

ACCOUNTS = block("writes.accounts", "changes who may log in or become root")
GUARD = block(
    "guard.changed",
    "changes the guard, its policy, or a setting that decides what may run",
    "ask the person to change it",
)
AGENT_STATE = block("guard.agent-state-changed", "overwrites the agent's keys, logins or records")
SYSRQ = block("power.sysrq", "makes the kernel reboot, stop or kill at once")
AGENT_CODE = approve("guard.agent-code", "changes code that the agent's host runs by itself")
SYSTEM_FILE = approve(
    "writes.system-file", "changes a file of the system", "show the change and let the person make it"
)
STARTUP = approve("writes.startup", "changes what runs at a login, at the start of a shell or on a schedule")
HOOK = approve("writes.git-hook", "changes what git runs by itself")
KEYS = approve("writes.keys", "changes keys or what ssh trusts and runs")

RULES = (ACCOUNTS, GUARD, AGENT_STATE, SYSRQ, AGENT_CODE, SYSTEM_FILE, STARTUP, HOOK, KEYS)

_ACCOUNT_PATHS = re.compile(
    r"/etc/(?:passwd-?|shadow-?|group-?|gshadow-?|sudoers|sudoers\.d(?:/.*)?|doas\.conf|master\.passwd|pam\.d(?:/.*)?"
    r"|pam\.conf|ld\.so\.preload|hosts\.equiv|polkit-1/.*|security/access\.conf|ssh/authorized_keys.*|subuid|subgid)\Z"
)
_STARTUP_NAMES = names(
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile "
    ".zlogin .zlogout .kshrc .cshrc .tcshrc .login .xprofile .xinitrc .xsession .xsessionrc "
    ".pam_environment .inputrc .envrc.global"
)
_STARTUP_BELOW = re.compile(
    r"(?:\.config/(?:autostart|systemd|fish|environment\.d|nushell|plasma-workspace/env|powershell)(?:/.*)?"
    r"|\.local/share/systemd(?:/.*)?|Library/Launch(?:Agents|Daemons)(?:/.*)?|\.oh-my-zsh/custom(?:/.*)?"
    r"|Documents/(?:Windows)?PowerShell/.*profile\.ps1)\Z",
    re.IGNORECASE,
)
_STARTUP_SYSTEM = re.compile(
    r"/(?:etc/(?:profile|profile\.d|bash\.bashrc|zsh|environment|rc\.local|rc\d?\.d|init\.d|cron[^/]*|anacrontab|crontab"
    r"|systemd|xdg/autostart)(?:/.*)?|(?:usr/)?lib/systemd(?:/.*)?|var/spool/cron(?:/.*)?|Library/Launch\w+(?:/.*)?)\Z"
)
_PYTHON_STARTUP = re.compile(r"/(?:sitecustomize|usercustomize)\.py\Z|/(?:site|dist)-packages/[^/]+\.pth\Z")
_KERNEL = ("/proc/", "/sys/")


def rule_of(located: Located, home: str, hermes_home: str) -> Rule | None:
    """The rule that speaks of writing to a place, by its name or by what it really is; None for most."""
    rule = _rule_named(located, home, hermes_home)
    if not links.are_followed() or located.place in (Place.NOTHING, Place.NETWORK):
        return rule
    if rule is not None and rule.verdict is Verdict.BLOCK:
        return rule
    really = _rule_behind(located, home, hermes_home)
    return rule if really is None or (rule is not None and really.verdict <= rule.verdict) else really


def _rule_behind(located: Located, home: str, hermes_home: str) -> Rule | None:
    """The weightiest rule that speaks of the file that a name leads to, and of the folder that it is in."""
    path = located.climbing or located.path
    own, agents = links.real(home), links.real(hermes_home)
    unmoved = own == home and agents == hermes_home
    entry, target = links.real(path, last=False), links.real(path)
    rules = []
    for each in dict.fromkeys((entry, target)):
        if each == located.path and unmoved:
            continue
        rule = _rule_named(locate(each, None, own, agents, glob=located.pattern), own, agents)
        # Many tools put a new file in the place of a link: what it led to, such as /usr/bin/python3, stays.
        if rule is SYSTEM_FILE and not (each == entry and os.path.isdir(os.path.dirname(entry))):
            continue
        if rule is not None:
            rules.append(rule)
    return max(rules, key=lambda rule: rule.verdict, default=None)


def _rule_named(located: Located, home: str, hermes_home: str) -> Rule | None:
    path = located.path
    place = located.place
    if place in (Place.NOTHING, Place.NETWORK):
        return None
    if place is Place.DEVICE:
        return OVERWRITTEN
    part = part_named(path, home, hermes_home)
    if part is not None:
        return _agent(part, path, home, hermes_home)
    parts = components(path)
    if not parts:
        return None
    if path.startswith("/etc/") and _ACCOUNT_PATHS.match(path):
        return ACCOUNTS
    if ".ssh" in parts or parts[-1] in ("authorized_keys", "authorized_keys2", ".rhosts", ".shosts"):
        return _ssh(parts)
    if path.startswith("/proc/sysrq-trigger"):
        return SYSRQ
    below = below_home(parts, home)
    if below:
        if below[0] in _STARTUP_NAMES and len(below) == 1:
            return STARTUP
        if _STARTUP_BELOW.match("/".join(below)):
            return STARTUP
        if below[0] == ".gnupg":
            return KEYS
    if _STARTUP_SYSTEM.match(path) or _PYTHON_STARTUP.search("/" + path):
        return STARTUP
    if place is Place.VERSION_CONTROL and not path.endswith(".sample"):
        at = next((index for index, name in enumerate(parts) if name == ".git"), -1)
        if at >= 0 and (parts[at + 1 : at + 2] == ["hooks"] or parts[at + 1 :] == ["config"]):
            return HOOK
    if place is Place.SYSTEM or (place is Place.ROOT and located.everything):
        return SYSTEM_FILE
    return None


def _agent(part: Part, path: str, home: str, hermes_home: str) -> Rule | None:
    if part is Part.GUARD:
        return GUARD
    if part is Part.STATE:
        return AGENT_CODE if path.endswith("SOUL.md") else AGENT_STATE
    if part in (Part.PLUGIN, Part.CODE):
        return AGENT_CODE
    below = below_hermes(components(path), home, hermes_home) if part is Part.KEPT else None
    return AGENT_CODE if below and below[0] == "ops" else None


def _ssh(parts: list[str]) -> Rule | None:
    name = parts[-1]
    if name in ("authorized_keys", "authorized_keys2", ".rhosts", ".shosts"):
        return ACCOUNTS
    if name.startswith("known_hosts") or name == ".ssh":
        return None
    return KEYS


def write_findings(
    path: str, cwd: str | None = None, home: str = "", hermes_home: str = "", part: str = ""
) -> list[Found]:
    """What is to be said of writing a file, for tools and code that write without a shell.

    Nothing for ordinary files. `part` is what is shown as the piece of the command; else the path is.
    """
    located = locate(path, cwd, home, hermes_home, glob=False)
    rule = rule_of(located, home, hermes_home)
    if rule is None:
        return []
    shown = path.replace(UNKNOWN, "?")
    return [rule.found(part or shown, "" if not part else shown)]
