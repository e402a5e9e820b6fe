"""Runs scenarios with the probe plugin and writes what the host said and stored as test data.

    python tests/host/probe/record.py [SCENARIO ...]

Each scenario gives tests/unroll/fixtures/hook_streams/SCENARIO.jsonl, read by
tests/unroll/hook_streams.py. Paths and ports are replaced by fixed ones; the system
prompt and the host's cut-down `request` payloads are shortened, and two tool schemas are kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.host.hermes import HermesHome  # noqa: E402
from tests.host.model_server import ModelServer  # noqa: E402
from tests.host.scenarios import SCENARIOS, Outcome  # noqa: E402
from tests.host.stored import sessions, stored_messages, stored_rows  # noqa: E402

TARGET = ROOT / "tests" / "unroll" / "fixtures" / "hook_streams"
SESSION_COLUMNS = (
    "source",
    "parent_session_id",
    "model",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "api_call_count",
    "title",
)
TOOLS_KEPT = 2
PROMPT_KEPT = 240
TOO_LARGE = ("turn_budget",)


def record(name: str) -> Path:
    """Run one scenario and write its file."""
    with ModelServer() as server, HermesHome(server.url) as home:
        home.install(Path(__file__).parent)
        log = home.root / "hooks.jsonl"
        home.variables["HOOK_PROBE_LOG"] = str(log)
        outcome = SCENARIOS[name](home, server)
        lines = [json.loads(line) for line in log.read_text("ascii").splitlines()]
        text = "\n".join(json.dumps(line) for line in [*shortened(lines), kept(home, outcome)]) + "\n"
        for found, replacement in replacements(home, server).items():
            text = text.replace(found, replacement)
    TARGET.mkdir(parents=True, exist_ok=True)
    target = TARGET / f"{name}.jsonl"
    target.write_text(text, "ascii")
    return target


def replacements(home: HermesHome, server: ModelServer) -> dict[str, str]:
    """What is particular to this machine and run, and what stands for it."""
    gateway = home.config.get("platforms", {}).get("api_server", {}).get("extra", {}).get("port")
    found = {
        str(home.path): "/tmp/hermes-home",
        str(home.project): "/tmp/project",
        str(home.root / "user-home"): "/home/user",
        str(home.root / "tmp"): "/tmp/scratch",
        str(home.root): "/tmp/root",
        sys.prefix: "/opt/hermes",
        f"127.0.0.1:{server.port}": "127.0.0.1:8080",
    }
    if gateway:
        found[f"127.0.0.1:{gateway}"] = "127.0.0.1:8642"
    return found


def shortened(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The probe's lines without what no test needs; pids become 1, 2, ... in order of appearance."""
    processes: dict[int, int] = {}
    result = []
    for line in lines:
        kwargs = line["kwargs"]
        process = processes.setdefault(line["pid"], len(processes) + 1)
        if line["hook"] == "llm_request":
            kwargs["request"] = _request(kwargs["request"])
            original = _request(kwargs["original_request"])
            kwargs["original_request"] = (
                {"__same_as__": "request"} if original == kwargs["request"] else original
            )
        elif "request" in kwargs:
            body = kwargs["request"].get("body", {})
            body["messages"] = body.get("messages", [])[-1:]
            kwargs["request"]["body"] = _request(body)
        for message in kwargs.get("request_messages", []):
            _shorten_prompt(message)
        result.append({"hook": line["hook"], "thread": line["thread"], "process": process, "kwargs": kwargs})
    return result


def _request(body: dict[str, Any]) -> dict[str, Any]:
    for message in body.get("messages", []):
        _shorten_prompt(message)
    if "tools" in body:
        body["tools"] = sorted(body["tools"], key=lambda tool: len(json.dumps(tool)))[:TOOLS_KEPT]
    return body


def _shorten_prompt(message: dict[str, Any]) -> None:
    content = message.get("content")
    if message.get("role") == "system" and isinstance(content, str) and len(content) > 2 * PROMPT_KEPT:
        message["content"] = f"{content[:PROMPT_KEPT]}\n[...]\n{content[-PROMPT_KEPT:]}"


def kept(home: HermesHome, outcome: Outcome) -> dict[str, Any]:
    """The last line: what state.db holds of the sessions of the scenario."""
    rows = {row["id"]: row for row in sessions(home.path)}
    return {
        "how": outcome.how,
        "sessions": {
            name: {column: rows[name][column] for column in SESSION_COLUMNS} for name in outcome.session_ids
        },
        "stored": {name: stored_messages(home.path, name) for name in outcome.session_ids},
        "raw_rows": {name: stored_rows(home.path, name, inactive=True) for name in outcome.session_ids},
    }


def main() -> None:
    """Record the scenarios named in the arguments, or all but those whose file would be too large."""
    for name in sys.argv[1:] or [name for name in SCENARIOS if name not in TOO_LARGE]:
        path = record(name)
        print(f"{path.stat().st_size:8d} {name}", flush=True)


if __name__ == "__main__":
    main()
