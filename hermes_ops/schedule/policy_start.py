"""A first policy.toml from the real jobs: everything in it is commented out, for a person to decide."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from .._common.home import private_dir
from .._common.redact import Redactor
from .._common.terminal import printable
from ..errors import OpsError
from .declared import Declared
from .policy import KINDS, path_of

_HEAD = """\
# What kind each job is, where that kind speaks, and how often. Checked by `hermes ops policy`.
#
#   collector  gathers for others: silent (local)
#   alert      a script without a model, to the alert targets
#   digest     a target of its own
#   one-shot   a script without a model, a fixed text

[targets]
# alert = ["telegram:CHAT:THREAD"]
"""

_TAIL = """
# A documented exception: what somebody looked at and accepts, why, and until when.
# [[exclude]]
# what = "policy.budget:default/06c6883b7ddd"
# reason = "..."
# until = 2026-12-31
# owner = "..."
"""


def starter(jobs: Sequence[Declared]) -> str:
    """The text of a first policy: the kinds with their numbers, and one commented entry for each job."""
    parts = [_HEAD]
    for kind in KINDS.values():
        limit = "" if kind.messages_per_day is None else f"messages_per_day = {kind.messages_per_day}"
        parts.append(f"\n# [kinds.{kind.name}]\n# {limit}\n")
    for job in sorted(jobs, key=lambda job: (job.profile, job.name.casefold(), job.id)):
        parts.append(
            f"\n# {_shown(job.name)}: {job.mode}, {_shown(job.schedule)}, to {_shown(_targets(job))}\n"
        )
        parts.append(f"# [[job]]\n# id = {json.dumps(job.id)}\n")
        if job.profile != "default":
            parts.append(f"# profile = {json.dumps(job.profile)}\n")
        parts.append(f"# kind = {json.dumps(suggested(job))}\n")
    return "".join([*parts, _TAIL])


def suggested(job: Declared) -> str:
    """What a job looks like; a proposal in a comment, which no check goes by."""
    if job.schedule.startswith("once "):
        return "one-shot"
    if set(job.deliver) == {"local"}:
        return "collector"
    return "alert" if job.mode == "script" else "digest"


def write(home: Path, jobs: Sequence[Declared]) -> Path:
    """Write the first policy. OpsError when there is one: it is never overwritten."""
    path = path_of(home)
    private_dir(path.parent)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        raise OpsError(f"{path} is there already and is left as it is; edit it") from None
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(starter(jobs))
    return path


def _targets(job: Declared) -> str:
    return ", ".join(job.deliver)


def _shown(text: str) -> str:
    return printable(Redactor().text(" ".join(text.split())))
