"""Shell scripts made at random whose commands are only names of stubs: safe to run in a throwaway folder.

All paths are relative and all names made up, so whatever runs them finds nothing but the stubs. Loops end:
their conditions are stubs that are known to succeed or to fail.
"""

from __future__ import annotations

import random
import shlex

STUBS = ("alfa", "bravo", "charlie", "delta", "echidna", "fox", "golf", "hotel")
FAILING = ("nope", "nix")
_PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789_./:,%@+-"
_VALUES = (
    "one",
    "two three",
    "-x",
    "--long=val",
    "a*b",
    "it's",
    'say "hi"',
    "$HOME",
    "a;b",
    "x|y",
    "é",
    "#no",
    "",
)
_FILES = ("out1", "out2", "sub/out3")


class Script:
    """One script being written. `text` is what it is in the end."""

    def __init__(self, seed: int | str, depth: int = 3) -> None:
        self.random = random.Random(seed)
        self.written: list[str] = []
        self.bodies: list[str] = []  # of here-documents begun on this line
        self.names: list[str] = []
        self.numbers = 0
        self.in_backquotes = False
        self.substituted = False
        self.has_document = False
        self.script(depth)
        if self.bodies or self.random.random() < 0.5:
            self.newline()

    @property
    def text(self) -> str:
        return "".join(self.written)

    # Writing.

    def put(self, *texts: str) -> None:
        self.written.extend(texts)

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def one(self, *choices):
        return self.random.choice(choices)

    def blank(self) -> None:
        self.put(self.random.choices((" ", "  ", "\t", " \\\n", " \\\n  "), (80, 5, 5, 5, 5))[0])

    def newline(self) -> None:
        if self.chance(0.1):
            self.put(' # it\'s a "comment" $(nope) `')
        self.put("\n", *self.bodies)
        self.bodies = []

    def end(self) -> None:
        """The end of a command inside a list: a semicolon or a newline."""
        # bash 5.2 runs a substitution from its own print of it, which has no `;` after a here-document.
        if self.bodies or self.chance(0.4) or (self.substituted and self.has_document):
            self.newline()
            if self.chance(0.1):
                self.put("\n")
        else:
            self.put(self.one(";", "; ", " ; "))

    def captured(self, write, *arguments) -> str:
        """What `write` writes, with the here-documents that it begins."""
        before = self.written, self.bodies, self.substituted, self.has_document
        self.written, self.bodies, self.substituted, self.has_document = [], [], True, False
        write(*arguments)
        if self.bodies:
            self.newline()
        text = "".join(self.written)
        self.written, self.bodies, self.substituted, self.has_document = before
        return text

    # Lists and commands.

    def script(self, depth: int) -> None:
        for count in range(self.one(1, 1, 2, 3)):
            if count:
                self.end()
            self.pipeline(depth)
            while self.chance(0.2):
                self.put(self.one(" && ", " || ", "&&", "||"))
                if self.chance(0.2):
                    self.newline()
                self.pipeline(depth)

    def pipeline(self, depth: int) -> None:
        if self.chance(0.05):
            self.put("! ")
        elif self.chance(0.03):
            self.put("time ")
        self.command(depth)
        while self.chance(0.15):
            self.put(self.one(" | ", "|", " |& "))
            if self.chance(0.2):
                self.newline()
            self.command(depth)

    def command(self, depth: int) -> None:
        if depth <= 0 or self.chance(0.5):
            self.simple(depth)
            return
        compound = self.one(
            self.group,
            self.subshell,
            self.conditional,
            self.loop,
            self.for_words,
            self.for_numbers,
            self.case,
            self.test,
            self.arithmetic,
            self.function,
            self.nested_subshell,
            self.evaluated,
            self.held,
        )
        compound(depth - 1)

    def group(self, depth: int) -> None:
        self.put("{ ")
        self.script(depth)
        self.end()
        self.put("}")
        self.redirections(depth, 0.2)

    def subshell(self, depth: int) -> None:
        self.put("(", "")
        begun = len(self.written)
        self.script(depth)
        if self.written[begun].startswith("("):
            self.written[begun - 1] = " "
        if self.bodies:
            self.newline()
        self.put(")")
        self.redirections(depth, 0.2)

    def nested_subshell(self, depth: int) -> None:
        self.put("( (")
        self.simple(depth)
        if self.bodies:
            self.newline()
        self.put(")")
        self.end()
        self.simple(depth)
        if self.bodies:
            self.newline()
        self.put(")")

    def body(self, depth: int) -> None:
        self.put("do ")
        self.script(depth)
        self.end()
        self.put("done")
        self.redirections(depth, 0.15)

    def conditional(self, depth: int) -> None:
        self.put("if ")
        self.script(depth)
        self.end()
        self.put("then ")
        self.script(depth)
        self.end()
        if self.chance(0.3):
            self.put("elif ")
            self.test(depth) if self.chance(0.5) else self.simple(depth)
            self.end()
            self.put("then ")
            self.script(depth)
            self.end()
        if self.chance(0.5):
            self.put("else ")
            self.script(depth)
            self.end()
        self.put("fi")
        self.redirections(depth, 0.15)

    def loop(self, depth: int) -> None:
        word, stub = self.one(
            ("while", FAILING[0]), ("until", STUBS[0]), ("while", "false"), ("until", "true")
        )
        self.put(word, " ")
        if self.chance(0.3):
            self.simple(depth)
            self.end()
        self.put(stub)
        self.end()
        self.body(depth)

    def for_words(self, depth: int) -> None:
        name = self.new("v")
        self.put("for ", name, " in")
        for _ in range(self.one(1, 2, 3)):
            self.blank()
            self.word(depth)
        self.end()
        self.names.append(name)
        self.body(depth)
        self.names.pop()

    def for_numbers(self, depth: int) -> None:
        # A name that nothing else sets, or the loop might not end.
        name = self.new("i")
        self.put(f"for (({name}=0; {name}<{self.one(1, 2)}; {name}++))")
        self.end()
        self.names.append(name)
        self.body(depth)
        self.names.pop()

    def case(self, depth: int) -> None:
        self.put("case ")
        self.word(depth)
        self.put(" in ")
        if self.bodies or self.chance(0.5):
            self.newline()
        for _ in range(self.one(1, 2)):
            self.put(
                self.one("", "("),
                self.one("one|two", "a*", "*", "[a-z]?", "'x y'|-x", "@(o|p)*", '"$1"'),
                ") ",
            )
            self.script(depth)
            if self.bodies:
                self.newline()
            self.put(self.one(" ;; ", ";;", " ;& ", " ;;& "), " ")
            if self.chance(0.5):
                self.newline()
        self.put("esac")
        self.redirections(depth, 0.1)

    def test(self, depth: int) -> None:
        self.put("[[ ")
        if self.chance(0.2):
            self.put("! ")
        kind = self.one("string", "unary", "pattern", "group")
        if kind == "string":
            self.word(depth)
            self.put(self.one(" == ", " != ", " = ", " < "))
            self.word(depth)
        elif kind == "unary":
            self.put(self.one("-n ", "-z ", "-f "))
            self.word(depth)
        elif kind == "pattern":
            self.word(depth)
            self.put(" =~ ", self.one("^a(b|c)+$", "[a-z]*", "o.e|two", "(^| )x"))
        else:
            self.put("( -n x && ")
            self.word(depth)
            self.put(" ) || 1 -lt 2")
        self.put(" ]]")

    def arithmetic(self, depth: int) -> None:
        self.put("((", self.one(" 1 + 2 ", "n = 3 * (2 + 1)", " 4 > 3 && (1 | 2) "), "))")
        self.redirections(depth, 0.1)

    def function(self, depth: int) -> None:
        name = self.new("work")
        self.put(self.one(f"{name}() ", f"function {name} ", f"function {name} () ", f"{name} ( ) "))
        self.one(self.group, self.subshell)(depth)
        self.end()
        self.put(name)
        if self.chance(0.5):
            self.blank()
            self.word(depth)

    def evaluated(self, depth: int) -> None:
        text = self.captured(self.script, min(depth, 1))
        self.put("eval ", shlex.quote(text))

    def held(self, depth: int) -> None:
        """A command whose name is the value of a variable."""
        name = self.name()
        self.put("{ ", name, "=", self.one(*STUBS))
        self.end()
        self.put(self.one(f"${name}", f'"${name}"', f"${{{name}}}", f"${{{name}:-nix}}", f"${name}''"))
        self.arguments(depth)
        self.end()
        self.put("}")

    def simple(self, depth: int) -> None:
        if self.chance(0.15):
            self.assignment(depth)
            self.end()
        if self.chance(0.1):
            self.assignment(depth)
            self.blank()
        self.redirections(depth, 0.05, before=True)
        self.command_word(depth)
        self.arguments(depth)

    def arguments(self, depth: int) -> None:
        for _ in range(self.one(0, 1, 1, 2, 3)):
            self.blank()
            self.word(depth)
            self.redirections(depth, 0.04)
        self.redirections(depth, 0.15)

    def command_word(self, depth: int) -> None:
        stub = self.one(*STUBS, *FAILING)
        kind = self.random.random()
        if kind < 0.55:
            self.put(stub)
        elif kind < 0.75:
            self.quoted(stub)
        elif kind < 0.85:
            self.put("{", stub, ",", self.one(*_PLAIN[:26]), "}")
        elif kind < 0.9:
            self.put(self.one("command ", "builtin command ", "command -- "), stub)
        elif kind < 0.95:
            self.put(
                self.one(f"$(echo {stub})", f"`echo {stub}`", f'"$(printf %s {stub})"', f"${{none:-{stub}}}")
            )
        else:
            cut = self.random.randrange(1, len(stub))
            self.put(stub[:cut], self.one("''", '""', "\\\n", "$''", '$""'), stub[cut:])

    def assignment(self, depth: int) -> None:
        name = self.name()
        kind = self.random.random()
        self.put(name)
        if kind < 0.7:
            self.put(self.one("=", "=", "+="))
            self.word(depth, braces=False)
        elif kind < 0.85:
            self.put("=(")
            for _ in range(self.one(0, 1, 2)):
                self.word(depth)
                self.newline() if self.chance(0.3) else self.put(" ")
            self.put(")")
        else:
            self.put(self.one("[0]=", "[1 + 1]=", "[2]+="))
            self.word(depth, braces=False)

    # Words.

    def name(self) -> str:
        """A variable that is set, and read only by a command that sets it itself."""
        return self.one("x", "y", "list", "_n", "Item2")

    def new(self, kind: str) -> str:
        self.numbers += 1
        return f"{kind}{self.numbers}"

    def word(self, depth: int, braces: bool = True) -> None:
        for _ in range(self.one(1, 1, 1, 2)):
            self.piece(depth, braces)

    def piece(self, depth: int, braces: bool) -> None:
        kind = self.random.random()
        if kind < 0.5 or depth <= 0:
            self.quoted(self.one(*_VALUES, "plain", "file.txt"))
        elif kind < 0.65:
            self.parameter(depth)
        elif kind < 0.8:
            self.substitution(depth)
        elif kind < 0.85:
            self.put(self.one("$((1+2))", "$(( (3) * 2 ))", "$[4]", '"$((5 % 2))"'))
        elif kind < 0.92 and braces:
            self.put(self.one("{a,b}", "{1..3}", "x{,y}z", "{a,{b,c}}", "{c..a}", "{01..3}", "{no}", "{a,b"))
        elif kind < 0.95:
            self.put(self.one("<(", ">("), self.captured(self.simple, 0), ")")
        else:
            self.put('"')
            self.substitution(depth, quoted=True)
            self.put(' "')

    def quoted(self, value: str) -> None:
        """A literal, in one of the many ways to write it."""
        way = self.random.random()
        if way < 0.3:
            self.put(shlex.quote(value))
        elif way < 0.4 and "'" not in value:
            self.put(f"'{value}'")
        elif way < 0.6:
            self.put('"', *(f"\\{sign}" if sign in '$`"\\' else sign for sign in value), '"')
        elif way < 0.75:
            self.put(
                "$'",
                *(self.one(f"\\x{ord(s):02x}", f"\\{ord(s):03o}") if s.isascii() else s for s in value),
                "'",
            )
        elif way < 0.9:
            for sign in value:
                self.put(sign if sign in _PLAIN else f"\\{sign}" if sign != "\n" else "$'\\n'")
            if not value:
                self.put("''")
        else:
            for sign in value:
                self.put(shlex.quote(sign) if sign not in "\\'\"$`" else f"\\{sign}")
            if not value:
                self.put('""')

    def parameter(self, depth: int) -> None:
        name = self.one(*self.names[-2:], "unset")
        form = self.one(
            f"${name}",
            f'"${name}"',
            f"${{{name}}}",
            f"${{#{name}}}",
            f"${{{name}[0]}}",
            f'"${{{name}[@]}}"',
            f"${{{name}%.*}}",
            f'"${{{name}#*/}}"',
            f"${{{name}//o/0}}",
            f"\"${{{name}/a/'b c'}}\"",
            f"${{{name}:1:2}}",
            f"${{{name}^^}}",
            "${unset@Q}",
            f"${{!{name}@}}",
            '"$@"',
            "$1",
            "$#",
            "${#}",
            "$?",
            "",
        )
        if form:
            self.put(form)
            return
        self.put("${unset", self.one(":-", "-"))
        if self.chance(0.5):
            self.put(self.one("two words", "'q}'", '"d}"', "\\}", ""))
        else:
            self.substitution(depth - 1)
        self.put("}")

    def substitution(self, depth: int, quoted: bool = False) -> None:
        text = self.captured(self.script, min(depth - 1, 1))
        if self.in_backquotes or self.chance(0.7):
            self.put("$(", " " if text.startswith("(") else "", text, ")")
            return
        self.in_backquotes = True
        text = self.captured(self.script, 0)
        self.in_backquotes = False
        if quoted and '"' in text:
            self.put("$(", " " if text.startswith("(") else "", text, ")")
            return
        self.put("`", text.replace("\\", "\\\\").replace("`", "\\`"), "`")

    # Redirections.

    def redirections(self, depth: int, chance: float, before: bool = False) -> None:
        while self.chance(chance):
            self.put(" ")
            self.redirection(depth)
            if before:
                self.put(" ")

    def redirection(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.5:
            self.put(
                self.one(">", ">>", "2>", "&>", "&>>", ">|", "<>", "1>", "{fd}>", ">&"), self.one("", " ")
            )
            self.quoted(self.one(*_FILES))
        elif kind < 0.6:
            self.put(self.one("2>&1", ">&2", "<&0", "3>&-", "0</dev/null"))
        elif kind < 0.75:
            self.put("<<< ")
            self.word(depth)
        else:
            self.here_document(depth)

    def here_document(self, depth: int) -> None:
        end = self.new("END")
        self.has_document = True
        tabs = self.one("", "", "-")
        is_quoted = self.chance(0.5)
        self.put("<<", tabs, self.one("", " "))
        self.put(self.one(f"'{end}'", f'"{end}"', f"\\{end}", f"E'{end[1:]}'") if is_quoted else end)
        indent = "\t" if tabs else ""
        lines = [
            self.one("text", "it's", 'a "b"', "; nope", "$x", "a \\$y \\\\", "", f"{end} not", f" {end}")
        ]
        if not is_quoted and depth > 0:
            lines.append("v: $(" + self.captured(self.simple, 0).replace("$((", "$( (") + ")")
        if is_quoted:
            lines.append("$(nope `nope` ${")
        self.bodies.append("".join(f"{indent}{line}\n" for line in lines) + f"{indent}{end}\n")


def script(seed: int | str, depth: int = 3) -> str:
    """A script for a seed: always the same one."""
    return Script(seed, depth).text
