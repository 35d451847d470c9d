"""Where a printer listens, beside the port of its broker."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """files: FTPS. camera: pictures, on printers without RTSPS."""

    files: int = 990
    camera: int = 6000


USUAL_PORTS: Final = Ports()
