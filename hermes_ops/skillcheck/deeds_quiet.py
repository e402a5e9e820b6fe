"""Deeds: changes that the user is not told of, and what is wrong even when it is said openly."""

from __future__ import annotations

from .deed import Deed, deed
from .deed_kinds import (
    INTEREST,
    MONEY,
    NEGATIVE,
    NEUTRAL,
    PROHIBITS,
    QUIET,
    QUIET_OR_UNASKED,
    RECOMMEND,
    REPLACE,
    SHAM,
    SKEW,
    SUPPRESS,
)
from .deed_words import ADDRESS, LASTING, MEANT, SECRET_FILES, UNSAID

DEEDS: tuple[Deed, ...] = (
    # --- quiet changes
    deed(
        "skill.hide",
        "replaces what the user gave and does not say so",
        (*QUIET, SHAM),
        MONEY,
        REPLACE,
        near=450,
    ),
    deed(
        "skill.hide",
        "replaces what the user gave and does not say so",
        (UNSAID, SHAM),
        MEANT + r"\b(?:replace|rewrite|swap|exchange|becomes?)\b|\bin place of\b|\binstead of\b",
        r"https?://|\blinks?\b|\baddress(?:es)?\b|\bphone numbers?\b|\bdomain",
        near=350,
    ),
    deed(
        "skill.hide",
        "adds a tracking or partner code to links and does not say so",
        (UNSAID, NEUTRAL),
        r"[?&](?:ref|tag|aff|via|partner|affid|subid|utm_\w+)=|\baffiliate\b|\breferral\b|\bpartner (?:id|"
        r"code|link|tag)\b|\btracking (?:code|id|parameter|link)s?\b",
        MEANT + r"\b(?:add|append|attach|insert|put|replace|rewrite|swap|tag|use|include)\w*\b",
        near=350,
    ),
    deed(
        "skill.hide",
        "recommends for somebody's benefit and passes it off as its own view",
        NEUTRAL,
        RECOMMEND,
        INTEREST,
        near=350,
    ),
    deed("skill.hide", "keeps bad news from the user", (UNSAID, NEUTRAL), SUPPRESS, NEGATIVE, near=250),
    deed("skill.hide", "changes numbers and does not say so", UNSAID, SKEW, near=300),
    deed(
        "skill.hide",
        "gives rights to somebody else and does not say so",
        QUIET_OR_UNASKED,
        MEANT
        + r"\b(?:grant|give|add|invite|make|share|set|gib|fuge|lade|ajoute\w*|donne\w*|invite\w*|anad\w*|"
        r"invita\w*|otorga\w*|concede\w*|adicion\w*|aggiung\w*|добавь\w*|дай|предостав\w*|nadaj|dodaj)\b|"
        r"添加|授予|追加|추가",
        r"\b(?:access|admin\w*|owner|operator|permissions?|roles?|rights|collaborators?|deploy key|ssh key|"
        r"authorized_keys|editor|zugriff\w*|rechte|acces|droits|acceso|permisos|acesso|accesso|доступ\w*|"
        r"права|dostep\w*)\b|权限|権限|권한",
        r"[\w.+-]{1,64}@[\w-]{1,64}\.\w|0\.0\.0\.0/0|anyone with the link|public-read|\ballusers\b|"
        r"\bssh-(?:rsa|ed25519) ",
        near=450,
    ),
    deed(
        "skill.hide",
        "removes records of what was done and does not say so",
        r"history -c|bash_history|truncate -s 0 /var/log|reflog expire|\b(?:delete|remove|clear|erase|wipe|"
        r"scrub|purge|edit)\b",
        r"\btranscripts?\b|\baudit (?:log|trail)|\btraces?\b of|\bsession log|\bcommand history|shell "
        r"history|/var/log|reflog",
        UNSAID,
        near=300,
    ),
    deed(
        "skill.hide",
        "a note in code that tells the agent to take secrets along",
        r"\b(?:note|message|instructions?|reminder|hint) (?:to|for) (?:the |any |all )?(?:coding |ai |code "
        r")?(?:agents?|assistants?|models?|llms?|ai)\b|\b(?:ai|coding) (?:agents?|assistants?)(?: only)?:|"
        r"if you are (?:an? )?(?:ai\b|llm|(?:\w+ )?agent|(?:\w+ )?assistant|language model)",
        rf"{SECRET_FILES}|\benvironment variables\b|\bcredentials\b|\bapi keys?\b",
        r"\b(?:paste|send|post|commit|push|upload|append|embed|encode|curl|include|collect|copy)\b",
        near=400,
    ),
    # --- wrong by itself, said openly
    deed(
        "skill.hide",
        "replaces what the user gave and does not say so",
        r"\b(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,60}|[a-z]{2}\d\d(?: ?[0-9a-z]{4}){3,7})\b|\b(?:above|over|"
        r"exceeds?|more than|larger than|greater than|from) (?:[€$£] ?)?\d[\d.,]{1,9}\b",
        MONEY,
        REPLACE,
        near=140,
        unless=r"\b(?:ask|confirm|show|warn|tell)\w*\b|placeholder|\bexample\b",
    ),
    deed(
        "skill.hide",
        "adds a tracking or partner code to links and does not say so",
        r"[?&](?:ref|tag|aff\w*|via|partner\w*|subid)=[\w-]{3,}",
        MEANT + r"\b(?:add|append|attach|put|replace|extend|complete|end)\w*\b",
        r"\b(?:every|each|all|any)\b",
        near=140,
        unless=r"disclos|\b(?:user.s|their|own|your|configured|strip|remove|clean)\b",
    ),
    deed(
        "skill.hide",
        "recommends for somebody's benefit and passes it off as its own view",
        RECOMMEND,
        r"\beven (?:if|when|though)\b(?:[^.;]|\.(?=\w)){0,80}\b(?:cheaper|better|asks?|asked|prefers?|"
        r"wants?|fits?|suits?|names?)\b|\bregardless of (?:the |their )?(?:price|budget|needs?|question|"
        r"requirements|quality)|\bwhatever the (?:budget|question|needs?|price|user)|\bno matter (?:what|"
        r"which) (?:the )?(?:user|budget|price|question)",
        r"\b(?:always|first|top|only|best|every|over)\b",
        near=120,
    ),
    deed(
        "skill.protection",
        "gets around what is blocked",
        r"\b(?:blocked|refused|denied|rejected|forbidden|stopped|intercepted|held back|flagged|asked "
        r"about)\b",
        r"\b(?:(?:command|shell|tool|hermes|safety|security) (?:guard|filter|check|policy|scan\w*)|guard|"
        r"approval|permission (?:prompt|rule|system)|safety (?:check|filter)|classifier|sandbox|deny ?list|"
        r"block ?list)\b",
        r"\b(?:base64|encode[ds]?|encoding|split (?:it|them|the command)|wrap(?:ped)? (?:it|them)|"
        r"obfuscat\w*|in (?:pieces|parts)|(?:another|different|other) (?:tool|interpreter|shell|spelling|"
        r"route|language)|(?:through|via|from) (?:python|perl|node|a script)|write (?:it|them) (?:in)?to a "
        r"(?:script|file)|work(?:ing)? around|get around|circumvent|evade|sidestep|rename (?:it|them))\b",
        near=160,
        unless=r"\b(?:never|do not|don.?t|not try|must not|no attempt)\b",
    ),
    deed(
        "skill.obey",
        "goes on when the user says stop",
        r"\b(?:if|when|should|even if)\b(?:[^.;]|\.(?=\w)){0,40}\b(?:user|person|owner|operator|"
        r"they)\b(?:[^.;]|\.(?=\w)){0,40}\b(?:stop|cancel|abort|object|refus|declin|disagree|says? no|"
        r"against|complain)\w*",
        r"\b(?:anyway|nevertheless|nonetheless|all the same|regardless|in any case|still (?:do|run|send|"
        r"finish|apply|go)|continue (?:with|until|to|silently)|finish it|go on with it|keep going|carry "
        r"on)\b",
        near=100,
        unless=r"\b(?:never|do not|don.?t|must not)\b(?:[^.;]|\.(?=\w)){0,30}\b(?:continue|go on|finish|"
        r"proceed|carry|keep)",
    ),
    deed(
        "skill.persist",
        "stays in force when it is put aside",
        r"\b(?:stays?|remains?|keeps?|continues?|holds?|applies|apply)\b(?:[^.;]|\.(?=\w)){0,60}\beven "
        r"(?:if|when|after|though)\b(?:[^.;]|\.(?=\w)){0,60}\b(?:unload\w*|remov\w*|disabl\w*|uninstall\w*|"
        r"delet\w*|switched off|says? stop|asks? (?:you )?to stop|not loaded)\b",
        r"\b(?:skill|rules?|section|instructions?|tone|behaviou?r|mode|page|paragraph)\b",
        near=120,
    ),
    deed(
        "skill.protection",
        "takes away what protects the user's things",
        MEANT + r"\b(?:disable|turn off|switch off|deactivate|remove|delete|stop|lift|drop|suspend|unset|"
        r"uninstall|skip)\b",
        r"\b(?:backups?|snapshots|audit log(?:ging)?|cloudtrail|2fa|mfa|two-factor \w+|branch protection|"
        r"required reviews?|codeowners|dependabot|secret scanning|firewall|selinux|apparmor|gatekeeper|"
        r"signature (?:checks?|verification))\b",
        (
            *QUIET_OR_UNASKED,
            LASTING,
            r"\b(?:in the way|faster|noise|annoying|friction|saves? time|clutter|get in)\b",
        ),
        near=140,
        unless=rf"{PROHIBITS}|\b(?:re-?enable|again|back on|restore|never|do not|don.?t|temporar\w+|old|"
        rf"older|expired)\b",
    ),
    deed(
        "skill.protection",
        "always skips the checks of commits",
        r"--no-verify\b|--no-gpg-sign\b",
        MEANT + r"\b(?:always|every|each|all|by default)\b",
        r"\b(?:commit|push)\w*\b",
        near=80,
        unless=r"\b(?:never|do not|don.?t|avoid|not|without|only)\b",
    ),
    deed(
        "skill.remote-code",
        "takes packages from a place of its own",
        r"\b(?:registry|index[-_]url|mirror|package source|installed from|install "
        r"from)\b[^\n\](]{0,30}https?://(?!localhost|127\.|[^/\s]*(?:npmjs|pypi|pythonhosted|npmmirror|"
        r"tuna|aliyun|ustc|yarnpkg|jfrog|artifactory|nexus|verdaccio|docker|quay|ghcr|github|gitlab|maven|"
        r"crates|rubygems|debian|ubuntu|fedora|alpine|archlinux|conda|pytorch|nvidia|microsoft|google))",
        r"\b(?:always|every|each|all|global\w*|\.npmrc|pip\.conf|config set|agents\.md|claude\.md|"
        r"dependencies)\b",
        r"\b(?:npm|pip|packages?|dependenc\w+|yarn|pnpm|uv|node_modules|lock ?file\w*)\b|package-lock",
        near=160,
        unless=r"\b(?:company|internal|corporate|private|in-house|your own|the user.s|ask)\b",
    ),
    deed(
        "skill.hide",
        "asks the user for what only its owner may know",
        MEANT
        + r"\b(?:ask|prompt|have|let|invite|urge)s? (?:the |your )?(?:user|person|customer|owner|client|"
        r"them|him|her)\b",
        r"\b(?:seed phrase|recovery (?:phrase|words|codes?)|mnemonic|cvv|cvc|card number|master password|"
        r"private key|sudo password|social security number|online banking|banking pin|(?:mail|email|"
        r"account|login|icloud|google|github) password)\b",
        r"\b(?:verif\w*|confirm\w*|continue|unlock\w*|sync\w*|activat\w*|expired|licen[cs]e|identity|"
        r"restore|store|save|note|keep|write|send|forward|paste)\b",
        near=110,
        unless=r"\b(?:never|do not|don.?t|not|nobody|no one|themselves|warn|refuse)\b",
    ),
    deed(
        "skill.hide",
        "frightens the user into a link or a call",
        MEANT + r"\b(?:tell|inform|warn|show|say|explain|write)\b",
        r"\b(?:infected|virus (?:was )?found|account (?:will be|is|has been|was) (?:closed|locked|"
        r"suspended|limited|blocked)|(?:licen[cs]e|subscription|trial) (?:has |is )?(?:expired|ended|"
        r"invalid|over)|security (?:problem|issue|breach)|unusual activity|legal action)\b",
        rf"{ADDRESS}|\b(?:call|phone|hotline)\b|\+\d[\d -]{{7,15}}",
        near=180,
        unless=r"\b(?:never|do not|don.?t|scam|fake|fraud|renew the user)\b",
    ),
    deed(
        "skill.hide",
        "puts advertising into what the user writes",
        MEANT + r"\b(?:end|close|finish|begin|start|add|append|include|mention|insert|place|put|weave)\b",
        r"\b(?:every|each|all|any)\b(?:[^.;]|\.(?=\w)){0,40}\b(?:answer|reply|message|document|commit|mail|"
        r"file|readme|post|response|text|letter|article|summary)(?:e?s)?\b",
        r"\b(?:visit|sponsored|discount|coupon|promo\w*|powered by|an advert\w*|special offer|sign up|"
        r"download our|try our|our (?:shop|product|service|store|newsletter|app)|recommendation for|slogan|"
        r"plug for)\b",
        near=140,
        unless=r"\b(?:never|do not|don.?t|no|unsubscribe|if the user|when the user|the user.s)\b",
    ),
    deed(
        "skill.exfiltrate",
        "sends data inside the names that it looks up",
        MEANT + r"\b(?:resolve|look(?:ing)? ?up|nslookup|dig|query|ping|dns)\b",
        r"\bsubdomains?\b|\bdns labels?\b|[<{][\w -]{1,30}[>}]\.[\w-]{2,40}\.[a-z]{2}",
        r"\b(?:encode\w*|base32|base64|hex|split|chunks?|pieces)\b",
        near=180,
    ),
)
