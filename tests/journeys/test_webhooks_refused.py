"""Forbidden targets of webhooks, set by an app at a real service."""

from collections.abc import Iterator

import pytest

from tests.rigs.service import Service, service_on_localhost
from tests.rigs.simulated import simulated_printer
from tests.rigs.webhook_service import CallingApp
from tests.rules.test_public_addresses import FORBIDDEN
from tests.rules.webhooks.test_urls import REFUSED

pytestmark = [pytest.mark.slow]

HOSTS = [f"[{one}]" if ":" in one else one for one in FORBIDDEN]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service_on_localhost(tmp_path_factory.mktemp("refused")) as running:
        yield running


def test_every_private_target_is_refused_with_a_sentence(
    here: Service, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        simulated_printer(tmp_path_factory.mktemp("printer"), "refused") as printer,
        here.printer("workbench", printer.url, platform="simulated") as linked,
    ):
        app = CallingApp(here, linked)
        for url in [*REFUSED, *(f"https://{host}/in" for host in HOSTS)]:
            answer = app.set_webhook(url)
            assert answer.status_code == 400, url
            assert answer.json()["Status"] == 400
            assert answer.json()["Error"].startswith("WebhookUrl"), answer.text
        assert app.test_webhook().status_code == 404
        app.close()
