"""The checks of a page's look find faults."""

import pytest
from playwright.sync_api import Page, Route

from tests.look.gallery import HOST
from tests.rigs.looks import LOOKS, PHONE, look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PALE_BY_NIGHT = "@media (prefers-color-scheme: dark) { body { background: #222; color: #444 } }"
WIDE_ON_TABLET = "@media (min-width: 800px) and (max-width: 900px) { p { width: 1000px } }"
ON_DESKTOP = "button { display: none } @media (min-width: 1000px) { button { display: block } }"
ON_TABLET = ON_DESKTOP.replace("1000px", "800px) and (max-width: 1000px")


def show(page: Page, body: str, style: str = "") -> None:
    html = (
        f'<!doctype html><html lang="en"><title>A page</title><style>{style}</style>'
        f"<main><h1>A page</h1>{body}</main>"
    )

    def answer(route: Route) -> None:
        route.fulfill(content_type="text/html", body=html)

    page.route(f"{HOST}/shown", answer)
    page.goto(f"{HOST}/shown")


@pytest.mark.parametrize(
    ("body", "style", "complaint"),
    [
        ("<p>Pale</p>", "p { color: #ccc }", "phone, light:\ncolor-contrast"),
        ("<p>Pale</p>", PALE_BY_NIGHT, "phone, dark:\ncolor-contrast"),
        ("<button></button>", "", "button-name"),
        ("<input>", "", "label"),
        ("<p>Wide</p>", "p { width: 500px }", "too wide for a phone"),
    ],
)
def test_what_is_wrong_with_a_page_is_found(
    page: Page, body: str, style: str, complaint: str
) -> None:
    show(page, body, style)

    with pytest.raises(AssertionError, match=complaint):
        look_at(page, "wrong", sizes=[PHONE])


@pytest.mark.parametrize(
    ("body", "style", "complaint"),
    [
        ("<button></button>", "", "phone, light:\nbutton-name"),
        ("<p>Pale</p>", PALE_BY_NIGHT, "phone, dark:\ncolor-contrast"),
        ("<p>Wide</p>", WIDE_ON_TABLET, "too wide for a tablet"),
        ("<button></button>", ON_DESKTOP, "desktop, dark:\nbutton-name"),
    ],
)
def test_few_looks_find_what_is_wrong_in_some_size(
    page: Page, monkeypatch: pytest.MonkeyPatch, body: str, style: str, complaint: str
) -> None:
    monkeypatch.setenv(LOOKS, "few")
    show(page, body, style)

    with pytest.raises(AssertionError, match=complaint):
        look_at(page, "wrong")


def test_all_looks_find_what_is_wrong_on_a_tablet_alone(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(LOOKS, raising=False)
    show(page, "<button></button>", ON_TABLET)

    with pytest.raises(AssertionError, match="tablet, light:\nbutton-name"):
        look_at(page, "wrong")
