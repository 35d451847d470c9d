"""Pages that block and unblock accounts."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from printreach.hub.denied import Denied
from printreach.web.accounts.forms import Fields
from printreach.web.flash import redirect_with_flash
from printreach.web.operator.account_pages import ACCOUNTS
from printreach.web.operator.context import OperatorContext, or_404

_PATH: Final = ACCOUNTS + "/{account_id:str}/block"


@get(_PATH, media_type=MediaType.HTML)
async def ask_to_block(
    account_id: FromPath[str], operator: NamedDependency[OperatorContext]
) -> Response[Any]:
    """Ask before an account is blocked or unblocked."""
    return operator.page("block.html", one=or_404(await operator.hub.account(account_id)))


@post(_PATH, media_type=MediaType.HTML)
async def block(
    account_id: FromPath[str],
    fields: NamedDependency[Fields],
    operator: NamedDependency[OperatorContext],
) -> Response[Any]:
    """Block or unblock the account."""
    one, blocked = or_404(await operator.hub.account(account_id)), fields["state"] == "on"
    refused = await operator.require_reauthentication(fields, "block.html", one=one)
    if refused is not None:
        return refused
    changed = await operator.hub.set_blocked(one.account.email, blocked=blocked, by=operator.by)
    if isinstance(changed, Denied):
        return operator.page("block.html", changed, one=one)
    return redirect_with_flash(f"{ACCOUNTS}/{account_id}", "blocked" if blocked else "unblocked")


BLOCK_PAGES = [ask_to_block, block]
