"""Contract: files go up and down as they are, under any name, and leave nothing behind."""

import asyncio
import io

import pytest
from PIL import Image

from tests.printers.asking import Json
from tests.printers.bench import Bench, on_the_bench

BAD_ARGUMENTS, FAILED, MISSING = 751, 752, 404
LARGE = 3 * 1024 * 1024

NASTY_STEMS = [
    "two words",
    "it's a part",
    "half #1 100%",
    "a+b&c=d;e",
    "percent%20sign",
    "Würfel ünïcode",
    "立方体",
    "dots.in.the.name",
    "(brackets) [and] {braces}",
]
OUTSIDE = ["gcode/../secret", "gcode//x.gcode", "/gcode/x.gcode", "elsewhere/x.gcode", "gcode/."]


class FileContract:
    @on_the_bench
    async def test_a_file_goes_up_is_listed_comes_down_and_is_deleted(self, bench: Bench) -> None:
        file = bench.rig.short_print()
        done = await bench.calls.put(
            "files/upload", [file.data], len(file.data), f"gcode/{file.name}"
        )
        path = done.result["VirtualPath"]
        assert done.result["SizeBytes"] == len(file.data)
        assert done.result["PlatformPath"]

        entry = await listed(bench, path)
        assert entry["Type"] == "file"
        assert entry["Path"] == entry["VirtualPath"] == path
        assert entry["Name"] == path.rpartition("/")[2]
        assert entry["SizeBytes"] == len(file.data)
        assert await _download(bench, path) == file.data
        deleted = (await bench.calls.post("files/delete", path=path)).result
        assert deleted["VirtualPath"] == path
        assert await _find(bench, path) is None

    @pytest.mark.parametrize("stem", NASTY_STEMS)
    @on_the_bench
    async def test_any_name_works_as_the_upload_answers_it(self, bench: Bench, stem: str) -> None:
        """A platform may change a name; what it answers is true everywhere."""
        file = bench.rig.short_print()
        path = await bench.upload(stem + bench.rig.suffix, file.data)

        assert (await listed(bench, path))["SizeBytes"] == len(file.data)
        assert (await bench.calls.get("files/details", path=path)).result["VirtualPath"] == path
        assert await _download(bench, path) == file.data
        assert (await bench.calls.post("files/delete", path=path)).status == 200
        assert await _find(bench, path) is None

    @on_the_bench
    async def test_an_upload_of_unknown_size_arrives_whole(self, bench: Bench) -> None:
        file = bench.rig.short_print()
        pieces = [file.data[:100], file.data[100:]]
        done = await bench.calls.put("files/upload", pieces, None, f"gcode/{file.name}")

        assert done.result["SizeBytes"] == len(file.data)
        assert await _download(bench, done.result["VirtualPath"]) == file.data

    @on_the_bench
    async def test_a_large_file_goes_up_and_comes_down_unchanged(self, bench: Bench) -> None:
        data = bench.rig.large_file(LARGE)
        path = await bench.upload("large" + bench.rig.suffix, data)

        assert await _download(bench, path) == data

    @on_the_bench
    async def test_an_upload_replaces_a_file_of_the_same_name(self, bench: Bench) -> None:
        first, second = bench.rig.short_print(), bench.rig.long_print()
        path = await bench.upload(first.name, first.data)
        again = await bench.upload(first.name, second.data)

        assert again == path
        assert await _download(bench, path) == second.data

    @on_the_bench
    async def test_half_an_upload_leaves_nothing_behind(self, bench: Bench) -> None:
        file = bench.rig.short_print()
        before = await names(bench)
        asked = bench.calls.begin_put("files/upload", len(file.data), f"gcode/{file.name}")
        asked.stream.send(file.data[: len(file.data) // 2])
        await asyncio.sleep(0.2)
        asked.leave()
        await asyncio.sleep(0.5)

        async def nothing_is_left() -> bool:
            return await names(bench) == before

        await bench.until_true("the files of before", nothing_is_left)

    @on_the_bench
    async def test_an_upload_into_a_folder_makes_the_folder(self, bench: Bench) -> None:
        file = bench.rig.short_print()
        if not bench.rig.has_folders:
            path = f"gcode/parts/{file.name}"
            reply = await bench.calls.put("files/upload", [file.data], len(file.data), path)
            assert reply.status == BAD_ARGUMENTS
            return
        path = await bench.upload(f"parts/for test/{file.name}", file.data)
        folder, _, name = path.rpartition("/")

        assert name == (await listed(bench, path))["Name"]
        assert (await listed(bench, folder))["Type"] == "folder"
        assert await _download(bench, path) == file.data

    @on_the_bench
    async def test_a_folder_is_deleted_only_when_it_is_empty(self, bench: Bench) -> None:
        if not bench.rig.has_folders:
            entries = (await bench.calls.get("files/list")).result["Root"]
            assert all(entry["Type"] == "file" for root in entries for entry in root["Children"])
            return
        path = await bench.upload(
            f"full/{bench.rig.short_print().name}", bench.rig.short_print().data
        )
        folder = path.rpartition("/")[0]

        assert (await bench.calls.post("files/delete", path=folder)).status == FAILED
        assert await _find(bench, path) is not None
        assert (await bench.calls.post("files/delete", path=path)).status == 200
        if (
            await _find(bench, folder) is not None
        ):  # some platforms drop a folder with its last file
            assert (await bench.calls.post("files/delete", path=folder)).status == 200
        assert await _find(bench, folder) is None

    @on_the_bench
    async def test_details_tell_size_and_name(self, bench: Bench) -> None:
        file = bench.rig.short_print()
        path = await bench.upload(file.name, file.data)
        details = (await bench.calls.get("files/details", path=path)).result

        assert details["VirtualPath"] == path
        assert details["FileName"] == path.rpartition("/")[2]
        assert details["SizeBytes"] == len(file.data)
        assert details["PlatformPath"]

    @on_the_bench
    async def test_a_thumbnail_is_a_picture_of_the_wanted_size(self, bench: Bench) -> None:
        file = bench.rig.pictured_print()
        path = await bench.upload(file.name, file.data)

        for wanted, edge in bench.rig.thumbnail_edges.items():

            async def picture(size: int = wanted) -> bytes | None:
                reply = await bench.calls.get("files/thumbnail", path=path, size=size)
                return reply.body if reply.http_status == 200 else None

            data = await bench.until_true(f"a thumbnail of {wanted}", picture)
            with Image.open(io.BytesIO(data)) as drawn:
                assert (drawn.format, drawn.size) == ("PNG", (edge, edge))

    @on_the_bench
    async def test_a_file_without_a_thumbnail_has_none(self, bench: Bench) -> None:
        file = bench.rig.short_print()
        path = await bench.upload(file.name, file.data)
        reply = await bench.calls.get("files/thumbnail", path=path)

        assert (reply.http_status, reply.status) == (404, MISSING)

    @on_the_bench
    async def test_what_is_not_there_is_missing(self, bench: Bench) -> None:
        path = "gcode/no such file" + bench.rig.suffix
        download = await bench.calls.get("files/download", path=path)

        assert (download.http_status, download.status) == (404, MISSING)
        assert (await bench.calls.get("files/details", path=path)).status == MISSING
        assert (await bench.calls.get("files/thumbnail", path=path)).status == MISSING
        assert (await bench.calls.post("files/delete", path=path)).status == MISSING

    @pytest.mark.parametrize("path", OUTSIDE)
    @on_the_bench
    async def test_a_path_that_leaves_its_root_is_a_wrong_argument(
        self, bench: Bench, path: str
    ) -> None:
        for reply in (
            await bench.calls.get("files/download", path=path),
            await bench.calls.post("files/delete", path=path),
            await bench.calls.put("files/upload", [b"G28"], 3, path),
        ):
            assert reply.status == BAD_ARGUMENTS


async def _download(bench: Bench, path: str) -> bytes:
    reply = await bench.calls.get("files/download", path=path)
    assert reply.http_status == 200, reply.body
    return reply.body


async def _tree(bench: Bench) -> list[Json]:
    entries: list[Json] = (await bench.calls.get("files/list", root="gcode")).result["Root"]
    return entries


async def _find(bench: Bench, path: str) -> Json | None:
    for entry in _flat(await _tree(bench)):
        if entry["VirtualPath"] == path:
            return entry
    return None


async def listed(bench: Bench, path: str) -> Json:
    """The entry of a path; some platforms list a new file only after a while."""
    return await bench.until_true(f"{path} in the list", lambda: _find(bench, path))


async def names(bench: Bench) -> list[str]:
    return sorted(entry["VirtualPath"] for entry in _flat(await _tree(bench)))


def _flat(entries: list[Json]) -> list[Json]:
    flat: list[Json] = []
    for entry in entries:
        flat.append(entry)
        flat.extend(_flat(entry.get("Children", [])))
    return flat
