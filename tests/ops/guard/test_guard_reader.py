"""The shell reader by constructs: what the tree holds, what is called wrong, and where reading stops."""

from __future__ import annotations

import pytest

from hermes_ops.guard.shell import source, tree
from hermes_ops.guard.shell.reader import read
from tests.ops.guard.shown_tree import show, spans


def shown(text: str) -> str:
    reading = read(text)
    assert not reading.problem, reading.problem
    return show(reading.script)


QUOTES = [
    ("echo 'a b' \"c $x d\" e\\ f \"\" '' g\"h\"'i'", "[echo 'a b' 'c '$q{x}' d' e' 'f '' '' g'h''i']"),
    ('echo $"hi $y" "\\$a\\b\\"" \'$x\' \\$x', "[echo 'hi '$q{y} '$a\\b\"' '$x' '$'x]"),
    ("r\\\nm -r\\\nf \"a\\\nb\" 'a\\\nb' \\\n  c", "[rm -rf 'ab' 'a\\\nb' c]"),
    ("ec\\\nho $\\\nx $na\\\nme ${na\\\nme} $\\\n(a &\\\n& b)", "[echo ${x} ${name} ${name} $( [a] && [b])]"),
    ("i\\\nf a; th\\\nen b >\\\n>c 2\\\n>d; f\\\ni", "{if; [a] ;; [b >>c 2>d] ;}"),
    ('ls # it\'s a "comment" $(\nb#c # d', "[ls] ; [b#c]"),
    ("echo a\\", "[echo a'\\']"),
    ("ls\r\nif\r\n", "[ls\r] ; [if\r] ;"),
    ("echo é\u00a0ü \u200bx", "[echo é\u00a0ü \u200bx]"),
    ("ec\0ho a\0b", "[echo ab]"),
    ('echo ~/x ~user "~" a=~', "[echo ~/x ~user '~' a=~]"),
]
EXPANSIONS = [
    ('echo $(a "$(b)" `c \\`d\\``)', "[echo $( [a q$( [b]) ` [c ` [d])])])]"),
    ("echo <(e) >(f) x<(g)", "[echo <( [e]) >( [f]) x<( [g])]"),
    ('echo "`a \\"b\\" \\$c`"', "[echo q` [a 'b' ${c}])]"),
    ("echo ${x} ${x:-$(a)} ${x:='b c'} ${x-}", "[echo ${x} ${x :- $( [a])} ${x := 'b c'} ${x - }]"),
    ('echo "${x:+\'d\'}" "${x//\'q\'/}" "${x:-"e"}"', "[echo $q{x :+ ''d''} $q{x // 'q/'} $q{x :- 'e'}]"),
    ('echo ${x#*/} ${x%%"."*} ${x/a/b c}', "[echo ${x # */} ${x %% '.'*} ${x / a/b c}]"),
    ("echo ${x:1:$n}", "[echo ${x : 1:${n}}]"),
    ("echo ${x^^} ${x,} ${#x} ${#x[@]} ${x@Q}", "[echo ${x ^^ } ${x , } ${x len} ${x[@] len} ${x @ Q}]"),
    ("echo ${!x} ${!x:-d} ${!x*} ${!x[@]}", "[echo ${x !} ${x !:- d} ${x !*} ${x[@] !}]"),
    ("echo ${x[$i]} ${x[@]:1} ${10} $10 $1$$", "[echo ${x[${i}]} ${x[@] : 1} ${10} ${1}0 ${1}${$}]"),
    ("echo ${#} ${##} ${-} $ $% ${x:?no} ${x:-a}b}", "[echo ${#} ${# len} ${-} $ $% ${x :? no} ${x :- a}b}]"),
    ('echo ${x y} ${a.b} "${c[}"', "[echo ${ bad x y} ${ bad a.b} $q{ bad }]"),
    ("echo ${ ls; }", "[echo ${ [ls] ;)]"),
    ('echo $((1 + $x * $(a))) "$((3))"', "[echo $((1 + $x * $(a) | $q{x} | q$( [a]))) $((3))]"),
    ("echo $[2 + $(b)] $(( (1) + 2 ))", "[echo $((2 + $(b) | q$( [b]))) $(( (1) + 2 ))]"),
    ("echo $((a); (b))", "[echo $( {subshell; [a]} ; {subshell; [b]})]"),
    # bash runs what stands between single quotes in arithmetic and in an index.
    ("a['$(x)']=1 b=(['`y`']=2) c", "a[q$( [x])]=1 b=([q` [y])]=2) c"),
    ("echo ${a['$(x)']} ${z:'$(w)'}", "[echo ${a[q$( [x])]} ${z : q$( [w])}]"),
    ("echo $(('$(y)'))", "[echo $(('$(y)' | q$( [y])))]"),
]
HERE_DOCUMENTS = [
    (
        'cat <<A <<-\'B\' 3<<"C D" | x; y\na $x $(b) \\$n \\\\ "q"\nA\n\tb $x\n\tB\nc $(no)\nC D\nz\n',
        "[cat <<'a '$q{x}' 'q$( [b])' $n \\ \"q\"\n' <<-'b $x\n' 3<<'c $(no)\n'] | [x] ; [y] ; [z] ;",
    ),
    ("cat <<A\nb\nA c\n", "[cat <<'b\nA c\n' (not ended)] ;"),
    ("cat <<A", "[cat << (not ended)]"),
    ("cat <<\\A && b\n$x\nA\nc", "[cat <<'$x\n'] && [b] ; [c]"),
    ("cat <<A &&\n1\nA\nb", "[cat <<'1\n'] && [b]"),
    ("a=$(cat <<A\n1\nA\n) b", "[a=$( [cat <<'1\n'] ;) b]"),
    # In a substitution the delimiter may stand right before the parenthesis; a body may come after the line.
    ("echo $(cat <<A\n1\nA) b", "[echo $( [cat <<'1\n'] ;) b]"),
    ("echo $(cat <<A) b <<B\n1\nA\n2\nB\nc", "[echo $( [cat <<'1\n']) b <<'2\n'] ; [c]"),
    ("cat <<A\n1\\\nA\nA\nb", "[cat <<'1A\n'] ; [b]"),
    ("cat <<A\n1\nA\\\n\nb", "[cat <<'1\n'] ; [b]"),
    ("cat <<''\n1\n\nb", "[cat <<'1\n'] ; [b]"),
    ("cat <<E'O'F <<< x\n$y\nEOF\n", "[cat <<'$y\n' <<<x] ;"),
    ("if a <<A; then\n1\nA\nb; fi", "{if; [a <<'1\n'] ;; [b] ;}"),
]
COMMANDS = [
    ("echo a;b&c|d&&e||f", "[echo a] ; [b] & [c] | [d] && [e] || [f]"),
    ("a |& b\n\n# c\nd &&\n\ne | # f\ng", "[a] |& [b] ; [d] && [e] | [g]"),
    ("if=1; echo if then fi { } ; {a; a}; ifx y", "[if=1] ; [echo if then fi { }] ; [{a] ; [a}] ; [ifx y]"),
    ("'if' a; \\then b; \"{\" c", "['if' a] ; ['t'hen b] ; ['{' c]"),
    (
        'x=1 y+=$(a) z[1 + 1]="b" w=() v=(a \'b c\' [2]=d [k]+="e" {f,g}) cmd x=2',
        "[x=1 y+=$( [a]) z[1 + 1]='b' w=() v=(a 'b c' [2]=d [k]+='e' f g) cmd x=2]",
    ),
    ("declare -a u=(x $y) t=5; export X=y", "[u=(x ${y}) declare -a u t=5] ; [export X=y]"),
    ("a[b c]; a[b]+=c", "[a[b c]] ; [a[b]+=c]"),
    ("v=(a # b\n c\n); x=", "[v=(a c)] ; [x=]"),
    ("v=(a $(b))c#d; e", "[v=(a $( [b])) v='(a $(b))'c#d] ; [e]"),
    (
        '>o a 2>&1 <i &>p &>>q >|r <>s 3<&- {fd}>t >&u 4>&5- b <<< "w $x" 10>v',
        "[a b >o 2>&1 <i &>p &>>q >|r <>s 3<&- fd>t >&u 4>&5- <<<'w '$q{x} 10>v]",
    ),
    ("echo a2>b 2 >c <&0<<<x", "[echo a2 2 >b >c <&0 <<<x]"),
    ("[[ -f $x && ! ( a == b* || $c =~ ^(x|y z)$ ) ]]", "{[[; -f ${x} a == b* ${c} =~ ^(x|y z)$}"),
    ("[[ a < b\n|| c ]] >o", "{[[; a b c}>o"),
    ("((x = $(c) + 1)) <i; ((d) | e)", "{((; q$( [c])}<i ; {subshell; {subshell; [d]} | [e]}"),
    (
        'case $x in a|b*) c ;; (d) e ;& "f g"|[!h]) ;;& *) i; esac >o',
        "{case; ${x}; a | b*: [c]; d: [e]; 'f g' | [!h]: ; *: [i] ;}>o",
    ),
    ("case a in esac; case b\nin\nc)\nd\n;;\nesac", "{case; a} ; {case; b; c: [d] ;}"),
    (
        "if a; then b; elif c; then d; else e; fi <i; while a; do b; done; until ! a; do b; done >>o",
        "{if; [a] ;; [b] ;; [c] ;; [d] ;; [e] ;}<i ; {while; [a] ;; [b] ;} ; {until; ! [a] ;; [b] ;}>>o",
    ),
    ("for x in a {b,c} $d; do e; done", "{for; x; a b c ${d}; [e] ;}"),
    ("for x; do y; done; for x\ndo y; done", "{for; x; $q{@}; [y] ;} ; {for; x; $q{@}; [y] ;}"),
    ("select x in a; do c; done", "{select; x; a; [c] ;}"),
    ("for ((i=0; i<$(n); i++)) { a; }; for x in a; { b; }", "{for((; q$( [n]); [a] ;} ; {for; x; a; [b] ;}"),
    ("{ a; b; } 2>&1; (a; b) &\n{ c; }", "{group; [a] ; [b] ;}2>&1 ; {subshell; [a] ; [b]} & {group; [c] ;}"),
    ("coproc c d; coproc N { e; }", "{coproc; COPROC; [c d]} ; {coproc; N; {group; [e] ;}}"),
    ("time -p a | b; ! c |& d", "time [a] | [b] ; ! [c] |& [d]"),
    ("! ! e; time; !(f); ! >o g", "[e] ; time [] ; ! {subshell; [f]} ; ! [g >o]"),
    ("f() { a; }; function g { b; } >o", "f() {group; [a] ;} ; g() {group; [b] ;}>o"),
    ("function h () ( c ); i () [[ a ]]", "h() {subshell; [c]} ; i() {[[; a}"),
    ("j-k()\nif a; then b; fi; l!() { m; }", "j-k() {if; [a] ;; [b] ;} ; l!() {group; [m] ;}"),
    ("while(a); do(b); done", "{while; {subshell; [a]} ;; {subshell; [b]} ;}"),
    ("echo !(a|b) ?(c) x@(d|$(e)) *+(f)", "[echo !(a|b) ?(c) x@(d|$( [e])) *+(f)]"),
    ("", ""),
    (" \n# a\n", ""),
]
BRACES = [
    ("{a,b}c{1..3}", "ac1 ac2 ac3 bc1 bc2 bc3"),
    ("{a..e..2} {e..a..2} {03..1} {-1..1} {1..3..0}", "a c e e c a 03 02 01 -1 0 1 1 2 3"),
    ("{a,{b,c}d} {,y}z {a,b,} {{a,b},c}", "a bd cd z yz a b  a b c"),
    ("{x} {} {a b} a{ } {a,b {a..bc} {1..b} {a{b,c}", "{x} {} {a b} a{ } {a,b {a..bc} {1..b} {ab {ac"),
    ("\\{a,b} {a\\,b} '{a,b}' \"{a,b}\"", "'{'a,b} {a','b} '{a,b}' '{a,b}'"),
    ('${x}{p,q} $x{p,-q} {$x,$(y)}"z"', "${x}p ${x}q ${xp} ${x}-q ${x}'z' $( [y])'z'"),
    ("{rm,-rf,/}", "rm -rf /"),
]


@pytest.mark.parametrize(("text", "expected"), [*QUOTES, *EXPANSIONS, *HERE_DOCUMENTS, *COMMANDS])
def test_a_construct_is_read_as_bash_reads_it(text: str, expected: str):
    if text.startswith("a['"):
        expected = f"[{expected}]"
    assert shown(text) == expected


@pytest.mark.parametrize(("text", "expected"), BRACES)
def test_braces_become_several_words(text: str, expected: str):
    assert shown(f"echo {text}") == f"[echo {expected}]"


def test_words_from_braces_are_bounded_and_say_that_something_is_missing():
    many = read("echo " + "{a,b}" * 10).script.items[0].command.words
    assert len(many) == 66 and many[-1].parts[0] == tree.Param("", "bad")
    long = read("echo {1..100000}").script.items[0].command.words
    assert len(long) == 65 and long[-1].literal() == "100000"


ESCAPES = [
    (r"\a\b\e\E\f\n\r\t\v", "\a\b\x1b\x1b\f\n\r\t\v"),
    (r"\\\'\"\?", "\\'\"?"),
    (r"\x41\x4a\x4", "AJ\x04"),
    (r"\101\60\7", "A0\x07"),
    (r"\u20ac\u41\U1f600", "€A😀"),
    (r"\cA\ca\c[", "\x01\x01\x1b"),
    (r"\xc3\xa9\303\251", "éé"),
    (r"\xff", "\udcff"),
    (r"a\0b", "a"),
    (r"\q\z", r"\q\z"),
    ("a\\\nb", "a\\\nb"),
    (r"\162\x6d -rf", "rm -rf"),
]


@pytest.mark.parametrize(("text", "value"), ESCAPES)
def test_ansi_c_escapes_are_decoded(text: str, value: str):
    assert read(f"$'{text}'").script.items[0].command.words[0].literal() == value


PROBLEMS = [
    ("echo 'a", "a single quote that is never closed", 0),
    ('ls; echo "a', "a double quote that is never closed", 1),
    ("ls; echo $(b", "a $( that is never closed", 1),
    ("ls\necho `b", "a backquote that is never closed", 1),
    ("a; b; echo ${x", "a ${ that is never closed", 2),
    ("a && (b", "a ( without `)`", 1),
    ("if a; then b", "an if without `fi`", 0),
    ("a; if b; fi", "an unexpected `fi`", 1),
    ("a; done", "an unexpected `done`", 1),
    ("a | | b", "an unexpected `|`", 0),
    ("a &&", "a && with no command after it", 1),
    ("a; ; b", "an unexpected `;`", 1),
    (")", "an unexpected `)`", 0),
    ("case a in b) c", "a case without `esac`", 0),
    ("for x in a; b; done", "an unexpected `b`", 0),
    ("f() a", "a function (f) whose body is no compound command", 0),
    ("[[ a", "a [[ without `]]`", 0),
    ("a >", "a > without a target", 0),
    ("x=(a", "an array that is never closed", 0),
    ("$'a", "a $' quote that is never closed", 0),
]


@pytest.mark.parametrize(("text", "problem", "complete"), PROBLEMS)
def test_a_syntax_error_is_named_and_the_commands_before_it_are_kept(text: str, problem: str, complete: int):
    reading = read(text)
    assert (reading.problem, len(reading.script.items)) == (problem, complete)
    assert 0 <= reading.at <= len(text) and not reading.stopped


def test_what_bash_reads_later_is_called_wrong_but_does_not_end_the_reading():
    for text, problem in (
        ("a `b; (`; c", "in backquotes, a subshell without a command"),
        ("cat <<E; c\n$(b; (\nE\n", "in a here-document, a subshell without a command"),
        ("a $((1 + ${x)); c", "in arithmetic, a ${ that is never closed"),
        ("a $((b)/c); c", "in a substitution, an unexpected `/c`"),
    ):
        reading = read(text)
        assert (reading.problem, reading.stopped) == (problem, False)
        assert show(reading.script.items[1].command) == "[c]"


@pytest.mark.parametrize(
    "text",
    ["$(" * 200, "{ " * 200, "a; " * 20_000, "a " * 60_000, '"$a' * 30_000, "if a; then " * 99, "${a:-" * 99],
)
def test_a_limit_ends_the_reading_and_says_so(text: str):
    reading = read(f"first; {text}")
    assert reading.stopped and reading.problem in ("too many words", "nesting that is too deep")
    assert show(reading.script.items[0].command) == "[first]"


def test_no_nesting_reaches_the_recursion_limit_of_python():
    openings = [
        "$(",
        '"$(',
        "`",
        "${x:-",
        "((",
        "(",
        "{ ",
        "if ",
        "[[ $(",
        "x=$(",
        "a[",
        "$((",
        "<(",
        "f() { ",
    ]
    for opening in [*openings, "case a in b) ", "$[", "${a[", "x=(", "a | ! ", "[[ a =~ (", "?(", "coproc "]:
        reading = read(f"first; {opening * 3_000}")
        assert reading.problem and reading.script.items[0].command.words[0].literal() == "first"

    def deep(level: int) -> str:
        return read("echo " + "$(a " * 35 + ")" * 35).problem if level == 0 else deep(level - 1)

    assert deep(500) == ""


def test_a_long_here_document_is_read_and_other_long_text_is_not():
    body = "all the text of a file $x `y`\n" * 7_000
    reading = read(f"cat > f <<'EOF'\n{body}EOF\nls")
    assert not reading.problem and len(reading.script.items) == 2
    assert reading.script.items[0].command.redirects[1].document.body == body
    reading = read("echo '" + "x" * source.CHARACTERS + "'; ls; ls")
    assert reading.stopped and reading.problem == "too long"


def test_spans_point_at_the_source():
    text = "a \\\n b\\\nc && x=(d 'e f') $(g \"h\") `i` `j \\`k\\`` {l,m}; cat <<N\nn $(o)\nN\n\tp >q"
    found = {show(node): text[slice(*span)] for node, span in spans(read(text).script)}
    for shown_node, piece in {
        "[a bc]": "a \\\n b\\\nc",
        "bc": "b\\\nc",
        "'e f'": "'e f'",
        "[g 'h']": 'g "h"',
        "'h'": '"h"',
        "[i]": "i",
        "[k]": "j \\`k\\`",
        "l": "{l,m}",
        "o": "o",
        "[p >q]": "p >q",
        "q": "q",
    }.items():
        assert found[shown_node] == piece
