"""One connection for one HTTP request: opened, proxied and read within the time of the whole request."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    import socket

PORTS = {"http": 80, "https": 443}


class TimeOver(Exception):
    """The time of the whole request is over."""


class Broken(Exception):
    """One attempt failed; ``again`` tells whether another may go better without doing the work twice."""

    def __init__(self, why: str, again: bool) -> None:
        super().__init__(why)
        self.why, self.again = why, again


@dataclass(frozen=True)
class Call:
    """One request as it goes out: to where, with what."""

    url: SplitResult
    method: str
    headers: Mapping[str, str]
    body: bytes | None
    max_bytes: int
    deadline: float

    def left(self) -> float:
        """Seconds left of the whole request; raises TimeOver when there are none."""
        found = self.deadline - time.monotonic()
        if found <= 0:
            raise TimeOver
        return found


def stop(why: str) -> NoReturn:
    """End the request: what is wrong would be wrong again."""
    raise Broken(why, again=False)


class _Stream:
    """A socket of which every operation ends when the time of the whole request does."""

    def __init__(self, plain: socket.socket, call: Call) -> None:
        self._socket, self._call = plain, call

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._call.left())
            rest = rest[self._socket.send(rest) :]

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(_Received(self._socket, self._call.left))

    def start_tls(self, host: str) -> None:
        import ssl

        self._socket.settimeout(self._call.left())
        self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=host)

    def close(self) -> None:
        """Nothing: http.client closes it before the body is read."""

    def end(self) -> None:
        self._socket.close()


class _Received(io.RawIOBase):
    """The receiving side of a socket."""

    def __init__(self, plain: socket.socket, left: Callable[[], float]) -> None:
        self._socket, self._left = plain, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(self._left())
        return self._socket.recv_into(buffer)


@dataclass(frozen=True)
class Connected:
    """An open stream, what the first line of the request names, and the header that a proxy asks for."""

    stream: _Stream
    target: str
    login: Mapping[str, str]


def connect(call: Call) -> Connected:
    host, port = call.url.hostname or "", call.url.port or PORTS[call.url.scheme]
    path = (call.url.path or "/") + (f"?{call.url.query}" if call.url.query else "")
    proxy, login = _proxy(call.url, host), {}
    if proxy is None:
        stream, target = _Stream(_open(host, port, call), call), path
    else:
        at = proxy.hostname or ""
        stream = _Stream(_open(at, proxy.port or 80, call), call)
        target, login = f"http://{netloc(call.url)}{path}", _proxy_login(proxy)
    try:
        if proxy is not None and call.url.scheme == "https":
            _tunnel(stream, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", login)
            target, login = path, {}
        if call.url.scheme == "https":
            stream.start_tls(host)
    except BaseException:
        stream.end()
        raise
    return Connected(stream, target, login)


def _open(host: str, port: int, call: Call) -> socket.socket:
    """Connect to the first address of a host that answers; each gets its share of the time."""
    import socket

    found = _addresses(host, port, call)
    for number, (family, kind, protocol, _, address) in enumerate(found):
        plain = socket.socket(family, kind, protocol)
        try:
            plain.settimeout(call.left() / (len(found) - number))
            plain.connect(address)
            return plain
        except BaseException as error:
            plain.close()
            if not isinstance(error, OSError) or number + 1 == len(found):
                raise
    raise OSError("no address")


def _addresses(host: str, port: int, call: Call) -> list[Any]:
    """Look a name up. The system's resolver has no time limit of its own, hence the thread."""
    import socket
    import threading

    found: list[Any] = []
    failed: list[Exception] = []

    def look_up() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, ValueError) as error:
            failed.append(error)

    thread = threading.Thread(target=look_up, name="hermes-ops-name", daemon=True)
    thread.start()
    thread.join(call.left())
    call.left()
    if not found:
        raise Broken(f"the name {host[:100]!r} is not known here", again=bool(failed))
    return found


def _proxy(url: SplitResult, host: str) -> SplitResult | None:
    """The proxy that the environment names for an address; nothing on this machine is asked through one."""
    import os

    if _is_loopback(host) or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies_environment, proxy_bypass_environment

    named = getproxies_environment()
    text = named.get(url.scheme) or named.get("all")
    if not text or proxy_bypass_environment(netloc(url), named):
        return None
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme != "http" or not parts.hostname:
        stop(f"the proxy that the environment names for {url.scheme} is not of the kind http://host:port")
    return parts


def _tunnel(stream: _Stream, target: str, login: Mapping[str, str]) -> None:
    from http.client import HTTPResponse

    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    lines += [f"{name}: {value}" for name, value in login.items()]
    stream.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
    response = HTTPResponse(stream, method="CONNECT")  # type: ignore[arg-type]  # it asks for makefile alone
    response.begin()
    if response.status != 200:
        raise Broken(f"the proxy of the environment answered {response.status}", again=False)


def _proxy_login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    from base64 import b64encode
    from urllib.parse import unquote

    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + b64encode(login.encode()).decode()}


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def netloc(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in (None, PORTS.get(parts.scheme)) else f"{host}:{parts.port}"
