"""A command line ends with a code and one line, whatever becomes of its output and of its folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from hermes_unroll._common.command_line import carry_out, say

def command():
    for _ in range(int(sys.argv[1])):
        say("x" * 100)
    return 0

sys.exit(carry_out("it", command))
"""


def run(lines, unbuffered, stdout):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(
        [sys.executable, "-c", CODE, str(lines)], env=env, stdout=stdout, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("lines", [1, 1000])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_one_line_and_a_failure(lines, unbuffered):
    with open("/dev/full", "w") as full:
        done = run(lines, unbuffered, full)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("it: ") and done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("lines", [1, 1000])
def test_a_reader_that_has_gone_is_no_failure(lines):
    reader, writer = os.pipe()
    os.close(reader)
    done = run(lines, "", writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="a folder in use can be removed on POSIX only")
def test_a_working_directory_that_is_gone_is_named(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, sys\nfrom hermes_unroll._common.command_line import carry_out\n"
        "os.rmdir(os.getcwd())\nsys.exit(carry_out('it', lambda: len(os.path.abspath('.'))))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=gone, env=env, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("it: the working directory: ")
