"""What programs print, as far as it can be told: known text, and what taints go through or begin in them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ..rules import tokens
from ..rules.names import names as listed
from . import answers, assignments, computed, decode, flows, formats, links, reading
from .invocation import GUARD_FOLDER, REMOTE, SECRET, UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_CLEAN: frozenset[str] = frozenset()
_REMOTE = frozenset((REMOTE,))
_SECRET = frozenset((SECRET,))

# Programs whose output tells nothing of what they read: counts, sums, verdicts.
FORGETFUL = listed(
    "wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 true false "
    "test [ cmp sleep mkdir touch chmod chown rm ls stat du df file which type wait kill ssh-keygen "
    "ssh-add basename dirname realpath readlink date hostname uname whoami id nproc seq"
)


# Programs that fetch from the network and print it.
FETCHERS = listed("curl wget http https xh httpie aria2c lynx w3m links fetch")


_NETWORK_READERS = frozenset(["nc", "ncat", "netcat", "socat", "telnet"])


_SETTERS = listed(
    "ssh-agent gpg-agent keychain direnv brew pyenv rbenv nodenv jenv goenv opam minikube "
    "docker-machine conda mamba micromamba starship zoxide fzf atuin mise rtx asdf thefuck kubectl "
    "helm gh poetry pip uv npm dircolors lesspipe register-python-argcomplete fnm nvm volta hub "
    "rustup cargo hermes just task op luarocks resize locale perl register_completion podman docker "
    "kind k3d flux argocd terraform tofu vault aws_completer pipx pdm hatch rye eksctl istioctl oc "
    "crc stern yq ng vr tmuxinator systemctl"
)


_SETTING_WORDS = listed(
    "shellenv init hook completion completions docker-env podman-env env activate shell.bash "
    "shell.zsh shell.posix shell -b bash zsh --init generate-shell-completion -Mlocal::lib path "
    "--bash --zsh shell-init show-environment"
)


_AGENTS = frozenset(("ssh-agent", "gpg-agent", "keychain", "dircolors", "lesspipe", "resize"))
DUMPS = frozenset(("env", "printenv", "set", "export", "declare", "typeset", "compgen"))


def output(walk: Walk, call: Invocation) -> Stream:
    """What a command prints."""
    name = call.name
    maker = _MAKERS.get(name)
    if maker is not None:
        return maker(walk, call)
    printer = computed.PRINTERS.get(name)
    if printer is not None and (printed := printer(walk, call)) is not None:
        return _printing(call, printed, call.stdin)
    if name in tokens.PRINTERS:
        service = tokens.source_of_command(name, call.words())
        if service:
            return Stream(None, True, tokens.TAINT, service)
    keys = answers.KEY_PRINTERS.get(name)
    if keys is not None:
        printed = keys(walk, call)
        if printed is not None:
            return printed
    answer = answers.ANSWERS.get(name)
    if answer is not None:
        return answer(walk, call)
    if name in FORGETFUL:
        return flows.ANYTHING
    if name[:6] == "python" and any("hermes_ops" in word for word in call.words()):
        return Stream(None, True, call.stdin.taint, call.stdin.source or GUARD_FOLDER)
    if name in _SETTERS and (name in _AGENTS or not _SETTING_WORDS.isdisjoint(call.words())):
        return flows.SETTINGS
    taint, source = _CLEAN, ""
    stdin = call.stdin
    if stdin.taint:
        taint, source = stdin.taint, stdin.source
    if name in reading.READERS:
        return (_encrypted if name == "gpg" else reading.output)(walk, call)
    for argument in call.argv[1:]:
        if argument.taint:
            taint |= argument.taint
            source = source or argument.source
    return Stream(None, True, taint, source) if taint else flows.ANYTHING


def _echo(walk: Walk, call: Invocation) -> Stream:
    words = call.words()
    text = decode.echo(words)
    if walk.state.dialect not in _PLAIN_ECHO and "\\" in text:
        # Its echo takes escapes where that of bash does not, and who knows which shell is called sh.
        other = decode.escapes(text)
        text = text if other == text else text + other
    return _printing(call, text)


_PLAIN_ECHO = frozenset(("bash", "fish", "rbash", "busybox"))


def _print(walk: Walk, call: Invocation) -> Stream:
    """print of zsh and ksh."""
    return _printing(call, decode.escapes(decode.echo([word for word in call.words() if word != "-r"])))


def _printf(walk: Walk, call: Invocation) -> Stream:
    words = call.words()
    if words[:1] == ["-v"] and len(words) > 2:
        text = decode.printf(words[2:])
        taint, source = reading.tainted(call.argv[3:])
        assignments.to(walk, words[1], Arg(UNKNOWN if text is None else text, False, taint, source))
        return flows.NOTHING
    return _printing(call, decode.printf(words))


def _printing(call: Invocation, text: str | None, stdin: Stream = flows.NOTHING) -> Stream:
    taint, source = stdin.taint, stdin.source if stdin.taint else ""
    for argument in call.argv[1:]:
        if argument.taint:
            taint |= argument.taint
            source = source or argument.source
    if call.appended and text is not None:
        text = text.rstrip("\n") + " " + UNKNOWN
    if text is not None and not text.strip(UNKNOWN + " \n"):
        text = None if UNKNOWN in text else text
    return Stream(text, True, taint, source)


MOST_OPTIONS = 200


# Where a machine in a cloud is lent the credentials of its role.
_METADATA = ("169.254.169.254", "metadata.google.internal", "100.100.100.200", "[fd00:ec2::254]")
_LENT = frozenset((REMOTE, SECRET))


_WRITES_OUT = frozenset(("-w", "--write-out"))


def _lends(url: str) -> bool:
    host, _, path = url.partition("://")[2].partition("/")
    return host in _METADATA and any(word in path for word in ("credentials", "token", "identity"))


def _fetched(walk: Walk, call: Invocation) -> Stream:
    """curl and wget: from the network to stdout or to a file of this line."""
    url = next((arg.text for arg in call.argv[1:] if "://" in arg.text), "")
    source = url.replace(UNKNOWN, "?")[:100] or call.name
    content = Stream(None, True, _LENT if _lends(url) else _REMOTE, source)
    words = call.words()[:MOST_OPTIONS]
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
            flows.remember(walk, path, content)
            saved = True
        elif path in ("-", "/dev/stdout"):
            return content
    shown = next((value for word, value in pairwise(words) if word in _WRITES_OUT), None)
    if saved and not wget and shown is not None and (text := formats.of_transfer(shown)) is not None:
        return Stream(text, True)
    if wget and not saved:
        name = url.rstrip("/").rpartition("/")[2].partition("?")[0]
        if name:
            flows.remember(walk, name, content)
        return flows.ANYTHING
    return flows.ANYTHING if saved else content


def _dump(walk: Walk, call: Invocation) -> Stream:
    """env, printenv, set, export -p: all variables, credentials among them."""
    words = [word for word in call.words() if not word.startswith("-")]
    options = [word for word in call.words() if word.startswith("-")]
    if call.name == "printenv" and words:
        for word in words:
            if secret_name(word):
                return Stream(None, True, _SECRET, f"${word}")
        return flows.ANYTHING
    if call.name == "compgen":
        return flows.ANYTHING
    if words and call.has("p") and call.name in ("declare", "typeset"):
        shown = next((word for word in words if secret_name(word)), "")
        return Stream(None, True, _SECRET, f"${shown}") if shown else flows.ANYTHING
    if words or (call.name == "set" and options):
        return flows.ANYTHING if "-p" in options else flows.NOTHING
    if call.name in ("declare", "typeset") and options not in ([], ["-x"], ["-p"], ["-px"], ["-xp"]):
        return flows.NOTHING
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
    return flows.NOTHING


def _tee(walk: Walk, call: Invocation) -> Stream:
    appends = call.has("a", "--append")
    for argument in call.operands():
        if argument.known:
            flows.remember(walk, argument.text, call.stdin, appends)
    return call.stdin if call.stdin.piped else flows.ANYTHING


def _yes(walk: Walk, call: Invocation) -> Stream:
    """yes: a line again and again."""
    line = " ".join(call.words()) or "y"
    taint, source = reading.tainted(call.argv)
    return Stream(f"{line}\n" * _MOST_LINES, True, taint, source)


_MOST_LINES = 12


def _fifo(walk: Walk, call: Invocation) -> Stream:
    """mkfifo: what reads from these names gets what is written to them, in whatever order they stand."""
    cwd = walk.folder().path
    named = [arg for arg in call.operands(frozenset(("-m", "--mode"))) if arg.known]
    if call.name == "mknod":
        named = named[:1] if call.words()[-1:] == ["p"] else []
    walk.fifos.update(walk.state.file_key(arg.text, cwd) for arg in named)
    return flows.NOTHING


def _sponge(walk: Walk, call: Invocation) -> Stream:
    """sponge: its file holds what came in."""
    return flows.NOTHING if list(call.operands()) else call.stdin


def _copied(walk: Walk, call: Invocation) -> Stream:
    """cp, mv, ln, install: the copy holds what the original holds."""
    if call.name == "ln":
        links.made(walk, call)
    names = [arg for arg in call.operands(frozenset(("-m", "-o", "-g", "-t"))) if arg.known]
    if len(names) >= 2:
        target = names[-1].text
        for argument in names[:-1]:
            held = flows.file_stream(walk, argument.text)
            if held is not flows.LOCAL:
                flows.remember(walk, target, held)
                flows.remember(walk, target.rstrip("/") + "/" + argument.text.rpartition("/")[2], held)
    return flows.NOTHING


def _archive(walk: Walk, call: Invocation) -> Stream:
    """tar, zip, gzip and the like: the archive holds what was put in."""
    words = call.words()
    content = None
    for argument in call.argv[1:]:
        if argument.text.startswith("-") or not argument.text:
            continue
        held = flows.file_stream(walk, argument.text)
        if held.taint:
            content = held
    if content is None:
        if call.name in reading.DECODERS:
            return reading.output(walk, call)
        return Stream(None, True, call.stdin.taint, call.stdin.source) if call.stdin.taint else flows.ANYTHING
    archive = ""
    if call.name in ("zip", "7z", "7za", "rar"):
        named = [word for word in words if not word.startswith("-")]
        archive = named[0 if call.name == "zip" else 1] if len(named) > 1 else ""
    elif call.name not in ("gzip", "bzip2", "xz", "zstd"):
        for at, word in enumerate(words):
            if (word == "-f" or ((at == 0 or word.startswith("-")) and word.endswith("f"))) and at + 1 < len(
                words
            ):
                archive = words[at + 1]
            elif word.startswith("--file="):
                archive = word[7:]
    carried = Stream(None, True, content.taint, content.source)
    if archive and archive != "-":
        flows.remember(walk, archive, carried)
        return flows.ANYTHING
    if call.name in ("gzip", "bzip2", "xz", "zstd") and not call.has("c", "--stdout"):
        for argument in call.operands():
            suffix = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}[call.name]
            flows.remember(walk, argument.text + suffix, carried)
    return carried


def _encrypted(walk: Walk, call: Invocation) -> Stream:
    """openssl, gpg, base64 with an output file of its own."""
    result = reading.output(walk, call)
    words = call.words()
    for at, word in enumerate(words):
        if word in ("-out", "-o", "--output") and at + 1 < len(words):
            source = words[words.index("-in") + 1] if "-in" in words[:-1] else ""
            held = flows.file_stream(walk, source) if source else result
            flows.remember(walk, words[at + 1], held if held.taint else result)
    return result


_MAKERS = {
    "echo": _echo,
    "printf": _printf,
    "print": _print,
    "curl": _fetched,
    "wget": _fetched,
    **{name: _network for name in ("nc", "ncat", "netcat", "socat", "telnet")},
    **{name: (lambda walk, call: Stream(None, True, _REMOTE, call.name)) for name in
       ("http", "https", "xh", "lynx", "w3m", "links", "fetch", "aria2c")},
    **dict.fromkeys(DUMPS, _dump),
    "tee": _tee,
    "sponge": _sponge,
    "yes": _yes,
    **dict.fromkeys(("mount", "umount"), links.mounted),
    **dict.fromkeys(("mkfifo", "mknod"), _fifo),
    "dd": reading.dd,
    **dict.fromkeys(("cp", "mv", "ln", "install", "gcp"), _copied),
    **dict.fromkeys(listed("tar zip 7z 7za rar gzip bzip2 xz zstd bsdtar cpio"), _archive),
    **dict.fromkeys(("openssl", "age"), _encrypted),
    **dict.fromkeys(listed(": true false cd mkdir rm touch sleep unset alias wait exit"), _silent),
}  # fmt: skip
