"""What a call of a script language does, by its kind, and the judgement of a whole script."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..judge.invocation import REMOTE, SECRET, UNKNOWN
from .acts import Acts, Exhausted
from .folding import elements
from .printing import straight_script
from .script_values import data_address
from .script_walk import Script
from .sql import sql_findings
from .tokens import NAME
from .value import Value, taint_of

Act = Callable[[Script, list[Value], str], "Value | None"]

_INPUT_PATHS = frozenset(["php://stdin", "stdin", "-"])
_INPUT_HANDLES = frozenset(["STDIN", "process.stdin.fd", "process.stdin"])
_URL = re.compile(r"(?:https?|ftp)://", re.IGNORECASE)

_REMOVERS = frozenset(["unlink", "rmdir", "rmtree", "remove_tree"])
_RISKY = re.compile(
    r"\b(?:system|exec\w*|popen\w*|spawn\w*|passthru|shell_exec|unlink\w*|rm_rf|rmtree|remove_tree|rmSync|rmdirSync|eval)\b"
    r"|child_process|`"
)


def flat(args: list[Value]) -> list[Value]:
    """Arguments with lists among them opened, options in brackets left out."""
    return [
        item
        for arg in args
        if arg.name != "block"
        for item in (arg.items if arg.items is not None else [arg])
    ]


def _shell(script: Script, args: list[Value], name: str) -> Value | None:
    if script.language == "lua" and args and args[0].name == "block" and args[0].of is not None:
        return _words(script, args[0].of.items or [], name)
    stdin = _option(args, "input")
    args = [arg for arg in args if arg.name != "block"]
    if not args:
        return None
    if args[0].pairs is not None:
        args = args[1:]
    if script.language == "ruby" and args[0].items is not None and len(args) == 1:
        return _words(script, args, name)
    texts = [arg for arg in flat(args) if arg.is_text or arg.taint]
    modes = {"r", "w", "r+", "w+", "rb"}
    many = len(texts) > 1 and script.language in ("perl", "ruby") and texts[1].text not in modes
    if many:
        return _words(script, texts, name)
    command = args[0] if args[0].taint or args[0].is_text or not texts else texts[0]
    script.run(command, stdin)
    taint = (
        frozenset([REMOTE])
        if command.is_text and re.match(r"\s*(?:curl|wget)\b", command.text)
        else frozenset()
    )
    return Value(name=f"{name}()", taint=taint, source="the network" if taint else "", of=command)


def _option(args: list[Value], name: str) -> Value | None:
    """The value of an option in braces: {input: "text"}."""
    for arg in args:
        items = arg.of.items if arg.name == "block" and arg.of is not None else None
        for place, key in enumerate(items or ()):
            if key.name == name:
                return next((value for value in items[place + 1 : place + 3] if value.is_text), None)
    return None


def _words(script: Script, args: list[Value], name: str) -> Value | None:
    block = next((arg for arg in args if arg.name == "block"), None)
    given = list(flat(args))
    if block is not None and block.of is not None and block.of.items:
        given += [item for value in block.of.items for item in (value.items or []) if item.is_text]
    words = [word for word in given if word.is_text or word.taint or not word.name]
    if len(words) == 1 and words[0].is_text:
        script.run(words[0])
    elif words:
        first = words[0]
        started = Value(" ".join(word.text for word in words if word.is_text))
        is_bare = len(words) == 1 or words[1].text.startswith("-i")
        if is_bare and first.is_text and re.search(r"(?:^|/)(?:ba|z|da|k)?sh$", first.text):
            script.shell_started = True
        script.acts.run_words(words, stdin=_option(args, "input"))
        return Value(name=f"{name}()", of=started)
    return Value(name=f"{name}()", of=words[0] if words else None)


def _remove(script: Script, args: list[Value], name: str) -> Value | None:
    values = flat(args) or [script.names.get("$_", Value())]
    for value in values[:64]:
        if value.is_text:
            script.acts.remove(value)
    return Value(None)


def _tree(script: Script, args: list[Value], name: str) -> Value | None:
    values = flat(args) or [script.names.get("$_", Value())]
    for value in values[:64]:
        if value.is_text or (not value.name and not value.is_known):
            script.acts.remove(value, tree=True)
    return Value(None)


def _self_tree(script: Script, args: list[Value], name: str) -> Value | None:
    value = args[0].of if args and args[0].of is not None else args[0] if args else Value()
    if value.is_text:
        script.acts.remove(value, tree=True)
    return Value(None)


def _shell_rm(script: Script, args: list[Value], name: str) -> Value | None:
    script.acts.run_words([Value("rm"), *flat(args)])
    return None


def _write(script: Script, args: list[Value], name: str) -> Value | None:
    if args:
        content = args[1] if len(args) > 1 else None
        empties = content is not None and content.known == ""
        script.acts.write(args[0], content, empties=empties)
    return None


def _write_second(script: Script, args: list[Value], name: str) -> Value | None:
    if len(args) > 1 and args[1].is_text:
        script.acts.write(args[1], args[0])
    return None


def _open(script: Script, args: list[Value], name: str) -> Value | None:
    if not args:
        return None
    mode = args[1].text if len(args) > 1 and args[1].is_text else "r"
    path = args[0]
    if path.is_text and path.text[:1] == "|" and script.language == "ruby":
        script.run(Value(path.text[1:]))
        return None
    if any(letter in mode for letter in "wax+"):
        script.acts.write(path)
        return Value(name="file", of=path)
    return _read(script, args, name)


def _open_perl(script: Script, args: list[Value], name: str) -> Value | None:
    """open(F, ">x"), open(F, ">", "x"), open(F, "|cmd"), open(F, "-|", "cmd"), open(STDIN, ">&S")"""
    texts = [arg for arg in args[1:] if arg.is_text]
    if not texts:
        return None
    mode = texts[0].text.strip()
    if mode in ("-|", "|-") and len(texts) > 1:
        if len(texts) > 2:
            script.acts.run_words(texts[1:])
        else:
            script.run(texts[1])
    elif re.match(r"[+]?[<>]{1,2}&", mode):
        if script.connected and args[0].name in ("STDIN", "STDOUT", "STDERR"):
            script.acts.report("code.reverse-shell")
    elif mode[:1] == "|":
        script.run(Value(mode[1:].strip()))
        if re.fullmatch(r"(?:/\S*/)?(?:ba|z|da|k)?sh", mode[1:].strip()) and args[0].name:
            script.names[args[0].name] = Value(name="pipe")
    elif mode[-1:] == "|" and len(texts) == 1:
        script.run(Value(mode[:-1]))
    elif mode[:1] == ">" or mode[:2] == "+<":
        inline = mode.lstrip("+<> ")
        path = texts[1] if len(texts) > 1 and (not inline or inline[:1] == ":") else Value(inline)
        script.acts.write(path)
    else:
        path = texts[1] if len(texts) > 1 else Value(mode.lstrip("< "))
        content = script.acts.read(path)
        if args[0].name:
            script.names[args[0].name.removeprefix("my ")] = Value(
                name="file", taint=content.taint, source=content.source
            )
        if content.taint & {SECRET}:
            script.names["<>"] = content
    return None


def _read(script: Script, args: list[Value], name: str) -> Value | None:
    if not args:
        return None
    if args[0].is_text and _URL.match(args[0].text):
        script.acts.send(args, args[0])
        return Value(taint=frozenset([REMOTE]), source="the network", name=f"{name}()")
    if args[0].known == 0 or args[0].name in _INPUT_HANDLES or args[0].text in _INPUT_PATHS:
        return script.acts.given.input()
    if args[0].text == "php://input":
        return Value(name="input")
    content = script.acts.read(args[0])
    return Value(content.known, name=f"{name}()", taint=content.taint, source=content.source)


def _pair(program: str) -> Act:
    def act(script: Script, args: list[Value], name: str) -> Value | None:
        args = flat(args)
        if len(args) > 1:
            script.acts.pair(program, args[0], args[1])
        return None

    return act


def _mode(script: Script, args: list[Value], name: str) -> Value | None:
    if len(args) > 1:
        _set_mode(script, args[1], args[:1], name)
    return None


def _mode_first(script: Script, args: list[Value], name: str) -> Value | None:
    if len(args) > 1:
        _set_mode(script, args[0], flat(args[1:]), name)
    return None


def _set_mode(script: Script, mode: Value, paths: list[Value], name: str) -> None:
    bits = f"{mode.known:04o}" if type(mode.known) is int else mode.text
    recursive = "-R " if name.endswith("_R") else ""
    for path in paths[:32]:
        if path.is_text:
            script.acts.ask(f"chmod {recursive}{bits} {script.acts.word(path)}")


def _owner(script: Script, args: list[Value], name: str) -> Value | None:
    if len(args) > 1 and args[0].is_text:
        script.acts.ask(f"chown {args[1].text} {script.acts.word(args[0])}")
    return None


def _owner_first(script: Script, args: list[Value], name: str) -> Value | None:
    recursive = "-R " if name.endswith("_R") else ""
    for path in flat(args[2:])[:32]:
        if path.is_text:
            script.acts.ask(f"chown {recursive}{args[0].text}:{args[1].text} {script.acts.word(path)}")
    return None


def _truncate(script: Script, args: list[Value], name: str) -> Value | None:
    if args and args[0].is_text:
        script.acts.ask(f"truncate -s 0 {script.acts.word(args[0])}")
    return None


def _glob(script: Script, args: list[Value], name: str) -> Value | None:
    if args and args[0].is_text:
        value = args[0]
        return Value(value.text.replace("**/", ""), glob=True, deep="**" in value.text)
    return Value(name="names")


def _list(script: Script, args: list[Value], name: str) -> Value | None:
    return Value("*", glob=True) if args else None


def _eval(script: Script, args: list[Value], name: str) -> Value | None:
    if not args:
        return None
    code = args[-1] if name.endswith("Function") else args[0]
    if name.startswith(("include", "require", "dofile", "load", "source")):
        if code.is_text and _URL.match(code.text):
            script.acts.report("code.remote-exec", code.text)
        if not name.startswith("loadstring") and ((code.is_text and name != "load") or not code.taint):
            return None
    if code.name.startswith("parse") and code.of is not None:
        code = code.of
    if name == "do" and code.is_text:
        return None
    if name == "do" and code.name == "block" and code.of is not None and code.of.items:
        return code.of.items[-1]
    script.evaluate(code)
    return None


def _folder(script: Script, args: list[Value], name: str) -> Value | None:
    if args and args[0].is_text:
        script.acts.change_folder(args[0])
    return None


def _send(script: Script, args: list[Value], name: str) -> Value | None:
    if script.language == "php" and name.lower() in ("fwrite", "fputs") and not script.connected:
        if len(args) > 1 and args[0].name == "popen()" and args[0].of is not None:
            script.run(args[0].of, args[1])
        return None
    if (
        name.endswith((".write", ".puts", ".print", ".end"))
        and not script.connected
        and "http" not in name.lower()
    ):
        return None
    address = args[0] if args and args[0].is_text else None
    script.acts.send(args, address)
    if (address is not None and _URL.match(address.text)) or name in (
        "fetch",
        "axios.get",
        "http.get",
        "https.get",
    ):
        return Value(name=f"{name}()", taint=frozenset([REMOTE]), source="the network")
    return None


def _fetch(script: Script, args: list[Value], name: str) -> Value | None:
    script.acts.send(args, args[0] if args and args[0].is_text else None)
    return Value(
        name=f"{name}()", taint=frozenset([REMOTE]) | (taint_of(args)[0] & {REMOTE}), source="the network"
    )


def _connect(script: Script, args: list[Value], name: str) -> Value | None:
    script.connected = True
    return Value(name=f"{name}()")


def _kill(script: Script, args: list[Value], name: str) -> Value | None:
    if args:
        script.acts.kill(args[0])
    return None


def _kill_second(script: Script, args: list[Value], name: str) -> Value | None:
    for process in flat(args)[1:9]:
        script.acts.kill(process)
    return None


def _require(script: Script, args: list[Value], name: str) -> Value | None:
    if args and args[0].is_text and args[0].is_known:
        code = data_address(args[0].text)
        if code is not None:
            script.evaluate(Value(code))
            return None
        return Value(name=script.module(args[0].text))
    return None


def _sql(script: Script, args: list[Value], name: str) -> Value | None:
    for value in args[:1]:
        if value.is_text and value.text != UNKNOWN:
            script.acts.add(sql_findings(value.text))
    return None


def _map(script: Script, args: list[Value], name: str) -> Value | None:
    """array_map('unlink', glob('/etc/*')), call_user_func('system', 'x')"""
    if len(args) > 1 and args[0].is_text:
        first, rest = (args[0], args[1:]) if name.lower() != "array_walk" else (args[1], args[:1])
        items = [
            item for value in rest for item in (elements(value) or [value] if not value.is_text else [value])
        ]
        if name.lower().startswith("call_user"):
            return script.called(first, Value(), items)
        for item in items[:32]:
            script.called(first, Value(), [item])
    return None


def _dispatch(script: Script, args: list[Value], name: str) -> Value | None:
    """send(:system, "x") of Ruby."""
    if not args:
        return None
    target = args[0].text if args[0].is_text else args[0].name
    return script.called(Value(name=target.lstrip(":")), Value(), args[1:])


def _walk(script: Script, args: list[Value], name: str) -> None:
    """File::Find: what is called for each file of the folders; where the script removes any, those go."""
    if any(token.kind == NAME and token.text in _REMOVERS for token in script.tokens):
        for folder in flat(args):
            if folder.is_text or folder.taint or folder.name:
                script.acts.remove(folder, tree=True)


ACTS: dict[str, Act] = {
    "shell": _shell,
    "words": _words,
    "remove": _remove,
    "tree": _tree,
    "self-tree": _self_tree,
    "walk": _walk,
    "shell-rm": _shell_rm,
    "write": _write,
    "write-second": _write_second,
    "open": _open,
    "open-perl": _open_perl,
    "read": _read,
    "move": _pair("mv"),
    "copy": _pair("cp"),
    "link": _pair("ln -s"),
    "mode": _mode,
    "mode-first": _mode_first,
    "owner": _owner,
    "owner-first": _owner_first,
    "truncate": _truncate,
    "glob": _glob,
    "list": _list,
    "eval": _eval,
    "folder": _folder,
    "send": _send,
    "fetch": _fetch,
    "connect": _connect,
    "kill": _kill,
    "kill-second": _kill_second,
    "require": _require,
    "sql": _sql,
    "map": _map,
    "dispatch": _dispatch,
}


def script_acts(language: str, code: str, acts: Acts) -> None:
    """Walk a script; what it does goes to `acts`."""
    script = Script(language, code, acts)
    rest = script.rest
    output = acts.given.printed
    if output is not None and not rest and straight_script(language, script.tokens):
        output.begin()
    try:
        script.judge()
    except (Exhausted, RecursionError):
        rest = code
        acts.prints_more()
    if rest and _RISKY.search(rest):
        acts.part = " ".join(rest[:160].split())
        acts.report("code.unread")
