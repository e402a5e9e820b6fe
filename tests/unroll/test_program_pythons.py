"""The same bytes from every Python and locale, and the same replay on every Python a trace may meet."""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_unroll.generator import generate_trace_program
from tests.unroll.trace_samples import every_value, long_session, two_turns, write_program

REPOSITORY = Path(__file__).parents[2]
GENERATE = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from tests.unroll.trace_samples import every_value, long_session, two_turns
from hermes_unroll.generator import generate_trace_program
for trace in (every_value(), two_turns(), long_session(50, 1000)):
    print(hashlib.sha256(generate_trace_program(trace)).hexdigest())
"""


def python(version):
    """Return an interpreter of a version, or skip."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    candidates = [shutil.which(f"python{version}")]
    if os.name == "posix":
        import pwd

        # The tests' HOME is an empty one; interpreters are installed in the real one.
        root = os.environ.get("PYENV_ROOT", pwd.getpwuid(os.getuid()).pw_dir + "/.pyenv")
        candidates += sorted(glob.glob(f"{root}/versions/{version}.*/bin/python"))
    for candidate in filter(None, candidates):
        command = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if found.stdout.strip() == version:
            return candidate
    pytest.skip(f"no Python {version} on this machine")


def started(interpreter, arguments, **environment):
    """Run an interpreter that sees no C.UTF-8 rescue: its locale is plain ASCII."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))
    }
    ascii_only = {
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [interpreter, *arguments],
        capture_output=True,
        timeout=120,
        check=False,
        env={**plain, **ascii_only, **environment},
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode("ascii", "replace")
    return done


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_every_python_generates_the_same_bytes_whatever_the_locale(version):
    traces = (every_value(), two_turns(), long_session(50, 1000))
    expected = [hashlib.sha256(generate_trace_program(trace)).hexdigest() for trace in traces]
    paths = [str(REPOSITORY), str(REPOSITORY / "tests" / "unroll")]
    for seed in ("0", "1"):
        done = started(python(version), ["-c", GENERATE, *paths], PYTHONHASHSEED=seed)
        assert done.stdout.decode().split() == expected, done.stderr


def without_times(result):
    for entry in (result, *result["steps"], *result["timing_log"]):
        for name in ("replay_duration_ms", "replay_offset_ms", "delta_ms"):
            entry.pop(name, None)
    return result


@pytest.mark.once
@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13"])
def test_every_python_replays_the_same(tmp_path, version):
    interpreter = python(version)
    for number, trace in enumerate((every_value(), two_turns())):
        path = write_program(trace, tmp_path, f"trace_{number}.py")
        done = started(interpreter, ["-S", str(path)])
        assert done.returncode == 0 and done.stdout.isascii() and done.stderr.isascii()
        here = started(sys.executable, ["-I", "-S", str(path)])
        result = without_times(json.loads(done.stdout))
        assert result == without_times(json.loads(here.stdout))
        assert result["messages"] == trace.messages

        assert started(interpreter, [str(path), "--diff", str(path)]).returncode == 0
        listed = started(interpreter, [str(path), "--steps"])
        assert listed.returncode == 0 and listed.stdout.count(b"\n") == len(trace.steps)
        user = next(n for n, step in enumerate(trace.steps) if step["kind"] == "user_message")
        saved = started(interpreter, [str(path), "--edit", f"{user} replaced"])
        copy = json.loads(saved.stdout)["saved"]
        edited = json.loads(started(interpreter, [copy]).stdout)
        assert edited["messages"] != result["messages"] and edited["edits"][0]["step"] == user
        different = started(interpreter, [str(path), "--diff", copy])
        assert different.returncode == 1 and b"1 changed" in different.stdout and different.stdout.isascii()
        for wrong in (["--from", "99"], ["--nonsense"], ["--edit", "x"], ["--diff", str(tmp_path)]):
            done = started(interpreter, [str(path), *wrong])
            assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and done.stdout == b""
