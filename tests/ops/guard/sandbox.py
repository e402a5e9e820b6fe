"""A place in which generated scripts can really run: nothing outside can be written or reached from it.

Only /usr (read-only), an empty /work in memory, /dev/null and the processes inside are there, and no network.
Scripts come in on stdin and records go out on stdout, so that no folder is shared. bubblewrap makes it, or
unshare where that is missing; as root, all of it runs as nobody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

# What runs inside. It reads scripts that end in a zero byte and runs each in a subshell of its own, where no
# command is found. What it would run is recorded: the number of the script and the words, divided by \x1f and
# ended by \x1e. The stubs nope and nix fail.
_DRIVER = r"""
ulimit -f 20000; ulimit -t 50; ulimit -c 0
/usr/bin/mkdir -p /work/sub /work/.out && cd /work && /usr/bin/cat >.out/bundle || exit 9
PATH=/none
command_not_found_handle() {
  local IFS=$'\x1f'
  printf '%s\x1f%s\x1e' "$CASE" "$*" >>/work/.out/record
  [[ $1 != nope && $1 != nix ]]
}
CASE=0
: >.out/record
while IFS= read -r -d '' -u 9 text; do
  CASE=$((CASE + 1))
  printf %s "$text" >.out/script
  (unset text; . .out/script) </dev/null >/dev/null 2>&1 9<&-
done 9<.out/bundle
wait
/usr/bin/cat .out/record
"""
_UNSHARE_ROOT = r"""
set -e
mount -t tmpfs -o size=1m,mode=755 none /tmp
cd /tmp
mkdir usr dev proc old work
mount --bind /usr usr
mount -o remount,bind,ro,nosuid,nodev usr
for name in bin sbin lib lib32 lib64; do if [[ -L /$name ]]; then ln -s "usr/$name" "$name"; fi; done
: >dev/null.tmp
mv dev/null.tmp dev/null
mount --bind /dev/null dev/null
mount -t proc -o nosuid,nodev,noexec none proc
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o size=200m,mode=700,nosuid,nodev none work
pivot_root . old
cd /
umount -l /old
rmdir /old
mount -o remount,bind,ro,nosuid,nodev /
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
"""
_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


def _bubblewrap() -> list[str]:
    links = []
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            links += ["--symlink", f"usr/{name}", f"/{name}"]
    user = _NOBODY if os.geteuid() == 0 else []
    return [
        *user,
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
        *("--ro-bind", "/usr", "/usr", *links, "--proc", "/proc", "--dev", "/dev"),
        *("--remount-ro", "/dev", "--tmpfs", "/work", "--remount-ro", "/", "--chdir", "/work"),
        *("--setenv", "LC_ALL", "C.UTF-8"),
    ]


def _unshare() -> list[str]:
    user = _NOBODY if os.geteuid() == 0 else []
    return [
        *user,
        *("unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--ipc", "--uts"),
        *("--fork", "--kill-child", "bash", "-c", _UNSHARE_ROOT, "sandbox"),
    ]


@cache
def entry() -> tuple[list[str], str]:
    """The command that runs another one in the sandbox; or an empty one, and why there is none."""
    tried = []
    for program, make in (("bwrap", _bubblewrap), ("unshare", _unshare)):
        if not shutil.which(program):
            tried.append(f"{program} is not installed")
            continue
        command = make()
        probe = _run([*command, "/bin/bash", "-c", _PROBE], b"", 20)
        if probe.returncode == 0 and probe.stdout == b"confined":
            return command, ""
        tried.append(f"{program}: {(probe.stderr or probe.stdout).decode(errors='replace').strip()[:300]}")
    return [], "; ".join(tried)


# Nothing may be written outside /work, no other file seen, no address reached.
_PROBE = r"""
for path in / /usr /usr/bin /dev /proc /etc /home /root /tmp /var; do
  { : >"$path/written"; } 2>/dev/null && { echo "$path is writable"; exit 1; }
done
for path in /etc /home /root /var /old /run /sys; do
  [[ -e $path ]] && { echo "$path is there"; exit 1; }
done
while read -r name _; do
  [[ $name == lo: || $name != *: ]] || { echo "there is a network: $name"; exit 1; }
done </proc/net/dev
{ : >/dev/tcp/127.0.0.1/22; } 2>/dev/null && { echo "a port can be reached"; exit 1; }
: >/work/written || exit 1
printf confined
"""


def run(scripts: list[str], seconds: float) -> list[list[list[str]]]:
    """The commands that each script would run, as lists of words, in the order they were recorded."""
    command, reason = entry()
    assert command, reason
    bundle = b"".join(script.encode() + b"\0" for script in scripts)
    done = _run([*command, "/bin/bash", "--norc", "-c", _DRIVER], bundle, seconds)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2_000:]
    found: list[list[list[str]]] = [[] for _ in scripts]
    for record in done.stdout.decode(errors="replace").split("\x1e")[:-1]:
        number, *words = record.split("\x1f")
        found[int(number) - 1].append(words)
    return found


def _run(command: list[str], given: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=given, capture_output=True, timeout=seconds, env=_ENVIRONMENT, cwd="/", check=False
    )
