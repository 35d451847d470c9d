"""The first packet of an MQTT connection, completed with the printer's credentials. Pure.

Source: MQTT 3.1.1, sections 1.5.3, 2.2.3 and 3.1. User name and password are the last fields, so
they are added at the end.
"""

import struct

CONNECT = 0x10
HAS_USER, HAS_PASSWORD = 0x80, 0x40
MAX_CONNECT_BYTES = 64 * 1024


class BadConnect(ValueError):
    """The first packet is no CONNECT; the message ends a sentence."""


class ConnectCompleter:
    """Forwards an MQTT connection's bytes, and adds credentials where the client gave none.

    user: None where the broker asks for none, and nothing is added.
    """

    def __init__(self, user: str | None, password: str | None) -> None:
        self._user = user
        self._password = password
        self._held: bytearray | None = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Return what is to be passed on now. Raises BadConnect."""
        if self._held is None:
            return data
        self._held += data
        end = _packet_end(self._held)
        if end is None:
            return b""
        packet, rest = bytes(self._held[:end]), bytes(self._held[end:])
        self._held = None
        if self._user is not None:
            packet = completed(packet, self._user, self._password)
        return packet + rest


def completed(packet: bytes, user: str, password: str | None) -> bytes:
    """packet: a whole CONNECT packet. One that has a user or a password stays as it is.

    Raises BadConnect.
    """
    body = packet[_head_size(packet) :]
    at = 2 + _number(body, 0) + 1  # after the protocol's name and level
    if at >= len(body):
        raise BadConnect("its CONNECT packet is cut short")
    if body[at] & (HAS_USER | HAS_PASSWORD):
        return packet
    flags = body[at] | HAS_USER | (0 if password is None else HAS_PASSWORD)
    extra = _text(user) + (b"" if password is None else _text(password))
    body = body[:at] + bytes([flags]) + body[at + 1 :] + extra
    return packet[:1] + _length(len(body)) + body


def _packet_end(data: bytes | bytearray) -> int | None:
    """Return where the first packet ends; None while that can't be told or it isn't all there."""
    if data and data[0] != CONNECT:
        raise BadConnect("it does not begin with a CONNECT packet")
    size, shift = 0, 0
    for index, byte in enumerate(data[1:5]):
        size |= (byte & 0x7F) << shift
        shift += 7
        if size > MAX_CONNECT_BYTES:
            raise BadConnect("its CONNECT packet is too long")
        if not byte & 0x80:
            end = index + 2 + size
            return end if len(data) >= end else None
    if len(data) >= 5:
        raise BadConnect("its CONNECT packet has no length that can be read")
    return None


def _head_size(packet: bytes) -> int:
    return 2 + next(index for index, byte in enumerate(packet[1:5]) if not byte & 0x80)


def _number(data: bytes, at: int) -> int:
    if len(data) < at + 2:
        raise BadConnect("its CONNECT packet is cut short")
    return int(struct.unpack_from(">H", data, at)[0])


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def _length(size: int) -> bytes:
    encoded = bytearray()
    while True:
        size, low = divmod(size, 128)
        encoded.append(low | (0x80 if size else 0))
        if not size:
            return bytes(encoded)
