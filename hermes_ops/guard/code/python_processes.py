"""What Python does to processes: shell text, programs with arguments, signals, other machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.invocation import REMOTE, SECRET, UNKNOWN
from . import folding
from .acts import ENVIRONMENT
from .python_names import Call
from .value import Value, joined

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]


def _output(walk: Walk, call: Call) -> Value:
    """What a process gives back: a download or a secret when its command says so."""
    command = call.arg(0, "args", "command", "cmd")
    if command is None:
        return Value(name=f"{call.name}()")
    words = [item.text for item in command.items] if command.items is not None else command.text.split()
    name = words[0].rpartition("/")[2] if words else ""
    taint, source = frozenset(), ""
    if name in ("curl", "wget"):
        taint, source = frozenset([REMOTE]), "the network"
    elif name in ("env", "printenv") and len(words) == 1:
        taint, source = frozenset([SECRET]), ENVIRONMENT
    elif name in ("cat", "head", "tail", "base64", "xxd", "gpg", "openssl", "grep", "sed", "awk", "less"):
        source = next(
            (found for found in (walk.acts.secret(Value(word)) for word in words[1:8]) if found), ""
        )
        taint = frozenset([SECRET]) if source else taint
    return Value(name=f"{call.name}()", of=command, taint=taint, source=source)


def _run_text(walk: Walk, call: Call) -> Value:
    command = call.arg(0, "command", "cmd", "script", "args")
    if command is not None:
        if command.items is not None:
            walk.acts.run_words(command.items, call.keywords.get("cwd"))
        else:
            walk.acts.run(command, call.keywords.get("workdir") or call.keywords.get("cwd"))
    return _output(walk, call)


def _is_socket(value: Value | None) -> bool:
    return value is not None and value.name.startswith("socket.")


def _subprocess(walk: Walk, call: Call) -> Value:
    command = call.arg(0, "args")
    if command is None:
        return _output(walk, call)
    keywords = call.keywords
    if _is_socket(keywords.get("stdin")) or (_is_socket(call.arg(3, "stdin"))):
        walk.acts.report("code.reverse-shell")
    folder, stdin = keywords.get("cwd"), keywords.get("input") or _file_input(walk, keywords.get("stdin"))
    environment = keywords.get("env")
    for name, value in (environment.pairs or {}).items() if environment is not None else ():
        walk.exported(Value(name), value)
    shell = keywords.get("shell")
    if command.items is not None:
        if shell is not None and shell.known not in (False, None) and command.items:
            walk.acts.run(command.items[0], folder, stdin)
        else:
            program = keywords.get("executable")
            walk.acts.run_words(
                command.items if program is None else [program, *command.items[1:]], folder, stdin
            )
    else:
        walk.acts.run(command, folder, stdin)
    return _output(walk, call)


def _file_input(walk: Walk, value: Value | None) -> Value | None:
    if value is not None and value.name == "file(r)" and value.of is not None:
        return walk.acts.read(value.of)
    return None


def _exec_words(walk: Walk, call: Call) -> Value:
    """os.execv(path, args), os.execl(path, arg0, ...), posix_spawn(path, argv, env)."""
    args = call.args
    if len(args) > 1 and args[1].items is not None:
        walk.acts.run_words([args[0], *args[1].items[1:]])
    elif args:
        words = [args[0], *args[2:]]
        if words[-1].pairs is not None or words[-1].name == "os.environ":
            words.pop()
        walk.acts.run_words(words)
    return Value()


def _spawn_words(walk: Walk, call: Call) -> Value:
    return _exec_words(walk, replace(call, args=call.args[1:]))


def program_arguments(walk: Walk, call: Call) -> Value:
    """asyncio.create_subprocess_exec(program, *args), sh.rm(...)."""
    if _is_socket(call.keywords.get("stdin")):
        walk.acts.report("code.reverse-shell")
    walk.acts.run_words(call.args, call.keywords.get("cwd"))
    return _output(walk, call)


def _pty_spawn(walk: Walk, call: Call) -> Value:
    command = call.arg(0, "argv")
    if command is not None:
        if command.items is not None:
            walk.acts.run_words(command.items)
        else:
            walk.acts.run(command)
    return Value()


def _communicate(walk: Walk, call: Call) -> Value | None:
    command = call.receiver.of
    given = call.arg(0, "input")
    if command is not None and given is not None and given.text != UNKNOWN:
        if command.items is not None:
            walk.acts.run_words(command.items, None, given)
        else:
            walk.acts.run(command, None, given)
    return None


def _dup(walk: Walk, call: Call) -> Value:
    if call.args and _is_socket(call.args[0]):
        walk.acts.report("code.reverse-shell")
    return Value()


def _is_any_name(value: Value | None) -> bool:
    """Is it made of all the names of a folder, as of /proc?"""
    for _ in range(4):
        if value is None or (value.glob and value.text == "*"):
            break
        value = value.of
    return value is not None and value.glob


def _kill(walk: Walk, call: Call) -> Value:
    if call.args:
        walk.acts.kill(call.args[0], group=call.name == "os.killpg")
        if _is_any_name(call.args[0]) and not walk.acts.guarded:
            walk.acts.report("code.processes-ended")
    return Value()


def _remote_command(walk: Walk, call: Call) -> Value:
    """paramiko's exec_command, fabric's run: shell text on another machine."""
    command = call.arg(0, "command")
    if command is not None and command.is_text and command.text != UNKNOWN:
        walk.acts.run(joined([Value("ssh host "), folding.function("shlex.quote", [command]) or command]))
    return Value()


def native(walk: Walk, call: Call) -> Value | None:
    """Functions of the C library by ctypes or cffi."""
    method = call.method
    if method in ("system", "popen", "_wsystem"):
        return _run_text(walk, call)
    if method in ("unlink", "remove", "rmdir") and call.args:
        walk.acts.remove(call.args[0])
    elif method == "reboot":
        walk.acts.report("code.machine-off")
    elif method in ("execl", "execlp", "execv", "execvp", "execve") and call.args:
        _exec_words(walk, call)
    elif method == "kill" and call.args:
        walk.acts.kill(call.args[0])
    elif method == "fork":
        return Value(name="os.fork()")
    elif method in ("LoadLibrary", "CDLL"):
        return Value(name="ctypes.CDLL()")
    return None


PROCESS_CALLS: dict[str, Handler] = {
    **dict.fromkeys(
        [
            "os.system",
            "os.popen",
            "subprocess.getoutput",
            "subprocess.getstatusoutput",
            "asyncio.create_subprocess_shell",
            "asyncio.subprocess.create_subprocess_shell",
            "anyio.run_process",
            "terminal",
            "tools.terminal",
            "hermes_tools.terminal",
            "get_ipython().system",
            "get_ipython().getoutput",
            "get_ipython().system_raw",
            "IPython.get_ipython().system",
            "IPython.get_ipython().getoutput",
            "IPython.utils.process.system",
            "google.colab._system_commands._system_compat",
            "pexpect.run",
            "pexpect.spawn",
            "pexpect.spawnu",
            "invoke.run",
            "fabric.api.local",
            "_winapi.CreateProcess",
        ],
        _run_text,
    ),
    **{f"subprocess.{name}": _subprocess for name in ("run", "call", "check_call", "check_output", "Popen")},
    "os.posix_spawn": _exec_words,
    "os.posix_spawnp": _exec_words,
    **{f"os.exec{kind}": _exec_words for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")},
    **{f"os.spawn{kind}": _spawn_words for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")},
    "asyncio.create_subprocess_exec": program_arguments,
    "asyncio.subprocess.create_subprocess_exec": program_arguments,
    "pty.spawn": _pty_spawn,
    "os.dup2": _dup,
    "os.kill": _kill,
    "os.killpg": _kill,
    "subprocess.Popen().communicate": _communicate,
    "subprocess.Popen().stdin.write": _communicate,
    "os.popen().write": _communicate,
    "paramiko.SSHClient().exec_command": _remote_command,
    "fabric.Connection().run": _remote_command,
    "fabric.Connection().sudo": _remote_command,
}
