"""The floor of every figure, and its target.

Those of the tunnel are for the compiled build, which servers run.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Floor:
    """label: the figure in words. lower: less is better."""

    label: str
    unit: str
    floor: float
    towards: float | None
    lower: bool = False

    def is_reached_by(self, value: float) -> bool:
        return value <= self.floor if self.lower else value >= self.floor


FLOORS: Final = {
    "get.nginx": Floor("requests/s, of nginx's", "x", 0.42, 0.60),
    # 3 on slow cores, 6 on fast ones.
    "get.ssh": Floor("requests/s, of ssh -R's", "x", 3.0, 8.0),
    "get.compiled": Floor("requests/s, compiled of interpreted", "x", 1.7, 2.2),
    "get.p99": Floor("p99, of ssh -R's", "x", 0.5, 0.25, lower=True),
    "download.nginx": Floor("MB/s, of nginx's", "x", 0.45, 0.70),
    "download.ssh": Floor("MB/s, of ssh -R's", "x", 1.0, 2.0),
    "download.tls": Floor("MB/s with TLS at the agent, of ssh -R's", "x", 1.0, 1.5),
    "upload.nginx": Floor("MB/s, of nginx's", "x", 0.65, 0.80),
    "upload.ssh": Floor("MB/s, of ssh -R's", "x", 1.0, 1.5),
    "upload.tls": Floor("MB/s with TLS at the agent, of ssh -R's", "x", 1.0, 1.5),
    "websocket.ssh": Floor("p50, of ssh -R's", "x", 1.0, 0.85, lower=True),
    "growth.relay": Floor("growth of the relay", "MB", 8.0, 4.0, lower=True),
    "growth.agent": Floor("growth of the agent", "MB", 8.0, 4.0, lower=True),
    "live.first-byte": Floor("first byte", "ms", 50.0, 5.0, lower=True),
    "paced.p50": Floor("p50 of small GETs", "ms", 60.0, 30.0, lower=True),
    "paced.p99": Floor("p99 of small GETs", "ms", 150.0, None, lower=True),
    "mjpeg.cpu": Floor("relay CPU a viewer, of nginx's", "x", 2.0, 1.0, lower=True),
    # One picture more or less within the window does not count as slower.
    "mjpeg.stalled": Floor("slowest viewer's rate once one stalls, of before", "x", 0.95, None),
    "idle.memory": Floor("relay, an agent", "KiB", 20.0, 17.0, lower=True),
    "idle.cpu": Floor("relay, all agents", "% of a core", 1.0, 0.6, lower=True),
    "own-host.direct": Floor("requests/s, of the web node's", "x", 0.5, 0.8),
    "second-node.rate": Floor("requests/s by a second node, of a single one's", "x", 0.6, 0.85),
    "second-node.p50": Floor("p50 by a second node, of a single one's", "x", 2.2, 1.6, lower=True),
    "second-node.download": Floor("MB/s by a second node, of a single one's", "x", 0.6, 0.8),
    "processes.rate": Floor("requests/s of two processes, of one's", "x", 1.15, 1.4),
    "status.p99": Floor("p99 above a plain GET's", "ms", 3.0, 1.0, lower=True),
    "printing.cpu": Floor("agent", "% of a core", 3.0, 1.0, lower=True),
    "printing.memory": Floor("agent", "MB", 80.0, 60.0, lower=True),
    "simulated.cpu": Floor("agent", "% of a core", 5.0, 3.0, lower=True),
    "simulated.memory": Floor("agent", "MB", 80.0, 60.0, lower=True),
    "start.answer": Floor("until the first answer", "s", 1.2, 0.8, lower=True),
    "start.cpu": Floor("CPU until then", "s", 1.2, 0.8, lower=True),
    "start.memory": Floor("service at rest", "MB", 100.0, 80.0, lower=True),
    "webhooks.rate": Floor("deliveries", "/s", 500.0, 1000.0),
    "webhooks.server_share": Floor("deliveries on PostgreSQL, of SQLite's", "x", 0.7, 1.5),
    "webhooks.workers": Floor("deliveries by two workers on PostgreSQL, of one's", "x", 1.5, 1.9),
    "webhooks.backlog": Floor("CPU a delivery, of few due", "x", 1.3, 1.0, lower=True),
    "webhooks.p99": Floor("p99 of an event", "ms", 250.0, 50.0, lower=True),
    "events.rate": Floor("events stored", "/s", 3000.0, 10_000.0),
    "events.server_rate": Floor("events stored on PostgreSQL", "/s", 5000.0, 20_000.0),
    "events.p99": Floor("p99 until it is read", "ms", 250.0, 50.0, lower=True),
    # Of `make bench-fleet`, with 10,000 agents at the node that dies.
    "death.back": Floor("until all agents are back after a death", "s", 30.0, 10.0, lower=True),
    "process.rate": Floor("images/s, of the bare model's", "x", 0.60, 0.80),
    "process.p99": Floor("p99 at half load, of a bare inference", "x", 4.0, 2.5, lower=True),
    "process.scaled": Floor("1080p made small, of by all pixels", "x", 0.9, 0.5, lower=True),
    "process.memory": Floor("growth over 10,000 images", "MB", 16.0, 4.0, lower=True),
}
