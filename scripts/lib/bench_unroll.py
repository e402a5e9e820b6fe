"""The figures of hermes_unroll: what was measured, the bar, and their ratio (at most 1.00 is within the bar).

Every figure is measured in this run, in processes of its own where memory or start-up counts. Machines are
shared: compare ratios, not seconds, and run it twice before believing a miss.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

WORDS = random.Random(1).sample(
    [f"{a}{b}{c}" for a in "bcdfgklmnprst" for b in "aeiou" for c in "bdlmnrst"], 500
)
BYTECODE = Path(tempfile.gettempdir()) / f"hermes-bench-bytecode-{os.getuid()}"
SCRIPTS = {
    "ASCII": WORDS,
    "Cyrillic": ["данные", "запрос", "ответ", "модель", "файл", "ключевой", "строка", "память"],
    "CJK": ["数据", "请求", "回答", "模型", "文件", "关键", "字符串", "内存"],
    "emoji": ["🎉🚀", "👍", "🔥🔥", "🧪", "📦📎", "🦊"],
}


def text(random_: random.Random, size: int, words: list[str] = WORDS) -> str:
    """Return about `size` characters of words, with line breaks and a number now and then."""
    parts, length = [], 0
    while length < size:
        word = random_.choice(words)
        parts.append(word if len(parts) % 13 else f"\n{word}={len(parts)}")
        length += len(word) + 1
    return " ".join(parts)[:size]


class Session:
    """Fires the hooks of a session in the host's order and counts the bytes that are new."""

    def __init__(self, session_id: str, seed: int = 1, words: list[str] = WORDS) -> None:
        from hermes_unroll.hooks import HOOKS, MIDDLEWARE

        self.hooks, self.middleware = HOOKS, MIDDLEWARE
        self.id, self.random, self.words = session_id, random.Random(seed), words
        self.history: list[dict] = []
        self.events = self.unique = self.turn = 0
        self.system = {"role": "system", "content": self.new(4000)}
        self.fire("on_session_start", model="gpt-4o", platform="cli")

    def new(self, size: int) -> str:
        value = text(self.random, size, self.words)
        self.unique += len(value.encode("utf-8"))
        return value

    def fire(self, hook: str, events: int = 1, **arguments: object) -> None:
        self.hooks[hook](session_id=self.id, task_id=self.id, **arguments)
        self.events += events

    def until(self, events: int, result_size: int, calls: int = 5) -> Session:
        while self.events < events:
            self.one_turn(result_size, calls)
        return self

    def one_turn(self, result_size: int, calls: int) -> None:
        self.turn += 1
        turn = {"turn_id": f"{self.id}:{self.turn:08x}", "model": "gpt-4o", "platform": "cli"}
        user = self.new(200)
        self.history.append({"role": "user", "content": user})
        self.fire("pre_llm_call", user_message=user, conversation_history=list(self.history), **turn)
        api = {
            **turn,
            "provider": "openai",
            "base_url": "http://127.0.0.1:9/v1",
            "api_mode": "chat_completions",
        }
        for call in range(1, calls + 1):
            self.fire(
                "pre_api_request",
                api_request_id=f"{turn['turn_id']}:api:{call}",
                conversation_history=list(self.history),
                request_messages=[self.system, *self.history],
                api_call_count=call,
                **api,
            )
            self.answer(api, call, f"call_{self.turn}_{call}", result_size if call < calls else 0)
        self.fire("post_llm_call", 0, conversation_history=list(self.history), user_message=user, **turn)
        self.fire("on_session_end", completed=True, interrupted=False, **turn)

    def answer(self, api: dict, call: int, call_id: str, result_size: int) -> None:
        arguments = json.dumps({"command": self.new(60)})
        asked = [SimpleNamespace(id=call_id, name="terminal", arguments=arguments)] if result_size else []
        reply = SimpleNamespace(content=self.new(300), tool_calls=asked, finish_reason="stop")
        usage = {"input_tokens": 900, "output_tokens": 60, "cache_read_tokens": 100, "cache_write_tokens": 0}
        self.fire(
            "post_api_request",
            2,
            assistant_message=reply,
            usage=usage,
            api_duration=0.4,
            api_call_count=call,
            **api,
        )
        message = {"role": "assistant", "content": reply.content, "reasoning": None, "finish_reason": "stop"}
        if not asked:
            self.history.append(message)
            return
        function = {"name": "terminal", "arguments": arguments}
        self.history.append(
            {**message, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}
        )
        tool = {"tool_name": "terminal", "args": json.loads(arguments), "tool_call_id": call_id}
        result = self.new(result_size)
        self.fire("pre_tool_call", turn_id=api["turn_id"], **tool)
        self.fire("post_tool_call", turn_id=api["turn_id"], result=result, duration_ms=3, status="ok", **tool)
        self.history.append(
            {"role": "tool", "content": result, "tool_call_id": call_id, "tool_name": "terminal"}
        )


# Measuring -----------------------------------------------------------------------------------


def milliseconds(action: Callable[[int], object], count: int) -> list[float]:
    times = []
    for number in range(count):
        began = time.perf_counter()
        action(number)
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


def p(times: list[float], percent: int) -> float:
    times = sorted(times)
    return times[min(len(times) - 1, len(times) * percent // 100)]


def row(what: str, figure: float | None, bar: float | None, unit: str) -> None:
    if figure is None:
        print(f"{what:<66} not measured")
    elif bar is None:
        print(f"{what:<66} {figure:>10.3f} {unit:<5} {'no bar':>10}")
    else:
        verdict = "" if figure <= bar else "  MISS"
        print(f"{what:<66} {figure:>10.3f} {unit:<5} {bar:>10.3f} {figure / bar:>7.2f}{verdict}", flush=True)


def child(task: str, *arguments: object) -> dict:
    """Run one task of this file in a process of its own; return what it measured."""
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environment = {**os.environ, "HERMES_HOME": home, "PYTHONPYCACHEPREFIX": str(BYTECODE)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, __file__, "--task", task, *map(str, arguments)],
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
    return json.loads(done.stdout)


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def journal_bytes(session_id: str) -> int:
    from hermes_unroll import journal, sealing

    return sum(sealing.sizes(journal.session_dir(Path(os.environ["HERMES_HOME"]), session_id)).values())


# Tasks: each runs in a process of its own ----------------------------------------------------


def task_register(host: str) -> dict:
    """Import and register() as the host does, in a process that has the host loaded."""
    if host == "host":
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
    folder = str(ROOT / "hermes_unroll")
    began = time.perf_counter()
    name = "hermes_plugins.hermes_unroll"
    spec = importlib.util.spec_from_file_location(
        name, f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.register(Context())
    return {"ms": (time.perf_counter() - began) * 1000}


def task_events() -> dict:
    session = Session("events")
    results = [text(session.random, 2000) for _ in range(3000)]

    def event(number: int) -> None:
        session.fire(
            "post_tool_call",
            turn_id="t",
            tool_name="terminal",
            args={},
            tool_call_id="c",
            result=results[number],
        )

    for number in range(200):
        event(number)
    warm = milliseconds(lambda number: event(number + 200), 2800)
    large = [text(session.random, 200_000) for _ in range(20)]

    def big(number: int) -> None:
        session.fire("post_tool_call", turn_id="t", tool_name="terminal", args={}, result=large[number])

    return {"p50": p(warm, 50), "p95": p(warm, 95), "large": p(milliseconds(big, 20), 50)}


def task_threads() -> dict:
    """8 threads on 4 sessions, each firing an event every 10 ms."""
    sessions = [Session(f"thread-{number}") for number in range(4)]
    times: list[float] = []

    sources = [random.Random(number) for number in range(8)]
    results = [[text(source, 2000) for _ in range(300)] for source in sources]

    def work(number: int) -> None:
        own = []
        for result in results[number]:
            time.sleep(0.01)
            began = time.perf_counter()
            sessions[number % 4].fire(
                "post_tool_call", turn_id="t", tool_name="terminal", args={}, result=result
            )
            own.append((time.perf_counter() - began) * 1000)
        times.extend(own)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"p50": p(times, 50), "p95": p(times, 95)}


def task_history(copies: str) -> dict:
    """A request with 2 MB of history, 20 KB of it new; "copies": every message a new object each time."""
    session = Session("history")
    session.history = [
        {"role": ("user", "assistant")[n % 2], "content": session.new(2000)} for n in range(1000)
    ]
    started = session.unique
    times = []
    for request in range(30):
        session.history += [
            {"role": "tool", "tool_call_id": f"{request}.{n}", "content": session.new(2000)}
            for n in range(10)
        ]
        given = session.history
        if copies == "copies":
            given = [{**message, "content": "".join(list(message["content"]))} for message in given]
        began = time.perf_counter()
        session.fire(
            "pre_api_request",
            turn_id="t",
            conversation_history=list(given),
            request_messages=[session.system, *given],
        )
        times.append((time.perf_counter() - began) * 1000)
    return {
        "first": times[0],
        "ms": p(times[1:], 50),
        "ratio": journal_bytes("history") / session.unique,
        "began": started,
    }


def task_compile(events: str, words: str) -> dict:
    """Seal a session that another process has recorded: load, compile, generate, scan, write."""
    from hermes_unroll import journal, sealing

    home = Path(os.environ["HERMES_HOME"])
    unique = 0
    for session_id, count in (("warm", "10"), ("compile", events)):
        recorded = subprocess.run(
            [sys.executable, __file__, "--task", "record", session_id, count, words],
            stdout=subprocess.PIPE,
            check=True,
        )
        unique = json.loads(recorded.stdout)["unique"]
    sealing.seal(home, journal.session_dir(home, "warm"))
    before = resident_bytes()
    began = time.perf_counter()
    path = sealing.seal(home, journal.session_dir(home, "compile"))
    seconds = time.perf_counter() - began
    memory = peak_bytes() - before
    program = path.read_bytes()
    data = program[: program.index(b"\nDIGEST = ")]
    whole = statistics.median(milliseconds(lambda _: compile(program, "trace", "exec"), 5))
    alone = statistics.median(milliseconds(lambda _: compile(data, "data", "exec"), 5))
    replays = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-I", "-S", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        replays.append(time.perf_counter() - began)
    return {
        "seconds": seconds,
        "memory": memory / journal_bytes("compile"),
        "size": len(program) / unique,
        "compile": whole / alone,
        "replay": statistics.median(replays),
        "unique": unique,
    }


def task_record(session_id: str, events: str, words: str) -> dict:
    """Record a session of about 2 KB an event."""
    session = Session(session_id, words=SCRIPTS[words]).until(int(events), 11_500)
    return {"unique": session.unique}


def task_many() -> dict:
    """500 sessions of 200 events that never end, in one process."""
    resident = 0
    for number in range(1, 501):
        Session(f"many-{number}", seed=number).until(200, 500)
        if number == 100:
            resident = resident_bytes()
    return {"ratio": resident_bytes() / resident, "descriptors": len(os.listdir("/proc/self/fd"))}


def task_redact() -> dict:
    from hermes_unroll._common.redact import Redactor

    redactor, source = Redactor(), random.Random(3)
    small, large = text(source, 2000), text(source, 200_000)
    runs = [
        "0123456789abcdef" * 65536,
        "a" * 1048576,
        "@" * 1048576,
        "sk-" * 349525,
        "password=" * 116508,
        '{"a":' * 209715,
    ]
    return {
        "small": p(milliseconds(lambda _: redactor.text(small), 300), 50),
        "large": p(milliseconds(lambda _: redactor.text(large), 15), 50),
        "run": max(p(milliseconds(lambda _, run=run: redactor.text(run), 2), 0) for run in runs) / 1000,
    }


# The report ----------------------------------------------------------------------------------


def report_register() -> None:
    child("register", "host")  # the first run writes the bytecode, as the first start of the host does
    row(
        "import + register, host loaded", p([child("register", "host")["ms"] for _ in range(5)], 50), 10, "ms"
    )
    row(
        "  losing case: without the host",
        p([child("register", "alone")["ms"] for _ in range(5)], 50),
        None,
        "ms",
    )


def report_events() -> None:
    found = child("events")
    row("one event of 2 KB, p50", found["p50"], 0.3, "ms")
    row("one event of 2 KB, p95", found["p95"], 2, "ms")
    row("one tool result of 200 KB", found["large"], 10, "ms")
    found = child("threads")
    row("8 threads paced at 10 ms, p50", found["p50"], 0.3, "ms")
    row("8 threads paced at 10 ms, p95", found["p95"], 2, "ms")


def report_history() -> None:
    found = child("history", "live")
    row("request with 2 MB of history, 20 KB new", found["ms"], 10, "ms")
    row("journal against the unique bytes", found["ratio"], 1.5, "x")
    row("  losing case: the first request of a process that resumes", found["first"], None, "ms")
    row("  losing case: every message a new object", child("history", "copies")["ms"], None, "ms")


def report_compile() -> None:
    found = child("compile", 1000, "ASCII")
    row("compile 1,000 events", found["seconds"], 0.3, "s")
    row("  memory against the journal", found["memory"], 3, "x")
    row("trace against the unique bytes, ASCII", found["size"], 1.3, "x")
    row("Python's compile time against the data alone", found["compile"], 2, "x")
    row("full replay of 1,000 steps, process included", found["replay"], 0.4, "s")
    for words in list(SCRIPTS)[1:]:
        row(f"trace against the unique bytes, {words}", child("compile", 1000, words)["size"], 3.2, "x")
    found = child("compile", 10000, "ASCII")
    row("compile 10,000 events", found["seconds"], 3, "s")
    row("  memory against the journal", found["memory"], 3, "x")
    row("  losing case: full replay of 10,000 steps", found["replay"], None, "s")
    row(
        "  losing case: trace of 10 events against the unique bytes",
        child("compile", 10, "ASCII")["size"],
        None,
        "x",
    )


def report_many() -> None:
    found = child("many")
    row("resident memory, session 500 against session 100", found["ratio"], 1.1, "x")
    row("open descriptors after 500 sessions", found["descriptors"], 64, "")


def report_redact() -> None:
    found = child("redact")
    row("redact 2 KB", found["small"], 0.1, "ms")
    row("redact 200 KB", found["large"], 6, "ms")
    row("redact 1 MB of one unbroken run, the worst of six kinds", found["run"], 0.5, "s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only the reports whose name holds this word")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        from hermes_unroll import sealing

        sealing.start_child = lambda *arguments: None  # nothing else is to run beside what is measured
        print(json.dumps(globals()[f"task_{options.task[0]}"](*options.task[1:])))
        return 0
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"Python {platform.python_version()}, {machine}")
    print(f"{'':<66} {'figure':>10} {'':<5} {'bar':>10} {'ratio':>7}")
    for name in ("register", "events", "history", "compile", "many", "redact"):
        if options.only in name:
            globals()[f"report_{name}"]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
