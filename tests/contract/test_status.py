"""A status in the very words of the interface."""

import json

from printreach.contract.codec import encode
from printreach.contract.status import (
    CurrentPrint,
    DetectorStatus,
    JobStatus,
    Light,
    ServiceStatus,
    State,
    StatusResult,
    Temps,
    WebcamEntry,
    WebcamList,
)


def in_json(result: StatusResult) -> object:
    """As a program reads it."""
    return json.loads(encode(result))


def test_of_a_printer_that_says_nothing_all_is_there_that_may_not_be_left_out() -> None:
    nothing = StatusResult(
        job_status=JobStatus(state=State.IDLE),
        service_status=ServiceStatus(),
        platform_version="",
        features=0,
        list_webcams=WebcamList(),
    )

    assert in_json(nothing) == {
        "JobStatus": {
            "State": "idle",
            "SubState": None,
            "Error": None,
            "Lights": None,
            "CurrentPrint": {
                "Progress": 0.0,
                "DurationSec": 0,
                "TimeLeftSec": None,
                "FileName": "",
                "EstTotalFilUsedMm": 0,
                "CurrentLayer": None,
                "TotalLayers": None,
                "Temps": {
                    "BedActual": 0.0,
                    "BedTarget": 0.0,
                    "HotendActual": 0.0,
                    "HotendTarget": 0.0,
                },
            },
        },
        "ServiceStatus": {
            "MostRecentPrintIdStr": "",
            "PrintStartTimeSec": 0,
            "Detector": {
                "LastScore": 0.0,
                "ScoreHistory": [],
                "TimeSinceLastScoreSec": 0.0,
                "IntervalSec": 0.0,
                "IsSuppressed": False,
                "TimeSinceLastWarnSec": None,
                "TimeSinceLastPauseSec": None,
            },
        },
        "PlatformVersion": "",
        "Features": 0,
        "ListWebcams": {"DefaultIndex": 0, "Webcams": []},
    }


def test_what_is_known_has_the_names_of_the_interface() -> None:
    known = StatusResult(
        job_status=JobStatus(
            state=State.WARMING_UP,
            sub_state="Heating",
            lights=[Light(name="Case", on=True)],
            current_print=CurrentPrint(
                time_left_sec=90,
                est_total_fil_weight_mg=1200,
                temps=Temps(chamber_actual=31.5, chamber_target=40.0),
            ),
            material_system=None,
        ),
        service_status=ServiceStatus(
            most_recent_print_id_str="p1",
            print_start_time_sec=1_780_000_000,
            detector=DetectorStatus(
                last_score=48.0, score_history=[3.0, 48.0], time_since_last_warn_sec=4.5
            ),
        ),
        platform_version="1.11.2",
        features=63,
        list_webcams=WebcamList(webcams=[WebcamEntry(name="Bed", flip_h=True, rotation=90)]),
    )
    said = json.loads(encode(known))
    job, service = said["JobStatus"], said["ServiceStatus"]

    assert (job["State"], job["MaterialSystem"]) == ("warmingup", None)
    assert job["Lights"] == [{"Name": "Case", "On": True}]
    assert job["CurrentPrint"]["EstTotalFilWeightMg"] == 1200
    assert job["CurrentPrint"]["Temps"]["ChamberActual"] == 31.5
    assert job["CurrentPrint"]["Temps"]["ChamberTarget"] == 40.0
    assert (service["MostRecentPrintIdStr"], service["PrintStartTimeSec"]) == ("p1", 1_780_000_000)
    assert service["Detector"]["ScoreHistory"] == [3.0, 48.0]
    assert service["Detector"]["TimeSinceLastWarnSec"] == 4.5
    assert said["ListWebcams"]["Webcams"] == [
        {
            "Name": "Bed",
            "FlipH": True,
            "FlipV": False,
            "Rotation": 90,
            "Enabled": True,
            "SnapshotUrl": None,
            "StreamUrl": None,
        }
    ]
