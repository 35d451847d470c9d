"""Permissions: the one that a request to a printer needs, and whether the connection has it.

The relay and the agent both decide by `need_of`, on the same bytes of the same target, so a path
can't be read in two ways: nothing is decoded, joined or changed in case. The agent knows commands
by their exact paths; any other spelling is no command to it, or a path of the printer's own web
server. Of a query only the root of files is read, and whatever isn't plainly that of G-code counts
as another.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from printreach.contract.commands import COMMAND_PREFIX
from printreach.contract.errors import REMOTE_LOCKED
from printreach.contract.files import FileRoot
from printreach.contract.permissions import ALL_PERMISSIONS, Permission, format_permissions
from printreach.languages import N_

LOCKED: Final = "locked"
"""The word among a stream's permissions while its account's remote control is locked."""
DESPITE_LOCK: Final = "despite-lock"
"""The word among those of a stream that a lock doesn't bind: the service's own, to stop prints."""
_PAUSE_PATH: Final = COMMAND_PREFIX + b"/pause"

_PUBLIC: Final = frozenset({b"/status", b"/temperatures", b"/presets", b"/webcam/list"})
_FOLDERS: Final = {
    b"files": Permission.FILES,
    b"logs": Permission.INTERFACE,
    b"webcam": Permission.CAMERA,
    b"proxy": Permission.INTERFACE,
}
"""The permission by the first part of a command's path; every other command is an order.

The agent's log describes the machine beside the printer and all its users, so it needs every
permission. So do the roots `config` and `logs` of files, as firmware runs what its configuration
holds.
"""
_NAMES_OF_ROOT: Final = frozenset({"root", "path"})
"""The query's arguments that name a file's root, as agents read them."""
_READING: Final = frozenset({b"GET", b"HEAD"})
_MISSING: Final = {
    Permission.CONTROL: N_(
        "This connection has no permission for control: it may not give the printer orders."
        " The printer's owner can allow it."
    ),
    Permission.FILES: N_(
        "This connection has no permission for files: it may not use the printer's files."
        " The printer's owner can allow it."
    ),
    Permission.CAMERA: N_(
        "This connection has no permission for camera: it may not use the printer's cameras."
        " The printer's owner can allow it."
    ),
    Permission.INTERFACE: N_(
        "This connection has no permission for interface: it may not use the"
        " printer's own web interface or read the agent's log. The printer's owner can allow it."
    ),
}
"""Why a request is refused that lacks a permission."""
_REFUSED_BY_AGENT: Final = {
    Permission.CONTROL: N_(
        "The agent beside this printer allows nobody to give the printer orders."
        " Whoever runs it can change that with its option --allow."
    ),
    Permission.FILES: N_(
        "The agent beside this printer allows nobody to use the printer's files."
        " Whoever runs it can change that with its option --allow."
    ),
    Permission.CAMERA: N_(
        "The agent beside this printer allows nobody to use the printer's cameras."
        " Whoever runs it can change that with its option --allow."
    ),
    Permission.INTERFACE: N_(
        "The agent beside this printer allows nobody to use the printer's own web"
        " interface or read the agent's log. Whoever runs it can change that with its option"
        " --allow."
    ),
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """The requirements of a request. permission: None if every connection may send it.

    works_while_locked: it reads, or pauses a print, so it is allowed while remote control of the
    account is locked.
    """

    permission: Permission | None
    works_while_locked: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """The present rights of a connection. is_locked: its owner has locked remote control.

    ignores_lock: a lock doesn't bind it.
    """

    permissions: frozenset[Permission] = ALL_PERMISSIONS
    is_locked: bool = False
    ignores_lock: bool = False

    @property
    def is_full(self) -> bool:
        """Whether it may do whatever is not locked. An agent needs no stamp then."""
        if self.is_locked or self.ignores_lock:
            return False
        # Most have the very same set, and to compare sets takes ten times as long.
        return self.permissions is ALL_PERMISSIONS or self.permissions == ALL_PERMISSIONS


FULL_ACCESS: Final = Access()


def is_command(target: bytes) -> bool:
    """Whether the request is for the command API, not for the printer's own web server."""
    if not target.startswith(COMMAND_PREFIX):
        return False
    path = target.partition(b"?")[0]
    return path == COMMAND_PREFIX or path.startswith(COMMAND_PREFIX + b"/")


def required_of(method: bytes, target: bytes) -> Requirement:
    """Return what a request needs. target: as the request line has it, with its query."""
    if not is_command(target):
        return _INTERFACE
    path, _, query = target.partition(b"?")
    command = path[len(COMMAND_PREFIX) :]
    if command in _PUBLIC:
        return _NOTHING
    permission = _FOLDERS.get(command.split(b"/")[1] if command else b"", Permission.CONTROL)
    match permission:
        case Permission.FILES if query and _may_name_other_root(query):
            return _READ_OTHER_ROOTS if method in _READING else _INTERFACE
        case Permission.FILES:
            return _READ_FILES if method in _READING else _CHANGE_FILES
        case Permission.CAMERA:
            return _CAMERA
        case Permission.INTERFACE:
            is_log = command.startswith(b"/logs/") and method in _READING
            return _READ_LOGS if is_log else _INTERFACE
        case Permission.CONTROL:
            return _PAUSE if command == b"/pause" else _CONTROL


def _may_name_other_root(query: bytes) -> bool:
    """Return whether any argument may name another root than that of G-code, the default."""
    arguments = parse_qsl(query.decode("latin-1"), encoding="utf-8", errors="replace")
    return any(
        name.lower() in _NAMES_OF_ROOT and value.partition("/")[0] != FileRoot.GCODE
        for name, value in arguments
    )


def must_be_plain_pause(target: bytes, access: Access) -> bool:
    """Whether a pause must be an ordinary one because remote control is locked."""
    return access.is_locked and target.partition(b"?")[0] == _PAUSE_PATH


def refusal_of(requirement: Requirement, access: Access) -> str | None:
    """Return why the request is refused, as a sentence that names what is missing.

    None: it may pass.
    """
    if requirement.permission is not None and requirement.permission not in access.permissions:
        return _MISSING[requirement.permission]
    if access.is_locked and not requirement.works_while_locked:
        return REMOTE_LOCKED.meaning
    return None


def refusal_by_agent(permission: Permission) -> str:
    """Return why an agent refuses what its own options don't allow."""
    return _REFUSED_BY_AGENT[permission]


def format_access_stamp(access: Access) -> bytes:
    """Format what the relay tells the agent of a stream; `parse_access_stamp` reads it."""
    words = format_permissions(access.permissions)
    lock = LOCKED if access.is_locked else DESPITE_LOCK if access.ignores_lock else ""
    return ",".join(filter(None, (words, lock))).encode()


def parse_access_stamp(stamp: bytes | None) -> Access:
    """Return what a stream may do. None: nothing was said, so nothing is refused.

    Words that are unknown, of a newer relay, are left out: what we don't know we don't grant.
    """
    if stamp is None:
        return FULL_ACCESS
    words = {word.strip() for word in stamp.decode("latin-1").split(",")}
    permissions = frozenset(permission for permission in Permission if permission.value in words)
    return Access(
        permissions=permissions, is_locked=LOCKED in words, ignores_lock=DESPITE_LOCK in words
    )


_NOTHING: Final = Requirement(None, works_while_locked=True)
_CONTROL: Final = Requirement(Permission.CONTROL, works_while_locked=False)
_PAUSE: Final = Requirement(Permission.CONTROL, works_while_locked=True)
_READ_FILES: Final = Requirement(Permission.FILES, works_while_locked=True)
_CHANGE_FILES: Final = Requirement(Permission.FILES, works_while_locked=False)
_CAMERA: Final = Requirement(Permission.CAMERA, works_while_locked=True)
_INTERFACE: Final = Requirement(Permission.INTERFACE, works_while_locked=False)
_READ_LOGS: Final = Requirement(Permission.INTERFACE, works_while_locked=True)
_READ_OTHER_ROOTS: Final = _READ_LOGS
