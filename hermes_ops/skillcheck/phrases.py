"""What instructions against the user are worded like, in several languages, as patterns over words.

The patterns run over a stream of lower-case words joined by single spaces (words.py), so that line ends,
comment marks and punctuation count for nothing; gaps are bounded. `{n}` stands for up to n words.
"""

from __future__ import annotations

import re

from .phrase_patterns import Phrase, phrase
from .phrases_abroad import ABROAD
from .rules import ERROR, WARNING

PHRASES: tuple[Phrase, ...] = (
    # --- dropping the instructions that hold
    *phrase(
        "skill.override",
        ERROR,
        "tells the model to drop the instructions it has",
        "<drop> {3}<earlier> {3}<firm>",
        "<drop> {2}(?:all|any|every|your|the) {2}(?:previous|prior|preceding|earlier|above|safety|system) "
        "{2}<orders>",
        "<drop> (?:all )?(?:of )?your {2}<orders>",
        "<drop> (?:everything|anything|all|what) {4}(?:told|said|instructed|given|written|learned) "
        "{3}(?:before|above|earlier|previously|so far|until now)",
        "(?:whatever|anything|everything|all|what) {1}you (?:were|have been|had been|are|ve been) (?:told|"
        "taught|given|instructed) {3}(?:does not|doesn t|no longer|do not|don t) (?:matter|apply|count|hold)",
        "<earlier> {1}<orders> (?:that )?you (?:were|have been|had been|have|had) (?:given|received|told|"
        "shown)? {3}(?:no longer|do not|don t) (?:apply|count|hold|matter)",
        "<drop> (?:everything|all|all of the) (?:above|before this|prior to this|that came before)",
        "<drop> (?:what|whatever|anything|everything) {3}(?:system|developer|operator|user) {2}(?:says?|said|"
        "wants?|told|tells)",
        "(?:set|put|leave) aside (?:what|whatever|everything|anything|all) {2}(?:operator|developer|user|"
        "system) "
        "{2}(?:wrote|said|says|told|wants)",
        "(?:pay no heed|pay no mind|close your ears) to (?:what|whatever|anything|everything|all)",
        "(?:your )?new (?:instructions?|orders|directives?) (?:are|is) {3}(?:to )?(?:ignore|send|upload|"
        "reveal)",
        r"(?:do not|don t) (?:listen to|obey|follow) the (?:user|human|operator|developer)",
        "(?:ignore|disregard|override) (?:the|any|all) {1}(?:user|human|operator) s (?:instructions|wishes|"
        "requests?|objections|preferences|orders)",
        "(?:ignoriere|ignorieren sie|vergiss|missachte|missachten sie) {3}(?:vorherigen?|bisherigen?|"
        "früheren?|obigen?|vorigen?|fruheren?) {2}(?:anweisungen|instruktionen|befehle|regeln|vorgaben|"
        "prompts?)",
        "(?:ignorez?|oublie|oubliez|ne tenez? (?:pas|plus) compte de(?:s)?) {4}(?:instructions|consignes|"
        "directives|regles|ordres) {2}(?:precedentes?|anterieures?|ci dessus|initiales?)",
        "(?:ignora|ignore|ignorar|olvida|olvide|desestima|haz caso omiso de) {4}(?:instrucciones|"
        "indicaciones|ordenes|reglas|directrices) {2}(?:anteriores|previas|de arriba|originales)",
        r"(?:ignora|dimentica|trascura) {4}(?:istruzioni|direttive|regole) {2}(?:precedenti|di prima|sopra)",
        "(?:ignore|esqueca|desconsidere) {4}(?:instrucoes|orientacoes|regras|ordens) {2}(?:anteriores|"
        "previas|acima)",
        r"(?:игнорируи(?:те)?|игнорируй(?:те)?|забудь(?:те)?|отбрось(?:те)?|не обращаи(?:те)? внимания на|"
        r"не обращай(?:те)? внимания на|не следуй(?:те)?|не следуи(?:те)?) {4}(?:предыдущ\w+|прежн\w+|"
        r"прошл\w+|ранн\w+|вышеуказанн\w+|системн\w+|изначальн\w+) {2}(?:инструкци\w+|указани\w+|правил\w*|"
        r"команд\w*|промпт\w*)",
        r"(?:ігноруи(?:те)?|ігноруй(?:те)?|забудь(?:те)?) {3}попередн\w+ {2}(?:інструкці\w+|вказівк\w+)",
        "(?:zignoruj|ignoruj|zapomnij) {3}(?:poprzednie|wczesniejsze|wszystkie) {2}(?:instrukcje|polecenia|"
        "zasady)",
        "(?:onceki|yukaridaki|tum) {2}(?:talimatlari|komutlari|kurallari) {2}(?:yok say|unut|gormezden gel|"
        "dikkate alma)",
        r"(?:abaikan|lupakan) {2}(?:semua )?(?:instruksi|perintah|aturan) {2}(?:sebelumnya|di atas)",
    ),
    *phrase(
        "skill.override",
        WARNING,
        "says that it counts more than other instructions",
        "<over> {2}(?:all|any|your|the|these|those|every) {2}(?:previous|prior|earlier|safety|core|"
        "original) {1}<firm>",
        "(?:takes?|has|have|taking|having) (?:absolute |full |higher )?(?:precedence|priority) over "
        "{3}(?:system|user|safety|developer) {1}<orders>",
        "supersedes? (?:all|any) {2}<firm>",
        "(?:outranks?|overrules?|trumps?) (?:what |whatever |anything )?(?:the )?(?:system|developer|user|"
        "operator)s?",
    ),
    *phrase(
        "skill.role",
        ERROR,
        "tells the model to act without its limits",
        "you are now {2}(?:dan|jailbroken|unrestricted|uncensored|unfiltered|unbound|evil|free from|free of|"
        "in (?:developer|god|dan|jailbreak|unrestricted) mode)",
        "you are no longer {2}(?:bound|restricted|limited|required|subject|obligated|an? ai|an? assistant|"
        "claude|hermes|chatgpt|gpt)",
        "(?:act|behave|respond|answer|operate|function|reply|work|speak) {3}(?:without|with no|free of|free "
        "from) {3}(?:restrictions|filters?|censorship|guardrails|ethical|moral|safety)",
        "(?:pretend|imagine|roleplay|simulate) {4}(?:you are|you re|you have|to be|to have) {2}(?:no|not|"
        "without|free) {3}(?:restrictions|limits|limitations|guidelines|rules|filters|bound)",
        "(?:enter|enable|activate|switch to|engage) {2}(?:dan|god|jailbreak|jailbroken|unrestricted|"
        "unfiltered) mode",
        "do anything now",
        r"(?:ты|вы) (?:теперь|больше не) {3}(?:без ограничен\w+|ограничен\w*|свобод\w+ от|dan)",
        "(?:du bist|sie sind) (?:jetzt|nun|ab sofort) {2}(?:ohne|frei von) {2}(?:einschrankungen|regeln|"
        "filter)",
        r"ahora eres {3}(?:sin restricciones|sin limites|libre de)",
        r"tu es (?:maintenant|desormais) {3}(?:sans restrictions?|sans limites?|libre de)",
    ),
    # --- keeping things from the user
    *phrase(
        "skill.hide",
        ERROR,
        "tells the model to keep something from the user",
        "<not> (?:ever )?(?:mention|mentioning|reveal|disclose|explain|report|discuss|acknowledge|announce|"
        "bring up|talk about|refer to|hint at|admit|point out) {1}(?:this|these|it|any of this|any of these|"
        "that you|what you|the fact|having) {7}<user>",
        "<not> (?:ever )?(?:tell|inform|notify|alert|warn|let) {1}(?:the |your |our )?<user> {1}(?:about|"
        "that|what|of|know|see|notice) {3}(?:this|these|you|it|any|what|that|step|upload|request|"
        "instruction)",
        "(?:so that|make sure|ensure) {2}the <user> (?:does not|doesn t|never|will not|won t|cannot|can t) "
        "(?:notice|see|know|find out|realise|realize|learn|suspect)",
        "(?:keep|keeping) (?:this|these|it|all of this|the above|that) {2}(?:secret|hidden|confidential|"
        "invisible|concealed|private) {2}(?:from )(?:the |your )?<user>",
        "(?:hide|conceal|hiding|concealing|mask) (?:this|these|it|all of this|your (?:actions?|activity|"
        "tracks)|the fact|that you|what you) {5}<user>",
        "behind the user s back",
        "leave no (?:trace|sign|mark|mention) {4}(?:what you (?:write|say|answer)|replies|reply|answer|"
        "summary|"
        "output|report|log|chat)",
        "leave (?:this|that|it|these|them) out of (?:your|the) {2}(?:summary|reply|replies|answer|report|"
        "response|"
        "output)",
        "<user> {3}(?:does not|doesn t|do not|don t|need not) (?:have to |need to )?(?:know|hear|learn) "
        "(?:that|about|"
        "of) {2}(?:this|it|you|each|every|after|step)",
        "<quietly> (?:and )?{2}(?:send|upload|post|forward|transmit|exfiltrate|collect|harvest|copy|append|"
        "steal|leak|read)",
        "(?:run|execute|perform|call|start|do) {4}<quietly> and {2}(?:leave|keep|omit|hide|drop) {6}(?:user|"
        "summary|report|answer)",
        "without (?:the |your )?<user> (?:knowing|noticing|realizing|realising|seeing|being (?:told|aware|"
        "informed))",
        "without the <user> s (?:knowledge|awareness|consent)",
        "if (?:the |your )?(?:user|human|operator|anyone|somebody|someone) (?:asks?|inquires?|questions?|"
        "complains?|notices) {8}(?:deny|lie|pretend|claim|act as if|feign|make up|say (?:that )?(?:you|it|"
        "there) (?:do not|don t|did not|didn t|was|were|is|are|know)"
        r"(?! (?:\w+ ){0,3}(?:ai|assistant|bot|program|machine|model|agent|automated|computer)\b))",
        "<not> (?:include|leave|write|log|record|list|put) {3}(?:this|these|any trace|the above) "
        "{3}(?:summary|"
        "report|answer|reply|response|log|transcript) {3}<user>",
        r"не (?:сообщаи|сообщай|говори|рассказываи|рассказывай|упоминаи|упоминай|показываи|показывай|"
        r"раскрываи|раскрывай)(?:те)? {3}(?:пользовател\w+|человек\w*|владельц\w+) {2}(?:об этом|о том|что|"
        r"про это)",
        r"не (?:сообщаи|сообщай|говори|рассказываи|рассказывай|упоминаи|упоминай)(?:те)? (?:об этом|про это|"
        r"о том|это) {4}(?:пользовател\w+|человек\w*|владельц\w+)",
        r"(?:втаине|втайне|скрытно|тайно|таино|незаметно) (?:от пользовател\w+ )?{1}(?:отправ\w+|перешл\w+|"
        r"скопируи\w*|скопируй\w*|загруз\w+|собер\w+)",
        r"(?:sag|sage|erzahle|verrate|teile|melde) (?:dies |das |es )?(?:dem|der|den) (?:benutzer|nutzer|"
        r"anwender)\w* {2}(?:nichts|nicht|davon nichts)",
        r"(?:ohne dass (?:der|die|es der) (?:benutzer|nutzer|anwender)\w*) {3}(?:merkt|bemerkt|weiss|"
        r"erfahrt|sieht)",
        "(?:no|nunca) (?:le )?(?:digas|menciones|informes|reveles|muestres|cuentes) {3}(?:al|a la|el) "
        "(?:usuario|usuaria)",
        r"(?:sin que|a espaldas de)l? {1}(?:usuario|el usuario) {1}(?:lo )?(?:sepa|note|se entere|vea)?",
        "ne (?:dis|dites|mentionne|mentionnez|revele|revelez|montre|montrez|parle|parlez) {3}(?:pas|jamais|"
        "rien) {4}(?:utilisateur|utilisatrice)",
        r"a l insu de l utilisateur",
        "(?:nao|nunca) (?:diga|conte|mencione|revele|informe|mostre) {3}(?:ao|para o|o) (?:usuario|"
        "utilizador)",
        r"non (?:dire|rivelare|menzionare|mostrare|informare) {3}(?:all|l) utente",
    ),
    *phrase(
        "skill.hide",
        WARNING,
        "says that something happens without the user being told",
        "without (?:telling|informing|notifying|alerting|warning) (?:the |your |our )?<user>",
        "<not> (?:ever )?(?:show|expose|display) (?:this|these|any of this) {1}(?:steps?|instructions?|"
        "section|comment|commands?|to) {4}(?:user|human|operator|owner)",
        "<not> (?:tell|inform|notify|alert) (?:the |your )(?:user|human|operator|owner)",
    ),
    # --- sending private data away
    *phrase(
        "skill.exfiltrate",
        ERROR,
        "asks for private data to be sent away",
        "<send> {5}<secrets> {8}(?:to|at|into|via|through|in|as|with) {5}<sink>",
        "(?:read|open|cat|get|collect|gather|grab|extract|copy|dump|find|locate|fetch|take|print|harvest|"
        "zip|tar|compress|pack|bundle|archive|search|look|list|load|base64) {6}<secrets> {12}<send> {1}<it> "
        "{8}<sink>",
        "(?:read|open|cat|get|collect|gather|grab|extract|copy|dump|find|harvest|load) {6}<secrets> "
        "{6}(?:and|then) {2}<send> {6}(?:to|at) {2}https?",
        "(?:encode|append|embed|put|place|insert|include|add) {8}<secrets> {6}(?:in|into|to|as|inside) "
        "{3}(?:url|query|image|link|address|request|parameter|dns|subdomain|header)",
        r"(?:отправ\w+|перешл\w+|загруз\w+|вышл\w+) {5}(?:ключ\w*|парол\w+|секрет\w+|токен\w*|id rsa|env|"
        r"переменн\w+ окружен\w+|переписк\w+|истори\w+) {8}(?:на|по|в) {4}(?:https?|сервер\w*|адрес\w*|"
        r"вебхук\w*)",
        r"(?:sende|schicke|lade|ubermittle|ubertrage) {5}(?:schlussel\w*|passworter|passwort|zugangsdaten|"
        r"geheimnisse|id rsa|env|umgebungsvariablen) {8}(?:an|auf|nach|zu) {4}(?:https?|server|adresse|"
        r"webhook)",
        "(?:envia|envie|enviar|sube|manda) {5}(?:claves?|contrasenas?|secretos?|credenciales|id rsa|env|"
        "variables de entorno) {8}(?:a|al|en) {4}(?:https?|servidor|webhook|direccion)",
        "(?:envoie|envoyez|transmets|transmettez|televerse) {5}(?:cles?|mots? de passe|secrets?|"
        "identifiants|id rsa|env|variables d environnement) {8}(?:a|au|vers|sur) {4}(?:https?|serveur|"
        "webhook|adresse)",
    ),
    # --- switching protections off, staying for ever, obeying what comes
    *phrase(
        "skill.protection",
        ERROR,
        "asks for the agent's protections to be switched off",
        "(?:disable|deactivate|turn off|switch off|bypass|skip|remove|uninstall) {3}(?:command approvals?|"
        "approval prompts?|approvals|approval mode|command guard|skills? guard|skill scan(?:ner|ning)?|"
        "security scan(?:ner|ning)?|guardrails|hermes ops guard)",
        "(?:set|put|switch|change|turn) {2}(?:approvals? mode|approvals|approval) {2}(?:to )?(?:off|yolo|"
        "never|none|auto)",
        "(?:set|export|enable|turn on) {1}hermes yolo mode",
        "(?:enable|turn on|switch to|use|enter|run in|with) yolo(?: mode)?",
        "(?:approve|accept|confirm|allow) {1}(?:every|all|any|each) {2}(?:commands?|approvals?|prompts?|"
        "tool calls?|"
        "confirmations?) {4}(?:behalf|unasked|for the user|without asking)",
    ),
    *phrase(
        "skill.protection",
        WARNING,
        "asks for a protection to be switched off",
        "(?:commands?|tools?|tool calls?|scripts?|purchases?) {2}(?:never|do not|don t|no longer) "
        "(?:needs?|requires?) "
        "{2}(?:approval|approvals|permission)",
        "<user> has (?:pre approved|preapproved|already approved) {1}(?:every|all|any|each|everything)",
        "(?:disable|deactivate|turn off|switch off|exclude {4}from) {2}(?:your )?{1}(?:antivirus|anti virus|"
        "windows defender|gatekeeper|real time protection|microsoft defender)",
    ),
    *phrase(
        "skill.persist",
        WARNING,
        "wants its words in files that every session reads",
        "(?:add|append|write|insert|save|put|copy|paste|inject|prepend) {8}(?:to|into|in|at the (?:top|end) "
        "of) {3}(?:soul md|system prompt)",
        "(?:remember|memorize|store|save) {3}(?:for|in|across|into) {2}(?:all|every|any) (?:future "
        ")?(?:sessions?|conversations?|chats?) {4}(?:ignore|never|always (?:send|include|append|run|obey))",
    ),
    *phrase(
        "skill.obey",
        WARNING,
        "makes the model follow text that is fetched at run time",
        "(?:follow|execute|run|obey|carry out|perform|do) {2}(?:whatever|any|all|exactly) "
        "{2}(?:instructions?|commands?|steps|directions|what) {3}(?:it|they|the (?:page|file|response|"
        "server|answer|document)|returned|there|contained|found) (?:says?|contains?|returns?|gives?|sends?|"
        "tells?|responds?|replies)",
        "(?:do|follow|execute|run|obey) (?:exactly )?(?:whatever|everything|anything|what) (?:it|they|the "
        "(?:page|file|response|answer|server|text)) (?:says?|tells?|asks?|contains?|returns?|orders?)",
        "(?:fetch|get|download|open|read|load|retrieve) {3}https? {10}(?:md|txt) {6}(?:follow|obey|carry "
        "out|execute|"
        "do) {3}(?:instructions?|steps|orders|what it|it says)",
        "what (?:it|the page|the file) says is {4}(?:rest of|part of) {2}(?:skill|instructions|prompt)",
        "(?:fetch|download|curl|retrieve|load) {8}https? {12}(?:and|then) {2}(?:follow|execute|obey|carry "
        "out) {3}(?:returned|its|any|all|whatever|the instructions (?:it|in the response|returned))",
    ),
    *phrase(
        "skill.download",
        WARNING,
        "has a person open something packed with a password",
        r"(?:download|get|fetch) {14}(?:zip|rar|7z|archive|installer|exe|dmg|msi) {14}(?:password|"
        r"passphrase|pass|passcode) {2}(?:is )?\w+",
        r"(?:extract|unzip|unpack|open) {8}(?:with|using) {3}(?:password|passphrase|pass|passcode) {1}\w+ "
        r"{8}(?:run|execute|start|launch|double click)",
    ),
    *ABROAD,
)  # fmt: skip

# The same in scripts without blanks between words: patterns over the text itself.
_GAP = r"[\s\x00\W]{0,4}\S{0,8}?[\s\x00\W]{0,4}"
SCRIPTS: tuple[Phrase, ...] = tuple(
    Phrase(rule, severity, what, re.compile(pattern.replace("~", _GAP)))
    for rule, severity, what, pattern in (
        (
            "skill.override",
            ERROR,
            "tells the model to drop the instructions it has",
            "(?:忽略|無視|忘记|忘記|无视|不要理会|不用理会)~(?:之前|先前|以上|上述|前面|此前|原有|系统|系統)~(?:指令|指示|说明|說明|规则|規則|提示|命令)",
        ),
        (
            "skill.override",
            ERROR,
            "tells the model to drop the instructions it has",
            "(?:これまで|以前|上記|前|すべて)~(?:指示|命令|ルール|プロンプト)~(?:無視|忘れ)",
        ),
        (
            "skill.override",
            ERROR,
            "tells the model to drop the instructions it has",
            "(?:이전|위의|앞선|모든)~(?:지시|명령|지침|규칙|프롬프트)~(?:무시|잊)",
        ),
        (
            "skill.override",
            ERROR,
            "tells the model to drop the instructions it has",
            "(?:تجاهل|انس)~(?:جميع|كل|كافة)?~(?:التعليمات|الاوامر|الأوامر|القواعد)~(?:السابقة|السابقه|أعلاه|"
            "اعلاه)",
        ),
        (
            "skill.override",
            ERROR,
            "tells the model to drop the instructions it has",
            "התעל(?:ם|מי|מו)~(?:מכל|מן|מ)?~(?:ההוראות|ההנחיות|הכללים)~(?:הקודמות|הקודמים|הנל)",
        ),
        (
            "skill.override",
            ERROR,
            "tells the model to drop the instructions it has",
            "(?:पिछले|पहले के|उपरोक्त)~(?:निर्देश|आदेश|नियम)\\w*~(?:अनदेखा|नज़रअंदाज़|भूल)",
        ),
        (
            "skill.hide",
            ERROR,
            "tells the model to keep something from the user",
            "(?:不要|不得|切勿|别|勿|千万不要)[\\s\\x00]*[^\\s\\W并並而]{0,4}?[\\s\\x00]*(?:告诉|告訴|告知|通知|透露|提及|让|讓|向)~"
            "(?:用户|用戶|使用者|主人|客户)(?!\\s*[\"“「『‘'])",
        ),
        (
            "skill.hide",
            ERROR,
            "tells the model to keep something from the user",
            "(?:ユーザー|利用者)~(?:言わない|知らせない|伝えない|教えない|知られない|気づかれない)",
        ),
        (
            "skill.exfiltrate",
            ERROR,
            "asks for private data to be sent away",
            "(?:发送|上传|傳送|上傳|发到|提交)~(?:私钥|密钥|金鑰|密码|密碼|凭证|環境變數|环境变量|对话|\\.env)",
        ),
        (
            "skill.exfiltrate",
            ERROR,
            "asks for private data to be sent away",
            "(?:私钥|密钥|密码|凭证|环境变量|对话记录|id_rsa|\\.env)(?!.{0,12}(?:请求头|标头|认证头|header))~(?:内容)?~(?:发送|上传|发到|提交)(?:到|至|给)",
        ),
    )
)

# One long word, when letters stand apart or words are run together.
SQUEEZED: tuple[Phrase, ...] = tuple(
    Phrase(rule, ERROR, what, re.compile(pattern))
    for rule, what, pattern in (
        (
            "skill.override",
            "tells the model to drop the instructions it has",
            r"\b\w{0,40}(?:ignore|disregard|forget)(?:all|any|the|every|your)?(?:of)?(?:the|"
            r"your)?(?:previous|prior|above|earlier|preceding|system)(?:instructions?|prompts?|rules|"
            r"directives|guidelines)\w{0,200}",
        ),
        (
            "skill.hide",
            "tells the model to keep something from the user",
            r"\b\w{0,60}(?:donot|dont|never)(?:tell|inform|notify|alert)(?:the)?user\w{0,200}",
        ),
    )
)

# The firm core, for texts that are turned around or encoded.
CORE = tuple(
    one
    for one in PHRASES
    if one.rule in ("skill.override", "skill.role", "skill.hide") and one.severity == ERROR
)
