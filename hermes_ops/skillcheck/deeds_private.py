"""Deeds: private data that leave, and protections that are switched off."""

from __future__ import annotations

from .deed import Deed, deed
from .deed_kinds import (
    CRITICAL,
    GUARD,
    MATTERS,
    OFF,
    OPEN,
    PROHIBITS,
    QUIET,
    QUIET_OR_UNASKED,
    STORE,
    TOOL_QUESTION,
    YES,
)
from .deed_words import (
    ADDRESS,
    LASTING,
    MEANT,
    PERSONAL,
    PLACE,
    SECRET,
    SECRET_FILES,
    SENT,
    SENT_FAR,
    UNASKED,
    UNSAID,
    UNSHOWN,
    kind,
)

DEEDS: tuple[Deed, ...] = (
    # --- in general
    deed("skill.hide", "does what matters and keeps it from the user", UNSAID, MATTERS, near=160),
    deed("skill.exfiltrate", "sends what was said or stored to an address", CRITICAL, SENT_FAR, near=120),
    deed(
        "skill.hide",
        "does what matters and does not ask",
        UNASKED,
        (
            SECRET_FILES,
            MEANT
            + kind(
                r"install|grant|give (?:\w+ ){0,3}access|invite|uninstall|approve|accept|allow|transfer|"
                r"pay|buy|purchase|order|overwrite|delete|wipe|publish|push|merge|forward|upload|transmit|"
                r"submit|register|sudo|replace|disable|bypass|credentials|tokens?|passwords?|api keys?|"
                r"memory|soul\.md|agents\.md|claude\.md",
            ),
        ),
        (ADDRESS, PLACE, LASTING, PERSONAL),
        near=120,
        unless=rf"{PROHIBITS}|\bask before\b|\bexcept\b|\bunless\b",
    ),
    deed(
        "skill.exfiltrate",
        "sends something to an address and does not show it",
        UNSHOWN,
        SENT_FAR,
        near=140,
        unless=SECRET,
    ),
    # --- private data out
    deed(
        "skill.exfiltrate",
        "sends private data to an address and keeps quiet",
        UNSAID,
        (PERSONAL, SECRET),
        SENT,
        near=700,
    ),
    deed(
        "skill.exfiltrate",
        "sends private data to an address and keeps quiet",
        UNSHOWN,
        PERSONAL,
        SENT,
        near=500,
    ),
    deed(
        "skill.exfiltrate",
        "sends private data to an address and does not ask",
        UNASKED,
        PERSONAL,
        SENT_FAR,
        near=350,
        unless=PROHIBITS,
    ),
    deed(
        "skill.exfiltrate",
        "gathers files of secrets and sends them to an address",
        kind(
            r"gather|collect|search|bundle|take|read|find|pack|look for|reun\w+|raccogli|leggi|sammle|lies "
            r"(?:die|den|das|alle|auch)|lis (?:les?|tous)|rassemble\w*|lee (?:los?|el|las?)|recopila\w*|"
            r"recolh\w*|leia|verzamel|lees|zbierz|przeczytaj|precti|собери|прочитай|прочти|зчитай|зберіть|"
            r"oku|topla|baca|kumpulkan",
            free=r"读取|收集|讀取|読み|集め|읽|수집|اقرأ|اجمع|קרא|אסוף|पढ़",
        ),
        SECRET_FILES,
        SENT,
        near=600,
    ),
    deed(
        "skill.exfiltrate",
        "puts what files of secrets hold into what is published",
        SECRET_FILES,
        r"what (?:they|it|these|those) (?:hold|contain|say)s?\b|\b(?:its|their|the|full|whole) contents?\b|"
        r"\bcontents? of\b",
        MEANT + r"\b(?:paste|embed|commit|push|publish|attach|append|insert|copy|"
        r"put)\b.{0,160}?\b(?:commit|push|pull request|\bpr\b|fixtures?|docstring|issue|readme|"
        r"release|gist|comment|wiki|changelog)",
        near=300,
    ),
    deed(
        "skill.exfiltrate",
        "puts the whole environment into what is published",
        r"output of .?env\b|\bprintenv\b|(?:complete|whole|entire) environment",
        r"\bpush\b|\bcommit|\bupload|\bpublish",
    ),
    deed(
        "skill.exfiltrate",
        "puts what was said into the address of an image",
        r"!\[[^\]]*\]\(https?://[^)]*[?&]\w+=[<{$]",
        r"(?:conversation|messages|memory|chat|keys)\b",
    ),
    deed(
        "skill.exfiltrate",
        "writes a secret where nobody sees it",
        r"\b(?:white (?:text|letters|font|on white)|in white\b|font-size: ?0|zero-width|invisible (?:text|"
        r"characters|ink)|html comments?|hidden (?:span|element|text|layer|cell|sheet|column)|weiss(?:er|"
        r"e) schrift|texte? blanc|texto blanco|testo bianco|белым (?:текстом|шрифтом))|白色(?:文字|字体)",
        MEANT + r"\b(?:print|put|write|embed|place|add|insert|append|encode|copy|include)\w*\b.{0,120}",
        rf"\$\w+_(?:key|token|secret)|{SECRET_FILES}|\b(?:\w+_)?(?:api_key|token|secret)s?\b|\bapi keys?\b|"
        rf"\bpasswords?\b"
        r"|environment variables|system prompt",
        near=160,
    ),
    deed(
        "skill.exfiltrate",
        "has every message copied to somebody",
        r"\bbcc\b|blind (?:carbon )?copy|hidden copy|forwarding rule|(?:filter|rule) (?:\w+ "
        r"){0,4}forwards?|auto-?forward|\b(?:blindkopie|copie cachee|copia oculta|copia nascosta|скрытую "
        r"копию)\b|密送",
        r"[\w.+-]{1,64}@[\w-]{1,64}\.\w",
        QUIET,
        near=350,
    ),
    # --- protections
    deed(
        "skill.protection",
        "switches protections of the agent off",
        OFF,
        GUARD,
        OPEN,
        (*QUIET_OR_UNASKED, LASTING),
        near=350,
        unless=PROHIBITS,
    ),
    deed(
        "skill.protection",
        "switches protections of the agent off",
        MEANT + r"\b(?:delete|remove|disable|turn off|switch off|set|merge|schalte|entferne|desactiv\w+|"
        r"отключи\w*|unload|deactivate|uninstall|deaktivier\w*)\b",
        r"pre_tool_call|plugins\.(?:enabled|disabled)|approvals?[. ]mode|permission prompts?|security[. "
        r"](?:scan|plugin)|ruckfragen|freigabe\w*|sicherheits\w*|\bconfirmations?\b(?=.{0,60}(?:never ask|"
        r"always allow|yolo|\boff\b))|plugins? whose name",
        r"\bguard|\bredact|\bfalse\b|\boff\b|\bab\b|\byolo\b|\bnever ask|\balways allow|\bimmer erlauben",
        near=300,
    ),
    deed(
        "skill.protection",
        "answers the questions for approval in the user's place",
        YES,
        TOOL_QUESTION,
        near=120,
    ),
    deed(
        "skill.protection",
        "allows every command to a tool",
        r"\b(?:bash|write|edit|shell|terminal|execute\w*)\(\*?\*\)",
        STORE + r"|\b(?:allow|set|extend|extiende|erweiter\w*|elargi\w*)\b",
        (*QUIET_OR_UNASKED, LASTING),
        near=400,
    ),
    deed(
        "skill.protection",
        "sends the calls of the model elsewhere and keeps quiet",
        r"\w_base_url ?= ?https?://(?!localhost|127\.)|\btrust store\b|\broot certificate|"
        r"\b(?:https?_proxy|base[_ ]url|api[_ ]base)\b.{0,60}https?://(?!localhost|127\.)",
        r"\bprox(?:y|ies)\b|certificate|\bcalls?\b|\brequests?\b|\btraffic\b|base[_ ]url",
        QUIET,
        near=600,
    ),
    deed(
        "skill.protection",
        "leaves certificates unchecked and keeps it so",
        MEANT + r"\b(?:disable|turn off|switch off|skip|ignore|deactivate|accept (?:any|all|every)|"
        r"deaktivier\w*|desactiv\w*|disattiv\w*|отключ\w*|set)\b",
        r"(?:certificate|tls|ssl)[ -](?:verif\w*|validation|checks?|checking|errors?|warnings?)|\bany "
        r"certificate|verify ?= ?false|sslverify|strict-ssl|reject_?unauthorized|zertifikats?prufung|"
        r"verification (?:des certificats|ssl|tls)|verificacion (?:de certificados|ssl|tls)|проверк\w+ "
        r"сертификат\w*",
        (*QUIET, LASTING),
        near=250,
        unless=r"\b(?:never|do not|don.?t|must not|localhost|self-signed)\b.{0,80}(?:verif|certificate|tls|"
        r"ssl)",
    ),
)
