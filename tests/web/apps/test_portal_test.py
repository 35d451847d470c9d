"""The page on which a developer's walk through the portal ends."""

import pytest

from tests.web.apps.conftest import DeveloperSite
from tests.web.portal.people import Person, link_printer, way_back
from tests.web.world import BASE_URL

TEST_PAGE = f"{BASE_URL}/appportal/v1/test"
SECRETS = ("authBasicHttpUser", "authBasicHttpPassword", "authBearerToken", "appApiToken")
HOSTILE = "<script>alert(1)</script>"


def test_a_walk_through_the_portal_ends_on_the_page_that_counts_what_came(
    site: DeveloperSite,
) -> None:
    printer_id = link_printer(site.world, site.browser, "Workbench", email=site.ada.email)
    site.register()
    person = Person(site.world, site.browser)
    person.begin(appId="layerlark", returnUrl=TEST_PAGE)
    back = way_back(person.allow(printer_id))
    assert back.startswith(TEST_PAGE + "?")
    page = site.browser.get(back)

    assert "Your app would be connected" in page.text
    assert "Missing" not in page.text
    assert "Workbench" in page.text
    assert page.text.count("32 characters") + page.text.count("16 characters") == len(SECRETS)
    for secret in _secrets(back):
        assert secret not in page.text
        assert secret not in str(page.url)
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    end = page.text.partition('href="/connections/')[2].partition('"')[0]
    assert site.browser.get(f"/connections/{end}").status_code == 200


def _secrets(address: str) -> list[str]:
    query = dict(pair.split("=", 1) for pair in address.partition("?")[2].split("&"))
    return [query[name] for name in SECRETS]


def test_a_no_is_shown_as_the_app_would_hear_it(site: DeveloperSite) -> None:
    site.register()
    person = Person(site.world, site.browser)
    person.begin(appId="layerlark", returnUrl=TEST_PAGE)
    page = site.browser.get(way_back(person.press("refuse", error="access_denied"))).text

    assert "Nothing was connected" in page
    assert "<code>access_denied</code>" in page


@pytest.mark.parametrize("query", ["", "?success=true", "?success=", "?" + "a=1&" * 99])
def test_a_page_without_parameters_says_what_is_missing(site: DeveloperSite, query: str) -> None:
    page = site.browser.get("/appportal/v1/test" + query)

    assert page.status_code == 200
    assert ("Missing" in page.text) is ("true" in query)


def test_too_many_parameters_are_refused(site: DeveloperSite) -> None:
    assert site.browser.get("/appportal/v1/test?" + "a=1&" * 101).status_code == 400


def test_script_in_a_forged_address_stays_text(site: DeveloperSite) -> None:
    query = {"success": "true", "printername": HOSTILE, "url": f'"{HOSTILE}', "id": f"x/{HOSTILE}"}
    came = site.browser.get("/appportal/v1/test", params=query).text
    failed = {"success": "false", "error": HOSTILE, "errorDescription": HOSTILE}
    refused = site.browser.get("/appportal/v1/test", params=failed).text

    for page in (came, refused):
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert "/connections/x" not in page


def test_another_services_test_page_is_no_place_to_return_to(site: DeveloperSite) -> None:
    site.register()
    for place in ("https://evil.example/appportal/v1/test", TEST_PAGE + "/", TEST_PAGE + "?x=1"):
        answer = site.browser.get(
            "/appportal/v1", params={"appId": "layerlark", "returnUrl": place}
        )
        assert answer.status_code == 400
