"""Functions and classes made in a kernel come back, with their state, in an order that works."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_rlm.kernel.child.definitions import Definitions
from tests.rlm.checkpoint_kernel import Kernel, carried, reasons


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session" / "a.checkpoint"


def test_functions_keep_everything_they_have(path: Path) -> None:
    code = """
scale = 10
def f(a, b: int = 2, *, c=(3,)) -> str:
    "What f does."
    return [a, b, c, scale]
f.note = "kept"
lam = lambda x=[1]: x
async def co(): return scale
def gen():
    yield from range(scale)
def uses_later(): return defined_later()
def defined_later(): return "later"
functions = {"f": f, "lam": lam}
"""
    check = """
assert f(1) == [1, 2, (3,), 10] and f.note == "kept" and f.__doc__ == "What f does."
assert f.__annotations__ == {"b": int, "return": str} and f.__qualname__ == "f" and f.__module__ == "__main__"
assert f.__globals__ is globals() and functions["f"] is f and functions["lam"] is lam
assert lam() == [1] and list(gen()) == list(range(10)) and uses_later() == "later"
try: co().send(None)
except StopIteration as stop: assert stop.value == 10
"""
    carried(path, code, check)


def test_closures_share_their_cells(path: Path) -> None:
    code = """
def counter():
    n = 5
    def inc():
        nonlocal n
        n += 1
        return n
    def get(): return n
    return inc, get
inc, get = counter()
inc()
def maker():
    def fact(n): return 1 if n < 2 else n * fact(n - 1)
    def even(n): return n == 0 or odd(n - 1)
    def odd(n): return n != 0 and even(n - 1)
    def broken():
        return never
    if False: never = 1
    return fact, even, broken
fact, even, broken = maker()
cells = get.__closure__
"""
    check = """
assert get() >= 6 and inc() == get() == cells[0].cell_contents and fact(5) == 120 and even(10) and not even(7)
cells[0].cell_contents = 6
try: broken()
except NameError: pass
else: assert False
"""
    carried(path, code, check)


def test_classes_and_their_instances_come_back(path: Path) -> None:
    code = '''
import abc, dataclasses, enum, collections, typing
from dataclasses import dataclass, field
class Base(abc.ABC):
    """Doc."""
    @abc.abstractmethod
    def go(self): ...
class Child(Base):
    class Inner: pass
    def __init__(self): super().__init__(); self.inner = self.Inner()
    def go(self): return "went"
    @classmethod
    def make(cls): return cls()
    @property
    def two(self): return 2
@dataclass(order=True)
class Row:
    a: int = 1
    b: list = field(default_factory=list)
class Color(enum.Enum):
    RED = "r"
Level = enum.IntEnum("Level", "LOW HIGH")
Point = collections.namedtuple("Point", "x y")
class Typed(typing.NamedTuple):
    n: int
Made = type("Made", (), {"value": 3})
Dyn = dataclasses.make_dataclass("Dyn", ["q"])
T = typing.TypeVar("T")
class Box(typing.Generic[T]): pass
class Slots:
    __slots__ = ("s",)
if True:
    class Nested:
        text = """
  kept as it is"""
try:
    import no_such_module
except ImportError:
    class Fallback: pass
child = Child.make(); row = Row(2, [3]); red = Color.RED; high = Level.HIGH; point = Point(1, 2)
typed = Typed(4); made = Made(); dyn = Dyn(9); box = Box(); slots = Slots(); slots.s = 1
nested = Nested(); fallback = Fallback()
bound = child.go; maker = Child.make; plain = Child.go; alias = Child
class Error(Exception): pass
error = Error("text", 1)
'''
    check = """
assert child.go() == bound() == "went" and child.two == 2 and type(child.inner) is Child.Inner
assert plain is Child.go and alias is Child and type(maker()) is Child and issubclass(Child, Base)
assert row == Row(2, [3]) and row > Row() and red is Color.RED and high is Level.HIGH
assert point == Point(1, 2) and type(point) is Point and typed.n == 4 and made.value == 3 and dyn.q == 9
assert type(box) is Box and slots.s == 1 and nested.text == "\\n  kept as it is"
assert type(fallback) is Fallback
assert Base.__doc__ == "Doc." and error.args == ("text", 1) and type(error) is Error and T.__name__ == "T"
"""
    saved, _ = carried(path, code, check)
    assert saved["skipped"] == []


def test_decorated_functions_come_back(path: Path) -> None:
    code = """
import functools, contextlib
from functools import lru_cache, wraps
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
cached = lru_cache(len)
def twice(f):
    @wraps(f)
    def both(*args): return [f(*args), f(*args)]
    return both
@twice
def hello(name): return "hello " + name
@contextlib.contextmanager
def here(): yield "inside"
class Memo:
    def __init__(self, f): self.f, self.calls = f, 0
    def __call__(self, *args): self.calls += 1; return self.f(*args)
@Memo
def counted(): return 1
counted(); counted()
part = functools.partial(hello, "you")
table = {"fib": fib}
"""
    check = """
assert fib(30) == 832040 and table["fib"] is fib and cached("abc") == 3 and fib.cache_info().maxsize is None
assert hello("x") == ["hello x"] * 2 and part() == ["hello you"] * 2 and hello.__wrapped__("y") == "hello y"
with here() as place: assert place == "inside"
del place
assert counted.calls == 2
"""
    carried(path, code, check)


def test_defaultdicts_with_lambdas_come_back(path: Path) -> None:
    code = "import collections as c\nd = c.defaultdict(lambda: c.defaultdict(list)); d['a']['b'].append(1)"
    carried(path, code, "assert d['a']['b'] == [1] and d.default_factory()['x'] == []")


def test_attributes_of_a_class_keep_their_present_values(path: Path) -> None:
    code = """
class Counter:
    total = 0
    seen = []
    def old(self): return "old"
Counter.total += 5; Counter.seen.append("x")
def new(self): return "new"
Counter.old = new
Counter.added = {"k": Counter}
"""
    check = """
assert Counter.total == 5 and Counter.seen == ["x"] and Counter().old() == "new"
assert Counter.added["k"] is Counter
"""
    carried(path, code, check)


def test_a_class_that_a_decorator_registers_is_registered_once(path: Path) -> None:
    code = """
registry, order = {}, []
def register(cls):
    registry[cls.__name__] = cls
    order.append(cls.__name__)
    return cls
@register
class First: pass
@register
class Second(First): pass
made = Second()
registry["made"] = made
"""
    check = """
assert order == ["First", "Second"] and registry == {"First": First, "Second": Second, "made": made}
"""
    carried(path, code, check)


def test_a_class_may_need_values_that_need_classes(path: Path) -> None:
    code = """
LIMIT = 7
class Options: pass
options = Options(); options.size = 3
CONFIG = {"a": 1}
class Uses:
    limit = LIMIT
    config = CONFIG
    size = options.size
    def get(self, default=LIMIT): return default
uses = Uses()
"""
    carried(
        path,
        code,
        "assert Uses.limit == 7 and Uses.config == {'a': 1} and Uses.size == 3 and uses.get() == 7",
    )


def test_running_a_definition_again_leaves_no_other_name_changed(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("LIMIT = 1\nclass A:\n    limit = LIMIT\nLIMIT = [2]\nclass B: a = A")
        kernel.save(path)
    with Kernel() as kernel:
        kernel.run("import time; time.sleep(0.01); LIMIT = 'mine'")
        before = kernel.value("sorted(globals())")
        restored = kernel.restore(path)
        assert restored["kept"] == ["LIMIT"]
        assert kernel.value("LIMIT") == "mine"
        assert kernel.value("sorted(globals())") == sorted([*before, "A", "B"])


def test_a_definition_that_fails_leaves_no_name(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("import os\nclass A:\n    assert not os.environ.get('REFUSE'), 'refused'\na = A(); x = 1")
        kernel.save(path)
    with Kernel() as kernel:
        kernel.run("import os; os.environ['REFUSE'] = '1'")
        failed = {row["name"]: row["reason"] for row in kernel.restore(path)["failed"]}
        assert failed == {"A": "AssertionError: refused", "a": "it needs 'A', which could not be restored"}
        assert kernel.value("[n for n in ('A', 'a') if n in globals()]") == []
        assert kernel.value("x") == 1


@pytest.mark.parametrize(
    ("code", "name", "why"),
    [
        ("class A: pass\na = A()\nclass A: pass", "a", "defined anew"),
        ("class A: pass\na = A()\ndel A", "a", "defined anew or deleted"),
        ("def f():\n    class A: pass\n    return A()\na = f()", "a", "inside a function"),
        ("globals()['A'] = type('A', (), {})", "A", "not made by a statement"),
    ],
)
def test_instances_whose_class_has_no_statement_are_named(path: Path, code: str, name: str, why: str) -> None:
    with Kernel() as kernel:
        kernel.run(code)
        saved = kernel.save(path)
    assert why in reasons(saved)[name]


def test_a_definition_made_from_its_older_self_comes_back(path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("class A:\n    def one(self): return 1")
        kernel.run("class A(A):\n    def two(self): return 2\na = A()")
        saved = kernel.save(path)
        assert saved["skipped"] == []
    with Kernel() as kernel:
        assert kernel.restore(path)["failed"] == []
        assert kernel.value("[a.one(), a.two()]") == [1, 2]


def test_postponed_annotations_stay_postponed(path: Path) -> None:
    code = """from __future__ import annotations
import dataclasses
@dataclasses.dataclass
class Tree:
    left: Tree | None = None
tree = Tree(Tree())
"""
    carried(path, code, "assert tree.left == Tree() and Tree.__annotations__ == {'left': 'Tree | None'}")


def test_function_code_of_another_python_is_refused_by_name(path: Path) -> None:
    others = _other_pythons()
    if not others:
        pytest.skip("no other Python here")
    with Kernel() as kernel:
        kernel.run("def f(): return 1\nx = 5\nclass A:\n    def m(self): return 2\na = A()")
        kernel.save(path)
    with Kernel(others[0]) as kernel:
        restored = kernel.restore(path)
        assert restored["restored"] == ["A", "x", "a"]
        assert [row["name"] for row in restored["failed"]] == ["f"]
        assert "Python" in restored["failed"][0]["reason"]
        assert kernel.value("a.m() + x") == 7


def test_statements_are_taken_word_by_word() -> None:
    source = "x = 1; N = type('N', (), {'k': \"ü\"}); y = 2\r\nif x:\r\n  class A:\r\n    t = '''\r\n a'''\n"
    names: dict = {"__name__": "__main__"}
    exec(compile(source, "cell", "exec", dont_inherit=True), names)
    definitions = Definitions()
    definitions.observe(1, source, ast.parse(source), names)
    found = {definition.name: definition.source for definition in definitions.all()}
    assert found["N"] == "N = type('N', (), {'k': \"ü\"})\n"
    assert found["A"] == "if True:\n  class A:\n    t = '''\n a'''\n"
    again: dict = {"__name__": "__main__"}
    exec(found["A"], again)
    assert again["A"].t == names["A"].t


def test_a_cell_that_stopped_before_a_class_does_not_replace_its_definition() -> None:
    definitions, names = Definitions(), {"__name__": "__main__"}
    for cell, source in enumerate(["class A: v = 1", "class A: v = 2"]):
        if cell == 0:
            exec(source, names)
        definitions.observe(cell, source, ast.parse(source), names)
    assert [definition.source for definition in definitions.all()] == ["class A: v = 1\n"]


def test_definitions_nobody_holds_are_forgotten() -> None:
    definitions, names = Definitions(), {"__name__": "__main__"}
    for cell in range(5):
        source = f"class A: v = {cell}\ndef f(self): return A()"
        exec(source, names)
        definitions.observe(cell, source, ast.parse(source), names)
    assert [definition.source for definition in definitions.all()] == ["class A: v = 4\n"]


def _other_pythons() -> list[str]:
    """The interpreters of other versions on this machine that a kernel can run on."""
    found = [shutil.which(f"python3.{minor}") for minor in range(10, 15) if minor != sys.version_info[1]]
    works = [
        subprocess.run([python, "-c", ""], capture_output=True).returncode == 0 for python in found if python
    ]
    return [python for python, good in zip(filter(None, found), works, strict=True) if good]
