"""The permissions of a connection on pages: in words, as boxes of a form, and parsed from one."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.languages import N_, _, translate
from printreach.web.forms import Fields

CHOICE: Final = "choice"
TICKED: Final = "ticked"
"""Name and value of the button that sends boxes; parts/permissions.html draws both."""

_WORDS: Final = {
    Permission.CONTROL: (
        N_("Control prints"),
        N_("Start, pause and stop prints, heat, move, lights"),
    ),
    Permission.FILES: (
        N_("Use files"),
        N_("See, download, upload and delete files on the printer"),
    ),
    Permission.CAMERA: (N_("See the camera"), N_("Live, and a picture with each event")),
    Permission.INTERFACE: (
        N_("Open the printer's own web page"),
        N_(
            "Everything that page allows: control, files, camera and settings, and also the"
            " agent's log"
        ),
    ),
}
_SHORT: Final = {
    Permission.CONTROL: N_("control"),
    Permission.FILES: N_("files"),
    Permission.CAMERA: N_("camera"),
    Permission.INTERFACE: N_("its web page"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tick:
    """One permission as a box. name: of the field."""

    name: str
    title: str
    hint: str
    checked: bool


def ticks_of(permissions: Set[Permission]) -> list[Tick]:
    """Return all four; those that are given are ticked."""
    return [
        Tick(name=permission.value, title=title, hint=hint, checked=permission in permissions)
        for permission, (title, hint) in _WORDS.items()
    ]


def ticked(fields: Fields) -> frozenset[Permission]:
    """Return the permissions that a form has sent.

    A form without a ticked box and without the button CHOICE is from a page without boxes, which
    promised the app everything.
    """
    chosen = frozenset(permission for permission in Permission if fields[permission.value])
    return chosen if chosen or fields[CHOICE] == TICKED else ALL_PERMISSIONS


def limits_in_words(permissions: Set[Permission]) -> str:
    """Name what is left out, for a line in a list: "without control and files"; "" if nothing is.

    With the printer's own interface nothing is left out, since it offers what the others do.
    """
    missing = [
        translate(word) for permission, word in _SHORT.items() if permission not in permissions
    ]
    if not missing:
        return ""
    if len(missing) == len(_SHORT):
        return _("status only")
    *first, last = missing
    named = _("%(list)s and %(last)s", list=", ".join(first), last=last) if first else last
    if Permission.INTERFACE in permissions:
        return _("with the printer's own web page, which includes %(named)s", named=named)
    return _("without %(named)s", named=named)
