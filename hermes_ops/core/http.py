"""HTTP with everything bounded: time of the whole request, size of the answer, redirects.

A key never goes to another origin than the one it was meant for. Retry-After is honoured within the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
) -> Answer:
    """One request, redirects followed within it; any status is an answer.

    ``secret_headers`` are left out once a redirect leaves the origin (scheme, host, port). With ``tries`` > 1
    429 and 5xx are tried again after Retry-After (or 1, 2, 4 s) as long as the time allows.
    Raises Unreadable: time over, too large, connection refused, TLS, not http(s), a cut body.
    """
    raise NotImplementedError
