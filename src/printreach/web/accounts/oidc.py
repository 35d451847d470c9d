"""Sign-in through an OpenID Connect provider: the redirect there, and the callback."""

from typing import Any, assert_never

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect, Template

from printreach.hub.accounts.oidc import IdentityJoined, ProviderRedirect
from printreach.hub.accounts.sessions import NewSession
from printreach.hub.accounts.signing_in import NeedsCode
from printreach.hub.denied import Denied, Reason
from printreach.ports.signing_in import ProviderAnswer
from printreach.rules.accounts.sessions import STEP_LIFETIME
from printreach.rules.own_paths import HOME
from printreach.web.accounts.overview import SECURITY, security_page
from printreach.web.accounts.signing_in import sign_in_form, start_session, step_redirect
from printreach.web.cookies import STEP, Cookies
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import USED_UP
from printreach.web.security import PUBLIC
from printreach.web.signed_in import Browser, SignedIn

_FIELD = "other"
_LONGEST_WORD = 4096
"""Characters of a parameter from the provider; codes are the longest, and some are signed
tokens.
"""


@post("/signin/other", media_type=MediaType.HTML, status_code=200, opt=dict(PUBLIC))
async def begin_sign_in(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Send the browser to the provider, and remember the page to return to."""
    sent = await browser.services.other_accounts.begin_sign_in(
        browser.visitor, fields.next_path, fields["invite"]
    )
    if isinstance(sent, ProviderRedirect):
        return _auto_redirect_page(sent, browser.jar)
    return await sign_in_form(browser, fields.next_path, sent, field=_FIELD)


@get("/signin/other/back", media_type=MediaType.HTML, opt=dict(USED_UP))
async def complete_sign_in(
    session: NamedDependency[SignedIn | None], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Complete the sign-in of a browser that returns from the provider, if we sent it there."""
    finished = await browser.services.other_accounts.finish(
        _answer(browser.request),
        browser.cookie(STEP),
        session.account if session else None,
        browser.visitor,
    )
    outcome, next_path = finished.outcome, finished.next_path
    match outcome:
        case NewSession():
            return await start_session(browser, outcome, next_path)
        case NeedsCode(token):
            return step_redirect(next_path, token, browser.jar)
        case IdentityJoined():
            return Redirect(f"{SECURITY}#other", status_code=303)
        case Denied(Reason.STEP_OVER) if session is not None:
            # A reload, or the back button: the joining is already done.
            return Redirect(HOME, status_code=303)
        case Denied() if session is not None:
            return await security_page(session, outcome, _FIELD)
        case Denied():
            return await sign_in_form(browser, next_path, outcome, field=_FIELD)
        case _:
            assert_never(outcome)


@post("/account/other", media_type=MediaType.HTML, status_code=200)
async def begin_joining(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Send the account's owner to the provider, by which they can sign in from then on."""
    sent = await signed_in.services.other_accounts.begin_joining(
        signed_in.account, signed_in.session, fields["other-password"]
    )
    if isinstance(sent, ProviderRedirect):
        return _auto_redirect_page(sent, jar)
    return await security_page(signed_in, sent, "other-password")


@post("/account/other/remove", media_type=MediaType.HTML)
async def remove_identity(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Remove a provider's identity from the account."""
    refused = await signed_in.services.other_accounts.part(
        signed_in.account, signed_in.session, fields["other-password"], fields["identity"]
    )
    if refused is not None:
        return await security_page(signed_in, refused, "other-password")
    return redirect_with_flash(SECURITY, "other-removed")


def _answer(request: AnyRequest) -> ProviderAnswer:
    """Return the parameters of the callback; repeated ones count as missing."""
    query = request.query_params

    def only(name: str) -> str | None:
        values = query.getall(name, [])
        return values[0][:_LONGEST_WORD] if len(values) == 1 else None

    return ProviderAnswer(
        code=only("code"), state=only("state"), issuer=only("iss"), error=only("error")
    )


def _auto_redirect_page(sent: ProviderRedirect, jar: Cookies) -> Response[Any]:
    """Render a page that redirects by itself.

    It is not an HTTP redirect, since some browsers apply the policy for form targets, which allows
    this service alone, to redirects of a form, too.
    """
    answer = Template("account/to_provider.html", context={"to": sent.address})
    answer.set_cookie(jar.set(STEP, sent.token, STEP_LIFETIME))
    return answer


OTHER = [begin_sign_in, complete_sign_in, begin_joining, remove_identity]
