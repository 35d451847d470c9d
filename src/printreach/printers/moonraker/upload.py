"""An upload to Moonraker: a form, sent in chunks, that can be made invalid at its end.

Moonraker gathers an upload in a temporary file, and leaves that behind when the connection breaks
off. So an upload that is broken off ends with a field that names a root which no Moonraker has, and
Moonraker removes the file. A complete one ends with its checksum, which Moonraker verifies.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator

NOWHERE = "broken-off"


class FormUpload:
    """The body of the request. One task puts pieces in, another sends them.

    root, folder, file_name: where Moonraker is to put it. boundary: something that the file can't
    hold by chance.
    """

    def __init__(self, root: str, folder: str, file_name: str, boundary: str) -> None:
        self.kind = b"multipart/form-data; boundary=" + boundary.encode("ascii")
        self.size = 0
        self._boundary = boundary
        self._root = root
        self._head = self._before(folder, file_name)
        self._sum = hashlib.sha256()
        self._piece: bytes | None = None
        self._has_ended = False
        self._has_stopped = False
        self._changed = asyncio.Event()

    async def put(self, piece: bytes) -> None:
        """Put a piece in, once the one before was sent."""
        self._sum.update(piece)
        self.size += len(piece)
        while self._piece is not None and not self._has_stopped:
            await self._change()
        self._piece = piece
        self._changed.set()

    def finish(self) -> None:
        """End the form."""
        self._has_ended = True
        self._changed.set()

    def invalidate(self) -> None:
        """End the upload so that Moonraker throws it away."""
        self._piece = None
        self._root = NOWHERE
        self._has_ended = True
        self._changed.set()

    def stop_taking(self) -> None:
        """The request has ended: drop what is still put in."""
        self._has_stopped = True
        self._changed.set()

    async def body(self) -> AsyncIterator[bytes]:
        yield self._head
        while True:
            while self._piece is None and not self._has_ended:
                await self._change()
            piece, self._piece = self._piece, None
            if piece is None:
                break
            self._changed.set()
            yield piece
        yield self._after()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _before(self, folder: str, file_name: str) -> bytes:
        """Format what comes before the file.

        Names are UTF-8 with quotes escaped, as browsers write them.
        """
        name = file_name.replace('"', '\\"')
        head = (
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"'
        )
        kind = "Content-Type: application/octet-stream"
        return f"{self._field('path', folder)}{head}\r\n{kind}\r\n\r\n".encode()

    def _after(self) -> bytes:
        root = self._field("root", self._root)
        checksum = self._field("checksum", self._sum.hexdigest())
        return f"\r\n{root}{checksum}--{self._boundary}--\r\n".encode()

    def _field(self, name: str, value: str) -> str:
        head = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{name}"'
        return f"{head}\r\n\r\n{value}\r\n"
