"""The choice of the printer, and what an app has already."""

from tests.web.portal.people import (
    Person,
    connections,
    disconnect,
    link_printer,
    show_code,
    told,
    use,
)
from tests.web.world import WebWorld


def test_one_of_several_printers_is_chosen_and_another_instead(
    world: WebWorld, ada: Person
) -> None:
    attic = link_printer(world, ada.browser, "Attic")
    workbench = link_printer(world, ada.browser, "Workbench")

    page = ada.begin(printerId=workbench)
    assert f'value="{workbench}" checked' in page.text
    assert "use Attic?" in ada.press("choose", printer=attic).text
    assert "Which printer?" in ada.look("?choose=another").text
    assert "use Workbench?" in ada.press("choose", printer=workbench).text

    assert told(ada.allow(workbench))["printername"] == "Workbench"


def test_the_choice_has_an_address_of_its_own_to_which_back_leads_from_the_next_page(
    world: WebWorld, ada: Person
) -> None:
    attic = link_printer(world, ada.browser, "Attic")
    link_printer(world, ada.browser, "Workbench")
    ada.begin()

    choice = ada.browser.get(ada.path, follow_redirects=False).headers["location"]
    after = ada.send("choose", printer=attic).headers["location"]

    assert (choice, after) == (f"{ada.path}?choose=another", ada.path)
    assert "Which printer?" in ada.browser.get(choice).text


def test_nothing_is_chosen_where_the_app_asks_for_no_printer_and_connected_ones_come_first(
    world: WebWorld, ada: Person
) -> None:
    attic = link_printer(world, ada.browser, "Attic")
    workbench = link_printer(world, ada.browser, "Workbench")
    disconnect(world, ada.browser, attic)

    ada.begin()
    page = ada.look().text
    assert " checked" not in page
    assert page.index(workbench) < page.index(attic)
    assert "Choose a printer." in ada.press("choose").text


def test_another_printer_is_linked_from_the_chooser(world: WebWorld, ada: Person) -> None:
    link_printer(world, ada.browser, "Workbench")
    ada.begin()

    assert "Link another printer" in ada.look("?choose=another").text
    page = ada.look("?link").text
    assert "Link another printer" in page
    assert "Choose a printer I have linked" in page
    assert 'id="code-fault"' in ada.press("link", code="wrong").text
    ada.press("link", code=show_code(world, ada.browser))
    assert "use Garage?" in ada.press("name", name="Garage").text


def test_an_app_that_has_the_printer_already_is_named_and_may_replace_its_connection(
    world: WebWorld, ada: Person
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    assert "already" not in ada.look().text
    ada.allow(printer_id)

    ada.begin()
    page = ada.look().text
    assert "Layerlark is connected to Workbench already" in page
    assert 'name="replace" value="yes" checked' in page
    assert "Untick this if you use" in page
    assert "Layerlark is connected to it already" in ada.look("?choose=another").text
    ada.press("allow", printer=printer_id)
    assert [one.revoked_at for one in connections(world, ada.browser)] == [None, None]

    ada.begin()
    ada.press("allow", printer=printer_id, replace="yes")
    revoked = [one.revoked_at is not None for one in connections(world, ada.browser)]
    assert sorted(revoked) == [False, True, True]


def test_a_connection_that_is_in_use_is_kept_unless_the_person_says_otherwise(
    world: WebWorld, ada: Person
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    ada.allow(printer_id)
    [made] = connections(world, ada.browser)
    use(world, ada.browser, made)

    ada.begin()

    page = ada.look().text
    assert 'name="replace" value="yes">' in page
    assert "Leave this off if you use" in page
