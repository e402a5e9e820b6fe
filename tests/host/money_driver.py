"""Runs in the host's Python: calls of its SessionDB, one JSON line each; and a writer that does not pause."""

from __future__ import annotations

import json
import sys
import threading

from hermes_state import SessionDB

db = SessionDB()
stop = threading.Event()
written = {"calls": 0, "errors": []}


def keep_writing(session_id: str) -> None:
    """Book one call after the other, as an agent does after each answer of its model, until it is stopped."""

    def write() -> None:
        while not stop.is_set():
            try:
                db.update_token_counts(
                    session_id,
                    input_tokens=10,
                    output_tokens=1,
                    estimated_cost_usd=0.001,
                    cost_status="estimated",
                    model="busy",
                    billing_provider="openrouter",
                    api_call_count=1,
                )
                written["calls"] += 1
            except Exception as error:
                written["errors"].append(repr(error))
                return

    threading.Thread(target=write).start()


def stop_writing() -> dict:
    stop.set()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    return written


answers = sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    name, positional, named = json.loads(line)
    call = globals().get(name) or getattr(db, name)
    call_result = call(*positional, **named)
    print(json.dumps(call_result if isinstance(call_result, dict) else None), file=answers, flush=True)
