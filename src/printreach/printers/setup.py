"""An adapter's settings, clocks and randomness."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .camera_addresses import CameraHosts


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterSetup:
    """host, port: of the printer's web server, or of the platform's main protocol.

    ports: of its other protocols, by the adapter's names for them, where they aren't the usual
    ones.
    data_dir: the agent's folder, for what an adapter must remember across restarts.
    steady_time: seconds of a monotonic clock. unix_time: seconds. token_bytes: so many
    unguessable bytes. uniform: a random number between two. printer_id: the public one, which may
    be left where apps on the local network find it. limits: what the agent's owner allows, which
    holds for what a smart pause restores, too. camera_hosts: where cameras may be that the platform
    names.
    """

    host: str
    port: int
    tls: bool
    data_dir: Path
    steady_time: Callable[[], float]
    unix_time: Callable[[], float]
    uniform: Callable[[float, float], float]
    token_bytes: Callable[[int], bytes]
    camera_hosts: CameraHosts
    api_key: str | None = field(default=None, repr=False)
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    access_code: str | None = field(default=None, repr=False)
    serial: str | None = None
    ports: Mapping[str, int] = field(default_factory=dict)
    printer_id: str = ""
    limits: CommandLimits = DEFAULT_LIMITS

    @property
    def authority(self) -> str:
        """Host and port, as URLs and Host lines have them."""
        return authority(self.host, self.port)


def authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
