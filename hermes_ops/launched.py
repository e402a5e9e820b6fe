"""What the scripts of `launcher` call. A watcher runs every few minutes and pays for no command line."""

from __future__ import annotations

from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Run `hermes ops WORDS`; returns the exit code."""
    if len(words) == 3 and words[0] == "watch" and words[2] == "--scheduled":
        from ._common.home import hermes_home
        from .core.run import as_job

        as_job(words[1], hermes_home())
        return 0
    from .cli import main as command_line

    return command_line(list(words))
