"""Roles of people with a printer, and invitations."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.rules.printers.members import (
    INVITATION_LIFETIME,
    MAX_MEMBERS,
    Member,
    MemberInvitation,
    Role,
    has_room,
    is_visit_stored,
    parse_role,
)
from tests.fakes.clock import NOON

INVITATION = MemberInvitation(
    invitation_id="i1",
    printer_id="p1",
    account_id="ada",
    role=Role.WATCH,
    email=None,
    uses_left=1,
    created_at=NOON,
    expires_at=NOON + INVITATION_LIFETIME,
)
MEMBER = Member(printer_id="p1", account_id="ada", person_id="eve", role=Role.WATCH, since=NOON)


@pytest.mark.parametrize(
    ("role", "needed", "may"),
    [
        (Role.WATCH, Role.WATCH, True),
        (Role.WATCH, Role.CONTROL, False),
        (Role.WATCH, Role.OWNER, False),
        (Role.CONTROL, Role.WATCH, True),
        (Role.CONTROL, Role.CONTROL, True),
        (Role.CONTROL, Role.OWNER, False),
        (Role.OWNER, Role.OWNER, True),
    ],
)
def test_a_role_includes_those_below_it(role: Role, needed: Role, may: bool) -> None:
    assert role.includes(needed) is may


@pytest.mark.parametrize("text", ["owner", "", "Watch", "admin"])
def test_no_form_makes_anybody_an_owner(text: str) -> None:
    assert parse_role(text) is None


def test_an_invitation_is_open_until_it_expires_or_is_used_up() -> None:
    assert INVITATION.is_open(NOON)
    assert not INVITATION.is_open(NOON + INVITATION_LIFETIME)
    used = replace(INVITATION, uses_left=0)
    assert not used.is_open(NOON)


def test_open_invitations_take_room_like_members() -> None:
    assert has_room(MAX_MEMBERS - 5, 4, 1)
    assert not has_room(MAX_MEMBERS - 5, 5, 1)


def test_a_visit_is_stored_once_a_minute() -> None:
    assert not is_visit_stored(MEMBER, NOON)
    seen = replace(MEMBER, seen_at=NOON)
    assert is_visit_stored(seen, NOON + timedelta(seconds=59))
    assert not is_visit_stored(seen, NOON + timedelta(seconds=60))
