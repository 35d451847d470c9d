"""Bounds the bytes of answers that wait in this process for callers to read them.

A caller that reads nothing holds 384 KiB: what made it wait, and a window of the tunnel. Where all
callers, or those of one account, hold too much, who has read nothing for the longest time is ended.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Final, Protocol

log = logging.getLogger(__name__)

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all callers: almost 700 that read nothing."""
MAX_BYTES_OF_ACCOUNT: Final = 64 * 1024 * 1024
"""Of the callers of one account's printers: 170 that read nothing."""


class SlowCaller(Protocol):
    """A caller's connection. account_id: whose printer answers it; "" for the service itself."""

    account_id: str
    peer: str

    def abort_for_gone_caller(self) -> None: ...


@dataclass(slots=True)
class _Unread:
    account_id: str
    size: int


class UnreadAnswers:
    """The callers that have not read everything, whose last reading is longest ago first."""

    def __init__(
        self, max_bytes: int = MAX_BYTES, max_bytes_of_account: int = MAX_BYTES_OF_ACCOUNT
    ) -> None:
        self.size = 0
        self._max_bytes = max_bytes
        self._max_bytes_of_account = max_bytes_of_account
        self._unread: OrderedDict[SlowCaller, _Unread] = OrderedDict()
        self._of_account: Counter[str] = Counter()
        self._ending: set[SlowCaller] = set()  # their bytes are about to go

    def note(self, caller: SlowCaller, size: int) -> None:
        """Note how many bytes a caller has not read now. Others may be ended for it, or itself."""
        known = self._unread.get(caller)
        if known is None:
            if not size or caller in self._ending:
                return
            known = self._unread[caller] = _Unread(caller.account_id, 0)
        elif size < known.size:
            self._unread.move_to_end(caller)
        self._count(known, size)
        if not size:
            del self._unread[caller]
            return
        account_id = known.account_id
        while account_id and self._of_account[account_id] > self._max_bytes_of_account:
            self._end(next(one for one, of in self._unread.items() if of.account_id == account_id))
        while self.size > self._max_bytes:
            self._end(next(iter(self._unread)))

    def forget(self, caller: SlowCaller) -> None:
        """Note that a caller has read everything, or has gone."""
        self._ending.discard(caller)
        known = self._unread.pop(caller, None)
        if known is not None:
            self._count(known, 0)

    def _count(self, unread: _Unread, size: int) -> None:
        self.size += size - unread.size
        self._of_account[unread.account_id] += size - unread.size
        if not self._of_account[unread.account_id]:
            del self._of_account[unread.account_id]
        unread.size = size

    def _end(self, caller: SlowCaller) -> None:
        log.info("closed %s: it read too little of an answer while others waited", caller.peer)
        self.forget(caller)
        self._ending.add(caller)
        # In the next turn: this one may be in the middle of what came through its tunnel.
        asyncio.get_running_loop().call_soon(caller.abort_for_gone_caller)
