"""Commands that run elsewhere: over ssh, in containers, in virtual machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import commands_in_options, flows, shells
from .invocation import CONTAINER, Arg, Invocation, Stream
from .wrappers import Wrapper, command_start

if TYPE_CHECKING:
    from .walk import Walk

_SSH = Wrapper("BbcDEeFIiJLlmOopQRSWw", frozenset(), 1)
_RUN_VALUED = frozenset(
    f"--{name}"
    for name in listed(
        "name volume env publish workdir user network entrypoint mount env-file memory cpus label hostname "
        "add-host platform pull gpus device cap-add cap-drop security-opt tmpfs ulimit restart log-driver "
        "log-opt ip dns shm-size pid ipc userns uts cpuset-cpus link expose volumes-from runtime init-path "
        "cidfile stop-signal stop-timeout namespace context container image overrides labels port replicas "
        "limits requests serviceaccount file project-name profile project-directory index detach-keys "
        "kubeconfig cluster"
    )
)
_RUN = Wrapper("vepuwhlmca", _RUN_VALUED, 1, "container")
_NAMED = frozenset(("--name",))
_EXEC = Wrapper("euwncf", _RUN_VALUED, 1, "container")


# Lines of a configuration of ssh that are commands of this machine.
_CONFIGURED = re.compile(
    r"(?im)^\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|Match\s.*\bexec)[ \t=]+(.+)$"
)


def _ssh(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    for at, word in enumerate(words[1:], 1):
        option = word.text
        given = (
            words[at + 1].text
            if option == "-o" and at + 1 < len(words)
            else option[2:]
            if option[:2] == "-o"
            else ""
        )
        found = re.match(r"(?i)(ProxyCommand|LocalCommand|KnownHostsCommand|Match)[ =](.*)", given)
        if found:
            walk.shell(Arg(found[2], False, word.taint, word.source))
    for _, path in commands_in_options.values(words[1:], frozenset(), "F"):
        held = flows.file_stream(walk, path.text).text
        for found in _CONFIGURED.finditer(held or ""):
            walk.shell(Arg(found[1]))
    begin, _ = command_start(words, _SSH)
    # Options may stand behind the host as well.
    while begin < len(words) and words[begin].text[:1] == "-" and len(words[begin].text) > 1:
        begin += 2 if words[begin].text[-1] in _SSH.valued and len(words[begin].text) == 2 else 1
    rest = words[begin:]
    if rest:
        if rest[0].text == "--":
            rest = rest[1:]
        shells.joined_command(walk, call, rest, "remote")
        return (
            Stream(None, True, call.stdin.taint, call.stdin.source)
            if call.stdin.taint
            else flows.REMOTE_OUTPUT
        )
    if call.stdin.text is not None:
        walk.shell(Arg(call.stdin.text, False, call.stdin.taint, call.stdin.source), place="remote")
    return None


def _mosh(walk: Walk, call: Invocation) -> Stream | None:
    words = [word for word in call.argv[1:] if not word.text.startswith("--")]
    return shells.exec_words(walk, call, words[1:], "remote")


def _sshpass(walk: Walk, call: Invocation) -> Stream | None:
    begin, _ = command_start(call.argv, Wrapper("pfdP"))
    return shells.exec_words(walk, call, call.argv[begin:])


def exposes_host(words: list[str]) -> bool:
    """Does a container get the machine itself: its root, its process space, or all privileges?"""
    for at, word in enumerate(words):
        value = words[at + 1] if at + 1 < len(words) else ""
        if word in ("--privileged", "--privileged=true", "--pid=host") or (
            word == "--pid" and value == "host"
        ):
            return True
        if word in ("-v", "--volume") and _host_volume(value):
            return True
        if word.startswith("--volume=") and _host_volume(word[9:]):
            return True
        if word.startswith("-v/") and _host_volume(word[2:]):
            return True
        mount = value if word == "--mount" else word[8:] if word.startswith("--mount=") else ""
        if re.search(r"(?:^|,)(?:source|src)=/(?:etc|usr|var|home|root|boot|dev)?(?:,|$)", mount):
            return True
    return False


def _host_volume(volume: str) -> bool:
    return re.match(r"/(?:etc|usr|var|home|root|boot|dev|bin|lib)?/?:", volume) is not None


def _docker(walk: Walk, call: Invocation) -> Stream | None:
    """docker, podman, nerdctl: exec, run, compose exec and run; a shell that reads stdin inside."""
    words = call.argv
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += (
            2
            if words[at].text in ("-H", "--host", "--context", "-c", "-f", "-p", "--file", "--config", "-l")
            else 1
        )
    if at < len(words) and words[at].text in ("compose", "container", "machine"):
        at += 1
        while at < len(words) and words[at].text.startswith("-"):
            at += (
                2
                if words[at].text in ("-f", "-p", "--file", "--project-name", "--profile", "--env-file")
                else 1
            )
    if at >= len(words):
        return None
    verb = words[at].text
    texts = [word.text for word in words]
    if verb in ("exec", "run", "create"):
        spec = _EXEC if verb == "exec" else _RUN
        begin, _ = command_start(words, spec, at + 1)
        exposed = exposes_host(texts[at:begin])
        if verb != "exec":
            walk.made.update(name.text for _, name in commands_in_options.values(words[at:begin], _NAMED))
        rest = words[begin:]
        entry = _entrypoint(words[at:begin])
        if entry is not None:
            rest = [entry, *rest]
        socket = any("docker.sock" in text for text in texts[at:begin])
        if socket and rest and rest[0].text in ("run", "exec", "create", "rm"):
            # The image of docker itself: its words are those of the program.
            rest, exposed = [Arg("docker"), *rest], True
        output = None
        if rest:
            outer = walk.exposed
            walk.exposed = exposed
            try:
                output = shells.exec_words(walk, call, rest, "" if exposed else "container")
            finally:
                walk.exposed = outer
        return Stream(None, True, source=CONTAINER) if _prints_id(verb, texts[at + 1 : begin]) else output
    return None


def _prints_id(verb: str, options: list[str]) -> bool:
    """Does docker print the id of the container instead of what runs in it?"""
    return verb == "create" or (
        verb == "run" and any(re.match(r"--detach(?:=true)?\Z|-[a-z]*d[a-z]*\Z", word) for word in options)
    )


def _entrypoint(words: list[Arg]) -> Arg | None:
    for at, word in enumerate(words):
        if word.text == "--entrypoint" and at + 1 < len(words):
            return words[at + 1]
        if word.text.startswith("--entrypoint="):
            return Arg(word.text.partition("=")[2])
    return None


def _kubectl(walk: Walk, call: Invocation) -> Stream | None:
    """kubectl, oc: what stands behind -- in exec, run and debug."""
    words = call.argv
    verbs = {word.text for word in words[1:8]}
    if not verbs & {"exec", "run", "debug", "rsh", "execute"}:
        return None
    for at, word in enumerate(words):
        if word.text == "--":
            rest = words[at + 1 :]
            if "debug" in verbs and len(rest) > 2 and rest[0].text == "chroot":
                # The machine of a node is mounted into the container that looks at it.
                return shells.exec_words(walk, call, rest[2:], "remote")
            return shells.exec_words(walk, call, rest, "container")
    at = next(i for i, word in enumerate(words) if word.text in ("exec", "run", "debug", "rsh", "execute"))
    if words[at].text in ("exec", "rsh"):
        begin, _ = command_start(words, _EXEC, at + 1)
        if begin < len(words):
            return shells.exec_words(walk, call, words[begin:], "container")
    return None


def _vagrant(walk: Walk, call: Invocation) -> Stream | None:
    """vagrant ssh -c TEXT, gcloud compute ssh --command=TEXT, multipass exec vm -- words."""
    words = call.argv
    for at, word in enumerate(words):
        text = word.text
        if text in ("-c", "--command") and at + 1 < len(words):
            return walk.shell(words[at + 1], call.stdin, "remote")
        if text.startswith("--command="):
            return walk.shell(Arg(text[10:], False, word.taint, word.source), call.stdin, "remote")
        if text == "--" and at + 1 < len(words):
            return shells.joined_command(walk, call, words[at + 1 :], "remote")
    return None


def _wsl(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    begin, _ = command_start(words, Wrapper("du", frozenset(("--distribution", "--user", "--cd"))))
    for at, word in enumerate(words[:begin]):
        if word.text in ("-e", "--exec"):
            begin = at + 1
    return shells.exec_words(walk, call, words[begin:])


def _ansible(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    module = "command"
    given: Arg | None = None
    for at, word in enumerate(words[:-1]):
        if word.text in ("-m", "--module-name"):
            module = words[at + 1].text
        elif word.text in ("-a", "--args"):
            given = words[at + 1]
    if given is not None and module.rpartition(".")[2] == "file" and "state=absent" in given.text.split():
        path = next((word[5:] for word in given.text.split() if word.startswith(("path=", "dest="))), "")
        return walk.words([Arg("rm"), Arg("-rf"), Arg(path)], Stream(), place="remote")
    if given is not None and module.rpartition(".")[2] in ("command", "shell", "raw", "script"):
        return walk.shell(given, call.stdin, "remote")
    return None


def _parallel_ssh(walk: Walk, call: Invocation) -> Stream | None:
    begin, _ = command_start(call.argv, Wrapper("hHlpotOxwgfR"))
    return shells.joined_command(walk, call, call.argv[begin:], "remote")


def _machinectl(walk: Walk, call: Invocation) -> Stream | None:
    """machinectl shell [USER@]MACHINE PROGRAM: `.host` is this machine."""
    words = call.argv
    begin, _ = command_start(
        words, Wrapper("MpE", frozenset(("--machine", "--setenv", "--property", "--uid")), 2)
    )
    operands = [word.text for word in words[1:begin] if word.text[:1] != "-"]
    if operands[:1] != ["shell"] or begin >= len(words):
        return None
    place = "" if operands[-1].rpartition("@")[2] == ".host" else "container"
    return shells.exec_words(walk, call, words[begin:], place)


HANDLERS = {
    "machinectl": _machinectl,
    **dict.fromkeys(("ssh", "autossh", "slogin"), _ssh),
    "mosh": _mosh,
    "sshpass": _sshpass,
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "finch"), _docker),
    **dict.fromkeys(("kubectl", "oc", "k", "k3s", "microk8s"), _kubectl),
    **dict.fromkeys(
        ("vagrant", "gcloud", "multipass", "limactl", "colima", "orb", "flyctl", "fly"), _vagrant
    ),
    **dict.fromkeys(("wsl",), _wsl),
    "ansible": _ansible,
    **dict.fromkeys(("pssh", "pdsh", "parallel-ssh", "clush", "dsh"), _parallel_ssh),
}
