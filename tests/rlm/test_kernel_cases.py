"""Cases that earlier tools got wrong, played through the adapter, without knowing the plugin."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.rlm import kernel_cases_adapter as adapter
from tests.rlm.conftest import end_kernels


@pytest.fixture(autouse=True)
def started(home, monkeypatch):
    monkeypatch.setenv("HERMES_SAFE_MODE", "")
    adapter.start()
    yield
    end_kernels()
    adapter.stop_all()


def test_output_of_a_child_process_belongs_to_its_call_and_no_other():
    adapter.run("keep = 42")
    answer = adapter.run("import os; os.system('echo hello-from-child')")
    assert answer["ok"] and "hello-from-child" in answer["out"]
    assert adapter.run("1+1")["value"] == "2"
    assert adapter.run("keep")["value"] == "42"


def test_a_late_print_is_delivered_with_the_next_reply_and_shifts_none():
    adapter.run(
        "import threading, time\ndef bg():\n    time.sleep(.3); print('LATE LINE')\n"
        "threading.Thread(target=bg).start()"
    )
    time.sleep(0.6)
    first, second = adapter.run("'probe-A'"), adapter.run("'probe-B'")
    assert (first["value"], second["value"]) == ("'probe-A'", "'probe-B'")
    assert "LATE LINE" in first["out"]


def test_a_crash_says_how_and_the_next_reply_what_is_lost_once():
    adapter.run("keep = 42")
    crash = adapter.run("import os; os._exit(7)")
    assert not crash["ok"] and "7" in crash["err"]
    assert "lost" in adapter.run("1+1")["note"]
    assert not adapter.run("2+2")["note"]


def test_state_from_before_later_work_is_not_taken_for_current():
    adapter.run("version = 'OLD'")
    assert adapter.evict()["ok"]
    adapter.run("version = 'NEW'\nresults = [1]")
    adapter.run("import os; os._exit(1)")
    answer = adapter.run("version")
    assert answer["value"] != "'OLD'" and "ago" in answer["note"]


def test_a_reset_after_an_eviction_is_final():
    adapter.run("secret = 'must be gone'")
    adapter.evict()
    assert adapter.run("secret")["value"] == "'must be gone'"
    adapter.reset()
    assert adapter.run("'secret' in globals()")["value"] == "False"


def test_a_save_over_the_limit_says_what_it_left_out_and_keeps_the_rest():
    adapter.run("small = 'kept'\nbig = b'x' * (540 * 1024 * 1024)")
    saved = adapter.save()
    assert saved["ok"] and os.path.exists(saved["checkpoint"])
    assert json.loads(saved["raw"])["skipped"] == [
        "big: there is no room for it below the limit of a checkpoint"
    ]
    adapter.run("del big, small")
    assert adapter.restore()["ok"]
    assert adapter.run("small")["value"] == "'kept'"
    assert "NameError" in adapter.run("big")["err"]


def test_a_save_of_nothing_but_what_is_over_the_limit_is_not_ok():
    adapter.run("big = b'x' * (540 * 1024 * 1024)")
    refused = adapter.save()
    assert not refused["ok"] and refused["error"].startswith("nothing could be saved; big: ")


def test_an_interrupt_keeps_the_same_process_and_every_object():
    adapter.run("sq = lambda x: x * x\nhandle = open(os.devnull) if 'os' in globals() else open('/dev/null')")
    before = adapter.pid()
    answer = adapter.run("while True: pass", timeout=1)
    assert "timed out" in answer["err"] and adapter.pid() == before == adapter.pid("s")
    assert adapter.run("(sq(3), handle.closed)")["value"] == "(9, False)"
    os.kill(before, 0)
