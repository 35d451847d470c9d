"""Pictures and videos in a bucket of an S3-compatible store."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints.snapshots import S3Bucket, is_snapshot_id

TIMEOUT: Final = timedelta(seconds=10)
"""Timeout of one call, including its retries."""
_FAILURES: Final = (BaseError, OSError)


class S3Snapshots:
    """ports.SnapshotStore. The bucket has to exist; only the service has to reach it.

    suffix: of the names in it. content_type: of what is stored.
    """

    def __init__(
        self, place: S3Bucket, suffix: str = ".jpg", content_type: str = "image/jpeg"
    ) -> None:
        self._prefix = place.prefix
        self._suffix = suffix
        self._content_type = content_type
        self._bucket = S3Store(
            place.bucket,
            endpoint=place.endpoint,
            region=place.region,
            access_key_id=place.key_id,
            secret_access_key=place.secret,
            virtual_hosted_style_request=False,
            client_options={
                "allow_http": place.endpoint.startswith("http:"),
                "connect_timeout": timedelta(seconds=3),
                "timeout": TIMEOUT,
            },
            retry_config={"max_retries": 2, "retry_timeout": TIMEOUT},
        )

    async def put(self, snapshot_id: str, content: bytes) -> None:
        try:
            await obstore.put_async(
                self._bucket,
                self._name(snapshot_id),
                content,
                attributes={"Content-Type": self._content_type},
            )
        except _FAILURES as error:
            raise _unavailable("A picture was not kept", error) from error

    async def get(self, snapshot_id: str) -> bytes | None:
        try:
            answer = await obstore.get_async(self._bucket, self._name(snapshot_id))
            return bytes(await answer.bytes_async())
        except FileNotFoundError:
            return None
        except _FAILURES as error:
            raise _unavailable("A picture can't be read", error) from error

    async def remove(self, snapshot_ids: Sequence[str]) -> None:
        names = [self._name(snapshot_id) for snapshot_id in snapshot_ids]
        if not names:
            return
        try:
            await obstore.delete_async(self._bucket, names)
        except _FAILURES as error:
            raise _unavailable("Pictures were not removed", error) from error

    def _name(self, snapshot_id: str) -> str:
        if not is_snapshot_id(snapshot_id):
            raise ValueError("this is no picture's id")
        return f"{self._prefix}{snapshot_id}{self._suffix}"


def _unavailable(what: str, error: BaseException) -> SnapshotsUnavailable:
    # The library's message is the whole exchange; its first line says what failed.
    reason = str(error).partition("\n")[0][:200]
    return SnapshotsUnavailable(f"{what}: {reason}")
