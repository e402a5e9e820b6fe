"""The pre_tool_call callback: judge what a tool call would run, and answer allow, ask or block."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .._common.home import hermes_home
from . import blast, calls, decisions, links, message, options, policy, presence, second, surroundings
from .code.judge import judge_code
from .judge import reasons
from .judge.budget import Budget, Exhausted
from .judge.invocation import Arg, Invocation
from .judge.judge import Surroundings
from .rules.files import write_findings
from .verdict import Found, Judgement, Verdict, judged

logger = logging.getLogger(__name__)

# Characters of code that cost as much as a command; the judges of code have bounds of their own.
_CODE_A_STEP, _MOST_CHARGED = 200, 32_000
# Characters of code that are given to its judge; of longer code a person is asked.
_LONGEST_CODE = 250_000
# What may still be spent on a message when the judgement took its time.
_SECONDS = 0.030

Directive = dict[str, str]
_CONTINUED = "\\\n"
_complained = False


def judged_call(tool: str, told: dict[str, Any]) -> Directive | None:
    """Judge a call of one of `TOOLS`: None (it may run), a block, or an approve: a person is asked.

    `told` is whatever else the host passes. Never raises: an error of the guard is a question, no permission.
    """
    started = time.perf_counter()
    args = told.get("args")
    try:
        return _decide(tool, args if isinstance(args, dict) else {}, told, started)
    except Exception as error:
        logger.warning("hermes-ops: the guard failed on a call of %s", tool, exc_info=True)
        failure = error
    try:
        return _failed(tool, args, told, failure)
    except Exception:  # on what came with the call as well
        why = f"hermes-ops could not judge this call of {tool}: the guard failed on what came with it."
        if presence.look().who == presence.NOBODY:
            return {"action": "block", "message": f"BLOCKED: {why} Nobody can be asked here."}
        return {"action": "approve", "message": why, "rule_key": f"hermes-ops:guard.error:{tool}"}


def warm_up() -> None:
    """Load and compile what the first judgement and the first message would wait for. Never raises."""
    try:
        codes = tuple(calls.Code(language, "1") for language in (calls.SHELL, calls.PYTHON, "perl", "sql"))
        judge(calls.Call(codes, (calls.Write("x"),)), Surroundings("/", "/", "/"), policy.BUILT_IN)
        message.ask("1", [Found("guard.error", Verdict.APPROVE, "1", "1")], blast.radius(["/dev/null"], None))
        presence.look()
    except Exception:  # said when a call is judged
        logger.debug("hermes-ops: the guard could not be warmed up", exc_info=True)


def judge(
    call: calls.Call, where: Surroundings, rules: policy.Policy, budget: Budget | None = None
) -> Judgement:
    """The judgement of all that a call would run and write, within one budget."""
    budget = budget or Budget()
    findings: list[Found] = []
    unread = ""
    excess = call.excess
    for number, write in enumerate(call.writes):
        try:
            budget.spend()
        except Exhausted:
            excess += len(call.writes) - number
            break
        findings += write_findings(write.path, where.cwd, where.home, where.hermes_home)
        findings += _by_policy(write, where, rules)
    for code in call.codes:
        if code.language == calls.SHELL:
            judgement = policy.judge(rules, code.text, where, budget)
            findings += judgement.findings
            unread = unread or judgement.unread
            if judgement.unread and _CONTINUED in code.text:
                # A word in more pieces than the reader joins.
                findings += policy.judge(rules, code.text.replace(_CONTINUED, ""), where).findings
        else:
            findings += _by_code(code, where, rules, budget)
    if call.unread:
        findings.append(reasons.LIMIT.found("", call.unread))
    if call.keys:
        findings.append(reasons.OPAQUE_CODE.found("", f"a key that edits the line ({call.keys})"))
    if excess:
        findings.append(
            Found("guard.too-many-files", Verdict.APPROVE, f"changes {excess} files more than are judged")
        )
    return rules.settle(judged(findings, unread))


def _by_code(code: calls.Code, where: Surroundings, rules: policy.Policy, budget: Budget) -> list[Found]:
    """What is to be said of code in another language than shell; not all of it when it is too long."""

    def shell(text: str) -> list[Found]:
        return list(policy.judge(rules, text, where, budget).findings)

    text = code.text
    findings: list[Found] = []
    try:
        budget.spend(min(len(text), _MOST_CHARGED) // _CODE_A_STEP)
    except Exhausted:
        return [reasons.LIMIT.found("", f"{len(text)} characters of {code.language}")]
    if len(text) > _LONGEST_CODE:
        findings.append(reasons.LIMIT.found("", f"{len(text)} characters of {code.language}"))
        text = text[:_LONGEST_CODE]
    return findings + judge_code(code.language, text, shell, where.home, where.cwd, where.hermes_home)


def _by_policy(write: calls.Write, where: Surroundings, rules: policy.Policy) -> list[Found]:
    """What the rules of a policy say of a change of a file: the same as of a command that makes it."""
    if not rules.rules:
        return []
    program = "rm" if write.action == "delete" else "tee"
    absolute = os.path.join(where.cwd or "", os.path.expanduser(write.path))
    invocations = [
        Invocation(
            program,
            [Arg(program), Arg(path)],
            cwd=where.cwd,
            home=where.home,
            hermes_home=where.hermes_home,
            part=write.path,
        )
        for path in dict.fromkeys((write.path, links.real(absolute)))
    ]
    return [
        found for family in rules.rules for invocation in invocations for found in family.check(invocation)
    ]


def _decide(tool: str, args: dict[str, Any], ids: dict[str, Any], started: float) -> Directive | None:
    home = hermes_home()
    backend = surroundings.backend() if tool in surroundings.IN_BACKEND else surroundings.Backend()
    where = surroundings.surroundings(args, _name(ids, "task_id"), str(home), backend)
    with links.followed(backend.kind == "local"):
        call = calls.read(tool, args, hermes_home=str(home), cwd=where.cwd, process=surroundings.process)
        if call is None:
            return None
        rules = policy.current(home)
        budget = Budget()
        judgement = judge(call, where, rules, budget)
        for code in call.codes:
            if code.language == calls.SHELL:
                judgement = second.raised(judgement, code.text, where, rules, _left(started))
    if judgement.verdict is Verdict.ALLOW:
        _let_through(call)
        _logged(lambda: decisions.allowed(home))
        return None
    here = presence.look(_name(ids, "session_id"))
    decision = _Decision(tool, call, judgement, here, where, ids, home, started)
    approved = presence.approved_before(decision.key)
    smart = options.current(home)["guard.smart"]
    withheld = surroundings.host_asks(tool, call.shown, here, backend, smart)
    answer = presence.answer(judgement.verdict, here, rules.unattended, approved=approved, withheld=withheld)
    if rules.is_report:
        decision.log("report", would=answer)
    elif answer == presence.ALLOW:
        decision.log(decision.why_allowed(approved, withheld))
    else:
        return decision.stop(answer)
    _let_through(call)
    return None


@dataclass(frozen=True)
class _Decision:
    """One call that is not plainly allowed, on its way to the host, the log and a person."""

    tool: str
    call: calls.Call
    judgement: Judgement
    here: presence.Presence
    where: Surroundings
    ids: dict[str, Any]
    home: Path
    started: float

    @property
    def findings(self) -> tuple[Found, ...]:
        return self.judgement.findings

    @cached_property
    def key(self) -> str:
        return message.rule_key(self.findings, self.tool, self.call.exact, self.where.cwd)

    def why_allowed(self, approved: bool, withheld: bool) -> str:
        """The word for the log: a person said yes before, the host asks, or nobody wants to be asked."""
        if approved:
            return "approved"
        if self.here.who == presence.NOBODY:
            return "unattended"
        return "bypassed" if self.here.bypassed else "withheld" if withheld else "allowed"

    def stop(self, answer: str) -> Directive:
        """Ask a person, or block, and say why."""
        self.log(answer)
        if answer == presence.ASK:
            return {"action": "approve", "message": self._said(answer), "rule_key": self.key}
        return {"action": "block", "message": self._said(answer)}

    def _said(self, answer: str) -> str:
        """The message; a poor one where it cannot be made, for the answer stands all the same."""
        shown, findings = self.call.shown, self.findings
        try:
            radius = self._radius()
            if answer == presence.ASK:
                return message.ask(shown, findings, radius)
            if self.judgement.verdict is Verdict.BLOCK:
                return message.block(shown, findings, radius)
            return message.unattended(shown, findings, self.here, radius)
        except Exception:
            logger.warning("hermes-ops: a message of the guard could not be made", exc_info=True)
            return f"hermes-ops: {answer} because of {', '.join(found.rule for found in findings[:5])}."

    def _radius(self) -> str:
        targets = [target for found in self.findings for target in found.targets]
        local = not self.where.is_container
        if not targets or not local:
            return ""
        seconds = min(blast.SECONDS, _left(self.started))
        return blast.radius(targets, self.where.cwd, self.where.home, seconds=seconds)

    def log(self, answer: str, **more: str) -> None:
        took = time.perf_counter() - self.started
        _logged(
            lambda: decisions.decided(
                self.home,
                answer,
                self.tool,
                message.command(self.call.shown, 300),
                self.findings,
                most_bytes=options.current(self.home)["guard.log_bytes"],
                part=message.command(self.findings[0].part, 160),
                unread=self.judgement.unread,
                who=self.here.who,
                reason=self.here.reason,
                bypassed=self.here.bypassed or None,
                workdir=message.command(self.where.cwd or "", 200),
                session=_name(self.ids, "session_id"),
                task=_name(self.ids, "task_id"),
                ms=round(took * 1000, 1),
                **more,
            )
        )


def _name(ids: dict[str, Any], key: str) -> str:
    """The name of a session or a task; "" for what is none."""
    name = ids.get(key)
    if isinstance(name, int) and 0 <= name < 10**18:
        return str(name) if name else ""
    return name if isinstance(name, str) else ""


def _left(started: float) -> float:
    """The seconds that the rest of a callback may take."""
    return max(0.0, started + _SECONDS - time.perf_counter())


def _let_through(call: calls.Call) -> None:
    if call.process:
        calls.INPUTS.let_through(call.process, call.kept, call.codes[0].language)


def _failed(tool: str, args: object, ids: dict[str, Any], error: Exception) -> Directive | None:
    """What is answered when the guard itself failed: what a question becomes here."""
    kind = type(error).__name__
    found = Found("guard.error", Verdict.APPROVE, "the guard failed")
    here = presence.look(_name(ids, "session_id"))
    try:
        home = hermes_home()
        unattended = policy.current(home).unattended
        _logged(lambda: decisions.decided(home, "error", tool, "", (found,), error=kind, who=here.who))
    except Exception:  # whatever failed may fail again
        unattended = presence.BLOCK
    answer = presence.answer(found.verdict, here, unattended)
    if answer == presence.ALLOW:
        return None
    why = f"hermes-ops could not judge this call of {tool}: the guard failed ({kind}, {found.rule})."
    if answer == presence.BLOCK:
        return {"action": "block", "message": f"BLOCKED: {why} Nobody can be asked here: {here.reason}."}
    key = message.rule_key((found,), tool, _spelled(args), None)
    return {"action": "approve", "message": why, "rule_key": key}


def _spelled(args: object) -> str:
    """What came, so that an answer to it is about this alone; what cannot be spelled is like nothing else."""
    try:
        return repr(args)[:100_000]
    except Exception:
        return str(time.time_ns())


def _logged(write: Callable[[], None]) -> None:
    """A log that cannot be written is said once, and stops nothing."""
    global _complained
    try:
        write()
    except Exception as error:
        if not _complained:
            _complained = True
            why = getattr(error, "strerror", None) or error
            named = f"{type(error).__name__}: {message.command(str(why))}"
            logger.warning("hermes-ops: the log of the guard's decisions cannot be written (%s)", named)
