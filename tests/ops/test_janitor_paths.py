"""Files that a skill names: those that are not there are told, and nothing is that only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_ops.skillcheck.janitor_paths import Places, missing


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path / "skill", tmp_path / "user", tmp_path / "hermes")
    for folder in (found.folder, found.user, found.hermes):
        folder.mkdir()
    return found


def told(body: str, places: Places, least: str = "warning") -> list[tuple[str, str]]:
    return [
        (one.path, one.kind) for one in missing(body, 1, places) if least == "info" or one.kind != "place"
    ]


@pytest.mark.parametrize(
    ("line", "path", "kind"),
    [
        ("Read `references/api.md` first.", "references/api.md", "package"),
        ("Read references/api.md.", "references/api.md", "package"),
        ("See [the guide](references/guide.md#start).", "references/guide.md", "package"),
        ("See [forms](FORMS.md) and [more](<docs/a b.md>).", "FORMS.md", "package"),
        ("    python3 scripts/run.py --all", "scripts/run.py", "package"),
        ("python ${HERMES_SKILL_DIR}/scripts/run.py", "${HERMES_SKILL_DIR}/scripts/run.py", "package"),
        ("Fill in templates/report.md and answer.", "templates/report.md", "package"),
        ("Generate the report using `templates/report.md`.", "templates/report.md", "package"),
        ("The logo is assets/logo.png.", "assets/logo.png", "package"),
        ("Run `/opt/tool/missing.sh`.", "/opt/tool/missing.sh", "outside"),
        ("Settings are in /etc/absent-tool/settings.toml", "/etc/absent-tool/settings.toml", "outside"),
        ("Look into /root/absent/notes.md", "/root/absent/notes.md", "outside"),
        ("Look into /Users/anna/notes.md", "/Users/anna/notes.md", "outside"),
        ("Look into `~/absent/limits.yaml`", "~/absent/limits.yaml", "outside"),
        ("Look into $HOME/absent.txt", "$HOME/absent.txt", "outside"),
        ("Run ~/bin/absent-tool now", "~/bin/absent-tool", "outside"),
        ("--config=~/absent.toml", "~/absent.toml", "outside"),
        ("Run `~/.hermes/scripts/absent.py`", "~/.hermes/scripts/absent.py", "outside"),
    ],
)
def test_a_file_that_is_not_there_is_told(line, path, kind, places):
    assert (path, kind) in told(line, places)


@pytest.mark.parametrize(
    "line",
    [
        "Open https://example.org/opt/tool/page.html and http://127.0.0.1:8000/var/x.json",
        "Copy it with scp x anna@host.example.org:/opt/tool/x.tar",
        "Call GET /api/v1/users.json, then /help or /model/list.txt",
        "Use `/path/to/file.txt`, ~/your-project/x.py, /home/user/x.py, references/<topic>.md",
        "Files like references/*.md, scripts/{name}.py, /etc/$NAME/x.conf, logs in /opt/x/YYYY-MM.log",
        "It writes to /dev/null, /tmp/out.txt, /proc/cpuinfo and /var/log/tool/x.log",
        "It creates `~/data/new.json` on the first run.",
        "Save the answer to ~/notes/today.md.",
        "mkdir -p ~/notes && echo done >> ~/notes/log.md",
        "python3 fetch.py > /opt/tool/out.json",
        "curl -o ~/absent.tar https://example.org/x.tar",
        "Use ~/absent.toml if it exists.",
        "ssh box 'cat /opt/remote/state.json'",
        "docker run -v /srv/data/x.conf:/etc/x.conf image",
        "In your project, run scripts/test.sh",
        "Writes assets/chart.png",
        "Store the result in `assets/result.json`",
        "and/or, 24/7, read/write.md of both/neither",
        "s/scripts/x.py/y.py/",
        "date +%Y/%m/%d.txt",
        "См. ~/absent.txt: файл создаётся сам",
        "[top](#start) [mail](mailto:a@b.example) [site](https://a.example/x.md) [rooted](/x.md)",
    ],
)
def test_what_is_no_file_or_only_to_be_made_is_not_told(line, places):
    assert told(line, places) == []


def test_a_longer_extension_is_never_cut_to_a_known_one(places):
    (places.user / "log.jsonl").touch()
    (places.folder / "scripts").mkdir()
    (places.folder / "scripts" / "x.pyc").touch()
    assert told("Read `~/log.jsonl` and scripts/x.pyc.", places, "info") == []
    (places.user / "log.jsonl").unlink()
    assert told("Read `~/log.jsonl` now.", places) == [("~/log.jsonl", "outside")]


def test_files_that_are_there_are_found_wherever_they_may_be_meant(places):
    (places.folder / "references").mkdir()
    (places.folder / "references" / "api.md").touch()
    (places.user / "notes").mkdir()
    (places.user / "notes" / "a b.md").touch()
    (places.hermes / "scripts").mkdir()
    (places.hermes / "scripts" / "watch.py").touch()
    body = (
        "Read `references/api.md`, [it](./references/api.md), `~/notes/a\\ b.md`.\n"
        "Run ~/.hermes/scripts/watch.py or $HERMES_HOME/scripts/watch.py or scripts/watch.py:12.\n"
    )
    assert told(body, places, "info") == []


def test_a_file_that_the_skill_makes_on_one_line_may_be_read_on_another(places):
    body = "Read ~/state/seen.json.\nAfterwards write ~/state/seen.json again.\n"
    assert told(body, places) == []


def test_a_file_named_twice_is_told_once_with_its_first_line(places):
    found = missing("one\nRead references/a.md\nRead references/a.md\n", 10, places)
    assert [(one.path, one.line) for one in found] == [("references/a.md", 11)]


def test_folders_and_examples_are_remarks(places):
    body = (
        "Look into ~/absent-folder/ and references/deep.\nFor example references/finance.md holds schemas.\n"
    )
    assert told(body, places) == []
    assert len(told(body, places, "info")) == 3


def test_a_link_that_leads_out_of_the_skill_is_told_because_the_host_refuses_it(places, tmp_path):
    (tmp_path / "shared.md").touch()
    (places.folder / "references").mkdir()
    (places.folder / "references" / "shared.md").symlink_to(tmp_path / "shared.md")
    assert told("Read references/shared.md", places) == [("references/shared.md", "escapes")]


@pytest.mark.parametrize(
    "line", ["/" * 200_000, "references/" * 20_000, "](" * 90_000, "~/a" * 50_000, "\\ " * 90_000]
)
def test_a_hostile_line_ends_at_once(line, places):
    told(line, places)
