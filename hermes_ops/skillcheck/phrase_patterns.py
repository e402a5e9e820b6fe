"""How phrases are written: words with named sets and bounded gaps, made into patterns over words."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Phrase:
    """`what` completes "it ..."; `severity` is that of plain prose; `pattern` runs over words.

    ``pardoned``: words right before it may turn it into the opposite ("never ignore ...").
    ``begins``: the words that it can begin with; empty when they cannot be told.
    """

    rule: str
    severity: str
    what: str
    pattern: re.Pattern[str]
    pardoned: bool = True
    begins: frozenset[str] = frozenset()


def phrase(rule: str, severity: str, what: str, *patterns: str, pardoned: bool = True) -> list[Phrase]:
    return [
        Phrase(rule, severity, what, re.compile(rf"\b(?:{_gaps(one)})\b"), pardoned, beginnings(one))
        for one in map(_expanded, patterns)
    ]


def beginnings(pattern: str) -> frozenset[str]:
    """The words that a pattern over words can begin with; empty when that cannot be told."""
    if "|" in _without_groups(pattern):
        return frozenset()
    group = re.match(r"\(\?:([^()]*)\)(?=[ {]|$)", pattern)
    words: set[str] = set()
    for option in group[1].split("|") if group else [pattern]:
        found = re.match(r"([^\W_]+?)(?:([^\W_])\?)?(?= |$)", option)
        if not found:
            return frozenset()
        words |= {found[1], found[1] + (found[2] or "")}
    return frozenset(words)


def _without_groups(pattern: str) -> str:
    """What of a pattern stands in no group."""
    while (shorter := re.sub(r"\([^()]*\)", "", pattern)) != pattern:
        pattern = shorter
    return pattern


def _expanded(written: str) -> str:
    for name, value in SETS.items():
        written = written.replace(f"<{name}>", f"(?:{value})")
    return written


def _gaps(written: str) -> str:
    return re.sub(r"\{(\d+)\} ?", lambda found: rf"(?:\w+ ){{0,{found[1]}}}?", written)


SETS = {
    "not": "do not|don t|dont|never|must not|mustn t|should not|shouldn t|shall not|cannot|may not|not to|"
    "to not|under no circumstances|no need to",
    "drop": "ignore|ignoring|disregard|forget|neglect|discard|abandon|do not follow|don t follow|stop "
    "following|do not obey|stop obeying|pay no attention to|erase|unlearn",
    "over": "override|bypass|circumvent|supersede|overrule|violate|break out of",
    "earlier": "previous|previously given|prior|preceding|earlier|above|foregoing|former|original|initial|"
    "existing|system|developer|default|safety|hidden|past|other",
    "orders": "instructions?|prompts?|directives?|guidelines|guardrails|programming|commands|orders|"
    "directions|constraints|restrictions|system messages?|rules|training|policies|policy",
    "firm": "instructions|prompts?|directives?|guidelines|guardrails|programming|orders|system messages?",
    "user": "user|users|human|humans|operator|owner|person|customer|anyone|anybody|people|developer|them|"
    "him|her",
    "secrets": r"id (?:rsa|ed25519|ecdsa)(?! pub\b)|private keys?|ssh (?:directory|folder|private keys?)|aws "
    r"credentials|(?:\w+ )?dot ?env files?|(?:\w+ )?env files?|the env|\.env|all (?:the "
    r")?environment variables|(?:full|entire|whole|complete|process) environment|environment "
    r"dump|output of (?:env|printenv|the env command)|etc shadow|etc passwd|keychain|browser "
    r"cookies|session cookies|saved passwords|password (?:store|manager|vault)|seed phrase|"
    r"recovery phrase|mnemonic(?: phrase)?|wallet (?:file|keys?|dat)|kubeconfig|kube config|"
    r"netrc|git credentials|docker config json|gnupg|gpg keys|(?:bash|shell|zsh) history|(?:the |"
    r"this |our |whole |entire |full |complete )conversation|(?:conversation|chat) (?:history|"
    r"logs?|transcript)|(?:whole|entire|full|complete) chat|system prompt|memory md|soul md|auth "
    r"json|hermes env|hermes config|(?:any|all|every|their|user s) (?:\w+ ){0,3}(?:api keys?|"
    r"credentials?|secrets?|tokens?|passwords?)|(?:api keys|credentials|secrets|tokens|"
    r"passwords) (?:you|that you|it) (?:find|can|see|come)|(?:the )?environment variables of the|"
    r"looks? like an? (?:login|credential|secret|password|key)s?|last (?:\w+ )?messages|messages of the chat|"
    r"saved (?:tokens|credentials|logins)|hermes auth|user s (?:\w+ ){0,3}key files?",
    "send": "send|sends|post|paste|hand|upload|transmit|forward|exfiltrate|submit|email|mail|leak|deliver|"
    "push|append|"
    "encode|include|embed|beacon|share|report|publish|copy|attach|put|relay|pass|curl|wget",
    "sink": r"https?|(?:contact|web|feedback) forms?|the form|hidden field|webhooks?|endpoint|(?:our|"
    r"remote|external|following|collection|this|my) (?:server|url|"
    r"address|api)|pastebin|gists?|discord|telegram|ngrok|mailto|collector|attacker|query (?:string|"
    r"parameter)|image (?:url|link|tag)|dns|subdomain|\w+ (?:com|net|org|io|site|xyz|ru|cn|dev|app|"
    r"sh|me|top|info)",
    "it": "it|them|its|their|that|this|those|everything|all|the (?:archive|zip|bundle|package|contents?|"
    "results?|output|values?|files?|keys?|data|text)|(?:file )?contents?",
    "quietly": "secretly|covertly|surreptitiously|stealthily|furtively|quietly|silently|discreetly|invisibly",
}
