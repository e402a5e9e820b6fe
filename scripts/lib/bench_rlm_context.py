"""What six follow-up questions about one data set cost: execute_code, which forgets, beside the kernel.

Both go through the host's own dispatch. Counted are the bytes of code the model writes and of replies it
reads, and, over all requests of the conversation, everything it is sent: schemas and history.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from typing import Any

from bench_rlm_measure import child, home, median, p, ratio, row

ROWS, FEW_ROWS = 200_000, 200
ROUNDS = 3

LOAD = """import sqlite3
connection = sqlite3.connect({path!r})
connection.row_factory = sqlite3.Row
orders = [dict(row) for row in connection.execute("select * from orders")]
"""
QUESTIONS = (
    "print(len(orders), sum(o['amount'] for o in orders))",
    "from collections import Counter\nprint(Counter(o['city'] for o in orders).most_common(5))",
    "late = [o for o in orders if o['days'] > 25]\n"
    "print(len(late), sum(o['amount'] for o in late) / len(late))",
    "from statistics import median\nprint({s: median(o['amount'] for o in orders if o['status'] == s)"
    " for s in ('open', 'paid', 'void')})",
    "best = max(orders, key=lambda o: o['amount'])\nprint(best)",
    "totals = {}\nfor o in orders:\n    totals[o['customer']] = totals.get(o['customer'], 0) + o['amount']\n"
    "print(sorted(totals.items(), key=lambda t: -t[1])[:5])",
)
# The same questions where the data base can answer: nothing is loaded, so nothing is gained by keeping it.
IN_SQL = (
    "select count(*), sum(amount) from orders",
    "select city, count(*) n from orders group by city order by n desc limit 5",
    "select count(*), avg(amount) from orders where days > 25",
    "select status, avg(amount) from orders group by status",
    "select * from orders order by amount desc limit 1",
    "select customer, sum(amount) s from orders group by customer order by s desc limit 5",
)
ASK_SQL = "import sqlite3\nprint(sqlite3.connect({path!r}).execute({sql!r}).fetchall())"


def make_data(path: str, rows: int) -> None:
    source = random.Random(1)
    cities = [f"city {number}" for number in range(40)]
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "create table orders"
            " (id integer, customer integer, city text, status text, amount real, days integer)"
        )
        connection.executemany(
            "insert into orders values (?, ?, ?, ?, ?, ?)",
            (
                (
                    number,
                    source.randrange(5000),
                    cities[int(source.random() ** 2 * 40)],
                    ("open", "paid", "paid", "void")[source.randrange(4)],
                    source.randrange(1, 100_000) / 100,
                    source.randrange(31),
                )
                for number in range(rows)
            ),
        )
    connection.close()


class Conversation:
    """Calls one tool of the host in a session of its own and counts what goes to and from the model."""

    def __init__(self, host: Any, tool: str, session: str) -> None:
        self._host, self._tool, self._session = host, tool, session
        self.seconds: list[float] = []
        self.exchanged: list[int] = []
        self.said: list[str] = []

    def ask(self, code: str) -> None:
        arguments = {"code": code}
        began = time.perf_counter()
        reply = self._host.ask(self._tool, arguments, self._session)
        self.seconds.append(time.perf_counter() - began)
        self.exchanged.append(len(json.dumps(arguments).encode()) + len(reply.encode()))
        self.said.append(_output(reply))

    def figures(self) -> dict[str, Any]:
        return {"seconds": self.seconds, "bytes": self.exchanged}


class Host:
    """The host's dispatch, and the schemas the model is sent."""

    def __init__(self) -> None:
        import model_tools

        self._model_tools = model_tools

    def ask(self, tool: str, arguments: dict[str, Any], session: str) -> str:
        return self._model_tools.handle_function_call(tool, arguments, session_id=session, task_id=session)

    def end(self, session: str) -> None:
        sys.modules["hermes_plugins.hermes_rlm.kernel.pool"].POOL.end_session(home(), session, "the bench")

    def schema_bytes(self, prefix: str) -> int:
        """Bytes of the tools whose name begins with ``prefix``, as the model is sent them."""
        toolsets = ["rlm", "code_execution"]
        tools = self._model_tools.get_tool_definitions(enabled_toolsets=toolsets, quiet_mode=True)
        return sum(len(json.dumps(tool)) for tool in tools if tool["function"]["name"].startswith(prefix))


def _output(reply: str) -> str:
    """What a script printed, whichever tool ran it. Raises RuntimeError when it failed."""
    found = json.loads(reply)
    if not found.get("ok", found.get("status") == "success"):
        raise RuntimeError(f"a question failed: {reply[:500]}")
    return found.get("stdout", found.get("output", "")).strip()


def task_context() -> dict[str, Any]:
    host = Host()
    large, small = str(home() / "orders.db"), str(home() / "few.db")
    make_data(large, ROWS)
    make_data(small, FEW_ROWS)
    host.ask("rlm_exec", {"code": "1+1"}, "warm")
    host.ask("execute_code", {"code": "1+1"}, "warm")
    found: dict[str, Any] = {
        "schemas": {"ours": host.schema_bytes("rlm_"), "theirs": host.schema_bytes("execute_code")}
    }
    for name, path in (("large", large), ("small", small), ("sql", large), ("script", large)):
        found[name] = {"ours": [], "theirs": []}
        for number in range(ROUNDS):
            sides = ["ours", "theirs"]
            answers = {}
            for side in sides if number % 2 else reversed(sides):
                talk = _talk(host, side, f"{name}-{number}", path, name)
                found[name][side].append(talk.figures())
                answers[side] = talk.said
            if answers["ours"] != answers["theirs"]:
                raise RuntimeError(f"the answers differ: {answers}")
            host.end(f"{name}-{number}")
    return found


def _talk(host: Host, side: str, session: str, path: str, kind: str) -> Conversation:
    talk = Conversation(host, "rlm_exec" if side == "ours" else "execute_code", session)
    load = LOAD.format(path=path)
    if kind == "script":
        talk.ask(load + "\n".join(QUESTIONS))
        return talk
    for number, question in enumerate(QUESTIONS):
        if kind == "sql":
            talk.ask(ASK_SQL.format(path=path, sql=IN_SQL[number]))
        elif side == "ours" and number:
            talk.ask(question)
        else:
            talk.ask(load + question)
    return talk


def sent_in_all(exchanged: list[int], schemas: int) -> int:
    """Bytes the model is sent in a conversation: each request has the schemas and what was said before."""
    return sum(schemas + sum(exchanged[:number]) for number in range(1, len(exchanged) + 1))


def report_context() -> None:
    found = child("bench_rlm_context:context", host=True)
    schemas = found["schemas"]
    _rows_of(f"six questions, {ROWS:,} rows", found["large"], schemas)
    ours, theirs = (found["large"][side][0]["bytes"] for side in ("ours", "theirs"))
    row("  schemas of rlm_*, each request", schemas["ours"], "B")
    row("  schema of execute_code, each request", schemas["theirs"], "B")
    pays = _pays_after(ours, theirs, schemas)
    row("  questions until less is sent with both schemas", pays, "")
    one = {
        side: [{"seconds": talk["seconds"][:1], "bytes": talk["bytes"][:1]} for talk in found["large"][side]]
        for side in ("ours", "theirs")
    }
    _rows_of("losing case: a single question", one, schemas)
    _rows_of("losing case: all six in one script", found["script"], schemas)
    _rows_of(f"losing case: six questions, {FEW_ROWS} rows", found["small"], schemas)
    _rows_of("losing case: six questions SQL answers", found["sql"], schemas)


def _rows_of(what: str, talks: dict[str, list[dict[str, Any]]], schemas: dict[str, int]) -> None:
    """Bytes and seconds of the kernel's side, and how many times as much the other one takes."""
    size = {side: [float(sum(talk["bytes"])) for talk in talks[side]] for side in talks}
    taken = {side: [sum(talk["seconds"]) for talk in talks[side]] for side in talks}
    row(f"{what}, bytes", median(size["ours"]), "B")
    row("  execute_code", median(size["theirs"]), "B")
    row("  execute_code against the kernel, bytes", p(size["theirs"], 50) / p(size["ours"], 50), "x")
    ours, theirs = (talks[side][0]["bytes"] for side in ("ours", "theirs"))
    execute_code = sent_in_all(theirs, schemas["theirs"])
    instead, beside = (sent_in_all(ours, schemas["ours"] + other) for other in (0, schemas["theirs"]))
    row("    all that is sent, one tool's schemas each", execute_code / instead, "x")
    row("    all that is sent, with both schemas", execute_code / beside, "x")
    row("  seconds", median(taken["ours"]), "s")
    row("  execute_code against the kernel, seconds", ratio(taken["theirs"], taken["ours"]), "x")
    if len(ours) > 1:
        for name, side in (("one more question", "ours"), ("one more by execute_code", "theirs")):
            each = [seconds for talk in talks[side] for seconds in talk["seconds"][1:]]
            row(f"  {name}", median(each), "s")


def _pays_after(ours: list[int], theirs: list[int], schemas: dict[str, int]) -> int | None:
    """The number of questions after which less is sent, with the schemas of both tools against one's.

    None when it is more than 100. Later questions are as the ones that were asked.
    """
    while len(ours) < 100:
        ours, theirs = ours + ours[1:6], theirs + theirs[1:6]
    for number in range(1, 101):
        both = sent_in_all(ours[:number], schemas["ours"] + schemas["theirs"])
        if both < sent_in_all(theirs[:number], schemas["theirs"]):
            return number
    return None
