"""Timelapses: which pictures of a print become its video, and how long the video is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.rules.detection.jpeg import claimed_size, most_scans

MIN_PICTURES: Final = 8
"""Fewer make no video."""
MAX_PICTURES: Final = 240
"""Ten seconds of video. Of a longer print every second picture is dropped, again and again."""
FIRST_GAP_S: Final = 10
"""The least time between two pictures at first; it doubles each time that pictures are dropped."""
SHORTEST_S: Final = 4
FASTEST: Final = 24
"""Pictures a second."""
MAX_PIXELS: Final = 20_000_000
"""Of a picture. A webcam of a Raspberry Pi has 16 million at most; a picture of a few bytes may say
that it has billions."""
MAX_SCANNED_PIXELS: Final = 100_000_000
"""Of a picture, each scan a pass over all of its pixels. Webcams make one scan; a progressive
picture of 3840 by 2160 has ten."""
MAX_VIDEO_BYTES: Final = 16 * 1024 * 1024
MAX_BYTES_OF_ACCOUNT: Final = 1024 * 1024 * 1024
"""Of all videos of an account; beyond that the oldest are deleted."""
KEPT_DAYS: Final = (0, 7, 30, 90, 365)
"""What an owner may choose; 0 is no video at all."""
DEFAULT_DAYS: Final = 30
ABANDONED_AFTER: Final = timedelta(days=1)
"""A print of which no picture came for so long has ended, though no event said so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintKey:
    """What identifies a print."""

    account_id: str
    printer_id: str
    print_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Timelapse:
    """The timelapse of a print, while its pictures are collected and once it is a video.

    gap_s: the least time between two pictures. pictures: how many there are. taken_at: the time of
    the last one; None without any. tries: how often its video was begun. video_id: its address and
    its name in the store, with its size in bytes and when it was made; None before.
    """

    timelapse_id: str
    account_id: str
    printer_id: str
    print_id: str
    gap_s: int
    pictures: int
    taken_at: datetime | None
    tries: int
    video_id: str | None
    size: int
    made_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelapsePicture:
    """A stored picture of a print. is_events: it was taken for an event, and is kept for that."""

    snapshot_id: str
    taken_at: datetime
    is_events: bool


def is_next(timelapse: Timelapse, at: datetime) -> bool:
    """Whether a picture taken at that time is wanted. A clock set back does not stop them."""
    before = timelapse.taken_at
    return before is None or abs((at - before).total_seconds()) >= timelapse.gap_s


def dropped(pictures: Sequence[TimelapsePicture]) -> Sequence[TimelapsePicture]:
    """Return every second picture, to be dropped when there are too many; both ends stay."""
    return pictures[1:-1:2]


def shown(pictures: Sequence[TimelapsePicture]) -> Sequence[TimelapsePicture]:
    """Return the pictures of the video, oldest first; none if there are too few.

    Those that failure detection took are all of one camera. Pictures of events, which may be of
    another, are shown where these are too few.
    """
    in_order = sorted(pictures, key=lambda one: one.taken_at)
    own = [one for one in in_order if not one.is_events]
    chosen = own if len(own) >= MIN_PICTURES else in_order
    return chosen[-MAX_PICTURES:] if len(chosen) >= MIN_PICTURES else []


def is_shown(jpeg: bytes) -> bool:
    """Whether a whole picture may be part of a video: 240 of them have to be drawn in time."""
    width, height = claimed_size(jpeg) or (0, 0)
    pixels = width * height
    return pixels <= MAX_PIXELS and pixels * most_scans(jpeg) <= MAX_SCANNED_PIXELS


def pictures_a_second(count: int) -> int:
    """Return the speed at which so many pictures last a few seconds."""
    return max(1, min(FASTEST, count // SHORTEST_S))


def parse_days(text: str) -> int | None:
    """Parse a choice of days; None if it is none of those there are."""
    return int(text) if text in {str(days) for days in KEPT_DAYS} else None
