"""Mails by SMTP. The caller waits for the answer, and keeps the mail until then."""

import asyncio
import logging
import smtplib
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from email.utils import formatdate, make_msgid
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts import parse_email
from printreach.rules.accounts.mails import Mail

TIMEOUT_S: Final = 20
"""For the connection, and for each answer."""
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_POLICY: Final = default.clone(refold_source="none")
"""A long address that is folded like prose is encoded, and no program can read it."""
_PORTS: Final = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, kw_only=True, slots=True)
class SmtpServer:
    """The mail server.

    is_tls: from the first byte; otherwise STARTTLS if it is offered. sender: the address in From.
    """

    host: str
    port: int
    is_tls: bool
    sender: str
    user: str
    password: str = field(repr=False)

    @classmethod
    def at(cls, url: str, sender: str) -> "SmtpServer":
        """Parse `smtp(s)://[USER:PASSWORD@]HOST[:PORT][?from=ADDRESS]`, percent-encoded as needed.

        sender: where the URL names none; a user that is an address takes precedence.
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


class SmtpTalk:
    """run() on a thread; end() from another one aborts it."""

    def __init__(self, server: SmtpServer, mail: Mail) -> None:
        self._server = server
        self._mail = mail
        self._lock = threading.Lock()
        self._client: smtplib.SMTP | None = None
        self._is_over = False

    def run(self) -> None:
        """Return when the server has accepted the mail.

        Raises OSError, SMTPException, and ValueError for what cannot be written as a mail.
        """
        if self._is_over:
            raise TimeoutError("out of time")
        message = self._message()
        client = _connect(self._server, TIMEOUT_S)
        try:
            with self._lock:
                self._client = client
                if self._is_over:
                    raise TimeoutError("out of time")
            self._talk(client, message)
        finally:
            with self._lock:
                self._client = None
            client.close()

    def end(self) -> None:
        """Shut the connection down and allow no new one."""
        with self._lock:
            self._is_over = True
            sock = self._client.sock if self._client is not None else None
            if sock is not None:
                with suppress(OSError):
                    # Not the method: that of a TLS socket would wait for the other side.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _talk(self, client: smtplib.SMTP, message: EmailMessage) -> None:
        _sign_in(client, self._server)
        client.send_message(message, to_addrs=[self._mail.to])
        try:
            client.quit()
        except (OSError, smtplib.SMTPException):
            pass  # the mail was accepted; trying again would send it twice

    def _message(self) -> EmailMessage:
        mail, message = self._mail, EmailMessage(_POLICY)
        message["From"] = self._server.sender
        message["To"] = _mailbox(mail.to)
        message["Subject"] = mail.subject
        message["Date"] = formatdate(usegmt=True)
        message["Message-ID"] = make_msgid(domain=self._server.sender.rpartition("@")[2] or None)
        # Suppresses automatic replies.
        message["Auto-Submitted"] = "auto-generated"
        if mail.stop_url is not None:
            message.set_raw("List-Unsubscribe", f"<{mail.stop_url}>")
        if mail.stop_url is not None and mail.stop_url.startswith("https:"):
            # RFC 8058: one-click unsubscribe, which mail programs offer for https alone.
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content(mail.text)
        return message


def try_sign_in(server: SmtpServer, timeout_s: float) -> None:
    """Connect and sign in, and send nothing. Blocks. Raises OSError and SMTPException."""
    client = _connect(server, timeout_s)
    try:
        _sign_in(client, server)
    finally:
        client.close()


def _connect(server: SmtpServer, timeout_s: float) -> smtplib.SMTP:
    if server.is_tls:
        tls = ssl.create_default_context()
        return smtplib.SMTP_SSL(server.host, server.port, timeout=timeout_s, context=tls)
    return smtplib.SMTP(server.host, server.port, timeout=timeout_s)


def _sign_in(client: smtplib.SMTP, server: SmtpServer) -> None:
    client.ehlo()
    if not server.is_tls and client.has_extn("starttls"):
        client.starttls(context=ssl.create_default_context())
        client.ehlo()
    elif not server.is_tls and server.user and server.host not in _THIS_MACHINE:
        raise smtplib.SMTPException("no TLS offered, so the password is kept back")
    if server.user:
        client.login(server.user, server.password)


def _mailbox(address: str) -> Address:
    """Return one mailbox for the header To. Raises ValueError if the text is not exactly one."""
    if parse_email(address) != address:
        raise ValueError("not the address of one mailbox")
    name, _, host = address.rpartition("@")
    # Not by addr_spec: that refuses letters outside of ASCII, which RFC 6531 allows.
    return Address(username=name, domain=host)


def status_of(error: Exception) -> int | None:
    """Return the server's status code if it rejected the mail."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return next((code for code, _ in error.recipients.values()), None)
    return error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else None


def is_final(status: int | None) -> bool:
    """Return whether a retry would fail the same way. Some servers greylist strangers."""
    return status is not None and status >= 500


def reason_of(error: Exception) -> str:
    """Return what failed, without what was sent to the server: that may be a mail or a password."""
    status = status_of(error)
    return type(error).__name__ if status is None else f"{type(error).__name__} {status}"


_log = logging.getLogger(__name__)

AT_ONCE: Final = 5
"""Connections: four for notifications, and one for mails about accounts."""
DEADLINE_S: Final = 40.0
"""Deadline of one try, however slowly the server answers."""


class SmtpMailer:
    """ports.Mailer. close() does not wait."""

    def __init__(self, server: SmtpServer, *, deadline_s: float = DEADLINE_S) -> None:
        self._server = server
        self._deadline_s = deadline_s
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="smtp")

    async def hand_in(self, mail: Mail) -> NotSent | None:
        error = await self._try(mail)
        if error is None:
            return None
        _log.warning(
            "mail server %s did not accept the e-mail: %s", self._server.host, reason_of(error)
        )
        status = status_of(error)
        if isinstance(error, smtplib.SMTPRecipientsRefused) and is_final(status):
            return NotSent(SendFailure.NOBODY_THERE, status)
        if status is not None or isinstance(error, ValueError):
            return NotSent(SendFailure.MAIL_REFUSED, status)
        return NotSent(SendFailure.MAIL_SERVER_AWAY)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _try(self, mail: Mail) -> Exception | None:
        """Return why the server did not accept it; None if it did."""
        talk = SmtpTalk(self._server, mail)
        running = asyncio.get_running_loop().run_in_executor(self._threads, talk.run)
        running.add_done_callback(_look_at)
        try:
            done, _ = await asyncio.wait([running], timeout=self._deadline_s)
        finally:
            talk.end()
        if not done:
            return TimeoutError("out of time")
        try:
            running.result()
        except (OSError, smtplib.SMTPException, ValueError) as error:
            return error
        return None


def _look_at(running: "asyncio.Future[None]") -> None:
    """Retrieve the result of an abandoned try, so that asyncio does not warn."""
    if not running.cancelled():
        running.exception()
