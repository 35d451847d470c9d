"""Orders that people gave a printer on its pages, for its history."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

MAX_OF_A_PRINTER: Final = 500
"""The newest that are kept."""
MAX_SUBJECT: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenOrder:
    """An order that the printer accepted.

    account_id: of the owner at that time. person_id: who gave it; None once their account is
    deleted. command: its path in the command API. subject: a file's path; "" where there is none.
    """

    account_id: str
    printer_id: str
    person_id: str | None
    at: datetime
    command: str
    subject: str = ""
