"""What the pages say of commands, settings and watchers is what there is."""

import re
import shlex
from pathlib import Path

import pytest

from hermes_ops import cli, settings
from hermes_ops._common.command_line import Parser, UsageError
from hermes_ops.commands.settings import markdown
from hermes_ops.core.watch import WATCHERS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted((ROOT / "docs" / "ops").glob("*.md"))


def section(title: str) -> str:
    found = re.search(rf"^## {title}$(.*?)(?=^## )", README, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no section {title}"
    return found[1]


def test_the_table_of_settings_is_the_one_the_command_prints():
    page = (ROOT / "docs" / "ops" / "settings.md").read_text("utf-8")
    table = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    assert table == "\n".join(markdown(settings.all_options()))


def test_every_command_is_in_the_readme_and_has_help():
    listed = set(re.findall(r"`hermes ops ([a-z-]+)", section("hermes-ops")))
    assert set(cli.COMMANDS) <= listed
    assert listed <= set(cli.COMMANDS)
    for name in cli.COMMANDS:
        with pytest.raises(SystemExit) as ended:
            cli.main([name, "--help"])
        assert ended.value.code == 0


def test_every_watcher_is_in_the_readme_with_its_schedule():
    for watcher in WATCHERS:
        assert re.search(rf"^\| {watcher.name} \| .*`?{re.escape(watcher.schedule)}", README, re.MULTILINE), (
            watcher
        )


def commands(text: str) -> list[str]:
    """The command lines of indented and fenced blocks."""
    found = re.findall(r"^(?:    |\$ |    \$ )(hermes ops [^\n#]*)", text, re.MULTILINE)
    return [line.split("   ")[0].strip() for line in found if "..." not in line and "|" not in line]


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *PAGES, *sorted((ROOT / "docs" / "playbook").glob("*.md"))],
    ids=lambda page: page.name,
)
def test_command_lines_of_the_pages_can_be_parsed(page):
    parser = Parser(prog="hermes ops")
    cli.add_commands(parser)
    for line in commands(page.read_text("utf-8")):
        words = shlex.split(re.sub(r"\[([^\]]*)\]", r"\1", line))[2:]
        words = words[: words.index("&&")] if "&&" in words else words
        try:
            parser.parse_args(words)
        except UsageError as error:
            raise AssertionError(f"{page.name}: {line}: {error}") from None
