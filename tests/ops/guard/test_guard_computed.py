"""Text that a program computes from its own words is known: a shell that reads it is judged by it."""

import shutil
import subprocess
import time

import pytest

from hermes_ops.guard.judge.judge import judge_shell

BLOCKED = [
    "date '+rm -rf ~' | bash",
    "date -u +'rm -rf /' | sh",
    "sh -c \"$(date '+rm -rf /')\"",
    "date +rm\\ -rf\\ %%HOME | tr % '$' | sh",
    "date -d '+1 day' '+rm -rf / # %F' | sh",
    "seq -f 'rm -rf /' 1 | sh",
    "seq --format='rm -rf ~' 1 3 | bash",
    "seq -s ';' -f 'rm -rf /' 2 | sh",
    "stat -c 'rm -rf %n' / | sh",
    "stat --printf='rm -rf %n\\n' /etc | bash",
    "find / -maxdepth 0 -printf 'rm -rf %p\\n' | sh",
    "git log -1 --format='rm -rf /' | sh",
    "git show -s --pretty=format:'%x72m -rf ~' | sh",
    "curl -s -o /dev/null -w 'rm -rf /' http://localhost:8080 | sh",
    "envsubst <<< 'rm -rf $HOME' | sh",
    "gettext 'rm -rf /' | sh",
    "systemd-escape -u 'rm\\x20\\x2drf\\x20-' | sh",
    "expr substr 'xrm -rf /' 2 8 | sh",
    "expr 'run: rm -rf /' : 'run: \\(.*\\)' | sh",
    "dc -e '8245281872350158895P' | sh",
    "dc -e '16i726D202D7266202FP' | sh",
    "dc -e '[rm -rf /]p' | sh",
    "echo '[rm -rf ~]P' | dc | sh",
    "dc <<< '114P109P32P45P114P102P32P47P' | sh",
    "dc -e '[114a]sa[[rm -rf /]P]x' | sh",
    "bc <<< 'print \"rm -rf /\\n\"' | sh",
    "echo '\"rm -rf ~\"' | bc -q | sh",
    "jq -rn '\"cm0gLXJmIC8=\" | @base64d' | sh",
    "jq -nr '[114,109,32,45,114,102,32,47] | implode' | bash",
    'jq -rn \'["rm","-rf","/"] | join(" ")\' | sh',
    "jq -rn --arg c 'RM -RF /' '$c | ascii_downcase' | sh",
    'jq -n -r \'"\\("rm") -rf " + ("/ x" | split(" ") | first)\' | sh',
    "jq -r '.[0].run' <<< '[{\"run\":\"rm -rf ~\"}]' | bash",
    'echo \'{"a":["rm","-rf","/"]}\' | jq -r \'.a | map(.) | join(" ")\' | sh',
    'jq -rj \'"rm", " -rf /"\' <<< null | sh',
    "yq -n '\"rm -rf /\"' | sh",
    "gojq -rn '\"/ fr- mr\" | explode | reverse | implode' | sh",
    "m4 <<< 'syscmd(rm -rf /)'",
    "echo 'esyscmd(`rm -rf ~'\"'\"')' | m4",
    "m4 -P <<< 'm4_changequote([,])m4_syscmd([rm -rf /])'",
    "m4 -DX='rm -rf /' <<< 'X' | sh",
    "printf '%s\\n' 'define(`A'\"'\"', `rm'\"'\"')A -rf /' | m4 | sh",
    "m4 <<< 'changequote([,])define([go],[rm -rf $1])go(/)' | sh",
    "m4 <<< 'ifelse(a,a,syscmd(rm -rf ~))'",
    "sqlite3 :memory: \"select 'rm -rf /'\" | sh",
    "sqlite3 :memory: \"select char(114,109) || ' -rf /'\" | sh",
    "sqlite3 :memory: \"select cast(x'726d202d7266202f' as text)\" | sh",
    "psql -Atc \"select 'rm -rf ~'\" | bash",
    "mysql -Ne \"select from_base64('cm0gLXJmIC8=')\" | sh",
    "yes 'rm -rf /' | head -1 | sh",
]
SILENT = [
    "date '+%F %T' | tee stamp.txt",
    'tar czf "backup-$(date +%Y/%m)-x.tgz" src',
    "rm -rf build-$(date +%F)",
    "echo \"$(date '+started at %H:%M') rm -rf / is never run\" >> notes.log",
    "for i in $(seq -f '%03g' 1 20); do echo page-$i; done",
    "seq -f 'echo part %g' 3 | sh",
    "seq -s, 1 10",
    "stat -c 'size of %n: %s' dist/app.js",
    "stat -c %a ~/.ssh/config",
    "find . -name '*.py' -printf '%s %p\\n' | sort -n | tail",
    "git log -5 --format='%h %an wrote: %s'",
    "git log --format=oneline | head",
    "curl -s -o /dev/null -w '%{http_code}\\n' http://localhost:8080/health",
    "curl -s -o page.html -w 'took %{time_total} s\\n' https://example.com",
    "envsubst < deploy.template.yaml > deploy.yaml",
    "i=$(expr 3 + 4); echo $i",
    "expr substr 'hello world' 1 5",
    "dc -e '2 10 ^ p'",
    "echo 'scale=2; 10/3' | bc",
    "bc <<< 'print \"rm -rf /\\n\"'",
    "jq -r .version package.json",
    "VERSION=$(jq -r '.dependencies | keys[]' package.json)",
    "jq -n '{name: \"rm -rf /\"}' > sample.json",
    'jq -rn \'"hello " + "world"\'',
    "jq -n --arg t 'drop table users' '{title: $t}' | curl -s -d @- http://localhost:9200/x",
    "m4 configure.ac > configure.out",
    "m4 <<< 'define(`greet'\"'\"', `hello $1'\"'\"')greet(world)'",
    "m4 <<< 'syscmd(ls -l)'",
    "sqlite3 app.db \"select 'rm -rf /' as sample\"",
    "sqlite3 app.db 'select count(*) from users'",
    "gettext 'Remove the file?'",
    "yes | head -3",
]


@pytest.mark.parametrize("command", BLOCKED)
def test_computed_text_that_must_not_run_is_blocked(command: str) -> None:
    judgement = judge_shell(command)
    assert str(judgement.verdict) == "block", judgement


@pytest.mark.parametrize("command", SILENT)
def test_computed_text_that_does_no_harm_is_silent(command: str) -> None:
    judgement = judge_shell(command)
    assert str(judgement.verdict) == "allow", judgement


@pytest.mark.parametrize(
    "command",
    [
        "date '+%H%M' | sh",
        "jq -r .scripts.build package.json | sh",
        "dc -e '[unknown]x' | sh",
        "m4 macros.m4 | sh",
        "sqlite3 app.db 'select line from jobs' | sh",
        "bc -l rules.bc | sh",
    ],
)
def test_what_cannot_be_computed_is_asked_about(command: str) -> None:
    assert str(judge_shell(command).verdict) == "approve"


# Harmless uses: the guard's own idea of the output against what the real program prints.
USES = [
    (["date", "-u", "+plain %% text%n"], ""),
    (["seq", "-f", "n %g", "3"], ""),
    (["seq", "-s", ",", "-f", "<%g>", "2", "2", "8"], ""),
    (["expr", "substr", "hello world", "3", "4"], ""),
    (["expr", "key=value", ":", "key=\\(.*\\)"], ""),
    (["dc", "-e", "7 3*p[text]P 104P105P"], ""),
    (["dc", "-e", "16i68 65 l"], ""),
    (["bc"], 'print "a\\n", "b"; "c"\n'),
    (["jq", "-r", '.a.b[1], (.c | keys | join("-"))'], '{"a":{"b":[1,"two"]},"c":{"y":1,"x":2}}'),
    (["jq", "-c", "[.[] | explode | reverse | implode]"], '["abc","de"]'),
    (["jq", "-rn", '"aGVsbG8=" | @base64d | ascii_upcase | .[1:3] + "\\(1 + 2)"'], ""),
    (["jq", "{a, b: (.b // 7)}"], '{"a":"x"}'),
    (["m4"], "define(`a', `<$1|$2>')a(x, `y, z') dnl gone\n`quoted a' ifelse(1,2,no,yes)\n"),
    (["m4"], "changequote([,])[a [b] c] len(hello) substr(hello, 1, 3) format([%s-%d], x, 7)\n"),
    (["gettext", "no such text"], ""),
]


@pytest.mark.parametrize(("words", "text"), USES)
def test_what_is_computed_is_what_the_real_program_prints(words: list[str], text: str) -> None:
    from hermes_ops.guard.judge import outputs
    from hermes_ops.guard.judge.dispatch import HANDLERS
    from hermes_ops.guard.judge.invocation import Arg, Invocation, Stream
    from hermes_ops.guard.judge.walk import Walk

    walk = Walk("/work", "/home/user", "/home/user/.hermes")
    stdin = Stream(text, True) if text else Stream()
    call = Invocation(words[0], [Arg(word) for word in words], stdin=stdin)
    handler = HANDLERS.get(words[0])
    printed = (handler(walk, call) if handler is not None else None) or outputs.output(walk, call)
    program = shutil.which(words[0])
    if program is None:
        pytest.skip(f"{words[0]} is not installed")
    real = subprocess.run([program, *words[1:]], input=text, capture_output=True, text=True, timeout=10)
    if real.returncode == 0:
        assert printed.text == real.stdout
    else:
        assert printed.text is None


@pytest.mark.parametrize(
    "command",
    [
        "m4 <<< 'define(`a',`aa')" + "a" * 4000 + "a(" * 4000 + "'",
        "m4 <<'X'\ndefine(`r',`r r r r')r\n" + "len(" * 3000 + "\nX",
        "jq -n '" + "[" * 900 + "'",
        "jq -n '" + "(1,2,3,4,5,6,7,8)+" * 100 + "1'",
        "jq -n '" + '"' + "\\(" * 900 + "'",
        "dc -e '" + "9" * 7000 + "d*" * 400 + "P'",
        "dc -e '" + "[" * 7000 + "'",
        "dc -e '[" + "a" * 2000 + "]" + "d" * 900 + "f" * 900 + "'",
        "dc -e '[" + "[]" * 3000 + "]sa" + "lax" * 600 + "'",
        "jq -n '9" + " | .*." * 29 + "'",
        """jq -n '"\\u0027\"""" + "|@sh" * 28 + "'",
        "jq -n '\"" + "\u00e9" * 1500 + '"' + "|@uri" * 28 + "'",
        """jq -n '"x"*8000""" + "|(.,.)" * 6 + "|@uri" * 20 + "'",
        """jq -n '"xxxxxxxx\"""" + """|"\\(.)\\(.)\"""" * 28 + "'",
        "bc <<< '" + '"a" ' * 1500 + "/*" * 1500 + "'",
        "m4 <<'X'\n" + "translit(a,a-zA-Z,`!-~')" * 300 + "\nX",
        "m4 <<'X'\n" + "patsubst(aaaaaaaaaaaa,`a*a*a*b',c)" * 200 + "\nX",
        "m4 <<'X'\n" + "ifelse(eval(1),1,`" * 400 + "\nX",
        "m4 <<'X'\nchangecom(`a',`b')" + "a" * 7000 + "\nX",
        "m4 <<'X'\nregexp()sys" + "`rm x'" * 1200 + "\nX",
        'sqlite3 x "select ' + "(" * 1900 + '"',
        "date '+" + "%" * 20000 + "'",
        'sqlite3 x "' + "edit((" * 600 + '"',
        'duckdb -c "' + "copy " * 790 + '"',
        'duckdb -c "' + "copy to " * 490 + '"',
        'psql -c "select ' + "E'" + "\\\\" * 1900 + '"',
        "seq -f '" + "%g" * 5000 + "' 1 50 | sh",
    ],
)
def test_hostile_programs_are_judged_in_time(command: str) -> None:
    judge_shell("jq -n 1")
    started = time.perf_counter()
    judge_shell(command)
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize(
    "program",
    [
        "9" + "|.*." * 14,
        '@nothing "a\\(1)"',
        "@nothing",
        '"x" | @nothing "a\\(.)"',
        "9" * 4400,
        "1" + "0" * 14 + " | . * .",
        '"9" * 4000 | tonumber | tojson',
        '"\\u0027"' + "|@sh" * 20,
    ],
)
def test_programs_of_jq_that_are_not_followed_raise_nothing(program: str) -> None:
    found = judge_shell(f"jq -n '{program}' | sh").findings
    assert "guard.error" not in [each.rule for each in found]
    assert found


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        ('"<rm>" | @html', "&lt;rm&gt;"),
        ('@html "a \\("<&>")"', "a &lt;&amp;&gt;"),
        ('["rm -rf /", 1, null] | @csv', '"rm -rf /",1,'),
        ('["rm", "-rf", "/\\t"] | @tsv', "rm\t-rf\t/\\t"),
        ('["rm", 2] | @sh', "'rm' 2"),
        ('["a", null, 2] | join("-")', "a--2"),
        ("3 * 4 - 2", "10"),
    ],
)
def test_formats_of_jq(program: str, printed: str) -> None:
    from hermes_ops.guard.judge.json_programs import evaluated
    from hermes_ops.guard.judge.json_values import text_of

    values = evaluated(program.replace("\\\\", "\\"), [None], {})
    assert values is not None
    assert [text_of(each) for each in values] == [printed.replace("\\\\", "\\")]


def test_what_dc_prints_too_much_of_is_judged_by_its_beginning() -> None:
    assert (
        str(judge_shell("dc -e '[rm -rf /\n]P[" + "a" * 2000 + "]" + "d" * 300 + "fff' | sh").verdict)
        != "allow"
    )


M4_RUNS = [
    "m4 <<'E'\nbuiltin(`syscmd', `rm -rf ~')\nE\n",
    "m4 <<'E'\nindir(`syscmd', `rm -rf ~')\nE\n",
    "m4 <<'E'\ndefine(`x', defn(`syscmd'))x(`rm -rf ~')\nE\n",
    "m4 --prefix <<'E'\nm4_syscmd(`rm -rf ~')\nE\n",
    "m4 <<'E'\nchangecom(`@')# syscmd(`rm -rf ~')\nE\n",
    "m4 <<'E'\nchangecom# syscmd(`rm -rf ~')\nE\n",
    "m4 <<'E'\npushdef(`x', `syscmd(`rm -rf ~')')x\nE\n",
    "m4 <<'E'\nm4wrap(`syscmd(`rm -rf ~')')\nE\n",
    "m4 <<'E'\nifelse(eval(1>0),1,`syscmd(`rm -rf ~')')\nE\n",
    "m4 <<'E'\ndefine(`c',patsubst(`xm -rf ~',`x',`r'))syscmd(c)\nE\n",
    "m4 <<'E'\ndefine(`c',translit(`sn -rf ~',`a-z',`za-y'))syscmd(c)\nE\n",
    "m4 <<'E'\nforloop\nifdef(`__unix__',`syscmd(`rm -rf ~')')\nE\n",
    "echo 'syscmd(rm -rf ~)' > a.m4; echo 'include(a.m4)' | m4",
    "m4 -sP <<'E'\nm4_syscmd(`rm -rf ~')\nE\n",
    "m4 <<'E'\npushdef(`x',`a')pushdef(`x',`rm -rf ~')syscmd(x)popdef(`x')\nE\n",
    "m4 <<'E'\ndefine(`two',`$2')two(shift(`a',`b',`syscmd(rm -rf ~)'))\nE\n",
    "m4 <<'E'\nchangeword(`x')regexp(`a',`b')syscmd(`rm -rf ~')\nE\n",
    "m4 <<'E'\nindir(`define',`go',`syscmd(`rm -rf $1')')go(~)\nE\n",
    "m4 <<'E'\nchangecom(`@',`@')@ x @syscmd(`rm -rf ~')\nE\n",
    "m4 -DX=1 -R state <<'E'\nbuiltin(`syscmd',`rm -rf ~')\nE\n",
]
M4_HARMLESS = [
    "m4 <<'E'\ndefine(`c',patsubst(`src/main.c',`\\.c$',`.o'))c\nE\n",
    "m4 <<'E'\ntranslit(`hello',`a-z',`A-Z')\nE\n",
    "m4 <<'E'\nm4wrap(`syscmd(`echo done')')\nE\n",
    "m4 <<'E'\n# syscmd(rm -rf ~)\nhello\nE\n",
    "m4 <<'E'\nifelse(eval(1>0),1,`syscmd(`make -j4')')\nE\n",
    "m4 -I m4 configure.ac > configure",
    "m4 <<'E'\ninclude(`m4/common.m4')PROJECT_NAME\nE\n",
]


@pytest.mark.parametrize("command", M4_RUNS)
def test_what_m4_may_hand_to_a_shell_is_stopped(command: str) -> None:
    assert str(judge_shell(command).verdict) == "block"


@pytest.mark.parametrize("command", M4_HARMLESS)
def test_everyday_macros_are_allowed(command: str) -> None:
    assert str(judge_shell(command).verdict) == "allow"


QUERIES_THAT_RUN = [
    "sqlite3 x \"select writefile('/etc/passwd','x')\"",
    "sqlite3 :memory: \"select edit('x','rm -rf ~ #')\"",
    "duckdb -c \"copy (select 1) to '/etc/passwd'\"",
    "psql -At -c \"select E'\\\\x72m -rf ~'\" | sh",
    "psql -At -c \"select e'\\162\\u006d -\\rf ~'\" | tr -d '\\r' | sh",
    "mysql -Ne \"select 'r\\m -rf ~'\" | sh",
    "mysql -Ne 'select \"r\\m -rf ~\"' | sh",
    "sqlite3 x.db \"select writefile('/etc/cron.d/x', '* * * * * root sh')\"",
    "duckdb db.duckdb -c \"COPY t TO '/etc/passwd' (format csv)\"",
    "sqlite3 :memory: \"select edit(name, 'sh -c ''rm -rf ~''') from t\"",
]
QUERIES = [
    "psql -At -c \"select E'a\\tb'\"",
    "mysql -e \"select * from t where name = 'O\\'Neil'\"",
    "sqlite3 x.db \"select writefile('out.png', data) from images\"",
    "duckdb -c \"copy (select * from t) to 'out.parquet' (format parquet)\"",
    "sqlite3 notes.db \"select edit(body, 'vim') from notes where id = 3\"",
]


@pytest.mark.parametrize("command", QUERIES_THAT_RUN)
def test_what_a_query_prints_or_writes_is_stopped(command: str) -> None:
    assert str(judge_shell(command).verdict) in ("block", "approve")


@pytest.mark.parametrize("command", QUERIES)
def test_everyday_queries_are_allowed(command: str) -> None:
    assert str(judge_shell(command).verdict) == "allow"
