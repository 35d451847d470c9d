"""Pages of access tokens for a person's own programs."""

from typing import Any

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.hub.accounts.access_tokens import MadeToken
from printreach.hub.denied import Denied, Reason
from printreach.rules.accounts.access_tokens import SCOPES_IN_WORDS
from printreach.rules.accounts.sessions import is_fresh
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields, page
from printreach.web.safe_methods import USED_UP
from printreach.web.security import NO_REFERRER
from printreach.web.signed_in import SignedIn

PAGE = "/account/tokens"
_TEMPLATE = "account/tokens.html"
_PREFIX = "scope-"


@get(PAGE, media_type=MediaType.HTML)
async def show_tokens(signed_in: NamedDependency[SignedIn]) -> Template:
    """List the tokens, with the form for another one."""
    return page(_TEMPLATE, **await _shown(signed_in), typed="")


@post(PAGE, media_type=MediaType.HTML)
async def make_token(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Create a token, and redirect to the page that shows it once."""
    scopes = [name.removeprefix(_PREFIX) for name in fields.values if name.startswith(_PREFIX)]
    made = await signed_in.services.access_tokens.make_by_owner(
        signed_in.account, signed_in.session, fields["password"], fields["name"], scopes
    )
    if not isinstance(made, MadeToken):
        shown = await _shown(signed_in)
        is_name = isinstance(made, Denied) and made.reason is Reason.INVALID
        field = "name" if is_name else "password"
        return page(_TEMPLATE, made, field, **shown, typed=fields["name"])
    await signed_in.services.shown_tokens.put(signed_in.account_id, made.token.token_id, made)
    return Redirect(f"{PAGE}/{made.token.token_id}/secret", status_code=303)


@get(PAGE + "/{token_id:str}/secret", media_type=MediaType.HTML, opt=dict(USED_UP))
async def show_secret(token_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Show a new token once."""
    made = await signed_in.services.shown_tokens.take(signed_in.account_id, token_id)
    return Template(
        "account/token_once.html",
        context={"made": made},
        headers=dict(NO_REFERRER),
    )


@post(PAGE + "/done", media_type=MediaType.HTML)
async def done() -> Redirect:
    """Go on, now that the token is saved."""
    return Redirect(PAGE, status_code=303)


@get(PAGE + "/{token_id:str}/end", media_type=MediaType.HTML)
async def ask_to_end(token_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Ask before a program loses access."""
    for token in await signed_in.services.access_tokens.of_account(signed_in.account_id):
        if token.token_id == token_id:
            return Template("account/end_token.html", context={"token": token})
    raise NotFoundException("There is no such token")


@post(PAGE + "/{token_id:str}/end", media_type=MediaType.HTML)
async def end_token(token_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Redirect:
    """End a token; streams that it opened end too."""
    if not await signed_in.services.access_tokens.end(signed_in.account_id, token_id):
        raise NotFoundException("There is no such token")
    return redirect_with_flash(PAGE, "ended")


async def _shown(signed_in: SignedIn) -> dict[str, Any]:
    return {
        "me": signed_in.account,
        "is_fresh": is_fresh(signed_in.session, signed_in.services.clock.now()),
        "tokens": await signed_in.services.access_tokens.of_account(signed_in.account_id),
        "scopes": [
            (f"{_PREFIX}{scope.value}", words, scope.value)
            for scope, words in SCOPES_IN_WORDS.items()
        ],
    }


TOKENS = [show_tokens, make_token, show_secret, done, ask_to_end, end_token]
