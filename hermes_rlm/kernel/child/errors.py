"""Tracebacks as the reader of a cell needs them: the innermost frames, none of ours, with source lines."""

import sys

FRAMES = 8
STACK_CHARACTERS = 1400
MESSAGE_CHARACTERS = 900
SOURCES_KEPT = 200
OURS = __file__.rpartition("/")[0] + "/"

_sources: dict = {}  # cell name -> its code
_unpublished: dict = {}


def remember(name: str, code: str) -> None:
    """Keep the source of a cell for tracebacks; the newest ones are kept."""
    if len(_sources) >= SOURCES_KEPT:
        oldest = next(iter(_sources))
        del _sources[oldest]
        _unpublished.pop(oldest, None)
    _sources[name] = _unpublished[name] = code
    if "linecache" in sys.modules:
        publish_sources()


def publish_sources() -> None:
    """Give linecache the sources of the cells, for tracebacks and inspect.getsource."""
    import linecache

    # checkcache() drops what it cannot find as a file, unless its time is None.
    for name, code in list(_unpublished.items()):
        try:
            linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        except Exception:  # user code may have broken the cache; tracebacks go without source lines
            return
        del _unpublished[name]


def describe(error: BaseException) -> str:
    """Return the traceback of an exception, bounded in frames and bytes.

    Never raises: where the exception's own text cannot be had, its type is named.
    """
    try:
        import traceback

        publish_sources()
        report = traceback.TracebackException(
            type(error), error, error.__traceback__, limit=-FRAMES, compact=True
        )
        for part in _chain(report):
            part.stack[:] = [frame for frame in part.stack if not frame.filename.startswith(OURS)]
        text, message = "".join(report.format()), "".join(report.format_exception_only())
    except BaseException:  # user code may have broken the exception, its text or the library
        text = message = f"{type(error).__name__}: {_text_of(error)}"
    stack = text.removesuffix(message)
    return (
        cut_start(stack, STACK_CHARACTERS) + cut_end(message.strip("\n"), MESSAGE_CHARACTERS) + _hint(error)
    )


def cut_start(text: str, limit: int) -> str:
    """Keep the end of a text, where a traceback has its innermost frames, and its first line."""
    if len(text) <= limit:
        return text
    first = text[: text.find("\n") + 1][:100]
    end = text[len(first) - limit :]
    return f"{first}  [{len(text) - limit:,} characters left out]\n{end.partition(chr(10))[2] or end}"


def cut_end(text: str, limit: int) -> str:
    """Keep the start of a text, where a message has the type of the exception."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} ... [{len(text) - limit:,} characters left out]"


def _chain(report):
    seen, waiting = set(), [report]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as second:
        return f"<its text raised {type(second).__name__}>"


def _hint(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "\n(the kernel has no standard input: put the answer into the code)"
    return ""
