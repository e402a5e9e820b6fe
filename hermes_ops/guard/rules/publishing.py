"""Publishing: packages, releases, sites, deployments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..judge.invocation import Invocation
from ..verdict import Found
from .names import names
from .rule import Family, approve
from .verbs import verbs_of

PACKAGE = approve(
    "publish.package", "publishes a package, or changes one that is published", "publish with --dry-run first"
)
DEPLOYED = approve("publish.deployed", "puts something into production or before the public")

# The first words of a command that publishes, by program.
_PACKAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "npm": (
        ("publish",),
        ("unpublish",),
        ("deprecate",),
        ("dist-tag", "add"),
        ("dist-tag", "rm"),
        ("owner", "add"),
        ("owner", "rm"),
        ("access", "public"),
        ("access", "set"),
    ),
    "pnpm": (("publish",), ("-r", "publish"), ("unpublish",)),
    "yarn": (("publish",), ("npm", "publish")),
    "bun": (("publish",),),
    "lerna": (("publish",),),
    "changeset": (("publish",),),
    "nx": (("release",), ("release", "publish")),
    "np": ((),),
    "semantic-release": ((),),
    "release-it": ((),),
    "twine": (("upload",),),
    "uv": (("publish",),),
    "poetry": (("publish",),),
    "flit": (("publish",),),
    "hatch": (("publish",),),
    "pdm": (("publish",),),
    "maturin": (("publish",), ("upload",)),
    "cargo": (("publish",), ("yank",), ("owner",), ("release",)),
    "gem": (("push",), ("yank",), ("owner",)),
    "mvn": (("deploy",), ("release:perform",), ("nexus-staging:release",)),
    "mvnw": (("deploy",), ("release:perform",)),
    "lein": (("deploy",),),
    "mix": (("hex.publish",),),
    "dart": (("pub", "publish"),),
    "flutter": (("pub", "publish"),),
    "luarocks": (("upload",),),
    "cabal": (("upload",),),
    "opam": (("publish",),),
    "jsr": (("publish",),),
    "deno": (("publish",),),
    "snapcraft": (("upload",), ("release",), ("push",)),
    "anaconda": (("upload",),),
    "pod": (("trunk", "push"),),
    "vsce": (("publish",), ("unpublish",)),
    "ovsx": (("publish",),),
    "goreleaser": (("release",),),
    "nuget": (("push",), ("delete",)),
    "dotnet": (("nuget", "push"), ("nuget", "delete")),
    "chart-releaser": ((),),
    "cr": (("upload",),),
    "huggingface-cli": (("upload",), ("repo", "delete")),
    "hf": (("upload",), ("repo", "delete")),
    "kaggle": (("datasets", "create"), ("datasets", "version"), ("kernels", "push")),
    "sbt": (("publish",), ("publishSigned",), ("release",)),
    "conan": (("upload",),),
    "packagecloud": (("push",),),
    "pkg_add": (),
    "wasmer": (("publish",),),
    "clawhub": (("publish",),),
}
_DEPLOYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "vercel": (("--prod",), ("promote",), ("deploy", "--prod")),
    "netlify": (("deploy", "--prod"),),
    "firebase": (("deploy",),),
    "wrangler": (("deploy",), ("publish",), ("pages", "deploy")),
    "fly": (("deploy",),),
    "flyctl": (("deploy",),),
    "heroku": (("container:release",), ("pipelines:promote",)),
    "gcloud": (("app", "deploy"), ("run", "deploy"), ("functions", "deploy")),
    "eb": (("deploy",), ("terminate",)),
    "serverless": (("deploy",), ("remove",)),
    "sls": (("deploy",), ("remove",)),
    "railway": (("up",),),
    "kamal": (("deploy",), ("redeploy",), ("rollback",), ("remove",)),
    "cap": (("production", "deploy"),),
    "dep": (("deploy",),),
    "surge": ((),),
    "gh-pages": ((),),
    "mkdocs": (("gh-deploy",),),
    "mike": (("deploy",),),
    "fastlane": (("deliver",), ("release",), ("pilot",), ("beta",), ("supply",)),
    "eas": (("submit",), ("update",)),
    "shopify": (("theme", "publish"), ("app", "deploy")),
    "ansistrano": (),
    "zeit": ((),),
    "now": ((),),
    "tailscale": (("funnel",),),
}
_DRY = names("--dry-run -n --dryrun --snapshot --help -h --version --skip=publish --list pack --skip-publish")
_VALUED = names(
    "-C --prefix --workspace -w --tag --registry --access -p --package --manifest-path --directory -f "
    "--file -P -r --repository"
)


def _begins(words: tuple[str, ...], wanted: tuple[tuple[str, ...], ...], all_words: list[str]) -> bool:
    for start in wanted:
        if words[: len(start)] == start:
            return True
        if start and start[0].startswith("--") and start[0] in all_words:
            return True
        if len(start) > 1 and start[1].startswith("--") and words[:1] == start[:1] and start[1] in all_words:
            return True
    return False


def _check(invocation: Invocation) -> Iterable[Found]:
    return _published(invocation)


def _published(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if not _DRY.isdisjoint(words):
        return
    verbs = verbs_of(invocation, _VALUED)
    if name in ("gradle", "gradlew", "mvn", "mvnw", "sbt", "bazel"):
        if any(
            word.split(":")[-1].startswith(("publish", "uploadArchives", "closeAndRelease", "bintrayUpload"))
            and "Local" not in word
            and "ToMavenLocal" not in word
            for word in verbs
        ) or (name.startswith("mvn") and any(word in ("deploy", "release:perform") for word in verbs)):
            yield PACKAGE.found(invocation.part)
        return
    if name.startswith(("python", "pypy")):
        yield from _python(invocation, words)
        return
    wanted = _PACKAGES.get(name)
    if wanted is not None and _begins(verbs, wanted, words):
        yield PACKAGE.found(invocation.part)
        return
    wanted = _DEPLOYS.get(name)
    if wanted is not None and _begins(verbs, wanted, words):
        yield DEPLOYED.found(invocation.part)


def _python(invocation: Invocation, words: list[str]) -> Iterator[Found]:
    """`python -m twine upload`, `python setup.py sdist upload`."""
    for index, word in enumerate(words):
        if word == "-m" and index + 1 < len(words):
            module, rest = words[index + 1], words[index + 2 :]
            verbs = tuple(other for other in rest if not other.startswith("-"))
            wanted = _PACKAGES.get(module, ())
            deploys = _DEPLOYS.get(module, ())
            if verbs and (_begins(verbs, wanted, rest) or _begins(verbs, deploys, rest)):
                yield PACKAGE.found(invocation.part)
            return
        if word.endswith("setup.py"):
            if "upload" in words[index:] or "register" in words[index:]:
                yield PACKAGE.found(invocation.part)
            return
        if not word.startswith("-"):
            return


PYTHONS = frozenset(
    {"python", "python2", "python3", "pypy", "pypy3"} | {f"python3.{minor}" for minor in range(6, 16)}
)

FAMILY = Family(
    "publishing",
    frozenset(_PACKAGES) | frozenset(_DEPLOYS) | PYTHONS | names("gradle gradlew mvn mvnw sbt"),
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
    ),
    rules=(PACKAGE, DEPLOYED),
)
