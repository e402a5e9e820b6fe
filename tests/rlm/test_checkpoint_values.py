"""Values of a kernel: what comes back is what was there, and what cannot costs its own name alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rlm.checkpoint_kernel import Kernel, carried, reasons


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session" / "a.checkpoint"


def test_plain_values_come_back_equal(path: Path) -> None:
    code = """
import datetime, decimal, pathlib, collections, re, fractions, uuid
values = [None, True, 3, 10**40, 1.5, 2j, "text \\ud800 \\0", b"raw", bytearray(b"x"), (1, (2,)), {1, 2},
          frozenset({3}), range(4), slice(1, 2), ..., datetime.date(2020, 1, 2), decimal.Decimal("1.10"),
          pathlib.PurePath("/a"), collections.Counter("aab"), collections.deque([1], 5), re.compile("a+"),
          collections.OrderedDict(a=1), fractions.Fraction(1, 3), uuid.UUID(int=5), len, int, print]
expected = repr(values)
nothing = None
nan = float("nan")
"""
    carried(path, code, "assert repr(values) == expected and nothing is None and nan != nan")


def test_modules_come_back_by_name_also_inside_values(path: Path) -> None:
    code = """
import json as j, os.path, xml.etree.ElementTree as ET
tools = {"path": os.path, "more": [j]}
"""
    check = """
import sys
assert j is sys.modules["json"] and tools["path"] is os.path and tools["more"] == [j]
assert ET.fromstring("<a/>").tag == "a"
"""
    carried(path, code, check)


def test_a_module_made_by_hand_is_not_promised(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run(
            "import types, sys\nm = types.ModuleType('m')\nn = sys.modules['n'] = types.ModuleType('n')"
        )
        saved = kernel.save(path)
    assert set(reasons(saved)) == {"m", "n"}
    assert "'m'" in reasons(saved)["m"] and "by hand" in reasons(saved)["n"]


def test_identity_survives(path: Path) -> None:
    code = """
one = other = [1]
inner = {}
outer = {"inner": inner, "deep": [[inner]]}
me = []; me.append(me)
left = {}; right = {"left": left}; left["right"] = right
class Node: pass
a = Node(); b = Node(); a.next = b; b.next = a
held = (inner,)
"""
    check = """
assert one is other and outer["inner"] is inner is outer["deep"][0][0] is held[0]
assert me[0] is me and left["right"] is right and right["left"] is left
assert a.next is b and b.next is a and type(a) is Node
"""
    carried(path, code, check)


def test_variables_that_share_nothing_have_records_of_their_own(path: Path) -> None:
    from tests.rlm.checkpoint_kernel import records_of

    with Kernel() as kernel:
        kernel.run("a = [1]; b = [a]; c = {'x': [1]}; d = (); e = ()\ndef f(): return a\ndef g(): return c")
        kernel.save(path)
    names = [names for _, names, _ in records_of(path)]
    assert sorted(names) == [["a", "b"], ["c"], ["d", "e"], ["f"], ["g"]]


def test_what_cannot_be_saved_is_named_with_the_reason(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("""
import threading
lock = threading.Lock()
def numbers(): yield 1
generator = numbers()
file = open("/dev/null")
kept = 1
deep = []
for _ in range(100_000): deep = [deep]
""")
        saved = kernel.save(path)
    why = reasons(saved)
    assert set(why) == {"lock", "generator", "file", "deep"}
    assert "lock" in why["lock"] and "generator" in why["generator"] and "TextIOWrapper" in why["file"]
    assert "nested too deeply" in why["deep"]
    assert {"kept", "numbers", "threading"} <= set(saved["saved"])


def test_values_that_reach_an_unpicklable_one_are_all_named_and_the_rest_of_their_group_is_saved(
    path: Path,
) -> None:
    with Kernel() as kernel:
        kernel.run("""
import threading
shared = [1]
first = {"lock": threading.Lock(), "shared": shared}; second = {"first": first}; first["second"] = second
good = {"shared": shared}
""")
        saved = kernel.save(path)
    assert set(reasons(saved)) == {"first", "second"}
    assert all("lock" in reason for reason in reasons(saved).values())
    with Kernel() as kernel:
        assert set(kernel.restore(path)["restored"]) == {"threading", "shared", "good"}
        assert kernel.value("good['shared'] is shared")


@pytest.mark.parametrize(
    "raised", ["SystemExit(3)", "GeneratorExit()", "Fatal()", "MemoryError()", "OSError(28)"]
)
def test_a_reduce_that_raises_anything_costs_one_name(path: Path, raised: str) -> None:
    with Kernel() as kernel:
        kernel.run(f"""
class Fatal(BaseException): pass
class Bad:
    def __reduce__(self): raise {raised}
bad = Bad(); good = [1]
""")
        saved = kernel.save(path)
    assert set(reasons(saved)) == {"bad"}
    assert {"good", "Bad", "Fatal"} <= set(saved["saved"])


def test_what_pickles_but_does_not_unpickle_is_found_before_saved_is_said(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("""
class Strict(Exception):
    def __init__(self, code, text): super().__init__(text)
error = Strict(1, "two arguments")
class Never:
    def __setstate__(self, state): raise SystemExit
    def __getstate__(self): return 1
never = Never()
data = {"fine": 1}
""")
        saved = kernel.save(path)
    assert set(reasons(saved)) == {"error", "never"}
    assert all("does not unpickle" in reason for reason in reasons(saved).values())


def test_hostile_values_do_not_disturb_the_others(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("""
def refuse(*args): raise SystemExit("no")
class Meta(type):
    __name__ = property(refuse)
    __repr__ = __hash__ = __eq__ = __instancecheck__ = refuse
class Hostile(metaclass=Meta):
    __slots__ = ()
    __repr__ = __eq__ = __hash__ = __bool__ = __len__ = __getattr__ = refuse
    __class__ = property(refuse)
    __reduce_ex__ = refuse
class Mute:
    def __reduce__(self): raise Loud()
class Loud(Exception):
    def __str__(self): raise SystemExit
    __repr__ = __str__
class Long:
    def __reduce__(self): raise ValueError("x" * 10_000_000)
value = Hostile(); mute = Mute(); long = Long(); fine = 5
N = type("N" * 100_000, (), {"__reduce__": refuse}); named = N()
globals()[5] = "a key that is no name"
class Name(str): pass
globals()[Name("odd")] = 1
""")
        saved = kernel.save(path)
    assert saved.get("ok"), saved
    assert {"value", "long", "named", "<int>", "<Name>"} <= set(reasons(saved))
    assert reasons(saved)["mute"] == "Loud"
    assert all(len(row["reason"]) <= 300 and len(row["type"]) <= 100 for row in saved["skipped"])
    assert "fine" in saved["saved"]


def test_any_name_of_a_variable_is_saved_and_restored(path: Path) -> None:
    code = r"""
names = ["../../x", "/tmp/evil", "n" * 10_240, "\ud800", "nul\0", "", "terminal", "__mine__", "ä", "_"]
for name in names: globals()[name] = ["value of", name]
del name
"""
    carried(path, code, "for n in names: assert globals()[n] == ['value of', n]\ndel n")


def test_a_restored_name_is_bound_whole_or_not_at_all(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("""
import os
class Picky:
    def __setstate__(self, state):
        if os.environ.get("REFUSE"): raise RuntimeError("not today")
        self.__dict__.update(state)
picky = Picky(); picky.x = 1
pair = [picky]
other = 1
""")
        assert kernel.save(path)["skipped"] == []
    with Kernel() as kernel:
        kernel.run("import os; os.environ['REFUSE'] = '1'")
        restored = kernel.restore(path)
        assert {row["name"]: row["reason"] for row in restored["failed"]} == dict.fromkeys(
            ["picky", "pair"], "RuntimeError: not today"
        )
        assert kernel.value("'picky' in globals() or 'pair' in globals()") is False
        assert kernel.value("other") == 1


def test_a_class_that_cannot_be_imported_costs_its_own_names(path: Path, tmp_path: Path) -> None:
    (tmp_path / "vanishing.py").write_text("class Thing:\n    pass\n")
    with Kernel() as kernel:
        kernel.run(
            f"import sys; sys.path.append({str(tmp_path)!r})\n"
            "import vanishing\nthing = vanishing.Thing()\nx = 1"
        )
        assert set(kernel.save(path)["saved"]) == {"sys", "vanishing", "thing", "x"}
    with Kernel() as kernel:
        restored = kernel.restore(path)
        assert set(restored["restored"]) == {"sys", "x"}
        assert {row["name"] for row in restored["failed"]} == {"vanishing", "thing"}
        assert all("vanishing" in row["reason"] for row in restored["failed"])


def test_what_exists_is_kept_unless_overwriting_is_asked_for(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("a = 'old'; b = 'old'; c = ['old']\nclass K: version = 1")
        kernel.save(path)
        kernel.run("b = 'new'\nclass K: version = 2\nc.append('in place')")
        kernel.run("del a")
        restored = kernel.restore(path)
        assert sorted(restored["kept"]) == ["K", "b", "c"] and restored["restored"] == ["a"]
        assert kernel.value("[a, b, c, K.version]") == ["old", "new", ["old", "in place"], 2]
        restored = kernel.restore(path, overwrite=True)
        assert restored["kept"] == []
        assert kernel.value("[a, b, c, K.version]") == ["old", "old", ["old"], 1]


def test_a_large_value_costs_no_copy_in_memory(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("import hashlib, resource; big = bytes(300 << 20); small = 1")
        before = kernel.value("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss")
        saved = kernel.save(path)
        assert saved["ok"] and saved["size"] > 300 << 20
        grown = kernel.value("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss") - before
        assert grown < 100 << 10  # kilobytes
    with Kernel() as kernel:
        assert "big" in kernel.restore(path)["restored"]
        assert kernel.value("len(big)") == 300 << 20


def test_a_thread_that_adds_names_does_not_disturb_a_save(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("""
import threading
stop = False
def add():
    n = 0
    while not stop:
        globals()[f"added_{n % 5000}"] = n
        if n % 7 == 0: globals().pop(f"added_{(n * 3) % 5000}", None)
        n += 1
data = [{"k": i} for i in range(20_000)]
thread = threading.Thread(target=add, daemon=True); thread.start()
""")
        for _ in range(3):
            saved = kernel.save(path)
            assert saved["ok"] and "data" in saved["saved"]
        kernel.run("stop = True; thread.join()")


def test_sharing_is_found_within_a_bounded_number_of_objects() -> None:
    from hermes_rlm.kernel.child.saving.groups import grouped

    shared: list = []
    assert grouped([[shared], [[shared]], []], {}) == [[0, 1], [2]]
    assert grouped([shared, shared], {}) == [[0, 1]]
    endless = [list(range(1000)) for _ in range(1000)]
    assert grouped([endless, [endless[0]], [shared], (shared,)], {}, limit=5000) == [[0, 1], [2, 3]]


def test_arrays_and_tables_come_back(path: Path) -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("pandas")
    import sys

    code = """
import numpy as np, pandas as pd
grid = np.arange(12.0).reshape(3, 4)
table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
when = pd.Timestamp("2020-01-01", tz="UTC")
kinds = [np.float32(1.5), np.dtype("int8"), np.int64, np.mean]
"""
    check = "assert grid.sum() == 66 and table.shape == (2, 2) and table.a.sum() == 3 and kinds[3] is np.mean"
    carried(path, code, check, f"__import__('sys').path[:] = {sys.path!r}")
