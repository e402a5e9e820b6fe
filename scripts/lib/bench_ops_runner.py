"""Runs commands one after the other and prints what each took: run by `python -I -S`, for the bench.

    python -I -S bench_ops_runner.py OUTPUT COMMAND [ARGUMENT ...]

A process that has been forked starts with the memory peak of its parent, so the parent has to be a small one.
Prints wall seconds, CPU seconds (user and system), peak memory in bytes, exit code.
"""

import os
import sys
import time


def main(output: str, command: list[str]) -> None:
    began = time.perf_counter()
    pid = os.fork()
    if not pid:
        try:
            said = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(said, 1)
            os.dup2(said, 2)
            os.execv(command[0], command)
        finally:
            os._exit(127)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
