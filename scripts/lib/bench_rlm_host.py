"""Figures of the plugin inside the real host: loading it, a tool call, a call from the kernel back."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_rlm_kernel import milliseconds
from bench_rlm_measure import ROOT, child, median, p, ratio, row, seconds, taking_turns
from bench_rlm_sides import Echo, Notebooks, running

SESSION = {"session_id": "bench", "task_id": "bench"}
EVERY_TOOL = ("read_file", "write_file", "search_files", "patch", "terminal", "web_search", "web_extract")
SMALL_FILE = "".join(f"line {number} of a small file\n" for number in range(20))
READS = 12


class Host:
    """The real host with the plugin enabled; calls go through its own dispatch."""

    def __init__(self) -> None:
        import model_tools

        self._call = model_tools.handle_function_call
        self.plugin = sys.modules["hermes_plugins.hermes_rlm"]
        self.hooks = sys.modules["hermes_plugins.hermes_rlm.hooks"]
        self.tools = sys.modules["hermes_plugins.hermes_rlm.tools"]
        functions = [{"function": {"name": name}} for name in EVERY_TOOL]
        # What a session has is known from its model requests; there is no model here.
        self.hooks.llm_request({"tools": functions}, **SESSION)

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        return self._call(tool, arguments, **SESSION)

    def run(self, code: str) -> dict[str, Any]:
        """Run a cell; its reply. Raises RuntimeError when it fails."""
        reply = json.loads(self.call("rlm_exec", {"code": code}))
        if not reply["ok"]:
            raise RuntimeError(f"{code[:60]!r}: {reply.get('error')}")
        return reply

    def handler(self, code: str) -> str:
        """Run a cell by the tool's handler, without the host's dispatch around it."""
        return self.tools.TOOLS[0].handler({"code": code}, **SESSION)


# Loading -------------------------------------------------------------------------------------


def task_register(host: str) -> dict[str, float]:
    """Import and register() as the host does, in a process that has the host loaded or not."""
    if host == "yes":
        import hermes_cli.config
        import hermes_cli.plugins  # noqa: F401
        import run_agent  # noqa: F401
    import importlib.util
    import types

    class Context:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *arguments, **keywords: None

    sys.path.remove(str(ROOT))
    sys.modules["hermes_plugins"] = parent = types.ModuleType("hermes_plugins")
    parent.__path__ = []
    folder = str(ROOT / "hermes_rlm")
    name = "hermes_plugins.hermes_rlm"
    began = time.perf_counter()
    spec = importlib.util.spec_from_file_location(
        name, f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.register(Context())
    return {"seconds": time.perf_counter() - began}


def report_register() -> None:
    child(
        "bench_rlm_host:register", "yes"
    )  # the first run writes the bytecode, as the host's first start does
    for what, host, bar in (
        ("import + register, host loaded", "yes", 10),
        ("  losing case: without the host", "no", None),
    ):
        times = [child("bench_rlm_host:register", host)["seconds"] for _ in range(5)]
        row(what, median(milliseconds(times)), "ms", bar)


# A tool call ---------------------------------------------------------------------------------


def task_handler() -> dict[str, Any]:
    began = time.perf_counter()
    host = Host()
    loaded = time.perf_counter()
    host.handler("1+1")
    first = time.perf_counter() - loaded
    echo, notebooks = Echo(), Notebooks()
    with running(echo, notebooks):
        host.call("execute_code", {"code": "print(1+1)"})
        notebooks.ask("boot")
        for _ in range(200):
            echo.trip()
            host.handler("1+1")
        kernel = taking_turns(1500, ours=lambda: seconds(lambda: host.handler("1+1")), theirs=echo.trip)
        blocks = {
            "handler": lambda: p([seconds(lambda: host.handler("1+1")) for _ in range(10)], 50),
            "ours": lambda: p([seconds(lambda: host.run("1+1")) for _ in range(10)], 50),
            "notebook": lambda: p([notebooks.ask("run", "1+1") for _ in range(10)], 50),
            "execute_code": lambda: seconds(lambda: host.call("execute_code", {"code": "print(1+1)"})),
        }
        found = taking_turns(16, **blocks)
    # Another session: what its first call costs when everything is loaded.
    fresh = []
    for number in range(8):
        told = {"session_id": f"fresh-{number}", "task_id": f"fresh-{number}"}
        fresh.append(seconds(lambda told=told: host.tools.TOOLS[0].handler({"code": "1+1"}, **told)))
    return {"turns": kernel, "blocks": found, "first": first, "load": loaded - began, "fresh": fresh}


def report_handler() -> None:
    found = child("bench_rlm_host:handler", host=True)
    turns, blocks = found["turns"], found["blocks"]
    row("rlm_exec `1+1`, handler, p50", median(milliseconds(turns["ours"])), "ms")
    row("  p99", p(milliseconds(turns["ours"]), 99), "ms", 2)
    row("  through the host's dispatch", median(milliseconds(blocks["ours"])), "ms")
    row("  ipykernel against the handler", ratio(blocks["notebook"], blocks["handler"]), "x")
    row("  execute_code `print(1+1)`, by dispatch", median(milliseconds(blocks["execute_code"])), "ms")
    row("  execute_code against rlm_exec, by dispatch", ratio(blocks["execute_code"], blocks["ours"]), "x")
    row("  losing case: a session's first call", median(milliseconds(found["fresh"])), "ms")
    row("  losing case: the process's first call", found["first"] * 1000, "ms")


# From the kernel back to the host ------------------------------------------------------------

CHEAP_ANSWER = json.dumps(
    {"success": True, "data": {"web": [{"title": "t", "url": "u", "description": "d"}]}}
)
CALLS, ROUNDS = 25, 20
CHEAP = """
from time import perf_counter
_times = []
for _number in range({calls}):
    _began = perf_counter()
    _found = web_search("anything")
    _times.append(round((perf_counter() - _began) * 1e6))
assert _found["success"]
_times
"""
READ = """
from time import perf_counter
_began = perf_counter()
_text = read_file({path!r})
_taken = round((perf_counter() - _began) * 1e6)
assert _text == {text!r}
[_taken]
"""


def task_bridge() -> dict[str, Any]:
    """What the way through the kernel adds is seen with a tool that does nothing; reads show its share.

    Every read is of another file: the host answers a second read of one in another, shorter way.
    """
    from tools.registry import registry

    host, place = Host(), Path.cwd()
    registry.get_entry("web_search").handler = lambda arguments, **_: CHEAP_ANSWER

    def inside(code: str) -> list[float]:
        return [one / 1e6 for one in json.loads(host.run(code)["value"])]

    def outside(tool: str, arguments: dict[str, Any]) -> float:
        began = time.perf_counter()
        answer = json.loads(host.call(tool, arguments))
        taken = time.perf_counter() - began
        assert answer.get("success") or "line 19" in answer["content"]
        return taken

    found: dict[str, list[float]] = {name: [] for name in ("cheap", "direct", "added", "read", "direct_read")}
    for number in range(ROUNDS + 1):
        bridged = inside(CHEAP.format(calls=CALLS))
        direct = [outside("web_search", {"query": "anything"}) for _ in range(CALLS)]
        if number:  # the first ones load what the host needs
            found["cheap"] += bridged
            found["direct"] += direct
            found["added"].append(p(bridged, 50) - p(direct, 50))
    for number in range(READS + 1):
        paths = [place / f"{side}-{number}.txt" for side in ("bridged", "direct")]
        for path in paths:
            path.write_text(SMALL_FILE, "utf-8")
        bridged = inside(READ.format(path=str(paths[0]), text=SMALL_FILE))
        direct = [outside("read_file", {"path": str(paths[1])})]
        if number:
            found["read"] += bridged
            found["direct_read"] += direct
    return found


def report_bridge() -> None:
    found = child("bench_rlm_host:bridge", host=True)
    row("host tool that does nothing, from the kernel", median(milliseconds(found["cheap"])), "ms")
    row("  by the host's own dispatch", median(milliseconds(found["direct"])), "ms")
    row("  added", median(milliseconds(found["added"])), "ms", 1)
    row("  losing case: p99 from the kernel", p(milliseconds(found["cheap"]), 99), "ms")
    row("    p99 by the host's own dispatch", p(milliseconds(found["direct"]), 99), "ms")
    row("read_file of a small file, from the kernel", median(milliseconds(found["read"])), "ms")
    row("  by the host's own dispatch", median(milliseconds(found["direct_read"])), "ms")
