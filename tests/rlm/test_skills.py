"""Python-backed skills: which are found, which are refused with what reason, and what no skill can break."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_rlm import skills
from hermes_rlm._common.config import HostConfig
from hermes_rlm.skills import directories, read_front, report, scan


def config(**section):
    return HostConfig(Path("config.yaml"), {"skills": section}, "yaml")


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def put_skill(root, folder, *modules, name=None, description="what it does"):
    """A skill with the given names below python/: "x" a package, "x.py" a file, "x/" an empty folder."""
    skill = root / folder
    put(skill / "SKILL.md", f"---\nname: {name or skill.name}\ndescription: {description}\n---\n# Body\n")
    for module in modules:
        if module.endswith("/"):
            (skill / "python" / module).mkdir(parents=True)
        else:
            put(skill / "python" / (module if "." in module else f"{module}/__init__.py"))
    return skill


@pytest.fixture
def home(tmp_path):
    (tmp_path / "skills").mkdir()
    return tmp_path


def found(home, **section):
    return scan(home, config(**section))


def only(home, **section):
    (skill,) = found(home, **section)
    return skill


def test_a_skill_with_python_says_how_to_import_it(home):
    folder = put_skill(
        home / "skills", "finance/sales-report", "sales", name="sales", description="Sums sales"
    )
    skill = only(home)
    assert (skill.name, skill.module, skill.description) == ("sales", "sales", "Sums sales")
    assert (skill.path, skill.directory) == (str(folder), str(folder / "python"))
    assert skill.problem is None and skill.import_line == "import sales"
    assert directories([skill]) == [str(folder / "python")]


def test_a_home_without_skills_and_skills_without_python_give_nothing(tmp_path, home):
    assert found(tmp_path / "nowhere") == []
    put_skill(home / "skills", "writing/prose")
    assert found(home) == []


def test_external_folders_are_read_as_the_host_reads_them(home, monkeypatch):
    monkeypatch.setenv("HOME", str(home / "me"))
    monkeypatch.setenv("TEAM", str(home / "team"))
    put_skill(home / "me" / "mine", "one", "one")
    put_skill(home / "team" / "all", "two", "two")
    put_skill(home / "relative", "three", "three")
    put_skill(home / "skills", "zero", "zero")
    listed = ["~/mine", "${TEAM}/all", "relative", "/no/such/folder", "skills", None, 7, {"a": 1}, "a\0b", ""]
    assert [skill.module for skill in found(home, external_dirs=listed)] == ["zero", "one", "two", "three"]
    assert [skill.module for skill in found(home, external_dirs="~/mine")] == ["zero", "one"]
    for odd in (None, 3, {"a": "~/mine"}, [[]]):
        assert [skill.module for skill in found(home, external_dirs=odd)] == ["zero"]


@pytest.mark.parametrize("name", ["json", "os", "sys", "_io", "tomllib", "imp", "distutils"])
def test_a_module_of_the_standard_library_cannot_be_shadowed(home, name):
    put_skill(home / "skills", "bad", "fine", name)
    refused = {skill.module: skill.problem for skill in found(home)}
    assert "standard library" in refused[name]
    assert (
        refused["fine"].startswith(f"the same python/ folder has {name}") and directories(found(home)) == []
    )


@pytest.mark.parametrize("file", ["random.py", "random.pyc", "random.cpython-311-x86_64-linux-gnu.so"])
def test_a_loose_file_that_shadows_costs_the_folder_too(home, file):
    put_skill(home / "skills", "bad", "fine", file)
    assert "random" in only(home).problem and directories(found(home)) == []


@pytest.mark.parametrize("name", ["__main__", "sitecustomize", "_hermes_rlm_kernel"])
def test_names_of_python_and_of_the_kernel_are_taken(home, name):
    put_skill(home / "skills", "bad", name)
    assert "taken" in only(home).problem


@pytest.mark.parametrize("name,reason", [("a-b", "identifier"), ("class", "keyword"), ("2nd", "identifier")])
def test_a_name_that_no_import_can_say_costs_only_itself(home, name, reason):
    folder = put_skill(home / "skills", "mixed", "fine", name)
    by_module = {skill.module: skill for skill in found(home)}
    assert reason in by_module[name].problem and by_module["fine"].problem is None
    assert directories(found(home)) == [str(folder / "python")]


def test_the_second_skill_with_a_module_is_refused_naming_the_first(home):
    put_skill(home / "skills", "a/first", "common", "one", name="The First")
    put_skill(home / "skills", "b/second", "common", "two")
    put_skill(home / "outside", "third", "one")
    listed = found(home, external_dirs=["outside"])
    assert [skill.module for skill in listed if skill.problem is None] == ["common", "one"]
    refused = {(skill.name, skill.module): skill.problem for skill in listed if skill.problem}
    assert "skill The First already has" in refused["second", "common"]
    assert "which is refused: skill The First" in refused["second", "two"]
    assert "skill The First already has" in refused["third", "one"]


def test_a_refused_skill_takes_no_names(home):
    put_skill(home / "skills", "a", "json", "common")
    put_skill(home / "skills", "b", "common")
    assert [(skill.name, skill.module) for skill in found(home) if not skill.problem] == [("b", "common")]


def test_what_lies_beside_modules_in_many_skills_is_no_clash(home):
    for name in ("a", "b"):
        beside = (
            "__init__.py",
            "__main__.py",
            "setup.py",
            "conftest.py",
            "tests",
            "README.md",
            ".x",
            "data/",
        )
        put_skill(home / "skills", name, f"mod_{name}", *beside)
    assert [(skill.module, skill.problem) for skill in found(home)] == [("mod_a", None), ("mod_b", None)]


@pytest.mark.parametrize(
    "content,reason",
    [
        (["thing/"], "python/thing has no __init__.py"),
        (["thing.py"], "move thing to python/thing/__init__.py"),
        (["README.md"], "holds no module"),
    ],
)
def test_python_without_a_package_says_what_is_missing(home, content, reason):
    put_skill(home / "skills", "odd", *content)
    skill = only(home)
    assert reason in skill.problem and skill.module == ""


def test_modules_without_a_skill_file_are_told(home):
    put(home / "skills" / "draft" / "python" / "one" / "__init__.py")
    put(home / "skills" / "draft" / "python" / "two" / "__init__.py")
    skill = only(home)
    assert (skill.name, skill.problem) == ("draft", "no SKILL.md beside python/")


def test_a_category_called_python_holds_skills_as_any_other(home):
    put_skill(home / "skills" / "python", "lint", "linting")
    assert only(home).module == "linting"


def test_a_skill_switched_off_for_the_host_is_off_for_the_kernel(home):
    put_skill(home / "skills", "a", "common", name="off")
    put_skill(home / "skills", "b", "common")
    off, on = found(home, disabled=["off"])
    assert "switched off" in off.problem and on.problem is None


def test_folders_that_the_host_passes_over_hold_no_skills(home):
    skill = put_skill(home / "skills", "real", "real")
    put_skill(home / "skills", ".git/x", "x")
    put_skill(home / "skills", "node_modules/y", "y")
    put_skill(skill, "references/old", "old")
    put_skill(skill, "python/real/inner", "inner")
    put_skill(skill, "nested", "nested")
    put_skill(home / "skills", "references/category", "category")
    assert sorted(skill.module for skill in found(home)) == ["category", "nested", "real"]


def test_links_inside_a_skill_and_a_linked_skill_are_fine(home):
    real = put_skill(home / "elsewhere", "tool", "lib/")
    put(real / "src" / "__init__.py")
    (real / "python" / "lib").rmdir()
    (real / "python" / "lib").symlink_to("../src")
    (home / "skills" / "tool").symlink_to(real)
    skill = only(home)
    assert skill.problem is None and skill.directory == str(home / "skills" / "tool" / "python")


def test_a_python_folder_that_is_a_link_out_of_the_skill_is_refused(home):
    put(home / "outside" / "mod" / "__init__.py")
    skill = put_skill(home / "skills", "linked")
    (skill / "python").symlink_to(home / "outside")
    assert "leaves the skill" in only(home).problem


@pytest.mark.parametrize("link", ["mod", "mod/__init__.py", "loose.py"])
def test_a_module_that_is_a_link_out_of_the_skill_is_refused(home, link):
    target = put(home / "outside" / "mod" / "__init__.py")
    skill = put_skill(home / "skills", "linked", "fine")
    path = skill / "python" / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target if link.endswith(".py") else target.parent)
    assert directories(found(home)) == []
    assert all("leaves the skill" in skill.problem for skill in found(home))


def test_loops_of_links_end(home):
    skill = put_skill(home / "skills", "a", "mod")
    (skill / "python" / "self").symlink_to("self")
    (skill / "again").symlink_to(home / "skills")
    (skill / "self").symlink_to(skill / "self")
    (skill / "python" / "up").symlink_to("..")
    (home / "skills" / "b").symlink_to(skill)
    assert [(skill.module, skill.problem) for skill in found(home)] == [("mod", None)]


@pytest.mark.parametrize(
    "make,reason",
    [
        (lambda path: os.mkfifo(path), "not a file"),
        (lambda path: path.symlink_to("nowhere"), "No such file"),
        (lambda path: path.write_bytes(b"\x7fELF\0\0\1"), "not a text file"),
    ],
)
def test_a_skill_file_that_cannot_be_read_is_refused_at_once(home, make, reason):
    skill = put_skill(home / "skills", "odd", "mod")
    (skill / "SKILL.md").unlink()
    make(skill / "SKILL.md")
    refused = only(home)
    assert refused.name == "odd" and reason in refused.problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_folders_do_not_stop_the_others(home):
    put_skill(home / "skills", "a", "shut")
    put_skill(home / "skills", "b/inner", "hidden")
    put_skill(home / "skills", "c", "fine")
    shut = (home / "skills" / "a" / "python", home / "skills" / "b")
    for folder in shut:
        folder.chmod(0)
    try:
        by_name = {skill.name: skill.problem for skill in found(home)}
    finally:
        for folder in shut:
            folder.chmod(0o700)
    assert "Permission denied" in by_name["a"] and by_name["c"] is None and "inner" not in by_name


def test_a_python_folder_with_thousands_of_entries_is_refused(home):
    skill = put_skill(home / "skills", "huge", "mod")
    for number in range(skills.MAX_MODULE_ENTRIES):
        (skill / "python" / f"f{number}.txt").touch()
    assert "more than" in only(home).problem


def test_the_search_is_bounded_and_says_so(home, monkeypatch):
    put_skill(home / "skills", "a", "mod")
    for number in range(300):
        put(home / "skills" / "z" / "pile" / f"{number}.txt")
    monkeypatch.setattr(skills, "MAX_ENTRIES", 200)
    usable, cut = found(home)
    assert usable.module == "mod" and "was not searched" in cut.problem


def test_one_stray_name_in_bytes_does_not_stop_the_scan(home):
    put_skill(home / "skills", "fine", "mod")
    os.makedirs(os.fsencode(home / "skills") + b"/\xff\xfe/python/x\xff")
    (home / "skills" / os.fsdecode(b"\xff\xfe") / "SKILL.md").touch()
    listed = found(home)
    assert [skill.module for skill in listed if not skill.problem] == ["mod"]
    json.dumps(report(listed)).encode("utf-8")


FRONTS = [
    ("name: a\ndescription: b", "a", "b"),
    ("name: 'it''s'  # c\ndescription: \"say \\\"hi\\\"\"", "it's", 'say "hi"'),
    ("name: a # c\ndescription: b#c", "a", "b#c"),
    ("description: >-\n  folded\n  text\nname: a", "a", "folded text"),
    ("description: |\n  literal\n  text\nversion: 1\nname: 12", "12", "literal text"),
    ("name: a\ndescription: plain text\n  goes on\nlicense: MIT", "a", "plain text goes on"),
    ("name: a\ndescription:\n  below", "a", "below"),
    ("metadata:\n  name: inner\nname: a\ndescription: b", "a", "b"),
    ("name: a\nname: b\ndescription: c: d", "b", "c: d"),
    ("title: a", "", ""),
]


@pytest.mark.parametrize("front,name,description", FRONTS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_name_and_description_are_read_without_a_yaml_library(tmp_path, front, name, description, ends):
    text = f"\ufeff---\n{front}\n---\n# Body\nname: body\n".replace("\n", ends)
    path = tmp_path / "SKILL.md"
    path.write_bytes(text.encode("utf-8"))
    assert read_front(str(path)) == (name, description)


@pytest.mark.parametrize("front,name,description", [front for front in FRONTS if "c: d" not in front[0]])
def test_the_line_reader_agrees_with_yaml(front, name, description):
    values = pytest.importorskip("yaml").safe_load(front)
    assert str(values.get("name", "")).strip() == name
    assert " ".join(str(values.get("description", "")).split()) == description


@pytest.mark.parametrize(
    "content", [b"", b"no front", b"---\nname: a", b"---\n---\n", b"\xff\xfe---", b"[" * 99999]
)
def test_a_skill_file_without_front_matter_names_the_skill_by_its_folder(home, content):
    skill = put_skill(home / "skills", "folder-name", "mod")
    (skill / "SKILL.md").write_bytes(content)
    assert (only(home).name, only(home).problem) == ("folder-name", None)


def test_a_huge_skill_file_is_read_at_its_head_only(home):
    put_skill(home / "skills", "big", "mod", name="Big", description="x" * 5000)
    with open(home / "skills" / "big" / "SKILL.md", "ab") as file:
        file.write(b"text\n" * 2_000_000)
    skill = only(home)
    assert skill.problem is None and skill.name == "Big" and len(skill.description) <= 1024


def test_the_report_is_lean_and_says_how_to_import(home):
    put_skill(home / "skills", "sales", "sales", description="é" * 300)
    put_skill(home / "skills", "bad", "json")
    answer = report(found(home))
    (entry,) = answer["skills"]
    assert entry["import"] == "import sales" and entry["skill"] == "sales"
    assert len(entry["does"].encode("utf-8")) <= 160 and entry["does"].endswith("…")
    (refused,) = answer["refused"]
    assert (refused["skill"], refused["module"]) == ("bad", "json") and "standard library" in refused[
        "reason"
    ]
    assert set(answer) == {"skills", "refused"}


def test_the_report_without_any_skill_says_what_one_is(home):
    assert "python/<module>/__init__.py" in report(found(home))["note"]


def test_the_report_is_bounded_and_counts_what_it_leaves_out(home):
    for number in range(60):
        put_skill(home / "skills", f"good{number:02}", f"good{number:02}", description="d" * 200)
        put_skill(home / "skills", f"bad{number:02}", "json")
    answer = report(found(home))
    assert len(json.dumps(answer)) <= skills.REPORT_CHARS
    assert len(answer["skills"]) + answer["more"]["skills"] == 60 and answer["skills"]
    assert len(answer["refused"]) + answer["more"]["refused"] == 60 and answer["refused"]


def test_an_accepted_module_imports_and_a_refused_one_leaves_the_library_alone(home):
    good = put_skill(home / "skills", "good", "sales")
    put(good / "python" / "sales" / "__init__.py", "total = 7\n")
    bad = put_skill(home / "skills", "bad", "json")
    put(bad / "python" / "json" / "__init__.py", "raise SystemExit('shadowed')\n")
    listed = found(home)
    (usable,) = [skill for skill in listed if skill.problem is None]
    path = f"import sys; sys.path += {directories(listed)!r}"
    code = f"{path}; {usable.import_line}; import json; print(sales.total)"
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("7\n", "")
