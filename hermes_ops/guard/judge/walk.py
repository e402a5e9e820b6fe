"""The walk over a tree of shell text: which commands would run, in what state, with what input.

Conditions are not evaluated: every branch runs, and after it all may be as before or as the branch left it.
What a variable may hold is kept as a few alternatives, and a command that uses one is judged with each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..rules.names import names as listed
from ..shell import reader
from ..shell.tree import (
    Command,
    Compound,
    Item,
    Pipeline,
    Reading,
    Script,
    Simple,
    Substitution,
)
from ..verdict import Found, Verdict
from . import (
    assignments,
    bombs,
    compounds,
    consumers,
    danger,
    decode,
    expand,
    flows,
    later,
    names,
    reasons,
    unread,
)
from .budget import CHARACTERS_A_STEP, MOST_FOR_THE_TEXT, Exhausted
from .dispatch import command
from .invocation import UNKNOWN, Arg, Invocation, Stream, Target
from .judging import ARGUMENTS_A_STEP, NO_INPUT, Judging
from .state import EMPTY, Values

DEEPEST = 24

NO_OUTPUT = Stream(text="", piped=True)
ANY_OUTPUT = Stream(piped=True)

_BLANK = " \t\n\r" + UNKNOWN
# The variable in which bash keeps the names of the functions that are being called, the innermost first.
_CALLED = "FUNCNAME"
# Commands that do not fail, so that what follows after && runs.
_SURE = listed("mkdir echo printf : true export set pwd date cd pushd")


class Walk(Judging):
    """One judgement in progress: the state at this point of the text and what was found so far."""

    def substitution(self, part: Substitution) -> Arg:
        """Walk a command or process substitution: the text it stands for."""
        kind = part.kind
        if kind == ">(":
            self.numbers += 1
            path = f"/dev/fd/{62 + self.numbers}"
            self.consumers[path] = consumers.Consumer((part.script,), self.numbers)
            return Arg(path)
        with self.subshell():
            output = self.script(part.script, NO_INPUT)
        if kind in ("$(", "`"):
            if output.text is None:
                return Arg(UNKNOWN, False, output.taint, output.source)
            return Arg(output.text.rstrip("\n"), False, output.taint, output.source)
        self.numbers += 1
        path = f"/dev/fd/{62 + self.numbers}"
        self.state.files[path] = output
        return Arg(path, False, output.taint, output.source)

    # Lists, pipelines and compound commands.

    def script(self, script: Script, stdin: Stream, sinks: bool = False) -> Stream:
        """Walk a list; its output. `sinks`: that goes where `exec >file` has sent it."""
        outputs: list[Stream] = []
        items = script.items
        sent = self.state.sink
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
                if self.state.sink and (sinks or self.state.sink != sent):
                    flows.remember(self, self.state.sink, output, True)
                    output = NO_OUTPUT
                outputs.append(output)
            at = end + 1
        return flows.concatenated(outputs)

    def chain(self, items: Sequence[Item], stdin: Stream) -> Stream:
        """Walk `a && b || c`: what stands after an operator may or may not run."""
        if len(items) == 1:
            return self.command(items[0].command, stdin)
        quits = self.state.quits
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
            # What ends the list here may not have run.
            self.state.quits = quits
            self.state.merge(before)
        return flows.concatenated(outputs)

    def command(self, node: Command, stdin: Stream) -> Stream:
        kind = type(node)
        if kind is Simple:
            return self.simple(node, stdin)
        if kind is Pipeline:
            return self.pipeline(node, stdin)
        if kind is Compound:
            return compounds.compound(self, node, stdin)
        self.state.functions[node.name] = (node.body,)
        self.texts[id(node.body)] = (node.body, self.text)
        return NO_OUTPUT

    def pipeline(self, node: Pipeline, stdin: Stream) -> Stream:
        commands = node.commands
        if len(commands) == 1:
            return self.command(commands[0], stdin)
        self.concurrent += 1
        output = stdin
        shell = self.state
        try:
            for part in commands[:-1]:
                self.state = shell.fork()
                output = self.command(part, output)
        finally:
            self.state = shell
        # Some shells run the last command of a pipeline themselves: what it changes may stay.
        before = self.state.snapshot()
        output = self.command(commands[-1], output)
        self.state.merge(before)
        self.concurrent -= 1
        return output

    # Simple commands.

    def simple(self, node: Simple, stdin: Stream) -> Stream:
        """Walk a simple command, once for every value that its words may have."""
        outer = self.undecided
        self.undecided = {}
        numbers = self.numbers
        output = self.simple_once(node, stdin, False)
        undecided = self.undecided
        self.undecided = outer
        if undecided:
            output = self.passes(node, stdin, undecided, output)
        if self.consumers:
            output = consumers.settle(self, numbers, output)
        return output

    def passes(self, node: Simple, stdin: Stream, undecided: dict[str, int], output: Stream) -> Stream:
        outputs = [output]
        choices, more = self.choices(undecided)
        which = more and node.words and node.words[0].literal() is None
        if which and any(rank >= danger.PROGRAM for name in undecided for rank in self.ranks(name)):
            # Which program runs is one of too many.
            self.report([reasons.LIMIT.found("", f"{len(undecided)} names with many values")])
        outer_choice, outer_undecided = self.choice, self.undecided
        for choice in choices:
            self.choice = {**outer_choice, **choice}
            self.undecided = {}
            outputs.append(self.simple_once(node, stdin, True))
        self.choice, self.undecided = outer_choice, outer_undecided
        texts = {output.text for output in outputs}
        if len(texts) > 1:
            joined = flows.concatenated(outputs)
            return Stream(None, True, joined.taint, joined.source)
        return output

    def simple_once(self, node: Simple, stdin: Stream, again: bool) -> Stream:
        budget = self.budget
        budget.left -= 1
        if budget.left < 0:
            budget.look()
        assigned: dict[str, Arg] = {}
        words = expand.words(self, node.words) if node.words else []
        if len(words) >= ARGUMENTS_A_STEP:
            budget.spend(len(words) // ARGUMENTS_A_STEP)
        if node.assignments:
            for assignment in node.assignments:
                value = assignments.assigned(self, assignment)
                if not words or assignment.array is not None or assignment.index is not None:
                    self.state.assign(assignment.name, value, again)
                    if assignment.name == "BASH_ALIASES":
                        self.state.alias(value)
                word = value if isinstance(value, Arg) else EMPTY
                assigned[assignment.name] = word
                for held in (word,) if value is word else value.values():
                    later.environment(self, assignment.name, held)
        targets: list[Target] = []
        if node.redirects:
            self.inherited = stdin
            targets, stdin = assignments.redirected(self, node.redirects, stdin)
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

    # Text that is run as shell.

    def whole(self, text: str) -> None:
        """Judge the text of a tool call."""
        self.run(text, NO_INPUT)
        try:
            later.uncalled(self)
            if self.consumers:
                consumers.close(self)
            if self.fifos:
                consumers.once_more(self, text)
        except Exhausted:
            self.cut.append(text)
            raise

    def again_from_here(self) -> None:
        """Some steps more, to look at what the walk did not come to."""
        self.budget.take_reserve()
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
        dialect: str = "bash",
    ) -> Stream:
        """Judge nested shell text. `same`: in this shell (eval, source, trap), not in a child."""
        source = text.text
        if not source.strip(_BLANK):
            return NO_OUTPUT
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
            self.state.dialect = dialect
        elif arguments:
            state.positional = list(arguments)
        if UNKNOWN in source:
            source = source.replace(UNKNOWN, expand.HOLE)
        if decode.ZERO in source:
            source = source.replace(decode.ZERO, "")
        try:
            output = self.run(source, stdin, not same)
            if not same and len(self.state.functions) > len(state.functions):
                later.uncalled(self, state.functions)
            return output
        finally:
            self.depth -= 1
            self.text, self.ambient, self.ambient_source, self.place, self.wrappers, self.broken = outer
            if not same:
                self.state = state

    def enter(self, place: str) -> None:
        """From here on commands run elsewhere: another user's sudo here is none there."""
        self.place = place
        self.wrappers = ()

    def run(self, text: str, stdin: Stream, sinks: bool = True) -> Stream:
        """Read a text and walk it; what cannot be read goes down the ladder."""
        try:
            if self.depth:
                if self.depth > DEEPEST:
                    raise Exhausted
                self.spend(len(text) // CHARACTERS_A_STEP)
            else:
                self.spend(min(len(text) // CHARACTERS_A_STEP, MOST_FOR_THE_TEXT))
            reading: Reading = reader.read(text)
            self.text = text
            if self.state.files and self.depth:
                self.restarted(reading)
            output = self.script(reading.script, stdin, sinks)
            if reading.problem:
                unread.rest(self, reading, stdin)
                return ANY_OUTPUT
            return output
        except Exhausted:
            self.cut.append(text)
            raise

    def restarted(self, reading: Reading) -> None:
        """Look whether the text is a script of this line that starts itself twice over."""
        state = self.state
        key = state.file_key(state.zeroth, self.folder().path)
        if key in state.files and bombs.restarts(reading.script, self.text, state.zeroth):
            self.findings.append(reasons.FORK_BOMB.found(names.printable(self.text)))

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
            self.shell(Arg(text), dialect="sh")
            return self.findings
        except Exhausted:
            kept.extend(self.findings)
            raise
        finally:
            self.findings = kept

    def call(self, name: str, bodies: Sequence[Command], arguments: list[Arg], stdin: Stream) -> Stream:
        """Call a function of this line, with every body that it may have."""
        if len(bodies) == 1:
            return self.called_once(name, bodies[0], arguments, stdin)
        before = self.state.snapshot()
        outputs = [self.called_once(name, body, arguments, stdin) for body in bodies]
        self.state.merge(before)
        return flows.concatenated(outputs)

    def called_once(self, name: str, body: Command, arguments: list[Arg], stdin: Stream) -> Stream:
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
        state = self.state
        outer, references, text = state.positionals, state.references, self.text
        caller = state.variables.get(_CALLED)
        state.variables[_CALLED] = ({"0": Arg(name), "1": _first(caller)},)
        self.text = self.texts[id(body)][1]
        state.positional = arguments
        try:
            return self.command(body, stdin)
        finally:
            if caller is None:
                state.variables.pop(_CALLED, None)
            else:
                state.variables[_CALLED] = caller
            state.positionals, state.references, self.text = outer, references, text
            state.quits = False
            self.calls.pop()


def _first(called: Values | None) -> Arg:
    """The name of the function that a call stands in, as FUNCNAME says it."""
    name = called[0] if called else None
    return name.get("0", EMPTY) if isinstance(name, dict) else Arg("main")


def _is_sure(node: Command) -> bool:
    if type(node) is Pipeline and len(node.commands) == 1:
        node = node.commands[0]
    if type(node) is not Simple:
        return False
    if not node.words:
        return True
    name = node.words[0].literal()
    return name in _SURE
