"""Images as callers send them, good ones and others."""

import io
import struct
import zlib

import numpy as np
from PIL import Image


def scene(width: int = 640, height: int = 480) -> Image.Image:
    """A coloured slope, bright at the right and at the bottom."""
    across = np.linspace(0, 255, width, dtype=np.uint8)[None, :].repeat(height, axis=0)
    down = np.linspace(0, 255, height, dtype=np.uint8)[:, None].repeat(width, axis=1)
    return Image.fromarray(np.stack([across, down, across // 2], axis=2))


def written(image: Image.Image, image_format: str = "JPEG", **options: object) -> bytes:
    """The bytes of an image's file."""
    file = io.BytesIO()
    image.save(file, image_format, **options)
    return file.getvalue()


def png_that_claims(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose head tells of any size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        summed = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", summed)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
