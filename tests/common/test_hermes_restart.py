"""scripts/hermes-restart with service managers of paper and a small server that looks like a gateway."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "hermes-restart"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the stubs replace Linux tools")

# Stands where hermes_cli/main.py stands; its behaviour comes from files beside it, so that it can change.
GATEWAY = """
import http.server, json, os, signal, subprocess, sys, threading
from pathlib import Path

here = Path(__file__).resolve().parent.parent
with open(here / "started", "a") as log:
    log.write(f"{os.getpid()}\\n")
starts = len((here / "started").read_text().split())
mood = (here / "mood").read_text().split() if (here / "mood").exists() else []
if "deaf" in mood:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "dead" in mood or ("dead-once" in mood and starts == 1):
    sys.exit(1)
falls = "falls" in mood or ("falls-once" in mood and starts == 1)

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"status": "sick"}' if "sick" in mood else b'{"status": "ok", "platform": "hermes-agent"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if falls:
            threading.Timer(0.05, os._exit, [1]).start()
    def log_message(self, *arguments):
        pass

def ask():
    done = subprocess.run(json.loads((here / "ask").read_text()), capture_output=True, text=True)
    (here / "asked").write_text(f"{done.returncode} {done.stdout}{done.stderr}")

server = http.server.ThreadingHTTPServer(("127.0.0.1", int((here / "port").read_text())), Answer)
if (here / "ask").exists() and starts == 1:
    threading.Thread(target=ask).start()
server.serve_forever()
"""

# Runs in place of systemctl, launchctl and systemd-run: notes its arguments, does what they ask for.
MANAGER = """
import json, os, signal, socket, subprocess, sys
from pathlib import Path

here = Path(os.environ["STAGE"])
name, arguments = Path(sys.argv[0]).name, sys.argv[1:]
with open(here / "calls", "a") as log:
    log.write(json.dumps([name, *arguments]) + "\\n")
fails = (here / "fails").read_text().split() if (here / "fails").exists() else []
verb = next((word for word in arguments if not word.startswith("-")), "")
if verb in fails:
    sys.exit(f"{verb} does not work here")
loaded = here / "loaded"

def launch(*command):
    null = subprocess.DEVNULL
    streams = dict(stdin=null, stdout=null, stderr=null)
    process = subprocess.Popen(command, cwd=here, start_new_session=True, **streams)
    with open(here / "launched", "a") as log:
        log.write(f"{process.pid}\\n")
    return process.pid

def stop():
    loaded.unlink(missing_ok=True)
    if (here / "pid").exists() and "ignores-stop" not in fails:
        try:
            os.kill(int((here / "pid").read_text()), signal.SIGTERM)
        except ProcessLookupError:
            pass
    if (here / "taker").exists():
        launch(sys.executable, "-c", (here / "taker").read_text())
        (here / "taker").unlink()
        while socket.socket().connect_ex(("127.0.0.1", int((here / "port").read_text()))):
            pass

if name == "systemd-run":
    launch(*arguments[next(i for i, word in enumerate(arguments) if not word.startswith("--")):])
elif verb == "show":
    print("loaded" if (here / "unit").exists() else "not-found")
elif verb == "print":
    sys.exit(0 if "/ai." not in arguments[-1] or loaded.exists() else 113)
elif verb in ("stop", "bootout"):
    stop()
elif verb in ("start", "bootstrap"):
    loaded.touch()
    (here / "pid").write_text(str(launch(sys.executable, "-m", "hermes_cli.main", "gateway", "run")))
"""

# Another program that listens on a port.
STRANGER = "import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(600)"


class Stage:
    """A folder with a gateway, service managers and a port of its own."""

    def __init__(self, folder, *managers):
        self.folder = folder
        self.port = free_port()
        self.started = []
        (folder / "hermes_cli").mkdir()
        (folder / "hermes_cli" / "__init__.py").touch()
        (folder / "hermes_cli" / "main.py").write_text(GATEWAY)
        (folder / "port").write_text(str(self.port))
        (folder / "home" / "Library" / "LaunchAgents").mkdir(parents=True)
        (folder / "bin").mkdir()
        for name in managers:
            path = folder / "bin" / name
            path.write_text(f"#!{sys.executable}\n{MANAGER}")
            path.chmod(0o755)
        if "systemctl" in managers:
            (folder / "unit").touch()
        if "launchctl" in managers:
            (folder / "home" / "Library" / "LaunchAgents" / "ai.hermes.gateway.plist").touch()

    @property
    def environment(self):
        return {
            "PATH": str(self.folder / "bin"),
            "HOME": str(self.folder / "home"),
            "HERMES_HOME": str(self.folder / "home" / ".hermes"),
            "STAGE": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self, *arguments, label="hermes-gateway"):
        timing = ["--timeout", "6", "--settle", "0.4"]
        return [sys.executable, str(SCRIPT), label, str(self.port), *timing, *arguments]

    def restart(self, *arguments, label="hermes-gateway"):
        return subprocess.run(
            self.command(*arguments, label=label),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=90,
        )

    def start(self, *command):
        """Start a process of this test and wait until it listens on the port."""
        process = subprocess.Popen(command, cwd=self.folder)
        self.started.append(process)
        wait_for(lambda: listens(self.port))
        return process

    def start_gateway(self):
        return self.start(sys.executable, "-m", "hermes_cli.main", "gateway", "run")

    def calls(self, *verbs):
        lines = (self.folder / "calls").read_text().splitlines() if (self.folder / "calls").exists() else []
        return [line for line in map(json.loads, lines) if not verbs or set(verbs) & set(line)]

    def starts(self):
        """The pids of all gateways so far."""
        return self._pids("started")

    def put(self, name, text):
        (self.folder / name).write_text(text)

    def clean(self):
        for process in self.started:
            process.kill()
            process.wait()
        for pid in {*self.starts(), *self._pids("launched")}:
            try:
                # Only what still runs on this stage: the pid may be another process by now.
                if os.readlink(f"/proc/{pid}/cwd") == str(self.folder):
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def _pids(self, name):
        path = self.folder / name
        return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition, limit=20):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


@pytest.fixture
def stage(tmp_path):
    stages = []

    def make(*managers):
        stages.append(Stage(tmp_path, *managers))
        return stages[-1]

    yield make
    for one in stages:
        one.clean()


@pytest.fixture
def ports(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "lib"))
    import gateway_listeners

    return gateway_listeners


@pytest.fixture
def services(ports):
    import gateway_services

    return gateway_services


def test_a_systemd_unit_is_stopped_started_and_healthy(stage):
    here = stage("systemctl")
    done = here.restart()
    assert (done.returncode, done.stderr) == (0, "")
    assert "systemd user unit hermes-gateway.service is healthy" in done.stdout
    verbs = ("stop", "reset-failed", "start")
    assert here.calls(*verbs) == [["systemctl", "--user", verb, "hermes-gateway.service"] for verb in verbs]
    assert listens(here.port) and len(here.starts()) == 1


def test_a_launchd_agent_is_unloaded_loaded_and_kicked(stage):
    here = stage("launchctl")
    (here.folder / "loaded").touch()
    done = here.restart(label="ai.hermes.gateway")
    assert (done.returncode, done.stderr) == (0, "")
    domain = f"gui/{os.getuid()}"
    plist = str(here.folder / "home" / "Library" / "LaunchAgents" / "ai.hermes.gateway.plist")
    assert here.calls("bootout", "bootstrap", "kickstart") == [
        ["launchctl", "bootout", f"{domain}/ai.hermes.gateway"],
        ["launchctl", "bootstrap", domain, plist],
        ["launchctl", "kickstart", f"{domain}/ai.hermes.gateway"],
    ]


def test_what_cannot_be_started_again_is_not_stopped(stage):
    here = stage("systemctl", "launchctl")
    (here.folder / "unit").unlink()
    for manager, label in (("systemd", "hermes-gateway"), ("launchd", "ai.other")):
        done = here.restart("--manager", manager, label=label)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert here.calls("stop", "bootout") == []


def test_without_any_manager_one_line_says_so(stage):
    done = stage().restart()
    assert done.returncode == 1
    assert re.fullmatch(r"hermes-restart: no launchctl, no systemctl, .*\n", done.stderr)


def test_a_gateway_that_outlives_the_stop_is_ended_before_the_start(stage):
    here = stage("systemctl")
    here.put("fails", "ignores-stop")
    leftover = here.start_gateway()
    done = here.restart()
    assert done.returncode == 0, done.stderr
    assert f"SIGTERM to pid {leftover.pid}" in done.stdout
    assert leftover.wait(5) == -signal.SIGTERM and here.starts()[-1] != leftover.pid


def test_a_gateway_deaf_to_the_signal_is_killed(stage):
    here = stage("systemctl")
    here.put("mood", "deaf")
    leftover = here.start_gateway()
    here.put("mood", "")
    done = here.restart("--timeout", "3")
    assert done.returncode == 0, done.stderr
    assert leftover.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize("words", [[], ["gateway", "run"], ["hermes", "gateway", "run"]])
def test_another_program_on_the_port_is_never_touched(stage, words):
    here = stage("systemctl")
    stranger = here.start(sys.executable, "-c", STRANGER.format(port=here.port), *words)
    done = here.restart()
    assert done.returncode == 1
    assert f"pid {stranger.pid}" in done.stderr and "nothing was stopped" in done.stderr
    assert stranger.poll() is None and here.calls("stop") == []


def test_a_program_that_takes_the_port_in_between_is_left_alone_and_the_service_started(stage):
    here = stage("systemctl")
    here.put("taker", STRANGER.format(port=here.port))
    done = here.restart("--timeout", "1.5")
    assert done.returncode == 1 and here.calls("start")
    stranger = re.search(r"still held by pid (\d+)", done.stderr)[1]
    assert os.path.exists(f"/proc/{stranger}") and listens(here.port)


@pytest.mark.parametrize("mood,reason", [("falls-once", "fell over"), ("dead-once", "no health")])
def test_a_gateway_that_fails_once_is_restarted_once_more(stage, mood, reason):
    here = stage("systemctl")
    here.put("mood", mood)
    done = here.restart("--timeout", "3")
    assert done.returncode == 0 and reason in done.stdout and "once more" in done.stdout
    assert len(here.starts()) == 2 and listens(here.port)


UNHEALTHY = [("falls", "fell over", "5"), ("dead", "no health", "1"), ("sick", "sick", "2.5")]


@pytest.mark.parametrize("mood,reason,timeout", UNHEALTHY)
def test_a_gateway_that_stays_unhealthy_is_a_failure_after_two_passes(stage, mood, reason, timeout):
    here = stage("systemctl")
    here.put("mood", mood)
    done = here.restart("--timeout", timeout)
    assert done.returncode == 1 and len(here.starts()) == 2
    assert reason in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("verb", ["stop", "start"])
def test_a_manager_that_refuses_is_a_failure_in_one_line(stage, verb):
    here = stage("systemctl")
    here.put("fails", verb)
    done = here.restart()
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"hermes-restart: systemctl --user {verb} hermes-gateway.service failed: {verb} does"
    )


def test_a_dry_run_shows_the_steps_and_does_none(stage):
    here = stage("systemctl")
    gateway = here.start_gateway()
    done = here.restart("--dry-run")
    assert done.returncode == 0
    for part in ("systemctl --user stop", f"held by pid {gateway.pid}", "ended if", f":{here.port}/health"):
        assert part in done.stdout
    assert here.calls("stop", "start") == [] and gateway.poll() is None


def test_a_dry_run_tells_of_a_program_that_would_stop_the_restart(stage):
    here = stage("systemctl")
    here.start(sys.executable, "-c", STRANGER.format(port=here.port))
    assert "so nothing would be stopped" in here.restart("--dry-run").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["x"],
        ["x", "0"],
        ["x", "65536"],
        ["x", "http"],
        ["-x", "80"],
        ["a b", "80"],
        ["x", "80", "--timeout", "-1"],
    ],
)
def test_wrong_use_is_exit_code_two(arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_second_restart_at_the_same_time_is_refused(stage):
    import fcntl

    here = stage("systemctl")
    logs = here.folder / "home" / ".hermes" / "logs"
    logs.mkdir(parents=True)
    with open(logs / "hermes-restart.lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = here.restart()
    assert (done.returncode, here.calls("stop")) == (1, [])
    assert done.stderr == "hermes-restart: another hermes-restart is at work\n"


def gateway_that_asks(here, command):
    """A gateway whose agent runs the command; returns it and what the command said."""
    here.put("ask", json.dumps(command))
    gateway = [sys.executable, "-m", "hermes_cli.main", "gateway", "run"]
    process = subprocess.Popen(gateway, cwd=here.folder, env=here.environment, start_new_session=True)
    here.started.append(process)
    here.put("pid", str(process.pid))
    asked = here.folder / "asked"
    wait_for(lambda: asked.exists() and asked.read_text())
    return process, asked.read_text()


def test_an_agent_inside_the_gateway_is_told_to_detach(stage):
    here = stage("systemctl")
    gateway, said = gateway_that_asks(here, ["/bin/sh", "-c", '"$@"; exit', "sh", *here.command()])
    assert said.startswith("2 ") and "add --detached" in said
    assert gateway.poll() is None and here.calls("stop") == []


DETACHED = [("launchctl", "ai.hermes.gateway"), ("systemctl systemd-run", "hermes-gateway")]


@pytest.mark.parametrize("managers,label", DETACHED)
def test_an_agent_restarts_its_own_gateway_detached(stage, managers, label):
    here = stage(*managers.split())
    (here.folder / "loaded").touch()
    gateway, said = gateway_that_asks(here, here.command("--detached", "--delay", "0.5", label=label))
    assert said.startswith("0 "), said
    log = here.folder / "home" / ".hermes" / "logs" / "hermes-restart.log"
    wait_for(lambda: log.exists() and "healthy" in log.read_text(), 40)
    assert gateway.wait(5) == -signal.SIGTERM
    assert here.starts()[-1] != gateway.pid and listens(here.port)
    assert bool(here.calls("systemd-run")) == ("systemd-run" in managers)
    assert log.stat().st_mode & 0o077 == 0


def test_a_container_gateway_is_signalled_only_when_it_is_one(stage, services):
    here = stage()
    gateway = here.start_gateway()
    container = services.Container("any", gateway.pid)
    container.check()
    container.stop(5)
    assert gateway.wait(5) == -signal.SIGTERM
    with pytest.raises(services.ServiceError, match="no Hermes gateway"):
        services.Container("any", os.getpid()).stop(5)
    with pytest.raises(services.ServiceError, match="no Hermes gateway"):
        services.find("pid1", "any")


GATEWAYS = [
    "hermes gateway",
    "hermes gateway run",
    "/opt/x/bin/hermes -p work gateway run --replace",
    "hermes gateway run -p gateway",
    "hermes --profile=gateway gateway restart",
    "hermes gateway -v",
    "/usr/bin/python3.12 -m hermes_cli.main gateway run",
    "python -I -X dev -m hermes_cli.main --profile x gateway run --replace",
    "/venv/bin/python /venv/bin/hermes gateway run",
    "python3 /src/hermes_cli/main.py gateway run",
    "python gateway/run.py",
    "/Library/Python.app/Contents/MacOS/Python -m hermes_cli.main gateway run",
    "hermes-gateway",
]
OTHERS = [
    "",
    "hermes",
    "hermes chat",
    "hermes gateway status",
    "hermes gateway stop",
    "hermes chat gateway run",
    "hermes -p gateway run",
    "python -m tui_gateway",
    "python -m http.server hermes gateway run",
    "python -c hermes gateway run",
    "vim hermes_cli/main.py gateway run",
    "tail -f hermes-gateway",
    "grep hermes gateway run",
    "nginx",
    "python",
    "python -m",
    "/sbin/init",
]


@pytest.mark.parametrize("command,expected", [*((c, True) for c in GATEWAYS), *((c, False) for c in OTHERS)])
def test_only_the_program_itself_makes_a_command_a_gateway(ports, command, expected):
    assert ports.is_gateway(command.split(" ") if command else []) is expected


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1"])
def test_a_listener_is_found_on_any_address_and_open_connections_do_not_count(ports, address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        server = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip(f"no {address} here")
    number = server.getsockname()[1]
    (found,) = ports.listeners(number)
    assert (found.pid, found.uid, found.is_own_gateway) == (os.getpid(), os.geteuid(), False)
    assert not ports.is_free(number)
    client = socket.create_connection((address, number))
    accepted, _ = server.accept()
    server.close()
    assert ports.listeners(number) == []
    accepted.close()
    client.close()
    assert ports.is_free(number)


def test_the_listeners_of_other_users_are_not_own_gateways(ports):
    command = ("hermes", "gateway", "run")
    assert ports.Listener(1, os.geteuid(), command).is_own_gateway
    assert not ports.Listener(1, os.geteuid() + 1, command).is_own_gateway
    assert not ports.Listener(None, os.geteuid(), command).is_own_gateway


def test_without_proc_lsof_and_ps_tell_the_same(ports, monkeypatch, tmp_path):
    command = ["/x/hermes", "gateway", "run"]
    for name, answer in (("lsof", f"p4321\nf9\nu{os.geteuid()}\n"), ("ps", " ".join(command) + "\n")):
        stub = tmp_path / name
        stub.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}END\n")
        stub.chmod(0o755)
    monkeypatch.setattr(ports, "PROC", tmp_path / "no-proc")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (found,) = ports.listeners(8642)
    assert (found.pid, found.command, found.is_own_gateway) == (4321, tuple(command), True)


def test_the_processes_above_this_one_are_known(ports):
    assert os.getppid() in ports.ancestors() and os.getpid() not in ports.ancestors()
