"""Keys of well-known services that a text sends to somebody else: by address, header, call or image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .document import Document
from .fold import visible
from .hosts import URL, host_of, is_drop, is_local, is_number
from .rules import ERROR, WARNING, Hit

MAX_CALLS = 200  # of one file
MAX_CALL = 800  # characters of one call or command

# Whose key it is, by the beginning of its name; hosts that it is meant for, domains below them too.
_MODELS = (
    "openai.com", "openai.azure.com", "anthropic.com", "openrouter.ai", "deepseek.com", "googleapis.com",
    "groq.com",
    "mistral.ai", "together.xyz", "together.ai", "fireworks.ai", "x.ai", "nousresearch.com", "cohere.com",
    "perplexity.ai", "huggingface.co", "cerebras.ai", "deepinfra.com", "novita.ai", "siliconflow.cn",
    "aliyuncs.com",
    "moonshot.cn", "moonshot.ai", "z.ai", "bigmodel.cn", "minimax.chat", "minimaxi.com", "replicate.com",
    "cloudflare.com", "helicone.ai", "portkey.ai", "litellm.ai", "elevenlabs.io", "nvidia.com",
    "githubcopilot.com",
    "azure.com",
)  # fmt: skip
_OWNERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    *((name, _MODELS) for name in ("OPENAI", "ANTHROPIC", "OPENROUTER", "DEEPSEEK", "GEMINI", "GROQ",
                                   "MISTRAL", "NOUS",
                                   "XAI", "TOGETHER", "COHERE", "PERPLEXITY")),
    ("GITHUB", ("github.com", "githubusercontent.com", "ghcr.io", "githubcopilot.com", "github.dev")),
    ("GH", ("github.com", "githubusercontent.com", "ghcr.io", "githubcopilot.com")),
    ("GITLAB", ("gitlab.com", "gitlab.io")),
    ("AWS", ("amazonaws.com", "aws.amazon.com", "amazon.com", "aws.dev")),
    ("NPM", ("npmjs.org", "npmjs.com")),
    ("HF", ("huggingface.co", "hf.co")),
    ("STRIPE", ("stripe.com",)),
    ("TELEGRAM", ("telegram.org", "t.me")),
    ("SLACK", ("slack.com",)),
    ("DISCORD", ("discord.com", "discordapp.com")),
    ("HERMES", ("nousresearch.com",)),
)  # fmt: skip
_NAMES = "|".join(name for name, _ in _OWNERS)
_KEY = re.compile(rf"(?<![A-Z_])({_NAMES})(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PAT)(?![A-Z])")
_USED = re.compile(
    rf"(?:\$\{{?|%|environ(?:\.get)?[\[(]\s*[\"']|getenv\(\s*[\"']|process\.env(?:\.|\[[\"'])|"
    rf"env\[[\"'])({_KEY.pattern})"
)
_CALL = re.compile(
    r"\b(?:curl|wget|https?ie|xh|Invoke-(?:WebRequest|RestMethod)|iwr|irm)\s|"
    r"\b(?:requests|httpx|session|client|aiohttp|axios)\.(?:get|post|put|patch|request)\(|\burlopen\(|"
    r"\bRequest\(|\bfetch\(|\baxios\(|\bgot(?:\.post)?\("
)
_SLOT = re.compile(
    r"!\[[^\]\n]{0,300}\]\(\s*<?(https?://[^\s)>]*[?&/=][A-Z][A-Z_]{2,40}(?=[&)>\s])[^\s)>]{0,300})"
)
_BASE = re.compile(
    rf"^[ \t>]*(?:export )?(?:{_NAMES})\w*_(?:BASE_URL|API_BASE|BASE|HOST|ENDPOINT)=[\"']?(https?://\S+)",
    re.M,
)


def sent_keys(path: str, text: str) -> list[Hit]:
    """Commands and calls that hand the key of one service to the host of another, at most five."""
    if not _KEY.search(text):
        return []
    hits = []
    for number, found in enumerate(_CALL.finditer(text)):
        if number >= MAX_CALLS or len(hits) >= 5:
            break
        piece = _piece(text, found)
        urls = [one[0] for one in URL.finditer(piece)]
        keys = {one[1]: one[2] for one in _USED.finditer(piece)}
        foreign = sorted(name for name, owner in keys.items() if urls and _is_foreign(owner, urls[0]))
        if foreign:
            url = urls[0]
            is_grave = url.lower().startswith("http://") or is_number(host_of(url)) or is_drop(host_of(url))
            severity = ERROR if is_grave or len({keys[name] for name in foreign}) > 1 else WARNING
            line = text.count("\n", 0, found.start()) + 1
            what = f"sends {', '.join(foreign)} to {host_of(url)}, whose it is not"
            hits.append(Hit("skill.credentials", severity, path, line, what, (visible(piece),), piece))
    return hits


def filled_in(page: Document) -> Iterator[Hit]:
    """Images whose address is to be filled with a key, and addresses of models that are somebody else's."""
    source = page.source
    if not _KEY.search(source) and not _BASE.search(source):
        return
    for found in _SLOT.finditer(source):
        near = source[max(0, found.start() - 800) : found.end() + 400]
        if _KEY.search(near) and not is_local(host_of(found[1])):
            line = source.count("\n", 0, found.start()) + 1
            text = "an image whose address is to be filled with a key: showing it sends it"
            yield Hit("skill.exfiltrate", ERROR, page.path, line, text, (visible(found[0]),), found[0][:300])
    for found in _BASE.finditer(source):
        if _is_foreign("OPENAI", found[1]):
            line = source.count("\n", 0, found.start()) + 1
            text = f"every call to a model, with its key, would go to {host_of(found[1])}"
            yield Hit(
                "skill.credentials", WARNING, page.path, line, text, (visible(found[0]),), found[0][:300]
            )


def _piece(text: str, found: re.Match[str]) -> str:
    """A command with the lines that continue it, or a call up to the bracket that ends it."""
    rest = text[found.start() : found.start() + MAX_CALL]
    if not found[0].endswith("("):
        end = re.search(r"(?<!\\)\n|(?:\|\||&&|;|\|)\s", rest)
        return rest[: end.start()] if end else rest
    depth = 0
    for i, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == ")" and depth == 0:
            return rest[: i + 1]
    return rest


def _is_foreign(owner: str, url: str) -> bool:
    host = host_of(url)
    if not host or "$" in host or "{" in host or is_local(host):
        return False
    own = next(hosts for name, hosts in _OWNERS if name == owner)
    return not any(host == one or host.endswith(f".{one}") for one in own)
