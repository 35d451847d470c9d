"""The documents that a service serves besides the description of its App APIs."""

from litestar import Litestar
from litestar.testing import TestClient

from printreach.run.command_api.openapi import command_api_description
from printreach.run.web_services import DOCUMENTS
from printreach.web.app import document_route


def test_the_description_of_the_commands_is_served() -> None:
    routes = [document_route(path, describe) for path, describe in DOCUMENTS.items()]
    with TestClient(Litestar(routes, openapi_config=None, logging_config=None)) as client:
        answer = client.get("/command-api.openapi.json")

    assert answer.text == command_api_description()
