"""Drives ipykernel in the Python of .venv-bench: JSON requests on stdin, one answer each on stdout.

It measures what it does by itself, so that only the time of ipykernel and its client counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

from jupyter_client.manager import KernelManager


class Notebook:
    """One ipykernel and its blocking client."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.client: Any = None

    def boot(self, patient: bool = False) -> float:
        """Start the kernel; seconds to the first answer. ``patient``: wait until it says that it is ready."""
        began = time.perf_counter()
        self.manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = self.manager.client()
        self.client.start_channels()
        if patient:
            self.client.wait_for_ready(timeout=60)
        self._reply(self.client.execute("1+1"))
        taken = time.perf_counter() - began
        if not patient:
            # The first output may have been published before this client was subscribed.
            self.client.wait_for_ready(timeout=60)
        return taken

    def run(self, code: str) -> float:
        """Run a cell until its reply and its last output are there; seconds."""
        began = time.perf_counter()
        wanted = self.client.execute(code)
        self._reply(wanted)
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            of_this = message["parent_header"].get("msg_id") == wanted
            if of_this and message["content"].get("execution_state") == "idle":
                return time.perf_counter() - began

    def _reply(self, wanted: str) -> None:
        while self.client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != wanted:
            pass

    def interrupt(self, code: str, after: float) -> float:
        """Begin a cell, interrupt it; seconds from then until the next cell has its answer."""
        self.client.execute(code)
        time.sleep(after)
        began = time.perf_counter()
        self.manager.interrupt_kernel()
        self.run("1+1")
        return time.perf_counter() - began

    def pid(self) -> int:
        return self.manager.provisioner.pid

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def main() -> None:
    kernels: dict[str, Notebook] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name, operation, arguments = request["kernel"], request["do"], request["with"]
        kernel = kernels.setdefault(name, Notebook())
        if operation == "close":
            del kernels[name]
        answer = getattr(kernel, operation)(*arguments)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    for kernel in kernels.values():
        kernel.close()


if __name__ == "__main__":
    main()
