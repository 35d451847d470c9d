"""Mails by SMTP, sent on a thread of its own, one after the other."""

import asyncio
import logging
import smtplib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from printreach.rules.mails import Mail

_log = logging.getLogger(__name__)

TIMEOUT_S: Final = 30
MOST_WAITING: Final = 1000
"""Mails that wait for a slow server; those beyond are dropped, and the log says so."""
ATTEMPTS: Final = 3
PAUSE_S: Final = 10.0
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS: Final = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, kw_only=True, slots=True)
class SmtpServer:
    """Where mails are handed in.

    is_tls: from the first byte; else STARTTLS where it is offered. sender: what stands in From.
    """

    host: str
    port: int
    is_tls: bool
    sender: str
    user: str
    password: str = field(repr=False)

    @classmethod
    def at(cls, url: str, sender: str) -> "SmtpServer":
        """`smtp(s)://[USER:PASSWORD@]HOST[:PORT][?from=ADDRESS]`, percent-encoded where need be.

        sender: where the address names none; a user that is an address goes before it.
        """
        parts = urlsplit(url)
        user = unquote(parts.username or "")
        named = parse_qs(parts.query).get("from", [user if "@" in user else sender])
        return cls(
            host=parts.hostname or "",
            port=parts.port or _PORTS[parts.scheme],
            is_tls=parts.scheme == "smtps",
            sender=named[0],
            user=user,
            password=unquote(parts.password or ""),
        )


class SmtpMailer:
    """ports.Mailer."""

    def __init__(self, server: SmtpServer, *, pause_s: float = PAUSE_S) -> None:
        self._server = server
        self._pause_s = pause_s
        self._waiting: asyncio.Queue[Mail] = asyncio.Queue(MOST_WAITING)

    def send(self, mail: Mail) -> None:
        try:
            self._waiting.put_nowait(mail)
        except asyncio.QueueFull:
            _log.error("a mail is dropped: %d wait for %s", MOST_WAITING, self._server.host)

    async def deliver_forever(self) -> None:
        """Hand mails in, until this is cancelled."""
        while True:
            await self._deliver(await self._waiting.get())
            self._waiting.task_done()

    async def flush(self) -> None:
        """Wait until none is left."""
        await self._waiting.join()

    async def _deliver(self, mail: Mail) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await asyncio.to_thread(self._hand_in, mail)
            except smtplib.SMTPRecipientsRefused:
                _log.warning("%s takes no mail for a recipient", self._server.host)
                return
            except (OSError, smtplib.SMTPException, ValueError) as error:
                _log.error(
                    "mail server %s took no mail, attempt %d of %d: %s",
                    self._server.host,
                    attempt,
                    ATTEMPTS,
                    _reason(error),
                )
            else:
                return
            if attempt < ATTEMPTS:
                await asyncio.sleep(self._pause_s)

    def _hand_in(self, mail: Mail) -> None:
        server, tls = self._server, ssl.create_default_context()
        client: smtplib.SMTP
        if server.is_tls:
            client = smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_S, context=tls)
        else:
            client = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S)
        try:
            self._talk(client, tls, mail)
        finally:
            client.close()

    def _talk(self, client: smtplib.SMTP, tls: ssl.SSLContext, mail: Mail) -> None:
        server = self._server
        client.ehlo()
        if not server.is_tls and client.has_extn("starttls"):
            client.starttls(context=tls)
            client.ehlo()
        elif not server.is_tls and server.user and server.host not in _THIS_MACHINE:
            raise smtplib.SMTPException("no TLS offered, so the password is kept back")
        if server.user:
            client.login(server.user, server.password)
        client.send_message(self._message(mail))
        try:
            client.quit()
        except (OSError, smtplib.SMTPException):
            pass  # the mail was taken; trying again would send it twice

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._server.sender
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Date"] = formatdate(usegmt=True)
        message["Message-ID"] = make_msgid(domain=self._server.sender.rpartition("@")[2] or None)
        # Nobody's absence notice is wanted.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        return message


def _reason(error: Exception) -> str:
    """What went wrong, without what the server was told: that may hold a mail or a password."""
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__} {error.smtp_code}"
    return type(error).__name__


@asynccontextmanager
async def delivering(mailer: SmtpMailer) -> AsyncIterator[SmtpMailer]:
    """A mailer that delivers for as long as this is open."""
    task = asyncio.create_task(mailer.deliver_forever(), name="mails")
    try:
        yield mailer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
