"""Stopping everything, and the lock of remote control that comes with it.

Locking asks for no password, so that two taps do it in an emergency; unlocking asks for the
password or a passkey.
"""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.printers.remote_lock import StoppedPrinter, StopResult
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.credentials import passkey_options
from printreach.web.cookies import STEP
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields, page
from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import USED_UP
from printreach.web.signed_in import Browser, SignedIn, note_lock

LOCK_PAGE: Final = "/remote-lock"
_OUTCOME: Final = "/stop-everything/outcome"
_LOCKED: Final = "dashboard/locked.html"
_URGENT: Final = (StopResult.UNREACHABLE, StopResult.FAILED, StopResult.STOPPED, StopResult.NOTHING)
"""Outcomes in the order in which the person has to run to the printers."""


@get("/stop-everything", media_type=MediaType.HTML)
async def ask_to_stop_everything(signed_in: NamedDependency[SignedIn]) -> Template:
    """Ask before all prints are lost."""
    rows = await signed_in.services.own_printers.rows(signed_in.account_id)
    context = {"count": len(rows), "is_locked": signed_in.account.is_locked}
    return Template("dashboard/stop_everything.html", context=context)


@post("/stop-everything", media_type=MediaType.HTML)
async def stop_everything(request: AnyRequest, signed_in: NamedDependency[SignedIn]) -> Redirect:
    """Lock remote control, stop every print, and redirect to the outcome.

    The outcome has a page of its own, so that reloading it neither stops nor locks again.
    """
    account_id = signed_in.account_id
    printers = await signed_in.services.remote_lock.stop_everything(account_id)
    note_lock(request, is_locked=True)
    printers.sort(key=_urgency)
    await signed_in.services.shown_stops.put(account_id, _outcome_of(signed_in), printers)
    return Redirect(_OUTCOME, status_code=303)


@get(_OUTCOME, media_type=MediaType.HTML, opt=dict(USED_UP))
async def stopped_everything(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Show once the outcome for each printer; later, whether remote control is locked."""
    account_id, outcome = signed_in.account_id, _outcome_of(signed_in)
    printers = await signed_in.services.shown_stops.take(account_id, outcome)
    if printers is None:
        return Redirect(LOCK_PAGE, status_code=303)
    return Template("dashboard/stopped_everything.html", context={"printers": printers})


def _outcome_of(signed_in: SignedIn) -> str:
    """Return the name of the outcome for this browser; another browser that stops has its own."""
    return f"{_OUTCOME}/{signed_in.session.session_id}"


@get(LOCK_PAGE, media_type=MediaType.HTML)
async def lock_page(signed_in: NamedDependency[SignedIn]) -> Template:
    """Say whether remote control is locked, with the form that unlocks it."""
    return page(_LOCKED, **await _context(signed_in))


@post(f"{LOCK_PAGE}/unlock", media_type=MediaType.HTML)
async def unlock(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Unlock by the password."""
    account, session = signed_in.account, signed_in.session
    refused = await signed_in.services.remote_lock.unlock(account, session, fields["password"])
    return await _unlocked(refused, signed_in)


@post(f"{LOCK_PAGE}/passkey/begin", status_code=200)
async def begin_passkey(
    signed_in: NamedDependency[SignedIn], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Return the challenge that the authenticator signs."""
    passkeys = signed_in.services.passkeys
    challenge = await passkeys.begin_proof(signed_in.account, browser.visitor)
    return passkey_options(challenge, browser.jar)


@post(f"{LOCK_PAGE}/passkey", media_type=MediaType.HTML)
async def unlock_with_passkey(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    browser: NamedDependency[Browser],
) -> Response[Any]:
    """Unlock by an authenticator's response."""
    refused = await signed_in.services.remote_lock.unlock_with_passkey(
        signed_in.account, browser.cookie(STEP), fields["answer"]
    )
    return await _unlocked(refused, signed_in)


async def _unlocked(refused: Denied | TooSoon | None, signed_in: SignedIn) -> Response[Any]:
    if refused is None:
        return redirect_with_flash("/printers", "unlocked")
    return page(_LOCKED, refused, "password", **await _context(signed_in))


def _urgency(printer: StoppedPrinter) -> tuple[int, bool, str]:
    outcome = printer.outcome
    return _URGENT.index(outcome.stop), not outcome.heaters, printer.name.casefold()


async def _context(signed_in: SignedIn) -> dict[str, Any]:
    account = signed_in.account
    return {
        "account": account,
        "has_passkeys": bool(await signed_in.services.passkeys.of_account(account.account_id)),
    }


LOCK_PAGES = [
    *(ask_to_stop_everything, stop_everything, stopped_everything, lock_page, unlock),
    *(begin_passkey, unlock_with_passkey),
]
