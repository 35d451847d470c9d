"""`make fleet`: the service of `make demo` as a fleet on this machine, on http://localhost:8080.

PRINTREACH_LISTEN=127.0.0.1:8090 chooses another port. Everything is removed at the end.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import uvloop

from printreach.agent.addresses import parse_listen_address
from printreach.run.demo import DemoFailed, show, show_log, stopped_by_signals
from printreach.run.settings import Settings, settings_from
from tests.requirements_of_tests import missing_of
from tests.rigs.peers import system_program
from tests.rigs.postgresql import postgresql_programs
from tests.rigs.waiting import accepts_connections
from tests.rigs.whole_fleet import WholeFleet, whole_fleet

LISTEN: Final = "127.0.0.1:8080"


def main() -> int:
    """Run until Ctrl-C; return the exit status."""
    port = parse_listen_address(os.environ.get("PRINTREACH_LISTEN", LISTEN)).port
    problems = [*missing_parts(), *([] if is_free(port) else [used(port)])]
    if problems:
        print("The fleet can't start.", *problems, sep="\n", file=sys.stderr)
        return 1
    show_log()
    folder = Path(tempfile.mkdtemp(prefix="printreach-fleet-"))
    try:
        with whole_fleet(folder, port=port) as fleet:
            print(describe_nodes(fleet), flush=True)
            uvloop.run(invite(settings_from(fleet.env), fleet, folder))
    except KeyboardInterrupt:
        return 130
    except (DemoFailed, RuntimeError, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def missing_parts() -> list[str]:
    """Return a sentence for each program that this machine lacks."""
    looks = (lambda: system_program("haproxy", "haproxy"), postgresql_programs)
    return [f"{missing}." for look in looks if (missing := missing_of(look)) is not None]


def is_free(port: int) -> bool:
    return not accepts_connections(port)


def used(port: int) -> str:
    return f"Port {port} is used: PRINTREACH_LISTEN=127.0.0.1:{port + 10} make fleet"


async def invite(settings: Settings, fleet: WholeFleet, folder: Path) -> None:
    """Fill the fleet as `make demo` does; agents dial HAProxy."""
    await show(settings, f"127.0.0.1:{fleet.port}", folder, stopped_by_signals())


def describe_nodes(fleet: WholeFleet) -> str:
    """Return a table of what runs, to look at and to kill."""
    rows = [("proxy", fleet.proxy.pid, f"http://127.0.0.1:{fleet.port}")]
    for nodes in fleet.nodes.values():
        rows += [
            (node.program.name, node.program.pid, f"http://127.0.0.1:{node.port}") for node in nodes
        ]
    return "\n".join(f"{name:<12} process {pid:<8} {address}" for name, pid, address in rows)


if __name__ == "__main__":
    sys.exit(main())
