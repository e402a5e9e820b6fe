"""Words that tell what a text around a finding is: about attacks, or an example of what not to do."""

from __future__ import annotations

import re

# Words that say a text is about attacks, not one; and words that introduce an example.
ABOUT_ATTACKS = re.compile(
    r"\battack|malicious|\binject(?:ion|ed|s|ing)?\b|adversar|jailbreak|untrusted|suspicious|phish|red[ "
    r"-]?team|\bexploit|\bpayload|"
    r"\bthreat|vulnerab|hostile|hijack|poison|exfiltrat|pentest|\bctf\b|owasp|malware|tamper|\bevil\b|"
    r"\brogue\b|compromis|red flags?|warning signs?|\bfraud|\bscams?\b|"
    r"attaque|angriff|angreif|bosartig|schadhaft|ataque|malicios|malveillan|injec|атак|вредонос|инъекц|"
    r"злоумыш|"
    r"攻击|攻擊|恶意|惡意|注入|越狱|攻撃|インジェクション|공격|악성|הזרק|תקיפ|זדונ|هجوم|حقن|خبيث|\batak|saldiri|serangan|\battacc"
)
# The same, of what a skill or a paragraph is about, where a command stands.
STRONGLY = re.compile(
    r"\battack|malicious|\binjection|adversar|jailbreak|phish|red[ -]?team|\bexploit|pentest|penetration "
    r"test|\bctf\b|malware|forensic|reverse shell|privilege escalation|\bfirst responder|incident response|"
    r"атак|вредонос|инъекц|攻击|恶意|攻撃|공격|תקיפ|هجوم|angriff|ataque|attaque"
)
EXAMPLES = re.compile(
    r"\bexample|e\.g|such as|for instance|\bsample|looks? like|would be|\bcases?\b|\bpatterns?\b|phrases?\b|"
    r"says?\b|"
    r"\bdetect|\bflag|\bcatch|\breject|\brefus|\bblock|\bavoid|\bnever\b|\bdo not\b|don.t|\bwrong\b|\bbad\b|"
    r"anti-?pattern|"
    r"\bwarn|\bdanger|\bcaution|\bmust not\b|❌|🚫|⚠|beispiel|\bniemals\b|\bnicht\b|ejemplo|nunca|exemple|"
    r"jamais|например|"
    r"пример|никогда|нельзя|опасн|例如|示例|比如|不要|例:|예:|דוגמ|مثال|esempio|exemplo|\bmai\b"
)
