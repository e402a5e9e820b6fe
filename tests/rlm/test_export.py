"""The exported script gives the live names of its session again, and leaves out what they do not need."""

from __future__ import annotations

import ast
import asyncio
import builtins
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hermes_rlm import cells, export, sessions, slicing
from hermes_rlm.cells import CUT_MARK, LEFT_OUT, Cell


class Session:
    """Runs cells as a kernel does, and writes down what its journal would."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.entries: list[Cell] = []
        self.loop = asyncio.new_event_loop()
        self._saved: tuple[int, dict[str, Any]] = (0, {})

    def run(self, *sources: str) -> Session:
        for source in sources:
            before, ok = dict(self.names), True
            try:
                code = compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
                result = eval(code, self.names)
                if code.co_flags & 0x80:
                    self.loop.run_until_complete(result)
            except SystemExit as error:
                ok = not error.code
            except Exception:
                ok = False
            self.note(source, ok, before)
        return self

    def note(self, source: str, ok: bool, before: dict[str, Any]) -> None:
        own = {name for name in self.names if not name.startswith("__")}
        self.entries.append(
            Cell(
                number=self.last + 1,
                at=1_700_000_000.0 + self.last,
                ok=ok,
                code=source,
                assigned=tuple(
                    name for name in own if name not in before or before[name] is not self.names[name]
                ),
                deleted=tuple(name for name in before if name not in self.names),
            )
        )

    def event(self, event: str, *names: str, as_of: int = 0) -> Session:
        field = "assigned" if event == "restored" else "deleted"
        self.entries.append(Cell(self.last, 1_700_000_000.0, event=event, as_of=as_of, **{field: names}))
        return self

    @property
    def last(self) -> int:
        return self.entries[-1].number if self.entries else 0

    def script(self) -> str:
        return export.script(self.entries, "s1")

    def included(self) -> list[int]:
        return [self.entries[index].number for index in slicing.of_live_names(self.entries).cells]


def names_of(script: str) -> dict[str, Any]:
    """Run a script; return the names it leaves, without those of its own machinery."""
    found: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(script, "<script>", "exec", dont_inherit=True), found)
    return {name: value for name, value in found.items() if not name.startswith("_")}


def shown(names: dict[str, Any]) -> dict[str, str]:
    return {
        name: repr(value) if not callable(value) else getattr(value, "__name__", "")
        for name, value in names.items()
        if not name.startswith("_")
    }


def check(session: Session, *, needed: list[int] | None = None) -> str:
    """The script gives what the session had, from the cells expected; it is returned."""
    script = session.script()
    made, wanted = shown(names_of(script)), shown(session.names)
    assert {name: made.get(name) for name in wanted} == wanted
    if needed is not None:
        assert session.included() == needed
    return script


# What is needed, and what is not ------------------------------------------------------------------


def test_cells_that_no_live_name_needs_are_left_out() -> None:
    session = Session().run("a = 1", "print(a)", "b = a + 1", "len([a, b])", "b = a + 2", "print(b, a)")
    script = check(session, needed=[1, 5])
    assert "# cell 1\na = 1\n" in script and "# cell 5\nb = a + 2\n" in script
    assert "# Left out, as no live name needs them: cells 2-4, 6." in script


@pytest.mark.parametrize(
    ("sources", "needed"),
    [
        (["a = []", "a.append(1)", "len(a)"], [1, 2]),
        (["a = {}", "a['k'] = 1", "a.get('k')"], [1, 2]),
        (["a = [1, 2]", "del a[0]", "print(a)"], [1, 2]),
        (["a = [1]", "a += [2]"], [1, 2]),
        (["a = [1]", "a = a + [2]"], [1, 2]),
        (["class P: pass", "p = P()", "p.x = 1", "p.x"], [1, 2, 3]),
        (["a = [3, 1]", "a.sort()", "b = a[0]", "del a"], [1, 2, 3, 4]),
        (["import random", "random.seed(3)", "r = random.random()"], [1, 2, 3]),
        (["from random import seed", "import random", "random.seed(1)", "x = random.random()"], [1, 2, 3, 4]),
        (["import json", "json.dumps([1])", "t = json.dumps({})"], [1, 3]),
        (["import heapq", "h = []", "heapq.heappush(h, 3)"], [1, 2, 3]),
        (["from heapq import heappush", "h = []", "heappush(h, 3)"], [1, 2, 3]),
        (["def f(x): x.append(1)", "a = []", "f(a)", "len(a)"], [1, 2, 3]),
        (["a = 1", "a = 2", "a = 3"], [3]),
        (["x = 0", "def f(): return g()", "def g(): return x", "y = f()"], [1, 2, 3, 4]),
        (["t = []\ndef add(v): t.append(v)", "add(1)", "add(2)"], [1, 2, 3]),
        (["n = 0\ndef inc():\n    global n\n    n += 1", "inc()", "inc()"], [1, 2, 3]),
        (["a, (b, *c) = 1, (2, 3)", "for i in range(3): a = i", "i = c"], [1, 2, 3]),
        (["rows = [{}, {}]", "for row in rows: row['x'] = 1", "for row in [1]: pass"], [1, 2, 3]),
        (["rows = [{}, {}]", "_ = [row.update(x=1) for row in rows]"], [1, 2]),
        (["import os.path as p", "x = p.join('a', 'b')"], [1, 2]),
        (["try:\n    import nothing_here\nexcept ImportError:\n    nothing_here = None", "1"], [1]),
        (["if (n := 10) > 5: big = True", "n"], [1]),
        (["exec('hidden = 1')", "other = hidden"], [1, 2]),
        (["globals()['g'] = 4", "h = g * 2"], [1, 2]),
        (["from math import *", "r = sqrt(4)"], [1, 2]),
        (["x = [1, 2]\ny = x", "y.append(3)", "del y"], [1, 2, 3]),
        (["x = [1]", "box = {}", "box['x'] = x", "x.append(2)", "del x"], [1, 2, 3, 4, 5]),
        (["x = [1]", "box = []", "box.append(x)", "x.append(2)", "x = 0"], [1, 2, 3, 4, 5]),
        (["def outer():\n    def inner(): return k\n    return inner", "k = 5", "v = outer()()"], [1, 2, 3]),
        (["class A:\n    y = 1\n    z = y\n    def m(self): return w", "w = 2", "a = A().m()"], [1, 2, 3]),
        (["class A:\n    def m(self): return w", "a = A()", "w = 2", "b = a.m()", "w = 3"], [1, 2, 3, 4, 5]),
        (["x = 5", "x = [x for x in [x, 1]]"], [1, 2]),
        (["import dataclasses\n@dataclasses.dataclass\nclass D:\n    x: int = 1", "d = D()", "d"], [1, 2]),
        (["T = int", "def f(a: T) -> T: return a", "del T"], [1, 2, 3]),
        (["import itertools", "c = itertools.count()", "first = next(c)", "second = next(c)"], [1, 2, 3, 4]),
    ],
)
def test_what_made_or_changed_a_live_name_is_in(sources: list[str], needed: list[int]) -> None:
    session = Session().run(*sources)
    made, wanted = shown(names_of(session.script())), shown(session.names)
    assert made.keys() >= wanted.keys()
    # The text of other objects holds their address, which another run does not repeat.
    assert all(made[name] == text for name, text in wanted.items() if " object at 0x" not in text)
    deletions = {number for number, source in enumerate(sources, 1) if source.startswith("del ")}
    assert set(session.included()) - deletions == set(needed) - deletions


def test_a_name_that_was_deleted_is_not_live() -> None:
    session = Session().run("a = 1", "b = 2", "del a")
    assert check(session, needed=[2]).count("# cell ") == 1


def test_nothing_live_is_a_script_too() -> None:
    assert names_of(export.script([])) == {}
    assert "its journal holds no cells" in export.script([])
    script = Session().run("a = 1", "del a").script()
    assert names_of(script) == {} and "Live names: none." in script


# Cells that cannot simply be pasted ---------------------------------------------------------------


def test_a_cell_that_failed_partway_gives_what_it_bound() -> None:
    session = Session().run("a = 1\nb = 2\n1 / 0\nc = 3", "d = a + b")
    script = check(session, needed=[1, 2])
    assert "# cell 1, failed partway: it bound a, b before its error\ntry:\n    a = 1\n" in script


def test_a_failed_query_is_left_out_and_a_failed_change_is_not() -> None:
    session = Session().run("a = [1]", "a.nothing()", "a.append(2); a.nothing()")
    check(session, needed=[1, 3])
    session = Session().run("a = []", "for i in range(3):\n    a.append(1 // (1 - i))")
    check(session, needed=[1, 2])


def test_a_failed_cell_ends_where_its_name_was_missing() -> None:
    session = Session().run("a = []\nb = 1", "del b", "c = 1; a.append(b)\na.append(2)", "b = 5")
    assert "a.append(2)" not in check(session)
    session = Session().run("a = [1]", "a.append(2); missing\na.append(3)")
    check(session, needed=[1, 2])


def test_sys_exit_ends_its_cell_and_not_the_script() -> None:
    session = Session().run("import sys\na = 1\nsys.exit()\nb = 2", "c = 3", "d = 4; exit(3)")
    check(session)


def test_top_level_await_runs_in_one_loop() -> None:
    session = Session().run(
        "import asyncio\nqueue = asyncio.Queue()",
        "async def get():\n    return await queue.get()",
        "task = asyncio.create_task(get())\nawait queue.put('x')\ntext = '''one\n  two'''",
        "value = await task",
        "async with asyncio.Lock() as lock:\n    inside: int = 1",
        "numbers = [n async for n in (i for i in [])] if False else [await asyncio.sleep(0, 3)]",
    )
    script = session.script()
    assert {"text": "one\n  two", "value": "x", "inside": 1, "numbers": [3]}.items() <= names_of(
        script
    ).items()
    assert script.count("new_event_loop()") == 1
    session.loop.close()


def test_what_no_function_can_hold_is_awaited_too() -> None:
    session = Session().run("import asyncio", "from math import *\nr = await asyncio.sleep(0, sqrt(9))")
    assert names_of(session.script())["r"] == 3.0
    session.loop.close()


def test_a_failed_cell_with_await_is_both() -> None:
    session = Session().run("import asyncio", "s = '''a\nb'''\nx = await asyncio.sleep(0, 7)\n1 / 0")
    check(session)
    session.loop.close()


def test_names_of_the_script_itself_give_way_to_those_of_the_cells() -> None:
    session = Session().run("import asyncio as _asyncio", "_loop = 1", "_cell_3 = await _asyncio.sleep(0, 2)")
    found: dict[str, Any] = {}
    exec(session.script(), found)
    assert (found["_loop"], found["_cell_3"]) == (1, 2)
    session.loop.close()


def test_future_imports_and_global_statements_do_not_break_the_script() -> None:
    session = Session().run(
        "x = 1",
        "from __future__ import annotations\ndef f(a: undefined_type): return a",
        "global x\nx = 2",
        "y = f(x)",
    )
    script = check(session)
    body = [line for line in script.splitlines() if line and not line.startswith("#")]
    assert body[0] == "from __future__ import annotations"


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (Cell(1, 0.0, True, "x = 1\ny = (2," + CUT_MARK, ("x",)), "its code was recorded in part"),
        (Cell(1, 0.0, True, LEFT_OUT, ("x",)), "its code was not recorded"),
        (Cell(1, 0.0, False, "x = 1\nwhile True: pass", ("x",), event="interrupted"), "it was interrupted"),
        (Cell(1, 0.0, True, "x = <redacted:secret:1>", ("x",)), "no Python that can be read"),
        (Cell(1, 0.0, True, "x = '\ud800'; y = \x00", ("x",)), "no Python that can be read"),
        (Cell(1, 0.0, True, "x = " + "(" * 3000 + ")" * 3000, ("x",)), "no Python that can be read"),
    ],
)
def test_what_cannot_be_run_again_stands_as_a_comment(cell: Cell, why: str) -> None:
    script = export.script([cell])
    assert names_of(script) == {}
    assert why in script and "WARNING: stands here as a comment" in script
    script.encode("ascii")


def test_no_text_of_a_cell_or_an_id_gets_out_of_its_comment() -> None:
    evil = "x\nimport os; os._exit(3)\r\u2028\x0cimport sys"
    for session_id in (evil, "\ud800", "\x00", "s" * 10_000, "a/../b"):
        cell = Cell(1, 0.0, True, f"({evil}", ("x", evil))
        script = export.script([cell], session_id)
        assert all(line.startswith("#") or not line for line in script.splitlines())
        assert names_of(script) == {}


# What the header says -----------------------------------------------------------------------------


def test_the_header_names_session_range_and_names() -> None:
    script = Session().run("a = 1", "b = 2").script()
    assert script.startswith("# Session s1: the cells that produced its live names, as one script.\n")
    assert (
        "# Recorded 2023-11-14T22:13:20Z to 2023-11-14T22:13:21Z; cells 1 to 2.\n# Live names: a, b.\n"
        in script
    )


def test_placeholders_tools_and_unknown_names_are_warned_of() -> None:
    token = "<redacted:github:1>"
    entries = [
        Cell(3, 0.0, True, f"key = '{token}'", ("key",)),
        Cell(4, 0.0, True, "text = read_file('x') + str(older)", ("text",)),
    ]
    script = export.script(entries)
    compile(script, "x", "exec")
    words = " ".join(line.lstrip("# ") for line in script.splitlines() if line.startswith("#"))
    assert f"put in your own: {token} (cell 3)." in words
    assert "tools of the kernel, which a script does not have: read_file (cell 4)." in words
    assert "defined by no cell here: older (cell 4)." in words


# The life of a session ----------------------------------------------------------------------------


def test_a_reset_ends_what_was_before_it() -> None:
    session = Session().run("a = 1", "b = 2").event("reset")
    session.names = {}
    session.run("b = 3")
    check(session, needed=[3])


def test_lost_names_are_not_live_and_restored_ones_are_made_by_their_cells() -> None:
    session = Session().run("a = [1]", "b = 2", "a.append(3)", "c = 5").event("lost")
    session.names = {"a": [1], "b": 2}
    session.event("restored", "a", "b", as_of=2)
    check(session, needed=[1, 2])
    session = Session().run("a = 1", "b = 2").event("lost", "b")
    del session.names["b"]
    check(session, needed=[1])


def test_restored_names_of_unknown_making_are_listed() -> None:
    session = Session().run("a = 1").event("restored", "big", "other", as_of=0)
    script = session.script()
    assert "no cell here makes them: big, other." in script
    assert names_of(script) == {"a": 1}


def test_an_earlier_state_than_the_script_gives_is_told() -> None:
    session = Session().run("a = 1", "a = 2; b = 3").event("restored", "a", as_of=1)
    script = session.script()
    assert session.included() == [1, 2]
    assert "in an earlier state than this script gives them: a." in " ".join(script.split("\n# "))


def test_the_same_journal_gives_the_same_bytes_in_every_process() -> None:
    program = (
        "from hermes_rlm import export; from hermes_rlm.cells import Cell; print(export.script(["
        "Cell(1, 0.0, True, 'a = b = c = [q, r, s]; import os, sys; d = {*a}', ('a','b','c','d','os','sys')),"
        "Cell(2, 0.0, True, 'z = await f(a, y, x)', ('z',))]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_the_journal_of_a_real_kernel_is_exported(agent: Any) -> None:
    for code in (
        "rows = [{'n': n} for n in range(3)]",
        "sum(row['n'] for row in rows)",
        "for row in rows: row['n'] *= 2",
        "import asyncio\ntotal = await asyncio.sleep(0, sum(row['n'] for row in rows))",
        "half = total / 2\nhalf.missing",
        "del row",
    ):
        agent.run(code)
    found = cells.read(sessions.directory(agent.home, "s"))
    assert found.session_id == "s" and [cell.number for cell in found.cells] == [1, 2, 3, 4, 5, 6]
    made = names_of(export.script(found.cells, "s"))
    assert (made["rows"], made["total"], made["half"]) == ([{"n": 0}, {"n": 2}, {"n": 4}], 6, 3.0)
    agent.evict()
    agent.run("more = 1")
    agent.call("rlm_reset", {})
    agent.run("last = 1")
    made = names_of(export.script(cells.read(sessions.directory(agent.home, "s")).cells))
    assert made == {"last": 1}


# Any session --------------------------------------------------------------------------------------

_NAME = st.sampled_from("abcd")
_STATEMENT = st.one_of(
    st.builds("{0} = [{1}]".format, _NAME, st.integers(0, 9)),
    st.builds("{0} = {1}".format, _NAME, _NAME),
    st.builds("{0} = [{1}, 0]".format, _NAME, _NAME),
    st.builds("{0} = {1} + {2}".format, _NAME, _NAME, _NAME),
    st.builds("{0} = {1}[0]".format, _NAME, _NAME),
    st.builds("{0} = f({1})".format, _NAME, _NAME),
    st.builds("{0}.append({1})".format, _NAME, st.integers(0, 9)),
    st.builds("{0}.append({1}[:])".format, _NAME, _NAME),
    st.builds("{0}[0] = {1}".format, _NAME, st.integers(0, 9)),
    st.builds("{0} += [{1}]".format, _NAME, st.integers(0, 9)),
    st.builds("del {0}".format, _NAME),
    st.builds("print(len({0}))".format, _NAME),
    st.builds("for {0} in {1}: {0}.append(1)".format, _NAME, _NAME),
    st.builds("def f(x): x.append(len({0})); return {1}".format, _NAME, _NAME),
    st.builds("f({0})".format, _NAME),
    st.builds("1 / 0".format),
)


@pytest.mark.once
@settings(
    max_examples=300, deadline=None, report_multiple_bugs=False, phases=[Phase.explicit, Phase.generate]
)
@given(st.lists(st.lists(_STATEMENT, min_size=1, max_size=3).map("\n".join), max_size=10))
def test_any_session_is_made_again(sources: list[str]) -> None:
    real = builtins.print
    builtins.print = lambda *_: None
    try:
        session = Session().run("def f(x): return x\na, b, c, d = [1], [2], [], [[3]]", *sources)
        session.loop.close()
        check(session)
    finally:
        builtins.print = real
