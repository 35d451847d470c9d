"""The files at the simulated printer's web server: uploads, downloads, bad paths."""

import asyncio
from typing import Any

import aiohttp
import pytest
from yarl import URL

from printreach.printers.simulated.sample import NAME

from .rig import PART, Site, complete, run, site, until


async def listed(printer: Site) -> list[str]:
    def paths(files: list[dict[str, Any]]) -> list[str]:
        return [p for f in files for p in (f["PlatformPath"], *paths(f.get("Children", [])))]

    async with printer.http.get("/api/files") as answer:
        return paths((await answer.json())["Files"])


def test_a_printer_without_files_comes_with_a_sample() -> None:
    async def test() -> None:
        async with site(files={}) as printer:
            assert await listed(printer) == [NAME]

    run(test())


def test_a_printer_with_files_keeps_to_them() -> None:
    async def test() -> None:
        async with site() as printer:
            assert await listed(printer) == ["part.gcode"]

    run(test())


def test_a_file_is_put_fetched_and_deleted() -> None:
    async def test() -> None:
        async with site() as printer:
            address = "/api/files/new%20folder/gr%C3%B6%C3%9Fe%20%22x%22.gcode"
            url = URL(address, encoded=True)
            async with printer.http.put(url, data=PART) as answer:
                assert answer.status == 201
            async with printer.http.put(url, data=PART + b"; more\n") as answer:
                assert answer.status == 200
            assert await listed(printer) == [
                "new folder",
                'new folder/größe "x".gcode',
                "part.gcode",
            ]
            async with printer.http.get(url) as answer:
                assert await answer.read() == PART + b"; more\n"
                assert "gr%C3%B6%C3%9Fe" in answer.headers["Content-Disposition"]
            async with printer.http.delete(url) as answer:
                assert answer.status == 204
            async with printer.http.get(url) as answer:
                assert answer.status == 404

    run(test())


def test_a_form_uploads_a_file_as_curl_and_slicers_send_it() -> None:
    async def test() -> None:
        async with site() as printer:
            form = aiohttp.FormData(quote_fields=False)
            form.add_field("file", PART, filename='my "best" part.gcode')
            form.add_field("path", "sub")
            form.add_field("print", "true")
            async with printer.http.post("/api/files", data=form) as answer:
                assert answer.status == 201
                assert (await answer.json())["Path"] == 'sub/my "best" part.gcode'

            assert (await printer.status())["FileName"] == 'my "best" part.gcode'
            await printer.until(complete)

    run(test())


def test_a_large_upload_in_chunks_arrives_whole() -> None:
    async def test() -> None:
        async def pieces() -> Any:
            for _ in range(64):
                yield b"; 0123456\n" * 6_000

        async with site() as printer:
            async with printer.http.put("/api/files/big.gcode", data=pieces()) as answer:
                assert (await answer.json())["SizeBytes"] == 64 * 60_000

            assert (printer.folder / "big.gcode").stat().st_size == 64 * 60_000

    run(test())


def test_an_upload_that_breaks_off_leaves_nothing_behind() -> None:
    async def test() -> None:
        async with site() as printer:
            _, writer = await asyncio.open_connection("127.0.0.1", printer.running.port)
            writer.write(b"PUT /api/files/half.gcode HTTP/1.1\r\nHost: a\r\n")
            writer.write(b"Content-Length: 1000\r\n\r\nhalf")
            uploads = printer.folder / ".uploads"
            await until(lambda: list(uploads.iterdir()))
            writer.transport.abort()
            await until(lambda: not list(uploads.iterdir()))

            assert await listed(printer) == ["part.gcode"]

    run(test())


@pytest.mark.parametrize(
    "path",
    [
        *("..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "../../etc/passwd", "..%5cx"),
        *("%2fetc%2fpasswd", "a%00b", ".uploads/x", "%ff", "a//b"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    async def test() -> None:
        async with site() as printer:
            for method in ("GET", "PUT", "DELETE"):
                reader, writer = await asyncio.open_connection("127.0.0.1", printer.running.port)
                head = f"{method} /api/files/{path} HTTP/1.0\r\nContent-Length: 0\r\n\r\n"
                writer.write(head.encode())
                answer = await reader.read()
                writer.close()
                assert answer.startswith(b"HTTP/1.1 400 ")

    run(test())
