"""Reading credentials: allowed to a person, asked of an agent whose transcript keeps what it sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import Arg, Invocation
from ..verdict import Found
from . import stores
from .few import few
from .names import names
from .paths import Place
from .removal import located, mv_operands
from .rule import Family, approve
from .secrets import secret_of

READ = approve(
    "secrets.read",
    "shows credentials, and what is shown stays in the conversation",
    "name the variable or the file where it is used, without showing it",
)
COPIED = approve("secrets.copied", "makes a copy of credentials", "use the file where it is")
DUMPED = approve(
    "secrets.store-read", "takes credentials out of a store", "let the program that needs one ask for it"
)

_READERS = names(
    "cat tac nl head tail less more most bat batcat grep egrep fgrep rg ag ack zgrep ugrep sed awk "
    "gawk mawk nawk cut paste sort uniq tr strings xxd od hexdump hd base64 base32 jq yq view vim vi "
    "nvim nano emacs ed ex micro pr fold fmt rev dd diff colordiff sdiff cmp comm column join expand "
    "unexpand iconv gzip bzip2 xz zstd zcat bzcat xzcat lz4 tee split csplit look perl ruby node php "
    "type Get-Content gc open xdg-open code subl pbcopy xclip xsel qrencode uuencode basenc "
    "pygmentize glow highlight tomlq dasel xmllint ssh-keygen openssl gpg gpg2 mapfile readarray"
)
_PACKERS = names("tar bsdtar gtar zip 7z 7za 7zr rar cpio ar pax dar")
_COPIERS = frozenset({"cp", "mv", "install", "ln", "rsync", "ditto"})
_SHOWN_NOTHING = re.compile(
    r"-[a-zA-Z]*[qlL][a-zA-Z]*\Z|--(?:quiet|silent|files-with(?:out)?-match(?:es)?)\Z"
)
_GREPS = names("grep egrep fgrep rg ag ack zgrep ugrep")
_FIRST_FIELD = re.compile(r"-f ?1\Z")


def _files(invocation: Invocation) -> Iterator[Arg]:
    """What a reader may be given to read: its operands (a pattern among them is no path) and its input."""
    for argument in few(invocation.arguments):
        text = argument.text
        if text.startswith("-"):
            value = text.partition("=")[2]
            if value:
                yield Arg(value, argument.glob)
        elif text.startswith("if="):
            yield Arg(text[3:], argument.glob)
        else:
            yield argument
    for target in invocation.redirects:
        if target.op == "<" and target.fd in ("", "0"):
            yield target.arg


def _secrets(invocation: Invocation, whole: bool = False) -> Iterator[str]:
    for argument in _files(invocation):
        found = secret_of(argument.text, invocation.cwd, invocation.home, invocation.hermes_home, whole)
        if found:
            yield found


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name in stores.NAMES:
        return _store(invocation)
    if name in _COPIERS:
        return _copied(invocation)
    if name in _PACKERS:
        return _packed(invocation)
    return _read(invocation)


def _read(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    if name in ("gpg", "gpg2"):
        if _shows_key(invocation):
            yield READ.found(invocation.part, "secret GnuPG keys")
        return
    if name in ("ssh-keygen", "openssl") and not _shows_key(invocation):
        return
    secrets = _secrets(invocation)
    first = next(secrets, None)
    if first is None or _shows_nothing(invocation):
        return
    yield READ.found(invocation.part, first)


def _shows_key(invocation: Invocation) -> bool:
    words = invocation.words()
    if invocation.name == "openssl":
        if not words or words[0] not in ("rsa", "ec", "dsa", "pkey", "pkcs12", "pkcs8", "base64", "enc"):
            return False
        if words[0] in ("base64", "enc"):
            return True
        return not any(word in ("-pubout", "-check", "-modulus") for word in words) and (
            "-noout" not in words or "-text" in words
        )
    if invocation.name == "ssh-keygen":
        return False
    return any(word.startswith(("--export-secret", "--export-secret-keys")) for word in words)


def _shows_nothing(invocation: Invocation) -> bool:
    name = invocation.name
    words = invocation.words()
    if name in _GREPS:
        return any(_SHOWN_NOTHING.match(word) for word in words)
    if name == "sed":
        in_place = invocation.has("i", "--in-place") and "-n" not in words
        return in_place or any(word.startswith(("s/=.*", "s/=\\(.*", "s|=.*", "s/=[^")) for word in words)
    if name in ("perl", "ruby") and any(word.startswith(("-i", "-pi")) for word in words):
        return True
    if name == "cut":
        joined = " ".join(words)
        return ("-d=" in joined or "-d =" in joined) and bool(re.search(r"-f ?1(?: |\Z)", joined))
    if name in ("awk", "gawk", "mawk"):
        return any(word == "-F=" for word in words) and any(
            word.replace(" ", "") == "{print$1}" for word in words
        )
    if name == "cmp":
        return True
    if name == "tee":
        return True
    return name in ("code", "subl", "vim", "vi", "nvim", "nano", "emacs", "micro") and all(
        "env" in word or word.startswith("-") for word in words
    )


def _copied(invocation: Invocation) -> Iterator[Found]:
    sources, destination = mv_operands(invocation)
    if destination is None or ":" in destination.text:
        return
    for source in few(sources):
        secret = secret_of(source.text, invocation.cwd, invocation.home, invocation.hermes_home)
        if secret is None:
            continue
        where = located(invocation, destination).place
        if "keys and passwords" in secret and where in (Place.WORK, Place.CURRENT, Place.PARENT):
            # .env files are copied from one working tree to the next all day.
            continue
        if invocation.name == "mv" and where in (Place.WORK, Place.HOME):
            continue
        yield COPIED.found(invocation.part, secret)
        return


def _packed(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if invocation.name in ("tar", "bsdtar", "gtar"):
        bundle = words[0] if words else ""
        creating = invocation.has("", "--create", "--append", "--update") or any(
            letter in word
            for word in words
            if word.startswith("-") and not word.startswith("--")
            for letter in "cru"
        )
        if not (
            creating or (bundle and not bundle.startswith("-") and bundle[0] in "cru" and bundle.isalpha())
        ):
            return
    for found in _secrets(invocation, whole=False):
        yield COPIED.found(invocation.part, found)
        return


def _store(invocation: Invocation) -> Iterator[Found]:
    # Deployments decrypt and fill in all day: only where it goes counts.
    fills_in = invocation.name == "sops" or "inject" in invocation.words()[:1]
    if not fills_in and stores.taint(invocation):
        yield DUMPED.found(invocation.part)


FAMILY = Family(
    "secrets",
    _READERS | _PACKERS | _COPIERS | stores.NAMES,
    _check,
    examples=(
        ("cat ~/.ssh/id_rsa", "secrets.read"),
        ("grep -c '' ~/.aws/credentials", "secrets.read"),
        ("head -n 3 .env", "secrets.read"),
        ("base64 < ~/.ssh/id_ed25519", "secrets.read"),
        ("cat ~/.hermes/auth.json", "secrets.read"),
        ("sudo cat /etc/shadow", "secrets.read"),
        ("openssl rsa -in server.key -text", "secrets.read"),
        ("gpg --export-secret-keys --armor", "secrets.read"),
        ("cp ~/.ssh/id_rsa /tmp/k", "secrets.copied"),
        ("tar czf keys.tgz ~/.ssh", "secrets.copied"),
        ("security find-generic-password -w -s mail", "secrets.store-read"),
        ("kubectl get secret db -o yaml", "secrets.store-read"),
        ("vault kv get secret/db", "secrets.store-read"),
        ("git credential fill", "secrets.store-read"),
    ),
    silent=(
        "cat ~/.ssh/id_ed25519.pub",
        "cat ~/.ssh/config",
        "cat .env.example",
        "grep -q API_KEY .env",
        "cut -d= -f1 .env",
        "sed -i 's/^PORT=.*/PORT=8080/' .env",
        "cp .env.example .env",
        "cp .env ../other-tree/",
        "cat /etc/passwd",
        "openssl x509 -in cert.pem -noout -text",
        "ssh-keygen -lf ~/.ssh/id_rsa",
        "kubectl get secrets -n web",
        "tar czf src.tgz src",
        "tar xzf keys.tgz",
    ),
    rules=(READ, COPIED, DUMPED),
)
