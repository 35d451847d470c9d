"""The owner of a printer lets people in to it, and ends it; people accept, decline and leave.

What the owner is told does not depend on whether an address has an account.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import own_printer
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account, email_key, parse_email
from printreach.rules.connections.credentials import (
    CredentialKind,
    digest,
    new_record_id,
    new_session_token,
)
from printreach.rules.printers import Printer
from printreach.rules.printers.members import (
    INVITATION_LIFETIME,
    MAX_MEMBERS,
    USES,
    Member,
    MemberInvitation,
    Role,
    has_room,
)
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.store.printers.members import MemberOfPrinter, NamedMember
from printreach.store.store import Records

PATH: Final = "/shared"
INVITE_BY_OWNER: Final = Limit(name="member-invite", at_once=20, every=timedelta(minutes=6))
INVITE_MAIL: Final = Limit(name="member-mail", at_once=9, every=timedelta(minutes=30))
INVITE_MAIL_BY_OWNER: Final = Limit(
    name="member-mail-owner", at_once=3, every=timedelta(minutes=30)
)
"""Of one owner to one mailbox: nobody fills another person's mailbox with invitations."""
INVITATION_OVER: Final = Denied(
    Reason.LINK_OVER, N_("That link was used, has expired, or the owner has ended it.")
)
_NO_SUCH_PERSON: Final = Denied(Reason.INVALID, N_("This person has no access to the printer."))
_BAD_EMAIL: Final = Denied(Reason.INVALID, N_("Enter an e-mail address such as you@example.com."))
_FULL: Final = Denied(
    Reason.TOO_MANY_CONNECTIONS,
    N_(
        "At most %(max_members)s people can have access to a printer, and open "
        "invitations count too.",
        max_members=MAX_MEMBERS,
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class People:
    """The people who have access to a printer, and the invitations that are open."""

    members: Sequence[NamedMember]
    invitations: Sequence[MemberInvitation]


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeInvitation:
    """link: to hand over. was_mailed: whether a mail with it is on its way."""

    invitation: MemberInvitation
    link: str
    was_mailed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """An invitation as the person sees it who opened it. has_access: they have it already."""

    invitation: MemberInvitation
    printer_name: str
    owner_email: str
    has_access: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Members:
    """The use cases about members of printers."""

    core: Core

    async def of_printer(self, owner_id: str, printer_id: str) -> People | Denied:
        """Return the people for the printer's owner."""
        at = self.core.clock.now()

        async def look(records: Records) -> People | Denied:
            printer = await own_printer(records, owner_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            return People(
                members=await records.members.of_printer(printer_id, owner_id),
                invitations=await records.members.invitations(printer_id, owner_id, at),
            )

        return await self.core.store.read(look)

    async def of_owner(self, owner_id: str) -> Sequence[MemberOfPrinter]:
        """Return the people who have access to any printer of this owner."""
        return await self.core.store.read(lambda records: records.members.of_owner(owner_id))

    async def invite(
        self, owner: Account, printer_id: str, role: Role, email: str | None, uses: int = 1
    ) -> MadeInvitation | Denied | TooSoon:
        """Make a link that lets people in.

        email: the only address it is good for, to which it is mailed where there is a mail server;
        then it lets in one person. It takes the place of an earlier one for that address.
        """
        address = None if email is None else parse_email(email)
        if email is not None and address is None:
            return _BAD_EMAIL
        if address is not None and email_key(address) == email_key(owner.email):
            return Denied(Reason.INVALID, N_("This is your own address."))
        if uses not in USES or (address is not None and uses != 1):
            return Denied(Reason.INVALID, N_("Choose how many people the link is for."))
        refused = await self._take(owner, address)
        if refused is not None:
            return refused
        at, token = self.core.clock.now(), new_session_token(self.core.token_bytes)
        invitation = MemberInvitation(
            invitation_id=new_record_id(self.core.token_bytes),
            printer_id=printer_id,
            account_id=owner.account_id,
            role=role,
            email=address,
            uses_left=uses,
            created_at=at,
            expires_at=at + INVITATION_LIFETIME,
        )
        link = f"{self.core.addresses.base_url}{PATH}?token={token}"
        made = MadeInvitation(
            invitation=invitation,
            link=link,
            was_mailed=address is not None and self.core.has_mail_server,
        )

        async def add(records: Records) -> MadeInvitation | Denied:
            printer = await own_printer(records, owner.account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            earlier = await records.members.invitations(printer_id, owner.account_id, at)
            for one in earlier:
                if address and one.email and email_key(one.email) == email_key(address):
                    await records.members.remove_invitation(one.invitation_id, owner.account_id)
            open_ones = await records.members.invitations(printer_id, owner.account_id, at)
            promised = sum(one.uses_left for one in open_ones)
            if not has_room(await records.members.count(printer_id), promised, uses):
                return _FULL
            await records.members.add_invitation(invitation, _digest(token))
            if address is not None and made.was_mailed:
                mails = self.core.account_mailer.mails_to(owner)
                mail = mails.printer_shared(address, owner.email, link)
                until = invitation.expires_at
                await self.core.account_mailer.outbox.put(records, mail, at, until)
            return made

        return await self.core.store.write(add)

    async def offer(self, person: Account, token: str) -> Offer | Denied:
        """Return what an invitation offers to a signed-in person."""
        return await self.core.store.read(lambda records: self._offer(records, person, token))

    async def accept(self, person: Account, token: str) -> str | Denied:
        """Let the person in; return the printer's id.

        Who has access keeps it as it is, unless the invitation is for their own address.
        """
        at = self.core.clock.now()

        async def accept(records: Records) -> str | Denied:
            offer = await self._offer(records, person, token)
            if isinstance(offer, Denied):
                return offer
            invitation = offer.invitation
            if offer.has_access and invitation.email is None:
                return invitation.printer_id
            member = Member(
                printer_id=invitation.printer_id,
                account_id=invitation.account_id,
                person_id=person.account_id,
                role=invitation.role,
                since=at,
            )
            if not offer.has_access:  # an earlier time's choice of notifications has ended with it
                await records.notifications.set_of_printer(
                    person.account_id, invitation.printer_id, None
                )
            await records.members.put(member)
            await records.members.use_invitation(invitation.invitation_id)
            await self._tell(records, invitation.printer_id, at)
            return invitation.printer_id

        return await self.core.store.write(accept)

    async def decline(self, person: Account, token: str) -> Denied | None:
        """End an invitation that is for the person's address; a link for others stays open."""

        async def decline(records: Records) -> Denied | None:
            offer = await self._offer(records, person, token)
            if isinstance(offer, Denied):
                return offer
            if offer.invitation.email is not None:
                given = offer.invitation
                await records.members.remove_invitation(given.invitation_id, given.account_id)
            return None

        return await self.core.store.write(decline)

    async def change_role(
        self, owner_id: str, printer_id: str, person_id: str, role: Role
    ) -> Denied | None:
        """Change what a member may do. Whoever loses control can't get it back by an open link."""
        at = self.core.clock.now()

        async def change(records: Records) -> Denied | None:
            member = await self._member(records, owner_id, printer_id, person_id)
            if isinstance(member, Denied):
                return member
            await records.members.put(replace(member, role=role))
            if not role.includes(member.role):
                await self._end_links(records, owner_id, printer_id, at)
            await self._tell(records, printer_id, at)
            return None

        return await self.core.store.write(change)

    async def end(self, owner_id: str, printer_id: str, person_id: str) -> Denied | None:
        """End a member's access, and the open links by which they could come back."""
        at = self.core.clock.now()

        async def end(records: Records) -> Denied | None:
            member = await self._member(records, owner_id, printer_id, person_id)
            if isinstance(member, Denied):
                return member
            await records.members.remove(printer_id, person_id)
            await self._end_links(records, owner_id, printer_id, at)
            await self._tell(records, printer_id, at)
            return None

        return await self.core.store.write(end)

    async def leave(self, person_id: str, printer_id: str) -> None:
        """Give up one's own access."""
        at = self.core.clock.now()

        async def leave(records: Records) -> None:
            if await records.members.remove(printer_id, person_id):
                await self._tell(records, printer_id, at)

        await self.core.store.write(leave)

    async def end_invitation(self, owner_id: str, invitation_id: str) -> None:
        """End an invitation of the owner; one that is over stays so."""
        await self.core.store.write(
            lambda records: records.members.remove_invitation(invitation_id, owner_id)
        )

    # --- helpers ----------------------------------------------------------------------------------

    async def _take(self, owner: Account, address: str | None) -> TooSoon | None:
        wanted = [(INVITE_BY_OWNER, owner.account_id)]
        if address is not None and self.core.has_mail_server:
            mailbox = email_key(address)
            by_owner = f"{owner.account_id} {mailbox}"
            wanted += [(INVITE_MAIL, mailbox), (INVITE_MAIL_BY_OWNER, by_owner)]
        return await self.core.account_tries.take_all(wanted)

    async def _offer(self, records: Records, person: Account, token: str) -> Offer | Denied:
        invitation = await records.members.invitation(_digest(token), self.core.clock.now())
        if invitation is None:
            return INVITATION_OVER
        if invitation.account_id == person.account_id:
            return Denied(
                Reason.INVALID, N_("This link is for another person: the printer is your own.")
            )
        if invitation.email is not None and email_key(invitation.email) != email_key(person.email):
            return Denied(
                Reason.INVALID,
                N_(
                    "This invitation is for %(email)s, and you are signed in as %(email_2)s.",
                    email=invitation.email,
                    email_2=person.email,
                ),
            )
        owner = await records.accounts.get(invitation.account_id)
        printer = await own_printer(records, invitation.account_id, invitation.printer_id)
        if owner is None or not isinstance(printer, Printer):
            return INVITATION_OVER
        member = await records.members.get(invitation.printer_id, person.account_id)
        return Offer(
            invitation=invitation,
            printer_name=printer.name,
            owner_email=owner.email,
            has_access=member is not None,
        )

    async def _member(
        self, records: Records, owner_id: str, printer_id: str, person_id: str
    ) -> Member | Denied:
        printer = await own_printer(records, owner_id, printer_id)
        if isinstance(printer, Denied):
            return printer
        member = await records.members.get(printer_id, person_id)
        return _NO_SUCH_PERSON if member is None else member

    async def _end_links(
        self, records: Records, owner_id: str, printer_id: str, at: datetime
    ) -> None:
        for invitation in await records.members.invitations(printer_id, owner_id, at):
            if invitation.email is None:
                await records.members.remove_invitation(invitation.invitation_id, owner_id)

    async def _tell(self, records: Records, printer_id: str, at: datetime) -> None:
        """Have what is open for the printer look again whether it may go on."""
        await records.notify(Notice(Topic.PRINTER, printer_id), at)


def _digest(token: str) -> bytes:
    return digest(CredentialKind.MEMBER_INVITATION, token.encode())
