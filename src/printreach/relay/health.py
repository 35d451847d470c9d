"""The pages /healthz, /readyz and /metrics, on the service's own host and on any address."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import NamedTuple

from printreach.wire.build import BUILD
from printreach.wire.heads import Headers

from .caller_origin import Network, is_proxy_field, is_within, origin_of, read_address

PATHS = frozenset({b"/healthz", b"/readyz", b"/metrics"})

_TEXT = (b"Content-Type", b"text/plain; charset=utf-8")
_METRICS = (b"Content-Type", b"text/plain; version=0.0.4; charset=utf-8")


class HealthAnswer(NamedTuple):
    """An answer to a monitor. content_type: the header line."""

    status: HTTPStatus
    content_type: tuple[bytes, bytes]
    text: bytes


class Health:
    """Answers for monitors. metrics: by name, a help text and a function that returns the value."""

    def __init__(
        self,
        is_ready: Callable[[], bool],
        metrics: Mapping[str, tuple[str, Callable[[], float]]],
        networks: Sequence[Network],
    ) -> None:
        self._is_ready = is_ready
        self._metrics = metrics
        self._networks = networks

    def answer(self, path: bytes, headers: Headers, peer: str) -> HealthAnswer:
        """Return the answer to a request for one of PATHS."""
        match path:
            case b"/healthz":
                return HealthAnswer(HTTPStatus.OK, _TEXT, b"alive\n")
            case b"/readyz" if self._is_ready():
                return HealthAnswer(HTTPStatus.OK, _TEXT, f"ready\n{BUILD}\n".encode())
            case b"/readyz":
                return HealthAnswer(HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, b"not ready\n")
            case _ if self._may_read_metrics(headers, peer):
                return HealthAnswer(HTTPStatus.OK, _METRICS, self._render())
            case _:
                text = b"Metrics are for loopback and configured networks only.\n"
                return HealthAnswer(HTTPStatus.FORBIDDEN, _TEXT, text)

    def _may_read_metrics(self, headers: Headers, peer: str) -> bool:
        """Decide by the forwarded origin: a proxy on this machine makes no caller local."""
        if any(map(is_proxy_field, headers)) and not is_within(peer, self._networks):
            return False
        address = origin_of(peer, headers, self._networks, "http").address
        return _is_loopback(address) or is_within(address, self._networks)

    def _render(self) -> bytes:
        lines: list[str] = []
        for name, (help_text, read) in self._metrics.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [
                f"# HELP {name} {help_text}",
                f"# TYPE {name} {kind}",
                f"{name} {read():.15g}",
            ]
        return ("\n".join(lines) + "\n").encode()


def _is_loopback(address: str) -> bool:
    parsed = read_address(address)
    return parsed is not None and parsed.is_loopback
