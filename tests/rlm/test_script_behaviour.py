"""A cell behaves like a script of the chosen interpreter: imports, __main__, files, processes, figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCIENCE = Path(__file__).resolve().parents[2] / ".venv-science" / "bin" / "python"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The directory that the session works in."""
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.setenv("TERMINAL_CWD", str(place))
    return place


def test_the_working_directory_is_the_sessions(agent, project):
    (project / "data.txt").write_text("here")
    assert agent.value("import os; os.getcwd()") == str(project)
    assert agent.value("open('data.txt').read()") == "here"
    agent.run("os.mkdir('sub'); os.chdir('sub')")
    assert agent.value("os.getcwd()") == str(project / "sub")


def test_modules_of_the_working_directory_import_and_follow_it(agent, project):
    (project / "mine.py").write_text("x = 'mine'")
    (project / "sub").mkdir()
    (project / "sub" / "deeper.py").write_text("x = 'deeper'")
    assert agent.value("import mine; mine.x") == "mine"
    assert "ModuleNotFoundError" in agent.run("import deeper")["error"]
    assert agent.value("import os; os.chdir('sub'); import deeper; deeper.x") == "deeper"


def test_files_named_like_the_standard_library_do_not_shadow_it(agent, project):
    for name in ("random", "json", "traceback", "pickle", "signal", "typing"):
        (project / f"{name}.py").write_text("raise RuntimeError('shadowed')")
    assert agent.value("import random, json, typing; json.dumps({'a': 1})") == '{"a": 1}'
    assert "ZeroDivisionError" in agent.run("1 / 0")["error"]


def test_the_main_guard_runs(agent):
    assert agent.run("if __name__ == '__main__':\n    print('as a script')")["stdout"] == "as a script\n"


def test_main_is_the_namespace(agent):
    assert agent.value("import sys; x = 5; sys.modules['__main__'].x") == 5


def test_dataclasses_with_future_annotations(agent):
    code = (
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\n"
        "@dataclass\nclass P:\n    x: int = 1\n    tags: list[str] = field(default_factory=list)\nP(2)"
    )
    assert agent.run(code)["value"] == "P(x=2, tags=[])"


def test_typing_and_source_of_functions(agent):
    agent.run("def f(x: int) -> 'list[int]':\n    return [x]")
    assert (
        agent.value("import inspect; inspect.getsource(f)") == "def f(x: int) -> 'list[int]':\n    return [x]"
    )
    assert agent.run("import typing; typing.get_type_hints(f)['return']")["value"] == "list[int]"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_runs_functions_of_cells(agent, method):
    agent.run("LIMIT = 3\ndef square(n):\n    return min(n * n, LIMIT)")
    use = f"with mp.get_context({method!r}).Pool(2) as pool:\n    r = pool.map(square, [1, 2])\nr"
    answer = agent.run(f"import multiprocessing as mp\n{use}")
    assert answer.get("value") == "[1, 3]", answer


def test_a_process_started_in_the_same_cell_as_its_function(agent):
    code = (
        "import multiprocessing as mp\ndef work(q):\n    q.put('from the child')\n"
        "ctx = mp.get_context('spawn')\nq = ctx.Queue()\np = ctx.Process(target=work, args=(q,))\np.start()\n"
        "got = q.get(timeout=20)\np.join()\ngot"
    )
    assert agent.run(code)["value"] == "'from the child'"


def test_an_executor_of_processes(agent):
    code = (
        "from concurrent.futures import ProcessPoolExecutor\ndef cube(n): return n ** 3\n"
        "with ProcessPoolExecutor(2) as e: r = list(e.map(cube, range(4)))\nr"
    )
    assert agent.value(code) == [0, 1, 8, 27]


def test_third_party_packages_and_pth_files_of_the_interpreter(agent, tmp_path, knob):
    """A virtual environment's site-packages and what its .pth files add are found, its prefix is right."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    packages = next(venv.glob("lib/python*/site-packages"))
    (packages / "third.py").write_text("name = 'third party'")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "by_pth.py").write_text("name = 'by pth'")
    (packages / "links.pth").write_text(str(tmp_path / "linked") + "\n")
    knob("PYTHON", venv / "bin" / "python")
    assert agent.value("import third, by_pth; third.name, by_pth.name") == ("third party", "by pth")
    assert agent.value("import sys; sys.prefix") == str(venv)


def test_the_first_import_that_fails_says_so_once(agent):
    for _ in range(2):
        assert "No module named 'no_such_thing'" in agent.run("import no_such_thing")["error"]


def test_python_path_is_honoured(agent, tmp_path, monkeypatch):
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "on_path.py").write_text("x = 1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "extra"))
    assert agent.value("import on_path; on_path.x") == 1


def test_secrets_of_the_host_are_not_in_the_kernel(agent, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "k" * 20)
    monkeypatch.setenv("DATABASE_URL", "postgres://user:" + "hunter" + "22@db/x")
    monkeypatch.setenv("PLAIN_SETTING", "visible")
    agent.run("import os")
    assert agent.value("[os.environ.get(n) for n in ('SOME_API_KEY', 'DATABASE_URL', 'PLAIN_SETTING')]") == [
        None,
        None,
        "visible",
    ]
    assert agent.value("[n for n in os.environ if 'TOKEN' in n]") == []


def test_state_of_the_host_is_not_in_the_kernel(agent, monkeypatch):
    for name in ("HERMES_YOLO_MODE", "HERMES_INTERACTIVE", "HERMES_SESSION_ID", "_HERMES_GATEWAY"):
        monkeypatch.setenv(name, "1")
    names = agent.value("import os; sorted(n for n in os.environ if 'HERMES' in n)")
    assert names == ["HERMES_HOME", "HERMES_RLM_DEPTH", "HERMES_RLM_KERNEL_ID"]


def test_python_skills_import_and_can_call_tools(agent, home):
    module = home / "skills" / "numbers" / "python" / "tally"
    module.mkdir(parents=True)
    (home / "skills" / "numbers" / "SKILL.md").write_text("---\nname: numbers\ndescription: Counts.\n---\n")
    (module / "__init__.py").write_text(
        "def count(items): return len(items)\nhas_tools = callable(read_file)\n"
    )
    assert agent.call("rlm_skills", {})["skills"] == [
        {"import": "import tally", "skill": "numbers", "does": "Counts."}
    ]
    assert agent.value("import tally; tally.count([1, 2, 3]), tally.has_tools") == (3, True)


def test_python_skills_switched_off_are_not_importable(agent, home, knob):
    module = home / "skills" / "numbers" / "python" / "tally"
    module.mkdir(parents=True)
    (home / "skills" / "numbers" / "SKILL.md").write_text("---\nname: numbers\n---\n")
    (module / "__init__.py").write_text("")
    knob("ENABLE_PYTHON_SKILLS", 0)
    assert "ModuleNotFoundError" in agent.run("import tally")["error"]


def test_a_broken_skill_never_stops_the_kernel(agent, home):
    module = home / "skills" / "bad" / "python" / "broken"
    module.mkdir(parents=True)
    (home / "skills" / "bad" / "SKILL.md").write_bytes(b"\xff\xfe")
    (module / "__init__.py").write_text("raise RuntimeError('broken skill')")
    assert agent.run("import broken")["error"].endswith("RuntimeError: broken skill")
    assert agent.value("1") == 1


@pytest.mark.skipif(not SCIENCE.exists(), reason="scripts/test makes .venv-science")
class TestScience:
    @pytest.fixture(autouse=True)
    def science(self, home, knob):
        knob("PYTHON", SCIENCE)

    def test_numpy_and_pandas_work_and_are_described(self, agent):
        agent.run("import numpy as np, pandas as pd\na = np.zeros((3, 4)); df = pd.DataFrame({'x': [1, 2]})")
        assert agent.run("a.shape, int(df.x.sum())")["value"] == "((3, 4), 3)"
        rows = {row["name"]: row for row in agent.call("rlm_vars", {})["variables"]}
        assert rows["a"]["shape"] == "(3, 4)" and rows["a"]["size"] == 96
        assert rows["df"]["type"] == "pandas.core.frame.DataFrame" or "DataFrame" in rows["df"]["type"]

    def test_arrays_and_frames_come_back(self, agent):
        agent.run("import numpy as np, pandas as pd\na = np.arange(5); df = pd.DataFrame({'x': [1, 2]})")
        agent.evict()
        assert agent.run("int(a.sum()), df.x.tolist()")["value"] == "(10, [1, 2])"

    def test_a_figure_is_saved_and_named(self, agent):
        answer = agent.run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nNone", timeout=120)
        assert answer["ok"], answer
        (figure,) = answer["figures"]
        assert (
            Path(figure).read_bytes().startswith(b"\x89PNG") and Path(figure).stat().st_mode & 0o777 == 0o600
        )
        assert Path(figure).is_relative_to(agent.home)
        assert "figures" not in agent.run("1")
