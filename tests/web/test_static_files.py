"""Names below /static that no file can have."""

import logging

import pytest

from tests.web.world import Browser


@pytest.mark.parametrize(
    "path",
    [
        "/static/%00",
        "/static/app%00.css",
        "/static/%01",
        "/static/" + "a" * 256,
        "/static/" + "%C3%A4" * 128,
        "/static/" + "a/" * 1500,
        "/static/" + "a" * 255,
        "/static/%ff",
        "/static/..%2f..%2fetc%2fpasswd",
        "/install/%00",
        "/icons/%00",
        "/icons/" + "a" * 256,
        "/snapshot/%00",
        "/snapshots/" + "a" * 300,
    ],
)
def test_a_name_that_no_file_can_have_is_not_found_and_fills_no_log(
    browser: Browser, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "printreach")

    assert browser.get(path).status_code == 404
    assert not caplog.records
