"""A tab that tests take turns with keeps nothing of the test before."""

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request

from tests.look.gallery import HOST
from tests.rigs.shared_tab import SharedTab

pytestmark = [pytest.mark.slow, pytest.mark.browser]

STATE = """() => [
    Object.keys(localStorage), Object.keys(sessionStorage), innerWidth,
    matchMedia("(prefers-color-scheme: dark)").matches, document.querySelector("button:hover"),
]"""


def test_the_next_test_finds_the_tab_as_it_was(tab: SharedTab) -> None:
    heard: list[ConsoleMessage] = []
    asked: list[Request] = []

    def hear(message: ConsoleMessage) -> None:
        heard.append(message)

    def note(request: Request) -> None:
        asked.append(request)

    with tab.turn() as first:
        first.goto(f"{HOST}/form")
        found = first.evaluate(STATE)
        first.on("console", hear)
        first.set_viewport_size({"width": 820, "height": 1180})
        first.emulate_media(color_scheme="dark")
        first.set_extra_http_headers({"Accept-Language": "de"})
        first.route(f"{HOST}/permission", lambda route: route.abort())
        first.evaluate("() => { localStorage.a = 1; sessionStorage.a = 1; console.log('a'); }")
        first.get_by_role("button").first.hover()
    with tab.turn() as second:
        second.on("request", note)
        second.goto(f"{HOST}/permission")
        second.goto(f"{HOST}/form")
        second.evaluate("console.log('b')")

        assert second is first
        assert second.evaluate(STATE) == found
        assert [message.text for message in heard] == ["a"]
        assert "de" not in asked[0].headers.get("accept-language", "")


@pytest.mark.parametrize("change", ["clock", "script", "key", "devtools"])
def test_what_nothing_undoes_costs_the_tab(tab: SharedTab, change: str) -> None:
    with tab.turn() as first:
        first.goto(f"{HOST}/form")
        change_for_good(first, change)
    with tab.turn() as second:
        assert second is not first
        assert first.is_closed()


def change_for_good(page: Page, change: str) -> None:
    match change:
        case "clock":
            page.clock.install()
        case "script":
            page.add_init_script("window.changed = true")
        case "key":
            page.keyboard.down("Control")
        case _:
            page.context.new_cdp_session(page)
