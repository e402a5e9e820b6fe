"""Why is the agent slow, or not itself? A giant session, a limit, a hanging compaction, another model."""

from __future__ import annotations

from typing import Any

from .._common.config import read_config
from ..core.finding import DAY, HOUR
from ..core.moment import show, span
from ..errors import OpsError
from ..host.database import columns, reading
from ..host.logs import Record, recent
from ..host.usage import database
from .tree import Case, Found, Question, no, unknown, yes

GIANT_TOKENS = 200_000  # of one request, from which every turn is slow and dear
SHARE_OF_WINDOW = 0.75
LIMIT_WORDS = ("429", "rate limit", "rate_limit", "too many requests", "overloaded", "quota")
HANGS = 600.0  # seconds that a compaction may hold its lock
AUXILIARY = ("compression", "title_generation", "background_review")


def session_row(case: Case) -> dict[str, Any] | None:
    """The session that is asked about (by id or unique beginning), else the one that was used last."""

    def read() -> dict[str, Any] | None:
        path = database(case.context.home)
        if not path.exists():
            return None
        with reading(path) as connection:
            if case.subject:
                rows = connection.execute(
                    "SELECT * FROM sessions WHERE id=? OR substr(id, 1, ?)=? ORDER BY id=? DESC LIMIT 3",
                    (case.subject, len(case.subject), case.subject, case.subject),
                ).fetchall()
                if rows and rows[0]["id"] != case.subject and len(rows) > 1:
                    named = ", ".join(row["id"] for row in rows)
                    raise OpsError(f"{case.subject!r} is the beginning of several sessions: {named}")
                if not rows:
                    raise OpsError(
                        f"no session of {path} is called {case.subject!r}; see `hermes sessions list`"
                    )
                return dict(rows[0])
            row = connection.execute(
                "SELECT s.* FROM session_model_usage u JOIN sessions s ON s.id = u.session_id"
                " WHERE u.task = '' ORDER BY u.last_seen DESC LIMIT 1"
            ).fetchone()
            return dict(row) if row else None

    return case.once("session", read)


def is_giant(case: Case) -> Found:
    row = session_row(case)
    if row is None:
        return unknown(f"{database(case.context.home)} holds no session with usage")
    usage = _usage(case, row["id"])
    if not usage or not usage["calls"]:
        return unknown(f"session {row['id']}: no usage row of its main loop")
    size = (usage["input"] + usage["cache_read"] + usage["cache_write"]) / usage["calls"]
    window = read_config(case.context.home).get("model.context_length")
    seen = [
        f"session {row['id']} ({row.get('source')}, {row.get('title') or 'untitled'}): "
        f"{usage['calls']:,} calls, {size:,.0f} tokens a call ({usage['over']})",
        f"messages: {row.get('message_count')}; since {_shown(case, row.get('started_at'))}",
    ]
    limit = (
        min(GIANT_TOKENS, window * SHARE_OF_WINDOW)
        if isinstance(window, int) and window > 0
        else GIANT_TOKENS
    )
    if size < limit:
        return no(*seen, f"limit {limit:,.0f}")
    return yes(
        f"the session has grown to about {size:,.0f} tokens a call; every turn carries all of them",
        seen,
        f"hermes sessions rename {row['id']} TITLE   # if it is worth keeping, then /new in its chat",
        "set compression.threshold lower, and session_reset.mode to daily or idle",
    )


def is_limited(case: Case) -> Found:
    found = [
        record
        for record in _records(case, HOUR)
        if record.level in ("WARNING", "ERROR")
        and any(word in record.message.lower() for word in LIMIT_WORDS)
    ]
    if not found:
        return no("no line of a rate limit in logs/errors.log within the last hour")
    zone = case.context.zone.tz
    seen = [f"{show(one.at, zone)} {one.logger}: {one.message[:160]}" for one in found[-3:]]
    return yes(
        f"the provider limits the rate: {len(found)} lines within the last hour",
        seen,
        "wait, lower the number of parallel jobs (cron.max_parallel_jobs), or add a fallback provider",
    )


def is_compaction_stuck(case: Case) -> Found:
    path = database(case.context.home)
    if not path.exists():
        return unknown(f"{path} does not exist")
    with reading(path) as connection:
        known = columns(connection, "sessions")
        if "compression_failure_error" not in known:
            return unknown("this state.db keeps no word of failed compactions")
        failed = connection.execute(
            "SELECT id, compression_failure_error, compression_failure_cooldown_until FROM sessions"
            " WHERE compression_failure_cooldown_until > ? LIMIT 5",
            (case.now,),
        ).fetchall()
        held = (
            connection.execute(
                "SELECT session_id, acquired_at FROM compression_locks WHERE acquired_at < ?",
                (case.now - HANGS,),
            ).fetchall()
            if columns(connection, "compression_locks")
            else []
        )
    seen = [
        f"sessions {row['id']}: {row['compression_failure_error']}; not tried again until "
        f"{_shown(case, row['compression_failure_cooldown_until'])}"
        for row in failed
    ]
    seen += [
        f"compression_locks {row['session_id']}: held for {span(case.now - row['acquired_at'])}"
        for row in held
    ]
    if not seen:
        return no("no failed compaction, no lock held over 10 min")
    return yes(
        "compaction fails or hangs, so the session keeps growing",
        seen,
        "set auxiliary.compression.provider and .model to one that answers; then /compress in the chat",
    )


def is_another_model(case: Case) -> Found:
    row, config = session_row(case), read_config(case.context.home)
    wanted = config.get("model.default")
    if not config.known or not isinstance(wanted, str):
        return unknown(config.problem or "no model is set in config.yaml")
    if row is None:
        return unknown(f"config.yaml model.default: {wanted}; there is no session with usage yet")
    seen = [f"config.yaml model.default: {wanted}", f"session {row['id']}: {row.get('model')}"]
    if not row.get("model") or row["model"] == wanted:
        return no(*seen)
    return yes(
        f"the session runs on {row['model']}, not on {wanted}", seen, "/model in its chat, or start a new one"
    )


def is_auxiliary_on_main(case: Case) -> Found:
    config = read_config(case.context.home)
    if not config.known:
        return unknown(config.problem or "the config is unknown")
    loose = [
        task
        for task in AUXILIARY
        if config.get(f"auxiliary.{task}.provider", "auto") in ("auto", "", None)
        and not config.get(f"auxiliary.{task}.base_url")
    ]
    spent = case.context.ledger().spent(["task"], case.now - DAY, case.now)
    used = {str(one.group[0]): one for one in spent if one.group[0] in loose and one.calls}
    seen = [f"auxiliary.{task}.provider is auto: it runs on the main model" for task in loose]
    seen += [f"{task}: {one.calls} calls within 24 h" for task, one in used.items()]
    if not used:
        return no(*seen, "no auxiliary call on the main model within 24 h is in the ledger")
    return yes(
        f"auxiliary calls ({', '.join(used)}) wait in the same line as the agent's own",
        seen,
        "set auxiliary.<task>.provider and .model to a quick, cheap one",
    )


QUESTIONS: tuple[Question, ...] = (
    ("Has the session grown giant?", is_giant),
    ("Does the provider limit the rate?", is_limited),
    ("Does compaction fail or hang?", is_compaction_stuck),
    ("Does it run on another model than wanted?", is_another_model),
    ("Do auxiliary calls share the main model?", is_auxiliary_on_main),
)


def _usage(case: Case, session_id: str) -> dict[str, Any] | None:
    """Counters of the main loop: of the last day when the ledger knows it, else of the whole session."""
    day = [
        one
        for one in case.context.ledger().spent(["session", "task"], case.now - DAY, case.now)
        if one.group == (session_id, "") and one.calls
    ]
    if day:
        one = day[0]
        return {
            "calls": one.calls,
            "input": one.input,
            "cache_read": one.cache_read,
            "cache_write": one.cache_write,
            "over": "within 24 h, ledger",
        }
    with reading(database(case.context.home)) as connection:
        row = connection.execute(
            "SELECT sum(api_call_count) AS calls, sum(input_tokens) AS input,"
            " sum(cache_read_tokens) AS cache_read, sum(cache_write_tokens) AS cache_write"
            " FROM session_model_usage WHERE session_id=? AND task=''",
            (session_id,),
        ).fetchone()
    return {**dict(row), "over": "over its whole life, session_model_usage"} if row and row["calls"] else None


def _records(case: Case, seconds: float) -> list[Record]:
    return recent(case.context.home / "logs" / "errors.log", case.now - seconds)


def _shown(case: Case, at: Any) -> str:
    """A time of the host's database, which may hold anything."""
    number = isinstance(at, (int, float)) and not isinstance(at, bool)
    return show(float(at) if number else None, case.context.zone.tz)
