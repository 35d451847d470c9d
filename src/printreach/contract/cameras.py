"""The choices of a printer's owner for its cameras, as the service stores and tells them."""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from .codec import BAD_JSON

MAX_CAMERA_NAME: Final = 60
MAX_CAMERA_CHOICES: Final = 8
"""Of one printer: they travel in the head of a request, beside the caller's own fields."""

CameraName = Annotated[str, Meta(max_length=MAX_CAMERA_NAME)]


class CameraChoice(Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """Each member replaces what the platform tells; None leaves that.

    camera: the beginning of the name by which the platform lists it. rotation: clockwise, 0, 90,
    180 or 270 degrees.
    """

    camera: CameraName
    name: CameraName | None = None
    flip_h: bool | None = None
    flip_v: bool | None = None
    rotation: int | None = None


CameraChoices = tuple[CameraChoice, ...]

_decoder: Final = msgspec.json.Decoder(CameraChoices)


def format_choices(choices: Sequence[CameraChoice]) -> str:
    """Format them for the store."""
    return msgspec.json.encode(choices).decode()


def parse_choices(text: str | bytes) -> CameraChoices:
    """Parse what `format_choices` made; what can't be read means that nothing was chosen."""
    try:
        return _decoder.decode(text)
    except BAD_JSON:
        return ()


def format_choices_field(choices: Sequence[CameraChoice]) -> bytes:
    """Format the value of CAMERAS_FIELD: names may have letters that no header field may have."""
    return base64.b64encode(msgspec.json.encode(choices))


def parse_choices_field(value: bytes | None) -> CameraChoices:
    """Parse that value; a missing one means that nothing was chosen, too."""
    try:
        return () if value is None else parse_choices(base64.b64decode(value, validate=True))
    except binascii.Error:
        return ()
