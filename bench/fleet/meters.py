"""What a fleet has used: CPU and memory of its processes, rows written, messages of NATS."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import msgspec

from bench.processes import cpu_s, resident_bytes
from tests.rigs.postgresql import PostgresqlServer, ask
from tests.rigs.whole_fleet import WholeFleet

POSTGRESQL: Final = "postgresql"
SETTINGS: Final = (
    *("shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=off"),
    *("autovacuum=on", "shared_buffers=512MB", "max_wal_size=4GB"),
)
"""Of the server that is measured, beside DURABLE."""
_TICK_S: Final = 0.01
_DATABASE: Final = """
    SELECT xact_commit AS commits, xact_rollback AS rollbacks, tup_inserted AS inserted,
        tup_updated AS updated, tup_deleted AS deleted, tup_returned AS read,
        (SELECT wal_bytes::float8 FROM pg_stat_wal) AS wal_bytes
    FROM pg_stat_database WHERE datname = current_database()
"""
_STATEMENTS: Final = """
    SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 300) AS query,
        calls, rows, total_exec_time AS ms
    FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 12
"""
_NATS: Final = ("in_msgs", "out_msgs", "in_bytes", "out_bytes")


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """What one phase has used. units: how many there were of what the phase is about.

    cpu_s, memory: by role. database: rows, transactions and bytes of its log. nats: messages and
    bytes. statements: those that took the most of the database's time.
    """

    seconds: float
    units: float
    cpu_s: dict[str, float]
    memory: dict[str, int]
    database: dict[str, float]
    nats: dict[str, float]
    statements: list[dict[str, Any]]


@dataclass(frozen=True)
class Reading:
    """All counters at one moment."""

    at: float
    cpu_s: Mapping[str, float]
    database: Mapping[str, float]
    nats: Mapping[str, float]


class Meters:
    """Reads the counters of a fleet that runs."""

    def __init__(
        self, fleet: WholeFleet, server: PostgresqlServer, others: Mapping[str, int]
    ) -> None:
        """others: further processes by name, as those of simulated agents."""
        self._fleet = fleet
        self._server = server
        self._others = others
        self._url = fleet.env["PRINTREACH_DATABASE_URL"]
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def execute(self, statement: str) -> None:
        ask(self._url, lambda connection: connection.execute(statement))

    def rows(self, query: str) -> list[dict[str, Any]]:
        found = ask(self._url, lambda connection: connection.fetch(query))
        return [dict(row) for row in found]

    def begin(self) -> Reading:
        """Forget which statements ran, and read all counters."""
        self.execute("SELECT pg_stat_statements_reset()")
        return self._read()

    def used_since(self, before: Reading, units: float) -> Used:
        """Return what was used since then."""
        now = self._read()
        return Used(
            seconds=now.at - before.at,
            units=units,
            cpu_s={name: used - before.cpu_s.get(name, 0.0) for name, used in now.cpu_s.items()},
            memory=self.memory(),
            database={name: value - before.database[name] for name, value in now.database.items()},
            nats={name: value - before.nats[name] for name, value in now.nats.items()},
            statements=self.rows(_STATEMENTS),
        )

    def memory(self) -> dict[str, int]:
        """Return the resident memory by role; of PostgreSQL's processes what they don't share."""
        pids = {name: sum(map(resident_bytes, own)) for name, own in self._pids().items()}
        return {**pids, POSTGRESQL: sum(map(_private_bytes, self._server.pids()))}

    def _read(self) -> Reading:
        [database] = self.rows(_DATABASE)
        monitoring = f"http://127.0.0.1:{self._fleet.bus.monitoring_port}/varz"
        with urlopen(monitoring) as answer:
            varz = json.load(answer)
        cpu = {name: sum(map(cpu_s, pids)) for name, pids in self._pids().items()}
        return Reading(
            at=time.monotonic(),
            cpu_s={**cpu, POSTGRESQL: sum(map(_cpu_with_children_s, self._server.pids()))},
            database=database,
            nats={name: varz[name] for name in _NATS},
        )

    def _pids(self) -> dict[str, list[int]]:
        fleet = self._fleet
        nodes = {
            node.program.name: [node.program.pid]
            for of_role in fleet.nodes.values()
            for node in of_role
            if node.program.is_running
        }
        others = {name: [pid] for name, pid in self._others.items()}
        return {**nodes, **others, "nats": [fleet.bus.pid], "haproxy": [fleet.proxy.pid]}


def _cpu_with_children_s(pid: int) -> float:
    """Return what a process and its ended children have used; nothing if it has just ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return _TICK_S * sum(map(int, fields[11:15]))


def _private_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
