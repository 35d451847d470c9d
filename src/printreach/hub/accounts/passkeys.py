"""Passkeys: added by a signed-in owner, and used to sign in without a password."""

from dataclasses import dataclass
from typing import Final

from printreach.hub.accounts.sessions import NewSession, Sessions, Visitor
from printreach.hub.accounts.signing_in import SignInLimits, step_digest
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import PASSKEY_BY_ADDRESS
from printreach.languages import N_
from printreach.ports.signing_in import Authenticators
from printreach.rules.accounts import Account
from printreach.rules.accounts.second_factors import MAX_PASSKEYS, Passkey, parse_passkey_name
from printreach.rules.accounts.sessions import STEP_LIFETIME, NextStep, Session, Step
from printreach.rules.connections.credentials import new_session_token
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records

CHALLENGE_BYTES: Final = 32
REFUSED: Final = Denied(Reason.WRONG_CREDENTIALS, N_("That passkey can't be used here."))
STEP_OVER: Final = Denied(Reason.STEP_OVER, N_("That took too long. Try again."))
TOO_MANY: Final = Denied(
    Reason.INVALID,
    N_("An account has at most %(max_passkeys)s passkeys.", max_passkeys=MAX_PASSKEYS),
)


@dataclass(frozen=True, slots=True)
class PasskeyRequest:
    """What to ask an authenticator. options: JSON for the browser. token: for its cookie."""

    options: str
    token: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Passkeys:
    """The use cases about passkeys."""

    core: Core
    sessions: Sessions
    authenticators: Authenticators
    limits: SignInLimits

    async def of_account(self, account_id: str) -> list[Passkey]:
        """Return the account's passkeys, oldest first."""
        return await self.core.store.read(lambda records: records.passkeys.of_account(account_id))

    async def begin_adding(
        self, account: Account, session: Session, password: str
    ) -> PasskeyRequest | Denied | TooSoon:
        """Return what to ask an authenticator for a new passkey, after the owner's password."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        there = await self.of_account(account.account_id)
        if len(there) >= MAX_PASSKEYS:
            return TOO_MANY
        challenge = self.core.token_bytes(CHALLENGE_BYTES)
        options = await self.authenticators.options_to_add(account, there, challenge)
        return await self._ask(NextStep.NEW_PASSKEY, account.account_id, challenge, options)

    async def add(
        self, account: Account, step_token: str, answer: str, name: str
    ) -> Passkey | Denied:
        """Store the passkey that an authenticator created."""
        step = await self._take(step_token, NextStep.NEW_PASSKEY)
        if step is None or step.account_id != account.account_id:
            return STEP_OVER
        made = self.authenticators.made(answer, step.challenge)
        if made is None:
            return REFUSED
        passkey = Passkey(
            credential_id=made.credential_id,
            account_id=account.account_id,
            public_key=made.public_key,
            sign_count=made.sign_count,
            name=parse_passkey_name(name),
            created_at=self.core.clock.now(),
            used_at=None,
        )

        async def add(records: Records) -> Passkey | Denied:
            if await records.passkeys.get(passkey.credential_id) is not None:
                return REFUSED
            # Another tab may have added some meanwhile, or the account may have been deleted.
            if len(await records.passkeys.of_account(account.account_id)) >= MAX_PASSKEYS:
                return TOO_MANY
            if await records.accounts.get(account.account_id) is None:
                return STEP_OVER
            await records.passkeys.add(passkey)
            what = N_("A passkey was added: %(name)s.", name=passkey.name)
            await self.core.account_mailer.tell_of_security(
                records, account, what, passkey.created_at
            )
            return passkey

        return await self.core.store.write(add)

    async def remove(
        self, account: Account, session: Session, password: str, credential_id: bytes
    ) -> Denied | TooSoon | None:
        """Remove one of the account's passkeys."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        at = self.core.clock.now()

        async def remove(records: Records) -> None:
            await records.passkeys.remove(account.account_id, credential_id)
            await self.core.account_mailer.tell_of_security(
                records, account, N_("A passkey was removed."), at
            )

        await self.core.store.write(remove)
        return None

    async def begin_sign_in(self, visitor: Visitor) -> PasskeyRequest | TooSoon:
        """Return what to ask an authenticator; which account it is, its answer will tell."""
        refused = await self.limits.of_caller(PASSKEY_BY_ADDRESS, visitor)
        if refused is not None:
            return refused
        challenge = self.core.token_bytes(CHALLENGE_BYTES)
        options = await self.authenticators.options_to_sign_in(challenge)
        return await self._ask(NextStep.PASSKEY, None, challenge, options)

    async def sign_in(self, step_token: str, answer: str, visitor: Visitor) -> NewSession | Denied:
        """Begin a session. The authenticator has verified its user, so no code is asked for."""
        step = await self._take(step_token, NextStep.PASSKEY)
        if step is None:
            return STEP_OVER
        credential_id = self.authenticators.credential_id(answer)
        if credential_id is None:
            return REFUSED
        at = self.core.clock.now()

        async def sign_in(records: Records) -> NewSession | Denied:
            passkey = await records.passkeys.get(credential_id)
            if passkey is None:
                return REFUSED
            count = self.authenticators.sign_count(answer, step.challenge, passkey)
            if count is None:
                return REFUSED
            account = await records.accounts.get(passkey.account_id)
            if account is None or account.verified_at is None:
                return REFUSED
            await records.passkeys.note_use(credential_id, count, at)
            return await self.sessions.begin(records, passkey.account_id, visitor)

        return await self.core.store.write(sign_in)

    async def begin_proof(self, account: Account, visitor: Visitor) -> PasskeyRequest | TooSoon:
        """Return what to ask a signed-in owner's authenticator, to reauthenticate."""
        refused = await self.limits.of_caller(PASSKEY_BY_ADDRESS, visitor)
        if refused is not None:
            return refused
        challenge = self.core.token_bytes(CHALLENGE_BYTES)
        options = await self.authenticators.options_to_sign_in(challenge)
        return await self._ask(NextStep.PASSKEY_PROOF, account.account_id, challenge, options)

    async def prove(self, account: Account, step_token: str, answer: str) -> Denied | None:
        """Return None if a passkey of that account has signed what `begin_proof` asked for."""
        step = await self._take(step_token, NextStep.PASSKEY_PROOF)
        if step is None or step.account_id != account.account_id:
            return STEP_OVER
        credential_id = self.authenticators.credential_id(answer)
        if credential_id is None:
            return REFUSED
        at = self.core.clock.now()

        async def prove(records: Records) -> Denied | None:
            passkey = await records.passkeys.get(credential_id)
            if passkey is None or passkey.account_id != account.account_id:
                return REFUSED
            count = self.authenticators.sign_count(answer, step.challenge, passkey)
            if count is None:
                return REFUSED
            await records.passkeys.note_use(credential_id, count, at)
            return None

        return await self.core.store.write(prove)

    async def _ask(
        self, awaits: NextStep, account_id: str | None, challenge: bytes, options: str
    ) -> PasskeyRequest:
        at, token = self.core.clock.now(), new_session_token(self.core.token_bytes)
        step = Step(
            awaits=awaits,
            account_id=account_id,
            challenge=challenge,
            expires_at=at + STEP_LIFETIME,
        )
        await self.core.store.write(lambda records: records.steps.put(step, step_digest(token), at))
        return PasskeyRequest(options, token)

    async def _take(self, token: str, awaits: NextStep) -> Step | None:
        at = self.core.clock.now()
        step = await self.core.store.write(
            lambda records: records.steps.take(step_digest(token), at)
        )
        return step if step is not None and step.awaits is awaits else None
