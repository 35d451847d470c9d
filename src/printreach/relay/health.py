"""The pages /healthz, /readyz and /metrics, on the service's own host and on any address."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import NamedTuple

from printreach.rules.histogram import BOUNDS_S, Histogram
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
    """Answers for monitors.

    metrics: by name, a help text and a function that returns the value. lacks: what can't be
    reached, whether or not the node is ready all the same. histograms: by name, with a help text.
    """

    def __init__(
        self,
        is_ready: Callable[[], bool],
        metrics: Mapping[str, tuple[str, Callable[[], float]]],
        networks: Sequence[Network],
        lacks: Callable[[], Sequence[str]] = tuple,
        histograms: Mapping[str, tuple[str, Histogram]] | None = None,
    ) -> None:
        self._histograms = histograms or {}
        self._lacks = lacks
        self._is_ready = is_ready
        self._metrics = metrics
        self._networks = networks

    def answer(self, path: bytes, headers: Headers, peer: str) -> HealthAnswer:
        """Return the answer to a request for one of PATHS."""
        match path:
            case b"/healthz":
                return HealthAnswer(HTTPStatus.OK, _TEXT, b"alive\n")
            case b"/readyz" if self._is_ready():
                text = f"ready\n{BUILD}\n{self._lacking()}".encode()
                return HealthAnswer(HTTPStatus.OK, _TEXT, text)
            case b"/readyz":
                text = f"not ready\n{self._lacking()}".encode()
                return HealthAnswer(HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, text)
            case _ if self._may_read_metrics(headers, peer):
                return HealthAnswer(HTTPStatus.OK, _METRICS, self._render())
            case _:
                text = b"Metrics are for loopback and configured networks only.\n"
                return HealthAnswer(HTTPStatus.FORBIDDEN, _TEXT, text)

    def _lacking(self) -> str:
        return "".join(f"lacks: {name}\n" for name in self._lacks())

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
        for name, (help_text, histogram) in self._histograms.items():
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} histogram"]
            *counts, count = histogram.up_to()
            for bound_s, up_to in zip(BOUNDS_S, counts, strict=True):
                lines.append(f'{name}_bucket{{le="{bound_s:g}"}} {up_to}')
            lines += [
                f'{name}_bucket{{le="+Inf"}} {count}',
                f"{name}_sum {histogram.sum_s:.15g}",
                f"{name}_count {count}",
            ]
        return ("\n".join(lines) + "\n").encode()


def _is_loopback(address: str) -> bool:
    parsed = read_address(address)
    return parsed is not None and parsed.is_loopback
