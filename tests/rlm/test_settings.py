"""Each HERMES_RLM_* knob: its default, what it accepts, its sources, and what is said of a wrong value."""

import os
import re
import sys
from pathlib import Path

import pytest

from hermes_rlm import settings
from hermes_rlm.settings import KNOBS, Settings, describe, load

# field -> texts that are accepted with the value they mean, texts that are not.
CASES = {
    "max_kernels": (
        {"1": 1, " 12 ": 12, "007": 7, "1000": 1000},
        ("0", "-1", "+3", "2.0", "1_000", "1e3", "twelve", "1001", "9" * 5000, "١٢"),
    ),
    "max_rss_mb": ({"64": 64, "512": 512, "65536": 65536}, ("63", "512MB", "0x40", "16777217")),
    "rss_policy": ({"warn": "warn", "stop": "stop", " STOP ": "stop"}, ("kill", "warn,stop", "0")),
    "idle_seconds": ({"1": 1, "900": 900}, ("0", "15m", "900 s", "-5")),
    "python": ({sys.executable: sys.executable}, ("bin/python", "/", "/no/such/python", "no-such-python")),
    "depth": ({"0": 0, "2": 2}, ("-1", "deep", "101")),
    "enable_checkpoint": ({"0": False, "1": True, "Off": False, "YES": True}, ("2", "disabled", "00", "-")),
    "enable_python_skills": ({"0": False, "true": True, "no": False}, ("2", "none", "y es")),
}
VALID = [(field, text, value) for field, (good, _) in CASES.items() for text, value in good.items()]
INVALID = [(field, text) for field, (_, bad) in CASES.items() for text in bad]


@pytest.fixture(autouse=True)
def nothing_cached():
    settings._cache.clear()


def knob(field):
    return next(knob for knob in KNOBS if knob.field == field)


def write_env(home, content):
    (home / ".env").write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def test_every_field_is_a_knob_with_cases_and_a_default():
    fields = [knob.field for knob in KNOBS]
    assert fields == [name for name in Settings.__dataclass_fields__ if name != "problems"] == list(CASES)


def test_nothing_set_is_the_default_of_every_knob(tmp_path):
    assert load(tmp_path, {}) == Settings()
    assert [(row.value, row.source, row.problem) for row in describe(tmp_path, {})] == [
        (knob.default, "default", None) for knob in KNOBS
    ]


@pytest.mark.parametrize("field,text,value", VALID)
def test_accepted_values_count_from_the_environment_and_from_the_file(tmp_path, field, text, value):
    name = knob(field).name
    from_environment = load(tmp_path, {name: text})
    assert (getattr(from_environment, field), from_environment.problems) == (value, ())
    write_env(tmp_path, f"OTHER=1\n{name}={text}\n")
    from_file = load(tmp_path, {})
    assert (getattr(from_file, field), from_file.problems) == (value, ())


@pytest.mark.parametrize("field,text", INVALID)
def test_wrong_values_name_the_variable_the_value_what_is_accepted_and_the_default(tmp_path, field, text):
    the_knob = knob(field)
    line, given = f"{the_knob.name}='{text}'\n", {the_knob.name: text}
    # The host puts its .env into the environment of its process: equal values were said in the file.
    for written, environ, source in (("", given, "environment"), (line, {}, ".env"), (line, given, ".env")):
        write_env(tmp_path, written)
        found = load(tmp_path, environ)
        assert getattr(found, field) == the_knob.default
        (problem,) = found.problems
        assert problem.startswith(f"{the_knob.name}=") and f"({source})" in problem
        assert ascii(text[:60])[1:-1] in problem
        assert the_knob.accepted in problem and problem.endswith(f"used: {settings.shown(the_knob)}")
        assert len(problem) < 500


@pytest.mark.parametrize("field", CASES)
def test_environment_wins_over_the_file_and_an_empty_value_is_not_set(tmp_path, field):
    good, bad = CASES[field]
    text, value = next(iter(good.items()))
    write_env(tmp_path, f"{knob(field).name}={bad[0]}\n")
    assert getattr(load(tmp_path, {knob(field).name: text}), field) == value
    write_env(tmp_path, f"{knob(field).name}={text}\n")
    for empty in ("", "  "):
        assert getattr(load(tmp_path, {knob(field).name: empty}), field) == value
    write_env(tmp_path, f"{knob(field).name}=\n")
    assert load(tmp_path, {}) == Settings()


def test_rows_say_where_each_value_comes_from(tmp_path):
    write_env(tmp_path, "HERMES_RLM_MAX_KERNELS=3\nHERMES_RLM_RSS_POLICY=never\n")
    rows = {row.knob.field: row for row in describe(tmp_path, {"HERMES_RLM_MAX_RSS_MB": "512"})}
    assert (rows["max_kernels"].value, rows["max_kernels"].source) == (3, ".env")
    assert (rows["max_rss_mb"].value, rows["max_rss_mb"].source) == (512, "environment")
    assert (rows["rss_policy"].value, rows["rss_policy"].source) == ("warn", "default")
    assert "'never'" in rows["rss_policy"].problem


@pytest.mark.parametrize(
    "line,value",
    [
        ("HERMES_RLM_MAX_KERNELS=4", 4),
        ("export HERMES_RLM_MAX_KERNELS=4", 4),
        ("  export\tHERMES_RLM_MAX_KERNELS = 4  ", 4),
        ("HERMES_RLM_MAX_KERNELS='4'", 4),
        ('HERMES_RLM_MAX_KERNELS="4" # note', 4),
        ("HERMES_RLM_MAX_KERNELS=4 # two are too few", 4),
        ("HERMES_RLM_MAX_KERNELS=4\t# two are too few", 4),
        ("HERMES_RLM_MAX_KERNELS= # not set", 12),
        ("# HERMES_RLM_MAX_KERNELS=4", 12),
        ("MY_HERMES_RLM_MAX_KERNELS=4", 12),
        ("HERMES_RLM_MAX_KERNELS=2\nHERMES_RLM_MAX_KERNELS=4", 4),
        ("HERMES_RLM_MAX_KERNELS=4\r\nOTHER=1\r\n", 4),
        ("\ufeffHERMES_RLM_MAX_KERNELS=4", 4),
    ],
)
def test_lines_of_the_file_are_read_as_a_shell_would(tmp_path, line, value):
    write_env(tmp_path, line)
    found = load(tmp_path, {})
    assert (found.max_kernels, found.problems) == (value, ())


def test_a_hash_inside_quotes_or_a_word_is_no_comment(tmp_path):
    odd = tmp_path / "a # b" / "py#thon"
    odd.parent.mkdir()
    odd.symlink_to(sys.executable)
    for line in (f'HERMES_RLM_PYTHON="{odd}" # c', f"HERMES_RLM_PYTHON='{odd}'"):
        write_env(tmp_path, line)
        assert load(tmp_path, {}).python == str(odd)
        settings._cache.clear()
    (tmp_path / "py#thon").symlink_to(sys.executable)
    write_env(tmp_path, f"HERMES_RLM_PYTHON={tmp_path / 'py#thon'}")
    assert load(tmp_path, {}).python == str(tmp_path / "py#thon")


def test_other_bytes_than_utf8_do_not_hide_the_rest_of_the_file(tmp_path):
    write_env(tmp_path, b"NAME=caf\xe9\nHERMES_RLM_IDLE_SECONDS=900\nHERMES_RLM_RSS_POLICY=st\xf6p\n")
    found = load(tmp_path, {})
    assert found.idle_seconds == 900
    (problem,) = found.problems
    assert "st\\udcf6p" in problem and problem.isascii()


def test_a_huge_file_is_read_up_to_its_bound_and_named(tmp_path):
    filler = "X=" + "y" * 1022 + "\n"
    write_env(tmp_path, "HERMES_RLM_MAX_KERNELS=5\n" + filler * 1100 + "HERMES_RLM_RSS_POLICY=stop\n")
    found = load(tmp_path, {})
    assert (found.max_kernels, found.rss_policy) == (5, "warn")
    assert str(tmp_path / ".env") in found.problems[0] and "larger than" in found.problems[0]


def test_one_endless_line_of_blanks_takes_no_time(tmp_path):
    write_env(tmp_path, "HERMES_RLM_RSS_POLICY=a" + " \t" * 500_000 + "b\n")
    (problem,) = load(tmp_path, {}).problems
    assert len(problem) < 500


def put_directory(path):
    path.mkdir()


def put_pipe(path):
    os.mkfifo(path)


def put_link_to_itself(path):
    path.symlink_to(path)


@pytest.mark.parametrize("put", [put_directory, put_pipe, put_link_to_itself])
def test_something_else_in_place_of_the_file_is_a_problem_and_not_an_end(tmp_path, put):
    put(tmp_path / ".env")
    found = load(tmp_path, {"HERMES_RLM_MAX_KERNELS": "3"})
    assert found.max_kernels == 3
    (problem,) = found.problems
    assert str(tmp_path / ".env") in problem and "cannot be read" in problem


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_the_right_to_read_is_a_problem(tmp_path):
    write_env(tmp_path, "HERMES_RLM_MAX_KERNELS=3\n")
    (tmp_path / ".env").chmod(0)
    found = load(tmp_path, {})
    assert found.max_kernels == 12 and "Permission denied" in found.problems[0]


def test_a_home_that_does_not_exist_has_defaults(tmp_path):
    assert load(tmp_path / "nowhere", {}) == Settings()
    assert load(Path("/dev/null/x"), {}).max_kernels == 12


def test_names_that_do_not_exist_are_named_with_the_nearest(tmp_path):
    write_env(tmp_path, "HERMES_RLM_MAX_KERNLES=3\n")
    environ = {"HERMES_RLM_ENABLE_CHEKPOINT": "0", "HERMES_RLM_ZZZ": "1", "HERMES_OTHER": "1"}
    assert load(tmp_path, environ).problems == (
        "HERMES_RLM_ENABLE_CHEKPOINT (environment) is no setting; did you mean HERMES_RLM_ENABLE_CHECKPOINT?",
        "HERMES_RLM_ZZZ (environment) is no setting",
        "HERMES_RLM_MAX_KERNLES (.env) is no setting; did you mean HERMES_RLM_MAX_KERNELS?",
    )


def test_names_of_parts_that_come_later_and_internal_ones_are_no_problem(tmp_path):
    environ = {name: "anything" for name in settings.RESERVED | settings.INTERNAL}
    assert load(tmp_path, environ) == Settings()


def test_thousands_of_unknown_names_are_counted_not_listed(tmp_path):
    write_env(tmp_path, "".join(f"HERMES_RLM_X{n}=1\n" for n in range(5000)))
    problems = load(tmp_path, {}).problems
    assert len(problems) == 21 and problems[-1].startswith("4980 more names (.env)")


def test_problems_are_one_line_of_ascii(tmp_path):
    environ = {"HERMES_RLM_RSS_POLICY": "a\n\x1b[31mb\u202e\udcff", "HERMES_RLM_\x1b[2J": "1"}
    problems = load(tmp_path, environ).problems
    assert len(problems) == 2 and all(re.fullmatch(r"[ -~]+", problem) for problem in problems)


def make_executable(path, mode=0o755):
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "make,reason",
    [
        (lambda path: path.mkdir(), "it is a directory"),
        (lambda path: make_executable(path, 0o644), "it is not executable"),
        (lambda path: os.mkfifo(path), "it is not a file"),
        (lambda path: path.symlink_to("nowhere"), "No such file"),
        (lambda path: None, "No such file"),
    ],
)
def test_an_interpreter_that_cannot_run_is_refused_with_the_reason(tmp_path, make, reason):
    path = tmp_path / "python"
    make(path)
    found = load(tmp_path, {"HERMES_RLM_PYTHON": str(path)})
    assert found.python == "" and reason in found.problems[0]


def test_an_interpreter_is_found_on_path_or_below_the_home_and_links_are_kept(tmp_path, monkeypatch):
    link = tmp_path / "python9"
    link.symlink_to(make_executable(tmp_path / "real"))
    assert load(tmp_path, {"HERMES_RLM_PYTHON": "python9", "PATH": str(tmp_path)}).python == str(link)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load(tmp_path, {"HERMES_RLM_PYTHON": "~/python9"}).python == str(link)


def test_a_nul_in_the_file_is_refused_and_does_not_raise(tmp_path):
    for text in (b"/bin/py\0thon", b"py\0thon"):
        write_env(tmp_path, b"HERMES_RLM_PYTHON=" + text + b"\n")
        settings._cache.clear()
        found = load(tmp_path, {})
        assert found.python == "" and len(found.problems) == 1


def test_a_change_of_the_file_or_the_environment_counts_at_once(tmp_path):
    environ = {}
    write_env(tmp_path, "HERMES_RLM_MAX_KERNELS=3\n")
    assert load(tmp_path, environ).max_kernels == 3
    write_env(tmp_path, "HERMES_RLM_MAX_KERNELS=44\n")
    assert load(tmp_path, environ).max_kernels == 44
    environ["HERMES_RLM_MAX_KERNELS"] = "5"
    assert load(tmp_path, environ).max_kernels == 5
    del environ["HERMES_RLM_MAX_KERNELS"]
    (tmp_path / ".env").unlink()
    assert load(tmp_path, environ).max_kernels == 12


def test_unchanged_settings_are_the_same_object_until_the_recheck_is_due(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(settings.time, "monotonic", lambda: now[0])
    python = make_executable(tmp_path / "python")
    environ = {"HERMES_RLM_PYTHON": str(python)}
    first = load(tmp_path, environ)
    assert first.python == str(python) and load(tmp_path, environ) is first
    python.unlink()
    now[0] += settings.RECHECK_SECONDS
    assert load(tmp_path, environ).python == ""


def test_homes_do_not_share_settings(tmp_path):
    for name, count in (("a", 3), ("b", 4)):
        (tmp_path / name).mkdir()
        write_env(tmp_path / name, f"HERMES_RLM_MAX_KERNELS={count}\n")
    assert [load(tmp_path / name, {}).max_kernels for name in "abab"] == [3, 4, 3, 4]


def test_the_table_for_the_documentation_has_every_knob():
    table = settings.as_markdown()
    for the_knob in KNOBS:
        assert (
            f"| `{the_knob.name}` | {settings.shown(the_knob)} | {the_knob.accepted} | {the_knob.does} |"
            in table
        )
