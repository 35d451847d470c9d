"""Sign-in: a password, and a code where the account requires one."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from printreach.hub.accounts.sessions import NewSession, Sessions, Visitor
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import CODE_BY_ACCOUNT, SIGN_IN_BY_ACCOUNT, SIGN_IN_BY_ADDRESS
from printreach.languages import N_
from printreach.rules.accounts import Account, email_key, parse_email
from printreach.rules.accounts.passwords import MAX_PASSWORD_LENGTH
from printreach.rules.accounts.second_factors import parse_recovery_code, step_of_code
from printreach.rules.accounts.sessions import (
    STEP_LIFETIME,
    NextStep,
    Step,
    claimed_device,
    device_of,
)
from printreach.rules.connections.credentials import CredentialKind, digest, new_session_token
from printreach.rules.rate_limits import Limit, TooSoon, widest_network_of
from printreach.store.store import Records


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInLimits:
    """Limits by the caller's network, and separately on known devices."""

    core: Core

    async def of_caller(self, limit: Limit, visitor: Visitor) -> TooSoon | None:
        """Count one try that concerns only the caller: on a known device by its account.

        Not for what could be tried on others, since a person with many accounts has many devices.
        """
        return self.on_account(limit, visitor, await self._account_of_device(visitor))

    def on_account(self, limit: Limit, visitor: Visitor, account: Account | None) -> TooSoon | None:
        """Count one try on that account: by its own device, otherwise by the network."""
        if account is not None and device_of(visitor.device, account) is not None:
            return self.core.caller_tries.take(limit, f"account {account.account_id}")
        return self.core.caller_tries.take_by_address(limit, visitor.address)

    async def _account_of_device(self, visitor: Visitor) -> Account | None:
        claimed = claimed_device(visitor.device)
        if claimed is None:
            return None
        return await self.core.store.read(lambda records: records.accounts.get(claimed.account_id))


def counted_as(visitor: Visitor, account: Account | None, stranger: str) -> str:
    """Return what a try on an account counts for: the account's known device, or all strangers."""
    device = device_of(visitor.device, account)
    return stranger if device is None else f"device {device.device_id}"


def caller_of(visitor: Visitor, account: Account | None) -> str:
    """Return the known device of that account, or the caller's network."""
    return counted_as(visitor, account, widest_network_of(visitor.address))


WRONG_PASSWORD = Denied(
    Reason.WRONG_CREDENTIALS, N_("That e-mail address and password don't match.")
)
WRONG_CODE = Denied(Reason.WRONG_CREDENTIALS, N_("That code is wrong, or was used before."))
STEP_OVER = Denied(Reason.STEP_OVER, N_("That took too long. Sign in again."))


@dataclass(frozen=True, slots=True)
class NeedsCode:
    """The password was right. token: for the browser's cookie until the code comes."""

    token: str


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The password was right, and the address is not confirmed yet."""

    account: Account


PasswordOutcome: TypeAlias = NewSession | NeedsCode | Unconfirmed | Denied | TooSoon
CodeOutcome: TypeAlias = NewSession | Denied | TooSoon


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningIn:
    """The use cases of signing in."""

    core: Core
    sessions: Sessions
    limits: SignInLimits

    async def with_password(self, email: str, password: str, visitor: Visitor) -> PasswordOutcome:
        """Begin a session, or return what is missing.

        The answer and its time are the same for addresses with and without account.
        """
        address = parse_email(email)
        account = await self.core.store.read(
            lambda records: records.accounts.with_email(address or email)
        )
        refused = self.limits.on_account(SIGN_IN_BY_ADDRESS, visitor, account)
        if refused is not None:
            return refused
        who = counted_as(visitor, account, email_key(address or email))
        refused = await self.core.account_tries.take(SIGN_IN_BY_ACCOUNT, who)
        if refused is not None:
            return refused
        typed = password[: MAX_PASSWORD_LENGTH + 1]
        stored = "" if account is None else account.password_hash
        network = widest_network_of(visitor.address)
        is_right = await self.core.passwords.matches(typed, stored, network)
        if account is None or not is_right:
            return WRONG_PASSWORD
        await self.core.account_tries.forget(SIGN_IN_BY_ACCOUNT, who)
        if account.verified_at is None:
            return Unconfirmed(account)
        return await self.core.store.write(
            lambda records: self._after_password(records, account, visitor)
        )

    async def with_code(self, step_token: str, code: str, visitor: Visitor) -> CodeOutcome:
        """Complete a sign-in after the password, by the app's code or a recovery code."""
        at, token = self.core.clock.now(), step_digest(step_token)
        step = await self.core.store.read(lambda records: records.steps.get(token, at))
        if step is None or step.awaits is not NextStep.CODE or step.account_id is None:
            return STEP_OVER
        account_id = step.account_id
        account = await self.core.store.read(lambda records: records.accounts.get(account_id))
        who = counted_as(visitor, account, account_id)
        refused = await self.core.account_tries.take(CODE_BY_ACCOUNT, who)
        if refused is not None:
            return refused

        async def complete(records: Records) -> NewSession | Denied:
            if await records.steps.get(token, at) is None:
                return STEP_OVER
            if not await self.use_code(records, account_id, code):
                return WRONG_CODE
            await records.steps.take(token, at)
            return await self.sessions.begin(records, account_id, visitor)

        result = await self.core.store.write(complete)
        if isinstance(result, NewSession):
            await self.core.account_tries.forget(CODE_BY_ACCOUNT, who)
        return result

    async def is_waiting_for_code(self, step_token: str) -> bool:
        """Return whether the browser with that token only has to enter the code."""
        at = self.core.clock.now()
        step = await self.core.store.read(
            lambda records: records.steps.get(step_digest(step_token), at)
        )
        return step is not None and step.awaits is NextStep.CODE

    async def after_first_factor(
        self, records: Records, account_id: str, visitor: Visitor
    ) -> NewSession | NeedsCode | Denied:
        """Begin a session, or ask for a code if the account has an authenticator app."""
        at = self.core.clock.now()
        totp = await records.second_factors.totp(account_id)
        if totp is None or totp.confirmed_at is None:
            return await self.sessions.begin(records, account_id, visitor)
        token = new_session_token(self.core.token_bytes)
        step = Step(awaits=NextStep.CODE, account_id=account_id, expires_at=at + STEP_LIFETIME)
        await records.steps.put(step, step_digest(token), at)
        return NeedsCode(token)

    async def use_code(self, records: Records, account_id: str, typed: str) -> bool:
        """Return whether it is a valid code of the account, and use it up."""
        totp = await records.second_factors.totp(account_id)
        if totp is None or totp.confirmed_at is None:
            return False
        step = step_of_code(totp, typed, self.core.clock.now())
        if step is not None:
            await records.second_factors.set_totp(account_id, replace(totp, last_step=step))
            return True
        code = parse_recovery_code(typed)
        return code is not None and await records.second_factors.use_recovery_code(
            account_id, recovery_digest(code)
        )

    async def _after_password(
        self, records: Records, account: Account, visitor: Visitor
    ) -> NewSession | NeedsCode | Denied:
        # The password may have been changed while it was compared.
        now = await records.accounts.get(account.account_id)
        if now is None or now.password_hash != account.password_hash:
            return WRONG_PASSWORD
        return await self.after_first_factor(records, account.account_id, visitor)


def step_digest(token: str) -> bytes:
    """Return the digest of the token of an unfinished sign-in that is stored."""
    return digest(CredentialKind.SIGN_IN_STEP, token.encode())


def recovery_digest(code: str) -> bytes:
    """Return the digest of a recovery code that is stored."""
    return digest(CredentialKind.RECOVERY_CODE, code.encode())
