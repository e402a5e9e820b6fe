"""Installing: system packages, packages from unnamed places, tools that are fetched and run at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..judge.invocation import Invocation
from ..verdict import Found
from . import known_tools
from .names import names
from .publishing import PYTHONS
from .rule import Family, approve
from .verbs import has, plain, verb_of

SYSTEM = approve(
    "packages.system", "changes the packages of the whole system", "use a virtual environment or a container"
)
REMOVED = approve("packages.removed", "removes packages of the system")
FROM_ADDRESS = approve(
    "packages.from-address",
    "installs code straight from an address, which no registry has looked at",
    "pin it to a released version, or clone and read it first",
)
FETCH_AND_RUN = approve(
    "packages.fetch-and-run",
    "fetches a program that is not widely known and runs it at once",
    "add it to the project, look at it, then run it",
)
UNTRUSTED = approve("packages.untrusted", "installs packages without checking where they come from")

_SYSTEM_MANAGERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "apt": (
        names("install upgrade full-upgrade dist-upgrade edit-sources build-dep reinstall satisfy"),
        names("remove purge autoremove autopurge"),
    ),
    "apt-get": (
        names("install upgrade dist-upgrade build-dep dselect-upgrade reinstall"),
        names("remove purge autoremove"),
    ),
    "aptitude": (names("install upgrade safe-upgrade full-upgrade"), names("remove purge")),
    "nala": (names("install upgrade"), names("remove purge autoremove")),
    "dnf": (
        names("install upgrade update distro-sync reinstall downgrade group swap module system-upgrade"),
        names("remove erase autoremove"),
    ),
    "dnf5": (names("install upgrade update"), names("remove autoremove")),
    "microdnf": (names("install upgrade update"), names("remove")),
    "yum": (
        names("install upgrade update reinstall downgrade localinstall groupinstall"),
        names("remove erase autoremove"),
    ),
    "zypper": (names("install in update up dup dist-upgrade patch"), names("remove rm")),
    "apk": (names("add upgrade fix"), names("del")),
    "pkg": (names("install upgrade"), names("delete remove autoremove")),
    "port": (names("install upgrade"), names("uninstall")),
    "snap": (names("install refresh revert"), names("remove")),
    "flatpak": (names("install update"), names("uninstall remove")),
    "xbps-install": (frozenset(), frozenset()),
    "emerge": (frozenset(), frozenset()),
    "choco": (names("install upgrade"), names("uninstall")),
    "winget": (names("install upgrade"), names("uninstall")),
    "scoop": (frozenset(), names("uninstall")),
    "brew": (frozenset(), names("uninstall remove rm autoremove untap zap")),
    "mas": (frozenset(), names("uninstall")),
    "opkg": (names("install upgrade"), names("remove")),
    "eopkg": (names("install upgrade"), names("remove")),
    "softwareupdate": (frozenset(), frozenset()),
}
_APT_VALUED = names(
    "-o --option -c --config-file -t --target-release -a --host-architecture --root -R --enablerepo "
    "--disablerepo --installroot --releasever -x --exclude"
)
_DRY = names(
    "-s --simulate --dry-run --just-print --recon --no-act --assumeno -n --download-only -d "
    "--print-uris --help -h --version"
)
_ADDRESS = re.compile(
    r"(?:[\w\[\],.-]+ ?@ ?)?(?:(?:git|hg|svn|bzr)\+|git://|ssh://|https?://|git@|github:|gitlab:|bitbucket:|gist:)"
)
_SHORT_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(?:#.*)?\Z")
_LOCAL_ADDRESS = re.compile(r"https?://(?:localhost|127\.0\.0\.1)\b")
_PIP_VALUED = names(
    "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links "
    "-t --target --prefix --root --src --python --python-version --platform --proxy --timeout "
    "--retries --trusted-host --cert --log --cache-dir --report --no-binary --only-binary -b --build "
    "-C --config-settings --upgrade-strategy --progress-bar -p --python"
)


def _system(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verb, rest = verb_of(invocation, _APT_VALUED)
    if not _DRY.isdisjoint(invocation.words()):
        return
    installs, removes = _SYSTEM_MANAGERS[name]
    if verb in removes:
        yield REMOVED.found(invocation.part)
    elif verb in installs:
        if has(
            invocation.arguments,
            "",
            "--allow-unauthenticated",
            "--no-gpg-checks",
            "--nogpgcheck",
            "--allow-untrusted",
        ):
            yield UNTRUSTED.found(invocation.part)
        elif invocation.privileged:
            yield SYSTEM.found(invocation.part)
        elif any(_ADDRESS.match(word.text) for word in plain(rest)):
            yield FROM_ADDRESS.found(invocation.part)
    elif (
        name == "emerge"
        and plain(invocation.arguments)
        and not has(invocation.arguments, "ps", "--pretend", "--search")
    ):
        yield (REMOVED if has(invocation.arguments, "Cc", "--unmerge", "--depclean") else SYSTEM).found(
            invocation.part
        )
    elif name == "xbps-install" or (name == "softwareupdate" and has(invocation.arguments, "i", "--install")):
        yield SYSTEM.found(invocation.part)
    elif name == "brew" and verb == "tap" and any("://" in word.text for word in rest):
        yield FROM_ADDRESS.found(invocation.part)


def _low_level(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.arguments
    if name in ("dpkg", "rpm"):
        removing = has(words, "rPe" if name == "dpkg" else "e", "--remove", "--purge", "--erase")
        installing = has(
            words,
            "i" if name == "dpkg" else "iUF",
            "--install",
            "--upgrade",
            "--freshen",
            "--force-all",
            "--configure",
        )
        if has(
            words,
            "lLsSqVcI",
            "--list",
            "--listfiles",
            "--status",
            "--search",
            "--query",
            "--info",
            "--get-selections",
        ):
            return
        if removing:
            yield REMOVED.found(invocation.part)
        elif installing:
            yield SYSTEM.found(invocation.part)
    elif name in ("pacman", "yay", "paru"):
        first = next((word.text for word in words if word.text.startswith("-")), "")
        if first.startswith(("-R", "--remove")):
            yield REMOVED.found(invocation.part)
        elif first.startswith(("-S", "-U", "--sync", "--upgrade")) and not set(first[2:]) & set("sigl"):
            yield SYSTEM.found(invocation.part)
    elif name in ("add-apt-repository", "apt-add-repository", "apt-key"):
        if not any(word.text in ("list", "-L", "--list", "finger") for word in words):
            yield SYSTEM.found(invocation.part)
    elif name in (
        "dpkg-reconfigure",
        "update-alternatives",
        "alternatives",
        "installer",
        "do-release-upgrade",
    ):
        if not has(words, "", "--list", "--display", "--query", "--get-selections") and not has(
            words[:1], "", "--help"
        ):
            yield SYSTEM.found(invocation.part)
    elif name in ("nix-env", "nix-collect-garbage", "nixos-rebuild"):
        if has(words, "e", "--uninstall") or name == "nixos-rebuild" or has(words, "d", "--delete-old"):
            yield (SYSTEM if name == "nixos-rebuild" else REMOVED).found(invocation.part)


def _addresses(words: Iterable[str], short: bool = False) -> Iterator[str]:
    for word in words:
        named = short and _SHORT_REPOSITORY.match(word) and not word.startswith(("@", ".", "/"))
        if named or (_ADDRESS.match(word) and not _LOCAL_ADDRESS.match(word)):
            yield word


def _pip(invocation: Invocation, arguments: list | None = None) -> Iterator[Found]:
    stand_in = invocation
    if arguments is not None:
        stand_in = Invocation("pip", arguments, wrappers=invocation.wrappers, part=invocation.part)
    verb, rest = verb_of(stand_in, _PIP_VALUED)
    if verb in ("pip", "tool") and rest:
        # uv pip install, uv tool install
        verb, rest = rest[0].text, rest[1:]
    if verb not in ("install", "add", "wheel", "download", "sync"):
        return
    words = [word.text for word in rest]
    given = [word.text for word in plain(rest, _PIP_VALUED)]
    for first, second in pairwise(words):
        if first in ("-e", "--editable", "-r", "--requirement", "--from", "--git", "--with"):
            given.append(second)
    given += [
        word.partition("=")[2]
        for word in words
        if word.startswith(("--editable=", "--requirement=", "--from="))
    ]
    address = next(_addresses(given), "")
    if address:
        yield FROM_ADDRESS.found(stand_in.part, address)
    elif invocation.privileged and not has(rest, "", "--user", "--target", "--dry-run"):
        yield SYSTEM.found(stand_in.part)
    if has(rest, "", "--trusted-host"):
        yield UNTRUSTED.found(stand_in.part)


_NPM_INSTALLS = names("install i add ci update up upgrade in ins isntall link ln")
_NPM_VALUED = names(
    "-C --prefix --dir -w --workspace --registry --tag -F --filter --cwd -p --package -c --call --save-prefix"
)


def _npm(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verb, rest = verb_of(invocation, _NPM_VALUED)
    if name == "yarn" and verb == "global" and rest:
        verb, rest = rest[0].text, [*rest[1:], type(rest[0])("-g")]
    words = [word.text for word in plain(rest, _NPM_VALUED)]
    if verb in _NPM_INSTALLS:
        address = next(_addresses(words, short=name != "bun" or True), "")
        if address:
            yield FROM_ADDRESS.found(invocation.part, address)
        elif invocation.privileged and has(invocation.arguments, "g", "--global", "--location"):
            yield SYSTEM.found(invocation.part)
    elif verb in ("uninstall", "remove", "rm") and invocation.privileged:
        yield REMOVED.found(invocation.part)
    elif verb in ("dlx", "exec", "x") and (
        verb == "dlx" or name == "bun" or has(invocation.arguments, "y", "--yes")
    ):
        yield from _run(invocation, words[:1])
    elif name == "npm" and verb in ("create", "init") and words:
        yield from _run(
            invocation,
            ["create-" + words[0].partition("@")[0] if not words[0].startswith("@") else words[0]],
            lenient=True,
        )


def _npx(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    arguments = invocation.arguments
    first = [
        word.text
        for word in plain(arguments, names("-p --package -c --call --node-options -n --workspace -w"))
    ][:1]
    packages = [second.text for one, second in pairwise(arguments) if one.text in ("-p", "--package")]
    packages += [word.text.partition("=")[2] for word in arguments if word.text.startswith("--package=")]
    # Without -y an unknown package is not fetched unless somebody says yes.
    fetches = name != "npx" or has(arguments[:4], "y", "--yes")
    yield from _run(invocation, packages or first, lenient=not fetches)


def _run(invocation: Invocation, packages: Iterable[str], lenient: bool = False) -> Iterator[Found]:
    for package in packages:
        if next(_addresses([package], short=True), ""):
            yield FROM_ADDRESS.found(invocation.part, package)
        elif not lenient and not _is_known(package):
            yield FETCH_AND_RUN.found(invocation.part, package)


def _is_known(package: str) -> bool:
    if package.startswith((".", "/")):
        return True
    if package.startswith("@"):
        return package.startswith(known_tools.SCOPES)
    return re.split(r"[@=<>\[ ]", package, maxsplit=1)[0] in known_tools.NAMES


_UVX_VALUED = names(
    "--from --with --python -p --index --index-url --extra-index-url --with-requirements -w "
    "--directory --spec --pip-args --env-file"
)


def _uvx(invocation: Invocation, arguments: list | None = None) -> Iterator[Found]:
    words = invocation.arguments if arguments is None else arguments
    texts = [word.text for word in words]
    sources = [second for first, second in pairwise(texts) if first in ("--from", "--spec", "--with")]
    sources += [text.partition("=")[2] for text in texts if text.startswith(("--from=", "--spec="))]
    first = [word.text for word in plain(words, _UVX_VALUED)][:1]
    yield from _run(invocation, sources or first)


_TAKEN_IN = (["install"], ["add"], ["update"])


def _tool(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verb, rest = verb_of(
        invocation,
        names("--project --directory -C --manifest-path --config-file --python -p --cache-dir --color"),
    )
    words = [word.text for word in rest]
    if name == "uv":
        if verb == "tool" and words[:1] == ["run"]:
            yield from _uvx(invocation, rest[1:])
        elif verb in ("pip", "tool", "add"):
            yield from _pip(invocation)
    elif name == "pipx":
        if verb == "run":
            yield from _uvx(invocation, rest)
        elif verb == "install":
            yield from _pip(invocation)
    elif name in ("poetry", "pdm", "pipenv", "rye", "hatch"):
        if verb in ("add", "install"):
            address = next(_addresses(words), "")
            if address:
                yield FROM_ADDRESS.found(invocation.part, address)
    elif name == "cargo":
        if verb == "install" and (has(rest, "", "--git") or next(_addresses(words), "")):
            yield FROM_ADDRESS.found(invocation.part)
    elif name == "gem":
        if verb == "install" and invocation.privileged:
            yield SYSTEM.found(invocation.part)
        elif verb == "specific_install":
            yield FROM_ADDRESS.found(invocation.part)
    elif name == "go":
        if verb == "run" and any("@" in word and "." in word.partition("/")[0] for word in words):
            yield FETCH_AND_RUN.found(invocation.part)
    elif name == "deno":
        target = next((word for word in words if not word.startswith("-")), "")
        if verb in ("run", "install", "x", "eval", "serve", "task") and _ADDRESS.match(target):
            yield FETCH_AND_RUN.found(invocation.part, target)
    elif name in ("conda", "mamba", "micromamba"):
        if verb == "install" and next(_addresses(words), ""):
            yield FROM_ADDRESS.found(invocation.part)
        elif verb in ("env",) and words[:1] == ["remove"]:
            yield REMOVED.found(invocation.part)
    elif name in ("code", "codium") and has(invocation.arguments, "", "--install-extension"):
        yield FETCH_AND_RUN.found(invocation.part)
    elif name == "hermes" and verb in ("plugins", "skills", "mcp") and words[:1] in _TAKEN_IN:
        yield FETCH_AND_RUN.found(invocation.part, "it becomes part of the agent")


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name in _SYSTEM_MANAGERS:
        return _system(invocation)
    if name in ("pip", "pip3", "pip2", "uvpip") or name.startswith("pip3."):
        return _pip(invocation)
    if name in PYTHONS:
        arguments = invocation.arguments
        for index, argument in enumerate(arguments[:6]):
            if argument.text == "-m" and index + 1 < len(arguments):
                module = arguments[index + 1].text
                if module == "pip":
                    return _pip(invocation, arguments[index + 1 :])
                if module == "pipx" and len(arguments) > index + 2 and arguments[index + 2].text == "run":
                    return _uvx(invocation, arguments[index + 3 :])
                return ()
            if not argument.text.startswith("-"):
                return ()
        return ()
    if name in ("npm", "pnpm", "yarn", "bun", "cnpm"):
        return _npm(invocation)
    if name in ("npx", "bunx", "pnpx"):
        return _npx(invocation)
    if name == "uvx":
        return _uvx(invocation)
    if name in _LOW_LEVEL:
        return _low_level(invocation)
    return _tool(invocation)


_LOW_LEVEL = names(
    "dpkg rpm pacman yay paru add-apt-repository apt-add-repository apt-key dpkg-reconfigure "
    "update-alternatives alternatives installer do-release-upgrade nix-env nix-collect-garbage "
    "nixos-rebuild"
)

FAMILY = Family(
    "packages",
    frozenset(_SYSTEM_MANAGERS)
    | _LOW_LEVEL
    | PYTHONS
    | names(
        "pip pip3 pip2 pip3.8 pip3.9 pip3.10 pip3.11 pip3.12 pip3.13 pip3.14 npm pnpm yarn bun cnpm npx "
        "bunx pnpx uvx uv pipx poetry pdm pipenv rye hatch cargo gem go deno conda mamba micromamba code "
        "codium hermes"
    ),
    _check,
    examples=(
        ("sudo apt-get install -y jq", "packages.system"),
        ("sudo -n apt -o Dpkg::Use-Pty=0 -y upgrade", "packages.system"),
        ("sudo pip install requests", "packages.system"),
        ("sudo npm install -g yarn", "packages.system"),
        ("sudo dpkg -i a.deb", "packages.system"),
        ("dnf remove -y gcc", "packages.removed"),
        ("apt-get -y purge nginx", "packages.removed"),
        ("pip install git+https://github.com/x/y", "packages.from-address"),
        ("python3 -m pip install https://example.com/a.tar.gz", "packages.from-address"),
        ("npm install github:x/y", "packages.from-address"),
        ("cargo install --git https://github.com/x/y", "packages.from-address"),
        ("npx -y some-unknown-package", "packages.fetch-and-run"),
        ("pnpm dlx some-unknown-package", "packages.fetch-and-run"),
        ("uvx some-unknown-package", "packages.fetch-and-run"),
        ("deno run https://example.com/a.ts", "packages.fetch-and-run"),
        ("pip install --trusted-host example.com x", "packages.untrusted"),
    ),
    silent=(
        "npm install",
        "npm ci && npm run build",
        "npm i -D typescript @types/node",
        "npm install ./packages/a",
        "pip install requests",
        "pip install -r requirements.txt -e .",
        "pip install torch --index-url https://download.pytorch.org/whl/cpu",
        "python3 -m pip install -U pip",
        "uv pip install -e .",
        "npx tsc --noEmit",
        "npx -y prettier --check .",
        "uvx ruff check .",
        "cargo install ripgrep",
        "go install golang.org/x/tools/cmd/goimports@latest",
        "go run ./cmd/app",
        "apt list --installed",
        "sudo apt-get update",
        "apt-get install --dry-run jq",
        "brew install jq",
        "dpkg -l",
    ),
    rules=(SYSTEM, REMOVED, FROM_ADDRESS, FETCH_AND_RUN, UNTRUSTED),
)
