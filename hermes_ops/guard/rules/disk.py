"""Disks: making file systems, partition tables, wiping, writing to a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..judge.invocation import Invocation
from ..verdict import Found
from .names import names
from .paths import Place
from .removal import located
from .rule import REDIRECTS as NEEDS_REDIRECTS
from .rule import Family, approve, block

FORMATTED = block("disk.formatted", "makes a new file system over what a disk holds")
PARTITIONED = block("disk.partitioned", "changes the partition table of a disk")
WIPED = block("disk.wiped", "erases a disk")
OVERWRITTEN = block("disk.overwritten", "writes straight to a disk or to memory", "write to a file")
VOLUME = block("disk.volume-removed", "removes a volume with all that is on it")
IMAGE = approve("disk.image-formatted", "makes a new file system in a file, over what it holds")
INTERACTIVE = approve("disk.editor", "opens an editor of a disk's partitions")
NOTRUNC = approve(
    "disk.overwritten-file", "overwrites the beginning of an existing file", "write to a new file"
)

_FORMATTERS = ("mkfs", "mke2fs", "newfs", "mkswap", "mkdosfs", "mkntfs", "mkreiserfs", "mkexfatfs")
_EDITORS = names("fdisk gdisk sgdisk sfdisk cfdisk parted gparted cgdisk gpart diskpart")
_WIPERS = names("wipefs blkdiscard badblocks dban nvme hdparm sg_format sg_sanitize zpool zfs mdadm")
_VOLUMES = names("lvremove vgremove pvremove lvreduce dmsetup cryptsetup btrfs vgreduce")
_OTHERS = names(
    "diskutil format format.com Format-Volume Clear-Disk Initialize-Disk dd ddrescue dcfldd pv fsck tune2fs"
)
_FILE_SYSTEMS = names(
    "ext2 ext3 ext4 xfs btrfs vfat fat msdos ntfs exfat f2fs jfs reiserfs minix bfs cramfs nilfs2 udf erofs"
)
_MKFS = frozenset(_FORMATTERS).union(
    ("mkfs." + kind for kind in _FILE_SYSTEMS), ("newfs_" + kind for kind in names("apfs hfs msdos exfat"))
)
_PARTED_VERBS = names(
    "mklabel mktable mkpart mkpartfs rm resizepart resize name set toggle disk_set rescue type"
)
_READS = {
    "fdisk": names("-l --list -s --getsz -x --list-details -V --version"),
    "gdisk": frozenset({"-l"}),
    "cfdisk": frozenset(),
    "sgdisk": names("-p --print -i --info -v --verify -L --list-types -E -F -f -D -V"),
    "sfdisk": names("-l --list -d --dump -J --json -n --no-act -g -T -F -V --verify -s"),
    "parted": names("-l --list print p unit align-check help version quit -v"),
}


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if invocation.has("", "--help", "--version"):
        return ()
    if name in _MKFS:
        return _made(invocation)
    if name in _EDITORS:
        return _edited(invocation)
    if name in ("dd", "ddrescue", "dcfldd"):
        return _copied(invocation)
    if name in _WIPERS or name in _VOLUMES:
        return _wiped(invocation)
    return _other(invocation)


def _made(invocation: Invocation) -> Iterator[Found]:
    if invocation.has("n"):
        return
    for argument in invocation.operands(
        frozenset({"-t", "-L", "-U", "-b", "-N", "-m", "-O", "-E", "-n", "-s"})
    ):
        place = located(invocation, argument).place
        if place is Place.DEVICE or place is Place.UNKNOWN or place is Place.SYSTEM:
            yield FORMATTED.found(invocation.part, argument.text.replace("\0", "?"))
            return
        if place in (Place.TEMPORARY, Place.BUILD):
            return
    if list(invocation.operands()):
        yield IMAGE.found(invocation.part)


def _edited(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    devices = [word.text for word in invocation.operands() if located(invocation, word).place is Place.DEVICE]
    changes = any(word in _PARTED_VERBS for word in words) if "parted" in name else False
    if not changes and (not words or any(word in _READS.get(name, _READS["fdisk"]) for word in words)):
        return
    if devices:
        yield PARTITIONED.found(invocation.part, devices[0])
    elif changes or name == "diskpart":
        yield INTERACTIVE.found(invocation.part)


def _copied(invocation: Invocation) -> Iterator[Found]:
    to_file = False
    for argument in invocation.arguments:
        text = argument.text
        if invocation.name == "ddrescue" or text.startswith("of="):
            target = type(argument)(text[3:] if text.startswith("of=") else text, argument.glob)
            if (
                invocation.name == "ddrescue"
                and argument is not invocation.argv[-1]
                and len(invocation.argv) < 4
            ):
                continue
            where = located(invocation, target)
            if where.place is Place.DEVICE and (text.startswith("of=") or argument is not invocation.argv[1]):
                yield OVERWRITTEN.found(invocation.part, target.text.replace("\0", "?"))
            elif where.place in (Place.WORK, Place.SHARED):
                to_file = True
    if to_file and any("notrunc" in word or _is_disk(word) for word in invocation.words()):
        yield NOTRUNC.found(invocation.part)


def _is_disk(word: str) -> bool:
    """A virtual machine's disk as the target; a plain .img is as often a file of a test."""
    return word.startswith("of=") and word.endswith((".qcow2", ".vmdk", ".vdi", ".vhd", ".vhdx"))


def _wiped(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    verbs = [argument.text for argument in invocation.operands()]
    verb = verbs[0] if verbs else ""
    second = verbs[1] if len(verbs) > 1 else ""
    erases = {
        "wipefs": invocation.has("ao", "--all", "--offset") and not invocation.has("n", "--no-act"),
        "blkdiscard": bool(verbs),
        "badblocks": invocation.has("wn"),
        "dban": True,
        "nvme": verb in ("format", "sanitize", "write-zeroes", "delete-ns", "dsm"),
        "hdparm": any(
            word.startswith(("--security-erase", "--trim-sector", "--security-set", "--make-bad"))
            for word in words
        ),
        "sg_format": True,
        "sg_sanitize": True,
        "zpool": verb in ("destroy", "labelclear", "create") and (verb != "create" or invocation.has("f")),
        "zfs": verb == "destroy",
        "mdadm": invocation.has("", "--zero-superblock", "--create")
        or (invocation.has("C") and not invocation.has("D")),
        "lvremove": True,
        "vgremove": True,
        "pvremove": True,
        "lvreduce": True,
        "vgreduce": True,
        "dmsetup": verb in ("remove", "remove_all", "wipe_table"),
        "cryptsetup": verb
        in ("luksFormat", "erase", "luksErase", "luksKillSlot", "reencrypt", "luksRemoveKey", "format"),
        "btrfs": (verb, second) in (("subvolume", "delete"), ("device", "delete"), ("device", "remove")),
    }
    if erases.get(name) and (verbs or words):
        yield (VOLUME if name in _VOLUMES or name in ("zfs", "zpool") else WIPED).found(invocation.part)


def _other(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verbs = [argument.text for argument in invocation.operands(frozenset({"-t", "-o", "-O"}))]
    verb = verbs[0] if verbs else ""
    if name == "diskutil":
        lower = verb.lower()
        if lower.startswith(("erase", "zero", "random", "secureerase", "partition", "reformat")) or (
            len(verbs) > 1
            and lower in ("apfs", "cs", "ar")
            and verbs[1].lower().startswith(("delete", "erase"))
        ):
            yield WIPED.found(invocation.part)
    elif name in ("Format-Volume", "Clear-Disk", "Initialize-Disk"):
        yield FORMATTED.found(invocation.part)
    elif name in ("format", "format.com"):
        if len(verb) == 2 and verb[1] == ":":
            yield FORMATTED.found(invocation.part, verb)
    elif name == "tune2fs" and not invocation.has("l") and verbs:
        yield PARTITIONED.found(invocation.part)


def redirected(invocation: Invocation) -> Iterator[Found]:
    """Output that goes straight to a disk, whatever the command."""
    for target in invocation.redirects:
        if target.writes and located(invocation, target.arg).place is Place.DEVICE:
            yield OVERWRITTEN.found(invocation.part, target.arg.text.replace("\0", "?"))


FAMILY = Family(
    "disk",
    frozenset(_MKFS | _EDITORS | _WIPERS | _VOLUMES | _OTHERS),
    _check,
    examples=(
        ("mkfs -t xfs /dev/vdb", "disk.formatted"),
        ("mkfs.ext4 -F /dev/sdb1", "disk.formatted"),
        ("mkswap /dev/sdc2", "disk.formatted"),
        ("parted /dev/sda mklabel gpt", "disk.partitioned"),
        ("parted -s /dev/sda rm 1", "disk.partitioned"),
        ("sgdisk --zap-all /dev/sda", "disk.partitioned"),
        ("echo ',,L' | sfdisk /dev/sdb", "disk.partitioned"),
        ("blkdiscard /dev/nvme0n1", "disk.wiped"),
        ("wipefs -a /dev/sdb", "disk.wiped"),
        ("nvme format /dev/nvme0n1", "disk.wiped"),
        ("diskutil eraseDisk JHFS+ Empty /dev/disk2", "disk.wiped"),
        ("cryptsetup luksFormat /dev/sdb", "disk.volume-removed"),
        ("lvremove -f vg0/data", "disk.volume-removed"),
        ("zpool destroy tank", "disk.volume-removed"),
        ("dd if=/dev/zero of=/dev/sda bs=1M", "disk.overwritten"),
        ("mkfs.ext4 disk.img", "disk.image-formatted"),
        ("dd if=/dev/zero of=ledger.db bs=1 count=10 conv=notrunc", "disk.overwritten-file"),
        ("diskpart /s wipe.txt", "disk.editor"),
    ),
    silent=(
        "fdisk -l",
        "mkfs.ext4 -q -F /tmp/test.img",
        "parted /dev/sda print",
        "sfdisk -d /dev/sda",
        "wipefs /dev/sdb",
        "dd if=/dev/zero of=test.bin bs=1M count=10",
        "dd if=/dev/sda of=sda.img bs=4M",
        "zfs list",
        "zpool status",
        "cryptsetup status home",
        "diskutil list",
        "nvme list",
        "cat disk.txt > /dev/null",
    ),
    rules=(FORMATTED, PARTITIONED, WIPED, OVERWRITTEN, VOLUME, IMAGE, INTERACTIVE, NOTRUNC),
)


REDIRECTS = Family(
    "disk-redirects",
    frozenset(),
    redirected,
    examples=(("cat image.iso > /dev/sdb", "disk.overwritten"), ("> /dev/sda", "disk.overwritten")),
    silent=("echo x > /dev/null", "ls 2>/dev/null", "echo x > /dev/tty", "echo 1 > out.txt"),
    needs=NEEDS_REDIRECTS,
)
