"""The contract of the tools: what the model is sent, and replies that are always one bounded JSON text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_rlm import hooks, registration, reply, tools
from hermes_rlm.kernel.capture import Captured

WIRE_BYTES = 2800


class Host:
    """Collects what a plugin registers."""

    def __init__(self):
        self.tools, self.hooks, self.middleware, self.commands = {}, {}, {}, []

    def register_tool(self, name, toolset, schema, handler, description="", **_):
        self.tools[name] = (toolset, schema, handler, description)

    def register_hook(self, name, callback):
        self.hooks[name] = callback

    def register_middleware(self, kind, callback):
        self.middleware[kind] = callback

    def register_command(self, name, *_):
        self.commands.append(f"/{name}")

    def register_cli_command(self, name, *_):
        self.commands.append(f"hermes {name}")


@pytest.fixture
def registered(home, monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, registration.MARKER, raising=False)
    monkeypatch.delitem(sys.modules, "hermes_cli.plugins", raising=False)
    host = Host()
    registration.register(host)
    yield host
    sys.modules.pop(registration.MARKER, None)


def test_register_wires_tools_hooks_and_commands(registered):
    assert set(registered.tools) == {"rlm_exec", "rlm_vars", "rlm_reset", "rlm_skills", "rlm_checkpoint"}
    assert {toolset for toolset, *_ in registered.tools.values()} == {"rlm"}
    assert registered.commands == ["/rlm", "hermes rlm"]
    assert set(registered.hooks) == {
        "pre_tool_call",
        "on_session_end",
        "on_session_finalize",
        "subagent_stop",
    }
    assert set(registered.middleware) == {"llm_request"}


def test_the_manifest_names_what_is_registered(registered):
    from pathlib import Path

    manifest = Path(registration.__file__).with_name("plugin.yaml").read_text("utf-8")
    listed = {line.strip("- ") for line in manifest.splitlines() if line.startswith("  - ")}
    assert listed == set(registered.tools) | set(registered.hooks)
    details = json.loads(Path(registration.__file__).with_name("manifest.json").read_text("utf-8"))
    assert set(details["tools"]) == set(registered.tools)
    assert set(details["hooks"]) == set(registered.hooks)


def test_every_tool_has_the_function_shape_and_they_are_small(registered):
    functions = [{"type": "function", "function": schema} for _, schema, *_ in registered.tools.values()]
    assert len(json.dumps(functions)) <= WIRE_BYTES
    for item in functions:
        function = item["function"]
        assert function["description"] and function["parameters"]["type"] == "object"
        assert set(function["parameters"]["required"]) <= set(function["parameters"]["properties"])


@pytest.mark.parametrize(
    ("feature", "absent"), [("CHECKPOINT", "rlm_checkpoint"), ("PYTHON_SKILLS", "rlm_skills")]
)
def test_a_switched_off_feature_has_no_tool(home, knob, monkeypatch, feature, absent):
    import sys

    monkeypatch.delitem(sys.modules, registration.MARKER, raising=False)
    monkeypatch.delitem(sys.modules, "hermes_cli.plugins", raising=False)
    knob(f"ENABLE_{feature}", 0)
    host = Host()
    registration.register(host)
    sys.modules.pop(registration.MARKER, None)
    assert absent not in host.tools and len(host.tools) == 4


def test_a_switched_off_checkpoint_refuses_with_the_operators_message(agent, knob):
    knob("ENABLE_CHECKPOINT", 0)
    answer = agent.call("rlm_checkpoint", {"action": "save"})
    assert answer["error"] == "checkpoints are disabled by the operator (HERMES_RLM_ENABLE_CHECKPOINT=0)"


def test_a_switched_off_checkpoint_leaves_no_pickle_path_in_the_kernel(agent, knob):
    knob("ENABLE_CHECKPOINT", 0)
    code = "import importlib, sys\npackage = [m for m in sys.modules if m.startswith('_hermes_rlm')][0]\n"
    answer = agent.run(code + "importlib.import_module('_hermes_rlm_kernel.saving')")
    assert "ModuleNotFoundError" in answer["error"]
    assert agent.value("sorted(m for m in sys.modules if 'pickle' in m)") == []


def test_a_second_copy_registers_nothing_and_is_told_once(registered, caplog):
    from hermes_rlm._common.registration import Registration

    other = Registration(
        "hermes-rlm", registration.MARKER, "/elsewhere/hermes_rlm/registration.py", hooks.HOOKS
    )
    for _ in range(2):
        assert not other.begin(Host(), registration.logger)
    assert [record.getMessage() for record in caplog.records] == [
        f"hermes-rlm is installed twice: {registration.__file__.rpartition('/')[0]} works, "
        "/elsewhere/hermes_rlm does nothing; remove one of them"
    ]


GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("tool", [tool.name for tool in tools.TOOLS if tool.name != "rlm_exec"])
@settings(max_examples=30, deadline=None)
@given(arguments=GARBAGE)
def test_tools_answer_whatever_the_arguments_are(home_of_module, tool, arguments):
    handler = {one.name: one for one in tools.TOOLS}[tool].handler
    answer = json.loads(handler(arguments, session_id="garbage"))
    assert isinstance(answer["ok"], bool)


@pytest.fixture(scope="module")
def home_of_module(tmp_path_factory):
    import os

    before = os.environ.get("HERMES_HOME")
    os.environ["HERMES_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    from tests.rlm.conftest import end_kernels

    end_kernels()
    if before is None:
        del os.environ["HERMES_HOME"]
    else:
        os.environ["HERMES_HOME"] = before


@pytest.mark.parametrize("code", [None, "", "  \n", 5, ["x"], {"code": 1}, "x" * 1_000_001])
def test_rlm_exec_names_what_is_wrong_with_its_code(agent, code):
    answer = agent.call("rlm_exec", {"code": code})
    assert not answer["ok"] and answer["error"].startswith("code")


@pytest.mark.parametrize("timeout", ["abc", -1, 1e9, True, float("nan"), [], "inf"])
def test_rlm_exec_names_what_is_wrong_with_its_timeout(agent, timeout):
    answer = agent.call("rlm_exec", {"code": "1", "timeout": timeout})
    assert not answer["ok"] and answer["error"] == "timeout must be a number of seconds up to 3600"


@pytest.mark.parametrize("timeout", [None, 0, "", "5", 2.5, "300"])
def test_rlm_exec_takes_a_timeout_as_models_write_it(agent, timeout):
    assert agent.call("rlm_exec", {"code": "1", "timeout": timeout}) == {"ok": True, "value": "1"}


def test_replies_are_lean(agent):
    assert agent.run("a = 5") == {"ok": True}
    assert agent.run("1 + 1") == {"ok": True, "value": "2"}
    assert agent.run("print('hello')") == {"ok": True, "stdout": "hello\n"}
    assert agent.run("None") == {"ok": True}
    answer = agent.run("1/0")
    assert set(answer) == {"ok", "error", "kernel"} and len(json.dumps(answer)) < 300


def test_a_session_is_known_by_its_id_and_else_by_its_task(agent):
    run = agent.tools["rlm_exec"].handler
    run({"code": "who = 'task'"}, session_id="", task_id="t1")
    assert json.loads(run({"code": "who"}, session_id="t1", task_id="other"))["value"] == "'task'"
    assert "error" in json.loads(run({"code": "who"}, session_id="s2", task_id="t1"))


def test_vars_tell_name_type_size_preview_and_cell(agent):
    assert agent.call("rlm_vars", {})["note"].startswith("no kernel runs yet")
    agent.run("x = list(range(1000))")
    agent.run("text = 'a' * 1000\nclass P: pass\np = P()")
    rows = {row["name"]: row for row in agent.call("rlm_vars", {})["variables"]}
    assert next(iter(rows)) in ("text", "P", "p")
    assert rows["x"]["type"] == "list" and rows["x"]["len"] == 1000 and rows["x"]["cell"] == 1
    assert rows["x"]["preview"].startswith("[0, 1, 2") and len(rows["x"]["preview"]) < 220
    assert rows["text"]["cell"] == 2 and "terminal" not in rows


def test_vars_of_a_large_dict_are_cheap(agent):
    agent.run("big = {i: i for i in range(2_000_000)}")
    before = agent.value("import resource; resource.getrusage(resource.RUSAGE_SELF).ru_maxrss")
    assert agent.call("rlm_vars", {})["variables"]
    after = agent.value("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss")
    assert after - before < 20_000


def test_many_variables_are_bounded_and_counted(agent):
    agent.run("for i in range(500): globals()[f'v{i}'] = 'x' * 500")
    answer = agent.call("rlm_vars", {})
    left_out = answer.get("left_out", {}).get("variables", 0)
    # 501 variables: those shown, those the reply had no room for, and those assigned earlier.
    assert answer["variables"]
    assert len(answer["variables"]) + left_out + int(answer["note"].split()[0]) == 501


def test_a_name_of_any_length_is_shown_and_costs_no_other_row(agent):
    agent.run("globals()['n' * 20_000] = 1; globals()['\\x01' * 5000] = 2; keep = 3")
    answer = agent.call("rlm_vars", {})
    assert len(answer["variables"]) == 3
    assert any("[20,000 characters]" in row["name"] for row in answer["variables"])


TEXTS = st.text(st.characters(), max_size=9000) | st.text('"\\\n\x00\x1b😀', max_size=9000)


@settings(max_examples=60, deadline=None)
@given(value=TEXTS, stdout=TEXTS, error=TEXTS, names=st.lists(st.text(max_size=200), max_size=100))
def test_a_reply_is_bounded_valid_and_cuts_are_marked(value, stdout, error, names):
    text = reply.text(
        {
            "ok": False,
            "value": value,
            "stdout": stdout,
            "error": error,
            "kernel": {"cell": 1, "assigned": names},
        }
    )
    assert len(text) <= reply.LIMIT
    text.encode("utf-8")
    told = json.loads(text)
    assert told["ok"] is False
    if len(value.encode("utf-8", "replace")) > reply.VALUE:
        assert "left out" in told["value"]


def test_a_reply_full_of_what_json_escapes_fits():
    for character in ("\x00", '"', "\\", "😀", "\ud800"):
        text = reply.text({"ok": True, "stdout": character * 9000, "value": character * 9000})
        assert len(text) <= reply.LIMIT and json.loads(text)["ok"]


def test_output_tells_what_was_left_out_and_where_it_is(tmp_path):
    shown = reply.output(Captured("the end", 1234567, tmp_path / "a.txt"))
    assert shown.splitlines() == [
        f"[1,234,567 bytes before this; all of it is in {tmp_path}/a.txt, open() it in a cell]",
        "the end",
    ]


def test_the_tools_of_a_session_are_those_of_its_latest_request():
    tools_ = [{"type": "function", "function": {"name": "terminal"}}, {"name": "read_file"}]
    assert hooks.granted("new") is None
    hooks.llm_request({"tools": tools_}, session_id="new", turn_id="t1")
    assert hooks.granted("new", "t1") == {"terminal", "read_file"}
    hooks.llm_request({"tools": []}, session_id="new", turn_id="t2")
    assert hooks.granted("new", "t1") == {"terminal", "read_file"}
    assert hooks.granted("new", "t2") == frozenset() == hooks.granted("new")
    for broken in (None, {}, {"tools": 5}, {"tools": [5]}, []):
        hooks.llm_request(broken, session_id="new")


def test_windows_gets_a_refusal(agent, monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    answer = agent.call("rlm_exec", {"code": "1"})
    assert not answer["ok"] and "Linux or macOS" in answer["error"]
