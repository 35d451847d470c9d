"""A permission that a person leaves out in the portal is refused to the app's connection."""

import pytest

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from tests.hub.portal.portal_world import FakeHostKeys
from tests.web.portal.people import Person, connections, link_printer, told
from tests.web.world import WebWorld, send


def granted(world: WebWorld, person: Person) -> frozenset[Permission]:
    [made] = connections(world, person.browser)
    return made.permissions


def test_the_step_offers_four_permissions_that_are_all_ticked(world: WebWorld, ada: Person) -> None:
    link_printer(world, ada.browser, "Workbench")
    page = ada.begin().text

    for permission in Permission:
        assert f'name="{permission.value}" value="yes" checked' in page, permission
    assert "Everything that page allows: control, files, camera and settings" in page
    assert "log</span>" in page


def test_the_portal_says_that_remote_control_is_locked(world: WebWorld, ada: Person) -> None:
    link_printer(world, ada.browser, "Workbench")
    assert "Remote control is locked" not in ada.begin().text
    send(ada.browser, "/stop-everything")

    assert "Remote control is locked" in ada.look().text


def test_what_is_not_ticked_is_not_granted(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    ada.press("allow", printer=printer_id, choice="ticked", camera="yes", files="yes")

    assert granted(world, ada) == {Permission.CAMERA, Permission.FILES}


@pytest.mark.slow
def test_a_person_may_leave_out_everything_but_the_status(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    told(ada.press("allow", printer=printer_id, choice="ticked"))

    assert granted(world, ada) == frozenset()


def test_a_form_of_a_page_without_ticks_grants_what_that_page_promised(
    world: WebWorld, ada: Person
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    ada.allow(printer_id)

    assert granted(world, ada) == ALL_PERMISSIONS


def test_permissions_outlast_the_question_about_a_key(
    world: WebWorld, ada: Person, host_keys: FakeHostKeys
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName="Lark")
    asked = ada.press("allow", printer=printer_id, choice="ticked", interface="yes")
    assert "Create a key for OctoPrint, too?" in asked.text
    told(ada.press("key", printer=printer_id, answer="yes"))

    assert granted(world, ada) == {Permission.INTERFACE}
    assert host_keys.asked == [(printer_id, "Lark")]


def test_no_key_to_the_whole_interface_is_made_where_the_interface_is_left_out(
    world: WebWorld, ada: Person, host_keys: FakeHostKeys
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName="Lark")
    heard = told(ada.press("allow", printer=printer_id, choice="ticked", control="yes"))

    assert heard["success"] == "true"
    assert "hostApiKey" not in heard
    assert host_keys.asked == []
