"""A camera of a scripted agent, and its viewers."""

from dataclasses import dataclass, field
from typing import Self

from printreach.wire.heads import Headers
from tests.relay.caller import Answer, Caller, request
from tests.relay.rig import Access, Rig
from tests.relay.scripted_agent import Asked
from tests.relay.waiting import settle, until

TYPE = (b"Content-Type", b"multipart/x-mixed-replace; boundary=frame")


def frame(number: int, size: int = 20) -> bytes:
    """One picture with its delimiter."""
    return b"--frame\r\n\r\n" + b"%d." % number * size + b"\r\n"


@dataclass
class Camera:
    """Answers each request with a stream, and shows frames to those that are open."""

    head: Headers = field(default_factory=lambda: [TYPE])
    first: bytes = b""
    asked: list[Asked] = field(default_factory=list)

    def __call__(self, asked: Asked) -> None:
        self.asked.append(asked)
        own = (b"X-Answer", b"%d" % len(self.asked))
        asked.answer(headers=[*self.head, own], body=self.first, fin=False)

    @property
    def open(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.reset is None]

    async def is_shared(self) -> None:
        """Wait until all viewers share one stream."""
        await until(lambda: len(self.open) == 1)

    def show(self, data: bytes, *, fin: bool = False) -> None:
        """Show a frame on all open streams, as cameras do."""
        for asked in self.open:
            asked.stream.send(data, fin=fin)


@dataclass
class Watcher:
    """One viewer. seen: bytes of the body beyond the awaited ones."""

    caller: Caller
    head: Answer
    seen: bytes = b""

    @classmethod
    async def begin(
        cls,
        rig: Rig,
        access: Access,
        *fields: bytes,
        method: bytes = b"GET",
        target: bytes = b"/webcam",
        version: bytes = b"HTTP/1.1",
        receive_buffer: int | None = None,
    ) -> Self:
        """Ask, and read the head."""
        caller = await Caller.connect(rig.port, receive_buffer=receive_buffer)
        lines = (
            fields if any(b"uthorization" in one for one in fields) else (access.bearer, *fields)
        )
        caller.send(request(access.host, *lines, method=method, target=target, version=version))
        watcher = cls(caller, await caller.head())
        await settle(5)  # a stream that isn't needed has mostly ended by now
        return watcher

    async def sees(self, expected: bytes) -> bool:
        """Return whether exactly those bytes come next."""
        chunks, size = [self.seen], len(self.seen)
        while size < len(expected):
            chunks.append(await self.caller.chunk())
            assert chunks[-1], "that was all"
            size += len(chunks[-1])
        seen = b"".join(chunks)
        self.seen = seen[len(expected) :]
        return seen.startswith(expected)
