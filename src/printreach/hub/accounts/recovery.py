"""Recovery of an account by an operator, for people who cannot sign in any more."""

from dataclasses import dataclass
from datetime import datetime

from printreach.hub.accounts import account_with
from printreach.hub.accounts.sessions import end_all
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.rules.accounts.mail_links import MailPurpose
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records


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
