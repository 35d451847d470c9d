"""Where a camera is, seen from the agent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.camera_urls import candidates


def at(url: str, host: str = "127.0.0.1", port: int = 80, *, tls: bool = False) -> list[str]:
    return candidates(url, host, port, tls=tls)


def test_a_relative_address_is_at_the_printer() -> None:
    assert at("/webcam/?action=stream") == ["http://127.0.0.1:80/webcam/?action=stream"]
    assert at("/webcam", "::1") == ["http://[::1]:80/webcam"]
    assert at("/webcam", "pi", 443, tls=True)[0] == "https://pi:443/webcam"


def test_behind_a_port_of_its_own_the_usual_port_is_tried_too() -> None:
    assert at("/webcam/", "octopi.local", 5000) == [
        "http://octopi.local:5000/webcam/",
        "http://octopi.local/webcam/",
    ]


def test_an_absolute_address_is_taken_as_it_is() -> None:
    url = "http://user:pass@cam.local:8081/video?x=1"

    assert at(url, "octopi.local", 5000) == [url]


@pytest.mark.parametrize("here", ["127.0.0.1", "localhost", "[::1]"])
def test_the_platforms_own_machine_is_where_the_platform_is(here: str) -> None:
    url = f"http://{here}:8080/?action=snapshot"

    assert at(url, "192.168.1.7") == ["http://192.168.1.7:8080/?action=snapshot"]
    assert at(url, "fd00::7") == ["http://[fd00::7]:8080/?action=snapshot"]
    assert at(url, "127.0.0.1") == [url]


def test_credentials_in_an_address_stay_in_it() -> None:
    assert at("http://u:p@localhost/s", "10.0.0.2") == ["http://u:p@10.0.0.2/s"]


def test_a_webrtc_page_has_an_mjpeg_twin() -> None:
    assert at("/webcam/webrtc") == ["http://127.0.0.1:80/webcam/stream"]
    assert at("/webcam/?action=stream")[0].endswith("?action=stream")


@pytest.mark.parametrize("url", ["http://[oops/", "http://cam:port/", "http://[::1"])
def test_what_is_no_address_is_nowhere(url: str) -> None:
    assert at(url) == []


@given(st.text(max_size=30))
def test_no_text_is_too_strange(url: str) -> None:
    assert all(found for found in at(url, "192.168.1.7", 5000))
