"""The stream of the camera port."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.bambu.camera import BadFrame, FrameParser, RtspCamera, cameras_of, hello
from printreach.printers.setup import PrinterSetup
from tests.printers.bambu.reports import known_from
from tests.printers.film import picture


def framed(data: bytes) -> bytes:
    return struct.pack("<I12x", len(data)) + data


def test_the_greeting_is_eighty_bytes_with_user_and_code() -> None:
    greeting = hello("bblp", "12345678")

    assert len(greeting) == 80
    assert greeting[:16] == struct.pack("<IIII", 0x40, 0x3000, 0, 0)
    assert greeting[16:20] == b"bblp"
    assert greeting[48:56] == b"12345678"


@given(st.lists(st.integers(1, 50), max_size=60))
def test_pictures_come_out_whole_however_they_arrive(cuts: list[int]) -> None:
    stream = b"".join(framed(picture(number)) for number in range(5))
    parser, frames = FrameParser(), []
    for cut in cuts:
        frames += parser.feed(stream[:cut])
        stream = stream[cut:]
    frames += parser.feed(stream)

    assert frames == [picture(number) for number in range(5)]


@pytest.mark.parametrize("data", [b"GIF89a", b"\xff\xd8 no end", b""])
def test_what_is_no_jpeg_is_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        FrameParser().feed(framed(data))


def test_a_picture_of_any_length_is_not_waited_for() -> None:
    with pytest.raises(BadFrame):
        FrameParser().feed(struct.pack("<I12x", 1 << 30))


# --- which camera a printer has -------------------------------------------------------------------


def test_an_address_of_a_stream_is_taken_to_be_at_the_printers_own(a_setup: PrinterSetup) -> None:
    url = "rtsps://10.0.0.7:322/streaming/live/1"
    [camera] = cameras_of(known_from(ipcam={"rtsp_url": url}), a_setup)

    assert isinstance(camera, RtspCamera)
    assert camera.entry.enabled
    assert camera.entry.stream_url is None


@pytest.mark.parametrize("url", ["disable", ""])
def test_a_stream_that_is_turned_off_is_a_disabled_camera(a_setup: PrinterSetup, url: str) -> None:
    [camera] = cameras_of(known_from(ipcam={"rtsp_url": url}), a_setup)

    assert not camera.entry.enabled


def test_a_printer_without_such_an_address_has_the_camera_port(a_setup: PrinterSetup) -> None:
    [camera] = cameras_of(known_from(), a_setup)

    assert camera.entry.name == "Camera"
