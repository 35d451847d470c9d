"""Heads that are made to take long to parse."""

from contextlib import suppress

import pytest

from printreach.http1.heads import MAX_HEAD_BYTES, BadMessage, find_head_end, parse_request

ROOM = MAX_HEAD_BYTES - 100


@pytest.mark.timeout(5)  # such a head takes milliseconds; with backtracking it would take minutes
@pytest.mark.parametrize(
    "lines",
    [
        b"a" * ROOM + b"\r\n",
        b"a\n" * (ROOM // 2) + b"\r\n",
        b"a\r" * (ROOM // 2) + b"\r\n",
        b"a:\n" * (ROOM // 3) + b"\r\n",
        b"a " * (ROOM // 2) + b"\r\n",
        b"\n " * (ROOM // 2) + b"\r\n",
        b"a:" + b" " * ROOM + b"\r\n",
        b"a:" + b" \t" * (ROOM // 2) + b"\x00\r\n",
        b"a:" + b"b " * (ROOM // 2) + b"\r\n",
        b"a:b\r\n" * (ROOM // 5) + b"a:\x00\r\n",
        b"a:b \r\n" * (ROOM // 6) + b"a:\x00\r\n",
        b"Connection: " + b"," * ROOM + b"\r\n",
        b"Transfer-Encoding: " + b"a, " * (ROOM // 3) + b"\r\n",
        b"Transfer-Encoding: a" + b" " * ROOM + b"b\r\n",
        b"Content-Length: " + b"1" * ROOM + b"\r\n",
        b"Content-Length: 1\r\n" * (ROOM // 19),
        b"Upgrade: x\r\nConnection: upgrade\r\n" * (ROOM // 33),
    ],
    ids=range(17),
)
def test_no_head_takes_long_to_judge(lines: bytes) -> None:
    buffer = b"GET / HTTP/1.1\r\nHost: h\r\n" + lines + b"\r\n"

    head = buffer[: find_head_end(buffer)]

    assert len(head) <= MAX_HEAD_BYTES  # else it would be refused unread
    with suppress(BadMessage):
        parse_request(head)
