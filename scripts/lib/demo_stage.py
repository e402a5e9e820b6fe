"""What the chapters of scripts/demo play on: a throwaway home, a scripted model, and how they speak."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.host import hermes  # noqa: E402
from tests.host.hermes import HermesHome, Run  # noqa: E402
from tests.host.model_server import ModelServer  # noqa: E402


class Failed(Exception):
    """What the demo claims does not hold."""


@dataclass
class Demo:
    """Where the chapters play, where what they leave goes, and the lines that tell of it at the end."""

    home: HermesHome
    model: ModelServer
    kept: Path
    left: list[str] = field(default_factory=list)

    def hermes(self, *arguments: str, show: bool = True, code: int | None = 0) -> Run:
        """Run a hermes command and show its output; Failed unless it exits with `code` (None: any)."""
        say(f"$ hermes {' '.join(quoted(argument) for argument in arguments)}")
        process = self.home.start(*arguments)
        try:
            run = hermes.finish(process)
        finally:
            hermes.end(process)
        wrong = code is not None and run.returncode != code
        if show or wrong:
            say(self.shortened(run.stdout.rstrip()))
        if wrong:
            raise Failed(f"the command exited {run.returncode}: {run.stderr.strip()}")
        return run

    def shortened(self, text: str) -> str:
        """A text with the throwaway home's path written as $HERMES_HOME."""
        return text.replace(str(self.home.path), "$HERMES_HOME")

    def keep(self, file: Path) -> Path:
        """Copy a file to where it outlives the home, and return the copy."""
        return Path(shutil.copy2(file, self.kept / file.name))


def say(text: str = "") -> None:
    print(text, flush=True)


def heading(text: str) -> None:
    say(f"\n== {text}\n")


def quoted(argument: str) -> str:
    return f'"{argument}"' if " " in argument else argument


def install(demo: Demo, folder: str, plugin: str) -> None:
    """Copy a plugin of this checkout into the home and enable it with the host's command."""
    target = demo.home.path / "plugins" / plugin
    shutil.copytree(ROOT / folder, target, ignore=shutil.ignore_patterns("__pycache__"))
    say(f"copied {folder} to {demo.shortened(str(target))}")
    demo.hermes("plugins", "enable", plugin, "--no-allow-tool-override")
