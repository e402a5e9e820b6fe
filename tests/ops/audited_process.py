"""Runs a script as Python itself would, and writes down what it asked the system for and what it imported.

    python audited_process.py REPORT SCRIPT [refuse]

REPORT becomes {"sockets", "processes", "modules", "code"}: the audit events of either kind in order, and the
modules that were not there before the script. With `refuse` a socket raises where it is asked for.
"""

import os
import sys

PROCESSES = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system")


def main(report: str, script: str, refuse: bool) -> int:
    sockets, processes = [], []

    def hook(event: str, arguments: tuple) -> None:
        if event.startswith("socket."):
            sockets.append(event)
            if refuse:
                raise PermissionError(f"{event} is not to be asked for here")
        elif event in PROCESSES:
            processes.append(event)

    sys.argv, sys.path[0] = [script], os.path.dirname(script)
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    before = set(sys.modules)
    sys.addaudithook(hook)
    try:
        exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})
        exit_code = 0
    except SystemExit as end:
        exit_code = end.code or 0
    modules = sorted(set(sys.modules) - before)
    import json

    with open(report, "w", encoding="utf-8") as file:
        json.dump(
            {"sockets": sockets, "processes": processes, "modules": modules, "code": exit_code},
            file,
        )
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "refuse" in sys.argv[3:]))
