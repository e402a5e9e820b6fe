"""English."""

SETS = {
    # words after which an order may begin
    "leads": """
        and then please also to or otherwise else unless always just simply only must should shall can may will
        could afterwards finally next now first when not never so you therefore instead but
    """,
    # words that begin another thought: a gap with `~` does not cross them
    "stop": """
        which who whose posted sent received published delivered written shared emailed forwarded mailed from
        about if when whether because where how until unless and then containing
    """,
    "not": "not never no without nor neither instead rather avoid refrain stop",
    "but": "but however unless until just only except then",
    "whether": "whether if than",
    "about": "about regarding concerning mention",
    "sending": "send_message anywhere tool elsewhere",
    "only": "only",
    "otherwise": "otherwise else none nothing",
    "when": "already just previously earlier recently also once originally before yesterday last so ever always",
    "said": """
        said mentioned discussed agreed talked spoke told described explained outlined specified listed gave given
        requested asked settled decided covered promised pointed named noted established
    """,
    "handed": "sent shared showed shown provided pasted attached uploaded linked wrote posted forwarded dictated",
    "thing": """
        list lists table tables message messages text file files document documents link links url urls image images
        screenshot screenshots photo photos example examples format formats numbers figures names hosts servers sites
        sources repos repositories instructions rules criteria thresholds limits notes draft data template points items
        one ones things stuff accounts addresses topics project projects task tasks spreadsheet
        report article page repo video picture recipe contract letter plan
    """,
    "artifact": """
        digest report summary format list sources way style thing things channels places suspects checks check review
        overview update updates brief briefing routine stuff manner layout structure template order recipients tone
        voice steps procedure rules criteria newsletter roundup list post message morning evening weekly daily
        settings sections columns table spot folder one ones fashion treatment drill
    """,
    "answer": """
        answer answers reply replies response responses report reports summary summaries output outputs draft drafts
        suggestion suggestions version list analysis message messages digest review estimate attempt result results
        conclusion recommendation recommendations note notes text proposal findings mistake
    """,
    "talk": "conversation conversations chat chats discussion discussions exchange session sessions talk thread",
    "me": "me us myself",
    "user": "user users owner operator human humans",
    "grant": """
        approval confirmation permission consent ok go-ahead sign-off green-light blessing decision choice answer
        reply feedback input instructions response opinion preference preferences
    """,
    "channel": """
        telegram slack discord whatsapp signal matrix mattermost teams imessage sms email emails mail gmail messenger
        viber wechat weixin feishu lark dingtalk zulip irc xmpp ntfy pushover pagerduty <channel> <handle> <address>
    """,
    "send": "send post deliver forward publish push drop share relay announce broadcast submit dispatch",
    "sent": "sent posted emailed delivered forwarded published pushed mailed texted shared announced broadcast",
    "say": "say answer reply report state respond write give print tell note",
    "reach": "ping message notify alert text call page inform reach contact tell",
}

PHRASES = {
    # history.reference: something said to an agent that this one is not
    "L101": [
        "as|like|what i|we|you ?have|had ?@when @said",
        "as|like ?@when discussed|agreed|mentioned|requested|said|promised|instructed|told|indicated $",
        "as|like @when described|explained|specified|listed|noted|discussed|agreed|mentioned|requested|said",
        "as|like discussed|agreed|mentioned|requested|said|explained|described earlier|before|previously|yesterday",
        "as|like discussed|agreed|mentioned in|during our|my|the ?last|previous|earlier @talk|call|meeting|message",
        "i|we ?have|had ?@when mentioned|discussed|agreed|described|explained|specified|requested|settled|outlined",
        "i|we ?have|had ?@when told|gave|asked|promised|showed|sent|given|shown you",
        "i|we ?have|had ?@when talked|spoke|chatted|argued|went about|over|through",
        "@thing ?that|which i|we ?have|had ?@when @handed|gave|named|listed|told",
        "i|we ?have|had ?@when picked|chose|chosen|selected|shortlisted|narrowed|liked|wanted",
        "same|exactly|just|like|as|what ..2 you ?have|had did|made|used|wrote|gave|do|showed|produced",
        "i|we ?have|had ?@when @handed|gave|named|listed earlier|before|previously|yesterday|above",
        "you ?have|had ?@when said|suggested|proposed|told|gave|showed|wrote|found|promised|listed|recommended",
        "you ?have|had ?@when produced|drafted|came|made|built|created|prepared|used ..1 last|earlier|before|yesterday",
        "we were|are ?just|both working|talking|discussing|debugging|looking|building|chatting|writing",
        "i was|am talking|working|writing ..2 you",
        "our ?last|previous|earlier|recent|ongoing|other @talk",
        "our ?last|previous|earlier call|meeting|agreement|messages",
        "my last|previous|earlier|other|first|prior message|messages|question|request|prompt|instructions|answer|reply",
        "your last|previous|earlier|first|other|prior|original|latest @answer",
        "this|current|earlier|previous|that conversation|chat|discussion",
        "conversation|chat history|context",
        "earlier|before in|during this|the|our conversation|chat|session",
        "in this session",
        "@thing ?that|which i|we ?have|had ?@when made|drafted|drew|wrote|built|compiled|created|prepared|put|came|sketched",
        "i|we ?have|had ?@when dropped|left|threw|put in|into here|the ?chat|conversation|thread",
        "according to|with our agreement|discussion|conversation",
        "per our|my agreement|discussion|conversation|chat|earlier|last|previous",
        "what i|we ?@when said|wrote|asked|wanted|meant",
        "the other day|night i|we|you",
    ],
    # history.previous: another run, or a habit that nobody wrote down
    "L102": [
        "since|after|from|in|than ?your|the|our|my last|previous|prior run|check|report|execution|digest|look|answer|update|scan|summary",
        "last|previous|prior|earlier run|runs|execution|executions",
        "since|than ?the last|previous time",
        "compared|compare|relative|versus|vs ~3 ?the|your last|previous time|run|report|check|answer",
        "you ?have|had ?@when reported|sent|shown|showed|covered|told|listed|mentioned|included|summarised|summarized|seen|found",
        "already reported|sent|covered|mentioned|summarised|summarized|told|shown|included ?to|by ?me|us|you ?earlier|before $",
        "i ?have already seen|read|heard|watched|know|got",
        "yesterday report|answer|summary|digest|run|output|list|conversation|message|version|brief|briefing",
        "last week|month report|answer|summary|digest|run|brief|briefing",
    ],
    "L109": [
        "as usual|always|before|ever",
        "like usual|always|before",
        "as|like ?the last|previous|prior|other time",
        "the|my|our|your usual ..1 @artifact",
        "the|my|our|your|this usual $",
        "usual @artifact",
        "in|with|to your|my|our usual",
        "same ..3 as before|yesterday|always|usual|previously|earlier|last",
        "same @artifact again",
        "the|do|make|send|prepare|run|write same @artifact $",
        "my|our|your usual|customary|habitual",
    ],
    # history.above: "above" without anything above it, "below" without anything below
    "L103": [
        "listed|mentioned|described|given|shown|named|specified|defined|outlined|discussed|quoted|pasted above",
        "see|per|from|in|of|using|use above",
        "the|these|those|this above ..1 @thing",
        "@thing|hosts|paragraph|section|conversation above $",
        "@thing above and|with|in|to|for|by|as|into|on",
        "above-mentioned|aforementioned|abovementioned",
        "the above $",
        "all of the above",
    ],
    "L108": [
        "listed|mentioned|described|given|shown|named|specified|defined|outlined|pasted below $",
        "@thing below $",
        "see below",
        "the|these|this below ..1 @thing",
        "@thing|hosts|section below $",
    ],
    # history.memory: knowledge that the session does not have
    "L104": [
        "you already|still|surely|should|must|do|certainly know|remember|recall|have",
        "as you know|remember|recall",
        "you know which|what|who|where|the|my|our|how|them|it",
        "you know $",
        "you remember|recall which|what|who|where|the|my|our|how|them|it|from",
        "! remember|recall what|which|how|our|my|when|the|where|who",
        "= forget what|which|our|the ..3 i|we",
        "you learned|learnt|know about me|us|my",
        "from|in|using|with|per ?your|my memory|memories",
        "your memory",
        "my known|stored|saved preferences|tastes|habits|wishes",
    ],
    # history.continue: work that another session began
    "L105": [
        "where you|we|i ?had|have ?@when left|stopped|ended|finished|paused|were|got",
        "pick up|it where|from|again",
        "^ continue|resume|proceed with|the|our|my|your|working|this|that|on|from",
        "! continue|resume our|the @talk|work|task|job|project",
        "carry on with|from|where",
        "! keep going|working",
        "the|with next batch|part|chapter|portion|instalment|installment|episode|lesson|set|chunk",
        "the|with next chunk|slice|step|stage of|in our|the|my",
        "finish what you|we ?have started|began|begun",
        "you|we started|began yesterday|earlier|last|before",
    ],
    # history.correction: an answer to an answer
    "L106": [
        "^ that|this|it|yours|everything was|is|looks|looked|worked ..1 good|fine|great|nice|perfect|better|ok|right|well but",
        "^ that|this|it|yours was|is ..1 good|fine|great|nice|perfect|wrong|better|long|short $",
        "^ good|great|nice|perfect|thanks|fine $ but|now|only|next",
        "^ no $",
        "^ do|try|run|write|make it|this|that ?all again|over|once",
        "^ try again",
        "^ redo|rewrite|revise|shorten|improve|fix it|that|your",
        "not what i|we asked|wanted|meant|had",
        "what i meant|mean|wanted|asked",
        "but|only this time",
        "you forgot|missed|mixed|overlooked|misread|misunderstood|confused|skipped",
        "you got ..3 wrong",
        "you made a|an|the|some mistake|mistakes|error|errors",
        "^ same|another|again but|again|one $",
    ],
    # history.attachment: something that came with a message
    "L107": [
        "the|this|these|my attached @thing|pdf|invoice|csv|zip|attachment|log|config",
        "attached is|are|you",
        "see attached",
        "! see|read|open|use|from|in the|this attachment|attachments",
        "i attached|uploaded|pasted",
        "i ?have|am attached|uploaded|pasted|attaching|sending",
    ],
    # human.ask
    "L301": [
        "! ask @me|@user|him|her",
        "! ask the|your|our|a @user|team|admin|boss|manager|customer",
        "! ask for ..1 ..1 @grant|clarification|guidance|help|advice|details",
        "! ask|pose ?a|any|some|your ..1 question|questions",
        "! ask me|us",
        "asking me|us",
        "! ask ..3 me|us",
        "ask|asking how|which|what|whether|if|when|where|who ..4 i|we|me|my|our",
        "! begin|start|end|finish|close by|with asking",
        "! inquire|enquire whether|if|what|which|with",
        "! check|confirm|verify|clarify|discuss|coordinate|agree|align|consult|clear|double-check ~4 with me|us|@user",
        "! check|confirm|verify|clarify|discuss|consult ~3 with the @user",
        "! consult ?with me|us|@user",
        "! get|obtain|request|seek|need|require|have ..1 my|our|the|a|explicit ?@user approval|confirmation|permission|consent|ok|go-ahead|sign-off",
        "! get|obtain|request|seek approval|confirmation|permission|consent|clarification",
        "! run it|this|them|that|everything by|past me|us",
        "! let me|us|@user choose|decide|pick|select|confirm|approve",
        "! let the @user choose|decide|pick|select|confirm|approve",
        "! offer|present|show|give ..6 to choose|pick|decide|approve",
        "! have me|us choose|confirm|approve|decide|pick|check",
        "! find|get|hear|learn|obtain|request|collect|receive ~4 from me|us|@user",
        "! quiz|interview|examine|grill me|us",
        "! chat|talk|practise|practice|play|brainstorm|role-play|discuss|speak|converse ~4 with|to me|us",
        "! reach out to me|us",
        "in doubt ask|contact|call|message|tell|write",
    ],
    # human.wait
    "L302": [
        "! wait for|on @me|@user|my|our",
        "! wait for|on the @user",
        "! wait until|till i|we|@user|someone|somebody",
        "! wait until|till the @user",
        "! wait for ?a|an|the|your|any|further|explicit ..1 approval|confirmation|permission|go-ahead|instructions|feedback|ok|consent",
        "! wait for ?a|an|the|any reply|answer|response $",
        "! await|hold|pause|stop ~3 my|our|confirmation|approval|instructions|reply|input",
        "= before|until|unless|once|after|when|if|till i|we|@user ?have|has ?@when confirm*|approve*|answer*|repl*|agree*|respond*|said|say|gave|give|decide*|chosen|choose|picked|pick|accept*|ok",
        "= once|after|when|if|until you have|get|receive ?my|the|an ok|approval|confirmation|answer|reply|go-ahead",
        "with|upon|on|after|pending|await|awaiting my|our|user ..1 approval|confirmation|ok|consent|permission|go-ahead|answer|reply",
        "= until|once|after|when told|asked|instructed to",
        "that|which|those|ones|whichever|what|everything|anything i|we @when|then|have|do approve|approved|confirm|confirmed|accept|agree|choose|chose|pick|tick|select|mark",
        "that|which|those|ones|whichever|what|everything|anything i|we approve|approved|confirm|confirmed|accept|agree|choose|pick|tick|select",
        "if i say|answer|reply|agree|approve|confirm",
        "ready for|await my|our|further input|instructions|questions",
        "my|our answer|reply|choice|decision|confirmation|approval|go-ahead|verdict|consent|permission|response|selection",
        "hear|hears back ?from me|us",
    ],
    # human.question
    "L303": [
        "shall i",
        "would you like ?me",
        "do you want ?me",
        "want me to",
        "let me|us know if|when|whether|which|what|how you",
        "if you|there have|are any ..1 questions",
        "if you need|want|require|lack|miss ~5 ask|tell|let|contact|write|message|ping",
        "! end|finish|close|conclude ..1 with ?a|the question|questions",
        "any questions",
    ],
    # human.promise
    "L304": [
        "i|we will|shall|can|would ?then|also|later|soon|gladly|happily send|give|show|tell|let you",
        "i|we will|shall ?then|also|later|soon provide|paste|upload|attach|supply|specify|type|enter|answer|reply|confirm|approve|explain|respond|say|send",
        "i|we am|are going|about to send|give|show|tell|provide|paste|upload|say",
        "i|we will|can choose|pick|select|decide ..6 then|you|afterwards",
        "you will get|receive ..5 from me|us",
        "i|we get|come back to|with you",
    ],
    # human.tool
    "L305": [
        "clarify tool",
        "! use|call|using|with|via|through ?the ?tool clarify",
    ],
    # delivery.tool
    "L401": [
        "use|call|using|with|via|through|by|run ~4 send_message|sendmessage|send-message",
        "send_message|sendmessage tool|to|the|it|this",
        "hermes send",
        "messaging|message|messenger|notification|sending tool|tools|function|skill|integration|bot",
    ],
    # delivery.channel
    "L402": [
        "! @send ~9 to|in|into|on|via|through|by|over|with ~3 @channel",
        "! write|report|tell|give|put|upload|output|respond|reply|answer|copy ~7 to|via|by|over|through|on ~2 @channel",
        "! email|mail|dm|whatsapp|sms|slack|telegram|pm|text|discord me|us|it|the|this|them|my|him|her|everyone|all|a|that|@user",
        "! email|mail|dm|text <address>|<handle>|results|everything",
        "! @reach me|us|him|her|them|the|everyone|it|this|that|<handle> ~6 on|in|via|by|through|over|to|with ~2 @channel",
        "! @send|shoot|fire|write me|us|him|her ?a|an|the ..1 email|mail|sms|dm|text|telegram|slack|whatsapp|push|notification|ping",
        "! @send ?me|us ?a|an|the ..1 message|notification|alert|push|email|sms|reminder|dm to|on|via",
        "should|must|shall|needs|has|have|ought ?to be @sent ~7 to|in|on|via|by|through|into ~3 @channel",
        "! @send ~8 to|in|into|on ~4 channel|group|chat|room|topic|newsletter",
        "! @send ~6 to my|our|his|her ..1 phone|inbox|mailbox|dm|dms|mobile|watch|wife|husband|boss|team|family",
        "! @reach|<reach> me|us by|via email|mail|sms|text|phone",
        "! notify|alert|inform|page|message|email|text|dm|mail|ping the|my|our|all|every ..2 team|group|channel|everyone|colleagues|staff|on-call|family|wife|husband|boss|subscribers|members|admins",
        "! let the|my|our ..2 team|group|family|colleagues|wife|husband|boss know",
        "! @send ~6 as ?a|an ..1 sms|push|email|dm|notification|text",
        "! ping|message|notify|alert|dm <handle>|<address>",
        "! tweet|toot it|this|the|them",
    ],
    # silence.unnamed
    "L501": [
        "! say|output|print|return|report|write|reply|answer|respond|send|post|deliver|produce|emit ?with nothing",
        "! stay|remain|keep|be|go ..1 silent|quiet|mum|still",
        "do|must|should|can not even|ever|bother reply|respond|answer|speak|report|write|message|notify|send|disturb|bother|alert $",
        "do|must|should|can not reply|respond|answer|speak|report|write|output|message|say|notify|send|disturb|bother|alert|ping|post|produce ?back ?at ?all ?then ?please ?in ?that ?case $",
        "do|must|should|can not reply|respond|answer|speak|report|write|output|print|say|send|post|produce|generate|return|deliver ?me|us ?back anything|any|me",
        "do|must|should not notify|message|disturb|bother|alert|ping|wake|contact|email @me|anyone|anybody|@user",
        "no need to bother|disturb|notify|report|message|write|reply|answer|tell|respond",
        "no reason to report|reply|answer|respond|notify|write|message|tell|send",
        "no output|message|reply|response|report|answer|notification|alert|digest|summary ?is needed|necessary|required",
        "^ no output|message|reply|response|report|answer|notification|alert|digest|summary",
        "no output|message|reply|response|answer|notification|digest ?please ?at ?all $",
        "! send|write|give|produce|deliver|return no output|message|reply|response|report|answer|notification|alert",
        "so|so that ~5 not|nothing|no|nobody ~3 sent|delivered|posted|disturbed|bothered|notified|pinged",
        "only want|need|wish|like|care to|about hear|know|be|see|get|receive ~6 if|when|unless",
        "! be|keep it silent|quiet",
        "no need for|of ?any|a output|message|reply|response|report|answer",
        "! skip|suppress|omit the|this|that|today message|report|reply|digest|output|delivery|notification|answer|summary|response|alert|update",
        "only message|notify|alert|write|report|tell|ping|speak|respond|reply|answer|bother|contact|email|say|post|send ?to ?@me ?up ?back ?something|anything if|when|on|in",
        "@reach|report|write|reply|respond|speak|answer ?to ?@me ?up only if|when|in",
        "empty|blank response|answer|reply|message|output|report",
        "! end|finish|exit|stop|terminate|quit silently|quietly|without",
        "without ?any|a|sending|producing|writing output|message|reply|response|report|anything|notification",
        "! leave me alone",
        "do|does not want|need|wish ~4 message|messages|report|reports|notification|notifications|output|anything|alert|alerts|mail|mails|answer",
        "no messages|reports|notifications|alerts|replies|answers|digest ?then ?please ?at ?all $",
        "nothing is|should|must|may|needs|has ?to ?be sent|reported|delivered|posted|said|written|output",
        "answer|message|report|reply|response|output should|must|may|can|shall|is ?to ?be|stay|remain empty|blank|omitted|skipped|dropped|suppressed",
        "! leave the answer|reply|response|message|report|output empty|blank|out",
        "! spare me|us",
        "rather not hear|be|get",
        "keep it|that|this to yourself",
        "only then",
    ],
    # silence.combined: the marker with other text beside it
    "L502": [
        "! end|finish|close|start|begin|open|conclude the|your|every|each|any|all ..2 with|by <silent>",
        "! add|append|put|prefix|prepend|include|write|place ..1 <silent> at|to|as|in|before|after|above|below|on",
        "<silent> followed|and|plus|then|before the|a|your|by",
    ],
}

# Words shortly before a slot that say it is part of a form which the agent fills in.
FORM = """
    format* form forms template* line lines row rows like pattern* layout shape structure schema heading* header* syntax
    bullet bullets json style entry entries
"""
# Words shortly before or after a slot that say the text speaks about such text.
ABOUT = """
    contain* comment* marker* label* marked tag tags placeholder* variable* literal* string* word words match* element*
    attribute* method* function* class classes type types generics todos todo remain* replace* replacing mention*
    substitut* token tokens brace* bracket* column* cell cells value values row rows say says saying field fields
    grep occurrence* unresolved unfilled parameter* return returns macro* html xml markup spelled
    written stands means called entry entries
"""
# Words directly before what is searched for.
SEEK = "find grep locate"
# Nouns that stand for what somebody was to write in.
SLOTS = """
    name city town country url link email address date time project company topic username user id number host hostname
    server path file folder repo repository branch channel group token key price currency language category keyword
    keywords query team client customer product subject location place region zip domain port database table
    timezone account amount threshold limit list destination origin month year station route
"""
# Words that say a slot is to be filled in.
FILL = """
    insert your fill replace todo tbd put enter add choose specify here placeholder change changeme my paste
"""
# Names of slots that the session fills in by itself: it knows the date.
KNOWN = "date today day month year week weekday time now yyyy mm dd hh ss timestamp"
# Words after which a noun has to come.
PREPOSITIONS = "in for of to from about with on at near between by into the a an my our"
