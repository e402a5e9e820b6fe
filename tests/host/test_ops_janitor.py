"""The janitor against the real host: it tells what the host leaves out of its list or refuses to load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.skillcheck import janitor, janitor_library
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import Host

pytestmark = pytest.mark.host

GOOD = b"---\nname: %s\ndescription: says something\n---\nBody.\n"
FILES = {
    "plain": GOOD % b"plain",
    "cat-a/dup": GOOD % b"dup",
    "cat-b/dup": GOOD % b"dup",
    "renamed": GOOD % b"another",
    "another": GOOD % b"third",
    "bom": b"\xef\xbb\xbf" + (GOOD % b"bom").replace(b"\n", b"\r\n"),
    "folded": b"---\nname: folded\ndescription: >\n  two\n  lines\n---\nBody.\n",
    "latin": GOOD % b"latin" + b"caf\xe9\n",
    "number": b"---\nname: 12\ndescription: d\n---\nBody.\n",
    "null": b"---\nname:\ndescription: d\n---\nBody.\n",
    "off": b"---\nname: off\ndescription: d\n---\nBody.\n",
    "list": b"---\nname: [a]\ndescription: d\n---\nBody.\n",
    "counted": b"---\nname: counted\ndescription: 12\n---\nBody.\n",
    "listed": b"---\nname: listed\ndescription: [a]\n---\nBody.\n",
    "headless": b"First line.\n",
    "open": b"---\nname: opened\nNo end.\n",
    "late": b"---\nname: latecomer\ndescription: d\nlong: " + b"z" * 4100 + b"\n---\nBody.\n",
    "colons": b"---\nname: colons\ndescription: a: b\nplatforms: [linux, macos]\n---\nBody.\n",
    "sequence": b"---\n- a\n---\nBody.\n",
    "long": b"---\nname: " + b"n" * 70 + b"\ndescription: " + b"d" * 1100 + b"\n---\nBody.\n",
    "elsewhere": b"---\nname: elsewhere\ndescription: d\nplatforms: [windows]\n---\nBody.\n",
    "misnamed": b"---\nname: misnamed\ndescription: d\nplatforms: [osx, win]\n---\nBody.\n",
    "boarded": b"---\nname: boarded\ndescription: d\nenvironments: [kanban]\n---\nBody.\n",
    "odd": b"---\nname: odd\ndescription: d\nenvironments: [moon]\n---\nBody.\n",
    "disabled": GOOD % b"disabled",
    "noted": GOOD % b"noted",
    ".archive/old": GOOD % b"old",
    "plain/references/pkg": GOOD % b"pkg",
    "scripts/tool": GOOD % b"tool",
}


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, Any]]:
    with ModelServer([]) as server, HermesHome(server.url) as home:
        external = home.root / "external"
        for name in ("plain", "extra"):
            (external / name).mkdir(parents=True)
            (external / name / "SKILL.md").write_bytes(GOOD % name.encode())
        home.configure(
            {"skills": {"disabled": ["disabled"], "external_dirs": [str(external), "/srv/absent"]}}
        )
        for folder, content in FILES.items():
            path = home.path / "skills" / folder
            path.mkdir(parents=True, exist_ok=True)
            (path / "SKILL.md").write_bytes(content)
        (home.path / "skills" / "noted" / "noted.md").write_text("notes\n")
        (home.path / "skills" / "linked").symlink_to(external / "extra")
        with Host(home) as host:
            listed = host.ask("tools.skills_tool._find_all_skills")
            names = [one["name"] for one in listed]
            loads = {name: json.loads(host.ask("tools.skills_tool.skill_view", name)) for name in names}
            found = janitor.of_homes([("default", home.path)], home.root)
            yield {"listed": listed, "loads": loads, "found": found, "home": home.path, "external": external}


def skills(seen: dict[str, Any]) -> list[janitor_library.Skill]:
    every = []
    for root in (seen["home"] / "skills", seen["external"]):
        every += [janitor_library.read_skill(file, root) for file in janitor_library.walk(Path(root)).files]
    janitor_library.list_as_host(every, frozenset({"disabled"}))
    return every


def test_the_list_is_the_hosts(seen):
    ours = [skill.name for skill in skills(seen) if skill.name is not None]
    assert ours == [one["name"] for one in seen["listed"]]


def test_every_skill_that_the_host_leaves_out_is_told_and_no_other(seen):
    left_out = {
        one.where for one in seen["found"].findings if one.rule in ("skills.dropped", "skills.shadowed")
    }
    hidden = {one.where for one in seen["found"].findings if one.rule == "skills.hidden"}
    unlisted = {skill.label for skill in skills(seen) if skill.name is None}
    assert left_out | hidden == unlisted
    assert hidden == {"boarded", "colons", "disabled", "elsewhere", "misnamed"}
    assert {"latin", "number", "null", "off", "list", "counted", "cat-b/dup"} <= left_out


def test_every_name_that_the_host_refuses_to_load_is_told(seen):
    refused = {name for name, said in seen["loads"].items() if "Ambiguous" in said.get("error", "")}
    assert refused == {"dup", "another", "noted", "plain"}
    told = {one.text for one in seen["found"].findings if one.rule in ("skills.ambiguous", "skills.shadowed")}
    assert all(any(f"'{name}'" in text for text in told) for name in refused)


def test_a_name_that_is_cut_in_the_list_cannot_be_loaded(seen):
    failed = {name for name, said in seen["loads"].items() if "not found" in said.get("error", "")}
    assert failed == {"n" * 64}
    assert "skills.name:long/long" in {one.id for one in seen["found"].findings}


def test_descriptions_are_cut_where_we_say(seen):
    by_name = {one["name"]: one["description"] for one in seen["listed"]}
    assert len(by_name["n" * 64]) == janitor_library.MOST_DESCRIPTION
    assert by_name["folded"].strip() == "two lines"
    assert "late" in by_name and "latecomer" not in by_name
    assert "skills.frontmatter:late/long" in {one.id for one in seen["found"].findings}
