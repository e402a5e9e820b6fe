"""Publishing: packages, releases, sites, deployments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..judge.invocation import Arg, Invocation
from ..verdict import Found
from .dry_runs import is_dry, own_options
from .names import names
from .publish_verbs import (
    DEPLOYS,
    DRY,
    DRY_OF,
    FLAGS_OF,
    NOT_DRY_OF,
    PACKAGES,
    SKIPS,
    VALUED,
    VALUED_OF,
    Form,
)
from .rule import Family, approve
from .verbs import plain, verbs_of

PACKAGE = approve(
    "publish.package", "publishes a package, or changes one that is published", "publish with --dry-run first"
)
DEPLOYED = approve("publish.deployed", "puts something into production or before the public")
_MOST_VERBS = 12

# What a build tool is told to do by the names of its tasks.
_MAVEN = re.compile(
    r"deploy(?::deploy(?:-file)?)?\Z|release:(?:perform|stage)\Z|(?:[\w.-]+:)*[\w.-]*deploy-plugin(?::[\d.]+)?:deploy"
    r"|(?:[\w.-]+:)*nexus-staging(?:-maven-plugin)?(?::[\d.]+)?:(?:release|deploy|promote|rc-release|close)"
    r"|(?:[\w.-]+:)*central-publishing(?:-maven-plugin)?(?::[\d.]+)?:publish"
)
_MAVEN_STAYS = re.compile(r"-D(?:maven\.deploy\.skip(?:=true)?\Z|altDeploymentRepository=\S*file:)")
_GRADLE = ("publish", "uploadArchives", "closeAndRelease", "bintrayUpload")
_SBT = names(
    "publish publishSigned release sonatypeRelease sonatypeBundleRelease sonaRelease sonaUpload ci-release"
)
_BUILDERS = names("gradle gradlew mvn mvnw sbt bazel")
# Programs that run a tool of another package by its name, behind some words of theirs.
_RUN_TOOLS = {"yarn": names("dlx exec"), "pnpm": names("dlx exec"), "npx": names(""), "bunx": names("")}
_RUN_TOOLS |= {"pnpx": names(""), "uvx": names(""), "pipx": names("run")}
_RUN_TOOLS |= {"corepack": names("")}
# Of these a tool by its plain name is not judged elsewhere.
_RUN_PLAIN = names("yarn pnpm corepack")
_TOOL = re.compile(r"(?:@[\w.-]+/)?(?P<name>[\w.-]+?)(?:@[\w.^~*-]+)?\Z")


def _matches(form: Form, verbs: tuple[str, ...], words: list[str]) -> bool:
    if form.alone:
        return not verbs
    if not all(
        any(word == option or word.startswith(option + "=") for word in words) for option in form.options
    ):
        return False
    return _begins(verbs, form.verbs)


def _begins(verbs: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Do words begin with the wanted ones, where "..." stands for any number of them."""
    if "..." not in wanted:
        return verbs[: len(wanted)] == wanted
    at = wanted.index("...")
    end = wanted[at + 1 :]
    return verbs[:at] == wanted[:at] and any(
        verbs[start : start + len(end)] == end for start in range(at, len(verbs))
    )


def _is_dry(name: str, words: list[str]) -> bool:
    """Does nothing leave the machine, by an option that the program has for that?"""
    if not words:
        return False
    nothing = frozenset[str]()
    valued = _valued(name)
    if is_dry(words, (DRY | DRY_OF.get(name, nothing)) - NOT_DRY_OF.get(name, nothing), valued):
        return True
    if words[0] == "--version" or (words[-1] == "--version" and words[-2:-1] != ["--"]):
        return True
    return name in SKIPS and any(
        option == "--skip" and "publish" in (value or after).split(",")
        for option, value, after in own_options(words, valued)
    )


def _valued(name: str) -> frozenset[str]:
    nothing = frozenset[str]()
    return (VALUED | VALUED_OF.get(name, nothing)) - FLAGS_OF.get(name, nothing)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    words = invocation.words()
    if name.startswith(("python", "pypy")):
        return _python(invocation, words)
    if name in _BUILDERS:
        return _built(invocation, words)
    return _published(invocation, name, invocation.arguments)


def _published(invocation: Invocation, name: str, arguments: Sequence[Arg]) -> Iterator[Found]:
    words = [argument.text for argument in arguments]
    if _is_dry(name, words):
        return
    readings = [_verbs(name, arguments, VALUED - FLAGS_OF.get(name, frozenset()))]
    if name in VALUED_OF:
        readings.append(_verbs(name, arguments, _valued(name)))
    for table, rule in ((PACKAGES, PACKAGE), (DEPLOYS, DEPLOYED)):
        if any(_matches(form, verbs, words) for form in table.get(name, ()) for verbs in readings):
            yield rule.found(invocation.part)
            return
    yield from _by_tool(invocation, name, readings[0], words)


def _verbs(name: str, arguments: Sequence[Arg], valued: frozenset[str]) -> tuple[str, ...]:
    verbs = tuple(argument.text for argument in plain(arguments, valued)[:_MOST_VERBS])
    return verbs[1:] if name == "cargo" and verbs[:1] and verbs[0].startswith("+") else verbs


def _by_tool(invocation: Invocation, name: str, verbs: tuple[str, ...], words: list[str]) -> Iterator[Found]:
    """`npx @scope/tool@2 publish`, `yarn changeset publish`: the tool of another package."""
    runs = _RUN_TOOLS.get(name)
    if runs is None:
        return
    tool = next((verb for verb in verbs[:2] if verb not in runs), "")
    found = _TOOL.match(tool)
    # A tool by its plain name is judged as the command that it is.
    if not found or (found["name"] in _RUN_TOOLS and (name != "corepack" or found["name"] == name)):
        return
    if tool != found["name"] or name in _RUN_PLAIN:
        rest = words[words.index(tool) + 1 :]
        yield from _published(invocation, found["name"], [Arg(word) for word in rest])


def _built(invocation: Invocation, words: list[str]) -> Iterator[Found]:
    """The tasks of mvn, gradle and sbt."""
    name = invocation.name
    if _is_dry(name, words):
        return
    verbs = verbs_of(invocation, VALUED, _MOST_VERBS)
    if name.startswith("mvn"):
        publishes = any(map(_MAVEN.match, verbs)) and not any(map(_MAVEN_STAYS.match, words))
    elif name == "sbt":
        tasks = [task.split() for word in verbs for task in word.split(";")]
        publishes = any(task[0].lstrip("+").rpartition("/")[2] in _SBT for task in tasks if task)
    else:
        publishes = any(word.split(":")[-1].startswith(_GRADLE) and "Local" not in word for word in verbs)
    if publishes:
        yield PACKAGE.found(invocation.part)


# A word of options of Python: flags, and one that takes the rest or the next word along.
_PYTHON_OPTIONS = re.compile(r"-(?!-)[bBdEiIOPqRsSuvx]*(?:(?P<valued>[mcWXQ])(?P<value>.*))?\Z", re.DOTALL)


def _python(invocation: Invocation, words: list[str]) -> Iterator[Found]:
    """`python -m twine upload`, `python setup.py sdist upload`."""
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.endswith("setup.py"):
            rest = words[at:]
            if ("upload" in rest or "register" in rest) and not _is_dry("setup.py", rest):
                yield PACKAGE.found(invocation.part)
            return
        found = _PYTHON_OPTIONS.match(word)
        if found is None:
            if word != "--check-hash-based-pycs":
                return
            at += 1
        elif found["valued"]:
            value = found["value"]
            if not value:
                value = words[at] if at < len(words) else ""
                at += 1
            if found["valued"] == "m":
                rest_of = invocation.arguments[at:]
                if any(not argument.text.startswith("-") for argument in rest_of):
                    yield from _published(invocation, value.replace("_", "-"), rest_of)
                return
            if found["valued"] == "c":
                return


PYTHONS = frozenset(
    {"python", "python2", "python3", "pypy", "pypy3"} | {f"python3.{minor}" for minor in range(6, 16)}
)

FAMILY = Family(
    "publishing",
    frozenset(PACKAGES) | frozenset(DEPLOYS) | frozenset(_RUN_TOOLS) | PYTHONS | _BUILDERS,
    _check,
    examples=(
        ("npm publish --access public", "publish.package"),
        ("npm --prefix pkg unpublish x", "publish.package"),
        ("yarn npm publish", "publish.package"),
        ("python3 -m twine upload dist/*", "publish.package"),
        ("twine upload dist/*", "publish.package"),
        ("cargo publish", "publish.package"),
        ("gem push x-1.gem", "publish.package"),
        ("mvn -B deploy -DskipTests", "publish.package"),
        ("./gradlew publish", "publish.package"),
        ("goreleaser release --clean", "publish.package"),
        ("goreleaser", "publish.package"),
        ("cargo yank --version 1.0.1 x", "publish.package"),
        ("npx @vscode/vsce publish", "publish.package"),
        ("yarn changeset publish", "publish.package"),
        ("yarn workspaces foreach -A npm publish", "publish.package"),
        ("sbt +publishSigned", "publish.package"),
        ("poetry publish -n", "publish.package"),
        ("firebase deploy --only hosting", "publish.deployed"),
        ("vercel --prod", "publish.deployed"),
        ("mkdocs gh-deploy", "publish.deployed"),
    ),
    silent=(
        "npm publish --dry-run",
        "npm pack",
        "npm run build",
        "cargo build --release",
        "poetry build",
        "mvn -q package",
        "./gradlew publishToMavenLocal",
        "python3 -m build",
        "twine check dist/*",
        "vercel dev",
        "gem install x",
        "goreleaser --snapshot --clean",
        "cargo publish -n",
        "cargo owner --list",
        "rush publish",
        "npx @vscode/vsce package",
        "sbt publishLocal",
        "mvn deploy -DaltDeploymentRepository=local::file:target/repo",
    ),
    rules=(PACKAGE, DEPLOYED),
)
