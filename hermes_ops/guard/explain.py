"""What the guard makes of a text, for a person: the reading as a tree, what would run, and the findings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .judge.invocation import UNKNOWN, Arg, Invocation, Stream
from .judge.judge import Surroundings
from .policy import Policy, judge
from .policy_check import invocations
from .shell import reader
from .shell.tree import (
    Arithmetic,
    Assignment,
    Command,
    Compound,
    Function,
    HereDocument,
    Param,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Text,
    Word,
)
from .verdict import Judgement, judged

MOST_LINES = 400
MOST_RUNS = 200
_LONGEST = 200
_DEEPEST = 40

Line = tuple[int, str]


@dataclass(frozen=True)
class Explained:
    """A judgement with what it rests on; lines are indented by two blanks a level, not redacted yet."""

    language: str
    judgement: Judgement
    tree: tuple[str, ...] = ()
    runs: tuple[Invocation, ...] = ()
    host: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "language": self.language,
            "verdict": str(self.judgement.verdict),
            "rule": self.judgement.rule,
            "unread": self.judgement.unread,
            "findings": [
                {
                    "rule": found.rule,
                    "verdict": str(found.verdict),
                    "part": shown(found.part),
                    "why": found.why,
                    "safer": found.safer,
                }
                for found in self.judgement.findings
            ],
            "tree": list(self.tree),
            "runs": [run_as_dict(one) for one in self.runs],
            "host": self.host,
        }


def explain_shell(text: str, policy: Policy, surroundings: Surroundings) -> Explained:
    """Read and judge shell text. Never runs anything."""
    tree = [f"{'  ' * depth}{line}" for depth, line in _bounded(_tree(text))]
    runs = invocations(text, surroundings)[:MOST_RUNS]
    return Explained("shell", judge(policy, text, surroundings), tuple(tree), tuple(runs), host_says(text))


def explain_code(language: str, text: str, policy: Policy, surroundings: Surroundings) -> Explained:
    """Judge code of another language; `runs` are the commands that it would give to a shell."""
    from .code.judge import judge_code

    runs: list[Invocation] = []

    def shell(command: str) -> list[Any]:
        runs.extend(invocations(command, surroundings))
        return list(judge(policy, command, surroundings).findings)

    findings = judge_code(
        language, text, shell, surroundings.home, surroundings.cwd, surroundings.hermes_home
    )
    judgement = policy.settle(judged(findings, _unparsed(language, text)))
    return Explained(language, judgement, (), tuple(runs[:MOST_RUNS]))


def _unparsed(language: str, text: str) -> str:
    """Why code has no syntax tree and is judged by the calls in its text, "" when it has one."""
    from .code import python
    from .code.cells import cell_magic
    from .code.judge import language_of

    if language_of(language) != "python" or cell_magic(text) is not None:
        return ""
    if len(text) > python.LIMIT:
        return f"longer than {python.LIMIT} characters, so it is judged by the calls in its text"
    if python.parse(text) is None:
        return "it does not parse, so it is judged by the calls in its text"
    return ""


def host_says(text: str) -> dict[str, Any] | None:
    """What the host's own detector makes of a command; None where the host cannot be imported."""
    from importlib import import_module

    try:
        approval = sys.modules.get("tools.approval") or import_module("tools.approval")
        hard, why_hard = approval.detect_hardline_command(text)
        asks, _, why = approval.detect_dangerous_command(text)
    except Exception:  # no host here, or one of another version
        return None
    if hard:
        return {"verdict": "block", "why": str(why_hard)}
    return {"verdict": "approve", "why": str(why)} if asks else {"verdict": "allow", "why": ""}


def run_line(run: Invocation) -> str:
    """A command that would run, on one line, with what is around it."""
    around = [f"under {' '.join(run.wrappers)}"] if run.wrappers else []
    around += [f"in a {run.place}" if run.place != "remote" else "on another machine"] if run.place else []
    around += [f"{name}={shown(arg.text)}" for name, arg in run.environment.items()]
    around += [f"{target.fd}{target.op} {_arg(target.arg)}" for target in run.redirects]
    around += [f"input: {_stream(run.stdin)}"] if run.stdin.piped else []
    around += ["and arguments that are not known"] if run.appended else []
    words = " ".join(map(_arg, run.argv)) or "nothing, but"
    return f"{words}  ({'; '.join(around)})" if around else words


def run_as_dict(run: Invocation) -> dict[str, Any]:
    return {
        "argv": [shown(arg.text) for arg in run.argv],
        "wrappers": list(run.wrappers),
        "place": run.place or "here",
        "cwd": run.cwd,
        "environment": {name: shown(arg.text) for name, arg in run.environment.items()},
        "redirects": [f"{target.fd}{target.op} {shown(target.arg.text)}" for target in run.redirects],
        "stdin": _stream(run.stdin) if run.stdin.piped else None,
        "taint": sorted({mark for arg in run.argv for mark in arg.taint} | run.stdin.taint),
        "more_arguments": run.appended,
    }


def shown(text: str) -> str:
    """A text after expansion; what only running would tell stands as "<?>"."""
    return text.replace(UNKNOWN, "<?>")


def _arg(arg: Arg) -> str:
    text = shown(arg.text)
    text = repr(text) if not text or any(letter in text for letter in " \t\n;|&'\"") else text
    if arg.taint:
        source = f" of {arg.source}" if arg.source else ""
        return f"{text} [{', '.join(sorted(arg.taint))}{source}]"
    return text


def _stream(stream: Stream) -> str:
    known = "not known" if stream.text is None else repr(_cut(shown(stream.text)))
    if not stream.taint:
        return known
    source = f" of {stream.source}" if stream.source else ""
    return f"{known}, {', '.join(sorted(stream.taint))}{source}"


def _bounded(lines: Iterator[Line]) -> Iterator[Line]:
    for number, (depth, line) in enumerate(lines):
        if number >= MOST_LINES:
            yield 0, "... and more"
            return
        yield depth, _cut(line)


def _tree(text: str) -> Iterator[Line]:
    reading = reader.read(text)
    yield from _script(reading.script, 0)
    if reading.problem:
        yield 0, f"not read from character {reading.at}: {reading.problem}"


def _script(script: Script, depth: int) -> Iterator[Line]:
    if depth > _DEEPEST:
        yield depth, "..."
        return
    for item in script.items:
        yield from _command(item.command, depth)
        if item.after in ("&&", "||", "&"):
            yield (
                depth,
                {"&&": "&& if that succeeds", "||": "|| if that fails", "&": "& meanwhile"}[item.after],
            )


def _command(command: Command, depth: int) -> Iterator[Line]:
    if isinstance(command, Simple):
        words = [*map(_assignment, command.assignments), *map(_word, command.words)]
        yield depth, " ".join(words) or "(redirection alone)"
        yield from _below(_words_of(command), command.redirects, depth + 1)
    elif isinstance(command, Pipeline):
        yield (
            depth,
            "pipeline" + (" (negated)" if command.negated else "") + (" (timed)" if command.timed else ""),
        )
        for place, part in enumerate(command.commands):
            for number, (below, line) in enumerate(_command(part, depth + 1)):
                yield below, f"| {line}" if place and not number else line
    elif isinstance(command, Compound):
        words = " ".join(map(_word, command.words))
        yield depth, " ".join(part for part in (command.kind, command.name, words) if part)
        yield from _below(command.words, command.redirects, depth + 1, command.parts)
        for place, body in enumerate(command.bodies):
            if place < len(command.patterns):
                yield depth + 1, " | ".join(map(_word, command.patterns[place])) + ")"
            yield from _script(body, depth + (2 if command.patterns else 1))
    elif isinstance(command, Function):
        yield depth, f"function {command.name}, when it is called:"
        yield from _command(command.body, depth + 1)


def _words_of(command: Simple) -> Iterator[Word]:
    for assignment in command.assignments:
        if assignment.value is not None:
            yield assignment.value
        yield from assignment.array or ()
    yield from command.words


def _below(
    words: Iterable[Word], redirects: Iterable[Redirect], depth: int, parts: Iterable[Any] = ()
) -> Iterator[Line]:
    """Redirections and what is run inside words."""
    for word in words:
        yield from _parts(word.parts, depth)
    yield from _parts(parts, depth)
    for redirect in redirects:
        if redirect.document is not None:
            yield depth, _document(redirect.document)
            if not redirect.document.quoted:
                yield from _parts(redirect.document.word.parts, depth + 1)
        elif redirect.target is not None:
            yield depth, f"{redirect.fd}{redirect.op} {_word(redirect.target)}"
            yield from _parts(redirect.target.parts, depth + 1)


def _parts(parts: Iterable[Any], depth: int) -> Iterator[Line]:
    for part in parts:
        if isinstance(part, Substitution):
            yield depth, f"{part.kind} runs" if part.kind != "`" else "` ` runs"
            yield from _script(part.script, depth + 1)
        elif isinstance(part, Param) and part.argument is not None:
            yield from _parts(part.argument.parts, depth)
        elif isinstance(part, Arithmetic):
            yield from _parts(part.parts, depth)


def _document(document: HereDocument) -> str:
    lines = document.body.count("\n")
    return f"here-document of {lines} lines, {'as it stands' if document.quoted else 'expanded'}"


def _assignment(assignment: Assignment) -> str:
    sign = "+=" if assignment.appends else "="
    if assignment.array is not None:
        return f"{assignment.name}{sign}({' '.join(map(_word, assignment.array))})"
    return f"{assignment.name}{sign}{_word(assignment.value) if assignment.value else ''}"


def _word(word: Word) -> str:
    return "".join(map(_part, word.parts)) or "''"


def _part(part: Any) -> str:
    if isinstance(part, Text):
        return repr(part.value) if part.quoted or not part.value else part.value
    if isinstance(part, Param):
        return f"${{{part.name}{part.op}...}}" if part.op else f"${part.name}"
    if isinstance(part, Substitution):
        return {"$(": "$(...)", "`": "`...`"}.get(part.kind, f"{part.kind}...)")
    return f"$(({part.text}))"


def _cut(text: str) -> str:
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
