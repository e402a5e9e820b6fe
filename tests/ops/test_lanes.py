"""Lanes: what is tested is what merges, red never merges, and nothing of the user's moves."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes_ops.lanes import checkout, evidence, register
from tests.ops.lanes_repository import Checkout


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # the disk is not what these tests are about
    return Checkout(tmp_path / "my project")


def outcomes(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    return [(one["lane"], one["state"]) for one in said["outcomes"]]


# --- making lanes ----------------------------------------------------------------------------


def test_a_lane_is_a_branch_and_a_worktree_beside_the_checkout(user):
    before = user.seen()
    path = user.lane("docs")
    assert path == user.lanes / "docs"
    assert user.git("symbolic-ref", "HEAD", cwd=path) == "refs/heads/lane/docs"
    assert user.seen() == before


@pytest.mark.parametrize("name", ["with a blank", "größe", "..", "a/b", "-x-", "a:b~c^d"])
def test_any_name_that_shows_is_one_lane(user, name, capsys):
    user.init()
    path = user.lane(name, file=f"by {name}\n")
    assert path.parent == user.lanes
    assert user.run("gate", "--", name) == 0
    assert [record["lane"] for record in user.records()] == [name]


def test_names_that_look_alike_are_two_lanes(user):
    assert user.lane("a b") != user.lane("a-b") != user.lane("A-B")


@pytest.mark.parametrize("name", ["", " ", "x" * 81, "a\nb", "tab\t", "\x1b[2J"])
def test_a_name_that_does_not_show_is_refused(user, name, capsys):
    assert user.run("new", "--", name) == 2
    assert not user.lanes.exists()


def test_a_second_lane_of_a_name_and_a_base_that_is_none_are_refused(user, capsys):
    user.lane("one")
    assert user.run("new", "one") == 1
    assert user.run("new", "two", "--base", "nowhere") == 1
    assert user.git("branch", "--list", "lane/*") == "+ lane/one"


def test_without_lanes_or_gate_or_target_nothing_is_fine(user, capsys):
    for words in (("list",), ("gate",), ("merge",), ("verify",)):
        assert user.run(*words) == 1
    user.lane("one", a="x\n")
    assert user.run("gate") == 1
    assert user.run("merge", "--gate", "true") == 1
    assert "no target" in capsys.readouterr().err
    assert user.run("list", "--json") == 0
    assert user.records() == []


@pytest.mark.parametrize("where", ["", "lanes", ".git/lanes", "docs/../deep/lanes"])
def test_lanes_inside_of_a_checkout_are_refused(user, where, capsys):
    code = user.run("init", "--gate", "true", "--target", "main", "--worktrees", str(user.path / where))
    assert code == 2 and "whose tools would walk into the lanes" in capsys.readouterr().err
    link = user.path.parent / "link"
    link.symlink_to(user.path)
    assert user.run("init", "--gate", "true", "--target", "main", "--worktrees", str(link / "x")) == 2


def test_lanes_that_cannot_be_kept_where_they_are_to_lie_are_refused(user, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    for where, said in (("file", "is no folder"), ("file/x", "cannot be made")):
        assert user.run("init", "--gate", "true", "--worktrees", str(tmp_path / where)) == 2
        assert said in capsys.readouterr().err
    if sys.platform.startswith("linux"):
        assert user.run("init", "--gate", "true", "--worktrees", "/proc/lanes") == 2
        assert "file system of the kernel" in capsys.readouterr().err
    inside = tmp_path / "a" / "b"
    assert user.run("init", "--gate", "true", "--target", "main", "--worktrees", str(inside)) == 0
    assert user.run("new", "one") == 0 and (inside / "one" / ".git").exists()


def test_outside_of_a_repository_it_says_so(user, tmp_path, capsys):
    user.path = tmp_path
    assert user.run("list") == 1
    assert "not in a git repository" in capsys.readouterr().err


def test_from_a_linked_worktree_the_same_lanes_are_seen(user, capsys):
    path = user.lane("one", a="x\n")
    user.init()
    user.path, main = path, user.path
    assert user.run("gate", "one", "--json") == 0
    assert (main / ".git" / "hermes-lanes" / "evidence.jsonl").exists()


# --- the gate ----------------------------------------------------------------------------------


def test_the_gate_sees_the_commit_and_nothing_of_the_worktree(user, capsys):
    user.init(gate="test -f wanted.txt")
    path = user.lane("one", a="x\n")
    user.write("wanted.txt", "not committed\n", path)
    assert user.run("gate") == 1
    user.git("add", "wanted.txt", cwd=path)
    assert user.run("gate") == 1
    user.git("commit", "--quiet", "-m", "now", cwd=path)
    user.git("rm", "--quiet", "--cached", "wanted.txt", cwd=path)
    (path / "wanted.txt").unlink()
    assert user.run("gate") == 0
    assert "1 file of its worktree not committed" in capsys.readouterr().out


def test_a_record_says_what_was_tested(user):
    user.init()
    path = user.lane("one", a="x\n")
    assert user.run("gate") == 0
    (record,) = user.records()
    commit = user.git("rev-parse", "HEAD", cwd=path)
    log = user.state / "logs" / record["log"]
    assert record["commit"] == commit
    assert record["tree"] == user.git("rev-parse", f"{commit}^{{tree}}")
    assert record["base"] == user.git("rev-parse", "main")
    assert (record["exit"], record["outcome"], record["command"]) == (0, "green", "sh check.sh")
    assert record["log_hash"] == evidence._hash(log.read_bytes())
    assert record["at"].endswith("Z") and record["duration"] >= 0
    assert oct(log.stat().st_mode & 0o777) == "0o600"


def test_an_exit_other_than_zero_is_red_whatever_it_means(user, capsys):
    user.init("--shell", gate="echo nothing collected; exit 5")
    user.lane("one", a="x\n")
    assert user.run("gate") == 1
    assert user.records()[0]["outcome"] == "red"
    assert "nothing collected" in capsys.readouterr().out


def test_a_gate_that_cannot_be_started_is_red_and_the_next_lane_is_gated(user):
    user.init(gate="./only-in-two.sh")
    user.lane("one", a="x\n")
    path = user.lane("two")
    user.write("only-in-two.sh", "#!/bin/sh\nexit 0\n", path)
    (path / "only-in-two.sh").chmod(0o755)
    user.commit("script", path)
    assert user.run("gate") == 1
    assert [one["outcome"] for one in user.records()] == ["unstarted", "green"]


def test_a_gate_at_its_time_limit_is_red_its_children_are_ended_and_the_next_lane_is_gated(user, tmp_path):
    script = f"""
import os, subprocess, sys, time
if os.path.exists("slow.txt"):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
    time.sleep(60)
"""
    user.write("gate.py", script)
    user.commit("gate")
    user.init("--timeout", "0.6", gate=f"{sys.executable} -S gate.py")
    user.lane("one", slow="x\n")
    user.lane("two", a="x\n")
    assert user.run("gate") == 1
    assert [one["outcome"] for one in user.records()] == ["timeout", "green"]
    assert user.records()[0]["exit"] is None
    assert not alive(int((tmp_path / "pid").read_text()))


def alive(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True


def test_what_a_gate_does_with_git_reaches_nothing_of_the_users(user):
    user.init(
        "--shell",
        gate="git checkout -q -b x && git commit -q --allow-empty -m gate; git tag gate; git stash; "
        "git config core.pager evil; git branch -D main; git update-ref -d refs/heads/lane/one; exit 0",
    )
    user.lane("one", a="x\n")
    before, refs = user.seen(), user.git("for-each-ref")
    assert user.run("gate") == 0
    assert (user.seen(), user.git("for-each-ref")) == (before, refs)
    assert user.git("config", "--get", "core.pager", fails=True) == ""


def test_tags_and_the_target_are_there_for_a_gate_that_asks_what_changed(user):
    user.git("tag", "v1")
    user.init("--shell", gate='git describe --tags && test "$(git diff --name-only main)" = a.txt')
    user.lane("one", a="x\n")
    assert user.run("gate") == 0


def test_hooks_filters_and_drivers_that_a_lane_sets_up_do_not_run(user, tmp_path):
    user.init("--shell", gate="true")
    path = user.lane("one", notes="two\n")
    mark = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in (
        "post-checkout",
        "pre-merge-commit",
        "post-merge",
        "reference-transaction",
        "commit-msg",
        "pre-commit",
    ):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{mark}'\n")
        (hooks / name).chmod(0o755)
    (path / ".gitattributes").write_text("*.txt filter=evil merge=evil diff=evil\n")
    user.commit("attributes", path)
    for key, value in (
        ("core.hooksPath", str(hooks)),
        ("filter.evil.smudge", f"touch '{mark}'; cat"),
        ("filter.evil.clean", f"touch '{mark}'; cat"),
        ("merge.evil.driver", f"touch '{mark}'; exit 0"),
        ("core.fsmonitor", f"touch '{mark}'"),
        ("core.editor", f"touch '{mark}'"),
        ("commit.gpgSign", "true"),
        ("gpg.program", f"touch '{mark}'"),
    ):
        user.git("config", key, value, cwd=path)
    (path / "notes.txt").touch()
    user.git("symbolic-ref", "HEAD", "refs/heads/mine")
    mark.unlink(missing_ok=True)
    for verb in ("gate", "merge", "list"):
        assert user.run(verb) == 0
        assert not mark.exists(), verb


def test_keys_do_not_reach_the_gate_unless_asked_for_and_git_variables_never(user, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "k1")
    monkeypatch.setenv("OTHER_TOKEN", "k2")
    monkeypatch.setenv("GIT_DIR", str(user.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", "/")
    user.init(
        "--shell",
        "--keep-env",
        "OTHER_TOKEN",
        gate='test "$OTHER_TOKEN$HERMES_LANE" = k2one && test -z "$SOME_API_KEY$GIT_DIR$GIT_WORK_TREE"',
    )
    user.lane("one", a="x\n")
    assert user.run("gate") == 0


def test_a_log_holds_no_secret_and_is_bounded(user):
    token = "gh" + "p_" + "A1b2C3d4" * 4 + "Wxyz"
    user.write(
        "gate.py",
        f"print({token!r})\nfor n in range(200_000): print('line', n, 'x' * 20)\nprint('the end')\n",
    )
    user.commit("gate")
    user.init(gate=f"{sys.executable} -S gate.py")
    user.lane("one", a="x\n")
    assert user.run("gate") == 0
    log = (user.state / "logs" / user.records()[0]["log"]).read_text()
    assert token not in log and "the end" in log and "bytes are left out" in log
    assert len(log) < 1_200_000


def test_a_gate_written_for_a_shell_must_say_so(user, capsys):
    for text in ("true && false", "a | b", "X=1 make", "make > log", ""):
        assert user.run("init", "--gate", text, "--target", "main") == 2
    assert user.run("init", "--shell") == 2
    assert user.run("init", "--gate", "grep 'a|b' notes.txt") == 0
    assert register.read(user.repository).settings.command.argv == ("grep", "a|b", "notes.txt")


def test_a_gate_that_rewrites_the_commits_files_is_told(user, capsys):
    user.init("--shell", gate="echo more >> notes.txt")
    user.lane("one", a="x\n")
    assert user.run("gate") == 0
    assert user.records()[0]["changed"] == 1
    assert "changed 1 file" in capsys.readouterr().out


# --- merging -----------------------------------------------------------------------------------------


def test_a_red_lane_never_merges_and_the_others_do(user, capsys):
    user.init()
    user.lane("red", bad="x\n")
    user.git("mv", "bad.txt", "bad", cwd=user.lanes / "red")
    user.commit("bad", user.lanes / "red")
    user.lane("good", a="x\n")
    user.away()
    assert user.run("merge", "--json") == 1
    assert outcomes(capsys) == [("red", "red"), ("good", "merged")]
    assert "bad" not in user.git("ls-tree", "--name-only", "main").split()
    assert "a.txt" in user.git("ls-tree", "--name-only", "main").split()


def test_the_merge_result_is_gated_too(user, capsys):
    """Each lane is green alone; together they are not."""
    user.init("--shell", gate="test ! -e a.txt || test ! -e b.txt")
    user.lane("one", a="x\n")
    user.lane("two", b="x\n")
    user.away()
    assert user.run("merge", "--json") == 1
    assert outcomes(capsys) == [("one", "merged"), ("two", "red")]
    assert [record["subject"] for record in user.records() if record["kind"] == "gate"] == [
        "lane",
        "merge",
    ] * 2


def test_a_green_record_counts_for_its_commit_and_command_alone(user, capsys):
    user.init()
    path = user.lane("one", a="x\n")
    user.away()
    assert user.run("gate") == 0
    user.write("bad", "x\n", path)
    user.commit("after the gate", path)
    assert user.run("merge", "--json") == 1
    assert outcomes(capsys) == [("one", "red")]
    user.git("reset", "--quiet", "--hard", "HEAD~1", cwd=path)
    assert user.run("merge", "--gate", "false", "--json") == 1
    assert outcomes(capsys) == [("one", "red")]
    count = len(user.records())
    assert user.run("merge", "--json") == 0
    assert [one["subject"] for one in user.records()[count:] if one["kind"] == "gate"] == ["merge"]


def test_a_green_record_whose_log_is_gone_does_not_count(user):
    user.init()
    user.lane("one", a="x\n")
    user.away()
    assert user.run("gate") == 0
    (user.state / "logs" / user.records()[0]["log"]).unlink()
    assert user.run("merge") == 0
    assert [one["subject"] for one in user.records() if one["kind"] == "gate"] == ["lane", "lane", "merge"]


def test_nothing_of_the_users_moves_while_the_target_is_merged_into(user):
    user.init()
    user.lane("one", a="x\n")
    user.lane("two", b="x\n")
    user.away()
    user.write("notes.txt", "not committed\n")
    user.write("staged.txt", "staged\n")
    user.git("add", "staged.txt")
    user.write("untracked.txt", "untracked\n")
    before = user.seen()
    assert user.run("merge") == 0
    assert user.seen() == before
    assert {"a.txt", "b.txt"} <= set(user.git("ls-tree", "--name-only", "main").split())


def test_a_target_that_is_checked_out_is_left_alone_until_the_user_lands_the_merges(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    user.lane("two", b="x\n")
    user.write("notes.txt", "not committed\n")
    before = user.seen()
    assert user.run("merge", "--json") == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [one["state"] for one in said["outcomes"]] == ["waits", "waits"]
    assert user.seen() == before
    assert user.git("rev-parse", "main") != user.git("rev-parse", "hermes-lanes/main")
    assert os.system(said["land"] + " >/dev/null 2>&1") == 0
    assert {"a.txt", "b.txt"} <= set(user.git("ls-tree", "--name-only", "main").split())
    assert (user.path / "notes.txt").read_text() == "not committed\n"
    assert user.run("merge", "--json") == 0
    assert outcomes(capsys) == [("one", "already"), ("two", "already")]
    assert user.run("prune") == 0
    assert user.git("branch", "--list", "hermes-lanes/*") == ""
    assert user.run("verify") == 0


def test_merges_that_wait_land_by_themselves_once_nobody_has_the_target(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    assert user.run("merge") == 0
    user.away()
    gates = len(user.records())
    assert user.run("merge", "--json") == 0
    assert outcomes(capsys) == [("one", "merged")]
    assert len(user.records()) == gates
    assert user.git("branch", "--list", "hermes-lanes/*") == ""
    assert user.run("verify") == 0


def test_merges_that_wait_are_not_lost_when_the_target_goes_another_way(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    user.lane("two", b="x\n")
    assert user.run("merge", "one") == 0
    waiting = user.git("rev-parse", "hermes-lanes/main")
    user.commit("the user's own")
    assert user.run("merge", "two") == 1
    assert "git merge hermes-lanes/main" in capsys.readouterr().out
    assert user.git("rev-parse", "hermes-lanes/main") == waiting


def test_a_target_that_is_being_rebased_is_left_alone(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    user.write("notes.txt", "main\n")
    user.commit("main's")
    user.git("checkout", "--quiet", "-b", "other", "HEAD~1")
    user.write("notes.txt", "other\n")
    user.commit("other's")
    user.git("checkout", "--quiet", "main")
    user.git("rebase", "--quiet", "other", fails=True)
    assert user.run("merge", "--json") == 0
    assert outcomes(capsys) == [("one", "waits")]


def test_a_conflict_is_told_with_its_files_and_leaves_nothing(user, capsys):
    user.init()
    user.lane("one", notes="by one\n")
    user.lane("two", notes="by two\n")
    user.lane("three", c="x\n")
    user.away()
    assert user.run("merge", "--json") == 1
    said = json.loads(capsys.readouterr().out.splitlines()[-1])["outcomes"]
    assert [(one["state"], one["conflicts"]) for one in said] == [
        ("merged", []),
        ("conflict", ["notes.txt"]),
        ("merged", []),
    ]
    assert not list(user.lanes.glob("_runs/*"))


def test_lanes_merge_in_the_order_they_are_named_or_were_made(user, capsys):
    user.init(gate="true")
    for name in ("b", "a", "c"):
        user.lane(name, **{name: "x\n"})
    user.away()
    assert user.run("merge", "c", "a", "--json") == 0
    assert outcomes(capsys) == [("c", "merged"), ("a", "merged")]
    assert user.run("merge", "--json") == 0
    assert outcomes(capsys) == [("b", "merged"), ("a", "already"), ("c", "already")]


def test_a_lane_without_commits_is_nothing_to_merge(user, capsys):
    user.init()
    user.lane("idle")
    assert user.run("merge", "--json") == 1
    assert outcomes(capsys) == [("idle", "empty")]
    assert user.run("gate") == 1
    assert user.records() == []


def test_a_target_that_moved_during_the_gate_is_merged_into_anew(user, capsys):
    user.init(
        "--shell",
        gate=f"if test -e a.txt && test -e notes.txt && test ! -e '{user.path}/../once'; then "
        f"touch '{user.path}/../once.'; fi; exit 0",
    )
    user.lane("one", a="x\n")
    user.away()
    moved = []

    from hermes_ops.lanes import merging

    def meanwhile(*arguments, **options):
        gated = gate(*arguments, **options)
        if gated.record.subject == "merge" and not moved:
            moved.append(user.git("commit-tree", "main^{tree}", "-p", "main", "-m", "meanwhile"))
            user.git("update-ref", "refs/heads/main", moved[0])
        return gated

    gate, merging.gate = merging.gate, meanwhile
    try:
        assert user.run("merge", "--json") == 0
    finally:
        merging.gate = gate
    assert outcomes(capsys) == [("one", "merged")]
    assert user.git("rev-parse", "main^1") == moved[0]
    assert user.run("verify") == 0


def test_only_one_merge_at_a_time(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    with register.alone(user.repository, "merge"):
        assert user.run("merge") == 1
    assert "is at the lanes" in capsys.readouterr().err
    assert user.records() == []


def test_gates_of_two_runs_at_once_are_both_on_record(user):
    user.init(gate="true")
    names = ["a", "b", "c", "d"]
    for name in names:
        user.lane(name, **{name: "x\n"})
    threads = [threading.Thread(target=user.run, args=("gate", name, "--json")) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(record["lane"] for record in user.records()) == names
    assert user.run("verify") == 0


# --- evidence, pruning, removing -------------------------------------------------------------------------


def test_verify_tells_a_changed_log_and_an_edited_record(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    user.away()
    assert user.run("merge") == 0
    assert user.run("verify") == 0
    log = user.state / "logs" / user.records()[0]["log"]
    content = log.read_bytes()
    log.write_bytes(content + b"more\n")
    assert user.run("verify") == 1
    log.write_bytes(content)
    file = user.state / "evidence.jsonl"
    lines = file.read_text().splitlines()
    file.write_text(
        "\n".join([lines[0].replace('"duration"', '"duration" ').replace(" 0.", " 1."), *lines[1:]]) + "\n"
    )
    capsys.readouterr()
    assert user.run("verify", "--json") == 1
    assert "edited" in " ".join(json.loads(capsys.readouterr().out)["problems"])


def test_verify_tells_a_merge_without_green_records_and_one_past_the_gate(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    user.lane("two", b="x\n")
    user.away()
    assert user.run("merge", "one") == 0
    user.git("checkout", "--quiet", "main")
    user.git("merge", "--quiet", "--no-edit", "lane/two")
    file = user.state / "evidence.jsonl"
    record = evidence.read(user.repository).merges()[0]
    evidence.append(
        user.repository, evidence.Merge(**{**evidence.as_dict(record), "id": "forged", "lane_gate": "none"})
    )
    capsys.readouterr()
    assert user.run("verify", "--json") == 1
    problems = " ".join(json.loads(capsys.readouterr().out)["problems"])
    assert "no merge of it is on record" in problems and "no record of its gate none" in problems
    assert file.exists()


def test_a_record_of_another_tree_is_told(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    assert user.run("gate") == 0
    record = evidence.read(user.repository).gates()[0]
    other = user.git("rev-parse", "main^{tree}")
    evidence.append(user.repository, evidence.Gate(**{**evidence.as_dict(record), "tree": other}))
    assert user.run("verify") == 1
    user.away()
    assert user.run("merge", "--json") == 0
    assert [one["subject"] for one in user.records() if one["kind"] == "gate"][-2:] == ["lane", "merge"]


def test_a_lane_with_work_in_it_is_only_removed_by_force(user, capsys):
    user.init()
    path = user.lane("one", a="x\n")
    assert user.run("remove", "one") == 1
    user.away()
    assert user.run("merge") == 0
    user.write("untracked.txt", "x\n", path)
    assert user.run("remove", "one") == 1
    (path / "untracked.txt").unlink()
    assert user.run("remove", "one") == 0
    assert not path.exists() and user.git("branch", "--list", "lane/*") == ""
    path = user.lane("two", b="x\n")
    commit = user.git("rev-parse", "lane/two")
    assert user.run("remove", "two", "--force") == 0
    assert user.records()[-1]["commit"] == commit
    assert user.run("verify") == 0
    assert not user.lanes.exists()


def test_a_lane_whose_worktree_was_deleted_can_be_listed_and_removed(user, capsys):
    import shutil

    path = user.lane("one", a="x\n")
    shutil.rmtree(path)
    assert user.run("list") == 0
    assert "its worktree is gone" in capsys.readouterr().out
    assert user.run("remove", "one", "--force") == 0
    assert user.git("worktree", "list").count("\n") == 0


def test_prune_leaves_a_run_at_work_and_clears_a_dead_one(user, capsys):
    user.init()
    user.lane("one", a="x\n")
    dead = user.lanes / "_runs" / "dead"
    (dead / "checkout" / "locked").mkdir(parents=True)
    (dead / "checkout" / "locked").chmod(0o500)
    with checkout.run(user.repository, user.lanes) as live:
        assert user.run("prune", "--json") == 0
        assert live.folder.is_dir()
    assert not dead.exists()


def test_status_tells_where_each_lane_stands(user, capsys):
    user.init()
    path = user.lane("one", a="x\n")
    user.lane("idle")
    assert user.run("gate", "one") == 0
    user.commit("more", path)
    user.write("untracked.txt", "x\n", path)
    capsys.readouterr()
    assert user.run("status", "--json") == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["lanes"]}
    assert (found["one"]["gate"], found["one"]["ahead"], found["one"]["untracked"]) == ("stale", 2, 1)
    assert (found["idle"]["gate"], found["idle"]["ahead"], found["idle"]["changed"]) == ("none", 0, 0)
    assert user.run("gate", "one") == 0
    assert user.run("list") == 0
    assert "green" in capsys.readouterr().out


def test_a_bare_repository_has_lanes_too(user, tmp_path, capsys):
    user.git("clone", "--quiet", "--bare", str(user.path), str(tmp_path / "hub.git"))
    user.path = tmp_path / "hub.git"
    user.init()
    assert user.run("new", "one") == 0
    path = tmp_path / "hub.lanes" / "one"
    user.git("config", "user.name", "Anna")
    user.git("config", "user.email", "a@example.org")
    user.write("a.txt", "x\n", path)
    user.commit("work", path)
    assert user.run("merge") == 0
    assert "a.txt" in user.git("ls-tree", "--name-only", "main").split()
