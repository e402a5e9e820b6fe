"""English."""

SETS = {
    # words after which an order may begin
    "leads": """
        and then please also to or otherwise else unless always just simply only must should shall can may will
        could afterwards finally next now first when not never so you therefore instead but
    """,
    # words that begin another thought: a gap with `~` does not cross them
    "stop": """
        that which who whose posted sent received published delivered written shared emailed forwarded mailed from
        about if when whether because where how until unless and then containing
    """,
    "not": "not never no without nor neither instead rather avoid refrain stop",
    "but": "but however unless until just only except then",
    "conditions": "if when unless otherwise else whenever once case should nothing none no unless only same",
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
    "reach": "ping message notify alert text call page inform reach contact tell",
}

PHRASES = {
    # history.reference: something said to an agent that this one is not
    "L101": [
        "as|like|what i|we|you ?have|had ?@when @said|@handed",
        "as|like ?@when discussed|agreed|mentioned|requested|said|promised|instructed|told|indicated $",
        "as|like @when described|explained|specified|listed|noted|discussed|agreed|mentioned|requested|said",
        "as|like discussed|agreed|mentioned|requested|said|explained|described earlier|before|previously|yesterday",
        "as|like discussed|agreed|mentioned in|during our|my|the ?last|previous|earlier @talk|call|meeting|message",
        "i|we ?have|had ?@when mentioned|discussed|agreed|described|explained|specified|requested|settled|outlined",
        "i|we ?have|had ?@when told|gave|asked|promised|showed|sent|given|shown you",
        "i|we ?have|had ?@when talked|spoke|chatted|argued|went about|over|through",
        "@thing ?that|which i|we ?have|had ?@when @handed|gave|named|listed|told",
        "i|we ?have|had ?@when @handed|gave|named|listed earlier|before|previously|yesterday|above",
        "you ?have|had ?@when said|suggested|proposed|told|gave|showed|wrote|found|promised|listed|recommended",
        "you ?have|had ?@when produced|drafted|came|made|built|created|prepared|used ?.. last|earlier|before|yesterday",
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
    ],
    # history.previous: another run, or a habit that nobody wrote down
    "L102": [
        "as usual|always|before|ever",
        "like usual|always|before",
        "as|like|from|since|than ?the last|previous|prior|other time",
        "the|my|our|your usual ?.. @artifact",
        "usual @artifact",
        "in|with your|the usual",
        "same ?.. ?.. ?.. as before|yesterday|always|usual|previously|earlier|last",
        "same @artifact again",
        "same @artifact $",
        "since|after|from|in ?your|the|our|my last|previous|prior run|check|report|execution|digest|look|answer|update|scan",
        "last|previous|prior run",
        "compared|compare|relative ~3 ?the|your last|previous time|run|report|check",
        "= you ?have|had ?@when reported|sent|shown|showed|covered|told|listed|mentioned|included|summarised|summarized|seen",
        "= already reported|sent|covered|seen|mentioned|summarised|summarized|told|shown|included ?to|by ?me|us|you|earlier|before",
        "yesterday report|answer|summary|digest|run|output|list|conversation|message|version|brief|briefing",
        "last week|month report|answer|summary|digest|run|brief|briefing",
        "new|changed since ?the last ?time",
    ],
    # history.above: "above" without anything above it, "below" without anything below
    "L103": [
        "listed|mentioned|described|given|shown|named|specified|defined|outlined|discussed|quoted|pasted above",
        "see|per|from|in|of|using|use above",
        "the|these|those|this above ?.. @thing",
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
        "the|these|this below ?.. @thing",
        "@thing|hosts|section below $",
    ],
    # history.memory: knowledge that the session does not have
    "L104": [
        "you already|still|surely|should|must|do|certainly know|remember|recall|have",
        "as you know|remember|recall",
        "you know which|what|who|where|the|my|our|how|them|it|$",
        "you remember|recall which|what|who|where|the|my|our|how|them|it|from",
        "! remember|recall what|which|how|our|my|when|the|where|who",
        "= forget what|which|our|the ..3 i|we",
        "you learned|learnt|know about me|us|my",
        "from|in|using|with|per ?your|my memory|memories",
        "your memory",
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
        "that|this|it|yours|everything was|is|looks|looked ?.. good|fine|great|nice|perfect|better|ok|right|wrong but",
        "that|this|it|yours was|is ?.. good|fine|great|nice|perfect|wrong|better|long|short $",
        "do|try|run|write|make it|this|that again|over|once",
        "try again",
        "! redo|rewrite|revise|shorten|improve|fix it|that|your",
        "not what i|we asked|wanted|meant|had",
        "what i meant|mean|wanted|asked",
        "and|but|only this time",
        "you forgot|missed|mixed|overlooked|misread|misunderstood|confused|skipped",
        "you got ..3 wrong",
        "you made a|an|the|some mistake|mistakes|error|errors",
        "same but|again $",
        "another one $",
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
        "! ask for ?.. ?.. @grant|clarification|guidance|help|advice|details",
        "! ask whether|if|which|what|how ..3 i|we",
        "! ask|pose ?a|any|some|your ?.. question|questions",
        "ask|asking|asks me|us",
        "! check|confirm|verify|clarify|discuss|coordinate|agree|align|consult|clear|double-check ~4 with me|us|@user",
        "! check|confirm|verify|clarify|discuss|consult ~3 with the @user",
        "! consult ?with me|us|@user",
        "! get|obtain|request|seek|need|require|have ?.. my|our|the|a|explicit ?@user approval|confirmation|permission|consent|ok|go-ahead|sign-off",
        "! get|obtain|request|seek approval|confirmation|permission|consent|clarification",
        "! run it|this|them|that|everything by|past me|us",
        "! let me|us|@user choose|decide|pick|select|confirm|approve",
        "! let the @user choose|decide|pick|select|confirm|approve",
        "! offer|present|show|give ..6 to choose|pick|decide|approve",
        "! have me|us choose|confirm|approve|decide|pick|check",
    ],
    # human.wait
    "L302": [
        "! wait|waiting for|on @me|@user|my|our|the ?@user ?.. ?@grant",
        "! wait until|till i|we|@user|someone|somebody|the",
        "! wait for ?a|an|the|your|any|further|explicit ?.. approval|confirmation|permission|go-ahead|instructions|feedback|ok|consent",
        "! wait for ?a|an|the|any reply|answer|response $",
        "! await|hold|pause|stop ~3 my|our|confirmation|approval|instructions|reply|input",
        "= before|until|unless|once|after|when|if|till i|we|@user ?have|has ?@when confirm*|approve*|answer*|repl*|agree*|respond*|said|say|gave|give|decide*|chosen|choose|picked|pick|accept*|ok",
        "= once|after|when|if|until you have|get|receive ?my|the|an ok|approval|confirmation|answer|reply|go-ahead",
        "with|upon|on|after|pending|await|awaiting my|our|user ?.. approval|confirmation|ok|consent|permission|go-ahead|answer|reply",
        "= until|once|after|when told|asked|instructed to",
        "ready for|await my|our|further input|instructions|questions",
    ],
    # human.question
    "L303": [
        "shall i",
        "would you like ?me",
        "do you want ?me",
        "want me to",
        "let me|us know if|when|whether|which|what|how you",
        "if you|there have|are any ?.. questions",
        "if you need|want|require|lack|miss ~5 ask|tell|let|contact|write|message|ping",
        "! end|finish|close|conclude ?.. with ?a|the question|questions",
        "any questions",
    ],
    # human.promise
    "L304": [
        "i|we will|shall|can|would ?then|also|later|soon send|give|show|tell you",
        "i|we will|shall ?then|also|later|soon provide|paste|upload|attach|supply|specify|fill|type|enter|answer|reply|confirm|approve|explain|respond|choose|pick|decide|send",
        "i|we am|are going|about to send|give|show|tell|provide|paste|upload|decide|choose",
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
        "use|call|using|with|via|through|by|run ..2 send_message|sendmessage|send-message",
        "send_message|sendmessage tool|to|the|it|this",
        "hermes send",
        "! messaging tool|tools",
    ],
    # delivery.channel
    "L402": [
        "! @send ~9 to|in|into|on|via|through|by|over|with ~3 @channel",
        "! write|report|tell|give|put|upload|output|respond|reply|answer|copy ~7 to|via|by|over|through|on ~2 @channel",
        "! email|mail|dm|whatsapp|sms|slack|telegram|pm|text|discord me|us|it|the|this|them|my|him|her|everyone|all|a|that|@user",
        "! email|mail|dm|text <address>|<handle>|results|everything",
        "! @reach me|us|him|her|them|the|everyone|<handle> ~6 on|in|via|by|through|over|to|with ~2 @channel",
        "! @send|shoot|fire|write me|us|him|her ?a|an|the ?.. email|mail|sms|dm|text|telegram|slack|whatsapp|push|notification|ping",
        "! @send ?me|us ?a|an|the ?.. message|notification|alert|push|email|sms|reminder|dm to|on|via",
        "should|must|shall|needs|has|have|ought ?to be @sent ~7 to|in|on|via|by|through|into ~3 @channel",
        "! @send ~8 to|in|into|on ~4 channel|group|chat|room|topic|newsletter",
        "! @send ~6 to my|our|his|her ?.. phone|inbox|mailbox|dm|dms|mobile|watch|wife|husband|boss|team|family",
        "! @reach|<reach> me|us by|via email|mail|sms|text|phone",
    ],
    # silence.unnamed
    "L501": [
        "! say|output|print|return|report|write|reply|answer|respond|send|post|deliver|produce|emit ?with nothing",
        "! stay|remain|keep|be|go ?.. silent|quiet|mum|still",
        "do|must|should|can not reply|respond|answer|speak|report|write|output|message|say|notify|send|disturb|bother|alert|ping|post|produce $",
        "do|must|should|can not reply|respond|answer|speak|report|write|output|print|say|send|post|produce|generate|return|deliver ?me|us ?back anything|any|me",
        "do|must|should not notify|message|disturb|bother|alert|ping|tell|wake|contact|email @me|anyone|anybody|@user",
        "no need|reason to report|reply|answer|respond|notify|write|message|tell|send",
        "no output|message|reply|response|report|answer|notification|alert|digest|summary needed|necessary|required|$",
        "no need for|of ?any|a output|message|reply|response|report|answer",
        "! skip|suppress|omit the|this|that|today message|report|reply|digest|output|delivery|notification|answer|summary|response|alert|update",
        "only message|notify|alert|write|report|tell|ping|speak|respond|reply|answer|bother|contact|email|say|post|send ?to ?@me ?up ?back ?something|anything if|when|on|in",
        "@reach|report|write|reply|respond|speak|answer ?to ?@me ?up only if|when|in",
        "empty|blank response|answer|reply|message|output|report",
        "! end|finish|exit|stop|terminate|quit silently|quietly|without",
        "without ?any|a|sending|producing|writing output|message|reply|response|report|anything|notification",
        "! leave me alone",
    ],
    # silence.combined: the marker with other text beside it
    "L502": [],
}

# Words of an output form, near which a slot is filled in by the agent.
FORM = """
    format formatted form template templates line lines row rows as like pattern layout shape structure schema
    heading header field fields column columns syntax style look looks print entry entries bullet bullets json named
    name title filename output
"""
# Words by which a sentence speaks about text that looks like a slot.
ABOUT = """
    find finds search grep contain contains containing comment comments marker markers label labels marked tag tags
    placeholder placeholders variable variables literal string strings word words match matches matching element
    elements attribute attributes html xml method methods function functions class classes type types generic todos
    look unresolved unfilled left remaining replace mention mentions
"""
# Nouns that stand for what somebody was to write in.
SLOTS = """
    name city town country url link email address date time project company topic username user id number host hostname
    server path file folder repo repository branch channel group token key price currency language category keyword
    keywords query team client customer product subject location place region zip domain port database table location
    timezone account amount threshold limit list
"""
# Words that say a slot is to be filled in.
FILL = """
    insert your fill replace todo tbd put enter add choose specify here xxx placeholder change changeme my add
"""
# Names of slots that the session fills in by itself: it knows the date.
KNOWN = "date today day month year week weekday time now yyyy mm dd hh ss yyyy-mm-dd timestamp"
