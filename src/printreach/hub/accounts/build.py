"""The use cases of signing in: by password, passkey, OpenID Connect, mail or invitation."""

from dataclasses import dataclass

from printreach.hub.accounts.invitations import Invitations
from printreach.hub.accounts.oidc import OtherAccounts
from printreach.hub.accounts.oidc_newcomers import Newcomers
from printreach.hub.accounts.passkeys import Passkeys
from printreach.hub.accounts.password_reset import Recovering
from printreach.hub.accounts.sessions import Sessions
from printreach.hub.accounts.sign_in_limits import SignInLimits
from printreach.hub.accounts.signing_in import SigningIn
from printreach.hub.accounts.signing_up import SigningUp
from printreach.hub.core import Core
from printreach.ports.authenticators import Authenticators
from printreach.ports.oidc import SignInProvider
from printreach.rules.accounts import SignUpPolicy


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


def sign_in_services(
    core: Core,
    invitations: Invitations,
    policy: SignUpPolicy,
    provider: SignInProvider | None,
    authenticators: Authenticators,
) -> SignInServices:
    """Build the use cases. provider: None without an OpenID Connect provider."""
    sessions, limits = Sessions(core=core), SignInLimits(core=core)
    signing_in = SigningIn(core=core, sessions=sessions, limits=limits)
    signing_up = SigningUp(
        core=core, sessions=sessions, invitations=invitations, limits=limits, policy=policy
    )
    newcomers = Newcomers(core=core, signing_up=signing_up, invitations=invitations)
    return SignInServices(
        limits=limits,
        sessions=sessions,
        signing_in=signing_in,
        signing_up=signing_up,
        recovering=Recovering(core=core, signing_in=signing_in, limits=limits),
        other_accounts=OtherAccounts(
            core=core, provider=provider, signing_in=signing_in, newcomers=newcomers, limits=limits
        ),
        passkeys=Passkeys(
            core=core, sessions=sessions, authenticators=authenticators, limits=limits
        ),
    )
