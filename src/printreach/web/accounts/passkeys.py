"""Passkeys: a script asks the authenticator, and a form sends its response."""

from typing import Any

from litestar import MediaType, Response, post
from litestar.di import NamedDependency

from printreach.hub.accounts.passkeys import PasskeyRequest
from printreach.hub.accounts.sessions import NewSession
from printreach.hub.denied import Denied
from printreach.languages import translate
from printreach.rules.accounts.passkeys import Passkey
from printreach.rules.accounts.steps import STEP_LIFETIME
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.overview import SECURITY, parse_passkey_id, security_page
from printreach.web.accounts.signing_in import sign_in_form, start_session
from printreach.web.cookies import STEP, Cookies
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.problems import Problem
from printreach.web.security import PUBLIC
from printreach.web.signed_in import Browser, SignedIn, too_many


@post("/signin/passkey/begin", status_code=200, opt=dict(PUBLIC))
async def begin_sign_in(browser: NamedDependency[Browser]) -> Response[Any]:
    """Return the challenge that the authenticator signs."""
    challenge = await browser.services.passkeys.begin_sign_in(browser.visitor)
    return passkey_options(challenge, browser.jar)


@post("/signin/passkey", media_type=MediaType.HTML, opt=dict(PUBLIC))
async def sign_in_with_passkey(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Sign in by an authenticator's response."""
    outcome = await browser.services.passkeys.sign_in(
        browser.cookie(STEP), fields["answer"], browser.visitor
    )
    if isinstance(outcome, NewSession):
        return await start_session(browser, outcome, fields.next_path)
    return await sign_in_form(browser, fields.next_path, outcome)


@post("/account/passkeys/begin", status_code=200)
async def begin_adding(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Return the options with which the authenticator creates a passkey."""
    challenge = await signed_in.services.passkeys.begin_adding(
        signed_in.account, signed_in.session, fields["passkey-password"]
    )
    return passkey_options(challenge, jar)


@post("/account/passkeys", media_type=MediaType.HTML)
async def add_passkey(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    browser: NamedDependency[Browser],
) -> Response[Any]:
    """Store a passkey that an authenticator has created."""
    result = await signed_in.services.passkeys.add(
        signed_in.account, browser.cookie(STEP), fields["answer"], fields["passkey-name"]
    )
    if isinstance(result, Passkey):
        return redirect_with_flash(SECURITY, "passkey")
    return await security_page(signed_in, result, "passkey-name")


@post("/account/passkeys/remove", media_type=MediaType.HTML)
async def remove_passkey(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Delete a passkey."""
    refused = await signed_in.services.passkeys.remove(
        signed_in.account,
        signed_in.session,
        fields["passkey-password"],
        parse_passkey_id(fields["passkey"]),
    )
    if refused is not None:
        return await security_page(signed_in, refused, "passkey-password")
    return redirect_with_flash(SECURITY, "passkey-removed")


def passkey_options(challenge: PasskeyRequest | Denied | TooSoon, jar: Cookies) -> Response[Any]:
    """Return the options for the script, and set the cookie of the step."""
    if isinstance(challenge, TooSoon):
        raise too_many(challenge)
    if isinstance(challenge, Denied):
        return Response(Problem(status=400, error=translate(challenge.sentence)), status_code=400)
    answer = Response(challenge.options.encode(), media_type=MediaType.JSON)
    answer.set_cookie(jar.set(STEP, challenge.token, STEP_LIFETIME))
    return answer


PASSKEYS = [begin_sign_in, sign_in_with_passkey, begin_adding, add_passkey, remove_passkey]
