"""What starts itself again and again."""

import pytest

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.verdict import Verdict

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def verdict(command: str) -> Verdict:
    return judge_shell(command, WHERE).verdict


@pytest.mark.parametrize(
    "command",
    [
        "while :; do sh -c 'while :; do :; done' & done",
        "printf '$0 & $0 &\\n' > b.sh; sh b.sh",
        'b() { "$FUNCNAME" | "$FUNCNAME" & }; b',
        "f() { $FUNCNAME & $FUNCNAME & }; f",
        'f() { "${FUNCNAME[0]}" | "${FUNCNAME[0]}" & }; f',
        "f() { ${FUNCNAME} | ${FUNCNAME} & }; f",
        "f() { local me=$FUNCNAME; $me | $me & }; f",
        'f() { eval "$FUNCNAME | $FUNCNAME &"; }; f',
        "echo '$0 & $0 &' > b.sh && chmod +x b.sh && ./b.sh",
        'printf \'#!/bin/sh\\n"$0" & "$0" &\\n\' > /tmp/b; chmod +x /tmp/b; /tmp/b',
        "printf '#!/bin/bash\\n$0 | $0 &\\n' > /tmp/b; bash /tmp/b",
        "echo 'sh b.sh & sh b.sh &' > b.sh; sh b.sh",
        "echo './b.sh | ./b.sh &' > b.sh; chmod +x b.sh; ./b.sh",
        'echo \'bash "$0" & bash "$0"\' > b.sh; bash b.sh',
        "echo 'while :; do ./b.sh & done' > b.sh; chmod +x b.sh; ./b.sh",
        'echo \'exec "$0" & exec "$0"\' > b.sh; bash b.sh',
        "while true; do sleep 1000 & done",
        'while true; do "$0" & exec "$0"; done',
        'while true; do exec "$0" & done',
        "for ((;;)); do bash & done",
        "until false; do yes > /dev/null & done",
        "x='$0 & $0 &'; echo \"$x\" > y.sh; bash y.sh",
        "cat > b.sh <<'E'\n#!/bin/bash\n./b.sh &\n./b.sh &\nE\nbash b.sh",
        "tee b.sh <<<'bash b.sh & bash b.sh &'; bash b.sh",
        'bomb() { bomb "$@" | bomb "$@" & }; bomb x',
        "function b { b | b & }; b",
        "b() { (b &); (b &); }; b",
        'b() { setsid "$FUNCNAME" & b & }; b',
        "alias b='b | b &'; b() { b | b & }; b",
    ],
)
def test_what_fills_the_process_table_never_runs(command: str) -> None:
    assert verdict(command) is Verdict.BLOCK


@pytest.mark.parametrize(
    "command",
    [
        'f() { echo "$FUNCNAME: starting"; }; f',
        'log() { echo "[${FUNCNAME[1]}] $*"; }; log hi',
        'retry() { "$@" || { sleep 1; retry "$@"; }; }; retry make',
        'usage() { echo "usage: $0 [-h]"; }; usage',
        "echo 'echo \"$0 & $0\"' > b.sh; sh b.sh",
        "echo 'exec \"$0\" --again' > b.sh",
        "while true; do sleep 1; done",
        "while :; do date; sleep 60; done",
        'for f in *.sh; do sh "$f" & done; wait',
        "for i in 1 2 3; do sleep 5 & done; wait",
        'walk() { for d in "$1"/*/; do walk "$d"; done; }; walk src',
        "cat > run.sh <<'E'\n./server &\n./client &\nwait\nE\nbash run.sh",
        'while read -r u; do curl -s "$u" > /dev/null & done < urls.txt; wait',
    ],
)
def test_loops_recursion_and_names_of_functions_are_ordinary(command: str) -> None:
    assert verdict(command) is Verdict.ALLOW
