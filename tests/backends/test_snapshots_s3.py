"""Kept pictures in a bucket of a real server that speaks S3."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from printreach.backends.snapshots_s3 import S3Snapshots
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints.snapshots import S3Bucket
from tests.fakes.loop import on_a_loop
from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

ONE, TWO = "a" * 32, "b" * 32
BUCKET = "pictures"


def place(endpoint: str, bucket: str = BUCKET) -> S3Bucket:
    return S3Bucket(
        endpoint=endpoint,
        bucket=bucket,
        prefix="printreach/",
        region="us-east-1",
        key_id="key",
        secret="very secret",
    )


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("s3")
    with s3_server(folder, BUCKET) as address:
        yield address


@pytest.mark.slow
@pytest.mark.peer
def test_a_picture_is_kept_in_the_bucket_until_it_is_removed(endpoint: str) -> None:
    @on_a_loop
    async def body() -> None:
        kept = S3Snapshots(place(endpoint))
        large = bytes(range(256)) * 16_384
        await kept.put(ONE, b"picture")
        await kept.put(TWO, large)
        assert await kept.get(ONE) == b"picture"
        assert await kept.get(TWO) == large

        await kept.remove([ONE, "c" * 32])
        await kept.remove([])
        assert await kept.get(ONE) is None
        assert await kept.get(TWO) == large

    body()


@pytest.mark.slow
@pytest.mark.peer
def test_a_bucket_that_is_not_there_is_said_to_be_unavailable(endpoint: str) -> None:
    @on_a_loop
    async def body() -> None:
        with pytest.raises(SnapshotsUnavailable, match="was not kept"):
            await S3Snapshots(place(endpoint, "no-such-bucket")).put(ONE, b"picture")

    body()


def test_a_server_that_is_away_is_said_to_be_without_a_secret() -> None:
    @on_a_loop
    async def body() -> None:
        kept = S3Snapshots(place(f"http://127.0.0.1:{free_port()}"))
        for call in (kept.put(ONE, b"picture"), kept.get(ONE), kept.remove([ONE])):
            with pytest.raises(SnapshotsUnavailable) as refused:
                await call
            assert "secret" not in str(refused.value)

    body()


@pytest.mark.parametrize("name", ["", "..", "../other", "A" * 32])
def test_a_name_that_is_no_picture_leads_nowhere(name: str) -> None:
    @on_a_loop
    async def body() -> None:
        with pytest.raises(ValueError, match="no picture's id"):
            await S3Snapshots(place("http://127.0.0.1:1")).get(name)

    body()


# The server checks no signature, but it tells S3 from other services by this.
_SIGNED = {
    "Authorization": (
        "AWS4-HMAC-SHA256 Credential=key/20260501/us-east-1/s3/aws4_request, "
        "SignedHeaders=host, Signature=none"
    )
}


@contextmanager
def s3_server(folder: Path, bucket: str) -> Iterator[str]:
    """Run it with an empty bucket, and give its address."""
    port = free_port()
    argv = [str(peer_program("s3", "moto_server")), "-H", "127.0.0.1", "-p", str(port)]
    with Program("s3", argv, logs=folder, cwd=folder) as running:
        running.wait_until("listening", lambda: accepts_connections(port))
        address = f"http://127.0.0.1:{port}"
        made = httpx.put(f"{address}/{bucket}", headers=_SIGNED, timeout=30)
        assert made.status_code == 200, made.text
        yield address
