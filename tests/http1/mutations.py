"""Mutated and split bytes: strategies for the property tests."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

_SPLINTERS = [
    *(bytes([byte]) for byte in b'\r\n\t\x00\x0b\x7f\x80\xff :;,="+-0159afgxX/#@*%.'),
    b"\r\n",
    b"\r\n\r\n",
    b"\n\n",
    b"\r\n ",
    b" HTTP/1.1\r\n",
    b"Host: x\r\n",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
]


@st.composite
def wounded(draw: st.DrawFn, good: Sequence[bytes]) -> bytes:
    """One of the messages, with one to three stretches of it replaced, removed or doubled."""
    data = draw(st.sampled_from(good))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = at + draw(st.integers(0, 3))
        data = data[:at] + draw(st.sampled_from([*_SPLINTERS, b"", data[at:end] * 2])) + data[end:]
    return data


@st.composite
def pieces_of(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The same bytes in pieces, as a socket may deliver them; now and then one by one."""
    if draw(st.integers(0, 4)) == 0:
        return [data[at : at + 1] for at in range(len(data))]
    cuts = draw(st.lists(st.integers(0, len(data)), max_size=6))
    return [data[start:end] for start, end in pairwise([0, *sorted(cuts), len(data)])]
