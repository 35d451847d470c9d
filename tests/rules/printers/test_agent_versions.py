"""Which versions of agents are older than the service."""

import pytest

from printreach.rules.printers import is_older_release


@pytest.mark.parametrize("version", ["0.9", "0.9.9", "1.1.9", "1.2.2", "1.2.2.dev3"])
def test_an_earlier_release_is_older_release(version: str) -> None:
    assert is_older_release(version, "1.2.3")


@pytest.mark.parametrize("version", ["1.2.3", "1.2.3+local", "1.10.0", "2.0", "", None, "unknown"])
def test_other_versions_and_what_is_none_are_not(version: str | None) -> None:
    assert not is_older_release(version, "1.2.3")
