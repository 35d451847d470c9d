"""A WebSocket caller for any way: the `websockets` library on a socket of ours."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.rigs.ways import Header, Way

LARGEST = 64 << 20


@contextmanager
def websocket(
    way: Way,
    target: str,
    *,
    headers: Sequence[Header] = (),
    subprotocols: Sequence[str] = (),
    compression: Literal["deflate"] | None = None,
) -> Iterator[ClientConnection]:
    """A WebSocket to this target; credentials go in the handshake's headers."""
    scheme = "ws" if way.tls is None else "wss"
    with connect(
        f"{scheme}://{way.host}{target}",
        sock=way.connect_plain(),
        ssl=way.tls,
        additional_headers=[*way.credentials, *headers],
        subprotocols=[Subprotocol(name) for name in subprotocols] or None,
        compression=compression,
        max_size=LARGEST,
        open_timeout=60,
        close_timeout=5,
        proxy=None,
    ) as connection:
        yield connection
