"""A server on 127.0.0.1 whose answers a test writes, and which keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Says:
    """One answer. A body that is no bytes is sent as JSON; ``length`` False leaves Content-Length out."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] | None = None
    length: bool = True

    @property
    def raw(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


Answers = Says | Callable[[BaseHTTPRequestHandler], None] | list[Says]


class Loopback:
    """`answers` maps a path without query to what is said; a list is said in turn, its last item for ever.

    A function gets the handler and writes what it likes. "*" stands for every other path. `asked` are the
    requests in order of arrival; `stopping` is set at the end, for functions that wait.
    """

    def __init__(self, answers: Mapping[str, Answers] | None = None) -> None:
        self.answers: dict[str, Answers] = dict(answers or {})
        self.asked: list[Asked] = []
        self.stopping = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *arguments: object) -> None:
                pass

            def answer(self) -> None:
                owner._answer(self)

            do_GET = do_POST = do_PUT = do_HEAD = do_CONNECT = answer

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._http.handle_error = lambda *_: None  # a client that hangs up is part of the tests
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append(Asked(handler.command, handler.path, headers, body))
        path = handler.path.split("?")[0]
        said = self.answers.get(path, self.answers.get("*", Says(b"no such path", 404)))
        if isinstance(said, list):
            said = said.pop(0) if len(said) > 1 else said[0]
        if callable(said):
            said(handler)
            return
        handler.send_response(said.status)
        for name, value in (said.headers or {}).items():
            handler.send_header(name, value)
        if said.length:
            handler.send_header("Content-Length", str(len(said.raw)))
        else:
            handler.close_connection = True
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(said.raw)
