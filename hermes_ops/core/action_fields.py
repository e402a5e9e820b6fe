"""The fields of a job that an action may set: checked, as words of a command line, and as they are stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..errors import OpsError

# field -> flag of `hermes cron create` and `hermes cron edit`
FLAGS = {
    "name": "--name",
    "deliver": "--deliver",
    "repeat": "--repeat",
    "skills": "--skill",
    "script": "--script",
    "workdir": "--workdir",
    "no_agent": "--no-agent",
}
IN_PROCESS_ONLY = ("model", "provider", "base_url", "enabled_toolsets", "context_from")
KNOWN = ("schedule", "prompt", *FLAGS, *IN_PROCESS_ONLY)
LISTS = ("skills", "enabled_toolsets", "context_from")
CREATE_CHECKED = (
    "schedule",
    "prompt",
    "name",
    "deliver",
    "skills",
    "script",
    "no_agent",
    "model",
    "provider",
)
MAX_TEXT = 200_000
SAME = object()

_EVERY = re.compile(
    r"every\s+(\d+)\s*(m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days)", re.IGNORECASE
)
_MINUTES = {"m": 1, "h": 60, "d": 1440}


def plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without what is only for us."""
    return {name: value for name, value in arguments.items() if name != "expect"}


def check(verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an action, in one form; OpsError for an unknown field or a wrong type."""
    given = plain(arguments)
    if verb not in ("edit", "create"):
        if given:
            raise OpsError(f"{verb} takes no {', '.join(sorted(given))}")
        return {}
    for name, value in given.items():
        if name not in KNOWN:
            from difflib import get_close_matches

            near = get_close_matches(name, KNOWN, 1)
            raise OpsError(f"{name!r} is no field of a job{f'; did you mean {near[0]}?' if near else ''}")
        given[name] = _checked(name, value)
    if verb == "edit" and not given:
        raise OpsError("an edit needs at least one field")
    if verb == "create" and not given.get("schedule"):
        raise OpsError("a job needs a schedule")
    if verb == "edit" and given.get("schedule") == "":
        raise OpsError("a schedule cannot be cleared: pause the job instead")
    return given


def only_in_process(verb: str, given: Mapping[str, Any]) -> list[str]:
    """The fields among the given ones that the host's command has no flag for."""
    none = [name for name in given if name in IN_PROCESS_ONLY]
    if verb == "create" and str(given.get("prompt") or "").startswith("-"):
        none.append("a prompt that begins with a dash")
    return none


def command_line(verb: str, job_id: str | None, given: Mapping[str, Any]) -> list[str]:
    """The words of `hermes cron ...`; the prompt of a new job must come right after its schedule."""
    words = ["cron", verb]
    if verb == "create":
        words.append(str(given.get("schedule", "")))
        if given.get("prompt"):
            words.append(given["prompt"])
    else:
        words.append(str(job_id))
        words += [f"--{name}={given[name]}" for name in ("schedule", "prompt") if name in given]
    for name, flag in FLAGS.items():
        if name not in given:
            continue
        value = given[name]
        if name == "no_agent":
            words += [flag] if value else ["--agent"] if verb == "edit" else []
        elif name == "skills":
            words += [f"{flag}={skill}" for skill in value]
            words += ["--clear-skills"] if not value and verb == "edit" else []
        elif value != "" or verb == "edit":
            words.append(f"{flag}={value}")
    return words


def previous(raw: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """What an edit must set to bring the values of a record back; None when that cannot be said."""
    back: dict[str, Any] = {}
    for name in names:
        value = raw.get(name)
        if name == "schedule":
            text = schedule_text(value)
            if text is None:
                return None
            back[name] = text
        elif name == "repeat":
            back[name] = (value or {}).get("times") or 0 if isinstance(value, Mapping) or value is None else 0
        elif name == "no_agent":
            back[name] = bool(value)
        elif name in LISTS:
            back[name] = list(value) if isinstance(value, list) else []
        elif name == "deliver":
            back[name] = _deliver(value)
        else:
            back[name] = value if isinstance(value, str) else ""
    return back


def stored(raw: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a record as they stand, to be compared before an undo, without what moves by itself."""
    return {name: raw.get(name) for name in names if name != "repeat"}


def schedule_text(schedule: Any) -> str | None:
    """A stored schedule as `hermes cron edit --schedule` takes it."""
    if not isinstance(schedule, Mapping):
        return None
    kind = schedule.get("kind")
    if kind == "cron" and schedule.get("expr"):
        return str(schedule["expr"])
    if kind == "interval" and schedule.get("minutes"):
        return f"every {schedule['minutes']}m"
    if kind == "once" and schedule.get("run_at"):
        return str(schedule["run_at"])
    return None


def found_instead(raw: Mapping[str, Any], name: str, wanted: Any) -> Any:
    """SAME when the record has the value that was asked for, else what it has."""
    found = raw.get(name)
    if name == "schedule":
        return SAME if _same_schedule(found, wanted) else schedule_text(found) or found
    if name == "repeat":
        times = found.get("times") if isinstance(found, Mapping) else None
        return SAME if (times or 0) == max(0, wanted) else times
    if name == "no_agent":
        return SAME if bool(found) == wanted else found
    if name in LISTS:
        return SAME if list(found or []) == wanted else found
    if name == "deliver":
        return SAME if _deliver(found) == _deliver(wanted) else found
    if name in ("workdir", "base_url"):  # the host stores these in a form of its own
        return SAME if bool(found) == bool(wanted) else found
    return SAME if str(found or "").strip() == wanted.strip() else found


def _checked(name: str, value: Any) -> Any:
    if name == "no_agent":
        if not isinstance(value, bool):
            raise OpsError("no_agent: expected true or false")
        return value
    if name == "repeat":
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool):
            raise OpsError("repeat: expected a whole number; 0 is for ever")
        return value
    if name == "deliver" and isinstance(value, (list, tuple)):
        value = ",".join(str(one).strip() for one in value)
    if name == "deliver" and not value:
        value = "local"
    if name in LISTS:
        items = [value] if isinstance(value, str) and value else value or []
        if not isinstance(items, (list, tuple)) or not all(isinstance(one, str) and one for one in items):
            raise OpsError(f"{name}: expected a list of texts")
        return list(items)
    if value is None:
        value = ""
    if not isinstance(value, str) or len(value) > MAX_TEXT or "\0" in value:
        raise OpsError(f"{name}: expected text of at most {MAX_TEXT} characters")
    return value


def _deliver(value: Any) -> str:
    items = value if isinstance(value, list) else str(value or "local").split(",")
    return ",".join(str(one).strip() for one in items if str(one).strip()) or "local"


def _same_schedule(found: Any, wanted: str) -> bool:
    if not isinstance(found, Mapping):
        return False
    text, kind = wanted.strip(), found.get("kind")
    every = _EVERY.fullmatch(text)
    if every:
        return kind == "interval" and found.get("minutes") == int(every[1]) * _MINUTES[every[2][0].lower()]
    if len(text.split()) >= 5:
        return kind == "cron" and str(found.get("expr", "")).split() == text.split()
    if kind != "once":
        return False
    try:
        at, stands = (
            datetime.fromisoformat(one.replace("Z", "+00:00")) for one in (text, str(found.get("run_at")))
        )
    except ValueError:
        return bool(
            re.fullmatch(r"\d+\s*[a-z]+", text.lower())
        )  # a delay: the host counts it from its own now
    return at == stands if at.tzinfo else at == stands.replace(tzinfo=None)
