"""Invitations: created by operators, and one by the service itself while it has no operator."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.accounts import parse_email
from printreach.rules.accounts.mails import INVITATION_LIFETIME, Invitation, is_good
from printreach.rules.connections.credentials import (
    CredentialKind,
    digest,
    new_record_id,
    new_session_token,
)
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records

log = logging.getLogger(__name__)

INVITATION_OVER = Denied(
    Reason.LINK_OVER, N_("That invitation was used or has expired. Ask for another one.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Invitations:
    """The use cases about invitations. base_url: of the service."""

    core: Core

    async def invite(
        self,
        email: str | None = None,
        *,
        is_admin: bool = False,
        supporter: bool = False,
        by: Operator | None = None,
    ) -> str | Denied:
        """Return a link with which one account can be created within a week.

        email: the only one allowed.
        """
        address = None if email is None else parse_email(email)
        if email is not None and address is None:
            return Denied(Reason.INVALID, N_("%(email)s is not an e-mail address.", email=email))
        expires_at = self.core.clock.now() + INVITATION_LIFETIME
        invitation = self._new(address, expires_at, is_admin=is_admin, supporter=supporter)
        return await self._add(invitation, by)

    async def make_setup_link(self) -> str | None:
        """Return the link that creates the first operator's account; None if there is an operator.

        Only the latest one works. It stays valid when accounts that are not operators are created.
        """
        if await self.core.store.read(lambda records: records.accounts.has_operator()):
            return None
        invitation = self._new(None, None, is_admin=True, supporter=True)
        return await self._add(replace(invitation, is_setup=True))

    async def log_setup_link(self) -> None:
        """Write that link into the log while there is no operator."""
        link = await self.make_setup_link()
        if link is not None:
            log.info(
                "There is no operator yet. Make the first operator's account here, once: %s", link
            )

    async def look_up(self, token: str) -> Invitation | None:
        """Return the invitation while it is valid."""
        return await self.core.store.read(lambda records: self.find(records, token))

    async def find(self, records: Records, token: str) -> Invitation | None:
        """Return the invitation while it is valid, inside a unit of work."""
        return await self.find_digest(records, invitation_digest(token))

    async def find_digest(self, records: Records, token_digest: bytes) -> Invitation | None:
        """Return the invitation with that stored digest while it is valid."""
        invitation = await records.invitations.with_token(token_digest)
        if invitation is None or not is_good(invitation, self.core.clock.now()):
            return None
        if invitation.is_setup and await records.accounts.has_operator():
            return None
        return invitation

    def _new(
        self, email: str | None, expires_at: datetime | None, *, is_admin: bool, supporter: bool
    ) -> Invitation:
        return Invitation(
            invitation_id=new_record_id(self.core.token_bytes),
            email=email,
            is_admin=is_admin,
            supporter=supporter,
            is_setup=False,
            expires_at=expires_at,
        )

    async def _add(self, invitation: Invitation, by: Operator | None = None) -> str:
        token, at = new_session_token(self.core.token_bytes), self.core.clock.now()

        async def add(records: Records) -> None:
            if invitation.is_setup:
                await records.invitations.remove_setup()
            await records.invitations.add(invitation, invitation_digest(token))
            kinds = ["operator"] * invitation.is_admin + ["supporter"] * invitation.supporter
            who = invitation.email or "anybody"
            await note(records, by, at, OperatorAct.INVITED, who, " ".join(kinds))

        await self.core.store.write(add)
        return f"{self.core.addresses.base_url}/signup?invite={token}"


async def end_invitations(records: Records) -> None:
    """End all invitations. Called when somebody stops being an operator: they may hold one."""
    await records.invitations.remove_all()


def invitation_digest(token: str) -> bytes:
    """Return the digest of an invitation that is stored."""
    return digest(CredentialKind.INVITATION, token.encode())
