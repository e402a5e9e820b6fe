"""The rules of the scan: what each means, and what to do. A hit is one place where a rule applies."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from ..core.finding import Finding

ERROR, WARNING, INFO = "error", "warning", "info"
ORDER = (ERROR, WARNING, INFO)


@dataclass(frozen=True)
class Rule:
    """`text` says what is wrong in general; `fix` is the next step."""

    id: str
    text: str
    fix: str


_READ = "read the place; install the skill only when you know why it is there"
_DROP = "do not install it; if it is installed, remove it and change the credentials it could read"
_ASK = "ask its author for the source, or build it yourself; what cannot be read cannot be trusted"

RULES = {
    rule.id: rule
    for rule in (
        # instructions
        Rule("skill.override", "it tells the model to drop the instructions it has", _DROP),
        Rule("skill.role", "it tells the model to act without its limits", _DROP),
        Rule("skill.hide", "it tells the model to keep something from the user", _DROP),
        Rule("skill.authority", "it speaks as if it were the system or the vendor", _DROP),
        Rule("skill.exfiltrate", "it asks for private data to be sent away", _DROP),
        Rule("skill.protection", "it asks for protections to be switched off", _DROP),
        Rule("skill.persist", "it wants its words in files that every session reads", _READ),
        Rule("skill.obey", "it makes the model follow text that is fetched at run time", _READ),
        Rule("skill.download", "it has a person download and run something packed with a password", _DROP),
        # disguise
        Rule("skill.hidden-text", "text that a person who reads the page does not see", _READ),
        Rule("skill.invisible", "characters that cannot be seen carry or break up text", _READ),
        Rule("skill.bidi", "characters that turn the order of the text around", _READ),
        Rule("skill.lookalike", "a word mixes letters of two scripts that look alike", _READ),
        Rule("skill.encoded", "encoded text that says something once it is decoded", _READ),
        Rule("skill.link", "an address is not what it seems", _READ),
        Rule("skill.terminal", "control characters that make a terminal hide text", _READ),
        # code
        Rule("skill.command", "a command that must not run", _DROP),
        Rule("skill.remote-code", "it runs what it downloads", _READ),
        Rule("skill.obscured", "code that cannot be read as it stands", _READ),
        Rule("skill.credentials", "code that reads credentials and talks to the network", _DROP),
        Rule("skill.runs-by-itself", "code that runs without being called", _READ),
        Rule("skill.inline-shell", "a command that the host runs while it loads the skill", _READ),
        # files
        Rule("skill.compiled", "a compiled file: nobody can review it", _ASK),
        Rule("skill.opaque", "a file that cannot be looked into", _ASK),
        Rule("skill.pickle", "a file that runs code when it is loaded", _ASK),
        Rule("skill.archive", "an archive that is not what an archive should be", _READ),
        Rule("skill.huge", "more than is looked at", "look at the rest yourself, or leave the skill"),
        Rule("skill.unread", "a file that could not be read", "make it readable and scan again"),
        Rule("skill.symlink", "a link that leaves the skill or leads nowhere", _READ),
        Rule("skill.special", "a pipe, socket or device", "remove it; a skill has no use for it"),
        Rule("skill.file-name", "the name of a file hides what it is", _READ),
        Rule("skill.ignored", "the skill keeps files from the scan of the host", _READ),
        Rule("skill.frontmatter", "the frontmatter asks for what no skill needs", _READ),
        # what was recorded
        Rule("skill.changed", "it changed since it was recorded", "read the change, then `--record` again"),
        Rule("skill.not-recorded", "it was not there when skills were recorded", "read it, then `--record`"),
        Rule("skill.gone", "it was recorded and is gone", "`--record` when that is right"),
        Rule("skill.host-hash", "the host recorded another content", "`hermes skills` to install it again"),
        Rule(
            "skill.unguarded",
            "the host does not scan what the agent writes into skills",
            "`hermes config set skills.guard_agent_created true`",
        ),
    )
}


@dataclass(frozen=True)
class Hit:
    """One place: `line` counts from 1, 0 when the whole file is meant. `match` is what makes it this one.

    ``passage`` is what stands around the place and is accepted with it; of a whole file its hash.
    ``is_unread``: something was not looked at, so that nothing is known about it.
    """

    rule: str
    severity: str
    path: str
    line: int
    text: str
    evidence: tuple[str, ...] = ()
    match: str = ""
    passage: str = ""
    is_unread: bool = False

    def at(self, severity: str) -> Hit:
        return replace(self, severity=severity)


@dataclass(frozen=True)
class Located:
    """A finding with what reports and the baseline ask for; `sha256` is that of the file, "" without one."""

    finding: Finding
    skill: str
    path: str
    line: int
    sha256: str = ""
    is_unread: bool = False


def located(hit: Hit, skill: str, sha256: str, number: int) -> Located:
    """The finding of a hit; `number` tells hits of one rule and text in one file apart, from 0.

    Its key holds all that somebody accepts with it: how grave it is, what is said, the words and what is
    around them, or the hash of the file.
    """
    what = "\n".join((hit.rule, hit.severity, hit.text, hit.match, hit.passage, str(number)))
    mark = hashlib.sha256(what.encode("utf-8", "surrogatepass"))
    place = f"{hit.path}:{hit.line}" if hit.line else hit.path
    finding = Finding(
        hit.rule,
        hit.severity,
        spelled(f"{skill}: {place}" if place else skill),
        spelled(hit.text),
        spelled(f"{skill}/{hit.path}/{mark.hexdigest()[:12]}"),
        tuple(spelled(line) for line in hit.evidence),
        RULES[hit.rule].fix,
    )
    return Located(finding, skill, hit.path, hit.line, sha256, hit.is_unread)


def spelled(text: str) -> str:
    """A text whose bytes that are no UTF-8 (in names of files) are written out, as in `\\xff`."""
    return text if text.isascii() else _SURROGATE.sub(_written_out, text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _written_out(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number - 0xDC00:02x}" if 0xDC80 <= number <= 0xDCFF else f"\\u{number:04x}"
