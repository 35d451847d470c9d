"""Mails by SMTP. The caller waits for the answer, and keeps the mail until then."""

import asyncio
import logging
import smtplib
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from printreach.backends.smtp import SmtpServer, SmtpTalk, is_final, reason_of, status_of
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts.mails import Mail

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
        _log.warning("mail server %s took no mail: %s", self._server.host, reason_of(error))
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
