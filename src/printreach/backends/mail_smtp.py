"""Mails by SMTP: those that wait in memory, one after the other, and those that are awaited."""

import asyncio
import logging
import smtplib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Final

from printreach.backends.smtp import SmtpServer, SmtpTalk, reason_of, status_of
from printreach.ports.notifications import NotSent, Trouble
from printreach.rules.mails import Mail

_log = logging.getLogger(__name__)

MOST_WAITING: Final = 1000
"""Mails that wait for a slow server; those beyond are dropped, and the log says so."""
ATTEMPTS: Final = 3
PAUSE_S: Final = 10.0
AT_ONCE: Final = 5
"""Connections: four for news, and one for the mails that somebody waits for."""
DEADLINE_S: Final = 40.0
"""For one try, however slowly the server answers."""


class SmtpMailer:
    """ports.Mailer. close() waits for nobody."""

    def __init__(
        self, server: SmtpServer, *, pause_s: float = PAUSE_S, deadline_s: float = DEADLINE_S
    ) -> None:
        self._server = server
        self._pause_s = pause_s
        self._deadline_s = deadline_s
        self._waiting: asyncio.Queue[Mail] = asyncio.Queue(MOST_WAITING)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="smtp")

    def send(self, mail: Mail) -> None:
        try:
            self._waiting.put_nowait(mail)
        except asyncio.QueueFull:
            _log.error("a mail is dropped: %d wait for %s", MOST_WAITING, self._server.host)

    async def hand_in(self, mail: Mail) -> NotSent | None:
        error = await self._try(mail)
        if error is None:
            return None
        _log.warning("mail server %s took no mail: %s", self._server.host, reason_of(error))
        status = status_of(error)
        if status is not None or isinstance(error, ValueError):
            return NotSent(Trouble.MAIL_REFUSED, status)
        return NotSent(Trouble.MAIL_SERVER_AWAY)

    async def deliver_forever(self) -> None:
        """Hand in the mails that wait, until this is cancelled."""
        while True:
            await self._deliver(await self._waiting.get())
            self._waiting.task_done()

    async def flush(self) -> None:
        """Wait until none is left."""
        await self._waiting.join()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _deliver(self, mail: Mail) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            error = await self._try(mail)
            if error is None:
                return
            if isinstance(error, smtplib.SMTPRecipientsRefused):
                _log.warning("%s takes no mail for a recipient", self._server.host)
                return
            _log.error(
                "mail server %s took no mail, attempt %d of %d: %s",
                self._server.host,
                attempt,
                ATTEMPTS,
                reason_of(error),
            )
            if attempt < ATTEMPTS:
                await asyncio.sleep(self._pause_s)

    async def _try(self, mail: Mail) -> Exception | None:
        """Why the server did not take it; None where it did."""
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
    """What a try that nobody waits for any more came to is of no interest."""
    if not running.cancelled():
        running.exception()


@asynccontextmanager
async def delivering(mailer: SmtpMailer) -> AsyncIterator[SmtpMailer]:
    """A mailer that delivers for as long as this is open."""
    task = asyncio.create_task(mailer.deliver_forever(), name="mails")
    try:
        yield mailer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        mailer.close()
