"""`printreach detector dataset export`: the pictures that owners gave away, as a dataset."""

import asyncio
import os
import secrets
from pathlib import Path

from printreach.detector.dataset import DatasetPicture, write_dataset
from printreach.ports import Unavailable
from printreach.run.dependencies import snapshot_store, store_of
from printreach.run.settings import Settings, SettingsError, settings_from
from printreach.store.migrate import DatabaseTooNew


class ExportFailed(Exception):
    """Nothing, or not all, was exported. The message is a sentence for the operator."""


def export_dataset(folder: Path) -> int:
    """Write the dataset into a folder that is empty or new; return how many pictures it has.

    Raises ExportFailed.
    """
    try:
        if folder.exists() and next(folder.iterdir(), None) is not None:
            # What owners have taken back since an earlier export must not stay among the rest.
            raise ExportFailed(f"{folder} is not empty; name a new folder.")
        pictures = asyncio.run(_given(settings_from(os.environ)))
        return write_dataset(folder, pictures, secrets.token_bytes(32))
    except (SettingsError, DatabaseTooNew, Unavailable) as error:
        raise ExportFailed(str(error)) from error
    except OSError as error:
        raise ExportFailed(f"{folder}: {error.strerror or error}") from error


async def _given(settings: Settings) -> list[DatasetPicture]:
    kept = snapshot_store(settings)
    async with store_of(settings) as store:
        given = await store.read(lambda records: records.watches.given())
        found = [(one, await kept.get(one.picture)) for one in given]
    return [DatasetPicture(one, jpeg) for one, jpeg in found if jpeg is not None]
