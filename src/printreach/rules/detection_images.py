"""What a picture may be that the detector is asked about."""

from typing import Final

MOST_BYTES: Final = 6_291_456
MOST_PIXELS: Final = 50_000_000
