"""Search a text for passwords on command lines: in an argument, over a pipe, in a here-string."""

from __future__ import annotations

from .patterns import PLACEHOLDER, Lazy
from .searched_text import SearchedText
from .secret_values import is_template

_ARGUMENT = rb"(?P<secret>(?![,:;)\]}])[^\s\"'\\-][^\s\"'\\]{1,256})"
_CURL_USER = Lazy(rb"-(?<=[\s\"']-)(?:[a-zA-Z]{0,8}u|-(?:proxy-)?user)(?:[ \t]{1,4}|=)\\*[\"']?"
                         rb"(?![0-9]+:[0-9]+\b)"
                   rb"[^\s:\"'\\]{0,128}:(?P<secret>(?![,:;)\]}])[^\s\"'\\]{1,256})")  # fmt: skip
# command | the argument with a password, after the command on the same line
_COMMANDS = (
    (b"curl", _CURL_USER),
    (b"sshpass",
     Lazy(rb"-(?<=[s ]-)(?<=sshpass -)p[ \t]{0,4}\\*[\"']?(?P<secret>(?![,:;)\]}])[^\s\"'\\]{1,256})")),
    (b"mysql", Lazy(rb"-(?<=\s-)p(?:\\*[\"'])?" + _ARGUMENT)),
    (b"docker login",
     Lazy(rb"-(?<=\s-)p[ \t]{1,4}(?:\\*[\"'])?" + _ARGUMENT)),
    (b"redis-cli",
     Lazy(rb"-(?<=\s-)a[ \t]{1,4}(?:\\*[\"'])?" + _ARGUMENT)),
    (b"curl", Lazy(rb"-(?<=[\s\"']-)b[ \t]{1,4}\\*[\"']?(?P<secret>[\w.-]{1,64}=[^\s\"'\\;]{4,4096}"
                          rb"(?:; ?[^\s\"'\\;]{1,4096}){0,64})")),
    (b"curl", Lazy(rb"--cookie[ \t=]{1,4}\\*[\"']?(?P<secret>[\w.-]{1,64}=[^\s\"'\\;]{4,4096}"
                               rb"(?:; ?[^\s\"'\\;]{1,4096}){0,64})")),
    (b"http ", Lazy(rb"-(?<=\s-)(?:a|-auth)[ \t=]{1,4}\\*[\"']?[^\s:\"'\\]{1,64}:" + _ARGUMENT)),
    (b"ldap", Lazy(rb"-(?<=\s-)w[ \t]{1,4}(?:\\*[\"'])?" + _ARGUMENT)),
    (b"openssl", Lazy(rb"-(?<=\s-)k[ \t]{1,4}(?:\\*[\"'])?" + _ARGUMENT)),
    (b"openssl", Lazy(rb"pass:(?<=[\s\"']pass:)" + _ARGUMENT)),
    (b"zip ", Lazy(rb"-(?<=\s-)P[ \t]{0,4}(?:\\*[\"'])?" + _ARGUMENT)),
    (b"7z ", Lazy(rb"-(?<=\s-)p(?!\\)" + _ARGUMENT)),
    (b"smb", Lazy(rb"-(?<=\s-)U[ \t]{0,4}\\*[\"']?[^\s%\"'\\]{1,64}%" + _ARGUMENT)),
    (b"ssh-keygen", Lazy(rb"-(?<=\s-)N[ \t]{1,4}(?:\\*[\"'])?" + _ARGUMENT)),
    (b"sqlplus", Lazy(rb"/(?<=\w/)(?P<secret>[^\s\"'\\/@]{3,128})@")),
)  # fmt: skip
# Secrets handed to a command over a pipe or a here-string, by what the command says.
_STDIN_COMMANDS = (
    b"--password-stdin",
    b"--with-token",
    b"chpasswd",
    b"sudo -S",
    b"passwd --stdin",
    b"--passphrase-fd",
)
_PIPED = Lazy(
    rb"(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)?(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ \t]+)?\\*[\"']?"
    rb"([^\s\"'\\|;&<>]{3,512})(?:\\+n)?\\*[\"']?[ \t]*\|[^|\n;]{0,120}$"
)
_HERE_STRING = Lazy(rb"[^\n|;<]{0,120}<<<[ \t]*\\*[\"']?([^\s\"'\\|;&<>]{3,512})")
_COMMAND_END = Lazy(rb"&&|\|\||; |\| |[\"'][\])},:]")
_COMMAND_BREAK = Lazy(rb"(?<!\\)[\r\n]|(?<!\\)\\n|', [\"']|\", '")


def find_commands(scan: SearchedText) -> None:
    """Note the passwords on command lines: curl -u name:password, echo password | sudo -S."""
    for needle, pattern in _COMMANDS if b"-" in scan.low or b"sqlplus" in scan.low else ():
        if needle not in scan.low:
            continue
        for match in pattern.finditer(scan.bytes):
            command = scan.low.rfind(needle, max(0, match.start() - 2000), match.start())
            if command < 0 or _COMMAND_BREAK.search(scan.bytes, command, match.start()):
                continue
            loose = needle == b"mysql" or pattern is _CURL_USER
            if not loose and _COMMAND_END.search(scan.bytes, command, match.start()):
                continue
            start, end = match.span("secret")
            secret = scan.text[start:end]
            if not is_template(secret) and not PLACEHOLDER.match(secret):
                scan.spans.append((start, end, "secret", 0, ""))
    for command in _STDIN_COMMANDS:
        at = scan.bytes.find(command)
        while at >= 0:
            _add_stdin(scan, command, at)
            at = scan.bytes.find(command, at + len(command))


def _add_stdin(scan: SearchedText, command: bytes, at: int) -> None:
    """Note what is piped to the command at `at`: echo SECRET | docker login --password-stdin."""
    low = max(0, at - 700)
    pipe = scan.bytes.find(b"|", max(low, at - 120), at) >= 0
    piped = (pipe and _PIPED.search(scan.bytes, low, at)) or _HERE_STRING.match(scan.bytes, at)
    if not piped:
        return
    start, end = piped.span(1)
    if command == b"chpasswd":
        start = scan.bytes.find(b":", start, end) + 1 or end
    secret = scan.text[start:end]
    if secret and not is_template(secret) and not PLACEHOLDER.search(secret):
        scan.spans.append((start, end, "secret", 0, ""))
