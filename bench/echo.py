"""A minimal WebSocket echo with messages of one size, so that the tunnel dominates the cost.

The client masks with zeros, which changes nothing, so neither end has to touch the payload.
"""

from typing import Final

GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
MESSAGE_BYTES: Final = 1024

_BINARY: Final = 0x82
_SIZE: Final = MESSAGE_BYTES.to_bytes(2, "big")
CLIENT_HEADER: Final = bytes([_BINARY, 0x80 | 126]) + _SIZE + bytes(4)
SERVER_HEADER: Final = bytes([_BINARY, 126]) + _SIZE
