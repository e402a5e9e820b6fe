"""Programs that run the command they are given: a table of their options, and where the command begins."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..rules.names import names as listed
from .invocation import Arg

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
# Words of the grammar that stand before a command where a wrapper or a broken text put them.
KEYWORDS = listed("{ ( ! if then do else elif while until coproc")


class Wrapper(NamedTuple):
    """How a wrapper's own words end and the command begins.

    `valued`: short options that take the next word; `long`: long options that do; `operands`: own words
    before the command; `verbs`: words of its own that may stand there; `place`: where the command runs.
    `alone`: options with which there is no command;
    `needs`: options without which there is none; `shell`: the words are joined and given to a shell.
    """

    valued: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0
    place: str = ""
    alone: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    shell: bool = False
    verbs: frozenset[str] = frozenset()


def _long(names: str) -> frozenset[str]:
    """Long options by their names."""
    return frozenset(f"--{name}" for name in names.split())


# With these the command is shell text in an option.
_CALLS = frozenset(("-c", "--call"))
_PLAIN = Wrapper()
_ONE = Wrapper(operands=1)

WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper(
        "ugpCThrtDRU",
        _long("user group prompt close-from chdir chroot host role type command-timeout other-user"),
        alone=listed("-l -v -k -K --list --validate -V --version"),
    ),
    "doas": Wrapper("uCa"),
    "pkexec": Wrapper("", _long("user")),
    "run0": Wrapper("ugD", _long("user group chdir property unit slice nice setenv background")),
    "gosu": _ONE,
    "su-exec": _ONE,
    "setuidgid": _ONE,
    "runuser": Wrapper("ugG", _long("user group supp-group"), needs=listed("-u --user")),
    "sg": Wrapper(operands=1, alone=frozenset(("-c",)), shell=True),
    "setpriv": Wrapper("", _long("reuid regid groups inh-caps bounding-set ambient-caps securebits")),
    "env": Wrapper("uCa", _long("unset chdir argv0")),
    "nice": Wrapper("n", _long("adjustment")),
    "ionice": Wrapper("cnpPu", _long("class classdata")),
    "chrt": Wrapper("TPD", _long("sched-runtime sched-period sched-deadline"), 1),
    "taskset": Wrapper(operands=1),
    "nohup": _PLAIN,
    "timeout": Wrapper("ks", _long("kill-after signal"), 1),
    "gtimeout": Wrapper("ks", _long("kill-after signal"), 1),
    "time": Wrapper("fo", _long("format output")),
    "gtime": Wrapper("fo", _long("format output")),
    "stdbuf": Wrapper("ioe", _long("input output error")),
    "setsid": _PLAIN,
    "unbuffer": _PLAIN,
    "exec": Wrapper("a"),
    "command": Wrapper(alone=frozenset(("-v", "-V"))),
    "builtin": _PLAIN,
    "nocorrect": _PLAIN,
    "noglob": _PLAIN,
    "strace": Wrapper("abeEIoOpPsSuUX", _long("trace output attach user string-limit columns")),
    "ltrace": Wrapper("aAeDFlnopsuwx", _long("output library")),
    "valgrind": _PLAIN,
    "catchsegv": _PLAIN,
    "unshare": Wrapper("GRSw", _long("root wd setuid setgid propagation")),
    "nsenter": Wrapper("tSGW", _long("target setuid setgid")),
    "chroot": Wrapper("", _long("userspec groups"), 1, "chroot"),
    "schroot": Wrapper("cud", _long("chroot user directory"), 0, "chroot"),
    "systemd-nspawn": Wrapper("DiMubEp", _long("directory image machine user bind"), 0, "container"),
    "systemd-run": Wrapper(
        "pEMHdut",
        _long(
            "property setenv machine host unit slice uid gid nice working-directory "
            "description service-type on-active on-boot on-calendar timer-property"
        ),
    ),
    "systemd-inhibit": Wrapper("", _long("what who why mode")),
    "firejail": _PLAIN,
    "proot": Wrapper("rbwkqv0i", _long("rootfs bind cwd pwd"), 0, "chroot"),
    "fakeroot": Wrapper("lsibu", _long("lib faked")),
    "fakechroot": Wrapper("lde"),
    "faketime": Wrapper("", frozenset(), 1),
    "cgexec": Wrapper("g"),
    "numactl": Wrapper("CNmipP", _long("physcpubind cpunodebind membind interleave preferred")),
    "prlimit": Wrapper("p", _long("pid output")),
    "caffeinate": Wrapper("tw"),
    "rlwrap": Wrapper("abcCDeFfgHlMmNnoOPqRrSstUwz"),
    "dbus-run-session": Wrapper("", _long("config-file dbus-daemon")),
    "dbus-launch": _PLAIN,
    "xvfb-run": Wrapper("nesfpw", _long("server-num error-file server-args auth-file xauth-protocol")),
    "torsocks": Wrapper("uPap"),
    "torify": _PLAIN,
    "proxychains": Wrapper("f"),
    "proxychains4": Wrapper("f"),
    "chronic": _PLAIN,
    "ifne": _PLAIN,
    "sem": Wrapper("jN", _long("id jobs")),
    "tsp": Wrapper("LNSDWui"),
    "cross-env": _PLAIN,
    "dotenv": Wrapper("ef", _long("file export"), verbs=frozenset(("run",))),
    "retry": Wrapper("tmMfdu", _long("tries times min max factor delay until while")),
    "busybox": _PLAIN,
    "toybox": _PLAIN,
    "eatmydata": _PLAIN,
    "trickle": Wrapper("udLtwn"),
    "cpulimit": Wrapper("lpe", _long("limit pid exe")),
    "chpst": Wrapper("uUbe/nlLmdopfcr"),
    "softlimit": Wrapper("adfmlocprst"),
    "setarch": Wrapper("", frozenset(), 1),
    "linux32": _PLAIN,
    "linux64": _PLAIN,
    "arch": _PLAIN,
    "winpty": _PLAIN,
    "gamemoderun": _PLAIN,
    "tini": Wrapper("pe"),
    "dumb-init": Wrapper("r"),
    "catatonit": _PLAIN,
    "systemd-cat": Wrapper("tp", _long("identifier priority stderr-priority level-prefix namespace")),
    "choom": Wrapper("np", _long("adjust pid")),
    "ssh-agent": Wrapper("aEOPt"),
    "daemonize": Wrapper("acepoluE"),
    "daemon": Wrapper("nXPDruUlFMLoiC", _long("name chdir user output pidfile env")),
    **dict.fromkeys(
        ("mpirun", "mpiexec", "orterun", "prun"),
        Wrapper(
            "ncHxN",
            _long("np host hostfile machinefile map-by bind-to rank-by wdir app path output-filename ppr")
            | listed("-np -host -hostfile -machinefile -wdir -map-by -bind-to -f -hosts -ppn"),
        ),
    ),
    **dict.fromkeys(
        ("srun", "salloc"),
        Wrapper(
            "nNcptJwxoeiADCGTLmqSBKd",
            _long(
                "ntasks nodes cpus-per-task partition time job-name nodelist exclude output error input "
                "account chdir constraint gres gpus mem mem-per-cpu qos reservation licenses dependency "
                "export label mpi"
            ),
        ),
    ),
    **dict.fromkeys(
        (
            f"qemu-{machine}{ending}"
            for machine in listed("x86_64 i386 aarch64 arm armeb riscv64 ppc64le s390x mips mipsel mips64el")
            for ending in ("", "-static")
        ),
        Wrapper("LEUgsBRdDpr0", frozenset(("-cpu",))),
    ),
    **dict.fromkeys(
        listed(
            "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 "
            "ld-musl-x86_64.so.1 ld-musl-aarch64.so.1"
        ),
        Wrapper("", _long("library-path inhibit-rpath audit preload argv0 glibc-hwcaps-mask")),
    ),
    **dict.fromkeys(
        listed("s6-setuidgid s6-envuidgid s6-envdir s6-setlock envdir envuidgid setlock fghack pgrphack"),
        _ONE,
    ),
    **dict.fromkeys(("s6-applyuidgid", "s6-softlimit"), Wrapper("uUgGzadfmlocprst")),
    "with-contenv": _PLAIN,
    "reflex": Wrapper("rgRGtd", _long("regex glob inverse-regex inverse-glob")),
}

# `poetry run COMMAND` and the like: the words between program and command, by program.
VERBS: dict[str, dict[str, Wrapper]] = {
    "poetry": {"run": Wrapper("CPe")},
    "uv": {
        "run": Wrapper(
            "pPw",
            _long(
                "python with extra group env-file package project directory "
                "with-editable with-requirements index index-url cache-dir only-group "
                "no-group"
            ),
        )
    },
    "pipenv": {"run": _PLAIN},
    "pdm": {"run": Wrapper("p")},
    "rye": {"run": _PLAIN},
    "hatch": {"run": _PLAIN},
    "pixi": {"run": Wrapper("e")},
    "conda": {"run": Wrapper("np", _long("name prefix cwd"))},
    "mamba": {"run": Wrapper("np", _long("name prefix cwd"))},
    "micromamba": {"run": Wrapper("np", _long("name prefix cwd"))},
    "bundle": {"exec": _PLAIN},
    "yarn": {"exec": _PLAIN},
    "pnpm": {"exec": Wrapper("C", alone=_CALLS)},
    "npm": dict.fromkeys(("exec", "x"), Wrapper("p", _long("package workspace"), alone=_CALLS)),
    "mise": {"exec": _PLAIN, "x": _PLAIN},
    "rtx": {"exec": _PLAIN},
    "asdf": {"exec": _PLAIN},
    "direnv": {"exec": _ONE},
    "rbenv": {"exec": _PLAIN},
    "pyenv": {"exec": _PLAIN},
    "nodenv": {"exec": _PLAIN},
    "doppler": {"run": Wrapper("pcts", _long("project config token"))},
    "op": {"run": Wrapper("", _long("env-file account"))},
    "infisical": {"run": Wrapper("", _long("env path"))},
    "aws-vault": {"exec": Wrapper("d", _long("duration"), 1)},
    "foreman": {"run": Wrapper("ef")},
    "podman": {"unshare": _PLAIN},
    "perf": {
        "stat": Wrapper("epotCrI", _long("event output")),
        "record": Wrapper("eopFcg", _long("event output")),
    },
    "lxc": {"exec": Wrapper("", _long("cwd user env group mode"), 1, "container")},
    "incus": {"exec": Wrapper("", _long("cwd user env group mode"), 1, "container")},
    "toolbox": {"run": Wrapper("cdr", _long("container distro release"), 0, "container")},
    "distrobox": {"enter": Wrapper("nae", _long("name"), 0, "container")},
    "heroku": {"run": Wrapper("as", _long("app size"), 0, "container")},
    "adb": {"shell": Wrapper("", frozenset(), 0, "remote")},
    "pueue": {"add": Wrapper("gwldp", _long("group working-directory label delay"))},
    "ip": {"exec": Wrapper("", frozenset(), 1)},
    "rr": {"record": Wrapper("o", _long("output-trace-dir print-trace-dir"))},
}


# Words behind which a verb of the table is a name: `npm run x`, `npm owner add x`.
RUNS_SCRIPTS = listed("run run-script set-script add rm install i")


def command_start(arguments: list[Arg], spec: Wrapper, start: int = 1) -> tuple[int, bool]:
    """Where the command of a wrapper begins, and whether an option says that there is none."""
    if spec.needs and spec.needs.isdisjoint([word.text.partition("=")[0] for word in arguments[start:]]):
        return start, True
    operands = spec.operands
    at = start
    count = len(arguments)
    plain = False
    while at < count:
        text = arguments[at].text
        if not plain and text[:1] == "-" and len(text) > 1:
            if text == "--":
                plain = True
                at += 1
                continue
            if text in spec.alone:
                return at, True
            if text in spec.long:
                at += 2
                continue
            if text[1] == "-":
                at += 1
                continue
            taken = 1
            for place, letter in enumerate(text[1:], 2):
                if letter in spec.valued:
                    if place == len(text):
                        taken = 2
                    break
            at += taken
            continue
        if text in spec.verbs:
            at += 1
            continue
        if operands:
            operands -= 1
            at += 1
            continue
        break
    return at, False
