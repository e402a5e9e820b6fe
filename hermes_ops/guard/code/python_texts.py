"""Code that Python makes of text, and names that it looks up by text."""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.invocation import OPAQUE, REMOTE, UNKNOWN
from .given import AN_ARGUMENT, THE_SHELL
from .python_names import PATH, Call, canonical
from .value import DECODED, Value, either, taint_of, unknown

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]

_PICKLE_LIMIT = 2_000
_RISKY_OWNERS = frozenset(["os", "subprocess", "shutil", "builtins", "", "pty", "ctypes"])


def execute(walk: Walk, call: Call) -> Value:
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
    """pickle.loads: a pickle from the network runs what it likes, one that is spelled out what it names."""
    data = call.arg(0)
    if data is not None and REMOTE in taint_of([data])[0]:
        walk.acts.report("code.remote-exec", "a pickle")
    elif data is not None and type(data.known) is bytes:
        _read_pickle(walk, data.known, call.line)
    return unknown(*call.args, name="pickle")


def _read_pickle(walk: Walk, data: bytes, line: int) -> None:
    """A pickle as far as it can be told without loading it: functions it names, and texts for them."""
    texts: list[str] = []
    functions: list[str] = []
    try:
        for place, (operation, argument, _) in enumerate(pickletools.genops(data)):
            if operation.name in ("GLOBAL", "INST") and type(argument) is str:
                functions.append(argument.replace(" ", "."))
            elif operation.name == "STACK_GLOBAL":
                functions.append(".".join(texts[-2:]))
                del texts[-2:]
            elif type(argument) is str:
                texts.append(argument)
            if place > _PICKLE_LIMIT:
                break
    except Exception:  # whatever is no pickle fails in its own way
        functions.append("")
    for function in functions:
        named = Value(name=canonical(function))
        walk.called(named, Call(named.name, [Value(text) for text in texts[:8]], {}, Value(), "", line), None)
    if functions:
        walk.acts.report("code.opaque-exec", "a pickle")


def _import_module(walk: Walk, call: Call) -> Value | None:
    module = call.arg(0, "name")
    if module is None or not module.is_known:
        if module is not None and OPAQUE in module.taint and module.source not in (THE_SHELL, AN_ARGUMENT):
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
        walk.acts.run_words([Value("python3"), path, *_arguments(walk)])
        content = walk.acts.read(path)
        if type(content.known) is str:
            walk.text(content.text)
        elif content.taint & {REMOTE, OPAQUE}:
            walk.acts.execute(content)
    return Value()


def _run_module(walk: Walk, call: Call) -> Value:
    """runpy.run_module(name): as `python -m name` with the arguments of this code."""
    module = call.arg(0, "mod_name")
    if module is not None and module.is_text and module.is_known:
        walk.acts.run_words([Value("python3"), Value("-m"), module, *_arguments(walk)])
    return Value()


def _arguments(walk: Walk) -> list[Value]:
    """What a file or a module that the code runs finds in sys.argv."""
    arguments = walk.attributes.get("sys.argv") or walk.member(Value(name="sys"), "argv")
    return (arguments.items or [])[1:]


def _console(walk: Walk, call: Call) -> Value:
    """code.interact(): the input is a program."""
    return execute(walk, replace(call, args=[walk.acts.given.input()], keywords={}))


def _vars(walk: Walk, call: Call) -> Value:
    return Value(name="vars()", of=call.args[0] if call.args else None)


def _getter(walk: Walk, call: Call) -> Value | None:
    """operator.attrgetter(name), itemgetter(key), methodcaller(name, *args): used on what they are given."""
    if not call.args:
        return None
    return Value(name=f"{call.name}()", items=call.args[1:], pairs=call.keywords or None, of=call.args[0])


def got(walk: Walk, call: Call, function: Value) -> Value | None:
    """A getter of the module operator is called."""
    what, owner = function.of, call.args[0] if call.args else None
    if what is None or owner is None:
        return None
    if function.name == "operator.itemgetter()":
        return walk.item(owner, what)
    if not what.is_text or not what.is_known:
        return None
    if function.name == "operator.attrgetter()":
        for name in what.text.split("."):
            owner = walk.member(owner, name)
        return owner
    method = walk.member(owner, what.text)
    made = Call(method.name, function.items or [], function.pairs or {}, owner, what.text, call.line)
    return walk.called(method, made, None)


GETTERS = frozenset(f"operator.{kind}()" for kind in ("attrgetter", "itemgetter", "methodcaller"))


TEXT_CALLS: dict[str, Handler] = {
    "exec": execute,
    "eval": _evaluate,
    "compile": _compile,
    "types.FunctionType": execute,
    "code.InteractiveInterpreter().runsource": execute,
    "code.InteractiveInterpreter().runcode": execute,
    "get_ipython().run_cell": execute,
    "get_ipython().ex": execute,
    "runpy.run_path": _run_file,
    "execfile": _run_file,
    "runpy.run_module": _run_module,
    "code.interact": _console,
    "code.InteractiveConsole().interact": _console,
    "IPython.embed": _console,
    "timeit.timeit": execute,
    "cProfile.run": execute,
    "pickle.loads": _load_object,
    "pickle.load": _load_object,
    "joblib.load": _load_object,
    "__import__": _import_module,
    "importlib.import_module": _import_module,
    "importlib.__import__": _import_module,
    "getattr": _getattr,
    "object.__getattribute__": _getattr,
    "vars": _vars,
    **dict.fromkeys(("operator.attrgetter", "operator.itemgetter", "operator.methodcaller"), _getter),
}
