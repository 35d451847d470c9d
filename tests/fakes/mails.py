"""Mails that are kept for the test to read."""

import asyncio
import re
from datetime import datetime

from printreach.ports.notifications import NotSent
from printreach.rules.accounts.mails import Mail
from printreach.store.store import Records

LINK = re.compile(r"https?://\S+")


class RecordingMailer:
    """ports.Mailer, and an outbox whose mails are there at once.

    answer: to those that are handed in; those are kept all the same. is_ready: what a mail that is
    handed in waits for; None where it waits for nothing.
    """

    def __init__(self) -> None:
        self.sent: list[Mail] = []
        self.answer: NotSent | None = None
        self.is_ready: asyncio.Event | None = None

    async def put(self, _records: Records, mail: Mail, _at: datetime, _until: datetime) -> None:
        self.sent.append(mail)

    async def hand_in(self, mail: Mail) -> NotSent | None:
        if self.is_ready is not None:
            await self.is_ready.wait()
        self.sent.append(mail)
        return self.answer

    def link(self) -> str:
        """The first link of the last mail, without the host."""
        found = LINK.search(self.sent[-1].text)
        assert found is not None, self.sent[-1].text
        return "/" + found[0].split("/", 3)[3]
