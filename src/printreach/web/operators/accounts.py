"""Pages that list, change, invite and delete accounts."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.accounts.limits import DEFAULT_ACCOUNT_LIMITS, LimitChanges, with_changes
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import AccountFilter, Search
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.operators.context import ConfirmedAct, OperatorContext, listed, or_404
from printreach.web.operators.service import LIMITS_REAUTH_FIELD, limit_fields, limits_typed
from printreach.web.safe_methods import USED_UP

ACCOUNTS: Final = "/operator/accounts"
_BLOCK: Final = ACCOUNTS + "/{account_id:str}/block"
SUPPORTER_REAUTH_FIELD: Final = "supporter-password"
_INVITED: Final = "/operator/invite/link"
CUSTOMER_REAUTH_FIELD: Final = "customer-password"
_NO_DATE: Final = Denied(
    Reason.INVALID, N_("Give the last day, such as 2030-12-31, or leave it empty.")
)
_PAST: Final = Denied(Reason.INVALID, N_("That day is over."))


@get(ACCOUNTS, media_type=MediaType.HTML)
async def accounts_page(
    operator: NamedDependency[OperatorContext],
    search: NamedDependency[Search],
    show: FromQuery[str | None] = None,
) -> Response[Any]:
    """List the accounts that match the search."""
    chosen = AccountFilter(show) if show in set(AccountFilter) else AccountFilter.ALL
    rows = await operator.hub.find_accounts(search, chosen)
    return operator.page(
        "accounts.html",
        listing=listed(ACCOUNTS, rows, search, chosen.value),
        supporters_are_all=operator.hub.billing.core.supporters is SupporterPolicy.EVERYONE,
        at=operator.hub.core.clock.now(),
    )


@get(ACCOUNTS + "/{account_id:str}", media_type=MediaType.HTML)
async def account_page(
    account_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Show one account."""
    return await _page(operator, account_id)


@post(ACCOUNTS + "/{account_id:str}/supporter", media_type=MediaType.HTML)
async def set_supporter(
    account_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Grant supporter status, up to a day or for good, or revoke the grant."""
    account = or_404(await operator.hub.account(account_id)).account
    refused = await operator.reauthenticate(fields, SUPPORTER_REAUTH_FIELD)
    if refused is not None:
        return await _page(operator, account_id, refused, SUPPORTER_REAUTH_FIELD)
    granted, until = fields["state"] == "on", None
    if granted and fields["until"].strip():
        until = _end_of_day(fields["until"].strip())
        if until is None:
            return await _page(operator, account_id, _NO_DATE, "until")
        if until <= operator.hub.core.clock.now():
            return await _page(operator, account_id, _PAST, "until")
    or_404(
        await operator.hub.accounts.set_supporter(
            account.email, granted=granted, until=until, by=operator.by
        )
    )
    return redirect_with_flash(f"{ACCOUNTS}/{account_id}", "granted" if granted else "taken")


@post(ACCOUNTS + "/{account_id:str}/customer", media_type=MediaType.HTML)
async def forget_customer(
    account_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Let the account subscribe again if the payment provider no longer knows it."""
    or_404(await operator.hub.account(account_id))
    refused = await operator.reauthenticate(fields, CUSTOMER_REAUTH_FIELD)
    if refused is None:
        refused = await operator.hub.forget_customer(account_id, operator.by)
    if refused is not None:
        return await _page(operator, account_id, refused, CUSTOMER_REAUTH_FIELD)
    return redirect_with_flash(f"{ACCOUNTS}/{account_id}", "forgotten")


@post(ACCOUNTS + "/{account_id:str}/limits", media_type=MediaType.HTML)
async def set_limits(
    account_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Set the account's own limits."""
    account = or_404(await operator.hub.account(account_id)).account
    typed = limits_typed(fields)
    if not isinstance(typed, LimitChanges):
        return await _page(operator, account_id, typed=fields, errors=typed)
    refused = await operator.reauthenticate(fields, LIMITS_REAUTH_FIELD)
    if refused is not None:
        return await _page(operator, account_id, refused, LIMITS_REAUTH_FIELD, typed=fields)
    refused = await operator.hub.limits.set_of_account(account.email, typed, operator.by)
    if refused is not None:
        return await _page(operator, account_id, refused, "upload_bytes", typed=fields)
    return redirect_with_flash(f"{ACCOUNTS}/{account_id}", "limits")


@post(ACCOUNTS + "/{account_id:str}/operator", media_type=MediaType.HTML)
async def set_operator(
    account_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Make the account an operator's, or revoke that."""
    account = or_404(await operator.hub.account(account_id)).account
    refused = await operator.reauthenticate(fields)
    if refused is not None:
        return await _page(operator, account_id, refused)
    is_admin = fields["state"] == "on"
    changed = await operator.hub.set_admin(account.email, is_admin=is_admin, by=operator.by)
    if isinstance(changed, Denied):
        return await _page(operator, account_id, changed)
    return redirect_with_flash(f"{ACCOUNTS}/{account_id}", "operator")


@get("/operator/invite", media_type=MediaType.HTML)
async def invite_page(operator: NamedDependency[OperatorContext]) -> Response[Any]:
    """Ask for the mail address to invite."""
    return operator.page("invite.html", email="", url="")


@post("/operator/invite", media_type=MediaType.HTML)
async def invite(
    fields: NamedDependency[Fields], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Create an invitation and show its link once."""
    email, is_admin = fields["email"].strip(), fields["operator"] == "yes"
    refused = await operator.reauthenticate(fields)
    if refused is not None:
        return operator.page("invite.html", refused, email=email[:254], url="")
    url = await operator.hub.invitations.invite(
        email or None, is_admin=is_admin, supporter=fields["supporter"] == "yes", by=operator.by
    )
    if isinstance(url, Denied):
        return operator.page("invite.html", url, "email", email=email[:254], url="")
    account_id = operator.signed_in.account_id
    await operator.services.shown_invitations.put(account_id, _INVITED, (email, url))
    return Redirect(_INVITED, status_code=303)


@get(_INVITED, media_type=MediaType.HTML, opt=dict(USED_UP))
async def invited_page(operator: NamedDependency[OperatorContext]) -> Response[Any]:
    """Show the link once; to load the page again must not invite again."""
    account_id = operator.signed_in.account_id
    shown = await operator.services.shown_invitations.take(account_id, _INVITED)
    if shown is None:
        return Redirect("/operator/invite", status_code=303)
    email, url = shown
    return operator.page("invite.html", email=email, url=url)


async def _page(
    operator: OperatorContext,
    account_id: str,
    fault: Denied | TooSoon | None = None,
    field: str = "password",
    *,
    typed: Fields | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response[Any]:
    operated = or_404(await operator.hub.account(account_id))
    of_service = with_changes(DEFAULT_ACCOUNT_LIMITS, await operator.hub.limits.of_service())
    shown = operator.page(
        "account.html",
        fault,
        field,
        operated=operated,
        is_me=account_id == operator.signed_in.account_id,
        limits=limit_fields(operated.changes, of_service, typed),
        at=operator.hub.core.clock.now(),
    )
    if errors:
        shown.context["errors"] = errors
        shown.status_code = 400
    return shown


def _end_of_day(text: str) -> datetime | None:
    """Return the first instant after that day; None if the text is no date."""
    try:
        day = date.fromisoformat(text)
        return datetime.combine(day, time(), UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


@get(_BLOCK, media_type=MediaType.HTML)
async def ask_to_block(
    account_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Ask before an account is blocked or unblocked."""
    return operator.page("block.html", row=or_404(await operator.hub.account(account_id)))


@post(_BLOCK, media_type=MediaType.HTML)
async def block(
    account_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Block or unblock the account."""
    row, blocked = or_404(await operator.hub.account(account_id)), fields["state"] == "on"
    refused = await operator.reauthenticate(fields)
    if refused is not None:
        return operator.page("block.html", refused, row=row)
    changed = await operator.hub.set_blocked(row.account.email, blocked=blocked, by=operator.by)
    if isinstance(changed, Denied):
        return operator.page("block.html", changed, row=row)
    return redirect_with_flash(f"{ACCOUNTS}/{account_id}", "blocked" if blocked else "unblocked")


_DELETE = ConfirmedAct(
    path=ACCOUNTS + "/{record_id:str}/delete",
    template="delete_account.html",
    find=lambda operating, account_id: operating.account(account_id),
    act=lambda operating, row, by: operating.delete(row.account.email, by),
    back=ACCOUNTS,
    flash="deleted",
)
ACCOUNT_PAGES = [
    *(accounts_page, account_page, set_supporter, forget_customer, set_limits, set_operator),
    *(ask_to_block, block, *_DELETE.routes(), invite_page, invite, invited_page),
]
