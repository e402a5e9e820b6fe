"""The skill janitor: what the host drops, hides or cannot load is told, and nothing else is."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import pytest

from hermes_ops._common.command_line import carry_out
from hermes_ops.core.finding import Reading
from hermes_ops.core.watch import Context
from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.skillcheck import janitor
from hermes_ops.skillcheck.janitor_command import add_janitor_arguments, run_janitor


class Library:
    """A home with skills, and a home of its user beside it."""

    def __init__(self, path: Path) -> None:
        self.home, self.user = path / "hermes", path / "user"
        self.skills = self.home / "skills"
        self.skills.mkdir(parents=True)
        self.user.mkdir()

    def skill(self, folder: str, /, body: str = "Do it.\n", **fields: str | None) -> Path:
        head = {"name": folder.rsplit("/", 1)[-1], "description": "Says when to use it.", **fields}
        lines = [f"{key}: {value}" for key, value in head.items() if value is not None]
        return self.raw(folder, "\n".join(["---", *lines, "---", body]).encode())

    def raw(self, name: str, content: bytes) -> Path:
        folder = self.skills / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_bytes(content)
        return folder

    def check(self, **options: object) -> janitor.Cleaned:
        return janitor.of_homes([("default", self.home)], self.user, **options)

    def found(self, least: str = "warning") -> list[tuple[str, str]]:
        """Rule and place of each finding; remarks only when asked for."""
        return [
            (one.rule.removeprefix("skills."), one.where)
            for one in self.check().findings
            if least == "info" or one.severity != "info"
        ]

    def texts(self) -> str:
        return "\n".join(f"{one.where}: {one.text}" for one in self.check().findings)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


# --- frontmatter ----------------------------------------------------------------------------------


def test_a_folded_description_is_read_as_yaml(library):
    library.skill("folded", description=">\n  Folded over\n  two lines.")
    library.skill("literal", description="|-\n  Two\n  lines.")
    assert library.found("info") == []


def test_a_byte_order_mark_and_windows_newlines_are_as_good_as_any(library):
    library.raw(
        "bom-crlf", b"\xef\xbb\xbf---\r\nname: bom-crlf\r\ndescription: Quite fine.\r\n---\r\nBody\r\n"
    )
    assert library.found("info") == []


def test_the_limits_are_the_hosts(library):
    library.skill("a", description="x" * 1024)
    library.skill("b", description="x" * 1025)
    library.skill("c" * 64)
    library.skill("d", name="d" * 65)
    assert library.found() == [("description", "b"), ("name", "d")]


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"No head at all.\n", "frontmatter"),
        (b"---\nname: x\ndescription: y\nand no end\n", "frontmatter"),
        (b"---\n- a\n- list\n---\nBody\n", "frontmatter"),
        (b"---\nname: x\ndescription: a: b\n---\nBody\n", "frontmatter"),
        (b"---\nname: x\ndescription: y\nlong: " + b"z" * 4000 + b"\n---\nBody\n", "frontmatter"),
        (b"---\ndescription: y\n---\nBody\n", "name"),
        (b"---\nname: x\n---\nBody\n", "description"),
        (b"---\nname: 12\ndescription: y\n---\nBody\n", "dropped"),
        (b"---\nname:\ndescription: y\n---\nBody\n", "dropped"),
        (b"---\nname: [x]\ndescription: y\n---\nBody\n", "dropped"),
        (b"---\nname: x\ndescription: 12\n---\nBody\n", "dropped"),
        (b"---\nname: x\ndescription: caf\xe9\n---\nBody\n", "dropped"),
        (b"---\nname: x\ndescription: y\nplatforms: [osx]\n---\nBody\n", "platforms"),
        (b"---\nname: x\ndescription: y\nplatforms: 'macos, linux'\n---\nBody\n", "platforms"),
        (b"---\nname: x\ndescription: y\nrequired_environment_variables: [A-B]\n---\nBody\n", "variable"),
        (b"---\nname: x\ndescription: y\nz: " + b"[" * 900 + b"]" * 900 + b"\n---\nBody\n", "unchecked"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_host_reads_otherwise_than_it_was_meant_is_told(library, content, rule):
    library.raw("x", content)
    assert library.found() == [(rule, "x")]


def test_a_skill_for_another_platform_is_a_remark_and_its_paths_are_not_looked_for(library):
    other = "windows" if sys.platform != "win32" else "macos"
    library.skill("elsewhere", "Read `/opt/tool/rules.md`.\n", platforms=f"[{other}]")
    assert library.found("info") == [("hidden", "elsewhere")]


def test_without_pyyaml_the_same_is_found(library, monkeypatch):
    library.skill("folded", description=">\n  Folded\n  text.")
    library.raw("list", b"---\n- a\n---\nBody\n")
    library.skill("anchors", description="&a text")
    library.skill("macs", platforms="[win]", description="'quoted: text'")
    with_it = library.found("info")
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert library.found("info") == [("unchecked", "anchors"), *with_it]


# --- what is a skill, and which the host lists ----------------------------------------------------


def test_archives_dependencies_and_support_packages_are_not_scanned(library):
    library.skill("good")
    for folder in (".archive/old", "node_modules/x", "good/references/pkg", "good/templates/t", ".hub/x"):
        library.raw(folder, b"broken: no head\n")
    assert library.found("info") == []
    assert library.check().skills == 1


def test_a_category_may_be_named_like_a_support_folder(library):
    library.raw("scripts/tool", b"no head\n")
    assert library.found() == [("frontmatter", "scripts/tool")]


def test_linked_skill_folders_are_scanned(library, tmp_path):
    real = tmp_path / "checkout"
    real.mkdir()
    (real / "SKILL.md").write_text("no head\n")
    (library.skills / "linked").symlink_to(real)
    assert library.found() == [("frontmatter", "linked")]


def test_a_link_to_a_folder_above_ends(library):
    library.skill("one")
    (library.skills / "loop").symlink_to(library.skills)
    assert library.found("info") == [("loop", "loop")]
    assert library.check().skills == 1


def test_the_second_of_two_equal_names_is_told_once_as_shadowed(library):
    library.skill("cat-a/dup")
    library.skill("cat-b/dup")
    assert library.found("info") == [("shadowed", "cat-b/dup")]
    assert str(library.skills / "cat-a" / "dup") in library.texts()


def test_an_external_skill_is_shadowed_by_one_of_the_home(library, tmp_path):
    library.skill("zz/same")
    external = tmp_path / "external" / "same"
    external.mkdir(parents=True)
    (external / "SKILL.md").write_text("---\nname: same\ndescription: d\n---\nBody\n")
    (library.home / "config.yaml").write_text(f"skills:\n  external_dirs:\n    - {tmp_path}/external\n")
    assert library.found() == [("shadowed", "same")]


def test_a_folder_or_a_loose_file_of_the_same_name_makes_it_ambiguous(library):
    library.skill("first", name="wanted")
    library.skill("wanted", name="other")
    library.skill("plain")
    (library.skills / "plain" / "plain.md").write_text("notes\n")
    library.skill("fine")
    (library.skills / "fine" / "references").mkdir()
    (library.skills / "fine" / "references" / "fine.md").write_text("notes\n")
    assert library.found() == [("ambiguous", "first"), ("ambiguous", "plain")]


def test_the_same_skill_reached_by_a_link_is_no_duplicate(library, tmp_path):
    library.skill("one")
    (library.skills / "zlink").symlink_to(library.skills / "one")
    assert library.found("info") == []


def test_a_disabled_skill_is_a_remark(library):
    library.skill("idle")
    (library.home / "config.yaml").write_text("skills:\n  disabled: [idle]\n")
    assert library.found("info") == [("hidden", "idle")]


def test_a_root_inside_a_folder_that_the_host_skips_is_told(library, tmp_path):
    inside = tmp_path / "venv" / "skills" / "x"
    inside.mkdir(parents=True)
    (inside / "SKILL.md").write_text("---\nname: x\ndescription: d\n---\nBody\n")
    found = janitor.of_folders([tmp_path / "venv" / "skills"], library.home, library.user)
    assert [one.rule for one in found.findings] == ["skills.dropped"]


def test_a_folder_or_file_that_only_looks_like_a_skill_is_told_and_the_run_goes_on(library):
    (library.skills / "a" / "SKILL.md").mkdir(parents=True)
    (library.skills / "b").mkdir()
    (library.skills / "b" / "skill.md").write_text("---\nname: b\n---\n")
    (library.skills / "c").mkdir()
    (library.skills / "c" / "SKILL.md").symlink_to("nowhere")
    (library.skills / "d").mkdir()
    os.mkfifo(library.skills / "d" / "SKILL.md")
    library.skill("e")
    assert sorted(library.found()) == [
        ("case", "b/skill.md"),
        ("dropped", "c"),
        ("dropped", "d"),
        ("folder", "a/SKILL.md"),
    ]


# --- scripts --------------------------------------------------------------------------------------


def test_scripts_that_do_not_compile_are_told_with_their_line(library):
    folder = library.skill("s") / "scripts"
    folder.mkdir()
    (folder / "good.py").write_text("print(1)\n")
    (folder / "old.py").write_text("x = 1\nprint 'python 2'\n")
    (folder / "bad.sh").write_text("if true; then\n")
    (folder / "good.sh").write_text("#!/bin/sh\necho 'done'\n")
    (folder / "nul.py").write_bytes(b"a = 1\0\n")
    (folder / "tool").write_text("#!/usr/bin/env python3\ndef f(:\n")
    (folder / "other.js").write_text("not { python\n")
    assert library.found() == [("script", "s")] * 4
    texts = library.texts()
    assert "scripts/old.py:2 does not compile" in texts
    assert "scripts/bad.sh:2 does not compile: bash" in texts
    assert "scripts/tool:1" in texts or "scripts/tool:2" in texts
    assert library.check().scripts == 6


def test_no_script_is_run(library, tmp_path):
    folder = library.skill("s") / "scripts"
    folder.mkdir()
    (folder / "run.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (folder / "run.sh").write_text(f"echo x > {tmp_path}/ran\n$(touch {tmp_path}/ran)\n")
    assert library.found() == []
    assert not (tmp_path / "ran").exists()


def test_a_file_that_ends_the_compiler_cannot_be_checked_and_the_rest_is(library):
    folder = library.skill("s") / "scripts"
    folder.mkdir()
    (folder / "a_deep.py").write_text("x = " + "[" * 90 + "]" * 90 + "\n")
    (folder / "b_deep.py").write_text("x = " + "-" * 200_000 + "1\n")
    (folder / "c_deep.py").write_text("x = " + "(" * 100_000 + "1" + ")" * 100_000 + "\n")
    (folder / "d_bad.py").write_text("x = = 1\n")
    rules = {one.text.split()[0].split(":")[0]: one.rule for one in library.check().findings}
    assert rules.pop("scripts/d_bad.py") == "skills.script"
    assert set(rules.values()) <= {"skills.unchecked", "skills.script"}
    assert rules.get("scripts/b_deep.py") == "skills.unchecked"


def test_a_pipe_named_like_a_script_is_never_opened(library):
    folder = library.skill("s") / "scripts"
    folder.mkdir()
    os.mkfifo(folder / "pipe.sh")
    os.mkfifo(folder / "pipe.py")
    (folder / "gone.py").symlink_to("nowhere")
    assert library.found() == [("unchecked", "s")] * 3


def test_a_file_of_a_skill_inside_a_skill_is_told_once(library):
    library.skill("outer")
    folder = library.skill("outer/inner") / "scripts"
    folder.mkdir()
    (folder / "bad.py").write_text("x = = 1\n")
    assert library.found() == [("script", "outer/inner")]


def test_templates_need_not_compile(library):
    folder = library.skill("s") / "templates"
    folder.mkdir()
    (folder / "main.py").write_text("import {{ module }}.x\n")
    assert library.found() == []
    assert library.found("info") == [("script", "s")]


def test_path_findings_do_not_push_scripts_out(library):
    folder = library.skill("s", "".join(f"Read `references/{n}.md`.\n" for n in range(40))) / "scripts"
    folder.mkdir()
    (folder / "bad.py").write_text("x = = 1\n")
    rules = [rule for rule, _ in library.found()]
    assert rules.count("path") == 40 and rules.count("script") == 1


# --- profiles and roots ---------------------------------------------------------------------------


def test_a_missing_root_and_a_root_without_skills_are_errors(library, tmp_path):
    with pytest.raises(OpsError, match="nothing was checked"):
        library.check()
    with pytest.raises(Unreadable):
        janitor.of_folders([tmp_path / "absent"], library.home)
    library.skills.rmdir()
    with pytest.raises(Unreadable):
        library.check()


def test_what_stands_in_the_place_of_the_skills_is_said(library):
    library.skills.rmdir()
    library.skills.write_text("no folder")
    with pytest.raises(Unreadable, match="not a directory"):
        library.check()
    library.skills.unlink()
    library.skills.symlink_to("nowhere")
    with pytest.raises(Unreadable, match="a link that leads nowhere"):
        library.check()
    library.skills.unlink()
    with pytest.raises(Unreadable, match="no such directory"):
        library.check()


def test_a_config_nested_beyond_reading_ends_nothing(library):
    pytest.importorskip("yaml")
    library.skill("fine")
    (library.home / "config.yaml").write_text("[" * 200_000)
    [blind] = library.check().blind
    assert "nested too deeply" in blind.text


def test_an_external_folder_that_is_gone_is_told(library):
    library.skill("one")
    (library.home / "config.yaml").write_text("skills:\n  external_dirs: /srv/absent-skills\n")
    assert library.found() == [("root", "profile default")]


def test_external_folders_are_found_without_pyyaml(library, tmp_path, monkeypatch):
    library.skill("one")
    (tmp_path / "more" / "two").mkdir(parents=True)
    (tmp_path / "more" / "two" / "SKILL.md").write_text("no head\n")
    (library.home / "config.yaml").write_text(f"model: x\nskills:\n  external_dirs:\n  - {tmp_path}/more\n")
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert library.found() == [("frontmatter", "two")]


def test_a_config_that_cannot_be_read_is_said(library):
    library.skill("one")
    (library.home / "config.yaml").write_text("skills: [\n")
    assert [one.key for one in library.check().blind] == ["skills.config:default"]


def test_what_profiles_share_is_checked_once_and_shadows_in_each(library, tmp_path):
    shared = tmp_path / "shared" / "both"
    shared.mkdir(parents=True)
    (shared / "SKILL.md").write_text("---\nname: both\ndescription: d\n---\nRead `references/no.md`.\n")
    other = library.home / "profiles" / "cook"
    (other / "skills").mkdir(parents=True)
    library.skill("both")
    for home in (library.home, other):
        (home / "config.yaml").write_text(f"skills:\n  external_dirs: [{tmp_path}/shared]\n")
    found = janitor.of_homes([("default", library.home), ("cook", other)], library.user)
    assert sorted((one.rule, one.where) for one in found.findings) == [
        ("skills.path", "both:5"),
        ("skills.shadowed", "both"),
    ]


def test_as_a_watcher_it_tells_findings_and_is_blind_without_skills(library):
    context = Context(library.home, 0.0)
    assert [one.key for one in janitor.watch(context).blind] == ["skills"]
    library.skill("remark", name="another")
    assert janitor.watch(context) == Reading()
    library.skill("bad", name="[x]")
    assert [one.id for one in janitor.watch(context).findings] == ["skills.dropped:bad"]


# --- the command ----------------------------------------------------------------------------------


def command(library: Library, *words: str) -> int:
    parser = argparse.ArgumentParser()
    add_janitor_arguments(parser)
    arguments = parser.parse_args(["--home", str(library.home), *words])
    return carry_out("janitor", lambda: run_janitor(arguments), (OpsError,))


def test_it_is_silent_when_nothing_is_wrong(library, capsys):
    library.skill("fine")
    assert command(library) == 0
    assert capsys.readouterr().out == ""


def test_exit_codes_tell_errors_warnings_and_remarks_apart(library, capsys):
    library.skill("remark", name="another")
    assert command(library, "--strict") == 0
    library.skill("warned", description=None)
    assert command(library) == 0
    assert command(library, "--strict") == 1
    library.skill("bad", name="[x]")
    assert command(library) == 1
    out = capsys.readouterr().out
    assert "warning  warned: no description" in out
    assert "error    bad:" in out


def test_json_holds_everything_and_is_one_object(library, capsys):
    library.skill("bad", name="[x]")
    assert command(library, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["skills"], said["scripts"], said["blind"]) == (1, 1, 0, [])
    assert [one["id"] for one in said["findings"]] == ["skills.dropped:bad"]


def test_what_is_accepted_with_a_reason_is_not_told(library, capsys):
    library.skill("bad", name="[x]")
    (library.home / "ops").mkdir()
    (library.home / "ops" / "suppress.toml").write_text(
        '[[suppress]]\npattern = "skills.dropped:bad"\nreason = "kept as an example"\n'
    )
    assert command(library, "--strict") == 0
    assert capsys.readouterr().out == ""


def test_a_missing_folder_is_a_failure_in_one_line(library, capsys):
    assert command(library, "--skills-dir", str(library.home / "absent")) == 1
    assert capsys.readouterr().err.count("\n") == 1
