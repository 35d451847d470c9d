"""Acts of operators on their pages, and the log of them."""

import html
import re
from dataclasses import replace

from sqlalchemy import insert

from printreach.rules.payments import Payer
from printreach.store.store import Records
from printreach.store.tables import accounts
from tests.fakes.clock import NOON
from tests.web.operators.conftest import GRACE, Office
from tests.web.portal.people import APP
from tests.web.world import ADA, PASSWORD, Browser, run, send, send_and_follow, sign_in

GRANT = {"supporter-password": PASSWORD}
LIMIT = {"limits-password": PASSWORD}


def ada_path(office: Office, act: str = "") -> str:
    return f"/operator/accounts/{office.ada.account_id}{act}"


def app_form(**changed: str) -> dict[str, str]:
    return {
        "password": PASSWORD,
        "app-id": "larkspur",
        "name": "Larkspur",
        "returns": "https://larkspur.example/done",
        "other-logos": "yes",
        **changed,
    }


def test_supporter_status_is_granted_to_the_end_of_a_day(office: Office) -> None:
    answer = send(
        office.browser, ada_path(office, "/supporter"), state="on", until="2026-12-31", **GRANT
    )

    assert answer.headers["location"] == ada_path(office)
    ada = office.account()
    assert ada is not None
    assert ada.supporter_granted
    assert str(ada.supporter_until) == "2027-01-01 00:00:00+00:00"
    assert office.last_act() == (
        *(GRACE, "supporter-changed", ADA),
        "until 2027-01-01T00:00:00+00:00",
    )


def test_a_grant_is_taken_back(office: Office) -> None:
    send(office.browser, ada_path(office, "/supporter"), state="on", until="", **GRANT)
    send(office.browser, ada_path(office, "/supporter"), state="off", **GRANT)

    ada = office.account()
    assert ada is not None
    assert not ada.supporter_granted


def test_a_day_that_is_none_or_over_grants_nothing(office: Office) -> None:
    for until in ("tomorrow", "2026-04-30", "9999-12-31", "2026-13-01"):
        fields = {"state": "on", "until": until, **GRANT}
        answer = send(office.browser, ada_path(office, "/supporter"), **fields)
        assert answer.status_code == 400, until
    ada = office.account()
    assert ada is not None
    assert not ada.supporter_granted


def test_limits_of_an_account_are_decided_in_units_that_people_use(office: Office) -> None:
    fields = {"upload_bytes": "2048", "webcam_stream_s": "1.5", "app_connections": "3", **LIMIT}
    send(office.browser, ada_path(office, "/limits"), **fields)

    page = office.browser.get(ada_path(office)).text
    assert 'name="upload_bytes" type="text" value="2048"' in page
    assert 'name="webcam_stream_s" type="text" value="1.5"' in page
    assert office.last_act()[3] == (
        "upload_bytes=2147483648, webcam_stream_s=90, app_connections=3"
    )


def test_a_limit_that_is_no_number_is_asked_for_again(office: Office) -> None:
    for typed in ("much", "-1", "1e9", "99999999999999"):
        answer = send(office.browser, ada_path(office, "/limits"), upload_bytes=typed)
        assert answer.status_code == 400, typed
        assert "Upload, MiB: give a number" in answer.text
        assert f'value="{typed}"' in answer.text


def test_a_limit_beyond_all_measure_is_refused(office: Office) -> None:
    answer = send(office.browser, "/operator/limits", requests_a_minute="1", **LIMIT)

    assert answer.status_code == 400


def test_limits_for_all_hold_for_connections(office: Office) -> None:
    send(office.browser, "/operator/limits", download_bytes="5", **LIMIT)

    assert "1073741824" not in office.browser.get("/operator/limits").text
    assert 'value="5"' in office.browser.get("/operator/limits").text
    assert "Empty: 5" in office.browser.get(ada_path(office)).text


def test_an_account_becomes_an_operators(office: Office, other: Browser) -> None:
    send(office.browser, ada_path(office, "/operator"), password=PASSWORD, state="on")

    sign_in(other, ADA)
    assert other.get("/operator").status_code == 200


def test_the_last_operator_cannot_step_down(office: Office) -> None:
    grace = office.account(GRACE)
    assert grace is not None
    path = f"/operator/accounts/{grace.account_id}/operator"

    answer = send(office.browser, path, password=PASSWORD, state="off")

    assert "at least one operator" in answer.text


def test_an_account_is_deleted_with_all_it_has(office: Office) -> None:
    answer = send(office.browser, ada_path(office, "/delete"), password=PASSWORD)

    assert answer.headers["location"] == "/operator/accounts"
    assert office.account() is None
    assert office.browser.get(ada_path(office)).status_code == 404
    nobody = f"deleted account {office.ada.account_id}"
    assert office.last_act()[:3] == (GRACE, "account-deleted", nobody)


def test_the_page_before_a_deletion_counts_what_ends(office: Office) -> None:
    shown = office.browser.get(ada_path(office, "/delete")).text

    assert "This unlinks 1 printer, ends 1 connection, cancels a payment" in shown


def test_nobody_deletes_themselves_here(office: Office) -> None:
    grace = office.account(GRACE)
    assert grace is not None
    path = f"/operator/accounts/{grace.account_id}"

    assert f"{path}/delete" not in office.browser.get(path).text
    assert send(office.browser, f"{path}/delete", password=PASSWORD).status_code == 400
    assert office.account(GRACE) is not None


def test_an_invitation_is_shown_once_and_makes_an_account(office: Office, other: Browser) -> None:
    invite = {"password": PASSWORD, "email": "eve@example.org"}
    page = send_and_follow(office.browser, "/operator/invite", **invite)
    link = re.search(r'value="(https://printreach\.example/signup\?invite=[^"]+)"', page.text)
    assert link is not None

    invited = other.get(html.unescape(link[1]))
    assert invited.status_code == 200
    assert "eve@example.org" in invited.text
    assert "invite=" not in office.browser.get("/operator/acts").text

    again = office.browser.get(page.url.path, follow_redirects=False)
    assert again.headers["location"] == "/operator/invite"


def test_an_app_is_registered_and_changed(office: Office) -> None:
    assert send(office.browser, "/operator/register", **app_form()).status_code == 303
    changed = app_form(name="Larkspur Two", returns="larkspur://done")
    send(office.browser, "/operator/apps/larkspur", **changed)

    page = office.browser.get("/operator/apps").text
    assert "Larkspur Two" in page
    assert "larkspur://done" in page
    assert office.last_act() == (GRACE, "app-changed", "larkspur", "name, return_prefixes")


def test_an_app_that_cannot_be_is_asked_for_again(office: Office) -> None:
    for changed in (
        {"returns": "javascript:alert(1)"},
        {"name": "x"},
        {"app-id": "../x"},
        {"app-id": APP},
    ):
        answer = send(office.browser, "/operator/register", **app_form(**changed))
        assert answer.status_code == 400, changed
        assert "larkspur.example" in answer.text or "returns" in changed


def test_an_app_is_removed_and_its_connections_end(office: Office) -> None:
    asked = office.browser.get(f"/operator/apps/{APP}/remove").text
    assert "Its 1 connection ends at once" in asked

    send(office.browser, f"/operator/apps/{APP}/remove", password=PASSWORD)

    assert office.browser.get(f"/operator/apps/{APP}").status_code == 404
    [connection] = run(office.browser, office.world.services.connections.all)
    assert connection.revoked_at == NOON


def test_a_printer_is_removed_from_its_account(office: Office) -> None:
    page = office.browser.get("/operator/printers").text
    assert "Workbench" in page
    assert ADA in page
    assert ">online<" in page

    path = f"/operator/printers/{office.printer_id}/remove"
    send(office.browser, path, password=PASSWORD)

    assert "Workbench" not in office.browser.get("/operator/printers").text
    assert office.last_act()[1:] == ("printer-removed", "Workbench", office.printer_id)


def test_a_connection_is_ended(office: Office) -> None:
    connection_id = office.connection.connection_id
    assert "Layerlark" in office.browser.get("/operator/connections").text

    send(office.browser, f"/operator/connections/{connection_id}/end", password=PASSWORD)

    assert "Layerlark" not in office.browser.get("/operator/connections").text
    assert office.last_act()[1:] == ("connection-ended", connection_id, APP)


def test_what_is_not_there_is_404(office: Office) -> None:
    for path in ("accounts/nobody", "apps/none", "printers/p/remove", "connections/c/end"):
        assert office.browser.get(f"/operator/{path}").status_code == 404, path


def test_script_in_names_stays_text(office: Office) -> None:
    script = "<script>alert(1)</script>"
    run(
        office.browser,
        lambda: office.world.store.write(
            lambda records: records.printers.rename(office.printer_id, script)
        ),
    )
    pages = [
        "/printers",
        f"/printers?q={script}",
        "/connections",
        f"/printers/{office.printer_id}/remove",
    ]

    for path in [*pages, f"/accounts/{office.ada.account_id}", f"/acts?q={script}"]:
        assert "<script>alert" not in office.browser.get("/operator" + path).text


def test_what_was_said_comes_from_no_address(office: Office) -> None:
    page = office.browser.get("/operator/accounts?said=<b>you+won</b>").text

    assert "you won" not in page


def test_an_operator_says_that_they_know_who_makes_an_app(office: Office) -> None:
    async def given_to_ada() -> None:
        async def give(records: Records) -> None:
            app = await records.apps.get(APP)
            assert app is not None
            await records.apps.put(replace(app, owner_id=office.ada.account_id))

        await office.world.store.write(give)

    run(office.browser, given_to_ada)
    path = f"/operator/apps/{APP}"
    assert "I know who makes this app" in office.browser.get(path).text

    send(office.browser, path, **app_form(), checked="yes")

    checked = office.browser.get(path).text
    assert 'id="checked" name="checked" value="yes" checked' in checked
    assert office.last_act()[1:] == ("app-changed", APP, office.last_act()[3])
    assert "was_checked" in office.last_act()[3]


def test_the_overview_says_who_may_sign_up(office: Office) -> None:
    page = office.browser.get("/operator").text.replace("<wbr>", "")

    assert "PRINTREACH_SIGN_UP=open" in page
    assert "PRINTREACH_SUPPORTERS=everyone" in page


def test_ten_thousand_accounts_are_leafed_through_and_searched(office: Office) -> None:
    async def crowd(records: Records) -> None:
        await records.connection.execute(
            insert(accounts),
            [
                {
                    "account_id": f"crowd{number}",
                    "email": f"person{number:05}@example.net",
                    "email_key": f"person{number:05}@example.net",
                    "password_hash": "",
                    "is_admin": False,
                    "supporter_granted": number == 4321,
                    "created_at": NOON,
                    "wrong_link_tries": 0,
                }
                for number in range(10_000)
            ],
        )

    run(office.browser, lambda: office.world.store.write(crowd))
    first = office.browser.get("/operator/accounts").text
    last = office.browser.get("/operator/accounts?page=201").text
    searched = office.browser.get("/operator/accounts?q=PERSON09999").text
    granted = office.browser.get("/operator/accounts?show=granted").text

    assert "Page 1 of 201, 10,002 accounts" in first
    assert first.count("<tr>") == 51
    assert "person09999@example.net" in last
    assert searched.count("<tr>") == 2
    assert "person04321@example.net" in granted
    assert granted.count("<tr>") == 2


def test_a_list_bears_any_question(office: Office) -> None:
    for query in ("page=0", "page=-5", "page=999999999", "q=%25", "show=nonsense"):
        for name in ("accounts", "apps", "printers", "connections", "acts"):
            assert office.browser.get(f"/operator/{name}?{query}").status_code == 200, query


def test_a_customer_whom_the_provider_does_not_know_is_shown_where_it_can_be_mended(
    office: Office,
) -> None:
    payer = Payer(account_id=office.ada.account_id, customer_id="cus_gone", unknown_since=NOON)
    run(
        office.browser,
        lambda: office.world.store.write(lambda records: records.payments.put_payer(payer)),
    )
    overview = office.browser.get("/operator").text
    page = office.browser.get(ada_path(office, "")).text
    answer = send(office.browser, ada_path(office, "/customer"), **{"customer-password": PASSWORD})

    assert "cus_gone" in overview
    assert "Forget the customer" in page
    assert answer.status_code == 400
    assert "Nothing is sold here" in answer.text
