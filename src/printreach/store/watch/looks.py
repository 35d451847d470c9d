"""Looks at prints, and people's judgements of them, as rows."""

from collections.abc import Sequence
from datetime import datetime
from math import ceil
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Select, delete, func, or_, select, update

from printreach.rules.detection.scene import ViewCondition
from printreach.rules.watch.choices import Judgement, LastLook, Look
from printreach.rules.watch.memory import WatchedPrint
from printreach.store.columns import Damaged, TableRecords, columns_for, decoded, insert
from printreach.store.tables import is_owners
from printreach.store.watch.tables import watch_judgements, watch_looks, watches

_DIGITS: Final = 3
"""Decimal digits of evidence; an image shows no more."""
MAX_JUDGED: Final = 200
"""Judgements of a printer, each with a picture at most: one a day for half a year."""
MAX_LOOKS: Final = 3000
"""Looks of a print that are shown; beyond this and the alarms a page gets slow and looks the same.
"""
_EDGE_LOOKS: Final = 10
_LOOK = columns_for(Look, watch_looks)
JUDGEMENT = columns_for(Judgement, watch_judgements)
_evidence = msgspec.json.Decoder(tuple[tuple[float, ...], ...])
_VIEWS: Final = frozenset(view.value for view in ViewCondition)
_is_alarm = or_(watch_looks.c.warned, watch_looks.c.paused)


class WatchLookRecords(TableRecords):
    """The looks at prints under watch, and the judgements of them."""

    async def add_look(self, watched: WatchedPrint, last: LastLook) -> Sequence[str]:
        """Store a look; return the pictures that need not be kept any longer.

        Of earlier looks only those that warned or paused keep picture and evidence.
        """
        its = _of_print(watched.printer_id, watched.print_id)
        before = (*its, ~_is_alarm, watch_looks.c.evidence.is_not(None))
        found = await self._connection.scalars(select(watch_looks.c.picture).where(*before))
        spare = [picture for picture in found if picture is not None]
        await self._connection.execute(
            update(watch_looks).where(*before).values(picture=None, evidence=None)
        )
        look = last.look
        await self._connection.execute(
            insert(watch_looks).values(
                printer_id=watched.printer_id,
                account_id=watched.account_id,
                print_id=watched.print_id,
                at=look.at,
                probability=look.probability,
                score=look.score,
                quality=look.quality,
                view=look.view.value,
                warned=look.warned,
                paused=look.paused,
                evidence=_rounded(last.evidence),
                picture=last.picture,
                camera=last.camera,
            )
        )
        return spare

    async def mark(self, watched: WatchedPrint, at: datetime, *, paused: bool) -> None:
        """Mark the look at that time: it paused the print, or else warned of it."""
        its = _of_print(watched.printer_id, watched.print_id)
        column = watch_looks.c.paused if paused else watch_looks.c.warned
        await self._connection.execute(
            update(watch_looks).where(*its, watch_looks.c.at == at).values({column: True})
        )

    async def looks(self, printer_id: str, print_id: str) -> Sequence[Look]:
        """Return the looks at one print, oldest first; of those with nothing new one a minute.

        Of thousands the most telling ones: first and last, alarms, and the worst of the others.
        """
        its = (*_of_print(printer_id, print_id), is_owners(watch_looks))
        count = await self._connection.scalar(select(func.count()).where(*its)) or 0
        shown = its if count <= MAX_LOOKS else (watch_looks.c.number.in_(_telling(its, count)),)
        return await self._all(_look, select(*_LOOK).where(*shown).order_by(watch_looks.c.number))

    async def newest_looks(self, printer_id: str, print_id: str, at_most: int) -> Sequence[Look]:
        """Return the newest of those looks, oldest first."""
        its = (*_of_print(printer_id, print_id), is_owners(watch_looks))
        newest = select(*_LOOK).where(*its).order_by(watch_looks.c.number.desc()).limit(at_most)
        return (await self._all(_look, newest))[::-1]

    async def last(self, printer_id: str, print_id: str) -> LastLook | None:
        """Return the latest look that is kept."""
        found = await self._seen(printer_id, print_id)
        return found[-1] if found else None

    async def alarms(self, printer_id: str, print_id: str) -> Sequence[LastLook]:
        """Return the looks that warned or paused, oldest first."""
        return await self._seen(printer_id, print_id, _is_alarm)

    async def judge(self, judgement: Judgement) -> None:
        """Store a judgement in place of an earlier one of that print; its picture is kept with it.
        A print under watch becomes due, so that the judgement counts at once.

        Beyond a bound the oldest are deleted. Does nothing if that print was never watched.
        """
        account_id = await self._connection.scalar(
            select(watches.c.account_id).where(
                watches.c.printer_id == judgement.printer_id,
                watches.c.print_id == judgement.print_id,
                is_owners(watches),
            )
        )
        if account_id is None:
            return
        values = {
            "account_id": account_id,
            "camera": judgement.camera,
            "at": judgement.at,
            "was_failure": judgement.was_failure,
            "picture": judgement.picture,
        }
        await self._connection.execute(
            insert(watch_judgements)
            .values(printer_id=judgement.printer_id, print_id=judgement.print_id, **values)
            .on_conflict_do_update(index_elements=["printer_id", "print_id"], set_=values)
        )
        await self._make_due(judgement.printer_id, judgement.print_id, judgement.at)
        await self._forget_judged_beyond(judgement.printer_id, MAX_JUDGED)

    async def undo_judgement(self, printer_id: str, print_id: str, at: datetime) -> None:
        """Delete the judgement of a print, if there is one; its picture is kept no longer than
        others. A print under watch becomes due.
        """
        await self._connection.execute(
            delete(watch_judgements).where(
                watch_judgements.c.printer_id == printer_id,
                watch_judgements.c.print_id == print_id,
                is_owners(watch_judgements),
            )
        )
        await self._make_due(printer_id, print_id, at)

    async def judged(self, printer_id: str) -> Sequence[Judgement]:
        """Return all judgements of a printer's prints, whatever the camera, newest first."""
        return await self._all(
            Judgement,
            select(*JUDGEMENT)
            .where(watch_judgements.c.printer_id == printer_id, is_owners(watch_judgements))
            .order_by(watch_judgements.c.at.desc()),
        )

    async def let_pictures_go(self, printer_id: str, print_id: str | None) -> Sequence[str]:
        """Drop the pictures of judgements of that print, or of all; return their ids."""
        theirs = [
            watch_judgements.c.printer_id == printer_id,
            watch_judgements.c.picture.is_not(None),
            is_owners(watch_judgements),
        ]
        if print_id is not None:
            theirs.append(watch_judgements.c.print_id == print_id)
        found = await self._connection.scalars(select(watch_judgements.c.picture).where(*theirs))
        pictures = [picture for picture in found if picture is not None]
        await self._connection.execute(update(watch_judgements).where(*theirs).values(picture=None))
        return pictures

    async def forget(self, before: datetime, judged_before: datetime, at_most: int) -> int:
        """Delete old looks, ended watches and judgements; at_most looks. Returns how many looks."""
        old = select(watch_looks.c.number).where(watch_looks.c.at < before).limit(at_most)
        gone = await self._connection.execute(
            delete(watch_looks).where(watch_looks.c.number.in_(old))
        )
        await self._connection.execute(delete(watches).where(watches.c.ended_at < before))
        await self._connection.execute(
            delete(watch_judgements).where(watch_judgements.c.at < judged_before)
        )
        return gone.rowcount

    async def _make_due(self, printer_id: str, print_id: str, at: datetime) -> None:
        await self._connection.execute(
            update(watches)
            .where(
                watches.c.printer_id == printer_id,
                watches.c.print_id == print_id,
                watches.c.ended_at.is_(None),
                watches.c.token.is_(None),
            )
            .values(due_at=at)
        )

    async def _forget_judged_beyond(self, printer_id: str, most: int) -> None:
        """Delete the oldest judgements; their pictures are kept no longer than others."""
        its = watch_judgements.c.printer_id == printer_id
        beyond = (
            select(watch_judgements.c.print_id)
            .where(its)
            .order_by(watch_judgements.c.at.desc(), watch_judgements.c.print_id)
            .offset(most)
        )
        await self._connection.execute(
            delete(watch_judgements).where(its, watch_judgements.c.print_id.in_(beyond))
        )

    async def _seen(
        self, printer_id: str, print_id: str, *conditions: ColumnElement[bool]
    ) -> list[LastLook]:
        """Return looks that still have their evidence: a few of each print."""
        found = await self._connection.execute(
            select(*_LOOK, watch_looks.c.evidence, watch_looks.c.picture, watch_looks.c.camera)
            .where(
                *_of_print(printer_id, print_id),
                watch_looks.c.evidence.is_not(None),
                is_owners(watch_looks),
                *conditions,
            )
            .order_by(watch_looks.c.number)
        )
        return [
            LastLook(
                look=_look(**row),
                evidence=_evidence_of(row["evidence"]),
                picture=row["picture"],
                camera=row["camera"],
            )
            for row in found.mappings()
        ]


def _of_print(printer_id: str, print_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return watch_looks.c.printer_id == printer_id, watch_looks.c.print_id == print_id


def _look(**row: Any) -> Look:
    values = {column.name: row[column.name] for column in _LOOK}
    return Look(**{**values, "view": _view_of(values["view"])})


def _telling(its: Sequence[ColumnElement[bool]], count: int) -> Select[tuple[int]]:
    """Select, of many looks, the first and last ones, the alarms, and the worst of each group."""
    number = watch_looks.c.number
    place = func.row_number().over(order_by=number) - 1
    placed = select(number, watch_looks.c.score, _is_alarm.label("is_alarm"), place.label("place"))
    every = placed.where(*its).subquery()
    group = every.c.place // ceil(count / MAX_LOOKS)
    rank = func.row_number().over(partition_by=group, order_by=every.c.score.desc())
    ranked = select(every, rank.label("rank")).subquery()
    is_edge = or_(ranked.c.place < _EDGE_LOOKS, ranked.c.place >= count - _EDGE_LOOKS)
    return select(ranked.c.number).where(or_(is_edge, ranked.c.is_alarm, ranked.c.rank == 1))


def _view_of(name: str) -> ViewCondition:
    """Return the condition; a word of another version counts as unknown."""
    return ViewCondition(name) if name in _VIEWS else ViewCondition.CLEAR


def _evidence_of(content: bytes) -> tuple[tuple[float, ...], ...]:
    """Decode the evidence; if that fails it is empty, and the rest of the look is used."""
    try:
        return decoded(_evidence, content)
    except Damaged:
        return ()


def _rounded(evidence: Sequence[Sequence[float]]) -> bytes:
    return msgspec.json.encode([[round(place, _DIGITS) for place in row] for row in evidence])
