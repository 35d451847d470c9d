"""The table of platforms."""

from printreach.contract.platforms import PLATFORM_FACTS


def test_every_platform_is_found_by_its_own_name() -> None:
    assert all(facts.name == name for name, facts in PLATFORM_FACTS.items())


def test_only_octoprint_is_told_the_address_from_outside() -> None:
    outside = [facts.name for facts in PLATFORM_FACTS.values() if facts.wants_outside_host]

    assert outside == ["octoprint"]


def test_only_bambu_has_no_web_server() -> None:
    serverless = [facts.name for facts in PLATFORM_FACTS.values() if not facts.has_web_server]

    assert serverless == ["bambu"]
