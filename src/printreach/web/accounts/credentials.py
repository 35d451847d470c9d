"""Changes of password, address, authenticator app and passkeys.

For a passkey a script asks the authenticator, and a form sends its response.
"""

from typing import Any

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from printreach.hub.accounts.owner import Refusal
from printreach.hub.accounts.passkeys import PasskeyRequest
from printreach.hub.accounts.sessions import NewSession
from printreach.hub.denied import Denied, Reason
from printreach.languages import translate
from printreach.rules.accounts.second_factors import Passkey, key_uri, secret_in_words, spaced
from printreach.rules.accounts.sessions import STEP_LIFETIME
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.overview import (
    PAGE,
    SECURITY,
    account_page,
    parse_passkey_id,
    security_page,
)
from printreach.web.accounts.signing_in import remember_device, sign_in_form, start_session
from printreach.web.cookies import STEP, Cookies
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields, page
from printreach.web.problems import Problem
from printreach.web.qr_code import qr_code
from printreach.web.safe_methods import USED_UP
from printreach.web.security import PUBLIC
from printreach.web.signed_in import Browser, SignedIn, too_many

_TOTP = "account/totp.html"
_CODES_PAGE = "/account/recovery-codes/new"
_CODES = "account/recovery_codes.html"
_CHANGE = "account/confirm_mail.html"
_OVER = "account/link_over.html"


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


@post("/account/password", media_type=MediaType.HTML)
async def change_password(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Change the password."""
    outcome = await signed_in.services.owner.change_password(
        signed_in.account, signed_in.session, fields["old-password"], fields["new-password"]
    )
    if isinstance(outcome, str):
        answer = redirect_with_flash(SECURITY, "password")
        remember_device(answer, outcome, jar)
        return answer
    is_new = isinstance(outcome, Denied) and outcome.reason is Reason.BAD_PASSWORD
    field = "new-password" if is_new else "old-password"
    return await security_page(signed_in, outcome, field)


@post("/account/mail", media_type=MediaType.HTML)
async def ask_for_address(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Send a confirmation link to the new mail address."""
    refused = await signed_in.services.owner.ask_for_address(
        signed_in.account, signed_in.session, fields["mail-password"], fields["new-mail"]
    )
    if refused is None:
        has_mail_server = signed_in.services.notifications.core.has_mail_server
        return redirect_with_flash(PAGE, "link-sent" if has_mail_server else "link-in-log")
    is_address = isinstance(refused, Denied) and refused.reason is Reason.INVALID
    return await account_page(signed_in, refused, "new-mail" if is_address else "mail-password")


@get("/account/mail/confirm", media_type=MediaType.HTML)
async def confirm_address_page(
    signed_in: NamedDependency[SignedIn], token: FromQuery[str] = ""
) -> Response[Any]:
    """Ask for confirmation before the link is used up."""
    return page(_CHANGE, token=token, account=signed_in.account)


@post("/account/mail/confirm", media_type=MediaType.HTML)
async def change_address(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Change the account's mail address."""
    refused = await signed_in.services.owner.change_address(signed_in.account, fields["token"])
    if refused is not None:
        return page(_OVER, refused, "link", sentence=refused.sentence)
    return redirect_with_flash(PAGE, "mail")


@post("/account/totp", media_type=MediaType.HTML)
async def begin_totp(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Generate a secret for an authenticator app."""
    made = await signed_in.services.owner.begin_totp(
        signed_in.account, signed_in.session, fields["totp-password"]
    )
    if isinstance(made, bytes):
        return Redirect("/account/totp", status_code=303)
    return await security_page(signed_in, made, "totp-password")


@get("/account/totp", media_type=MediaType.HTML)
async def totp_page(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Show the secret until a first code proves that an app has it."""
    return await _totp_page(signed_in, None)


@post("/account/totp/confirm", media_type=MediaType.HTML)
async def confirm_totp(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Require codes at sign-in from now on, and show the recovery codes."""
    result = await signed_in.services.owner.confirm_totp(
        signed_in.account, signed_in.session, fields["code"]
    )
    if isinstance(result, list):
        return await _lead_to_codes(signed_in, result)
    return await _totp_page(signed_in, result)


@post("/account/totp/remove", media_type=MediaType.HTML)
async def remove_totp(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Stop requiring codes at sign-in."""
    refused = await signed_in.services.owner.remove_totp(
        signed_in.account, signed_in.session, fields["totp-password"]
    )
    if refused is not None:
        return await security_page(signed_in, refused, "totp-password")
    return redirect_with_flash(SECURITY, "app-removed")


@get(_CODES_PAGE, media_type=MediaType.HTML, opt=dict(USED_UP))
async def show_recovery_codes(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Show new recovery codes once; afterwards say that they were shown."""
    codes = await signed_in.services.shown_codes.take(signed_in.account_id, _CODES_PAGE)
    return page(_CODES, codes=[spaced(code) for code in codes or ()])


@post("/account/recovery-codes/done", media_type=MediaType.HTML)
async def leave_recovery_codes() -> Redirect:
    """Go on, now that the codes are saved."""
    return Redirect(SECURITY, status_code=303)


@post("/account/recovery-codes", media_type=MediaType.HTML)
async def renew_recovery_codes(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Make new recovery codes, and lead to the page that shows them once."""
    result = await signed_in.services.owner.renew_recovery_codes(
        signed_in.account, signed_in.session, fields["totp-password"]
    )
    if isinstance(result, list):
        return await _lead_to_codes(signed_in, result)
    return await security_page(signed_in, result, "totp-password")


async def _totp_page(signed_in: SignedIn, fault: Refusal | None) -> Response[Any]:
    secret = await signed_in.services.owner.waiting_secret(signed_in.account)
    if secret is None:
        return Redirect("/account", status_code=303)
    words = secret_in_words(secret)
    uri = key_uri(secret, signed_in.account.email, "Printreach")
    shown = {
        "secret": " ".join(words[start : start + 4] for start in range(0, len(words), 4)),
        "uri": uri,
        "picture": qr_code(uri),
    }
    return page(_TOTP, fault, "code", **shown)


async def _lead_to_codes(signed_in: SignedIn, codes: list[str]) -> Redirect:
    """Redirect to the page that shows the codes once; loading it again makes no others."""
    await signed_in.services.shown_codes.put(signed_in.account_id, _CODES_PAGE, codes)
    return Redirect(_CODES_PAGE, status_code=303)


CHANGING = [
    *(change_password, ask_for_address, confirm_address_page, change_address, begin_totp),
    *(totp_page, confirm_totp, remove_totp, renew_recovery_codes, show_recovery_codes),
    leave_recovery_codes,
]
