"""OctoPrint's cameras, by its settings."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.octoprint.profile import cameras_in
from tests.printers.damage import damaged
from tests.printers.octoprint.recordings import rest

OLD: dict[str, Any] = {
    "webcam": {
        "webcamEnabled": True,
        "streamUrl": "/webcam/?action=stream",
        "snapshotUrl": "http://127.0.0.1:8080/?action=snapshot",
        "flipH": True,
        "flipV": False,
        "rotate90": True,
    }
}


def modern(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "displayName": name.title(), "compat": {"stream": f"/{name}"}, **more}


def settings(*cameras: dict[str, object], **more: object) -> dict[str, Any]:
    return {"webcam": {"webcamEnabled": True, "webcams": list(cameras), **more}}


def test_the_modern_list_of_a_real_octoprint_is_read() -> None:
    camera = cameras_in(rest()["idle: settings"])[0]

    assert camera.entry.name == "Classic Webcam"
    assert camera.stream is not None
    assert camera.stream.endswith("/stream")
    assert camera.snapshot is not None
    assert camera.snapshot.endswith("/snapshot")


def test_the_default_camera_comes_first() -> None:
    found = cameras_in(settings(modern("one"), modern("two"), defaultWebcam="two"))

    assert [camera.entry.name for camera in found] == ["Two", "One"]


def test_a_camera_without_a_name_for_people_is_called_by_the_end_of_its_own() -> None:
    camera = cameras_in(settings(modern("plugin/nozzle", displayName=None)))[0]

    assert camera.entry.name == "nozzle"


def test_a_stream_may_stand_in_the_extras() -> None:
    found = cameras_in(settings(modern("x", compat=None, extras={"stream": "/cam/stream"})))

    assert found[0].stream == "/cam/stream"
    assert found[0].snapshot is None


def test_what_shows_a_snapshot_may_be_its_address() -> None:
    picture = "http://cam/snapshot"

    assert cameras_in(settings(modern("x", snapshotDisplay=picture)))[0].snapshot == picture
    assert cameras_in(settings(modern("x", snapshotDisplay="taken by magic")))[0].snapshot is None


def test_a_camera_without_an_address_is_none() -> None:
    assert cameras_in(settings(modern("x", compat={"stream": "rtsp://cam/1"}))) == []


def test_before_the_list_there_was_one_camera() -> None:
    camera = cameras_in(OLD)[0]

    assert camera.stream == "/webcam/?action=stream"
    assert camera.snapshot == "http://127.0.0.1:8080/?action=snapshot"
    assert (camera.entry.flip_h, camera.entry.flip_v) == (True, False)


def test_a_quarter_turn_to_the_left_is_three_to_the_right() -> None:
    assert cameras_in(OLD)[0].entry.rotation == 270


def test_an_owner_who_switched_webcams_off_has_them_disabled() -> None:
    (camera,) = cameras_in(settings(modern("one"), webcamEnabled=False))

    assert not camera.entry.enabled
    assert cameras_in(settings(modern("one")))[0].entry.enabled


def test_where_settings_cannot_be_read_the_usual_addresses_are_tried() -> None:
    camera = cameras_in(None)[0]

    assert camera.stream == "/webcam/?action=stream"
    assert camera.snapshot == "/webcam/?action=snapshot"


@given(st.data())
def test_no_damage_to_the_settings_harms_the_cameras(data: st.DataObject) -> None:
    for camera in cameras_in(data.draw(damaged(rest()["idle: settings"]))):
        assert camera.stream or camera.snapshot
        assert camera.entry.rotation in (0, 270)
