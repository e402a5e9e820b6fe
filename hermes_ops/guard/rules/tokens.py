"""Credentials that belong to one service, and the hosts of that service: to others they are not to go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..judge.invocation import TOKEN, UNKNOWN, Arg
from ..verdict import Found
from .names import names
from .rule import block

ELSEWHERE = block(
    "exfiltration.token-elsewhere",
    "sends the credential of one service to another host",
    "send it to its own service alone, in the header that says who asks",
)

# The variables of a service, the commands that print its credential, and its hosts: they end in one of these.
# A word without a dot is a label of a host: that is how such a service is named where it is one's own.
_SERVICES: tuple[tuple[str, str, str], ...] = (
    (
        "AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_ACCESS_KEY_ID AWS_SECURITY_TOKEN",
        "aws",
        "amazonaws.com amazonaws.com.cn aws.amazon.com r2.cloudflarestorage.com digitaloceanspaces.com "
        "backblazeb2.com wasabisys.com minio",
    ),
    (
        "GITHUB_TOKEN GH_TOKEN GITHUB_PAT GH_PAT GITHUB_API_TOKEN",
        "gh",
        "github.com githubusercontent.com ghcr.io github.dev githubapp.com ghe.com",
    ),
    ("GITLAB_TOKEN GITLAB_API_TOKEN CI_JOB_TOKEN GITLAB_PRIVATE_TOKEN", "glab", "gitlab.com gitlab"),
    ("OPENAI_API_KEY", "", "openai.com openai.azure.com oaiusercontent.com"),
    ("ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN", "", "anthropic.com claude.ai"),
    ("OPENROUTER_API_KEY", "", "openrouter.ai"),
    ("MISTRAL_API_KEY", "", "mistral.ai"),
    ("GROQ_API_KEY", "", "groq.com"),
    ("HF_TOKEN HUGGING_FACE_HUB_TOKEN HUGGINGFACE_TOKEN", "", "huggingface.co hf.co"),
    ("NPM_TOKEN NODE_AUTH_TOKEN", "", "npmjs.org npmjs.com pkg.github.com"),
    ("PYPI_TOKEN TWINE_PASSWORD UV_PUBLISH_TOKEN", "", "pypi"),
    ("CARGO_REGISTRY_TOKEN", "", "crates.io"),
    ("SLACK_TOKEN SLACK_BOT_TOKEN SLACK_API_TOKEN", "", "slack.com"),
    ("DISCORD_TOKEN DISCORD_BOT_TOKEN", "", "discord.com discordapp.com"),
    ("TELEGRAM_BOT_TOKEN TELEGRAM_TOKEN", "", "telegram.org"),
    ("STRIPE_SECRET_KEY STRIPE_API_KEY", "", "stripe.com"),
    ("DIGITALOCEAN_TOKEN DIGITALOCEAN_ACCESS_TOKEN", "", "digitalocean.com"),
    ("CLOUDFLARE_API_TOKEN CLOUDFLARE_API_KEY CF_API_TOKEN", "", "cloudflare.com"),
    ("HCLOUD_TOKEN", "", "hetzner.cloud hetzner.com"),
    ("HEROKU_API_KEY", "heroku", "heroku.com"),
    ("FLY_API_TOKEN", "fly", "fly.io fly.dev machines.dev"),
    ("VERCEL_TOKEN", "", "vercel.com"),
    ("NETLIFY_AUTH_TOKEN", "", "netlify.com"),
    ("GOOGLE_API_KEY GEMINI_API_KEY GCP_TOKEN GOOGLE_OAUTH_ACCESS_TOKEN", "gcloud",
     "googleapis.com google.com gcr.io pkg.dev run.app cloudfunctions.net"),
    ("AZURE_CLIENT_SECRET ARM_CLIENT_SECRET", "az", "azure.com azure.net microsoftonline.com microsoft.com "
     "windows.net azurecr.io"),
)  # fmt: skip
_BY_SOURCE: dict[str, frozenset[str]] = {
    source: names(hosts)
    for variables, program, hosts in _SERVICES
    for source in [*(f"${name}" for name in variables.split()), *([program] if program else [])]
}
TAINT = frozenset((TOKEN,))
# What a command line tool says to print its credential.
_PRINTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "gcloud": (
        ("auth", "print-access-token"),
        ("auth", "print-identity-token"),
        ("auth", "application-default", "print-access-token"),
    ),
    "gh": (("auth", "token"),),
    "glab": (("auth", "token"),),
    "aws": (("configure", "export-credentials"), ("sts", "get-session-token"), ("configure", "get")),
    "az": (("account", "get-access-token"),),
    "heroku": (("auth:token",),),
    "fly": (("auth", "token"),),
}
_NEAR = re.compile(
    r"(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0|\[|[^.]+\Z)"
    r"|.*\.(?:local|localhost|internal|svc|lan|test|home\.arpa)\Z"
)
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:/{1,3})?(?:[^/?#@]*@)?([^/?#:]*)", re.IGNORECASE)


def source_of_variable(name: str) -> str:
    """What is said of a variable that holds the credential of a known service; "" for others."""
    source = f"${name}"
    return source if source in _BY_SOURCE else ""


def source_of_command(program: str, words: Sequence[str]) -> str:
    """The service whose credential a command prints; "" for others."""
    verbs = _PRINTS.get(program)
    if verbs is None:
        return ""
    given = tuple(word for word in words if not word.startswith("-"))
    return program if any(given[: len(verb)] == verb for verb in verbs) else ""


PRINTERS = frozenset(_PRINTS)


def sent_elsewhere(part: str, carried: Iterable[Arg], addresses: Iterable[str]) -> Iterator[Found]:
    """Credentials of a service in what is sent, where one of the addresses is not of that service."""
    services = {
        argument.source: _BY_SOURCE[argument.source]
        for argument in carried
        if TOKEN in argument.taint and argument.source in _BY_SOURCE
    }
    if not services:
        return
    for address in addresses:
        found = _HOST.match(address)
        host = found[1].lower().rstrip(".") if found else ""
        if not host or UNKNOWN in host or _NEAR.match(host):
            continue
        for source, hosts in services.items():
            if not _is_of(host, hosts):
                yield ELSEWHERE.found(part, f"{source} to {host}")
                return


def _is_of(host: str, hosts: frozenset[str]) -> bool:
    labels = host.split(".")
    return any(".".join(labels[at:]) in hosts for at in range(len(labels))) or not hosts.isdisjoint(labels)
