"""Names of fields that hold secrets, and the schemes that stand before a secret in a header."""

from __future__ import annotations

from .patterns import Lazy


def words(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


# What a name stands for. PASSWORD: digits alone are a secret too. WEAK: only a random-looking value is one.
PASSWORD, TOKEN, COOKIE, AUTHORIZATION, WEAK, BARE_PASS, NO_SECRET = (
    "password", "token", "cookie", "authorization", "weak", "pass", "",
)  # fmt: skip

_NAME_WORDS = Lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_QUALIFIERS = words(
    "value val plain plaintext text raw b64 base64 prod production dev staging test live sandbox new old "
    "current primary secondary backup base data str string confirm confirmation again repeat"
)
_PASSWORDS = words("password passwd passphrase passcode pwd pswd pin passwort userpass dbpass")
_SECRETS = words("secret token apikey credential credentials mnemonic otp psk accesskey privatekey")
_GLUED = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey",
          "privatekey", "accountkey", "authkey", "passcode")  # fmt: skip
_KEYS_OF = words(
    "api access secret private account encryption encrypt decryption signing master shared auth service "
    "role ssh storage subscription admin deploy webhook rsa ecdsa pem aes hmac jwt crypto cipher "
    "preshared functions application app client tls ssl license stripe openai anthropic sendgrid gemini "
    "google groq mistral azure deepseek openrouter cohere huggingface twilio mailgun datadog"
)
_NOT_KEYS_OF = words("public publishable host foreign sort partition cache object row session")
# Words before a secret word that make it something else: max_tokens, next_page_token, forgot_password.
_DEFUSERS = words(
    "next page continuation pagination sync pad eos bos unk mask cls sep stop special cancellation cancel "
    "max min num count is has forgot reset show hide require requires required use no allow enable "
    "enabled disable disabled valid invalid missing per image audio design syntax prev previous peek "
    "lookahead word start end total prompt completion first last vocab added de cursor resume"
)
LONGEST_NAME = 128
_names: dict[str, str] = {}


def name_class(name: str) -> str:
    """What a field of this name holds: one of the classes above, NO_SECRET when nothing secret."""
    if len(name) > LONGEST_NAME:
        # No field is called so; what decides stands at the end.
        return _classify(name[-LONGEST_NAME:])
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

SCHEME = Lazy(r"([A-Za-z][A-Za-z0-9_-]{1,23})[ \t]+(?=\S)")
SCHEMES = words(
    "bearer basic token bot apikey api-key jwt ssws negotiate ntlm key genie geniekey splunk personal ghp "
    "oauth2"
)
PARAMETER_SCHEMES = words(
    "digest hawk oauth signature aws4-hmac-sha256 aws4-ecdsa-p256-sha256 hmac mac sharedkey"
)
