"""The service's own failures in one table: code, meaning, what a person can do.

The codes are outside the range of HTTP, so that an app can always tell the service's own failure
from its printer's. `docs/errors.md` is generated from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from printreach.languages import N_


class ErrorCode(IntEnum):
    """The HTTP status of a failure of the service, on printer hosts and App APIs."""

    UNKNOWN = 600
    PRINTER_NOT_CONNECTED = 601
    PRINTER_TIMED_OUT = 602
    CONNECTION_NOT_FOUND = 603
    CONNECTION_ENDED = 604
    NOT_A_SUPPORTER = 605
    BAD_CREDENTIALS = 606
    DOWNLOAD_LIMIT = 607
    UPLOAD_LIMIT = 608
    WEBCAM_LIMIT = 609
    AGENT_UPDATE_REQUIRED = 610
    NO_PREVIEW_ACCESS = 611
    AGENT_ERROR = 612
    NO_ACTIVE_PRINT = 613


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The meaning of one code, for machines and for people.

    meaning: one sentence, the `Error` text where nothing more exact is known.
    title: the heading of the page for browsers; begins with `THIS_PRINTER` where the printer's
    name may replace it.
    remedy: one sentence, what the person in front of that page can do.
    temporary: waiting alone may cure it; the same request, sent again later, may succeed.
    name: the name beside the code, in the status line and at the foot of a page; "" for the
    code's own name.
    """

    meaning: str
    title: str
    remedy: str
    temporary: bool
    name: str = ""


def name_of(code: ErrorCode, failure: Failure | None) -> str:
    """Return what stands beside the code: "bad credentials".

    failure: what the code means here, if it isn't what it usually means.
    """
    own_name = code.name.lower().replace("_", " ")
    return own_name if failure is None else failure.name or own_name


THIS_PRINTER: Final = N_("This printer")

NOT_PERMITTED: Final = Failure(
    meaning=N_("The printer's owner has not allowed this connection to do that."),
    title=N_("Not allowed here"),
    remedy=N_("If the printer is yours, change this under Connections. If not, ask its owner."),
    temporary=False,
    name="not allowed",
)
"""The meaning of 606 where the credentials are right and a permission is missing."""

REMOTE_LOCKED: Final = Failure(
    meaning=N_("Remote control is locked. The printer's owner can unlock it on the dashboard."),
    title=N_("Locked by the printer's owner"),
    remedy=N_("If the printer is yours, unlock remote control with your password or a passkey."),
    temporary=False,
    name="remote control locked",
)
"""The meaning of 606 where the credentials are right and remote control is locked."""

BUSY: Final = N_("The service is busy.")
"""The sentence of a service that is overloaded, or whose database gives no answer."""

FAILURES: Final[Mapping[ErrorCode, Failure]] = MappingProxyType(
    {
        ErrorCode.UNKNOWN: Failure(
            meaning=N_("The service failed for an unknown reason."),
            title=N_("Something went wrong here"),
            remedy=N_("Try again in a moment."),
            temporary=True,
        ),
        ErrorCode.PRINTER_NOT_CONNECTED: Failure(
            meaning=N_("The printer's agent is not connected to the service."),
            title=N_("This printer isn't connected"),
            remedy=N_("Check that the printer's computer is switched on and reaches the internet."),
            temporary=True,
        ),
        ErrorCode.PRINTER_TIMED_OUT: Failure(
            meaning=N_("The connection to the printer's agent stopped answering."),
            title=N_("This printer took too long"),
            remedy=N_("Try again in a moment."),
            temporary=True,
        ),
        ErrorCode.CONNECTION_NOT_FOUND: Failure(
            meaning=N_("No App Connection has this address."),
            title=N_("This connection doesn't exist"),
            remedy=N_("Check the address for a typing mistake."),
            temporary=False,
        ),
        ErrorCode.CONNECTION_ENDED: Failure(
            meaning=N_("The App Connection was revoked, has expired, or its printer was removed."),
            title=N_("This connection has ended"),
            remedy=N_("Set it up again in the app."),
            temporary=False,
        ),
        ErrorCode.NOT_A_SUPPORTER: Failure(
            meaning=N_(
                "The printer's owner is no longer a supporter, so the connection is paused."
            ),
            title=N_("Paused: the owner isn't a supporter"),
            remedy=N_("The owner can restore it; it then works as before."),
            temporary=False,
        ),
        ErrorCode.BAD_CREDENTIALS: Failure(
            meaning=N_("The credentials of this connection are missing or wrong."),
            title=N_("Sign-in details missing or wrong"),
            remedy=N_("Connect the printer again in the app."),
            temporary=False,
        ),
        ErrorCode.DOWNLOAD_LIMIT: Failure(
            meaning=N_("The download is larger than the account's limit."),
            title=N_("File too large to download"),
            remedy=N_("Ask whoever runs this service to raise the download limit."),
            temporary=False,
        ),
        ErrorCode.UPLOAD_LIMIT: Failure(
            meaning=N_("The upload is larger than the account's limit."),
            title=N_("File too large to upload"),
            remedy=N_("Ask whoever runs this service to raise the upload limit."),
            temporary=False,
        ),
        ErrorCode.WEBCAM_LIMIT: Failure(
            meaning=N_("The account's webcam limit is reached."),
            title=N_("Webcam time used up"),
            remedy=N_("Close other views of this webcam, then open it again."),
            temporary=True,
        ),
        ErrorCode.AGENT_UPDATE_REQUIRED: Failure(
            meaning=N_("The printer's agent is too old for this request and must be updated."),
            title=N_("Update the agent"),
            remedy=N_("Install the newest agent on the printer's computer and restart it."),
            temporary=False,
        ),
        ErrorCode.NO_PREVIEW_ACCESS: Failure(
            meaning=N_("The account has no access to this preview feature."),
            title=N_("Not open to this account"),
            remedy=N_("Go back; this feature is still being tried out by a few accounts."),
            temporary=False,
        ),
        ErrorCode.AGENT_ERROR: Failure(
            meaning=N_("The printer's agent could not carry out the request."),
            title=N_("The agent hit an error"),
            remedy=N_("Try again; the agent's log says what happened."),
            temporary=True,
        ),
        ErrorCode.NO_ACTIVE_PRINT: Failure(
            meaning=N_("No print is active on this printer."),
            title=N_("Nothing is printing"),
            remedy=N_("Go back and start a print first."),
            temporary=True,
        ),
    }
)

AWAITED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "611": "preview features",
    }
)
"""Codes of the interface that are not used yet, and the part that will use them.

A code is removed from this table by the commit that returns it, with a test that provokes it."""
