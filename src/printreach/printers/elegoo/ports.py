"""The ports of an Elegoo printer beside its web server's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """sdcp: its WebSocket. uploads: by HTTP, to an SDCP printer. mqtt: a Centauri Carbon 2's."""

    sdcp: int = 3030
    uploads: int = 3030
    mqtt: int = 1883


USUAL_PORTS = Ports()
