"""What is wrong with a service's own house is found."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from printreach.backends.snapshots_s3 import S3Snapshots
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.run.doctor import machine
from printreach.run.doctor.findings import Finding, Verdict, examine, fine
from printreach.run.doctor.machine import MachineChecks
from printreach.run.doctor.network import WebProbe
from printreach.run.settings import settings_from
from printreach.store.store import Records, open_store
from printreach.store.tables import nodes
from tests.fakes.clock import NOON
from tests.rigs.databases import copy_database
from tests.rigs.smtp_server import smtp_server
from tests.rigs.waiting import free_port
from tests.store.records import ADA, PRINTER

Ask = Callable[[MachineChecks], Awaitable[Finding]]


@pytest.fixture
def data_dir(migrated: Path, tmp_path: Path) -> Path:
    copy_database(migrated, tmp_path / "data" / "printreach.sqlite3")
    return tmp_path / "data"


async def unknown(_: str) -> Sequence[str]:
    raise OSError("Name or service not known")


def found_by(
    ask: Ask,
    data_dir: Path,
    at: datetime = NOON,
    store: Callable[[Records], Awaitable[None]] | None = None,
    **settings: str,
) -> Finding:
    """What a check finds in that data directory. store: puts something into the database before."""
    environ = {f"PRINTREACH_{name}": value for name, value in settings.items()}

    async def find() -> Finding:
        chosen = settings_from({**environ, "PRINTREACH_DATA_DIR": str(data_dir)})
        async with AsyncExitStack() as ends:
            opened = None
            if store is not None:
                opened = await ends.enter_async_context(open_store(chosen.database_path))
                await opened.write(store)
            probe = WebProbe(look_up=unknown)
            return await ask(
                MachineChecks(settings=chosen, probe=probe, store=opened, now=lambda: at)
            )

    return asyncio.run(find())


async def nothing(_: Records) -> None:
    pass


def test_a_database_that_works_is_fine(data_dir: Path) -> None:
    assert found_by(MachineChecks.database, data_dir).verdict is Verdict.OK


def test_a_database_that_is_none_is_found(data_dir: Path) -> None:
    (data_dir / "printreach.sqlite3").write_bytes(b"no database" * 100)
    found = found_by(MachineChecks.database, data_dir)

    assert found.verdict is Verdict.FAILURE
    assert "not a database" in found.sentence
    assert "restore" in found.advice


def test_a_database_that_somebody_keeps_locked_is_found(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "CONNECT_TIMEOUT_S", 0.05)
    other = sqlite3.connect(data_dir / "printreach.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    found = found_by(MachineChecks.database, data_dir)
    other.close()

    assert found.verdict is Verdict.FAILURE
    assert "locked" in found.sentence


def test_a_database_of_another_version_is_found(data_dir: Path) -> None:
    with sqlite3.connect(data_dir / "printreach.sqlite3") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0019'")
    connection.close()
    found = found_by(MachineChecks.database, data_dir)

    assert found.verdict is Verdict.WARNING
    assert "schema is 0019" in found.sentence


def test_a_database_that_others_can_read_is_found(data_dir: Path) -> None:
    (data_dir / "printreach.sqlite3").chmod(0o644)

    assert found_by(MachineChecks.database, data_dir).verdict is Verdict.WARNING


def test_nothing_is_made_where_no_service_has_run(tmp_path: Path) -> None:
    for ask in (MachineChecks.database, MachineChecks.storage):
        assert found_by(ask, tmp_path / "none").verdict is Verdict.WARNING
    assert not (tmp_path / "none").exists()


def test_times_from_the_future_are_found(data_dir: Path) -> None:
    async def run_later(records: Records) -> None:
        alive = insert(nodes).values(node_id="node", alive_at=NOON + timedelta(minutes=5))
        await records.connection.execute(alive)

    found = found_by(MachineChecks.clock, data_dir, store=run_later)

    assert found.verdict is Verdict.FAILURE
    assert "times from the future" in found.sentence


@pytest.mark.parametrize(
    ("off", "verdict"), [(timedelta(), Verdict.OK), (timedelta(minutes=2), Verdict.FAILURE)]
)
def test_the_clock_is_compared_with_that_of_a_server(
    data_dir: Path, off: timedelta, verdict: Verdict
) -> None:
    now = datetime.now(UTC)

    async def ask(checks: MachineChecks) -> Finding:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            date = (now + off).strftime("%a, %d %b %Y %H:%M:%S GMT")
            writer.write(f"HTTP/1.1 403 No\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n".encode())
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", port)
        async with server:
            return await checks.clock()

    port = free_port()
    bucket = f"http://key:secret@localhost:{port}/bucket?region=eu"
    assert found_by(ask, data_dir, now, SNAPSHOTS_URL=bucket).verdict is verdict


def test_a_clock_that_nothing_can_be_compared_with_is_told(data_dir: Path) -> None:
    found = found_by(MachineChecks.clock, data_dir)

    assert found.verdict is Verdict.OK
    assert found.sentence.startswith("It is 2026-05-01 12:00 UTC here")


def test_storage_without_space_is_found(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_by(MachineChecks.storage, data_dir).verdict is Verdict.OK

    monkeypatch.setattr(machine, "LITTLE_SPACE", 2**62)
    assert found_by(MachineChecks.storage, data_dir).verdict is Verdict.WARNING
    monkeypatch.setattr(machine, "ALMOST_NO_SPACE", 2**62)
    assert found_by(MachineChecks.storage, data_dir).verdict is Verdict.FAILURE


def test_a_folder_that_others_can_enter_is_found(data_dir: Path) -> None:
    data_dir.chmod(0o755)

    assert found_by(MachineChecks.storage, data_dir).verdict is Verdict.WARNING


@pytest.mark.parametrize("is_free", [True, False])
def test_a_bucket_that_is_gone_is_told_before_what_is_wrong_with_the_folder(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, is_free: bool
) -> None:
    async def refuse(_: S3Snapshots, snapshot_id: str, content: bytes) -> None:
        raise SnapshotsUnavailable("A picture was not kept: Connection refused")

    monkeypatch.setattr(S3Snapshots, "put", refuse)
    monkeypatch.setattr(machine, "LITTLE_SPACE", 0 if is_free else 2**62)
    data_dir.chmod(0o755)
    found = found_by(MachineChecks.storage, data_dir, SNAPSHOTS_URL="http://key:secret@s3/bucket")

    assert found.verdict is Verdict.FAILURE
    assert found.sentence.startswith("A picture was not kept: Connection refused. ")
    assert found.sentence.endswith(f"Other users of this machine can enter {data_dir}.")
    assert ("MiB are free" in found.sentence) is not is_free
    assert found.advice.startswith("Look at PRINTREACH_SNAPSHOTS_URL. ")
    assert found.advice.endswith(f"chmod 700 {data_dir}")


def test_a_database_that_others_can_read_and_of_another_version_is_both(data_dir: Path) -> None:
    with sqlite3.connect(data_dir / "printreach.sqlite3") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0019'")
    connection.close()
    (data_dir / "printreach.sqlite3").chmod(0o644)
    found = found_by(MachineChecks.database, data_dir)

    assert "schema is 0019" in found.sentence
    assert "can read" in found.sentence


def test_the_bus_in_the_database_needs_nothing(data_dir: Path) -> None:
    assert found_by(MachineChecks.bus, data_dir).verdict is Verdict.OK


def test_a_nats_server_that_is_not_there_is_found(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "CONNECT_TIMEOUT_S", 0.3)
    found = found_by(MachineChecks.bus, data_dir, NATS_URL=f"nats://127.0.0.1:{free_port()}")

    assert found.verdict is Verdict.FAILURE
    assert "PRINTREACH_NATS_URL" in found.sentence


@pytest.mark.slow
def test_the_mail_server_is_signed_in_to_and_gets_no_mail(data_dir: Path) -> None:
    with smtp_server() as box:
        url = f"smtp://somebody:secret@localhost:{box.port}"
        found = found_by(MachineChecks.mail, data_dir, SMTP_URL=url)

    assert found == fine(f"The mail server at localhost:{box.port} lets the service in.")
    assert box.mails == []


def test_a_mail_server_that_is_not_there_is_found_and_no_password_is_told(data_dir: Path) -> None:
    url = f"smtp://somebody:secret@localhost:{free_port()}"
    found = found_by(MachineChecks.mail, data_dir, SMTP_URL=url)

    assert found.verdict is Verdict.FAILURE
    assert "refused" in found.sentence
    assert "secret" not in str(found)


def test_a_service_without_mail_server_is_warned_of(data_dir: Path) -> None:
    assert found_by(MachineChecks.mail, data_dir).verdict is Verdict.WARNING


def test_a_service_none_of_whose_printers_is_connected_is_warned_of(data_dir: Path) -> None:
    async def link(records: Records) -> None:
        await records.accounts.add(ADA)
        await records.printers.link(PRINTER)

    assert found_by(MachineChecks.printers, data_dir, store=nothing).verdict is Verdict.OK
    found = found_by(MachineChecks.printers, data_dir, store=link)
    assert found.verdict is Verdict.WARNING
    assert found.sentence == "None of 1 linked printers is connected."


def test_no_check_hangs() -> None:
    async def hang() -> Finding:
        await asyncio.Event().wait()
        raise AssertionError

    async def answer() -> Finding:
        return fine("Well.")

    async def find() -> dict[str, Finding]:
        return await examine({"hung": hang, "well": answer}, within_s=0.01)

    found = asyncio.run(find())
    assert list(found) == ["hung", "well"]
    assert found["hung"].verdict is Verdict.FAILURE
    assert found["well"] == fine("Well.")
