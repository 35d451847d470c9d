"""A request that can't be served yet."""

import asyncio

from .connection import IncomingRequest


class HeldRequest:
    """Holds a request while its connection is looked up; the caller's body waits in the socket."""

    def __init__(self, incoming: IncomingRequest) -> None:
        self.is_gone = False
        self.is_released = False
        self.caller = incoming.caller
        self.request = incoming.request
        self._body = [incoming.body]
        self._fin = incoming.fin
        self._changed = asyncio.Event()
        if not incoming.fin:
            self.caller.pause()

    def release(self) -> IncomingRequest:
        """Return the request with the part of its body that has come."""
        self.is_released = True
        self.caller.resume()
        return IncomingRequest(self.caller, self.request, b"".join(self._body), self._fin)

    async def read_small(self, most: int, seconds: float) -> bytes | None:
        """Return the whole body; None if it is larger, takes longer, or the caller leaves."""
        self.caller.resume()
        try:
            async with asyncio.timeout(seconds):
                while not self._fin and not self.is_gone and sum(map(len, self._body)) <= most:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return None
        body = b"".join(self._body)
        return body if self._fin and len(body) <= most else None

    def on_body(self, data: bytes, fin: bool) -> None:
        self._body.append(data)
        self._fin = fin
        self._changed.set()

    def on_raw(self, _data: bytes) -> None:
        raise AssertionError("nothing was upgraded yet")

    def on_raw_end(self) -> None:
        raise AssertionError("nothing was upgraded yet")

    def on_caller_writable(self) -> None:
        pass

    def on_caller_gone(self) -> None:
        self.is_gone = True
        self._changed.set()
