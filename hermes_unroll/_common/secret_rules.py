"""What a secret looks like: token formats, names of secret fields, and values that only look like secrets.

Data and pure functions; `redact.py` decides where in a text to ask them. Token formats are public facts of
the providers. Lengths are looser than the providers' own, because a recorded token may be old, short or cut;
what keeps ordinary text out is the prefix. Texts are searched as Latin-1 bytes, names and values are str.
"""

from __future__ import annotations

import re


class Lazy:
    """A regular expression compiled on first use, so that importing these modules costs next to nothing."""

    def __init__(self, pattern: str | bytes, flags: int = 0):
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str):
        compiled = re.compile(self._pattern, self._flags)
        for method in ("match", "fullmatch", "search", "finditer", "sub"):
            setattr(self, method, getattr(compiled, method))  # from now on found without __getattr__
        return getattr(compiled, name)


# ---- tokens with a shape of their own -------------------------------------------------------------------

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


# needle | kind | characters before the needle where the pattern starts | pattern; its group 1 is the secret
ANCHORED = (
    (
        b"hooks",
        "slack-webhook",
        0,
        Lazy(rb"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{8,512})"),
    ),
    (b"hooks", "discord-webhook", 8, Lazy(rb"/api/webhooks/([0-9]{10,24}/[\w-]{16,512})")),
)
AZURE_CLIENT_SECRET = Lazy(rb"[\w~.-]{3}[0-9]Q~[\w~.-]{16,36}")
PASSWORD_HASH = Lazy(
    rb"\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}"
    rb"|[56y]\$(?:rounds=[0-9]{1,9}\$)?[^\s:$\"'\\]{2,40}\$[./A-Za-z0-9]{40,128})"
)
# What stands before the long part of a token that has a dot: such a part is looked at from its left.
DOTTED = (b"SG.", b"ya29.", b"hvs.", b"hvb.", b"hvr.", b".pt.", b".st.", b".ct.", b".sa.", b".scim.",
          b".audit.", b"dt0c01.", b"atlasv1.", b"sl.", b"v1.", b"xoxe.")  # fmt: skip
MAILCHIMP = Lazy(rb"[0-9a-f]{32}-us[0-9]{1,2}\Z")
TELEGRAM = Lazy(rb"A[\w-]{32,36}(?![\w-])", re.ASCII)
AWS_SECRET_AFTER_ID = Lazy(
    rb"(?:[\s,:|;\"'=]|\\+[nrt]|[Ss]ecret|[Aa]ccess|[Kk]ey|_|AWS|aws|SECRET|ACCESS|KEY){1,40}?"
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


# ---- names of fields that hold secrets ------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a name stands for. PASSWORD: digits alone are a secret too. WEAK: only a random-looking value is one.
PASSWORD, TOKEN, COOKIE, AUTHORIZATION, WEAK, BARE_PASS, NO_SECRET = (
    "password", "token", "cookie", "authorization", "weak", "pass", "",
)  # fmt: skip

_NAME_WORDS = Lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_QUALIFIERS = _words(
    "value val plain plaintext text raw b64 base64 prod production dev staging test live sandbox new old "
    "current primary secondary backup base data str string confirm confirmation again repeat"
)
_PASSWORDS = _words("password passwd passphrase passcode pwd pswd pin passwort userpass dbpass")
_SECRETS = _words("secret token apikey credential credentials mnemonic otp psk accesskey privatekey")
_GLUED = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey",
          "privatekey", "accountkey", "authkey", "passcode")  # fmt: skip
_KEYS_OF = _words(
    "api access secret private account encryption encrypt decryption signing master shared auth service "
    "role ssh storage subscription admin deploy webhook rsa ecdsa pem aes hmac jwt crypto cipher "
    "preshared functions application app client tls ssl license stripe openai anthropic sendgrid gemini "
    "google groq mistral azure deepseek openrouter cohere huggingface twilio mailgun datadog"
)
_NOT_KEYS_OF = _words("public publishable host foreign sort partition cache object row session")
# Words before a secret word that make it something else: max_tokens, next_page_token, forgot_password.
_DEFUSERS = _words(
    "next page continuation pagination sync pad eos bos unk mask cls sep stop special cancellation cancel "
    "max min num count is has forgot reset show hide require requires required use no allow enable "
    "enabled disable disabled valid invalid missing per image audio design syntax prev previous peek "
    "lookahead word start end total prompt completion first last vocab added de cursor resume"
)
_names: dict[str, str] = {}


def name_class(name: str) -> str:
    """What a field of this name holds: one of the classes above, NO_SECRET when nothing secret."""
    known = _names.get(name)
    if known is None:
        if len(_names) > 4096:
            _names.clear()
        known = _names[name] = _classify(name)
    return known


def _classify(name: str) -> str:
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
    while words and (words[-1] in _QUALIFIERS or words[-1].isdigit()):
        words.pop()
    if not words:
        return NO_SECRET
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if before in _DEFUSERS and last != "credentials":
        return NO_SECRET
    if last in _PASSWORDS:
        return NO_SECRET if name in ("PWD", "OLDPWD") else PASSWORD
    if last == "authorization":
        return AUTHORIZATION
    if last in ("cookie", "cookies"):
        return COOKIE
    if last in _SECRETS:
        return TOKEN
    if last in ("pass", "pw"):
        return PASSWORD if before else BARE_PASS
    if last in ("passwords", "tokens", "keys"):
        if last == "passwords":
            return PASSWORD
        return (
            TOKEN
            if before in ("api", "access", "auth", "refresh", "bearer", "secret", "private")
            else NO_SECRET
        )
    if last == "key":
        if before in _KEYS_OF:
            return TOKEN
        return WEAK if before and before not in _NOT_KEYS_OF else NO_SECRET
    if last in (
        "auth",
        "oauth",
        "jwt",
        "bearer",
        "sessionid",
        "jsessionid",
        "phpsessid",
        "csrftoken",
        "basicauth",
    ):
        return WEAK
    for ending in _GLUED:
        if last.endswith(ending) and last[: -len(ending)] not in _DEFUSERS:
            return PASSWORD if ending.startswith("pass") else TOKEN
    return NO_SECRET


def query_name_class(name: str) -> str:
    """The same for a parameter of a URL, where short names stand for secrets too (?key=, &sig=)."""
    found = name_class(name)
    if not found and name.lower().endswith(("sig", "signature", "code", "key", "hmac", "sign")):
        return WEAK
    return found


def trailing_name(key: str) -> str:
    """The last word of a key, in the sense in which the scan of a text sees the name before a value."""
    match = _TRAILING_NAME.search(key[-64:])
    return match.group(1) if match else ""


def number_is_secret(name: str, value: int | bytes) -> bool:
    """Whether a number under this name is a secret: only under names of passwords; a pin has four digits."""
    name = trailing_name(name)
    if name_class(name) != PASSWORD:
        return False
    return not name.lower().endswith("pin") or len(value if isinstance(value, bytes) else str(value)) >= 4


_TRAILING_NAME = Lazy(r"([A-Za-z0-9_-]+)[^A-Za-z0-9]*$")

# ---- values ---------------------------------------------------------------------------------------------

# How a value stands beside its name.
JSON, QUOTED, CALL, ENV, LINE, QUERY, INLINE = "json", "quoted", "call", "env", "line", "query", "inline"

_TEMPLATE = Lazy(
    r"\$\{?[A-Z_][A-Z0-9_.:-]*\}?|\$\(.*|\$[0-9@*#?]|`.*`|%[A-Za-z_]\w*%|(?:[:@/ ]?%\(?\w*\)?[sdr])+"
    r"|\{\{.*\}\}|\$\{.*\}|#\{.*\}|\{[A-Za-z_][\w.\[\]\"'()!:]*\}|(?:[:@/ ]?\{\})+|(?:[:@/ ]?<[^<>]*>)+"
    r"|\[[A-Za-z_. -]+\]"
    r"|:[a-z_]+|\?|[*•.…_#xX-]{3,}|ENC\[.*|!(?:vault|secret|Ref|Sub|GetAtt|env|ENV|lookup|reference)\b.*"
    r"|\{cipher\}.*|&[a-z_]+"
    r"|(?:process\.env|os\.environ|os\.getenv|import\.meta\.env|ENV|env|vars|secrets|var|local|module"
    r"|data)[.(\[].*",
    re.DOTALL,
)
_LOWER_VARIABLE = Lazy(r"\$[a-z]\w*")
_TEMPLATE_PART = Lazy(r"\$\{[^{}]*\}|\$?\{\{[^{}]*\}\}|\$\([^()]*\)|\$[A-Z_][A-Z0-9_]*|\{[A-Za-z_][^{}]*\}")
_NOTHING = _words(
    "none null nil undefined true false yes no on off str string int integer bool boolean number float "
    "bytes text any object array list dict void uuid varchar char optional required secretstr n/a na tbd "
    "todo changeme change-me change_me replaceme replace-me replace_me placeholder example dummy redacted "
    "masked hidden removed include omit same-origin unset empty not-set missing unknown"
)
_PLACEHOLDER = Lazy(
    r"(?:your|YOUR|Your)(?:[-_. A-Z]).*|(?:insert|replace|enter|paste|put|change)[-_ ](?:me|your|with|the"
    r"|this)\b.*"
    r"|.*[-_ ]here|<[a-z_ -]+|[A-Z_-]{0,24}x{6,}.*|[A-Z]{2,12}[-_](?:[A-Z]{2,12}[-_])?|x{4,}.*|.*\*{3,}|(?:\["
    r"|\()?redacted.*|\([a-z ]*\)",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE_NAME = Lazy(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS|ID)"
)
_PATH = Lazy(
    r"(?:~|\.{0,2})/(?:[a-z0-9._@-]+/)*[A-Za-z0-9._-]*|[\w./-]+\.(?:pem|key|json|txt|crt|ya?ml)|file:.*"
)
_SOME_PATH = Lazy(r"(?:~|\.{1,2})/[\w./-]+|/[\w.-]+/[\w./-]+")
_VERSION_RANGE = Lazy(r"[\^~<>=v ]{0,4}[0-9]+(?:\.[0-9x*]+){1,2}(?:[-+.][\w.-]{1,24})?")
_COLOR = Lazy(r"#[0-9a-fA-F]{3,8}")
_CONSTANT = Lazy(r"[A-Z]+(?:_[A-Z]+)+")
_URL = Lazy(r"(?:https?|op|vault|ssm|arn|gcp|aws|awssm|env|file|secret|keyring|ref\+\w+):/{0,2}[^\s@]*")
_IDENTIFIER = Lazy(r"[A-Za-z_$&*@][A-Za-z_]*[0-9]{0,2}")
_CHAIN = Lazy(
    r"[A-Za-z_$&*@!]+[0-9]{0,3}[A-Za-z_]*[0-9]{0,2}(?:(?:\.|->|::|\?\.)[A-Za-z_]+[0-9]{0,3}[A-Za-z_]*)+!?"
)
_SNAKE_OR_CAMEL = Lazy(
    r"[a-z]+(?:_[a-z]+)+[0-9]?|[a-z]+(?:[A-Z][a-z]+)+[0-9]?|[A-Z][a-z]+(?:[A-Z][a-z]+)*|[A-Z_]+"
)
_CODE_WORDS = Lazy(
    r"pass|pw|tok|secret|key|cred|auth|user|val|arg|param|input|str|config|conf|opt|default|hash|name|env"
    r"|data|form"
    r"|req|res|self|row|field|type|hidden|incorrect|wrong|expired|invalid|disabled|enabled|denied|sent"
    r"|generat|manag"
    r"|prompt|must|should|reset|change|forgot|login|session|basic|bearer|oauth|saved|stored|encrypt|plain"
    r"|protect|set",
    re.IGNORECASE,
)
_HYPHENATED = Lazy(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_ALGORITHM = Lazy(
    r"(?:sha|md|hs|rs|es|base|utf|x|aes|oauth|v|ed|rsa|http|ipv|s|ec|p)-?_?[0-9]{1,5}", re.IGNORECASE
)
_LABEL = Lazy(
    r"(?:your|enter|must|please|the|password|passwort|token|secret|key|api|is|for|a|required)\b",
    re.IGNORECASE,
)
_UUID_OR_DIGITS = Lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\d.,:/_+-]+")
_RANDOM_PART = Lazy(r"(?=[A-Za-z+/=_]{0,40}[0-9])[A-Za-z0-9+/=_%]{10}")
_LETTER, _DIGIT = Lazy(r"[A-Za-z]"), Lazy(r"[0-9]")


def is_secret(name: str, value: str, form: str) -> bool:
    """Whether `value` is a secret, given the class of its field's name and the form in which it stands there.

    JSON: the name is quoted, as in structured data; there any value counts that is no template, type name or
    placeholder. The other forms occur in code and prose too, so the value has to look like one.
    """
    if not value or is_template(value):
        return False
    if name == WEAK:
        if form == INLINE:
            return False
        return (
            _looks_random(value, 16)
            and _RANDOM_PART.search(value) is not None
            and (form != QUERY or not _UUID_OR_DIGITS.fullmatch(value))
        )
    if name == BARE_PASS and (value.isdigit() or " " in value or form in (LINE, INLINE, QUOTED)):
        return _looks_random(value, 6 if form == QUOTED else 8)
    if name != PASSWORD:
        if _VARIABLE_NAME.fullmatch(value) or _PATH.fullmatch(value) or _URL.fullmatch(value):
            return False
        if _COLOR.fullmatch(value) or _VERSION_RANGE.fullmatch(value) or value.strip().lower() in SCHEMES:
            return False
        if "_" in value and value.islower() and name_class(value) == TOKEN and not _DIGIT.search(value):
            return False  # the name of another field
    elif form != JSON and (_VARIABLE_NAME.fullmatch(value) or _SOME_PATH.fullmatch(value)):
        return False
    if form in (JSON, QUERY):
        return True
    if form == QUOTED:
        return _quoted_is_secret(name, value)
    if form == CALL:
        return _looks_random(value, 6) or (name in (AUTHORIZATION, COOKIE) and len(value) >= 6)
    if form == ENV:
        if name == PASSWORD:
            return not value.endswith("()") and not (value.isdigit() and len(value) < 4)
        return len(value) >= 4 and not value.isdigit() and not _CHAIN.fullmatch(value)
    return _bare_is_secret(name, value, form)


def kind_of(name: str, value: str) -> str:
    """The kind of a value found by the class of its field's name: that of its format, if it has one."""
    if name == COOKIE:
        return "cookie"
    data = value.encode("latin-1", "replace")
    found = token_at(data, 0)
    if found and found[1] == len(data):
        return found[0]
    local, _, domain = data.rpartition(b"@")
    return (
        "email" if local and is_email(local, domain, b"", b"") and _PLAIN_EMAIL.fullmatch(data) else "secret"
    )


_PLAIN_EMAIL = Lazy(rb"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


def is_telling(name: str, value: str, way: int) -> bool:
    """Whether a value that follows its name without a sign looks like a secret and like nothing else.

    way 1: "the password is x"; 2: a word or a table cell after the name; 3: a quoted word after it.
    """
    digits, upper, lower = _DIGIT.search(value), value.lower() != value, value.upper() != value
    if not digits or not _looks_random(value, 6) or is_template(value):
        return False
    if way == 1:
        return (upper and lower) or re.search(r"[^\w.-]", value.rstrip(".:!?")) is not None
    if way == 2:
        return upper and lower and len(_DIGIT.findall(value)) >= 3 and _RANDOM_PART.search(value) is not None
    return name == PASSWORD


def is_template(value: str) -> bool:
    """Whether the value stands for a secret without being one: ${VAR}, {{ x }}, <your-key>, ****."""
    if value.lower() in _NOTHING or _TEMPLATE.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    if len(value) < 3 and not value.isascii() and not any(map(str.isalnum, value)):  # an emoji
        return True
    if _LOWER_VARIABLE.fullmatch(value):
        return _CODE_WORDS.search(value) is not None
    if "{" not in value and "$" not in value:
        return False
    rest = _TEMPLATE_PART.sub("", value)
    return rest != value and (len(rest) < 6 or (len(rest) < 24 and _DIGIT.search(rest) is None))


def _looks_random(value: str, least: int) -> bool:
    return (
        len(value) >= least
        and " " not in value
        and _LETTER.search(value) is not None
        and _DIGIT.search(value) is not None
        and not _PATH.fullmatch(value)
        and not _CHAIN.fullmatch(value)
        and not _ALGORITHM.fullmatch(value)
    )


def _quoted_is_secret(name: str, value: str) -> bool:
    if " " in value:
        return name == PASSWORD and len(value) >= 12 and not _LABEL.search(value)
    if name == PASSWORD:
        return not (value[:1].isupper() and value.isalpha() and _CODE_WORDS.search(value))
    if len(value) < 6 or value[0] in "[(^" or _ALGORITHM.fullmatch(value) or _CONSTANT.fullmatch(value):
        return False
    return (
        (len(value) >= 8 and not _IDENTIFIER.fullmatch(value)) or _looks_random(value, 6) or len(value) >= 20
    )


def _bare_is_secret(name: str, value: str, form: str) -> bool:
    if _CHAIN.fullmatch(value) or _ALGORITHM.fullmatch(value):
        return False
    if value.isdigit():
        return name == PASSWORD and len(value) >= 4
    if not _IDENTIFIER.fullmatch(value):
        if _LETTER.search(value) is None:
            return name == PASSWORD and len(value) >= 6 and not _UUID_OR_DIGITS.fullmatch(value)
        if name == PASSWORD:
            if form == INLINE and _HYPHENATED.fullmatch(value):
                return False
            return len(value) >= 4 and (_DIGIT.search(value) is not None or form == LINE or len(value) >= 8)
        if form == INLINE and len(value) < 24 and len(_DIGIT.findall(value)) < 2:
            return False
        return _looks_random(value, 6)
    if name != PASSWORD or _SNAKE_OR_CAMEL.fullmatch(value) or _CODE_WORDS.search(value):
        return False
    return len(value) >= 4 and (form == LINE or value[-1].isdigit())


# ---- credentials in headers, URLs and command lines ---------------------------------------------------

SCHEME = Lazy(r"([A-Za-z][A-Za-z0-9_-]{1,23})[ \t]+(?=\S)")
SCHEMES = _words(
    "bearer basic token bot apikey api-key jwt ssws negotiate ntlm key genie geniekey splunk personal ghp"
    " oauth2"
)
PARAMETER_SCHEMES = _words(
    "digest hawk oauth signature aws4-hmac-sha256 aws4-ecdsa-p256-sha256 hmac mac sharedkey"
)
_PROSE = _words(
    "authentication auth token tokens scheme header headers credentials credential is and or the a an of for"
    " with"
    " required format string type authorization access in value jwt api key not must to from as method flow"
)
AUTHORITY_END = Lazy(rb"[\s/\"'<>\\`]|^[^:]*[?#]")


def is_prose(word: str) -> bool:
    """Whether the word after `Bearer` or the like is part of a sentence."""
    return word.lower().rstrip(".,;:") in _PROSE


def is_bearer(value: str) -> bool:
    """Whether what follows `Bearer` in a text is a token."""
    return len(value) >= 12 and _looks_random(value, 12) and not is_template(value)


def is_basic(value: str) -> bool:
    """Whether what follows `Basic` in a text is name:password in base64."""
    import binascii

    try:
        return b":" in binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return False


_NO_MAIL_ENDINGS = _words(
    "png jpg jpeg gif webp svg avif ico css scss js mjs cjs jsx ts tsx json yaml yml toml lock service socket"
    " timer"
    " mount target slice scope device swap html htm map patch diff txt log whl tar gz zip tgz conf cfg ini py"
    " latest"
    " setter getter"
)
_COMMON_ENDINGS = _words(
    "com org net edu gov mil int info biz dev app io ai local internal corp lan test example invalid"
    " localdomain home"
    " name pro xyz online site store tech cloud email agency engineering systems solutions group company mobi"
    " travel"
    " museum shop blog live news media studio design digital software network tools games world global eu"
)
_VERSION = Lazy(rb"v?[0-9]+\.[0-9x]")
_REMOTE_PATH = Lazy(rb":(?:[~/.]|[\w.-]{1,64}/|[\w-]{1,40}\.git)")
_REMOTE_COMMAND = Lazy(
    rb"(?:^|[^\w-]|\\[nrt]|\\[xuU][0-9a-f]{2,8})(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id|autossh|sshfs)\s[^\n"
    rb"|;&\"']{0,80}$"
)


def is_email(local: bytes, domain: bytes, before: bytes, after: bytes) -> bool:
    """Whether local@domain is the address of a person: no package version, remote path or matrix product.

    `before` and `after` are the text around it, some dozens of characters of each.
    """
    labels = domain.split(b".")
    ending = labels[-1].decode("latin-1")
    if len(labels) < 2 or not ending.isalpha() or len(ending) < 2 or _VERSION.match(domain):
        return False
    if ending != ending.lower() and ending != ending.upper():
        return False
    ending = ending.lower()
    if ending in _NO_MAIL_ENDINGS and not (len(ending) == 2 and len(labels) > 2):
        return False
    if local in (b"git", b"hg", b"svn") or _REMOTE_PATH.match(after):
        return False
    if after[:1] in (b"(", b"[", b"_", b"=") or (before[-1:] in (b"/", b"@") and not before.endswith(b"//")):
        return False
    if len(ending) > 2 and ending not in _COMMON_ENDINGS and (len(local) < 3 or len(labels[-2]) < 3):
        return False
    return not _REMOTE_COMMAND.search(before)


# command | option | the argument with a password, after the command on the same line
COMMANDS = (
    (b"curl", b"u", Lazy(rb"-(?<=[\s\"']-)(?:[a-zA-Z]{0,8}u|-(?:proxy-)?user)(?:[ \t]{1,4}|=)\\*[\"']?"
                         rb"(?![0-9]+:[0-9]+\b)"
                   rb"[^\s:\"'\\]{0,128}:(?P<secret>(?![,:;)\]}])[^\s\"'\\]{1,256})")),
    (b"sshpass", b" -p",
     Lazy(rb"-(?<=[s ]-)(?<=sshpass -)p[ \t]{0,4}\\*[\"']?(?P<secret>(?![,:;)\]}])[^\s\"'\\]{1,256})")),
    (b"mysql", b" -p", Lazy(rb"-(?<=\s-)p\\*[\"']?(?P<secret>(?![,:;)\]}])[^\s\"'\\-][^\s\"'\\]{1,256})")),
    (b"docker login", b" -p",
     Lazy(rb"-(?<=\s-)p[ \t]{1,4}\\*[\"']?(?P<secret>(?![,:;)\]}])[^\s\"'\\-][^\s\"'\\]{1,256})")),
    (b"redis-cli", b"-a",
     Lazy(rb"-(?<=\s-)a[ \t]{1,4}\\*[\"']?(?P<secret>(?![,:;)\]}])[^\s\"'\\-][^\s\"'\\]{1,256})")),
)  # fmt: skip
BARE_BLOCK = Lazy(r"(?:\s|\\+[nr])*(-----BEGIN [^-]*-----.*?-----END [^-]*-----)(?:\s|\\+[nr])*", re.DOTALL)
COMMAND_BREAK = Lazy(rb"(?<!\\)[\r\n]|(?<!\\)\\n|', [\"']|\", '")

# ---- escapes and patterns -------------------------------------------------------------------------------

_ESCAPE = Lazy(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U00([01][0-9a-fA-F]{5})|(.))", re.DOTALL)
_SHORT_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unescaped(text: str) -> str:
    """The text with one level of JSON or Python escapes undone; what is no escape stays."""

    def char(match: re.Match[str]) -> str:
        code = match.group(1) or match.group(2) or match.group(3)
        return (
            chr(min(int(code, 16), 0x10FFFF)) if code else _SHORT_ESCAPES.get(match.group(4), match.group(4))
        )

    text = _ESCAPE.sub(char, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins surrogate pairs


def catastrophic(pattern: re.Pattern[str]) -> str:
    """Why the pattern may take exponential time, or nothing.

    Two checks: a repeat without bound directly around another one, and the growth of the time on short texts.
    """
    import time

    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # before Python 3.11
        import sre_parse as parser
    if _nested_repeat(parser.parse(pattern.pattern, pattern.flags), parser):
        return "a repeat without bound inside a repeat without bound"
    for unit in ("a", "0", " ", "aA", "a0", "-", ".", "a.", "ab", "\t"):
        started = time.perf_counter()
        pattern.search(unit * (22 // len(unit)) + "\x00")
        if time.perf_counter() - started > 0.02:
            return f"it takes too long on {unit!r} repeated"
    return ""


def _nested_repeat(parsed, parser, inside: bool = False) -> bool:
    for op, argument in parsed:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            unbounded = argument[1] is parser.MAXREPEAT or argument[1] > 100
            body = list(argument[2])
            if unbounded and inside and name != "POSSESSIVE_REPEAT":
                return True
            delimited = len(body) > 1 and any(
                str(part[0]) in ("LITERAL", "NOT_LITERAL") for part in _flat(body)
            )
            if _nested_repeat(body, parser, (unbounded and not delimited) or (inside and not delimited)):
                return True
        elif name == "SUBPATTERN":
            if _nested_repeat(argument[-1], parser, inside):
                return True
        elif name == "BRANCH":
            if any(_nested_repeat(branch, parser, inside) for branch in argument[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT") and _nested_repeat(argument[1], parser, inside):
            return True
    return False


def _flat(body):
    """The parts of a sequence, groups opened, as far as each of them must match."""
    for op, argument in body:
        if str(op) == "SUBPATTERN":
            yield from _flat(argument[-1])
        else:
            yield op, argument
