"""The bounds of an image that is sent to the detector."""

from typing import Final

MAX_BYTES: Final = 6_291_456
MAX_PIXELS: Final = 50_000_000
