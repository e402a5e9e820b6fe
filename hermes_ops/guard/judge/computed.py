"""Programs that compute what they print from their own words: by name, what they print.

A function gives the text, with UNKNOWN for pieces that are not known, or None where nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import calculators, constant_queries, formats, json_output
from .invocation import Invocation

if TYPE_CHECKING:
    from .walk import Walk

PRINTERS: dict[str, Callable[[Walk, Invocation], str | None]] = {
    **formats.PRINTERS,
    **calculators.PRINTERS,
    **json_output.PRINTERS,
    **constant_queries.PRINTERS,
}
