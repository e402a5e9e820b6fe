"""Prompts against the tools their jobs have: what is needed and not given, what is given and not needed.

The words of a prompt are matched with the map in toolset_needs.py; what it forbids does not count. A tool
called by its name is needed as such. All of it is lexical: "needs" means "asks for", a remark, not a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .._common.config import read_config
from ..core.finding import Finding
from ..errors import Unreadable
from ..host.jobs import Job, read_jobs
from ..host.profiles import profiles
from ..host.toolset_table import NEVER_IN_CRON
from ..host.toolsets import JobTools, Toolsets, job_tools, read_toolsets
from ..schedule.lint.languages import LANGUAGES, language
from ..schedule.lint.phrases import Matcher
from ..schedule.lint.prompt import is_negated
from ..schedule.lint.targets import over
from ..schedule.lint.text import read_prompt
from .toolset_needs import Need, needs

NEVER_TOOLS = frozenset({"cronjob", "clarify", "send_message"})


@dataclass(frozen=True)
class Asked:
    """Something that a prompt asks for: a need of the map, or a tool by its name; and the words that do."""

    name: str
    toolset: str | None
    tools: frozenset[str]
    words: str
    line: int
    by_name: bool = False


@dataclass(frozen=True)
class Audit:
    """One job: what its prompt asks for against what its agent gets."""

    profile: str
    job: Job
    given: JobTools
    asked: tuple[Asked, ...]
    missing: tuple[Asked, ...]
    unneeded: tuple[str, ...]
    unknown: tuple[str, ...]
    wrong: tuple[tuple[str, str | None], ...]
    suggested: tuple[str, ...]


@dataclass
class Audited:
    """All of it, and the profiles that could not be read."""

    jobs: list[Audit] = field(default_factory=list)
    unreadable: list[tuple[str, Unreadable]] = field(default_factory=list)
    source: str = ""


def audit_all(home: Path) -> Audited:
    """Audit every agent's job of every profile that is not over; jobs without agent have no tools."""
    result = Audited()
    for profile in profiles(home):
        toolsets = read_toolsets(read_config(profile.home))
        result.source = toolsets.source
        try:
            jobs = read_jobs(profile.home)
        except Unreadable as error:
            result.unreadable.append((profile.name, error))
            continue
        result.jobs += [
            audit(profile.name, job, toolsets)
            for job in jobs.jobs
            if not job.no_agent and job.prompt.strip() and not over(job)
        ]
    return result


def audit(profile: str, job: Job, toolsets: Toolsets) -> Audit:
    """Hold one job's prompt against its tools."""
    given = job_tools(job, toolsets)
    asked = asks(job.prompt, _every_tool(toolsets))
    missing = tuple(one for one in asked if _is_missing(one, given))
    wrong = tuple((name, toolsets.near(name)) for name in job.toolsets or () if toolsets.known(name) is False)
    unknown = tuple(name for name, tools in given.by_toolset.items() if tools is None)
    unneeded: tuple[str, ...] = ()
    if given.restricted and not job.skills:  # a skill may need what the prompt does not name
        used = frozenset().union(*(one.tools for one in asked))
        unneeded = tuple(
            name
            for name, tools in given.by_toolset.items()
            if tools and not tools & used and tools & given.names
        )
    return Audit(profile, job, given, asked, missing, unneeded, unknown, wrong, suggest(asked))


def asks(prompt: str, tools: frozenset[str]) -> tuple[Asked, ...]:
    """What a prompt asks for, each need and each tool once, in the order of the prompt."""
    read = read_prompt(prompt)
    found: dict[str, Asked] = {}
    for sentence in read.sentences:
        for match in _matcher().find(sentence):
            need = _by_name()[match.phrase.tag]
            if need.name not in found and not is_negated(match):
                line, _ = read.position(match.start)
                words = " ".join(read.text[match.start : match.end].split())
                found[need.name] = Asked(need.name, need.toolset, need.tools, words, line)
    for match in _tool_matcher(tools).find_all(read.sentences):
        name = match.tokens[0].text
        if name not in found and not is_negated(match):
            line, _ = read.position(match.start)
            found[name] = Asked(name, None, frozenset({name}), name, line, True)
    return tuple(sorted(found.values(), key=lambda one: (one.line, one.name)))


def suggest(asked: Sequence[Asked]) -> tuple[str, ...]:
    """The toolsets that would be enough: none where another that is there anyway does it."""
    chosen: list[str] = []
    for need in needs():
        if any(one.name == need.name for one in asked) and need.toolset not in NEVER_IN_CRON:
            chosen.append(need.toolset)
    return tuple(dict.fromkeys(chosen))


def as_findings(one: Audit) -> list[Finding]:
    """The findings of one job: a name that gives nothing, what is missing, what is paid for in vain."""
    key, where = f"{one.profile}/{one.job.id}", one.job.label
    findings = [
        Finding(
            "toolsets.wrong", "error", where, f"toolset {name!r} is none: it gives no tool", f"{key}/{name}",
            fix=f"did you mean {near!r}?" if near else "see hermes tools list",
        )
        for name, near in one.wrong
    ]  # fmt: skip
    for asked in one.missing:
        never = bool(asked.tools & NEVER_TOOLS)
        text = f"asks for {asked.name} ({asked.words!r}, line {asked.line}), and " + (
            "scheduled agents never get it" if never else "none of its toolsets gives it"
        )
        fix = (
            "take it out of the prompt"
            if never or asked.toolset is None
            else f"add toolset {asked.toolset!r}"
        )
        severity = "error" if asked.by_name or never else "warning"
        findings.append(Finding("toolsets.missing", severity, where, text, f"{key}/{asked.name}", fix=fix))
    for name in one.unneeded:
        count = len(one.given.by_toolset[name] or ())
        text = f"has toolset {name!r} ({count} tools), and its prompt asks for none of them"
        findings.append(
            Finding(
                "toolsets.unneeded",
                "info",
                where,
                text,
                f"{key}/{name}",
                fix="drop it: it is paid for in every run",
            )
        )
    for name in one.unknown:
        text = f"toolset {name!r}: a plugin's or an MCP server's, its tools cannot be told here"
        findings.append(Finding("toolsets.unknown", "info", where, text, f"{key}/{name}"))
    if not one.given.restricted:
        text = f"names no toolsets: {len(one.given.names)} tools are described to it in every run"
        fix = (
            f"enabled_toolsets {list(one.suggested)} would do"
            if one.suggested
            else "it asks for no tool at all"
        )
        findings.append(Finding("toolsets.all", "info", where, text, key, fix=fix))
    return findings


def _is_missing(asked: Asked, given: JobTools) -> bool:
    if asked.tools & given.names:
        return False
    if asked.tools & NEVER_TOOLS:
        return True
    return given.complete or (not asked.by_name and _native_only(asked))


def _native_only(asked: Asked) -> bool:
    """Whether a server or plugin of unknown tools would hardly stand in for it: commands and files."""
    return asked.toolset in ("terminal", "file", "delegation", "session_search", "skills")


def _every_tool(toolsets: Toolsets) -> frozenset[str]:
    names = frozenset().union(*(toolsets.tools(name) or frozenset() for name in toolsets.names))
    return frozenset(
        name for name in names | {"send_message"} if "_" in name
    )  # "terminal" is a word of its own


class _Tools:
    """Finds tools called by their names."""

    def __init__(self, names: frozenset[str]) -> None:
        sets = {name: _joined(name) for name in ("leads", "stop")}
        self._matcher = Matcher({"tool": sorted(names)}, sets)

    def find_all(self, sentences: Sequence[object]) -> list:
        return [match for sentence in sentences for match in self._matcher.find(sentence)]  # type: ignore[arg-type]


@cache
def _tool_matcher(names: frozenset[str]) -> _Tools:
    return _Tools(names)


@cache
def _matcher() -> Matcher:
    sets = {name: _joined(name) for name in ("leads", "stop")}
    return Matcher({need.name: need.phrases for need in needs()}, sets)


@cache
def _by_name() -> Mapping[str, Need]:
    return {need.name: need for need in needs()}


def _joined(name: str) -> str:
    return " ".join(language(known).sets[name] for known in LANGUAGES)
