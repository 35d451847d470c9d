"""The front page and the page that an agent's link opens."""

import re

import pytest
from litestar import Litestar
from litestar.testing import TestClient

Client = TestClient[Litestar]


def test_the_front_page_says_what_this_is_and_where_to_begin(browser: Client) -> None:
    answer = browser.get("/")

    assert answer.status_code == 200
    assert "Reach your 3D printer from anywhere" in answer.text
    assert 'href="/link"' in answer.text


def test_the_front_page_admits_that_there_is_no_sign_in_yet(browser: Client) -> None:
    text = browser.get("/").text

    assert "There is no sign-in here yet" in text
    assert "printreach admin" in text


def test_the_front_page_names_this_service_to_the_agent(browser: Client) -> None:
    assert "--service https://printreach.example<" in browser.get("/").text


@pytest.mark.parametrize("path", ["/", "/link", "/openapi.json", "/static/app.css"])
def test_a_page_can_be_asked_about_without_being_fetched(browser: Client, path: str) -> None:
    answer = browser.head(path)

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 100


def test_the_link_page_without_a_code_asks_for_one(browser: Client) -> None:
    answer = browser.get("/link")

    assert answer.status_code == 200
    assert '<form action="/link" method="get">' in answer.text


@pytest.mark.parametrize("typed", ["K7QF4MXY", "k7qf4mxy", "K7QF-4MXY", " k7qf 4mxy "])
def test_the_link_page_shows_the_code_however_it_was_typed(browser: Client, typed: str) -> None:
    answer = browser.get("/link", params={"code": typed})

    assert answer.status_code == 200
    assert ">K7QF-4MXY<" in answer.text


def test_the_link_page_hands_over_the_operators_command(browser: Client) -> None:
    text = browser.get("/link?code=K7QF4MXY").text.replace("<span>", "").replace("</span>", "")

    assert "printreach admin printer link K7QF4MXY --account EMAIL --name NAME" in text


@pytest.mark.parametrize("code", ["", "K7QF4MX", "K7QF4MXYA", "K7QF4MX0", "K7QF4MXI", "K7QF4MXé"])
def test_what_cannot_be_a_code_is_refused_and_kept_for_correction(
    browser: Client, code: str
) -> None:
    answer = browser.get("/link", params={"code": code})

    assert answer.status_code == 400
    assert f'value="{code}"' in answer.text
    assert 'aria-invalid="true"' in answer.text


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '" autofocus onfocus="alert(1)',
        "'><img src=x onerror=alert(1)>",
        "{{ 7 * 7 }}",
        "$(reboot)",
    ],
)
def test_a_hostile_code_is_refused_and_stays_text(browser: Client, hostile: str) -> None:
    answer = browser.get("/link", params={"code": hostile})

    assert answer.status_code == 400
    assert hostile.startswith(("{{", "$")) or hostile not in answer.text
    assert "<script>" not in answer.text
    assert "<img" not in answer.text
    assert "admin printer link" not in answer.text


def test_a_code_that_nobody_types_is_not_played_back(browser: Client) -> None:
    answer = browser.get("/link", params={"code": "K" * 5000})

    assert answer.status_code == 400
    assert "KKKK" not in answer.text


def test_bytes_that_are_no_text_are_refused(browser: Client) -> None:
    assert browser.get("/link?code=%ff%fe%00").status_code == 400


def test_two_codes_are_never_mixed(browser: Client) -> None:
    answer = browser.get("/link?code=K7QF4MXY&code=ACDEFGHJ")

    assert ("K7QF-4MXY" in answer.text) != ("ACDE-FGHJ" in answer.text)


@pytest.mark.parametrize("path", ["/", "/link", "/link?code=K7QF4MXY", "/link?code=x", "/no"])
def test_no_page_has_code_in_it_or_names_another_host(browser: Client, path: str) -> None:
    text = browser.get(path).text

    assert re.search(r"<script(?! type=\"module\" src=\"/static/[^\"]+\"></script>)", text) is None
    assert re.search(r"\son\w+=", text) is None
    assert "style=" not in text
    assert 'src="http' not in text
    assert 'href="http' not in text


@pytest.mark.parametrize("name", ["app.css", "app.js", "icon.svg", "icons.svg", "logo.svg"])
def test_static_files_are_served_to_be_kept_for_a_year(browser: Client, name: str) -> None:
    answer = browser.get(f"/static/{name}")

    assert answer.status_code == 200
    assert "max-age=31536000" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "", "/etc/passwd"])
def test_nothing_beside_the_static_files_is_served(browser: Client, path: str) -> None:
    assert browser.get(f"/static/{path}").status_code == 404
