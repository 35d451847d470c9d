"""Mails that are written to the log, for an installation without a mail server."""

import logging

from printreach.ports.notifications import NotSent
from printreach.rules.accounts.mails import Mail

_log = logging.getLogger(__name__)


class LogMailer:
    """ports.Mailer. The log then holds links that sign people in: only the operator may read it."""

    async def hand_in(self, mail: Mail) -> NotSent | None:
        _log.info(
            "mail for %s (no mail server is set up): %s",
            mail.to,
            mail.subject,
            extra={"block": mail.text},
        )
        return None
