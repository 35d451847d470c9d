"""A sender that remembers what it was given, and answers as a test has it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from printreach.rules.webhooks import Outcome
from printreach.rules.webhooks.messages import SigningKey

OK = Outcome(http_status=200, duration_ms=5)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One attempt."""

    url: str
    headers: dict[str, str]
    body: bytes

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]


@dataclass
class FakeSender:
    """ports.WebhookSender. answers: by URL, what comes of an attempt; 200 where nothing is said."""

    answers: dict[str, Callable[[Sent], Awaitable[Outcome]]] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    problem: str | None = None
    hanging: list[asyncio.Event] = field(default_factory=list)

    async def problem_with(self, url: str) -> str | None:
        return self.problem

    async def send(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> Outcome:
        one = Sent(url=url, headers=dict(headers), body=body)
        self.sent.append(one)
        answer = self.answers.get(url)
        return OK if answer is None else await answer(one)

    def always(self, url: str, outcome: Outcome) -> None:
        async def answer(_: Sent) -> Outcome:
            return outcome

        self.answers[url] = answer

    def fail_late(self, url: str, event_id: str, outcome: Outcome) -> asyncio.Event:
        """The attempt at this event takes until what is returned is set; others succeed at once."""
        let_go = asyncio.Event()
        self.hanging.append(let_go)

        async def answer(sent: Sent) -> Outcome:
            if sent.event_id != event_id:
                return OK
            await let_go.wait()
            return outcome

        self.answers[url] = answer
        return let_go

    def hang(self, url: str) -> asyncio.Event:
        """Attempts there take until the event is set; then they succeed."""
        let_go = asyncio.Event()
        self.hanging.append(let_go)

        async def answer(_: Sent) -> Outcome:
            await let_go.wait()
            return OK

        self.answers[url] = answer
        return let_go

    def let_all_go(self) -> None:
        for let_go in self.hanging:
            let_go.set()

    @property
    def event_ids(self) -> list[str]:
        return [one.event_id for one in self.sent]


class FakeKeys:
    """ports.WebhookKeys with one key, whose signature is no secret."""

    key = SigningKey(key_id="k1", public=b"p" * 32, sign=lambda _: b"s" * 64)

    def signing(self, at: object) -> Sequence[SigningKey]:
        return [self.key]
