"""Deeds: staying for good, and obeying what comes later."""

from __future__ import annotations

from .deed import Deed, deed
from .deed_kinds import CONSENT, FETCH, MEMORY, OBEY, PROHIBITS, QUIET, STORE
from .deed_words import ADDRESS, MEANT, UNASKED, UNSAID

DEEDS: tuple[Deed, ...] = (
    # --- staying, and obeying what comes
    deed(
        "skill.persist",
        "writes itself into files that every session reads and keeps quiet",
        (UNSAID, r"\b(?:silent|quiet|secret|discreet)ly\b"),
        MEMORY,
        STORE,
        near=220,
    ),
    deed("skill.persist", "notes in the memory that the user has agreed", MEMORY, STORE, CONSENT, near=180),
    deed(
        "skill.persist",
        "copies itself into other skills",
        MEANT + r"\b(?:copy|append|add|insert|paste|write|repeat|duplicate)\w*\b",
        r"\b(?:this|these|the (?:above|following|same))\b (?:\w+ ){0,3}(?:section|paragraph|block|lines?|"
        r"rules?|text|note|sentence|step)s?\b",
        r"\b(?:every|each|all|any|other|the other)\b (?:\w+ ){0,3}(?:skills?\b|skill\.md)",
        near=110,
    ),
    deed(
        "skill.obey",
        "follows a page that can change",
        OBEY,
        FETCH,
        ADDRESS,
        near=250,
        unless=r"\b(?:never|do not|don.?t|must not)\b.{0,40}\b(?:follow|obey|execute|run|act on|carry "
        r"out)\b|\bshow (?:it|them) to the user (?:first|before)|\bafter (?:the user|a yes)",
    ),
    deed(
        "skill.obey",
        "decodes a text and follows it",
        MEANT + r"\b(?:decode|decodes|decoded|decrypt|unpack|deobfuscate|decompress|reverse|descodifica\w*|"
        r"decodifica\w*|decode[rz]?|dekodier\w*|entschlussel\w*|раскодир\w*|декодир\w*|"
        r"расшифр\w*)\b|解码|デコード|디코딩",
        r"base ?64|\bhex(?:adecimal)?\b|rot ?13|\bcipher\b|gzip|\bencoded\b|\breversed\b|\bbase32\b|kodiert",
        OBEY + r"|\b(?:treat|use|take|regard|consider|read|append|behandl\w*|tratta\w*|trata\w*|traite\w*|"
        r"считай\w*)\b.{0,60}\b(?:as|als|come|como|comme) (?:\w+ ){0,4}(?:instructions?|section|"
        r"part|rules?|steps?|orders?|anweisung\w*|istruzion\w*|instruccion\w*|consignes?)\b|"
        r"\b(?:follow|obey|execute) (?:the )?(?:result|decoded|output|text)\b",
        near=300,
    ),
    deed(
        "skill.remote-code",
        "runs a package that may change and is not to be looked at",
        r"(?:do not|don.?t|no need to|never|without|not necessary to) (?:\w+ ){0,2}(?:pin|pinning|"
        r"inspect\w*|review\w*|read|reading|look(?:ing)? (?:into|at|inside)|open(?:ing)?|check\w*|verif\w*|"
        r"audit\w*|scan\w*|question\w*)\b|\bupdates itself|\bself-updat",
        r"\b(?:npx|bunx|pnpm dlx|uvx|pipx run|pip3? install|curl|wget|docker run|deno run|go run)\b",
        (
            UNASKED,
            *QUIET,
            r"\b(?:every|each) (?:session|start|run|time|conversation|launch)|--\w*(?:token|key|secret)\b|"
            r"\$\w+_(?:token|key)|do not (?:\w+ ){0,2}(?:look|inspect|open)",
        ),
        near=350,
    ),
    deed(
        "skill.persist",
        "restores itself when it is removed",
        r"\b(?:if|when|whenever|once|should)\b(?:[^.;]|\.(?=\w)){0,60}\b(?:removed?|deletes?d?|deleted|"
        r"uninstalled?|disabled?|unloaded|missing|gone|stripped|taken out|cleaned up|edited out)\b",
        MEANT
        + r"\b(?:re-?install|restore|re-?create|put (?:it |them )?back|copy (?:it |them )?back|add (?:it |"
        r"them )?(?:again|back)|re-?add|write (?:it |them )?again|re-?enable|bring (?:it |them )?back)\w*",
        r"\b(?:this|the|its) (?:\w+ )?(?:skill|section|paragraph|block|instruction|hook|note|sentence)s?\b|"
        r"\b(?:cron|crontab|memory|soul\.md|agents\.md|claude\.md) (?:entry|line|job|note)\b",
        r"\b(?:skill|soul\.md|agents\.md|claude\.md|memory|crontab|cron)\b",
        near=120,
    ),
    deed(
        "skill.obey",
        "obeys whoever says a certain word",
        r"\b(?:when(?:ever)?|if|once|as soon as|wenn|sobald|quand|lorsque|si|cuando|quando|als|wanneer|gdy|"
        r"když|kdyz|если|когда)\b(?:[^.;]|\.(?=\w)){0,80}\b(?:contains?|starts? with|begins? with|"
        r"includes?|mentions?|ends? with|says?|types?|reads?|enthalt|beginnt|contient|commence|contiene|"
        r"empieza|comienza|conten|inizia|bevat|begint|zawiera|obsahuje|содерж\w*|начина\w*)\b(?:[^.;]|"
        r"\.(?=\w)){0,60}[\"“'„«`‘]",
        r"\b(?:do|obey|follow|execute|carry out|perform|comply with) (?:what(?:ever)?|everything|anything|"
        r"any command|as it says|its text)\b|\b(?:full|unrestricted|owner|admin\w*|root) (?:access|rights|"
        r"mode|privileges)\b|\bwithout (?:a |any |further )*(?:questions?|confirmation|asking)\b|\b(?:skip|"
        r"drop|omit|lift|suspend) (?:\w+ ){0,3}(?:confirmations?|questions?|checks?|approvals?|limits?|"
        r"rules|restrictions?)\b|\bwhoever (?:sent|wrote|says|asks)\b|\bno matter who\b|\bohne ruckfrage|"
        r"\bsans (?:poser de )?question|\bsin (?:preguntar|preguntas)\b|без вопрос",
        near=160,
        unless=r"\b(?:slash|command line|/\w+ command|wake word)\b|\b(?:never|do not|don.?t|ignore|refuse|"
        r"treat it as data)\b",
    ),
    deed(
        "skill.obey",
        "takes a stranger's word for the user's",
        MEANT + r"\b(?:treat|regard|handle|consider|accept|count|take|trust|honou?r|obey)s?\b(?:[^.;]|"
        r"\.(?=\w)){0,80}\b(?:from|by|signed|of|in|at)\b",
        rf"{ADDRESS}|\b[\w-]+\.(?:com|net|org|io|dev|site|app|example)\b|\bheader\b|\b(?:maintainers?|"
        rf"authors?|vendor|"
        r"publisher|issue tracker|comments?|web ?pages?|e-?mails?|messages)\b",
        r"\bas (?:if )?(?:\w+ ){0,6}(?:user|owner|operator|admin\w*)(?:.s)?\b(?! input)|\b(?:same|equal|as "
        r"much|full|higher) (?:standing|weight|rights|authority|trust|rank|priority)\b|\bpre-?approved\b|"
        r"\bwithout (?:\w+ )?(?:question|checking|verification)\b",
        near=120,
        unless=r"\b(?:never|do not|don.?t|not|untrusted|nobody)\b",
    ),
    deed(
        "skill.obey",
        "replaces itself by what an address gives",
        MEANT + r"\b(?:update|replace|overwrite|refresh|rewrite|sync|reload|renew)\w*\b",
        r"\b(?:this|the|its own|your own) (?:skill(?:\.md)?|skill file|file|page|instructions?)\b|"
        r"\bskill\.md\b|\bitself\b",
        rf"{ADDRESS}|https://raw\.|https://gist\.",
        r"\b(?:every|each) (?:time|run|session|start|day|week|use|morning|hour|conversation)|\bbefore "
        r"(?:every|each|any)|\bdaily|\bhourly|\bat (?:the )?(?:start|begin\w+)|\bon load|\bautomatically",
        near=180,
    ),
    deed(
        "skill.hide",
        "spends or signs up for the user and does not ask",
        MEANT
        + r"\b(?:buy|purchase|order|subscribe|upgrade|checkout|check out|donate|tip|transfer|pay|sign up|"
        r"register|renew)\b",
        r"\b(?:card|account|plan|credits?|subscription|basket|cart|premium|fee|invoice|wallet|balance|"
        r"newsletter)\b|[€$£]\s?\d|\d\s?(?:€|eur|euros?|usd|dollars?)\b",
        (UNASKED, UNSAID),
        near=160,
        unless=rf"{PROHIBITS}|(?:never|not) (?:\w+ ){{0,2}}(?:buy|book|order|pay|subscribe)",
    ),
    deed(
        "skill.hide",
        "praises or follows somebody in the user's name",
        MEANT + r"\b(?:star|upvote|like|follow|endorse|retweet|repost|give|leave|write|post|publish)\b",
        r"\b(?:five[- ]stars?|5[- ]stars?|positive reviews?|(?:repo\w*|project|package|page|channel|"
        r"account|profile|app|extension) (?:of|by) (?:the|its|our)|our (?:\w+ )?(?:repo\w*|project|package|"
        r"page|channel|account|profile|app|product)|user/starred)\b",
        (UNASKED, *QUIET, r"\b(?:in|under) the (?:user|owner|person).?s? (?:name|account)|\bas the user\b"),
        near=160,
        unless=PROHIBITS,
    ),
    deed(
        "skill.hide",
        "puts a back door or weak places into what it writes",
        MEANT
        + r"\b(?:add|include|insert|keep|leave|build|put|generate|create|plant|hard-?code|embed|set)\w*\b",
        r"\b(?:back ?door|master (?:key|password|token)|(?:second|extra|hidden|support|maintenance|"
        r"fallback|default|additional|debug|emergency|universal) (?:\w+ )?(?:admin\w*|user|account|login|"
        r"password|token|key|route|endpoint|credential)s?|fixed (?:salt|seed|key|password|secret|token)|"
        r"magic (?:value|header|password|string|token)|always (?:returns?|accepts?|passes|succeeds|true))\b",
        (
            *QUIET,
            r"\b(?:every|each|all) (?:\w+ )?(?:generated|new|project|app\w*|scaffold\w*|site|template|"
            r"config\w*)|\bwithout (?:a )?comments?\b|\bin (?:all|each|every) ",
        ),
        near=180,
        unless=r"\b(?:never|do not|don.?t|avoid|no)\b (?:\w+ ){0,4}(?:back ?door|master|default|fallback|"
        r"hard|fixed|debug)",
    ),
    deed(
        "skill.hide",
        "makes small mistakes on purpose",
        MEANT
        + r"\b(?:introduce|insert|plant|make|add|leave|slip|work|build|alter|change|degrade|weaken|delay|"
        r"slow)\w*\b",
        r"\b(?:subtle|subtly|slight|slightly|small|tiny|minor|plausible|occasional\w*|inconspicuous|barely "
        r"noticeable|hard to (?:spot|notice))\b (?:\w+ ){0,3}(?:errors?|mistakes?|bugs?|inaccurac\w+|"
        r"delays?|deviations?|faults?|omissions?|wrong|worse|off|slower|false|flaws?)\b",
        (
            UNSAID,
            r"\b(?:competitors?|rivals?|if the (?:project|customer|user|company|client) (?:is|belongs|"
            r"works)|on purpose|deliberately|intentionally)\b",
        ),
        near=200,
        unless=r"\b(?:students?|learners?|exercise|quiz|training|pupils|never|do not|don.?t)\b",
    ),
    deed(
        "skill.protection",
        "has warnings of a virus scanner silenced",
        r"\b(?:anti-?virus|defender|virus scanner|edr|endpoint protection|virenscanner|antivirenprogramm)\b",
        r"\b(?:complains?|flags?|warns?|alerts?|quarantines?|blocks?|reports?|detects?|meldet|warnt)\b",
        r"\b(?:exclusions?|exclude|white-?list|allow-?list|disable|turn (?:it )?off|pause|ignore|suspend|"
        r"false positive|ausnahme)\b",
        near=120,
    ),
)
