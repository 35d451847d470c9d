"""Failures as people, programs and apps of App APIs get them."""

import logging
from collections.abc import Iterator

import pytest
from litestar import Litestar, Router, get
from litestar.exceptions import TooManyRequestsException
from litestar.params import FromPath, FromQuery
from litestar.testing import TestClient

from printreach.contract.errors import FAILURES, ErrorCode
from printreach.web.problems import ServiceFailure, answer_app_api_failure
from tests.web.world import WebWorld

Client = TestClient[Litestar]


@get("/fails/{code:int}", sync_to_thread=False)
def fails(code: FromPath[int]) -> str:
    raise ServiceFailure(ErrorCode(code))


@get("/detailed", sync_to_thread=False)
def detailed() -> str:
    raise ServiceFailure(ErrorCode.CONNECTION_ENDED, "It was revoked yesterday.")


@get("/breaks", sync_to_thread=False)
def breaks() -> str:
    raise RuntimeError("an inner reason")


@get("/counts", sync_to_thread=False)
def counts(hours: FromQuery[int]) -> int:
    return hours


@get("/busy", sync_to_thread=False)
def busy() -> str:
    raise TooManyRequestsException("One call in a minute", headers={"Retry-After": "60"})


APP_API = Router(
    "/api",
    route_handlers=[fails, detailed, breaks, counts, busy],
    exception_handlers={Exception: answer_app_api_failure},
)


@pytest.fixture
def app_api(world: WebWorld) -> Iterator[Client]:
    with TestClient(
        world.app_with(APP_API, breaks, counts), raise_server_exceptions=False
    ) as client:
        # Some apps run in a web view and ask as it does; they get JSON all the same.
        client.headers["accept"] = "text/html"
        yield client


@pytest.mark.parametrize("code", ErrorCode)
def test_an_app_api_fails_with_the_services_own_code(app_api: Client, code: ErrorCode) -> None:
    answer = app_api.get(f"/api/fails/{code:d}")

    assert answer.status_code == code
    assert answer.headers["x-service-error"] == str(int(code))
    assert answer.json() == {"Status": code, "Error": FAILURES[code].meaning}


def test_an_app_api_says_what_it_knows_beyond_the_code(app_api: Client) -> None:
    assert app_api.get("/api/detailed").json()["Error"] == "It was revoked yesterday."


def test_a_wrong_argument_is_400_and_named(app_api: Client) -> None:
    answer = app_api.get("/api/counts?hours=soon")

    assert answer.status_code == 400
    assert "x-service-error" not in answer.headers
    assert answer.json()["Status"] == 400
    assert answer.json()["Error"].startswith("hours: ")


def test_a_missing_argument_is_400_and_named(app_api: Client) -> None:
    body = app_api.get("/api/counts").json()

    assert body == {"Status": 400, "Error": "hours is missing."}


def test_an_address_that_was_cut_off_is_called_incomplete_in_the_persons_words(
    app_api: Client,
) -> None:
    answer = app_api.get("/counts")

    assert answer.status_code == 400
    assert "This address isn\N{RIGHT SINGLE QUOTATION MARK}t complete" in answer.text
    assert "parameter" not in answer.text


def test_headers_of_a_refusal_reach_the_app(app_api: Client) -> None:
    answer = app_api.get("/api/busy")

    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "60"
    assert answer.json() == {"Status": 429, "Error": "One call in a minute."}


def test_the_unforeseen_is_600_logged_and_kept_from_the_app(
    app_api: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = app_api.get("/api/breaks?token=s3cret")

    assert answer.status_code == 600
    assert "inner reason" not in answer.text
    assert "an inner reason" in caplog.text
    assert "GET /api/breaks failed" in caplog.text
    assert "s3cret" not in caplog.text


def test_the_unforeseen_on_a_page_is_500_logged_and_kept_from_the_person(
    app_api: Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = app_api.get("/breaks")

    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/html")
    assert "inner reason" not in answer.text
    assert "an inner reason" in caplog.text


def test_a_page_that_does_not_exist_says_so_to_a_person(browser: Client) -> None:
    answer = browser.get("/nowhere")

    assert answer.status_code == 404
    assert "There\N{RIGHT SINGLE QUOTATION MARK}s no such page" in answer.text
    assert 'href="/"' in answer.text


def test_a_page_that_does_not_exist_says_so_to_a_program(program: Client) -> None:
    answer = program.get("/nowhere")

    assert answer.status_code == 404
    assert answer.json() == {"Status": 404, "Error": "Not Found."}


def test_a_wrong_method_says_which_are_right(browser: Client) -> None:
    answer = browser.post("/openapi.json")

    assert answer.status_code == 405
    assert {"GET", "HEAD"} <= set(answer.headers["allow"].split(", "))


def test_a_hostile_path_is_not_played_back(browser: Client) -> None:
    assert "alert" not in browser.get("/<script>alert(1)</script>").text
