"""Running git so that nothing of the user's or a lane's answers in its place: no hooks, editors, prompts.

Variables that lead git elsewhere are taken out of the environment, and what a configuration may start on its
own (hooks, a file system monitor, signing, maintenance) is off. Filters and merge drivers of a repository's
configuration are kept out by working in a repository of our own, see `checkout.py`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import OpsError

TIMEOUT = 120.0
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "rerere.enabled=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
)
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "file",
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Said:
    """What a git command left; `why` is the last line it complained with."""

    code: int
    out: str
    err: str

    @property
    def why(self) -> str:
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return lines[-1] if lines else f"exit {self.code}"


def environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a git command: ours without any GIT_ variable, and without anybody to ask."""
    return {name: value for name, value in variables.items() if not name.startswith("GIT_")} | _VARIABLES


class Git:
    """git in one folder; ``extra`` are variables of its own (an object directory, an identity)."""

    def __init__(
        self, folder: Path, extra: Mapping[str, str] | None = None, settings: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self._extra = dict(extra or {})
        self._settings = list(settings)

    def run(self, *arguments: str, timeout: float = TIMEOUT, stdin: bytes = b"") -> Said:
        """Run `git ARGUMENTS`, whatever its exit code. OpsError without git, or at the time limit."""
        import subprocess

        command = ["git", "-C", str(self.folder), "--literal-pathspecs"]
        command += [word for setting in _SETTINGS for word in ("-c", setting)]
        try:
            process = subprocess.Popen(
                [*command, *self._settings, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment() | self._extra,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise OpsError("git is not installed; lanes need it") from None
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            _end(process.pid)
            process.communicate()
            raise OpsError(f"git {arguments[0]} did not end within {timeout:g} s in {self.folder}") from None
        except BaseException:
            _end(process.pid)
            process.communicate()
            raise
        # Names of files are bytes; as surrogates they go back to git, and to the system, unchanged.
        return Said(process.returncode, os.fsdecode(out), err.decode("utf-8", "replace"))

    def must(self, *arguments: str, timeout: float = TIMEOUT, stdin: bytes = b"") -> str:
        """The output of a command that has to succeed, without its last newline. OpsError as git says."""
        said = self.run(*arguments, timeout=timeout, stdin=stdin)
        if said.code != 0:
            raise OpsError(f"git {arguments[0]}: {said.why}")
        return said.out.removesuffix("\n")

    def without_filters(self) -> Git:
        """git in the same folder, without the filters that the repository's own configuration names."""
        words: list[str] = []
        for scope in ("--local", "--worktree"):
            said = self.run("config", scope, "--includes", "--name-only", "-z", "--get-regexp", r"^filter\.")
            for key in said.out.split("\0"):
                if key.endswith((".clean", ".smudge", ".process", ".required")):
                    words += ["-c", f"{key}={'false' if key.endswith('.required') else ''}"]
        return Git(self.folder, self._extra, words)

    def commit(self, name: str) -> str | None:
        """The id of the commit that a ref, branch or id names; None when there is none."""
        said = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return said.out.strip() or None if said.code == 0 else None

    def tree(self, commit: str) -> str | None:
        """The id of a commit's tree."""
        said = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}")
        return said.out.strip() or None if said.code == 0 else None

    def parents(self, commit: str) -> list[str]:
        """The ids of a commit's parents."""
        return self.must("rev-list", "--parents", "--max-count=1", commit, "--").split()[1:]

    def is_ancestor(self, one: str, other: str) -> bool:
        """Whether `other` holds everything of `one`."""
        return self.run("merge-base", "--is-ancestor", one, other).code == 0

    def count(self, since: str, until: str) -> int:
        """How many commits `until` has that `since` has not."""
        return int(self.must("rev-list", "--count", f"{since}..{until}", "--"))


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
