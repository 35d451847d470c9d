"""The completion parameters, by name."""

from dataclasses import replace

import pytest

from printreach.rules.completion import Completion, completion_parameters, failure_parameters
from printreach.rules.credentials import AppSecrets
from printreach.rules.portal import PortalError

DONE = Completion(
    connection_id="c1",
    url="https://app-abc.tunnel.example",
    printer_name="Workshop",
    printer_page_url="https://reach.example/printers/p1",
    printer_lan_ip="192.168.1.20",
    secrets=AppSecrets(
        basic_user="user", basic_password="password", bearer_token="bearer", app_api_token="token"
    ),
)


def test_an_app_is_told_exactly_these_parameters() -> None:
    assert completion_parameters(DONE) == {
        "success": "true",
        "id": "c1",
        "url": "https://app-abc.tunnel.example",
        "appApiToken": "token",
        "printername": "Workshop",
        "userPrinterAccessUrl": "https://reach.example/printers/p1",
        "printerLastKnownLocalIp": "192.168.1.20",
        "authBasicHttpUser": "user",
        "authBasicHttpPassword": "password",
        "authbasichttpuser": "user",
        "authbasichttppassword": "password",
        "authBearerToken": "bearer",
    }


def test_an_unknown_lan_address_is_left_out() -> None:
    parameters = completion_parameters(replace(DONE, printer_lan_ip=None))

    assert "printerLastKnownLocalIp" not in parameters


def test_a_key_is_told_by_both_its_names() -> None:
    parameters = completion_parameters(replace(DONE, host_api_key="key"))

    assert (parameters["hostApiKey"], parameters["octoPrintApiKey"]) == ("key", "key")


@pytest.mark.parametrize("error", PortalError)
def test_a_failure_is_told_as_a_code_and_a_sentence_and_nothing_else(error: PortalError) -> None:
    parameters = failure_parameters(error)

    assert list(parameters) == ["success", "error", "errorDescription"]
    assert parameters["success"] == "false"
    assert parameters["error"] == error.value
    assert parameters["errorDescription"].endswith(".")
