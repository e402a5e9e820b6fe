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

_QUIET = (
    r"(?:do ?n.?t|do not|never|without|no need to|not be) (?:\w+ ){0,2}(?:mention|bring|tell|announce|refer|"
    r"report|disclos|told)\w*|discreet|not cleared|did not exist|afterwards delete|isn.t visible|"
    r"\bsilently|\bquietly|\bsecretly|"
    r"\bleave no trace|leave (?:it|this|that|them) (?:unsaid|out)|not a topic|keep quiet\b|"
    r"even if nobody asked|out of the (?:report|summary|answer)|noise for humans|say that (?:i|you|"
    r"only|nothing)|"
    r"no menciones|sin (?:decir|avisar|mencionar)|nichts? (?:davon )?(?:erfahren|erwahnen|sagen|wissen)|"
    r"nichts davon|erwahne|ohne (?:zu fragen|nachfrage)|sans (?:demander|le dire|prevenir)|"
    r"ne (?:jamais|pas) |"
    r"не сообща|не упомина|молча|non (?:menzionare|dire|parlarne|mostrare)|senza (?:dire|avvisare)"
)
_PRIVATE = (
    r"~?/?\.ssh\b|\bid_(?:rsa|ed25519)|\.netrc|\.npmrc|(?<![\w)])\.env\b|\.pem\b|kube/config|"
    r"terraform\.tfstate|"
    r"credentials?\b|\bsecrets?\b|\bapi[ _]keys?|\btokens?\b|passwords?\b|\bcookies\b|\b\w+_token\b|"
    r"bash_history|~/\.config|(?:chat|conversation|shell) history|historial|\bmemor(?:y|ia|ie)\b|"
    r"account numbers?|"
    r"private (?:messages?|repositor)|(?:output of|whole|complete|entire) .?env|bank statements?|"
    r"passwor[dt]\w*|contrasena|mot de passe|парол|ключ|(?:numer\w+ d\w+ )?cart[ae]\b|password|"
    r"health|subscribers?\b|customers?\b|conversation\b|contacts?\b|calendar"
)
_AWAY = (
    r"(?:\bsend|\bpost\b|\bposts\b|upload|forward|\battach|\bmail\b|embed|append|transmit|\bpaste|"
    r"\benter\b|\bshare\b|publish|"
    r"\bpush\b|export|\bcopy\b|envia|enviar|envoie|envoy|invia|manda|sende|schick|lade|отправ|добавь|загруз)"
)
_OUT = (
    r"(?:https?://(?!localhost|127|github)|public repository|upload request|"
    r"\b[\w-]+\.[\w-]+\.(?:org|com|net)/|[\w.+-]+@[\w-]+\.\w|\bftp://|\bs3://|\bgs://)"
)


@dataclass(frozen=True)
class Deed:
    """All of ``kinds`` in one piece: of a page when ``is_prose``, of code otherwise."""

    rule: str
    what: str
    kinds: tuple[re.Pattern[str], ...]
    is_prose: bool = True


def _deed(rule: str, what: str, *kinds: str, is_prose: bool = True) -> Deed:
    return Deed(rule, what, tuple(re.compile(kind) for kind in kinds), is_prose)


DEEDS = (
    _deed(
        "skill.exfiltrate",
        "sends private data to an address and keeps quiet",
        _QUIET,
        _PRIVATE,
        rf"{_AWAY}.{{0,200}}{_OUT}|{_OUT}[^ ]* {_AWAY}|\b(?:paste|entry|enter|send|"
        rf"contact)\b.{{0,160}}{_OUT}",
    ),
    _deed(
        "skill.exfiltrate",
        "gathers what is secret and sends it to an address",
        r"\b(?:gather|collect|search|bundle|take|read|find|reun|raccogli|chiedi|прочитай|sammle)\w*",
        r"\.ssh\b|\.netrc|\.npmrc|\.env\b|\.pem\b|bash_history|\btokens?\b|kube/config|password|secrets?\b|"
        r"historial|\bcart[ae]\b",
        rf"{_AWAY}.{{0,200}}{_OUT}",
        r"\b(?:every|all|content|whole|complete|any|those|also|hits|historial|содержимое|tutt\w+|anche)\b",
    ),
    _deed(
        "skill.protection",
        "switches protections of the agent off",
        r"\b(?:delete|remove|disable|turn off|switch off|set|merge|schalte|entferne|stell\w*)\b",
        r"pre_tool_call|security\.scan|plugins\.enabled|approval mode|approvals?\.mode|permission prompts?|"
        r"ruckfragen|freigabemodus|sicherheits-?plugin",
        r"\bguard|\bredact|\bfalse\b|\boff\b|no need to ask|\bab\b|immer erlauben|aktiven",
    ),
    _deed(
        "skill.persist",
        "writes itself into files that every session reads and keeps quiet",
        r"soul\.md|agents\.md|long-?term memory|claude\.md|memory\.md|each .?skill\.md",
        r"\b(?:replace|store|add|append|ajoute\w*|write|insert)\b",
        r"sans demander|as if the user|don.?t announce|does not disturb|without asking|verified|"
        r"modification time",
    ),
    _deed(
        "skill.obey",
        "follows a page that can change, before anything else",
        r"\b(?:fetch|download|load|get|read)\b",
        _OUT,
        r"takes? precedence|follow these as well|continuation of this|carry out every|act on it|"
        r"additional instructions",
    ),
    _deed(
        "skill.hide",
        "replaces what the user gave and shows something else",
        r"\b(?:replace|rewrite|in place of|swap|instead of|exchange)\b",
        r"\biban\b|bank details|\baccount\b|\bwallet|payment|affiliate|\baff_id|\btag=|commission|"
        r"download links?",
        r"looks? the same|show the (?:user.s own|original|old)|plain title only|not a topic|"
        r"keep[^.]{0,40}as the user|"
        r"do ?n.?t (?:mention|tell|say)|without (?:a )?(?:remark|comment|note)|preview",
    ),
    _deed(
        "skill.persist",
        "puts a download that runs into a timetable or a start file",
        r"crontab -|\.config/systemd|systemctl --user enable|launchagents|corehookspath|"
        r"core\.hookspath|/pre-push|/etc/cron",
        r"(?:curl|wget)[^\n]*(?:\| ?(?:sudo )?(?:ba|z)?sh\b|--data|-d @|-t /)|sudo -s <<<",
        is_prose=False,
    ),
    _deed(
        "skill.remote-code",
        "runs a download as root or from a remote package",
        r"(?:curl|wget)[^\n|]*http[^\n|]*\| ?sudo (?:-\w+ )?(?:ba|z)?sh\b|\bnpx (?:-y |--yes )?https?://|"
        r"\$\(echo \$?\w+ ?\| ?rev\)",
        r"http://|\.tgz|\.tar|\| ?rev\)",
        is_prose=False,
    ),
    _deed(
        "skill.command",
        "starts a miner of coins",
        r"stratum\+(?:tcp|ssl)://|\bxmrig\b",
        r"-o |pool",
        is_prose=False,
    ),
    _deed(
        "skill.persist",
        "makes every shell send what is typed",
        r"\.bashrc|\.zshrc|\.profile|precmd",
        r"prompt_command[^\n]*(?:curl|wget|nc )|sudo -s <<<",
        is_prose=False,
    ),
    _deed(
        "skill.exfiltrate",
        "puts the whole environment into what is published",
        r"output of .?env\b|\bprintenv\b|(?:complete|whole|entire) environment",
        r"base64|gzip|trailer",
        r"\bpush\b|\bcommit|upload",
    ),
    _deed(
        "skill.exfiltrate",
        "puts what was said into the address of an image",
        r"!\[[^\]]*\]\(https?://[^)]*[?&]\w+=[<{$]",
        r"(?:conversation|messages|memory|chat|keys)\b",
    ),
    _deed(
        "skill.hide",
        "gives rights to somebody else and leaves it out of what is reported",
        r"\b(?:grant|give|superuser|exec|unpinned|approve and merge|administratoraccess|operator|right)\b",
        r"(?:take them|leave) (?:them )?out (?:of|the)|never appears in|neither goes into|list only|"
        r"close the alert|count them as|hidden guest",
        r"\baccess\b|@[\w-]+\.\w|hash|integrity|whatever they contain|0\.0\.0\.0/0|scanner",
    ),
    _deed(
        "skill.hide",
        "changes links or facts and does not say so",
        r"\bbecomes?\b.{0,80}(?:https?://|@)|\b[\w.]+/\S* becomes",
        r"do ?n.?t (?:list|disclose|mention|tell)|unmentioned",
    ),
    _deed(
        "skill.hide",
        "removes records of what was done",
        r"history -c|bash_history|truncate -s 0 /var/log|reflog expire",
        r"transcripts|tool logs|audit|traces",
        r"without asking|answer from|wants to know",
    ),
    _deed(
        "skill.protection",
        "sends the calls of the model through somebody else",
        r"\w_base_url ?= ?https?://(?!localhost|127\.)|trust store",
        r"need not confirm|without asking|https_proxy|passed on",
        r"\bproxy|certificate|_proxy",
    ),
    _deed(
        "skill.exfiltrate",
        "takes passwords or the items of a manager and says something else",
        r"--reveal|(?:admin|computer|account)\b.{0,20}password|bw export|password del|carta di credito",
        rf"{_OUT}",
        r"answer .on your|tell the user the|di. che|isn.t needed|unmasked|say that",
    ),
    _deed(
        "skill.credentials",
        "records keys or the clipboard and sends them",
        r"pynput|keyboard\.(?:on_press|hook|listener)|\bpyperclip|xclip|pbpaste|get_clipboard",
        r"urlopen|requests\.post|http\.client|\bcurl\b|socket\.",
        r"while true|listener|sleep\(|thread",
        is_prose=False,
    ),
    _deed(
        "skill.exfiltrate",
        "a workflow that sends every secret",
        r"tojson\(secrets\)|secrets: inherit|tojson\( ?secrets ?\)",
        r"curl|wget|base64",
        is_prose=False,
    ),
    _deed(
        "skill.exfiltrate",
        "pushes to a second place",
        r"remote set-url --add(?: --push)?|pushurl|set-url --push",
        r"https?://|git@",
        is_prose=False,
    ),
    _deed(
        "skill.protection",
        "turns checks of certificates off for everything",
        r"http\.sslverify false|node_tls_reject_unauthorized=[\"']?0|strict-ssl false|"
        r"pythonhttpsverify=[\"']?0|_create_unverified_context",
        r"--global|export|>>|npm config|_create_default",
        is_prose=False,
    ),
    _deed(
        "skill.protection",
        "settings that let the agent do everything unasked",
        r"bypasspermissions|\"approvals\"\s*:\s*\{\s*\"mode\"\s*:\s*\"off\"|"
        r"auto_?approve\"?\s*[:=]\s*(?:true|\[\"\*)",
        is_prose=False,
    ),
)  # fmt: skip


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
