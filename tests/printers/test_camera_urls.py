"""The address of a camera, as seen from the agent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.camera_addresses import candidates, shown_url


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


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.7/webcam/?action=stream",
        "http://10.0.0.7:8080/?action=snapshot",
        "http://10.0.0.7:8080/?action=stream_1",
        "http://pi.local/stream?fps=15&resolution=1280x720",
        "https://[fd00::7]:8443/webcam2/stream.mjpg",
        "http://10.0.0.7/api/two%20words/snapshot.jpg",
        "rtsp://10.0.0.7/live",
    ],
)
def test_an_ordinary_address_is_shown_as_it_is(url: str) -> None:
    assert shown_url(url) == url


def test_a_password_before_the_host_and_a_fragment_are_cut_off() -> None:
    url = "http://us%40r:p%3Ass@cam.local:8081/video?action=stream#token=1"

    assert shown_url(url) == "http://cam.local:8081/video?action=stream"


@pytest.mark.parametrize(
    "rest",
    [
        "snapshot.cgi?user=admin&pwd=hunter2",
        "snapshot.cgi?USER=admin&PWD=hunter2",
        "?action=snapshot&token=abc",
        "?action=snapshot&key=abc",
        "?action=snapshot;token=abc",
        "?action=a1b2c3d4e5f60718",
        "?action=stream%26token=abc",
        "?hunter2",
        "videostream.cgi;jsessionid=abc",
        "user=admin_password=hunter2_channel=1_stream=0.sdp",
        "user%3Dadmin_password%3Dhunter2",
        "admin:hunter2/stream",
        "hunter2@cam/stream",
        "s0meT0k3nX9Qz/stream",
        "0f8e2c4b9d7a4e51/stream",
    ],
)
def test_an_address_that_may_hold_a_secret_is_not_shown(rest: str) -> None:
    assert shown_url(f"http://10.0.0.7/{rest}") is None


@given(st.text(max_size=40))
def test_no_text_is_too_strange_to_be_shown(text: str) -> None:
    shown = shown_url(f"http://me:hunter2@10.0.0.7/{text}")

    assert shown is None or "hunter2" not in shown


@given(st.text(max_size=30))
def test_no_text_is_too_strange(url: str) -> None:
    assert all(found for found in at(url, "192.168.1.7", 5000))
