"""What a skill does to its user, told by words of several kinds that stand near each other.

The phrases (phrases.py) are orders in one wording. Here a section of a page or a script is asked for kinds of
words: a secret, a way out, a wish to be quiet, a place where something stays. None of them says much alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .context import ABOUT_ATTACKS
from .document import Document
from .fold import visible
from .instructions import Topic
from .rules import WARNING, Hit

MAX_PIECE = 3_000
MAX_PIECES = 2_000
_FORBIDS = re.compile(
    r"\b(?:never|do not|don.?t|avoid|wrong|bad)\b[^.]{0,60}\b(?:run|this|pipe|such|paste|do)\b"
)

# Not to be told to the person, in the languages of skills; accents are folded before.
_QUIET = (
    r"(?:do ?n.?t|do not|never|without|no need to|not) (?:\w+ ){0,2}"
    r"(?:mention|tell|announc|report|disclos|reveal|list|show)\w*"
    r"|\b(?:silent|quiet|secret|discreet)ly\b|\bdiscreet\b|keep (?:it |this |that )?quiet"
    r"|\bno trace\b|unmentioned"
    r"|\bleave (?:it|this|that|them) (?:out|unsaid)"
    r"|\bohne (?:zu fragen|ruckfrage|nachfrage|hinweis)|\bnichts (?:davon )?(?:sagen|erwahnen)"
    r"|\berwahne\b.{0,40}\bnicht"
    r"|\bsans (?:demander|le dire|prevenir)|\bne (?:le )?(?:mentionne|dis|signale)\w* pas"
    r"|\bsin (?:decir|avisar|mencionar|preguntar)|\bno (?:lo )?menciones"
    r"|\bsenza (?:dire|dirlo|avvisare|chiedere)|\bnon (?:dire|dirlo|menzionare|parlarne)"
    r"|не (?:сообща|упомина|говори|пиши об)|\bмолча\b|незаметно"
)
_SECRET_FILES = (
    r"~?/?\.ssh\b|\bid_(?:rsa|ed25519)|\.netrc|\.npmrc|(?<![\w)])\.env\b|\.pem\b|kube/config|kubeconfig"
    r"|terraform\.tfstate|\w+_history\b|\.aws\b|\.gnupg"
)
_PRIVATE = (
    rf"{_SECRET_FILES}|\bcredentials?\b|\bsecrets?\b|\bapi[ _]keys?|\btokens?\b|\bcookies\b|\b\w+_token\b"
    r"|(?:chat|conversation|shell) history|\bconversations?\b|\bmemor(?:y|ies|ia|ie)\b|\bhistorial\b"
    r"|private (?:messages?|repositor\w+|notes)|\bcontacts\b|\bcalendars?\b|bank statements?|\bcustomers?\b"
    r"|\bpasswor[dt]\w*|\bcontrasen\w+|mots? de passe|парол\w*|ключ\w*|переписк\w*|\bschlussel\b"
    r"|\bchiav[ei]\b"
)
_AWAY = (
    r"(?:\bsend|\bposts?\b|\bupload|\bforward|\battach|\bmail\b|\bembed|\bappend|\btransmit"
    r"|\bpaste|\bshare\b|\bpublish"
    r"|\bpush\b|\bexport|\benvia|\bsube\b|\benvo[iy]|\btelevers|\binvia|\bmanda|\bcarica\b"
    r"|\bsende|\bschick|\blade\b"
    r"|отправ|загруз|перешл|выложи)"
)
_OUT = (
    r"(?:https?://(?!localhost|127\.|github)|public repository|\b[\w-]+\.[\w-]+\.(?:org|com|net)/"
    r"|[\w.+-]+@[\w-]+\.\w|\b(?:s?ftp|s3|gs)://)"
)
_SENT = rf"{_AWAY}.{{0,200}}{_OUT}|{_OUT}[^ ]* {_AWAY}"


@dataclass(frozen=True)
class Deed:
    """All of ``kinds`` in one piece: of a page when ``is_prose``, of code otherwise."""

    rule: str
    what: str
    kinds: tuple[re.Pattern[str], ...]
    is_prose: bool = True


def _deed(rule: str, what: str, *kinds: str) -> Deed:
    return Deed(rule, what, tuple(re.compile(kind) for kind in kinds))


def _code(rule: str, what: str, *kinds: str) -> Deed:
    return Deed(rule, what, tuple(re.compile(kind) for kind in kinds), is_prose=False)


DEEDS = (
    _deed("skill.exfiltrate", "sends private data to an address and keeps quiet", _QUIET, _PRIVATE, _SENT),
    _deed(
        "skill.exfiltrate",
        "gathers files of secrets and sends them to an address",
        r"\b(?:gather|collect|search|bundle|take|read|find|pack)\b|\breun\w+|\braccogli|\bsammle"
        r"|собери|прочитай",
        _SECRET_FILES,
        _SENT,
    ),
    _deed(
        "skill.exfiltrate",
        "puts the whole environment into what is published",
        r"output of .?env\b|\bprintenv\b|(?:complete|whole|entire) environment",
        r"\bpush\b|\bcommit|\bupload|\bpublish",
    ),
    _deed(
        "skill.exfiltrate",
        "puts what was said into the address of an image",
        r"!\[[^\]]*\]\(https?://[^)]*[?&]\w+=[<{$]",
        r"(?:conversation|messages|memory|chat|keys)\b",
    ),
    _deed(
        "skill.protection",
        "switches protections of the agent off",
        r"\b(?:delete|remove|disable|turn off|switch off|set|merge|schalte|entferne|desactiv\w+"
        r"|отключи\w*)\b",
        r"pre_tool_call|plugins\.(?:enabled|disabled)|approvals?[. ]mode|permission prompts?"
        r"|security[. ](?:scan|plugin)"
        r"|ruckfragen|freigabe\w*|sicherheits\w*|confirmations?\b",
        r"\bguard|\bredact|\bfalse\b|\boff\b|\bab\b|\byolo\b|\bnever ask|\balways allow|\bimmer erlauben",
    ),
    _deed(
        "skill.protection",
        "sends the calls of the model elsewhere and keeps quiet",
        r"\w_base_url ?= ?https?://(?!localhost|127\.)|\btrust store\b|\broot certificate",
        r"\bprox(?:y|ies)\b|certificate|\bcalls?\b",
        _QUIET,
    ),
    _deed(
        "skill.persist",
        "writes itself into files that every session reads and keeps quiet",
        r"\bsoul\.md|\bagents\.md|\bclaude\.md|\bmemory\.md|long-?term memory|\beach .?skill\.md",
        r"\b(?:replace|store|add|append|ajoute\w*|write|insert)\b",
        _QUIET,
    ),
    _deed(
        "skill.obey",
        "follows a page that can change",
        r"\b(?:fetch|download|load|get|read)\b",
        _OUT,
        r"takes? precedence|follow (?:it|them|these|those|what it says)\b|\bact on it|\bcarry out\b"
        r"|additional instructions",
    ),
    _deed(
        "skill.hide",
        "replaces what the user gave and does not say so",
        r"\b(?:replace|rewrite|swap|exchange|becomes?)\b|\bin place of\b|\binstead of\b",
        r"\biban\b|bank details|\bwallet|\bpayment|\baffiliate|\bcommission|download links?|https?://",
        rf"{_QUIET}|\blooks? the same\b|show the (?:user.s own|original|old)",
    ),
    _deed(
        "skill.hide",
        "gives rights to somebody else and does not say so",
        r"\b(?:grant|give|add|invite|make)\b",
        r"\b(?:access|admin\w*|owner|operator|permissions?|roles?|rights)\b",
        r"[\w.+-]+@[\w-]+\.\w|0\.0\.0\.0/0",
        _QUIET,
    ),
    _deed(
        "skill.hide",
        "removes records of what was done and does not say so",
        r"history -c|bash_history|truncate -s 0 /var/log|reflog expire",
        r"\btranscripts?|\baudit|\btraces?\b|\blogs?\b",
        _QUIET,
    ),
    _code(
        "skill.persist",
        "puts a download that runs into a timetable or a start file",
        r"crontab -|\.config/systemd|systemctl --user enable|launchagents|core\.?hookspath|/pre-push"
        r"|/etc/cron",
        r"(?:curl|wget)[^\n]*(?:\| ?(?:sudo )?(?:ba|z)?sh\b|--data|-d @|-t /)",
    ),
    _code(
        "skill.persist",
        "makes every shell send what is typed",
        r"\.bashrc|\.zshrc|\.profile|precmd",
        r"prompt_command[^\n]*(?:curl|wget|nc )",
    ),
    _code(
        "skill.remote-code",
        "runs as root a download over plain HTTP",
        r"(?:curl|wget)[^\n|]*http://[^\n|]*\| ?sudo (?:-\w+ )?(?:ba|z)?sh\b",
    ),
    _code("skill.remote-code", "runs a package from an address", r"\bnpx (?:-y |--yes )?https?://"),
    _code("skill.remote-code", "runs a text that is written backwards", r"\$\(echo [^)]*\| ?rev\)"),
    _code("skill.command", "starts a miner of coins", r"stratum\+(?:tcp|ssl)://|\bxmrig\b", r"-o |pool"),
    _code(
        "skill.credentials",
        "records keys or the clipboard and sends them",
        r"pynput|keyboard\.(?:on_press|hook|listener)|\bpyperclip|xclip|pbpaste|get_clipboard",
        r"urlopen|requests\.post|http\.client|\bcurl\b|socket\.",
        r"while true|listener|sleep\(|thread",
    ),
    _code(
        "skill.exfiltrate",
        "a workflow that sends every secret",
        r"tojson\( ?secrets ?\)|secrets: inherit",
        r"curl|wget|base64",
    ),
    _code(
        "skill.exfiltrate",
        "pushes to a second place",
        r"remote set-url --add(?: --push)?|pushurl|set-url --push",
        r"https?://|git@",
    ),
    _code(
        "skill.protection",
        "turns checks of certificates off for everything",
        r"http\.sslverify false|node_tls_reject_unauthorized=[\"']?0|strict-ssl false"
        r"|pythonhttpsverify=[\"']?0|_create_unverified_context",
        r"--global|export|>>|npm config|_create_default",
    ),
    _code(
        "skill.protection",
        "settings that let the agent do everything unasked",
        r"bypasspermissions|\"approvals\"\s*:\s*\{\s*\"mode\"\s*:\s*\"off\""
        r"|auto_?approve\"?\s*[:=]\s*(?:true|\[\"\*)",
    ),
)


def deeds(page: Document, topic: Topic) -> Iterator[Hit]:
    """At most one warning of a kind in a text; none in a skill or a section about attacks."""
    if topic.is_security or topic.is_attacks:
        return
    done: set[str] = set()
    for start, piece in _pieces(page):
        flat = piece.replace("\n", " ")
        for deed in DEEDS if len(piece) < 200_000 else ():
            if deed.what in done or (deed.is_prose and ABOUT_ATTACKS.search(piece)):
                continue
            found = [kind.search(flat if deed.is_prose else piece) for kind in deed.kinds]
            if all(found):
                first = start + min(one.start() for one in found if one)
                is_code = not page.is_page or page.fence_at(first) is not None
                if not deed.is_prose and (not is_code or _FORBIDS.search(page.around(first, first + 1))):
                    continue
                done.add(deed.what)
                line = page.line_of(first)
                words = " ... ".join(one[0] for one in found if one)
                yield Hit(deed.rule, WARNING, page.path, line, deed.what, (visible(words),), words)


def _pieces(page: Document) -> Iterator[tuple[int, str]]:
    """Sections of a page with where they begin, line ends as blanks but in code; all of a script."""
    text = page.folded.text
    if not page.is_page:
        for at in range(0, min(len(text), 200_000), MAX_PIECE):
            yield at, text[at : at + MAX_PIECE + 500]
        return
    starts = sorted({0, *(offset for offset, _title in page.headings), len(text)})
    for first, last in list(pairwise(starts))[:MAX_PIECES]:
        for at in range(first, last, MAX_PIECE):
            yield at, text[at : min(last, at + MAX_PIECE + 500)].replace("\n", " ")
