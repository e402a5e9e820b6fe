"""The text of the scripts that run outside the host: cron wrappers and units.

The host runs a script of `$HERMES_HOME/scripts/` without arguments, with its own Python. Where this plugin
is installed may change between two runs (a folder, a whole repository, pip), so the script looks for it
each time it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ._common.terminal import printable

MARK = "Written by hermes-ops"

_TEXT = '''\
"""{mark}: runs `hermes ops {shown}`. The next install replaces it; uninstall removes it."""

import os
import sys

# What lies beside this script must not be taken for a module. These two are loaded before any script is.
BESIDE = os.path.dirname(os.path.realpath(__file__))
sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != BESIDE]

import time
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

WORDS = {words!r}
os.environ.setdefault("HERMES_HOME", {home!r})
HOME = Path(os.environ["HERMES_HOME"])


def named(folder):
    """Tell whether a plugin folder is hermes-ops."""
    try:
        lines = (folder / "plugin.yaml").read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    plain = [line.split("#")[0].replace("'", "").replace('"', "").split() for line in lines]
    return ["name:", "hermes-ops"] in plain


def folders():
    """The places of the plugin in a home: alone, or inside a whole repository."""
    plugins = HOME / "plugins"
    yield plugins / "hermes-ops"
    for folder in sorted(plugins.glob("*")):
        yield from (folder, folder / "hermes_ops")


def load():
    """Import hermes_ops from where it is installed now; False when it is nowhere."""
    try:
        if find_spec("hermes_ops"):
            return True
    except (ImportError, ValueError):
        pass
    for folder in folders():
        if named(folder) and (folder / "__init__.py").exists():
            spec = spec_from_file_location(
                "hermes_ops", folder / "__init__.py", submodule_search_locations=[str(folder)]
            )
            sys.modules["hermes_ops"] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules["hermes_ops"])
            return True
    return False


def missing():
    """Say once a day that the plugin is gone: a silent watcher would look like a healthy one."""
    mark = HOME / "ops" / "plugin-missing"
    try:
        told = mark.stat().st_mtime
    except OSError:
        told = 0
    if not 0 <= time.time() - told < 86400:
        shown = " ".join(WORDS)
        print("hermes-ops is not installed any more, so `ops " + shown + "` did not run; remove this job")
        try:
            mark.parent.mkdir(mode=0o700, exist_ok=True)
            mark.touch()
        except OSError:
            pass


if load():
    from hermes_ops.launched import main

    sys.exit(main(WORDS))
missing()
'''


def launcher_text(home: Path, words: Sequence[str]) -> str:
    """The source of a script that runs `hermes ops WORDS` for `home`, wherever the plugin is then.

    HERMES_HOME of the environment wins over `home`. Without the plugin it says so once a day and ends
    with exit code 0.
    """
    shown = printable(" ".join(words)).replace("\\", "/").replace('"', "'")
    return _TEXT.format(mark=MARK, shown=shown, words=list(words), home=str(home))


def problem(home: Path) -> str | None:
    """Why scripts of a home would not find this plugin when they run; None when one that is tried does."""
    import os
    import re
    import subprocess
    import sys
    from tempfile import TemporaryDirectory

    mark = home / "ops" / "plugin-missing"
    had_mark = mark.exists()
    with TemporaryDirectory() as folder:
        script = Path(folder) / "ops-try.py"
        script.write_text(launcher_text(home, ["--version"]), "utf-8")
        environment = {**os.environ, "HERMES_HOME": str(home)}
        command = [sys.executable, str(script)]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, timeout=60)
    if not had_mark:
        # That nobody was told here must not keep a job from telling it.
        mark.unlink(missing_ok=True)
    if done.returncode == 0 and re.match(rb"hermes-ops \d", done.stdout):
        return None
    here = Path(__file__).resolve().parent
    return (
        f"scripts of {home} do not find hermes-ops (this copy lies at {here}):"
        " install it there with `hermes plugins install`, or with pip"
    )


def is_ours(text: str) -> bool:
    """Tell whether a script was written by `launcher_text`."""
    return text.startswith(f'"""{MARK}: ')
