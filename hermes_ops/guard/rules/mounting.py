"""What is mounted where: something over the system, a home or the guard hides what was there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import UNKNOWN, Arg, Invocation
from ..verdict import Found
from .dry_runs import is_dry
from .hermes_state import Part, part_of
from .names import names
from .paths import Place
from .removal import is_vital, located
from .rule import Family, approve, block

MOUNTED = approve("disk.mounted", "changes what is mounted where")
MOUNTED_OVER = block(
    "disk.mounted-over",
    "mounts something over the system, a home, or what the agent lives by and is held in check by",
    "mount it in a folder of its own below /mnt",
)

_VALUED = names(
    "-o -t -O -L -U --options --types --test-opts --source --target --label --uuid --options-mode"
)
# Programs that mount a folder, a host or an archive on the folder that they are given last.
_LAST = names(
    "bindfs sshfs fuse-overlayfs overlayfs unionfs unionfs-fuse mergerfs mhddfs squashfuse archivemount "
    "fuse-zip fuseiso gocryptfs encfs s3fs gcsfuse goofys davfs2 curlftpfs ntfs-3g fuseext2 lklfuse "
    "dislocker systemd-mount blobfuse blobfuse2 juicefs mount_nullfs mount_bindfs mount_tmpfs mount_unionfs"
) | {f"mount.{kind}" for kind in names("tmpfs bind fuse nfs nfs4 cifs ntfs overlay fuse.sshfs")}
_HELP = names("--help --version")
_LAST_VALUED = names("-o -p -u -g -t --options --type --owner --property -F -C")
# Where systems mount disks of their own, and the kernel's own file systems.
_USUAL = re.compile(r"/(?:proc|sys|dev|boot|efi|mnt|media|run|srv|opt|tmp|nix|snap|Volumes)(?:/|\Z)")
_DISK = re.compile(r"/dev/|(?:UUID|LABEL|PARTUUID|PARTLABEL|ID)=|//|[\w.-]+:/")
_FILES = re.compile(r"/etc/(?:passwd|shadow|group|gshadow|sudoers|pam\.d|doas\.conf|ld\.so\.preload)(?:/|\Z)")


def _target(invocation: Invocation) -> tuple[str, Arg | None]:
    """What is mounted, and on what folder; None when only one of them is named."""
    source, target = "", None
    words = invocation.words()
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--source", "--target"):
            value = value if equals else words[at + 1] if at + 1 < len(words) else ""
            source, target = (value, target) if name == "--source" else (source, Arg(value))
    operands = list(invocation.operands(_VALUED))
    if target is None and operands and (source or len(operands) > 1):
        target = operands[-1]
    if not source and operands:
        source = operands[0].text
    return source, target


def _is_remount(invocation: Invocation) -> bool:
    words = invocation.words()
    return any("remount" in word.split(",") for word in words) or any(
        word.startswith("-o") and "remount" in word for word in words
    )


def hides(invocation: Invocation, source: str, target: Arg) -> bool:
    """Does a mount lie over what the system or a person lives by, or over the guard?"""
    if UNKNOWN in target.text[:1] or source == target.text:
        return False
    where = located(invocation, target)
    part = part_of(where.path, invocation.home, invocation.hermes_home)
    if part is not None or where.place is Place.HERMES:
        return part in (Part.GUARD, Part.STATE, Part.PLUGIN, None)
    if _USUAL.match(where.path):
        return False
    if where.place is Place.HOME:
        # A disk of its own for the homes is usual; over one of them it is not.
        return where.depth > 1 or not _DISK.match(source) or where.path == invocation.home
    if where.path.startswith(("/home/", "/var/")) or where.path == "/var":
        return where.depth <= 2 and where.place is Place.SYSTEM and not _DISK.match(source)
    return where.place is Place.ROOT or (
        where.place is Place.SYSTEM
        and ((is_vital(where) and where.depth <= 2) or bool(_FILES.match(where.path)))
    )


def _mount(invocation: Invocation) -> Iterator[Found]:
    source, target = _target(invocation)
    if target is not None and not _is_remount(invocation) and hides(invocation, source, target):
        yield MOUNTED_OVER.found(invocation.part, target.text)
    elif any(invocation.operands(_VALUED)) or target is not None or invocation.has("a", "--all"):
        yield MOUNTED.found(invocation.part)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if is_dry(
        invocation.words(), _HELP, _VALUED if name in ("mount", "umount") else _LAST_VALUED, clusters=True
    ):
        return
    if name == "mount":
        yield from _mount(invocation)
    elif name == "umount":
        if any(invocation.operands(_VALUED)) or invocation.has("a", "--all"):
            yield MOUNTED.found(invocation.part)
    else:
        operands = list(invocation.operands(_LAST_VALUED))
        if name == "rclone":
            operands = operands[1:] if operands and operands[0].text in ("mount", "nfsmount") else []
        if operands and hides(invocation, operands[0].text if operands[1:] else "", operands[-1]):
            yield MOUNTED_OVER.found(invocation.part, operands[-1].text)


FAMILY = Family(
    "mounts",
    names("mount umount rclone") | _LAST,
    _check,
    examples=(
        ("mount /dev/sdb1 /mnt/usb", "disk.mounted"),
        ("umount /mnt/usb", "disk.mounted"),
        ("sudo mount --bind /tmp/empty ~/.hermes/plugins", "disk.mounted-over"),
        ("sudo mount -t tmpfs tmpfs /etc", "disk.mounted-over"),
        ("mount -t overlay -o lowerdir=/a,upperdir=/b,workdir=/c overlay /usr", "disk.mounted-over"),
        ("sshfs host.example:/x ~/.hermes", "disk.mounted-over"),
    ),
    silent=(
        "mount",
        "mount -l -t tmpfs",
        "sshfs host.example:/srv ~/remote",
        "findmnt ~/.hermes",
    ),
    rules=(MOUNTED, MOUNTED_OVER),
)
