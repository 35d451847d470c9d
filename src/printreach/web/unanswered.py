"""Requests that wait for their answers: their share of the store, and a limit on their number.

What a request waits for may take long, such as a printer that hangs. So the requests of an account
are bounded here, whatever they wait for. An answer that has begun has bounds of its own.
"""

from dataclasses import dataclass
from typing import Final

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.limiters.fair_semaphore import TooBusy
from printreach.limiters.shares import CURRENT_SHARE, Share
from printreach.limiters.slots import Slots
from printreach.rules.rate_limits import widest_network_of

OF_ONE: Final = 200
"""Of one browser, app or token: as many as the thumbnails of the longest page."""
OF_ACCOUNT: Final = 800
"""About 16 MB. More than one of them has, so that one alone keeps no other out."""


@dataclass(slots=True)
class UnansweredRequest(Share):
    """A request whose answer has not begun. counted: the keys that it counts for."""

    slots: Slots
    counted: tuple[str, ...] = ()
    is_answered: bool = False

    def note(self, account_id: str, by: str) -> None:
        """Count it for an account and what makes it; once. Raises TooBusy."""
        self.key = account_id
        if self.counted or self.is_answered:
            return
        keys = (account_id, f"{account_id} {by}")
        if not self.slots.take({keys[0]: OF_ACCOUNT, keys[1]: OF_ONE}):
            raise TooBusy("the account has too many requests that wait for their answers")
        self.counted = keys

    def end(self) -> None:
        """Note that the answer has begun, or that nothing comes any more."""
        self.is_answered = True
        if self.counted:
            self.slots.release(self.counted)
            self.counted = ()


class UnansweredRequests:
    """ASGI middleware that counts them. A server calls it in a task for each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._slots = Slots()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        network = widest_network_of(client[0]) if client else ""
        unanswered = UnansweredRequest(network, self._slots)

        async def begin(message: Message) -> None:
            unanswered.end()
            await send(message)

        token = CURRENT_SHARE.set(unanswered)
        try:
            await self._app(scope, receive, begin)
        finally:
            CURRENT_SHARE.reset(token)
            unanswered.end()
