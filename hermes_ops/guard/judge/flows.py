"""What flows between commands: known text, credentials, what came from the network, what was decoded blindly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rules.secrets import secret_of
from . import decode
from .invocation import OPAQUE, REMOTE, SECRET, UNKNOWN, Arg, Invocation, Stream, Target

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
_OPAQUE = frozenset((OPAQUE,))

# Programs whose output tells nothing of what they read: counts, sums, verdicts.
FORGETFUL = frozenset(
    [
        "wc",
        "md5sum",
        "sha1sum",
        "sha224sum",
        "sha256sum",
        "sha384sum",
        "sha512sum",
        "b2sum",
        "cksum",
        "sum",
        "shasum",
        "md5",
        "true",
        "false",
        "test",
        "[",
        "cmp",
        "sleep",
        "mkdir",
        "touch",
        "chmod",
        "chown",
        "rm",
        "ls",
        "stat",
        "du",
        "df",
        "file",
        "which",
        "type",
        "wait",
        "kill",
        "ssh-keygen",
        "ssh-add",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "date",
        "hostname",
        "uname",
        "whoami",
        "id",
        "nproc",
        "seq",
    ]
)
# Programs that print the files they are given, in some form.
READERS = frozenset(
    [
        "cat",
        "tac",
        "nl",
        "head",
        "tail",
        "less",
        "more",
        "most",
        "bat",
        "batcat",
        "rev",
        "strings",
        "xxd",
        "od",
        "hexdump",
        "base64",
        "base32",
        "gbase64",
        "sort",
        "uniq",
        "cut",
        "tr",
        "sed",
        "gsed",
        "awk",
        "gawk",
        "mawk",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "zgrep",
        "jq",
        "yq",
        "paste",
        "column",
        "fold",
        "fmt",
        "pr",
        "tee",
        "dd",
        "gzip",
        "zcat",
        "gunzip",
        "bzcat",
        "bzip2",
        "bunzip2",
        "xz",
        "xzcat",
        "unxz",
        "zstd",
        "lz4",
        "tar",
        "zip",
        "cpio",
        "openssl",
        "gpg",
        "age",
        "iconv",
        "diff",
        "comm",
        "join",
        "split",
        "envsubst",
        "xargs",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "php",
        "dos2unix",
        "cp",
        "install",
        "uuencode",
        "qrencode",
        "pv",
        "sponge",
        "shuf",
        "look",
    ]
)
# Programs that fetch from the network and print it.
FETCHERS = frozenset(
    ["curl", "wget", "http", "https", "xh", "httpie", "aria2c", "lynx", "w3m", "links", "fetch"]
)
_NETWORK_READERS = frozenset(["nc", "ncat", "netcat", "socat", "telnet"])
_SETTERS = frozenset(
    [
        "ssh-agent",
        "gpg-agent",
        "keychain",
        "direnv",
        "brew",
        "pyenv",
        "rbenv",
        "nodenv",
        "jenv",
        "goenv",
        "opam",
        "minikube",
        "docker-machine",
        "conda",
        "mamba",
        "micromamba",
        "starship",
        "zoxide",
        "fzf",
        "atuin",
        "mise",
        "rtx",
        "asdf",
        "thefuck",
        "kubectl",
        "helm",
        "gh",
        "poetry",
        "pip",
        "uv",
        "npm",
        "dircolors",
        "lesspipe",
        "register-python-argcomplete",
        "fnm",
        "nvm",
        "volta",
        "hub",
        "rustup",
        "cargo",
        "hermes",
        "just",
        "task",
        "op",
        "luarocks",
        "resize",
        "locale",
        "perl",
        "register_completion",
        "podman",
        "docker",
        "kind",
        "k3d",
        "flux",
        "argocd",
        "terraform",
        "tofu",
        "vault",
        "aws_completer",
        "pipx",
        "pdm",
        "hatch",
        "rye",
        "eksctl",
        "istioctl",
        "oc",
        "crc",
        "stern",
        "yq",
        "ng",
        "vr",
        "tmuxinator",
        "systemctl",
    ]
)
_SETTING_WORDS = frozenset(
    [
        "-s",
        "-k",
        "shellenv",
        "init",
        "hook",
        "completion",
        "completions",
        "docker-env",
        "podman-env",
        "env",
        "activate",
        "shell.bash",
        "shell.zsh",
        "shell.posix",
        "shell",
        "-b",
        "bash",
        "zsh",
        "--init",
        "generate-shell-completion",
        "-Mlocal::lib",
        "path",
        "--bash",
        "--zsh",
        "shell-init",
        "show-environment",
    ]
)
DUMPS = frozenset(("env", "printenv", "set", "export", "declare", "typeset", "compgen"))
# Decoders: what they make of input that is not known is opaque.
_DECODERS = {
    "base64": ("dD", "--decode"), "gbase64": ("dD", "--decode"), "base32": ("dD", "--decode"),
    "xxd": ("r", "--revert"), "openssl": ("d", "-d"), "gzip": ("d", "--decompress"), "bzip2": ("d", "--decompress"),
    "xz": ("d", "--decompress"), "zstd": ("d", "--decompress"), "gpg": ("d", "--decrypt"), "uudecode": ("", ""),
    "gunzip": ("", ""), "zcat": ("", ""), "bzcat": ("", ""), "bunzip2": ("", ""), "xzcat": ("", ""), "unxz": ("", ""),
    "age": ("d", "--decrypt"), "basenc": ("d", "--decode"), "rot13": ("", ""), "zlib-flate": ("", ""),
}  # fmt: skip


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
            return Stream(mixed[: decode.LONGEST], True, taint, source)
        return Stream(None, True, taint, source) if taint else ANYTHING
    return Stream("".join(texts)[: decode.LONGEST], True, taint, source)


def file_stream(walk: Walk, path: str) -> Stream:
    """What a file holds, as far as the line itself tells, and whether it is a credential."""
    files = walk.state.files
    cwd = walk.folder().path
    if files:
        held = files.get(path) or files.get(walk.state.file_key(path, cwd))
        if held is not None:
            return held
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Stream(None, True, _REMOTE, path.replace(UNKNOWN, "?"))
    secret = secret_of(path, cwd, walk.home, walk.hermes_home)
    if secret:
        return Stream(None, True, _SECRET, secret)
    return LOCAL


def completion(stream: Stream) -> bool:
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
    for target in targets:
        if not target.writes or target.arg.text == UNKNOWN:
            continue
        if target.fd in ("", "1") or target.op in ("&>", "&>>", ">&"):
            path = target.arg.text
            remember(walk, path, output, target.op.endswith(">>"))
            if not path.startswith(("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")):
                onward = NOTHING
    return onward


def remember(walk: Walk, path: str, content: Stream, appends: bool = False) -> None:
    """A file of this line now holds something."""
    key = walk.state.file_key(path, walk.folder().path)
    files = walk.state.files
    if appends and key in files:
        content = concatenated([files[key], content])
    files[key] = content if content.piped else Stream(content.text, True, content.taint, content.source)


def output(walk: Walk, call: Invocation) -> Stream:
    """What a command prints."""
    name = call.name
    maker = _MAKERS.get(name)
    if maker is not None:
        return maker(walk, call)
    if name in FORGETFUL:
        return ANYTHING
    if name in _SETTERS and not _SETTING_WORDS.isdisjoint(call.words()):
        return SETTINGS
    taint, source = _CLEAN, ""
    stdin = call.stdin
    if stdin.taint:
        taint, source = stdin.taint, stdin.source
    if name in READERS:
        return _reading(walk, call)
    for argument in call.argv[1:]:
        if argument.taint:
            taint |= argument.taint
            source = source or argument.source
    return Stream(None, True, taint, source) if taint else ANYTHING


def _reading(walk: Walk, call: Invocation) -> Stream:
    """The output of a program that prints its input or the files it is given."""
    name = call.name
    stdin = call.stdin
    words = call.words()
    streams: list[Stream] = []
    options: list[str] = []
    local = False
    recoder = decode.RECODERS.get(name)
    for argument in call.argv[1:]:
        text = argument.text
        if argument.taint:
            streams.append(Stream(None, True, argument.taint, argument.source))
        if text.startswith("-") and text != "-":
            options.append(text)
            continue
        if "/" in text or "." in text or text in walk.state.files or walk.state.files:
            stream = file_stream(walk, text.partition("=")[2] if name == "dd" else text)
            if stream is not LOCAL:
                streams.append(stream)
                continue
            local = True
            if name in _FILE_READERS:
                continue
        options.append(text)
    if stdin.piped and not (local and name in _FILE_READERS):
        streams.append(stdin)
    if not streams:
        if _decodes(name, words):
            return Stream(None, True, _OPAQUE, f"output of {name}")
        return LOCAL if local and name in _FILE_READERS else ANYTHING
    whole = concatenated(streams)
    if whole.text is not None and recoder is not None:
        if name in ("gzip", "bzip2", "xz") and not _decodes(name, words):
            return Stream(None, True, whole.taint, whole.source)
        text = recoder(options, whole.text) if UNKNOWN not in whole.text or name in _LINEWISE else None
        if text is not None:
            return Stream(text, True, whole.taint, whole.source)
    taint = whole.taint
    if _decodes(name, words):
        taint |= _OPAQUE
        return Stream(None, True, taint, whole.source or f"output of {name}")
    if whole.text is not None and name in _FILTERS:
        # A filter prints some of the lines: all of them stand for what it may print.
        return Stream(whole.text, True, taint, whole.source)
    if name == "grep" and _counts(words):
        return ANYTHING
    return Stream(None, True, taint, whole.source) if taint else ANYTHING


_LINEWISE = frozenset(("cat", "tee", "tac", "pv", "sponge", "stdbuf", "dos2unix"))
# Programs whose operands are files, and which read stdin only without them.
_FILE_READERS = _LINEWISE | frozenset(
    "base64 gbase64 base32 xxd gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd rev head tail sort nl".split()
) - {"tee", "pv"}
_FILTERS = frozenset(("grep", "egrep", "fgrep", "rg", "uniq", "nl", "column", "shuf", "sort", "head", "tail"))


def _counts(words: list[str]) -> bool:
    return any(word in ("-c", "-q", "--count", "--quiet", "-l") for word in words)


def _decodes(name: str, words: list[str]) -> bool:
    wanted = _DECODERS.get(name)
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


def _echo(walk: Walk, call: Invocation) -> Stream:
    return _printing(call, decode.echo(call.words()))


def _printf(walk: Walk, call: Invocation) -> Stream:
    words = call.words()
    if words[:1] == ["-v"] and len(words) > 2:
        text = decode.printf(words[2:])
        walk.state.assign(words[1], Arg(text if text is not None else UNKNOWN))
        return NOTHING
    return _printing(call, decode.printf(words))


def _printing(call: Invocation, text: str | None) -> Stream:
    taint, source = _CLEAN, ""
    for argument in call.argv[1:]:
        if argument.taint:
            taint |= argument.taint
            source = source or argument.source
    if call.appended and text is not None:
        text = text.rstrip("\n") + " " + UNKNOWN
    if text is not None and not text.strip(UNKNOWN + " \n"):
        text = None if UNKNOWN in text else text
    return Stream(text, True, taint, source)


def _fetched(walk: Walk, call: Invocation) -> Stream:
    """curl and wget: from the network to stdout or to a file of this line."""
    url = next((arg.text for arg in call.argv[1:] if "://" in arg.text), "")
    source = url.replace(UNKNOWN, "?")[:100] or call.name
    content = Stream(None, True, _REMOTE, source)
    words = call.words()
    wget = call.name == "wget"
    saved = False
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        path = ""
        if (word in ("-o", "--output") and not wget) or (word in ("-O", "--output-document") and wget):
            path = after
        elif word.startswith(("--output=", "--output-document=")):
            path = word.partition("=")[2]
        elif not word.startswith("--") and word.startswith("-") and len(word) > 2:
            letter = "O" if wget else "o"
            before, found, rest = word[1:].partition(letter)
            if found and (wget or before.isalpha() or not before):
                path = rest or after
        elif word in ("-O", "--remote-name") and not wget:
            path = url.rstrip("/").rpartition("/")[2].partition("?")[0]
        if not wget and not path and word.startswith("-") and not word.startswith("--") and "O" in word:
            path = url.rstrip("/").rpartition("/")[2].partition("?")[0]
        if path and path not in ("-", "/dev/stdout"):
            remember(walk, path, content)
            saved = True
        elif path in ("-", "/dev/stdout"):
            return content
    if wget and not saved:
        name = url.rstrip("/").rpartition("/")[2].partition("?")[0]
        if name:
            remember(walk, name, content)
        return ANYTHING
    return ANYTHING if saved else content


def _dump(walk: Walk, call: Invocation) -> Stream:
    """env, printenv, set, export -p: all variables, credentials among them."""
    words = [word for word in call.words() if not word.startswith("-")]
    options = [word for word in call.words() if word.startswith("-")]
    if call.name == "printenv" and words:
        for word in words:
            if secret_name(word):
                return Stream(None, True, _SECRET, f"${word}")
        return ANYTHING
    if call.name == "compgen":
        return ANYTHING
    if words or (call.name == "set" and options):
        return NOTHING
    if call.name in ("declare", "typeset") and options not in ([], ["-x"], ["-p"], ["-px"], ["-xp"]):
        return NOTHING
    return Stream(None, True, _SECRET, "the environment")


def secret_name(name: str) -> bool:
    """Does a variable's name say that it holds a credential?"""
    name = name.upper()
    return name.endswith(
        ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "_PAT", "APIKEY", "ACCESS_KEY_ID")
    )


def _network(walk: Walk, call: Invocation) -> Stream:
    target = next((arg.text for arg in call.argv[1:] if not arg.text.startswith("-")), call.name)
    return Stream(None, True, _REMOTE, f"{call.name} {target}".replace(UNKNOWN, "?")[:100])


def _silent(walk: Walk, call: Invocation) -> Stream:
    return NOTHING


def _tee(walk: Walk, call: Invocation) -> Stream:
    appends = call.has("a", "--append")
    for argument in call.operands():
        if argument.known:
            remember(walk, argument.text, call.stdin, appends)
    return call.stdin if call.stdin.piped else ANYTHING


def _copied(walk: Walk, call: Invocation) -> Stream:
    """cp, mv, ln, install: the copy holds what the original holds."""
    names = [arg for arg in call.operands(frozenset(("-m", "-o", "-g", "-t"))) if arg.known]
    if len(names) >= 2:
        target = names[-1].text
        for argument in names[:-1]:
            held = file_stream(walk, argument.text)
            if held is not LOCAL:
                remember(walk, target, held)
                remember(walk, target.rstrip("/") + "/" + argument.text.rpartition("/")[2], held)
    return NOTHING


def _archive(walk: Walk, call: Invocation) -> Stream:
    """tar, zip, gzip and the like: the archive holds what was put in."""
    words = call.words()
    content = None
    for argument in call.argv[1:]:
        if argument.text.startswith("-") or not argument.text:
            continue
        held = file_stream(walk, argument.text)
        if held.taint:
            content = held
    if content is None:
        if call.name in _DECODERS:
            return _reading(walk, call)
        return Stream(None, True, call.stdin.taint, call.stdin.source) if call.stdin.taint else ANYTHING
    archive = ""
    if call.name in ("zip", "7z", "7za", "rar"):
        named = [word for word in words if not word.startswith("-")]
        archive = named[0 if call.name == "zip" else 1] if len(named) > 1 else ""
    else:
        for at, word in enumerate(words):
            if (word == "-f" or ((at == 0 or word.startswith("-")) and word.endswith("f"))) and at + 1 < len(
                words
            ):
                archive = words[at + 1]
            elif word.startswith("--file="):
                archive = word[7:]
    carried = Stream(None, True, content.taint, content.source)
    if archive and archive != "-":
        remember(walk, archive, carried)
        return ANYTHING
    if call.name in ("gzip", "bzip2", "xz", "zstd") and not call.has("c", "--stdout"):
        for argument in call.operands():
            suffix = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}[call.name]
            remember(walk, argument.text + suffix, carried)
    return carried


def _encrypted(walk: Walk, call: Invocation) -> Stream:
    """openssl, gpg, base64 with an output file of its own."""
    result = _reading(walk, call)
    words = call.words()
    for at, word in enumerate(words):
        if word in ("-out", "-o", "--output") and at + 1 < len(words):
            source = words[words.index("-in") + 1] if "-in" in words[:-1] else ""
            held = file_stream(walk, source) if source else result
            remember(walk, words[at + 1], held if held.taint else result)
    return result


_MAKERS = {
    "echo": _echo,
    "printf": _printf,
    "print": _echo,
    "curl": _fetched,
    "wget": _fetched,
    **{name: _network for name in ("nc", "ncat", "netcat", "socat", "telnet")},
    **{name: (lambda walk, call: Stream(None, True, _REMOTE, call.name)) for name in
       ("http", "https", "xh", "lynx", "w3m", "links", "fetch", "aria2c")},
    **dict.fromkeys(DUMPS, _dump),
    "tee": _tee,
    **dict.fromkeys(("cp", "mv", "ln", "install", "gcp"), _copied),
    **dict.fromkeys(("tar", "zip", "7z", "7za", "rar", "gzip", "bzip2", "xz", "zstd", "bsdtar", "cpio"), _archive),
    **dict.fromkeys(("openssl", "gpg", "age"), _encrypted),
    **dict.fromkeys((":", "true", "false", "cd", "mkdir", "rm", "touch", "sleep", "unset", "alias", "wait", "exit"), _silent),
}  # fmt: skip
