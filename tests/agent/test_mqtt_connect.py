"""Credentials in the first packet of an MQTT connection."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.agent.commands.mqtt_connect import BadConnect, ConnectCompleter, completed

CLIENT_ID = b"app-1"


def text(data: bytes) -> bytes:
    return struct.pack(">H", len(data)) + data


def packet(flags: int, *fields: bytes, level: int = 4) -> bytes:
    body = text(b"MQTT") + bytes([level, flags]) + struct.pack(">H", 60) + b"".join(fields)
    assert len(body) < 128
    return bytes([0x10, len(body)]) + body


ANONYMOUS = packet(0x02, text(CLIENT_ID))
WITH_LOGIN = packet(0xC2, text(CLIENT_ID), text(b"bblp"), text(b"12345678"))


def test_a_client_without_a_login_gets_the_printers() -> None:
    assert completed(ANONYMOUS, "bblp", "12345678") == WITH_LOGIN


def test_a_login_of_the_clients_own_is_left_alone() -> None:
    assert completed(WITH_LOGIN, "somebody", "else") == WITH_LOGIN


def test_a_user_without_a_password_is_added_as_such() -> None:
    assert completed(ANONYMOUS, "elegoo", None) == packet(0x82, text(CLIENT_ID), text(b"elegoo"))


def test_a_will_stays_before_the_login() -> None:
    will = (text(b"topic"), text(b"gone"))

    given_ = completed(packet(0x06, text(CLIENT_ID), *will), "u", "p")

    assert given_ == packet(0xC6, text(CLIENT_ID), *will, text(b"u"), text(b"p"))


def test_a_length_that_needs_a_second_byte_gets_one() -> None:
    grown = completed(packet(0x02, text(b"x" * 100)), "u" * 20, "p" * 20)

    size = (grown[1] & 0x7F) | grown[2] << 7
    assert len(grown) == 3 + size


@given(st.lists(st.integers(1, 6), max_size=40), st.binary(max_size=40))
def test_it_does_not_matter_in_which_pieces_the_bytes_come(cuts: list[int], rest: bytes) -> None:
    completer, stream, passed_on = ConnectCompleter("bblp", "12345678"), ANONYMOUS + rest, b""
    for cut in cuts:
        passed_on += completer.feed(stream[:cut])
        stream = stream[cut:]
    passed_on += completer.feed(stream)

    assert passed_on == WITH_LOGIN + rest


def test_a_broker_that_asks_for_no_login_gets_none() -> None:
    assert ConnectCompleter(None, None).feed(ANONYMOUS + b"more") == ANONYMOUS + b"more"


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n",
        b"\x10\xff\xff\xff\xff\x7f",
        b"\x10\xff\xff\x7f",
        b"\x10\x00",
        b"\x10\x02\x00\x04",
        b"\x10\x07\x00\x04MQTT\x04",
    ],
)
def test_what_is_no_connect_packet_is_refused(data: bytes) -> None:
    with pytest.raises(BadConnect):
        ConnectCompleter("bblp", "12345678").feed(data)


@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_being_refused(data: bytes) -> None:
    try:
        ConnectCompleter("bblp", "12345678").feed(data)
    except BadConnect:
        pass  # the only thing that may be raised
