"""Programs that print credentials they keep: password managers, keychains, vaults, helpers, clouds."""

from __future__ import annotations

import re

from ..judge.invocation import KEPT, SECRET, Invocation
from .names import names

# A kind of a cluster's objects, alone or in a list, with the name of one or without: secret/app, cm,secrets.
_SECRETS = "secrets of a cluster"
_OF_SECRETS = re.compile(r"(?:[\w.-]+,){0,20}secrets?(?:[./,][\w.,/-]*)?")
_Verbs = tuple[tuple[str, ...], ...]
_HELPERS = names(
    "docker-credential-desktop docker-credential-osxkeychain docker-credential-secretservice "
    "docker-credential-pass docker-credential-wincred git-credential-store git-credential-osxkeychain "
    "git-credential-manager git-credential-libsecret"
)

# By program: the first operands with which it prints what it keeps.
_VERBS: dict[str, _Verbs] = {
    "security": (("find-generic-password",), ("find-internet-password",), ("dump-keychain",), ("export",)),
    "secret-tool": (("lookup",), ("search",)),
    "pass": (("show",),),
    "gopass": (("show",), ("cat",)),
    "op": (("read",), ("item", "get"), ("document", "get"), ("inject",)),
    "bw": (("get",), ("export",), ("list",)),
    "rbw": (("get",),),
    "lpass": (("show",), ("export",)),
    "keyring": (("get",),),
    "vault": (("kv", "get"), ("read",), ("print", "token"), ("token", "lookup")),
    "aws": (
        ("secretsmanager", "get-secret-value"),
        ("ssm", "get-parameter"),
        ("ssm", "get-parameters"),
        ("ssm", "get-parameters-by-path"),
        ("configure", "export-credentials"),
        ("sts", "get-session-token"),
        ("iam", "create-access-key"),
    ),
    "gcloud": (("secrets", "versions", "access"), ("iam", "service-accounts", "keys", "create")),
    "az": (("keyvault", "secret", "show"), ("account", "get-access-token")),
    "kubectl": (("get", _SECRETS), ("view-secret",)),
    "oc": (("get", _SECRETS),),
    "sops": (("decrypt",),),
    "doppler": (("secrets", "download"), ("secrets", "get")),
    "chamber": (("read",), ("export",)),
    "infisical": (("export",), ("secrets",)),
    "keepassxc-cli": (("show",), ("export",), ("clip",)),
    "git": (
        ("credential", "fill"),
        *((helper.removeprefix("git-"), "get") for helper in sorted(_HELPERS) if helper[:4] == "git-"),
    ),
    **dict.fromkeys(_HELPERS, (("get",),)),
}
NAMES = frozenset(_VERBS)
# With these the whole store comes out, not the one credential that was asked for.
_WHOLE = names("export dump-keychain list download secrets view-secret") | {_SECRETS}
_ONE, _ALL = frozenset((KEPT,)), frozenset((SECRET,))

_VALUED = names(
    "-n --namespace --context --profile --region --project --cluster --kubeconfig --subscription -a "
    "-s -c --vault --account --secret --output -o --session --config --in-file -i --input-type"
)
# What pass does when it is not asked to do anything else is to show an entry.
_PASS_VERBS = names(
    "init ls list grep find search show insert add edit generate rm remove delete mv rename cp copy git "
    "help version otp"
)
# An output of kubectl with the values in it; a template of the metadata alone is none.
_SHOWS_VALUES = re.compile(
    r"(?:^|=|-o)(?:yaml|json)\Z|(?:jsonpath|template|custom-columns)[\w-]*=(?!.*metadata)|(?<!meta)data|-file\b"
)


def taint(invocation: Invocation) -> frozenset[str]:
    """What the output of a command carries that prints what a store keeps; empty for any other."""
    name = invocation.name
    given = tuple(argument.text for argument in invocation.operands(_VALUED))
    words = invocation.words()
    if name == "pass" and given and given[0] not in _PASS_VERBS:
        given = ("show", *given)
    elif name == "sops" and invocation.has("d", "--decrypt"):
        given = ("decrypt", *given)
    elif name in ("kubectl", "oc"):
        given = tuple(_SECRETS if _OF_SECRETS.fullmatch(word) else word for word in given)
    verb = next((verb for verb in _VERBS.get(name, ()) if given[: len(verb)] == verb), None)
    if verb is None:
        return frozenset()
    if verb[-1] == _SECRETS and not any(map(_SHOWS_VALUES.search, words)):
        # A list of names shows no values.
        return frozenset()
    if verb[0] == "ssm" and "--with-decryption" not in words:
        return frozenset()
    return _ALL if verb[-1] in _WHOLE else _ONE
