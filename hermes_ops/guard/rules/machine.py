"""The machine itself: firewall, network, kernel, accounts, how it starts, its clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..judge.invocation import Invocation
from ..verdict import Found
from .names import names
from .processes import POWER
from .rule import Family, approve
from .verbs import has, verbs_of

FIREWALL = approve("services.firewall", "changes the firewall")


PROTECTION = approve("services.protection-off", "switches a protection of the system off or changes it")


NETWORK = approve("services.network", "changes how the machine is connected")


KERNEL = approve("services.kernel", "changes a setting or a module of the kernel")


ACCOUNT = approve("accounts.changed", "changes accounts, groups or passwords")


BOOT = approve("services.boot", "changes how the machine starts")


CLOCK = approve("services.clock", "changes the clock, the name or the locale of the machine")


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


_BOOTS = names(
    "grub-install update-grub grub-mkconfig grub2-install grub2-mkconfig efibootmgr bootctl nvram "
    "bless update-initramfs mkinitcpio dracut bcdedit grubby kernel-install"
)


_CLOCKS = names("hostnamectl timedatectl localectl date hwclock hostname ntpdate chronyc systemsetup")


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


_TABLE = {
    **dict.fromkeys(_FIREWALLS, _firewall),
    **dict.fromkeys(_PROTECTIONS, _protection),
    **dict.fromkeys(_NETWORKS, _network),
    **dict.fromkeys(_KERNELS, _kernel),
    **dict.fromkeys(_ACCOUNTS, _account),
    **dict.fromkeys(_BOOTS, _boot),
    **dict.fromkeys(_CLOCKS, _clock),
}


def _check(invocation: Invocation) -> Iterable[Found]:
    return _TABLE[invocation.name](invocation)


FAMILY = Family(
    "machine",
    frozenset(_TABLE),
    _check,
    examples=(
        ("iptables -F", "services.firewall"),
        ("ufw --force disable", "services.firewall"),
        ("nft flush ruleset", "services.firewall"),
        ("setenforce 0", "services.protection-off"),
        ("ip link set eth0 down", "services.network"),
        ("nmcli con delete home", "services.network"),
        ("sysctl -w net.ipv4.ip_forward=1", "services.kernel"),
        ("modprobe br_netfilter", "services.kernel"),
        ("userdel -r bob", "accounts.changed"),
        ("usermod -aG sudo alice", "accounts.changed"),
        ("grub-install /dev/sda", "services.boot"),
        ("timedatectl set-time 12:00", "services.clock"),
    ),
    silent=(
        "ufw status verbose",
        "iptables -L -n",
        "nft list ruleset",
        "ip addr show",
        "ip route",
        "ifconfig",
        "sysctl net.ipv4.ip_forward",
        "sysctl -a",
        "date +%F",
        "hostname",
        "timedatectl",
    ),
    rules=(FIREWALL, PROTECTION, NETWORK, KERNEL, ACCOUNT, BOOT, CLOCK),
)
