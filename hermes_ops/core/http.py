"""HTTP with everything bounded: time of the whole request, size of the answer, redirects.

A key never goes to another origin than the one it was meant for. Retry-After is honoured within the time.
Neither a header nor a query stands in the text of any error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from .. import __version__
from ..errors import Unreadable
from .http_connection import PORTS, Broken, Call, Connected, TimeOver, connect, netloc, stop

MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 65_536
_SAFE = "%/:=&?~#+!$,;'@()*[]-._"
_LONGEST_SHOWN = 24  # a longer piece of a path may be a key (Telegram's is one)


@dataclass(frozen=True)
class Answer:
    """A complete answer; header names are lower case; ``url`` is where it came from, without query."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


def request(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    secret_headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    timeout: float = 15.0,
    max_bytes: int = 1_000_000,
    tries: int = 1,
    may_follow: Callable[[str], bool] | None = None,
) -> Answer:
    """One request, redirects (at most 5) followed within it; any status is an answer.

    ``secret_headers`` are left out once a redirect leaves the origin (scheme, host, port); from https to http
    nothing is followed when there are any, and a body never leaves the origin. With ``tries`` > 1 429 and 5xx
    are tried again after Retry-After (or 1, 2, 4 s), as is a connection that was not made, and any broken
    answer to a GET, as long as the time allows. Proxies of the environment are used, except to loopback.
    ``may_follow`` is asked of every address that a redirect leads to, before anything is sent there.
    Raises Unreadable: time over, too large, connection refused, TLS, not http(s), a cut body.
    """
    deadline = time.monotonic() + timeout
    for attempt in range(max(1, tries)):
        last = attempt + 1 >= tries
        answer, why, again = None, "", False
        # What is raised below has no context: the error that led to it may hold a header.
        try:
            answer = _follow(
                url, method, headers or {}, secret_headers or {}, body, max_bytes, deadline, may_follow
            )
        except TimeOver:
            why = f"no complete answer within {timeout:g} s"
        except Broken as error:
            why, again = error.why, error.again
        pause = 2.0**attempt
        if answer is not None:
            if last or not (answer.status == 429 or answer.status >= 500):
                return answer
            asked = retry_after(answer.headers)
            pause = pause if asked is None else asked
        if last or not (answer or again) or not _wait(pause, deadline):
            if answer is not None:
                return answer
            raise Unreadable(shown(url), why)
    raise AssertionError("unreachable")


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that an answer asks to wait (Retry-After as a number or a date); None when it does not say.

    A date is compared with the server's own Date when it sent one, so that a wrong clock here does no harm.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 10 else None
    until = _date(text)
    if until is None:
        return None
    told = _date(headers.get("date", ""))
    reference = told if told is not None else time.time() if now is None else now
    return max(0.0, until - reference)


def shown(url: str) -> str:
    """An address for a message: no user, password, query or fragment, nothing long in its path."""
    try:
        parts = urlsplit(url.strip())
        begins = f"{parts.scheme}://{netloc(parts)}" if parts.hostname else ""
    except (ValueError, AttributeError):
        begins = ""
    if not begins:
        return "an address that is none"
    path = "/".join(
        piece if len(piece) <= _LONGEST_SHOWN and ":" not in piece else "..."
        for piece in parts.path.split("/")
    )
    return "".join(c if c.isprintable() else "?" for c in f"{begins}{path}")[:300]


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address; a key meant for one origin goes to no other. Raises ValueError."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or PORTS.get(scheme)


def _follow(
    url: str,
    method: str,
    headers: Mapping[str, str],
    secrets: Mapping[str, str],
    body: bytes | None,
    max_bytes: int,
    deadline: float,
    may_follow: Callable[[str], bool] | None,
) -> Answer:
    home, secret = _checked(url), dict(secrets)
    here = home
    for _ in range(MAX_REDIRECTS + 1):
        call = Call(here, method, {**headers, **secret}, body, max_bytes, deadline)
        answer = _once(call)
        to = answer.headers.get("location")
        if answer.status not in REDIRECTS or not to:
            return answer
        # http.client reads headers as Latin-1; quoted byte by byte, an address in UTF-8 stays one.
        there = _checked(urljoin(here.geturl(), quote(to.encode("latin-1", "replace"), safe=_SAFE)))
        if here.scheme == "https" and there.scheme == "http" and secrets:
            stop(f"is redirected from https to {shown(there.geturl())}, where a key would be readable by all")
        if may_follow is not None and not may_follow(there.geturl()):
            stop(f"is redirected to {shown(there.geturl())}, which is not asked")
        if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
            method, body = "GET", None
        if origin(there.geturl()) != origin(home.geturl()):
            secret = {}
            if body is not None:
                stop(f"is redirected to {shown(there.geturl())}; what is sent does not leave the origin")
        here = there
    stop(f"redirected more than {MAX_REDIRECTS} times")


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        parts.port  # noqa: B018  a wrong one raises when it is asked for
    except (ValueError, AttributeError):
        stop("is no address")
    if parts.scheme not in PORTS or not parts.hostname:
        stop("expected an address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        stop("a user or password in an address is not used; give it as a header")
    return parts._replace(path=quote(parts.path, safe=_SAFE), query=quote(parts.query, safe=_SAFE))


def _wait(seconds: float, deadline: float) -> bool:
    """Wait, unless the time would be over before or just then."""
    if time.monotonic() + seconds >= deadline:
        return False
    time.sleep(seconds)
    return True


def _once(call: Call) -> Answer:
    """One request and its whole answer, no redirect followed."""
    from http.client import HTTPConnection, HTTPException, InvalidURL

    sent = False
    connected = None
    try:
        connected = connect(call)
        connection = HTTPConnection(call.url.hostname or "")
        connection.sock = connected.stream  # type: ignore[assignment]  # it has all that is asked of a socket
        sent = True
        _send(connection, call, connected)
        response = connection.getresponse()
        return Answer(
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            b"" if call.method == "HEAD" else _body(response, call),
            shown(call.url.geturl()),
        )
    except TimeoutError:
        call.left()
        raise Broken("timed out", _repeatable(call, sent)) from None
    except InvalidURL:
        stop("the address holds a character that cannot be sent")
    except HTTPException as error:
        raise Broken(_protocol_reason(error), _repeatable(call, sent)) from None
    except OSError as error:
        raise Broken(_os_reason(error), _repeatable(call, sent)) from None
    except ValueError:
        # http.client says in it what it was given; that may be the key.
        stop("a header or the address holds a character that cannot be sent")
    finally:
        if connected is not None:
            connected.stream.end()


def _repeatable(call: Call, sent: bool) -> bool:
    return not sent or call.method in ("GET", "HEAD")


def _send(connection: Any, call: Call, connected: Connected) -> None:
    connection.putrequest(call.method, connected.target, skip_host=True, skip_accept_encoding=True)
    defaults = {
        "Host": netloc(call.url),
        "User-Agent": f"hermes-ops/{__version__}",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    given = {name.lower() for name in call.headers}
    own = {name: value for name, value in defaults.items() if name.lower() not in given}
    for name, value in {**own, **call.headers, **connected.login}.items():
        connection.putheader(name, value)
    if call.body is not None or call.method in ("POST", "PUT", "PATCH"):
        connection.putheader("Content-Length", str(len(call.body or b"")))
    connection.endheaders(call.body or None)


def _body(response: Any, call: Call) -> bytes:
    """The whole body, at most max_bytes of it, also after unpacking."""
    announced = response.length
    if announced is not None and announced > call.max_bytes:
        stop(f"the answer is larger than {call.max_bytes} bytes")
    read, size = [], 0
    while piece := response.read(min(_PIECE, call.max_bytes + 1 - size)):
        read.append(piece)
        size += len(piece)
        if size > call.max_bytes:
            stop(f"the answer is larger than {call.max_bytes} bytes")
    if announced is not None and size < announced:
        raise Broken(f"the answer was cut after {size} of {announced} bytes", _repeatable(call, True))
    packing = (response.getheader("content-encoding") or "").strip().lower()
    if packing in ("", "identity"):
        return b"".join(read)
    if packing not in ("gzip", "x-gzip"):
        stop(f"the answer is packed as {packing[:20]!r}, which was not asked for")
    return _unpack(b"".join(read), call.max_bytes)


def _unpack(packed: bytes, max_bytes: int) -> bytes:
    import zlib

    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        found = unpacker.decompress(packed, max_bytes + 1)
    except zlib.error:
        stop("the answer is not the gzip that it says it is")
    if len(found) > max_bytes:
        stop(f"the unpacked answer is larger than {max_bytes} bytes")
    if not unpacker.eof:
        stop("the packed answer was cut")
    return found


# --- words


def _os_reason(error: OSError) -> str:
    verify = getattr(error, "verify_message", None)
    if verify:
        return f"its certificate is not accepted: {verify}"
    if type(error).__name__.startswith("SSL"):
        return f"no TLS connection: {getattr(error, 'reason', None) or type(error).__name__}"
    return f"no answer: {error.strerror or type(error).__name__}"


def _protocol_reason(error: Exception) -> str:
    name = type(error).__name__
    if name == "IncompleteRead":
        return "the answer was cut"
    if name == "RemoteDisconnected":
        return "the connection was closed without an answer"
    return f"what it answers is not HTTP ({name})"


def _date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
