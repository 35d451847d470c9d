"""Streams of pictures, as cameras of different makes write them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers import mjpeg
from printreach.printers.mjpeg import BadStream, MjpegParser, NoStream, boundary_of

ONE, TWO = b"\xff\xd8one\xff\xd9", b"\xff\xd8two\r\n--almost\xff\xd9"
WITH_LENGTH = b"--b\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%b\r\n"
WITHOUT = b"--b\r\nContent-Type: image/jpeg\r\n\r\n%b\r\n"


def parsed(stream: bytes, *, step: int = 10_000) -> list[bytes]:
    parser = MjpegParser(b"--b")
    return [
        frame for at in range(0, len(stream), step) for frame in parser.feed(stream[at : at + step])
    ]


def test_parts_with_a_length_are_taken_by_it() -> None:
    stream = WITH_LENGTH % (len(ONE), ONE) + WITH_LENGTH % (len(TWO), TWO)

    assert parsed(stream) == [ONE, TWO]


def test_a_part_with_a_length_needs_no_next_one_to_be_whole() -> None:
    assert parsed(WITH_LENGTH % (len(ONE), ONE)) == [ONE]


def test_parts_without_a_length_end_at_the_next_boundary() -> None:
    assert parsed(WITHOUT % ONE + WITHOUT % TWO) == [ONE]
    assert parsed(WITHOUT % ONE + WITHOUT % TWO + b"--b--\r\n") == [ONE, TWO]


def test_lines_may_end_in_a_single_character_and_headers_be_in_any_case() -> None:
    stream = b"--b\ncontent-length:%d \n\n%b\n" % (len(ONE), ONE)

    assert parsed(stream * 2) == [ONE, ONE]


def test_what_stands_before_the_first_boundary_is_passed_over() -> None:
    assert parsed(b"\r\npreamble\r\n" + WITH_LENGTH % (len(ONE), ONE)) == [ONE]


def test_two_dashes_more_than_announced_do_no_harm() -> None:
    stream = b"--" + WITHOUT % ONE + b"--" + WITHOUT % ONE

    assert parsed(stream) == [ONE]


def test_a_part_that_is_no_picture_is_passed_over() -> None:
    stream = WITH_LENGTH % (9, b"no signal") + WITH_LENGTH % (len(ONE), ONE)

    assert parsed(stream) == [ONE]


def test_an_empty_part_is_passed_over() -> None:
    assert parsed(WITH_LENGTH % (0, b"") + WITHOUT % ONE + WITHOUT % b"") == [ONE]


@given(
    st.lists(st.tuples(st.booleans(), st.binary(max_size=50)), min_size=1, max_size=5),
    st.integers(1, 40),
)
def test_it_does_not_matter_how_a_stream_is_cut(parts: list[tuple[bool, bytes]], step: int) -> None:
    frames = [b"\xff\xd8" + data.replace(b"-", b"+") + b"\xff\xd9" for _, data in parts]
    stream = b"".join(
        WITH_LENGTH % (len(frame), frame) if has_length else WITHOUT % frame
        for (has_length, _), frame in zip(parts, frames, strict=True)
    )

    assert parsed(stream + b"--b", step=step) == frames


def test_a_picture_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mjpeg, "MAX_PICTURE_BYTES", 1000)

    with pytest.raises(BadStream, match="larger"):
        parsed(WITH_LENGTH % (1001, b""))
    with pytest.raises(BadStream, match="larger"):
        parsed(WITHOUT % (b"\xff\xd8" + b"x" * 2000), step=100)


def test_the_head_of_a_part_has_a_largest_size() -> None:
    with pytest.raises(BadStream, match="head"):
        parsed(b"--b\r\n" + b"X-Filler: 1\r\n" * 1000)


def test_what_never_comes_to_a_boundary_is_not_kept() -> None:
    parser = MjpegParser(b"--b")
    for _ in range(100):
        parser.feed(b"x" * 100_000)

    assert len(parser._buffer) < 10


@pytest.mark.parametrize(
    ("kind", "boundary"),
    [
        (b"multipart/x-mixed-replace; boundary=frame", b"--frame"),
        (b'multipart/x-mixed-replace;boundary="frame"', b"--frame"),
        (b"multipart/x-mixed-replace; boundary=--frame", b"--frame"),
        (b"Multipart/X-Mixed-Replace; Boundary=frame; charset=x", b"--frame"),
    ],
)
def test_the_boundary_is_read_as_cameras_write_it(kind: bytes, boundary: bytes) -> None:
    assert boundary_of(kind) == boundary


@pytest.mark.parametrize(
    "kind",
    [
        *(b"", b"image/jpeg", b"text/html; boundary=frame", b"multipart/x-mixed-replace"),
        *(b"multipart/x-mixed-replace; boundary=", b"multipart/x-mixed-replace; boundary=--"),
    ],
)
def test_what_is_no_stream_of_pictures_is_none(kind: bytes) -> None:
    with pytest.raises(NoStream):
        boundary_of(kind)


def test_a_part_of_nothing_but_line_ends_is_passed_over_at_once() -> None:
    """Looked at one by one, they held up the agent of a small machine for seconds."""
    parser = MjpegParser(b"--frame")
    began_s = time.process_time()

    assert parser.feed(b"--frame\r\n\r\n" + b"\r" * 8_000_000 + b"--frame") == []
    assert time.process_time() - began_s < 0.5
