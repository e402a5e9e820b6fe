"""The output of programs that print their input or the files they are given, in some form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import decode, filters, flows
from .invocation import OPAQUE, UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_OPAQUE = frozenset((OPAQUE,))

# Programs that print the files they are given, in some form.
READERS = listed(
    "less more most bat batcat xxd od hexdump base64 base32 gbase64 rg zgrep jq yq pr "
    "gzip zcat gunzip bzcat bzip2 bunzip2 xz xzcat unxz zstd lz4 tar zip cpio openssl gpg age "
    "diff comm join split envsubst xargs python python3 perl ruby node php cp install "
    "uuencode qrencode look basenc"
) | frozenset(filters.FILTERS)

# Decoders: what they make of input that is not known is opaque.
DECODERS = {
    **dict.fromkeys(("base64", "gbase64", "base32"), ("dD", "--decode")),
    **dict.fromkeys(("gzip", "bzip2", "xz", "zstd"), ("d", "--decompress")),
    **dict.fromkeys(("gpg", "age"), ("d", "--decrypt")),
    **dict.fromkeys(
        ("uudecode", "gunzip", "zcat", "bzcat", "bunzip2", "xzcat", "unxz", "rot13", "zlib-flate"), ("", "")
    ),
    "xxd": ("r", "--revert"),
    "openssl": ("d", "-d"),
    "basenc": ("d", "--decode"),
}
# Programs whose operands are files, and which read stdin only without them.
_FILE_READERS = listed(
    "cat tac nl head tail sort rev dos2unix base64 gbase64 base32 xxd gzip gunzip zcat bzip2 bunzip2 bzcat "
    "xz unxz xzcat zstd"
)
# Short options of the decoders that take the next word, so that it is no file.
_VALUED = {"base64": "w", "gbase64": "w", "base32": "w", "basenc": "w", "xxd": "clsogn", "openssl": ""}


def output(walk: Walk, call: Invocation) -> Stream:
    """What a program of READERS prints."""
    spec = filters.FILTERS.get(call.name)
    return _recoded(walk, call) if spec is None else _filtered(walk, call, spec)


def _filtered(walk: Walk, call: Invocation, spec: filters.Filter) -> Stream:
    """The output of a filter: computed where its input and its options are known."""
    name = call.name
    words = call.words()
    given = filters.parsed(spec, words)
    files = given.files if given is not None else [word for word in words if word[:1] != "-"]
    if given is not None and given.has("i") and name in ("sed", "gsed"):
        return flows.NOTHING
    streams = [call.stdin if file == "-" else flows.file_stream(walk, file) for file in files]
    if not files and call.stdin.piped:
        streams.append(call.stdin)
    if given is not None and name in ("sed", "gsed") and any(stream.text is None for stream in streams):
        constant = _constant(name, given, words)
        if constant is not None:
            known = flows.concatenated(streams)
            return Stream(constant, True, known.taint, known.source)
    local = flows.LOCAL in streams
    tainted = [Stream(None, True, arg.taint, arg.source) for arg in call.argv[1:] if arg.taint]
    if local and not tainted and all(stream is flows.LOCAL for stream in streams):
        return flows.LOCAL if name in _FILE_READERS else flows.ANYTHING
    if call.appended and not call.stdin.piped:
        streams.append(flows.ANYTHING)
    whole = flows.concatenated(streams) if streams else flows.NOTHING
    taint, source = whole.taint, whole.source
    for stream in tainted:
        taint |= stream.taint
        source = source or stream.source
    text = None
    if whole.text is not None and given is not None:
        text = filters.computed(name, given, whole.text)
    if text is None and whole.text is not None and spec.lines and not _counts(words):
        # Some of the lines are printed, or something made of them.
        text = f"{whole.text}\n{UNKNOWN}\n"
    if given is not None and given.has("o") and name in ("sort", "iconv"):
        flows.remember(walk, given.value("o"), Stream(text, True, taint, source))
        return flows.NOTHING
    if text is None and not taint:
        return flows.ANYTHING
    return Stream(text, True, taint, source)


# Two texts that have nothing in common, not even the number of lines.
_PROBES = ("Alpha 1\n", "omega/2: other\n-\n")


def _constant(name: str, given: filters.Given, words: list[str]) -> str | None:
    """What sed makes of every line, whatever it reads: s/.*/text/ prints nothing but the text."""
    if not any(".*" in word or "^" in word or word.startswith(("c", "1c")) for word in words):
        return None
    printed = [filters.computed(name, given, probe) for probe in _PROBES]
    lines = {frozenset((text or "").splitlines()) for text in printed}
    return printed[0] if len(lines) == 1 and printed[0] else None


def _counts(words: list[str]) -> bool:
    return any(word in ("-c", "-q", "--count", "--quiet", "-l") for word in words)


def _recoded(walk: Walk, call: Invocation) -> Stream:
    """The output of a decoder, or of a program of which only the taint of what it reads is known."""
    name = call.name
    stdin = call.stdin
    words = call.words()
    streams: list[Stream] = []
    options: list[str] = []
    local = False
    valued = _VALUED.get(name)
    takes = False
    for argument in call.argv[1:]:
        text = argument.text
        if argument.taint:
            streams.append(Stream(None, True, argument.taint, argument.source))
        if takes or (text.startswith("-") and text != "-"):
            options.append(text)
            takes = not takes and bool(valued) and text[1:2] != "-" and text[-1] in (valued or "")
            continue
        if text == "-":
            continue
        if "/" in text or "." in text or walk.state.files:
            stream = flows.file_stream(walk, text)
            if stream is not flows.LOCAL:
                streams.append(stream)
                continue
            local = local or valued is None or not text.isalnum()
            if name in _FILE_READERS:
                continue
        options.append(text)
    if stdin.piped and not (local and name in _FILE_READERS and "-" not in words):
        streams.append(stdin)
    decodes = decodes_input(name, words)
    if not streams:
        if decodes:
            return Stream(None, True, _OPAQUE, f"output of {name}")
        return flows.LOCAL if local and name in _FILE_READERS else flows.ANYTHING
    whole = flows.concatenated(streams)
    recoder = decode.RECODERS.get(name)
    if whole.text is not None and recoder is not None:
        if name in ("gzip", "bzip2", "xz") and not decodes:
            return Stream(None, True, whole.taint, whole.source)
        text = recoder(options, whole.text) if UNKNOWN not in whole.text else None
        if text is not None:
            return Stream(text, True, whole.taint, whole.source)
    taint = whole.taint
    if decodes:
        return Stream(None, True, taint | _OPAQUE, whole.source or f"output of {name}")
    return Stream(None, True, taint, whole.source) if taint else flows.ANYTHING


def decodes_input(name: str, words: list[str]) -> bool:
    """Is this a call that unpacks or decrypts?"""
    wanted = DECODERS.get(name)
    if wanted is None:
        return False
    letters, long = wanted
    if not letters:
        return True
    if name == "openssl":
        return "-d" in words
    for word in words:
        if word.startswith("--"):
            if len(word) > 3 and long.startswith(word):
                return True
        elif word.startswith("-") and any(letter in word for letter in letters):
            return True
    return False


def dd(walk: Walk, call: Invocation) -> Stream:
    """dd: what it reads, whole or in part."""
    named = dict(re.findall(r"(?m)^(\w+)=(.*)$", "\n".join(call.words())))
    content = flows.file_stream(walk, named["if"]) if "if" in named else call.stdin
    if not content.piped:
        content = flows.ANYTHING
    if content.text is not None and not {"skip", "count", "conv", "seek", "iflag"}.isdisjoint(named):
        content = Stream(f"{content.text}\n{UNKNOWN}\n", True, content.taint, content.source)
    return flows.NOTHING if "of" in named else content


def tainted(arguments: list[Arg]) -> tuple[frozenset[str], str]:
    """What arguments carry with them, together."""
    taint: frozenset[str] = frozenset()
    source = ""
    for argument in arguments:
        if argument.taint:
            taint |= argument.taint
            source = source or argument.source
    return taint, source
