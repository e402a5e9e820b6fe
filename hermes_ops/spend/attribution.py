"""Who burns: the jobs and sessions that used the most between two times, and what stops each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .._common.command_line import printable
from ..core.ledger import Ledger, Spent
from ..core.watch import Context
from ..errors import Unreadable
from ..host.jobs import read_jobs
from ..host.profiles import DEFAULT
from ..host.usage import Session, session
from .costs import tokens_of

_TERMINALS = ("cli", "tui")
_NO_CHAT = ("cron", "subagent", "tool", "unknown")
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Burner:
    """One job or session (sub-agents and continuations included) and its part of what was used.

    ``usd`` is what is known, None when nothing of it has a price or all of it is in a plan; ``unknown`` tells
    that some calls have no price, so that the sum is a lower bound. ``share`` is of the dollars, or of the
    tokens where no price is known.
    ``command`` is what to type, and where, to stop it.
    """

    label: str
    usd: float | None
    tokens: int
    share: float
    command: str
    unknown: bool


@dataclass(frozen=True)
class Use:
    """What one job, or one session without a job, used; ``key`` is (profile, job id, root session id)."""

    key: tuple[str, str | None, str]
    source: str
    usd: float
    tokens: int
    unpriced: bool
    priced: bool


def top_burners(ledger: Ledger, context: Context, since: float, until: float, limit: int = 3) -> list[Burner]:
    """The largest users in [since, until): by known dollars, then by tokens.

    What has no price but more tokens than every other takes the last place: it may be the dearest. Names come
    from the host; where it cannot be read, ids stand alone. Raises Unreadable when the ledger cannot be read.
    """
    uses = gather(ledger.spent(("profile", "job", "root", "source"), since, until))
    dollars, tokens = sum(use.usd for use in uses), sum(use.tokens for use in uses)
    homes = {profile.name: profile.home for profile in context.profiles}
    found = []
    for use in choose(uses, limit):
        profile, job_id, root = use.key
        label, command = describe(homes.get(profile), profile, job_id, root, use.source)
        found.append(
            Burner(
                label=label,
                usd=use.usd if use.priced else None,
                tokens=use.tokens,
                share=use.usd / dollars if dollars > 0 else use.tokens / tokens if tokens else 0.0,
                command=command,
                unknown=use.unpriced,
            )
        )
    return found


def gather(groups: Iterable[Spent]) -> list[Use]:
    """One Use for each job, over all its runs, and for each session without a job; the largest first."""
    found: dict[tuple[str, str | None, str], Use] = {}
    for spent in groups:
        profile, job_id, root, source = spent.group
        key = (profile or DEFAULT, job_id, "" if job_id else root or "")
        old = found.get(key)
        usd = spent.usd + (old.usd if old else 0.0)
        unpriced = spent.unknown_calls > 0 or (old is not None and old.unpriced)
        found[key] = Use(
            key=key,
            source=source or "unknown",
            usd=usd,
            tokens=tokens_of(spent) + (old.tokens if old else 0),
            unpriced=unpriced,
            priced=usd > 0 or not (unpriced or spent.included_tokens),
        )
    return sorted(found.values(), key=lambda use: (-use.usd, -use.tokens, str(use.key)))


def choose(uses: list[Use], limit: int) -> list[Use]:
    """The first `limit` of uses in order, the last place left to a larger one that has no price."""
    chosen = uses[:limit]
    hidden = max((use for use in uses[limit:] if use.unpriced), key=lambda use: use.tokens, default=None)
    if chosen and hidden is not None and hidden.tokens > max(use.tokens for use in chosen):
        chosen[-1] = hidden
    return chosen


def describe(home: Path | None, profile: str, job_id: str | None, root: str, source: str) -> tuple[str, str]:
    """What a job or session is called, and what stops it."""
    if job_id:
        return f"job {job_id}{_job_name(home, job_id)}{_of(profile)}", pause_command(profile, job_id)
    found = _session(home, root)
    label = session_label(root, found, source)
    return f"{label}{_of(profile)}", stop_command(source, found)


def pause_command(profile: str, job_id: str) -> str:
    """The host's command that pauses a job."""
    return f"hermes {'' if profile == DEFAULT else f'-p {profile} '}cron pause {job_id}"


def stop_command(source: str, found: Session | None) -> str:
    """What ends a conversation that grows: the host has no command for it outside its own chat."""
    if found is not None and found.chat_id:
        thread = f", thread {found.thread_id}" if found.thread_id else ""
        return printable(f"/new in {source} chat {found.chat_id}{thread} (/stop ends what runs now)")
    if source in _TERMINALS:
        return "/new in the terminal that runs it"
    if source == "api_server":
        return "end it at its API client (POST /v1/runs/<run id>/stop stops a run)"
    if source in _NO_CHAT:
        return "end the program that runs it"
    return printable(f"/new in the {source} chat (/stop ends what runs now)")


def session_label(session_id: str, found: Session | None, source: str) -> str:
    """A session for a person: its title, where it came from, its whole id."""
    title = f' "{_named(found.title)}"' if found is not None and found.title else ""
    return printable(f"session{title} ({source} {session_id})")


def _job_name(home: Path | None, job_id: str) -> str:
    if home is None:
        return ""
    try:
        job = read_jobs(home).by_id(job_id)
    except Unreadable:
        return ""
    return f" ({printable(_named(job.name))})" if job is not None else ""


def _session(home: Path | None, session_id: str) -> Session | None:
    if home is None:
        return None
    try:
        return session(home, session_id)
    except Unreadable:
        return None


def _named(text: str) -> str:
    from .._common.redact import Redactor

    clean = Redactor().text(text)
    return clean if len(clean) <= _LONGEST_NAME else clean[: _LONGEST_NAME - 1] + "…"


def _of(profile: str) -> str:
    return "" if profile == DEFAULT else f" of profile {profile}"
