"""The command for a file's thumbnail: what is answered, and what is refused."""

import pytest

from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import command_calls
from tests.printers.sliced import picture

FILE = "gcode/part.gcode"


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", b"image/png"), ("JPEG", b"image/jpeg")])
@on_a_hasty_loop
async def test_a_thumbnail_has_the_type_of_its_bytes(kind: str, media_type: bytes) -> None:
    printer = ScriptedPrinter()
    printer.thumbnail_in_file = picture(32, kind)
    async with command_calls(printer) as calls:
        reply = await calls.get("files/thumbnail", path=FILE)

    assert (reply.http_status, reply.body) == (200, picture(32, kind))
    headers = {name.lower(): value for name, value in reply.headers}
    assert headers[b"content-type"] == media_type
    assert headers[b"x-content-type-options"] == b"nosniff"


@pytest.mark.parametrize("data", [None, b"<svg/>", b"<html>", b"GIF89a"])
@on_a_hasty_loop
async def test_what_is_no_picture_is_answered_as_missing(data: bytes | None) -> None:
    printer = ScriptedPrinter()
    printer.thumbnail_in_file = data
    async with command_calls(printer) as calls:
        reply = await calls.get("files/thumbnail", path=FILE)

    assert (reply.http_status, reply.status) == (404, 404)


@pytest.mark.parametrize("size", ["0", "15", "2049", "big", "-1"])
@on_a_hasty_loop
async def test_a_size_out_of_range_is_a_wrong_argument(size: str) -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        reply = await calls.get("files/thumbnail", path=FILE, size=size)

    assert (reply.http_status, reply.status) == (400, 751)
    assert "size" in reply.error
