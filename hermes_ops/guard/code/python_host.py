"""The host's own tools and a notebook's magics, the environment and the folders of a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.invocation import SECRET, UNKNOWN
from .acts import ENVIRONMENT
from .python_names import PATH, Call
from .python_texts import execute
from .value import Value, either

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]


def _magic(walk: Walk, call: Call) -> Value | None:
    """run_cell_magic(name, line, cell) and run_line_magic(name, line), which cells are translated to."""
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
    return execute(walk, replace(call, name="exec"))


def host_command(walk: Walk, call: Call) -> Value | None:
    """hermes_cli.plugins.disable("x"): what the host's own program does as `hermes plugins disable x`.

    hermes_ops.cli.main(["guard", "accept"]) is `hermes ops guard accept`, as accepted.accept is.
    """
    package, *words = call.name.split(".")
    if package == "hermes_ops":
        words = ["ops", *_OPS_CALLS.get(call.name, ())]
    words = [word for word in words if word != "main"]
    given = [one for arg in call.args for one in ([arg] if arg.is_text else arg.items or []) if one.is_text]
    if words:
        walk.acts.run_words([Value("hermes"), *map(Value, words), *given])
    return None


_OPS_CALLS = {"hermes_ops.guard.accepted.accept": ("guard", "accept")}


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


def _input(walk: Walk, call: Call) -> Value:
    """All that comes in, its lines, or the first of them."""
    given = walk.acts.given
    lines = given.lines()
    if call.method in ("readlines", "splitlines") or call.name == "fileinput.input":
        path = call.arg(0, "files")
        if path is not None and path.is_text:
            return _lines_of_files(walk, call, path)
        return Value(name="sys.stdin", items=lines, taint=given.stdin.taint, source="the input")
    if lines and (call.method == "readline" or call.name in ("input", "raw_input")):
        return lines[0]
    return given.input()


def _lines_of_files(walk: Walk, call: Call, path: Value) -> Value:
    """fileinput.input(path, inplace=True): read, and with `inplace` written anew."""
    content = walk.acts.read(path)
    in_place = call.arg(1, "inplace")
    if in_place is not None and in_place.known not in (False, None, 0):
        walk.acts.write(path)
    return Value(name="file(r)", of=path, taint=content.taint, source=content.source)


HOST_CALLS: dict[str, Handler] = {
    **dict.fromkeys(
        (
            *(
                f"sys.stdin.{how}"
                for how in ("read", "readline", "readlines", "buffer.read", "buffer.readlines")
            ),
            "input",
            "raw_input",
            "fileinput.input",
        ),
        _input,
    ),
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
}
