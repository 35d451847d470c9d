"""Contract: cameras are listed without secrets, and give pictures one by one and as a stream."""

from printreach.printers.camera_addresses import shown_url
from tests.printers.asking import parts_of_stream
from tests.printers.bench import Bench, on_the_bench

ENTRY_FIELDS = {
    *("Name", "FlipH", "FlipV", "Rotation", "Enabled", "SnapshotUrl", "StreamUrl"),
}
JPEG = b"\xff\xd8"


class CameraContract:
    @on_the_bench
    async def test_cameras_are_listed_with_every_field(self, bench: Bench) -> None:
        listed = (await bench.calls.get("webcam/list")).result

        assert listed["DefaultIndex"] == 0
        assert bool(listed["Webcams"]) == bench.rig.has_camera
        assert all(entry["Enabled"] for entry in listed["Webcams"][:1])
        for entry in listed["Webcams"]:
            assert entry.keys() == ENTRY_FIELDS
            assert entry["Rotation"] in (0, 90, 180, 270)
            for url in (entry["SnapshotUrl"], entry["StreamUrl"]):
                assert url is None or url == shown_url(url)

    @on_the_bench
    async def test_a_status_lists_the_same_cameras(self, bench: Bench) -> None:
        listed = (await bench.calls.get("webcam/list")).result

        assert (await bench.status())["ListWebcams"] == listed

    @on_the_bench
    async def test_a_snapshot_is_one_jpeg_picture(self, bench: Bench) -> None:
        reply = await bench.calls.get("webcam/snapshot")
        if not bench.rig.has_camera:
            assert (reply.http_status, reply.status) == (404, 404)
            return

        assert reply.http_status == 200
        assert reply.body.startswith(JPEG)

    @on_the_bench
    async def test_a_stream_brings_one_picture_after_another(self, bench: Bench) -> None:
        if not bench.rig.has_camera:
            reply = await bench.calls.get("webcam/stream")
            assert (reply.http_status, reply.status) == (404, 404)
            return
        asked = bench.calls.ask(b"GET", "webcam/stream")
        while asked.head is None or parts_of_stream(asked) < 3:
            await asked.more()
        asked.leave()

        assert JPEG in b"".join(asked.pieces)

    @on_the_bench
    async def test_a_camera_that_is_not_there_is_missing(self, bench: Bench) -> None:
        reply = await bench.calls.get("webcam/snapshot", index=40)

        assert (reply.http_status, reply.status) == (404, 404)
