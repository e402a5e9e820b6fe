"""Tracebacks as the reader of a cell needs them: the innermost frames, none of ours, with source lines."""

import sys

FRAMES = 8
TEXT_BYTES = 4000
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


def describe(error: BaseException, cell: str) -> str:
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
        text = "".join(report.format())
    except BaseException:  # user code may have broken the exception, its text or the library
        text = f"{type(error).__name__}: {_text_of(error)}"
    return cut(text.strip("\n"), TEXT_BYTES) + _hint(error)


def cut(text: str, limit: int) -> str:
    """Cut a text to ``limit`` characters, keeping its start and its end, which says what went wrong."""
    if len(text) <= limit:
        return text
    head = limit // 4
    return f"{text[:head]}\n... [{len(text) - limit} characters left out] ...\n{text[head - limit :]}"


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
