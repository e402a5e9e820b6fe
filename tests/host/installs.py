"""The three ways this project gets into a Hermes home: one folder, the whole repository, pip.

A `Repository` is a git repository with the files of this checkout as they are now, committed or not,
under the name a clone of the real one has. `install` puts a copy of the plugin into a home with the
host's own commands (pip for the entry point), as a user would.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.host.hermes import HermesHome, Run

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = "hermes-unroll-ops-rlm"
PLUGIN = "hermes-unroll"
FOLDER = "hermes_unroll"
WARNS_EVERY_TIME = f"{PROJECT} has no plugin.yaml / __init__.py; may not be a valid plugin"


@dataclass(frozen=True)
class Kind:
    """What the host makes of one kind of install: the key it writes and the source it lists."""

    name: str
    key: str
    source: str


KINDS = {
    "folder": Kind("folder", PLUGIN, "user"),
    "repository": Kind("repository", f"{PROJECT}/{FOLDER}", "user"),
    "pip": Kind("pip", PLUGIN, "entrypoint"),
}


class Repository:
    """This checkout published at `url`; `release` commits another version of the plugin."""

    def __init__(self, place: Path) -> None:
        self.work = place / "work"
        self.bare = place / f"{PROJECT}.git"
        for name in checkout_files():
            target = self.work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, target)
        git("init", "--quiet", "--initial-branch=main", cwd=self.work)
        self._commit("First")
        git("clone", "--quiet", "--bare", str(self.work), str(self.bare), cwd=place)

    @property
    def url(self) -> str:
        return f"file://{self.bare}"

    def release(self, version: str) -> None:
        """Publish a commit in which the plugin and the distribution have another version."""
        manifest, project = self.work / FOLDER / "plugin.yaml", self.work / "pyproject.toml"
        _replace_line(manifest, "version: ", f"version: {version}")
        _replace_line(project, "version = ", f'version = "{version}"')
        self._commit(f"Release {version}")
        git("push", "--quiet", str(self.bare), "main", cwd=self.work)

    def build_site(self, site: Path) -> None:
        """`pip install --target`, from the files here alone, into an empty folder."""
        # pip leaves the metadata of another version in a target, setuptools what it once built in build/.
        shutil.rmtree(site, ignore_errors=True)
        shutil.rmtree(self.work / "build", ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "-qq", "--no-index", "--no-deps"]
        command += ["--no-build-isolation", "--target", str(site), str(self.work)]
        run_checked(command, self.work)

    def _commit(self, subject: str) -> None:
        author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
        git("add", "--all", cwd=self.work)
        git(*author, "commit", "--quiet", "--message", subject, cwd=self.work)


def checkout_files() -> list[str]:
    """The files of this checkout that are in git or would be added to it."""
    listed = git(
        "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=CHECKOUT
    )
    return [name for name in listed.split("\0") if name and (CHECKOUT / name).is_file()]


def plugin_files() -> set[str]:
    """The files of the plugin folder, relative to it."""
    prefix = f"{FOLDER}/"
    return {name.removeprefix(prefix) for name in checkout_files() if name.startswith(prefix)}


def install(home: HermesHome, repository: Repository, kind: str, site: Path, *options: str) -> Run | None:
    """Install a copy of one kind; `site` is where the pip copy already lies (see `build_site`)."""
    if kind == "pip":
        home.variables["PYTHONPATH"] = str(site)
        return None
    suffix = f"#{FOLDER}" if kind == "folder" else ""
    return done(home.run("plugins", "install", repository.url + suffix, "--no-enable", *options))


def enable(home: HermesHome, name: str = PLUGIN) -> Run:
    """`hermes plugins enable`, answering its question about replacing built-in tools with no."""
    return done(home.run("plugins", "enable", name, "--no-allow-tool-override"))


def disable(home: HermesHome, name: str = PLUGIN) -> Run:
    """`hermes plugins disable`."""
    return done(home.run("plugins", "disable", name))


def listed(home: HermesHome) -> list[tuple[str, str, str]]:
    """(status, version, source) of each copy of the plugin that `hermes plugins list` shows."""
    items = json.loads(done(home.run("plugins", "list", "--no-bundled", "--json")).stdout)
    return [(item["status"], item["version"], item["source"]) for item in items if item["name"] == PLUGIN]


def keys(home: HermesHome, which: str) -> list[str]:
    """The `plugins.enabled` or `plugins.disabled` list of config.yaml as it is now."""
    config = yaml.safe_load((home.path / "config.yaml").read_text("utf-8"))
    return config["plugins"].get(which) or []


def copy_path(home: HermesHome, kind: str, site: Path) -> Path:
    """The folder the plugin of one kind is loaded from."""
    if kind == "pip":
        return site / FOLDER
    return home.path / "plugins" / (PLUGIN if kind == "folder" else f"{PROJECT}/{FOLDER}")


def said(run: Run) -> str:
    """What a command printed, with its line breaks and boxes taken out."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", run.stdout).split())


def done(run: Run) -> Run:
    """The run itself when it exited 0, otherwise an error with its output."""
    if run.returncode != 0:
        raise AssertionError(f"hermes {run.arguments} exited {run.returncode}:\n{run.stdout}\n{run.stderr}")
    return run


def git(*arguments: str, cwd: Path) -> str:
    """Run git without the user's configuration and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return run_checked(["git", *arguments], cwd, environment)


def run_checked(command: list[str], cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command to its end and return its stdout; an error with both streams when it does not exit 0."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 120}
    ended = subprocess.run(command, cwd=cwd, env=environment, **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command} exited {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout


def _replace_line(file: Path, start: str, line: str) -> None:
    pattern = re.compile(rf"^{re.escape(start)}.*$", re.MULTILINE)
    text, changed = pattern.subn(line, file.read_text("utf-8"), count=1)
    if not changed:
        raise AssertionError(f"{file} has no line that starts with {start!r}")
    file.write_text(text, "utf-8")
