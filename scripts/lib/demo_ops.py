"""The demo of hermes-ops: watchers as jobs of the host, a fault that is told once, where the money goes."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from demo_stage import Demo, Failed, heading, install, say

from tests.host.file_chats import FileChats
from tests.host.model_server import auxiliary_route

CHAT = "ops"
BACKUP_SCRIPT = """\
import pathlib, sys
if not (pathlib.Path(__file__).parent / "disk").exists():
    sys.exit("the disk for backups is not there")
"""


class _Balance(BaseHTTPRequestHandler):
    """A provider that says what is left: the balance of its server."""

    def do_GET(self) -> None:
        body = json.dumps({"data": {"balance": self.server.left}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def provider(left: float):
    """A balance address on loopback; set `left` to what it should say."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Balance)
    server.left = left
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def watch_jobs(demo: Demo) -> None:
    heading("Install hermes-ops; the watchers become jobs of the host")
    chats = FileChats(demo.home)
    demo.home.configure({"cron": {"wrap_response": False}})
    demo.home.variables["FILE_CHAT_HOME"] = CHAT
    install(demo, "hermes_ops", "hermes-ops")
    scripts = demo.home.path / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "backup.py").write_text(BACKUP_SCRIPT, "utf-8")
    (scripts / "disk").touch()
    demo.hermes(
        "cron", "create", "every 60m", "--name", "night backup", "--no-agent", "--script", "backup.py"
    )
    demo.hermes("ops", "install", "sweep", "wallet", "--deliver", f"file-chat:{CHAT}")
    prompt = demo.home.project / "digest.txt"
    prompt.write_text("As I said yesterday, send the usual digest to {{channel}}.\n", "utf-8")
    demo.hermes("ops", "lint", "--prompt-file", str(prompt), code=1)

    heading("A watcher's report: silence, one line when a job begins to fail, one when it works again")
    job, sweep = _job(demo, "backup.py"), _job(demo, "ops-sweep.py")
    for present, expected in ((True, 0), (False, 1), (False, 0), (True, 1)):
        (scripts / "disk").touch() if present else (scripts / "disk").unlink(missing_ok=True)
        demo.hermes("cron", "run", job, show=False, code=None)
        before = len(chats.said(CHAT))
        demo.hermes("cron", "run", sweep, show=False)
        told = [line for text in chats.said(CHAT)[before:] for line in text.splitlines()]
        told = [line for line in told if "night backup" in line]
        say(
            f"  the disk is {'there' if present else 'gone'}: "
            + (demo.shortened(told[0]) if told else "(nothing)")
        )
        if len(told) != expected:
            raise Failed(f"{expected} lines about the job were expected: {told}")
    say("proof: four runs of the watcher by the host's cron, two lines delivered, none of them twice")


def watch_money(demo: Demo) -> None:
    heading("The balance at the provider, and who spends it")
    with provider(9.0) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/balance"
        lines = ["WALLET_PROVIDER=json", f"WALLET_BALANCE_URL={address}", "WALLET_JSON_PATH=data.balance"]
        lines.append("WALLET_API_KEY=key-of-the-demo")
        with (demo.home.path / ".env").open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        demo.hermes("ops", "wallet")
        usage = {"prompt_tokens": 90_000, "completion_tokens": 4_000}
        turns = [{"text": "The harvest was good.", "usage": usage}]
        demo.model.reset([auxiliary_route(), {"name": "agent", "turns": turns}])
        demo.hermes("chat", "-Q", "-q", "Tell me about the harvest, at length.")
        server.left = 6.5
        shown = demo.hermes("ops", "wallet", code=1)
        if "2.5" not in shown.stdout or "94,000" not in shown.stdout.replace("94.0k", "94,000"):
            raise Failed("the burn of 2.50 and the session of 94,000 tokens were expected")
    page = demo.kept / "costs.html"
    demo.hermes("ops", "costs", "--days", "2", "--out", str(page))
    demo.hermes("ops", "status", code=None)
    demo.hermes("ops", "uninstall")
    demo.left += ["", f"What the sessions used, as a page: {page}"]


def _job(demo: Demo, script: str) -> str:
    """The id of the job that runs a script."""
    jobs = json.loads((demo.home.path / "cron" / "jobs.json").read_text("utf-8"))["jobs"]
    [found] = [job["id"] for job in jobs if job["script"] == script]
    return found


CHAPTERS = (watch_jobs, watch_money)
