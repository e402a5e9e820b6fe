"""A small repository with a user's checkout in it, and lanes beside it, for the tests of lanes."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from hermes_ops._common.command_line import UsageError, carry_out
from hermes_ops.commands import lanes
from hermes_ops.errors import OpsError
from hermes_ops.lanes.repository import Repository, open_repository


class Checkout:
    """A user's checkout on `main` with one commit; `run` is `hermes ops lanes ...` in this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(_begun(), path)

    def git(self, *words: str, cwd: Path | None = None, fails: bool = False) -> str:
        done = subprocess.run(
            ["git", "-C", str(cwd or self.path), *words],
            capture_output=True,
            text=True,
            env=plain_environment(),
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stdout.strip()

    def write(self, name: str, content: str, cwd: Path | None = None) -> None:
        ((cwd or self.path) / name).write_text(content, "utf-8")

    def commit(self, message: str, cwd: Path | None = None) -> None:
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "--allow-empty", "-m", message, cwd=cwd)

    @property
    def repository(self) -> Repository:
        return open_repository(self.path)

    @property
    def lanes(self) -> Path:
        return self.path.parent / f"{self.path.name}.lanes"

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        lanes.add_arguments(parser)
        arguments = parser.parse_args([words[0], "--repo", str(self.path), *words[1:]])
        return carry_out("lanes", lambda: lanes.run(arguments), (OpsError, UsageError))

    def init(self, *words: str, gate: str = "sh check.sh") -> None:
        assert self.run("init", "--gate", gate, "--target", "main", *words) == 0

    def lane(self, name: str, **files: str) -> Path:
        """A lane with one commit that writes files; a name stands for itself with `.txt`."""
        assert self.run("new", "--", name) == 0
        path = next(
            Path(one["path"])
            for one in json.loads((self.state / "lanes.json").read_text())["lanes"]
            if one["name"] == name
        )
        for file, content in files.items():
            self.write(f"{file}.txt", content, path)
        if files:
            self.commit(f"work of {name}", path)
        return path

    @property
    def state(self) -> Path:
        return self.path / ".git" / "hermes-lanes"

    def records(self) -> list[dict]:
        file = self.state / "evidence.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def away(self) -> None:
        """The user works on a branch of his own, so that nobody has the target checked out."""
        self.git("checkout", "--quiet", "-b", "mine")

    def seen(self) -> tuple[str, ...]:
        """What the user sees of his checkout: branch, commit, index and files with their times."""
        files = sorted(
            (one.name, one.stat().st_mtime_ns, one.read_bytes())
            for one in self.path.iterdir()
            if one.is_file()
        )
        index = (self.path / ".git" / "index").read_bytes()
        return (
            self.git("symbolic-ref", "HEAD"),
            self.git("rev-parse", "HEAD"),
            str(files),
            str(index),
            self.git("stash", "list"),
        )


@cache
def _begun() -> Path:
    """A repository with one commit, made once and copied for each test."""
    folder = Path(tempfile.mkdtemp(prefix="lanes-"))
    atexit.register(shutil.rmtree, folder, True)
    made = object.__new__(Checkout)
    made.path = folder
    made.git("init", "--quiet", "--initial-branch=main", "--template=")
    made.git("config", "user.name", "Anna")
    made.git("config", "user.email", "anna@example.org")
    made.write("check.sh", "test ! -e bad\n")
    made.write("notes.txt", "one\n")
    made.commit("begin")
    return folder


def plain_environment() -> dict[str, str]:
    """Ours without git's own variables, and without the settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
