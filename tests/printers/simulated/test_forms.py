"""Upload forms, as browsers, curl and broken programs send them."""

import pytest

from .rig import run, site

FORM = "multipart/form-data; boundary=XyZ"


def part(disposition: str, data: bytes) -> bytes:
    head = f"--XyZ\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: x/y\r\n\r\n"
    return head.encode() + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--XyZ--\r\n"


DATA = b"G28\r\n--XyNot\r\n-\r\n--Xy"
BODY = form(part('name="path"', b"sub"), part('name="file"; filename="a.gcode"', DATA))


def test_a_form_is_its_fields_in_any_order() -> None:
    async def test() -> None:
        file = part('name="file"; filename="b.gcode"', DATA)
        for body in (BODY, form(file, part('name="path"', b"/sub/")), BODY + b"bye\r\n"):
            async with site() as printer:
                sent = printer.http.post("/api/files", data=body, headers={"Content-Type": FORM})
                async with sent as answer:
                    reported = await answer.json()

                assert answer.status == 201
                assert reported["Path"] in ("sub/a.gcode", "sub/b.gcode")
                assert (printer.folder / reported["Path"]).read_bytes() == DATA

    run(test())


@pytest.mark.parametrize(
    ("disposition", "filename"),
    [
        ('name="f"; filename="a b.gcode"', "a b.gcode"),
        ('name="f"; filename="größe.gcode"', "größe.gcode"),
        ('name="f"; filename="a %22q%22.gcode"', 'a "q".gcode'),
        (r'name="f"; filename="a \"q\".gcode"', 'a "q".gcode'),
        ('name="f"; filename="C:/x/a.gcode"', "a.gcode"),
        (r'name="f"; filename="C:\x\a.gcode"', "a.gcode"),
        ("name=f; filename=a.gcode", "a.gcode"),
    ],
)
def test_a_file_has_the_name_that_browsers_and_curl_mean(disposition: str, filename: str) -> None:
    async def test() -> None:
        body = form(part(disposition, b"G28\n"))
        async with site() as printer:
            sent = printer.http.post("/api/files", data=body, headers={"Content-Type": FORM})
            async with sent as answer:
                assert (await answer.json())["Path"] == filename

    run(test())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        BODY[:-5],
        BODY[:40],
        form(part('name="path"', b"no file")),
        form(part('name="f"; filename=""', b"no name")),
        form(part('name="f"; filename=".."', b"no file's name")),
        form(part('name="f"; filename="a"', b"one"), part('name="g"; filename="b"', b"two")),
        form(part('name="path"', b"x" * 20_000), part('name="f"; filename="a"', b"")),
        form(part('name="f"; filename="a"', b""), part('name="path"', b"\xff")),
        form(*[part('name="path"', b"")] * 17, part('name="f"; filename="a"', b"")),
        b"--XyZ\r\n\r\ndata\r\n--XyZ--",
        b"--XyZ\r\nContent-Disposition: attachment\r\n\r\n\r\n--XyZ--",
        b"--XyZ\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
        b'--XyZ\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n\r\n--XyZ--',
    ],
)
def test_a_broken_form_is_refused_and_leaves_nothing_behind(body: bytes) -> None:
    async def test() -> None:
        async with site() as printer:
            sent = printer.http.post("/api/files", data=body, headers={"Content-Type": FORM})
            async with sent as answer:
                assert answer.status == 400
                assert (await answer.json())["Error"]

            assert [file.name for file in printer.folder.rglob("*") if file.is_file()] == [
                "part.gcode"
            ]

    run(test())


@pytest.mark.parametrize("content_type", ["", "text/plain", "multipart/form-data"])
def test_a_body_that_is_no_form_is_refused(content_type: str) -> None:
    async def test() -> None:
        headers = {"Content-Type": content_type}
        async with (
            site() as printer,
            printer.http.post("/api/files", data=BODY, headers=headers) as answer,
        ):
            assert answer.status == 400

    run(test())
