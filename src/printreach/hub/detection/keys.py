"""Keys of the failure-detection API: created, listed, disabled."""

from dataclasses import dataclass, field
from typing import Final

from printreach.hub.accounts import account_with
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.detection.access import (
    MAX_DISABLED_KEYS,
    MAX_KEY_NAME_LENGTH,
    MAX_KEYS,
    DetectionKey,
    digest_of_api_key,
    new_api_key,
    parse_key_name,
)
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records

NO_SUCH_KEY: Final = Denied(Reason.NO_SUCH_KEY, N_("There is no such key in your account."))


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A key that was just created. api_key: what programs send; it cannot be read later."""

    key: DetectionKey
    api_key: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionKeys:
    """The use cases about keys."""

    core: Core

    async def all(self, account_id: str) -> list[DetectionKey]:
        """Return all keys, including disabled ones, newest first."""
        return await self.core.store.read(
            lambda records: records.detection_keys.of_account(account_id)
        )

    async def one(self, account_id: str, key_id: str) -> DetectionKey | Denied:
        return await self.core.store.read(lambda records: _own(records, account_id, key_id))

    async def make(self, account_id: str, name: str) -> MadeKey | Denied:
        """Create a key. It is in the answer and nowhere else."""
        return await self.core.store.write(lambda records: self._make(records, account_id, name))

    async def make_for(self, email: str, name: str, by: Operator) -> MadeKey | Denied:
        """Create a key for an account, as an operator."""
        at = self.core.clock.now()

        async def make(records: Records) -> MadeKey | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            made = await self._make(records, account.account_id, name)
            if isinstance(made, MadeKey):
                detail = f"{made.key.name}, {made.key.key_id}"
                await note(records, by, at, OperatorAct.KEY_MADE, account.email, detail)
            return made

        return await self.core.store.write(make)

    async def disable(self, account_id: str, key_id: str) -> DetectionKey | Denied:
        """Disable a key for good."""

        async def disable(records: Records) -> DetectionKey | Denied:
            key = await _own(records, account_id, key_id)
            if isinstance(key, DetectionKey):
                await records.detection_keys.disable(key_id, self.core.clock.now())
            return key

        return await self.core.store.write(disable)

    async def disable_any(self, key_id: str, by: Operator) -> DetectionKey | Denied:
        """Disable any account's key, as an operator."""
        at = self.core.clock.now()

        async def disable(records: Records) -> DetectionKey | Denied:
            key = await records.detection_keys.get(key_id)
            if key is None:
                return Denied(Reason.NO_SUCH_KEY, N_("There is no key %(key_id)s.", key_id=key_id))
            await records.detection_keys.disable(key_id, at)
            await note(records, by, at, OperatorAct.KEY_DISABLED, key_id, key.name)
            return key

        return await self.core.store.write(disable)

    async def _make(self, records: Records, account_id: str, name: str) -> MadeKey | Denied:
        read = parse_key_name(name)
        if read is None:
            return Denied(
                Reason.INVALID,
                N_(
                    "A key's name has at most %(max_key_name_length)s characters, none invisible.",
                    max_key_name_length=MAX_KEY_NAME_LENGTH,
                ),
            )
        keys = await records.detection_keys.of_account(account_id)
        if sum(not key.is_disabled for key in keys) >= MAX_KEYS:
            return Denied(
                Reason.TOO_MANY_KEYS,
                N_("An account has at most %(max_keys)s keys; disable one.", max_keys=MAX_KEYS),
            )
        for old in [key for key in keys if key.is_disabled][MAX_DISABLED_KEYS:]:
            await records.detection_keys.forget(old.key_id)
        key = DetectionKey(
            key_id=new_record_id(self.core.token_bytes),
            account_id=account_id,
            name=read,
            created_at=self.core.clock.now(),
        )
        api_key = new_api_key(self.core.token_bytes)
        await records.detection_keys.add(key, digest_of_api_key(api_key))
        return MadeKey(key, api_key)


async def _own(records: Records, account_id: str, key_id: str) -> DetectionKey | Denied:
    key = await records.detection_keys.get(key_id)
    return NO_SUCH_KEY if key is None or key.account_id != account_id else key
