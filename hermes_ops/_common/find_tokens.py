"""Search a text for tokens known by their format: whole, cut, glued to something; and for private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import token_formats as formats
from .patterns import Lazy
from .searched_text import BULLET, SearchedText

_LONG = b"A" * 16  # the shortest token that counts without a truncation mark
_DIGIT, _DOTS = Lazy(rb"[0-9]"), Lazy(rb"\.+")
_DIGITS_BEFORE = Lazy(rb"(?:[\w-]*[-_]|bot)?([0-9]{6,16})", re.ASCII)

PEM_HEADER = Lazy(rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_END = Lazy(rb"-{4,6} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_LINE = Lazy(rb"(?:\s|\\+[nrt])*(?:[0-9]{1,6}[|:\t ] ?)?[+>|-]?[ \t]*"
                 rb"(?:([A-Za-z0-9+/=]{1,8192})|[A-Z][A-Za-z-]{2,24}: [^\r\n\\\"']{0,120})")  # fmt: skip
_LINES_BACKWARDS = Lazy(rb"(?:(?:\s|[nr]\\+)+[A-Za-z0-9+/=]{20,76}(?=\s|[nr]\\|\Z))+")
_PUTTY_LINES = Lazy(rb"Private-Lines: [0-9]{1,4}(?:\s|\\+[nr])+((?:[A-Za-z0-9+/=]{4,76}(?:\s|\\+[nr])+)+)")
_BASE64_RUN = Lazy(rb"[A-Za-z0-9+/=]{12,}")


def find_tokens(scan: SearchedText) -> None:
    """Note the tokens and private keys of the text."""
    _find_long_tokens(scan)
    _find_cut_tokens(scan)
    if b"PRIVATE KEY" in scan.bytes:
        _find_private_keys(scan)
        _find_key_ends(scan)
    _find_putty_keys(scan)


def _find_long_tokens(scan: SearchedText) -> None:
    text, words, heads = scan.bytes, scan.words, formats.token_heads()
    inner, digit = formats.inner_starts(), _DIGIT
    start = words.find(_LONG)
    while start >= 0:
        end = words.find(b" ", start + 16)
        if end < 0:
            end = len(words)
        done = _token(scan, start) if text[start : start + 2] in heads else start
        before = text[start - 1] if start else 32
        if before in b"\\%[;.:/~" and _may_be_glued(scan, start, before):
            _glued_token(scan, start, end)
        elif text[start] in b"-_":
            at = BULLET.match(text, start).end()
            done = _token(scan, at) if text[at : at + 2] in heads else done
        if digit.search(text, start, end):
            match = inner.search(text, done, end)
            while match:
                at = match.end()
                # a prefix as short as hf_ may stand in any long base64 text
                if end - start <= 256 or text[at + 2] not in b"-_":
                    done = max(done, _token(scan, at))
                match = inner.search(text, max(at, done), end)
            if 36 <= end - start <= 88:
                _whole_run(scan, start, end)
        start = words.find(_LONG, end)


def _may_be_glued(scan: SearchedText, start: int, before: int) -> bool:
    text = scan.bytes
    if before == 46:
        return text[max(0, start - 8) : start].endswith(formats.DOTTED)
    if before == 58:
        return text[start - 2 : start - 1].isdigit()
    if before == 47:
        return text[start] == 48
    return before not in b"[;" or text[start] in b"0123456789m"


def _whole_run(scan: SearchedText, start: int, end: int) -> None:
    if end - start <= 50:
        match = formats.MAILCHIMP.search(scan.bytes, start, end)
        if match:
            scan.spans.append((match.start(), end, "mailchimp", 0, ""))
    elif end - start >= 77 and scan.bytes.find(b"JQQJ9", start, end) > 0:
        scan.spans.append((scan.starts(start)[-1], end, "azure-key", 0, ""))


def _token(scan: SearchedText, start: int) -> int:
    """Note the token that starts here, and one glued to it; where they end, or `start`."""
    found = formats.token_at(scan.bytes, start)
    if not found:
        return start
    kind, end = found
    scan.spans.append((start, end, kind, 0, ""))
    if kind == "aws-key-id":
        secret = formats.AWS_SECRET_AFTER_ID.match(scan.bytes, end)
        if secret:
            scan.spans.append((*secret.span(1), "secret", 0, ""))
    return _token(scan, end)


def _glued_token(scan: SearchedText, start: int, end: int) -> None:
    """A run that begins inside a token (SG.xyz), behind an escape (\\tghp_...) or behind a bullet."""
    text = scan.bytes
    before = text[start - 1] if start else 32
    for at in scan.starts(start)[1:]:
        _token(scan, at)
    if before == 46:  # a dot
        left = start
        for _ in range(2):
            left = scan.words.rfind(b" ", max(0, left - 64), left - 1) + 1
            for at in scan.starts(left):
                _token(scan, at)
            for match in formats.inner_starts().finditer(text, left, start):
                _token(scan, match.end())
            if text.startswith(b"atlasv1.", left) and left >= 15 and text[left - 15 : left - 1].isalnum():
                scan.spans.append((left - 15, end, "terraform", 0, ""))
            if not left or text[left - 1] != 46:
                break
    elif before == 58 or (before == 37 and text[start : start + 2] in (b"3A", b"3a")):  # a colon
        body = start if before == 58 else start + 2
        left = _telegram_id(scan, start)
        token = formats.TELEGRAM.match(text, body) if left >= 0 else None
        if token:
            scan.spans.append((left, token.end(), "telegram", 0, ""))
    elif before == 47 and text[start - 3 : start + 1] == b"1//0":
        _token(scan, start - 3)
    elif before == 37 and text[start - 5 : start + 3].upper() == b"1%2F%2F0" and end - start > 30:
        scan.spans.append((start - 5, end, "google-refresh", 0, ""))
    elif before == 126 and text[start - 7 : start] == b"sha256~":
        scan.spans.append((start - 7, end, "openshift", 0, ""))


def _find_cut_tokens(scan: SearchedText) -> None:
    """Tokens too short to count, right before a truncation mark or the end of the text."""
    text, words, heads = scan.bytes, scan.words, formats.token_heads()
    for mark in _truncations(scan):
        end = mark
        for _ in range(3):
            tail = text[max(0, end - 12) : end]
            rest = tail.rstrip(b" \t\r\n[(<.?")  # the mark character is a ? here
            end -= len(tail) - len(rest)
            if not rest.endswith(b"\\n"):
                break
            end -= 2
        if not end or words[end - 1] == 32:
            continue
        low = max(0, end - 200)
        start = words.rfind(b" ", low, end) + 1
        if start <= low > 0:
            continue
        before = text[start - 1] if start else 32
        if end - start < 4 and before not in b".:/":
            continue
        if before == 58 and _cut_telegram(scan, start, end):
            continue
        starts = scan.starts(start)
        while start and text[start - 1] == 46 and len(starts) < 8:
            start = words.rfind(b" ", low, start - 1) + 1
            starts += scan.starts(start)
        run = text[start:end]
        if b"-" in run or b"_" in run:
            starts += [match.end() for match in formats.inner_starts().finditer(text, start, end)]
        if before == 47:
            starts.append(start - 3)  # 1//0...
        for at in starts:
            kind = formats.cut_token_at(text, at, end) if text[at : at + 2] in heads else None
            if kind:
                scan.spans.append((at, end, kind, 0, ""))
                break


def _telegram_id(scan: SearchedText, start: int) -> int:
    """Where the digits begin that stand before the colon before `start`, or -1."""
    left = scan.words.rfind(b" ", max(0, start - 24), start - 1) + 1
    for at in scan.starts(left):
        digits = _DIGITS_BEFORE.fullmatch(scan.bytes, at, start - 1)
        if digits:
            return digits.start(1)
    return -1


def _cut_telegram(scan: SearchedText, start: int, end: int) -> bool:
    left = _telegram_id(scan, start) if scan.bytes.startswith(b"AA", start) and end - start >= 6 else -1
    if left < 0 or start - left < 9:
        return False
    scan.spans.append((left, end, "telegram", 0, ""))
    return True


def _truncations(scan: SearchedText) -> Iterator[int]:
    text = scan.bytes
    if not scan.finished:
        yield len(text)
    at = scan.text.find("…")
    while at >= 0:
        yield at
        while scan.text.startswith("…", at):
            at += 1
        at = scan.text.find("…", at)
    at = text.find(b"...")
    while at >= 0:
        yield at
        at = text.find(b"...", _DOTS.match(text, at).end())  # type: ignore[union-attr]
    at = scan.low.find(b"truncated")
    while at >= 0:
        before = max(text.rfind(opening, max(0, at - 40), at) for opening in (b"[", b"(", b"<"))
        if before >= 0:
            yield before
        at = scan.low.find(b"truncated", at + 9)
    at = text.find(b"u2026")
    while at >= 0:
        before = at
        while before and text[before - 1] == 92:
            before -= 1
        if before < at:
            yield before
        at = text.find(b"u2026", at + 5)


def _find_private_keys(scan: SearchedText) -> None:
    text = scan.bytes
    at = text.find(b"PRIVATE KEY")
    while at >= 0:
        start = text.rfind(b"BEGIN ", max(0, at - 40), at)
        header = None
        for dashes in (5, 6, 4):
            header = header or (PEM_HEADER.match(text, start - dashes) if start >= dashes else None)
        at += 11
        if header:
            at = max(at, _private_key(scan, header.start(), header.end()))
        at = text.find(b"PRIVATE KEY", at)


def _find_key_ends(scan: SearchedText) -> None:
    """Note the end of a private key whose beginning was cut off."""
    text = scan.bytes
    at = text.find(b"PRIVATE KEY-----")
    while at >= 0:
        low = max(0, at - 40)
        start = text.rfind(b"-----END ", low, at)
        if start >= 0 and text.rfind(b"-----BEGIN ", max(0, start - 20000), start) < 0:
            lines = _LINES_BACKWARDS.match(text[max(0, start - 20000) : start][::-1])
            if lines:
                begin = start - lines.end()
                _add_key_lines(scan, begin, start)
        at = text.find(b"PRIVATE KEY-----", at + 16)


def _find_putty_keys(scan: SearchedText) -> None:
    """Note the private lines of a key in PuTTY's format."""
    text = scan.bytes
    at = text.find(b"Private-Lines: ")
    while at >= 0:
        lines = _PUTTY_LINES.match(text, at)
        if lines:
            _add_key_lines(scan, *lines.span(1))
        at = text.find(b"Private-Lines: ", at + 15)


def _add_key_lines(scan: SearchedText, start: int, end: int) -> None:
    for line in _BASE64_RUN.finditer(scan.bytes, start, end):
        escape = line.start() > 0 and scan.bytes[line.start() - 1] == 92  # the n of an escaped newline
        scan.spans.append((line.start() + escape, line.end(), "private-key", 0, ""))


def _private_key(scan: SearchedText, start: int, body: int) -> int:
    text = scan.bytes
    end = text.find(b"----", body, body + 20000)
    closing = _PEM_END.match(text, end) if end >= 0 else None
    if closing:
        quoted = re.search(rb"[\"']", text[body:end])
        blocks = list(_BASE64_RUN.finditer(text, body, end))
        if blocks and quoted:  # lines of a list or of a program: its structure stays
            scan.spans += [(*block.span(), "private-key", 0, "") for block in blocks]
        elif blocks:
            scan.spans.append((start, closing.end(), "private-key", -1, ""))
            scan.blocks.add(start)
        return closing.end()
    stop, length = body, 0
    while True:
        line = _PEM_LINE.match(text, stop)
        if not line:
            break
        stop = line.end()
        length += len(line.group(1) or b"")
        if line.group(1) and len(line.group(1)) < 40:
            break
    if length >= 8:
        scan.spans.append((start, stop, "private-key", -1, ""))
    return max(stop, body)
