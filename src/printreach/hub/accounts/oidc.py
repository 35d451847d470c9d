"""Sign-in with an account of an OpenID Connect provider, and joining it to one of ours.

An existing account is joined only by somebody who is signed in to it: a provider that vouches for
an address does not open the account with that address. Providers differ in what they call verified,
and whoever runs one could sign in everywhere.
"""

import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from printreach.hub.accounts.invitations import INVITATION_OVER, Invitations, invitation_digest
from printreach.hub.accounts.sessions import BLOCKED, NewSession, Visitor
from printreach.hub.accounts.signing_in import NeedsCode, SigningIn, SignInLimits, step_digest
from printreach.hub.accounts.signing_up import SigningUp
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import PROVIDER_BY_ADDRESS
from printreach.languages import N_
from printreach.ports.signing_in import ProviderAnswer, ProviderFailure, SignInProvider
from printreach.rules.accounts import Account
from printreach.rules.accounts.mails import Invitation
from printreach.rules.accounts.oidc import MAX_IDENTITIES, Claims, Identity, oidc_flow_secrets
from printreach.rules.accounts.sessions import STEP_LIFETIME, NextStep, Session, Step
from printreach.rules.connections.credentials import new_record_id, new_session_token
from printreach.rules.own_paths import HOME
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records


@dataclass(frozen=True, kw_only=True, slots=True)
class Newcomers:
    """Creates them by the same rules as a sign-up by mail."""

    core: Core
    signing_up: SigningUp
    invitations: Invitations

    async def account(
        self, records: Records, invited: bytes, claims: Claims, provider: str
    ) -> Account | Denied:
        """Return a new account without a password, for the caller to add.

        invited: the digest of the invitation's token, or empty. The invitation is used up.
        """
        if claims.email is None:
            return _without_address(provider)
        there = await records.accounts.with_email(claims.email)
        if there is not None and there.is_blocked:
            return BLOCKED
        if there is not None and there.verified_at is not None:
            return _is_there(provider)
        invitation = await self._invitation(records, invited, claims.email)
        if isinstance(invitation, Denied):
            return invitation
        if there is not None:
            # An earlier, unconfirmed sign-up did not prove that it owns the address.
            await records.accounts.delete(there.account_id)
        at = self.core.clock.now()
        return Account(
            account_id=new_record_id(self.core.token_bytes),
            email=claims.email,
            password_hash="",
            is_admin=invitation is not None and invitation.is_admin,
            supporter_granted=invitation is not None and invitation.supporter,
            supporter_until=None,
            created_at=at,
            verified_at=at,
        )

    async def _invitation(
        self, records: Records, invited: bytes, email: str
    ) -> Invitation | Denied | None:
        """Return the invitation of this person; without one, sign-up has to be open."""
        if not invited:
            return await self.signing_up.closed_in(records)
        invitation = await self.invitations.find_digest(records, invited)
        if invitation is None:
            return INVITATION_OVER
        if not invitation.is_for(email):
            return Denied(
                Reason.INVALID, N_("This invitation is for %(email)s.", email=invitation.email)
            )
        await records.invitations.remove(invitation.invitation_id)
        return invitation


def _without_address(provider: str) -> Denied:
    return Denied(
        Reason.WRONG_CREDENTIALS,
        N_(
            "%(provider)s gives no confirmed e-mail address for you, so it can't be used to create "
            "an account. If you have one, sign in another way and add %(provider_2)s on the "
            "account page.",
            provider=provider,
            provider_2=provider,
        ),
    )


def _is_there(provider: str) -> Denied:
    return Denied(
        Reason.ACCOUNT_EXISTS,
        N_(
            "You have an account with this address. Sign in to it another way, then add "
            "%(provider)s on the account page.",
            provider=provider,
        ),
    )


NOT_OFFERED = Denied(Reason.INVALID, N_("This service has no other way to sign in."))
STEP_OVER = Denied(
    Reason.STEP_OVER, N_("That took too long, or was started in another browser. Start again.")
)
TOO_MANY = Denied(
    Reason.INVALID,
    N_("An account has at most %(max_identities)s of them.", max_identities=MAX_IDENTITIES),
)


@dataclass(frozen=True, slots=True)
class ProviderRedirect:
    """A browser goes to the provider. token: for its cookie until it comes back."""

    address: str
    token: str


@dataclass(frozen=True, slots=True)
class IdentityJoined:
    """The provider signs the account's owner in from now on."""

    identity: Identity


Outcome: TypeAlias = NewSession | NeedsCode | IdentityJoined | Denied


@dataclass(frozen=True, slots=True)
class ProviderOutcome:
    """The outcome of a sign-in at the provider, and the page to go on to."""

    outcome: Outcome
    next_path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherAccounts:
    """The use cases of the operator's provider. provider: None where there is none."""

    core: Core
    provider: SignInProvider | None
    signing_in: SigningIn
    newcomers: Newcomers
    limits: SignInLimits

    @property
    def name(self) -> str | None:
        """Return the provider's name, if there is one."""
        return None if self.provider is None else self.provider.name

    async def of_account(self, account_id: str) -> list[Identity]:
        """Return the identities that may sign in to the account, oldest first."""
        return await self.core.store.read(lambda records: records.identities.of_account(account_id))

    async def begin_sign_in(
        self, visitor: Visitor, next_path: str, invitation: str
    ) -> ProviderRedirect | Denied | TooSoon:
        """Send a browser to the provider. invitation: its token, if the person has one."""
        refused = await self.limits.of_caller(PROVIDER_BY_ADDRESS, visitor)
        if refused is not None:
            return refused
        invited = invitation_digest(invitation) if invitation else b""
        return await self._send(NextStep.PROVIDER, None, next_path, invited)

    async def begin_joining(
        self, account: Account, session: Session, password: str
    ) -> ProviderRedirect | Denied | TooSoon:
        """Send an account's owner to the provider, to join the identity that comes back."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        if len(await self.of_account(account.account_id)) >= MAX_IDENTITIES:
            return TOO_MANY
        return await self._send(NextStep.NEW_IDENTITY, account.account_id, HOME, b"")

    async def finish(
        self,
        answer: ProviderAnswer,
        step_token: str,
        account: Account | None,
        visitor: Visitor,
    ) -> ProviderOutcome:
        """Process the browser's return. account: the one that is signed in there."""
        at, secrets = self.core.clock.now(), oidc_flow_secrets(step_token)
        state = (answer.state or "").encode()
        if self.provider is not None and answer.error is not None and answer.state is None:
            # Some providers leave the state out of a refusal. A refusal signs nobody in, so that is
            # harmless.
            return ProviderOutcome(_failure(ProviderFailure.REFUSED, self.provider.name), HOME)
        if self.provider is None or not hmac.compare_digest(state, secrets.state.encode()):
            return ProviderOutcome(STEP_OVER, HOME)
        step = await self.core.store.write(
            lambda records: records.steps.take(step_digest(step_token), at)
        )
        if step is None or step.awaits not in (NextStep.PROVIDER, NextStep.NEW_IDENTITY):
            return ProviderOutcome(STEP_OVER, HOME)
        claims = await self.provider.claims(answer, secrets)
        if isinstance(claims, ProviderFailure):
            return ProviderOutcome(_failure(claims, self.provider.name), step.next_path)
        if step.awaits is NextStep.NEW_IDENTITY:
            return ProviderOutcome(await self._join(step, claims, account), step.next_path)
        outcome = await self.core.store.write(
            lambda records: self._sign_in(records, step, claims, visitor)
        )
        return ProviderOutcome(outcome, step.next_path)

    async def part(
        self, account: Account, session: Session, password: str, identity_id: str
    ) -> Denied | TooSoon | None:
        """Remove an identity from the account, unless its owner could not sign in any more."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        at = self.core.clock.now()

        async def part(records: Records) -> Denied | None:
            there = await records.identities.of_account(account.account_id)
            others = [identity for identity in there if identity.identity_id != identity_id]
            passkeys = await records.passkeys.of_account(account.account_id)
            now = await records.accounts.get(account.account_id)
            if now is None or not (now.password_hash or passkeys or self._are_good(others)):
                return Denied(
                    Reason.INVALID, N_("Set a password first: you have no other way to sign in.")
                )
            await records.identities.remove(account.account_id, identity_id)
            what = N_("A way to sign in, by another service, was removed.")
            await self.core.account_mailer.tell_of_security(records, account, what, at)
            return None

        return await self.core.store.write(part)

    def _are_good(self, identities: list[Identity]) -> bool:
        """Return whether one belongs to the present provider; the operator may have changed it."""
        provider = self.provider
        return provider is not None and any(
            identity.issuer == provider.issuer for identity in identities
        )

    async def _send(
        self, awaits: NextStep, account_id: str | None, next_path: str, invited: bytes
    ) -> ProviderRedirect | Denied:
        if self.provider is None:
            return NOT_OFFERED
        at, token = self.core.clock.now(), new_session_token(self.core.token_bytes)
        address = await self.provider.address(oidc_flow_secrets(token))
        if isinstance(address, ProviderFailure):
            return _failure(address, self.provider.name)
        step = Step(
            awaits=awaits,
            account_id=account_id,
            expires_at=at + STEP_LIFETIME,
            challenge=invited,
            next_path=next_path,
        )
        await self.core.store.write(lambda records: records.steps.put(step, step_digest(token), at))
        return ProviderRedirect(address, token)

    async def _sign_in(
        self, records: Records, step: Step, claims: Claims, visitor: Visitor
    ) -> NewSession | NeedsCode | Denied:
        assert self.provider is not None, "somebody came back from it"
        at = self.core.clock.now()
        identity = await records.identities.with_subject(self.provider.issuer, claims.subject)
        if identity is not None:
            await records.identities.note_use(identity.identity_id, at)
            return await self.signing_in.after_first_factor(records, identity.account_id, visitor)
        account = await self.newcomers.account(records, step.challenge, claims, self.provider.name)
        if isinstance(account, Denied):
            return account
        identity = self._identity(account, claims, at)
        await records.accounts.add(account)
        await self.core.default_mail_destination.put(records, account.account_id, at)
        await records.identities.add(identity)
        return await self.signing_in.sessions.begin(records, account.account_id, visitor)

    async def _join(
        self, step: Step, claims: Claims, account: Account | None
    ) -> IdentityJoined | Denied:
        assert self.provider is not None, "somebody came back from it"
        at, provider = self.core.clock.now(), self.provider
        if account is None or account.account_id != step.account_id:
            return STEP_OVER
        identity = self._identity(account, claims, at)

        async def join(records: Records) -> IdentityJoined | Denied:
            there = await records.identities.with_subject(provider.issuer, claims.subject)
            if there is not None and there.account_id == account.account_id:
                return IdentityJoined(there)
            if there is not None:
                return _is_anothers(provider.name)
            # Another tab may have done the same meanwhile, or the account may have been deleted.
            if len(await records.identities.of_account(account.account_id)) >= MAX_IDENTITIES:
                return TOO_MANY
            if await records.accounts.get(account.account_id) is None:
                return STEP_OVER
            await records.identities.add(identity)
            what = N_("%(name)s signs you in from now on.", name=provider.name)
            await self.core.account_mailer.tell_of_security(records, account, what, at)
            return IdentityJoined(identity)

        return await self.core.store.write(join)

    def _identity(self, account: Account, claims: Claims, at: datetime) -> Identity:
        assert self.provider is not None, "somebody came back from it"
        return Identity(
            identity_id=new_record_id(self.core.token_bytes),
            account_id=account.account_id,
            issuer=self.provider.issuer,
            subject=claims.subject,
            email=claims.email or "",
            created_at=at,
            used_at=None,
        )


def _failure(failure: ProviderFailure, name: str) -> Denied:
    sentences = {
        ProviderFailure.UNREACHABLE: N_(
            "%(name)s isn't answering now. Try again later, or sign in another way.", name=name
        ),
        ProviderFailure.REFUSED: N_("%(name)s did not sign you in.", name=name),
    }
    return Denied(Reason.PROVIDER_FAILED, sentences[failure])


def _is_anothers(name: str) -> Denied:
    return Denied(
        Reason.ACCOUNT_EXISTS,
        N_("You already use this %(name)s account to sign in to another account here.", name=name),
    )
