"""What the walk itself finds: code of unknown origin, bombs, text that cannot be read."""

from __future__ import annotations

from ..rules.rule import approve, block

FORK_BOMB = block(
    "processes.fork-bomb", "a function that starts itself again and again fills the process table"
)
REMOTE_CODE = approve(
    "remote.code",
    "code from the network would run unread",
    "download it to a file, read it, then run the file",
)
OPAQUE_CODE = approve(
    "opaque.code",
    "code that cannot be seen here would run",
    "write the commands out so that they can be read",
)
OPAQUE_COMMAND = approve(
    "opaque.command",
    "which program runs is only known when it runs",
    "name the program itself",
)
OPAQUE_ARGUMENT = approve(
    "opaque.argument",
    "a program that may run it gets a command that must never run",
    "give it as data in a file, or say what the program does with it",
)
OPAQUE_INPUT = approve(
    "opaque.input",
    "a program that may run its input gets text that must never run",
    "write it to a file first",
)
OPAQUE_FILE = approve(
    "opaque.file",
    "a program that may run it gets a file of this line that must never run",
    "read the file first",
)
SOURCED = approve(
    "opaque.sourced", "a file of unknown content would run in this shell", "read the file first"
)
REMOTE_SHELL = block("reverse-shell.stream", "a shell would take its commands from the network")
SHELL_OUT = block("reverse-shell.piped", "a shell's answers would go to a network connection")
ERROR = approve("guard.error", "the guard itself failed on this text, so nobody has judged it")
LIMIT = approve(
    "unread.limit", "the text is too long or too deep to be judged as a whole", "send it in smaller parts"
)
UNREAD = approve("unread.syntax", "the shell text could not be read to its end", "write it in a simpler form")

RULES = (
    FORK_BOMB,
    REMOTE_CODE,
    OPAQUE_CODE,
    OPAQUE_COMMAND,
    OPAQUE_ARGUMENT,
    OPAQUE_INPUT,
    OPAQUE_FILE,
    SOURCED,
    REMOTE_SHELL,
    SHELL_OUT,
    ERROR,
    LIMIT,
    UNREAD,
)
