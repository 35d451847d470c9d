"""Looks of the watch at a printer's prints, put into the store as the watch does."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

import msgspec
from httpx import Response
from sqlalchemy import insert

from printreach.contract.status import (
    DetectorStatus,
    ServiceStatus,
    State,
    StatusResult,
    WebcamEntry,
    WebcamList,
)
from printreach.contract.unset import UNSET
from printreach.rules.connections.credentials import new_secret
from printreach.rules.detection.scene import ViewCondition
from printreach.rules.prints.snapshots import Snapshot
from printreach.rules.turns import TurnRule
from printreach.rules.watch.choices import Judgement, LastLook, Look, WatchSettings
from printreach.store.leases import Claim
from printreach.store.store import Records
from printreach.store.watch.tables import watch_looks
from tests.web.printers.conftest import Home, printing
from tests.web.world import run

PRINT = "print-1"
SPOT = ((0.0,) * 8,) * 5 + ((0.0, 0.0, 0.3, 0.6, 0.95, 0.7, 0.0, 0.0),) * 2 + ((0.0,) * 8,)
"""Evidence of something at the lower middle."""
_ALWAYS = timedelta(hours=1)


def under_watch(
    *scores: float,
    state: State = State.PRINTING,
    print_id: str = PRINT,
    file_name: str = "vase.gcode",
    camera: WebcamEntry | None = None,
    paused_s: float | None = None,
    duration_s: int | None = None,
    cannot_see: str = "",
) -> StatusResult:
    """What a printer says of a print, and the detector's latest scores of it."""
    detector = DetectorStatus(
        last_score=scores[-1] if scores else 0.0,
        score_history=list(scores),
        time_since_last_score_sec=8.0 if paused_s is None else paused_s + 1.0,
        interval_sec=20.0,
        time_since_last_pause_sec=paused_s,
        cannot_see=cannot_see or UNSET,
    )
    said = printing(state=state, file_name=file_name)
    if duration_s is not None:
        current = msgspec.structs.replace(said.job_status.current_print, duration_sec=duration_s)
        said = msgspec.structs.replace(
            said, job_status=msgspec.structs.replace(said.job_status, current_print=current)
        )
    return StatusResult(
        job_status=said.job_status,
        service_status=ServiceStatus(most_recent_print_id_str=print_id, detector=detector),
        platform_version=said.platform_version,
        features=said.features,
        list_webcams=WebcamList(webcams=[camera or WebcamEntry(name="Bed camera")]),
    )


def a_look(
    at: datetime,
    score: int = 5,
    *,
    warned: bool = False,
    paused: bool = False,
    view: ViewCondition = ViewCondition.CLEAR,
) -> Look:
    return Look(
        at=at,
        probability=score / 100,
        score=score,
        quality=max(1, 10 - score // 10),
        view=view,
        warned=warned,
        paused=paused,
    )


def failing(home: Home, looks: int = 60, *, paused: bool = False) -> list[Look]:
    """A print that went well for so many looks, one a minute; then it failed, until now."""
    now, last = home.world.clock.now(), looks + 8
    calm = [a_look(now - timedelta(minutes=last - n), 4 + n % 5) for n in range(looks)]
    scores = (38, 52, 66, 75, 83, 90, 93, 94)
    bad = [
        a_look(
            now - timedelta(minutes=8 - n),
            score,
            warned=n == 5,
            paused=paused and n == len(scores) - 1,
        )
        for n, score in enumerate(scores)
    ]
    return calm + bad


def saw(home: Home, *looks: Look, print_id: str = PRINT, jpeg: bytes | None = None) -> None:
    """The watch looked; the last look, and those that warned or paused, keep picture and map."""
    kept = home.world.services.snapshots.kept
    at = home.world.clock.now()

    async def put() -> None:
        async def write(records: Records) -> list[str]:
            watches, pictures = records.watches, []
            await watches.begin(home.printer_id, home.account_id, print_id, at - _ALWAYS)
            wanted = Claim(token="token", at=at, until=at + _ALWAYS, at_most=1)
            [watched] = await watches.claim(wanted, TurnRule(of_account=1), degraded=False)
            for look in looks:
                picture = None
                if jpeg is not None and (look.warned or look.paused or look is looks[-1]):
                    picture = new_secret(secrets.token_bytes)
                    await records.snapshots.add(
                        Snapshot(
                            snapshot_id=picture,
                            account_id=home.account_id,
                            printer_id=home.printer_id,
                            taken_at=look.at,
                            size=len(jpeg),
                        )
                    )
                    pictures.append(picture)
                seen = LastLook(
                    look=look, evidence=SPOT, picture=picture, camera=watched.settings.camera
                )
                await watches.add_look(watched, seen)
            await watches.release(watched, watched.memory, at)
            return pictures

        for picture in await home.world.store.write(write):
            assert jpeg is not None
            await kept.put(picture, jpeg)

    run(home.browser, put)


def saw_before(home: Home, looks: Sequence[Look]) -> None:
    """So many looks that one after the other would take long; none keeps what it saw."""
    rows = [
        {"printer_id": home.printer_id, "account_id": home.account_id, "print_id": PRINT}
        | {"number": -number, **asdict(look), "view": look.view.value}
        for number, look in enumerate(reversed(looks), 1)
    ]

    async def write(records: Records) -> None:
        await records.connection.execute(insert(watch_looks), rows)

    run(home.browser, lambda: home.world.store.write(write))


def chosen(home: Home) -> WatchSettings:
    """What is stored."""
    store = home.world.store
    return run(
        home.browser,
        lambda: store.read(lambda records: records.watch_settings.get(home.printer_id)),
    )


def choose(home: Home, settings: WatchSettings) -> None:
    watch = home.world.services.watch_choices
    run(home.browser, lambda: watch.change(home.account_id, home.printer_id, settings))


def answers(home: Home) -> list[Judgement]:
    store = home.world.store
    found = run(
        home.browser,
        lambda: store.read(lambda records: records.watches.judged(home.printer_id)),
    )
    return list(found)


def picture_of(home: Home, page: Response) -> Response:
    """The picture that a page shows of what was seen."""
    found = re.search(r'src="([^"]*/detector/(?:picture|judged)[^"]*)"', page.text)
    assert found is not None
    return home.browser.get(found[1].replace("&amp;", "&"))
