"""The addresses of the built styles and scripts."""

from pathlib import Path

import pytest

from printreach.web.templating import asset_addresses


def test_an_address_changes_with_the_content(tmp_path: Path) -> None:
    (tmp_path / "app.css").write_text("a{}")
    before = asset_addresses(tmp_path)("app.css")
    (tmp_path / "app.css").write_text("b{}")

    assert before.startswith("/static/app.css?v=")
    assert asset_addresses(tmp_path)("app.css") != before


def test_without_a_build_pages_still_stand_and_the_log_says_what_to_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asset = asset_addresses(tmp_path)

    assert asset("app.css") == "/static/app.css"
    assert "make install" in caplog.text
