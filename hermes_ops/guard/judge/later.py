"""Text that runs later or on the side: variables that programs run, aliases, functions nobody calls."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from ..verdict import Verdict
from . import flows, git
from .invocation import UNKNOWN, Arg

if TYPE_CHECKING:
    from .walk import Walk

# Variables whose value is run: by the shell, or by programs that ask for an editor, a pager or a helper.
_RUN_VARIABLES = listed(
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS GIT_EXTERNAL_DIFF "
    "GIT_PROXY_COMMAND GIT_SSH PAGER MANPAGER EDITOR VISUAL BROWSER FCEDIT LESSOPEN LESSCLOSE SSH_ASKPASS "
    "SUDO_ASKPASS RSYNC_RSH CVS_RSH SYSTEMD_PAGER SYSTEMD_EDITOR KUBE_EDITOR"
)
_STARTUP_VARIABLES = frozenset(("BASH_ENV", "ENV", "ZDOTDIR"))
_PROMPTS = frozenset(("PS0", "PS1", "PS2", "PS3", "PS4"))
_BLANK = " \t\n\r" + UNKNOWN


def defined(walk: Walk, text: Arg) -> None:
    """Text that may run later, such as an alias: judged for what must never run."""
    kept = walk.findings
    walk.findings = []
    try:
        with walk.subshell():
            walk.shell(text, same=True)
    finally:
        kept.extend(found for found in walk.findings if found.verdict == Verdict.BLOCK)
        walk.findings = kept


def environment(walk: Walk, name: str, value: Arg) -> None:
    """A variable is set: some are run, by the shell itwalk or by the programs that look at them."""
    if name in _RUN_VARIABLES:
        if value.text.strip(_BLANK):
            _judged_apart(walk, value)
    elif name in _STARTUP_VARIABLES:
        held = flows.file_stream(walk, value.text)
        if held.text is not None:
            _judged_apart(walk, Arg(held.text, False, held.taint, held.source))
    elif name in _PROMPTS:
        if "$(" in value.text or "`" in value.text:
            _judged_apart(walk, Arg(f': "{value.text}"', False, value.taint, value.source))
    elif name.startswith("GIT_CONFIG_VALUE_"):
        key = walk.parameter(name.replace("VALUE", "KEY"))
        if key is not None:
            git.setting(walk, key.text, value)


def _judged_apart(walk: Walk, text: Arg) -> None:
    with walk.subshell():
        walk.shell(text)


def uncalled(walk: Walk, known: Container[str] = ()) -> None:
    """Functions that a text defines but does not call are judged for what must never run."""
    for name, bodies in list(walk.state.functions.items()):
        if name in walk.called or name in known:
            continue
        kept = walk.findings
        walk.findings = []
        try:
            walk.call(name, bodies, [Arg(UNKNOWN) for _ in range(3)], flows.ANYTHING)
        finally:
            kept.extend(found for found in walk.findings if found.verdict == Verdict.BLOCK)
            walk.findings = kept
