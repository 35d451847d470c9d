"""Mails that are kept for the test to read."""

import re

from printreach.rules.mails import Mail

LINK = re.compile(r"https?://\S+")


class KeptMails:
    """ports.Mailer."""

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    def send(self, mail: Mail) -> None:
        self.sent.append(mail)

    def link(self) -> str:
        """The first link of the last mail, without the host."""
        found = LINK.search(self.sent[-1].text)
        assert found is not None, self.sent[-1].text
        return "/" + found[0].split("/", 3)[3]
