"""A policy file is checked as a whole, its patterns are anchored, and its examples hold it to its word."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from hermes_ops.errors import OpsError
from hermes_ops.guard import policy_check
from hermes_ops.guard.accepted import parse_text
from hermes_ops.guard.judge.invocation import REMOTE, UNKNOWN, Arg, Invocation, Stream, Target
from hermes_ops.guard.judge.judge import Surroundings
from hermes_ops.guard.policy import BUILT_IN, Policy, judge
from hermes_ops.guard.policy_paths import is_named, path_matches
from hermes_ops.guard.policy_rules import Pattern
from hermes_ops.guard.verdict import Found, Verdict, judged

PATH = Path("guard.toml")
WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")
RULE = """
[[rule]]
id = "production"
verdict = "block"
argv = "kubectl ** -n production **"
reason = "production is changed by its pipeline"
safer = "open a merge request"
"""
ALLOW = """
[[allow]]
argv = "git push --force-with-lease origin agent/*"
reason = "these branches are the agent's own"
"""


def parse(text: str) -> Policy:
    return parse_text(text, PATH)


def checked(text: str, home: Path = Path("/home/user/.hermes")) -> list[str]:
    return policy_check.check(parse(text), PATH, home)


def verdict(text: str, command: str) -> tuple[str, str]:
    judgement = judge(parse(text), command, WHERE)
    return str(judgement.verdict), judgement.rule


# The file


def test_an_empty_file_adds_nothing():
    assert parse("") == BUILT_IN
    assert (BUILT_IN.mode, BUILT_IN.unattended) == ("enforce", "block")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode = 'enforced'", "mode: expected one of enforce, report"),
        ("mood = 'report'", "unknown key 'mood'; did you mean mode?"),
        ("unattended = 'no'", "unattended: expected one of block, ask, allow"),
        ("[[rules]]\nid = 'a'", "unknown key 'rules'; did you mean rule?"),
        ("rule = 1", "rule: expected tables, each written as [[rule]]"),
        (RULE.replace("argv", "args"), "[[rule]] no. 1: unknown key 'args'; did you mean argv?"),
        (RULE.replace('"block"', '"allow"'), "[[rule]] no. 1: verdict: expected one of block, approve"),
        (
            RULE.replace('"production"', '"Pro duction"'),
            "[[rule]] no. 1: id: expected words of small letters",
        ),
        (RULE.replace("reason", "#"), "[[rule]] no. 1: reason: expected text"),
        (RULE + RULE, "[[rule]] no. 2: id: policy.production is there twice"),
        (RULE + "match = [1]", "[[rule]] no. 1: match: expected commands"),
        (
            RULE.replace('"kubectl ** -n production **"', "'kubectl \"'"),
            "[[rule]] no. 1: argv: No closing quotation",
        ),
        (
            RULE.replace('"kubectl ** -n production **"', "['a', 1]"),
            "[[rule]] no. 1: argv: expected the words",
        ),
        (
            RULE.replace('"kubectl ** -n production **"', '"**"'),
            "[[rule]] no. 1: argv: expected at least a program",
        ),
        ("[[rule]]\nid = 'a'\nverdict = 'block'\nreason = 'b'", "[[rule]] no. 1: argv: expected the words"),
        (ALLOW.replace("git push", "* push"), "[[allow]] no. 1: argv: an allowance names its program"),
        (ALLOW.replace("git push", "g* push"), "[[allow]] no. 1: argv: an allowance names its program"),
        (ALLOW.replace("git push", "[!q]* push"), "[[allow]] no. 1: argv: an allowance names its program"),
        (ALLOW.replace("git push", "[a-z]* push"), "[[allow]] no. 1: argv: an allowance names its program"),
        (ALLOW.replace("git push", "sudo **"), "[[allow]] no. 1: argv: an allowance names its program, not"),
        (ALLOW.replace("git push", "env nice ?*"), "not '?*' behind a wrapper"),
        (RULE + "path = 'a**b'", "[[rule]] no. 1: path: ** stands for whole folders"),
        (RULE + "path = '" + "a/" * 70 + "'", "[[rule]] no. 1: path: longer than 1000 characters or 60"),
        (RULE.replace("kubectl **", "kubectl **" + " a" * 200), "[[rule]] no. 1: argv: over 200 words"),
        (ALLOW.replace("reason", "because"), "[[allow]] no. 1: unknown key 'because'"),
        (ALLOW + "verdict = 'allow'", "[[allow]] no. 1: unknown key 'verdict'"),
        ("[[off]]\nrule = 'a.b'", "[[off]] no. 1: reason: expected text"),
        ("[[off]]\nrule = 'policy.a'\nreason = 'b'", "[[off]] no. 1: rule: policy.a is a rule of this file"),
        ("mode = ", "not valid TOML: Invalid value (at end of document)"),
        ("a = 1\nb = = 2", "at line 2"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_its_place(text: str, said: str):
    with pytest.raises(OpsError) as error:
        parse(text)
    assert said in str(error.value) and str(error.value).startswith("guard.toml")


# Patterns


def invocation(command: str, **more: object) -> Invocation:
    argv = [Arg(word) for word in command.split()]
    name = argv[0].text.rpartition("/")[2]
    return Invocation(name, argv, home="/home/user", cwd="/home/user/project", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "command", "matches"),
    [
        ("git push", "git push", True),
        ("git push", "git push origin", False),
        ("git push", "git -C x push", False),
        ("git push *", "git push origin", True),
        ("git push *", "git push", False),
        ("git push **", "git push", True),
        ("git ** push **", "git -C x push a b", True),
        ("git ** push **", "git pull", False),
        ("git push ** --force", "git push a b --force", True),
        ("git push ** --force", "git push a b --force c", False),
        ("a ** b ** c", "a b b x c", True),
        ("a ** b ** c", "a c b", False),
        ("git push agent/*", "git push agent/fix", True),
        ("git push agent/*", "git push main", False),
        ("git pus[ht] ?", "git push a", True),
        ("git", "/usr/bin/git", True),
        ("git", "gitk", False),
    ],
)
def test_a_pattern_is_about_a_whole_command(pattern: str, command: str, matches: bool):
    found = Pattern(tuple(pattern.split()))
    assert found.stops(invocation(command)) is matches
    assert found.allows(invocation(command)) is matches


def test_long_commands_and_many_stars_take_no_long_time():
    pattern = Pattern(("a", *["**", "x"] * 50, "y"))
    assert pattern.stops(invocation("a " + "x " * 3000)) is False


@pytest.mark.parametrize(
    "more",
    [
        {"wrappers": ("sudo",)},
        {"wrappers": ("env", "sudo")},
        {"wrappers": ("ssh",), "place": "remote"},
        {"place": "container"},
        {"appended": True},
        {"stdin": Stream(piped=True, taint=frozenset((REMOTE,)))},
        {"redirects": [Target(">", Arg("/home/user/.bashrc"))]},
        {"environment": {"LD_PRELOAD": Arg("x.so")}},
        {"environment": {"GIT_SSH_COMMAND": Arg("x")}},
        {"environment": {"PATH": Arg(".")}},
    ],
)
def test_an_allowance_leaves_nothing_open(more: dict):
    found = Pattern(("git", "push", "*"))
    assert found.allows(invocation("git push origin"))
    assert not found.allows(invocation("git push origin", **more))
    assert found.stops(invocation("git push origin", **more))


@pytest.mark.parametrize("argument", [UNKNOWN, f"agent/{UNKNOWN}", "agent/../main"])
def test_an_allowance_does_not_cover_what_is_not_known_or_leads_out(argument: str):
    run = invocation("git push origin")
    run.argv.append(Arg(argument))
    assert not Pattern(("git", "push", "origin", "agent/*")).allows(run)
    assert not Pattern(("git", "push", "origin", "*")).allows(run)
    assert Pattern(("git", "push", "**")).allows(run)


def test_an_allowance_is_not_about_a_program_of_the_same_name_elsewhere():
    found = Pattern(("git", "push"))
    assert not found.allows(invocation("/tmp/git push")) and not found.allows(invocation("./git push"))
    assert Pattern(("/opt/tools/git", "push")).allows(invocation("/opt/tools/git push"))
    assert not Pattern(("/opt/tools/git", "push")).allows(invocation("git push"))


def test_a_wrapper_in_a_pattern_must_be_there():
    found = Pattern(("sudo", "systemctl", "restart", "nginx"))
    plain, under_sudo = (
        invocation("systemctl restart nginx", wrappers=wrappers) for wrappers in ((), ("nice", "sudo"))
    )
    assert found.stops(under_sudo) and found.allows(under_sudo)
    assert not found.stops(plain) and not found.allows(plain)
    assert not found.allows(invocation("systemctl restart nginx", wrappers=("ssh", "sudo")))


@pytest.mark.parametrize(
    ("pattern", "path", "whole", "matches"),
    [
        ("/srv/data/**", "/srv/data/a/b", False, True),
        ("/srv/data/**", "/srv/data", False, True),
        ("/srv/data/*", "/srv/data/a/b", False, False),
        ("/srv/data/**", "/srv/database", False, False),
        ("/srv/data/**", "/srv/x/../data/a", False, True),
        ("/srv/data/**", "/srv", False, False),
        ("/srv/data/**", "/srv", True, True),
        ("/srv/data/**", "/", True, True),
        ("*.pem", "keys/site.pem", False, True),
        ("*.pem", "site.pem.txt", False, False),
        ("config/prod.*", "config/prod.yaml", False, True),
        ("config/prod.*", "other/config/prod.yaml", False, True),
        ("config/prod.*", "config/dev.yaml", False, False),
        ("~/notes/**", "~/notes/a", False, True),
        ("~/notes/**", "/home/user/notes/a", False, True),
        ("~/notes/**", "../notes/a", False, True),
        ("**/secret/**", "a/secret/b", False, True),
    ],
)
def test_paths_are_matched_where_they_lead(pattern: str, path: str, whole: bool, matches: bool):
    assert path_matches(pattern, Arg(path), "/home/user/project", "/home/user", whole) is matches


SLOW = ("**/secrets/**/*.pem", "/srv/**/x/**/y/**", "*a" * 30, "**/a/" * 29 + "b")


@pytest.mark.parametrize("pattern", SLOW)
def test_no_pattern_and_no_path_takes_long(pattern: str):
    paths = [Arg("/" + "secrets/" * 900 + "a"), Arg("/srv/" + "x/y/" * 1900 + "z"), Arg("a" * 8000)]
    texts = ("*a" * 400, "/srv/" + "*/" * 400 + "z", "*/" * 4000, "[a" * 400)
    globs = [Arg(text, glob=True) for text in texts]
    began = time.perf_counter()
    for path in (*paths, *globs):
        path_matches(pattern, path, "/home/user/project", "/home/user", True)
    # Milliseconds; a pattern that goes back over what it has matched takes minutes.
    assert time.perf_counter() - began < 2.0


def test_a_word_with_many_stars_is_linear():
    began = time.perf_counter()
    assert not is_named("*a" * 30 + "b", "a" * 50_000)
    assert time.perf_counter() - began < 2.0


def test_an_allowance_behind_a_wrapper_still_names_its_program():
    for words in (("xargs", "**"), ("ssh", "**"), ("sudo", "?*")):
        run = invocation("systemctl restart nginx", wrappers=words[:1])
        assert not Pattern(words).allows(run)


def test_a_glob_in_a_command_may_mean_a_path_of_a_rule():
    assert path_matches("/srv/data", Arg("/srv/da*", glob=True), None, "/home/user", False)


# With the judge


def test_a_rule_stops_what_it_describes_under_any_wrapper():
    for command in (
        "kubectl delete pod x -n production",
        "sudo kubectl -n production apply -f x.yaml",
        "bash -c 'kubectl get pods -n production'",
        "cd x && timeout 5 kubectl -n production get pods | head",
    ):
        assert verdict(RULE, command) == ("block", "policy.production"), command
    assert verdict(RULE, "kubectl get pods -n staging")[0] == "allow"
    assert verdict(RULE, "echo kubectl delete pod x -n production")[0] == "allow"


def test_a_rule_about_paths_sees_arguments_options_and_redirections():
    rule = "[[rule]]\nid='data'\nverdict='approve'\nreason='kept'\npath=['/srv/data/**']\n"
    for command in (
        "cp a /srv/data/b",
        "sort -o x --output=/srv/data/y",
        "echo a > /srv/data/z",
        "dd of=/srv/data/z",
    ):
        assert verdict(rule, command)[0] != "allow", command
    assert verdict(rule, "cp a /srv/other")[0] == "allow"


def test_an_allowance_silences_questions_about_that_command_alone():
    ask = "git push --force-with-lease origin agent/fix"
    assert judge(BUILT_IN, ask, WHERE).verdict is Verdict.APPROVE
    assert verdict(ALLOW, ask)[0] == "allow"
    assert verdict(ALLOW, f"{ask}; git push --force origin main")[0] == "approve"
    assert verdict(ALLOW, f"{ask} && git reset --hard")[0] == "approve"
    assert verdict(ALLOW, f"{ask}; rm -rf /")[0] == "block"


def test_an_allowance_never_undoes_a_block():
    allow = "[[allow]]\nargv = 'rm **'\nreason = 'no'\n"
    assert verdict(allow, "rm -rf /")[0] == "block"
    assert verdict(
        RULE + "[[allow]]\nargv = 'kubectl **'\nreason = 'no'\n", "kubectl get x -n production"
    ) == (
        "block",
        "policy.production",
    )


def test_a_rule_that_is_off_does_not_ask_and_one_that_blocks_goes_on():
    findings = [Found("a.asks", Verdict.APPROVE, "x"), Found("b.asks", Verdict.APPROVE, "x")]
    both = [*findings, Found("a.asks", Verdict.BLOCK, "x")]
    off = parse("[[off]]\nrule = 'a.asks'\nreason = 'r'\n")
    assert [one.rule for one in off.settle(judged(findings)).findings] == ["b.asks"]
    assert off.settle(judged(both)).verdict is Verdict.BLOCK


# Examples


def test_examples_that_hold_are_accepted():
    text = (
        RULE
        + 'match = ["kubectl delete pod x -n production"]\n'
        + 'not_match = ["kubectl get pods -n staging", "rm -rf /"]\n'
        + ALLOW
        + 'match = ["git push --force-with-lease origin agent/fix"]\n'
        + 'not_match = ["git push --force-with-lease origin main", "rm -rf /"]\n'
    )
    assert checked(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            RULE + 'match = ["kubectl get pods -n staging"]',
            "[[rule]] policy.production: match 'kubectl get pods -n staging': the rule is silent; it",
        ),
        (RULE + 'match = ["echo kubectl -n production"]', "the rule is silent"),
        (
            RULE + 'not_match = ["kubectl get x -n production"]',
            "[[rule]] policy.production: not_match 'kubectl get x -n production': the rule says block",
        ),
        (
            ALLOW + 'match = ["git push origin agent/fix"]',
            "[[allow]] no. 1: match 'git push origin agent/fix': the",
        ),
        (
            ALLOW + 'match = ["git push --force-with-lease origin agent/x; git reset --hard"]',
            "it comes out approve by git.",
        ),
        (
            ALLOW + 'not_match = ["git push --force-with-lease origin agent/x"]',
            "[[allow]] no. 1: not_match 'git push --force-with-lease origin agent/x': the entry covers it",
        ),
    ],
)
def test_an_example_that_comes_out_otherwise_makes_the_policy_invalid(text: str, said: str):
    with pytest.raises(OpsError) as error:
        checked(text)
    assert said in str(error.value)


def test_examples_are_judged_and_never_run(tmp_path: Path):
    witness = tmp_path / "ran"
    checked(
        RULE + f'match = ["touch {witness}; kubectl get x -n production"]\nnot_match = ["touch {witness}"]'
    )
    assert not witness.exists()


def test_what_is_loose_about_a_policy_is_remarked():
    remarks = checked(RULE + ALLOW.replace("argv", "argv"))
    assert remarks == [
        "policy.production has no example under match",
        "allowance for git push --force-with-lease origin agent/* has no example under match",
    ]
    assert checked("mode = 'report'\nunattended = 'allow'") == [
        "mode is report: nothing is stopped, everything is only written down",
        "unattended is allow: where nobody can be asked a question stops nothing",
    ]


def test_only_a_built_in_rule_that_asks_can_be_off():
    with pytest.raises(OpsError, match="there is no such built-in rule"):
        checked("[[off]]\nrule = 'nothing.like-it'\nreason = 'r'")
    with pytest.raises(OpsError, match="it blocks what must never run"):
        checked("[[off]]\nrule = 'guard.canary'\nreason = 'r'")
    with pytest.raises(OpsError, match="it is asked when the guard itself fails"):
        checked("[[off]]\nrule = 'guard.error'\nreason = 'r'")
    assert checked("[[off]]\nrule = 'guard.too-many-files'\nreason = 'r'") == []


def test_the_example_of_the_docs_is_a_valid_policy_with_every_key():
    page = Path(__file__).resolve().parents[3] / "docs" / "ops" / "guard.md"
    [example] = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert checked(example) == []
    policy = parse(example)
    assert len(policy.rules) == 2 and len(policy.allows) == 1 and list(policy.off) == ["git.discard"]
