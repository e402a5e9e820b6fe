"""The text of a generated program: data only, the same everywhere, small, and verifiable."""

import ast
import builtins
import json
import subprocess
import sys
import time

import pytest

from hermes_unroll import values
from hermes_unroll.diff import compare
from hermes_unroll.generator import generate_trace_program, verify_program
from hermes_unroll.literals import LiteralError, comment_text, layout, literal
from hermes_unroll.reader import DATA_NAMES, read_trace
from tests.unroll.trace_samples import Session, load, long_session, run, two_turns, write_program

CODE = "x'\n\"\"\"\n__import__('builtins').SENTINEL.append(1)\n#" + "\n" * 100


def data_part(program):
    return program[: program.index(b'\nDIGEST = "')]


def is_literal(node):
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and type(node.operand.value) in (int, float)
    if isinstance(node, ast.List):
        return all(map(is_literal, node.elts))
    if isinstance(node, ast.Dict):
        return all(map(is_literal, node.keys)) and all(map(is_literal, node.values))
    return isinstance(node, ast.Constant)


def hostile():
    """A session in which every recorded text tries to be code."""
    session = Session(session_id=CODE, model=CODE, provider=CODE, end=CODE, recorder=CODE, started_at=CODE)
    session.user(CODE, note=CODE)
    session.reply(CODE, (CODE, CODE, {CODE: CODE}), reasoning=CODE)
    session.tool(CODE, CODE, {CODE: [CODE]}, CODE, status=CODE)
    session.step("api_request_error", status_code=CODE, reason=CODE)
    session.step(CODE)
    trace = session.trace
    trace.cost = {"model": CODE, "cost_usd": None, "status": CODE}
    trace.chain = {CODE: {"events": 1, "head": CODE}}
    trace.tool_schemas = [{CODE: CODE}]
    trace.state_graph = {CODE: [CODE]}
    return trace


def test_data_part_holds_only_literals():
    for trace in (two_turns(), hostile()):
        body = ast.parse(data_part(generate_trace_program(trace))).body
        docstring, future, *assignments = body
        assert isinstance(docstring.value, ast.Constant)
        assert isinstance(future, ast.ImportFrom) and future.module == "__future__"
        assert [statement.targets[0].id for statement in assignments] == list(DATA_NAMES[:-1])
        assert all(is_literal(statement.value) for statement in assignments)


def test_importing_runs_nothing_recorded():
    builtins.SENTINEL = []
    try:
        names = load(generate_trace_program(hostile()))
        names["replay"](allow_destructive=True)
        assert builtins.SENTINEL == []
        assert names["CONVERSATION_HISTORY"][0]["content"] == CODE
        assert names["SESSION"]["model"] == CODE
        exec(CODE.partition("\n")[2].partition('"""\n')[2])  # the code would have shown
        assert builtins.SENTINEL == [1]
    finally:
        del builtins.SENTINEL


def test_program_is_assignments_definitions_and_two_calls():
    body = ast.parse(generate_trace_program(two_turns())).body
    calls = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    assert [ast.unparse(call) for call in calls] == [
        "resolve_cache(RESPONSE_CACHE, CONVERSATION_HISTORY)",
        "resolve_arguments(TIMELINE, CONVERSATION_HISTORY)",
    ]
    guards = [node for node in body if isinstance(node, ast.If)]
    assert [ast.unparse(guard.test) for guard in guards] == ["__name__ == '__main__'"]
    plain = (ast.Assign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    rest = [node for node in body[1:] if node not in calls and node not in guards]
    assert all(isinstance(node, plain) for node in rest)


def test_no_two_parts_of_the_program_define_the_same_name():
    names = []
    for node in ast.parse(generate_trace_program(two_turns())).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names += [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
    assert len(names) == len(set(names))


def test_program_can_neither_execute_nor_connect():
    tree = ast.parse(generate_trace_program(two_turns()))
    modules, called = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        elif isinstance(node, ast.Call):
            called.add(ast.unparse(node.func))
    assert modules <= {
        *("__future__", "argparse", "ast", "bisect", "datetime", "difflib", "hashlib", "itertools", "json"),
        *("os", "re", "stat", "sys", "time"),
    }
    assert not called & {
        "eval",
        "exec",
        "compile",
        "__import__",
        "os.system",
        "os.popen",
        "os.execv",
        "os.fork",
    }


def test_importing_prints_nothing_and_loads_no_heavy_module(tmp_path):
    write_program(two_turns(), tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True; import trace; "
        "heavy = {'argparse', 'ast', 'json', 'difflib', 'hashlib', 'datetime', 'subprocess', 'socket'}; "
        "loaded = heavy & set(sys.modules); sys.exit(repr(loaded) if loaded else not trace.replay()['steps'])"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_header_says_which_session_it_is():
    header = generate_trace_program(two_turns()).decode().split('"""')[0]
    assert "# Session: 20260102_030405_abcdef\n" in header
    assert "# Model: local/model-1\n" in header
    assert "# Recorded: 2026-01-02T03:04:05.678Z to 2026-01-02T03:04:09.000Z, end observed\n" in header
    assert "# LLM calls: 3  Tool calls: 2  Messages: 8\n" in header
    assert "# Cost: $0.0123 (estimated, local/model-1)\n" in header


def test_header_admits_what_is_unknown():
    trace = two_turns()
    trace.cost = {"model": "m", "cost_usd": None, "status": "unknown"}
    trace.session.update(model=None, provider=None)
    header = generate_trace_program(trace).decode().split('"""')[0]
    assert "# Cost: unknown (m)\n" in header
    assert "# Model: unknown\n# Provider: unknown\n" in header


def test_recorded_text_cannot_leave_its_comment():
    for line in generate_trace_program(hostile()).decode().split('"""')[0].splitlines()[1:]:
        assert line.startswith("#") and len(line) < 500
    assert comment_text("a\r\nb\x0c\u2028c" + "d" * 1000) == r"a\r\nb\x0c\u2028c" + "d" * 193 + "..."


def test_recorded_text_cannot_choose_the_encoding_of_the_file(tmp_path):
    session = Session(session_id="coding: utf-7", model="coding: utf-16")
    session.user("+AGEAYgBj-")
    path = write_program(session.trace, tmp_path)
    assert json.loads(run(path).stdout)["messages"][0]["content"] == "+AGEAYgBj-"


def test_same_trace_gives_the_same_ascii_bytes():
    one, other = generate_trace_program(two_turns()), generate_trace_program(two_turns())
    assert one == other and one.isascii()


def test_long_text_stands_once_and_reads_as_lines():
    session = Session()
    text = "".join(f"line {number} of a long text that goes on for quite a while\n" for number in range(9))
    session.user("go")
    session.tool("c", "read_file", {"path": "x"}, text)
    program = generate_trace_program(session.trace).decode()
    assert program.count("line 3 of a long text") == 1
    assert "\n  'line 4 of a long text" in program
    assert load(program.encode())["RESPONSE_CACHE"]["tool:1:2"] == {"result": text}


def test_program_is_at_most_1_3_times_its_ascii_text_and_3_2_times_any_script():
    for text, limit in (
        ("def frobnicate(self, value):\n    return self.table[value] + 1\n\n", 1.3),
        ("plain words without any line end ", 1.3),
        ("Съешь же ещё этих мягких французских булок\n", 3.2),
        ("天地玄黄宇宙洪荒日月盈昃", 3.2),
        ("\U0001f600\U0001f680 ", 3.2),
    ):
        session = Session()
        for number in range(150):
            body = f"{number} " + text * (8000 // len(text))
            session.user(f"{number}")
            session.tool(f"call_{number}", "read_file", {"path": f"file_{number}"}, body)
        trace = session.trace
        unique = json.dumps([trace.messages, trace.steps, trace.session], ensure_ascii=False).encode()
        assert len(generate_trace_program(trace)) <= limit * len(unique)


def test_generation_is_linear():
    def spent(steps):
        trace = long_session(steps, 2000)
        start = time.process_time()
        generate_trace_program(trace)
        return time.process_time() - start

    spent(100)
    small, large = spent(400), spent(6400)
    assert large < 16 * 6 * small + 0.5


def test_verify_tells_any_change_of_the_file():
    program = generate_trace_program(two_turns())
    assert verify_program(program) is None
    for old, new in (
        (b"# Model: local", b"# Model: other"),
        (b"list the files", b"list the piles"),
        (b"'events': 9", b"'events': 8"),
        (b"EDITS = []", b"EDITS = [1]"),
        (b"def replay(", b"def  replay("),
        (b"sys.exit(main())", b"sys.exit(main()) "),
    ):
        assert program.count(old) == 1
        assert "changed after it was written" in verify_program(program.replace(old, new))
    digest = program.partition(b'\nDIGEST = "')[2][:64]
    assert "changed after it was written" in verify_program(program.replace(digest, b"0" * 64))
    assert "no DIGEST line" in verify_program(b"TIMELINE = []\n")


def test_literals_come_back_equal():
    for value in (
        *(
            None,
            True,
            False,
            0,
            -1,
            10**4000,
            -(10**4000),
            1.5,
            -0.0,
            1e300,
            5e-324,
            0.1,
            "",
            "'",
            '"',
            "'\"\\",
        ),
        *(
            "\x00\x1b\x7f",
            "\u2028\u2029\ufeff",
            "\ud83d",
            "\udc80 \ud83d\ude00",
            "\U0001f600",
            "{{x}} %s {0}",
            "\\N{DASH}",
        ),
        *(
            "\n",
            "\n" * 500,
            "a\n" * 500,
            "x" * 99 + "\n" + "y" * 5000,
            "\r\n" * 200,
            "#\n" * 99 + "'''" + '"""',
        ),
        *([], {}, [[]], {"": {}}, {1: [2], -3: []}, {"a\nb" * 60: 1}),
    ):
        text = literal(value)
        assert text.isascii()
        back = ast.literal_eval(text)
        assert back == value and type(back) is type(value) and repr(back) == repr(value)
        assert ast.literal_eval("".join(layout([value, {"k": value}], 3))) == [value, {"k": value}]


def test_what_is_no_plain_value_is_refused():
    class Text(str):
        def __repr__(self):
            return "print('pwned')"

    nested = []
    for _ in range(300):
        nested = [nested]
    odd = [
        Text("x"),
        float("nan"),
        float("inf"),
        b"x",
        (1,),
        {1, 2},
        object(),
        1j,
        10**5000,
        nested,
        {None: 1},
        {Text("k"): 1},
    ]
    for value in odd:
        with pytest.raises(LiteralError):
            literal(value)
        session = Session()
        session.user(value)
        with pytest.raises(LiteralError):
            generate_trace_program(session.trace)


def test_program_decodes_values_as_the_recorder_does():
    import datetime

    decode = load(generate_trace_program(two_turns()))["decode_value"]
    deep = []
    for _ in range(3000):
        deep = {"d": [deep]}
    for value in (
        *(
            float("inf"),
            b"\x00\xff",
            (1, (2, 3)),
            {1, 2},
            frozenset("ab"),
            1 << 20_000,
            {1: 2, "__unroll__": "x"},
        ),
        *(
            datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
            datetime.date(2026, 1, 2),
            datetime.time(1, 2),
            [None, {"k": (1,)}],
        ),
    ):
        assert decode(values.encode(value)) == value
    assert decode(values.encode(float("nan"))) != decode(values.encode(float("nan")))
    back = decode(values.encode(deep))
    for _ in range(3000):
        back = back["d"][0]
    assert back == []
    assert decode(values.encode(object))["__unroll__"] == "object"


def test_a_trace_read_as_data_equals_the_imported_one(tmp_path):
    path = write_program(hostile(), tmp_path)
    names, data = load(path.read_bytes()), read_trace(str(path))
    assert list(data) == list(DATA_NAMES)
    assert {name: names[name] for name in DATA_NAMES} == data
    assert compare(names, data)["equal"]
