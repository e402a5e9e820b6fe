"""An incident as the watchers recorded it, in the form of the autopsies of docs/playbook."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from ..core.incident import Incident
from ..core.moment import show, span

NOT_KNOWN = "_To be filled in by whoever looked into it._"


def markdown(episodes: Sequence[Incident], zone: tzinfo, now: float) -> str:
    """The episodes of one incident, newest first, as a page; what nobody recorded is left to be filled in."""
    newest = episodes[0]
    opened = newest.opened_at or newest.first_seen
    lasted = span(max(0.0, (newest.closed_at or now) - opened))
    state = "over" if newest.state == "closed" else newest.state
    lines = [
        f"# {_plain(newest.text)}",
        "",
        f"- **Incident:** `{_code(newest.id)}` (watcher {newest.watcher})",
        f"- **Severity:** {newest.severity}",
        f"- **When:** {show(opened, zone)}, lasted {lasted}, {state}",
        f"- **Seen:** in {newest.runs} runs; {len(episodes)} time{'s' if len(episodes) > 1 else ''} so far",
        "",
        "## Symptom",
        "",
        f"{_plain(newest.where)}: {_plain(newest.text)}",
        "",
        "## Evidence",
        "",
        *([f"- {_plain(line)}" for line in newest.evidence] or ["- none was recorded"]),
        "",
        "## What happened",
        "",
        *[f"- {show(at, zone)} {_plain(text)}" for at, text in newest.history],
        "",
        "## Cause",
        "",
        NOT_KNOWN,
        "",
        "## Fix",
        "",
        f"Proposed by the watcher: {_plain(newest.fix)}" if newest.fix else NOT_KNOWN,
        "",
        "## Prevention",
        "",
        NOT_KNOWN,
    ]
    if len(episodes) > 1:
        lines += ["", "## Earlier", ""]
        lines += [
            f"- {show(one.opened_at or one.first_seen, zone)}: {_plain(one.text)}" for one in episodes[1:]
        ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text of a database as text of a page: nothing in it is markup."""
    return "".join("\\" + sign if sign in "\\`*_{}[]<>#|" else sign for sign in " ".join(text.split()))


def _code(text: str) -> str:
    return text.replace("`", "'")
