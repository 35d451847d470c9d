"""Reloads, the back button, second tabs and double clicks."""

import pytest

from tests.hub.portal.portal_world import FakeHostKeys
from tests.web.portal.people import Person, connections, link_printer, show_code, told, way_back
from tests.web.world import WebWorld, sign_in


@pytest.mark.parametrize("stage", ["account", "link", "name", "choose", "permit"])
def test_a_reload_shows_the_same_step(world: WebWorld, person: Person, stage: str) -> None:
    reach(world, person, stage)

    assert person.look().text == person.look().text


def reach(world: WebWorld, person: Person, stage: str) -> None:
    """Go on until this step is due."""
    person.begin()
    if stage == "account":
        return
    world.add_account(person.browser)
    if stage in {"choose", "permit"}:
        link_printer(world, person.browser, "Workbench")
    if stage == "choose":
        link_printer(world, person.browser, "Attic")
    person.sign_in()
    if stage == "name":
        person.press("link", code=show_code(world, person.browser))


def test_the_flow_survives_a_wrong_password(world: WebWorld, person: Person) -> None:
    person.begin()
    world.add_account(person.browser)

    wrong = sign_in(person.browser, password="a wrong passphrase", next=person.path)

    assert wrong.status_code == 400
    assert f'value="{person.path}"' in wrong.text
    assert person.sign_in().headers["location"] == person.path


def test_secrets_are_told_once_and_a_reload_says_that_it_is_done(
    world: WebWorld, ada: Person
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    token = ada.token()
    done = ada.press("allow", token=token, printer=printer_id)
    secret = told(done)["authBearerToken"]

    again = ada.press("allow", token=token, printer=printer_id)

    assert done.headers["cache-control"] == "no-store"
    assert done.headers["referrer-policy"] == "no-referrer"
    for page in (again, ada.look()):
        assert "Already done" in page.text
        assert secret not in page.text
        assert "refresh" not in page.text
    assert len(connections(world, ada.browser)) == 1


def test_going_back_and_refusing_afterwards_changes_nothing(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    token = ada.token()
    ada.press("allow", token=token, printer=printer_id)

    assert "Already done" in ada.press("refuse", token=token).text


def test_allowing_after_refusing_in_another_tab_makes_nothing(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    token = ada.token()
    ada.press("refuse", token=token)

    late = ada.press("allow", token=token, printer=printer_id)

    assert told(late)["error"] == "access_denied"
    assert connections(world, ada.browser) == []


def test_a_tab_that_shows_another_printer_than_chosen_gives_neither_away(
    world: WebWorld, ada: Person
) -> None:
    attic = link_printer(world, ada.browser, "Attic")
    workbench = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    ada.press("choose", printer=attic)
    ada.press("choose", printer=workbench)

    late = ada.allow(attic)

    assert "use Workbench?" in late.text
    assert connections(world, ada.browser) == []


def test_two_flows_in_one_browser_do_not_disturb_each_other(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    second = Person(world, ada.browser)
    second.begin()

    assert second.path != ada.path
    urls = {way_back(one.allow(printer_id)) for one in (ada, second)}
    assert len(urls) == 2
    assert len(connections(world, ada.browser)) == 2


def test_a_second_account_in_the_middle_answers_for_itself(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName="Lark")
    assert "Create a key" in ada.allow(printer_id).text
    world.add_account(ada.browser, "bob@example.org")
    ada.sign_in("bob@example.org")

    assert "Link your printer" in ada.look().text
    assert "Link your printer" in ada.press("key", printer=printer_id, answer="no").text
    assert connections(world, ada.browser) == []


def test_a_person_signed_out_while_a_key_is_made_gets_no_secrets(
    world: WebWorld, ada: Person, host_keys: FakeHostKeys
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName="Lark")
    ada.allow(printer_id)

    async def end_all_sessions() -> None:
        for account in await world.services.accounts.all():
            await world.services.sessions.end_others(account.account_id, "another")

    host_keys.meanwhile = end_all_sessions
    answer = ada.press("key", printer=printer_id, answer="yes")

    assert "host-key" not in answer.text
    assert "/signin" in str(answer.url) + answer.headers.get("location", "")
