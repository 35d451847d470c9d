"""A forgotten password: a mail with a link, and another password."""

from dataclasses import dataclass
from typing import Final

from printreach.hub.denied import Denied, Reason
from printreach.hub.post import Post, mail_link_digest
from printreach.hub.sessions import Begun, Visitor
from printreach.hub.signing_in import NeedsCode, SigningIn
from printreach.hub.tries import (
    LINK_BY_ADDRESS,
    MAIL_BY_ACCOUNT,
    RESET_BY_ADDRESS,
    SIGN_IN_BY_ACCOUNT,
    AccountTries,
    CallerTries,
)
from printreach.ports import Clock, Passwords, Records, Store
from printreach.rules.accounts import Account, email_key, problem_with_password, read_email
from printreach.rules.mail_links import MailPurpose
from printreach.rules.rate_limits import TooSoon

LINK_OVER: Final = Denied(
    Reason.LINK_OVER, "That link was used, or has run out. Ask for another one."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovering:
    """The use cases of a forgotten password."""

    store: Store
    clock: Clock
    passwords: Passwords
    signing_in: SigningIn
    post: Post
    account_tries: AccountTries
    caller_tries: CallerTries

    async def may_ask(self, email: str, visitor: Visitor) -> TooSoon | None:
        """Whether a mail may be asked for now; the same for addresses with and without account."""
        refused = self.caller_tries.take_by_address(RESET_BY_ADDRESS, visitor.address)
        who = email_key(read_email(email) or email)
        return refused or await self.account_tries.take(MAIL_BY_ACCOUNT, who)

    async def send_link(self, email: str) -> None:
        """Send the mail, where there is such an account.

        It takes longer where there is one, so call it after the answer was given.
        """
        at = self.clock.now()

        async def put(records: Records) -> tuple[Account, str] | None:
            account = await records.accounts.with_email(read_email(email) or email)
            if account is None:
                return None
            return account, await self.post.put_link(records, MailPurpose.RESET, account, at)

        stored = await self.store.write(put)
        if stored is not None:
            account, token = stored
            self.post.send_link(MailPurpose.RESET, account.email, token)

    async def is_good(self, token: str) -> bool:
        """Whether a password can be chosen with that link."""
        at = self.clock.now()
        link = await self.store.read(
            lambda records: records.mail_links.get(mail_link_digest(token), at)
        )
        return link is not None and link.purpose is MailPurpose.RESET

    async def reset(
        self, token: str, password: str, visitor: Visitor
    ) -> Begun | NeedsCode | Denied | TooSoon:
        """Set another password by the link; every browser is signed out, and this one in."""
        refused = self.caller_tries.take_by_address(LINK_BY_ADDRESS, visitor.address)
        if refused is not None:
            return refused
        problem = problem_with_password(password)
        if problem is not None:
            return Denied(Reason.BAD_PASSWORD, problem)
        if not await self.is_good(token):
            return LINK_OVER
        password_hash = await self.passwords.hash(password)
        changed = await self.store.write(
            lambda records: self._change(records, token, password_hash, visitor)
        )
        if isinstance(changed, Denied):
            return changed
        account, outcome = changed
        await self.account_tries.forget(SIGN_IN_BY_ACCOUNT, email_key(account.email))
        self.post.mailer.send(self.post.mails.password_changed(account.email))
        return outcome

    async def _change(
        self, records: Records, token: str, password_hash: str, visitor: Visitor
    ) -> tuple[Account, Begun | NeedsCode] | Denied:
        at = self.clock.now()
        link = await records.mail_links.get(mail_link_digest(token), at)
        account = await records.accounts.get(link.account_id) if link else None
        if link is None or account is None or link.purpose is not MailPurpose.RESET:
            return LINK_OVER
        account_id = account.account_id
        await records.accounts.set_password(account_id, password_hash)
        if account.verified_at is None:
            await records.accounts.set_verified(account_id, at)
        await records.mail_links.drop(account_id, list(MailPurpose))
        await records.sessions.end_all(account_id)
        return account, await self.signing_in.after_first_factor(records, account_id, visitor)
