"""`make soak`: a long time of mixed ordinary load, to find leaks of the service.

The load is rehearsed for a minute, so that all that is loaded once is there. What agents alone need
of the service is measured then, and again after the load.
"""

import argparse
import json
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from bench.service import settings_of
from bench.soak.people import Crowd
from bench.soak.preparing import Plan, Prepared, prepare_all
from bench.soak.printers import Printers
from bench.soak.verdict import Line, Measured, Sample, fitted, held
from tests.rigs.certificates import Authority
from tests.rigs.programs import Program
from tests.rigs.service import PASSWORD, Service, service_on_localhost

RESULTS: Final = Path("build/soak.json")
LOG: Final = Path("build/soak.log")
SAMPLES_EVERY_S: Final = 5.0
ROWS_EVERY_S: Final = 60.0
REHEARSAL_S: Final = 60.0
CONNECTS_WITHIN_S: Final = 600.0
SETTLES_IN_S: Final = 60.0
"""After the rehearsal."""
SETTLES_WITHIN_S: Final = 180.0
"""After the load: some things are remembered for two minutes."""
WANDERS_EVERY_S: Final = 30.0
WARM_UP: Final = 0.3
"""This share of the time, and MAX_WARM_UP_S at most, is left out of what is fitted."""
MAX_WARM_UP_S: Final = 600.0


@dataclass(frozen=True, kw_only=True)
class Scene:
    """All running parts. people: set while their process runs."""

    service: Service
    printers: Program
    wandering: Program
    prepared: Prepared
    certificate: tuple[Path, Path]
    detection_key: str
    folder: Path
    began_at: float

    def sample(self) -> Sample:
        """Return the service's metrics and its sizes on the disk."""
        metrics = self._metrics()
        database = settings_of(self.service).database_path
        wal = database.with_name(database.name + "-wal")
        return Sample(
            at=time.monotonic() - self.began_at,
            memory=int(metrics["process_resident_memory_bytes"]),
            descriptors=int(metrics["process_open_fds"]),
            tasks=int(metrics["printreach_asyncio_tasks"]),
            threads=int(metrics["process_threads"]),
            agents=int(metrics["printreach_printers_online"]),
            cpu_s=metrics["process_cpu_seconds_total"],
            database=database.stat().st_size,
            wal=wal.stat().st_size if wal.exists() else 0,
        )

    def _metrics(self) -> Mapping[str, float]:
        url = f"http://127.0.0.1:{self.service.port}/metrics"
        lines = httpx.get(url, timeout=60).raise_for_status().text.splitlines()
        pairs = (line.split(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def stored_bytes(self) -> int:
        """Return the size of the database without unused pages."""
        copy = self.folder / "compact.sqlite3"
        database = sqlite3.connect(settings_of(self.service).database_path)
        try:
            database.execute("VACUUM INTO ?", (str(copy),))
        finally:
            database.close()
        return copy.stat().st_size

    @contextmanager
    def people(self, seconds: float) -> Iterator[Program]:
        crowd = Crowd(
            port=self.service.port,
            host=urlsplit(self.service.base_url).netloc,
            people=self.prepared.people,
            apps=self.prepared.apps,
            detection_key=self.detection_key,
            certificate=(str(self.certificate[0]), str(self.certificate[1])),
            seconds=seconds,
        )
        argv = [sys.executable, "-m", "bench.soak.people", json.dumps(asdict(crowd))]
        with Program("people", argv, logs=self.folder) as people:
            yield people


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0, or 1 if an expectation failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the load")
    parser.add_argument("--idle", type=int, default=Plan.idle, help="agents that keep still")
    parser.add_argument("--active", type=int, default=Plan.active, help="agents that print")
    parser.add_argument(
        "--may-fail", type=int, default=0, help="visits that may, where others use the machine"
    )
    options = parser.parse_args(argv)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # One descriptor for each agent, and more.
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    plan = Plan(idle=options.idle, active=options.active)
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="printreach-soak-")))
        try:
            scene = _set_up(folder, plan, ends)
            measured, visits = _soak(scene, 60 * options.minutes)
        finally:
            _keep_log(folder)
    measured = replace(measured, may_fail=options.may_fail)
    _report(measured, visits)
    return 1 if measured.problems() else 0


def _set_up(folder: Path, plan: Plan, ends: ExitStack) -> Scene:
    """Start the service, and let all agents connect."""
    authority = Authority(folder)
    env = {
        "PRINTREACH_DETECTOR_WATCH": "true",
        "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
        "SSL_CERT_FILE": str(authority.root),
    }
    service = ends.enter_context(service_on_localhost(folder, more_env=env))
    prepared = prepare_all(service, folder, plan)
    service.admin("account", "add", "program@example.com", stdin=f"{PASSWORD}\n")
    key = service.admin("detector-key", "add", "program@example.com", "--name", "Soak")["ApiKey"]
    idle = _idle_agents("idle", folder, service, plan.idle, 0)
    _start_agents(ends.enter_context(idle))
    wandering = _idle_agents("wandering", folder, service, plan.wandering, plan.idle)
    _start_agents(ends.enter_context(wandering))
    what = Printers(
        service=service.base_url,
        folder=str(folder),
        active=plan.active,
        restarted=plan.restarted,
    )
    argv = [sys.executable, "-m", "bench.soak.printers", json.dumps(asdict(what))]
    printers = ends.enter_context(Program("printers", argv, logs=folder))
    _start_agents(printers)
    print(f"{plan.idle} idle agents and {plan.active} with printers are connected.", flush=True)
    return Scene(
        service=service,
        printers=printers,
        wandering=wandering,
        prepared=prepared,
        certificate=authority.issue("localhost"),
        detection_key=key,
        folder=folder,
        began_at=time.monotonic(),
    )


def _idle_agents(name: str, folder: Path, service: Service, count: int, first: int) -> Program:
    argv = [sys.executable, "-m", "bench.idle_agents", str(service.port), str(count), str(first)]
    return Program(name, argv, logs=folder)


def _start_agents(agents: Program) -> None:
    agents.wait_until("ready", lambda: "ready" in agents.stdout_since_start(), CONNECTS_WITHIN_S)


def _soak(scene: Scene, seconds: float) -> tuple[Measured, dict[str, Any]]:
    """Run the load; return what it left behind."""
    print(f"Rehearsing for {REHEARSAL_S:.0f} s.", flush=True)
    with scene.people(REHEARSAL_S) as people:
        _watch(scene, people, REHEARSAL_S)
    time.sleep(SETTLES_IN_S)
    before = scene.sample()
    print(_row(before, before, "alone", {}), flush=True)
    marks = scene.service.program.log_marks()
    with scene.people(seconds) as people:
        samples = _watch(scene, people, seconds)
        told = _last_line(people)
    after = _settled(scene, before)
    warm_at = samples[0].at + min(MAX_WARM_UP_S, WARM_UP * seconds)
    measured = Measured(
        samples=[one for one in samples if one.at >= warm_at],
        before=before,
        after=after,
        stored=scene.stored_bytes(),
        faults={name: one["faults"] for name, one in told["visits"].items()},
        log=scene.service.program.log_since(marks),
    )
    return measured, {**told, "printers": _last_line(scene.printers)}


def _watch(scene: Scene, people: Program, seconds: float) -> list[Sample]:
    """Sample until the people's process ends, print a row each minute, and restart some agents."""
    print(_HEAD, flush=True)
    samples = [scene.sample()]
    began = told_at = wandered_at = time.monotonic()
    row_of = samples[0]
    while True:
        time.sleep(SAMPLES_EVERY_S)
        if not people.is_running:
            break
        if time.monotonic() > began + seconds + SETTLES_WITHIN_S:
            raise TimeoutError(f"people didn't go home: {people.log_tail()}")
        samples.append(scene.sample())
        if time.monotonic() >= told_at + ROWS_EVERY_S:
            told_at += ROWS_EVERY_S
            minute = f"{(time.monotonic() - began) / 60:.0f} min"
            told = {**_last_line(people), "printers": _last_line(scene.printers)}
            print(_row(row_of, samples[-1], minute, told), flush=True)
            row_of = samples[-1]
        if time.monotonic() >= wandered_at + WANDERS_EVERY_S:
            wandered_at += WANDERS_EVERY_S
            scene.wandering.kill()
            scene.wandering.start()
    if "visits" not in _last_line(people):
        raise RuntimeError(f"people ended early:\n{people.log_tail()}")
    return samples


def _settled(scene: Scene, before: Sample) -> Sample:
    """Return a sample with agents alone, once it is no larger than before, or after
    SETTLES_WITHIN_S.
    """
    ends_at = time.monotonic() + SETTLES_WITHIN_S
    while True:
        time.sleep(SAMPLES_EVERY_S)
        now = scene.sample()
        is_less = now.descriptors <= before.descriptors and now.tasks <= before.tasks
        if is_less or time.monotonic() > ends_at:
            return now


def _last_line(program: Program) -> dict[str, Any]:
    """Return the last complete line of JSON that it has printed since its start."""
    lines = program.stdout_since_start().split("\n")[:-1]
    told: dict[str, Any] = json.loads(next((x for x in reversed(lines) if x[:1] == "{"), "{}"))
    return told


# --- output ---------------------------------------------------------------------------------

_HEAD: Final = (
    "| time | memory | descriptors | tasks | threads | agents | database | log of it | CPU | visits"
    " | failed | webhooks | prints |\n" + "|---" * 13 + "|"
)


def _row(before: Sample, now: Sample, name: str, told: Mapping[str, Any]) -> str:
    visits = told.get("visits", {}).values()
    passed = now.at - before.at
    cells = (
        name,
        f"{now.memory / 1e6:.1f} MB",
        now.descriptors,
        now.tasks,
        now.threads,
        now.agents,
        f"{now.database / 1e6:.1f} MB",
        f"{now.wal / 1e6:.1f} MB",
        f"{100 * (now.cpu_s - before.cpu_s) / passed:.0f} %" if passed else "",
        sum(one["done"] for one in visits),
        sum(one["failed"] for one in visits),
        told.get("webhooks", {}).get("calls", ""),
        told.get("printers", {}).get("prints begun", ""),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _report(measured: Measured, told: Mapping[str, Any]) -> None:
    print("\n| visits | done | p50 | p99 | failed |\n|---|---|---|---|---|")
    for name, one in told["visits"].items():
        print(f"| {name} | {one['done']} | {one['p50']} ms | {one['p99']} ms | {one['failed']} |")
    figures: Mapping[str, Line] = {
        "memory": fitted(held(measured.samples), lambda one: one.memory),
        "descriptors": fitted(measured.samples, lambda one: one.descriptors),
        "tasks": fitted(measured.samples, lambda one: one.tasks),
        "threads": fitted(measured.samples, lambda one: one.threads),
    }
    print("\n| after warming up | line begins | line ends | growth | alone before | alone after |")
    print("|---" * 6 + "|")
    alone = asdict(measured.before), asdict(measured.after)
    for name, line in figures.items():
        growth = f"{100 * line.growth / line.begins:+.2f} %"
        cells = f"{line.begins:.0f} | {line.ends:.0f} | {growth}"
        print(f"| {name} | {cells} | {alone[0][name]} | {alone[1][name]} |")
    after, log = measured.after, measured.log
    peak = max(one.memory for one in measured.samples)
    print(f"\nAt most {peak / 1e6:.1f} MB were held, for a moment.")
    print(f"The database holds {measured.stored / 1e6:.1f} MB in {after.database / 1e6:.1f} MB.")
    print(f"The service logged {len(log.splitlines())} lines, {len(log) / 1e3:.0f} kB: {LOG}")
    problems = measured.problems()
    print(*(problems or ["All is as it should be."]), sep="\n")
    result = {
        "problems": problems,
        "lines": {name: asdict(line) for name, line in figures.items()},
        "before": alone[0],
        "after": alone[1],
        "stored": measured.stored,
        "told": told,
        "samples": [asdict(one) for one in measured.samples],
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")


def _keep_log(folder: Path) -> None:
    """Copy the service's log, to look for causes."""
    LOG.parent.mkdir(exist_ok=True)
    for log in folder.glob("service-*.err"):
        shutil.copy(log, LOG)


if __name__ == "__main__":
    sys.exit(main())
