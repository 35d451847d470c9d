"""What a service with a million linked printers would need, by what was measured: docs/scale.md.

python -m bench.fleet.reckon [FILE]
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.meters import Used
from bench.fleet.phases import CALLED, Run
from bench.report import Figure

MEASURED: Final = Path(__file__).with_name("measured.json")
"""The runs that docs/scale.md tells of."""
LASTING: Final = ("agent", "print", "viewer")
ROLES: Final = ("relay", "web", "worker", "detector", "postgresql", "nats", "haproxy")
DAY_S: Final = 86_400
YEAR_S: Final = 365 * DAY_S


@dataclass(frozen=True, kw_only=True)
class Load:
    """A service at its busiest hour. Everything here is an assumption; change it and run again.

    deliveries_of_event: to apps' webhooks. app_requests: of an online printer, a second.
    mean_of_peak: the mean over a month, of the busiest hour.
    """

    linked: int = 1_000_000
    online: int = 200_000
    printing: int = 20_000
    viewers: int = 5_000
    sign_ins_a_day: float = 2.0
    print_s: float = 3 * 3600
    events_of_print: float = 14.0
    deliveries_of_event: float = 0.25
    viewer_megabytes_s: float = 0.25
    viewer_requests_s: float = 1.0
    app_requests_s: float = 0.01
    mean_of_peak: float = 0.5

    @property
    def rates(self) -> dict[str, float]:
        """How often each thing happens a second; those that last count for each second."""
        events = self.printing / self.print_s * self.events_of_print
        return {
            "agent": self.online,
            "sign-in": self.online * self.sign_ins_a_day / DAY_S,
            "print": self.printing,
            "event": events,
            "delivery": events * self.deliveries_of_event,
            "request": self.viewers * self.viewer_requests_s + self.online * self.app_requests_s,
            "viewer": self.viewers,
        }


@dataclass(frozen=True, kw_only=True)
class Prices:
    """In dollars: what large providers ask without a contract, rounded; hosters sell traffic."""

    core_hour: float = 0.04
    gib_hour: float = 0.005
    gib_month_of_disk: float = 0.12
    terabyte_out: float = 50.0
    terabyte_of_hosters: float = 2.0


BUSY: Final = 0.5
"""The share of its core that a node may use at the busiest hour; others take over from one that
fails."""
MAX_AGENTS: Final = 10_000
"""Of a relay: as many as were measured."""
OVER_A_WEEK_S: Final = 7 * DAY_S
"""How long events, pictures and looks are kept; deliveries twice as long."""
LOOK_KEPT_EVERY_S: Final = 60
"""Of a print with which nothing seems wrong; each look that is kept has a picture."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one unit costs: CPU seconds by role; rows that are written, messages, bytes of a log."""

    cpu_s: Mapping[str, float]
    rows: float
    commits: float
    wal_bytes: float
    messages: float

    def less(self, other: "Cost", times: float) -> "Cost":
        """Return it without so many of the other."""
        return self._with(lambda mine, others: mine - times * others, other)

    def of(self, units: float) -> "Cost":
        """Return the share of one of so many units."""
        return self._with(lambda mine, _: mine / units, self)

    def _with(self, change: Callable[[float, float], float], other: "Cost") -> "Cost":
        return Cost(
            cpu_s={role: change(spent, other.cpu_s[role]) for role, spent in self.cpu_s.items()},
            rows=change(self.rows, other.rows),
            commits=change(self.commits, other.commits),
            wal_bytes=change(self.wal_bytes, other.wal_bytes),
            messages=change(self.messages, other.messages),
        )


def costs_of(run: Run) -> dict[str, Cost]:
    """Return what one of each costs: agents, prints and viewers for a second."""
    phases = run.phases
    empty = _whole(phases["without agents"]).of(phases["without agents"].seconds)
    rest = _whole(phases["at rest"]).of(phases["at rest"].seconds)

    def beside(name: str, idle: Cost) -> Cost:
        return _whole(phases[name]).less(idle, phases[name].seconds).of(phases[name].units)

    event = beside("events", rest)
    printing = phases["printing"]
    viewers = _whole(phases["viewers"]).less(rest, phases["viewers"].seconds)
    agent = rest.less(empty, 1).of(run.online)
    # While they sign in, half of them are connected in the mean.
    connected_s = phases["sign-ins"].seconds / 2
    return {
        "agent": agent,
        "sign-in": beside("sign-ins", empty).less(agent, connected_s),
        "print": beside("printing", rest).of(printing.seconds),
        "event": event,
        "delivery": beside("deliveries", rest).less(event, 1),
        "request": beside("requests", rest),
        "viewer": viewers.of(len(CALLED) * phases["viewers"].seconds),
    }


def agent_bytes(run: Run) -> float:
    """Return the memory of one agent at its relay."""
    before, after = run.phases["without agents"].memory, run.phases["at rest"].memory
    return (after["relay-1"] - before["relay-1"]) / run.online


def _whole(used: Used) -> Cost:
    cpu_s = dict.fromkeys(ROLES, 0.0)
    for name, spent in used.cpu_s.items():
        role = name.partition("-")[0]
        if role in cpu_s:
            cpu_s[role] += spent
    database = used.database
    return Cost(
        cpu_s=cpu_s,
        rows=database["inserted"] + database["updated"] + database["deleted"],
        commits=database["commits"],
        wal_bytes=database["wal_bytes"],
        messages=used.nats["in_msgs"],
    )


def verdict(run: Run) -> str:
    """Return how the death of the relay went, beside its floor."""
    figure = Figure.of("death.back", [run.death.back_s])
    return (
        f"{figure.verdict}: {run.online:,} agents back after {run.death.back_s:.1f} s"
        f" (floor {figure.floor.floor:g} s, towards {figure.floor.towards:g} s);"
        f" at most {run.death.most_dials:,} dials in a second"
    )


# --- tables ---------------------------------------------------------------------------------------


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the lines of what was measured, and of the reckoning from the largest run."""
    yield from _measured(runs)
    yield ""
    yield from _reckoned(runs[-1], Load(), Prices())


def _measured(runs: Sequence[Run]) -> Iterator[str]:
    every = [costs_of(run) for run in runs]
    yield "| one | of | " + " | ".join(f"{run.online:,}" for run in runs) + " | exponent |"
    yield "|---|---|" + "---|" * (len(runs) + 1)
    for name in every[0]:
        per = "µs a second" if name in LASTING else "ms"
        scale = 1e6 if name in LASTING else 1e3
        for role in ROLES:
            values = [scale * costs[name].cpu_s[role] for costs in every]
            if max(values) >= _SHOWN[per]:
                yield _row(name, f"{role}, {per}", values, runs)
        yield _row(name, "rows written", [costs[name].rows for costs in every], runs)
        yield _row(name, "NATS messages", [costs[name].messages for costs in every], runs)
    yield _row("agent", "KiB of its relay", [agent_bytes(run) / 1024 for run in runs], runs)
    yield _row("death", "s until all agents are back", [run.death.back_s for run in runs], runs)


_SHOWN: Final = {"µs a second": 0.5, "ms": 0.05}
"""Less than this is beyond what can be measured."""


def _row(name: str, what: str, values: Sequence[float], runs: Sequence[Run]) -> str:
    cells = " | ".join(f"{value:.3g}" for value in values)
    return f"| {name} | {what} | {cells} | {_exponent(values, runs)} |"


def _exponent(values: Sequence[float], runs: Sequence[Run]) -> str:
    """Return how the total grows with the agents: 1 is linear, since each is the cost of one."""
    if len(runs) < 2 or min(values[0], values[-1]) <= 0:
        return ""
    grown = math.log(values[-1] / values[0]) / math.log(runs[-1].online / runs[0].online)
    return f"{1 + grown:.2f}"


def _reckoned(run: Run, load: Load, prices: Prices) -> Iterator[str]:
    costs, rates = costs_of(run), load.rates
    yield "| what | a second | " + " | ".join(ROLES) + " |"
    yield "|---|---|" + "---|" * len(ROLES)
    cores = dict.fromkeys(ROLES, 0.0)
    for name, rate in rates.items():
        spent = {role: max(0.0, costs[name].cpu_s[role]) * rate for role in ROLES}
        cores = {role: cores[role] + spent[role] for role in ROLES}
        yield f"| {name} | {rate:,.4g} | " + " | ".join(f"{spent[r]:.2f}" for r in ROLES) + " |"
    yield "| cores | | " + " | ".join(f"{cores[role]:.1f}" for role in ROLES) + " |"
    nodes = _nodes(cores, load)
    yield "| nodes | | " + " | ".join(str(nodes[role]) for role in ROLES) + " |"
    yield ""
    memory = _memory_gib(run, nodes, load)
    disk = sum(size for _, size in _rows_kept(run, load).values()) / 2**30
    out_tb = load.viewers * load.viewer_megabytes_s * load.mean_of_peak * 30 * DAY_S / 1e6
    machines = sum(nodes.values())
    total = {
        "cores that are rented": machines,
        "memory of nodes, GiB": memory,
        "rows written a second": sum(costs[name].rows * rate for name, rate in rates.items()),
        "commits a second": sum(costs[name].commits * rate for name, rate in rates.items()),
        "log of the database, MB a second": sum(
            costs[name].wal_bytes * rate for name, rate in rates.items()
        )
        / 1e6,
        "NATS messages a second": sum(costs[name].messages * rate for name, rate in rates.items()),
        "pictures to viewers, Gbit/s": 8 * load.viewers * load.viewer_megabytes_s / 1000,
        "PostgreSQL after a year, GiB": disk,
        "cores and memory, $ a month": 730
        * (machines * prices.core_hour + memory * prices.gib_hour),
        "disk, $ a month": disk * prices.gib_month_of_disk,
        "traffic, TB a month": out_tb,
        "traffic of large providers, $ a month": out_tb * prices.terabyte_out,
        "traffic of hosters, $ a month": out_tb * prices.terabyte_of_hosters,
    }
    yield "| in all | |"
    yield "|---|---|"
    for what, value in total.items():
        yield f"| {what} | {value:,.3g} |" if value < 1000 else f"| {what} | {value:,.0f} |"
    yield ""
    yield "| table | rows after a year | bytes a row | GiB |"
    yield "|---|---|---|---|"
    for table, (rows, size) in _rows_kept(run, load).items():
        yield f"| {table} | {rows:,.0f} | {size / rows:,.0f} | {size / 2**30:,.1f} |"


def _nodes(cores: Mapping[str, float], load: Load) -> dict[str, int]:
    """Return the processes of each role; of PostgreSQL, NATS and HAProxy the cores."""
    nodes = {role: max(1, math.ceil(used / BUSY)) for role, used in cores.items()}
    return {**nodes, "relay": max(nodes["relay"], math.ceil(load.online / MAX_AGENTS))}


def _memory_gib(run: Run, nodes: Mapping[str, int], load: Load) -> float:
    resting = run.phases["printing"].memory
    roles = ("web", "worker", "detector")
    base = {role: resting[f"{role}-1"] for role in roles}
    base["relay"] = run.phases["without agents"].memory["relay-1"]
    total = sum(nodes[role] * size for role, size in base.items())
    return (total + load.online * agent_bytes(run)) / 2**30


def _rows_kept(run: Run, load: Load) -> dict[str, tuple[float, float]]:
    """Return rows and bytes of each table after a year, by the measured bytes of a row."""
    rates = load.rates
    prints = load.printing / load.print_s * load.mean_of_peak
    events = rates["event"] * load.mean_of_peak
    looks = load.printing * load.mean_of_peak / LOOK_KEPT_EVERY_S
    rows = {
        "accounts": float(load.linked),
        "printers": float(load.linked),
        "prints": prints * YEAR_S,
        "events": events * OVER_A_WEEK_S,
        "watch_looks": looks * OVER_A_WEEK_S,
        "snapshots": (events + looks) * OVER_A_WEEK_S,
        "webhook_deliveries": events * load.deliveries_of_event * 2 * OVER_A_WEEK_S,
        "watches": float(load.online),
        "timelapses": prints * OVER_A_WEEK_S,
    }
    sizes = {table: run.stored[table][1] / run.stored[table][0] for table in rows}
    return {table: (count, count * sizes[table]) for table, count in rows.items()}


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else MEASURED
    print(*report(msgspec.json.decode(path.read_bytes(), type=list[Run])), sep="\n")
