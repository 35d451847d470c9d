"""The portal from its opening by an app to the answer that the app gets, in each branch."""

import re
from urllib.parse import urlsplit

import pytest

from printreach.contract.status import State, StatusResult
from printreach.hub import connections as hub_connections
from printreach.hub.denied import Denied, Reason
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.accounts.limits import LimitChanges
from printreach.rules.operators import COMMAND_LINE
from tests.fakes.printer_http import OFFLINE, status_of
from tests.hub.portal.portal_world import FakeHostKeys
from tests.web.portal.people import (
    ACCESS_DENIED,
    APP,
    APP_NAME,
    RETURN_URL,
    START,
    Person,
    add_app,
    connections,
    link_printer,
    show_code,
    told,
    way_back,
)
from tests.web.world import ADA, BASE_URL, Browser, WebWorld, run


@pytest.mark.parametrize("path", [START, START + "/"])
@pytest.mark.parametrize("name", ["appId", "appid", "APPID"])
def test_the_portal_opens_with_and_without_slash_in_any_case(
    person: Person, path: str, name: str
) -> None:
    answer = person.browser.get(path, params={name: APP, "returnurl": RETURN_URL, "authType": "x"})

    assert answer.status_code == 200
    assert f"{APP_NAME} wants to reach your printer" in answer.text


def test_opening_the_portal_stores_nothing(person: Person) -> None:
    assert "set-cookie" not in person.start().headers


def test_a_new_person_signs_in_links_a_printer_names_it_and_allows_the_app(
    world: WebWorld, person: Person
) -> None:
    assert "Sign in to Printreach" in person.begin().text
    world.add_account(person.browser)
    assert person.sign_in().headers["location"] == person.path

    assert "Link your printer" in person.look().text
    code = show_code(world, person.browser)
    assert "Your printer is linked" in person.press("link", code=code.lower()).text
    page = person.press("name", name="Workbench")
    assert "Let Layerlark use Workbench?" in page.text
    [printer] = page.text.split('name="printer" value="')[1:]
    done = person.allow(printer.partition('"')[0])

    heard = told(done)
    [made] = connections(world, person.browser)
    assert heard["success"] == "true"
    assert heard["id"] == made.connection_id
    assert heard["printername"] == "Workbench"
    assert heard["authBasicHttpUser"] == heard["authbasichttpuser"]
    assert heard["authBasicHttpPassword"] == heard["authbasichttppassword"]
    assert {"url", "appApiToken", "authBearerToken", "userPrinterAccessUrl"} <= set(heard)
    assert way_back(done).startswith(RETURN_URL + "?success=true&")


def test_a_person_without_an_agent_is_shown_how_to_install_it_and_goes_on_in_the_same_flow(
    world: WebWorld, person: Person
) -> None:
    world.add_account(person.browser)
    person.begin()
    person.sign_in()
    assert f'href="{person.path}?install"' in person.look().text

    shown = person.look("?install").text
    code = show_code(world, person.browser)

    assert "Install the agent" in shown
    assert f"{BASE_URL}/install/agent" in shown
    assert f'action="{person.path}/link"' in shown
    assert f'href="{person.path}"' in shown
    assert 'href="/"' not in shown
    assert "Your printer is linked" in person.press("link", code=code).text
    assert "Your printer is linked" in person.look("?install").text


def test_instructions_are_for_who_is_signed_in_to_the_flow(person: Person) -> None:
    person.begin()

    assert "Sign in to Printreach" in person.look("?install").text


def test_a_person_who_is_signed_in_with_one_printer_is_asked_one_thing(
    world: WebWorld, ada: Person
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")

    page = ada.begin()

    assert "Let Layerlark use Workbench?" in page.text
    assert "OctoPrint, connected" in page.text
    assert "layerlark.example" in page.text
    assert told(ada.allow(printer_id))["printerLastKnownLocalIp"] == "192.168.1.20"


def test_each_printer_in_the_list_shows_what_it_does(world: WebWorld, ada: Person) -> None:
    doing: dict[str, StatusResult | PrinterRefusal] = {
        "Attic": status_of(State.PRINTING),
        "Shed": OFFLINE,
        "Cellar": status_of(State.ERROR),
    }
    for name, said in doing.items():
        world.printers.statuses[link_printer(world, ada.browser, name)] = said

    page = ada.begin()

    shown = re.findall(
        r"<b>(\w+)</b><small>.*?<span class=\"badge is-(\w+)\">", page.text, re.DOTALL
    )
    assert sorted(shown) == [("Attic", "printing"), ("Cellar", "error"), ("Shed", "offline")]
    assert "connected" not in page.text


def test_a_foreign_printer_starts_linking_and_one_of_ones_own_will_do(
    world: WebWorld, ada: Person
) -> None:
    link_printer(world, ada.browser, "Workbench")

    page = ada.begin(printerId="somebody-elses")

    assert "Link your printer" in page.text
    assert "linked to your account" in page.text
    assert "use Workbench?" in ada.press("own").text


@pytest.mark.parametrize("supporters", ["granted"])
def test_without_supporter_status_the_operator_is_named(world: WebWorld, ada: Person) -> None:
    link_printer(world, ada.browser, "Workbench")

    page = ada.begin()

    assert "Apps need supporter status" in page.text
    assert "Ask the operator" in page.text
    assert "Not yet" not in page.text
    assert "have supporter status so far" in ada.look("?back=paid").text
    refused = ada.press("refuse", error="not_a_supporter")
    assert told(refused)["error"] == "not_a_supporter"


@pytest.mark.parametrize("supporters", ["granted"])
@pytest.mark.parametrize(("decided", "words"), [(None, "20 app connections"), (1, "1 app connec")])
def test_how_many_connections_there_may_be_is_what_holds_for_the_account(
    world: WebWorld, ada: Person, decided: int | None, words: str
) -> None:
    link_printer(world, ada.browser, "Workbench")

    async def decide() -> None:
        cases, changes = world.services.operating.limits, LimitChanges(app_connections=decided)
        assert await cases.set_of_account(ADA, changes, COMMAND_LINE) is None

    run(ada.browser, decide)

    assert f"Up to {words}" in ada.begin().text


@pytest.mark.parametrize("stage", ["account", "link", "permit"])
def test_refusing_is_one_press_at_every_stage(world: WebWorld, person: Person, stage: str) -> None:
    if stage != "account":
        world.add_account(person.browser)
        person.sign_in()
    if stage == "permit":
        link_printer(world, person.browser, "Workbench")
    person.begin()

    refused = person.press("refuse", error="access_denied")

    assert told(refused) == ACCESS_DENIED
    assert connections(world, person.browser) == []
    assert told(person.look()) == ACCESS_DENIED


def test_the_first_page_leads_back_too(person: Person) -> None:
    page = person.start()

    assert f'href="{RETURN_URL}?success=false&amp;error=access_denied' in page.text


def test_an_app_without_an_address_of_its_own_ends_on_ours(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(returnUrl="")

    url = way_back(ada.allow(printer_id))

    assert url.startswith(f"{BASE_URL}/appportal/v1/complete?success=true&")
    end = ada.browser.get(url)
    assert "Your app is connected" in end.text
    assert 'href="/printers"' in end.text
    assert end.headers["referrer-policy"] == "no-referrer"
    assert end.headers["cache-control"] == "no-store"
    assert "authBearerToken" not in end.text
    assert "Nothing was connected" in ada.browser.get(f"{START}/complete?success=false").text


def test_the_apps_own_query_and_fragment_survive(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(returnUrl=RETURN_URL + "/7?record=7&x=%26#tab")

    url = urlsplit(way_back(ada.allow(printer_id)))

    assert url.path == "/done/7"
    assert url.query.startswith("record=7&x=%26&success=true&")
    assert url.fragment == "tab"


@pytest.mark.parametrize("name", ["hostApiKeyAppName", "octoPrintApiKeyAppName"])
def test_a_key_is_made_after_a_second_question(
    world: WebWorld, ada: Person, host_keys: FakeHostKeys, name: str
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(**{name: "Lark"})

    assert "Create a key for OctoPrint, too?" in ada.allow(printer_id).text
    assert host_keys.asked == []
    heard = told(ada.press("key", printer=printer_id, answer="yes"))

    assert heard["hostApiKey"] == heard["octoPrintApiKey"] == "host-key"
    assert host_keys.asked == [(printer_id, "Lark")]


def test_the_connection_is_had_without_the_key(
    world: WebWorld, ada: Person, host_keys: FakeHostKeys
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName="Lark")
    ada.allow(printer_id)

    heard = told(ada.press("key", printer=printer_id, answer="no"))

    assert heard["success"] == "true"
    assert "hostApiKey" not in heard
    assert host_keys.asked == []


def test_a_key_that_fails_costs_the_key_alone(
    world: WebWorld, ada: Person, host_keys: FakeHostKeys
) -> None:
    host_keys.key = None
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName="Lark")
    ada.allow(printer_id)

    heard = told(ada.press("key", printer=printer_id, answer="yes"))

    assert heard["success"] == "true"
    assert "hostApiKey" not in heard


@pytest.mark.parametrize("key_app_name", ["", "Lark"])
def test_a_printer_that_can_take_no_more_apps_is_told_and_one_goes_back(
    world: WebWorld, ada: Person, key_app_name: str
) -> None:
    none = LimitChanges(app_connections=0)
    run(ada.browser, lambda: world.store.write(lambda records: records.limits.put_of_service(none)))
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin(hostApiKeyAppName=key_app_name)
    refused = ada.allow(printer_id)
    if key_app_name:
        refused = ada.press("key", printer=printer_id, answer="yes")

    assert refused.status_code == 409
    assert "no more are allowed" in refused.text
    assert 'name="error" value="printer_unavailable"' in refused.text
    assert told(ada.press("refuse", error="printer_unavailable"))["error"] == "printer_unavailable"


def test_a_service_without_a_free_port_is_told_as_a_fault_of_its_own(
    world: WebWorld, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_port(*_: object) -> Denied:
        return Denied(Reason.NO_PORT_LEFT, "All ports for connections are in use.")

    monkeypatch.setattr(hub_connections.Connections, "_take_port", no_port)
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    refused = ada.allow(printer_id)

    assert refused.status_code == 503
    assert 'name="error" value="server_error"' in refused.text
    assert told(ada.press("refuse", error="server_error"))["error"] == "server_error"


def test_a_wrong_code_is_told_at_its_field_and_kept(ada: Person) -> None:
    ada.begin()

    page = ada.press("link", code="WRONG-99")

    assert page.status_code == 400
    assert 'value="WRONG-99"' in page.text
    assert 'aria-invalid="true"' in page.text


def test_a_name_that_cannot_be_one_is_asked_for_again(world: WebWorld, ada: Person) -> None:
    ada.begin()
    ada.press("link", code=show_code(world, ada.browser))

    page = ada.press("name", name="\u202egnp")

    assert page.status_code == 400
    assert "name has 1 to 60 characters" in page.text


def test_a_name_that_another_printer_has_is_asked_for_again(world: WebWorld, ada: Person) -> None:
    link_printer(world, ada.browser, "My printer")
    ada.begin(printerId="another")
    page = ada.press("link", code=show_code(world, ada.browser))
    assert 'value="My printer 2"' in page.text

    refused = ada.press("name", name="My printer")

    assert refused.status_code == 400
    assert "You have another printer called My printer." in refused.text


@pytest.mark.parametrize("supporters", ["granted"])
@pytest.mark.parametrize("app_id", [APP, "other", ""])
def test_missing_supporter_status_is_explained(person: Person, app_id: str) -> None:
    page = person.browser.get(f"{START}/nosupporterperks", params={"appId": app_id})

    assert page.status_code == 200
    assert "Ask the operator" in page.text
    assert (APP_NAME in page.text) == (app_id == APP)


def test_where_everybody_is_a_supporter_nothing_is_missing(person: Person) -> None:
    assert "Nothing is missing" in person.browser.get(f"{START}/nosupporterperks").text


def test_an_app_of_the_lan_is_returned_to_its_address(world: WebWorld, browser: Browser) -> None:
    add_app(world, browser, returns_to_lan=True)
    ada = Person(world, browser)
    world.add_account(browser)
    ada.sign_in()
    printer_id = link_printer(world, browser, "Workbench")
    ada.begin(returnUrl="http://192.168.1.50:8123/done")

    assert way_back(ada.allow(printer_id)).startswith("http://192.168.1.50:8123/done?success=true")
