"""A service that may call webhooks on this machine, and trusts a test's own authority."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.rigs.certificates import Authority
from tests.rigs.service import APP, LinkedPrinter, Service, service
from tests.rigs.waiting import free_port


@contextmanager
def webhook_service(folder: Path, authority: Authority) -> Iterator[Service]:
    port = free_port()
    env = {
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
        "SSL_CERT_FILE": str(authority.root),
    }
    with service(folder, port=port, env=env) as running:
        yield running


class CallingApp:
    """An app that is connected to a printer, and calls the service with its token."""

    def __init__(self, here: Service, printer: LinkedPrinter) -> None:
        words = ("connection", "add", "--app", APP, "--printer", printer.id)
        token = here.admin(*words)["appApiToken"]
        self._client = httpx.Client(
            base_url=f"http://localhost:{here.web_port}",
            headers={"AppToken": token, "Host": here.base_url.partition("//")[2]},
            timeout=30,
        )

    def set_webhook(self, url: str, *event_types: int) -> httpx.Response:
        body = {"WebhookUrl": url, "InclusiveEventTypesFilter": event_types}
        return self._client.post("/api/appconnection/SetNotificationWebhook", json=body)

    def test_webhook(self) -> httpx.Response:
        return self._client.get("/api/appconnection/TestWebhook")

    def public_keys(self) -> list[dict[str, str]]:
        keys: list[dict[str, str]] = self._client.get("/.well-known/webhook-keys.json").json()[
            "Keys"
        ]
        return keys

    def close(self) -> None:
        self._client.close()
