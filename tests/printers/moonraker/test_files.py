"""Moonraker's files: entries and details as recorded, the form that carries an upload."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from email import message_from_bytes
from email.message import Message
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.files import EntryType, FileRoot
from printreach.contract.unset import UNSET
from printreach.printers.moonraker.entries import (
    Metadata,
    Place,
    details_of,
    folder_of,
    has_pictures,
    is_empty,
    metadata_of,
    place_of,
    stored_at,
    thumbnails_in,
)
from printreach.printers.moonraker.files import NOWHERE, FormUpload
from tests.printers.damage import damaged
from tests.printers.moonraker.recordings import SLICED, answers

TOP = "server.files.get_directory gcodes True"
PARTS = "server.files.get_directory gcodes/parts True"
CONFIG = "server.files.get_directory config True"
BOUNDARY = "0123456789"


# Entries.


def test_a_folder_holds_folders_and_files_without_moonrakers_own() -> None:
    top = folder_of(answers()[TOP], FileRoot.GCODE, "")

    assert [entry.virtual_path for entry in top.folders] == ["gcode/parts"]
    assert [entry.virtual_path for entry in top.files] == ["gcode/short.gcode"]


def test_a_file_is_told_with_what_moonraker_knows_of_it() -> None:
    (file,) = folder_of(answers()[PARTS], FileRoot.GCODE, "parts").files

    assert file.type is EntryType.FILE
    assert file.name == "sliced part.gcode"
    assert file.path == file.virtual_path == "gcode/parts/sliced part.gcode"
    assert file.platform_path == "gcodes/parts/sliced part.gcode"
    assert file.size_bytes == answers()[SLICED]["size"]
    assert file.modified_time_sec == answers()[SLICED]["modified"]
    assert file.permissions == "rw"
    assert isinstance(file.metadata, dict)
    assert file.metadata["slicer"] == "PrusaSlicer"
    assert "size" not in file.metadata


def test_a_list_tells_what_the_slicer_wrote() -> None:
    [file] = folder_of(answers()[PARTS], FileRoot.GCODE, "parts").files

    assert (file.est_print_time_sec, file.est_filament_weight_mg) == (100, 3680)
    assert (file.est_filament_used_mm, file.thumbnail_count) == (1235, 2)
    assert folder_of(answers()[CONFIG], FileRoot.CONFIG, "").files[0].thumbnail_count is UNSET


@pytest.mark.parametrize("path", ["../../config/moonraker.conf", ".thumbs/../../x", None, 7, ""])
def test_a_picture_outside_of_moonrakers_folder_is_none(path: object) -> None:
    reported = {"thumbnails": [{"width": 32, "height": 32, "relative_path": path}, 7, {}]}

    assert thumbnails_in(reported) == []


def test_hidden_files_of_the_configuration_are_told() -> None:
    reported = {"files": [{"filename": ".moonraker.conf.bkp", "size": 5}, {"filename": "a.cfg"}]}
    config = folder_of(reported, FileRoot.CONFIG, "")

    assert [entry.name for entry in config.files] == [".moonraker.conf.bkp", "a.cfg"]
    assert config.files[1].metadata is UNSET
    assert folder_of(answers()[CONFIG], FileRoot.CONFIG, "").files[0].name == "moonraker.conf"


def test_a_folder_with_pictures_of_lost_files_alone_is_empty() -> None:
    reported = {"dirs": [{"dirname": ".thumbs"}], "files": []}

    assert is_empty(reported)
    assert has_pictures(reported)
    assert is_empty({"dirs": [], "files": []})
    assert not is_empty({"dirs": [{"dirname": ".git"}], "files": []})
    assert not is_empty(answers()[PARTS])


def test_an_upload_is_where_moonraker_put_it() -> None:
    sent = place_of("gcode/parts/sliced part.ufp")

    assert stored_at(answers()["upload sliced part.gcode"], sent) == Place(
        FileRoot.GCODE, "parts/sliced part.gcode"
    )
    assert stored_at({}, sent) == sent


@given(st.data())
def test_no_damage_harms_entries(data: st.DataObject) -> None:
    reported = data.draw(damaged(answers()[TOP]))
    found = folder_of(reported, FileRoot.GCODE, "")

    assert encode([*found.folders, *found.files])
    assert isinstance(is_empty(reported), bool)


# Details.


def details(reported: Any) -> dict[str, Any]:
    found = details_of(
        reported,
        virtual_path="gcode/parts/sliced part.gcode",
        platform_path="gcodes/parts/sliced part.gcode",
        size=4722,
        modified=5.5,
    )
    read: dict[str, Any] = json.loads(encode(found))
    return read


def test_details_are_what_the_slicer_wrote() -> None:
    reported = details(answers()[SLICED])
    more = reported.pop("PlatformDetails")

    assert reported == {
        "VirtualPath": "gcode/parts/sliced part.gcode",
        "PlatformPath": "gcodes/parts/sliced part.gcode",
        "FileName": "sliced part.gcode",
        "SizeBytes": 4722,
        "ModifiedTimeSec": 5.5,
        "EstPrintTimeSec": 100,
        "EstFilamentUsedMm": 1235,
        "EstFilamentWeightMg": 3680,
        "LayerHeightMm": 0.2,
        "FirstLayerHeightMm": 0.3,
        "ObjectHeightMm": 0.7,
        "NozzleDiameterMm": 0.4,
        "FilamentType": "PETG",
        "FilamentName": "Generic PETG",
        "BedTempC": 80.0,
        "HotendTempC": 230.0,
        "Slicer": "PrusaSlicer",
        "SlicerVersion": "2.7.1+linux-x64-GTK3",
        "ThumbnailCount": 2,
    }
    assert [picture["width"] for picture in more["thumbnails"]] == [32, 220]


def test_what_no_slicer_wrote_is_left_out() -> None:
    reported = details({"slicer": "Unknown", "slicer_version": "?", "uuid": "x", "layer_height": 0})

    assert reported.keys().isdisjoint(
        {"Slicer", "SlicerVersion", "LayerHeightMm", "EstPrintTimeSec"}
    )
    assert reported["ThumbnailCount"] == 0


def test_a_file_that_is_no_gcode_has_no_pictures_to_count() -> None:
    assert "ThumbnailCount" not in details(None)


def test_layers_are_counted_from_the_height_where_the_slicer_did_not() -> None:
    assert metadata_of(answers()[SLICED]).layers == 3
    assert metadata_of({**answers()[SLICED], "layer_count": 44}).layers == 44


@given(st.data())
def test_no_damage_harms_details(data: st.DataObject) -> None:
    reported = data.draw(damaged(answers()[SLICED]))

    assert details(reported)
    assert isinstance(metadata_of(reported), Metadata)


# The form of an upload.


def sent_by(work: Callable[[FormUpload], Awaitable[None]], name: str = "a.gcode") -> bytes:
    """The whole body, while work puts something into it."""

    async def body() -> bytes:
        form = FormUpload("gcodes", "parts/é", name, BOUNDARY)
        working = asyncio.ensure_future(work(form))
        async with asyncio.timeout(30):
            sent = b"".join([piece async for piece in form.body()])
        await working
        return sent

    return asyncio.run(body())


def parts_of(sent: bytes) -> dict[str, Message]:
    head = b"Content-Type: multipart/form-data; boundary=" + BOUNDARY.encode() + b"\r\n\r\n"
    whole: Message = message_from_bytes(head + sent)
    return {
        str(part.get_param("name", header="content-disposition")): part
        for part in whole.get_payload()
        if isinstance(part, Message)
    }


def content(part: Message) -> bytes:
    found = part.get_payload(decode=True)
    assert isinstance(found, bytes)
    return found


async def put_two(form: FormUpload) -> None:
    await form.put(b"G28\n")
    await form.put(b"G1 X10\n")


async def whole(form: FormUpload) -> None:
    await put_two(form)
    form.finish()


async def half(form: FormUpload) -> None:
    await put_two(form)
    form.invalidate()


def test_a_whole_file_is_for_its_root_and_carries_its_checksum() -> None:
    parts = parts_of(sent_by(whole))

    assert content(parts["file"]) == b"G28\nG1 X10\n"
    assert content(parts["root"]) == b"gcodes"
    assert content(parts["path"]) == "parts/é".encode()
    digest = hashlib.sha256(b"G28\nG1 X10\n").hexdigest()
    assert content(parts["checksum"]).decode() == digest


def test_a_half_file_is_for_no_root_there_is() -> None:
    parts = parts_of(sent_by(half))

    assert content(parts["root"]) == NOWHERE.encode()


@pytest.mark.parametrize("name", ['quo"te.gcode', "100%.gcode", "立方体.gcode", "a;b=c.gcode"])
def test_a_name_travels_in_quotes_as_it_is(name: str) -> None:
    escaped = name.replace('"', '\\"')

    assert f'filename="{escaped}"'.encode() in sent_by(whole, name)


def test_nothing_is_gathered_while_nobody_takes_it() -> None:
    async def body() -> None:
        form = FormUpload("gcodes", "", "a.gcode", BOUNDARY)
        await form.put(b"first")
        second = asyncio.ensure_future(form.put(b"second"))
        await asyncio.sleep(0.01)
        assert not second.done()

        pieces = form.body()
        assert b"a.gcode" in await anext(pieces)
        assert await anext(pieces) == b"first"
        await second
        assert form.size == len(b"firstsecond")

    asyncio.run(body())


def test_what_nobody_takes_any_more_holds_up_nothing() -> None:
    async def body() -> None:
        form = FormUpload("gcodes", "", "a.gcode", BOUNDARY)
        await form.put(b"first")
        form.stop_taking()
        async with asyncio.timeout(30):
            for _ in range(3):
                await form.put(b"more")

    asyncio.run(body())
