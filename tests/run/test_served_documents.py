"""The documents that a service serves besides the description of its App APIs."""

import json
import re
from collections.abc import Callable

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from printreach.run.command_api import command_api_description
from printreach.run.web_services import DOCUMENTS
from printreach.web.app import APIS, document_route, openapi_document


def test_the_description_of_the_commands_is_served() -> None:
    routes = [document_route(path, describe) for path, describe in DOCUMENTS.items()]
    with TestClient(Litestar(routes, openapi_config=None, logging_config=None)) as client:
        answer = client.get("/command-api.openapi.json")

    assert answer.text == command_api_description()


@pytest.mark.parametrize(
    "describe", [lambda: openapi_document(APIS), *DOCUMENTS.values()], ids=["own", *DOCUMENTS]
)
def test_every_described_answer_has_a_key_that_openapi_allows(
    describe: Callable[[], bytes],
) -> None:
    """OpenAPI 3.1, "Responses Object"; validators refuse a whole document for another key."""
    allowed = re.compile(r"[1-5](?:[0-9]{2}|XX)|default|x-.+")
    paths = json.loads(describe())["paths"]
    calls = [call for path in paths.values() for call in path.values()]
    keys = {key for call in calls for key in call["responses"]}

    assert "200" in keys
    assert [key for key in keys if not allowed.fullmatch(key)] == []
