"""The rules that only code can break, with their verdicts and words."""

from __future__ import annotations

from ..verdict import Found, Verdict

# rule id: verdict, why, what to do instead
RULES: dict[str, tuple[Verdict, str, str]] = {
    "code.secret-sent": (
        Verdict.BLOCK,
        "the code hands a credential or the whole environment to the network",
        "send only the one value that the service needs, in its header",
    ),
    "code.reverse-shell": (
        Verdict.BLOCK,
        "the code connects a shell to a socket",
        "run the command on the other machine over ssh",
    ),
    "code.fork-bomb": (
        Verdict.BLOCK,
        "the code starts processes without end",
        "start a fixed number of workers and wait for them",
    ),
    "code.remote-exec": (
        Verdict.APPROVE,
        "the code runs text that comes from the network",
        "save the download, read it, then run the file",
    ),
    "code.opaque-exec": (
        Verdict.APPROVE,
        "the code runs text that cannot be read from the call",
        "write the code out, or run a file by its name",
    ),
    "code.decoded-exec": (
        Verdict.APPROVE,
        "the code decodes a text and runs it",
        "write the decoded code out",
    ),
    "code.unread": (
        Verdict.APPROVE,
        "the code cannot be read as its language and calls something that can destroy",
        "send code that parses, in smaller pieces",
    ),
    "code.cloud-deletion": (
        Verdict.APPROVE,
        "the code deletes resources of a cloud account or a cluster",
        "list what would be deleted first",
    ),
    "code.processes-ended": (
        Verdict.BLOCK,
        "the code ends every process it can reach",
        "end one process by its id",
    ),
    "code.machine-off": (
        Verdict.BLOCK,
        "the code switches the machine off or restarts it",
        "",
    ),
    "code.rows-deleted": (
        Verdict.APPROVE,
        "the code deletes every row of a table through a mapper",
        "filter first, and count what would go",
    ),
}


def found(rule: str, part: str, detail: str = "") -> Found:
    """The finding of a rule of RULES; `detail` is added to the reason ("~/.ssh/id_rsa")."""
    verdict, why, safer = RULES[rule]
    return Found(rule, verdict, f"{why} ({detail})" if detail else why, part, safer)
