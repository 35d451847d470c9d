"""The settings page's data, without OctoPrint."""

from typing import Final

from printreach import __version__
from printreach.agent.addresses import BadAddress, WebAddress, parse_web_address
from printreach.agent.lan import Lookup, lookup
from printreach.agent.octoprint_plugin.supervisor import AgentStatus
from printreach.agent.state import phase_sentence
from printreach.agent.status import Report, report

MAX_ADDRESS_CHARS: Final = 300


class AddressRefused(Exception):
    """The service's address can't be used; the text is a sentence."""


def read_address(text: object) -> WebAddress | None:
    """Return the service's address as a person typed it; None for an empty field.

    Raises AddressRefused.
    """
    if not isinstance(text, str) or len(text) > MAX_ADDRESS_CHARS:
        raise AddressRefused(f"The address must have {MAX_ADDRESS_CHARS} characters at most.")
    stripped = text.strip()
    if not stripped:
        return None
    try:
        return parse_web_address(stripped)
    except BadAddress as error:
        raise AddressRefused(f"The address {error}.") from None


def shown(status: AgentStatus, address: str, at: float) -> Report:
    """Return what an administrator sees, the link code included.

    address: the service's, "" for none. at: monotonic seconds now.
    """
    if status.snapshot is not None:
        fields = {**report(status.snapshot, at), "Says": phase_sentence(status.snapshot.phase)}
    else:
        fields = {
            "Running": False,
            "IsLinked": False,
            "Says": _sentence_without_agent(status, address),
        }
        if status.trouble is not None:
            fields["LastError"] = status.trouble
    return {**fields, "SavedAddress": address}


def looked_up(status: AgentStatus, address: str) -> Lookup:
    """Return the facts for anyone on the network. An agent that never ran has no printer id yet."""
    if status.snapshot is not None:
        return lookup(status.snapshot)
    return Lookup(
        printer_id="",
        printer_name="",
        service_url=address,
        is_linked=False,
        agent_version=__version__,
    )


def _sentence_without_agent(status: AgentStatus, address: str) -> str:
    if status.trouble is not None:
        return "The agent cannot run."
    if address:
        return "The agent is starting."
    return "Give the address of your service, and the printer can be linked."
