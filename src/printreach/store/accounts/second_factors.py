"""Authenticator apps, recovery codes, passkeys and limited tries, as rows."""

import base64
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update

from printreach.ports.notifications import Sealer
from printreach.rules.accounts.second_factors import Passkey, Totp
from printreach.store.accounts.tables import passkeys, recovery_codes, totp_apps, tries
from printreach.store.async_engine import AsyncConnection
from printreach.store.columns import TableRecords, columns_for

_TOTP = columns_for(Totp, totp_apps)
_PASSKEY = columns_for(Passkey, passkeys)


def secret_about(account_id: str) -> str:
    """Return what a sealed secret belongs to: in another account's row it is not unsealed."""
    return f"totp:{account_id}"


def secret_as_text(secret: bytes) -> str:
    """Return a secret as text, to be sealed."""
    return base64.b64encode(secret).decode()


class SecondFactorRecords:
    """Authenticator apps and recovery codes."""

    def __init__(self, connection: AsyncConnection, sealer: Sealer) -> None:
        self._connection = connection
        self._sealer = sealer

    async def totp(self, account_id: str) -> Totp | None:
        found = await self._connection.execute(
            select(*_TOTP).where(totp_apps.c.account_id == account_id)
        )
        row = found.mappings().first()
        if row is None:
            return None
        text = self._sealer.unseal(row["secret"], secret_about(account_id))
        return Totp(**{**row, "secret": None if text is None else base64.b64decode(text)})

    async def set_totp(self, account_id: str, totp: Totp | None) -> None:
        await self._connection.execute(
            delete(totp_apps).where(totp_apps.c.account_id == account_id)
        )
        if totp is not None:
            assert totp.secret is not None, "what can't be read is not written again"
            sealed = self._sealer.seal(secret_as_text(totp.secret), secret_about(account_id))
            values = asdict(totp) | {"secret": sealed, "is_sealed": True}
            await self._connection.execute(
                insert(totp_apps).values(**values, account_id=account_id)
            )

    async def recovery_codes(self, account_id: str) -> int:
        """Return how many recovery codes are left."""
        found = await self._connection.execute(
            select(func.count()).where(recovery_codes.c.account_id == account_id)
        )
        return int(found.scalar_one())

    async def set_recovery_codes(self, account_id: str, digests: Sequence[bytes]) -> None:
        await self._connection.execute(
            delete(recovery_codes).where(recovery_codes.c.account_id == account_id)
        )
        for code_digest in digests:
            await self._connection.execute(
                insert(recovery_codes).values(account_id=account_id, code_digest=code_digest)
            )

    async def use_recovery_code(self, account_id: str, code_digest: bytes) -> bool:
        """Return whether it was one, and use it up."""
        used = await self._connection.execute(
            delete(recovery_codes).where(
                recovery_codes.c.account_id == account_id,
                recovery_codes.c.code_digest == code_digest,
            )
        )
        return used.rowcount > 0


class PasskeyRecords(TableRecords):
    """Passkeys."""

    async def add(self, passkey: Passkey) -> None:
        await self._connection.execute(insert(passkeys).values(**asdict(passkey)))

    async def get(self, credential_id: bytes) -> Passkey | None:
        return await self._first(
            Passkey, select(*_PASSKEY).where(passkeys.c.credential_id == credential_id)
        )

    async def of_account(self, account_id: str) -> list[Passkey]:
        return await self._all(
            Passkey,
            select(*_PASSKEY)
            .where(passkeys.c.account_id == account_id)
            .order_by(passkeys.c.created_at, passkeys.c.credential_id),
        )

    async def note_use(self, credential_id: bytes, sign_count: int, at: datetime) -> None:
        await self._connection.execute(
            update(passkeys)
            .where(passkeys.c.credential_id == credential_id)
            .values(sign_count=sign_count, used_at=at)
        )

    async def remove(self, account_id: str, credential_id: bytes) -> None:
        await self._connection.execute(
            delete(passkeys).where(
                passkeys.c.account_id == account_id, passkeys.c.credential_id == credential_id
            )
        )


class TryRecords(TableRecords):
    """The state of limits on tries: see `rules.rate_limits`."""

    async def busy_until(self, key: str) -> datetime | None:
        found = await self._connection.execute(select(tries.c.busy_until).where(tries.c.key == key))
        return found.scalar_one_or_none()

    async def set_busy_until(self, key: str, until: datetime, at: datetime) -> None:
        """Store until when; entries whose instant is past are deleted at the same time."""
        await self._connection.execute(
            delete(tries).where((tries.c.busy_until <= at) | (tries.c.key == key))
        )
        await self._connection.execute(insert(tries).values(key=key, busy_until=until))

    async def forget(self, key: str) -> None:
        await self._connection.execute(delete(tries).where(tries.c.key == key))
