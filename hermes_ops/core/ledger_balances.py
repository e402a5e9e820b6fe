"""Readings of providers' balances in the ledger, as they were made."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True)
class Balance:
    """One reading of a provider's balance; ``account`` tells two keys apart without holding either."""

    at: float
    provider: str
    account: str
    amount: float
    currency: str


_SELECT = "SELECT at, provider, account, amount, currency FROM balance"


def record(ledger: sqlite3.Connection, balance: Balance) -> None:
    ledger.execute(
        "INSERT INTO balance VALUES(?, ?, ?, ?, ?)",
        (balance.at, balance.provider, balance.account, balance.amount, balance.currency),
    )


def stored(ledger: sqlite3.Connection, provider: str, account: str, since: float) -> list[Balance]:
    """The last reading before `since`, and those from then on, in the order in which they were made.

    That is not the order of their times where the clock was wrong for a while.
    """
    place = "WHERE provider=? AND account=?"
    before = ledger.execute(
        f"{_SELECT} {place} AND at < ? ORDER BY at DESC, rowid DESC LIMIT 1", (provider, account, since)
    ).fetchall()
    later = ledger.execute(
        f"{_SELECT} {place} AND at >= ? ORDER BY rowid", (provider, account, since)
    ).fetchall()
    return [Balance(*row) for row in before + later]


def latest(
    ledger: sqlite3.Connection, provider: str, account: str, currency: str, count: int
) -> list[Balance]:
    """The newest readings in one currency in the order in which they were made, whatever their times say."""
    rows = ledger.execute(
        f"{_SELECT} WHERE provider=? AND account=? AND currency=? ORDER BY rowid DESC LIMIT ?",
        (provider, account, currency, count),
    ).fetchall()
    return [Balance(*row) for row in reversed(rows)]


def accounts(ledger: sqlite3.Connection) -> list[tuple[str, str]]:
    """Every (provider, account) that was read, by name."""
    rows = ledger.execute("SELECT DISTINCT provider, account FROM balance ORDER BY provider, account")
    return [(row[0], row[1]) for row in rows]
