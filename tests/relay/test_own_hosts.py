"""Own connections: a single-use link, a cookie, and the Origin that changes need."""

from datetime import timedelta

import pytest

from printreach.relay.browser_sign_in import OWN_COOKIE_S
from printreach.rules.connections import ConnectionKind
from tests.languages.conftest import brackets
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig, relay

__all__ = ["brackets"]

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")
WRONG = b"Authorization: Bearer wrong"


async def ask(rig: Rig, access: Access, *fields: bytes, **line: bytes) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, *fields, **line))
        return await caller.answer(to_head=line.get("method") == b"HEAD")


async def opened(rig: Rig, access: Access) -> bytes:
    """Follow a single-use link; the cookie line of the browser from then on."""
    rig.grants.add_open_ticket(access.unique_id, "ticket", rig.clock.now() + timedelta(minutes=10))
    answer = await ask(rig, access, target=b"/service-command-api/open?ticket=ticket")
    assert answer.status == 303, answer
    return b"Cookie: " + (answer.get(b"set-cookie") or b"").partition(b";")[0]


def own(rig: Rig, unique_id: str = "own-one") -> Access:
    return rig.connect(unique_id, kind=ConnectionKind.OWN)


@pytest.mark.parametrize(
    ("scheme", "cookie"),
    [
        ("http", b"printreach_own=cookie-for-ticket; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax"),
        (
            "https",
            b"__Host-printreach_own=cookie-for-ticket; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax;"
            b" Secure",
        ),
    ],
)
@on_a_loop
async def test_the_single_use_link_sets_the_cookie_of_that_one_host(
    scheme: str, cookie: bytes
) -> None:
    async with relay(scheme=scheme) as rig:
        access = own(rig)
        rig.grants.add_open_ticket(
            access.unique_id, "ticket", rig.clock.now() + timedelta(minutes=10)
        )
        answer = await ask(rig, access, target=b"/service-command-api/open?ticket=ticket")

        assert (answer.status, answer.get(b"location")) == (303, b"/")
        assert answer.all(b"set-cookie") == [cookie % OWN_COOKIE_S]
        assert answer.get(b"referrer-policy") == b"no-referrer"
        assert answer.get(b"cache-control") == b"no-store"


@pytest.mark.parametrize(
    ("at", "location"),
    [
        (b"/files/local%2520parts", b"/files/local%20parts"),
        (b"//evil.example/", b"/"),
        (b"https://evil.example/", b"/"),
        (b"/rr_gcode%3Fgcode=M112", b"/"),
        (b"/a%0d%0ab", b"/"),
    ],
)
@on_a_loop
async def test_the_single_use_link_leads_to_a_path_of_the_printer_alone(
    at: bytes, location: bytes
) -> None:
    async with relay() as rig:
        access = own(rig)
        in_ten_minutes = rig.clock.now() + timedelta(minutes=10)
        rig.grants.add_open_ticket(access.unique_id, "ticket", in_ten_minutes)
        target = b"/service-command-api/open?ticket=ticket&at=" + at
        answer = await ask(rig, access, target=target)

        assert (answer.status, answer.get(b"location")) == (303, location)


@on_a_loop
async def test_a_page_whose_cookie_is_gone_leads_back_to_the_same_path_without_its_query() -> None:
    async with relay() as rig:
        access = own(rig)
        target = b"/files/a%20b?x=1"
        page = await ask(rig, access, b"Accept: text/html", target=target)

        assert page.status == 606
        assert b'/open?at=/files/a%2520b"' in page.body


@on_a_loop
async def test_the_single_use_link_works_once() -> None:
    async with relay() as rig:
        access = own(rig)
        await opened(rig, access)

        again = await ask(rig, access, target=b"/service-command-api/open?ticket=ticket")
        assert again.status == 606


@pytest.mark.parametrize(
    ("method", "target"),
    [
        (b"GET", b"/service-command-api/open"),
        (b"GET", b"/service-command-api/open?ticket=wrong"),
        (b"GET", b"/service-command-api/open?x=1"),
        (b"POST", b"/service-command-api/open?ticket=ticket"),
        (b"HEAD", b"/service-command-api/open?ticket=ticket"),
    ],
)
@on_a_loop
async def test_a_link_that_is_not_right_is_606_and_uses_up_nothing(
    method: bytes, target: bytes
) -> None:
    async with relay() as rig:
        access = own(rig)
        rig.grants.add_open_ticket(
            access.unique_id, "ticket", rig.clock.now() + timedelta(minutes=10)
        )
        assert (await ask(rig, access, method=method, target=target)).status == 606

        right = await ask(rig, access, target=b"/service-command-api/open?ticket=ticket")
        assert right.status == 303


@on_a_loop
async def test_a_store_that_is_away_while_a_link_is_followed_is_600() -> None:
    async with relay() as rig:
        access = own(rig)
        assert (await ask(rig, access)).status == 606
        rig.grants.is_broken = True

        answer = await ask(rig, access, target=b"/service-command-api/open?ticket=ticket")
        assert answer.status == 600


@on_a_loop
async def test_the_cookie_opens_its_own_host_and_no_other() -> None:
    async with relay() as rig:
        access, other = own(rig), own(rig, "own-two")
        agent = await rig.agent()
        cookie = await opened(rig, access)

        assert (await ask(rig, access, cookie)).status == 200
        assert (await ask(rig, other, cookie)).status == 606
        assert agent.asked[0].all(b"cookie") == []


@on_a_loop
async def test_our_cookie_is_found_after_one_that_somebody_planted() -> None:
    async with relay() as rig:
        access = own(rig)
        await rig.agent()
        cookie = await opened(rig, access)
        planted = b"Cookie: printreach_own=planted; a=1; " + cookie.removeprefix(b"Cookie: ")

        assert (await ask(rig, access, planted)).status == 200


@on_a_loop
async def test_on_https_a_cookie_without_its_prefix_is_not_ours() -> None:
    async with relay(scheme="https") as rig:
        access = own(rig)
        cookie = await opened(rig, access)

        assert (await ask(rig, access, cookie.replace(b"__Host-", b""))).status == 606


@on_a_loop
async def test_an_own_host_takes_no_credentials_but_its_cookie() -> None:
    async with relay() as rig:
        access = own(rig)
        await opened(rig, access)
        secret = b"cookie-for-ticket"

        assert (await ask(rig, access, b"Authorization: Bearer " + secret)).status == 606
        assert (await ask(rig, access, target=b"/?service_api_key=" + secret)).status == 606


@on_a_loop
async def test_with_the_cookie_the_printers_own_authorization_passes() -> None:
    async with relay() as rig:
        access, agent = own(rig), await rig.agent()
        cookie = await opened(rig, access)
        await ask(rig, access, cookie, b"Authorization: Bearer of-the-printer")

        assert agent.asked[0].all(b"authorization") == [b"Bearer of-the-printer"]


ACTING = {
    "POST": (b"POST", ()),
    "PUT": (b"PUT", ()),
    "DELETE": (b"DELETE", ()),
    "PATCH": (b"PATCH", ()),
    "TRACE": (b"TRACE", ()),
    "an unknown method": (b"MKCOL", ()),
    "a WebSocket": (b"GET", HANDSHAKE),
}
FOREIGN = [
    (),
    (b"Origin: http://own-two.tunnel.example",),
    (b"Origin: https://own-one.tunnel.example",),
    (b"Origin: http://own-one.tunnel.example:81",),
    (b"Origin: http://relay.example",),
    (b"Origin: null",),
    (b"Origin:",),
    (b"Referer: http://own-one.tunnel.example/",),
]


@pytest.mark.parametrize(("method", "fields"), ACTING.values(), ids=ACTING)
@on_a_loop
async def test_a_request_by_cookie_that_changes_something_needs_the_hosts_own_origin(
    method: bytes, fields: tuple[bytes, ...]
) -> None:
    async with relay() as rig:
        access = own(rig)
        await rig.agent()
        cookie = await opened(rig, access)
        origin = b"Origin: http://" + access.host

        assert (await ask(rig, access, cookie, origin, *fields, method=method)).status == 200
        for foreign in FOREIGN:
            answer = await ask(rig, access, cookie, *foreign, *fields, method=method)
            assert (answer.status, foreign) == (606, foreign)


@pytest.mark.parametrize(
    ("scheme", "host", "origin"),
    [
        ("http", b"own-one.tunnel.example:80", b"http://own-one.tunnel.example"),
        ("http", b"OWN-one.Tunnel.example:8080", b"http://own-one.tunnel.example:8080"),
        ("https", b"own-one.tunnel.example:443", b"https://own-one.tunnel.example"),
        ("https", b"own-one.tunnel.example:80", b"https://own-one.tunnel.example:80"),
    ],
)
@on_a_loop
async def test_the_origin_is_compared_as_browsers_write_it(
    scheme: str, host: bytes, origin: bytes
) -> None:
    async with relay(scheme=scheme) as rig, calling(rig.port) as caller:
        access = own(rig)
        await rig.agent()
        cookie = await opened(rig, access)
        caller.send(request(host, cookie, b"Origin: " + origin, method=b"POST"))

        assert (await caller.answer()).status == 200


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"OPTIONS"])
@on_a_loop
async def test_by_cookie_looking_needs_no_origin(method: bytes) -> None:
    async with relay() as rig:
        access = own(rig)
        await rig.agent(script=lambda asked: asked.answer())
        cookie = await opened(rig, access)

        assert (await ask(rig, access, cookie, method=method)).status == 200


@on_a_loop
async def test_a_page_of_another_site_does_not_learn_whether_the_connection_has_ended() -> None:
    async with relay() as rig:
        access = own(rig)
        cookie = await opened(rig, access)
        await rig.revoke(access)

        assert (await ask(rig, access, cookie)).status == 604
        assert (await ask(rig, access, cookie, method=b"POST")).status == 606


@on_a_loop
async def test_apps_need_no_origin() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()

        assert (await ask(rig, access, access.bearer, method=b"POST")).status == 200


@on_a_loop
async def test_a_page_of_the_relay_is_in_the_language_of_the_browser(brackets: str) -> None:
    async with relay() as rig:
        access = own(rig)
        fields = (b"Accept: text/html", b"Accept-Language: de-DE, en;q=0.5")
        answer = await ask(rig, access, *fields, target=b"/")

        assert answer.status == 606
        assert '<html lang="de">' in answer.body.decode()
        assert "⟦Sign in to open this printer⟧" in answer.body.decode()
        assert "⟦" not in (await ask(rig, access, *fields[1:], target=b"/")).body.decode()
