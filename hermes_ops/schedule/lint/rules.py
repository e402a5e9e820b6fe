"""The rules: what each is called, how bad it is, and what to write instead; and how one is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

ERROR, WARNING, INFO = "error", "warning", "info"


@dataclass(frozen=True)
class Rule:
    """``severity`` is "error" for what will not survive a session without history or cannot run as it is."""

    id: str
    name: str
    severity: str
    text: str
    instead: str

    @property
    def kind(self) -> str:
        """The first part of the name: history, placeholder, human, delivery, silence, path, size, lint, job."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Hit:
    """A rule that something breaks: where in the prompt (line and column from 1; None: the job itself), and what."""

    rule: Rule
    text: str
    line: int | None = None
    column: int | None = None
    excerpt: str = ""
    instead: str = ""
    allowed: str | None = None
    key: str = ""

    @property
    def severity(self) -> str:
        return self.rule.severity


def _rules(*rows: tuple[str, str, str, str, str]) -> dict[str, Rule]:
    return {row[0]: Rule(*row) for row in rows}


RULES = _rules(
    ("L001", "lint.reason", WARNING, "a suppression without a reason does not count",
     "write `# ops-lint: allow L103 because <why>`"),
    ("L002", "lint.unknown", WARNING, "a suppression names a rule that there is not", "see `hermes ops lint --rules`"),
    ("L003", "lint.unused", INFO, "a suppression that suppresses nothing", "remove it"),
    ("L101", "history.reference", ERROR, "refers to something said in another session",
     "write out what was said: the list, the limit, the format itself"),
    ("L102", "history.previous", ERROR, "relies on an earlier run, of which this session knows nothing",
     "name the file in which each run keeps what the next one needs"),
    ("L109", "history.habit", ERROR, "relies on a habit that is not written down",
     "write out what is usual: the sources, the format, the order"),
    ("L103", "history.above", ERROR, "points above, and there is nothing above", "put what is meant into the prompt"),
    ("L104", "history.memory", ERROR, "relies on what a scheduled session does not know: it starts without memory",
     "write it into the prompt, or name the file that holds it"),
    ("L105", "history.continue", ERROR, "continues work that another session began",
     "name the file that says how far the work is, and have each run update it"),
    ("L106", "history.correction", ERROR, "corrects an answer that this session has not given",
     "say how the result has to be, not how it was"),
    ("L107", "history.attachment", ERROR, "speaks of something attached, and nothing comes with a scheduled prompt",
     "name the path or the address of it"),
    ("L108", "history.below", ERROR, "points below, and there is nothing below", "put what is meant into the prompt"),
    ("L201", "placeholder.braces", ERROR, "a slot in braces was never filled in", "write the value itself"),
    ("L202", "placeholder.variable", ERROR, "a variable that nobody expands in a prompt",
     "write the value itself, or show it as code if a command is to use it"),
    ("L203", "placeholder.angle", ERROR, "a slot in angle brackets was never filled in", "write the value itself"),
    ("L204", "placeholder.bracket", ERROR, "a slot in square brackets was never filled in", "write the value itself"),
    ("L205", "placeholder.marker", ERROR, "a mark of something still to be written",
     "write it, or say that the mark itself is meant by putting it into backticks"),
    ("L301", "human.ask", ERROR, "asks somebody, and nobody is there",
     "say what to do in the unclear case, and have it reported in the answer"),
    ("L302", "human.wait", ERROR, "waits for somebody, and nobody answers a scheduled run",
     "split it: this job reports, the change is made in a session with a person"),
    ("L303", "human.question", ERROR, "opens a conversation, and the run ends with its answer",
     "have it decide by a rule that the prompt states"),
    ("L304", "human.promise", ERROR, "promises input that a scheduled run never gets",
     "name the file or address where the run finds it"),
    ("L305", "human.tool", ERROR, "uses the clarify tool, which scheduled runs do not have",
     "say what to do in the unclear case"),
    ("L306", "human.approval", WARNING, "makes a step depend on an approval that a scheduled run cannot get",
     "say plainly what this run may do"),
    ("L401", "delivery.tool", ERROR, "sends by a tool; the host delivers the answer and tells the agent not to",
     "have the text as the answer, and set the job's `deliver`"),
    ("L402", "delivery.channel", ERROR, "sends to a channel; the host delivers the answer, the agent cannot",
     "have the text as the answer, and set the job's `deliver` to that channel"),
    ("L501", "silence.unnamed", ERROR, "asks for silence without naming the mark: an empty answer is a failed run",
     "write: answer with exactly [SILENT]"),
    ("L502", "silence.combined", ERROR, "puts [SILENT] beside other text, which is then lost or delivered with it",
     "answer with [SILENT] alone, or with the text alone"),
    ("L503", "silence.other-mark", WARNING, "names a mark for silence that the host only tolerates",
     "write: answer with exactly [SILENT]"),
    ("L601", "size.short", WARNING, "very short: a session without history has to guess the rest",
     "say what to look at, where it is, and how the answer is to look"),
    ("L602", "size.long", WARNING, "very long: it is paid for in every run", "move what is constant into a skill or file"),
    ("L603", "path.relative", WARNING, "a path without a beginning: where a run starts is not certain",
     "write the whole path, or set the job's workdir"),
    ("J101", "job.script", ERROR, "the script of the job cannot be run", "put a file of that name into scripts/"),
    ("J102", "job.no-script", ERROR, "a job without agent has no script", "set one"),
    ("J103", "job.unused-prompt", INFO, "a job without agent never uses its prompt", "remove it"),
    ("J104", "job.no-prompt", ERROR, "an agent's job has no prompt, no skill and no script", "write one"),
    ("J105", "job.skill", ERROR, "a skill of the job is not installed: it is skipped in every run",
     "install it, or take it off the job"),
    ("J106", "job.context", ERROR, "`context_from` names what cannot give context", "name a job that is there"),
    ("J107", "job.context-order", WARNING, "`context_from` names a job that runs later: its text is a day old",
     "move one of them"),
    ("J108", "job.deliver", ERROR, "a target cannot be delivered to", "set another `deliver`"),
    ("J109", "job.toolset", ERROR, "a toolset that the host does not know: it gives no tool",
     "use a name of `hermes tools list`"),
    ("J110", "job.toolset-unknown", INFO, "a toolset that cannot be checked here: it may be a plugin's or an MCP server's",
     "run this inside the host: `hermes ops lint`"),
    ("J111", "job.toolset-all", INFO, "no toolset restriction: the descriptions of all tools are paid for in every run",
     "set `enabled_toolsets` to what the prompt needs; see `hermes ops toolsets`"),
    ("J112", "job.drift", ERROR, "the global model changed since the job was made: the host refuses to run it",
     "pin the job's model and provider"),
    ("J113", "job.unpinned", INFO, "no model is pinned: a change of the global model stops or changes the job",
     "pin model and provider"),
    ("J114", "job.workdir", ERROR, "the working directory is not there: the job runs without it",
     "make it, or set another"),
    ("J115", "job.path", WARNING, "a path of the prompt is not there", "correct it, or say that the run creates it"),
    ("J116", "job.schedule", ERROR, "the schedule is one that the host cannot run", "set it anew"),
    ("J117", "job.often", WARNING, "an agent runs every few minutes", "let a script look first, and wake the agent"),
    ("J118", "job.record", WARNING, "the record of the job has a fault", "set the field anew through the host"),
)  # fmt: skip

NAMES = {rule.name: rule for rule in RULES.values()}

_ALLOW = re.compile(
    r"ops-lint:[ \t]{0,9}allow[ \t]{1,9}(?P<rules>[\w.]{1,40}(?:[ \t]{0,9},[ \t]{0,9}[\w.]{1,40}){0,20})"
    r"(?:[ \t]{1,9}(?:because|--|потому что|:)[ \t]{1,9}(?P<reason>[^\n]{1,400}))?"
)


@dataclass(frozen=True)
class Allowance:
    """A rule that a prompt, or whoever calls, accepts: by id, name or kind; ``offset`` in the prompt, or None."""

    rule: str
    reason: str
    offset: int | None = None

    def covers(self, rule: Rule) -> bool:
        return self.rule in (rule.id.lower(), rule.name, rule.kind)

    @property
    def known(self) -> bool:
        return any(self.covers(rule) for rule in RULES.values())


def allowances(prompt: str) -> list[Allowance]:
    """What a prompt allows: lines `# ops-lint: allow L103, human.wait because <reason>`."""
    found = []
    for match in _ALLOW.finditer(prompt):
        reason = (match["reason"] or "").strip().removesuffix("-->").strip()
        for name in match["rules"].split(","):
            found.append(Allowance(name.strip().lower(), reason, match.start()))
    return found


def errors(hits: Iterable[Hit], *, strict: bool = False) -> list[Hit]:
    """The hits that count: errors that nobody allowed, with ``strict`` warnings too."""
    counted = (ERROR, WARNING) if strict else (ERROR,)
    return [hit for hit in hits if hit.allowed is None and hit.severity in counted]
