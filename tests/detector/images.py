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


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """One part of a PNG."""
    summed = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", summed)


def png_head(width: int, height: int) -> bytes:
    """The part that says how large it is; 8 bits of red, green and blue."""
    return png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


def png_of(*chunks: bytes) -> bytes:
    """A PNG of these parts."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def png_that_claims(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose head tells of any size."""
    body = png_chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return png_of(png_head(width, height), body, png_chunk(b"IEND", b""))


def jpeg_that_claims(width: int, height: int) -> bytes:
    """A JPEG of a few bytes whose head tells of any size."""
    data = bytearray(written(scene(64, 64)))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def webp_that_claims(width: int, height: int) -> bytes:
    """An extended WebP of a few bytes whose head tells of any size."""
    head = b"\x10\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    picture = written(scene(64, 64), "WEBP", lossless=True)[12:]
    parts = b"WEBP" + b"VP8X" + struct.pack("<I", len(head)) + head + picture
    return b"RIFF" + struct.pack("<I", len(parts)) + parts


def jpeg_of_many_scans(count: int) -> bytes:
    """A progressive JPEG whose last scan comes again and again: each is a pass over all pixels."""
    data = written(scene(64, 64), progressive=True)
    last = data.rindex(b"\xff\xda")
    return data[:last] + data[last:-2] * count + data[-2:]


def animated(image_format: str, *pictures: Image.Image) -> bytes:
    """An animation of these pictures."""
    first, *others = pictures
    return written(first, image_format, save_all=True, append_images=others, duration=100)
