"""Toolsets: what the host knows, what a job's agent gets, and what its prompt asks for."""

import json
from pathlib import Path

import pytest

from hermes_ops import cli
from hermes_ops._common.config import HostConfig
from hermes_ops.host import toolsets as reading
from hermes_ops.host.jobs import read_job
from hermes_ops.host.toolset_table import INCLUDES, LEGACY, TOOLS
from hermes_ops.host.toolsets import job_tools, read_toolsets
from hermes_ops.quality.toolset_needs import needs
from hermes_ops.quality.toolsets import as_findings, asks, audit
from tests.ops.job_records import job, new_home, put_list, write_jobs

A, B = "aaaaaaaaaaaa", "bbbbbbbbbbbb"


def config(known=True, **values):
    return HostConfig(Path("config.yaml"), values, "yaml", known)


@pytest.fixture(params=["table", "host"])
def toolsets(request, monkeypatch):
    """The toolsets by each source; the host's only where it is installed."""
    if request.param == "table":
        monkeypatch.setattr(reading, "_host_module", lambda: None)
    elif reading._host_module() is None:
        pytest.skip("hermes-agent is not installed")
    return lambda **values: read_toolsets(config(**values))


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(reading, "_host_module", lambda: None)
    return read_toolsets(config())


def record(prompt, toolsets=None, **fields):
    return read_job(job(A, "digest", prompt=prompt, enabled_toolsets=toolsets, **fields))


def found(prompt, toolsets, given, **fields):
    one = audit("default", record(prompt, toolsets, **fields), given)
    return {(finding.rule, finding.key.rpartition("/")[2]) for finding in as_findings(one)}


def test_composites_are_resolved_and_names_of_older_versions_are_taken(toolsets):
    known = toolsets()
    parts = ("terminal", "web", "file")
    assert known.tools("debugging") == frozenset().union(*(known.tools(part) for part in parts))
    assert {"terminal", "web_search", "patch"} <= known.tools("debugging")
    assert known.tools("safe") == frozenset({"web_search", "web_extract", "vision_analyze", "image_generate"})
    assert known.tools("file_tools") == known.tools("file")
    assert {"discord", "terminal", "spotify_search"} <= known.tools("all")
    assert known.tools("no_mcp") == frozenset()


@pytest.mark.parametrize(
    "name, values, told",
    [
        ("web", {}, True),
        ("all", {}, True),
        ("file_tools", {}, True),
        ("files", {}, False),
        ("files", {"plugins": {"enabled": ["mine"]}}, False),
        ("somebodys", {}, False),
        ("somebodys", {"plugins": {"enabled": ["mine"]}}, None),
        ("notes", {"mcp_servers": {"notes": {"command": "x"}}}, True),
        ("notes", {"mcp_servers": {"notes": {"command": "x", "enabled": False}}}, False),
    ],
)
def test_a_name_is_known_wrong_or_cannot_be_told(toolsets, name, values, told):
    assert toolsets(**values).known(name) is told


def test_with_an_unknown_config_nothing_but_a_slip_is_wrong(toolsets):
    unknown = read_toolsets(config(known=False))
    assert unknown.known("somebodys") is None and unknown.known("files") is False


def test_scheduled_agents_never_get_some_tools(toolsets):
    given = job_tools(record("x", ["web", "cronjob", "clarify"]), toolsets())
    assert given.names == {"web_search", "web_extract"} and given.complete
    given = job_tools(record("x", ["web", "terminal"]), toolsets(agent={"disabled_toolsets": ["web"]}))
    assert given.names == {"terminal", "process"}


def test_a_job_without_toolsets_gets_those_of_the_config_or_the_default(toolsets):
    given = job_tools(record("x"), toolsets())
    assert not given.restricted and {"terminal", "web_search", "read_file"} <= given.names
    assert "clarify" not in given.names and "spotify_search" not in given.names
    given = job_tools(record("x"), toolsets(platform_toolsets={"cron": ["web"]}))
    assert given.names == {"web_search", "web_extract"}


def test_what_a_server_gives_is_unknown(toolsets):
    servers = {"notes": {"command": "x"}}
    assert not job_tools(record("x", ["web"]), toolsets(mcp_servers=servers)).complete
    assert job_tools(record("x", ["web", "no_mcp"]), toolsets(mcp_servers=servers)).complete


def names(prompt):
    every = frozenset(" ".join(TOOLS.values()).split())
    return {one.name for one in asks(prompt, every)}


@pytest.mark.parametrize(
    "prompt, need",
    [
        ("Search the web for news about copper.", "the web"),
        ("Open https://a.example.org and sum it up.", "the web"),
        ("Найди в интернете новости о меди.", "the web"),
        ("Read /var/log/syslog and count the errors.", "files"),
        ("Прочитай файл с ценами и посчитай среднюю.", "files"),
        ("Run `df -h` and name the fullest disk.", "commands"),
        ("Connect to the host by ssh and say how long it is up.", "commands"),
        ("Запусти скрипт проверки и перескажи вывод.", "commands"),
        ("Click the button and read the total.", "a browser"),
        ("Describe what is on the photo of the day.", "seeing images"),
        ("Draw a poster for the party.", "making images"),
        ("Нарисуй открытку к празднику.", "making images"),
        ("Read the summary aloud.", "speech"),
        ("Remember it in your memory.", "the memory"),
        ("Delegate the long part.", "subagents"),
        ("Turn off the lights in the hall.", "the smart home"),
        ("Create a cron job for tomorrow.", "a schedule of its own"),
    ],
)
def test_words_ask_for_what_they_mean(prompt, need):
    assert need in names(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Do not search the web, answer from what you know.",
        "Never run `df -h` on that host.",
        "Sum it up without using web_search.",
        "Не запускай скрипт проверки.",
        "Write a poem about the sea.",
        "Explain the word \u201cssh into a host\u201d to a child.",
        "People remember the flood of 1962.",
    ],
)
def test_what_is_forbidden_quoted_or_only_told_asks_for_nothing(prompt):
    assert names(prompt) == set()


def test_a_tool_called_by_its_name_is_needed_as_such():
    (one,) = asks("Use `web_search` for it.", frozenset({"web_search"}))
    assert (one.name, one.by_name, one.line) == ("web_search", True, 1)


def test_a_job_gets_told_what_it_lacks_and_what_it_pays_for_in_vain(table):
    prompt = "Run `df -h` and name the fullest disk in one line."
    assert found(prompt, ["web"], table) == {
        ("toolsets.missing", "commands"),
        ("toolsets.unneeded", "web"),
    }
    assert found(prompt, ["terminal"], table) == set()
    assert found(prompt, ["debugging"], table) == set()


def test_one_of_several_tools_is_enough(table):
    prompt = "Read /srv/x.csv and https://a.example.org and compare the two."
    assert found(prompt, ["terminal"], table) == set()
    assert found(prompt, ["web", "file"], table) == set()


def test_a_wrong_name_gives_nothing(table):
    assert found("Read /srv/x.csv and report the totals.", ["files"], table) == {
        ("toolsets.wrong", "files"),
        ("toolsets.missing", "files"),
    }


def test_what_no_scheduled_agent_gets_is_an_error(table):
    one = audit("default", record("Create a cron job for tomorrow.", ["cronjob"]), table)
    (finding,) = [finding for finding in as_findings(one) if finding.rule == "toolsets.missing"]
    assert finding.severity == "error" and "never" in finding.text


def test_with_a_skill_or_a_server_less_is_certain(table, monkeypatch):
    prompt = "Name the three largest cities of the world."
    assert found(prompt, ["web"], table) == {("toolsets.unneeded", "web")}
    assert found(prompt, ["web"], table, skills=["atlas"]) == set()
    served = read_toolsets(config(mcp_servers={"notes": {"command": "x"}}))
    assert found("Search the web for news.", ["notes"], served) == {("toolsets.unknown", "notes")}
    assert ("toolsets.missing", "commands") in found("Run `df -h` now.", ["notes"], served)


def test_a_job_without_restriction_is_a_remark_with_a_proposal(table):
    one = audit("default", record("Run `df -h` and compare it with /srv/x.csv."), table)
    (finding,) = as_findings(one)
    assert (finding.rule, finding.severity) == ("toolsets.all", "info")
    assert "['file', 'terminal']" in finding.fix


def test_the_map_names_toolsets_and_tools_that_there_are():
    tools = {name for text in (*TOOLS.values(), *LEGACY.values()) for name in text.split()}
    for need in needs():
        assert need.toolset in TOOLS and need.tools <= tools, need.name
        assert need.tools & set(TOOLS[need.toolset].split()), need.name
    for name, parts in INCLUDES.items():
        for part in parts.split():
            assert part.startswith("+") or part in TOOLS or part in INCLUDES, (name, part)


# ---- the command


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    return home


def run(capsys, *words):
    code = cli.main(["toolsets", *words])
    return (code, *capsys.readouterr())


def test_scripts_and_jobs_that_are_over_are_not_looked_at(home, capsys):
    write_jobs(
        home, job(A, "watch", no_agent=True, script="x.py", prompt="Run `df -h`.", enabled_toolsets=["web"])
    )
    code, out, _ = run(capsys)
    assert code == 0 and out.startswith("0 agent jobs, 0 findings")


def test_the_command_tells_findings_and_counts_remarks(home, capsys):
    write_jobs(home, job(A, "disk", prompt="Run `df -h` and name the fullest.", enabled_toolsets=["web"]))
    code, out, _ = run(capsys)
    assert code == 1 and "asks for commands ('Run `df -h`', line 1)" in out and "1 remark (" in out
    assert "has toolset 'web' (2 tools)" in run(capsys, "--all")[1]
    data = json.loads(run(capsys, "--json")[1])
    (one,) = data["jobs"]
    assert one["suggested"] == ["terminal"] and one["asks_for"][0]["name"] == "commands"
    assert {finding["rule"] for finding in one["findings"]} == {"toolsets.missing", "toolsets.unneeded"}


def test_a_profile_that_cannot_be_read_is_said(home, capsys):
    other = home / "profiles" / "second"
    other.mkdir(parents=True)
    put_list(other, "truncated.json")
    write_jobs(home, job(A, "disk", prompt="Name the largest city.", enabled_toolsets=None))
    code, out, err = run(capsys)
    assert code == 1 and "1 agent job," in out and "profile second" in err
