"""What is mounted over the system, a home or the guard."""

import pytest

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.verdict import Verdict

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def verdict(command: str) -> Verdict:
    return judge_shell(command, WHERE).verdict


@pytest.mark.parametrize(
    "command",
    [
        'sudo mount --bind /tmp/empty "$HOME/.hermes/plugins"',
        "mount -t tmpfs tmpfs ~/.hermes",
        "sudo mount -t tmpfs tmpfs ~/.hermes/plugins/hermes-ops",
        "sudo mount --rbind /tmp/x ~/.hermes/ops",
        "sudo mount -B /tmp/c.yaml ~/.hermes/config.yaml",
        "sudo mount -o bind /tmp/c.yaml ~/.hermes/config.yaml",
        "sudo mount -t tmpfs none /etc",
        "sudo mount --bind /tmp/empty /etc",
        "sudo mount -t tmpfs tmpfs /usr",
        "sudo mount -t overlay overlay -o lowerdir=/etc,upperdir=/tmp/u,workdir=/tmp/w /etc",
        "sudo mount -t overlay -o lowerdir=/a,upperdir=/b,workdir=/c none ~/.hermes",
        "sudo mount --bind /tmp/passwd /etc/passwd",
        "sudo mount --move /tmp/m /etc",
        "sudo mount --target ~/.hermes --source /tmp/x --bind",
        "sudo mount -t tmpfs tmpfs ~",
        "sudo mount /dev/sdb1 /usr",
        "sudo mount -t tmpfs tmpfs /",
        "bindfs /tmp/empty ~/.hermes/plugins",
        "fuse-overlayfs -o lowerdir=/a,upperdir=/b,workdir=/c ~/.hermes",
        "mount.tmpfs tmpfs /etc",
        "sudo mount -t tmpfs -o size=1m tmpfs /root",
        "sudo mount -t tmpfs tmpfs /var/lib",
        "sudo systemd-mount --bind /tmp/x /etc",
        "sshfs host.example:/x ~/.hermes",
        "squashfuse x.sqfs ~/.hermes/plugins",
        "sudo mount --bind ~/empty ~/.hermes/plugins/hermes_ops",
        "cd ~/.hermes && sudo mount --bind /tmp/x plugins",
        "unshare -m sh -c 'mount --bind /tmp/x ~/.hermes/plugins; hermes chat'",
    ],
)
def test_nothing_is_mounted_over_the_system_or_the_guard(command: str) -> None:
    assert verdict(command) is Verdict.BLOCK


@pytest.mark.parametrize(
    "command",
    [
        "sudo mount /dev/sdb1 /mnt/usb",
        "sudo mount -t tmpfs tmpfs /mnt/ram",
        "sudo mount --bind src /srv/app",
        "sudo mount -o remount,rw /mnt/usb",
        "sudo mount -a",
        "sudo umount /mnt/usb",
        "sudo mount -o loop disk.img /mnt",
        "sudo mount -o remount,ro /",
        "sudo mount -t proc proc /proc",
    ],
)
def test_a_person_is_asked_about_any_other_mount(command: str) -> None:
    assert verdict(command) is Verdict.APPROVE


@pytest.mark.parametrize(
    "command",
    [
        "mount",
        "mount | grep hermes",
        "findmnt ~/.hermes",
        "mount -l -t tmpfs",
        "cat /proc/mounts",
        "sshfs host.example:/srv ~/remote",
        "mountpoint -q ~/.hermes/plugins",
    ],
)
def test_looking_at_mounts_is_free(command: str) -> None:
    assert verdict(command) is Verdict.ALLOW
