"""A developer's apps on their pages: registered, changed, tried, removed."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import Printer
from tests.web.apps.conftest import DeveloperSite
from tests.web.conftest import MakeWorld
from tests.web.portal.people import link_printer
from tests.web.world import ADA, BASE_URL, PASSWORD, run, send, sign_in

HOSTILE = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"


def connect(site: DeveloperSite, app_id: str = "layerlark") -> str:
    """Bob lets the app in; his connection's unique id."""
    printer_id = link_printer(site.world, site.browser, "Bob's printer", email=site.bob.email)

    async def connect() -> str:
        connections = site.world.services.connections
        made = await connections.add_for_app(app_id, printer_id)
        assert isinstance(made, Completion), made
        return made.connection_id

    return run(site.browser, connect)


def test_an_app_is_registered_with_all_that_was_typed(site: DeveloperSite) -> None:
    where = site.register(
        returns="https://layerlark.example/done\r\n  com.layerlark://done \n",
        lan="yes",
        logo="https://cdn.example/logo.png",
        most="500",
        **{"most-a-printer": "2", "other-logos": ""},
    )

    assert where == "/developer/apps/layerlark"
    app = site.app("layerlark")
    assert app is not None
    assert app.owner_id == site.ada.account_id
    assert app.return_prefixes == ("https://layerlark.example/done", "com.layerlark://done")
    assert (app.returns_to_lan, app.takes_other_logos) == (True, False)
    assert app.logo_url == "https://cdn.example/logo.png"
    assert (app.max_connections, app.max_connections_a_printer) == (500, 2)
    page = site.browser.get(where).text
    assert "The app is registered." in page
    assert "Layerlark" in site.browser.get("/developer").text


IMPOSSIBLE = {
    "name": ["", "x", "x" * 61, "a\u202eb"],
    "app-id": ["", "a b", "../x", "x" * 65, "\u00e4pp"],
    "returns": [
        *("javascript:alert(1)", "http://a.example/", "data:text/html,x"),
        *("https://u:p@a.example/", "https://a.example/ " * 21),
    ],
    "logo": ["http://a.example/l.png", "javascript:alert(1)"],
    "most": ["0", "-1", "1.5", "many", "9999999999"],
    "most-a-printer": ["0"],
}


@pytest.mark.parametrize("field", IMPOSSIBLE)
def test_what_cannot_be_is_told_at_its_field_and_nothing_is_kept(
    site: DeveloperSite, field: str
) -> None:
    for typed in IMPOSSIBLE[field]:
        fields = {"app-id": "layerlark", "name": "Layerlark", "other-logos": "yes", field: typed}
        fields["password"] = PASSWORD
        answer = send(site.browser, "/developer/register", **fields)

        assert answer.status_code == 400, typed
        assert f'id="{field}-fault"' in answer.text, typed
        assert site.app("layerlark") is None, typed


def test_a_cookie_alone_registers_no_app(site: DeveloperSite) -> None:
    for password in ("", "wrong"):
        page = site.register(password=password)

        assert 'id="password-fault"' in page
        assert 'value="layerlark"' in page
        assert site.app("layerlark") is None


def test_what_was_typed_is_kept_where_something_is_wrong(site: DeveloperSite) -> None:
    page = site.register(name="x", returns="https://a.example/\ncom.layerlark://done", lan="yes")

    assert "https://a.example/\ncom.layerlark://done</textarea>" in page
    assert 'id="lan" name="lan" value="yes" checked' in page


def test_script_in_what_is_typed_stays_text(site: DeveloperSite) -> None:
    faulty = send(
        site.browser,
        "/developer/register",
        **{
            "name": HOSTILE,
            "app-id": HOSTILE,
            "returns": HOSTILE,
            "logo": HOSTILE,
            "most": HOSTILE,
            "password": PASSWORD,
        },
    ).text
    site.register(name='<script>x="1"</script>', returns="a.b://'><script>y</script>")
    pages = [site.browser.get(f"/developer{path}").text for path in ("", *_pages("layerlark"))]

    for page in (faulty, *pages):
        assert "<script>" not in page.replace('<script type="module"', "")
        assert "<img src=x" not in page
    assert "&lt;script&gt;" in pages[1]


def _pages(app_id: str) -> list[str]:
    return [f"/apps/{app_id}{page}" for page in ("", "/try", "/remove")]


def test_an_app_is_changed_and_keeps_its_id(site: DeveloperSite) -> None:
    site.register()
    answer = send(
        site.browser,
        "/developer/apps/layerlark",
        **{"name": "Larklayer", "app-id": "other", "returns": "com.lark://x", "other-logos": "yes"},
        password=PASSWORD,
    )

    assert answer.headers["location"] == "/developer/apps/layerlark"
    app = site.app("layerlark")
    assert app is not None
    assert (app.name, app.return_prefixes) == ("Larklayer", ("com.lark://x",))
    assert site.app("other") is None


def test_a_wrong_change_shows_the_form_again(site: DeveloperSite) -> None:
    site.register()
    fields = {"name": "", "other-logos": "yes", "password": PASSWORD}
    answer = send(site.browser, "/developer/apps/layerlark", **fields)

    assert answer.status_code == 400
    assert 'id="name-fault"' in answer.text
    app = site.app("layerlark")
    assert app is not None
    assert app.name == "Layerlark"


@pytest.mark.parametrize("path", ["", "/remove"])
@pytest.mark.parametrize("typed", ["", "a guess"])
def test_a_stolen_browser_sends_nobodys_secrets_elsewhere_and_removes_nothing(
    site: DeveloperSite, path: str, typed: str
) -> None:
    site.register(returns="https://layerlark.example/done")
    before = site.app("layerlark")
    fields = {"name": "Layerlark", "returns": "https://thief.example/", "password": typed}
    answer = send(site.browser, f"/developer/apps/layerlark{path}", **fields)

    assert answer.status_code == 400
    assert 'id="password-fault"' in answer.text
    assert before is not None
    assert site.app("layerlark") == before


def test_removing_says_that_connections_end_asks_and_ends_them(site: DeveloperSite) -> None:
    site.register()
    connect(site)
    assert "1 connection" in site.browser.get("/developer").text
    question = site.browser.get("/developer/apps/layerlark/remove").text
    assert "Its one connection ends at once" in question
    assert site.app("layerlark") is not None

    answer = send(site.browser, "/developer/apps/layerlark/remove", password=PASSWORD)
    assert answer.headers["location"] == "/developer"
    [connection] = run(site.browser, site.world.services.connections.all)
    assert connection.revoked_at == site.world.clock.now()
    assert "Layerlark" not in site.browser.get("/developer").text


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_accounts_app_is_as_one_that_does_not_exist(
    site: DeveloperSite, bobs_app: str, method: str
) -> None:
    def ask(app_id: str, page: str) -> tuple[int, str]:
        answer = site.browser.request(
            method,
            f"/developer/apps/{app_id}{page}",
            data={"name": "Ada's"} if method == "POST" else None,
            headers={"origin": BASE_URL},
        )
        return answer.status_code, answer.text.replace(app_id, "…")

    for page in ("", "/try", "/remove"):
        theirs = ask(bobs_app, page)
        assert theirs == ask("unknown", page), page
        assert theirs[0] == (405 if (method, page) == ("POST", "/try") else 404), page
    assert site.app(bobs_app) is not None
    assert "bobs" not in site.browser.get("/developer").text


@pytest.mark.parametrize("app_id", ["bobs", "BOBS"])
def test_a_taken_id_tells_nothing_of_who_has_it(
    site: DeveloperSite, bobs_app: str, app_id: str
) -> None:
    page = site.register(app_id)

    assert "This app id is taken. Choose another." in html.unescape(page)
    assert "Bob" not in page
    assert site.bob.email not in page
    app = site.app(bobs_app)
    assert app is not None
    assert app.owner_id == site.bob.account_id


PATHS = ["/developer/register", "/developer/apps/layerlark", "/developer/apps/layerlark/remove"]


@pytest.mark.parametrize("origin", [None, "null", "https://own-abc.tunnel.example"])
def test_a_form_of_another_page_changes_no_app(site: DeveloperSite, origin: str | None) -> None:
    site.register()
    fields = {"name": "Evil", "app-id": "evil", "other-logos": "yes"}
    headers = {"origin": origin} if origin else {}
    for path in PATHS:
        assert site.browser.post(path, data=fields, headers=headers).status_code == 403, path

    assert site.app("evil") is None
    app = site.app("layerlark")
    assert app is not None
    assert app.name == "Layerlark"


def test_a_stranger_is_asked_to_sign_in(site: DeveloperSite) -> None:
    send(site.browser, "/signout")
    for path in ("/developer", "/developer/register", "/developer/new-key", "/usage"):
        answer = site.browser.get(path, follow_redirects=False)

        assert answer.status_code == 303, path
        assert answer.headers["location"] == f"/signin?next={path}"


def test_where_operators_alone_register_apps_others_are_told(world_with: MakeWorld) -> None:
    with world_with(APP_REGISTRATION="operators") as (world, browser):
        world.add_account(browser)
        world.add_account(browser, "op@example.org", is_admin=True)
        sign_in(browser)
        assert "only operators register apps" in browser.get("/developer").text
        fields = {"name": "Layerlark", "app-id": "layerlark", "other-logos": "yes"}
        fields["password"] = PASSWORD
        assert browser.get("/developer/register").status_code == 403
        assert send(browser, "/developer/register", **fields).status_code == 403

        send(browser, "/signout")
        sign_in(browser, "op@example.org")
        assert send(browser, "/developer/register", **fields).status_code == 303


def test_the_portal_can_be_tried_with_every_return_address(site: DeveloperSite) -> None:
    site.register(returns="https://layerlark.example/done\ncom.layerlark://done")
    page = site.browser.get("/developer/apps/layerlark/try").text
    links = [html.unescape(one) for one in re.findall(r'href="(/appportal[^"]*)"', page)]

    asked = [parse_qs(urlsplit(link).query) for link in links]
    assert [one["returnUrl"] for one in asked] == [
        [f"{BASE_URL}/appportal/v1/test"],
        ["https://layerlark.example/done"],
        ["com.layerlark://done"],
    ]
    assert {one["appId"][0] for one in asked} == {"layerlark"}
    for link in links:
        answer = site.browser.get(link)
        assert answer.status_code == 200
        assert "Layerlark" in answer.text
    for name in ("id", "url", "appApiToken", "authBearerToken", "userPrinterAccessUrl"):
        assert f"<code>{name}</code>" in page


def test_the_registered_logo_is_shown_and_others_where_they_may(site: DeveloperSite) -> None:
    logo, other = "https://cdn.example/logo.png", "https://elsewhere.example/x.png"
    site.register(logo=logo, **{"other-logos": ""})
    path = f"/appportal/v1?appId=layerlark&appLogoUrl={other}"
    first = site.browser.get(path)
    fields = {"name": "Layerlark", "logo": logo, "other-logos": "yes", "password": PASSWORD}
    send(site.browser, "/developer/apps/layerlark", **fields)
    second = site.browser.get(path)

    assert f'src="{logo}"' in first.text
    assert f'src="{other}"' not in first.text
    assert "img-src 'self' https://cdn.example;" in first.headers["content-security-policy"]
    assert f'src="{other}"' in second.text


def test_an_app_that_is_full_is_told_in_the_portal(site: DeveloperSite) -> None:
    site.register(most="1")
    connect(site)
    printer_id = link_printer(site.world, site.browser, "Ada's printer", email=ADA)

    async def again() -> object:
        return await site.world.services.connections.add_for_app("layerlark", printer_id)

    result = run(site.browser, again)
    assert not isinstance(result, Completion | Printer)
    assert "as many connections as it is registered for" in str(result)


def test_the_page_of_ones_account_leads_to_the_pages_for_developers(site: DeveloperSite) -> None:
    page = site.browser.get("/account").text

    for place in ("/developer",):
        assert f'href="{place}"' in page
        assert site.browser.get(place).status_code == 200
