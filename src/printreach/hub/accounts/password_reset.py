"""Getting back into an account: by a mail of its owner, or by a link that an operator makes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.account_mailer import mail_link_digest
from printreach.hub.accounts import account_with
from printreach.hub.accounts.sessions import BLOCKED, NewSession, Visitor, end_all
from printreach.hub.accounts.signing_in import (
    NeedsCode,
    SigningIn,
    SignInLimits,
    caller_of,
    step_digest,
)
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import (
    LINK_BY_ADDRESS,
    RESET_BY_ADDRESS,
    RESET_MAIL,
    RESET_MAIL_BY_CALLER,
    SIGN_IN_BY_ACCOUNT,
)
from printreach.languages import N_
from printreach.rules.accounts import Account, email_key, parse_email
from printreach.rules.accounts.mails import LIFETIMES, MailLink, MailPurpose
from printreach.rules.accounts.passwords import problem_with_password
from printreach.rules.accounts.sessions import NextStep, Step, device_of
from printreach.rules.connections.credentials import new_session_token
from printreach.rules.operators import Operator, OperatorAct
from printreach.rules.own_paths import HOME
from printreach.rules.rate_limits import TooSoon, widest_network_of
from printreach.store.store import Records

LINK_OVER: Final = Denied(
    Reason.LINK_OVER, N_("That link was used or has expired. Ask for another one.")
)


@dataclass(frozen=True, slots=True)
class Reset:
    """Another password was set. next_path: the page this browser was going to before."""

    outcome: NewSession | NeedsCode
    next_path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovering:
    """The use cases of a forgotten password."""

    core: Core
    signing_in: SigningIn
    limits: SignInLimits

    async def may_ask(self, email: str, visitor: Visitor) -> TooSoon | None:
        """Return None if a mail may be asked for now; the same for addresses with and without
        account."""
        address = parse_email(email) or email
        account = await self.core.store.read(lambda records: records.accounts.with_email(address))
        refused = self.limits.on_account(RESET_BY_ADDRESS, visitor, account)
        if refused is not None:
            return refused
        wanted = [(RESET_MAIL_BY_CALLER, f"{email_key(address)} {caller_of(visitor, account)}")]
        if device_of(visitor.device, account) is None:
            wanted.append((RESET_MAIL, email_key(address)))
        return await self.core.account_tries.take_all(wanted)

    async def remember(self, next_path: str) -> str:
        """Store where a browser was going. Returns the token for its cookie.

        It is not in the mail: whoever asks for another person's mail could choose where that person
        goes.
        """
        at, token = self.core.clock.now(), new_session_token(self.core.token_bytes)
        step = Step(
            awaits=NextStep.RESET,
            account_id=None,
            expires_at=at + LIFETIMES[MailPurpose.RESET],
            next_path=next_path,
        )
        await self.core.store.write(lambda records: records.steps.put(step, step_digest(token), at))
        return token

    async def send_link(self, email: str) -> None:
        """Send the mail, if there is such an account.

        It takes longer if there is one, so call it after the page was answered.
        """
        at = self.core.clock.now()

        async def put(records: Records) -> None:
            account = await records.accounts.with_email(parse_email(email) or email)
            if account is not None:
                await self.core.account_mailer.mail_link(records, MailPurpose.RESET, account, at)

        await self.core.store.write(put)

    async def is_good(self, token: str) -> bool:
        """Return whether a password can be set with that link."""
        return await self._link(token) is not None

    async def _link(self, token: str) -> MailLink | None:
        at = self.core.clock.now()
        link = await self.core.store.read(
            lambda records: records.mail_links.get(mail_link_digest(token), at)
        )
        return link if link is not None and link.purpose is MailPurpose.RESET else None

    async def reset(
        self, token: str, step_token: str, password: str, visitor: Visitor
    ) -> Reset | Denied | TooSoon:
        """Set another password by the link; every browser is signed out, and this one in."""
        refused = await self.limits.of_caller(LINK_BY_ADDRESS, visitor)
        if refused is not None:
            return refused
        link = await self._link(token)
        if link is None:
            return LINK_OVER
        problem = problem_with_password(password, link.email, self.core.passwords.is_common)
        if problem is not None:
            return Denied(Reason.BAD_PASSWORD, problem)
        password_hash = await self.core.passwords.hash(password, widest_network_of(visitor.address))
        changed = await self.core.store.write(
            lambda records: self._change(records, token, step_token, password_hash, visitor)
        )
        if isinstance(changed, Denied):
            return changed
        account, outcome = changed
        await self.core.account_tries.forget(SIGN_IN_BY_ACCOUNT, email_key(account.email))
        return outcome

    async def _change(
        self, records: Records, token: str, step_token: str, password_hash: str, visitor: Visitor
    ) -> tuple[Account, Reset] | Denied:
        at = self.core.clock.now()
        link = await records.mail_links.get(mail_link_digest(token), at)
        account = await records.accounts.get(link.account_id) if link else None
        if link is None or account is None or link.purpose is not MailPurpose.RESET:
            return LINK_OVER
        if account.is_blocked:
            return BLOCKED
        account_id = account.account_id
        await records.accounts.set_password(account_id, password_hash)
        await records.steps.drop(account_id)
        await self.core.default_mail_destination.address_confirmed(records, account_id, at)
        await self.core.account_mailer.tell(
            records, self.core.account_mailer.mails_to(account).password_changed(account.email), at
        )
        await records.mail_links.drop(account_id, list(MailPurpose))
        await end_all(records, account_id, at)
        outcome = await self.signing_in.after_first_factor(records, account_id, visitor)
        if isinstance(outcome, Denied):
            return outcome
        step = await records.steps.take(step_digest(step_token), at)
        is_from_here = step is not None and step.awaits is NextStep.RESET
        return account, Reset(outcome, step.next_path if step and is_from_here else HOME)


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountRecovery:
    """The use case for people who lost their password or their second factor."""

    core: Core

    async def link(
        self, email: str, *, drops_second_factor: bool, by: Operator | None = None
    ) -> str | Denied:
        """Return a link with which a new password can be set, once, within an hour.

        drops_second_factor: the authenticator app, recovery codes, passkeys and linked accounts of
        other services are removed at once, and every browser is signed out. The operator has
        verified who asks.
        """
        at = self.core.clock.now()

        async def make(records: Records) -> str | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            if drops_second_factor:
                await _drop_second_factor(records, account.account_id, at)
            what = "with the second factor" if drops_second_factor else ""
            await note(records, by, at, OperatorAct.ACCOUNT_RESET, account.email, what)
            return await self.core.account_mailer.put_link(records, MailPurpose.RESET, account, at)

        token = await self.core.store.write(make)
        return (
            token
            if isinstance(token, Denied)
            else self.core.account_mailer.link(MailPurpose.RESET, token)
        )


async def _drop_second_factor(records: Records, account_id: str, at: datetime) -> None:
    await records.second_factors.set_totp(account_id, None)
    await records.second_factors.set_recovery_codes(account_id, [])
    for passkey in await records.passkeys.of_account(account_id):
        await records.passkeys.remove(account_id, passkey.credential_id)
    for identity in await records.identities.of_account(account_id):
        await records.identities.remove(account_id, identity.identity_id)
    await records.steps.drop(account_id)
    await end_all(records, account_id, at)
