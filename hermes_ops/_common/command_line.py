"""What the plugins' command lines share: errors of one line, text safe for a terminal, JSON.

Exit codes: 0 fine, 1 a finding or failure, 2 usage. Data goes to stdout, messages to stderr.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .terminal import printable

SCHEMA = 1


class UsageError(Exception):
    """The command line cannot be carried out as it stands."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are UsageError, so that they end as one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def say(text: str) -> None:
    """Print one line of data; an id or a name in it must not be a command to the terminal."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    print(printable(text).encode(encoding, "backslashreplace").decode(encoding))


def say_json(data: dict[str, Any]) -> None:
    """Print one JSON object with its `schema`; numbers that JSON has no form for are refused."""
    print(json.dumps({"schema": SCHEMA, **data}, sort_keys=True, allow_nan=False))


def complain(program: str, error: object, code: int) -> int:
    """Print a message of one line to stderr; returns `code`."""
    encoding = getattr(sys.stderr, "encoding", None) or "ascii"
    text = f"{program}: {printable(' '.join(str(error).split()))}"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)
    return code


def carry_out(
    program: str, command: Callable[[], int], failures: tuple[type[Exception], ...] = (ValueError,)
) -> int:
    """Run a command; returns its exit code. What a person or the disk did wrong becomes one line.

    ``failures`` are the exceptions whose text says all there is to say. Anything else is a fault of ours and
    is raised.
    """
    try:
        code = command()
        _flush()
        return code
    except UsageError as error:
        return complain(program, error, 2)
    except BrokenPipeError:
        # The reader of our output has gone; nothing more is to be said, not even at exit.
        _drop_output()
        return 0
    except failures as error:
        return complain(program, error, 1)
    except OSError as error:
        try:
            _flush()
        except OSError:
            pass  # nothing is left to be written at exit
        where = f"{error.filename}: " if error.filename else _without_name(error)
        return complain(program, f"{where}{error.strerror or error}", 1)
    except KeyboardInterrupt:
        return complain(program, "interrupted", 130)


def _flush() -> None:
    """Write out what was printed, so that a full disk is an error of the command and not one at exit."""
    if getattr(sys.stdout, "closed", True):  # none, or a stand-in that holds nothing back
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        raise OSError(error.errno, error.strerror, "standard output") from None


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _without_name(error: OSError) -> str:
    """What an error that names no file is about, as far as that can be told."""
    if error.errno == errno.ENOENT:
        try:
            os.getcwd()
        except OSError:
            return "the working directory: "
    return ""
