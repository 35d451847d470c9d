"""The form of a printer's cameras: their names, and how their pictures are turned and flipped."""

from collections.abc import Sequence
from dataclasses import dataclass

from printreach.contract.cameras import CameraChoice
from printreach.contract.status import WebcamEntry
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_
from printreach.rules.printers.cameras import (
    ROTATIONS,
    Pose,
    camera_key,
    choice_for,
    parse_camera_name,
    pose_of,
    reported,
)
from printreach.web.forms import Fields
from printreach.web.printer_state import PrinterState
from printreach.web.printers.cards import Webcam, webcam_of

_NO_NAME = N_("A camera's name has up to 60 characters, none of them invisible.")


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraFields:
    """The fields of one camera. prefix: of their names. key: tells which camera they are about.

    reported_name: by which the platform lists it. still: its picture, as it is shown now.
    """

    prefix: str
    key: str
    name: str
    reported_name: str
    pose: Pose
    still: Webcam


def cameras_of(seen: SeenPrinter) -> Sequence[WebcamEntry]:
    status = seen.reading.status
    return status.list_webcams.webcams if status is not None else []


def camera_fields(
    seen: SeenPrinter, state: PrinterState, typed: Fields | None = None
) -> list[CameraFields]:
    """Return the fields of each camera. typed: the names that were sent, if they can't be used."""
    return [
        CameraFields(
            prefix=_prefix(index),
            key=camera_key(camera),
            name=camera.name if typed is None else typed[f"{_prefix(index)}name"],
            reported_name=reported(camera).name,
            pose=pose_of(camera),
            still=webcam_of(seen, index, state, still=True),
        )
        for index, camera in enumerate(cameras_of(seen))
    ]


def parse_camera_fields(fields: Fields, seen: SeenPrinter) -> list[CameraChoice] | dict[str, str]:
    """Return the choices, or what is wrong by the fields' names.

    A camera that the form does not name keeps its choice.
    """
    choices, errors = list[CameraChoice](), dict[str, str]()
    for index, camera in enumerate(cameras_of(seen)):
        prefix = _prefix(index)
        if fields[f"{prefix}key"] != camera_key(camera):
            continue
        name = parse_camera_name(fields[f"{prefix}name"])
        if name is None:
            errors[f"{prefix}name"] = _NO_NAME
        else:
            choices.append(choice_for(camera, name, _parse_pose(fields, prefix)))
    return errors or choices


def _parse_pose(fields: Fields, prefix: str) -> Pose:
    turned = fields[f"{prefix}rotation"]
    return Pose(
        flip_h=fields[f"{prefix}flip-h"] == "yes",
        flip_v=fields[f"{prefix}flip-v"] == "yes",
        rotation=next((one for one in ROTATIONS if str(one) == turned), 0),
    )


def _prefix(index: int) -> str:
    return f"camera-{index}-"
