"""Keys of the data directory that can't be used are told in a sentence."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from printreach.rules.accounts.second_factors import Totp
from printreach.run.main import main
from printreach.store.sealing import KEYS_FILE
from printreach.store.store import Records, open_store
from tests.store.records import ADA


def with_an_app(data_dir: Path) -> None:
    """An account whose authenticator app's secret is sealed."""

    async def put(records: Records) -> None:
        await records.accounts.add(ADA)
        totp = Totp(secret=b"s" * 20, confirmed_at=datetime.now(UTC), last_step=0)
        await records.second_factors.set_totp(ADA.account_id, totp)

    async def fill() -> None:
        async with open_store(data_dir / "printreach.sqlite3") as store:
            await store.write(put)

    asyncio.run(fill())


def test_a_damaged_key_file_is_named_by_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data_dir = tmp_path / "data"
    with_an_app(data_dir)
    (data_dir / KEYS_FILE).write_text("not a key")
    monkeypatch.setenv("PRINTREACH_DATA_DIR", str(data_dir))

    status = main(["admin", "account", "list"])

    assert status == 1
    said = capsys.readouterr().err
    assert f"{KEYS_FILE} is damaged: put it back from a copy" in said
    assert "Traceback" not in said
