"""An account's owner changes how they sign in: password, address, authenticator app."""

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from printreach.hub.account_mailer import mail_link_digest
from printreach.hub.accounts.sessions import end_all
from printreach.hub.accounts.signing_in import WRONG_CODE, recovery_digest
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import CHANGE_MAIL, CHANGE_MAIL_BY_CALLER, CODE_BY_ACCOUNT
from printreach.languages import N_, NAMES
from printreach.rules.accounts import (
    Account,
    FilamentPrice,
    email_key,
    parse_email,
    parse_filament_price,
)
from printreach.rules.accounts.mails import MailPurpose
from printreach.rules.accounts.passwords import problem_with_password
from printreach.rules.accounts.second_factors import (
    SECRET_BYTES,
    is_waiting,
    new_recovery_codes,
    new_totp,
    step_of_code,
)
from printreach.rules.accounts.sessions import Session, new_device_token
from printreach.rules.rate_limits import TooSoon, widest_network_of
from printreach.store.store import Records

BAD_EMAIL: Final = Denied(Reason.INVALID, N_("Enter an e-mail address such as you@example.com."))
BAD_PRICE: Final = Denied(
    Reason.INVALID, N_("Enter a price such as 24.90, and a currency such as EUR or $.")
)
LINK_OVER: Final = Denied(Reason.LINK_OVER, N_("That link was used or has expired."))

Refusal: TypeAlias = Denied | TooSoon


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """The use cases of an account's owner."""

    core: Core

    async def change_password(
        self, account: Account, session: Session, old: str, new: str
    ) -> str | Refusal:
        """Set another password; every other browser is signed out.

        Returns the cookie by which this browser is recognised later: see
        `rules.accounts.sessions`.
        """
        problem = problem_with_password(new, account.email, self.core.passwords.is_common)
        if problem is not None:
            return Denied(Reason.BAD_PASSWORD, problem)
        refused = await self.core.proof.of_owner(account, session, old)
        if refused is not None:
            return refused
        network = widest_network_of(session.address)
        password_hash, at = await self.core.passwords.hash(new, network), self.core.clock.now()

        async def change(records: Records) -> None:
            await records.accounts.set_password(account.account_id, password_hash)
            await records.steps.drop(account.account_id)
            await records.mail_links.drop(account.account_id, list(MailPurpose))
            await end_all(records, account.account_id, at, exclude=session.session_id)
            await self.core.account_mailer.tell(
                records,
                self.core.account_mailer.mails_to(account).password_changed(account.email),
                at,
            )

        await self.core.store.write(change)
        changed = replace(account, password_hash=password_hash)
        return new_device_token(changed, self.core.token_bytes)

    async def filament_price(self, account_id: str) -> FilamentPrice | None:
        """Return what the account pays for filament; None where it has not said."""
        return await self.core.store.read(
            lambda records: records.filament_prices.of_account(account_id)
        )

    async def set_filament_price(self, account_id: str, price: str, currency: str) -> Denied | None:
        """Set what a kilogram costs, for the cost of prints. price: as typed; "" for none."""
        wanted = parse_filament_price(price, currency)
        if wanted is None and price.strip():
            return BAD_PRICE
        await self.core.store.write(lambda records: records.filament_prices.put(account_id, wanted))
        return None

    async def set_language(self, account_id: str, language: str) -> None:
        """Set the language of pages and messages; "" for that of the browser."""
        chosen = language if language in NAMES else ""
        await self.core.store.write(
            lambda records: records.accounts.set_language(account_id, chosen)
        )

    async def ask_for_address(
        self, account: Account, session: Session, password: str, email: str
    ) -> Refusal | None:
        """Mail a link to the address that the account is to have."""
        address = parse_email(email)
        if address is None:
            return BAD_EMAIL
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is None:
            who = email_key(address)
            by_caller = CHANGE_MAIL_BY_CALLER, f"{who} {account.account_id}"
            refused = await self.core.account_tries.take_all([by_caller, (CHANGE_MAIL, who)])
        if refused is not None:
            return refused
        at = self.core.clock.now()
        await self.core.store.write(
            lambda records: self.core.account_mailer.mail_link(
                records, MailPurpose.CHANGE, account, at, email=address
            )
        )
        return None

    async def change_address(self, account: Account, token: str) -> Denied | None:
        """Set the address that the link was mailed to, unless another account has it by now."""
        at = self.core.clock.now()

        async def change(records: Records) -> Denied | None:
            link = await records.mail_links.get(mail_link_digest(token), at)
            if link is None or link.purpose is not MailPurpose.CHANGE:
                return LINK_OVER
            if link.account_id != account.account_id:
                return LINK_OVER
            there = await records.accounts.with_email(link.email)
            if there is not None and there.account_id != account.account_id:
                return LINK_OVER
            await records.accounts.set_email(account.account_id, link.email)
            # Limits are forgotten by the address that the account has at the time.
            await records.operating.forget_subject(account.email, link.email)
            await records.mail_links.drop(account.account_id, list(MailPurpose))
            told = self.core.account_mailer.mails_to(account).address_changed(
                account.email, link.email
            )
            await self.core.account_mailer.tell(records, told, at)
            return None

        return await self.core.store.write(change)

    async def begin_totp(
        self, account: Account, session: Session, password: str
    ) -> bytes | Refusal:
        """Return a secret for an authenticator app; it counts once one of its codes was entered."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        secret, at = self.core.token_bytes(SECRET_BYTES), self.core.clock.now()

        async def begin(records: Records) -> bytes | Denied:
            there = await records.second_factors.totp(account.account_id)
            if there is not None and there.confirmed_at is not None:
                return Denied(Reason.INVALID, N_("You already have an authenticator app."))
            await records.second_factors.set_totp(account.account_id, new_totp(secret, at))
            return secret

        return await self.core.store.write(begin)

    async def codes_left(self, account_id: str) -> int | None:
        """Return the number of unused recovery codes; None without an authenticator app."""

        async def look(records: Records) -> int | None:
            totp = await records.second_factors.totp(account_id)
            if totp is None or totp.confirmed_at is None:
                return None
            return await records.second_factors.recovery_codes(account_id)

        return await self.core.store.read(look)

    async def waiting_secret(self, account: Account) -> bytes | None:
        """Return the secret of an app that has not shown a code yet."""
        totp = await self.core.store.read(
            lambda records: records.second_factors.totp(account.account_id)
        )
        return totp.secret if totp is not None and is_waiting(totp, self.core.clock.now()) else None

    async def confirm_totp(
        self, account: Account, session: Session, code: str
    ) -> list[str] | Refusal:
        """Require codes from now on. Returns the recovery codes, which are shown once."""
        who = f"{account.account_id} {session.session_id}"
        refused = await self.core.account_tries.take(CODE_BY_ACCOUNT, who)
        if refused is not None:
            return refused
        at, codes = self.core.clock.now(), new_recovery_codes(self.core.token_bytes)

        async def confirm(records: Records) -> list[str] | Denied:
            totp = await records.second_factors.totp(account.account_id)
            if totp is None or not is_waiting(totp, at):
                return Denied(Reason.STEP_OVER, N_("Start again with the authenticator app."))
            step = step_of_code(totp, code, at)
            if step is None:
                return WRONG_CODE
            await records.second_factors.set_totp(
                account.account_id, replace(totp, confirmed_at=at, last_step=step)
            )
            await self._set_codes(records, account, codes)
            # A browser that signed in by the password alone has to enter a code as well.
            await end_all(records, account.account_id, at, exclude=session.session_id)
            what = N_("An authenticator app was added.")
            await self.core.account_mailer.tell_of_security(records, account, what, at)
            return codes

        result = await self.core.store.write(confirm)
        if isinstance(result, list):
            await self.core.account_tries.forget(CODE_BY_ACCOUNT, who)
        return result

    async def remove_totp(
        self, account: Account, session: Session, password: str
    ) -> Refusal | None:
        """Require codes no longer."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused

        at = self.core.clock.now()

        async def remove(records: Records) -> None:
            await records.second_factors.set_totp(account.account_id, None)
            await records.second_factors.set_recovery_codes(account.account_id, [])
            what = N_("The authenticator app was removed.")
            await self.core.account_mailer.tell_of_security(records, account, what, at)

        await self.core.store.write(remove)
        return None

    async def renew_recovery_codes(
        self, account: Account, session: Session, password: str
    ) -> list[str] | Refusal:
        """Return ten new recovery codes; earlier ones are invalid."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        codes, at = new_recovery_codes(self.core.token_bytes), self.core.clock.now()

        async def renew(records: Records) -> None:
            await self._set_codes(records, account, codes)
            what = N_("The recovery codes were replaced.")
            await self.core.account_mailer.tell_of_security(records, account, what, at)

        await self.core.store.write(renew)
        return codes

    async def _set_codes(self, records: Records, account: Account, codes: list[str]) -> None:
        await records.second_factors.set_recovery_codes(
            account.account_id, [recovery_digest(code) for code in codes]
        )
