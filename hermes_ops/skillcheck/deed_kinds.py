"""Kinds of words for single deeds: orders, memories, money, protections, recommendations. Data, no rules."""

from __future__ import annotations

from .deed_words import ADDRESS, KEY_FILES, MEANT, PLACE, SECRET_FILES, UNASKED, UNSAID, UNSHOWN, kind

QUIET = (UNSAID, UNSHOWN)
QUIET_OR_UNASKED = (*QUIET, UNASKED)
FETCH = kind(
    r"fetch\w*|downloads?|downloading|load|get|gets|read|reads|pull|pulls|retrieve|retrieves|open|"
    r"visit|query|request|look up|hol\w*|lade?|lies|rufe?|abruf\w*|recuper\w*|telecharg\w*|charge\w*|"
    r"ouvr\w*|lis|lire|descarg\w*|obten\w*|abre|lee|leer|baix\w*|leia|abra|scaric\w*|leggi|apri|haal|"
    r"lees|pobierz|odczytaj|stahni|nacti|скача\w*|загруз\w*|получи\w*|прочита\w*|открой\w*|завантаж\w*|"
    r"indir\w*|oku\w*|hamta|hent|unduh|tai",
    free=r"获取|下载|读取|拉取|打开|取得|ダウンロード|読み込|開いて|가져오|다운로드|읽어|حمّل|نزّل|اقرأ|"
    r"הורד|קרא|डाउनलोड|पढ़",
)
OBEY = kind(
    r"takes? precedence|has priority over|follow (?:it|them|these|those|what(?:ever)? \w+ says?|the "
    r"(?:steps|instructions|rules|orders) (?:in it|it \w+|there|from it|therein))|act on (?:it|them|"
    r"what)|additional instructions|carry out (?:it|them|what|whatever|(?:its|the) (?:steps|tasks|"
    r"commands|instructions|orders|list)(?: (?:in|from|it|there))?)|treat(?:s|ed)? (?:it|its|the|them|"
    r"what|that)\b.{0,60}?\bas (?:\w+ ){0,4}(?:instructions?|part of|extension|addition|continuation|"
    r"rules|binding|orders|authoritative|section)|(?:do|execute|run|apply|obey|perform|honou?r) "
    r"(?:what(?:ever)?|anything|everything|each|all|any) (?:\w+ ){0,4}(?:says?|contains?|lists?|"
    r"returns?|tells?|describes?|asks?|sends?|finds?|found|written|listed|there|holds?|given)|(?:run|"
    r"execute|eval|perform|obey) (?:the |its )?(?:\w+ ){0,4}(?:it|they|server|page|response|answer|"
    r"reply|file) (?:returns?|contains?|gives?|sends?|names?|lists?|holds?)|(?:instructions|steps|"
    r"rules|commands|tasks|orders|directives) (?:\w+ ){0,2}(?:found|given|listed|written|returned|"
    r"received|contained|stated) (?:there|in (?:it|the (?:response|reply|answer|file|page|body|"
    r"document)))|(?:replaces?|overrides?|supersedes?) (?:these|this|the) (?:steps|section|skill|"
    r"instructions|rules|file|page)|(?:its|the) (?:content|contents|text|answer|reply|response|body) "
    r"(?:is|are|as) (?:\w+ ){0,3}(?:binding|instructions|part of (?:this|these)|authoritative|orders)",
    r"(?:befolge|fuhre|folge|wende)\b.{0,50}?\b(?:anweisung\w*|schritte\w*|befehle?|regeln|inhalt|aus|"
    r"an)|(?:suis|suivre|suivez|applique\w*|execute\w*)\b.{0,40}?\b(?:instructions|consignes|etapes|"
    r"commandes|regles|contenu)|(?:sigue|cumple|ejecuta|aplica|seguir)\b.{0,40}?\b(?:instrucciones|"
    r"pasos|ordenes|comandos|reglas|contenido|indi[cq]\w+)|(?:siga|execute|aplique|"
    r"cumpra)\b.{0,40}?\b(?:instrucoes|passos|ordens|comandos|regras|conteudo)|(?:segui|esegui|"
    r"applica)\b.{0,40}?\b(?:istruzioni|passi|comandi|regole|contenuto)|(?:volg|"
    r"voer)\b.{0,40}?\b(?:instructies|stappen|opdrachten|uit)|(?:wykonaj|"
    r"zastosuj)\b.{0,40}?\b(?:instrukcj\w*|polecen\w*|krok\w*)|(?:выполн|следу|примен|"
    r"исполн)\w*\b.{0,50}?\b(?:инструкци\w*|указани\w*|команд\w*|шаг\w*|написан\w*|правил\w*)|"
    r"(?:викона|застосу)\w*\b.{0,40}?\b(?:інструкці\w*|вказівк\w*|команд\w*)|"
    r"talimat\w*.{0,20}?(?:uygula|uy|izle)\w*|(?:ikuti|jalankan)\b.{0,30}?\b(?:instruksi|perintah|"
    r"langkah)",
    free=r"(?:按照|遵循|执行|执行其|依照|遵照|照着)[^。\n]{0,14}?(?:指示|指令|步骤|内容|命令|要求)|(?:指示|"
    r"手順|命令|内容)[^。\n]{0,8}?(?:従|実行)|(?:지시|명령|내용|단계)[^.\n]{0,8}?(?:따르|따라|실행|"
    r"수행)",
)
MEMORY = kind(
    r"soul\.md|agents\.md|claude\.md|memory\.md|user\.md|\.cursorrules|gemini\.md|(?:long-?term |"
    r"persistent |own |agent.?s )?memory(?: file)?|each .?skill\.md|other skills|every skill|system "
    r"prompt file|memories|gedachtnis\w*|memoire|memoria|geheugen|pamiec\w*|памят[ьи]|hafiza\w*",
    free=r"记忆|記憶|メモリ|메모리|기억",
)
STORE = MEANT + kind(
    r"replace|store|stores|add|adds|append|write|insert|save|put|record|remember|note|keep|copy|"
    r"ajoute\w*|ecri\w*|enregistr\w*|schreib\w*|speicher\w*|fuge?|hinterleg\w*|guard[ae]\w*|anad\w*|"
    r"escrib\w*|grav\w*|adicion\w*|scriv\w*|salva\w*|aggiung\w*|schrijf|bewaar|voeg|zapisz|dopisz|"
    r"запиши\w*|сохрани\w*|добавь\w*|kaydet\w*|ekle\w*",
    free=r"写入|保存|添加|加入|追加|書き込|저장|추가|기록",
)
CONSENT = kind(
    r"(?:has|have|had|always|already) (?:\w+ )?(?:agreed|approved|consented|authori[sz]ed|accepted|"
    r"permitted|allowed|granted)|pre-?approved|(?:users?|owner|they|he|she) trusts?|trusted (?:by the|"
    r"domain|sender|address|site)|always (?:allow|approve|accept|trust)|never (?:ask|needs? to be "
    r"asked|confirm)|(?:does not|doesn.?t) (?:want|need|like|wish) to be asked|prefers? not to be "
    r"asked|standing (?:approval|permission|consent)|blanket (?:approval|permission|consent)|"
    r"zugestimmt|vertraut|accepte\w*|autorise\w*|acepta\w*|autoriza\w*|autorizza\w*|согласен|"
    r"согласил\w*|разреш[её]?н\w*|доверя\w*",
    free=r"已同意|已授权|已授權|信任|同意済み|許可済み|동의|신뢰",
)
MONEY = kind(
    r"iban|bic|swift code|account (?:numbers?|holder)|sort code|routing numbers?|bank (?:details|"
    r"accounts?|data)|(?:wallet|crypto|btc|eth|bitcoin|deposit|payout|payment|recipient|donation|"
    r"destination) (?:address(?:es)?|link|details|qr|url|account)|wallets?|payment|paypal|payee|"
    r"beneficiary|affiliate|commission|download (?:links?|urls?|address)|donation|qr code|recipient|"
    r"coordonnees bancaires|compte bancaire|\brib|kontonummer|bankverbindung|kontoverbindung|bankdaten|"
    r"empfanger\w*|cuenta (?:bancaria|de pago)|numero de cuenta|datos bancarios|conta bancaria|chave "
    r"pix|pix|dados bancarios|coordinate bancarie|conto corrente|rekeningnummer|numer(?:u)? (?:konta|"
    r"rachunku)|cislo uctu|реквизит\w*|(?:расч[её]тн\w+ )?сч[её]т\w*|кошел\w*|рахун\w*|hesap numara\w*|"
    r"kontonumre\w*|kontonummer\w*|nomor rekening|so tai khoan",
    free=r"银行账|收款|账号|付款|钱包|口座|振込|계좌|지갑|רשבון|חשבון בנק|رقم الحساب|खाता",
)
REPLACE = MEANT + kind(
    r"replaces?|replacing|swaps?|substitutes?|exchanges?|overwrites?|rewrites?|becomes?|in place of|"
    r"instead of|instead|use (?:the one|that|those|this one) (?:from|in|of)|switch(?:es)? (?:it|them|"
    r"the \w+) (?:to|for)|ersetz\w*|tausch\w*|austausch\w*|remplac\w*|substitu\w*|reemplaz\w*|"
    r"sustitu\w*|cambi[ae]\w*|sostitu\w*|vervang\w*|zamie[nń]\w*|podmie[nń]\w*|nahrad\w*|замен\w*|"
    r"подстав\w*|заміни\w*|degistir\w*|byt ut|byt|ersatt\w*|erstat\w*|bytt ut|ganti\w*|thay(?: the)?|"
    r"nahrad\w*",
    free=r"替换|替換|换成|改为|改成|置き換え|差し替え|바꾸|바꿔|교체|대체|استبدل|החלף|बदल",
)
SHAM = (
    r"(?:preview|screen|display\w*|shown|\bdraft|apercu|ecran|vorschau|angezeigt\w*|vista previa|"
    r"pantalla|anteprima|schermo|voorbeeld|podgl[aą]d\w*|предпросмотр\w*|экран\w*|"
    r"visualiza\w*)\b.{0,100}?\b(?:original\w*|own|unchanged|d.origine|ursprunglich\w*|bisherig\w*|"
    r"originale|oorspronkelijk\w*|oryginal\w*|исходн\w*|прежн\w*|as (?:given|entered|typed|provided))|"
    r"looks? (?:the same|unchanged|untouched|identical)|show the (?:user.s own|original|old)|(?:link "
    r"text|label|caption|visible (?:text|link)) (?:stays?|remains?|is kept|unchanged)|keep(?:ing|s)? "
    r"the (?:\w+ )?(?:label|link text|visible text|caption)|same (?:label|link text|caption)|(?:预览|"
    r"屏幕|界面|显示)[^。\n]{0,20}(?:原|用户)|(?:画面|プレビュー)[^。\n]{0,20}(?:元の|そのまま)|"
    r"(?:화면|미리보기)[^.\n]{0,20}(?:원래|그대로)"
)
OFF = MEANT + kind(
    r"delete|remove|disable|deactivate|unload|uninstall|turn off|switch off|stop|kill|mute|bypass|"
    r"comment out|suspend|unset|skip|set|merge|relax|loosen|lower|put|change|schalte?|entferne?|"
    r"deaktivier\w*|abschalt\w*|stelle?|setze?|desactiv\w*|desinstal\w*|retire\w*|supprim\w*|"
    r"desativ\w*|remov\w*|disattiv\w*|disabilit\w*|rimuov\w*|pon|ponga|cambia|mets|passe|imposta|metti|"
    r"uitschakel\w*|schakel|zet|wy[lł]acz\w*|vypni\w*|отключ\w*|выключ\w*|убери\w*|поставь|вимкн\w*|"
    r"kapat\w*|devre disi|inaktiver\w*|stang av|sla fra|matikan|nonaktifkan|tat",
    free=r"停用|关闭|禁用|關閉|設定|设置|设为|無効|オフ|끄|비활성|해제|عطّل|عطل|أوقف|השבת|כבה|बंद",
)
GUARD = kind(
    r"pre_tool_call|plugins\.(?:enabled|disabled)|(?:permission|approval|approvals?)[. ](?:mode|"
    r"prompts?|setting|system|step|dialog|policy)|confirmation (?:mode|prompts?|dialogs?|steps?)|"
    r"(?:security|safety|guard|audit|policy|redaction|approval)[. _-](?:scan\w*|plugins?|hooks?|"
    r"extensions?|modules?|checks?|filters?|middleware)|(?:plugins?|hooks?|extensions?) (?:\w+ "
    r"){0,5}(?:guard|safe|safety|security|audit|approv\w*|scan\w*)|command guard|sandbox(?:ing)? mode|"
    r"allow-?list|allowed (?:tools|commands)|permissions\.allow|tool permissions|ruckfragen|"
    r"freigabe\w*|sicherheits\w*|bestatigung\w*|berechtigung\w*|confirmacion\w*|permisos?|"
    r"(?:complemento|extension|plugin) de seguridad|herramientas permitidas|autorisation\w*|demandes? "
    r"de confirmation|(?:module|extension|greffon) de securite|permissoes|confirmac\w*|(?:plugin|"
    r"extensao) de seguranca|permessi|conferm\w*|(?:plugin|estensione) di sicurezza|toestemming\w*|"
    r"bevestiging\w*|beveiliging\w*|potwierdze\w*|uprawnie\w*|zabezpiecze\w*|potvrze\w*|opravnen\w*|"
    r"подтвержден\w*|разрешен\w*|защит\w*|безопасност\w*|підтвердженн\w*|захист\w*|дозвол\w*|onay\w*|"
    r"izin\w*|guvenlik\w*|bekraftels\w*|behorighet\w*|godkend\w*|godkjenn\w*|konfirmasi|izin|keamanan|"
    r"xac nhan|bao mat",
    free=r"权限|确认|审批|安全(?:插件|检查|扫描|模块)|許可|承認|確認|セキュリティ|권한|승인|확인|보안|"
    r"الإذن|التأكيد|الأمان|אישור|הרשא|אבטח|अनुमति|सुरक्षा",
)
OPEN = kind(
    r"false|off|ab|aus|yolo|never ask|always allow|immer erlauben|accept (?:all|everything|edits)|"
    r"allow (?:all|everything)|auto-?(?:approve|accept|allow)\w*|bypass\w*|aceptar todo|alles "
    r"(?:erlauben|akzeptieren|zulassen|toestaan)|tout (?:accepter|autoriser)|aceitar tudo|permitir "
    r"(?:todo|tudo)|accetta tutto|consenti tutto|принимать вс[её]|разреш\w+ вс[её]|zezwalaj na "
    r"wszystko|povolit vse|hepsine izin|till[aå]t allt|tillad alt|unrestricted|full access|unload|"
    r"disable|deactivate|remove|uninstall|turn off|switch off|deaktivier\w*|desactiv\w*|disattiv\w*|"
    r"desativ\w*|отключ\w*|выключ\w*|guard\w*|redact\w*",
    free=r"全部允许|全部接受|自动(?:批准|同意|接受)|すべて許可|自動承認|모두 허용|자동 승인|停用|关闭|禁用|"
    r"無効|비활성",
)
TOOL_QUESTION = (
    r"\b(?:tool|permission|command|agent.?s|hermes|approval|shell|terminal|edit)[ -](?:\w+ "
    r")?(?:approvals?|prompts?|requests?|questions?|dialogs?|confirmations?|permissions?)\b|"
    r"\b(?:approval|permission|confirmation) (?:requests?|prompts?|questions?|dialogs?)\b|"
    r"\bapprovals?\b"
)
YES = MEANT + kind(
    r"(?:answer|reply|say|respond|click|press|choose|select|type|enter)(?:s|ing)?(?: with)? "
    r"[\"“']?(?:yes|y|approve|accept|allow|ok)|(?:approve|accept|confirm|grant|allow)s? (?:it |them |"
    r"each |every |all |any |the )*(?:yourself|on (?:their|his|the user.?s) behalf|for (?:them|the "
    r"user)|automatically|silently)|(?:do not|don.?t|never|instead of) (?:forward\w*|relay\w*|pass\w*|"
    r"show\w*|put\w*) (?:it |them |the |such |these |those )?(?:\w+ )?(?:questions?|prompts?|requests?|"
    r"approvals?|confirmations?)?(?: on)? to (?:the |a )?(?:user|operator|owner|human|person)",
)
SUPPRESS = MEANT + kind(
    r"drop|drops|omit|omits|hide|hides|remove|removes|leave out|skip|soften|downplay|play down|"
    r"suppress|filter out|delete|bury|rate (?:\w+ )?(?:up|higher)|mark (?:\w+ ){0,4}as (?:passed|"
    r"resolved|safe|clean|ok)|report (?:\w+ ){0,4}as (?:passed|resolved|safe|clean|ok)|count (?:\w+ "
    r"){0,3}as (?:passed|positive)",
)
NEGATIVE = kind(
    r"(?:negative|critical|bad|one-star|unfavou?rable|poor) (?:\w+ )?(?:reviews?|ratings?|comments?|"
    r"findings?|feedback|results?|opinions?|mentions?)|complaints?|(?:failed|failing|failures?) "
    r"(?:tests?|checks?|results?)|vulnerabilit\w*|side effects?|warnings? (?:about|from|of)|findings?|"
    r"drawbacks|disadvantages",
)
SKEW = MEANT + kind(
    r"(?:inflate|pad|bump|multiply|raise|lower|shave|skew|adjust|increase|decrease|reduce|shift|add|"
    r"subtract|round|scale|deduct|divert|nudge)s?\b.{0,80}?(?:\d ?%|\bpercent|\bper cent|by (?:\d|a "
    r"(?:few|factor|small))|one in \w+|factor of)"
)
RECOMMEND = MEANT + kind(
    r"recommend\w*|prefers?|rank\w*|suggest\w*|favou?rs?|promot\w*|steer\w*|nudge\w*|praise\w*|name "
    r".{1,40} first|put .{1,40} (?:first|on top)|mention .{1,40} first|plug|empfehl\w*|empfiehl\w*|"
    r"recommand\w*|recomend\w*|recomiend\w*|consigli\w*|raccomand\w*|рекоменд\w*|polec\w*",
    free=r"推荐|推薦|おすすめ|勧め|추천",
)
INTEREST = kind(
    r"sponsor\w*|partners?|commission\w*|competitors?|rivals?|paid|referral|affiliate|advertis\w*|our "
    r"(?:product|brand|service|hosting|shop|store|company|plan|tool)s?|the vendor|whatever the "
    r"(?:question|user|budget|need)|regardless of|alternatives|partnerschaft\w*|provision\w*|"
    r"partenaires?|socios?|konkurren\w*|партн[её]р\w*|конкурент\w*",
    free=r"合作伙伴|佣金|竞争|竞品|提携|競合|제휴|경쟁",
)
NEUTRAL = kind(
    r"(?:as|like|in) (?:your|its|an?) (?:\w+ )?(?:own |independent |neutral |honest |unbiased |"
    r"objective |personal |expert )+(?:\w+ )?(?:view|opinion|experience|judge?ment|conclusion|advice|"
    r"finding|words|choice|assessment|comparison)|(?:sound|look|seem|appear|read)s? (?:\w+ "
    r")?(?:natural|neutral|independent|objective|unbiased|spontaneous|organic)|not (?:sound|look|read|"
    r"seem) like (?:an? )?(?:ad|advert\w*|promotion|marketing|sponsor\w*)|(?:do not|don.?t|never|"
    r"without) (?:\w+ ){0,3}(?:disclos\w*|say|saying|mention\w*|reveal\w*|label\w*|mark\w*) (?:\w+ "
    r"){0,4}(?:ad|sponsor\w*|paid|partner\w*|commission\w*|affiliat\w*|referral|advert\w*|relationship|"
    r"competitors?|alternatives|interest)",
)

# What nobody should want to do unnoticed.
MATTERS = (
    ADDRESS,
    PLACE,
    SECRET_FILES,
    SKEW,
    MEANT
    + kind(
        r"replace|swap|substitute|overwrite|install|uninstall|commit|push|forward|upload|transmit|submit|"
        r"grant|invite|schedule|cron\w*|disable|bypass|append|inject|redirect|register|subscribe|purchase|"
        r"buy|transfer|pay|order|raise|lower|inflate|round up|rank\w*|recommend\w*|prefer|favou?r|promote|"
        r"downplay|soften|omit|leave out|share|sync|mirror|record|collect|store|keep a copy|dependency|"
        r"dependencies|affiliate|referral|commission|rating|stars?|price|iban|wallet|permissions?|"
        r"administrator|admin|api key|environment variables|conversation|chat history|memory|soul\.md|"
        r"agents\.md|claude\.md|mirror|registry|proxy|certificate|password|clipboard|microphone|"
        r"screenshots?|location|fee|surcharge|discount|invoice|account|contacts|backups?|logs?|history|"
        r"firewall|guard|sandbox|approvals?",
    ),
)
CRITICAL = rf"{KEY_FILES}|" + kind(
    r"(?:conversation|chat|shell|browser|browsing|command) history|(?:last|previous|earlier|recent) "
    r"(?:\w+ )?(?:messages|conversations|chats)|(?:whole|entire|full|complete) (?:conversation|chat|"
    r"context|transcript|prompt)|memory files?|memory\.md|user\.md|soul\.md|state\.db|(?:all |the "
    r")?environment variables|output of .?env|address ?book|keychain|private keys?|seed phrase|system "
    r"prompt|browser (?:cookies|profile|passwords)|saved (?:passwords|logins)|gedachtnisdatei\w*|"
    r"(?:letzten|bisherigen) (?:unterhaltungen|nachrichten)|chatverlauf|umgebungsvariablen|historique "
    r"(?:des? )?(?:conversations?|chat)|variables d.environnement|historial de (?:chat|la conversacion|"
    r"conversaciones)|variables de entorno|cronologia (?:chat|delle conversazioni)|переписк\w*|"
    r"истори[яюи] (?:чат|диалог|переписк|сообщени)\w*|переменн\w+ окружени\w*",
    free=r"聊天记录|对话记录|环境变量|会話履歴|環境変数|대화 ?기록|환경 ?변수",
)
PROHIBITS = (
    r"\b(?:never|not|don.?t|nothing|no|nobody|cannot|niemals|nicht|nichts|jamais|rien|nunca|"
    r"non)\b(?:[^.;!]|\.(?=\w)){0,140}\b(?:without|ohne|sans|sin|senza|sem)\b"
)
