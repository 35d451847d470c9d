"""Where a page may send a person on to."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.own_paths import code_path, parse_own_path, sign_in_path

OURS = "https://printreach.example/signin"


@pytest.mark.parametrize(
    "path", ["/", "/link?code=K7QF4MXY", "/a/b%20c?d=e&f=%2F#g", "/appportal/v1?returnUrl=x%3A%2F"]
)
def test_a_page_of_ours_is_kept_as_it_is(path: str) -> None:
    assert parse_own_path(path) == path


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "link", "https://evil.example/", "//evil.example", "/\\evil.example"),
        *("\\\\evil.example", "/\t/evil.example", "/ /evil", "/\n", "/\r\nX: y", "javascript:x"),
        *("/\x00", "/ä", "/" + "a" * 3000),
    ],
)
def test_everything_else_leads_home(text: str | None) -> None:
    assert parse_own_path(text) == "/"


@given(st.text(alphabet="/\\.:@?#%a \t\n\r\u3002\uff0f", max_size=12))
def test_nothing_that_is_let_through_leads_to_another_host(text: str) -> None:
    led_to = urlsplit(urljoin(OURS, parse_own_path(text)))

    assert (led_to.scheme, led_to.netloc) == ("https", "printreach.example")


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/printers?said=removed", "/printers"),
        ("/printers?%73aid=removed&q=a%20b", "/printers?q=a%20b"),
        ("/printers?q=a+b&sai%64=stop&said=x#top", "/printers?q=a+b#top"),
        ("/printers?said", "/printers"),
        ("/printers?unsaid=1&q=said", "/printers?unsaid=1&q=said"),
    ],
)
def test_a_path_that_somebody_else_gives_names_no_flash_message(path: str, kept: str) -> None:
    assert parse_own_path(path) == kept


def test_the_way_to_the_sign_in_remembers_where_it_began() -> None:
    assert sign_in_path("/link?code=A&b=c") == "/signin?next=/link%3Fcode%3DA%26b%3Dc"
    assert code_path("//evil.example") == "/signin/code"
