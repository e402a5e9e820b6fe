"""What a file is, by its content first and its name second."""

from __future__ import annotations

from dataclasses import dataclass

TEXT, ARCHIVE, COMPILED, OPAQUE, PICKLE, MEDIA, DOCUMENT, EMPTY, BINARY = (
    "text",
    "archive",
    "compiled",
    "opaque",
    "pickle",
    "media",
    "document",
    "empty",
    "binary",
)


@dataclass(frozen=True)
class Kind:
    """`what` is one of the words above, `detail` names the format, `text` is the content when it is text."""

    what: str
    detail: str = ""
    text: str = ""


_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x7fELF", COMPILED, "ELF"),
    (b"\xfe\xed\xfa\xce", COMPILED, "Mach-O"),
    (b"\xfe\xed\xfa\xcf", COMPILED, "Mach-O"),
    (b"\xce\xfa\xed\xfe", COMPILED, "Mach-O"),
    (b"\xcf\xfa\xed\xfe", COMPILED, "Mach-O"),
    (b"\x00asm", COMPILED, "WebAssembly"),
    (b"dex\n", COMPILED, "Dalvik"),
    (b"\x1bLua", COMPILED, "Lua bytecode"),
    (b"BC\xc0\xde", COMPILED, "LLVM bitcode"),
    (b"PK\x03\x04", ARCHIVE, "zip"),
    (b"PK\x05\x06", ARCHIVE, "zip"),
    (b"\x1f\x8b", ARCHIVE, "gzip"),
    (b"BZh", ARCHIVE, "bzip2"),
    (b"\xfd7zXZ\x00", ARCHIVE, "xz"),
    (b"\x28\xb5\x2f\xfd", OPAQUE, "zstd"),
    (b"7z\xbc\xaf\x27\x1c", OPAQUE, "7z"),
    (b"Rar!\x1a\x07", OPAQUE, "rar"),
    (b"MSCF", OPAQUE, "cabinet"),
    (b"!<arch>\n", OPAQUE, "ar or deb"),
    (b"\xed\xab\xee\xdb", OPAQUE, "rpm"),
    (b"xar!", OPAQUE, "xar or pkg"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OPAQUE, "OLE (old Office, msi)"),
    (b"SQLite format 3\x00", DOCUMENT, "SQLite"),
    (b"%PDF", DOCUMENT, "PDF"),
    (b"\x89PNG", MEDIA, "PNG"),
    (b"\xff\xd8\xff", MEDIA, "JPEG"),
    (b"GIF8", MEDIA, "GIF"),
    (b"RIFF", MEDIA, "RIFF"),
    (b"BM", MEDIA, "BMP"),
    (b"II*\x00", MEDIA, "TIFF"),
    (b"MM\x00*", MEDIA, "TIFF"),
    (b"\x00\x00\x01\x00", MEDIA, "icon"),
    (b"wOFF", MEDIA, "font"),
    (b"wOF2", MEDIA, "font"),
    (b"OTTO", MEDIA, "font"),
    (b"\x00\x01\x00\x00", MEDIA, "font"),
    (b"OggS", MEDIA, "Ogg"),
    (b"ID3", MEDIA, "MP3"),
    (b"fLaC", MEDIA, "FLAC"),
)

# Extensions that say of a content without known beginning what it is.
_COMPILED_SUFFIXES_LIST = """
    .pyc .pyo .pyd .so .dll .dylib .exe .com .scr .o .a .lib .class .wasm .node .bin .beam .elc
"""
_COMPILED_SUFFIXES = frozenset(_COMPILED_SUFFIXES_LIST.split())
_PICKLE_SUFFIXES_LIST = """
    .pkl .pickle .joblib .pt .pth .ckpt .dill
"""
_PICKLE_SUFFIXES = frozenset(_PICKLE_SUFFIXES_LIST.split())


def kind_of(name: str, data: bytes) -> Kind:
    """Tell what a content is; `data` may be only its beginning."""
    if not data:
        return Kind(EMPTY)
    found = _by_beginning(data)
    if found is not None and not (found.detail in ("BMP", "MP3", "bzip2") and _text(data) is not None):
        return found
    suffix = f".{name.rpartition('.')[2].lower()}" if "." in name else ""
    text = _text(data)
    if text is not None:
        return Kind(TEXT, "", text)
    if data[2:4] == b"\r\n" and suffix in (".pyc", ".pyo"):
        return Kind(COMPILED, "Python bytecode")
    if _is_pickle(data, suffix):
        return Kind(PICKLE, "pickle")
    if suffix in _COMPILED_SUFFIXES:
        return Kind(COMPILED, suffix[1:])
    return Kind(BINARY, suffix[1:] or "unknown")


def _by_beginning(data: bytes) -> Kind | None:
    if data[:4] == b"\xca\xfe\xba\xbe":
        few = int.from_bytes(data[4:8], "big") < 40  # a fat binary counts its parts, a class has its version
        return Kind(COMPILED, "Mach-O" if few else "Java class")
    if data[:2] == b"MZ" and (b"PE\x00\x00" in data[:4096] or b"DOS mode" in data[:512]):
        return Kind(COMPILED, "Windows program")
    if data[257:262] == b"ustar":
        return Kind(ARCHIVE, "tar")
    if data[4:8] == b"ftyp":
        return Kind(MEDIA, "MP4")
    for beginning, what, detail in _MAGIC:
        if data.startswith(beginning):
            return Kind(what, detail)
    return None


def _text(data: bytes) -> str | None:
    """A content as text: UTF-8, UTF-16 or UTF-32, else Latin-1 when it looks like text; None when not."""
    for mark, encoding in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return _decoded(data, encoding)
    if b"\x00" in data:
        return _utf16_without_mark(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3:  # the beginning of a longer file may end inside a character
            return data.decode("utf-8", "ignore")
    printable = sum(byte >= 32 or byte in b"\t\n\r\f\x1b" for byte in data[:8192])
    if printable / min(len(data), 8192) < 0.97:
        return None
    letters = sum(byte < 128 for byte in data[:8192]) / min(len(data), 8192)
    return data.decode("latin-1") if letters > 0.6 else None


def _utf16_without_mark(data: bytes) -> str | None:
    sample = data[:2000]
    for encoding, zero in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if len(zero) > 4 and zero.count(0) / len(zero) > 0.7:
            found = _decoded(data, encoding)
            if found is not None and "\x00" not in found:
                return found
    # A few zero bytes in what is text otherwise hide it from tools that stop there.
    if sample.count(0) <= max(2, len(sample) // 100):
        stripped = data.replace(b"\x00", b"")
        try:
            return stripped.decode("utf-8")
        except UnicodeDecodeError:
            return None
    return None


def _decoded(data: bytes, encoding: str) -> str | None:
    size = 4 if encoding == "utf-32" else 2
    try:
        return data[: len(data) - len(data) % size].decode(encoding)
    except (UnicodeDecodeError, ValueError):
        return None


def _is_pickle(data: bytes, suffix: str) -> bool:
    binary = data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    return binary or suffix in _PICKLE_SUFFIXES
