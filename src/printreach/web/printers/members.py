"""Pages on which an owner lets people in to a printer, and on which people accept and leave."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.members import PATH
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.tries import LINK_BY_ADDRESS
from printreach.languages import N_
from printreach.rules.own_paths import path_with_next, sign_in_path
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.members import Role, parse_role
from printreach.rules.rate_limits import TooSoon
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields, sentence_of
from printreach.web.printers.view import PrinterView, view_of
from printreach.web.problems import or_404
from printreach.web.safe_methods import USED_UP
from printreach.web.services import Services
from printreach.web.signed_in import Browser, SignedIn, raise_if_too_soon

_PEOPLE: Final = "dashboard/people.html"
_OFFER: Final = "dashboard/offer.html"
_CHOOSE: Final = N_("Choose what they may do.")
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({"email": "", "role": "watch", "uses": "1"})
_NO_ERRORS: Final[Mapping[str, str]] = MappingProxyType({})


@get("/printers/{printer_id:str}/people", media_type=MediaType.HTML)
async def people_page(
    seen: NamedDependency[SeenPrinter], signed_in: NamedDependency[SignedIn]
) -> Template:
    """Show who has access, with the form that lets somebody in."""
    return await _people(seen, signed_in)


@post("/printers/{printer_id:str}/people", media_type=MediaType.HTML)
async def invite(
    seen: NamedDependency[SeenPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Invite the person with a mail address, or make a link; the answer is the same whether the
    address has an account.
    """
    typed = {name: fields[name].strip() for name in _EMPTY}
    role, email = parse_role(typed["role"]), typed["email"] or None
    if role is None:
        return await _people(seen, signed_in, typed={**typed, "role": ""}, errors={"role": _CHOOSE})
    uses = int(typed["uses"]) if typed["uses"].isascii() and typed["uses"].isdigit() else 0
    owned, services = seen.printer.owned, signed_in.services
    made = await services.members.invite(
        signed_in.account, owned.printer_id, role, email, 1 if email else uses
    )
    if isinstance(made, Denied | TooSoon):
        return await _people(seen, signed_in, typed=typed, errors={"email": sentence_of(made)})
    base = f"/printers/{owned.printer_id}/people"
    if made.was_mailed:
        return redirect_with_flash(base, "invited")
    invitation_id = made.invitation.invitation_id
    await services.shown_member_invitations.put(signed_in.account_id, invitation_id, made)
    return Redirect(f"{base}/link/{invitation_id}", status_code=303)


@get(
    "/printers/{printer_id:str}/people/link/{invitation_id:str}",
    media_type=MediaType.HTML,
    opt=dict(USED_UP),
)
async def link_page(
    invitation_id: FromPath[str],
    view: NamedDependency[PrinterView],
    signed_in: NamedDependency[SignedIn],
) -> Template:
    """Show the link of a new invitation once."""
    shown = signed_in.services.shown_member_invitations
    made = await shown.take(signed_in.account_id, invitation_id)
    return Template("dashboard/people_link.html", context={"view": view, "made": made})


@post("/printers/{printer_id:str}/people/link/{invitation_id:str}/end", media_type=MediaType.HTML)
async def end_invitation(
    invitation_id: FromPath[str],
    owned: NamedDependency[OwnedPrinter],
    services: NamedDependency[Services],
) -> Redirect:
    """End an invitation."""
    await services.members.end_invitation(owned.account_id, invitation_id)
    return redirect_with_flash(f"/printers/{owned.printer_id}/people", "invitation-ended")


@post("/printers/{printer_id:str}/people/{person_id:str}/role", media_type=MediaType.HTML)
async def change_role(
    person_id: FromPath[str],
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Redirect:
    """Change what a person may do."""
    role = parse_role(fields["role"]) or Role.WATCH
    changed = await services.members.change_role(
        owned.account_id, owned.printer_id, person_id, role
    )
    or_404(changed)
    return redirect_with_flash(f"/printers/{owned.printer_id}/people", "role")


@get("/printers/{printer_id:str}/people/{person_id:str}/end", media_type=MediaType.HTML)
async def ask_to_end(
    person_id: FromPath[str],
    view: NamedDependency[PrinterView],
    owned: NamedDependency[OwnedPrinter],
    services: NamedDependency[Services],
) -> Template:
    """Ask before somebody loses access."""
    people = or_404(await services.members.of_printer(owned.account_id, owned.printer_id))
    found = [one for one in people.members if one.member.person_id == person_id]
    context = {"view": view, "person": found[0] if found else None}
    return Template("dashboard/end_person.html", context=context)


@post("/printers/{printer_id:str}/people/{person_id:str}/end", media_type=MediaType.HTML)
async def end(
    person_id: FromPath[str],
    owned: NamedDependency[OwnedPrinter],
    services: NamedDependency[Services],
) -> Redirect:
    """End a person's access; ended access stays so."""
    await services.members.end(owned.account_id, owned.printer_id, person_id)
    return redirect_with_flash(f"/printers/{owned.printer_id}/people", "person-ended")


@get("/printers/{printer_id:str}/leave", media_type=MediaType.HTML)
async def ask_to_leave(view: NamedDependency[PrinterView]) -> Template:
    """Ask before a person gives up their access."""
    return Template("dashboard/leave.html", context={"view": view})


@post("/printers/{printer_id:str}/leave", media_type=MediaType.HTML)
async def leave(
    admitted: NamedDependency[AdmittedPrinter], signed_in: NamedDependency[SignedIn]
) -> Redirect:
    """Give up one's access."""
    await signed_in.services.members.leave(signed_in.account_id, admitted.printer.printer_id)
    return redirect_with_flash("/printers", "left")


@get(PATH, media_type=MediaType.HTML)
async def offer_page(
    session: NamedDependency[SignedIn | None],
    browser: NamedDependency[Browser],
    token: FromQuery[str] = "",
) -> Response[Any]:
    """Show a signed-in person what an invitation offers; ask others to sign in or up first."""
    if session is None:
        closed = await browser.services.signing_up.closed()
        path = f"{PATH}?token={token}"
        context = {
            "sign_in": sign_in_path(path),
            "sign_up": path_with_next("/signup", path),
            "closed": "" if closed is None else closed.sentence,
        }
        return Template("dashboard/offer_signed_out.html", context=context)
    return await _offer(session, browser, token)


@post(PATH, media_type=MediaType.HTML)
async def answer_offer(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    browser: NamedDependency[Browser],
) -> Response[Any]:
    """Accept or decline an invitation."""
    token, members = fields["token"], signed_in.services.members
    _count_try(browser)
    if fields["answer"] != "accept":
        declined = await members.decline(signed_in.account, token)
        if isinstance(declined, Denied):
            return _over(declined)
        return redirect_with_flash("/printers", "declined")
    accepted = await members.accept(signed_in.account, token)
    if isinstance(accepted, Denied):
        return _over(accepted)
    return redirect_with_flash(f"/printers/{accepted}", "accepted")


# --- helpers --------------------------------------------------------------------------------------


async def _people(
    seen: SeenPrinter,
    signed_in: SignedIn,
    *,
    typed: Mapping[str, str] = _EMPTY,
    errors: Mapping[str, str] = _NO_ERRORS,
) -> Template:
    services, printer = signed_in.services, seen.printer
    people = or_404(await services.members.of_printer(signed_in.account_id, printer.printer_id))
    closed = await services.signing_up.closed()
    context = {
        "view": view_of(seen, services.clock.now()),
        "people": people,
        "typed": typed,
        "errors": errors,
        "is_closed": closed is not None,
        "may_invite": signed_in.is_admin,
    }
    return Template(_PEOPLE, context=context, status_code=400 if errors else 200)


async def _offer(signed_in: SignedIn, browser: Browser, token: str) -> Response[Any]:
    _count_try(browser)
    offer = await signed_in.services.members.offer(signed_in.account, token)
    if isinstance(offer, Denied):
        return _over(offer)
    context = {"offer": offer, "token": token, "me": signed_in.account}
    return Template(_OFFER, context=context)


def _over(denied: Denied) -> Response[Any]:
    context = {"sentence": denied.sentence}
    return Template("dashboard/offer_over.html", context=context, status_code=400)


def _count_try(browser: Browser) -> None:
    """Count a link that is looked up. Raises TooManyRequestsException."""
    tries, address = browser.services.caller_tries, browser.visitor.address
    raise_if_too_soon(tries.take_by_address(LINK_BY_ADDRESS, address))


MEMBER_PAGES: Final = [
    *(people_page, invite, link_page, end_invitation, change_role, ask_to_end, end),
    *(ask_to_leave, leave, offer_page, answer_offer),
]
