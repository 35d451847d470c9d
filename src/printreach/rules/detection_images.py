"""The bounds of an image that is sent to the detector."""

from typing import Final

MOST_BYTES: Final = 6_291_456
MOST_PIXELS: Final = 50_000_000
