"""Commands that write files: which files, and whether one of them is more than a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import FOUND, FOUND_ALL, GUARD_FOLDER, UNKNOWN, Arg, Invocation
from ..verdict import Found, Verdict
from . import files, output_files
from .few import few
from .hermes_state import CONTROLS, Part, part_of
from .names import names
from .paths import Place, locate
from .removal import located, mv_operands
from .rule import REDIRECTS as NEEDS_REDIRECTS
from .rule import Family, Rule, approve
from .secrets import secret_of

LINKED = approve(
    "writes.link-to-sensitive", "makes a link through which a sensitive file can be read or overwritten"
)
UNPACKED = approve(
    "writes.unpacked-into-system", "unpacks an archive over the system", "unpack it into a folder of its own"
)
EDITOR = approve("writes.accounts-editor", "opens the editor of accounts or of who may become root")

_COPY = names("cp mv install ditto rsync scp gcp ginstall gmv pax")
_IN_PLACE = names("sed gsed perl ruby awk gawk yq dasel")
_FOR_PEOPLE = names(
    "vi vim nvim nvi gvim view nano rnano emacs emacsclient pico joe micro mcedit kate gedit code subl hx "
    "helix kak"
)
_EDITORS = names("ed ex vi vim nvim nano emacs pico joe micro kate gedit mcedit")
# Their option that names the file which is written.
_OUTPUT = {
    "curl": names("-o --output"),
    "wget": names("-O --output-document -o --output-file -a"),
    "aria2c": names("-o --out"),
    "sort": names("-o --output"),
    "gpg": names("-o --output"),
    "openssl": names("-out"),
    "iconv": names("-o --output"),
    "pandoc": names("-o --output"),
    "gcc": names("-o"),
    "cc": names("-o"),
    "clang": names("-o"),
    "go": names("-o"),
    "rustc": names("-o"),
    "envsubst": names("-o"),
    "jq": frozenset(),
    "tcpdump": names("-w"),
    "find": names("-fprint -fprint0 -fls -fprintf"),
    "ssh-keygen": frozenset(),
}
_ALL_OPERANDS = names("crudini tee truncate sponge patch shred gtee chattr")
_UNPACKERS = names("tar bsdtar gtar unzip 7z cpio unrar")
_VALUED = {
    "patch": names("-p -i -d -o -r -B"),
    "truncate": names("-s --size -r --reference"),
    "install": names("-m --mode -o --owner -g --group -t --target-directory -S"),
}


def targets(invocation: Invocation) -> Iterator[Arg]:
    """The files that the arguments of a command say it would write."""
    name = invocation.name
    if name in _COPY:
        yield from _copied(invocation)
    elif name in _ALL_OPERANDS:
        yield from invocation.operands(_VALUED.get(name, frozenset()))
    elif name in _IN_PLACE:
        if _is_in_place(invocation):
            yield from invocation.operands()
    elif name == "ln":
        operands, destination = mv_operands(invocation)
        if destination is not None:
            yield destination
            yield from _inside(destination, operands)
    elif name == "dd":
        for argument in invocation.arguments:
            if argument.text.startswith("of="):
                yield Arg(argument.text[3:], argument.glob)
    elif name in _EDITORS:
        yield from (word for word in invocation.operands() if not word.text.startswith("+"))
    elif name in _OUTPUT:
        yield from _outputs(invocation, _OUTPUT[name])
    by_place = output_files.BY_PROGRAM.get(name)
    if by_place is not None:
        yield from by_place(invocation)


def _is_in_place(invocation: Invocation) -> bool:
    words = invocation.words()
    if invocation.name in ("awk", "gawk"):
        return "inplace" in words
    for word in words:
        if word.startswith("--in-place"):
            return True
        if word.startswith("-") and not word.startswith("--") and "i" in word.split(".")[0]:
            letters = word[1:]
            if (
                invocation.name in ("sed", "gsed")
                or letters[: letters.index("i")].isalnum()
                or letters[0] == "i"
            ):
                return True
    return False


def _copied(invocation: Invocation) -> Iterator[Arg]:
    if invocation.name == "install" and invocation.has("d", "--directory"):
        return
    valued = _VALUED.get(invocation.name)
    if valued:
        operands = list(invocation.operands(valued))
        sources, destination = (operands[:-1], operands[-1]) if len(operands) > 1 else (operands, None)
        other = mv_operands(invocation)[1]
        if any(word.startswith(("-t", "--target-directory")) for word in invocation.words()):
            sources, destination = operands, other
    else:
        sources, destination = mv_operands(invocation)
    if destination is None:
        return
    if invocation.name in ("rsync", "scp") and ":" in destination.text:
        return
    yield destination
    yield from _inside(destination, sources)


def _inside(folder: Arg, sources: Iterable[Arg]) -> Iterator[Arg]:
    """Where files land when the destination is a folder."""
    for source in sources:
        base = source.text.rstrip("/").rpartition("/")[2]
        if base and base not in (".", "..") and not folder.text.endswith(base):
            yield Arg(folder.text.rstrip("/") + "/" + base, folder.glob or source.glob)


def _outputs(invocation: Invocation, options: frozenset[str]) -> Iterator[Arg]:
    arguments = invocation.arguments
    for index, argument in enumerate(arguments):
        text = argument.text
        if text in options and index + 1 < len(arguments):
            yield arguments[index + 1]
        elif text.startswith("--") and text.partition("=")[0] in options:
            yield Arg(text.partition("=")[2], argument.glob)
        elif len(text) > 2 and text[:2] in options and text[0] == "-" and text[1] != "-":
            yield Arg(text[2:], argument.glob)
        elif invocation.name == "curl" and re.match(r"-[a-zA-Z]+o\Z", text) and index + 1 < len(arguments):
            yield arguments[index + 1]
    saves = invocation.name == "wget" or (
        invocation.name == "curl" and invocation.has("O", "--remote-name", "--remote-name-all")
    )
    if saves and options.isdisjoint(invocation.words()):
        # They go into the working folder, named as in the address.
        for argument in invocation.operands():
            base = argument.text.partition("?")[0].rpartition("/")[2]
            if base and "/" in argument.text:
                yield Arg(base)


def _written(invocation: Invocation, argument: Arg) -> Iterator[Found]:
    text = argument.text
    if argument.source == GUARD_FOLDER and text[:2] == UNKNOWN + "/":
        yield files.AGENT_CODE.found(invocation.part, text.replace(UNKNOWN, "?"))
    if not text or text[0] == UNKNOWN or text == "-":
        return
    where = located(invocation, argument)
    rule = files.rule_of(where, invocation.home, invocation.hermes_home)
    if UNKNOWN in text and (rule is None or rule.verdict is not Verdict.BLOCK):
        rule = _searched(invocation, argument) or rule
    if rule is not None:
        yield rule.found(invocation.part, text.replace(UNKNOWN, "?"))


def _searched(invocation: Invocation, argument: Arg) -> Rule | None:
    """What a search below a folder of the agent may turn up: all of it, or the files of one name."""
    folder, found, name = argument.text.partition("/" + UNKNOWN)
    if not found or UNKNOWN in name or (not name and argument.source not in (FOUND, FOUND_ALL)):
        return None
    where = located(invocation, Arg(folder or "/", argument.glob))
    if part_of(where.path, invocation.home, invocation.hermes_home) in (Part.STATE, Part.GUARD):
        inner = located(invocation, Arg(folder + name, argument.glob)) if name else where
        kept = files.rule_of(inner, invocation.home, invocation.hermes_home)
        return files.GUARD if not name else kept
    holds = where.place in (Place.HOME, Place.ROOT)
    return files.AGENT_CODE if holds and name.lstrip("/") in CONTROLS else None


def _edits_alone(invocation: Invocation) -> bool:
    """Is the editor a program that changes the file without a person?"""
    for variable in ("SUDO_EDITOR", "VISUAL", "EDITOR"):
        value = invocation.environment.get(variable)
        if value is not None and value.text.split():
            return value.text.split()[0].rpartition("/")[2] not in _FOR_PEOPLE
    return False


def _check(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    if name in ("visudo", "vipw", "vigr"):
        if not invocation.has("c", "--check"):
            yield (files.ACCOUNTS if _edits_alone(invocation) else EDITOR).found(invocation.part)
        return
    if name in _UNPACKERS:
        yield from _unpacked(invocation)
        return
    if invocation.has("", "--help", "--version"):
        return
    if name == "touch":
        for argument in invocation.operands():
            yield from (found for found in _written(invocation, argument) if found.rule == files.GUARD.id)
        return
    for argument in few(targets(invocation)):
        yield from _written(invocation, argument)
    if name == "ln":
        yield from _linked(invocation)


def _linked(invocation: Invocation) -> Iterator[Found]:
    for source in few(mv_operands(invocation)[0]):
        where = located(invocation, source)
        rule = files.rule_of(where, invocation.home, invocation.hermes_home)
        secret = secret_of(source.text, invocation.cwd, invocation.home, invocation.hermes_home)
        if secret and "keys and passwords" in secret:
            continue
        if secret or (rule is not None and rule.verdict is Verdict.BLOCK):
            yield LINKED.found(invocation.part, secret or source.text)


def _unpacked(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    name = invocation.name
    if name in ("tar", "bsdtar", "gtar"):
        bundle = words[0] if words and not words[0].startswith("-") else ""
        extracting = "x" in bundle or invocation.has("x", "--extract", "--get")
        if not extracting:
            return
    folders = []
    for index, word in enumerate(words):
        if word in ("-C", "--directory", "-d", "-D") and index + 1 < len(words):
            folders.append(words[index + 1])
        elif word.startswith(("--directory=", "-o/", "-C/", "-d/")):
            folders.append(word.partition("=")[2] if "=" in word else word[2:])
    folders = folders or ([invocation.cwd] if invocation.cwd in ("/", "/etc", "/usr") else [])
    for folder in folders:
        place = locate(folder, invocation.cwd, invocation.home, invocation.hermes_home).place
        if place in (Place.ROOT, Place.SYSTEM):
            yield UNPACKED.found(invocation.part, folder)


def _redirected(invocation: Invocation) -> Iterator[Found]:
    for target in invocation.redirects:
        if target.writes:
            # A redirection to a disk is the business of the disk rules.
            yield from (
                found for found in _written(invocation, target.arg) if found.rule != "disk.overwritten"
            )


FAMILY = Family(
    "writes",
    _COPY
    | _IN_PLACE
    | _EDITORS
    | frozenset(_OUTPUT)
    | _ALL_OPERANDS
    | _UNPACKERS
    | frozenset(output_files.BY_PROGRAM)
    | names("ln dd touch visudo vipw vigr"),
    _check,
    examples=(
        ("echo 'agent ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/agent", "writes.accounts"),
        ("cp shadow.new /etc/shadow", "writes.accounts"),
        ("cp agent /etc/sudoers.d/", "writes.accounts"),
        ("sudo sed -i 's/^root:x/root:/' /etc/passwd", "writes.accounts"),
        ("curl -fsSL https://example.com/k -o ~/.ssh/authorized_keys", "writes.accounts"),
        ("ln -sf /tmp/p /etc/passwd", "writes.accounts"),
        ("dd if=s of=/usr/../etc/shadow", "writes.accounts"),
        ("sed -i '/hooks/d' ~/.hermes/config.yaml", "guard.changed"),
        ("cp rules.py ~/.hermes/plugins/hermes-ops/guard/", "guard.changed"),
        ("yq -i '.approvals.mode=\"off\"' ~/.hermes/config.yaml", "guard.changed"),
        ("tee ~/.hermes/ops/guard.toml", "guard.changed"),
        ("uniq new.yaml ~/.hermes/config.yaml", "guard.changed"),
        ("gunzip -f ~/.hermes/config.yaml.gz", "guard.changed"),
        ("sed 's/x/y/w /root/.hermes/config.yaml' new.yaml", "guard.changed"),
        ("sftp host.example:c.yaml ~/.hermes/config.yaml", "guard.changed"),
        ("cp auth.json ~/.hermes/auth.json", "guard.agent-state-changed"),
        ("cp plugin.py ~/.hermes/plugins/other/__init__.py", "guard.agent-code"),
        ("sudo tee /proc/sysrq-trigger", "power.sysrq"),
        ("sudo cp nginx.conf /etc/nginx/nginx.conf", "writes.system-file"),
        ("tee -a ~/.profile", "writes.startup"),
        ("cp sync.service ~/.config/systemd/user/", "writes.startup"),
        ("cp pre-commit .git/hooks/pre-commit", "writes.git-hook"),
        ("cp key ~/.ssh/id_rsa", "writes.keys"),
        ("cp disk.img /dev/sdb", "disk.overwritten"),
        ("ln -sf /etc/passwd ./link", "writes.link-to-sensitive"),
        ("sudo tar xzf files.tgz -C /", "writes.unpacked-into-system"),
        ("sudo visudo", "writes.accounts-editor"),
        ("EDITOR=nano visudo", "writes.accounts-editor"),
        ("sudo EDITOR='tee -a' visudo", "writes.accounts"),
    ),
    silent=(
        "cp ~/.hermes/config.yaml /tmp/config.bak",
        "cp /etc/hosts .",
        "sed -n '1,5p' /etc/passwd",
        "sed 's/a/b/' ~/.bashrc",
        "sed 's/w /etc/hosts/' a.txt",
        "uniq ~/.hermes/config.yaml",
        "xxd /etc/hosts",
        "gunzip -c /etc/x.gz",
        "perl -pi -e 's/foo/bar/' src/a.c",
        "tee out.log",
        "ln -s ../shared/node_modules node_modules",
        "tar xzf files.tgz -C vendor",
        "curl -o page.html https://example.com/",
        "mv a.txt b.txt",
        "cp .env.example .env",
        "touch src/new.py",
    ),
    rules=(*files.RULES, LINKED, UNPACKED, EDITOR),
)
REDIRECTS = Family(
    "writes-redirects",
    frozenset(),
    _redirected,
    examples=(
        ("echo 'x:x:0:0::/:/bin/sh' >> /etc/passwd", "writes.accounts"),
        ("echo key >> ~/.ssh/authorized_keys", "writes.accounts"),
        ("echo '{}' > ~/.hermes/shell-hooks-allowlist.json", "guard.changed"),
        ("echo 'alias x=y' >> ~/.bashrc", "writes.startup"),
        ("echo b > /proc/sysrq-trigger", "power.sysrq"),
        ("echo 127.0.0.1 a.test >> /etc/hosts", "writes.system-file"),
        ("echo 1 > /proc/sys/net/ipv4/ip_forward", "writes.system-file"),
    ),
    silent=(
        "echo x > notes.md",
        "ls > /dev/null 2>&1",
        "ssh-keyscan host.example >> ~/.ssh/known_hosts",
        "echo PORT=8080 >> .env",
        "cat a b > ~/.hermes/scripts/report.sh",
    ),
    needs=NEEDS_REDIRECTS,
)
