"""The agent's own files and protections, where a skill wants them written, read or switched off.

The command guard judges commands; this is for the same in words, in blocks of configuration, and for files
that every session reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .document import Document
from .fold import visible
from .rules import ERROR, WARNING, Hit

_HOME = r"(?:~|\$\{?HOME\}?|\$\{?HERMES_HOME\}?|%USERPROFILE%|/(?:home|Users)/\w+|/root)/(?:\.hermes/)?"
_PERSISTENT = (
    rf"{_HOME}(?:profiles/[\w.-]+/)?(?:SOUL\.md|memories/\S+|MEMORY\.md|USER\.md|plugins/\S+|hooks/\S+)"
)

# rule, severity, what is said, pattern over the source
_WANTED: tuple[tuple[str, str, str, re.Pattern[str]], ...] = (
    (
        "skill.persist",
        WARNING,
        "writes into files that every session reads or the host runs",
        re.compile(
            rf"(?:>>?|\btee(?: -a)?)\s*[\"']?{_PERSISTENT}|\b(?:cp|mv|install|ln) [^\n|"
            rf";&]{{1,200}}?\s[\"']?{_PERSISTENT}"
        ),
    ),
    (
        "skill.credentials",
        WARNING,
        "prints the credentials of the agent",
        re.compile(
            r"\b(?:cat|less|more|head|tail|bat|base64|xxd|strings|type|Get-Content)\s[^\n|;`]{0,80}"
            r"\.hermes[/\\](?:profiles/[\w.-]+/)?(?:auth\.json|mcp-tokens|state\.db)"
        ),
    ),
    (
        "skill.protection",
        ERROR,
        "switches the command guard or the plugin that holds it off",
        re.compile(
            r"^[ \t>]*mode\s*=\s*[\"']report[\"']|^[ \t>]*\[\[off\]\]|"
            r"^[ \t>]*disabled:\s*(?:\[[^\]\n]*\bhermes-ops\b|\n(?:[ \t>]*-[^\n]*\n){0,20}?[ "
            r"\t>]*-\s*[\"']?hermes-ops\b)",
            re.MULTILINE,
        ),
    ),
    (
        "skill.protection",
        ERROR,
        "switches the approval of commands off",
        re.compile(
            r"^[ \t>]*approvals:\s*(?:\{[^}\n]*\bmode:\s*[\"']?(?:off|yolo|never|none)\b|"
            r"(?:#[^\n]*)?\n(?:[ \t>]+[^\n]*\n){0,4}?[ \t>]+mode:\s*[\"']?(?:off|yolo|never|none)\b)",
            re.MULTILINE,
        ),
    ),
    (
        "skill.remote-code",
        WARNING,
        "installs packages from a bare number or without https",
        re.compile(
            r"--(?:extra-)?(?:index-url|registry|find-links)[= ]\s*[\"']?(?:http://(?!localhost|127\.|"
            r"\[::1\]|10\.|192\.168\."
            r"|172\.(?:1[6-9]|2\d|3[01])\.|[\w.-]+\.(?:local|lan|internal|test)\b)|"
            r"https://\d+\.\d+\.\d+\.\d+)[^\s\"'`]+"
        ),
    ),
    (
        "skill.file-name",
        ERROR,
        "runs a picture or a document as a program",
        re.compile(
            r"(?:^|[\s`;&|(])(?:sh|bash|zsh|dash|node|bun|python3?|perl|ruby|php|source)\s+(?:\./)?[\w./-]+"
            r"\.(?:png|jpe?g|gif|pdf|bmp|ico|webp|mp3|mp4|docx?|xlsx?)(?=[\s`;&|)]|$)",
            re.MULTILINE,
        ),
    ),
)
_PAGE_ONLY = ("skill.protection", "skill.persist", "skill.credentials")
_GUARD_FILE = re.compile(r"guard\.toml|hermes[- ]ops", re.IGNORECASE)
_HOOK = re.compile(
    r"(?:^|/)(?:pre|post|prepare|commit|update|push|applypatch|reference)-(?:commit|push|merge|checkout|"
    r"rewrite|receive|"
    r"update|rebase|msg|commit-msg|transaction|applypatch|index-change)$"
)
_NETWORK = re.compile(
    r"\b(?:curl|wget|ssh|scp|sftp|rsync|nc|ncat|socat|git push|urlopen|requests\.)", re.IGNORECASE
)
_CODING = re.compile(
    r"^[^\n]*\n?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)|^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
)
_DISGUISES_LIST = """
    unicode_escape raw_unicode_escape utf_7 utf7 u7 rot13 rot_13 hex hex_codec base64 base64_codec zlib zip
    bz2 uu
    quopri punycode idna undefined
"""
_DISGUISES = frozenset(_DISGUISES_LIST.split())


def wanted(page: Document, is_code: bool) -> Iterator[Hit]:
    """What a text wants of the agent's own files, of package sources, and of files that are no programs."""
    source = page.source
    for rule, severity, what, pattern in _WANTED:
        if is_code and rule in _PAGE_ONLY:
            continue
        if "guard" in what and not _GUARD_FILE.search(source) and not _GUARD_FILE.search(page.path):
            continue
        for number, found in enumerate(pattern.finditer(source)):
            if number >= 3:
                break
            line = source.count("\n", 0, found.start() + len(found[0]) - len(found[0].lstrip())) + 1
            grave = ERROR if is_code and rule == "skill.remote-code" else severity
            yield Hit(rule, grave, page.path, line, what, (visible(found[0]),), found[0].strip()[:300])


def by_name(path: str, text: str) -> Iterator[Hit]:
    """Hooks of git that talk to the network, and sources in an encoding that hides what they say."""
    if _HOOK.search(path) and not path.endswith(".sample"):
        found = _NETWORK.search(text)
        if found:
            line = text.count("\n", 0, found.start()) + 1
            what = "a hook of git that talks to the network"
            shown = text.split("\n")[line - 1].strip()
            yield Hit("skill.runs-by-itself", WARNING, path, line, what, (visible(shown),), shown[:300])
    if path.lower().endswith((".py", ".pyw", ".pth")):
        found = _CODING.match(text[:1000])
        name = (found[1] or found[2] or "").lower().replace("-", "_") if found else ""
        if name in _DISGUISES:
            what = f"a source in {name}: Python runs something else than is shown"
            yield Hit("skill.obscured", ERROR, path, 1, what, (visible(text.split("\n")[0]),), name)
