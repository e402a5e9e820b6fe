import gzip
import socket
import threading
import time
import traceback
from datetime import datetime, timezone

import pytest

from hermes_ops.core import http
from hermes_ops.core.http import origin, request, retry_after, shown
from hermes_ops.errors import Unreadable
from tests.ops.loopback import Loopback, Says

KEY = "sk-" + "made-up-key-0123456789abcdef"
SECRET = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture
def server():
    with Loopback() as running:
        yield running


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def refused(url, **options):
    with pytest.raises(Unreadable) as found:
        request(url, **options)
    told = "".join(traceback.format_exception(found.value))
    assert KEY not in told and "k=v" not in told
    return str(found.value)


def test_any_status_is_an_answer_with_its_headers_and_body(server):
    server.answers["/a"] = Says(b"gone", 410, {"X-Why": "old"})
    answer = request(f"{server.url}/a?k=v", secret_headers=SECRET)
    assert (answer.status, answer.body, answer.headers["x-why"]) == (410, b"gone", "old")
    assert answer.url == f"{server.url}/a"
    assert server.asked[0].path == "/a?k=v"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.asked[0].headers["accept-encoding"] == "identity"


def test_a_body_is_sent_whole(server):
    server.answers["/post"] = Says(b"ok")
    request(f"{server.url}/post", method="POST", body=b"x" * 300_000, headers={"User-Agent": "mine"})
    assert server.asked[0].body == b"x" * 300_000
    assert server.asked[0].headers["user-agent"] == "mine"


# --- time and size


@pytest.mark.parametrize("part", ["headers", "body", "nothing"])
def test_a_server_that_drips_does_not_outlast_the_time_of_the_whole_request(server, part):
    def drip(handler):
        if part != "headers":
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
        if part == "nothing":
            server.stopping.wait(20)
        else:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: " if part == "headers" else b"")
        while not server.stopping.wait(0.1):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    server.answers["/drip"] = drip
    before = time.monotonic()
    assert "no complete answer within 0.5 s" in refused(f"{server.url}/drip?k=v", timeout=0.5)
    assert time.monotonic() - before < 5


def test_a_server_that_takes_no_bytes_does_not_outlast_the_time():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        said = refused(url, method="POST", body=b"x" * 50_000_000, timeout=0.5)
    assert "no complete answer within 0.5 s" in said


def test_a_larger_answer_than_allowed_is_refused_announced_or_not(server):
    server.answers["/announced"] = Says(b"x" * 1001)
    server.answers["/endless"] = Says(b"x" * 1001, length=False)
    for path in ("/announced", "/endless"):
        assert "larger than 1000 bytes" in refused(server.url + path, max_bytes=1000)
    server.answers["/just"] = Says(b"x" * 1000)
    assert len(request(f"{server.url}/just", max_bytes=1000).body) == 1000


def test_a_packed_answer_is_unpacked_within_the_same_limit(server):
    packed = {"Content-Encoding": "gzip"}
    server.answers["/small"] = Says(gzip.compress(b"hello"), headers=packed)
    server.answers["/bomb"] = Says(gzip.compress(b"0" * 50_000_000), headers=packed)
    server.answers["/cut"] = Says(gzip.compress(b"hello" * 100)[:-9], headers=packed)
    server.answers["/not"] = Says(b"hello", headers=packed)
    server.answers["/br"] = Says(b"hello", headers={"Content-Encoding": "br"})
    assert request(f"{server.url}/small").body == b"hello"
    assert "unpacked answer is larger" in refused(f"{server.url}/bomb")
    assert "cut" in refused(f"{server.url}/cut")
    assert "not the gzip" in refused(f"{server.url}/not")
    assert "packed as 'br'" in refused(f"{server.url}/br")


def test_a_cut_body_is_not_an_answer(server):
    def cut(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"x" * 40)
        handler.close_connection = True

    def cut_chunk(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"10\r\nxxxx")
        handler.close_connection = True

    server.answers.update({"/cut": cut, "/chunk": cut_chunk})
    assert "cut after 40 of 100 bytes" in refused(f"{server.url}/cut")
    assert "was cut" in refused(f"{server.url}/chunk")


def test_a_name_that_the_resolver_never_answers_does_not_outlast_the_time(monkeypatch):
    hangs = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [hangs.wait(20)][1:])
    before = time.monotonic()
    assert "no complete answer" in refused("http://slow.example/", timeout=0.3)
    assert time.monotonic() - before < 5
    hangs.set()


def test_what_is_no_answer_says_why(server):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    assert "Connection refused" in refused(f"http://127.0.0.1:{port}/?k=v")
    assert "no TLS connection" in refused(f"https://127.0.0.1:{server.port}/?k=v", secret_headers=SECRET)

    def hang_up(handler):
        handler.close_connection = True

    def nonsense(handler):
        handler.wfile.write(b"220 mail.example ESMTP\r\n")
        handler.close_connection = True

    server.answers.update({"/hang": hang_up, "/mail": nonsense})
    assert "closed without an answer" in refused(f"{server.url}/hang?k=v")
    assert "not HTTP" in refused(f"{server.url}/mail")


@pytest.mark.parametrize(
    "url",
    ["file:///etc/hostname", "ftp://a.example/", "", "http://", "http://[::1", "http://a:b/", "nothing"],
)
def test_what_is_no_address_of_the_web_is_refused(url):
    assert "address" in refused(url)


def test_a_key_that_no_header_can_hold_is_not_told():
    for key in (KEY + "\nX-Other: 1", KEY + "\u2028", KEY + "\u0416"):
        with pytest.raises(Unreadable) as found:
            request("http://127.0.0.1:1/", secret_headers={"Authorization": key})
        assert found.value.__context__ is None
        assert KEY not in str(found.value)


def test_a_user_and_password_in_an_address_are_refused_and_not_told():
    said = refused("http://name:" + KEY + "@127.0.0.1:1/?k=v")
    assert "give it as a header" in said and "name" not in said


# --- redirects


def test_a_key_does_not_follow_a_redirect_to_another_origin(server):
    with Loopback({"/here": Says(b"other"), "/back": Says()}) as other:
        server.answers["/go"] = Says(status=302, headers={"Location": f"{other.url}/here"})
        answer = request(f"{server.url}/go", secret_headers=SECRET, headers={"X-Open": "1"})
        assert answer.body == b"other" and answer.url == f"{other.url}/here"
        assert other.asked[0].headers.get("authorization") is None
        assert KEY not in str(other.asked)
        assert other.asked[0].headers["x-open"] == "1"

        other.answers["/back"] = Says(status=307, headers={"Location": f"{server.url}/end"})
        server.answers["/go"] = Says(status=307, headers={"Location": f"{other.url}/back"})
        server.answers["/end"] = Says(b"end")
        assert request(f"{server.url}/go", secret_headers=SECRET).body == b"end"
        assert KEY not in str(server.asked[-1]), (
            "the other server chose this address, not the owner of the key"
        )


def test_a_key_follows_a_redirect_within_its_origin(server):
    server.answers["/go"] = Says(
        status=301, headers={"Location": "there/\u00fc?x=1 2".encode().decode("latin-1")}
    )
    server.answers["/there/%C3%BC"] = Says(b"ok")
    assert request(f"{server.url}/go", secret_headers=SECRET).body == b"ok"
    assert server.asked[1].headers["authorization"] == f"Bearer {KEY}"


def test_redirects_end(server):
    server.answers["/loop"] = Says(status=302, headers={"Location": "/loop"})
    assert "more than 5 times" in refused(f"{server.url}/loop")
    assert len(server.asked) == 6


@pytest.mark.parametrize("where", ["file:///etc/hostname", "gopher://a/", "http://u:p@127.0.0.1/", "//"])
def test_a_redirect_leads_nowhere_but_the_web(server, where):
    server.answers["/go"] = Says(status=302, headers={"Location": where})
    assert refused(f"{server.url}/go")


def test_what_is_sent_does_not_leave_its_origin(server):
    with Loopback({"*": Says()}) as other:
        server.answers["/go"] = Says(status=307, headers={"Location": f"{other.url}/take?k=v"})
        assert "does not leave the origin" in refused(f"{server.url}/go", method="POST", body=b"prompt")
        assert other.asked == []
        server.answers["/go"] = Says(status=303, headers={"Location": f"{other.url}/see"})
        request(f"{server.url}/go", method="POST", body=b"prompt")
        assert (other.asked[0].method, other.asked[0].body) == ("GET", b"")


def test_nothing_with_a_key_goes_from_https_to_http(monkeypatch):
    asked = []

    def once(call):
        asked.append(call.url.geturl())
        return http.Answer(302, {"location": "http://a.example/plain?k=v"}, b"", "")

    monkeypatch.setattr(http, "_once", once)
    assert "from https to http://a.example/plain" in refused("https://a.example/", secret_headers=SECRET)
    assert asked == ["https://a.example/"]


# --- trying again


@pytest.fixture
def waited(monkeypatch):
    """The seconds that were waited, without waiting."""
    found = []
    monkeypatch.setattr(http, "_wait", lambda seconds, deadline: found.append(seconds) or True)
    return found


def test_a_busy_server_is_asked_again_after_the_time_it_names(server, waited):
    busy = [Says(status=429, headers={"Retry-After": "7"}), Says(status=503), Says(status=500)]
    server.answers["/busy"] = [*busy, Says(b"done")]
    assert request(f"{server.url}/busy", tries=4).body == b"done"
    assert waited == [7, 2, 4]


def test_a_wait_that_is_longer_than_the_time_is_not_begun(server):
    server.answers["/busy"] = Says(status=503, headers={"Retry-After": "3600"})
    before = time.monotonic()
    assert request(f"{server.url}/busy", tries=5, timeout=2).status == 503
    assert time.monotonic() - before < 2
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_would_be_refused_again_is_not_asked_again(server, waited, status):
    server.answers["/no"] = Says(status=status)
    assert request(f"{server.url}/no", tries=3).status == status
    assert len(server.asked) == 1


def test_an_answer_that_broke_is_asked_for_again_but_nothing_is_sent_twice(server, waited):
    def hang_up(handler):
        handler.close_connection = True

    server.answers["/hang"] = hang_up
    assert refused(f"{server.url}/hang", tries=2)
    assert len(server.asked) == 2
    assert refused(f"{server.url}/hang", method="POST", body=b"{}", tries=2)
    assert len(server.asked) == 3


def test_retry_after_is_read_as_seconds_and_as_a_date():
    date = {"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({**date, "date": "Sun, 29 Nov 2026 12:00:00 GMT"}) == 30
    assert retry_after(date, now=datetime(2026, 11, 29, 12, tzinfo=timezone.utc).timestamp()) == 30
    assert retry_after({**date, "date": "Sun, 29 Nov 2026 13:00:00 GMT"}) == 0
    for nothing in ("", "soon", "-5", "9" * 30, "1e400", "nan"):
        assert retry_after({"retry-after": nothing}) is None


# --- proxies


def test_the_proxy_of_the_environment_is_used_but_not_for_this_machine(server, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{server.port}")
    server.answers["http://api.example/x"] = Says(b"by proxy")
    assert request("http://api.example/x?k=v", secret_headers=SECRET).body == b"by proxy"
    assert server.asked[0].path == "http://api.example/x?k=v"
    assert server.asked[0].headers["host"] == "api.example"
    assert server.asked[0].headers["proxy-authorization"] == "Basic dXNlcjp3b3Jk"

    server.answers["/direct"] = Says(b"direct")
    assert request(f"{server.url}/direct").body == b"direct"
    assert "proxy-authorization" not in server.asked[1].headers


def test_https_goes_through_the_proxy_as_a_tunnel(server, monkeypatch):
    monkeypatch.setenv("https_proxy", server.url)
    server.answers["*"] = Says(status=502)
    assert "proxy of the environment answered 502" in refused("https://api.example/x", secret_headers=SECRET)
    assert (server.asked[0].method, server.asked[0].path) == ("CONNECT", "api.example:443")
    assert "authorization" not in server.asked[0].headers


def test_a_host_of_no_proxy_is_asked_directly_and_an_unknown_kind_of_proxy_is_said(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    assert "not of the kind http://host:port" in refused("http://api.example/")
    monkeypatch.setenv("no_proxy", "api.example")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])
    assert "not known" in refused("http://api.example/")


# --- words


def test_an_address_in_a_message_holds_nothing_that_may_be_a_key():
    assert shown("https://u:p@a.example:8443/x/y?token=1#z") == "https://a.example:8443/x/y"
    telegram = "https://api.telegram.org/bot123456:" + "A" * 35 + "/sendMessage"
    assert shown(telegram) == "https://api.telegram.org/.../sendMessage"
    assert shown("http://a.example/\x1b[2J") == "http://a.example/?[2J"
    assert shown("\u0430") == shown("http://[") == "an address that is none"


def test_origins_are_equal_when_scheme_host_and_port_are():
    assert origin("https://A.example/x") == origin("https://a.example:443/y")
    assert origin("https://a.example") != origin("http://a.example")
    assert origin("https://a.example") != origin("https://a.example.evil")
