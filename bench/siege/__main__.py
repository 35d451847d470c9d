"""`make siege`: a crowd of hostile strangers beside ordinary users, and its effect on the users.

The users' waiting is measured without the crowd and with it, in the same run. The service's memory
and log are measured before, at the worst, and afterwards.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from bench.processes import Broken, forget_peak, peak_bytes, resident_bytes
from bench.service import linked_agent
from bench.siege.attacks import BY_NAME, Target, image_form
from bench.siege.strangers import Crowd
from bench.siege.users import Users, Visit
from tests.detector.images import scene, written
from tests.rigs.calls import call
from tests.rigs.service import APP, OWNER, PASSWORD, Service, service_on_localhost
from tests.rigs.ways import Header

RESULTS: Final = Path("build/siege.json")
MAX_SLOWDOWN: Final = 5.0
"""The users' p99 beside the crowd, of theirs without it."""
GROWTH_BYTES: Final = 150_000_000
LEFT_BYTES: Final = 40_000_000
"""What may be left of the growth once the crowd is gone: an allocator gives back whole pages."""
LOG_BYTES: Final = 1_000_000
WARM_UP_S: Final = 10.0
COMES_BACK_WITHIN_S: Final = 90.0

CONTEXTS: Final = 20
"""Of failure detection: each takes an image every five seconds."""

_DASHBOARD: Final = "127.8.0.1"
_APP: Final = "127.8.0.2"
_PROGRAM: Final = "127.8.0.3"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """p99s in milliseconds by kind of visit; memory and log in bytes."""

    quiet_ms: Mapping[str, float]
    besieged_ms: Mapping[str, float]
    faults: Mapping[str, int]
    grown: int
    left: int
    logged: int
    slower_at_most: float = MAX_SLOWDOWN

    def problems(self) -> list[str]:
        """Return the failed expectations, a sentence each."""
        found = [
            f"{name}: p99 went from {quiet:.1f} to {self.besieged_ms[name]:.1f} ms."
            for name, quiet in self.quiet_ms.items()
            if self.besieged_ms[name] > self.slower_at_most * quiet
        ]
        found += [
            f"{name}: {count} requests failed." for name, count in self.faults.items() if count
        ]
        if self.grown > GROWTH_BYTES:
            found.append(f"The service grew by {self.grown / 1e6:.0f} MB.")
        if self.left > LEFT_BYTES:
            found.append(f"{self.left / 1e6:.0f} MB of its memory did not come back.")
        if self.logged > LOG_BYTES:
            found.append(f"It logged {self.logged / 1e6:.1f} MB.")
        return found


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0, or 1 if the crowd affected the users too much."""
    parser = argparse.ArgumentParser(prog="python -m bench.siege", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="of the siege")
    parser.add_argument("--connections", type=int, default=200, help="of strangers, at a time")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what strangers draw by")
    parser.add_argument(
        "--slower-at-most",
        type=float,
        default=MAX_SLOWDOWN,
        metavar="TIMES",
        help="the users' p99 of theirs without strangers; more where others use the machine",
    )
    parser.add_argument(
        "--only", metavar="ATTACK,ATTACK", default="", help=f"some of: {', '.join(BY_NAME)}"
    )
    options = parser.parse_args(argv)
    unknown = sorted(set(filter(None, options.only.split(","))) - BY_NAME.keys())
    if unknown:
        parser.error(f"there is no attack {', '.join(unknown)}")
    print(f"{options.connections} strangers for {options.seconds:.0f} s, seed {options.seed}.")
    with (
        tempfile.TemporaryDirectory(prefix="printreach-siege-") as folder,
        service_on_localhost(Path(folder)) as service,
    ):
        measured, outcomes = _besiege(service, options)
    _report(measured, outcomes)
    return 1 if measured.problems() else 0


def _besiege(
    service: Service, options: argparse.Namespace
) -> tuple[Measured, dict[str, dict[str, int]]]:
    simulated = ("--platform", "simulated")
    with linked_agent(service, "siege", *simulated) as printer:
        connection = service.admin("connection", "add", "--app", APP, "--printer", printer.id)
        # Sign-up is open only once there is an operator.
        service.admin("account", "add", "op@example.com", "--admin", stdin=f"{PASSWORD}, too\n")
        attacker = "attacker@example.com"
        service.admin("account", "add", attacker, stdin=f"{PASSWORD} as well\n")
        key = service.admin("detector-key", "add", attacker, "--name", "Bombs")["ApiKey"]
        visits = _visits(service, connection)
        crowd = Crowd(
            target=Target(
                host=urlsplit(service.base_url).netloc,
                port=service.port,
                app_host=urlsplit(connection["url"]).netloc,
                owner=OWNER,
                detection_key=key,
                contexts=[_context(service, key) for _ in range(CONTEXTS)],
            ),
            count=options.connections,
            seconds=options.seconds,
            seed=options.seed,
            attacks=[name for name in options.only.split(",") if name] or list(BY_NAME),
        )
        pid = service.program.pid
        _have_an_image_scored(service, crowd.target)
        _live(service, visits, WARM_UP_S)
        quiet = _live(service, visits, min(30.0, options.seconds))
        before, marks = resident_bytes(pid), service.program.log_marks()
        forget_peak(pid)
        with _besieged(crowd) as strangers:
            besieged = _live(service, visits, max(5.0, options.seconds - 2))
            printed, _ = strangers.communicate(timeout=options.seconds + 120)
        grown = peak_bytes(pid) - before
        measured = Measured(
            quiet_ms={name: _p99(one["taken_ms"]) for name, one in quiet.items()},
            besieged_ms={name: _p99(one["taken_ms"]) for name, one in besieged.items()},
            faults={name: len(one["faults"]) for name, one in besieged.items()},
            grown=grown,
            left=_left(pid, before),
            logged=len(service.program.log_since(marks)),
            slower_at_most=options.slower_at_most,
        )
        for name, one in besieged.items():
            for fault in sorted(set(one["faults"]))[:5]:
                print(f"{name}: {fault}", file=sys.stderr)
        return measured, json.loads(printed)


def _visits(service: Service, connection: Mapping[str, str]) -> list[Visit]:
    """Return the requests of ordinary people and programs."""
    own = urlsplit(service.base_url).netloc
    app = urlsplit(connection["url"]).netloc
    token = f"Authorization: Bearer {connection['authBearerToken']}"
    cookie = f"Cookie: {_sign_in(service)}"
    return [
        _get("printer's page", app, "/", _APP, token),
        _get("command API", app, "/service-command-api/status", _APP, token),
        _get("dashboard", own, "/printers", _DASHBOARD, cookie, "Accept: text/html"),
        _get(
            "App API",
            own,
            "/api/appconnection/info",
            _PROGRAM,
            f"AppToken: {connection['appApiToken']}",
        ),
        _get("sign-in page", own, "/signin", _DASHBOARD, "Accept: text/html"),
    ]


def _get(name: str, host: str, path: str, address: str, *fields: str) -> Visit:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *fields]
    return Visit(name=name, head="\r\n".join([*lines, "", ""]), status=200, address=address)


def _sign_in(service: Service) -> str:
    """Return the cookies of a browser that has signed in."""
    way = service.way_to(urlsplit(service.base_url).netloc)
    headers: list[Header] = [
        ("Origin", service.base_url),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]
    form = urlencode({"email": OWNER, "password": PASSWORD, "next": "/"}).encode()
    answer = call(way, "/signin", method="POST", headers=headers, body=form)
    if answer.status != 303:
        raise Broken(f"signing in was answered {answer.status}")
    return "; ".join(one.partition(";")[0] for one in answer.all("Set-Cookie"))


def _context(service: Service, key: str) -> str:
    """Return the path for images of a new context."""
    way = service.way_to(urlsplit(service.base_url).netloc)
    headers: list[Header] = [("X-API-Key", key), ("Content-Type", "application/json")]
    answer = call(
        way, "/api/detector/v1/createcontext", method="POST", headers=headers, body=b"{}"
    ).json()
    assert isinstance(answer, dict)
    return urlsplit(str(answer["ProcessRequestUrl"])).path


def _have_an_image_scored(service: Service, target: Target) -> None:
    """Score an image, so that the model is loaded."""
    way = service.way_to(target.host)
    kind = "multipart/form-data; boundary=x"
    headers: list[Header] = [("X-API-Key", target.detection_key), ("Content-Type", kind)]
    body = image_form(written(scene()))
    status = call(way, target.contexts[0], method="POST", headers=headers, body=body).status
    if status != 200:
        raise Broken(f"a good image was answered {status}")


def _live(service: Service, visits: Sequence[Visit], seconds: float) -> dict[str, Any]:
    users = Users(port=service.port, visits=list(visits), seconds=seconds)
    argv = [sys.executable, "-m", "bench.siege.users", json.dumps(asdict(users))]
    done = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=seconds + 120)
    met: dict[str, Any] = json.loads(done.stdout)
    return met


@contextmanager
def _besieged(crowd: Crowd) -> Iterator["subprocess.Popen[str]"]:
    argv = [sys.executable, "-m", "bench.siege.strangers", json.dumps(asdict(crowd))]
    strangers = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        yield strangers
    finally:
        strangers.kill()
        strangers.wait()


def _left(pid: int, before: int) -> int:
    """Return the memory that is not given back after some time."""
    ends_at = time.monotonic() + COMES_BACK_WITHIN_S
    while (left := resident_bytes(pid) - before) > LEFT_BYTES and time.monotonic() < ends_at:
        time.sleep(1)
    return left


def _p99(taken_ms: Sequence[float]) -> float:
    if not taken_ms:
        return float("inf")
    return sorted(taken_ms)[int(len(taken_ms) * 0.99)]


def _report(measured: Measured, outcomes: Mapping[str, Mapping[str, int]]) -> None:
    print(
        "\n| what users did | p99, quiet | p99, besieged | times | failed |\n|---|---|---|---|---|"
    )
    for name, quiet in measured.quiet_ms.items():
        besieged = measured.besieged_ms[name]
        print(
            f"| {name} | {quiet:.1f} ms | {besieged:.1f} ms | {besieged / quiet:.1f}"
            f" | {measured.faults[name]} |"
        )
    print("\n| what strangers did | times | answered |\n|---|---|---|")
    for name, counts in outcomes.items():
        answers = ", ".join(f"{answer}: {count}" for answer, count in sorted(counts.items()))
        print(f"| {name.replace('_', ' ')} | {sum(counts.values())} | {answers} |")
    print(
        f"\nThe service grew by {measured.grown / 1e6:.0f} MB at the worst;"
        f" {measured.left / 1e6:.0f} MB were left of it. It logged {measured.logged / 1e3:.0f} kB."
    )
    problems = measured.problems()
    print(*(problems or ["All is as it should be."]), sep="\n")
    RESULTS.parent.mkdir(exist_ok=True)
    result = {**asdict(measured), "outcomes": outcomes, "problems": problems}
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
