"""One command: its name found, its wrappers taken off, what it runs judged, then itself."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import (
    builtins,
    carriers,
    commands_in_options,
    flows,
    interpreters,
    kept_scripts,
    later,
    links,
    made_again,
    names,
    nets,
    outputs,
    planted,
    reasons,
    remote,
    searches,
    sessions,
    shells,
    web_settings,
)
from .everyday import EVERYDAY
from .invocation import KEPT, OPAQUE, REMOTE, SECRET, SHELL, UNKNOWN, Arg, Invocation, Stream, Target
from .made_again import MAKERS
from .wrappers import ASSIGNMENT, KEYWORDS, RUNS_SCRIPTS, VERBS, WRAPPERS, command_start
from .writers import WRITERS

if TYPE_CHECKING:
    from .walk import Walk

# By program: what a command runs besides itself. Returns the output when it knows better than the flows do.
HANDLERS = {
    **carriers.HANDLERS,
    **searches.HANDLERS,
    **sessions.HANDLERS,
    **remote.HANDLERS,
    **interpreters.HANDLERS,
    **shells.HANDLERS,
    **builtins.HANDLERS,
    **kept_scripts.HANDLERS,
}
_NETWORK = listed("nc ncat netcat socat telnet openssl curl ssh")
_CODE_OF_NETWORK = frozenset((REMOTE, OPAQUE))
_SECRET = frozenset((SECRET,))
_CREDENTIALS = frozenset((SECRET, KEPT))
MOST_WRAPPERS = 24
# What may stand before the name of a file in an argument: "@key", "file=@key".
_NAMED_FILE = re.compile(r"^(?:[\w.-]*=)?[@<]")


def command(
    walk: Walk,
    words: list[Arg],
    stdin: Stream,
    targets: list[Target],
    assigned: dict[str, Arg],
    appended: bool = False,
) -> Stream:
    """Judge a command of expanded words; its output."""
    wrappers = walk.wrappers
    outer_place, outer_input = walk.place, walk.input
    if walk.state.descriptors and (not stdin.piped or stdin is walk.replaced):
        stdin = walk.state.descriptors.get("0", stdin)
    walk.input = stdin
    try:
        return _command(walk, words, stdin, targets, assigned, appended, wrappers)
    finally:
        walk.place, walk.input = outer_place, outer_input


def _command(
    walk: Walk,
    words: list[Arg],
    stdin: Stream,
    targets: list[Target],
    assigned: dict[str, Arg],
    appended: bool,
    wrappers: tuple[str, ...],
) -> Stream:
    name = ""
    for _ in range(MOST_WRAPPERS):
        if not words:
            break
        head = words[0]
        text = head.text
        if not text and len(words) > 1 and not head.taint:
            words = words[1:]
            continue
        if head.glob:
            found = names.globbed(text)
            if found is not None:
                head = Arg(found)
                words = [head, *words[1:]]
                text = found
        if (wrappers or walk.broken) and ASSIGNMENT.match(text):
            words = _assignment(walk, words, assigned)
            continue
        if UNKNOWN in text:
            name = _unknown_name(walk, head, words)
            if name != names.base(text):
                words = [Arg(name or text, taint=head.taint, source=head.source), *words[1:]]
            if not name:
                break
        else:
            name = names.base(text)
        if (wrappers or walk.broken) and name in KEYWORDS and len(words) > 1:
            words = words[1:]
            continue
        bodies = walk.state.functions.get(text)
        if bodies is not None:
            output = walk.call(text, bodies, words[1:], stdin)
            if name not in walk.programs:
                return flows.written(walk, targets, output) if targets else output
        aliases = walk.state.aliases.get(text)
        if aliases is not None and text not in walk.expanding:
            return _aliased(walk, text, aliases, words, stdin, targets)
        spec = WRAPPERS.get(name)
        start = 1
        if spec is None:
            verbs = VERBS.get(name)
            if verbs is None:
                break
            at = next((i for i, word in enumerate(words[1:4], 1) if word.text in verbs), 0)
            if not at or (at > 1 and words[at - 1].text in RUNS_SCRIPTS):
                break
            spec = verbs[words[at].text]
            start = at + 1
        begin, alone = command_start(words, spec, start)
        if alone:
            break
        rest = words[begin:]
        if name == "env" and _splits(words[1:begin]):
            rest = []
        handler = _EARLY.get(name)
        if handler is not None:
            handler(walk, words, begin, assigned)
        if not rest:
            if targets and name != "env":
                walk.judge(Invocation(":", [Arg(":")], targets, stdin))
            break
        wrappers = (*wrappers, name)
        if spec.place and not (spec.place == "chroot" and (walk.exposed or _same_root(words[1:begin]))):
            walk.place = spec.place
        words = rest
        if spec.shell:
            call = Invocation(name, words, targets, stdin, assigned, wrappers=wrappers, appended=appended)
            output = shells.joined_command(walk, call, words)
            return flows.written(walk, targets, output) if targets else output
    if not words:
        return flows.written(walk, targets, flows.NOTHING) if targets else flows.NOTHING
    if walk.links:
        words = links.resolved(walk, words)
    call = Invocation(
        name,
        words,
        targets,
        stdin,
        assigned,
        None,
        "",
        "",
        walk.place,
        wrappers,
        appended,
    )
    if words[0].taint or not name:
        _origin(walk, call)
    if walk.state.files or walk.state.descriptors:
        _held(walk, call)
    if name == "curl":
        web_settings.read(walk, call)
    output = None
    handler = HANDLERS.get(name)
    if handler is not None:
        outer = walk.wrappers
        walk.wrappers = wrappers
        try:
            output = handler(walk, call)
        finally:
            walk.wrappers = outer
    elif "/" in words[0].text and walk.state.files:
        output = shells.executed(walk, call)
    walk.judge(call)
    if name in MAKERS:
        made_again.by_command(walk, call)
    if name in WRITERS:
        WRITERS[name](walk, call)
    if not walk.casting:
        if name not in EVERYDAY:
            nets.cast(walk, call, handler is not None)
        if walk.state.files:
            planted.run(walk, call)
    if stdin.taint and SHELL in stdin.taint and name in _NETWORK:
        walk.report([reasons.SHELL_OUT.found(names.shown(call))], call)
    if output is None:
        output = outputs.output(walk, call)
    return flows.written(walk, targets, output) if targets else output


def _unknown_name(walk: Walk, head: Arg, words: list[Arg]) -> str:
    """The name for a command word that is not known as a whole; "" where nothing can be said."""
    text = head.text
    if head.taint & _CODE_OF_NETWORK:
        return ""
    tool = names.of_variable(head)
    if tool is not None:
        return tool
    name = names.hidden(text)
    if name is not None:
        return name
    # A variable that is set nowhere is empty in a fresh shell: r${x}m is rm.
    bare = text.replace(UNKNOWN, "")
    if bare and names.base(bare) in walk.programs:
        return names.base(bare)
    return ""


def _held(walk: Walk, call: Invocation) -> None:
    """Arguments that name a file of this line carry what that file holds: `curl -T /tmp/copy-of-a-key`."""
    for at, word in enumerate(call.argv[1:], 1):
        text = word.text
        if word.taint or not text or text[0] == "-":
            continue
        held = flows.of_this_line(walk, _NAMED_FILE.sub("", text))
        if held is not None and held.taint and not _CREDENTIALS.isdisjoint(held.taint):
            # A file is sent whole, with whatever it holds.
            call.argv[at] = Arg(text, word.glob, held.taint | _SECRET, held.source)


def _origin(walk: Walk, call: Invocation) -> None:
    """A command word that comes from the network or cannot be known is a finding by itself."""
    head = call.argv[0]
    if head.taint and head.taint & _CODE_OF_NETWORK:
        if head.source.startswith(("/dev/tcp/", "/dev/udp/", "nc ", "ncat ", "socat ", "telnet ")):
            walk.report([reasons.REMOTE_SHELL.found(names.shown(call), head.source)], call)
        elif REMOTE in head.taint:
            walk.report([reasons.REMOTE_CODE.found(names.shown(call), head.source)], call)
        else:
            walk.report([reasons.OPAQUE_CODE.found(names.shown(call), head.source)], call)
    elif not call.name:
        walk.report([reasons.OPAQUE_COMMAND.found(names.shown(call))], call)


def _assignment(walk: Walk, words: list[Arg], assigned: dict[str, Arg]) -> list[Arg]:
    """`env NAME=value command`: the assignment is made for what follows, and the words after it come next."""
    head = words[0]
    name, _, value = head.text.partition("=")
    given = Arg(value, False, head.taint, head.source)
    assigned[name.rstrip("+")] = given
    walk.state.assign(name.rstrip("+"), given)
    later.environment(walk, name, given)
    if len(words) == 1:
        return [Arg(":")]
    return words[1:]


def _aliased(
    walk: Walk, name: str, aliases: tuple[str, ...], words: list[Arg], stdin: Stream, targets: list[Target]
) -> Stream:
    """An alias of this line: its text with the arguments behind it, and the program of that name."""
    walk.expanding = (*walk.expanding, name)
    outer = walk.state.positionals
    try:
        printed = []
        for alias in aliases:
            printed.append(walk.shell(Arg(f'{alias} "$@"'), stdin, arguments=words[1:], same=True))
        output = flows.concatenated(printed)
        if name in walk.programs:
            command(walk, words, stdin, targets, {})
    finally:
        walk.expanding = walk.expanding[:-1]
        walk.state.positionals = outer
    return flows.written(walk, targets, output) if targets else output


_OWN_ROOT = re.compile(r"/+(?:proc/+(?:1|self|thread-self)/+root/*)?")


def _same_root(words: list[Arg]) -> bool:
    """Is the new root the machine's own?"""
    return any(_OWN_ROOT.fullmatch(word.text) for word in words)


def _splits(options: list[Arg]) -> bool:
    return any(
        word.text.startswith(("-S", "--split-string"))
        or (word.text[:1] == "-" and word.text[1:2] != "-" and "S" in word.text)
        for word in options
    )


def _env(walk: Walk, words: list[Arg], begin: int, assigned: dict[str, Arg]) -> None:
    """`env -S 'command words'` and `env -C folder`."""
    skip = False
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if skip:
            skip = False
            continue
        if text[:1] != "-" or text == "--":
            break
        skip = text in ("-u", "--unset", "-a", "--argv0", "-C", "--chdir")
        given = None
        if text.startswith("--split-string="):
            given = text.partition("=")[2]
        elif text == "--split-string" or (text[1:2] != "-" and text.endswith("S")):
            given = words[at + 1].text if at + 1 < len(words) else ""
            at += 1
        elif text[1:2] != "-" and "S" in text:
            given = text.partition("S")[2]
        elif text.startswith("--chdir=") or (text in ("-C", "--chdir") and at + 1 < len(words)):
            builtins.change_folder(walk, text.partition("=")[2] or words[at + 1].text)
        if given is not None:
            rest = " ".join(["", *(builtins.quoted(each.text) for each in words[at + 1 :])])
            walk.shell(Arg(given.replace("\\_", " ") + rest, False, word.taint, word.source))
            break


def _sudo(walk: Walk, words: list[Arg], begin: int, assigned: dict[str, Arg]) -> None:
    """`sudo -s 'text'` and `sudo -i 'text'` give the text to a shell, which else reads its input."""
    options = {word.text for word in words[1:begin]}
    for _, folder in commands_in_options.values(words[1:begin], frozenset(("--chdir",)), "D"):
        builtins.change_folder(walk, folder.text)
    shell = any(
        text in ("--shell", "--login")
        or (text[:1] == "-" and text[1:2] != "-" and ("s" in text or "i" in text))
        for text in options
    )
    if shell and begin < len(words) and " " in words[begin].text:
        walk.shell(Arg(" ".join(word.text for word in words[begin:])))
    elif shell and begin == len(words) and walk.input.piped:
        shells.from_input(walk, Invocation("sh", [*words], stdin=walk.input), [], False)


def _nsenter(walk: Walk, words: list[Arg], begin: int, assigned: dict[str, Arg]) -> None:
    """`nsenter -t 1` leaves a container for the machine itself."""
    texts = [word.text for word in words[:begin]]
    if any(re.fullmatch(r"-\w*t1|--target=1", text) for text in texts) or any(
        first in ("-t", "--target") and second == "1" for first, second in pairwise(texts)
    ):
        walk.place = ""


def _uv(walk: Walk, words: list[Arg], begin: int, assigned: dict[str, Arg]) -> None:
    """`uv run FILE.py` and `uv run -` are python's."""
    rest = words[begin:]
    if rest and (rest[0].text == "-" or rest[0].text.endswith(".py")):
        walk.words([Arg("python3"), *rest], walk.input)


_EARLY = {"uv": _uv, "nsenter": _nsenter, "env": _env, "sudo": _sudo, "doas": _sudo}
