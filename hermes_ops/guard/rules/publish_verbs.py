"""Tables of publishing: with which words a program puts something before others, or takes it from them."""

from __future__ import annotations

from typing import NamedTuple

from .names import names


class Form(NamedTuple):
    """How a publishing command is spelt.

    `verbs`: the first words that are no options, "..." for any number of words; `options`: what must be
    among the words besides; `alone`: the program has no verb at all.
    """

    verbs: tuple[str, ...]
    options: frozenset[str] = frozenset()
    alone: bool = False


def _forms(text: str) -> tuple[Form, ...]:
    """Forms from a text such as "publish | tag add | deploy --prod | $": "$" for a program without a verb."""
    forms = []
    for piece in text.split("|"):
        words = piece.split()
        verbs = tuple(word for word in words if word[:1] not in ("-", "$"))
        forms.append(Form(verbs, frozenset(word for word in words if word[0] == "-"), "$" in words))
    return tuple(forms)


def _table(**programs: str) -> dict[str, tuple[Form, ...]]:
    return {name.replace("_", "-"): _forms(text) for name, text in programs.items()}


_NPM = (
    "publish | unpublish | deprecate | undeprecate | dist-tag add | dist-tag rm | dist-tag set"
    " | dist-tags add | dist-tags rm | dist-tags set | owner add | owner rm | access public | access set"
    " | access grant | access revoke | access restricted | access edit | stage publish"
)
PACKAGES: dict[str, tuple[Form, ...]] = {
    **_table(
        npm=_NPM,
        pnpm=_NPM,
        yarn="publish | npm publish | tag add | tag remove | npm tag add | npm tag remove | owner add"
        " | owner remove | workspaces foreach ... npm publish",
        bun="publish",
        lerna="publish",
        changeset="publish",
        nx="release",
        np="",
        semantic_release="",
        release_it="",
        auto="shipit | release",
        rush="publish --apply | publish --publish",
        twine="upload | register",
        uv="publish",
        poetry="publish",
        flit="publish",
        hatch="publish",
        pdm="publish",
        rye="publish",
        maturin="publish | upload",
        cargo="publish | yank | owner --add | owner -a | owner --remove | owner -r | release"
        " | workspaces publish | ws publish | smart-release --execute | smart-release -e",
        gem="push | yank | owner --add | owner -a | owner --remove | owner -r",
        rake="... release | ... release:rubygem_push",
        lein="deploy",
        mix="hex.publish | hex.retire | hex.owner add | hex.owner remove | hex.owner transfer",
        hex="publish | retire",
        rebar3="hex publish | hex retire | hex cut | hex owner add | hex owner remove",
        gleam="publish | docs publish | docs remove | hex retire | hex revert | hex unretire",
        dart="pub publish | pub lish",
        flutter="pub publish | pub lish",
        pub="publish | lish",
        luarocks="upload",
        cabal="upload",
        stack="upload",
        opam="publish",
        dune_release="$ | publish | opam submit",
        jsr="publish",
        deno="publish",
        elm="publish",
        spago="publish",
        pulp="publish",
        nimble="publish",
        swift="package-registry publish",
        snapcraft="upload | release | push | promote | close",
        charmcraft="upload | upload-resource | release | promote",
        anaconda="upload | remove | move | copy",
        pod="trunk push | trunk delete | trunk deprecate | trunk add-owner | trunk remove-owner | repo push",
        vsce="publish | unpublish",
        ovsx="publish | delete",
        apm="publish | unpublish",
        tfx="extension publish | extension unpublish | build tasks upload",
        web_ext="sign",
        chrome_webstore_upload="$ | upload | publish",
        goreleaser="$ | release | publish | announce",
        nuget="push | delete",
        dotnet="nuget push | nuget delete",
        paket="push",
        helm="cm-push | s3 push | s3 delete | gcs push | gcs rm | nexus-push",
        docker="buildx imagetools create",
        crane="tag",
        regctl="tag delete | manifest delete | image copy | image mod --create | repo copy",
        chart_releaser="",
        cr="upload",
        huggingface_cli="upload | upload-large-folder | repo delete",
        hf="upload | upload-large-folder | repo delete",
        kaggle="datasets create | datasets version | kernels push | models create",
        conan="upload | remove --remote | remove -r",
        packagecloud="push | yank | delete",
        wasmer="publish",
        wapm="publish",
        wasm_pack="publish",
        clawhub="publish",
        jf="rt u | rt upload | rt del | rt delete | rt mv | rt move | rt docker-push | rt bp"
        " | rt build-publish",
        ansible_galaxy="collection publish | role import | role delete | import | delete",
        xcrun="altool --upload-app | altool --upload-package",
        expo="publish",
        butler="push",
        steamcmd="... +run_app_build",
        dput="",
        dupload="",
        copr="build | delete | create | modify",
        koji="build",
        fedpkg="build | push | update",
        osc="commit | ci | submitrequest | sr | delete",
        cpan_upload="",
        dzil="release",
        minil="release",
        clj="deploy",
        clojure="deploy",
    )
}
_OTHER_NAMES = {
    "jfrog": "jf",
    "copr-cli": "copr",
    "python-semantic-release": "semantic-release",
}
PACKAGES |= {other: PACKAGES[name] for other, name in _OTHER_NAMES.items()}
DEPLOYS: dict[str, tuple[Form, ...]] = _table(
    vercel="--prod | promote | deploy --prod",
    netlify="deploy --prod | deploy -p | deploy --prodIfUnlocked | deploy --prod-if-unlocked",
    firebase="deploy",
    wrangler="deploy | publish | pages deploy",
    fly="deploy",
    flyctl="deploy",
    heroku="container:release | pipelines:promote",
    gcloud="app deploy | run deploy | functions deploy",
    eb="deploy | terminate",
    serverless="deploy | remove",
    sls="deploy | remove",
    railway="up",
    kamal="deploy | redeploy | rollback | remove",
    cap="production deploy",
    dep="deploy",
    surge="",
    mkdocs="gh-deploy",
    mike="deploy",
    fastlane="deliver | release | pilot | beta | supply",
    eas="submit | update",
    shopify="theme publish | app deploy",
    modal="deploy",
    zeit="",
    now="",
    gh_pages="",
    tailscale="funnel",
)

DEPLOYS |= {
    "netlify-cli": DEPLOYS["netlify"],
    "ntl": DEPLOYS["netlify"],
    "firebase-tools": DEPLOYS["firebase"],
}

# With these nothing leaves the machine: what most programs know, and what some know besides or do not.
DRY = names("--dry-run --help -h")
DRY_OF = {
    **dict.fromkeys(("cargo", "dart", "flutter", "pub"), names("-n -l --list")),
    **dict.fromkeys(("gradle", "gradlew"), names("-m")),
    **dict.fromkeys(("rake", "cap"), names("-n -T -P --tasks")),
    "nx": names("-d --skip-publish"),
    "np": names("--preview"),
    "goreleaser": names("--snapshot -v --skip-publish"),
    "release-it": names("-d"),
    **dict.fromkeys(("semantic-release", "python-semantic-release"), names("-d --noop --dryrun")),
    "setup.py": names("-n"),
    "dput": names("-s --simulate"),
}
NOT_DRY_OF = {"kamal": names("-h")}
# What these leave out of a release by --skip=publish.
SKIPS = names("goreleaser nx")
VALUED = names(
    "-C --prefix --workspace -w --tag --registry --access -p --package --manifest-path --directory -f "
    "--file -P -r --repository --filter -F --cwd --project --config"
)
# Options that take no word along, where others of that name do.
FLAGS_OF = {"pnpm": names("-r -w"), "gem": names("-f"), "npm": names("-f -p -P -F")}
# Options that take a word along in one program.
_NPM_VALUED = names(
    "--otp --loglevel --userconfig --globalconfig --cache --scope --auth-type --provenance-file "
    "--publish-branch --script-shell --node-options --tag-version-prefix --message -m"
)
VALUED_OF = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NPM_VALUED),
    "cargo": names(
        "--color -Z --target --target-dir --message-format --jobs -j --features --vers --index --token "
        "--lockfile-path -a --add --remove"
    ),
    "twine": names(
        "-c --comment -u --username --password -i --identity --sign-with --config-file --repository-url "
        "--cert --client-cert"
    ),
    "poetry": names("-u --username --password --cert --client-cert --dist-dir"),
    "uv": names("-t --token -u --username --password --publish-url --check-url --index --color"),
    "gem": names("-k --key --host --otp -v --version -a --add --remove --platform --attestation"),
    "goreleaser": names("--release-notes --release-header --release-footer --timeout --parallelism --id"),
    "conan": names("--remote --list --core-conf -cc --query"),
    "helm": names("--context-path --version --app-version --username --password --kube-context -n"),
    "firebase": names("--only --except -m --message --token --account"),
    "vercel": names("-S --scope -t --token -A --local-config -Q --global-config -b --build-env -e --env -m"),
    "netlify": names("-d --dir -m --message -a --auth -s --site --alias --functions --context"),
    "wrangler": names("-e --env -c --name --compatibility-date --assets --var --define --project-name"),
    "kamal": names("-h --hosts -d --destination -c --config-file --version -r --roles"),
    "lerna": names("--dist-tag --preid --ignore-changes --message -m --loglevel --scope --concurrency"),
}
