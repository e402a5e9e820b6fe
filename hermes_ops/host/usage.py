"""Token use and sessions, from state.db. The host's numbers are running totals of each row's whole life."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .database import columns, reading

if TYPE_CHECKING:
    import sqlite3

CRON_SESSION = re.compile(r"cron_([0-9a-f]{12})_\d{8}_\d{6}")
UNATTRIBUTED = "(unattributed)"  # model and task of what a session's own totals hold beyond its rows
AUTO = "auto"  # the host's provider name of an auxiliary call whose provider it chose by itself

_TABLE = "session_model_usage"
_COUNTER_COLUMNS = (
    "api_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "estimated_cost_usd",
    "actual_cost_usd",
)
_ROUTE_COLUMNS = ("model", "billing_provider", "billing_base_url", "billing_mode", "task")
_SESSION_COLUMNS = ("cost_status", "started_at", "ended_at")
_PAGE = 20_000  # rows of one statement: a reader must not hold a lock for long
_MOST = 1e15  # no counter of one session is larger
_HOSTS = {  # whose provider is known without another row that says so
    "openrouter.ai": "openrouter",
    "api.deepseek.com": "deepseek",
    "api.anthropic.com": "anthropic",
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "gemini",
    "api.x.ai": "xai",
    "api.minimax.io": "minimax",
    "api.z.ai": "zai",
    "inference-api.nousresearch.com": "nous",
}


@dataclass(frozen=True)
class UsageRow:
    """One row of session_model_usage: who used what, and the totals up to now.

    ``task`` is "" for the main loop, else "compression", "title_generation", ... Residual rows, whose model
    and task are "(unattributed)", are what a session's own totals hold beyond its rows.
    ``base_url`` is normalised: without credentials, query and trailing slash.
    ``status``: "actual", "estimated", "included", "unknown"; "" when the host wrote none.
    """

    session_id: str
    model: str
    provider: str
    base_url: str
    mode: str
    task: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    estimated_usd: float
    actual_usd: float
    status: str
    first_seen: float | None
    last_seen: float | None


@dataclass(frozen=True)
class Session:
    """One session; times are seconds since the epoch."""

    id: str
    source: str
    title: str | None
    model: str | None
    parent_id: str | None
    started_at: float | None
    ended_at: float | None
    end_reason: str | None
    session_key: str | None
    chat_id: str | None
    thread_id: str | None
    message_count: int


@dataclass
class Faults:
    """Rows that hold no usable numbers: how many were read and left out, and the first few by name."""

    read: int = 0
    bad: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.bad += 1
        if len(self.examples) < 5:
            self.examples.append(text)


def database(home: Path) -> Path:
    """Where a home keeps its sessions."""
    return home / "state.db"


def usage_rows(home: Path, since: float | None = None, faults: Faults | None = None) -> Iterator[UsageRow]:
    """The rows of `<home>/state.db` seen at or after `since` (None: all), residuals included.

    No database is no rows. An older, narrower table is read as far as it goes. Rows whose counters are no
    counts (text, negative, not finite) are left out and noted in `faults`. Raises Unreadable.
    """
    faults = Faults() if faults is None else faults
    path = database(home)
    if not path.exists():
        return
    with reading(path) as connection:
        touched: set[str] = set()
        for row in raw_rows(connection, since, faults):
            touched.add(row[0])
            yield _row(row)
        wanted = None if since is None else touched | sessions_since(connection, since)
        for row in raw_residuals(connection, wanted, faults):
            yield _row(row)


def session(home: Path, session_id: str) -> Session | None:
    """One session. Raises Unreadable."""
    path = database(home)
    if not path.exists():
        return None
    with reading(path) as connection:
        return read_session(connection, session_id)


def read_session(connection: sqlite3.Connection, session_id: str) -> Session | None:
    """One session of an open database; None when there is no such session (any more)."""
    row = connection.execute("SELECT * FROM sessions WHERE id=?", (session_id,)).fetchone()
    if row is None:
        return None
    found = dict(row)
    return Session(
        id=str(found["id"]),
        source=_text(found.get("source")) or "unknown",
        title=_text(found.get("title")) or None,
        model=_text(found.get("model")) or None,
        parent_id=_text(found.get("parent_session_id")) or None,
        started_at=moment(found.get("started_at")),
        ended_at=moment(found.get("ended_at")),
        end_reason=_text(found.get("end_reason")) or None,
        session_key=_text(found.get("session_key")) or None,
        chat_id=_text(found.get("chat_id")) or None,
        thread_id=_text(found.get("thread_id")) or None,
        message_count=int(_number(found.get("message_count")) or 0),
    )


def parents(connection: sqlite3.Connection) -> Callable[[str], str | None]:
    """A look-up of the parent of a session; None without one, or when the session is not there."""
    if "parent_session_id" not in columns(connection, "sessions"):
        return lambda _: None

    def parent(session_id: str) -> str | None:
        row = connection.execute(
            "SELECT parent_session_id FROM sessions WHERE id=?", (session_id,)
        ).fetchone()
        return str(row[0]) if row and row[0] else None

    return parent


def root(session_id: str, parent: Callable[[str], str | None]) -> str:
    """The first of a chain of parents; one that is gone counts, and of a circle the least id is the root."""
    above = parent(session_id)
    if above is None:
        return session_id
    chain = [session_id]
    while above is not None:
        if above in chain:
            return min(chain[chain.index(above) :])
        chain.append(above)
        above = parent(above)
    return chain[-1]


def job_of(session_id: str) -> str | None:
    """The job whose run a (root) session id names, `cron_<12 hex>_<date>_<time>`."""
    found = CRON_SESSION.fullmatch(session_id) if session_id.startswith("cron_") else None
    return found[1] if found else None


def normal_url(url: str) -> str:
    """A base URL as it is compared and shown: lower-case host; no credentials, query or trailing slash."""
    scheme, mark, rest = url.strip().partition("://")
    if not mark:
        return url.strip().split("?")[0].rstrip("/")
    place, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme.lower()}://{place.rpartition('@')[2].lower()}{slash}{path}".rstrip("/")


def providers_by_url(routes: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Which provider (not "auto") stands beside each normalised base URL the most often."""
    seen: dict[str, Counter[str]] = {}
    for provider, url in routes:
        if url and provider not in ("", AUTO):
            seen.setdefault(url, Counter())[provider] += 1
    return {url: min(found, key=lambda name: (-found[name], name)) for url, found in seen.items()}


def billed_by(provider: str, base_url: str, by_url: Mapping[str, str]) -> str:
    """The provider that bills a row: its own, for "auto" the one of its base URL; else "unknown"."""
    if provider not in ("", AUTO):
        return provider
    host = base_url.partition("://")[2].partition("/")[0].partition(":")[0]
    return by_url.get(base_url) or _HOSTS.get(host) or "unknown"


# --- rows as tuples: (session_id, model, provider, base URL as written, mode, task, 8 counters, status, first
# seen, last seen). A million of them pass through here.


def raw_rows(
    connection: sqlite3.Connection, since: float | None, faults: Faults
) -> Iterator[tuple[Any, ...]]:
    """The clean rows of the usage table seen at or after `since`, in pages; see UsageRow for the fields."""
    present = columns(connection, _TABLE)
    if "session_id" not in present:
        return
    names = ("session_id", *_ROUTE_COLUMNS, *_COUNTER_COLUMNS, "cost_status", "first_seen", "last_seen")
    select = ", ".join(name if name in present else "NULL" for name in names)
    seen = "AND last_seen >= :since " if since is not None and "last_seen" in present else ""
    query = f"SELECT rowid, {select} FROM {_TABLE} WHERE rowid > :after {seen}ORDER BY rowid LIMIT {_PAGE}"
    cursor = connection.cursor()
    cursor.row_factory = None
    after = -(2**62)
    while True:
        page = cursor.execute(query, {"after": after, "since": since}).fetchall()
        for row in page:
            faults.read += 1
            clean = _clean(row[1:])
            if clean is None:
                faults.note(f"{_TABLE} row {row[0]} of session {row[1]}")
            else:
                yield clean
        if len(page) < _PAGE:
            return
        after = page[-1][0]


def raw_residuals(
    connection: sqlite3.Connection, session_ids: Iterable[str] | None, faults: Faults
) -> Iterator[tuple[Any, ...]]:
    """What sessions (None: all) hold beyond their rows, by the host's own rule: never negative."""
    present = columns(connection, "sessions")
    usage = columns(connection, _TABLE)
    counted = [name for name in _COUNTER_COLUMNS if name in present]
    if "id" not in present or not counted:
        return
    rows = f"LEFT JOIN {_TABLE} u ON u.session_id = s.id" if "session_id" in usage else ""
    totals = [
        f"MAX(0, COALESCE(s.{name}, 0) - {f'COALESCE(SUM(u.{name}), 0)' if name in usage else '0'})"
        if name in present
        else "0"
        for name in _COUNTER_COLUMNS
    ]
    others = [f"s.{name}" if name in present else "NULL" for name in _SESSION_COLUMNS]
    query = (
        f"SELECT s.id, {', '.join(others)}, {', '.join(totals)} FROM sessions s {rows} "
        f"WHERE ({' OR '.join(f's.{name} > 0' for name in counted)}) AND {{}} GROUP BY s.rowid "
        f"HAVING {' OR '.join(f'{total} > 1e-9' for total in totals)}"
    )
    cursor = connection.cursor()
    cursor.row_factory = None
    if session_ids is None:
        pages: Iterable[list[Any]] = _pages(cursor, query.format("s.rowid > ? AND s.rowid <= ?"))
    else:
        one = query.format("s.id = ?")
        pages = (cursor.execute(one, (session_id,)).fetchall() for session_id in session_ids)
    for page in pages:
        for session_id, status, first, last, *counters in page:
            faults.read += 1
            # The session's model and provider are those of its first call only, and change once.
            clean = _clean(
                (session_id, UNATTRIBUTED, "", "", "", UNATTRIBUTED, *counters, status, first, last)
            )
            if clean is None:
                faults.note(f"totals of session {session_id}")
            else:
                yield clean


def sessions_since(connection: sqlite3.Connection, since: float) -> set[str]:
    """The sessions that started at or after `since`."""
    if not {"id", "started_at"} <= columns(connection, "sessions"):
        return set()
    return {
        str(row[0]) for row in connection.execute("SELECT id FROM sessions WHERE started_at >= ?", (since,))
    }


def moment(value: Any) -> float | None:
    """A time of the host's, None when it is no time."""
    found = _number(value)
    return found if found else None


def _pages(cursor: sqlite3.Cursor, query: str) -> Iterator[list[Any]]:
    after = -(2**62)
    while True:
        bounds = cursor.execute(
            "SELECT MAX(rowid) FROM (SELECT rowid FROM sessions WHERE rowid > ? ORDER BY rowid LIMIT ?)",
            (after, _PAGE // 4),
        ).fetchone()
        if bounds[0] is None:
            return
        yield cursor.execute(query, (after, bounds[0])).fetchall()
        after = bounds[0]


def _clean(row: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """A row with every field of its type, or None when a counter is no count."""
    counters = row[6:14]
    try:
        # NULL is nothing; NaN and infinity fail the comparison, text cannot be compared.
        for value in counters:
            if value is not None and not 0 <= value <= _MOST:
                return None
        calls, into, out, read, written, thought, estimated, actual = (value or 0 for value in counters)
        numbers = (int(calls), int(into), int(out), int(read), int(written), int(thought))
        status, first, last = row[14:17]
        session_id, model, provider, url, mode, task = row[:6]
        return (
            session_id if type(session_id) is str else str(session_id),
            model or "unknown",
            provider or "",
            url or "",
            mode or "",
            task or "",
            *numbers,
            float(estimated),
            float(actual),
            status or "",
            first if type(first) is float and 0 < first <= _MOST else moment(first),
            last if type(last) is float and 0 < last <= _MOST else moment(last),
        )
    except (TypeError, ValueError):
        return None


def _row(row: tuple[Any, ...]) -> UsageRow:
    return UsageRow(*row[:3], normal_url(row[3]), *row[4:])


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _MOST:
        return float(value)
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
