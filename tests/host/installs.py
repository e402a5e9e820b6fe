"""The three ways this project gets into a Hermes home: one folder, the whole repository, pip.

A `Repository` is a git repository with the files of this checkout as they are now, committed or not,
under the name a clone of the real one has. `install` puts a copy of every plugin into a home with the
host's own commands (pip for the entry points), as a user would.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.host.hermes import HermesHome, Run

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = "hermes-unroll-ops-rlm"
WARNS_EVERY_TIME = f"{PROJECT} has no plugin.yaml / __init__.py; may not be a valid plugin"


@dataclass(frozen=True)
class Plugin:
    """One plugin of the repository: the name it is enabled by, its folder, and `hermes COMMAND`."""

    name: str
    folder: str
    command: str


UNROLL = Plugin("hermes-unroll", "hermes_unroll", "unroll")
OPS = Plugin("hermes-ops", "hermes_ops", "ops")
RLM = Plugin("hermes-rlm", "hermes_rlm", "rlm")
PLUGINS = (UNROLL, OPS, RLM)


@dataclass(frozen=True)
class Kind:
    """One kind of install, and the source that the host lists for it."""

    name: str
    source: str

    def key(self, plugin: Plugin) -> str:
        """What the host calls a plugin of this kind in config.yaml."""
        return f"{PROJECT}/{plugin.folder}" if self.name == "repository" else plugin.name


KINDS = {
    kind.name: kind
    for kind in (Kind("folder", "user"), Kind("repository", "user"), Kind("pip", "entrypoint"))
}
Listed = dict[str, list[tuple[str, str, str]]]


class Repository:
    """This checkout published at `url`; `release` commits another version of every plugin."""

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
        """Publish a commit in which the plugins and the distribution have another version."""
        for plugin in PLUGINS:
            _replace_line(self.work / plugin.folder / "plugin.yaml", "version: ", f"version: {version}")
        _replace_line(self.work / "pyproject.toml", "version = ", f'version = "{version}"')
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


def plugin_files(plugin: Plugin) -> set[str]:
    """The files of a plugin's folder, relative to it."""
    prefix = f"{plugin.folder}/"
    return {name.removeprefix(prefix) for name in checkout_files() if name.startswith(prefix)}


def version(plugin: Plugin) -> str:
    """The version in a plugin's manifest."""
    manifest = (CHECKOUT / plugin.folder / "plugin.yaml").read_text("utf-8")
    return re.search(r"^version: (\S+)$", manifest, re.MULTILINE)[1]


def install(
    home: HermesHome,
    repository: Repository,
    kind: str,
    site: Path,
    *options: str,
    plugins: Iterable[Plugin] = PLUGINS,
) -> dict[str, Run]:
    """Install a copy of every plugin; return the run that installed each, by its name (of pip none).

    `site` is where the pip copies already lie (see `build_site`). A whole repository brings all of them.
    """
    if kind == "pip":
        home.variables["PYTHONPATH"] = str(site)
        return {}

    def run(part: str) -> Run:
        return done(home.run("plugins", "install", repository.url + part, "--no-enable", *options))

    if kind == "folder":
        return {plugin.name: run(f"#{plugin.folder}") for plugin in plugins}
    return dict.fromkeys((plugin.name for plugin in PLUGINS), run(""))


def enable(home: HermesHome, plugins: Iterable[Plugin] = PLUGINS) -> None:
    """Enable plugins by their names, answering the question about replacing built-in tools with no."""
    for plugin in plugins:
        done(home.run("plugins", "enable", plugin.name, "--no-allow-tool-override"))


def disable(home: HermesHome) -> None:
    """Disable every plugin by its name."""
    for plugin in PLUGINS:
        done(home.run("plugins", "disable", plugin.name))


def remove(home: HermesHome, kind: str) -> None:
    """Remove the copies of one kind; pip's go by leaving the path that the host's Python searches."""
    if kind == "pip":
        del home.variables["PYTHONPATH"]
    for name in {"folder": [plugin.name for plugin in PLUGINS], "repository": [PROJECT], "pip": []}[kind]:
        done(home.run("plugins", "remove", name))


def listed(home: HermesHome) -> Listed:
    """Plugin -> (status, version, source) of each copy of it that `hermes plugins list` shows."""
    items = json.loads(done(home.run("plugins", "list", "--no-bundled", "--json")).stdout)
    return {
        plugin.name: [
            (item["status"], item["version"], item["source"]) for item in items if item["name"] == plugin.name
        ]
        for plugin in PLUGINS
    }


def each(status: str, source: str, released: str | None = None) -> Listed:
    """What `listed` returns when there is one copy of every plugin, all in this state."""
    return {plugin.name: [(status, released or version(plugin), source)] for plugin in PLUGINS}


def keys(home: HermesHome, which: str) -> list[str]:
    """The `plugins.enabled` or `plugins.disabled` list of config.yaml as it is now."""
    config = yaml.safe_load((home.path / "config.yaml").read_text("utf-8"))
    return config["plugins"].get(which) or []


def copy_path(home: HermesHome, kind: str, site: Path, plugin: Plugin) -> Path:
    """The folder that a plugin is loaded from when its copy of one kind works."""
    if kind == "pip":
        return site / plugin.folder
    return home.path / "plugins" / KINDS[kind].key(plugin)


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
