"""Credentials given to clients of the web: curl, wget, httpie."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..judge.invocation import SECRET, UNKNOWN, Arg, Invocation
from ..verdict import Found
from .few import few
from .names import names
from .sending import SENT, from_input, secret, sent, tainted
from .tokens import sent_elsewhere

# Where a client says who it is: that is what credentials are for.
_CURL_IDENTITY = names(
    "-H --header -u --user -E --cert --key --cacert --capath --netrc-file -b --cookie --oauth2-bearer "
    "--proxy-user -U --pass --proxy-header --proxy-cert --proxy-key -K --config --aws-sigv4 -A "
    "--user-agent -e --referer --unix-socket -x --proxy --pinnedpubkey --tlsuser --tlspassword "
    "--delegation --login-options --proxy-pass -c --cookie-jar -o --output -w --write-out"
)


_CURL_DATA = names(
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string "
    "-T --upload-file --url-query --url -G"
)


_WGET_IDENTITY = names(
    "--header --user --password --http-user --http-password --certificate --private-key "
    "--ca-certificate --load-cookies --proxy-user --proxy-password -U --user-agent -O -o "
    "--output-document -e"
)


def curl(invocation: Invocation) -> Iterator[Found]:
    arguments = few(invocation.arguments)
    identity = _CURL_IDENTITY
    index = 0
    reads_input = False
    carried: list[Arg] = []
    addresses: list[str] = []
    while index < len(arguments):
        argument = arguments[index]
        text = argument.text
        option, value = text, None
        if text.startswith("--"):
            option, equals, given = text.partition("=")
            if equals:
                value = Arg(given, argument.glob, argument.taint, argument.source)
            elif (option in identity or option in _CURL_DATA) and index + 1 < len(arguments):
                index += 1
                value = arguments[index]
        elif text.startswith("-") and len(text) > 1:
            option, value, index = _cluster(arguments, index)
        else:
            yield from address(invocation, argument)
            _addressed(argument, carried, addresses)
            index += 1
            continue
        index += 1
        if value is None:
            if SECRET in argument.taint:
                yield sent(argument.source or "a credential", invocation.part)
            continue
        if option in identity:
            if not _is_login(option, value):
                yield from tainted(invocation, [value])
            continue
        yield from tainted(invocation, [value])
        if option == "--url":
            _addressed(value, carried, addresses)
        elif option in _CURL_DATA:
            carried.append(value)
        if option in ("--data-raw", "--form-string", "--url", "-G"):
            yield from address(invocation, value)
            continue
        if option in _CURL_DATA:
            reads_input |= _reads_input(option, value.text)
            for path in _paths(option, value.text):
                held = secret(invocation, path)
                if held:
                    yield SENT.found(invocation.part, held)
    if reads_input:
        yield from from_input(invocation)
        carried.append(Arg("", False, invocation.stdin.taint, invocation.stdin.source))
    yield from sent_elsewhere(invocation.part, carried, addresses)


def _addressed(argument: Arg, carried: list[Arg], addresses: list[str]) -> None:
    """An address, and what it carries but for the login before the host."""
    addresses.append(argument.text)
    login, at, rest = argument.text.partition("@")
    if not at or "/" in login.partition("://")[2] or UNKNOWN in rest:
        carried.append(argument)


# Headers that say who is asking.
_LOGIN_HEADER = re.compile(
    r"\s*[\w-]*(?:auth|token|key|cookie|secret|session|credential|signature)[\w-]*\s*:", re.IGNORECASE
)


# A header of this name holds a scheme before the one secret; a whole file of secrets is none.
_BARE_HEADER = re.compile(rf"\s*authorization\s*:\s*{UNKNOWN}", re.IGNORECASE)


def _is_login(option: str, value: Arg) -> bool:
    """Is a tainted value of an option who the client is, and no more than one secret of its own."""
    if option in ("-H", "--header", "--proxy-header") and not _LOGIN_HEADER.match(value.text):
        return False
    if option in ("-A", "--user-agent", "-e", "--referer"):
        return False
    if _BARE_HEADER.match(value.text) and "keys and passwords" in value.source:
        return False
    return not any(
        sign in value.source
        for sign in ("SSH keys", "the agent's", "environment", "GnuPG", "hashes", "store")
    )


def _cluster(arguments: list[Arg], index: int) -> tuple[str, Arg | None, int]:
    """A cluster of short options of curl: the one that takes a value, and the value."""
    argument = arguments[index]
    text = argument.text
    for place, letter in enumerate(text[1:], 1):
        option = "-" + letter
        if option in _CURL_IDENTITY or option in (
            "-d",
            "-F",
            "-T",
            "-X",
            "-m",
            "-r",
            "-y",
            "-Y",
            "-z",
            "-t",
            "-Q",
            "-C",
            "-D",
            "-h",
            "-P",
        ):
            rest = text[place + 1 :]
            if rest:
                return option, Arg(rest, argument.glob, argument.taint, argument.source), index
            if index + 1 < len(arguments):
                return option, arguments[index + 1], index + 1
            return option, None, index
    return text, None, index


def _paths(option: str, value: str) -> Iterator[str]:
    """The files that the value of a data option of curl names."""
    if option in ("-T", "--upload-file"):
        yield value
    elif option in ("-F", "--form"):
        after = value.partition("=")[2]
        if after[:1] in ("@", "<"):
            for piece in after[1:].split(","):
                yield piece.partition(";")[0]
    elif option == "--data-urlencode":
        if "@" in value and "=" not in value.partition("@")[0]:
            yield value.partition("@")[2]
    elif value[:1] == "@":
        yield value[1:]


def _reads_input(option: str, value: str) -> bool:
    if option in ("-T", "--upload-file"):
        return value in ("-", ".", "/dev/stdin")
    return value in ("@-", "@/dev/stdin") or value.endswith(("=@-", "=<-", "=@/dev/stdin")) or "=@-;" in value


def address(invocation: Invocation, argument: Arg) -> Iterator[Found]:
    """A credential inside an address; before the host it is a login, which is what it is for."""
    if SECRET not in argument.taint:
        return
    before, at, _ = argument.text.partition("@")
    if (
        at
        and "://" in before
        and "/" not in before.partition("://")[2]
        and UNKNOWN in before
        and UNKNOWN not in _
    ):
        return
    yield sent(argument.source or "a credential", invocation.part)


def wget(invocation: Invocation) -> Iterator[Found]:
    arguments = few(invocation.arguments)
    for index, argument in enumerate(arguments):
        option, equals, value = argument.text.partition("=")
        if option == "--header":
            given = Arg(value, False, argument.taint, argument.source)
            given = given if equals or index + 1 >= len(arguments) else arguments[index + 1]
            yield from () if _is_login(option, given) else tainted(invocation, [given])
        if option in _WGET_IDENTITY:
            continue
        if index and arguments[index - 1].text in _WGET_IDENTITY:
            continue
        yield from tainted(invocation, [argument])
        if option in ("--post-file", "--body-file"):
            path = value if equals else (arguments[index + 1].text if index + 1 < len(arguments) else "")
            if path in ("-", "/dev/stdin"):
                yield from from_input(invocation)
            held = secret(invocation, path)
            if held:
                yield SENT.found(invocation.part, held)
    yield from _sent(invocation, _WGET_IDENTITY)


def _sent(invocation: Invocation, identity: frozenset[str]) -> Iterator[Found]:
    """What a client sends beside who it is, and where to."""
    carried: list[Arg] = []
    addresses: list[str] = []
    before = ""
    for argument in few(invocation.arguments):
        text = argument.text
        if before not in identity and text.partition("=")[0] not in identity and not _HEADER.match(text):
            if "://" in text and not text.startswith("-"):
                _addressed(argument, carried, addresses)
            else:
                carried.append(argument)
        before = text
    carried.append(Arg("", False, invocation.stdin.taint, invocation.stdin.source))
    yield from sent_elsewhere(invocation.part, carried, addresses)


_HTTP_IDENTITY = names("-a --auth -A --auth-type --cert --cert-key --session -o --output --verify")
_HEADER = re.compile(r"[\w-]+:(?!=|//)")


def http(invocation: Invocation) -> Iterator[Found]:
    yield from from_input(invocation)
    for argument in few(invocation.arguments):
        text = argument.text
        if _HEADER.match(text) or text.startswith(("-a", "--auth")):
            continue  # a header, a login
        yield from tainted(invocation, [argument])
        if "@" in text:
            held = secret(invocation, text.rpartition("@")[2])
            if held:
                yield SENT.found(invocation.part, held)
    yield from _sent(invocation, _HTTP_IDENTITY)
