"""Programs of another purpose that give the value of an option to a shell: tables of these options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..rules.names import names as listed
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_LEAST_OF_A_NAME = 5  # characters of a long option that stand for its whole name
MOST_WORDS = 400


class Runs(NamedTuple):
    """Options of a program whose value is a command.

    `long`: their long names, which may be shortened; `short`: their letters; `beginning`: how all of a kind
    begin. `settings`: options that set something by KEY=VALUE, and `keys` which of these are commands, with
    the command as its last group.
    """

    long: frozenset[str] = frozenset()
    short: str = ""
    beginning: str = ""
    settings: frozenset[str] = frozenset()
    keys: re.Pattern[str] | None = None


def _keys(names: str, value: str = "(.*)") -> re.Pattern[str]:
    return re.compile(rf"(?is)(?:{names})\s*[ =]\s*{value}\Z")


_SSH_KEYS = _keys("ProxyCommand|LocalCommand|KnownHostsCommand")
_SSH = Runs(settings=frozenset(("-o",)), keys=_SSH_KEYS)
_APT = Runs(
    settings=listed("-o --option"),
    keys=_keys(r"[\w:.-]*(?:invoke|install-pkgs|auto-?detect)[\w:.-]*", r"[{\s\"']*(.*?)[\"';}\s]*"),
)
_TAR = Runs(
    listed("--to-command --use-compress-program --rsh-command --info-script --new-volume-script"), "IF"
)

RUNS: dict[str, Runs] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _TAR),
    "rsync": Runs(listed("--rsh --rsync-path"), "e"),
    "tcpdump": Runs(short="z"),
    "aria2c": Runs(beginning="--on-"),
    **dict.fromkeys(("split", "gsplit"), Runs(listed("--filter"))),
    **dict.fromkeys(("sort", "gsort"), Runs(listed("--compress-program"))),
    "zip": Runs(listed("--unzip-command"), "T"),
    "rg": Runs(listed("--pre --hostname-bin")),
    "fzf": Runs(listed("--preview")),
    "wget": Runs(listed("--use-askpass")),
    "dpkg": Runs(listed("--pre-invoke --post-invoke --status-logger")),
    **dict.fromkeys(("mysql", "mariadb"), Runs(listed("--pager"))),
    "sbatch": Runs(listed("--wrap")),
    "watchman-make": Runs(listed("--run")),
    "svn": Runs(
        listed("--diff-cmd --diff3-cmd --editor-cmd"),
        settings=listed("--config-option"),
        keys=_keys(r"config:(?:helpers|tunnels):[\w-]+"),
    ),
    "hg": Runs(
        listed("--ssh --remotecmd --editor"),
        settings=listed("--config"),
        keys=_keys(
            r"(?:alias|hooks|extdiff|pager|merge-tools|diff-tools|auth)\.\S+?|ui\.(?:ssh|editor|merge|askusername)",
            r"!?(.*)",
        ),
    ),
    "cargo": Runs(
        settings=listed("--config"),
        keys=_keys(
            r"[^=]*\b(?:runner|rustc-wrapper|rustc|linker|credential-provider)", r"[\"'\[\s]*(.*?)[\"'\]\s]*"
        ),
    ),
    **dict.fromkeys(("apt", "apt-get", "aptitude", "apt-cache", "apt-key"), _APT),
    **dict.fromkeys(("scp", "sftp"), _SSH),
    **dict.fromkeys(
        listed("xonsh nu elvish osh ysh oil ion es rc"), Runs(listed("--command --commands"), "c")
    ),
}  # fmt: skip


def values(words: Sequence[Arg], long: frozenset[str], short: str = "") -> Iterator[tuple[str, Arg]]:
    """The options of these names among words, each with its value; long names may be shortened."""
    count = min(len(words), MOST_WORDS)
    for at in range(count):
        word = words[at]
        text = word.text
        if text[:1] != "-" or len(text) < 2:
            continue
        if text[1] == "-" or text in long:
            name, equals, value = text.partition("=")
            if name not in long and not _shortened(name, long):
                continue
        else:
            name, equals, value = _letter(text, short)
            if not name:
                continue
        if equals:
            yield name, Arg(value, False, word.taint, word.source)
        elif at + 1 < len(words):
            yield name, words[at + 1]


def _shortened(name: str, long: frozenset[str]) -> bool:
    return len(name) > _LEAST_OF_A_NAME and any(full.startswith(name) for full in long)


def _letter(text: str, letters: str) -> tuple[str, str, str]:
    """The first of some letters in a cluster of short options, and the value that is joined to it."""
    for place, letter in enumerate(text[1:], 2):
        if letter in letters:
            value = text[place:]
            return f"-{letter}", value, value.removeprefix("=")
    return "", "", ""


def run(walk: Walk, call: Invocation) -> Stream | None:
    """Judge the commands in the options of a program of the table."""
    table = RUNS[call.name]
    words = call.argv[1:]
    if table.long or table.short:
        for _, value in values(words, table.long, table.short):
            walk.shell(value)
    if table.beginning:
        for word in words[:MOST_WORDS]:
            name, equals, value = word.text.partition("=")
            if equals and name.startswith(table.beginning):
                walk.shell(Arg(value, False, word.taint, word.source))
    if table.keys is not None:
        short = "".join(name[1] for name in table.settings if name[1] != "-")
        for _, setting in values(words, table.settings, short):
            found = table.keys.match(setting.text)
            if found:
                walk.shell(Arg(found[found.re.groups], False, setting.taint, setting.source))
    return None


HANDLERS = dict.fromkeys(RUNS, run)
