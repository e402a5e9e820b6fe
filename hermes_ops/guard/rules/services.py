"""Services, the firewall, the network, kernel settings, schedules and accounts of the machine."""

from __future__ import annotations

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
FIREWALL = approve("services.firewall", "changes the firewall")
PROTECTION = approve("services.protection-off", "switches a protection of the system off or changes it")
NETWORK = approve("services.network", "changes how the machine is connected")
KERNEL = approve("services.kernel", "changes a setting or a module of the kernel")
SCHEDULE = approve("services.schedule", "changes what runs on a schedule", "use the agent's own cron jobs")
ACCOUNT = approve("accounts.changed", "changes accounts, groups or passwords")
BOOT = approve("services.boot", "changes how the machine starts")
CLOCK = approve("services.clock", "changes the clock, the name or the locale of the machine")
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
_SYSTEMCTL_SLEEP = names("suspend hibernate hybrid-sleep suspend-then-hibernate")
_SERVICE_READS = names(
    "status --status-all list show info check --help ls describe logs log tail configtest test"
)
_CONTROLS = names(
    "service rc-service invoke-rc.d initctl sv s6-svc supervisorctl launchctl pm2 monit brew "
    "circusctl svcadm nssm dinitctl"
)
_FIREWALLS = names(
    "iptables ip6tables nft ufw firewall-cmd pfctl ipset ebtables arptables iptables-restore "
    "ip6tables-restore iptables-legacy fail2ban-client netsh shorewall csf"
)
_PROTECTIONS = names(
    "setenforce aa-disable aa-teardown aa-complain csrutil spctl tccutil auditctl setsebool semanage "
    "apparmor_parser Set-MpPreference Set-ExecutionPolicy fdesetup"
)
_NETWORKS = names(
    "ip ifconfig route nmcli networksetup ifdown ifup netplan wpa_cli iwconfig iw tc brctl bridge "
    "resolvectl wg wg-quick dhclient rfkill nmtui scutil"
)
_KERNELS = names("sysctl modprobe insmod rmmod swapoff swapon kexec dkms depmod")
_ACCOUNTS = names(
    "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup passwd "
    "chpasswd gpasswd chage newusers dscl sysadminctl chsh chfn pwconv pwunconv faillock net "
    "New-LocalUser Remove-LocalUser Add-LocalGroupMember pw realm"
)
_SCHEDULES = names(
    "crontab at batch atrm schtasks fcrontab anacron Register-ScheduledTask Unregister-ScheduledTask"
)
_BOOTS = names(
    "grub-install update-grub grub-mkconfig grub2-install grub2-mkconfig efibootmgr bootctl nvram "
    "bless update-initramfs mkinitcpio dracut bcdedit grubby kernel-install"
)
_CLOCKS = names("hostnamectl timedatectl localectl date hwclock hostname ntpdate chronyc systemsetup")
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
    if verb in _SYSTEMCTL_POWER:
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


_FIREWALL_READS = names(
    "-L -S --list --list-rules -n -v --version -V --help status list show --state --list-all "
    "--get-zones --get-active-zones --list-ports --list-services -nvL -nL -vnL -Lnv -sr -si -ss -sa "
    "-C --check version ping app --get-default-zone --list-all-zones"
)


def _firewall(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    name = invocation.name
    if name == "netsh":
        if "advfirewall" in words or "firewall" in words:
            if "show" not in words:
                yield FIREWALL.found(invocation.part)
        elif any(word in ("set", "add", "delete", "reset") for word in words):
            yield NETWORK.found(invocation.part)
        return
    if name == "pfctl":
        reads = any(word.startswith("-s") for word in words) and not any(
            word in ("-d", "-e", "-f", "-F") for word in words
        )
    elif name == "nft":
        reads = any(word in ("list", "monitor", "-c", "--check") for word in words) or not words
    elif name in ("iptables-restore", "ip6tables-restore"):
        reads = any(word in ("-t", "--test") for word in words)
    else:
        changes = any(
            word
            in (
                "-F",
                "-A",
                "-D",
                "-I",
                "-X",
                "-P",
                "-R",
                "-Z",
                "-N",
                "enable",
                "disable",
                "reset",
                "allow",
                "deny",
                "delete",
            )
            for word in words
        )
        reads = not changes and (not words or any(word in _FIREWALL_READS for word in words))
    if not reads:
        yield FIREWALL.found(invocation.part)


def _protection(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if any(word in ("status", "list", "-l", "-s", "-L", "--status", "--assess", "-v") for word in words):
        return
    yield PROTECTION.found(invocation.part)


def _network(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    verbs = verbs_of(invocation, names("-f -family -n -netns -b -batch -c -p -i"))
    if name == "ip":
        if len(verbs) > 1 and verbs[1] in (
            "add",
            "del",
            "delete",
            "set",
            "flush",
            "change",
            "replace",
            "append",
            "exec",
        ):
            yield NETWORK.found(invocation.part)
    elif name in ("ifconfig", "iwconfig", "route"):
        changes = (
            len(verbs) > 1
            if name != "route"
            else any(word in ("add", "del", "delete", "flush", "change") for word in verbs)
        )
        if changes:
            yield NETWORK.found(invocation.part)
    elif name in ("nmcli", "wpa_cli", "resolvectl", "iw", "tc", "bridge", "brctl", "rfkill"):
        if any(
            word
            in (
                "up",
                "down",
                "delete",
                "add",
                "modify",
                "off",
                "on",
                "connect",
                "disconnect",
                "set",
                "del",
                "addif",
                "delif",
                "block",
                "replace",
                "flush-caches",
                "dns",
                "revert",
            )
            for word in verbs
        ):
            yield NETWORK.found(invocation.part)
    elif name == "networksetup":
        if any(word.startswith(("-set", "-create", "-remove", "-switch", "-add")) for word in words):
            yield NETWORK.found(invocation.part)
    elif name == "wg":
        if verbs and verbs[0] in ("set", "setconf", "addconf", "syncconf"):
            yield NETWORK.found(invocation.part)
    elif verbs[:1] not in (("get",), ("status",), ("strip",)):
        yield NETWORK.found(invocation.part)


def _kernel(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if name == "sysctl":
        if has(invocation.arguments, "wp", "--write", "--load", "--system") or any(
            "=" in word and not word.startswith("-") for word in words
        ):
            yield KERNEL.found(invocation.part)
    elif name == "modprobe":
        if not has(invocation.arguments, "nDc", "--dry-run", "--show-depends", "--showconfig"):
            yield KERNEL.found(invocation.part)
    elif name == "kexec":
        yield (POWER if has(invocation.arguments, "e", "--exec") else KERNEL).found(invocation.part)
    elif name in ("swapon", "dkms"):
        if not any(word in ("-s", "--show", "status", "--summary") for word in words):
            yield KERNEL.found(invocation.part)
    else:
        yield KERNEL.found(invocation.part)


def _account(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if has(invocation.arguments, "", "--help", "--version"):
        return
    if name == "passwd":
        if any(word in ("-S", "--status") for word in words):
            return
    elif name == "chage":
        if any(word in ("-l", "--list") for word in words):
            return
    elif name == "dscl":
        if not any(
            word.lstrip("-") in ("create", "delete", "passwd", "append", "change", "merge") for word in words
        ):
            return
    elif name == "net":
        if len(words) < 3 or words[0].lower() not in ("user", "localgroup", "stop", "start", "share"):
            return
    elif words[:1] and words[0] in ("-D", "list", "discover", "usershow", "groupshow"):
        return
    yield ACCOUNT.found(invocation.part)


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


def _boot(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if name == "efibootmgr" and not has(
        invocation.arguments, "BcoanNtObA", "--delete-bootnum", "--create", "--bootorder"
    ):
        return
    if name == "bootctl" and (not words or words[0] in ("status", "list", "is-installed")):
        return
    if name == "nvram" and any(word in ("-p", "-xp") for word in words):
        return
    if name == "bcdedit" and (not words or words[0] in ("/enum", "/v")):
        return
    yield BOOT.found(invocation.part)


def _clock(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    verbs = verbs_of(invocation)
    if name in ("hostnamectl", "timedatectl", "localectl"):
        if verbs and verbs[0].startswith("set-"):
            yield CLOCK.found(invocation.part)
    elif name == "date":
        if has(invocation.arguments, "", "--set") or any(word == "-s" for word in words):
            yield CLOCK.found(invocation.part)
    elif name == "hwclock":
        if has(invocation.arguments, "ws", "--systohc", "--hctosys", "--set", "--adjust"):
            yield CLOCK.found(invocation.part)
    elif name == "hostname":
        if verbs:
            yield CLOCK.found(invocation.part)
    elif name == "systemsetup":
        if any(word.startswith("-set") for word in words):
            yield CLOCK.found(invocation.part)
    elif (name == "ntpdate" and "-q" not in words) or (name == "chronyc" and "makestep" in words):
        yield CLOCK.found(invocation.part)


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
    **dict.fromkeys(_CONTROLS, _control),
    **dict.fromkeys(names("nginx apachectl apache2ctl httpd caddy haproxy hermes"), _daemon),
    **dict.fromkeys(_FIREWALLS, _firewall),
    **dict.fromkeys(_PROTECTIONS, _protection),
    **dict.fromkeys(_NETWORKS, _network),
    **dict.fromkeys(_KERNELS, _kernel),
    **dict.fromkeys(_ACCOUNTS, _account),
    **dict.fromkeys(_SCHEDULES, _schedule),
    **dict.fromkeys(_BOOTS, _boot),
    **dict.fromkeys(_CLOCKS, _clock),
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
        ("systemctl suspend", "power.sleep"),
        ("iptables -F", "services.firewall"),
        ("ufw --force disable", "services.firewall"),
        ("nft flush ruleset", "services.firewall"),
        ("setenforce 0", "services.protection-off"),
        ("ip link set eth0 down", "services.network"),
        ("nmcli con delete home", "services.network"),
        ("sysctl -w net.ipv4.ip_forward=1", "services.kernel"),
        ("modprobe br_netfilter", "services.kernel"),
        ("crontab -r", "services.schedule"),
        ("crontab jobs.txt", "services.schedule"),
        ("userdel -r bob", "accounts.changed"),
        ("usermod -aG sudo alice", "accounts.changed"),
        ("grub-install /dev/sda", "services.boot"),
        ("timedatectl set-time 12:00", "services.clock"),
        ("ngrok http 8080", "services.exposed"),
        ("ssh -R 2222:localhost:22 host.example", "services.exposed"),
    ),
    silent=(
        "systemctl status nginx",
        "systemctl --user list-units",
        "systemctl --user start dev-server",
        "service nginx status",
        "ufw status verbose",
        "iptables -L -n",
        "nft list ruleset",
        "ip addr show",
        "ip route",
        "ifconfig",
        "sysctl net.ipv4.ip_forward",
        "sysctl -a",
        "crontab -l",
        "date +%F",
        "hostname",
        "timedatectl",
        "ssh -i key host.example uptime",
        "ssh -L 8080:localhost:80 host.example",
        "brew services list",
        "pm2 list",
        "nginx -t",
    ),
    rules=(
        STOPPED,
        CHANGED,
        FIREWALL,
        PROTECTION,
        NETWORK,
        KERNEL,
        SCHEDULE,
        ACCOUNT,
        BOOT,
        CLOCK,
        EXPOSED,
        POWER,
        SLEEP,
    ),
)
