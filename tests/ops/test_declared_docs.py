"""The pages and the skill of table, diff, watchers, policy, remind and gate say what there is."""

import re
import shlex
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import tomllib

from hermes_ops import cli
from hermes_ops._common.command_line import Parser
from hermes_ops.core import toml_file
from hermes_ops.schedule import manifest, policy

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = [
    CHECKOUT / "docs" / "ops" / f"{name}.md"
    for name in ("table", "watchers", "policy", "remind", "gate", "recipes")
]
SKILL = CHECKOUT / "hermes_ops" / "skills" / "one-shot-reminder" / "SKILL.md"
OURS = ("table", "diff", "watchers", "policy", "remind", "gate")


def commands(path):
    """The `hermes ops ...` lines of the examples of a page."""
    found = re.findall(r"^ {4,}(?:\$ )?hermes ops (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return [line for line in found if line.split()[0] in OURS]


@pytest.mark.parametrize("path", [*PAGES, SKILL], ids=lambda path: path.name)
def test_every_example_is_a_command_line_that_is_understood(path):
    found = commands(path)
    assert found
    for line in found:
        parser = Parser(prog="hermes ops")
        cli.add_commands(parser)
        parsed = parser.parse_args(shlex.split(line, comments=True))
        assert callable(parsed.ops_run), line


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_names_every_option_of_its_command(path):
    if path.stem not in OURS:
        return
    parser = Parser(prog="x")
    __import__(f"hermes_ops.commands.{path.stem}", fromlist=["add_arguments"]).add_arguments(parser)
    text = path.read_text("utf-8")
    options = {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
    assert [option for option in sorted(options) if option not in text] == []


def blocks(path):
    """The indented blocks of a page."""
    found, current = [], []
    for line in [*path.read_text("utf-8").splitlines(), "end"]:
        if line.startswith("    ") or (not line and current):
            current.append(line[4:])
        elif current:
            found.append("\n".join(current))
            current = []
    return found


def test_the_policy_and_the_manifest_of_the_pages_are_valid():
    (written,) = [block for block in blocks(PAGES[2]) if "[[job]]" in block]
    found = policy.parse(tomllib.loads(written), Path("policy.toml"), ZoneInfo("Europe/Berlin"))
    assert found.declarations and found.exclusions and found.alert_targets
    (written,) = [block for block in blocks(PAGES[1]) if "[[watcher]]" in block]
    tables = toml_file.tables(tomllib.loads(written), "watcher", Path("watchers.toml"))
    assert [manifest._entry(table, where).name for table, where in tables] == ["phone", "disk", "rack"]


def test_the_page_of_the_policy_has_the_numbers_of_the_code():
    text = PAGES[2].read_text("utf-8")
    for kind in policy.KINDS.values():
        (row,) = re.findall(rf"^\| {kind.name} \|.*\| (\d+) \|$", text, re.MULTILINE)
        assert int(row) == kind.messages_per_day


def test_the_skill_has_the_front_matter_that_the_host_reads():
    yaml = pytest.importorskip("yaml")
    text = SKILL.read_text("utf-8")
    assert text.startswith("---\n")
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["name"] == SKILL.parent.name
    # The index of the host shows 60 characters of it.
    assert 0 < len(front["description"]) <= 60
    assert set(front["platforms"]) <= {"linux", "macos", "windows"}
    assert len(text) < 4000
