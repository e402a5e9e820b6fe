"""Programs that make one folder like another: what is not in the one goes from the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..judge.invocation import UNKNOWN, Arg, Invocation
from ..verdict import Found, Verdict
from .dry_runs import is_dry
from .names import names
from .paths import Place, locate
from .removal import SYSTEM_REMOVAL, located, removal, removed, target_of
from .rule import Family, approve
from .verbs import plain

MIRRORED = approve(
    "files.mirror-deletes", "deletes at the destination what the source lacks", "run it with --dry-run first"
)

_REMOTE = re.compile(r"(?:[\w.-]+@)?[\w.-]{2,}:|(?:rsync|sftp|s3|gs|https?)://|::")


class Mirror(NamedTuple):
    """A verb by which the last operand is made like the one before; `deletes`: options that it needs."""

    verbs: tuple[str, ...]
    deletes: frozenset[str] = frozenset()


_TOOLS: dict[str, tuple[Mirror, ...]] = {
    "mc": (Mirror(("mirror",), names("--remove")),),
    "aws": (Mirror(("s3", "sync"), names("--delete")),),
    "gsutil": (Mirror(("rsync",), names("-d")),),
    "gcloud": (
        Mirror(("storage", "rsync"), names("--delete-unmatched-destination-objects")),
        Mirror(("alpha", "storage", "rsync"), names("--delete-unmatched-destination-objects")),
    ),
    "azcopy": (Mirror(("sync",), names("--delete-destination --delete-destination=true")),),
    "s3cmd": (Mirror(("sync",), names("--delete-removed --delete")),),
    "s5cmd": (Mirror(("sync",), names("--delete")),),
    "b2": (Mirror(("sync",), names("--delete")),),
}
# The options by which these tools only show what they would do.
_DRY = {
    "mc": names("--dry-run --fake"),
    "aws": names("--dryrun"),
    "gsutil": names("-n"),
    "gcloud": names("--dry-run"),
    "azcopy": names("--dry-run"),
    "s3cmd": names("-n --dry-run"),
    "s5cmd": names("--dry-run"),
    "b2": names("--dry-run"),
}
_DRY_RUN = names("-n --dry-run")
_TOOL_VALUED = names(
    "--profile --region --endpoint-url --exclude --include --exclude-pattern --include-pattern --acl "
    "--config --storage-class --cache-control --content-type --exclude-regex --include-regex "
    "--log-level -x -y -j"
)
_RSYNC_VALUED = names(
    "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from --max-size "
    "--min-size -T --temp-dir --compare-dest --copy-dest --link-dest --port --timeout --bwlimit "
    "--rsync-path --backup-dir --suffix --log-file --password-file --chmod --chown -B --block-size "
    "--max-delete --out-format -M --partial-dir --compress-level --compress-choice --checksum-choice "
    "--info --debug --stderr --modify-window -@ --iconv --protocol --sockopts --address --usermap "
    "--groupmap --log-file-format --write-batch --only-write-batch --read-batch --stop-after --stop-at "
    "--outbuf --remote-option --early-input --copy-as --contimeout --config --max-alloc --checksum-seed "
    "--skip-compress"
)
_RCLONE_VALUED = names(
    "--transfers --checkers --config --bwlimit --exclude --include --filter --filter-from "
    "--exclude-from --include-from --files-from --min-age --max-age --min-size --max-size --log-file "
    "--log-level --retries --backup-dir --suffix --max-delete --max-transfer --stats --timeout "
    "--tpslimit --buffer-size --max-depth -f --exclude-if-present --include-if --cache-dir "
    "--compare-dest --copy-dest --contimeout --temp-dir --low-level-retries --retries-sleep "
    "--max-backlog --max-duration --modify-window --order-by --stats-file-name-length --stats-log-level "
    "--stats-unit --tpslimit-burst --user-agent --header --hash-filter --metadata-set --metadata-filter "
    "--metadata-exclude --metadata-include --password-command --multi-thread-streams "
    "--multi-thread-cutoff --cutoff-mode --dump --error --match --differ --combined --conflict-resolve "
    "--bind --ca-cert --client-cert --client-key --rc-addr --log-format --partial-suffix"
)


def _rsync(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if is_dry(words, _DRY_RUN, _RSYNC_VALUED, clusters=True):
        return
    deletes = any(
        word == "--del" or (word.startswith("--delete") and not word.startswith("--delete-missing"))
        for word in words
    )
    operands = list(invocation.operands(_RSYNC_VALUED))
    if deletes and operands:
        yield from _made_like(invocation, operands[-1])
    if any(word.startswith("--remove-s") and any(map(_beginning(word), _REMOVES)) for word in words):
        yield from _moved(invocation, operands[:-1])


_REMOVES = ("--remove-source-files", "--remove-sent-files")


def _beginning(word: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(word)


def _rclone(invocation: Invocation) -> Iterator[Found]:
    if is_dry(invocation.words(), _DRY_RUN, _RCLONE_VALUED, clusters=True):
        return
    verb, *operands = [*invocation.operands(_RCLONE_VALUED), Arg("")]
    operands = operands[:-1]
    if not operands:
        return
    if verb.text in ("sync", "delete", "purge", "deletefile", "rmdirs", "cleanup"):
        yield from _made_like(invocation, operands[-1])
    elif verb.text in ("move", "moveto") and len(operands) > 1:
        yield from _moved(invocation, operands[:1])


_ROBOCOPY_NAMES = names("/XF /XD -XF -XD")


def _robocopy(invocation: Invocation) -> Iterator[Found]:
    """robocopy FROM TO [FILES] [/MIR]: options begin with a slash, and no folder stands behind the second."""
    arguments = invocation.arguments
    options, before = set(), ""
    for argument in arguments:
        text = argument.text.upper()
        # The first word behind these is a name to leave out.
        if text[:1] in ("/", "-") and before not in _ROBOCOPY_NAMES:
            options.add(f"/{text.partition(':')[0][1:]}")
        before = text
    if "/L" in options or len(arguments) < 3:
        return
    if not options.isdisjoint(("/MIR", "/PURGE")):
        yield from _made_like(invocation, arguments[1])
    if not options.isdisjoint(("/MOVE", "/MOV")):
        yield from _moved(invocation, arguments[:1])


_UNISON_VALUED = names("-force --force -path -prefer -ignore -root -sshargs -logfile")


def _unison(invocation: Invocation) -> Iterator[Found]:
    """unison A B -force A: B becomes like A."""
    operands = list(invocation.operands(_UNISON_VALUED))
    words = [*invocation.words(), ""]
    forced = ""
    for at, word in enumerate(words[:-1]):
        name, equals, value = word.partition("=")
        if name in ("-force", "--force"):
            forced = value if equals else words[at + 1]
    if forced and len(operands) > 1:
        other = operands[1] if operands[0].text == forced else operands[0]
        yield from _made_like(invocation, other)


_LFTP_COMMANDS = re.compile(r"[;\n]|&&|\|\|")
_MOST_COMMANDS = 60
_LFTP_VALUED = names(
    "-x --exclude -i --include -X -I --exclude-glob --include-glob -N --newer-than --older-than -O "
    "--target-directory -P --parallel -F --file --use-pget-n --log"
)
_LFTP_DELETES = names("--delete --delete-first")


def _lftp(invocation: Invocation) -> Iterator[Found]:
    """`mirror --delete FROM TO` in the commands that lftp is given."""
    words = invocation.words()
    texts = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-e", "-c")]
    texts.append((invocation.stdin.text or "")[:4_000])
    for text in texts:
        for command in _LFTP_COMMANDS.split(text)[:_MOST_COMMANDS]:
            given = [Arg(word.strip("'\"")) for word in command.split()]
            if given and given[0].text == "mirror":
                yield from _lftp_mirror(invocation, Invocation("mirror", given))


def _lftp_mirror(invocation: Invocation, mirror: Invocation) -> Iterator[Found]:
    if is_dry(mirror.words(), names("--dry-run --just-print"), _LFTP_VALUED):
        return
    operands = list(mirror.operands(_LFTP_VALUED))
    uploads = mirror.has("R", "--reverse")
    if mirror.has("e") or not _LFTP_DELETES.isdisjoint(mirror.words()):
        where = operands[1] if len(operands) > 1 else Arg(".")
        yield from _made_like(invocation, Arg(f"host.example:{where.text}") if uploads else where)
    if uploads and mirror.has("", "--Remove-source-files", "--Move"):
        yield from _moved(invocation, operands[:1])


def _tool(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if is_dry(words, _DRY[invocation.name], _TOOL_VALUED, clusters=invocation.name == "gsutil"):
        return
    for mirror in _TOOLS[invocation.name]:
        if mirror.deletes.isdisjoint(words):
            continue
        operands = plain(invocation.arguments, names("--profile --region --endpoint-url --exclude --include"))
        count = len(mirror.verbs)
        if tuple(each.text for each in operands[:count]) == mirror.verbs and len(operands) >= count + 2:
            yield from _made_like(invocation, operands[-1])


def _made_like(invocation: Invocation, destination: Arg) -> Iterator[Found]:
    """A folder that loses what another one does not have."""
    text = destination.text
    if _REMOTE.match(text) and not _DRIVE.match(text):
        rest = text.rpartition(":")[2]
        if (
            "://" not in text
            and rest.startswith("/")
            and locate(rest, None, invocation.home).place in (Place.ROOT, Place.SYSTEM, Place.HOME)
        ):
            yield SYSTEM_REMOVAL.found(invocation.part, text)
        else:
            yield MIRRORED.found(invocation.part, text.replace(UNKNOWN, "?"))
        return
    where = located(invocation, destination)
    rule = removal(where, True, invocation)
    if rule is not None:
        rule = rule if rule.verdict is Verdict.BLOCK else MIRRORED
        yield rule.found(invocation.part, text.replace(UNKNOWN, "?"), target_of(where, text))


_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)")


def _moved(invocation: Invocation, sources: Iterable[Arg]) -> Iterator[Found]:
    """What goes at its source and is there at the other end: only what must stay is spoken of."""
    kept = [source for source in sources if not _REMOTE.match(source.text) or _DRIVE.match(source.text)]
    yield from (found for found in removed(invocation, kept, True) if found.verdict is Verdict.BLOCK)


_CHECKS: dict[str, Callable[[Invocation], Iterable[Found]]] = {
    "rsync": _rsync,
    "rclone": _rclone,
    "robocopy": _robocopy,
    "unison": _unison,
    "lftp": _lftp,
    **dict.fromkeys(_TOOLS, _tool),
}


def _check(invocation: Invocation) -> Iterable[Found]:
    return _CHECKS[invocation.name](invocation)


FAMILY = Family(
    "mirroring",
    frozenset(_CHECKS),
    _check,
    examples=(
        ("rsync -a --delete empty/ /srv/www/", "files.mirror-deletes"),
        ("rsync -a --delete site/ deploy@host.example:/srv/site/", "files.mirror-deletes"),
        ("rsync -a --delete empty/ /", "files.root-removal"),
        ("rsync -a --remove-source-files /etc/ host.example:/x/", "files.system-removal"),
        ("rclone sync /tmp/empty ~", "files.home-removal"),
        ("rclone purge remote:bucket", "files.mirror-deletes"),
        ("robocopy.exe 'C:\\empty' 'C:\\Windows' /MIR", "files.system-removal"),
        ("lftp -c 'open host.example; mirror --delete /pub /etc'", "files.system-removal"),
        ("lftp -e 'mirror -R --delete site /www' host.example", "files.mirror-deletes"),
        ("mc mirror --remove /tmp/empty /etc", "files.system-removal"),
        ("unison -batch -force a a b", "files.mirror-deletes"),
    ),
    silent=(
        "rsync -av --delete --dry-run a/ b/",
        "rsync -av src/ host.example:/srv/src/",
        "rsync -a --delete src/ build/",
        "rclone copy docs remote:bucket",
        "robocopy 'C:\\a' 'C:\\b' /E",
        "lftp -c 'mirror https://host.example/pub downloads'",
        "unison -batch a b",
    ),
    rules=(MIRRORED,),
)
