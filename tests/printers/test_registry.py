"""The table of printer kinds."""

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.registry import KINDS


def test_every_kind_is_found_by_its_own_name() -> None:
    assert all(kind.name == name for name, kind in KINDS.items())


def test_the_facts_of_each_kind_are_known_and_of_no_other() -> None:
    assert list(PLATFORM_FACTS) == list(KINDS)


def test_only_octoprint_is_told_the_address_from_outside() -> None:
    assert [kind.name for kind in KINDS.values() if kind.wants_outside_host] == ["octoprint"]


def test_only_bambu_has_no_web_server() -> None:
    assert [kind.name for kind in KINDS.values() if not kind.facts.has_web_server] == ["bambu"]
