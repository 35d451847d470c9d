"""Readings and facts that an app gets about the printer of its connection."""

import secrets
from datetime import datetime, timedelta

import pytest

from printreach.contract.permissions import Permission
from printreach.contract.status import DetectorStatus, ServiceStatus, State, StatusResult
from printreach.ports.relaying import DetectorReport
from printreach.rules.watch.choices import WatchSettings
from printreach.store.relay import SqlAgents
from tests.fakes.clock import NOON
from tests.fakes.printer_http import OFFLINE, status_of
from tests.web.connections.calling_app import INFO, CallingApp
from tests.web.world import BASE_URL, run

GIB = 1024**3
STATUS = "/api/detector/GetStatusFromAppConnection"


def allow(app_call: CallingApp, *permissions: Permission) -> None:
    """From now on the connection may do that and nothing else."""

    async def put() -> None:
        await app_call.world.store.write(
            lambda records: records.connections.set_permissions(
                app_call.connection_id, frozenset(permissions)
            )
        )

    run(app_call.program, put)


def printing(state: State = State.PRINTING, print_id: str = "print-1") -> StatusResult:
    said = status_of(state, "vase.gcode")
    return StatusResult(
        job_status=said.job_status,
        service_status=ServiceStatus(most_recent_print_id_str=print_id),
        platform_version=said.platform_version,
        features=said.features,
        list_webcams=said.list_webcams,
    )


def look(app_call: CallingApp, status: DetectorStatus, print_id: str = "print-1") -> None:
    """The detector says that of a print."""
    said = DetectorReport(print_id=print_id, status=status, at=app_call.world.clock.now())

    async def put() -> None:
        await app_call.world.detector.put(app_call.printer_id, said)

    run(app_call.program, put)


def test_an_app_is_told_of_its_printer(app_call: CallingApp) -> None:
    assert app_call.get(INFO).json() == {
        "Status": 200,
        "Result": {
            "PrinterName": "Workbench",
            "PrinterLocalIp": None,
            "IsOnline": True,
            "LastDisconnectTimeUtc": "2026-05-01T12:00:00Z",
            "LastConnectionTimeUtc": "2026-05-01T12:00:00Z",
            "UserFacingPrinterUrl": f"{BASE_URL}/printers/{app_call.printer_id}",
            "PrinterLimits": {
                "MaxDownloadFileSizeBytes": GIB,
                "MaxUploadFileSizeBytes": GIB,
                "MaxSingleWebcamStreamLengthSeconds": 3600,
            },
        },
    }


def test_an_app_is_told_what_its_connection_may_do_where_that_is_not_everything(
    app_call: CallingApp,
) -> None:
    allow(app_call, Permission.CAMERA, Permission.FILES)

    assert app_call.get(INFO).json()["Result"]["Permissions"] == ["camera", "files"]


def test_an_app_without_the_camera_is_still_told_what_the_detector_says(
    app_call: CallingApp,
) -> None:
    allow(app_call)

    assert app_call.post(STATUS).status_code == 200


def test_an_app_is_told_when_its_printer_came_and_went(app_call: CallingApp) -> None:
    world = app_call.world
    agents = SqlAgents(world.store, secrets.token_bytes)
    left = world.clock.advance(timedelta(hours=1, microseconds=7))

    async def leave() -> None:
        await agents.agent_disconnected(app_call.printer_id, "node", left)

    run(app_call.program, leave)
    result = app_call.get(INFO).json()["Result"]
    assert result["IsOnline"] is False
    assert result["LastDisconnectTimeUtc"] == "2026-05-01T13:00:00Z"
    assert datetime.fromisoformat(result["LastConnectionTimeUtc"]) == NOON


def test_an_app_is_told_nothing_of_other_printers(app_call: CallingApp) -> None:
    token = app_call.connect_another("bob@example.org", "Bobs")
    assert app_call.get(INFO, token=token).json()["Result"]["PrinterName"] == "Bobs"
    assert app_call.get(INFO).json()["Result"]["PrinterName"] == "Workbench"


@pytest.mark.parametrize("path", [STATUS, STATUS.replace("detector", "gadget")])
def test_an_app_is_told_what_the_detector_sees(app_call: CallingApp, path: str) -> None:
    app_call.says(printing())
    look(app_call, DetectorStatus(last_score=12.0, score_history=[12.0], interval_sec=20))

    assert app_call.post(path).json() == {
        "Status": 200,
        "Result": {"State": 3, "Status": "Great", "StatusColor": "g", "Rating": 9},
    }


def test_what_was_said_of_the_print_before_is_not_told_of_this_one(app_call: CallingApp) -> None:
    app_call.says(printing(print_id="print-2"))
    look(app_call, DetectorStatus(last_score=99.0, score_history=[99.0]))

    assert app_call.post(STATUS).json()["Result"]["State"] == 0


def test_a_printer_that_cant_be_reached_is_watched_by_nobody(app_call: CallingApp) -> None:
    app_call.world.printers.statuses[app_call.printer_id] = OFFLINE
    look(app_call, DetectorStatus(last_score=99.0, score_history=[99.0]))

    result = app_call.post(STATUS).json()["Result"]
    assert (result["State"], result["StatusColor"]) == (2, "w")


@pytest.mark.parametrize("state", [State.IDLE, State.PRINTING, State.COMPLETE])
def test_a_printer_whose_owner_switched_detection_off_is_disabled_whatever_it_does(
    app_call: CallingApp, state: State
) -> None:
    app_call.says(printing(state))
    look(app_call, DetectorStatus(last_score=12.0, score_history=[12.0]))
    world, printer_id = app_call.world, app_call.printer_id

    async def switch_off() -> None:
        row = await world.store.read(lambda records: records.printers.row(printer_id))
        assert row is not None
        account_id = row.printer.account_id
        assert account_id is not None
        off = WatchSettings(enabled=False)
        await world.store.write(
            lambda records: records.watch_settings.put(printer_id, account_id, off)
        )

    run(app_call.program, switch_off)

    result = app_call.post(STATUS).json()["Result"]
    assert (result["State"], result["Status"]) == (0, "Failure detection is switched off")


def test_many_apps_that_ask_cost_the_printer_one_question(app_call: CallingApp) -> None:
    app_call.says(printing())
    for _ in range(20):
        app_call.post(STATUS)

    assert app_call.world.printers.asks[app_call.printer_id] == 1
