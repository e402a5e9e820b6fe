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
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u00([0-9a-fA-F]{2}))")
_CREDENTIALS = re.compile(
    r"\.ssh[/\\]{1,2}(?!known_hosts|config\b|authorized_keys)|\.ssh[\"'`)]|\bid_(?:rsa|ed25519|"
    r"ecdsa)\b(?!\.pub)|\.aws[/\\]{1,2}credentials|\.git-credentials|"
    r"[/\\\"']\.netrc|\.gnupg|Login Data\b|cookies\.sqlite|logins\.json|key4\.db|Keychains?[/\\]|"
    r"login\.keychain|wallet\.dat|"
    r"\.docker[/\\]{1,2}config\.json|\.kube[/\\]{1,2}config|/etc/shadow|\.hermes[/\\]{1,2}(?:\.env|"
    r"auth\.json|state\.db)|"
    r"[\"'`/\\~](?:\.env)[\"'`]|\.pypirc|\.npmrc|exodus\.wallet|\.electrum|\.config[/\\]{1,2}gcloud|Local "
    r"State\b|"
    r"JSON\.stringify\(\s*process\.env\s*\)|(?:dict|str|repr|dumps|list)\(\s*os\.environ|os\.Environ\(\)|"
    r"System\.getenv\(\)|"
    r"env::vars\(\)|ENV\.to_h|%ENV\b|\$_ENV\b|Environment\.GetEnvironmentVariables\(|"
    r"ProcessInfo\.processInfo\.environment\b(?!\[)"
)
_READS = re.compile(
    r"readFile|createReadStream|fs\.|ReadFile|ReadAll|File\.(?:read|open|ReadAll)|read_to_string|fopen|"
    r"ifstream|file_get_contents|\bopen\(|"
    r"read_text|read_bytes|copyFile|contentsOfFile|slurp|io\.open|Files\.|FileReader|FileInputStream|"
    r"stringify|environ|Environ|getenv|vars\(\)|\bcat\b|exec"
)
_NETWORK = re.compile(
    r"https?\.(?:request|get|post)|require\([^()\n]{1,60}\)\.request\(|\bfetch\(|axios|XMLHttpRequest|"
    r"sendBeacon|WebSocket\(|requests\.(?:post|"
    r"get|put|request)|urlopen|http\.client|httpx|aiohttp|"
    r"http\.(?:Post|Get|NewRequest|DefaultClient)|net\.(?:Dial|connect|Socket|createConnection)|reqwest|"
    r"ureq|hyper::|TcpStream|HttpClient|WebClient|HttpURLConnection|"
    r"URLSession|Net::HTTP|LWP|IO::Socket|fsockopen|curl_(?:init|exec|easy)|\bcurl\s|\bwget\s|"
    r"Invoke-(?:WebRequest|RestMethod)|smtplib|dns\.resolve|socket\.(?:socket|create_connection)|"
    r"MSXML2|WinHttp|Socket\("
)


def flows(path: str, text: str) -> list[Hit]:
    """At most one hit: where a credential is named near a read and a network call."""
    text = _ESCAPED.sub(_character, text) if "\\" in text else text
    plain = _JOINED.sub(lambda found: "/" if "," in found[0] else "", text)
    lines = plain.split("\n")
    secrets, all_reads, all_sends = (_lines(one, lines) for one in (_CREDENTIALS, _READS, _NETWORK))
    for line in secrets[:50]:
        reads = [other for other in all_reads if abs(other - line) <= NEAR]
        sends = [other for other in all_sends if abs(other - line) <= NEAR]
        if reads and sends:
            close = min(abs(other - line) for other in sends) <= NEAR // 2
            evidence = tuple(visible(f"{n}: {lines[n - 1].strip()}") for n in dict.fromkeys((line, sends[0])))
            what = "names a credential, reads files and talks to the network"
            return [
                Hit(
                    "skill.credentials",
                    ERROR if close else WARNING,
                    path,
                    line,
                    what,
                    evidence,
                    lines[line - 1].strip(),
                )
            ]
    return []


def _character(found: re.Match[str]) -> str:
    character = chr(int(found[1] or found[2], 16))
    return character if character.isprintable() else " "


def _lines(pattern: re.Pattern[str], lines: list[str]) -> list[int]:
    """The lines, from 1, that a pattern is on; of a line longer than any that people write, its beginning."""
    return [number for number, line in enumerate(lines, 1) if pattern.search(line[:100_000])]
