"""Sign-up: an account is created, and complete once its address is confirmed.

It reveals to nobody who has an account. An address that is taken gets a mail that says so; the page
says the same for every address.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from printreach.hub.account_mailer import mail_link_digest
from printreach.hub.accounts.invitations import INVITATION_OVER, Invitations
from printreach.hub.accounts.sessions import NewSession, Sessions, Visitor
from printreach.hub.accounts.signing_in import SignInLimits, step_digest
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import (
    INVITATION_BY_LINK,
    LINK_BY_ADDRESS,
    SIGN_UP_BY_ADDRESS,
    SIGN_UP_MAIL,
    SIGN_UP_MAIL_BY_CALLER,
)
from printreach.languages import N_
from printreach.rules.accounts import Account, SignUpPolicy, email_key, parse_email
from printreach.rules.accounts.mails import MailLink, MailPurpose
from printreach.rules.accounts.passwords import problem_with_password
from printreach.rules.accounts.sessions import CONFIRMATION_LIFETIME, NextStep, Step
from printreach.rules.connections.credentials import new_record_id, new_session_token
from printreach.rules.rate_limits import TooSoon, widest_network_of
from printreach.store.store import Records

UNCONFIRMED_TIME: Final = timedelta(days=7)
"""An account that was not confirmed by then is deleted."""
BAD_EMAIL: Final = Denied(Reason.INVALID, N_("Enter an e-mail address such as you@example.com."))
LINK_OVER: Final = Denied(
    Reason.LINK_OVER,
    N_(
        "That link was used, has expired, or was replaced when you signed up again: only the "
        "newest link works."
    ),
)
WRONG_PASSWORD: Final = Denied(
    Reason.WRONG_CREDENTIALS, N_("That is not the password of this account.")
)
CLOSED: Final = Denied(
    Reason.SIGN_UP_CLOSED,
    N_("Only the operator of this service creates accounts. Ask them for one."),
)
INVITED_ONLY: Final = Denied(
    Reason.SIGN_UP_CLOSED, N_("You need an invitation. Ask the operator of this service for one.")
)
_EXISTS: Final = Denied(Reason.ACCOUNT_EXISTS, N_("You have an account already. Sign in."))
_EXISTS_BEFORE_SETUP: Final = Denied(
    Reason.ACCOUNT_EXISTS,
    N_(
        "This address has an account that isn't an operator's. Use another address, or make that "
        "account an operator's with: printreach admin operator EMAIL on"
    ),
)
NOT_SET_UP: Final = Denied(
    Reason.NOT_SET_UP,
    N_(
        "This service has no operator yet. Open the set-up link in its log to make the operator's "
        "account."
    ),
)


@dataclass(frozen=True, slots=True)
class MailSent:
    """A mail was queued. token: for the browser's cookie until its link is opened."""

    token: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The address is confirmed, and the browser signed in. next_path: the page to go on to."""

    begun: NewSession
    next_path: str


@dataclass(frozen=True, slots=True)
class NeedsPassword:
    """The link was opened in another browser, which has to enter the password."""

    email: str


SignUpOutcome: TypeAlias = MailSent | NewSession | Denied | TooSoon


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningUp:
    """The use cases of signing up."""

    core: Core
    sessions: Sessions
    invitations: Invitations
    limits: SignInLimits
    policy: SignUpPolicy

    async def closed(self) -> Denied | None:
        """Return why nobody can sign up here without an invitation, if so."""
        return await self.core.store.read(self.closed_in)

    async def closed_in(self, records: Records) -> Denied | None:
        """The same, inside a unit of work."""
        if not await records.accounts.has_operator():
            return NOT_SET_UP
        match self.policy:
            case SignUpPolicy.OPEN:
                return None
            case SignUpPolicy.INVITED:
                return INVITED_ONLY
            case SignUpPolicy.CLOSED:
                return CLOSED

    async def sign_up(
        self, email: str, password: str, next_path: str, visitor: Visitor
    ) -> SignUpOutcome:
        """Create an account that waits for its address to be confirmed."""
        closed = await self.closed()
        if closed is not None:
            return closed
        address = await self._checked(email, password, visitor)
        if not isinstance(address, str):
            return address
        refused = await self._may_mail(address, visitor)
        if refused is not None:
            return refused
        account = await self._new(address, password, visitor)
        return await self._put(account, next_path)

    async def with_invitation(
        self, token: str, email: str, password: str, visitor: Visitor
    ) -> NewSession | Denied | TooSoon:
        """Create an account with an invitation, which vouches for its address."""
        address = await self._checked(email, password, visitor)
        if not isinstance(address, str):
            return address
        refused = await self.core.account_tries.take(INVITATION_BY_LINK, token)
        if refused is not None:
            return refused
        account = await self._new(address, password, visitor)
        at = self.core.clock.now()

        async def add(records: Records) -> NewSession | Denied:
            invitation = await self.invitations.find(records, token)
            if invitation is None:
                return INVITATION_OVER
            if not invitation.is_for(address):
                return Denied(
                    Reason.INVALID, N_("This invitation is for %(email)s.", email=invitation.email)
                )
            if await _is_taken(records, address):
                return _EXISTS_BEFORE_SETUP if invitation.is_setup else _EXISTS
            invited = replace(
                account,
                verified_at=at,
                is_admin=invitation.is_admin,
                supporter_granted=invitation.supporter,
            )
            await records.accounts.add(invited)
            await self.core.default_mail_destination.put(records, invited.account_id, at)
            await records.invitations.remove(invitation.invitation_id)
            return await self.sessions.begin(records, invited.account_id, visitor)

        return await self.core.store.write(add)

    async def send_again(self, account: Account, next_path: str, visitor: Visitor) -> None:
        """Send the mail again to somebody whose password was right, within limits."""
        if await self._may_mail(account.email, visitor) is None:
            at = self.core.clock.now()
            await self.core.store.write(
                lambda records: self.core.account_mailer.mail_link(
                    records, MailPurpose.CONFIRM, account, at, next_path=next_path
                )
            )

    async def link_for(self, token: str, step_token: str) -> MailLink | NeedsPassword | Denied:
        """Return what the link of a mail is for, as this browser may use it."""
        at = self.core.clock.now()
        return await self.core.store.read(
            lambda records: self._link(records, token, step_token, at)
        )

    async def confirm(
        self, token: str, step_token: str, password: str, visitor: Visitor
    ) -> Confirmed | Denied | TooSoon:
        """Complete an account: by the browser that created it, or by one that knows its password.

        Somebody else may have created the account and hope that the owner of the address opens the
        link: that owner is not signed in to an account with the other's password.
        """
        refused = await self.limits.of_caller(LINK_BY_ADDRESS, visitor)
        if refused is not None:
            return refused
        at, link_digest = self.core.clock.now(), mail_link_digest(token)
        account = await self.core.store.read(lambda records: _account_of(records, link_digest, at))
        if account is None:
            return LINK_OVER
        knows_password = bool(password) and await self.core.passwords.matches(
            password, account.password_hash, widest_network_of(visitor.address)
        )

        async def complete(records: Records) -> Confirmed | Denied:
            link = await self._link(records, token, step_token, at)
            if isinstance(link, NeedsPassword) and knows_password:
                link = await records.mail_links.get(link_digest, at) or LINK_OVER
            match link:
                case Denied():
                    return link
                case NeedsPassword():
                    return WRONG_PASSWORD
                case MailLink():
                    return await self._complete(records, link, at, visitor)

        return await self.core.store.write(complete)

    async def is_confirmed(self, step_token: str) -> bool:
        """Return whether the account that this browser made was confirmed in another one."""
        at = self.core.clock.now()
        found = await self.core.store.read(
            lambda records: _confirmed_account(records, step_token, at)
        )
        return found is not None

    async def after_confirmation(self, step_token: str, visitor: Visitor) -> NewSession | None:
        """Sign in the browser that made an account, once another browser has confirmed it; else
        return None.

        That other browser had to enter the password which was chosen here, so both are the same
        person's. Whoever sets another password instead drops this browser's step.
        """
        at = self.core.clock.now()

        async def begin(records: Records) -> NewSession | None:
            account_id = await _confirmed_account(records, step_token, at)
            if account_id is None:
                return None
            await records.steps.take(step_digest(step_token), at)
            begun = await self.sessions.begin(records, account_id, visitor)
            return None if isinstance(begun, Denied) else begun

        return await self.core.store.write(begin)

    async def _complete(
        self, records: Records, link: MailLink, at: datetime, visitor: Visitor
    ) -> Confirmed | Denied:
        await self.core.default_mail_destination.address_confirmed(records, link.account_id, at)
        await records.mail_links.drop(link.account_id, [MailPurpose.CONFIRM])
        begun = await self.sessions.begin(records, link.account_id, visitor)
        return begun if isinstance(begun, Denied) else Confirmed(begun, link.next_path)

    async def _checked(self, email: str, password: str, visitor: Visitor) -> str | Denied | TooSoon:
        refused = self.limits.on_account(SIGN_UP_BY_ADDRESS, visitor, None)
        if refused is not None:
            return refused
        problem = problem_with_password(password, email, self.core.passwords.is_common)
        if problem is not None:
            return Denied(Reason.BAD_PASSWORD, problem)
        return parse_email(email) or BAD_EMAIL

    async def _may_mail(self, address: str, visitor: Visitor) -> TooSoon | None:
        who, network = email_key(address), widest_network_of(visitor.address)
        return await self.core.account_tries.take_all(
            [(SIGN_UP_MAIL_BY_CALLER, f"{who} {network}"), (SIGN_UP_MAIL, who)]
        )

    async def _new(self, address: str, password: str, visitor: Visitor) -> Account:
        network = widest_network_of(visitor.address)
        return Account(
            account_id=new_record_id(self.core.token_bytes),
            email=address,
            password_hash=await self.core.passwords.hash(password, network),
            is_admin=False,
            supporter_granted=False,
            supporter_until=None,
            created_at=self.core.clock.now(),
            browser_language=visitor.language,
        )

    async def _put(self, account: Account, next_path: str) -> MailSent:
        at, step_token = self.core.clock.now(), new_session_token(self.core.token_bytes)

        async def put(records: Records) -> None:
            await records.accounts.forget_unverified(at - UNCONFIRMED_TIME)
            if await _is_taken(records, account.email):
                await self._put_step(records, None, b"", step_token, at)
                await self.core.account_mailer.tell(
                    records,
                    self.core.account_mailer.mails_to(account).has_account_already(account.email),
                    at,
                )
                return
            await records.accounts.add(account)
            link = await self.core.account_mailer.mail_link(
                records, MailPurpose.CONFIRM, account, at, next_path=next_path
            )
            await self._put_step(
                records, account.account_id, mail_link_digest(link), step_token, at
            )

        await self.core.store.write(put)
        return MailSent(step_token)

    async def _put_step(
        self, records: Records, account_id: str | None, link: bytes, token: str, at: datetime
    ) -> None:
        step = Step(
            awaits=NextStep.CONFIRMATION,
            account_id=account_id,
            challenge=link,
            expires_at=at + CONFIRMATION_LIFETIME,
        )
        await records.steps.put(step, step_digest(token), at)

    async def _link(
        self, records: Records, token: str, step_token: str, at: datetime
    ) -> MailLink | NeedsPassword | Denied:
        link_digest = mail_link_digest(token)
        link = await records.mail_links.get(link_digest, at)
        if link is None or link.purpose is not MailPurpose.CONFIRM:
            return LINK_OVER
        step = await records.steps.get(step_digest(step_token), at)
        if step is None or step.challenge != link_digest:
            return NeedsPassword(link.email)
        return link


async def _is_taken(records: Records, address: str) -> bool:
    """Return whether an account has that address. One that is unconfirmed is deleted instead."""
    account = await records.accounts.with_email(address)
    if account is None or account.verified_at is not None or account.is_blocked:
        return account is not None
    # An earlier, unconfirmed sign-up did not prove that it owns the address.
    await records.accounts.delete(account.account_id)
    return False


async def _confirmed_account(records: Records, step_token: str, at: datetime) -> str | None:
    """Return the id of the account that the browser with that token made, if it is confirmed.

    None if it has a second factor by now, which a step must not replace.
    """
    step = await records.steps.get(step_digest(step_token), at)
    if step is None or step.awaits is not NextStep.CONFIRMATION or step.account_id is None:
        return None
    account = await records.accounts.get(step.account_id)
    if account is None or account.verified_at is None:
        return None
    totp = await records.second_factors.totp(account.account_id)
    return account.account_id if totp is None else None


async def _account_of(records: Records, link_digest: bytes, at: datetime) -> Account | None:
    link = await records.mail_links.get(link_digest, at)
    return None if link is None else await records.accounts.get(link.account_id)
