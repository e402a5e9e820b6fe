"""What the calls of Python do: processes, files, the network, code run from text, databases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.invocation import OPAQUE, REMOTE, SECRET, UNKNOWN
from . import folding
from .acts import ENVIRONMENT
from .python_expressions import PATH, Call, canonical
from .python_files import FILE_CALLS, PATH_CALLS, file_method
from .python_services import cloud, database, network
from .value import DECODED, Value, either, joined, taint_of, unknown

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]

_OUTPUT = "process output"
_RISKY_OWNERS = frozenset(["os", "subprocess", "shutil", "builtins", "", "pty", "ctypes"])


# Processes


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


def _program_arguments(walk: Walk, call: Call) -> Value:
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


def _kill(walk: Walk, call: Call) -> Value:
    if call.args:
        walk.acts.kill(call.args[0], group=call.name == "os.killpg")
    return Value()


def _remote_command(walk: Walk, call: Call) -> Value:
    """paramiko's exec_command, fabric's run: shell text on another machine."""
    command = call.arg(0, "command")
    if command is not None and command.is_text and command.text != UNKNOWN:
        walk.acts.run(joined([Value("ssh host "), folding.function("shlex.quote", [command]) or command]))
    return Value()


# Code from text


def _execute(walk: Walk, call: Call) -> Value:
    code = call.arg(0, "source", "code")
    if code is None:
        return Value()
    for one in code.each():
        if one.name == "compile()" and one.of is not None:
            one = one.of
        text = one.text
        if DECODED in one.taint:
            walk.acts.report("code.decoded-exec")
        if type(one.known) in (str, bytes) and text != UNKNOWN:
            if not walk.text(text):
                walk.acts.execute(one, weak=UNKNOWN not in text)
        elif one.name in ("file content", "sys.stdin.read()", "lambda") and not one.taint:
            if one.name == "sys.stdin.read()":
                walk.acts.execute(one)
        else:
            walk.acts.execute(one)
    return Value()


def _evaluate(walk: Walk, call: Call) -> Value:
    code = call.arg(0, "source")
    if code is None:
        return Value()
    results = []
    for one in code.each():
        if one.name == "compile()" and one.of is not None:
            one = one.of
        text = one.text
        if DECODED in one.taint:
            walk.acts.report("code.decoded-exec")
        if type(one.known) in (str, bytes) and text.strip(UNKNOWN):
            value = walk.expression_text(text)
            if value is not None:
                results.append(value)
            elif OPAQUE in one.taint or REMOTE in one.taint:
                walk.acts.execute(one)
        else:
            from_outside = one.name in ("sys.stdin.read()", "input()", "os.environ[]", "sys.argv[]")
            walk.acts.execute(one, weak=not from_outside)
    return either(results) if results else Value()


def _compile(walk: Walk, call: Call) -> Value:
    code = call.arg(0, "source")
    return Value(name="compile()", of=code) if code is not None else Value()


def _load_object(walk: Walk, call: Call) -> Value | None:
    """pickle.loads: a pickle from the network runs what it likes."""
    data = call.arg(0)
    if data is not None and REMOTE in taint_of([data])[0]:
        walk.acts.report("code.remote-exec", "a pickle")
    return unknown(*call.args, name="pickle")


def _import_module(walk: Walk, call: Call) -> Value | None:
    module = call.arg(0, "name")
    if module is None or not module.is_known:
        if module is not None and OPAQUE in module.taint:
            walk.acts.report("code.opaque-exec")
        return None
    name = module.text
    if call.name == "__import__":
        name = name.partition(".")[0] if len(call.args) < 4 else name
    return Value(name=canonical(name))


def _getattr(walk: Walk, call: Call) -> Value | None:
    if len(call.args) < 2:
        return None
    owner, name = call.args[0], call.args[1]
    if name.is_known and name.is_text:
        if owner.is_text and owner.name != PATH:
            return Value(name=f"str.{name.text}", of=owner)
        return walk.member(owner, name.text)
    if OPAQUE in name.taint and owner.name in _RISKY_OWNERS:
        walk.acts.report("code.opaque-exec")
    return unknown(owner, name)


def _run_file(walk: Walk, call: Call) -> Value:
    """runpy.run_path, execfile: a file of the code's own is judged, another one is a script like any."""
    path = call.arg(0, "path_name")
    if path is not None:
        content = walk.acts.read(path)
        if type(content.known) is str:
            walk.text(content.text)
        elif content.taint & {REMOTE, OPAQUE}:
            walk.acts.execute(content)
    return Value()


# The notebook and the host's own tools


def _magic(walk: Walk, call: Call) -> Value | None:
    """IPython's magics, as cells are translated to: run_cell_magic(name, line, cell), run_line_magic(name, line)."""
    from .cells import run_magic

    name = call.arg(0)
    rest = [arg.text for arg in call.args[1:]]
    if name is not None:
        run_magic(walk, name.text, rest[0] if rest else "", rest[1] if len(rest) > 1 else None)
    return Value()


def _host_write(walk: Walk, call: Call) -> Value:
    path, content = call.arg(0, "path", "file_path"), call.arg(1, "content")
    if path is not None:
        walk.acts.write(path, content)
    return Value()


def _host_patch(walk: Walk, call: Call) -> Value:
    path = call.keywords.get("path")
    if path is None and call.args:
        place = 1 if call.args[0].text in ("replace", "patch") and len(call.args) > 1 else 0
        path = call.args[place]
    if path is not None and path.is_text and "\n" not in path.text:
        walk.acts.write(path)
    text = call.keywords.get("patch") or (path if path is not None and "\n" in path.text else None)
    if text is not None and text.is_text:
        for line in text.text.splitlines()[:2000]:
            head, colon, name = line.partition(": ")
            if colon and head in ("*** Update File", "*** Add File"):
                walk.acts.write(Value(name.strip()))
            elif colon and head == "*** Delete File":
                walk.acts.remove(Value(name.strip()))
    return Value()


def _host_read(walk: Walk, call: Call) -> Value:
    path = call.arg(0, "path", "file_path")
    return walk.acts.read(path) if path is not None else Value()


def _host_code(walk: Walk, call: Call) -> Value:
    return _execute(walk, replace(call, name="exec"))


# Values that come from outside or are passed on


def _environment(walk: Walk, call: Call) -> Value:
    key = call.arg(0, "key")
    if key is None:
        return Value()
    value = walk.variable(key)
    fallback = call.arg(1, "default")
    if value.is_text and key.text != "HERMES_HOME":
        return value
    if fallback is not None and fallback.is_text:
        return either([value, fallback]) if value.is_text else fallback
    return value


def _whole_environment(walk: Walk, call: Call) -> Value:
    return Value(name="environment", taint=frozenset([SECRET]), source=ENVIRONMENT)


def _export(walk: Walk, call: Call) -> Value:
    if len(call.args) > 1:
        walk.exported(call.args[0], call.args[1])
        return call.args[1]
    return Value()


def _exports(walk: Walk, call: Call) -> Value:
    for pairs in [arg.pairs or {} for arg in call.args] + [call.keywords]:
        for key, value in pairs.items():
            walk.exported(Value(key), value)
    return Value()


def _home(walk: Walk, call: Call) -> Value:
    return Value(walk.acts.home or "~", name=PATH)


def _working_folder(walk: Walk, call: Call) -> Value:
    return Value(
        walk.acts.folder or walk.acts.cwd or ".", name=PATH if call.name.startswith("pathlib") else ""
    )


def _expand_user(walk: Walk, call: Call) -> Value | None:
    path = call.args[0] if call.args else None
    if path is None or not path.is_text:
        return None
    return replace(path, known=walk.acts.expanded(path.text), choices=())


def _expand_variables(walk: Walk, call: Call) -> Value | None:
    path = call.args[0] if call.args else None
    if path is None or not path.is_text:
        return None
    home = walk.acts.home or "~"
    text = path.text.replace("${HOME}", home).replace("$HOME", home)
    return replace(path, known=text, choices=())


def _temporary(walk: Walk, call: Call) -> Value:
    return Value("/tmp/tmp" + UNKNOWN if "tempdir" not in call.name else "/tmp")


def _temporary_file(walk: Walk, call: Call) -> Value:
    return Value(items=[Value(name="file descriptor"), Value("/tmp/tmp" + UNKNOWN)])


def _map(walk: Walk, call: Call) -> Value | None:
    """map, filter: the function is called with each item."""
    if len(call.args) < 2:
        return None
    function, over = call.args[0], call.args[1]
    items = folding.elements(over)
    walk.spend(len(items) if items is not None else 0)
    rows = [[item] for item in items[:64]] if items is not None else [[walk.element(over)]]
    if len(call.args) == 3 and items is not None:
        others = folding.elements(call.args[2]) or []
        rows = [[item, other] for item, other in zip(items, others, strict=False)]
    results = [pass_on(walk, function, row, {}, call) for row in rows]
    if call.name == "filter":
        return over
    if items is not None and len(items) <= 64:
        return Value(items=results)
    return unknown(over, *results)


def _partial(walk: Walk, call: Call) -> Value | None:
    if not call.args:
        return None
    return Value(
        name="functools.partial()", of=call.args[0], items=call.args[1:], pairs=call.keywords or None
    )


def _reduce(walk: Walk, call: Call) -> Value | None:
    items = folding.elements(call.args[1]) if len(call.args) > 1 else None
    if not items or len(items) > 256:
        return None
    value = items[0]
    for item in items[1:]:
        value = pass_on(walk, call.args[0], [value, item], {}, call)
    return value


def pass_on(walk: Walk, function: Value, args: list[Value], keywords: dict[str, Value], call: Call) -> Value:
    """Call a function that was handed over as a value."""
    if function.name == "functools.partial()" and function.of is not None:
        return pass_on(
            walk, function.of, [*(function.items or []), *args], {**(function.pairs or {}), **keywords}, call
        )
    receiver = function.of if function.name.startswith(PATH) and function.of is not None else Value()
    method = function.name.rpartition(".")[2]
    return walk.called(function, Call(function.name, args, keywords, receiver, method, call.line), None)


def _handed_over(walk: Walk, call: Call) -> None:
    """Functions among the arguments: Thread(target=f, args=(...)), executor.submit(f, x), atexit.register(f)."""
    target = call.keywords.get("target") or call.keywords.get("function") or call.keywords.get("func")
    if target is not None and _does_something(target):
        given = call.keywords.get("args")
        named = call.keywords.get("kwargs")
        args = folding.elements(given) if given is not None else []
        pass_on(walk, target, list(args or []), (named.pairs if named is not None else None) or {}, call)
    for place, arg in enumerate(call.args):
        if not _does_something(arg):
            continue
        rest = call.args[place + 1 :]
        if call.method in ("map", "imap", "starmap", "imap_unordered") and rest:
            items = folding.elements(rest[0])
            for item in items[:64] if items is not None else [walk.element(rest[0])]:
                pass_on(walk, arg, [item], {}, call)
            return
        if len(rest) == 1 and rest[0].items is not None:
            rest = rest[0].items
        given = call.keywords.get("args")
        if given is not None:
            rest = folding.elements(given) or rest
        pass_on(walk, arg, rest, {}, call)


def _does_something(value: Value) -> bool:
    return value.function is not None or value.name in CALLS or value.name in PATH_CALLS


def _method_caller(walk: Walk, call: Call) -> Value | None:
    return Value(name="operator.attrgetter()", of=call.args[0]) if call.args else None


def _attribute_got(walk: Walk, call: Call, function: Value) -> Value | None:
    owner = function.of
    if owner is not None and owner.is_text and call.args:
        value = call.args[0]
        for name in owner.text.split("."):
            value = walk.member(value, name)
        return value
    return None


def _vars(walk: Walk, call: Call) -> Value:
    return Value(name="vars()", of=call.args[0] if call.args else None)


def _argument_values(walk: Walk, call: Call) -> Value | None:
    return None


def _identity(walk: Walk, call: Call) -> Value:
    return call.args[0] if call.args else Value()


def _json_dumps(walk: Walk, call: Call) -> Value:
    taint, source = taint_of(call.args)
    return Value(taint=taint, source=source)


CALLS: dict[str, Handler] = {
    **FILE_CALLS,
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
    "asyncio.create_subprocess_exec": _program_arguments,
    "asyncio.subprocess.create_subprocess_exec": _program_arguments,
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
    "exec": _execute,
    "eval": _evaluate,
    "compile": _compile,
    "code.InteractiveInterpreter().runsource": _execute,
    "code.InteractiveInterpreter().runcode": _execute,
    "get_ipython().run_cell": _execute,
    "get_ipython().ex": _execute,
    "runpy.run_path": _run_file,
    "execfile": _run_file,
    "timeit.timeit": _execute,
    "cProfile.run": _execute,
    "pickle.loads": _load_object,
    "pickle.load": _load_object,
    "joblib.load": _load_object,
    "__import__": _import_module,
    "importlib.import_module": _import_module,
    "importlib.__import__": _import_module,
    "getattr": _getattr,
    "object.__getattribute__": _getattr,
    "vars": _vars,
    "operator.attrgetter": _method_caller,
    "get_ipython().run_cell_magic": _magic,
    "get_ipython().run_line_magic": _magic,
    "get_ipython().magic": _magic,
    **{f"{owner}write_file": _host_write for owner in ("", "tools.", "hermes_tools.")},
    **{f"{owner}patch": _host_patch for owner in ("", "tools.", "hermes_tools.")},
    **{f"{owner}read_file": _host_read for owner in ("", "tools.", "hermes_tools.")},
    **{f"{owner}execute_code": _host_code for owner in ("", "tools.", "hermes_tools.")},
    "os.getenv": _environment,
    "os.environ.get": _environment,
    "os.environ.pop": _environment,
    "os.environ.items": _whole_environment,
    "os.environ.copy": _whole_environment,
    "os.environ.values": _whole_environment,
    "os.environ.setdefault": _export,
    "os.putenv": _export,
    "os.environ.update": _exports,
    "pathlib.Path.home": _home,
    "pathlib.Path.cwd": _working_folder,
    "os.getcwd": _working_folder,
    "os.path.expanduser": _expand_user,
    "os.path.expandvars": _expand_variables,
    "tempfile.mkdtemp": _temporary,
    "tempfile.mktemp": _temporary,
    "tempfile.gettempdir": _temporary,
    "tempfile.mkstemp": _temporary_file,
    "tempfile.TemporaryDirectory": _temporary,
    "map": _map,
    "filter": _map,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "sqlalchemy.text": _identity,
    "psycopg2.sql.SQL": _identity,
    "psycopg.sql.SQL": _identity,
    "json.dumps": _json_dumps,
    "asyncio.run": _identity,
    "asyncio.create_task": _identity,
    "asyncio.wait_for": _identity,
    "contextlib.closing": _identity,
}


def _native(walk: Walk, call: Call) -> Value | None:
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


def judge_call(walk: Walk, call: Call, function: Value) -> Value | None:
    """What one call does and gives; None when it has no meaning here."""
    name, method, receiver = call.name, call.method, call.receiver
    handler = CALLS.get(name)
    if handler is not None:
        result = handler(walk, call)
        if result is not None:
            return result
    if (receiver.is_text and receiver.name != PATH) or type(receiver.known) in (bytes, int):
        walk.spend(len(receiver.text) // 128 + sum(len(arg.items or ()) for arg in call.args[:2]) // 4)
        if method == "format":
            return either(folding.formatted(one.text, call.args, call.keywords) for one in receiver.each())
        if receiver.choices:
            results = [folding.method(one, method, call.args) for one in receiver.choices]
            if all(one is not None for one in results):
                return either(one for one in results if one is not None)
        result = folding.method(receiver, method, call.args)
        if result is not None:
            return result
    if name.startswith(PATH):
        handler = PATH_CALLS.get(name)
        if handler is not None and (function.of is not None or receiver.is_text):
            if not receiver.is_text and function.of is not None:
                call = replace(call, receiver=function.of)
            result = handler(walk, call)
            return result if result is not None else Value()
    if name.startswith("str.") and name.count(".") == 1 and function.of is not None:
        return folding.method(function.of, name[4:], call.args)
    if name.startswith(("str.", "bytes.")) and call.args and name not in ("str.maketrans", "bytes.fromhex"):
        return folding.method(call.args[0], name.partition(".")[2], call.args[1:])
    if name:
        if call.args and call.args[0].choices and name.startswith(("os.path.", "str")):
            results = [folding.function(name, [one, *call.args[1:]]) for one in call.args[0].choices]
            if all(one is not None for one in results):
                return either(one for one in results if one is not None)
        result = folding.function(name, call.args)
        if result is not None:
            walk.spend(len(result.items) // 2 if result.items is not None else 0)
            return result
        if name == "functools.partial()":
            return pass_on(walk, function, call.args, call.keywords, call)
        if name == "operator.attrgetter()":
            return _attribute_got(walk, call, function)
        if name.startswith("ctypes."):
            return _native(walk, call)
        if name.startswith("sh.") and name.count(".") == 1:
            return _program_arguments(walk, replace(call, args=[Value(name[3:]), *call.args]))
        if "__subclasses__" in name and name.count("(") > 1 and call.args:
            walk.acts.report("code.opaque-exec")
    if receiver.name.startswith(("file(", "archive(")):
        result = file_method(walk, call)
        if result is not None:
            return result
    for judge in (cloud, database, network):
        result = judge(walk, call)
        if result is not None:
            return result
    if call.keywords or call.args:
        _handed_over(walk, call)
    if name in ("sys.stdin.read", "sys.stdin.readline", "sys.stdin.buffer.read", "input"):
        return Value(name="sys.stdin.read()", taint=walk.acts.input_taint, source="the input")
    if name == "dict" and call.keywords:
        return Value(pairs=call.keywords)
    return None
