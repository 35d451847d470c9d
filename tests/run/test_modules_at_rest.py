"""What only some installations, or few requests, need is not loaded by a service at rest."""

import ast
import sys
from pathlib import Path

import pytest

from tests.rigs.calls import call
from tests.rigs.service import service_on_localhost

SELDOM = {
    "migrations of an older database": {"alembic", "mako", "pygments"},
    "a web role without a relay": {"granian"},
    "an agent beside the service": {"printreach.agent.runtime", "printreach.agent.uplink"},
    "passkeys": {"webauthn", "OpenSSL", "cbor2", "pyasn1"},
    "OpenID Connect": {"joserfc", "printreach.backends.oidc"},
    "Home Assistant": {"aiomqtt", "paho"},
    "mail": {"smtplib"},
    "notifications": {"apprise", "requests"},
    "objects of a database": {"sqlalchemy.orm", "sqlalchemy.ext.asyncio"},
    "payments": {"stripe"},
    "WebSockets of the service's own host": {"websockets"},
    "a bus over NATS": {"nats"},
    "traces": {"opentelemetry.sdk", "opentelemetry.trace", "printreach.backends.traces"},
    "pictures in an object store": {"obstore"},
    "a database on a server": {
        "asyncpg",
        "printreach.store.postgresql",
        "sqlalchemy.dialects.postgresql",
    },
    "failure detection": {"PIL", "numpy", "onnxruntime", "printreach.detector.batch_scorer"},
    "languages other than English": {"babel"},
    "pages with a QR code": {"segno"},
    "a debugger, and formats of documents": {"csv", "pdb", "yaml"},
    "passwords that many people have": {"gzip"},
}
"""The modules of each part that is loaded where it is used."""

REPORTING = """
import atexit, sys
from printreach.run.main import main
atexit.register(lambda: print(sorted(sys.modules)))
sys.exit(main(sys.argv[1:]))
"""


def reporting(*words: str | Path) -> list[str]:
    """The command line of a service that prints which modules it has loaded when it ends."""
    return [sys.executable, "-c", REPORTING, *map(str, words)]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules of a service that has shown two pages."""
    with service_on_localhost(tmp_path_factory.mktemp("rest"), command=reporting) as service:
        way = service.way_to(service.base_url.partition("//")[2])
        pages = [call(way, path).status for path in ("/", "/signin")]
        service.program.ask_to_end()
        service.program.wait_until("its end", lambda: not service.program.is_running)
        modules: list[str] = ast.literal_eval(service.program.stdout().splitlines()[-1])
    assert pages == [200, 200]
    return set(modules)


@pytest.mark.slow
@pytest.mark.parametrize("part", SELDOM)
def test_a_service_at_rest_has_not_loaded_what_it_seldom_needs(part: str, loaded: set[str]) -> None:
    assert loaded & SELDOM[part] == set()


@pytest.mark.slow
def test_a_service_at_rest_has_loaded_what_it_serves_with(loaded: set[str]) -> None:
    assert loaded >= {"litestar", "sqlalchemy", "printreach.relay.node", "printreach.web.app"}
