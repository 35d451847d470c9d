"""Webcams as Moonraker and its pages write them down."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.moonraker.cameras import (
    Webcam,
    listed_webcams,
    stored_by_fluidd,
    stored_webcams,
)
from tests.printers.damage import damaged
from tests.printers.moonraker.recordings import answers

LIST = "server.webcams.list"
STORED = {
    "namespace": "webcams",
    "value": {
        "0c6b": {
            "name": "nozzle",
            "enabled": True,
            "urlStream": "/webcam2/?action=stream",
            "urlSnapshot": "/webcam2/?action=snapshot",
            "flipX": True,
            "flipY": False,
            "rotate": 90,
        }
    },
}
FLUIDD = {
    "namespace": "fluidd",
    "value": {
        "cameras": [
            {"id": "1", "enabled": False, "name": "off", "type": "mjpgadaptive", "url": "/a"},
            {"id": "2", "enabled": True, "name": "on", "type": "mjpgadaptive", "url": "/b"},
            {"id": "3", "enabled": True, "name": "film", "type": "hlsstream", "url": "/c.m3u8"},
        ]
    },
}


def entry(**fields: Any) -> dict[str, Any]:
    (recorded,) = answers()[LIST]["webcams"]
    return {"webcams": [{**recorded, **fields}]}


def test_moonrakers_own_list_is_read() -> None:
    assert listed_webcams(answers()[LIST]) == [
        Webcam(
            name="front",
            stream="http://127.0.0.1:8080/stream",
            snapshot="http://127.0.0.1:8080/snapshot",
        )
    ]


def test_flips_and_rotation_are_told() -> None:
    reported = entry(flip_horizontal=True, flip_vertical=True, rotation=270)
    (webcam,) = listed_webcams(reported) or []

    assert (webcam.flip_h, webcam.flip_v, webcam.rotation) == (True, True, 270)


def test_a_rotation_that_is_none_is_not_told() -> None:
    (webcam,) = listed_webcams(entry(rotation=45)) or []

    assert webcam.rotation == 0


def test_cameras_that_are_switched_off_are_told_as_such() -> None:
    assert [webcam.is_enabled for webcam in listed_webcams(entry(enabled=False)) or []] == [False]
    assert listed_webcams({"webcams": []}) is None
    assert listed_webcams(None) is None


@pytest.mark.parametrize("service", ["hlsstream", "webrtc-janus", "webrtc-go2rtc", "iframe"])
def test_a_film_of_another_kind_leaves_the_snapshots(service: str) -> None:
    (webcam,) = listed_webcams(entry(service=service)) or []

    assert (webcam.stream, webcam.snapshot) == ("", "http://127.0.0.1:8080/snapshot")


def test_camera_streamers_stream_is_of_use() -> None:
    reported = entry(service="webrtc-camerastreamer", stream_url="/webcam/webrtc")
    (webcam,) = listed_webcams(reported) or []

    assert webcam.stream == "/webcam/webrtc"


def test_the_database_of_older_installations_is_read() -> None:
    assert stored_webcams(STORED) == [
        Webcam(
            name="nozzle",
            stream="/webcam2/?action=stream",
            snapshot="/webcam2/?action=snapshot",
            flip_h=True,
            rotation=90,
        )
    ]


def test_fluidds_cameras_are_read() -> None:
    assert stored_by_fluidd(FLUIDD) == [
        Webcam(name="off", stream="/a", is_enabled=False),
        Webcam(name="on", stream="/b"),
        Webcam(name="film", stream=""),
    ]


@pytest.mark.slow
@given(st.data())
def test_no_damage_harms(data: st.DataObject) -> None:
    for read, reported in (
        (listed_webcams, answers()[LIST]),
        (stored_webcams, STORED),
        (stored_by_fluidd, FLUIDD),
    ):
        found = read(data.draw(damaged(reported)))
        assert found is None or all(isinstance(webcam, Webcam) for webcam in found)
