"""A part that the machine lacks is skipped on a laptop and fails where all must run."""

import pytest

from tests.requirements_of_tests import REQUIRE_ALL, need


@pytest.fixture
def laptop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRE_ALL, raising=False)


@pytest.fixture
def continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE_ALL, "1")


@pytest.mark.usefixtures("continuous_integration")
def test_a_part_that_is_there_lets_the_test_run() -> None:
    need("Caddy", True, "apt-get install caddy")


@pytest.mark.usefixtures("laptop")
def test_a_missing_part_skips_the_test_and_says_how_to_get_it() -> None:
    with pytest.raises(pytest.skip.Exception, match="Caddy is missing: apt-get install caddy"):
        need("Caddy", False, "apt-get install caddy")


@pytest.mark.usefixtures("continuous_integration")
def test_a_missing_part_fails_the_test_where_everything_is_required() -> None:
    with pytest.raises(pytest.fail.Exception, match="Caddy is missing"):
        need("Caddy", False, "apt-get install caddy")


def test_only_the_value_1_requires_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE_ALL, "0")

    with pytest.raises(pytest.skip.Exception):
        need("Caddy", False, "apt-get install caddy")
