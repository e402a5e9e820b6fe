"""The walk over a tree of shell text: which commands would run, in what state, with what input.

Conditions are not evaluated: every branch runs, and after it everything may be as before or as the branch left
it. What a variable may hold is kept as a few alternatives, and a command that uses one is judged with each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

from ..rules.families import BY_PROGRAM, FOR_ALL
from ..rules.names import names as listed
from ..rules.rule import Family
from ..shell import reader
from ..shell.tree import (
    Arithmetic,
    Assignment,
    Command,
    Compound,
    Item,
    Param,
    Part,
    Pipeline,
    Reading,
    Redirect,
    Script,
    Simple,
    Substitution,
)
from ..verdict import Found, Verdict
from . import expand, flows, git, names, unread
from .dispatch import HANDLERS, command
from .invocation import REMOTE, UNKNOWN, Arg, Invocation, Stream, Target
from .state import EMPTY, UNSET, Folder, Snapshot, State, Value, fresh
from .wrappers import VERBS, WRAPPERS

MOST_STEPS = 600
MOST_SECONDS = 0.025
DEEPEST = 24
MOST_PASSES = 24
MOST_ROUNDS = 8

NO_OUTPUT = Stream(text="", piped=True)
ANY_OUTPUT = Stream(piped=True)
NO_INPUT = Stream()

# Variables whose value is run: by the shell, or by programs that ask for an editor, a pager or a helper.
_RUN_VARIABLES = listed(
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH PAGER MANPAGER EDITOR VISUAL BROWSER FCEDIT LESSOPEN "
    "LESSCLOSE SSH_ASKPASS SUDO_ASKPASS RSYNC_RSH CVS_RSH MAILCHECK_COMMAND SYSTEMD_PAGER "
    "SYSTEMD_EDITOR KUBE_EDITOR MAKE_COMMAND"
)
_STARTUP_VARIABLES = frozenset(("BASH_ENV", "ENV", "ZDOTDIR"))
_PROMPTS = frozenset(("PS0", "PS1", "PS2", "PS3", "PS4"))
_PROGRAMS = frozenset(BY_PROGRAM) | frozenset(HANDLERS) | frozenset(WRAPPERS) | frozenset(VERBS)

# Commands that do not fail, so that what follows after && runs.
_BLANK = " \t\n\r" + UNKNOWN
_SURE = listed("mkdir echo printf : true export set pwd date cd pushd")


class Exhausted(Exception):
    """The walk has used up its steps or its time."""


class Walk:
    """One judgement in progress: the state at this point of the text and what was found so far."""

    def __init__(
        self,
        cwd: str | None,
        home: str,
        hermes_home: str,
        place: str = "",
        extra: Sequence[Family] = (),
        allowed: Callable[[Invocation], bool] | None = None,
    ) -> None:
        self.home = home
        self.hermes_home = hermes_home
        self.place = place
        self.extra = extra
        self.allowed = allowed
        self.state: State = fresh(cwd, home, hermes_home)
        self.findings: list[Found] = []
        self.steps = MOST_STEPS
        self.deadline = time.perf_counter() + MOST_SECONDS
        self.depth = 0
        self.text = ""
        # What unknown pieces of the text itself carry with them, when the text was made by a command.
        self.ambient: frozenset[str] = expand.CLEAN
        self.ambient_source = ""
        self.choice: dict[str, int] = {}
        self.undecided: dict[str, int] = {}
        self.calls: list[tuple[Command, int]] = []  # functions being called, and `concurrent` when they were
        self.concurrent = 0
        self.called: set[str] = set()
        self.wrappers: tuple[str, ...] = ()
        self.programs = _PROGRAMS
        self.expanding: tuple[str, ...] = ()  # aliases being expanded
        self.exposed = False  # a container that holds the machine's own root
        self.broken = False  # the words come from text that could not be read, or from another command
        self.again = 0
        self.unread = ""
        self.numbers = 0

    # What the expansion of words asks for.

    def folder(self) -> Folder:
        folders = self.state.folders
        if len(folders) == 1:
            return folders[0]
        return folders[self._chosen("\0folder", len(folders))]

    def _chosen(self, name: str, count: int) -> int:
        number = self.choice.get(name)
        if number is None:
            self.undecided[name] = count
            return 0
        return min(number, count - 1)

    def lookup(self, name: str) -> Value | None:
        """The value of a variable, or of the alternative that is being looked at; None when it is not set here."""
        values = self.state.variables.get(name)
        if values is None:
            return None
        if len(values) == 1:
            return values[0]
        return values[self._chosen(name, len(values))]

    def parameter(self, name: str) -> Arg | None:
        """The value of `$name`; None for what is not set on this line."""
        value = self.lookup(name)
        if value is not None:
            if isinstance(value, dict):
                return value.get("0", EMPTY)
            return value
        if name == "PWD":
            return Arg(self.folder().path or "/" + UNKNOWN)
        if name == "OLDPWD":
            return Arg(self.folder().previous or "/" + UNKNOWN)
        if name.isdigit():
            number = int(name)
            if number == 0:
                return Arg(self.state.zeroth)
            positional = self.state.positional
            return positional[number - 1] if number <= len(positional) else EMPTY
        if name == "#":
            return Arg(str(len(self.state.positional)))
        if name in ("@", "*"):
            return expand.joined(self.state.positional)
        return None

    def positional(self) -> list[Arg]:
        return self.state.positional

    def element(self, name: str, key: str) -> Arg | None:
        value = self.lookup(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            return value if key == "0" else EMPTY
        if UNKNOWN in key:
            return Arg(UNKNOWN)
        if key.startswith("-") and key[1:].isdigit():
            elements = list(value.values())
            return elements[int(key)] if int(key[1:]) <= len(elements) else EMPTY
        return value.get(key.strip("\"'"), EMPTY)

    def separators(self) -> str:
        value = self.state.variables.get("IFS")
        if value is None or isinstance(value[0], dict) or UNKNOWN in value[0].text:
            return " \t\n"
        return value[0].text

    def substitution(self, part: Substitution) -> Arg:
        """Walk a command or process substitution: the text it stands for."""
        kind = part.kind
        with self.subshell():
            output = self.script(part.script, ANY_OUTPUT if kind == ">(" else NO_INPUT)
        if kind in ("$(", "`"):
            if output.text is None:
                return Arg(UNKNOWN, False, output.taint, output.source)
            return Arg(output.text.rstrip("\n"), False, output.taint, output.source)
        self.numbers += 1
        path = f"/dev/fd/{62 + self.numbers}"
        if kind == "<(":
            self.state.files[path] = output
        return Arg(path, False, output.taint if kind == "<(" else expand.CLEAN, output.source)

    @contextmanager
    def subshell(self):
        """Run something on a copy of the state."""
        before = self.state
        self.state = before.fork()
        try:
            yield
        finally:
            self.state = before

    # Lists, pipelines and compound commands.

    def script(self, script: Script, stdin: Stream) -> Stream:
        """Walk a list; its output."""
        outputs: list[Stream] = []
        items = script.items
        at = 0
        while at < len(items):
            end = at
            while end < len(items) - 1 and items[end].after in ("&&", "||"):
                end += 1
            if items[end].after == "&":
                self.concurrent += 1
                with self.subshell():
                    output = self.chain(items[at : end + 1], stdin)
                self.concurrent -= 1
            else:
                output = self.chain(items[at : end + 1], stdin)
            if output is not NO_OUTPUT:
                outputs.append(output)
            at = end + 1
        return flows.concatenated(outputs)

    def chain(self, items: Sequence[Item], stdin: Stream) -> Stream:
        """Walk `a && b || c`: what stands after an operator may or may not run."""
        if len(items) == 1:
            return self.command(items[0].command, stdin)
        outputs = [self.command(items[0].command, stdin)]
        sure = _is_sure(items[0].command)
        before = None
        for item, follower in pairwise(items):
            if item.after == "||":
                behind = self.state.snapshot()
                self.state.quits = False
                output = self.command(follower.command, stdin)
                # Where the alternative ends the shell, what comes after has the state of success.
                if self.state.quits:
                    self.state.restore(behind)
                    self.state.quits = False
                else:
                    self.state.merge(behind)
                sure = False
            else:
                if not sure and before is None:
                    before = self.state.snapshot()
                output = self.command(follower.command, stdin)
                sure = sure and _is_sure(follower.command)
            outputs.append(output)
        if before is not None:
            self.state.merge(before)
        return flows.concatenated(outputs)

    def command(self, node: Command, stdin: Stream) -> Stream:
        kind = type(node)
        if kind is Simple:
            return self.simple(node, stdin)
        if kind is Pipeline:
            return self.pipeline(node, stdin)
        if kind is Compound:
            return self.compound(node, stdin)
        self.state.functions[node.name] = node.body
        return NO_OUTPUT

    def pipeline(self, node: Pipeline, stdin: Stream) -> Stream:
        commands = node.commands
        if len(commands) == 1:
            return self.command(commands[0], stdin)
        self.concurrent += 1
        output = stdin
        for part in commands[:-1]:
            with self.subshell():
                output = self.command(part, output)
        # Some shells run the last command of a pipeline themselves: what it changes may stay.
        before = self.state.snapshot()
        output = self.command(commands[-1], output)
        self.state.merge(before)
        self.concurrent -= 1
        return output

    def compound(self, node: Compound, stdin: Stream) -> Stream:
        targets: list[Target] = []
        if node.redirects:
            targets, stdin = self.redirected(node.redirects, stdin)
            for target in targets:
                if target.writes or target.arg.text.startswith(("/dev/tcp/", "/dev/udp/")):
                    self.judge(Invocation("{", [Arg("{")], targets, stdin, {}))
                    break
        kind = node.kind
        if kind == "group":
            output = self.script(node.bodies[0], stdin) if node.bodies else NO_OUTPUT
        elif kind in ("subshell", "coproc"):
            with self.subshell():
                output = flows.concatenated([self.script(body, stdin) for body in node.bodies])
        elif kind == "for" or kind == "select":
            output = self.each(node, stdin)
        elif kind == "[[" or kind == "((":
            for word in node.words:
                expand.one(self, word)
            self.inside(node.parts)
            for body in node.bodies:
                self.script(body, stdin)
            return NO_OUTPUT
        else:
            output = self.branches(node, stdin)
        if targets:
            output = flows.written(self, targets, output)
        return output

    def inside(self, parts: Sequence[Part]) -> None:
        """Walk what an arithmetic command holds: `(( $(command) ))` runs it."""
        for part in parts:
            kind = type(part)
            if kind is Substitution:
                self.substitution(part)
            elif kind is Arithmetic:
                expand.arithmetic(self, part)
            elif kind is Param and part.argument is not None:
                expand.value_of(self, part)

    def branches(self, node: Compound, stdin: Stream) -> Stream:
        """if, while, until, case, for ((: every body runs, or does not."""
        for word in node.words:
            expand.one(self, word)
        for patterns in node.patterns:
            for word in patterns:
                expand.one(self, word)
        self.inside(node.parts)
        bodies = node.bodies
        state = self.state
        outputs: list[Stream] = []
        looping = node.kind in ("while", "until", "for((")
        results = []
        start = 0
        if node.kind in ("if", "while", "until") and bodies:
            outputs.append(self.script(bodies[0], stdin))
            start = 1
        before = state.snapshot()
        for body in bodies[start:]:
            state.restore(before)
            outputs.append(self.script(body, stdin))
            if looping and self.grew(before):
                outputs.append(self.script(body, stdin))
            results.append(state.snapshot())
        # An if with an else leaves no way around its branches.
        if results and node.kind == "if" and len(bodies) % 2 == 1:
            state.restore(results[0])
        else:
            state.restore(before)
        for result in results:
            state.merge(result)
        state.quits = False
        return flows.concatenated(outputs)

    def grew(self, before: Snapshot) -> bool:
        """Does a loop build a value up? Then what it holds after more rounds is not known."""
        grew = False
        for name, values in self.state.variables.items():
            earlier = before.variables.get(name)
            if earlier is values or not earlier:
                continue
            old, new = earlier[0], values[-1]
            if isinstance(old, dict) or isinstance(new, dict) or not old.text or old.text == new.text:
                continue
            if old.text in new.text:
                self.state.assign(name, Arg(UNKNOWN, False, new.taint, new.source), also=True)
                grew = True
        return grew

    def each(self, node: Compound, stdin: Stream) -> Stream:
        """for and select: the body runs with every word."""
        values = expand.words(self, node.words) if node.words else list(self.state.positional)
        name = node.name
        body = node.bodies[-1] if node.bodies else Script()
        if not values:
            # An empty list is also what an unread or unknown list looks like: the body is judged all the same.
            values = [UNSET]
        if len(values) <= MOST_ROUNDS and len(self.text) < 4000:
            outputs = []
            for value in values:
                self.state.variables[name] = (value,)
                outputs.append(self.script(body, stdin))
            return flows.concatenated(outputs)
        self.state.variables[name] = (values[0],)
        for value in values[1:]:
            self.state.assign(name, value, also=True)
        return self.script(body, stdin)

    # Simple commands.

    def simple(self, node: Simple, stdin: Stream) -> Stream:
        """Walk a simple command, once for every value that its words may have."""
        outer = self.undecided
        self.undecided = {}
        output = self.simple_once(node, stdin, False)
        undecided = self.undecided
        self.undecided = outer
        if undecided:
            output = self.passes(node, stdin, undecided, output)
        return output

    def passes(self, node: Simple, stdin: Stream, undecided: dict[str, int], output: Stream) -> Stream:
        outputs = [output]
        names = list(undecided)
        total = 1
        for count in undecided.values():
            total *= count
        outer_choice, outer_undecided = self.choice, self.undecided
        for number in range(1, min(total, MOST_PASSES)):
            choice = dict(outer_choice)
            rest = number
            for name in names:
                rest, choice[name] = divmod(rest, undecided[name])
            self.choice = choice
            self.undecided = {}
            outputs.append(self.simple_once(node, stdin, True))
        self.choice, self.undecided = outer_choice, outer_undecided
        texts = {output.text for output in outputs}
        if len(texts) > 1:
            joined = flows.concatenated(outputs)
            return Stream(None, True, joined.taint, joined.source)
        return output

    def simple_once(self, node: Simple, stdin: Stream, again: bool) -> Stream:
        self.spend()
        assigned: dict[str, Arg] = {}
        words = expand.words(self, node.words) if node.words else []
        if node.assignments:
            for assignment in node.assignments:
                value = self.assigned(assignment)
                if not words or assignment.array is not None or assignment.index is not None:
                    self.state.assign(assignment.name, value, again)
                word = value if isinstance(value, Arg) else EMPTY
                assigned[assignment.name] = word
                self.environment(assignment.name, word)
        targets: list[Target] = []
        if node.redirects:
            targets, stdin = self.redirected(node.redirects, stdin)
        if not words:
            if targets:
                self.judge(Invocation(":", [Arg(":")], targets, stdin, assigned))
                if not assigned:
                    # `$(< file)` is what the file holds.
                    output = stdin if all(target.op == "<" for target in targets) else NO_OUTPUT
                    return flows.written(self, targets, output)
            elif assigned:
                self.judge(Invocation("", [], targets, stdin, assigned))
            return NO_OUTPUT
        if not assigned:
            return command(self, words, stdin, targets, assigned)
        kept = self.state.variables
        self.state.variables = kept.copy()
        for name, value in assigned.items():
            self.state.variables[name] = (value,)
        output = command(self, words, stdin, targets, assigned)
        # An assignment before a command lasts as long as the command; what that one assigned itself stays.
        for name, values in self.state.variables.items():
            if name not in assigned:
                kept[name] = values
        self.state.variables = kept
        return output

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0 or (not self.steps & 15 and time.perf_counter() > self.deadline):
            raise Exhausted

    def assigned(self, assignment: Assignment) -> Value:
        """The value an assignment gives, with += and elements worked in."""
        if assignment.array is not None:
            value = expand.array(self, assignment.array)
            if assignment.appends:
                earlier = self.lookup(assignment.name)
                elements = (
                    list(earlier.values()) if isinstance(earlier, dict) else [earlier] if earlier else []
                )
                elements.extend(value.values())
                value = {str(number): element for number, element in enumerate(elements)}
            return value
        value = expand.one(self, assignment.value)
        if assignment.index is not None:
            earlier = self.lookup(assignment.name)
            elements = dict(earlier) if isinstance(earlier, dict) else {}
            key = expand.one(self, assignment.index).text.strip("\"'")
            if assignment.appends and key in elements:
                value = expand.joined([elements[key], value], "")
            elements[key] = value
            return elements
        if assignment.appends:
            earlier = self.parameter(assignment.name)
            if earlier is not None:
                return expand.joined([earlier, value], "")
        return value

    def redirected(self, redirects: Sequence[Redirect], stdin: Stream) -> tuple[list[Target], Stream]:
        """The files a command is connected with, and what it gets on its input."""
        targets: list[Target] = []
        for redirect in redirects:
            op = redirect.op
            document = redirect.document
            if document is not None:
                if document.quoted:
                    stdin = Stream(
                        expand.filled(self, document.body), True, self.ambient, self.ambient_source
                    )
                else:
                    stdin = flows.known(expand.one(self, document.word))
                continue
            argument = expand.one(self, redirect.target)
            if op == "<<<":
                stdin = flows.known(Arg(argument.text + "\n", False, argument.taint, argument.source))
                continue
            targets.append(Target(op, argument, redirect.fd))
            if op in ("<", "<>", "<&") and redirect.fd in ("", "0"):
                stdin = flows.read(self, op, argument)
            elif redirect.fd and argument.text.startswith(("/dev/tcp/", "/dev/udp/")):
                self.state.descriptors[redirect.fd] = Stream(
                    None, True, frozenset((REMOTE,)), argument.text.replace(UNKNOWN, "?")
                )
        return targets, stdin

    # Judging.

    def judge(self, invocation: Invocation) -> None:
        """Call the rules for one command."""
        if not invocation.home:
            invocation.home = self.home
            invocation.hermes_home = self.hermes_home
            invocation.cwd = self.folder().path
            if not invocation.place:
                invocation.place = self.place
        families = BY_PROGRAM.get(invocation.name, ())
        found: list[Found] = []
        for family in families:
            found.extend(family.check(invocation))
        for family in FOR_ALL:
            found.extend(family.check(invocation))
        for family in self.extra:
            if not family.programs or invocation.name in family.programs:
                found.extend(family.check(invocation))
        if found:
            self.report(found, invocation)

    def report(self, found: list[Found], invocation: Invocation | None = None) -> None:
        """Keep findings: what a container loses is a person's to decide; what policy allows is not asked."""
        place = invocation.place if invocation is not None else self.place
        if invocation is not None:
            found = [each if each.part else replace(each, part=names.shown(invocation)) for each in found]
        if place in ("container", "chroot"):
            found = [lowered(each) for each in found]
        if (
            self.allowed is not None
            and invocation is not None
            and any(each.verdict == Verdict.APPROVE for each in found)
            and self.allowed(invocation)
        ):
            found = [each for each in found if each.verdict != Verdict.APPROVE]
        self.findings.extend(found)

    # Text that is run as shell.

    def whole(self, text: str) -> None:
        """Judge the text of a tool call."""
        self.run(text, NO_INPUT)
        self.uncalled()

    def again_from_here(self) -> None:
        """Some steps more, to look at what the walk did not come to."""
        self.steps = MOST_STEPS // 4
        self.deadline = time.perf_counter() + MOST_SECONDS / 4
        self.depth = 0
        self.choice, self.undecided = {}, {}

    def shell(
        self,
        text: Arg,
        stdin: Stream = NO_INPUT,
        place: str = "",
        arguments: Sequence[Arg] = (),
        zeroth: str = "bash",
        same: bool = False,
    ) -> Stream:
        """Judge nested shell text. `same`: in this shell (eval, source, trap), not in a child."""
        source = text.text
        if not source.strip(_BLANK):
            return NO_OUTPUT
        if self.depth >= DEEPEST:
            raise Exhausted
        outer = (self.text, self.ambient, self.ambient_source, self.place, self.wrappers, self.broken)
        self.broken = False
        state = self.state
        self.depth += 1
        if text.taint:
            self.ambient = self.ambient | text.taint
            self.ambient_source = text.source or self.ambient_source
        if place:
            self.enter(place)
        if not same:
            self.state = state.fork()
            self.state.positional = list(arguments)
            self.state.zeroth = zeroth
        elif arguments:
            state.positional = list(arguments)
        try:
            return self.run(source.replace(UNKNOWN, expand.HOLE) if UNKNOWN in source else source, stdin)
        finally:
            self.depth -= 1
            self.text, self.ambient, self.ambient_source, self.place, self.wrappers, self.broken = outer
            if not same:
                self.state = state

    def enter(self, place: str) -> None:
        """From here on commands run elsewhere: another user's sudo here is none there."""
        self.place = place
        self.wrappers = ()

    def run(self, text: str, stdin: Stream) -> Stream:
        """Read a text and walk it; what cannot be read goes down the ladder."""
        reading: Reading = reader.read(text)
        self.text = text
        output = self.script(reading.script, stdin)
        if reading.problem:
            unread.rest(self, reading, stdin)
            return ANY_OUTPUT
        return output

    def words(
        self,
        words: list[Arg],
        stdin: Stream,
        appended: bool = False,
        place: str = "",
        redirects: Sequence[Target] = (),
    ) -> Stream:
        """Judge a command that another one runs without a shell."""
        self.spend()
        if self.depth >= DEEPEST:
            raise Exhausted
        outer = (self.place, self.wrappers, self.broken)
        if place:
            self.enter(place)
        self.broken = True
        self.depth += 1
        try:
            return command(self, words, stdin, list(redirects), {}, appended)
        finally:
            self.depth -= 1
            self.place, self.wrappers, self.broken = outer

    def captured(self, text: str) -> list[Found]:
        """What shell text that code in another language would run is judged to be."""
        kept = self.findings
        self.findings = []
        try:
            self.shell(Arg(text))
            return self.findings
        finally:
            self.findings = kept

    def defined(self, text: Arg) -> None:
        """Text that may run later, such as an alias: judged for what must never run."""
        kept = self.findings
        self.findings = []
        try:
            with self.subshell():
                self.shell(text, same=True)
        finally:
            kept.extend(found for found in self.findings if found.verdict == Verdict.BLOCK)
            self.findings = kept

    def environment(self, name: str, value: Arg) -> None:
        """A variable is set: some are run, by the shell itself or by the programs that look at them."""
        if name in _RUN_VARIABLES:
            if value.text.strip(_BLANK):
                self.captured_into(value)
        elif name in _STARTUP_VARIABLES:
            held = flows.file_stream(self, value.text)
            if held.text is not None:
                self.captured_into(Arg(held.text, False, held.taint, held.source))
        elif name in _PROMPTS:
            if "$(" in value.text or "`" in value.text:
                self.captured_into(Arg(f': "{value.text}"', False, value.taint, value.source))
        elif name.startswith("GIT_CONFIG_VALUE_"):
            key = self.parameter(name.replace("VALUE", "KEY"))
            if key is not None:
                git.setting(self, key.text, value)

    def captured_into(self, text: Arg) -> None:
        with self.subshell():
            self.shell(text)

    def call(self, name: str, body: Command, arguments: list[Arg], stdin: Stream) -> Stream:
        """Call a function of this line."""
        for called, concurrent in self.calls:
            if called is body:
                if self.concurrent > concurrent:
                    self.findings.append(
                        Found(
                            "processes.fork-bomb",
                            Verdict.BLOCK,
                            "a function that starts itself again and again fills the process table",
                            f"{name}() {{ ... {name} ... }}"[:120],
                        )
                    )
                return ANY_OUTPUT
        self.called.add(name)
        self.calls.append((body, self.concurrent))
        outer = self.state.positional
        self.state.positional = arguments
        try:
            return self.command(body, stdin)
        finally:
            self.state.positional = outer
            self.state.quits = False
            self.calls.pop()

    def uncalled(self) -> None:
        """Functions that this line defines but does not call are judged for what must never run."""
        for name, body in list(self.state.functions.items()):
            if name in self.called:
                continue
            kept = self.findings
            self.findings = []
            try:
                self.call(name, body, [Arg(UNKNOWN) for _ in range(3)], ANY_OUTPUT)
            finally:
                kept.extend(found for found in self.findings if found.verdict == Verdict.BLOCK)
                self.findings = kept


def _is_sure(node: Command) -> bool:
    if type(node) is Pipeline and len(node.commands) == 1:
        node = node.commands[0]
    if type(node) is not Simple:
        return False
    if not node.words:
        return True
    name = node.words[0].literal()
    return name in _SURE


# What a container or a changed root loses with its files is not lost to the machine.
_LOSES_FILES = ("files.", "disk.", "power.", "processes.", "python.", "perl.", "ruby.", "node.")


def lowered(found: Found) -> Found:
    """A finding about files inside a container or a changed root: a person decides."""
    if found.verdict != Verdict.BLOCK or not found.rule.startswith(_LOSES_FILES):
        return found
    return replace(found, verdict=Verdict.APPROVE)
