"""Commands run as another user, root above all: those that change something and that no other rule knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..judge.invocation import Invocation
from ..verdict import Found
from .few import few
from .names import names
from .paths import Place
from .removal import located
from .rule import Family, approve

CHANGES = approve(
    "privilege.changes", "changes the system as root", "do it without root, or let the person do it"
)
SHELL = approve("privilege.shell", "opens a shell as root", "run the one command that is needed")

_BECOME = names("sudo doas su pkexec run0")
# Programs that read, or that change nothing beyond their own process.
_READS = names(
    "cat ls head tail less more grep egrep fgrep rg zgrep find stat file wc du df lsof ss netstat ps "
    "top htop iotop dmesg journalctl who w last lastb id whoami uname uptime free vmstat iostat lsblk "
    "blkid lscpu lspci lsusb lsmod lshw dmidecode lsns hostname date env printenv echo printf true "
    "false test [ pwd tree readlink realpath md5sum sha256sum sha1sum cmp diff sort uniq cut tr awk "
    "gawk sed jq yq xxd od hexdump strings tcpdump nmap ping traceroute mtr dig host nslookup arp "
    "ethtool ethstats iw smartctl sensors getent getfacl lsattr getcap ausearch aureport apt-cache "
    "dpkg-query apt-mark debsums needrestart docker podman kubectl systemctl service ip ifconfig "
    "iptables nft ufw firewall-cmd sysctl crontab mount findmnt nvidia-smi journalctl loginctl "
    "hostnamectl timedatectl localectl virsh lxc zfs zpool btrfs pvs vgs lvs mdadm cryptsetup fdisk "
    "parted gdisk sgdisk sfdisk wipefs openssl wg tc bridge git psql mysql mongosh redis-cli pg_dump "
    "mysqldump strace ltrace perf bpftrace gdb curl wget rpm dpkg apt apt-get dnf yum pacman apk "
    "zypper snap flatpak nginx apachectl fail2ban-client certbot-auto tailscale rsync tar zip which "
    "whereis type locate updatedb sleep timeout watch xargs nproc numactl sync tee rm mv shred "
    "truncate kill pkill killall chmod chown chgrp pip pip3 npm gem passwd useradd usermod userdel "
    "groupadd visudo hwclock ntpq chronyc auditctl sestatus getenforce aa-status lslogins faillock cp "
    "ln install dd touch mkdir nc ncat socat"
)
# Of these the place decides: anything in the system is a change.
_PLACED = names(
    "cp ln install touch mkdir rmdir mv tar unzip rsync gunzip chown chgrp chmod tee sed patch dd"
)
_HARMLESS_PLACES = frozenset(
    {Place.WORK, Place.BUILD, Place.TEMPORARY, Place.CURRENT, Place.NOTHING, Place.HOME, Place.HERMES}
)


def _check(invocation: Invocation) -> Iterable[Found]:
    if invocation.wrappers and not _BECOME.isdisjoint(invocation.wrappers):
        return _as_root(invocation)
    if invocation.name in _BECOME:
        return _become(invocation)
    return ()


def _become(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    name = invocation.name
    if name in ("sudo", "doas"):
        if any(word in ("-i", "-s", "--login", "--shell") for word in words):
            yield SHELL.found(invocation.part)
        elif any(word in ("-e", "--edit") for word in words):
            yield CHANGES.found(invocation.part)
    elif name == "su" and not any(
        word.startswith(("-c", "--command", "--help", "--version")) for word in words
    ):
        yield SHELL.found(invocation.part)


def _as_root(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if not invocation.argv or any(word in ("--version", "--help", "-V") for word in words[:2]):
        return
    if name in ("bash", "sh", "zsh", "dash", "ksh", "fish", "su"):
        if not any(word.startswith("-") and "c" in word for word in words) or name == "su":
            yield SHELL.found(invocation.part)
        return
    if name in ("eval", "source", ".", ":", "cd", "exec", "command", "set", "export", "unset"):
        return
    if name in _PLACED:
        operands = few(invocation.operands(names("-m --mode -o --owner -g --group -t -C -f")))
        for argument in operands:
            text = argument.text.removeprefix("of=")
            if "/" not in text:
                continue
            place = located(invocation, type(argument)(text, argument.glob)).place
            if place not in _HARMLESS_PLACES and not (
                name == "sed" and not invocation.has("i", "--in-place")
            ):
                if name in ("cp", "rsync", "mv", "install", "ln") and argument is not operands[-1]:
                    continue
                if name == "tar" and not any("x" in word[:4] for word in words[:1]):
                    continue
                yield CHANGES.found(invocation.part)
                return
        return
    if name in _READS:
        return
    yield CHANGES.found(invocation.part)


FAMILY = Family(
    "privilege",
    frozenset(),
    _check,
    examples=(
        ("sudo make install", "privilege.changes"),
        ("sudo ./setup.sh", "privilege.changes"),
        ("sudo mkdir /opt/app", "privilege.changes"),
        ("sudo cp tool /usr/local/bin/", "privilege.changes"),
        ("sudo -i", "privilege.shell"),
        ("sudo su -", "privilege.shell"),
        ("sudo bash", "privilege.shell"),
    ),
    silent=(
        "sudo systemctl status nginx",
        "sudo -n true",
        "sudo -l",
        "sudo cat /var/log/syslog",
        "sudo lsof -i :8080",
        "sudo journalctl -u nginx -n 50",
        "sudo cp /etc/hosts .",
        "sudo dmesg",
        "sudo docker ps",
        "make install",
    ),
    rules=(CHANGES, SHELL),
)
