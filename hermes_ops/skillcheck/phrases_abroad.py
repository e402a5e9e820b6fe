"""The most common instructions against the user in further languages, over words without accents."""

from __future__ import annotations

from .phrase_patterns import Phrase, phrase
from .rules import ERROR

_DROPS = "tells the model to drop the instructions it has"
_HIDES = "tells the model to keep something from the user"
_SENDS = "asks for private data to be sent away"

ABROAD: tuple[Phrase, ...] = (
    *phrase(
        "skill.override",
        ERROR,
        _DROPS,
        # Dutch, Swedish, Danish and Norwegian, Finnish
        "(?:negeer|vergeet|sla) {3}(?:eerdere|vorige|voorgaande|bovenstaande) {1}(?:instructies|opdrachten|"
        "regels|"
        "aanwijzingen)",
        "(?:glom|ignorera|bortse fran) {3}(?:tidigare|foregaende|ovanstaende) {1}(?:instruktioner|"
        "anvisningar|"
        "regler)",
        "(?:glem|ignorer|ignorér|se bort fra) {3}(?:tidligere|forrige|foregaende|ovenstaende) "
        "{1}(?:instruktioner|"
        "instruksjoner|instrukser|regler)",
        "(?:unohda|ohita) {2}(?:kaikki )?(?:aiemmat|edelliset|aikaisemmat) (?:ohjeet|saannot)",
        # Czech and Slovak, Hungarian, Romanian, Vietnamese, Greek
        "(?:ignoruj|ignorujte|zapomen|zapomente|zabudni|zabudnite) {3}(?:predchozi|predesle|dosavadni|"
        "predchadzajuce) {1}(?:pokyny|instrukce|instrukcie|pravidla)",
        "(?:hagyd figyelmen kivul|felejtsd el) {3}(?:korabbi|elozo|eddigi) {1}(?:utasitas\\w*|szabaly\\w*)",
        "(?:ignora|ignorati|uita|uitati) {3}(?:instructiunile|regulile) {1}(?:anterioare|precedente)",
        "(?:bo qua|phot lo|quen) {3}(?:huong dan|chi thi|chi dan|lenh) {1}(?:truoc|o tren)",
        "(?:αγν[οό]ησε|αγνο[ηή]στε|ξ[εέ]χασε|ξεχ[αά]στε) {3}(?:προηγο[υύ]μενες|παραπ[αά]νω) {1}(?:οδηγ[ιί]ες|"
        "εντολ[εέ]ς)",
    ),
    *phrase(
        "skill.hide",
        ERROR,
        _HIDES,
        "(?:vertel|zeg|meld) {1}(?:de |het aan de )?gebruiker {1}(?:hier |hierover |dit )?(?:niets|niet)",
        "(?:sag|beratta|namn) {1}(?:inte|inget|ingenting) {2}(?:anvandaren)",
        "(?:rikaj|rekni|rikejte) {1}(?:uzivateli) {1}(?:nic)|(?:nerikej|neprozrad|nehovor) {1}(?:to )?"
        "(?:uzivateli|pouzivatelovi)",
        "(?:dung|khong) (?:noi|cho|bao) {1}(?:nguoi dung) {1}(?:biet|ve)?",
        "(?:μην πεις|μη πεις|μην το πεις) {1}(?:στον|στο) χρ[ηή]στη",
    ),
    *phrase(
        "skill.exfiltrate",
        ERROR,
        _SENDS,
        "(?:stuur|verzend|upload) {5}(?:sleutel\\w*|wachtwoord\\w*|geheim\\w*|id rsa|env|inhoud) {8}(?:naar) "
        "{3}(?:https?|server|adres|webhook)",
        "(?:skicka|ladda upp) {5}(?:nyckel\\w*|losenord\\w*|hemlighet\\w*|id rsa|env|innehall\\w*) "
        "{8}(?:till) "
        "{3}(?:https?|server\\w*|adress\\w*|webhook)",
        "(?:id rsa|hermes env|aws credentials|auth json) {4}(?:stuur|skicka|send|posli|poslete|gui|στείλε|"
        "στειλε) "
        "{8}(?:https?)",
    ),
)  # fmt: skip
