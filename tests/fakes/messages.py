"""Messages that are kept for the test to read, instead of going to a service on the internet."""

from dataclasses import dataclass

from printreach.ports.notifications import NotSent
from printreach.rules.notifications.channels import may_be_used


@dataclass(frozen=True, slots=True)
class Message:
    """The messages that would have been sent."""

    url: str
    title: str
    text: str


class RecordingMessenger:
    """ports.Messenger. answer: what the other side says to the next ones; None takes them."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.answer: NotSent | None = None

    async def check(self, url: str) -> bool:
        return may_be_used(url, allow_plain=False)

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        self.sent.append(Message(url, title, text))
        return self.answer
