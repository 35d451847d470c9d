"""Where an Elegoo printer listens, beside its web server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """sdcp: its WebSocket, and uploads by HTTP. mqtt: the broker of a Centauri Carbon 2."""

    sdcp: int = 3030
    mqtt: int = 1883


USUAL_PORTS = Ports()
