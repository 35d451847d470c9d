"""Ports that stand for connections, for users without wildcard DNS."""

import asyncio
from datetime import timedelta

import pytest

from printreach.ports import Topic
from printreach.rules.connections import ConnectionKind
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Rig, relay
from tests.relay.scripted_agent import Asked
from tests.relay.waiting import until
from tests.rigs.waiting import free_port


async def ask(port: int, *fields: bytes, host: bytes = b"nas.local:18000", **line: bytes) -> Answer:
    async with calling(port) as caller:
        caller.send(request(host, *fields, **line))
        return await caller.answer()


async def listening(rig: Rig) -> int:
    port = free_port()
    await rig.node.listen_for_tunnels("127.0.0.1", range(port, port + 1))
    return port


@on_a_loop
async def test_a_port_leads_to_its_connection_whatever_host_is_asked_for() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access, agent = rig.connect(port=port), await rig.agent()
        rig.connect("app-two", printer="two")
        hosts = [b"nas.local:18000", b"127.0.0.1", OWN, b"app-two.tunnel.example"]

        for host in hosts:
            assert (await ask(port, access.bearer, host=host)).status == 200
        assert [asked.all(b"host") for asked in agent.asked] == [[host] for host in hosts]


@on_a_loop
async def test_a_port_serves_nothing_else() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access, agent = rig.connect(port=port), await rig.agent()
        for target in (b"/healthz", b"/metrics", b"/api/agent/tunnel"):
            assert (await ask(port, target=target)).status == 606
            assert (await ask(port, access.bearer, target=target)).body == b"GET " + target

        assert rig.web.asked == []
        assert len(agent.asked) == 3


@on_a_loop
async def test_browsers_are_told_nothing_of_https_on_a_port_whose_name_others_share() -> None:
    async with relay(scheme="https") as rig:
        port = await listening(rig)
        access, _ = rig.connect(port=port), await rig.agent()
        answer = await ask(port, access.bearer)

        assert answer.status == 200
        assert answer.all(b"strict-transport-security") == []


@on_a_loop
async def test_a_port_that_no_connection_owns_is_603() -> None:
    async with relay() as rig:
        port = await listening(rig)
        rig.connect()

        assert (await ask(port, b"Authorization: Bearer token-of-app-one")).status == 603


@on_a_loop
async def test_a_port_is_looked_up_once_for_many_requests() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect(port=port)
        await rig.agent()
        for _ in range(5):
            assert (await ask(port, access.bearer)).status == 200

        assert rig.grants.lookups == [str(port), access.unique_id]


@on_a_loop
async def test_a_port_changes_hands_with_a_notice() -> None:
    async with relay() as rig:
        port = await listening(rig)
        first = rig.connect("app-one", port=port)
        await rig.agent()
        assert (await ask(port, first.bearer)).status == 200
        second = rig.connect("app-two", port=port)
        await rig.revoke(first)

        assert (await ask(port, first.bearer)).status == 606
        assert (await ask(port, second.bearer)).status == 200


@on_a_loop
async def test_a_notice_in_the_middle_of_a_look_at_a_port_is_not_overlooked() -> None:
    """The store's answer may be older than the change that the notice is about."""
    async with relay() as rig:
        port = await listening(rig)
        await rig.agent()
        release = rig.grants.hold_answer()
        early = asyncio.create_task(ask(port, b"Authorization: Bearer token-of-app-one"))
        await until(lambda: rig.grants.lookups)
        access = rig.connect("app-one", port=port)
        await rig.notify(Topic.CONNECTION, access.unique_id)
        release()
        await early

        assert (await ask(port, access.bearer)).status == 200


@on_a_loop
async def test_a_revoked_connection_is_604_at_its_port() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect(port=port)
        await rig.revoke(access)

        assert (await ask(port, access.bearer)).status == 604


OPEN = b"/service-command-api/open?ticket=ticket"
NAVIGATION = b"Upgrade-Insecure-Requests: 1"
NAME = b"nas.local:18000"
OWN_PAGE = b"Referer: http://nas.local:18000/"


async def open_own(rig: Rig, port: int, unique_id: str = "own-one", printer: str = "one") -> bytes:
    """Follow a single-use link to a port; the cookie line of the browser from then on."""
    access = rig.connect(unique_id, printer=printer, kind=ConnectionKind.OWN, port=port)
    until_then = rig.clock.now() + timedelta(minutes=10)
    rig.grants.add_open_ticket(access.unique_id, "ticket", until_then)
    opened = await ask(port, target=OPEN)
    assert opened.status == 200, opened
    return b"Cookie: " + (opened.get(b"set-cookie") or b"").partition(b";")[0]


@on_a_loop
async def test_the_owners_link_opens_a_port_by_a_cookie_of_that_port() -> None:
    async with relay() as rig:
        port, agent = await listening(rig), await rig.agent()
        cookie = await open_own(rig, port)

        assert cookie == b"Cookie: printreach_own_%d=cookie-for-ticket" % port
        answer = await ask(port, cookie, NAVIGATION)
        assert (answer.status, agent.asked[0].all(b"cookie")) == (200, [])
        assert answer.get(b"x-frame-options") == b"SAMEORIGIN"


@on_a_loop
async def test_a_cookie_of_one_port_opens_no_other_and_no_host() -> None:
    async with relay() as rig:
        port, other = await listening(rig), await listening(rig)
        await rig.agent()
        cookie = await open_own(rig, port)
        rig.connect("own-two", kind=ConnectionKind.OWN, port=other)
        renamed = cookie.replace(b"_%d=" % port, b"_%d=" % other)
        nameless = cookie.replace(b"_%d=" % port, b"=")

        for sent in (cookie, renamed, nameless):
            assert (await ask(other, sent, NAVIGATION)).status == 606
        assert (await ask(port, nameless, NAVIGATION)).status == 606
        assert (await ask(port, renamed, NAVIGATION)).status == 606


@on_a_loop
async def test_no_cookie_of_the_service_or_of_another_port_reaches_a_printer_or_opens_it() -> None:
    async with relay() as rig:
        port, agent = await listening(rig), await rig.agent()
        cookie = await open_own(rig, port)
        others = b"; printreach_session=secret; printreach_own_1=secret; printreach_own=secret; a=1"

        assert (await ask(port, cookie + others, NAVIGATION)).status == 200
        assert agent.asked[0].all(b"cookie") == [b"a=1"]
        assert (await ask(port, b"Cookie: a=1" + others, NAVIGATION)).status == 606


@on_a_loop
async def test_the_cookie_counts_however_many_others_plant_before_it() -> None:
    async with relay() as rig:
        port = await listening(rig)
        await rig.agent()
        cookie = await open_own(rig, port)
        planted = b"printreach_own_%d=planted; " % port * 40

        assert (await ask(port, cookie.replace(b": ", b": " + planted), NAVIGATION)).status == 200


@on_a_loop
async def test_a_printer_sets_no_cookie_by_the_name_of_a_ports() -> None:
    def plant(asked: Asked) -> None:
        names = (b"printreach_own_18001", b"__Host-printreach_own_18001", b"printreach_session")
        fields = [(b"set-cookie", name + b"=planted") for name in names]
        asked.answer(headers=[*fields, (b"set-cookie", b"mine=1")])

    async with relay() as rig:
        port = await listening(rig)
        await rig.agent(script=plant)
        cookie = await open_own(rig, port)

        assert (await ask(port, cookie, NAVIGATION)).all(b"set-cookie") == [b"mine=1"]


@on_a_loop
async def test_the_session_that_a_printer_sets_comes_back_to_it_and_to_no_other_port() -> None:
    def log_in(asked: Asked) -> None:
        asked.answer(headers=[(b"set-cookie", b"session=secret; HttpOnly; Path=/")])

    async with relay() as rig:
        port, other = await listening(rig), await listening(rig)
        one, two = await rig.agent(script=log_in), await rig.agent("two")
        cookie = await open_own(rig, port)
        others = await open_own(rig, other, "own-two", "two")
        session = (await ask(port, cookie, NAVIGATION)).get(b"set-cookie") or b""
        both = b"; " + session.partition(b";")[0]

        await ask(port, cookie + both, NAVIGATION)
        await ask(other, others + both, NAVIGATION)
        assert one.asked[1].all(b"cookie") == [b"session=secret"]
        assert two.asked[0].all(b"cookie") == []


@pytest.mark.parametrize(
    "source",
    [
        (),
        (b"Referer: http://nas.local:18001/",),
        (b"Referer: http://nas.local:180000/",),
        (b"Referer: http://nas.local/",),
        (b"Origin: http://nas.local:18001",),
        (b"Origin: null",),
        (b"Sec-Fetch-Site: same-site", b"Sec-Fetch-Mode: no-cors", OWN_PAGE),
        (b"Referer: http://nas.local:18001/", b"Accept: text/html"),
    ],
)
@on_a_loop
async def test_a_page_of_another_port_fetches_nothing_by_the_cookie(
    source: tuple[bytes, ...],
) -> None:
    """Ports of one host are one site, and plain http has no Sec-Fetch fields."""
    async with relay() as rig:
        port, agent = await listening(rig), await rig.agent()
        cookie = await open_own(rig, port)

        answer = await ask(port, cookie, *source, target=b"/rr_gcode?gcode=M112")
        assert (answer.status, agent.asked) == (606, [])


@pytest.mark.parametrize(
    "source",
    [
        (OWN_PAGE,),
        (b"Origin: http://nas.local:18000",),
        (OWN_PAGE, NAVIGATION),
        (b"Sec-Fetch-Site: same-origin", b"Sec-Fetch-Mode: cors"),
        (b"Sec-Fetch-Site: none", b"Sec-Fetch-Mode: navigate"),
    ],
)
@on_a_loop
async def test_pages_of_the_port_itself_fetch_what_they_like(source: tuple[bytes, ...]) -> None:
    async with relay() as rig:
        port = await listening(rig)
        await rig.agent()
        cookie = await open_own(rig, port)

        answer = await ask(port, cookie, *source, target=b"/rr_gcode?gcode=M112")
        assert answer.status == 200


@on_a_loop
async def test_octoprint_whose_pages_say_no_referer_works_at_a_port() -> None:
    """A request that names another site is refused there, too."""
    async with relay() as rig:
        port = await listening(rig)
        await rig.agent(platform="octoprint")
        cookie = await open_own(rig, port)
        target = b"/sockjs/info?t=1"

        assert (await ask(port, cookie, target=target)).status == 200
        foreign = b"Referer: http://nas.local:18001/"
        assert (await ask(port, cookie, foreign, target=target)).status == 606
        assert (await ask(port, cookie, method=b"POST")).status == 606


@pytest.mark.parametrize("source", [(), (b"Referer: http://nas.local:18001/",)])
@on_a_loop
async def test_a_link_to_a_port_with_a_query_asks_a_person_first(
    source: tuple[bytes, ...],
) -> None:
    async with relay() as rig:
        port, agent = await listening(rig), await rig.agent()
        cookie = await open_own(rig, port)
        fields = (cookie, NAVIGATION, *source)

        asking = await ask(port, *fields, target=b"/rr_gcode?gcode=M112")
        assert (asking.status, agent.asked) == (606, [])
        assert b"Open it" in asking.body
        assert (await ask(port, *fields, target=b"/files")).status == 200


@pytest.mark.parametrize("method", [b"POST", b"PUT", b"DELETE"])
@on_a_loop
async def test_a_request_that_changes_something_at_a_port_needs_the_origin_of_that_port(
    method: bytes,
) -> None:
    async with relay() as rig:
        port, agent = await listening(rig), await rig.agent()
        cookie = await open_own(rig, port)
        for origin in (b"http://nas.local:18001", b"http://nas.local:8080", b"http://nas.local"):
            answer = await ask(port, cookie, b"Origin: " + origin, OWN_PAGE, method=method)
            assert (answer.status, agent.asked) == (606, [])

        assert (await ask(port, cookie, b"Origin: http://" + NAME, method=method)).status == 200


@on_a_loop
async def test_the_page_for_a_bookmark_of_a_port_leads_to_the_dashboard_and_names_no_printer() -> (
    None
):
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect("own-one", kind=ConnectionKind.OWN, port=port)

        page = (await ask(port, b"Accept: text/html")).body.decode()
        assert f'href="http://relay.example/printers/open?port={port}">Open the printer' in page
        grant = await rig.grants.grant(access.unique_id)
        assert grant is not None
        assert grant.printer_id not in page


@on_a_loop
async def test_a_key_in_the_query_opens_at_a_port() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect(port=port)
        await rig.agent()

        assert (await ask(port, target=b"/x?service_api_key=" + access.token)).body == b"GET /x"


@on_a_loop
async def test_a_port_that_is_not_available_stops_the_start() -> None:
    async with relay() as rig:
        with pytest.raises(OSError, match="in use"):
            await rig.node.listen_for_tunnels("127.0.0.1", range(rig.port, rig.port + 1))
