"""The OpenAPI document."""

from litestar import Litestar, Router, get
from litestar.testing import TestClient

from printreach.web.app import document_route, openapi_document


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
        [key] = [one for one in call["parameters"] if one["in"] == "header"]

        assert (key["name"], key["required"]) == ("X-API-Key", True)
        assert list(call["requestBody"]["content"]) == [body]
        assert {"200", "401", "429", "503"} <= set(call["responses"])


def test_an_api_in_the_list_is_described() -> None:
    @get("/thing", sync_to_thread=False)
    def thing() -> int:
        return 1

    document = openapi_document([Router("/api", route_handlers=[thing])])

    assert b'"/api/thing"' in document


def test_the_document_is_made_by_the_first_request_and_kept() -> None:
    made: list[bytes] = []

    def describe() -> bytes:
        made.append(b"{}")
        return made[-1]

    app = Litestar([document_route(describe)], openapi_config=None, logging_config=None)
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
