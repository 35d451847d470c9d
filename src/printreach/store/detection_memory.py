"""A print's detection context, as JSON in a column."""

from dataclasses import dataclass
from typing import Final

import msgspec

from printreach.rules.detection import DEFAULT_LEVEL, DetectionContext
from printreach.store.damaged import Damaged, decoded


@dataclass(frozen=True, kw_only=True, slots=True)
class _Levels:
    """The levels, which the caller chose."""

    warning_level: int = DEFAULT_LEVEL
    pause_level: int = DEFAULT_LEVEL


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(DetectionContext)
_levels_decoder: Final = msgspec.json.Decoder(_Levels)


def written(context: DetectionContext) -> bytes:
    return _encoder.encode(context)


def remembered(data: bytes) -> DetectionContext:
    """Decode a context. A context of another version begins again at the chosen levels.

    If even those cannot be decoded, it begins at the defaults.
    """
    try:
        return decoded(_decoder, data)
    except Damaged:
        pass
    try:
        chosen = decoded(_levels_decoder, data)
        return DetectionContext(warning_level=chosen.warning_level, pause_level=chosen.pause_level)
    except (Damaged, ValueError):
        return DetectionContext()
