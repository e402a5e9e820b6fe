"""/unroll in a chat: this process's live sessions, and switching recording off and on."""

from __future__ import annotations

from ._common.home import hermes_home
from .hooks import RECORDER
from .settings import current_chat, set_consent
from .tracer import LiveSession

USAGE = "/unroll shows live sessions; /unroll off [SESSION] and /unroll on [SESSION] switch recording"


def run(arguments: str) -> str:
    """Answer one /unroll command in text."""
    words = arguments.split()
    if not words:
        return _overview()
    if words[0] not in ("off", "on") or len(words) > 2:
        return USAGE
    return _switch(words[0] == "on", words[1] if len(words) > 1 else None)


def _sessions() -> list[LiveSession]:
    home = hermes_home()
    return [session for session in RECORDER.live() if session.home == home]


def _overview() -> str:
    from .sealing import expected_trace

    lines = []
    for session in _sessions():
        if session.off:
            lines.append(f"{session.session_id}: not recorded")
            continue
        trace = expected_trace(session.home, session.directory)
        written = "" if trace and trace.exists() else " (not compiled yet)"
        lines.append(f"{session.session_id}: {session.events} events, trace {trace}{written}")
        if session.redaction_failures:
            lines.append(f"  {session.redaction_failures} values could not be redacted and were left out")
    return "\n".join(lines) or "No session of this process is recorded yet."


def _switch(allowed: bool, name: str | None) -> str:
    home = hermes_home()
    word = "recorded" if allowed else "not recorded"
    chat = current_chat()
    if name is None and chat:
        set_consent(home, "chats", chat[0], allowed)
        for session in _sessions():
            if session.chat == chat:
                session.switch(allowed)
        return f"This chat is {word} from now on."
    sessions = _sessions()
    if name is None:
        if allowed:
            # Whoever wants the session recorded that is on wants those recorded that follow it.
            RECORDER.off = False
        # Children and sessions that are over are not what the user is in.
        matches = [session for session in sessions if not session.ended and session.platform != "subagent"]
    else:
        matches = [session for session in sessions if session.session_id.startswith(name)]
    if name is None and not matches:
        RECORDER.off = not allowed
        return f"Sessions that start in this process are {word} from now on."
    if len(matches) != 1:
        ids = ", ".join(session.session_id for session in matches or sessions) or "none"
        return f"Name one session: {USAGE}. Live now: {ids}"
    session = matches[0]
    set_consent(home, "sessions", session.session_id, allowed)
    session.forced_off = False
    session.switch(allowed)
    return f"{session.session_id} is {word} from now on."
