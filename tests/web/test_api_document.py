"""The OpenAPI document."""

import re

from litestar import Litestar, get
from litestar.testing import TestClient

from printreach.web.app import document_route, openapi_document
from printreach.web.routing import DeclaredRouter


def test_the_document_is_openapi_3_1_of_printreach(program: TestClient[Litestar]) -> None:
    answer = program.get("/openapi.json")

    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["openapi"].startswith("3.1.")
    assert answer.json()["info"]["title"] == "Printreach"


def test_the_document_lists_no_page(program: TestClient[Litestar]) -> None:
    paths = program.get("/openapi.json").json()["paths"]

    assert not {"/", "/link"} & set(paths)


def test_failure_detection_is_described_with_what_it_needs(program: TestClient[Litestar]) -> None:
    paths = program.get("/openapi.json").json()["paths"]
    for path, body in (
        ("/api/detector/v1/createcontext", "application/json"),
        ("/api/detector/v1/process/{context_id}", "multipart/form-data"),
    ):
        call = paths[path]["post"]
        assert call["security"] == [{"X-API-Key": []}]
        assert "header" not in [one["in"] for one in call.get("parameters", [])]
        assert list(call["requestBody"]["content"]) == [body]
        assert {"200", "401", "429", "503"} <= set(call["responses"])


def test_every_way_to_prove_who_calls_is_a_security_scheme(program: TestClient[Litestar]) -> None:
    document = program.get("/openapi.json").json()
    schemes = document["components"]["securitySchemes"]

    assert document["paths"]["/api/events"]["get"]["security"] == [{"AccessToken": []}]
    assert (schemes["AccessToken"]["type"], schemes["AccessToken"]["scheme"]) == ("http", "bearer")
    assert (schemes["X-API-Key"]["type"], schemes["X-API-Key"]["name"]) == ("apiKey", "X-API-Key")


def test_a_body_that_may_be_left_out_is_no_null(program: TestClient[Litestar]) -> None:
    document = program.get("/openapi.json").json()
    call = document["paths"]["/api/appconnection/DeleteNotificationWebhook"]["post"]
    url = document["components"]["schemas"]["SetWebhook"]["properties"]["WebhookUrl"]

    body = {"schema": {"$ref": "#/components/schemas/TokenBody"}}
    assert call["requestBody"] == {"content": {"application/json": body}, "required": False}
    assert url["minLength"] == 1


def test_an_api_in_the_list_is_described() -> None:
    @get("/thing", sync_to_thread=False)
    def thing() -> int:
        return 1

    document = openapi_document([DeclaredRouter("/api", route_handlers=[thing])])

    assert b'"/api/thing"' in document


def test_the_document_is_made_by_the_first_request_and_kept() -> None:
    made: list[bytes] = []

    def describe() -> bytes:
        made.append(b"{}")
        return made[-1]

    app = Litestar(
        [document_route("/openapi.json", describe)], openapi_config=None, logging_config=None
    )
    with TestClient(app) as client:
        before = len(made)
        answers = [client.get("/openapi.json").text for _ in range(2)]

    assert before == 0
    assert answers == ["{}", "{}"]
    assert len(made) == 1


def test_the_document_stands_alone_without_a_page_to_explore_it(
    program: TestClient[Litestar],
) -> None:
    for path in ("/schema", "/openapi.json/openapi.json", "/openapi.yaml", "/docs"):
        assert program.get(path).status_code == 404


def test_every_call_of_an_app_is_described_with_its_token_and_the_failures_that_it_gets(
    program: TestClient[Litestar],
) -> None:
    document = program.get("/openapi.json").json()
    calls = {
        path: operation
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if operation["tags"] in (["App Connections"], ["Webhooks"]) and "well-known" not in path
    }

    assert document["components"]["securitySchemes"]["AppToken"]["in"] == "header"
    for path, call in calls.items():
        assert call["security"] == [{"AppToken": []}], path
        assert {"400", "429", "default"} <= set(call["responses"]), path
        own = set(re.findall(r"\b(6[0-9]{2}): [A-Z]", call["responses"]["default"]["description"]))
        assert {"600", "603", "604", "605"} <= own, path
        needs_body = call.get("requestBody", {"required": False})["required"]
        assert needs_body is path.endswith("SetNotificationWebhook"), path
    assert "404" in calls["/api/appconnection/TestWebhook"]["responses"]
    live = calls["/api/live/createfromappconnection"]["responses"]["default"]
    assert "613: No print is active" in live["description"]
    assert live["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")


def test_no_answer_is_described_in_the_words_of_the_framework(
    program: TestClient[Litestar],
) -> None:
    assert "status_code" not in program.get("/openapi.json").text
