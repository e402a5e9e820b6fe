"""Jobs that the real host made, linted; toolsets and skills told as the host tells them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hermes_ops._common.config import read_config
from hermes_ops.host.skills import Skills
from hermes_ops.host.toolset_table import CRON_DEFAULT, INCLUDES, TOOLS
from hermes_ops.host.toolsets import _from_table
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import Host

pytestmark = pytest.mark.host

PINNED = {"model": "scripted-model", "provider": "custom", "deliver": "local"}
WEB = {**PINNED, "enabled_toolsets": ["web"]}
SCRIPT = {"schedule": "every 30m", "no_agent": True, "deliver": "local"}
GOOD = {"prompt": "Report the weather of today in Berlin, in two short lines of text."}
EXPLAIN = {"prompt": "Explain the list above in plain words, two sentences for each of its points."}
JOBS = {
    "vague": {
        "prompt": "Prepare the usual digest for {{city}} and post it to the Telegram channel.",
        "schedule": "0 7 * * *",
    },
    "script": {**SCRIPT, "script": "disk.py"},
    "arguments": {**SCRIPT, "script": "disk.py --all"},
    "slip": {**GOOD, **PINNED, "schedule": "0 8 * * *", "enabled_toolsets": ["files", "safe"]},
    "lacking": {**WEB, "prompt": "Run `df -h` and name the fullest disk.", "schedule": "0 9 * * *"},
    "skilled": {**GOOD, **PINNED, "schedule": "0 10 * * *", "skills": ["plain", "absent"]},
}
SKILLS = {"plain": "", "cat/deep": "", "cat/short": "long-title", "x/same": "", "y/same": ""}


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, Any]]:
    with ModelServer([]) as server, HermesHome(server.url) as home:
        home.configure({"timezone": "Europe/Berlin"})
        (home.path / "scripts").mkdir()
        (home.path / "scripts" / "disk.py").write_text("print('disk is full')\n")
        for folder, name in SKILLS.items():
            path = home.path / "skills" / folder
            path.mkdir(parents=True)
            title = f"name: {name}\n" if name else ""
            (path / "SKILL.md").write_text(f"---\n{title}description: says something\n---\nSay something.\n")
        with Host(home) as host:
            yield look(home, host)


def look(home: HermesHome, host: Host) -> dict[str, Any]:
    """What `lint` and `toolsets` say of jobs that the host made, and toolsets and skills told by both."""

    def made(name: str, **job: Any) -> str:
        ids[name] = host.ask("create", name=name, **job)
        return ids[name]

    ids: dict[str, str] = {}
    early = made("early", **GOOD, **WEB, schedule="0 5 * * *")
    made("reader", **EXPLAIN, **WEB, schedule="0 6 * * *", context_from=early)
    made("too early", **GOOD, **WEB, schedule="0 4 * * *", context_from=[early])
    for name, job in JOBS.items():
        made(name, **job)
    names = list(host.ask("toolsets.TOOLSETS"))
    ours = host.ask("toolsets", [*names, "files", "all"])
    config = host.ask("hermes_cli.config.load_config")
    skills = Skills(home.path, read_config(home.path))

    def viewed(name: str) -> bool:
        found = host.ask("agent.skill_utils.normalize_skill_lookup_name", name)
        return bool(json.loads(host.ask("tools.skills_tool.skill_view", found)).get("success"))

    return {
        "ids": ids,
        "lint": json.loads(host.ask("ops", "lint", "--json")[1]),
        "toolsets": json.loads(host.ask("ops", "toolsets", "--json")[1]),
        "source": ours["source"],
        "resolved": {
            name: [
                ours["tools"][name],
                sorted(_from_table(name)),
                sorted(host.ask("toolsets.resolve_toolset", name, include_registry=False)),
            ]
            for name in names
        },
        "table": sorted({*TOOLS, *INCLUDES}),
        "valid": {
            name: [ours["known"][name], host.ask("toolsets.validate_toolset", name)]
            for name in ("files", "web", "all")
        },
        "cron default": [
            sorted(CRON_DEFAULT),
            sorted(host.ask("hermes_cli.tools_config._get_platform_tools", config, "cron")),
        ],
        "skills": {
            name: [len(skills.find(name) or ()) == 1, viewed(name)]
            for name in ("plain", "deep", "cat/deep", "long-title", "same", "x/same", "absent")
        },
    }


def told(seen: dict[str, Any], name: str) -> dict[str, str]:
    """Rule -> text of what `lint` says of a job, remarks left out."""
    (target,) = [one for one in seen["lint"]["targets"] if one["job"] == seen["ids"][name]]
    return {hit["rule"]: hit["text"] for hit in target["findings"] if hit["severity"] != "info"}


def test_sound_jobs_of_the_host_have_no_findings(seen: dict[str, Any]) -> None:
    for name in ("early", "reader", "script"):
        assert told(seen, name) == {}, name


def test_wording_and_settings_of_real_jobs_are_told(seen: dict[str, Any]) -> None:
    assert {"L109", "L201", "L402"} <= set(told(seen, "vague"))
    assert "no arguments" in told(seen, "arguments")["J101"]
    assert "23 h old" in told(seen, "too early")["J107"]
    assert "'files'" in told(seen, "slip")["J109"]
    assert "'absent'" in told(seen, "skilled")["J105"]


def test_prompts_are_held_against_the_tools_of_real_jobs(seen: dict[str, Any]) -> None:
    by_id = {one["job"]: one for one in seen["toolsets"]["jobs"]}
    assert seen["ids"]["script"] not in by_id
    lacking = by_id[seen["ids"]["lacking"]]
    assert {one["rule"] for one in lacking["findings"]} == {"toolsets.missing", "toolsets.unneeded"}
    assert sorted(by_id[seen["ids"]["slip"]]["tools"]) == [
        "image_generate",
        "vision_analyze",
        "web_extract",
        "web_search",
    ]


def test_toolsets_are_those_of_the_host_and_the_table_is_up_to_date(seen: dict[str, Any]) -> None:
    assert seen["source"] == "host"
    assert seen["table"] == sorted(seen["resolved"])
    for name, (ours, table, host) in seen["resolved"].items():
        assert ours == table == host, name
    for name, (known, valid) in seen["valid"].items():
        assert known is valid, name
    ours, host = seen["cron default"]
    assert ours == host


def test_skills_are_found_where_the_host_finds_them(seen: dict[str, Any]) -> None:
    for name, (ours, host) in seen["skills"].items():
        assert ours is host, name
