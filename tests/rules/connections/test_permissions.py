"""Permissions that requests need, and refusals without them."""

import pytest

from printreach.contract.permissions import (
    ALL_PERMISSIONS,
    Permission,
    format_permissions,
    parse_permissions,
)
from printreach.rules.connections.permissions import (
    FULL_ACCESS,
    Access,
    format_access_stamp,
    parse_access_stamp,
    refusal_of,
    required_of,
)

API = b"/service-command-api"
ORDERS = [
    b"/pause",
    b"/resume",
    b"/cancel",
    b"/start",
    b"/set-light",
    b"/move-axis",
    b"/home",
    b"/extrude",
    b"/set-temp",
    b"/adjust",
    b"/emergency-stop",
    b"/restart-firmware",
]
FILE_COMMANDS = [
    (b"GET", b"/files/list"),
    (b"GET", b"/files/details?path=gcode%2Fa.gcode"),
    (b"GET", b"/files/thumbnail?path=gcode%2Fa.gcode"),
    (b"GET", b"/files/download?path=gcode%2Fa.gcode"),
    (b"PUT", b"/files/upload?path=gcode%2Fa.gcode"),
    (b"POST", b"/files/delete?path=gcode%2Fa.gcode"),
]
ODD_SPELLINGS = [
    b"//service-command-api/pause",
    b"/service-command-api//pause",
    b"/service-command-api/./pause",
    b"/service-command-api/webcam/../pause",
    b"/service-command-api/%70ause",
    b"/service-command-api%2fpause",
    b"/service%2dcommand-api/pause",
    b"/Service-Command-Api/pause",
    b"/service-command-api/PAUSE",
    b"/service-command-api/pause/",
    b"/service-command-api/pause;x=1",
    b"/service-command-api\\pause",
    b"/service-command-api/status/",
    b"/service-command-api/status/../pause",
    b"/service-command-api/status%2f..%2fpause",
    b"/service-command-api/webcam/list/",
    b"/service-command-api/webcam/./list",
    b"/service-command-api/webcam%2fsnapshot",
    b"/service-command-api/files%2flist",
    b"/service-command-api",
    b"/service-command-api/",
    b"/service-command-api?/status",
    b"/service-command-api#/status",
    b"/./service-command-api/status",
    b"/x/../service-command-api/status",
    b"/%73ervice-command-api/status",
    b"/service-command-apistatus",
    b"/api/version",
    b"/",
    b"*",
]


@pytest.mark.parametrize("command", ORDERS)
def test_an_order_needs_control(command: bytes) -> None:
    assert required_of(b"POST", API + command).permission is Permission.CONTROL


@pytest.mark.parametrize(("method", "command"), FILE_COMMANDS)
def test_commands_about_files_need_files(method: bytes, command: bytes) -> None:
    assert required_of(method, API + command).permission is Permission.FILES


@pytest.mark.parametrize(
    ("method", "command"),
    [
        (b"GET", b"/files/list?root=config"),
        (b"GET", b"/files/list?path=logs"),
        (b"GET", b"/files/list?ROOT=config&path=gcode"),
        (b"GET", b"/files/list?root=gcode&root=config"),
        (b"GET", b"/files/download?path=config/moonraker.conf"),
        (b"GET", b"/files/download?path=config%2Fmoonraker.secrets"),
        (b"GET", b"/files/download?p%61th=%63onfig/a"),
        (b"GET", b"/files/details?path=./config/a"),
        (b"GET", b"/files/thumbnail?path=\xff/a"),
        (b"PUT", b"/files/upload?path=config%2Fresume.g"),
        (b"POST", b"/files/delete?path=gcode/../config/printer.cfg&path=config/printer.cfg"),
    ],
)
def test_configuration_and_logs_need_interface_and_are_not_opened_by_files(
    method: bytes, command: bytes
) -> None:
    requirement = required_of(method, API + command)

    assert requirement.permission is Permission.INTERFACE
    assert requirement.works_while_locked == (method == b"GET")


@pytest.mark.parametrize(
    "command",
    [
        *(b"/files/list", b"/files/list?root=gcode", b"/files/list?path=gcode/parts"),
        *(b"/files/list?root=", b"/files/download?path=gcode%2Fconfig%2Fa.gcode"),
        b"/files/thumbnail?path=gcode/a.gcode&size=300",
    ],
)
def test_files_that_are_printed_need_files(command: bytes) -> None:
    assert required_of(b"GET", API + command).permission is Permission.FILES


@pytest.mark.parametrize("command", [b"/webcam/snapshot", b"/webcam/stream?index=1"])
def test_pictures_need_camera(command: bytes) -> None:
    assert required_of(b"GET", API + command).permission is Permission.CAMERA


@pytest.mark.parametrize("target", [b"/", b"/api/version", b"/webcam/?action=stream", b"*"])
def test_what_is_no_command_needs_interface(target: bytes) -> None:
    assert required_of(b"GET", target).permission is Permission.INTERFACE


def test_the_printers_broker_needs_interface() -> None:
    assert required_of(b"GET", API + b"/proxy/mqtt").permission is Permission.INTERFACE


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"POST"])
def test_the_agents_log_needs_interface_and_is_not_opened_by_files(method: bytes) -> None:
    requirement = required_of(method, API + b"/logs/agent")

    assert requirement.permission is Permission.INTERFACE
    others = Access(permissions=ALL_PERMISSIONS - {Permission.INTERFACE})
    assert refusal_of(requirement, others) is not None


@pytest.mark.parametrize(
    ("method", "command"),
    [
        (b"GET", b"/status"),
        (b"POST", b"/status"),
        (b"GET", b"/webcam/list"),
        (b"GET", b"/temperatures?SinceSec=60"),
        (b"GET", b"/presets"),
        (b"GET", b"/status?a=b"),
    ],
)
def test_the_status_and_the_list_of_webcams_need_no_permission(
    method: bytes, command: bytes
) -> None:
    assert required_of(method, API + command).permission is None


@pytest.mark.parametrize("target", ODD_SPELLINGS)
@pytest.mark.parametrize("method", [b"GET", b"POST", b"PUT", b"post"])
def test_no_other_spelling_of_a_path_passes_without_a_permission(
    method: bytes, target: bytes
) -> None:
    assert refusal_of(required_of(method, target), Access(permissions=frozenset())) is not None


@pytest.mark.parametrize("permission", list(Permission))
def test_a_refusal_names_the_permission_that_is_missing(permission: Permission) -> None:
    targets = {
        Permission.CONTROL: API + b"/start",
        Permission.FILES: API + b"/files/list",
        Permission.CAMERA: API + b"/webcam/snapshot",
        Permission.INTERFACE: b"/",
    }
    requirement = required_of(b"GET", targets[permission])

    sentence = refusal_of(requirement, Access(permissions=ALL_PERMISSIONS - {permission}))

    assert sentence is not None
    assert permission.value in sentence
    assert refusal_of(requirement, Access(permissions=frozenset({permission}))) is None


@pytest.mark.parametrize(
    ("method", "target"),
    [
        *((b"POST", API + order) for order in ORDERS if order != b"/pause"),
        (b"PUT", API + b"/files/upload?path=gcode%2Fa.gcode"),
        (b"POST", API + b"/files/delete?path=gcode%2Fa.gcode"),
        (b"GET", API + b"/proxy/mqtt"),
        (b"GET", b"/"),
        (b"POST", b"/api/job"),
    ],
)
def test_a_lock_refuses_what_changes_something(method: bytes, target: bytes) -> None:
    assert "locked" in (refusal_of(required_of(method, target), Access(is_locked=True)) or "")


@pytest.mark.parametrize(
    ("method", "command"),
    [
        (b"GET", b"/status"),
        (b"GET", b"/webcam/list"),
        (b"GET", b"/webcam/stream"),
        (b"GET", b"/files/list"),
        (b"GET", b"/files/download?path=gcode%2Fa.gcode"),
        (b"GET", b"/logs/agent"),
        (b"POST", b"/pause"),
    ],
)
def test_a_lock_lets_through_what_looks_and_what_pauses(method: bytes, command: bytes) -> None:
    assert refusal_of(required_of(method, API + command), Access(is_locked=True)) is None


@pytest.mark.parametrize("is_locked", [False, True])
@pytest.mark.parametrize(
    "permissions",
    [
        ALL_PERMISSIONS,
        frozenset(),
        frozenset({Permission.CAMERA}),
        frozenset({Permission.CONTROL, Permission.FILES}),
    ],
)
def test_the_agent_reads_what_the_relay_stamped(
    permissions: frozenset[Permission], is_locked: bool
) -> None:
    access = Access(permissions=permissions, is_locked=is_locked)
    assert parse_access_stamp(format_access_stamp(access)) == access


def test_the_agent_reads_which_stream_a_lock_does_not_bind() -> None:
    access = Access(ignores_lock=True)
    assert not access.is_full  # so that the relay stamps it
    assert parse_access_stamp(format_access_stamp(access)) == access


def test_a_stream_without_a_stamp_is_refused_nothing() -> None:
    assert parse_access_stamp(None) == FULL_ACCESS


def test_a_stamp_with_an_unknown_word_grants_only_what_is_known() -> None:
    access = parse_access_stamp(b"camera, everything")
    assert access == Access(permissions=frozenset({Permission.CAMERA}))


def test_permissions_are_written_in_one_order() -> None:
    assert format_permissions(ALL_PERMISSIONS) == "control,files,camera,interface"
    assert parse_permissions("camera, control") == {Permission.CAMERA, Permission.CONTROL}
    assert parse_permissions("") == frozenset()


def test_a_word_that_is_no_permission_is_named() -> None:
    with pytest.raises(ValueError, match="'cameras'"):
        parse_permissions("files,cameras")
