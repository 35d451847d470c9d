"""The ways out of the portal, and the app's identity as people read it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.store.store import Records
from tests.web.portal.people import (
    ACCESS_DENIED,
    APP,
    Person,
    connections,
    link_printer,
    offered,
    told,
)
from tests.web.world import WebWorld, run


def test_a_flow_that_took_too_long_is_told_as_expired(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    token = ada.token()
    world.clock.advance(timedelta(hours=1))

    for page in (ada.look(), ada.press("allow", token=token, printer=printer_id)):
        button, parameters = offered(page)
        assert button == "Go to layerlark.example"
        assert parameters["error"] == "expired"
    assert connections(world, ada.browser) == []


def test_two_values_of_one_parameter_are_told_as_invalid(person: Person) -> None:
    page = person.start(printerId="p1", PRINTERID="p2")

    button, parameters = offered(page)
    assert button == "Go to layerlark.example"
    assert parameters["error"] == "invalid_request"


def test_a_refusal_redirects_to_the_app_as_the_button_said(ada: Person) -> None:
    ada.begin()

    assert told(ada.press("refuse", error="access_denied")) == ACCESS_DENIED


def test_the_first_page_says_where_not_now_leads(person: Person) -> None:
    assert "“Not now” takes you to <b>layerlark.example</b>." in person.start().text


@pytest.mark.parametrize("was_checked", [True, False])
def test_the_page_says_whether_the_service_knows_who_makes_the_app(
    world: WebWorld, ada: Person, was_checked: bool
) -> None:
    bob = world.add_account(ada.browser, "bob@example.org")
    link_printer(world, ada.browser, "Workbench")

    async def registered_by_bob(records: Records) -> None:
        app = await records.apps.get(APP)
        assert app is not None
        await records.apps.put(replace(app, owner_id=bob.account_id, was_checked=was_checked))

    run(ada.browser, lambda: world.store.write(registered_by_bob))

    for page in (ada.start(), ada.begin()):
        assert ("Not checked by this service." in page.text) is not was_checked
        assert ("Checked by the operator of this service." in page.text) is was_checked


def test_an_app_of_the_operator_counts_as_checked(world: WebWorld, ada: Person) -> None:
    link_printer(world, ada.browser, "Workbench")

    assert "Checked by the operator of this service." in ada.begin().text
