"""What cameras have learnt, as rows."""

import msgspec
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch.background import CameraBackground
from printreach.store.columns import TableRecords
from printreach.store.damaged import Damaged, decoded
from printreach.store.tables import is_owners
from printreach.store.watch.tables import watch_backgrounds

_backgrounds = msgspec.json.Decoder(CameraBackground)


class WatchBackgroundRecords(TableRecords):
    """The background of each camera. Deleted with the printer's link."""

    async def get(self, printer_id: str, camera: int) -> CameraBackground:
        """Return the background; one that has learnt nothing if none was stored."""
        content = await self._connection.scalar(
            select(watch_backgrounds.c.content).where(
                watch_backgrounds.c.printer_id == printer_id,
                watch_backgrounds.c.camera == camera,
                is_owners(watch_backgrounds),
            )
        )
        return CameraBackground() if content is None else _background_of(content)

    async def put(self, printer: OwnedPrinter, camera: int, background: CameraBackground) -> None:
        """Store the background in place of what was known."""
        values = {"account_id": printer.account_id, "content": msgspec.json.encode(background)}
        await self._connection.execute(
            insert(watch_backgrounds)
            .values(printer_id=printer.printer_id, camera=camera, **values)
            .on_conflict_do_update(index_elements=["printer_id", "camera"], set_=values)
        )


def _background_of(content: bytes) -> CameraBackground:
    """Decode it; a damaged one begins again."""
    try:
        return decoded(_backgrounds, content)
    except Damaged:
        return CameraBackground()
