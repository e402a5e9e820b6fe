"""The scan measured on clean and malicious skills; `pytest -s` prints the figures."""

import base64
import json
from pathlib import Path

import pytest

from hermes_ops.skillcheck.disk import skills_at
from hermes_ops.skillcheck.scan import scan
from tests.ops.dirty_skills import Files, samples, write
from tests.ops.later_dirty_skills import later_samples

CORPORA = Path(__file__).parent / "corpora"
CLEAN = CORPORA / "clean_skills"


def strangers(which: str) -> dict[str, Files]:
    """Samples that somebody wrote who knew the documentation alone; each file lies there in pieces."""
    found: dict[str, Files] = {}
    for line in (CORPORA / "malicious_skills.jsonl").read_text().splitlines():
        row = json.loads(line)
        content: object = ("link", row.get("link"))
        if "text" in row:
            content = "".join(row["text"]).encode()
        elif "base64" in row:
            content = base64.b64decode("".join(row["base64"]))
        if row["set"] == which:
            found.setdefault(row["skill"], {})["".join(row["file"])] = content
    return found


def severities(folder: Path) -> set[str]:
    found = [one.finding for skill in skills_at(folder) for one in scan(skill)]
    return {finding.severity for finding in found}


def recall(folder: Path, dirty: dict[str, Files]) -> tuple[float, float, list[str]]:
    """Share with an error, share with at least a warning, names of those without either."""
    errors, seen, missed = 0, 0, []
    for name, files in dirty.items():
        found = severities(write(folder / name / "helper", files))
        errors += "error" in found
        seen += not found.isdisjoint({"error", "warning"})
        if found.isdisjoint({"error", "warning"}):
            missed.append(name)
    return errors / len(dirty), seen / len(dirty), missed


def test_clean_skills_raise_no_error_and_hardly_a_warning():
    folders = sorted(CLEAN.iterdir())
    assert len(folders) >= 150
    found = {folder.name: severities(folder) for folder in folders}
    errors = [name for name, seen in found.items() if "error" in seen]
    warned = [name for name, seen in found.items() if not seen.isdisjoint({"error", "warning"})]
    print(f"\n{len(folders)} clean skills: errors on {errors}, warnings on {warned}")
    assert not errors
    assert len(warned) <= 0.02 * len(folders)


@pytest.mark.parametrize(
    ("dirty", "least_errors", "least_seen"),
    [
        (samples(), 0.93, 1.0),
        (later_samples(), 0.90, 0.97),
        (strangers("first"), 0.75, 0.98),
        (strangers("variant"), 0.60, 0.98),
        (strangers("unseen"), 0.20, 0.76),
        (strangers("latest"), 0.26, 0.82),
        (strangers("last"), 0.15, 0.60),
    ],
    ids=["ours", "later", "strangers", "variants", "unseen", "latest", "last"],
)
def test_malicious_skills_are_seen_in_every_disguise(tmp_path, dirty, least_errors, least_seen):
    assert len(dirty) >= 20
    errors, seen, missed = recall(tmp_path, dirty)
    print(
        f"\n{len(dirty)} malicious skills: error {errors:.3f}, at least a warning {seen:.3f}, missed {missed}"
    )
    assert errors >= least_errors
    assert seen >= least_seen
