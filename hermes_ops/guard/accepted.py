"""The policy in force is the last one that a person accepted: a sealed copy, not the file that anybody edits.

`<home>/ops/guard/accepted.json` holds the text, its sha256, how it was accepted and an HMAC by
`<home>/ops/guard/key` (0600). The seal shows a change by somebody who does not read the key; both files are
also what the guard protects. `<home>/.hermes-ops-guard.json` bears witness that there was a copy, and every
acceptance stands in the log of decisions.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from .._common.files import read_regular, write_atomic
from ..core.finding import Finding
from ..errors import OpsError, Unreadable
from .policy import BUILT_IN, Policy, path_of

FORMAT = 1
WITNESS = ".hermes-ops-guard.json"
ACCEPTED = "accepted"  # the answer of an acceptance in the log of decisions
SEAL_SHOWN = 16  # letters of a seal that tell one acceptance from another
ACCEPT = "hermes ops guard accept"
_KEY_BYTES = 32
_LARGEST = 2_000_000


@dataclass(frozen=True)
class Sealed:
    """The accepted copy: its text ("" for the built-in rules alone), its sha256, when and how that was.

    `seal` tells one acceptance from every other.
    """

    text: str
    sha256: str
    at: float
    by: str = ""
    seal: str = ""


@dataclass(frozen=True)
class Loaded:
    """What is accepted in a home. `policy` None: nothing usable; `why` says it, "" when nothing is there."""

    policy: Policy | None = None
    sealed: Sealed | None = None
    why: str = ""


@dataclass(frozen=True)
class State:
    """The policy in force and what is wrong about the files of a home."""

    policy: Policy
    accepted_at: float | None = None
    findings: tuple[Finding, ...] = ()
    written: str | None = field(default=None, repr=False)  # guard.toml as it is, None without one
    sealed: Sealed | None = field(default=None, repr=False)


def folder(home: Path) -> Path:
    return home / "ops" / "guard"


def copy_of(home: Path) -> Path:
    return folder(home) / "accepted.json"


def key_of(home: Path) -> Path:
    return folder(home) / "key"


def witness_of(home: Path) -> Path:
    return home / WITNESS


def load(home: Path) -> Loaded:
    """Read the accepted copy, verify its seal, parse it; its examples were judged when it was accepted."""
    try:
        sealed = read_sealed(home)
        if sealed is None:
            return Loaded()
        return Loaded(parse_text(sealed.text, path_of(home)), sealed)
    except OpsError as error:
        return Loaded(why=str(error))


def read_sealed(home: Path) -> Sealed | None:
    """The accepted copy, None when none was ever made. OpsError: damaged, or its seal does not fit."""
    copy, key = copy_of(home), key_of(home)
    raw, secret = _content(copy), _content(key)
    if raw is None and secret is None:
        witness = witness_of(home)
        if os.path.lexists(witness):
            raise OpsError(f"{copy} is gone, and {witness} says that there was one")
        return None
    if raw is None:
        raise OpsError(f"{copy} is gone")
    if secret is None or len(secret) != _KEY_BYTES:
        raise OpsError(
            f"{key} is {'gone' if secret is None else 'damaged'}, so the accepted policy cannot be trusted"
        )
    try:
        data = json.loads(raw)
        text, seal, at, number = data["text"], data["seal"], data["at"], data["format"]
        by = data.get("by", "")
        fits = isinstance(seal, str) and hmac.compare_digest(_seal(secret, text, at, by), seal)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise OpsError(f"{copy} is damaged") from None
    if number != FORMAT:
        raise OpsError(f"{copy} has format {number!r}; this hermes-ops knows {FORMAT}")
    if not fits:
        raise OpsError(f"{copy} was changed after it was accepted: its seal does not fit")
    return Sealed(text, _sha256(text), float(at), str(by), seal)


def parse_text(text: str, path: Path) -> Policy:
    """A policy of the text of a file; OpsError as `policy.parse`."""
    import tomllib

    from .policy import parse

    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise OpsError(f"{path}: not valid TOML: lists or tables too deep in each other") from None
    except ValueError as error:
        raise OpsError(f"{path}: not valid TOML: {error}") from None
    return parse(content, path)


def written(home: Path) -> str | None:
    """The text of guard.toml, None without one. Raises Unreadable, or OpsError for what is no text."""
    path = path_of(home)
    raw = _content(path)
    try:
        return None if raw is None else raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OpsError(f"{path}: not valid TOML: not UTF-8") from None


def state(home: Path) -> State:
    """The policy in force and the findings about it. A changed file is checked with its examples."""
    loaded = load(home)
    findings = []
    if loaded.why:
        findings.append(
            _finding(
                "guard.policy-seal",
                "critical",
                f"{loaded.why}; the built-in rules hold, those of a running session as it last read them",
                f"look who changed it, then {ACCEPT}",
            )
        )
    text: str | None = None
    try:
        text = written(home)
        findings += _about_the_file(home, text, loaded)
    except OpsError as error:
        findings.append(_invalid(error, loaded))
    accepted_at = loaded.sealed.at if loaded.sealed else None
    return State(loaded.policy or BUILT_IN, accepted_at, tuple(findings), text, loaded.sealed)


def is_untouched(home: Path) -> bool:
    """Whether guard.toml is what was accepted and the seal fits: all that a look every hour needs to know."""
    try:
        sealed, text = read_sealed(home), written(home)
    except OpsError:
        return False
    return (sealed.text if sealed else "") == (text or "")


def accept(home: Path, now: float, by: str = "") -> Sealed:
    """Seal guard.toml as the policy in force (without the file: the built-in rules alone).

    The caller has checked it (policy_check.check); `by` says how it came to that. Raises Unreadable when it
    cannot be written.
    """
    text = written(home) or ""
    key = key_of(home)
    is_first = not os.path.lexists(witness_of(home))
    try:
        secret = _content(key)
        if secret is None or len(secret) != _KEY_BYTES:
            secret = os.urandom(_KEY_BYTES)
            write_atomic(key, secret)
            os.chmod(key, 0o600)
        sealed = Sealed(text, _sha256(text), now, by, _seal(secret, text, now, by))
        bear_witness(home, sealed)
        write_atomic(copy_of(home), json.dumps({"format": FORMAT, **vars(sealed)}, sort_keys=True) + "\n")
    except OSError as error:
        if is_first:
            witness_of(home).unlink(missing_ok=True)
        raise Unreadable(error.filename or key, f"cannot be written: {error.strerror or error}") from None
    _note(home, sealed)
    return sealed


def bear_witness(home: Path, sealed: Sealed) -> None:
    """Keep, outside of what may be removed with the policy, that there is an accepted one. Raises OSError."""
    witness = {"accepted": str(copy_of(home)), "sha256": sealed.sha256, "at": sealed.at, "by": sealed.by}
    write_atomic(witness_of(home), json.dumps(witness, sort_keys=True) + "\n")


def described(sealed: Sealed) -> str:
    """An acceptance in words, for the log and the watcher."""
    return f"sha256 {sealed.sha256[:12]}" + (f", {sealed.by}" if sealed.by else "")


def _note(home: Path, sealed: Sealed) -> None:
    """Write an acceptance down; where the log cannot be written, the watcher tells that, and the copy."""
    from .decisions import decided

    try:
        decided(home, ACCEPTED, "guard accept", described(sealed), (), seal=sealed.seal[:SEAL_SHOWN])
    except OSError:
        pass


def difference(before: str, after: str) -> list[str]:
    """The lines of a unified difference of two policies; none when they are the same."""
    from difflib import unified_diff

    return list(
        unified_diff(before.splitlines(), after.splitlines(), "accepted", "ops/guard.toml", lineterm="", n=2)
    )


def _about_the_file(home: Path, text: str | None, loaded: Loaded) -> list[Finding]:
    sealed = loaded.sealed
    if text == (sealed.text if sealed else None) or (not text and (sealed is None or not sealed.text)):
        return []
    path = path_of(home)
    if text is None:
        if sealed is None:
            return []
        return [_changed(f"{path} is gone; the policy that was accepted holds", sealed.text)]
    try:
        from .policy_check import check

        check(parse_text(text, path), path, home)
    except OpsError as error:
        return [_invalid(error, loaded)]
    what = "was changed since it was accepted" if sealed else "was never accepted"
    return [_changed(f"{path} {what}; {_holds(loaded)}", text)]


def _changed(text: str, content: str) -> Finding:
    return _finding(
        "guard.policy-changed", "warning", text, f"look at it, then {ACCEPT}", _sha256(content)[:12]
    )


def _holds(loaded: Loaded) -> str:
    return "what was accepted holds" if loaded.sealed else "the built-in rules hold"


def _invalid(error: OpsError, loaded: Loaded) -> Finding:
    return _finding("guard.policy-invalid", "error", f"{error}; {_holds(loaded)}", f"mend it, then {ACCEPT}")


def _finding(rule: str, severity: str, text: str, fix: str, content: str = "") -> Finding:
    evidence = (f"sha256 {content}",) if content else ()
    return Finding(rule, severity, "the guard's policy", text, "policy", evidence, fix)


def _content(path: Path) -> bytes | None:
    try:
        return read_regular(path, _LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _seal(secret: bytes, text: str, at: float, by: str) -> str:
    how = f"{json.dumps(by)}\n" if by else ""
    return hmac.new(secret, f"{FORMAT}\n{at!r}\n{how}{text}".encode(), "sha256").hexdigest()
