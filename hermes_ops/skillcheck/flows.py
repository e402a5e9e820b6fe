"""Code that reads credentials and talks to the network, in any language: three things near each other.

The command guard follows values through shell, Python, JavaScript and others; this is for what it does not
read, and for the pieces of a path that code puts together.
"""

from __future__ import annotations

import re

from .fold import visible
from .rules import ERROR, WARNING, Hit

NEAR = 80  # lines

# Pieces of text that code puts together: "a" + "b", "a", "b" in a call that joins paths.
_JOINED = re.compile(r"""["'`]\s*(?:\+|\.\.?|,|&|<>|~)\s*["'`]""")
_CREDENTIALS = re.compile(
    r"\.ssh[/\\]{1,2}(?!known_hosts|config\b|authorized_keys)|\.ssh[\"'`)]|\bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|\.aws[/\\]{1,2}credentials|\.git-credentials|"
    r"[/\\\"']\.netrc|\.gnupg|Login Data\b|cookies\.sqlite|logins\.json|key4\.db|Keychains?[/\\]|login\.keychain|wallet\.dat|"
    r"\.docker[/\\]{1,2}config\.json|\.kube[/\\]{1,2}config|/etc/shadow|\.hermes[/\\]{1,2}(?:\.env|auth\.json|state\.db)|"
    r"[\"'`/\\~](?:\.env)[\"'`]|\.pypirc|\.npmrc|exodus\.wallet|\.electrum|\.config[/\\]{1,2}gcloud|Local State\b|"
    r"JSON\.stringify\(\s*process\.env\s*\)|(?:dict|str|repr|dumps|list)\(\s*os\.environ|os\.Environ\(\)|System\.getenv\(\)|"
    r"env::vars\(\)|ENV\.to_h|%ENV\b|\$_ENV\b|Environment\.GetEnvironmentVariables\(|ProcessInfo\.processInfo\.environment\b(?!\[)"
)
_READS = re.compile(
    r"readFile|createReadStream|fs\.|ReadFile|ReadAll|File\.(?:read|open|ReadAll)|read_to_string|fopen|ifstream|file_get_contents|\bopen\(|"
    r"read_text|read_bytes|copyFile|contentsOfFile|slurp|io\.open|Files\.|FileReader|FileInputStream|stringify|environ|Environ|getenv|vars\(\)|\bcat\b|exec"
)
_NETWORK = re.compile(
    r"https?\.(?:request|get|post)|\bfetch\(|axios|XMLHttpRequest|sendBeacon|WebSocket\(|requests\.(?:post|get|put|request)|urlopen|http\.client|httpx|aiohttp|"
    r"http\.(?:Post|Get|NewRequest|DefaultClient)|net\.(?:Dial|connect|Socket|createConnection)|reqwest|ureq|hyper::|TcpStream|HttpClient|WebClient|HttpURLConnection|"
    r"URLSession|Net::HTTP|LWP|IO::Socket|fsockopen|curl_(?:init|exec|easy)|\bcurl\s|\bwget\s|Invoke-(?:WebRequest|RestMethod)|smtplib|dns\.resolve|socket\.(?:socket|create_connection)|"
    r"MSXML2|WinHttp|Socket\("
)


def flows(path: str, text: str) -> list[Hit]:
    """At most one hit: where a credential is named near a read and a network call."""
    plain = _JOINED.sub(lambda found: "/" if "," in found[0] else "", text)
    lines = plain.split("\n")
    at = {what: [n for n, line in enumerate(lines, 1) if len(line) < 100_000 and pattern.search(line)]
          for what, pattern in (("secret", _CREDENTIALS), ("read", _READS), ("network", _NETWORK))}  # fmt: skip
    for line in at["secret"]:
        reads = [other for other in at["read"] if abs(other - line) <= NEAR]
        sends = [other for other in at["network"] if abs(other - line) <= NEAR]
        if reads and sends:
            close = min(abs(other - line) for other in sends) <= NEAR // 2
            evidence = tuple(visible(f"{n}: {lines[n - 1].strip()}") for n in dict.fromkeys((line, sends[0])))
            what = "names a credential, reads files and talks to the network"
            return [Hit("skill.credentials", ERROR if close else WARNING, path, line, what, evidence, lines[line - 1].strip())]
    return []
