"""Finding the frames in a webcam's stream, however it is cut on its way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.http1.chunked import encode_chunk
from printreach.relay.webcam_frames import MAX_DELIMITERS_PER_READ, FrameCutter, boundary_of

PICTURE = b"\xff\xd8 a picture -- with -dashes --fram \xff\xd9"
PART = b"--frame\r\nContent-Type: image/jpeg\r\n\r\n" + PICTURE + b"\r\n"


def frames(stream: bytes, boundary: bytes = b"frame", sizes: tuple[int, ...] = ()) -> list[bytes]:
    """Return the frames of a stream that comes in pieces of those sizes."""
    cutter, found = FrameCutter(boundary), [b""]
    for size in (*sizes, len(stream)):
        for piece in cutter.cut(stream[:size]):
            found += [b""] if piece.begins_frame else []
            found[-1] += piece.data
        stream = stream[size:]
    return [*found[:-1], found[-1] + b"".join(piece.data for piece in cutter.rest())]


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        (b"multipart/x-mixed-replace; boundary=frame", b"frame"),
        (b"multipart/x-mixed-replace;Boundary=--frame", b"--frame"),
        (b'multipart/x-mixed-replace; charset=x; boundary="a b" ; c=d', b"a b"),
        (b"multipart/x-mixed-replace", None),
        (b"multipart/x-mixed-replace; boundary=", None),
        (b"multipart/x-mixed-replace; boundary=---", None),
    ],
)
def test_the_boundary_is_what_the_type_names(content_type: bytes, boundary: bytes | None) -> None:
    assert boundary_of(content_type) == boundary


@given(st.lists(st.integers(1, 120), max_size=30))
def test_frames_begin_at_delimiters_wherever_the_stream_is_cut(sizes: list[int]) -> None:
    parts = [PART + b"%d" % number + b"\r\n" for number in range(4)]

    assert frames(b"".join(parts), sizes=tuple(sizes)) == [b"", *parts]


@given(st.binary(max_size=300), st.lists(st.integers(1, 40), max_size=20))
def test_no_byte_is_lost_whatever_the_stream_holds(noise: bytes, sizes: list[int]) -> None:
    stream = noise + b"--frame\r\n" + noise

    assert b"".join(frames(stream, sizes=tuple(sizes))) == stream


@pytest.mark.parametrize(
    ("boundary", "delimiter"),
    [
        (b"frame", b"--frame\r\n"),
        (b"--frame", b"----frame\r\n"),
        (b"--frame", b"--frame\r\n"),
        (b"frame", b"--frame \n"),
        (b"frame", b"--frame--\r\n"),
    ],
)
def test_cameras_may_take_dashes_and_line_ends_lightly(boundary: bytes, delimiter: bytes) -> None:
    assert frames(b"before\n" + delimiter + b"x", boundary) == [b"before\n", delimiter + b"x"]


@pytest.mark.parametrize("text", [b" --frame\r\n", b"\n--framework\r\n", b"\n-frame\r\n"])
def test_bytes_that_only_look_like_a_delimiter_begin_no_frame(text: bytes) -> None:
    assert frames(b"in a picture" + text) == [b"in a picture" + text]


@pytest.mark.parametrize("unit", [b"\n--frame\r", b"\n---------frame", b"--frame"])
def test_delimiters_without_pictures_do_not_keep_the_relay_busy(unit: bytes) -> None:
    pieces = FrameCutter(b"frame").cut(unit * 7000)

    assert len(pieces) <= MAX_DELIMITERS_PER_READ + 1
    assert b"".join(piece.data for piece in pieces) == unit * 7000


def test_a_piece_brings_its_chunk() -> None:
    pieces = FrameCutter(b"frame").cut(PART * 2)

    assert [piece.chunk for piece in pieces] == [encode_chunk(PART)] * 2


def test_a_whole_frame_is_not_held_back() -> None:
    (piece,) = FrameCutter(b"frame").cut(PART)

    assert piece.data == PART
