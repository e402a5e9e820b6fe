"""Code that prints constants: its output is known, and a shell that reads it is judged by it."""

import shutil
import subprocess
import time

import pytest

from hermes_ops.guard.code.given import Given
from hermes_ops.guard.code.judge import judge_code
from hermes_ops.guard.code.printing import Printed
from hermes_ops.guard.judge.judge import judge_shell

LETTERS = "114,109,32,45,114,102,32,47"
BLOCKED = [
    "python3 -c 'print(\"rm -rf /\")' | sh",
    "python3 -c 'import base64; print(base64.b64decode(\"cm0gLXJmIC8=\").decode())' | sh",
    "echo cm0gLXJmIC8= "
    "| python3 -c 'import sys, base64; print(base64.b64decode(sys.stdin.read()).decode())' | sh",
    f"python3 -c 'print(\"\".join(map(chr,[{LETTERS}])))' | sh",
    f"python3 -c 'for c in [{LETTERS}]: print(chr(c), end=\"\")' | sh",
    'python3 -c \'print(*["rm", "-rf", "/"])\' | sh',
    "python3 -c 'import sys; sys.stdout.write(\"rm -rf ~\\n\")' | bash",
    'python3 - <<\'E\' | sh\nx = "rm"\ny = "-rf"\nprint(f"{x} {y} /")\nE',
    'rm -rf "$(python3 -c \'print("/")\')"',
    "$(python3 -c 'print(\"rm\")') -rf /",
    "bash <(python3 -c 'print(\"rm -rf /\")')",
    "perl -e 'print chr(114).chr(109).\" -rf /\\n\"' | sh",
    'perl -le \'print "cd /"; print "rm -rf *"\' | sh',
    "perl -E 'say \"rm -rf ~\"' | sh",
    f"perl -e 'print map {{ chr }} ({LETTERS})' | sh",
    f"perl -e 'print join(\"\", map(chr, {LETTERS}))' | sh",
    "perl -e 'print map{chr hex}qw(72 6d 20 2d 72 66 20 2f)' | sh",
    "perl -e 'print scalar reverse \"/ fr- mr\"' | sh",
    "perl -e 'print @ARGV' 'rm -rf /' | sh",
    f"ruby -e 'puts [{LETTERS}].map(&:chr).join' | sh",
    f"ruby -e 'puts [{LETTERS}].pack(\"c*\")' | sh",
    "ruby -e 'puts \"/ fr- mr\".reverse' | sh",
    "ruby -e '$stdout.print \"rm -rf /\"' | sh",
    "node -p '\"rm -rf /\"' | sh",
    'node -p \'Buffer.from("cm0gLXJmIC8=", "base64").toString()\' | sh',
    f"node -e 'console.log([{LETTERS}].map(c => String.fromCharCode(c)).join(\"\"))' | sh",
    f"node -e 'console.log(String.fromCharCode(...[{LETTERS}]))' | sh",
    "deno eval 'console.log(`rm -rf ${\"/\"}`)' | sh",
    "php -r 'echo base64_decode(\"cm0gLXJmIC8=\");' | bash",
    'php -r \'printf("%s -rf %s", "rm", "/");\' | sh',
    "lua -e 'print(string.char(114,109)..\" -rf /\")' | sh",
    "lua -e 'io.write(\"rm -rf /\\n\")' | sh",
    'Rscript -e \'cat(paste0("rm", " -rf /"))\' | sh',
    "awk 'BEGIN { printf \"%c%c -%c%c /\\n\", 114, 109, 114, 102 }' | sh",
    'gawk \'BEGIN { printf "%c", 114; printf "%c", 109; print " -rf ~" }\' | sh',
    'awk \'BEGIN { ORS = ""; print "rm "; print "-rf /" }\' | sh',
    "awk 'BEGIN { print substr(\"xxrm -rf /\", 3) }' | sh",
    "awk -v c=rm 'BEGIN { print c \" -rf /\" }' | sh",
    "echo '/ -rf rm' | awk '{printf \"%s %s %s\\n\", $3, $2, $1}' | sh",
    'awk \'END{printf "rm -rf %s\\n", "/"}\' /dev/null | sh',
    "tclsh <<< 'puts \"rm -rf /\"' | sh",
    "pwsh -c 'Write-Output \"rm -rf /\"' | sh",
    "emacs --batch --eval '(princ \"rm -rf /\")' | sh",
    "julia -e 'println(\"rm -rf ~\")' | sh",
    "elixir -e 'IO.puts \"rm -rf /\"' | sh",
    "erl -noshell -eval 'io:format(\"rm -rf /~n\"), halt().' | sh",
]
SILENT = [
    "python3 -c 'print(\"hello\")'",
    "python3 -c 'print(\"echo hi\")' | sh",
    "perl -e 'print \"ls\\n\"' | sh",
    "python3 -c 'print(\"rm -rf /\")'",
    'echo "$(python3 -c \'print("rm -rf /")\')" > notes.txt',
    'git commit -m "$(python3 -c \'print("never rm -rf /")\')"',
    "ruby -e 'puts \"rm -rf /\"' | grep -c rm",
    "node -p 'require(\"./package.json\").version'",
    'rm -rf "build/$(python3 -c \'print("tmp")\')"',
    "for f in $(perl -e 'print \"a b c\"'); do echo $f; done",
    "awk 'BEGIN{print \"rm -rf /\"}' > doc.txt",
    "cd \"$(python3 -c 'import os; print(os.getcwd())')\"",
    "x=$(python3 -c 'import sys; print(sys.version_info[0])'); echo $x",
    "julia -e 'println(\"hello\")'",
]
# What is not certain stays a question.
ASKED = [
    "python3 -c 'import x; x.go(); print(\"ls\")' | sh",
    'python3 -c \'import os; os.system("echo hi"); print("ls")\' | sh',
    'python3 -c \'x = ["ls"]; x.append("pwd"); print(x.pop())\' | sh',
    "python3 -c 'if True: print(\"ls\")' | sh",
    "perl -e '$x=\"ls\"; $x=~s/ls/pwd/; print $x' | sh",
    "perl -e 'print \"ls\" x 2' | sh",
    "perl -e 'print reverse \"sl\"' | sh",
    'ruby -e \'x = "ls; "; x << "pwd"; puts x\' | sh',
    'node -e \'console.log("lsls".replace("ls", ""))\' | sh',
    "node -e 'for (const x of list) console.log(x)' | sh",
    "awk '{printf \"ls %s\\n\", $1}' list.txt | sh",
    "perl -ne 'print \"mv $_\"' names.txt | sh",
]


@pytest.mark.parametrize("command", BLOCKED)
def test_printed_text_that_must_not_run_is_blocked(command: str) -> None:
    judgement = judge_shell(command)
    assert str(judgement.verdict) == "block", judgement


@pytest.mark.parametrize("command", SILENT)
def test_printed_text_that_does_no_harm_is_silent(command: str) -> None:
    judgement = judge_shell(command)
    assert str(judgement.verdict) == "allow", judgement


@pytest.mark.parametrize("command", ASKED)
def test_what_is_not_certain_is_asked_about(command: str) -> None:
    assert str(judge_shell(command).verdict) == "approve"


# Harmless programs: what is said about their output against what they print.
PROGRAMS = [
    ("python", "print('a', 1, sep='-', end='!'); print('b')"),
    ("python", "x = 'ab'\nfor c in [104, 105]: print(chr(c))\nprint(x[::-1] + '%s' % x, f'{x}{1}')"),
    ("python", "import sys, base64\nsys.stdout.write(base64.b64decode('aGk=').decode())\nprint(*['a', 'b'])"),
    ("python", "print(bytes([104, 105]).decode().upper(), 'a-b'.replace('-', '+'), hex(255))"),
    ("perl", "print \"a\\x41\", 'b\\n', 1; printf(\"%s-%c-%x-%.2s\\n\", 'q', 65, 255, 'xyz');"),
    ("perl", "$x = 'a'; $x .= \"b\"; print \"$x\\n\"; print join('-', 1, 2), map { chr } (104, 105);"),
    ("perl", "print scalar reverse('abc'), pack('C*', 104, 105), uc('x'), substr('abcdef', 2, 3)"),
    (
        "ruby",
        "puts 'a', [1, 2].join('-'); print \"b\\n\"; puts 'xyz'.reverse; puts [104, 105].map(&:chr).join",
    ),
    (
        "node",
        "console.log('a', 1); process.stdout.write('b'); console.log([104].map(c => String.fromCharCode(c)))",
    ),
    (
        "node",
        "const x = 'ab'; console.log(`${x}!` + x.split('').reverse().join('-'), 'q'.repeat(3), x.substr(1))",
    ),
    ("awk", 'BEGIN { x = 65; printf "%c|%s|%5s|%-3s|", x, "abc", "r", "l"; print "a" "b", toupper("c") }'),
    ("awk", 'BEGIN { OFS = "-"; ORS = "!"; print "a", "b"; print substr("abcdef", 2, 3) }'),
    ("lua", "print('a', 1) io.write('b', 'c', string.char(104), ('abc'):rep(2))"),
    ("php", "echo 'a', \"b\\n\", strrev('abc'); print implode('-', [1, 2]); printf('%s|%c', 'x', 65);"),
]
COMMANDS = {
    "python": ["python3", "-c"], "perl": ["perl", "-e"], "ruby": ["ruby", "-e"], "node": ["node", "-e"],
    "awk": ["awk"], "lua": ["lua", "-e"], "php": ["php", "-r"],
}  # fmt: skip


@pytest.mark.parametrize(("language", "code"), PROGRAMS)
def test_what_code_prints_is_what_its_interpreter_prints_or_nothing_is_said(language: str, code: str) -> None:
    output = Printed()
    judge_code(language, code, lambda text: [], given=Given(printed=output))
    words = COMMANDS[language]
    program = shutil.which(words[0])
    if program is None:
        assert output.text is None or isinstance(output.text, str)
        pytest.skip(f"{words[0]} is not installed")
    real = subprocess.run([program, *words[1:], code], capture_output=True, text=True, timeout=20)
    assert real.returncode == 0, real.stderr
    assert output.text in (None, real.stdout)


@pytest.mark.parametrize(
    ("language", "code"), [case for case in PROGRAMS if case[0] in ("python", "perl", "awk")]
)
def test_plain_programs_are_followed_to_their_end(language: str, code: str) -> None:
    output = Printed()
    judge_code(language, code, lambda text: [], given=Given(printed=output))
    assert output.text


@pytest.mark.parametrize(
    "command",
    [
        "perl -e 'print " + "map { " * 3000 + "' | sh",
        "perl -e 'print " + "map(chr, " * 2000 + "1' | sh",
        "node -e 'console.log(" + "[1].map(" * 2000 + "' | sh",
        "python3 -c 'print(" + '"a" + ' * 3000 + '"b")\' | sh',
        "emacs --eval '" + "( " * 9000 + "princ' | sh",
        "emacs --eval '(princ" + " " * 19000 + "x' | sh",
        "awk 'BEGIN{" + 'print "a";' * 3000 + "}' | sh",
    ],
)
def test_long_programs_are_judged_in_time(command: str) -> None:
    judge_shell("perl -e 1; python3 -c 1")
    started = time.perf_counter()
    judge_shell(command)
    assert time.perf_counter() - started < 1.0
