"""The host's tools as functions in the kernel: each call goes over the bridge to the host and waits.

`connect` makes the functions the session may use builtins of the kernel: visible in every module, no
variables of the user's. One call is one connection, so threads and forked processes of the running cell
may call at the same time. A thread left over from an earlier cell is refused before anything is sent:
no turn of the conversation stands behind it any more.
"""

import _socket
import _thread
import builtins
import posix
import sys

from .wire import decode, encode

REQUEST_BYTES = 32 << 20
CHUNK = 1 << 18

_frames = sys._current_frames
_own_frame = sys._getframe
_thread_id = _thread.get_ident
_new_socket = _socket.socket
_socket_pair = _socket.socketpair


class ToolError(RuntimeError):
    """A call of a host tool that failed or was refused; the text is the host's.

    `details` holds what else the host said, as a dict: for a spent budget {"budget": {...}}.
    """

    __module__ = "builtins"  # where `connect` puts it: tracebacks name it as plainly as any error

    def __init__(self, message="", **details):
        super().__init__(message)
        self.details = details


class _Link:
    """What the kernel knows of its bridge and of the cell that runs."""

    def __init__(self):
        self.address = self.token = self.cell = None
        self.main_thread = None
        # The outermost frames of threads that were alive when the running cell began. A frame is
        # compared by identity, because a number of a thread that has ended is given to a new one.
        self.left_over = []


_link = _Link()


def connect(boot) -> None:
    """Take address, token and tool names from the boot message and make the functions builtins."""
    _link.address, _link.token = boot["bridge"], boot["token"]
    _link.main_thread = _thread_id()
    if "fd" in _link.address:
        posix.set_inheritable(_link.address["fd"], False)  # programs that a cell starts do not get it
    builtins.ToolError = ToolError
    for function in FUNCTIONS:
        if function.__name__ in boot["tools"]:
            setattr(builtins, function.__name__, function)


def cell_began(number) -> None:
    """From now on calls belong to the cell `number`; threads that are alive already may not call."""
    _link.left_over = _other_threads()
    _link.cell = number


def cell_ended() -> None:
    """From now on no call is allowed."""
    _link.cell = None
    _link.left_over = []


def read_file(path, offset=1, limit=None):
    """Return the text of a file, without line numbers; `offset` (from 1) and `limit` count lines.

    Without a limit the text goes to the end of the file. The host masks secrets in it and replaces bytes
    that are no UTF-8. A line longer than it hands out, a binary or a missing file raises ToolError.
    """
    return _call("read_file", path=_path(path), offset=offset, limit=limit)


def write_file(path, content):
    """Write `content` to a file, replacing what is there; return what the host says of it as a dict."""
    return _call("write_file", path=_path(path), content=content)


def search_files(pattern, target="content", path=".", file_glob=None, limit=50, output_mode="content"):
    """Search contents by regular expression, or with target="files" names by glob; return a dict.

    {"total_count", "matches": [{"path", "line", "content"}]}, or "files", or "counts" by `output_mode`
    ("content", "files_only", "count"). The host cuts a matching line at 500 characters, and when `limit`
    results come back there may be more.
    """
    return _call(
        "search_files",
        pattern=pattern,
        target=target,
        path=_path(path),
        file_glob=file_glob,
        limit=limit,
        output_mode=output_mode,
    )


def patch(path, old_string, new_string, replace_all=False):
    """Replace `old_string` in a file, once or everywhere; return a dict with the diff."""
    return _call(
        "patch", path=_path(path), old_string=old_string, new_string=new_string, replace_all=replace_all
    )


def terminal(command, timeout=None, workdir=None):
    """Run a shell command; return {"output", "exit_code"}. A command the host refuses raises ToolError.

    `timeout` in seconds, at most what the cell has left; a command that takes longer ends with exit code 124.
    """
    return _call("terminal", command=command, timeout=timeout, workdir=workdir and _path(workdir))


def web_search(query, limit=5):
    """Search the web; return the host's result as a dict: {"data": {"web": [...]}}."""
    return _call("web_search", query=query, limit=limit)


def web_extract(urls, char_limit=None):
    """Fetch pages as text; return {"results": [{"url", "title", "content", "error"}]}."""
    urls = [urls] if isinstance(urls, str) else list(urls)
    return _call("web_extract", urls=urls, char_limit=char_limit)


FUNCTIONS = (read_file, write_file, search_files, patch, terminal, web_search, web_extract)


def _call(tool, **arguments):
    """Send one call and return its result; ToolError when the host answers with an error."""
    cell = _running_cell()
    arguments = {name: _plain(tool, name, value) for name, value in arguments.items() if value is not None}
    request = encode({"token": _link.token, "cell": cell, "tool": tool, "args": arguments}) + "\n"
    if len(request) > REQUEST_BYTES:
        raise ToolError(f"{tool}: the arguments are larger than {REQUEST_BYTES >> 20} MiB")
    answer = _exchange(request.encode("ascii"))
    if "error" in answer:
        raise ToolError(answer.pop("error"), **answer)
    return answer["result"]


def _running_cell():
    """Return the number of the cell this call belongs to; ToolError when it belongs to none."""
    cell = _link.cell
    if cell is None:
        raise ToolError("no cell is running: host tools can be called only while one runs")
    if _thread_id() != _link.main_thread:
        own = _outermost(_own_frame())
        if any(frame is own for frame in _link.left_over):
            raise ToolError(
                "this thread was started by an earlier cell, which has ended: host tools can be called"
                " only from threads that the running cell started"
            )
    return cell


def _other_threads():
    """Return the outermost frame of every thread but the main one.

    A thread that leaves a function while its frames are followed shows a wrong one, so they are followed
    until two rounds agree.
    """
    found = None
    for _ in range(5):
        previous, found = (
            found,
            {thread: _outermost(frame) for thread, frame in _frames().items() if thread != _link.main_thread},
        )
        if previous is not None and all(previous.get(thread) is found[thread] for thread in found):
            break
    return list(found.values())


def _outermost(frame):
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def _exchange(request):
    """Send one request on a connection of its own and return the answer, however long it takes."""
    connection = None
    try:
        connection = _open()
        try:
            connection.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was read: the answer says why
        pieces = []
        while not pieces or not pieces[-1].endswith(b"\n"):
            pieces.append(connection.recv(CHUNK))
            if not pieces[-1]:
                raise ToolError("the host closed the connection without an answer")
        return decode(b"".join(pieces))
    except OSError as error:
        raise ToolError(f"the host cannot be reached: {error}") from None
    finally:
        if connection is not None:
            connection.close()


def _open():
    """Return a connection to the bridge: to its socket, or one end of a pair whose other end it is sent."""
    if "path" in _link.address:
        connection = _new_socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.connect(_link.address["path"])
        except BaseException:
            connection.close()
            raise
        return connection
    ours, theirs = _socket_pair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    mailbox = _new_socket(_socket.AF_UNIX, _socket.SOCK_DGRAM, 0, _link.address["fd"])
    try:
        descriptor = theirs.fileno().to_bytes(4, sys.byteorder)
        mailbox.sendmsg([b"c"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor)])
    except BaseException:
        ours.close()
        raise
    finally:
        mailbox.detach()
        theirs.close()
    return ours


def _path(value):
    """Return a path object as text; anything else as it is."""
    return value.__fspath__() if hasattr(type(value), "__fspath__") else value


def _plain(tool, name, value):
    """Return an argument as the builtin type it stands for; ToolError when it is not data."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        if value - value != 0:
            raise ToolError(f"{tool}: {name} must be a finite number")
        return float(value)
    if hasattr(type(value), "__index__"):
        return int(value.__index__())
    if isinstance(value, (list, tuple)):
        return [_plain(tool, name, item) for item in value]
    raise ToolError(f"{tool}: {name} must be text, a number or a list of text, not {type(value).__name__}")
