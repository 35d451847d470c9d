"""The content of the settings page, and the input that it takes."""

import pytest

from printreach import __version__
from printreach.agent.octoprint_plugin.page import (
    MAX_ADDRESS_CHARS,
    AddressRefused,
    looked_up,
    read_address,
    shown,
)
from printreach.agent.octoprint_plugin.supervisor import AgentStatus
from printreach.agent.state import Phase
from tests.agent.snapshots import PRINTER_ID, SERVICE_URL, a_link_code, a_snapshot

UNLINKED = AgentStatus(snapshot=a_snapshot(phase=Phase.UNLINKED, link_code=a_link_code()))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("https://printreach.example", "https://printreach.example"),
        ("  https://Printreach.Example:443/ ", "https://printreach.example"),
        ("http://192.168.1.5:8080", "http://192.168.1.5:8080"),
        ("", "None"),
        ("   ", "None"),
    ],
)
def test_an_address_is_read_as_people_type_it(typed: str, read: str) -> None:
    assert str(read_address(typed)) == read


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("printreach.example", "The address must start with http:// or https://."),
        ("ftp://printreach.example", "The address must start with http:// or https://."),
        ("https://a b", "The address must not contain blanks or control characters."),
        (
            "https://me:secret@printreach.example",
            "The address must not carry a user or a password.",
        ),
        (
            "https://printreach.example/settings",
            "The address must end behind the host and port, without a path.",
        ),
        ("https://:443", "The address has no valid host name or address."),
        ("https://x:99999", "The address must have a port from 1 to 65535."),
        ("x" * (MAX_ADDRESS_CHARS + 1), "The address must have 300 characters at most."),
        (None, "The address must have 300 characters at most."),
        (["https://x"], "The address must have 300 characters at most."),
    ],
)
def test_what_is_wrong_with_an_address_is_said_in_a_sentence(typed: object, sentence: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        read_address(typed)

    assert str(refused.value) == sentence


def test_an_unlinked_agent_shows_its_code() -> None:
    reported = shown(UNLINKED, SERVICE_URL, at=101.0)

    assert reported["Phase"] == "unlinked"
    assert reported["LinkCode"] == "ACDEFG34"
    assert reported["ExpiresInSec"] == 599
    assert reported["SavedAddress"] == SERVICE_URL
    assert reported["Says"] == "This printer isn't linked to an account yet."


def test_an_expired_code_is_not_shown() -> None:
    assert "LinkCode" not in shown(UNLINKED, SERVICE_URL, at=700.0)


@pytest.mark.parametrize(
    ("reported", "address", "says"),
    [
        (AgentStatus(), "", "Give the address"),
        (AgentStatus(), SERVICE_URL, "is starting"),
        (AgentStatus(trouble="No."), SERVICE_URL, "cannot run"),
    ],
)
def test_without_an_agent_the_page_says_what_is_missing(
    reported: AgentStatus, address: str, says: str
) -> None:
    page = shown(reported, address, at=0.0)

    assert says in str(page["Says"])
    assert page["Running"] is False
    assert page.get("LastError") == reported.trouble


def test_anybody_is_told_the_printer_and_never_the_code() -> None:
    reported = looked_up(UNLINKED, SERVICE_URL)

    assert reported.printer_id == PRINTER_ID
    assert "ACDEFG34" not in repr(reported)


def test_an_agent_that_never_ran_has_no_printer_id() -> None:
    reported = looked_up(AgentStatus(), "")

    assert (reported.printer_id, reported.service_url, reported.is_linked) == ("", "", False)
    assert reported.agent_version == __version__
