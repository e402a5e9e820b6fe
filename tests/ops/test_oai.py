import time
from pathlib import Path

import pytest

from hermes_ops.core.oai import OaiError, harvest, read_page
from hermes_ops.errors import OpsError, Unreadable
from tests.ops.loopback import Loopback, Says

FILES = Path(__file__).parent / "oai"
XML = {"Content-Type": "text/xml"}
EMPTY = b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>%s</ListRecords></OAI-PMH>'
RECORD = (
    b"<record><header><identifier>oai:x:%d</identifier><datestamp>2026-11-28</datestamp></header></record>"
)


def page(*numbers, token=None):
    end = (
        b""
        if token is None
        else b"<resumptionToken>%s</resumptionToken>" % token.replace("&", "&amp;").encode()
    )
    return Says(EMPTY % (b"".join(RECORD % number for number in numbers) + end), headers=XML)


def case(name):
    return (FILES / name).read_bytes()


@pytest.fixture
def server():
    with Loopback() as running:
        yield running


def pages(server, **options):
    waited = []
    found = list(harvest(f"{server.url}/oai", wait=waited.append, **options))
    return found, waited


def identifiers(found):
    return [record.identifier for one in found for record in one.records]


def test_pages_are_followed_with_the_token_alone(server):
    server.answers["/oai"] = [page(1, 2, token="a&b"), page(3, token=""), page(9)]
    seen = []
    found, waited = pages(server, since="2026-11-28", set_name="cs:cs:AI", progress=seen.append)
    assert identifiers(found) == ["oai:x:1", "oai:x:2", "oai:x:3"]
    assert server.asked[0].path.endswith(
        "/oai?verb=ListRecords&metadataPrefix=oai_dc&from=2026-11-28&set=cs%3Acs%3AAI"
    )
    assert server.asked[1].path.endswith("/oai?verb=ListRecords&resumptionToken=a%26b")
    assert waited == [3.0] and seen == found and found[-1].token is None


def test_a_harvest_that_broke_goes_on_at_its_position(server):
    server.answers["/oai"] = [page(1, token="second"), Says(status=500)]
    kept = []
    with pytest.raises(Unreadable, match="HTTP 500"):
        for one in harvest(f"{server.url}/oai", wait=lambda _: None):
            kept.append(one)
    assert identifiers(kept) == ["oai:x:1"]
    server.answers["/oai"] = [page(2)]
    found, _ = pages(server, token=kept[-1].token)
    assert identifiers(found) == ["oai:x:2"]
    assert server.asked[-1].path.endswith("resumptionToken=second")


def test_a_token_that_comes_again_ends_the_harvest_after_the_page_it_came_with(server):
    server.answers["/oai"] = Says(case("same_token_again.xml"))
    found = []
    with pytest.raises(OaiError, match="page 2 points to a page that was already read"):
        for one in harvest(f"{server.url}/oai", wait=lambda _: None):
            found.append(one)
    assert len(found) == len(server.asked) == 2
    assert found[0].total == 9


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("bad_argument.xml", "badArgument", "set cs:cs.AI does not exist"),
        ("bad_resumption_token.xml", "badResumptionToken", "The token has expired"),
    ],
)
def test_what_the_archive_refuses_is_an_error_with_its_code_and_text(server, name, code, text):
    server.answers["/oai"] = Says(case(name))
    with pytest.raises(OaiError) as found:
        pages(server)
    assert found.value.code == code and str(found.value) == f"{code}: {text}"


def test_nothing_in_the_window_is_no_records_and_no_error(server):
    server.answers["/oai"] = Says(case("no_records_match.xml"))
    found, _ = pages(server)
    assert identifiers(found) == [] and len(found) == 1


def test_a_document_type_is_refused_before_anything_is_parsed():
    before = time.process_time()
    with pytest.raises(Unreadable, match="document type"):
        read_page(case("entity_bomb.xml"))
    assert time.process_time() - before < 0.1
    for prolog in (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a > b -->", b"<?pi <!x ?>", b"\n "):
        with pytest.raises(Unreadable, match="document type"):
            read_page(prolog + b"<!DOCTYPE l SYSTEM 'file:///etc/hostname'><l/>")
    wide = "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE l [<!ENTITY a 'b'>]><l>&a;</l>".encode("utf-16")
    with pytest.raises(Unreadable, match="UTF-16"):
        read_page(wide)


def test_an_abstract_that_speaks_of_document_types_is_read():
    body = (
        EMPTY
        % b"<!-- <!DOCTYPE --><record><header><identifier>a</identifier><datestamp>2026-11-28</datestamp>"
    )
    text = b"<dc><description><![CDATA[<!DOCTYPE html>]]></description></dc>"
    end = b"</header><metadata>%s</metadata></record></ListRecords>" % text
    body = body.replace(b"</ListRecords>", end)
    assert read_page(body).records[0].abstract == "<!DOCTYPE html>"


def test_the_datestamp_of_the_header_decides_and_the_longest_description_is_the_abstract():
    found = read_page(case("revised_paper.xml"), since="2026-11-28", until="2026-11-28")
    paper, gone = found.records
    assert paper.identifier == "oai:arXiv.org:1903.00001" and paper.dates == ("2019-03-01", "2026-11-27")
    assert paper.title == "On an old question"
    assert paper.abstract.startswith("We ask an old question") and paper.abstract.endswith("<by far>.")
    assert paper.authors == ("Doe, Jane", "Roe, Richard")
    assert paper.links == ("http://arxiv.org/abs/1903.00001",)
    assert gone.deleted and gone.identifier == "oai:arXiv.org:2511.00002" and not gone.abstract
    assert (found.outside, found.bad) == (1, 1)


def test_bytes_are_read_in_the_encoding_that_they_declare():
    record = read_page(case("latin1.xml")).records[0]
    assert record.identifier == "oai:x:caf\u00e9"
    assert record.authors == ("Zo\u00e9 M\u00fcller", "Solo")
    assert record.subjects == ("cs.LG", "cs.AI") and record.abstract == "Short."


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<!doctype html><html>", "HTML page"),
        (b"<html><body>Sign in</p>", "HTML page"),
        (b"", "cut or broken"),
        (b"{}", "cut or broken"),
        (case("latin1.xml")[:300], "cut or broken at line 2"),
        (b"<OAI-PMH/>", "neither records nor an error"),
        (b"<rss/>", "found <rss>"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "encoding"),
    ],
)
def test_what_is_no_answer_of_an_archive_says_so(body, why):
    with pytest.raises(Unreadable, match=why):
        read_page(body)


def test_a_busy_archive_is_waited_for_as_long_as_it_asks(server):
    busy = Says(status=503, headers={"Retry-After": "30"})
    server.answers["/oai"] = [busy, Says(status=503), page(1)]
    found, waited = pages(server)
    assert identifiers(found) == ["oai:x:1"] and waited == [30.0, 10.0]
    server.answers["/oai"] = busy
    with pytest.raises(Unreadable, match="asks for 30 s more"):
        pages(server, patience=100)


def test_a_wrong_date_is_refused_before_anything_is_asked(server):
    for wrong in ("yesterday", "2026-11", "2026-11-28 06:00"):
        with pytest.raises(OpsError, match="expected 2026-11-28"):
            pages(server, since=wrong)
    assert server.asked == []


def test_a_window_by_the_second_holds_for_stamps_by_the_second_and_by_the_day():
    body = EMPTY % b"".join(
        b"<record><header><identifier>%s</identifier><datestamp>%s</datestamp></header></record>"
        % (stamp, stamp)
        for stamp in (b"2026-11-28T05:59:59Z", b"2026-11-28T06:00:00Z", b"2026-11-28", b"2026-11-29")
    )
    found = read_page(body, since="2026-11-28T06:00:00Z", until="2026-11-28T23:00:00Z")
    assert identifiers([found]) == ["2026-11-28T06:00:00Z", "2026-11-28"]
