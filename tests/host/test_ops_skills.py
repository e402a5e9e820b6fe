"""The scan beside the real host: its hashes, its installs, and what its own scanner lets pass."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.skillcheck import host_hashes
from hermes_ops.skillcheck.disk import skills_at
from hermes_ops.skillcheck.scan import scan
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import CHECKOUT
from tests.ops.dirty_skills import samples, skill, write

pytestmark = pytest.mark.host

# Runs in the host's Python: installs a skill as the hub does, and tells hashes and verdicts.
ASKED = """
import json, sys
from pathlib import Path
from tools.skills_guard import content_hash, scan_skill
from tools.skills_hub import SkillBundle, install_from_quarantine, quarantine_bundle
from tools.skills_sync import _dir_hash
files, folders = json.load(sys.stdin)
bundle = SkillBundle("tidy", files, "github", "someone/tidy", "community")
quarantine = quarantine_bundle(bundle)
installed = install_from_quarantine(quarantine, "tidy", "notes", bundle, scan_skill(quarantine))
print(json.dumps({
    "installed": str(installed),
    "hub": content_hash(installed),
    "own": _dir_hash(installed),
    "verdicts": {Path(one).parent.name: scan_skill(Path(one)).verdict for one in folders},
}))
"""
FILES = {
    "SKILL.md": skill("Run scripts/sort.sh.", name="tidy"),
    "scripts/sort.sh": "#!/bin/sh\nsort list.txt\n",
    "scripts.txt": "sorted before or after scripts/?\n",
    "references/a b.md": "Ünïcode\n",
}
# What the host's scanner finds nothing in, one of a kind.
PASSES = (
    "disguise-lines",
    "disguise-tags",
    "script-no-extension",
    "script-node",
    "file-zip",
    "disguise-bold",
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    made = tmp_path_factory.mktemp("samples")
    dirty = samples()
    folders = [write(made / name / "helper", dirty[name]) for name in PASSES]
    with ModelServer([]) as server, HermesHome(server.url) as home:
        done = subprocess.run(
            [sys.executable, "-P", "-c", ASKED],
            input=json.dumps([FILES, [str(one) for one in folders]]),
            capture_output=True,
            text=True,
            env={**home.environment(), "PYTHONPATH": str(CHECKOUT)},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        yield {**json.loads(done.stdout.splitlines()[-1]), "home": home, "folders": folders}


def scanned(home: HermesHome, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of `hermes ops skills scan --installed --json` in a home."""
    done = subprocess.run(
        [sys.executable, "-m", "hermes_ops", "skills", "scan", "--installed", "--json", *words],
        capture_output=True,
        text=True,
        env={**home.environment(), "PYTHONPATH": str(CHECKOUT)},
        timeout=60,
    )
    return done.returncode, json.loads(done.stdout)


def test_both_hashes_are_those_of_the_host(seen):
    folder = Path(seen["installed"])
    assert host_hashes.hub_hash(folder) == seen["hub"]
    assert host_hashes.own_hash(folder) == seen["own"]


def test_an_install_of_the_hub_agrees_until_a_file_changes(seen):
    home, folder = seen["home"], Path(seen["installed"])
    code, found = scanned(home, "--record")
    assert code == 0 and found["record"]["recorded"] == ["default/notes/tidy"]
    assert not [one for one in found["findings"] if one["rule"] == "skill.host-hash"]
    with (folder / "scripts" / "sort.sh").open("a") as script:
        script.write("sort -u list.txt\n")
    code, found = scanned(home)
    said = {(one["rule"], one["severity"], one["file"]) for one in found["findings"]}
    assert code == 1
    assert {("skill.changed", "error", "scripts/sort.sh"), ("skill.host-hash", "warning", "")} <= said


def test_what_the_hosts_scanner_lets_pass_is_an_error_here(seen):
    assert set(seen["verdicts"].values()) == {"safe"}
    for folder in seen["folders"]:
        severities = {one.finding.severity for whole in skills_at(folder) for one in scan(whole)}
        assert "error" in severities, folder
