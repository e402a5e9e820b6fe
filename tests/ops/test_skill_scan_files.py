"""Files as files: archives, compiled and huge ones, links, pipes; nothing is run, nothing is waited for."""

import gzip
import io
import os
import socket
import tarfile
import zipfile

import pytest

from hermes_ops.errors import Unreadable
from hermes_ops.skillcheck import archives, entries
from hermes_ops.skillcheck.disk import skills_at
from hermes_ops.skillcheck.entries import Entry, partition
from hermes_ops.skillcheck.kinds import kind_of
from hermes_ops.skillcheck.scan import scan
from tests.ops.dirty_skills import IGNORE, SEND_KEY, skill, tarred, write, zipped


def found(folder, files):
    """(rule, severity, path) of everything said of a skill."""
    write(folder, {"SKILL.md": skill("Lists."), **files})
    return {
        (one.finding.rule, one.finding.severity, one.path)
        for whole in skills_at(folder)
        for one in scan(whole)
    }


def test_a_clean_skill_says_nothing(tmp_path):
    assert (
        found(tmp_path / "x", {"scripts/sort.sh": "#!/bin/sh\nsort list.txt\n", "LICENSE": "MIT License\n"})
        == set()
    )


def test_pipes_sockets_and_loops_are_told_and_never_opened(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket is short
        try:
            listening.bind("s")
        finally:
            os.chdir(here)
        said = found(folder, {"loop": ("link", "loop"), "up": ("link", "."), "a/b": ("link", "../a")})
    assert {("skill.special", "error", "pipe"), ("skill.special", "error", "s")} <= said
    assert {path for rule, severity, path in said if (rule, severity) == ("skill.symlink", "warning")} == {
        "loop",
        "up",
        "a/b",
    }


def test_a_link_that_leaves_the_skill_is_an_error_and_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text(SEND_KEY)
    said = found(
        tmp_path / "x",
        {"out": ("link", "../secret"), "inside": ("link", "SKILL.md"), "no": ("link", "nowhere")},
    )
    assert ("skill.symlink", "error", "out") in said
    assert ("skill.symlink", "info", "no") in said
    assert not any(path == "inside" or rule == "skill.command" for rule, _, path in said)


@pytest.mark.parametrize(
    ("name", "content", "rule", "severity"),
    [
        ("a", b"\x7fELF\x02" + bytes(20), "skill.compiled", "error"),
        ("a.jpg", b"MZ" + bytes(70) + b"PE\0\0" + bytes(9), "skill.compiled", "error"),
        ("m.wasm", b"\0asm\1\0\0\0", "skill.compiled", "warning"),
        ("A.class", b"\xca\xfe\xba\xbe\0\0\0\x41" + bytes(9), "skill.compiled", "error"),
        ("x.pyc", b"\xa7\r\r\n\1\0\0\0" + bytes(9) + b"\xe3", "skill.compiled", "error"),
        ("x.pyc", b"\xa7\r\r\n\0\0\0\0" + bytes(9) + b"\xe3", "skill.compiled", "warning"),
        ("x.7z", b"7z\xbc\xaf\x27\x1c" + bytes(9), "skill.opaque", "warning"),
        ("x.pkl", b"\x80\x04\x95\x01\0\0\0\0\0\0\0N.", "skill.pickle", "warning"),
    ],
)
def test_what_cannot_be_reviewed_is_named(tmp_path, name, content, rule, severity):
    assert (rule, severity, name) in found(tmp_path / "x", {name: content})


@pytest.mark.parametrize(
    "pack",
    [
        lambda: ("a.zip", zipped({"in/run": SEND_KEY.encode()})),
        lambda: ("a.tgz", tarred({"in/run": SEND_KEY.encode()})),
        lambda: ("run.gz", gzip.compress(SEND_KEY.encode())),
        lambda: ("a.docx", zipped({"b.zip": zipped({"run": SEND_KEY.encode()})})),
        lambda: ("no-extension", zipped({"run": SEND_KEY.encode()})),
    ],
    ids=["zip", "tar", "gzip", "nested", "unnamed"],
)
def test_archives_are_looked_into(tmp_path, pack):
    name, content = pack()
    said = found(tmp_path / "x", {name: content})
    assert any(
        rule == "skill.command" and severity == "error" and path.startswith(f"{name}!/")
        for rule, severity, path in said
    )


def test_an_archive_is_bounded_in_size_number_and_depth(monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 5)
    many = zipped({f"{n}": b"x" for n in range(20)})
    opened = archives.unpack(Entry("a.zip", data=many, size=len(many)), archives.Budget(members=5))
    assert len(opened.entries) == 5 and "members" in opened.hits[0].text
    bomb = zipped({"big": bytes(50_000_000)})
    (hit,) = archives.unpack(Entry("b.zip", data=bomb, size=len(bomb)), archives.Budget()).hits
    assert hit.severity == "error" and "bomb" in hit.text
    packed = gzip.compress(bytes(80_000_000))
    (hit,) = archives.unpack(Entry("c.gz", data=packed, size=len(packed)), archives.Budget()).hits
    assert hit.severity == "error" and "bomb" in hit.text
    deep = SEND_KEY.encode()
    for _ in range(6):
        deep = gzip.compress(deep)
    assert (
        "deep" in archives.unpack(Entry("d.gz", data=deep, size=len(deep)), archives.Budget()).hits[-1].text
    )


def test_members_that_would_leave_the_folder_are_errors(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("../evil")
        archive.addfile(info)
        link = tarfile.TarInfo("l")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    said = found(tmp_path / "x", {"a.tar": out.getvalue(), "b.zip": zipped({"C:\\x": b"1", "/abs": b"2"})})
    assert {("skill.archive", "error", "a.tar"), ("skill.archive", "error", "b.zip")} <= said
    assert ("skill.symlink", "error", "a.tar!/l") in said


@pytest.mark.parametrize("cut", [10, 40, 100])
def test_a_broken_archive_is_told_and_ends_nothing(tmp_path, cut):
    whole = zipped({"a": b"x" * 200, "b": b"y" * 200})
    said = found(tmp_path / "x", {"a.zip": whole[:cut], "scripts/tidy": SEND_KEY + "\n"})
    assert ("skill.archive", "warning", "a.zip") in said
    assert ("skill.command", "error", "scripts/tidy") in said


def test_a_huge_file_is_read_at_both_ends_and_the_rest_is_told(tmp_path, monkeypatch):
    for module in ("entries", "disk"):
        monkeypatch.setattr(f"hermes_ops.skillcheck.{module}.MAX_HEAD", 10_000)
        monkeypatch.setattr(f"hermes_ops.skillcheck.{module}.MAX_TAIL", 1_000)
    said = found(tmp_path / "x", {"notes.md": "a line of text\n" * 5_000 + f"\n\n{IGNORE}\n"})
    assert ("skill.huge", "warning", "notes.md") in said
    assert ("skill.override", "error", "notes.md") in said


def test_every_file_type_is_read_also_without_an_extension(tmp_path):
    for name in ("run", "a.json", "b.toml", "c.css", "d.xyz", ".hidden", "LICENSE", "e.csv"):
        said = found(tmp_path / name, {f"data/{name}": f"Please {IGNORE}.\n"})
        assert any(rule == "skill.override" for rule, _, _ in said), name


def test_text_in_utf16_or_behind_zero_bytes_is_text():
    assert kind_of("a", IGNORE.encode("utf-16")).text == IGNORE
    assert kind_of("a", IGNORE.encode("utf-16-le") * 3).text == IGNORE * 3
    assert kind_of("a", b"x\0" + IGNORE.encode() * 4).what == "text"


def test_files_belong_to_the_nearest_skill():
    owned, loose = partition(
        ["a/SKILL.md", "a/scripts/x/SKILL.md", "a/x", "a/b/SKILL.md", "a/b/y", "README", ".git/SKILL.md"]
    )
    assert owned == {"a": ["a/SKILL.md", "a/scripts/x/SKILL.md", "a/x"], "a/b": ["a/b/SKILL.md", "a/b/y"]}
    assert loose == ["README", ".git/SKILL.md"]


def test_ids_stay_when_a_finding_moves(tmp_path):
    write(tmp_path / "x", {"SKILL.md": skill(IGNORE)})
    before = [one.finding.id for one in scan(skills_at(tmp_path / "x")[0])]
    write(tmp_path / "x", {"SKILL.md": skill(f"Lists are good.\n\n{IGNORE}")})
    assert [one.finding.id for one in scan(skills_at(tmp_path / "x")[0])] == before != []


def test_a_path_that_cannot_be_scanned_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("absent", "pipe", "loop"):
        with pytest.raises(Unreadable):
            skills_at(tmp_path / name)


def test_too_many_files_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes_ops.skillcheck.disk.MAX_ENTRIES", 3)
    said = found(tmp_path / "x", {f"{n}.txt": "x\n" for n in range(9)})
    assert ("skill.huge", "error", "") in said


def test_a_zip_with_odd_flags_is_no_crash():
    raw = bytearray(zipped({"a": b"x" * 50}))
    for at in range(0, len(raw), 7):
        changed = bytes(raw[:at]) + b"\xff" + bytes(raw[at + 1 :])
        archives.unpack(Entry("a.zip", data=changed, size=len(changed)), archives.Budget())
    assert zipfile.is_zipfile(io.BytesIO(bytes(raw))) and entries.MEMBER == "!/"
