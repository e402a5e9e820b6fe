"""What the walk keeps: alternatives after branches, descriptors, links, elements of globs, and its bounds."""

import pytest

from hermes_ops.guard.judge import danger, decode, state
from hermes_ops.guard.judge.beyond import words
from hermes_ops.guard.judge.invocation import UNKNOWN, Arg, Invocation, Stream
from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.rules.rule import Family
from hermes_ops.guard.verdict import Found

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def calls(command: str) -> list[Invocation]:
    """The invocations of `probe` that a command is walked to."""
    seen: list[Invocation] = []

    def note(invocation: Invocation) -> list[Found]:
        if invocation.name == "probe":
            seen.append(invocation)
        return []

    judge_shell(command, WHERE, extra=(Family("notes", frozenset(), note),))
    return seen


def probed(command: str) -> set[str]:
    """The arguments that `probe` gets, in all readings of a command."""
    return {" ".join(arg.text for arg in call.argv[1:]) for call in calls(command)}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("f() { probe a; }; test x && f() { probe b; }; f", {"a", "b"}),
        ("f() { probe a; }; if x; then f() { probe b; }; else f() { probe c; }; fi; f", {"b", "c"}),
        ("f() { probe a; }; f() { probe b; }; f", {"b"}),
        ("set -- a; test x && set -- b; probe $1", {"a", "b"}),
        ("set -- a b c; test x && shift; probe $1", {"a", "b"}),
        ("echo 'probe a' > s; test x && echo 'probe b' > s; sh s", {"a", "b"}),
        ("echo 'probe a' > s; echo 'probe b' > s; sh s", {"b"}),
        ("d=a; test x || { d=b; while :; do break; done; }; probe $d", {"a", "b"}),
        ("d=a; test x || { d=b; exit 1; }; probe $d", {"a"}),
        ("d=a; test x || { d=b; test y && exit 1; }; probe $d", {"a", "b"}),
        ("v=a; test x && v=b; for w in $v c; do probe $w; done", {"a", "b", "c"}),
        ("a=(x y); i=0; while test z; do probe ${a[i]}; ((i++)); done", {"x", "y", UNKNOWN}),
        ("for ((i=0; i<2; i++)); do probe $i; done", {UNKNOWN}),
        ("declare -n r=t; r=a; probe $t", {"a"}),
        ("f() { local -n r=$1; r=a; }; f t; probe $t; r=b; probe $t", {"a"}),
        ("set -euo pipefail; probe ${1:-none}", {"none"}),
        ("set -eo pipefail -- a; probe $1", {"a"}),
        ("printf -v 'a[1]' %s x; probe ${a[1]}", {"x"}),
        ("x=abcdef; n=2; probe ${x:n:n+1} ${x: -n}", {"cde ef"}),
        ("x='a b'; probe ${x@Q}", {"'a b'"}),
    ],
)
def test_what_may_be_at_a_point_is_judged(command: str, arguments: set[str]) -> None:
    assert probed(command) == arguments


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("exec 3<<< 'probe a'; sh <&3", {"a"}),
        ("sh /dev/fd/3 3<<< 'probe a'", {"a"}),
        ("sh <<< 'probe a' 3<<< 'probe b'", {"a"}),
        ("echo 'probe a' | sh /proc/self/fd/0", {"a"}),
        ("echo 'probe a' | cat /dev/../dev/stdin | sh", {"a"}),
        ("exec {q}<<< 'probe a'; sh <&$q", {"a"}),
        ("exec 3>s; echo 'probe a' >&3; exec 3>&-; sh s", {"a"}),
        ("exec >s; echo 'probe a'; exec >/dev/tty; sh s", {"a"}),
        ("echo 'probe a' > >(sh)", {"a"}),
        ("{ echo probe; echo 'probe a'; } > >(sh)", {"", "a"}),
        ("echo 'probe a' | tee >(sh) | cat", {"a"}),
        ("exec > >(sh); echo 'probe a'", {"a"}),
        ("coproc C { sh; }; echo 'probe a' >&${C[1]}", {"a"}),
        ("mkfifo p; sh < p & echo 'probe a' > p", {"a"}),
        ("exec <<< 'probe a'; sh", {"a"}),
        ("read -u 3 v 3<<< a; probe $v", {"a"}),
        ("read -rn2 v <<< abc; probe $v", {"ab"}),
        ("mapfile -t v <<< $'a\\nb'; probe ${v[1]}", {"b"}),
        ("sh -c 'echo \"x\\nprobe a\" | sh'", {"a"}),
        ("bash -c 'echo \"x\\nprobe a\" | sh'", set()),
    ],
)
def test_text_is_followed_through_descriptors(command: str, arguments: set[str]) -> None:
    assert probed(command) == arguments


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("ln -s /data d; probe d/x d", {"/data/x d"}),
        ("ln -s ../up d; probe d/x", {"/home/user/up/x"}),
        ("ln -st /tmp /data; probe /tmp/data/x", {"/data/x"}),
        ("ln -s /data a; ln -s a b; probe b/x", {"/data/x"}),
        ("mount --bind /data /mnt/m; probe /mnt/m", {"/data"}),
        ("mount --bind /data /mnt/m; umount /mnt/m; probe /mnt/m", {"/mnt/m"}),
        ("ln /data d; probe d/x", {"d/x"}),
    ],
)
def test_links_of_the_line_are_followed(command: str, arguments: set[str]) -> None:
    assert probed(command) == arguments


def test_a_folder_behind_a_link_is_where_it_leads() -> None:
    assert [call.cwd for call in calls("ln -s /data d; cd d; probe")] == ["/data"]


@pytest.mark.parametrize(
    ("command", "text", "glob"),
    [
        ('for d in /*; do probe "$d"; done', "/*", True),
        ('for d in /*/; do probe "${d%/}"; done', "/*", True),
        ('for f in *.gz; do probe "${f%.gz}"; done', UNKNOWN, False),
        ('set -- /*; probe "$@"', "/*", True),
        ('p="/*"; probe "$p"', "/*", False),
        ("p=/*; probe $p", "/*", True),
        ("printf '%s\\n' /* | xargs probe", "/*", True),
        ('printf "%s\\n" /* | while read -r d; do probe "$d"; done', "/*", True),
        ("probe /!(tmp)", "/*", True),
        ("probe '/!(tmp)'", "/!(tmp)", False),
    ],
)
def test_an_element_of_a_glob_is_as_the_glob(command: str, text: str, glob: bool) -> None:
    assert (text, glob) in {(arg.text, arg.glob) for call in calls(command) for arg in call.argv[1:]}


# Bounds.


def test_the_most_dangerous_of_many_values_are_kept() -> None:
    values = tuple(Arg(text) for text in [*(f"name{n}" for n in range(40)), "/", "rm", "-rf"])
    kept = {value.text for value in state.capped(values) if isinstance(value, Arg)}
    assert {"/", "rm", "-rf", UNKNOWN} <= kept and len(kept) <= state.MOST_VALUES
    kept_lines, more = danger.most([*(f"name{n}" for n in range(40)), "/usr"], 12)
    assert more and "/usr" in kept_lines and len(kept_lines) == 12


def test_too_many_combinations_take_the_most_dangerous_together() -> None:
    lines = [
        f"case $1 in {' '.join(f'{n}) {name}={name}{n};;' for n in range(7))} 9) {name}={bad};; esac"
        for name, bad in (("a", "rm"), ("b", "-rf"), ("c", "/"))
    ]
    assert "rm -rf /" in probed("; ".join(lines) + '; probe "$a" "$b" "$c"')


def test_a_text_that_is_cut_says_so() -> None:
    long = "a" * (decode.LONGEST + 1)
    assert decode.bounded(long).endswith(f"\n{UNKNOWN}\n") and len(decode.bounded(long)) == decode.LONGEST
    assert decode.bounded("a") == "a"
    both = state.either(Stream("a\n", True), Stream("b\n", True))
    assert both.text == "a\nb\n"


@pytest.mark.parametrize(
    "text",
    ["\n$'\\x72\\155' x", 'a=x\n"$a" y', "echo x > ~/.ssh/config", "sed -i s/a/b/ ~/.hermes/config.yaml"],
)
def test_behind_a_limit_other_spellings_are_asked_about(text: str) -> None:
    long = "\n".join(["echo x"] * 2000)
    assert judge_shell(f"{long}\n{text}", WHERE).verdict


def test_behind_a_limit_harmless_lines_are_not_asked_about() -> None:
    long = "\n".join(f'echo "{n} of $TOTAL" >> out.txt' for n in range(2000))
    assert not words(long)
    assert not judge_shell(long, WHERE).verdict
