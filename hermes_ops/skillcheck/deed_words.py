"""Kinds of words that deeds are told by, in the languages of skills: data, no rules.

They run over folded text: lower case, Latin letters without accents, words of Cyrillic or Greek letters that
all look Latin written in Latin ones. Every alternative is a whole word or phrase; a stem ends with ``\\w*``.
"""

from __future__ import annotations

import re

from .fold import fold


def kind(*words: str, free: str = "") -> str:
    """A pattern for alternatives that stand as whole words; `free`: those of scripts without blanks."""
    looking_latin = (fold(one).text for one in words if not one.isascii())
    bounded = "|".join((*words, *looking_latin))
    return rf"\b(?:{bounded})(?!\w)|{free}" if free else rf"\b(?:{bounded})(?!\w)"


# Stands before a kind of words that count where they are meant, not where they are forbidden.
MEANT = "(?#meant)"
FORBIDS = re.compile(
    r"(?:\b(?:not|never|avoid|nicht|niemals|nunca|jamais|cannot|rather than|instead of|не|no|mai|ever)|"
    r"n['’]t|don.?t) $|不要$"
)

_NOT = (
    r"(?:do not|don.?t|never|without|nor|need not|needn.?t|no need to|not need to|not have to|must not|"
    r"should not|shouldn.?t|not necessary to|unnecessary to|avoid|not to|refrain from|skip|neither|and "
    r"not)"
)
# "Do not forget to mention ..." asks for the opposite.
_STILL = r"(?:(?!(?:forget|fail|hesitate|only|just|neglect|omit|merely|simply)\b)\w+ ){0,2}"
_WHO = (
    r"(?:the |your |our |a )?(?:users?|person|people|customers?|clients?|operators?|owners?|humans?|"
    r"anyone|anybody|author|reader|team|colleagues?)"
)
_WHERE = (
    r"(?:the |your |any |a |its )?(?:\w+ )?(?:summar(?:y|ies)|reports?|repl(?:y|ies)|answers?|"
    r"responses?|outputs?|transcripts?|chat|notes?|ticket|messages?|change ?log|minutes|conversation|"
    r"recap|review|result)"
)
_GUARDED = (  # what is rightly not shown
    r"(?! (?:internal|other)\b| (?:\w+ ){0,3}(?:tokens?|keys?|secrets?|passwords?|credentials?|values?|"
    r"cookies?|ids?|tracebacks?|errors?|paths?|json|pin|codes?|names?|numbers?|data of|details of)\b)"
)

# What is done is not spoken of.
UNSAID = kind(
    rf"{_NOT} {_STILL}(?:mention|mentioning|disclose|disclosing|announce|announcing|bring (?:(?:it|"
    rf"this|that|them) )?up|acknowledge|acknowledging|talk about|point (?:(?:it|this|that|them) )?out|"
    rf"draw attention to|call attention to|speak of|admit|make a note of|(?:report|reporting|comment "
    rf"on|commenting on|discuss|discussing|surface|say|saying|note|noting|refer to|explain|describe) "
    rf"(?:it|this|that|these|them|anything|any of (?:this|it|that|these)|so|the (?:step|change|upload|"
    rf"copy|transfer|swap|selection|difference|addition|call|request|mirror))\b){_GUARDED}",
    rf"{_NOT} {_STILL}(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|"
    rf"bother|bothering|trouble|disturb|interrupt|consult|consulting) (?!anyone|anybody){_WHO}(?! "
    rf"about (?:other|internal)| with (?:\w+ )?(?:news|small|trivial|minor)| [\"“„'])",
    r"say(?:s|ing)? nothing (?:of|about|on|to|more)|nothing (?:is|gets|was) (?:said|shown|reported|"
    r"mentioned)|not worth (?:mentioning|a mention)|stay (?:quiet|silent) about|(?:pass|skip) over "
    r"(?:it|this|that) in silence",
    r"without (?:a |any |further |leaving a )*(?:word|note|mention|comment|notice|remark|trace|message|"
    r"announcement|explanation|fuss)(?: (?:of|about|on|in|to) (?:it|this|that|the|them)| of any kind|,|"
    r"\.)",
    r"no (?:mention|word|trace|record) of (?:it|this|that|the \w+|them)|unmentioned|off the record",
    r"keep (?:it|this|that|them|the \w+(?: \w+)?|all of this) (?:to yourself|quiet|internal|between us|"
    r"hidden|invisible|confidential|secret|low-key)",
    rf"(?:leave|omit|drop|exclude|keep|hold|strip|cut) (?:[\w'’,-]+ ){{1,9}}(?:from|out of) {_WHERE}",
    rf"(?:is|are|stays?|remains?|be|kept|left) (?:not |no )?(?:part of|out of|outside|absent from|"
    rf"missing from|hidden from) (?:the |your |any )?(?:\w+ )?(?:summary|report|reply|recap|preview|"
    rf"answer|ticket|transcript|notes?|{_WHO})",
    rf"{_WHO} (?:has|have|had) no need (?:to|of|for)|{_WHO} (?:does not need to|doesn.?t need to|does "
    rf"not have to|doesn.?t have to|do not need to|don.?t need to|need not|needn.?t|will not|won.?t|"
    rf"should not|shouldn.?t|must not|never needs? to|is not to|are not to)(?: (?:need|have|want|even|"
    rf"ever|really|to|be|get))* (?:see|know|hear|notice|told|asked|"
    r"aware|informed|shown|bothered|learn|worry|find out|care|consulted|notified|approve)",
    r"(?:does not|doesn.?t|do not|don.?t|won.?t|will not|not|never|nor) (?:\w+ )?(?:show up|appear "
    r"(?:in|on|anywhere in) (?:the |any |a )?(?:\w+ )?(?:diffs?|reviews?|reports?|summary|reply|"
    r"preview|history|transcript|recap|answer)|stand out|attract attention|get noticed|be noticed|be "
    r"visible|raise (?:suspicion|questions|eyebrows))|(?:hard|difficult|not easy|unlikely) to "
    r"(?:notice|spot|see|be noticed)|nobody (?:notices|sees|looks)|blends? in|(?:unobtrusive|innocuous|"
    r"inconspicuous|unsuspicious|harmless-looking)(?:-looking)? (?:name|title|message|label|wording|"
    r"file name)",
    r"(?:preview|summary|reply|answer|report|output|recap|log|message) (?:\w+ ){0,4}(?:does not|"
    r"doesn.?t|never|must not|should not|need not|do not) (?:show|list|mention|contain|include|say|"
    r"name|tell)|(?:does not|doesn.?t) show[.,;)]|(?:do not|don.?t|never) (?:\w+ ){0,2}(?:raise|flag|"
    r"question|challenge|highlight|list|count|mark) (?:[\w`.'’/-]+ ){1,6}(?:as|in) (?:an? "
    r")?(?:findings?|issues?|problems?|risks?|concerns?|error|warning|vulnerabilit\w+)|(?:do not|"
    r"don.?t|never) (?:quote|describe|reveal|repeat|paraphrase|discuss|cite|show|explain) (?:this|"
    r"these|the above|that) (?:\w+ ){0,2}(?:paragraph|section|block|rule|note|instruction|line|text|"
    r"part|step)s?",
    r"(?:describe|refer to|call|present|label|explain|declare|pass|book|log|enter) (?:it|this|that|"
    r"them|the \w+) (?:off |simply |only |just )*as (?:\w+ )?[\"“']?(?:an? )?(?:\w+ )?(?:routine|"
    r"maintenance|cache|caching|cleanup|formatting|optimi[sz]ation|housekeeping|normal|standard|"
    r"technical|rounding|minor|cosmetic|internal|telemetry|style|system)",
    r"(?:not of interest|of no interest|no concern) (?:to|for|of) (?:the |a |your )?(?:users?|person|"
    r"people|customers?|owner|operator|reader)",
    r"(?:then |afterwards )?(?:remove|delete|erase) (?:this|the) (?:section|paragraph|comment|block|"
    r"note|step|instruction)s? (?:\w+ )?(?:from|again|itself|afterwards)|(?:simply|just|only) "
    r"(?:report|say|reply|answer|state|confirm)(?: that| with)? [\"“'„«]",
    rf"no need for {_WHO} to|(?:would|could|might|will) (?:only |just )?(?:confuse|worry|alarm|"
    rf"irritate|unsettle|distract|annoy|disturb)(?: (?:them|him|her)\b| {_WHO}|[.,;)])|so as not to "
    rf"(?:confuse|worry|alarm|bother|distract)",
    r"(?:as if|as though) (?:nothing|it had|this had|they had|you had)|(?:if|when|should) (?:\w+ "
    r"){0,3}(?:asks?|asked|wonders?|inquires?|notices?)\b.{0,60}\b(?:say|answer|reply|claim|respond|"
    r"explain|tell \w+)\b.{0,40}\b(?:not|no|nothing|never|only|just|routine|normal|cannot|automatic\w*)",
    r"erwahn\w* (?:[\w,]+ ){0,6}(?:nicht|nie|niemals|nirgends)|(?:sag|sage|erzahl\w*|verrate\w*|"
    r"bericht\w*) (?:\w+ ){0,4}(?:nichts|nicht)|(?:nicht|nichts|ohne|nie|niemals|keinesfalls|ohne "
    r"dass) (?:[\w,]+ ){0,6}(?:erwahn\w*|mitteilen|mitzuteilen|mitgeteilt|berichten|sagen|hinzuweisen|"
    r"hinweis|merkt|erfahrt|weiss|weiß|informier\w*|bescheid|ankundig\w*|wissen|thematisier\w*)|"
    r"(?:heimlich|unauffallig|stillschweigend|unbemerkt|kommentarlos|unerwahnt|verschweig\w*)|nur "
    r"verwirren|behalte (?:\w+ ){0,3}fur dich",
    r"(?:ne|n) ?.?(?:\w+ ){0,3}(?:mentionn|dis|dites|signal|parl|precis|inform|averti|previen|revel|"
    r"evoqu)\w* (?:\w+ ){0,3}(?:pas|jamais|rien)|sans (?:\w+ |l.){0,3}(?:mention|dire|parler|signaler|"
    r"prevenir|avertir|informer|preciser|que l)\w*|(?:inutile|pas besoin|pas la peine|pas necessaire) "
    r"(?:de |d.)(?:\w+ |l.){0,2}(?:mention|signal|preven|dire|inform|parl|averti)\w*|(?:en silence|"
    r"discretement|a l.insu|sous silence)",
    r"(?:no|sin|nunca|ni|tampoco)(?: se)? (?:\w+ ){0,4}(?:mencion[ae]\w*|comentar\w*|comentes|comente|"
    r"digas|decir\w*|avisar\w*|avises|avise|informar\w*|informes|informe|reportar\w*|reportes|cuentes|"
    r"contar\w*|revelar|reveles|notificar\w*|notifiques|adviertas|advertir\w*)|(?:en silencio|"
    r"discretamente|a escondidas|sin que (?:el|la|lo|se))",
    r"(?:nao|sem|nunca|nem) (?:\w+ ){0,4}(?:mencion|coment|diga|dizer|avis|inform|relat|conte|contar|"
    r"revel|notific)\w*|(?:em silencio|as escondidas|sem que o)",
    r"(?:non|senza|mai|neppure) (?:\w+ ){0,4}(?:menzion|comment|dire|dirlo|dirglielo|avvis|inform|"
    r"segnal|riport|rivel|notific|parl|accenn)\w*|(?:di nascosto|in silenzio|silenziosamente|senza che)",
    r"(?:niet|zonder|nooit|geen|niets) (?:\w+ ){0,5}(?:vermeld\w*|noemen|melden|melding|vertel\w*|"
    r"zeggen|weten|informeren|merkt)|(?:vermeld|noem|meld|vertel|zeg) (?:\w+ ){0,5}(?:niet|niets)|"
    r"(?:stilletjes|ongemerkt|heimelijk|onopvallend)",
    r"(?:nie|bez|nigdy|ani) (?:\w+ ){0,4}(?:wspomina\w*|informuj\w*|informow\w*|mow|mowic|"
    r"zg[lł]aszaj\w*|ujawnia\w*|wzmianki|wiedzy|powiadamia\w*)|(?:po cichu|dyskretnie|niepostrzezenie|"
    r"w tajemnicy)",
    r"(?:nezminuj|nerikej|neoznamuj|neinformuj|neupozornuj|neuvadej|nesdeluj|nezmienuj|nehovor)\w*|bez "
    r"(?:upozorneni|zminky|vedomi|vedomia|ohlaseni)|(?:potichu|nenapadne|potajmu|tajne)",
    r"не (?:\w+ ){0,3}(?:сообща|упомина|говор|пиш|рассказыв|указыва|уведомл|предупрежд|раскрыва)\w*|"
    r"(?:сообщать|упоминать|говорить|рассказывать|уведомлять|знать) (?:\w+ ){0,5}не (?:нужно|надо|"
    r"следует|стоит|требуется|обязательно)|(?:не (?:нужно|надо|следует|стоит|требуется)|без|незачем) "
    r"(?:\w+ ){0,4}(?:сообщ|упомин|говор|уведомл|предупрежд|ведом|знать)\w*|(?:молча|незаметно|тайком|"
    r"скрытно|втайне|тихо)",
    r"не (?:\w+ ){0,3}(?:повідомля|згаду|каж|розповіда|пиш|попереджа)\w*|без (?:відома|згадки|"
    r"попередження)|(?:непомітно|мовчки|потай|таємно)",
    r"(?:soyleme|bahsetme|belirtme|bildirme|anlatma|haber verme|soylemeden|bildirmeden|haber vermeden|"
    r"belirtmeden|bahsetmeden|sessizce|gizlice|fark ettirmeden)\w*",
    r"(?:inte|aldrig|utan att|ikke|aldri|uden at|uten a) (?:\w+ ){0,4}(?:namn\w*|beratt\w*|meddela|"
    r"saga|sag|tala om|navn\w*|fort(?:ae|æ)l\w*|fortell\w*|n(?:ae|æ)vn\w*|nevn\w*|informer\w*)|(?:namn|"
    r"n(?:ae|æ)vn|nevn|sag|si) (?:\w+ ){0,4}(?:inte|inget|ikke|ingenting)|(?:i smyg|i det stille|i "
    r"stillhet|i hemlighet|ubem(?:ae|æ)rket|i all stillhet)",
    r"ala (?:kerro|mainitse|ilmoita)|(?:kertomatta|mainitsematta|ilmoittamatta|huomaamatta|salaa)",
    r"ne (?:\w+ ){0,2}(?:emlits|mondd|jelezd|szolj)\w*|(?:csendben|titokban|eszrevetlenul)",
    r"(?:nu|fara sa|fara a) (?:\w+ ){0,3}(?:mention|spune|spui|anunt|inform)\w*|(?:pe ascuns|in tacere|"
    r"in secret)",
    r"(?:jangan|tanpa|tidak perlu|tak perlu) (?:\w+ ){0,3}(?:beri ?tahu\w*|memberi ?tahu\w*|sebut\w*|"
    r"menyebut\w*|laporkan|katakan|sepengetahuan)|(?:diam-diam|secara diam|sembunyi)",
    r"(?:khong|đung|cho) (?:\w+ ){0,3}(?:nhac|noi|bao|tiet lo|thong bao|ke)(?: \w+){0,3} (?:nguoi dung|"
    r"viec nay|đieu nay)|(?:am tham|len lut)",
    r"μην (?:\w+ ){0,2}(?:αναφέρ|πεις|ενημερώ|αναφερ)\w*|χωρίς να (?:\w+ ){0,3}(?:ενημερ|πει|αναφέρ|"
    r"γνωρίζ)\w*|(?:σιωπηλά|κρυφά|αθόρυβα)",
    free=r"(?:不要|无需|無需|无须|不必|不用|不需要|不得|勿|别|也不|请不|且不)[^。\n]{0,14}?(?:提及|提到|"
    r"告诉|告訴|告知|通知|说明|說明|汇报|彙報|透露|知道|知情)|(?:悄悄|暗中|静默|靜默|偷偷|默默)|"
    r"(?:言及|報告|通知|説明|伝え|知らせ|触れ|記載|言わ)[^。\n]{0,8}?(?:ないで|しない|ずに|せず|"
    r"なくてよ|なくてい|不要|必要はな|いけない|てはなら)|(?:こっそり|黙って|密かに|ひそかに|気づかれ|"
    r"知られ)|(?:언급|말|보고|알리|알려|통지|설명)[^.\n]{0,8}?(?:지 마|지마|지 않|않고|없이|말 것|"
    r"필요)|(?:몰래|조용히|은밀)|(?:لا|دون|بدون) (?:\w+ ){0,3}(?:تذكر|تخبر|تبلغ|ذكر|إخبار|اخبار|إعلام|"
    r"إبلاغ|علم)|بصمت|خفية|خلسة|(?:אל|לא|בלי|מבלי|ללא|אין צורך) (?:\w+ ){0,3}(?:תזכיר|לספר|תספר|תגלה|"
    r"לדווח|תדווח|אזכור|ידיעת|לציין|תציין|להזכיר|ליידע)|בחשאי|בסתר|(?:बताए बिना|न बताए|मत बता|उल्लेख "
    r"न|जिक्र न|चुपचाप|बिना बताए)",
)
# What is done is not shown.
UNSHOWN = kind(
    rf"{_NOT} {_STILL}(?:show|showing|list|listing|display|displaying|print|printing|log|logging|"
    rf"record|recording|include|including|reveal|revealing|describe|describing|explain|explaining|"
    rf"write|writing|echo|echoing|expose){_GUARDED} (?:this|these|that|it|them|the) (?:\w+ "
    rf"){{0,2}}(?:step|upload|call|change|transfer|command|addition|copy|request|sync|swap|part|"
    rf"section|block|action|instruction|lines?|(?:in|to) {_WHERE}|to {_WHO})s?",
    r"(?:silent|quiet|secret|discreet|invisib|covert|stealthi|unobtrusive|inconspicuous)ly|discreet|no "
    r"trace|out of sight|behind the scenes|without drawing attention",
    r"in the background",
    r"(?:nicht|ohne|nie) (?:[\w,]+ ){0,4}(?:anzeigen|zeigen|anzuzeigen|auflisten|aufnehmen|"
    r"protokollieren)|zeig\w* (?:\w+ ){0,4}nicht|ohne (?:zu fragen|ruckfrage|nachfrage)",
    r"(?:ne|n) ?.?(?:\w+ ){0,3}(?:montr|affich|indiqu|list)\w* (?:\w+ ){0,3}(?:pas|jamais|rien)|sans "
    r"(?:\w+ |l.){0,3}(?:montrer|afficher|demander|indiquer)\w*",
    r"(?:no|sin|nunca|ni) (?:\w+ ){0,4}(?:muestr|mostr|indi[cq]|pregunt|consult|ensen)\w*",
    r"(?:nao|sem|nunca|nem) (?:\w+ ){0,4}(?:mostr|indi[cq]|pergunt|consult|exib)\w*",
    r"(?:non|senza|mai) (?:\w+ ){0,4}(?:mostr|indic|chied|visualizz)\w*",
    r"(?:niet|zonder|nooit) (?:\w+ ){0,5}(?:tonen|vragen|zien)|toon (?:\w+ ){0,3}niet",
    r"(?:nie|bez|nigdy) (?:\w+ ){0,4}(?:pokazuj\w*|pytaj\w*|pytania|wy[sś]wietlaj\w*)|neukazuj\w*|bez dotazu",
    r"(?:не|без) (?:\w+ ){0,3}(?:показыв|спрашив|вопрос|спрос|отража|подтвержд|соглас|разрешен|показу|"
    r"запит|питай)\w*",
    r"(?:gosterme|sorma|raporlama|sormadan|gostermeden)\w*|(?:inte|ikke|utan att|uden at) (?:\w+ "
    r"){0,4}(?:visa|vise|vis|fraga|sporg\w*|sporr\w*)|ala (?:nayta|kysy)|(?:jangan|tanpa) (?:\w+ "
    r"){0,3}(?:tampilkan|tanya\w*|bertanya)",
    free=r"(?:不要|无需|無需|无须|不必|不用|不需要|也不)[^。\n]{0,14}?(?:(?:显示|顯示)(?!密|令|凭|金|钥)|"
    r"询问|詢問|征得|徵得|记录|出现|经过|確認|确认)|(?:表示|確認|尋ね)[^。\n]{0,6}?(?:ないで|しない|"
    r"ずに|せず|不要)|無断で|(?:표시|묻|물어|확인)[^.\n]{0,8}?(?:지 마|지 않|않고|없이)|(?:لا|دون|"
    r"بدون) (?:\w+ ){0,3}(?:تعرض|تظهر|سؤال|موافقة)|(?:אל|בלי|מבלי) (?:\w+ ){0,3}(?:תציג|להציג|לשאול|"
    r"תשאל)|(?:पूछे बिना|बिना पूछे)",
)
# Nobody is asked, or is said to have agreed.
UNASKED = kind(
    r"without (?:\w+ ){0,2}(?:asking|confirmation|approval|consent|permission|prompting|waiting|a "
    r"prompt|a question)|(?:do not|don.?t|never|no need to|not need to|must not) (?:ask|wait|prompt|"
    r"request|seek)(?! (?:for|about|the user for) (?:\w+ ){0,2}(?:password|token|key|pin|secret|"
    r"credential|passport|card|number|detail|name|data|permission)s?)|unprompted|unasked",
    r"already (?:agreed|consented|accepted|approved|given (?:permission|consent)|authori[sz]ed)|"
    r"(?:installing|install|installation|use|loading) (?:\w+ ){0,6}(?:counts as|means|implies|is) "
    r"(?:\w+ ){0,2}(?:consent|agreement|approval|permission|that the user)|(?:consent|permission|"
    r"approval) (?:is|was) (?:implied|implicit|given|granted)",
    r"bereits (?:zugestimmt|eingewilligt)|ohne (?:zu fragen|ruckfrage|nachfrage|zustimmung)|deja "
    r"(?:accepte|donne son accord)|sans (?:demander|confirmation|accord)|ya (?:acepto|autorizo|dio su)|"
    r"sin (?:preguntar|confirmacion|pedir)|ja (?:aceitou|autorizou)|sem (?:perguntar|confirmacao)|gia "
    r"(?:accettato|autorizzato)|senza (?:chiedere|conferma)|zonder (?:te vragen|toestemming)|bez "
    r"(?:pytania|zgody|dotazu)|без (?:спроса|подтверждения|согласия|разрешения)|sormadan|onay almadan",
    free=r"(?:无需|不需要|不必|不用|无须)(?:征得|经过|询问|确认)[^。\n]{0,6}|(?:確認|許可)(?:なし|を取らず|"
    r"せず)|(?:묻지 않고|확인 없이)",
)
KEY_FILES = (
    r"~?/?\.ssh\b(?!\S*(?:\.pub|config|known_hosts|authorized))|\bid_(?:rsa|ed25519|ecdsa)(?!\.pub)|"
    r"\.netrc|\.npmrc|\.pypirc|(?<![\w)])\.env\b|kube/config|kubeconfig|terraform\.tfstate|"
    r"\w+_history\b|(?<!\w)\.aws\b|\.gnupg|config/gh\b|gh/hosts\.yml|\.git-credentials|"
    r"docker/config\.json|auth\.json|\.kdbx?\b|keychain"
)
SECRET_FILES = rf"{KEY_FILES}|\.pem\b"
# Of a person, or gathered: nothing that one request needs.
PERSONAL = rf"{SECRET_FILES}|" + kind(
    r"conversations?|chats?|(?:chat|shell|browser|browsing|search|command|session) (?:history|logs?)|"
    r"transcripts?|memor(?:y|ies)(?: files?)?(?! (?:leak|usage|limit|use|profile|footprint))|"
    r"memory\.md|soul\.md|user\.md|stored drafts|drafts folder|address ?book|contacts?|contact list|"
    r"inbox|mailbox|private (?:messages?|repositor\w+|notes|keys?)|diary|calendars?|bank statements?|"
    r"(?:customer|client|patient|member|employee) (?:database|data|list|records?|table|names|file)|"
    r"customers?|salar(?:y|ies)|payroll|passports?|tax returns?|photos?|bookmarks|cookies|password "
    r"(?:store|manager|vault)|wallets?|seed phrase|home (?:directory|folder)|documents folder|"
    r"credentials|environment variables|(?:everything|whatever|what|all) (?:the |that the )?user "
    r"(?:\w+ )?(?:typed?|wrote|writes|said|says|pasted?|uploaded|entered)|(?:last|recent|previous|full|"
    r"whole|entire) (?:\w+ )?(?:messages|prompts?|sessions?|context)|source code|uncommitted|system "
    r"prompt",
    r"gedachtnis\w*|unterhaltung\w*|gesprach\w*|chatverlauf|postfach|posteingang|adressbuch|kontakte|"
    r"kalender|zugangsdaten|kundendaten|umgebungsvariablen|anmeldedaten|historique|boite de reception|"
    r"carnet d.adresses|identifiants|mots? de passe|cles? (?:api|privees?|ssh|secretes?)|memoire|"
    r"variables d.environnement|donnees (?:des )?clients?|conversacion\w*|historial|bandeja de entrada|"
    r"libreta de direcciones|contactos|credenciales|contrasen\w+|memoria|variables de entorno|datos "
    r"(?:de (?:los )?clientes|personales)|conversas?|historico|caixa de entrada|contatos|credenciais|"
    r"senhas?|variaveis de ambiente|dados (?:dos )?clientes|conversazion\w+|cronologia|rubrica|"
    r"contatti|credenziali|variabili d.ambiente|dati (?:dei )?clienti",
    r"gesprek\w*|geheugen|adresboek|contacten|wachtwoord\w*|inloggegevens|klantgegevens|"
    r"omgevingsvariabelen|rozmow\w*|kontakt\w*|has[lł][oa]\w*|pamiec\w*|dane klient\w*|"
    r"po[sś]wiadcze\w*|konverzac\w*|hesl[oa]\w*|pamet\w*|prihlasovac\w*|переписк\w*|разговор\w*|"
    r"истори[яюие]|контакт\w*|парол\w*|памят[ьи]|уч[её]тн\w*|диалог\w*|переменн\w+ окружени\w*|"
    r"листуванн\w*|розмов\w*|історі\w*|обліков\w*|sohbet\w*|konusma\w*|gecmis\w*|rehber\w*|parola\w*|"
    r"sifre\w*|kimlik bilgi\w*|hafiza\w*|ortam degisken\w*|samtal\w*|historik\w*|losenord\w*|"
    r"samtale\w*|adgangskode\w*|passord\w*|hukommelse\w*|minne\w*|percakapan|riwayat|kontak|kata sandi|"
    r"kredensial|cuoc tro chuyen|lich su|tin nhan|danh ba|mat khau|keskustelu\w*|salasan\w*|"
    r"beszelgetes\w*|jelsz\w*|conversatii\w*|parolel?e?|συνομιλί\w*|κωδικ\w*|επαφ\w*",
    free=r"对话|聊天|会话|记忆|历史记录|联系人|通讯录|收件箱|密码|密钥|凭证|凭据|令牌|私钥|环境变量|"
    r"客户数据|對話|密碼|金鑰|記憶|会話|チャット|履歴|メモリ|連絡先|アドレス帳|受信|パスワード|秘密鍵|"
    r"認証情報|環境変数|顧客|대화|채팅|메모리|기억|연락처|비밀번호|인증|환경 ?변수|고객|محادث|رسائل|"
    r"ذاكرة|جهات الاتصال|كلم\w+ (?:المرور|السر)|مفاتيح|שיח|היסטורי|זיכרון|אנשי קשר|סיסמ|מפתחות|बातचीत|"
    r"पासवर्ड|इतिहास|मेमोरी",
)
SECRET = kind(
    r"secrets?|api[ _-]?keys?|tokens?|\w+_(?:token|key|secret)|passwords?|passphrases?|credentials?|"
    r"cles?|passwort\w*|kennwort\w*|schlussel|geheimnis\w*|jetons?|claves?|secretos|chaves?|segredos|"
    r"chiav[ei]|segreti|sleutels?|klucz\w*|klic\w*|ключ\w*|токен\w*|секрет\w*|anahtar\w*|nyck\w*|"
    r"nogl\w*|kunci|avaim\w*|kulcs\w*|chei\w*",
    free=r"鍵|トークン|秘密|토큰|비밀|מפתח|مفتاح|कुंजी",
)
AWAY = kind(
    r"sends?|sending|posts?|posting|uploads?|uploading|forwards?|attach(?:es)?|(?:e-?)?mails? (?:it|"
    r"them|the|this|that|these|both|all|a copy|everything)|embeds?|appends?|transmits?|pastes?|shares?|"
    r"publish(?:es)?|push(?:es)?|exports?(?! \w+=)|submits?|relays?|transfers?|delivers?|(?:mirror|"
    r"hand|stream|report)s? (?:it|them|the|this|that|these|over|back|all)|pings?|beacons?|(?:add|put|"
    r"copy|sync|write|save|encode)s?(?: \w+){0,6}(?: in)?to|bcc",
    r"schick\w*|sende\w*|ubermittl\w*|ubertrag\w*|hochlad\w*|lade?|leite\w*|envo[iy]\w*|transm\w*|"
    r"televers\w*|expedi\w*|envi[ae]\w*|sub[ei]\w*|mand[ae]\w*|reenvi\w*|carreg\w*|encaminh\w*|"
    r"invi[ao]\w*|spedi\w*|caric\w*|inoltr\w*|trasmett\w*|stuur\w*|verstuur\w*|verzend\w*|plaats\w*|"
    r"wy[sś]lij\w*|wysy[lł]\w*|prze[sś][lły]\w*|wgraj\w*|posli\w*|odesli\w*|nahraj\w*|отправ\w*|"
    r"загруз\w*|перешл\w*|выложи\w*|посыла\w*|пошли\w*|переда[йв]\w*|добавь\w*|опублик\w*|надішл\w*|"
    r"надсил\w*|відправ\w*|завантаж\w*|передай\w*|gonder\w*|yukle\w*|ilet\w*|aktar\w*|paylas\w*|"
    r"skicka\w*|ladda upp|last opp|kirim\w*|unggah\w*|gui|tai len|laheta\w*|kuld\w*|feltolt\w*|"
    r"trimit\w*|incarc\w*|στείλ\w*|ανέβασ\w*|anad\w*|ajout\w*|adicion\w*|aggiung\w*",
    free=r"上传|上傳|发送|發送|发到|提交|推送|转发|传到|附加|发布|送信|アップロード|投稿|転送|送って|送る|"
    r"전송|업로드|보내|게시|전달|أرسل|ارسل|ارفع|إرسال|שלח|העלה|העבר|לשלוח|भेज|अपलोड",
)
ADDRESS = (
    r"(?:https?://(?!localhost|127\.|10\.|192\.168\.|\[::1\]|github|docs\.)|"
    r"(?<![\w/.@-])[\w-]{1,64}\.[\w-]{1,64}\.(?:org|com|net)/|(?<![\w.+-])(?!(?:you|your\w*|me|"
    r"user(?:name)?|name|git|root|backup|deploy)@)[\w.+-]{1,64}@[\w-]{1,64}\.\w|\b(?:s?ftp|s3|gs)://)"
)
PLACE = (
    r"\b(?:gists?|pastebin|webhooks?|dropbox|network share|shared (?:drive|folder)|public_html|"
    r"/var/www|public (?:repo\w*|bucket|channel|link|issue|page|folder)|(?:google|feedback|contact|"
    r"web) form|(?:our|external|remote|collection) (?:server|collector|backend|endpoint|api)|telegram "
    r"bot|discord channel|anyone with the link)\b"
)
_FILLED = rf"{ADDRESS}[^\s)`]{{0,200}}\?\w+=(?:\.\.\.|[<{{$…])"  # a parameter that is to be filled in
SENT = rf"(?:{AWAY}).{{0,200}}?(?:{ADDRESS}|{PLACE})|{ADDRESS}[^ ]{{0,300}} (?:{AWAY})|{_FILLED}"
SENT_FAR = rf"(?:{AWAY}).{{0,160}}?{ADDRESS}|{_FILLED}"
LASTING = kind(
    r"permanent\w*|for good|next time|from now on|from then on|(?:future|later|every|each|all) "
    r"sessions?|rest of the session|leave (?:it|them|this|that) (?:off|so|that way|on|as is|in place|"
    r"disabled)|stays? (?:off|so|that way|disabled)|keep (?:it|them) (?:off|disabled|that way)|"
    r"globally|user-wide|for everything|do not (?:undo|revert|restore|turn it back|re-enable)|"
    r"afterwards too|dauerhaft|kunftig|beim nachsten mal|definitiv\w*|para siempre|la proxima vez|para "
    r"la proxima|durablement|la prochaine fois|permanentemente|per sempre|voortaan|na stale|навсегда|в "
    r"следующий раз|впредь|kalici olarak",
    free=r"永久|以后|下次|今后|恒久|次回|今後|영구|앞으로",
)
