"""Secrets that have to be used again, so that a digest will not do: sealed with a service key.

A copy of the database without the data directory's key reveals none of them. The keys have a file
of their own, so that they can be rotated without every agent being linked again. At each start the
newest key seals what is stored open or sealed by an older one.
"""

import base64
import logging
import secrets
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Connection, create_engine, event, select, update

from printreach.store.accounts.second_factors import secret_about, secret_as_text
from printreach.store.accounts.tables import totp_apps
from printreach.store.engine import begin_immediate, set_up, url_of
from printreach.store.key_files import KeyFileRefused, write_once
from printreach.store.notifications.tables import notify_targets

KEYS_FILE: Final = "sealing.keys"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_VERSION: Final = b"\x01"

_log = logging.getLogger(__name__)


class SealingKeysRefused(KeyFileRefused):
    """The sealing keys cannot be used; the message is a sentence."""


class KeySealer:
    """ports.Sealer. key: 32 bytes. older: keys that unseal what they sealed, and seal no more.

    Format: version, nonce, ciphertext and tag.
    """

    def __init__(
        self, key: bytes, token_bytes: Callable[[int], bytes], older: Sequence[bytes] = ()
    ) -> None:
        self._ciphers = [AESGCM(one) for one in (key, *older)]
        self._token_bytes = token_bytes

    def seal(self, text: str, about: str) -> bytes:
        nonce = self._token_bytes(_NONCE_BYTES)
        return _VERSION + nonce + self._ciphers[0].encrypt(nonce, text.encode(), about.encode())

    def unseal(self, sealed: bytes, about: str) -> str | None:
        opened = (_open(cipher, sealed, about) for cipher in self._ciphers)
        return next((text for text in opened if text is not None), None)

    def is_of_newest_key(self, sealed: bytes, about: str) -> bool:
        """Return whether it was sealed by the newest key; otherwise it is to be sealed again."""
        return _open(self._ciphers[0], sealed, about) is not None


class DataDirSealer:
    """A sealer with the keys of a data directory, which are read when they are first needed.

    Raises SealingKeysRefused then.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / KEYS_FILE

    def seal(self, text: str, about: str) -> bytes:
        return self.keys.seal(text, about)

    def unseal(self, sealed: bytes, about: str) -> str | None:
        return self.keys.unseal(sealed, about)

    def is_of_newest_key(self, sealed: bytes, about: str) -> bool:
        return self.keys.is_of_newest_key(sealed, about)

    @cached_property
    def keys(self) -> KeySealer:
        """Return the sealer of the key file, which is created if there is none."""
        try:
            if not self._path.exists():
                write_once(self._path, base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            newest, *older = _read_keys(self._path)
        except OSError as error:
            raise SealingKeysRefused(
                f"The key file {self._path} can't be used: {error.strerror}."
            ) from error
        return KeySealer(newest, secrets.token_bytes, older)


def _open(cipher: AESGCM, sealed: bytes, about: str) -> str | None:
    head = len(_VERSION) + _NONCE_BYTES
    if not sealed.startswith(_VERSION) or len(sealed) <= head:
        return None
    nonce = sealed[len(_VERSION) : head]
    try:
        return cipher.decrypt(nonce, sealed[head:], about.encode()).decode()
    except InvalidTag:
        return None


def _read_keys(path: Path) -> list[bytes]:
    """Parse the keys: one a line, newest first, at least one."""
    lines = path.read_bytes().split()
    try:
        keys = [base64.b64decode(line, validate=True) for line in lines]
    except ValueError:
        keys = []
    if not keys or any(len(key) != _KEY_BYTES for key in keys):
        raise SealingKeysRefused(
            f"The key file {path} is damaged: put it back from a copy. It holds a key of"
            f" {_KEY_BYTES} bytes in base64 on each line; without them no authenticator app signs"
            " anybody in."
        )
    return keys


def seal_anew_in_file(path: Path, sealer: DataDirSealer) -> None:
    """Seal them again in an SQLite database.

    Blocks. Old contents are overwritten, in the journal too. Raises OperationalError.
    """
    engine = create_engine(url_of(path, "pysqlite"))
    event.listen(engine, "connect", set_up)
    try:
        with engine.connect() as connection:
            has_work = _has_work(connection, sealer)
        if has_work:
            event.listen(engine, "begin", begin_immediate)
            with engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA secure_delete = ON")
                connection.commit()
                with connection.begin():
                    seal_anew(connection, sealer)
                driver = connection.connection.driver_connection
                assert driver is not None, "it is open"
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        engine.dispose()


def _has_work(connection: Connection, sealer: DataDirSealer) -> bool:
    return bool(_open_ones(connection, sealer) or _old_targets(connection, sealer))


def _open_ones(connection: Connection, sealer: DataDirSealer) -> dict[str, str]:
    """Return what is to be sealed, by its account; what no key unseals any more stays as it is."""
    found: dict[str, str] = {}
    for row in connection.execute(select(totp_apps)).mappings():
        account_id, stored = row["account_id"], row["secret"]
        about = secret_about(account_id)
        if not row["is_sealed"]:
            found[account_id] = secret_as_text(stored)
        elif not sealer.is_of_newest_key(stored, about):
            text = sealer.unseal(stored, about)
            if text is None:
                _log.warning("no key of %s opens an authenticator app's secret", account_id)
            else:
                found[account_id] = text
    return found


def _old_targets(connection: Connection, sealer: DataDirSealer) -> dict[str, str]:
    """Return addresses of destinations that an older key sealed, by destination."""
    found: dict[str, str] = {}
    columns = (notify_targets.c.target_id, notify_targets.c.sealed)
    for target_id, sealed in connection.execute(select(*columns)):
        if not sealed or sealer.is_of_newest_key(sealed, target_id):
            continue
        text = sealer.unseal(sealed, target_id)
        if text is None:
            _log.warning("no key opens the address of a notification channel")
        else:
            found[target_id] = text
    return found


def seal_anew(connection: Connection, sealer: DataDirSealer) -> None:
    """Seal them again, within a transaction."""
    for account_id, text in _open_ones(connection, sealer).items():
        sealed = sealer.seal(text, secret_about(account_id))
        connection.execute(
            update(totp_apps)
            .where(totp_apps.c.account_id == account_id)
            .values(secret=sealed, is_sealed=True)
        )
    for target_id, text in _old_targets(connection, sealer).items():
        connection.execute(
            update(notify_targets)
            .where(notify_targets.c.target_id == target_id)
            .values(sealed=sealer.seal(text, target_id))
        )
