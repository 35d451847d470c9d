"""Videos that the real ffmpeg makes of pictures, whatever these are."""

import asyncio
import io
import json
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from printreach.backends.video_ffmpeg import FfmpegVideos
from printreach.ports.snapshots import VideoFailed
from printreach.rules.printers.cameras import UNTURNED, Pose
from tests.rigs.peers import system_program
from tests.rules.detection.test_jpeg import picture

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@pytest.fixture
def maker() -> FfmpegVideos:
    return FfmpegVideos(str(system_program("ffmpeg", "ffmpeg")))


async def each(pictures: Sequence[bytes]) -> AsyncIterator[bytes]:
    for one in pictures:
        yield one


def made(maker: FfmpegVideos, pictures: Sequence[bytes], pose: Pose = UNTURNED) -> bytes:
    """Four pictures a second."""
    return asyncio.run(maker.make(each(pictures), 4, pose))


def facts_of(video: bytes, folder: Path) -> dict[str, Any]:
    """What ffprobe says of the video."""
    path = folder / "video.mp4"
    path.write_bytes(video)
    asked = ["-v", "error", "-show_streams", "-count_frames", "-of", "json", str(path)]
    probe = system_program("ffprobe", "ffmpeg")
    said = subprocess.run([probe, *asked], check=True, capture_output=True).stdout
    [stream] = json.loads(said)["streams"]
    found: dict[str, Any] = stream
    return found


def test_pictures_become_a_video_that_browsers_play(maker: FfmpegVideos, tmp_path: Path) -> None:
    video = made(maker, [picture(width=64, height=48) for _ in range(12)])

    facts = facts_of(video, tmp_path)
    assert (facts["codec_name"], facts["pix_fmt"]) == ("h264", "yuv420p")
    assert (facts["width"], facts["height"]) == (64, 48)
    assert facts["nb_read_frames"] == "12"
    assert facts["duration"] == "3.000000"
    assert video.index(b"moov") < video.index(b"mdat")  # it begins to play before it is whole


@pytest.mark.parametrize(
    ("pose", "dark"),
    [
        (UNTURNED, (0, 0)),
        (Pose(flip_h=True), (1, 0)),
        (Pose(flip_v=True), (0, 1)),
        (Pose(rotation=90), (1, 0)),
        (Pose(rotation=180), (1, 1)),
        (Pose(rotation=270), (0, 1)),
        (Pose(flip_h=True, rotation=90), (1, 1)),
    ],
)
def test_a_video_is_turned_as_its_camera_is(
    maker: FfmpegVideos, tmp_path: Path, pose: Pose, dark: tuple[int, int]
) -> None:
    """dark: the corner, right and down, where the picture's dark upper left corner is then."""
    drawn = Image.new("L", (64, 64), 255)
    drawn.paste(0, (0, 0, 32, 32))
    out = io.BytesIO()
    drawn.convert("RGB").save(out, "JPEG")
    (tmp_path / "video.mp4").write_bytes(made(maker, [out.getvalue()] * 8, pose))
    shown = tmp_path / "shown.png"
    words = ["-v", "error", "-i", str(tmp_path / "video.mp4"), "-frames:v", "1", str(shown)]
    subprocess.run([system_program("ffmpeg", "ffmpeg"), *words], check=True)

    places = [(x, y) for x in (0, 1) for y in (0, 1)]
    with Image.open(shown) as opened:
        grey = opened.convert("L")
        row = list(grey.tobytes())
    found = [(x, y) for x, y in places if row[(16 + 32 * y) * 64 + 16 + 32 * x] < 128]
    assert found == [dark]


def test_a_large_odd_picture_gets_smaller_and_keeps_its_shape(
    maker: FfmpegVideos, tmp_path: Path
) -> None:
    video = made(maker, [picture(width=1601, height=901)] * 8)

    facts = facts_of(video, tmp_path)
    assert (facts["width"], facts["height"]) == (1280, 720)


def test_a_camera_whose_size_changes_gives_a_video_all_the_same(
    maker: FfmpegVideos, tmp_path: Path
) -> None:
    sizes = [(64, 48)] * 6 + [(48, 64)] * 6
    video = made(maker, [picture(width=width, height=height) for width, height in sizes])

    assert facts_of(video, tmp_path)["nb_read_frames"] == "12"


def test_a_damaged_picture_spoils_no_others(maker: FfmpegVideos, tmp_path: Path) -> None:
    good = [picture(width=64, height=48) for _ in range(8)]
    damaged = good[0][:-400] + bytes(398) + good[0][-2:]
    video = made(maker, [*good, damaged, *good])

    assert int(facts_of(video, tmp_path)["nb_read_frames"]) >= 15


@pytest.mark.parametrize(
    "content", [b"", b"#EXTM3U\nfile:///etc/passwd\n", b"ffconcat version 1.0\nfile '/etc/passwd'"]
)
def test_what_holds_no_picture_makes_no_video(maker: FfmpegVideos, content: bytes) -> None:
    with pytest.raises(VideoFailed):
        made(maker, [content] * 8)


def test_a_picture_that_claims_billions_of_pixels_is_not_decoded(maker: FfmpegVideos) -> None:
    small = picture(width=64, height=48)
    at = small.index(b"\xff\xc0") + 5
    huge = small[:at] + b"\xff\xdc\xff\xdc" + small[at + 4 :]

    with pytest.raises(VideoFailed):
        made(maker, [huge] * 8)


def test_what_takes_too_long_is_ended(maker: FfmpegVideos) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield picture()
            await asyncio.sleep(0.01)

    hasty = FfmpegVideos(str(system_program("ffmpeg", "ffmpeg")), within_s=1.0)

    with pytest.raises(VideoFailed, match="longer than"):
        asyncio.run(hasty.make(endless(), 4, UNTURNED))


def test_a_program_that_is_not_there_makes_no_video(tmp_path: Path) -> None:
    with pytest.raises(VideoFailed):
        made(FfmpegVideos(str(tmp_path / "ffmpeg")), [picture()])
