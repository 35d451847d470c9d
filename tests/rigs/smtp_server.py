"""A real mail server, on a thread of its own; it takes any login, and needs none."""

import asyncio
import email
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from threading import Event

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from tests.rigs.waiting import TIMEOUT_S, free_port


@dataclass
class MailBox:
    """The mails that were handed in, in order; the refused ones, too.

    answer: to each mail once it has come whole. recipient: to whom it is for. may_answer: while it
    is not set, whoever hands one in waits.
    """

    port: int
    answer: str = "250 taken"
    recipient: str = "250 known"
    mails: list[EmailMessage] = field(default_factory=list)
    may_answer: Event = field(default_factory=Event)

    @property
    def subjects(self) -> list[str]:
        return [str(mail["Subject"]) for mail in self.mails]

    # The names are aiosmtpd's.

    async def handle_RCPT(  # noqa: N802 - its name there
        self, _server: SMTP, _session: Session, envelope: Envelope, to: str, _options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(to)
        return self.recipient

    async def handle_DATA(  # noqa: N802 - its name there
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        assert isinstance(envelope.content, bytes)
        mail = email.message_from_bytes(envelope.content, policy=default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        await asyncio.to_thread(self.may_answer.wait, 60)
        return self.answer


@contextmanager
def smtp_server(port: int | None = None) -> Iterator[MailBox]:
    """port: a free one where None."""
    box = MailBox(port or free_port())
    box.may_answer.set()
    server = Controller(
        box,
        "127.0.0.1",
        box.port,
        ready_timeout=TIMEOUT_S,
        authenticator=lambda *_: AuthResult(success=True),
        auth_require_tls=False,
    )
    server.start()
    try:
        yield box
    finally:
        box.may_answer.set()
        server.stop()
