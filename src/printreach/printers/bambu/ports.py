"""The ports of a printer beside its broker's."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Ports beside the broker's. files: FTPS. camera: pictures, on printers without RTSPS."""

    files: int = 990
    camera: int = 6000


USUAL_PORTS: Final = Ports()
