"""A service on PostgreSQL links printers, lets apps in, and gets over a restart of its database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.calls import call
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.service import Service, service_on_localhost
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    with PostgresqlServer() as running:
        yield running


@pytest.fixture(scope="module")
def service(
    server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    more = {"PRINTREACH_DATABASE_URL": server.url()}
    with service_on_localhost(tmp_path_factory.mktemp("journey"), more_env=more) as running:
        yield running


def status_of(service: Service, path: str) -> int:
    return call(service.way_to(service.base_url.partition("//")[2]), path).status


def test_an_app_reaches_a_printer_until_its_connection_is_revoked(service: Service) -> None:
    with service.printer("workshop", "", platform="simulated") as printer:
        connection = service.connect(printer)
        answers = [call(service.way(connection), "/").status]
        service.revoke(connection)
        ended = wait_for(
            "the end of the connection",
            lambda: call(service.way(connection), "/").status == 604 or None,
            TIMEOUT_S,
        )

    assert answers == [200]
    assert ended


def test_nothing_but_keys_is_in_the_data_directory(service: Service) -> None:
    names = {path.name for path in Path(service.env["PRINTREACH_DATA_DIR"]).iterdir()}

    assert names <= {"service.key", "push.key", "sealing.keys", "webhook-keys.json"}


def test_the_service_tells_that_its_database_is_gone_and_goes_on_when_it_is_back(
    service: Service, server: PostgresqlServer
) -> None:
    before = status_of(service, "/readyz")
    server.stop()
    wait_for("not ready", lambda: status_of(service, "/readyz") == 503 or None, TIMEOUT_S)
    own_host = service.way_to(service.base_url.partition("//")[2])
    meanwhile = call(own_host, f"/signup?invite={'a' * 52}")
    server.start()
    wait_for("ready", lambda: status_of(service, "/readyz") == 200 or None, TIMEOUT_S)

    assert before == 200
    assert meanwhile.status == 503
    assert meanwhile.all("Retry-After")
    assert service.admin("account", "list")
