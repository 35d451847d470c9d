"""Accounts for people who come from a provider, if they may have one."""

from dataclasses import dataclass

from printreach.hub.accounts.invitations import INVITATION_OVER, Invitations
from printreach.hub.accounts.sessions import BLOCKED
from printreach.hub.accounts.signing_up import SigningUp
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.rules.accounts import Account
from printreach.rules.accounts.mail_links import Invitation
from printreach.rules.accounts.oidc import Claims
from printreach.rules.connections.credentials import new_record_id
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
            return Denied(Reason.INVALID, f"This invitation is for {invitation.email}.")
        await records.invitations.remove(invitation.invitation_id)
        return invitation


def _without_address(provider: str) -> Denied:
    return Denied(
        Reason.WRONG_CREDENTIALS,
        f"{provider} names no mail address of yours that it has confirmed, so it can't make you an "
        f"account. If you have one, sign in another way and add {provider} on the account page.",
    )


def _is_there(provider: str) -> Denied:
    return Denied(
        Reason.ACCOUNT_EXISTS,
        "You have an account with this address. Sign in to it another way, then add "
        f"{provider} on the account page.",
    )
