"""At each start, seals with the newest key what is stored open or sealed by an older one."""

import logging
from pathlib import Path

from sqlalchemy import Connection, create_engine, event, select, update

from printreach.store.accounts.second_factors import secret_about, secret_as_text
from printreach.store.accounts.tables import totp_apps
from printreach.store.engine import begin_immediate, set_up, url_of
from printreach.store.notifications.tables import notify_targets
from printreach.store.sealing import DataDirSealer

_log = logging.getLogger(__name__)


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
