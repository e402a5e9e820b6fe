"""What Python does to files: the functions of os, shutil, open and pathlib."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.invocation import SECRET, UNKNOWN
from . import folding, text_methods
from .python_names import PATH, Call
from .value import Value, either

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]

_NOTHING = Value(None)


def opened(walk: Walk, path: Value, mode: str) -> Value:
    """A file object; a file opened for writing is a finding when it is a sensitive one."""
    if path.known == 0 and type(path.known) is int:
        path = Value("/dev/stdin")
    if any(letter in mode for letter in "wax+"):
        walk.acts.write(path)
        handle = Value(name="file(w)" if "w" in mode else "file(a)", of=path)
        if "w" in mode:
            walk.unwritten.append(handle)
        return handle
    content = walk.acts.read(path)
    return Value(name="file(r)", of=path, taint=content.taint, source=content.source)


def _open(walk: Walk, call: Call) -> Value:
    path = call.arg(0, "file", "name", "filename")
    mode = call.arg(1, "mode")
    if path is None:
        return Value()
    return opened(walk, path, mode.text if mode is not None and mode.is_text else "r")


def _open_number(walk: Walk, call: Call) -> Value:
    """os.open(path, flags)"""
    path, flags = call.arg(0, "path"), call.arg(1, "flags")
    if path is None:
        return Value()
    known = flags.known if flags is not None else 0
    return opened(walk, path, "w" if type(known) is not int or known & 3 else "r")


def file_method(walk: Walk, call: Call) -> Value | None:
    """A method of a file object."""
    receiver, method = call.receiver, call.method
    path = receiver.of
    if path is None:
        return None
    if receiver.name == "archive(w)":
        source = walk.acts.secret(call.args[0]) if method in ("write", "add") and call.args else ""
        if source:
            content = walk.acts.read(call.args[0])
            walk.acts.write(path, content)
        return None
    if receiver.name == "archive(r)":
        if method in ("extractall", "extract", "_extract_member"):
            walk.acts.unpack(path, call.arg(0 if method == "extractall" else 1, "path"))
        return None
    if receiver.name == "file(r)":
        return walk.acts.read(path) if method.startswith("read") else None
    untouched = any(one is receiver for one in walk.unwritten)
    if method in ("write", "writelines") and call.args:
        content = call.args[0]
        if content.items is not None:
            content = text_methods.method(Value(""), "join", [content]) or Value()
        if receiver.name == "file(w)" and content.known in ("", b""):
            walk.acts.write(path, empties=untouched)
            return Value()
        walk.acts.write(path, content, appends=receiver.name == "file(a)" or not untouched)
        walk.touched([receiver])
        return Value()
    if method == "close" and untouched:
        walk.touched([receiver])
        walk.acts.write(path, empties=True)
        return Value()
    if method not in ("flush", "fileno", "close", "__enter__"):
        walk.touched([receiver])
    if method == "truncate":
        walk.acts.ask(f"truncate -s 0 {walk.acts.word(path)}")
        return Value()
    return None


def _remove(walk: Walk, call: Call) -> Value:
    path = call.arg(0, "path")
    if path is not None:
        walk.acts.remove(path)
    return _NOTHING


def _remove_tree(walk: Walk, call: Call) -> Value:
    path = call.arg(0, "path")
    if path is not None:
        walk.acts.remove(path, tree=True)
    return _NOTHING


def _move(walk: Walk, call: Call) -> Value:
    source, target = call.arg(0, "src"), call.arg(1, "dst")
    if source is not None and target is not None:
        walk.acts.pair("mv", source, target)
    return _NOTHING


def _copy(walk: Walk, call: Call) -> Value:
    source, target = call.arg(0, "src"), call.arg(1, "dst")
    if source is not None and target is not None:
        walk.acts.pair("cp -r" if call.name == "shutil.copytree" else "cp", source, target)
        secret = walk.acts.secret(source)
        if secret and target.is_known:
            walk.acts.files[walk.acts.expanded(target.text)] = Value(taint=frozenset([SECRET]), source=secret)
        elif source.text in walk.acts.files and target.is_known:
            walk.acts.files[target.text] = walk.acts.files[source.text]
    return target if target is not None else Value()


def _link(walk: Walk, call: Call) -> Value:
    source, target = call.arg(0, "src"), call.arg(1, "dst")
    if source is not None and target is not None:
        walk.acts.pair("ln -s" if call.name == "os.symlink" else "ln", source, target)
    return _NOTHING


def _truncate(walk: Walk, call: Call) -> Value:
    if call.args and call.args[0].is_text:
        size = call.args[1].text if len(call.args) > 1 and call.args[1].is_known else "0"
        walk.acts.ask(f"truncate -s {size} {walk.acts.word(call.args[0])}")
    return _NOTHING


def _mode(walk: Walk, call: Call) -> Value:
    path, mode = call.arg(0, "path"), call.arg(1, "mode")
    if path is not None and mode is not None:
        _set_mode(walk, path, mode)
    return _NOTHING


def _set_mode(walk: Walk, path: Value, mode: Value) -> None:
    bits = f"{mode.known:04o}" if type(mode.known) is int and mode.known >= 0 else UNKNOWN
    if mode.of is not None and type(mode.of.known) is int and mode.of.known & 0o6000:
        bits = "u+s"
    for one in path.each():
        if one.text != UNKNOWN:
            recursive = "-R " if one.deep else ""
            name = folding.function("os.path.dirname", [one]) if one.deep and one.text.endswith("/*") else one
            walk.acts.ask(f"chmod {recursive}{bits} {walk.acts.word(name or one)}")


def _owner(walk: Walk, call: Call) -> Value:
    path = call.arg(0, "path")
    user, group = call.arg(1, "uid", "user"), call.arg(2, "gid", "group")
    if path is not None and user is not None:
        owner = user.text + (f":{group.text}" if group is not None else "")
        recursive = "-R " if path.deep else ""
        name = folding.function("os.path.dirname", [path]) if path.deep and path.text.endswith("/*") else path
        walk.acts.ask(f"chown {recursive}{owner} {walk.acts.word(name or path)}")
    return _NOTHING


def _change_folder(walk: Walk, call: Call) -> Value:
    path = call.arg(0, "path")
    if path is not None and path.is_text:
        walk.acts.change_folder(path)
    return _NOTHING


def _walked(walk: Walk, call: Call) -> Value:
    top = call.arg(0, "top") or Value(".")
    return Value(name="os.walk()", of=top)


def listing(folder: Value, pattern: str, deep: bool = False, name: str = "", bare: bool = False) -> Value:
    """What lists a folder: each item stands for all that the pattern matches."""
    if bare:
        return Value(name="listing()", of=Value(pattern, glob=True, deep=deep, name=name))
    whole = either(
        replace(
            folding.function("os.path.join", [one, Value(pattern)]) or Value(),
            glob=True,
            deep=deep,
            name=name,
        )
        for one in folder.each()
    )
    return Value(name="listing()", of=whole)


def _list_folder(walk: Walk, call: Call) -> Value:
    return listing(call.arg(0, "path") or Value("."), "*", bare=True)


def _scan_folder(walk: Walk, call: Call) -> Value:
    return listing(call.arg(0, "path") or Value("."), "*", name=PATH)


def _glob(walk: Walk, call: Call) -> Value:
    pattern = call.arg(0, "pathname")
    if pattern is None or not pattern.is_text:
        return Value()
    recursive = call.arg(1, "recursive")
    text = pattern.text
    deep = "**" in text and recursive is not None and recursive.known is True
    text = text.replace("**/", "") if deep else text
    root = call.keywords.get("root_dir")
    if root is not None:
        return listing(root, text, deep, bare=True)
    return Value(name="listing()", of=Value(text, glob=True, deep=deep))


def _archive(walk: Walk, call: Call) -> Value | None:
    """tarfile.open, zipfile.ZipFile: written or read."""
    path, mode = call.arg(0, "name", "file"), call.arg(1, "mode")
    if path is not None and path.is_text and mode is not None and mode.text[:1] in ("w", "a", "x"):
        walk.acts.write(path)
        return Value(name="archive(w)", of=path)
    return Value(name="archive(r)", of=path) if path is not None else None


def _unpack(walk: Walk, call: Call) -> Value:
    """shutil.unpack_archive(archive, folder)"""
    archive, folder = call.arg(0, "filename"), call.arg(1, "extract_dir")
    if archive is not None:
        walk.acts.unpack(archive, folder)
    return _NOTHING


FILE_CALLS: dict[str, Handler] = {
    **{name: _open for name in ("open", "io.open", "codecs.open", "aiofiles.open", "gzip.open", "bz2.open")},
    "os.open": _open_number,
    "os.fdopen": lambda walk, call: call.args[0] if call.args else Value(),
    "os.remove": _remove,
    "os.unlink": _remove,
    "os.rmdir": lambda walk, call: _NOTHING,
    "os.removedirs": lambda walk, call: _NOTHING,
    "shutil.rmtree": _remove_tree,
    "send2trash.send2trash": _remove_tree,
    "distutils.dir_util.remove_tree": _remove_tree,
    "aioshutil.rmtree": _remove_tree,
    "shutil.move": _move,
    "os.rename": _move,
    "os.renames": _move,
    "os.replace": _move,
    "shutil.copy": _copy,
    "shutil.copy2": _copy,
    "shutil.copyfile": _copy,
    "shutil.copytree": _copy,
    "os.symlink": _link,
    "os.link": _link,
    "os.truncate": _truncate,
    "os.chmod": _mode,
    "os.lchmod": _mode,
    "os.chown": _owner,
    "os.lchown": _owner,
    "shutil.chown": _owner,
    "os.chdir": _change_folder,
    "contextlib.chdir": _change_folder,
    "os.walk": _walked,
    "os.fwalk": _walked,
    "os.listdir": _list_folder,
    "os.scandir": _scan_folder,
    "glob.glob": _glob,
    "glob.iglob": _glob,
    "tarfile.open": _archive,
    "zipfile.ZipFile": _archive,
    "shutil.unpack_archive": _unpack,
    "pathlib.Path": lambda walk, call: walk.path(call.args),
    "pathlib.PosixPath": lambda walk, call: walk.path(call.args),
    "pathlib.PurePath": lambda walk, call: walk.path(call.args),
}


# Methods of pathlib.Path


def _path_open(walk: Walk, call: Call) -> Value:
    mode = call.arg(0, "mode")
    return opened(walk, call.receiver, mode.text if mode is not None else "r")


def _path_write(walk: Walk, call: Call) -> Value:
    content = call.arg(0, "data")
    empties = content is not None and content.known in ("", b"")
    walk.acts.write(call.receiver, content, empties=empties)
    return Value()


def _path_joined(walk: Walk, call: Call) -> Value:
    return walk.path([call.receiver, *call.args])


def _path_move(walk: Walk, call: Call) -> Value:
    if call.args:
        walk.acts.pair("mv", call.receiver, call.args[0])
        return replace(call.args[0], name=PATH)
    return Value()


def _path_link(walk: Walk, call: Call) -> Value:
    if call.args:
        walk.acts.pair("ln -s", call.args[0], call.receiver)
    return _NOTHING


def _path_mode(walk: Walk, call: Call) -> Value:
    mode = call.arg(0, "mode")
    if mode is not None:
        _set_mode(walk, call.receiver, mode)
    return _NOTHING


def _path_remove(walk: Walk, call: Call) -> Value:
    walk.acts.remove(call.receiver)
    return _NOTHING


def _path_glob(walk: Walk, call: Call) -> Value:
    pattern = call.arg(0, "pattern")
    text = pattern.text if pattern is not None and pattern.is_text else "*"
    deep = call.method == "rglob" or "**" in text
    return listing(call.receiver, text.replace("**/", "") if deep else text, deep, PATH)


def _path_same(walk: Walk, call: Call) -> Value:
    if call.receiver.text == "." and call.method in ("resolve", "absolute"):
        return Value(walk.acts.folder or walk.acts.cwd or ".", name=PATH)
    return call.receiver


def _path_user(walk: Walk, call: Call) -> Value:
    return replace(call.receiver, known=walk.acts.expanded(call.receiver.text), choices=())


PATH_CALLS: dict[str, Handler] = {
    f"{PATH}.{name}": handler
    for name, handler in {
        "unlink": _path_remove,
        "rmdir": lambda walk, call: _NOTHING,
        "remove": _path_remove,
        "rmtree": lambda walk, call: walk.acts.remove(call.receiver, tree=True),
        "rmtree_p": lambda walk, call: walk.acts.remove(call.receiver, tree=True),
        "open": _path_open,
        "write_text": _path_write,
        "write_bytes": _path_write,
        "read_text": lambda walk, call: walk.acts.read(call.receiver),
        "read_bytes": lambda walk, call: walk.acts.read(call.receiver),
        "joinpath": _path_joined,
        "rename": _path_move,
        "replace": _path_move,
        "symlink_to": _path_link,
        "hardlink_to": _path_link,
        "chmod": _path_mode,
        "glob": _path_glob,
        "rglob": _path_glob,
        "iterdir": _path_glob,
        "resolve": _path_same,
        "absolute": _path_same,
        "as_posix": _path_same,
        "__str__": _path_same,
        "with_suffix": _path_same,
        "expanduser": _path_user,
        "walk": lambda walk, call: Value(name="os.walk()", of=call.receiver),
    }.items()
}
