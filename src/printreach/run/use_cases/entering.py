"""The ways into an account: by password, passkey, another provider, a mail, an invitation."""

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
from printreach.run.use_cases.ground import Ground
from printreach.web.security import origin_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Entering:
    """All of them begin sessions of the same kind."""

    limits: SignInLimits
    sessions: Sessions
    signing_in: SigningIn
    signing_up: SigningUp
    recovering: Recovering
    other_accounts: OtherAccounts
    passkeys: Passkeys


def entering(ground: Ground, invitations: Invitations) -> Entering:
    """Put them together."""
    sessions = Sessions(store=ground.store, clock=ground.clock, token_bytes=ground.token_bytes)
    limits = SignInLimits(store=ground.store, caller_tries=ground.caller_tries)
    signing_in = SigningIn(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        passwords=ground.passwords,
        sessions=sessions,
        account_tries=ground.account_tries,
        limits=limits,
    )
    signing_up = SigningUp(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        passwords=ground.passwords,
        sessions=sessions,
        invitations=invitations,
        post=ground.post,
        first_place=ground.first_place,
        account_tries=ground.account_tries,
        limits=limits,
        policy=ground.settings.sign_up,
    )
    return Entering(
        limits=limits,
        sessions=sessions,
        signing_in=signing_in,
        signing_up=signing_up,
        recovering=_recovering(ground, signing_in, limits),
        other_accounts=_other_accounts(ground, invitations, signing_in, signing_up, limits),
        passkeys=_passkeys(ground, sessions, limits),
    )


def _recovering(ground: Ground, signing_in: SigningIn, limits: SignInLimits) -> Recovering:
    return Recovering(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        passwords=ground.passwords,
        signing_in=signing_in,
        post=ground.post,
        first_place=ground.first_place,
        account_tries=ground.account_tries,
        limits=limits,
    )


def _other_accounts(
    ground: Ground,
    invitations: Invitations,
    signing_in: SigningIn,
    signing_up: SigningUp,
    limits: SignInLimits,
) -> OtherAccounts:
    newcomers = Newcomers(
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        signing_up=signing_up,
        invitations=invitations,
    )
    return OtherAccounts(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        provider=_provider(ground.settings, ground.clock),
        signing_in=signing_in,
        newcomers=newcomers,
        proof=ground.proof,
        post=ground.post,
        first_place=ground.first_place,
        limits=limits,
    )


def _passkeys(ground: Ground, sessions: Sessions, limits: SignInLimits) -> Passkeys:
    origin = origin_of(ground.settings.base_url)
    return Passkeys(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        sessions=sessions,
        authenticators=WebAuthn(host=urlsplit(origin).hostname or "", origin=origin),
        proof=ground.proof,
        post=ground.post,
        limits=limits,
    )


def _provider(settings: Settings, clock: Clock) -> Provider | None:
    """The operator's provider of OpenID Connect, which sends browsers back to a page of ours."""
    if settings.oidc is None:
        return None
    return Provider(settings.oidc, f"{settings.base_url}/signin/other/back", clock)
