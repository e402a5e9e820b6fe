"""What flows between commands: known text, credentials, what the network sent, what was decoded blindly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rules.secrets import secret_of
from . import decode, made_again
from .invocation import REMOTE, SECRET, UNKNOWN, Arg, Stream, Target

if TYPE_CHECKING:
    from .walk import Walk

NOTHING = Stream(text="", piped=True)


ANYTHING = Stream(piped=True)


# The content of a file that was there before: not known, but no stranger either.
LOCAL = Stream(piped=True, source="a file")


# Settings for the shell that a tool prints for this purpose: `eval "$(ssh-agent -s)"`.
SETTINGS = Stream(piped=True, source="settings of a tool")


REMOTE_OUTPUT = Stream(None, True, frozenset((REMOTE,)), "another host")


_CLEAN: frozenset[str] = frozenset()


_REMOTE = frozenset((REMOTE,))


_SECRET = frozenset((SECRET,))


def known(argument: Arg) -> Stream:
    """A word as the content of a stream; UNKNOWN pieces stay in the text."""
    text = argument.text
    # A text with unknown pieces is still text: a shell that reads it is judged by what is known of it.
    return Stream(None if text == UNKNOWN else text, True, argument.taint, argument.source)


def concatenated(streams: Sequence[Stream]) -> Stream:
    """What several commands print one after another."""
    if not streams:
        return NOTHING
    if len(streams) == 1:
        return streams[0]
    texts: list[str] | None = []
    taint = _CLEAN
    source = ""
    for stream in streams:
        if texts is not None:
            if stream.text is None:
                texts = None
            else:
                texts.append(stream.text)
        if stream.taint:
            taint |= stream.taint
            source = source or stream.source
    if texts is None:
        # One part that is not known does not hide the others: the known lines are still lines of the whole.
        seen = [stream.text for stream in streams if stream.text]
        if seen:
            mixed = "\n".join(
                text if text is not None else UNKNOWN for text in (s.text for s in streams) if text != ""
            )
            return Stream(decode.bounded(mixed), True, taint, source)
        return Stream(None, True, taint, source) if taint else ANYTHING
    return Stream(decode.bounded("".join(texts)), True, taint, source)


def file_stream(walk: Walk, path: str) -> Stream:
    """What a file holds, as far as the line itself tells, and whether it is a credential."""
    held = of_this_line(walk, path)
    if held is not None:
        return held
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Stream(None, True, _REMOTE, path.replace(UNKNOWN, "?"))
    secret = secret_of(path, walk.folder().path, walk.home, walk.hermes_home)
    if secret:
        return Stream(None, True, _SECRET, secret)
    return LOCAL


def of_this_line(walk: Walk, path: str) -> Stream | None:
    """What a file or a descriptor holds that the line itself has filled; None for any other."""
    files = walk.state.files
    if files:
        held = files.get(path) or files.get(walk.state.file_key(path, walk.folder().path))
        if held is not None:
            return held
    number = descriptor(walk, path)
    if number is None:
        return None
    if number == "0" and walk.input.piped:
        return walk.input
    return walk.state.descriptors.get(number, LOCAL)


_DESCRIPTOR = re.compile(
    r"/(?:dev/(?:stdin|(stdout)|fd/(\d+))|proc/(?:self|thread-self|\d+|\0)/fd/(\d+))", re.ASCII
)


def descriptor(walk: Walk, path: str) -> str | None:
    """The number of the file descriptor that a path names: "0" for /dev/stdin, however it is spelt."""
    cwd = walk.folder().path or ""
    if "std" not in path and "fd/" not in path and not cwd.startswith(("/dev", "/proc")):
        return None
    found = _DESCRIPTOR.fullmatch(walk.state.file_key(path, cwd))
    if found is None:
        return None
    return "1" if found[1] else found[2] or found[3] or "0"


def completion(stream: Stream | Arg) -> bool:
    """Is it the output of a tool that prints settings for the shell?"""
    return stream.source == SETTINGS.source and not stream.taint


def read(walk: Walk, op: str, argument: Arg) -> Stream:
    """The input that a redirection `< file` or `<&4` gives."""
    text = argument.text
    if op == "<&":
        return walk.state.descriptors.get(text.rstrip("-"), ANYTHING)
    stream = file_stream(walk, text)
    if argument.taint and not stream.taint:
        return Stream(stream.text, True, argument.taint, argument.source)
    return stream


def written(walk: Walk, targets: Sequence[Target], output: Stream) -> Stream:
    """Remember what a redirection writes to files; the output that goes on."""
    onward = output
    if walk.findings:
        made_again.by_appending(walk, targets)
    for target in targets:
        path = target.arg.text
        if not target.writes or path == UNKNOWN:
            continue
        if target.fd in ("", "1") or target.op in ("&>", "&>>"):
            number = descriptor(walk, path) if path not in walk.consumers else None
            opened = walk.state.descriptors.get(f">{number}") if number is not None else None
            if number is None or opened is not None:
                remember(walk, opened.source if opened else path, output, target.op.endswith(">>"))
                onward = NOTHING
    return onward


def remember(walk: Walk, path: str, content: Stream, appends: bool = False) -> None:
    """A file of this line now holds something, or a command that takes its input from there gets it."""
    consumer = walk.consumers.get(path)
    if consumer is not None:
        consumer.takes(content)
        return
    key = walk.state.file_key(path, walk.folder().path)
    files = walk.state.files
    if appends and key in files:
        content = concatenated([files[key], content])
    files[key] = content if content.piped else Stream(content.text, True, content.taint, content.source)
