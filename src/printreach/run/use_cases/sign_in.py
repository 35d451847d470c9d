"""Composition of signing in: by password, passkey, OpenID Connect, mail or invitation."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.backends.oidc.provider import Provider
from printreach.backends.webauthn import WebAuthn
from printreach.hub.identity.oidc import OtherAccounts
from printreach.hub.identity.oidc_newcomers import Newcomers
from printreach.hub.identity.passkeys import Passkeys
from printreach.hub.identity.recovering import Recovering
from printreach.hub.identity.sessions import Sessions
from printreach.hub.identity.sign_in_limits import SignInLimits
from printreach.hub.identity.signing_in import SigningIn
from printreach.hub.identity.signing_up import SigningUp
from printreach.hub.invitations import Invitations
from printreach.ports import Clock
from printreach.run.settings import Settings
from printreach.run.use_cases.core import CoreServices
from printreach.web.security import origin_of


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInServices:
    """The use cases that begin a session."""

    limits: SignInLimits
    sessions: Sessions
    signing_in: SigningIn
    signing_up: SigningUp
    recovering: Recovering
    other_accounts: OtherAccounts
    passkeys: Passkeys


def sign_in_services(core: CoreServices, invitations: Invitations) -> SignInServices:
    """Build the use cases of signing in."""
    sessions = Sessions(store=core.store, clock=core.clock, token_bytes=core.token_bytes)
    limits = SignInLimits(store=core.store, caller_tries=core.caller_tries)
    signing_in = SigningIn(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        passwords=core.passwords,
        sessions=sessions,
        account_tries=core.account_tries,
        limits=limits,
    )
    signing_up = SigningUp(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        passwords=core.passwords,
        sessions=sessions,
        invitations=invitations,
        account_mailer=core.account_mailer,
        default_mail_destination=core.default_mail_destination,
        account_tries=core.account_tries,
        limits=limits,
        policy=core.settings.sign_up,
    )
    return SignInServices(
        limits=limits,
        sessions=sessions,
        signing_in=signing_in,
        signing_up=signing_up,
        recovering=_recovering(core, signing_in, limits),
        other_accounts=_other_accounts(core, invitations, signing_in, signing_up, limits),
        passkeys=_passkeys(core, sessions, limits),
    )


def _recovering(core: CoreServices, signing_in: SigningIn, limits: SignInLimits) -> Recovering:
    return Recovering(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        passwords=core.passwords,
        signing_in=signing_in,
        account_mailer=core.account_mailer,
        default_mail_destination=core.default_mail_destination,
        account_tries=core.account_tries,
        limits=limits,
    )


def _other_accounts(
    core: CoreServices,
    invitations: Invitations,
    signing_in: SigningIn,
    signing_up: SigningUp,
    limits: SignInLimits,
) -> OtherAccounts:
    newcomers = Newcomers(
        clock=core.clock,
        token_bytes=core.token_bytes,
        signing_up=signing_up,
        invitations=invitations,
    )
    return OtherAccounts(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        provider=_provider(core.settings, core.clock),
        signing_in=signing_in,
        newcomers=newcomers,
        proof=core.proof,
        account_mailer=core.account_mailer,
        default_mail_destination=core.default_mail_destination,
        limits=limits,
    )


def _passkeys(core: CoreServices, sessions: Sessions, limits: SignInLimits) -> Passkeys:
    origin = origin_of(core.settings.base_url)
    return Passkeys(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        sessions=sessions,
        authenticators=WebAuthn(host=urlsplit(origin).hostname or "", origin=origin),
        proof=core.proof,
        account_mailer=core.account_mailer,
        limits=limits,
    )


def _provider(settings: Settings, clock: Clock) -> Provider | None:
    """Return the operator's OpenID Connect provider; it redirects browsers back to our page."""
    if settings.oidc is None:
        return None
    return Provider(settings.oidc, f"{settings.base_url}/signin/other/back", clock)
