"""The config is read without side effects, and what cannot be read is unknown, never default."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from hermes_unroll._common import config
from hermes_unroll._common.config import plugin_settings, read_config

pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    """A home of its own, no host, an empty cache."""
    monkeypatch.setattr(config, "hermes_home", lambda: tmp_path)
    monkeypatch.setattr(config, "_cache", {})
    monkeypatch.setattr(config, "_last_good", {})
    monkeypatch.delitem(sys.modules, "hermes_cli.config", raising=False)
    return tmp_path


def write(home, text):
    (home / "config.yaml").write_text(text, encoding="utf-8")


class FakeHost(types.ModuleType):
    """Answers as the host's loader does: defaults merged in, a broken file silently replaced."""

    def __init__(self, values, raw=None):
        super().__init__("hermes_cli.config")
        self.values, self.raw, self.loads = values, raw, 0

    def load_config_readonly(self):
        self.loads += 1
        if isinstance(self.values, Exception):
            raise self.values
        return self.values

    def read_raw_config(self):
        return self.values if self.raw is None else self.raw


def test_values_are_found_by_dotted_path(own_home):
    write(
        own_home,
        "plugins:\n  entries:\n    hermes-unroll:\n      retention: {max_age_days: 30, limit: null}\n",
    )
    found = read_config()
    assert (found.known, found.source, found.problem) == (True, "yaml", None)
    assert found.get("plugins.entries.hermes-unroll.retention.max_age_days", 7) == 30
    assert found.get("plugins.entries.hermes-unroll.retention.max_bytes", 7) == 7
    assert found.get("plugins.entries.hermes-unroll.retention.max_age_days.deeper", 7) == 7
    assert found.get("plugins.entries.hermes-unroll.retention.limit", 7) is None


def test_keys_that_hold_dots_are_found(own_home):
    write(own_home, "a:\n  gpt-5.4: {input: 1}\n  gpt-5: {x: 2}\n")
    assert read_config().get("a.gpt-5.4.input") == 1
    assert read_config().get("a.gpt-5.x") == 2


def test_a_missing_file_is_known_to_set_nothing(own_home):
    found = read_config()
    assert (found.known, found.source, found.problem) == (True, "absent", None)
    assert found.get("anything", "default") == "default"
    assert not list(own_home.iterdir())


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "{}\n"])
def test_an_empty_file_is_known_to_set_nothing(own_home, text):
    write(own_home, text)
    assert (read_config().known, read_config().values) == (True, {})


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("a: [1, 2\nb: 3\n", "line 2"),
        ("a:\n\tb: 1\n", "line 2"),
        ("- a\n- b\n", "expected a mapping, found list"),
        ("just words\n", "expected a mapping, found str"),
        ("a: !!python/object:os.system {}\n", "line 1"),
        ("a: *nowhere\n", "line 1"),
        ("? [a, {b: c}]\n: 1\n", "line 1"),
        ("a: \x00\n", "config.yaml"),
        ("a: 2026-99-99\n", "config.yaml"),
    ],
)
def test_a_broken_file_is_unknown_and_says_where(own_home, text, tells):
    write(own_home, text)
    found = read_config()
    assert (found.known, found.source) == (False, "unreadable")
    assert tells in found.problem and str(own_home / "config.yaml") in found.problem
    assert "\n" not in found.problem
    assert found.get("a", "default") == "default"


def test_text_that_is_not_utf8_is_unknown(own_home):
    (own_home / "config.yaml").write_bytes(b"a: \xff\xfe\n")
    assert read_config().problem.endswith("not UTF-8 at byte 3")


def test_a_byte_order_mark_does_not_hide_the_first_key(own_home):
    (own_home / "config.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert read_config().get("a") == 1


def test_a_folder_in_its_place_is_unknown(own_home):
    (own_home / "config.yaml").mkdir()
    assert (read_config().known, read_config().source) == (False, "unreadable")


def test_very_deep_nesting_is_unknown_not_a_crash(own_home):
    write(own_home, "a: " + "[" * 20_000 + "]" * 20_000 + "\n")
    assert read_config().known is False


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 200_000,
        "- " * 200_000,
        "? " * 200_000,
        "a: " + "[" * 200_000 + "]" * 200_000,
        'x: ["]", ' * 3_000,
        "a:\n  - - - " + "- " * 100_000,
    ],
    ids=["lists", "mappings", "items", "keys", "closed", "quoted brackets", "below a key"],
)
def test_nesting_that_would_overflow_the_reader_in_c_ends_no_process(own_home, text):
    write(own_home, text)
    code = (
        "import sys, pathlib\nfrom hermes_unroll._common.config import read_config\n"
        "found = read_config(pathlib.Path(sys.argv[1]))\nprint(found.known, found.problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(own_home)], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.returncode == 0 and done.stdout.startswith("False"), done


def test_many_brackets_side_by_side_are_no_nesting(own_home):
    write(own_home, "a: [" + "[], " * 5_000 + "[]]\n")
    assert read_config().known and len(read_config().get("a")) == 5_001


def test_aliases_of_aliases_stay_small(own_home):
    levels = ["a0: &a0 ['x${HOME}x']"]
    levels += [f"a{n}: &a{n} [{', '.join(['*a' + str(n - 1)] * 10)}]" for n in range(1, 40)]
    write(own_home, "\n".join(levels) + "\n")
    assert len(read_config().get("a39")) == 10


def test_the_last_good_values_are_served_while_the_file_is_broken(own_home):
    write(own_home, "unroll: {record: false}\n")
    assert read_config().known
    write(own_home, "unroll: {record: false\n")
    found = read_config()
    assert (found.known, found.source) == (False, "unreadable")
    assert found.get("unroll.record", True) is False
    write(own_home, "unroll: {record: true}\n")
    assert (read_config().known, read_config().get("unroll.record")) == (True, True)


def test_without_a_yaml_reader_the_file_is_unknown(own_home, monkeypatch):
    write(own_home, "a: 1\n")
    monkeypatch.setitem(sys.modules, "yaml", None)
    found = read_config()
    assert (found.known, found.get("a", 2)) == (False, 2)
    assert "PyYAML" in found.problem


def test_environment_references_are_replaced_and_unset_ones_kept(own_home, monkeypatch):
    monkeypatch.setenv("TRACE_DIR", "/data")
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    write(own_home, "a: ['${TRACE_DIR}/x', {b: '${NOT_SET_ANYWHERE}'}]\n")
    assert read_config().get("a") == ["/data/x", {"b": "${NOT_SET_ANYWHERE}"}]


def test_an_unchanged_file_is_parsed_once(own_home, monkeypatch):
    write(own_home, "a: 1\n")
    first = read_config()
    monkeypatch.setattr(config, "_parse", lambda path: pytest.fail("parsed again"))
    assert read_config() is first


def test_a_replaced_file_is_read_again_even_with_equal_size_and_time(own_home):
    write(own_home, "a: 1\n")
    assert read_config().get("a") == 1
    before = (own_home / "config.yaml").stat()
    (own_home / "new").write_text("a: 2\n")
    os.utime(own_home / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(own_home / "new", own_home / "config.yaml")
    assert read_config().get("a") == 2


def test_another_home_is_read_from_its_own_file(own_home, tmp_path):
    other = tmp_path / "profiles" / "b"
    other.mkdir(parents=True)
    write(own_home, "a: 1\n")
    write(other, "a: 2\n")
    assert (read_config().get("a"), read_config(other).get("a"), read_config(str(other)).get("a")) == (
        1,
        2,
        2,
    )


def test_the_loaded_host_answers_for_its_own_home_only(own_home, monkeypatch, tmp_path):
    host = FakeHost({"a": "host", "default": 1})
    monkeypatch.setitem(sys.modules, "hermes_cli.config", host)
    write(own_home, "a: file\n")
    found = read_config()
    assert (found.source, found.known, found.get("a"), found.get("default")) == ("host", True, "host", 1)
    assert read_config() is found and host.loads == 1
    other = tmp_path / "other"
    other.mkdir()
    write(other, "a: other\n")
    assert (read_config(other).source, read_config(other).get("a")) == ("yaml", "other")


def test_the_host_is_asked_again_after_a_change_and_after_a_while(own_home, monkeypatch):
    host = FakeHost({"a": 1})
    clock = [100.0]
    monkeypatch.setitem(sys.modules, "hermes_cli.config", host)
    monkeypatch.setattr(config.time, "monotonic", lambda: clock[0])
    write(own_home, "a: 1\n")
    read_config()
    clock[0] += config.HOST_RECHECK_SECONDS - 1
    read_config()
    assert host.loads == 1
    clock[0] += 2
    read_config()
    assert host.loads == 2
    write(own_home, "a: 22\n")
    read_config()
    assert host.loads == 3


def test_defaults_the_host_serves_for_a_broken_file_are_not_taken_for_known(own_home, monkeypatch):
    monkeypatch.setitem(sys.modules, "hermes_cli.config", FakeHost({"a": "default"}, raw={}))
    write(own_home, "a: [\n")
    found = read_config()
    assert (found.known, found.source, found.get("a")) == (False, "unreadable", "default")
    assert "line 2" in found.problem


def test_a_file_of_comments_only_is_known_through_the_host_too(own_home, monkeypatch):
    monkeypatch.setitem(sys.modules, "hermes_cli.config", FakeHost({"a": "default"}, raw={}))
    write(own_home, "# nothing set\n")
    assert (read_config().known, read_config().source) == (True, "host")


def test_a_host_that_raises_leaves_the_file(own_home, monkeypatch):
    monkeypatch.setitem(sys.modules, "hermes_cli.config", FakeHost(RuntimeError("half loaded")))
    write(own_home, "a: 1\n")
    assert (read_config().source, read_config().get("a")) == ("yaml", 1)


def test_plugin_settings_merge_section_entry_and_settings_in_that_order(own_home):
    write(
        own_home,
        """
unroll: {a: section, b: section, c: section, deep: {x: section, y: section}, whole: {x: section}}
plugins:
  entries:
    hermes-unroll:
      allow_tool_override: true
      llm: {allow_model_override: true}
      b: entry
      c: entry
      deep: {y: entry}
      whole:
      settings: {c: settings}
    other: {a: foreign}
""",
    )
    found = plugin_settings("hermes-unroll", "unroll")
    assert found.values == {
        "a": "section",
        "b": "entry",
        "c": "settings",
        "deep": {"x": "section", "y": "entry"},
        "whole": {"x": "section"},
    }
    assert (found.known, found.source, found.problem) == (True, "yaml", None)
    assert (found.get("deep.y"), found.get("deep.z", 1)) == ("entry", 1)


@pytest.mark.parametrize(
    "name", ["hermes-unroll", "hermes_unroll", "suite/hermes_unroll", "my.suite/hermes-unroll"]
)
def test_plugin_settings_are_found_under_every_name_an_install_gives(own_home, name):
    write(own_home, f"plugins: {{entries: {{{name}: {{a: 1}}}}}}\n")
    assert plugin_settings("hermes-unroll", "unroll").get("a") == 1


def test_the_plain_name_wins_over_the_folder_of_an_install(own_home):
    write(
        own_home, "plugins: {entries: {hermes-unroll: {a: plain}, suite/hermes_unroll: {a: folder, b: 1}}}\n"
    )
    assert plugin_settings("hermes-unroll", "unroll").values == {"a": "plain", "b": 1}


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("unroll: off\n", "unroll must be a mapping, found bool"),
        ("plugins: {entries: {hermes-unroll: [1]}}\n", "plugins.entries.hermes-unroll must be a mapping"),
        ("plugins: {entries: {hermes-unroll: {settings: 3}}}\n", "hermes-unroll.settings must be a mapping"),
    ],
)
def test_a_section_that_is_no_mapping_is_named(own_home, text, tells):
    write(own_home, text)
    found = plugin_settings("hermes-unroll", "unroll")
    assert found.values == {} and tells in found.problem


@pytest.mark.parametrize(
    "text", ["unroll:\nplugins:\n", "plugins: {entries: [hermes-unroll]}\n", "plugins: 3\n"]
)
def test_empty_or_odd_plugin_tables_set_nothing(own_home, text):
    write(own_home, text)
    assert plugin_settings("hermes-unroll", "unroll").values == {}


def test_settings_of_an_unreadable_file_are_unknown(own_home):
    write(own_home, "unroll: {a: 1\n")
    found = plugin_settings("hermes-unroll", "unroll")
    assert (found.known, found.values) == (False, {}) and "line 2" in found.problem


def test_reading_changes_neither_the_hosts_object_nor_the_result_of_the_next_caller(own_home, monkeypatch):
    values = {"unroll": {"deep": {"x": 1}}, "plugins": {"entries": {"hermes-unroll": {"other": {"y": 2}}}}}
    monkeypatch.setitem(sys.modules, "hermes_cli.config", FakeHost(values))
    plugin_settings("hermes-unroll", "unroll").values["deep"]["x"] = "changed"
    assert values["unroll"] == {"deep": {"x": 1}}
    assert plugin_settings("hermes-unroll", "unroll").get("deep.x") == 1


@pytest.mark.host
def test_the_real_host_is_read_and_its_silence_about_a_broken_file_is_not_believed(tmp_path):
    pytest.importorskip("hermes_constants", reason="hermes-agent is not installed")
    code = """if True:
        import json, sys
        sys.path.insert(0, sys.argv[1])
        import hermes_cli.config
        from hermes_unroll._common.config import plugin_settings, read_config
        told = []
        for text in sys.argv[2:]:
            with open(hermes_cli.config.get_config_path(), "w") as file:
                file.write(text)
            found = read_config()
            told.append([found.source, found.known, found.get("approvals.mode"),
                         plugin_settings("hermes-unroll", "unroll").get("record"), found.problem])
        print(json.dumps(told))
    """
    texts = ["approvals: {mode: manual}\nunroll: {record: false}\n", "approvals: {mode: [\n", "# nothing\n"]
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), *texts],
        env={**os.environ, "HERMES_HOME": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    good, broken, empty = json.loads(done.stdout)
    assert good == ["host", True, "manual", False, None]
    assert broken[:4] == ["unreadable", False, "manual", False] and "line 2" in broken[4]
    assert empty[:2] == ["host", True] and empty[3:] == [None, None]
