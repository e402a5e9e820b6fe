"""Formats of tokens that are known by their shape, and how to read one at a given place.

The formats are public facts of the providers. Lengths are looser than the providers' own, because a recorded
token may be old, short or cut; what keeps ordinary text out is the prefix. Texts are Latin-1 bytes.
"""

from __future__ import annotations

import re

from .patterns import Lazy

_ALNUM, _WORD, _HEX, _BASE64 = "A-Za-z0-9", "-A-Za-z0-9_", "0-9A-Fa-f", "A-Za-z0-9+/=%"

_LONGEST = 600  # characters of a body that are looked at before it is taken for a token

# kind | prefixes | characters after the prefix | at least so many | so many suffice before a truncation mark.
# A negative last number also asks for digits or mixed case: ordinary names start like that too (npm_config).
_PREFIXED = (
    ("github-pat", "ghp_", _ALNUM, 16, 4),
    ("github-oauth", "gho_", _ALNUM, 16, 4),
    ("github-app", "ghu_ ghs_", _ALNUM, 16, 4),
    ("github-refresh", "ghr_", _ALNUM, 16, 4),
    ("github-fine-grained", "github_pat_", _WORD, 16, 4),
    ("gitlab", "glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glimt- glagent- gloas-", _WORD, 16, 4),
    ("anthropic", "sk-ant-", _WORD, 16, 4),
    ("openrouter", "sk-or-", _WORD, 16, 4),
    ("langfuse", "sk-lf-", _WORD, 16, 4),
    ("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", _WORD, 16, 4),
    ("openai", "sk-", _ALNUM, 20, -6),
    ("groq", "gsk_", _ALNUM, 20, -6),
    ("xai", "xai-", _ALNUM, 20, -6),
    ("perplexity", "pplx-", _ALNUM, 20, -6),
    ("replicate", "r8_", _ALNUM, 20, -6),
    ("huggingface", "hf_ api_org_", _ALNUM, 20, -6),
    ("tavily", "tvly-", _WORD, 16, -6),
    ("fireworks", "fw_", _ALNUM, 20, -8),
    ("nvidia", "nvapi-", _WORD, 20, -6),
    ("cerebras", "csk-", _ALNUM, 20, -6),
    ("jina", "jina_", _ALNUM, 20, -8),
    ("pinecone", "pcsk_", _WORD, 20, -6),
    ("langsmith", "lsv2_pt_ lsv2_sk_", _WORD, 20, -6),
    ("together", "tgp_v1_", _WORD, 20, -6),
    ("e2b", "e2b_", _HEX, 20, -8),
    ("firecrawl", "fc-", _HEX, 28, -12),
    ("cursor", "crsr_", _HEX, 32, -10),
    ("brave", "BSA", _WORD, 26, -20),
    ("google-api", "AIza", _WORD, 30, 4),
    ("google-oauth-secret", "GOCSPX-", _WORD, 20, 4),
    ("google-oauth", "ya29.", _WORD, 20, 4),
    ("google-refresh", "1//0", _WORD, 30, -12),
    ("firebase", "APA91b", _WORD, 60, 10),
    ("aws-bedrock", "ABSK", _BASE64, 40, -16),
    ("alibaba-key-id", "LTAI", _ALNUM, 16, -12),
    ("tencent-key-id", "AKID", _ALNUM, 24, -12),
    ("slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _WORD + "%+/=", 12, 4),
    ("stripe", "sk_test_ sk_live_ sk_prod_ rk_test_ rk_live_ rk_prod_", _ALNUM, 10, 4),
    ("stripe-webhook", "whsec_", _BASE64, 20, -6),
    ("elevenlabs", "sk_", _HEX, 32, -16),
    ("npm", "npm_", _ALNUM, 30, -8),
    ("pypi", "pypi-AgE", _WORD, 20, 4),
    ("rubygems", "rubygems_", _HEX, 32, -8),
    ("crates", "cio", _ALNUM, 30, -20),
    ("nuget", "oy2", "a-z0-9", 43, -20),
    ("docker-hub", "dckr_pat_ dckr_oat_", _WORD, 16, 4),
    ("sendgrid", "SG.", _WORD + ".", 40, -8),
    ("sendinblue", "xkeysib- xsmtpsib-", _WORD, 30, -6),
    ("mailgun", "key- pubkey-", _HEX, 32, -16),
    ("databricks", "dapi", _HEX, 32, -8),
    ("digitalocean", "dop_v1_ doo_v1_ dor_v1_", _HEX, 32, 4),
    ("vault", "hvs. hvb. hvr.", _WORD, 20, -8),
    ("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _ALNUM, 30, -8),
    ("dynatrace", "dt0c01.", _ALNUM + ".", 60, -8),
    ("pulumi", "pul-", _HEX, 32, -12),
    ("fly", "fo1_ fm1_ fm2_", _WORD + "%+/=", 30, -10),
    ("heroku", "HRKU-", _WORD, 24, -8),
    ("netlify", "nfp_", _ALNUM, 30, -8),
    ("cloudflare", "cfut_ cfat_ cfk_", _WORD, 30, -8),
    ("cloudflare-origin-ca", "v1.0-", _HEX + "-", 80, -30),
    ("supabase", "sbp_ sb_secret_", _WORD, 20, -8),
    ("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", _WORD + ".", 24, -6),
    ("neon", "napi_", _ALNUM, 40, -10),
    ("render", "rnd_", _ALNUM, 24, -10),
    ("vercel", "vercel_blob_rw_ vck_ vcp_", _WORD, 24, -10),
    ("grafana", "glsa_ glc_ eyJrIjoi", _WORD + "%+/=", 24, -6),
    ("linear", "lin_api_ lin_oauth_", _ALNUM, 24, -6),
    ("notion", "ntn_", _ALNUM, 30, -8),
    ("notion", "secret_", _ALNUM, 43, -24),
    ("sentry", "sntrys_ sntryu_", _WORD + "%+/=", 24, -6),
    ("newrelic", "NRAK- NRII- NRJS-", _WORD, 16, -6),
    ("figma", "figd_ figu_ figo_", _WORD, 20, -6),
    ("atlassian", "ATATT3 ATCTT3 ATSTT3", _WORD + "=", 30, 10),
    ("bitbucket", "ATBB", _ALNUM, 28, -12),
    ("contentful", "CFPAT-", _WORD, 30, -8),
    ("shopify", "shpat_ shpca_ shppa_ shpss_", _HEX, 24, -6),
    ("square", "sq0atp- sq0csp- sq0idp-", _WORD, 20, 4),
    ("square", "EAAA", _WORD, 58, -20),
    ("meta", "EAA IGQV", _ALNUM, 80, -30),
    ("postman", "PMAK- PMAT-", _WORD, 24, 4),
    ("hubspot", "pat-na1- pat-na2- pat-eu1-", _HEX + "-", 30, -8),
    ("1password", "ops_eyJ", _WORD + "=", 40, 6),
    ("age", "AGE-SECRET-KEY-1", "A-Z0-9", 30, 4),
    ("tailscale", "tskey-auth- tskey-api- tskey-client- tskey-webhook- tskey-scim- tskey-", _WORD, 16, -6),
    ("typeform", "tfp_", _WORD, 40, -8),
    ("readme", "rdme_", _ALNUM, 40, -8),
    ("sonarqube", "squ_ sqp_ sqa_", _HEX, 32, -8),
    ("artifactory", "AKCp", _ALNUM, 60, -16),
    ("circleci", "CCIPAT_ CCIPRJ_", _WORD, 30, -6),
    ("buildkite", "bkua_ bkpt_", _ALNUM, 32, -10),
    ("prefect", "pnu_ pnb_", _ALNUM, 30, -10),
    ("flutterwave", "FLWSECK_TEST- FLWSECK-", _WORD, 16, 4),
    ("razorpay", "rzp_live_ rzp_test_", _ALNUM, 12, 6),
    ("adafruit", "aio_", _ALNUM, 28, -8),
    ("clojars", "CLOJARS_", _HEX, 40, -10),
    ("matrix", "syt_", _WORD, 24, -8),
    ("dropbox", "sl.", _WORD, 60, -20),
    ("jwt", "eyJhbGciOi eyJ0eXAiOi eyJraWQiOi eyJlbmMiOi", _WORD + ".", 60, 4),
    ("private-key", "LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQyBQ", _BASE64, 16, 4),
    ("private-key", "LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBFTkNSWVBURUQ", _BASE64, 16, 4),
)
# kind | first two characters | whole pattern | pattern before a truncation mark
_KNOWN_SK = "(?!ant-|or-|lf-|proj-|svcacct-|admin-|None-)"
_SHAPED = (
    (
        "aws-key-id",
        "A3 AK AS AB AC",
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)(?=[A-Z]{0,11}[0-9])[A-Z0-9]{4,16}",
    ),
    ("jwt", "ey", r"eyJ[\w-]{8,4096}\.eyJ[\w-]{4,}(?:\.[\w-]+)*", r"eyJ[\w-]{8,4096}\.eyJ[\w-]+"),
    ("openai", "sk", rf"sk-{_KNOWN_SK}(?=[A-Za-z]{{0,15}}[0-9])[A-Za-z0-9]{{16,}}", ""),
    (
        "openai",
        "sk",
        rf"sk-{_KNOWN_SK}(?=[\w-]{{0,64}}?(?<![A-Za-z0-9])"
        r"(?=[A-Za-z]{0,11}[0-9])(?=[0-9]{0,11}[A-Za-z])[A-Za-z0-9]{12})[\w-]{20,200}",
        "",
    ),
    ("twilio", "SK", r"SK[0-9a-fA-F]{32}(?![A-Za-z0-9])", r"SK[0-9a-f]{12,}"),
    (
        "discord-bot",
        "MD MT Mj Mz ND NT Nj Nz OD OT Oj Oz",
        r"[MNO][DTjz][A-Za-z0-9]{20,28}\.[\w-]{6}\.[\w-]{27,45}",
        r"[MNO][DTjz][A-Za-z0-9]{20,28}\.[\w-]{1,6}(?:\.[\w-]*)?",
    ),
    ("airtable", "pa", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}", r"pat[A-Za-z0-9]{14}\.[0-9a-f]+"),
    ("resend", "re", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]+"),
    ("plaid", "ac", r"access-(?:sandbox|development|production)-[0-9a-f-]{36}", ""),
)


class TokenRule:
    """One row: `full` matches a whole token, `cut` one that ends at a truncation mark."""

    __slots__ = ("cut", "full", "kind", "mixed", "rest", "skip")

    def __init__(self, kind: str, full: str, cut: str, skip: int, mixed: bool):
        self.kind, self.full, self.cut, self.skip, self.mixed = kind, full, cut, skip, mixed
        self.rest: Lazy | None = None  # the characters of a body, for one longer than _LONGEST


def _token_rules() -> dict[bytes, list[TokenRule]]:
    heads: dict[bytes, list[TokenRule]] = {}
    for kind, starts, pattern, cut_pattern in _SHAPED:
        for head in starts.split():
            heads.setdefault(head.encode(), []).append(
                TokenRule(kind, pattern, cut_pattern or "(?!)", 3, False)
            )
    for kind, prefixes, chars, least, cut in _PREFIXED:
        for prefix in prefixes.split():
            body = re.escape(prefix) + f"[{chars}]"
            full, short = f"{body}{{{least},{_LONGEST}}}", f"{body}{{{abs(cut)},{_LONGEST}}}"
            rule = TokenRule(kind, full, short, len(prefix), cut < 0)
            rule.rest = Lazy(f"[{chars}]*".encode())
            heads.setdefault(prefix[:2].encode(), []).append(rule)
    return heads


# What stands before the long part of a token that has a dot: such a part is looked at from its left.
DOTTED = (b"SG.", b"ya29.", b"hvs.", b"hvb.", b"hvr.", b".pt.", b".st.", b".ct.", b".sa.", b".scim.",
          b".audit.", b"dt0c01.", b"atlasv1.", b"sl.", b"v1.", b"xoxe.")  # fmt: skip
MAILCHIMP = Lazy(rb"[0-9a-f]{32}-us[0-9]{1,2}\Z")
TELEGRAM = Lazy(rb"A[\w-]{32,36}(?![\w-])", re.ASCII)
AWS_SECRET_AFTER_ID = Lazy(
    rb"(?:[\s,:|;\"'=]|\\+[nrt]|[Ss]ecret|[Aa]ccess|[Kk]ey|_|AWS|aws|SECRET|ACCESS|KEY|20[0-9]{2}-[0-9T:Z+-]{6,24}){1,40}?"
    rb"((?=[A-Za-z/+]{0,39}[0-9])(?![0-9a-f]{40})[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
)

_heads: dict[bytes, list[TokenRule]] = {}
_compiled: dict[tuple[bytes, bool], re.Pattern[bytes]] = {}


def token_heads() -> dict[bytes, list[TokenRule]]:
    """The rules by the first two bytes of what they match; made on first use, as are the patterns."""
    if not _heads:
        _heads.update(_token_rules())
    return _heads


def _head_pattern(head: bytes, cut: bool) -> re.Pattern[bytes]:
    pattern = _compiled.get((head, cut))
    if pattern is None:
        texts = [(rule.cut if cut else rule.full) for rule in token_heads()[head]]
        pattern = re.compile("|".join(f"({text})" for text in texts).encode(), re.ASCII)
        _compiled[head, cut] = pattern
    return pattern


def token_at(text: bytes, start: int) -> tuple[str, int] | None:
    """The whole token that starts at `start`: (kind, end), or None."""
    head = text[start : start + 2]
    if head not in token_heads():
        return None
    match = _head_pattern(head, False).match(text, start)
    if match is None:
        return None
    rule = token_heads()[head][match.lastindex - 1]  # type: ignore[operator]
    end = match.end()
    while text[end - 1] == 46:  # a full stop ends the sentence, not the token
        end -= 1
    if _dummy_token(text[start + rule.skip : end].decode("latin-1")):
        return None
    if rule.rest and end - start >= _LONGEST:
        end = rule.rest.match(text, end).end()
    return rule.kind, end


def cut_token_at(text: bytes, start: int, end: int) -> str | None:
    """The kind of the token that starts at `start` and was cut at `end`, or None."""
    head = text[start : start + 2]
    if head not in token_heads():
        return None
    match = _head_pattern(head, True).match(text, start, end)
    if match is None or match.end() != end:
        return None
    rule = token_heads()[head][match.lastindex - 1]  # type: ignore[operator]
    body = text[start + rule.skip : end].decode("latin-1")
    if _dummy_token(body) or not (_mixed(body) if rule.mixed else body[-1] not in "-_"):
        return None
    return rule.kind


def inner_starts() -> re.Pattern[bytes]:
    """Finds the separators inside a run of word characters after which a token may start (`key-ghp_...`)."""
    pattern = _compiled.get((b"", False))
    if pattern is None:
        by_letter: dict[str, list[str]] = {
            "A": ["KIA", "SIA", "BIA", "CCA"],
            "S": ["K[0-9a-f]{8}"],
            "r": ["e_"],
        }
        for _, prefixes, _, _, _ in _PREFIXED:
            for prefix in prefixes.split():
                if len(prefix) > 2:
                    by_letter.setdefault(prefix[0], []).append(re.escape(prefix[1:]))
        letters = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in by_letter.items())
        pattern = _compiled[b"", False] = re.compile(
            f"[-_](?=(?:{letters})(?:[A-Za-z0-9]{{4}}|[A-Za-z0-9]{{1,3}}-[A-Za-z0-9]{{6}}))".encode()
        )
    return pattern


_DUMMY = Lazy(
    r"(?:^|[-_.])(?:your|my|placeholder|example|insert|replace|dummy|fake|changeme|redacted|here)(?:[-_.]|$)"
    r"|[xX]{6}"
    r"|^(?:your|YOUR)[A-Z_-]"
)


def _dummy_token(body: str) -> bool:
    return len(set(body)) <= 2 or _DUMMY.search(body) is not None


def _mixed(body: str) -> bool:
    if any(c.isdigit() for c in body):
        return True
    return body[1:] != body[1:].lower() and body != body.upper()
