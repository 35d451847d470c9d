"""Limits on pages of other sites with the cookie of an own- host, by Sec-Fetch fields."""

from datetime import timedelta

import pytest

from printreach.rules.connections import ConnectionKind
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig, relay
from tests.relay.scripted_agent import Asked, Script, echo

OPEN = b"/service-command-api/open?ticket=ticket"
COOKIE = b"Cookie: printreach_own=cookie-for-ticket"
GCODE = b"/rr_gcode?gcode=M112"


def says(site: str, mode: str = "navigate", dest: str = "document") -> tuple[bytes, ...]:
    """The fields of a browser that comes from there."""
    values = {"Site": site, "Mode": mode, "Dest": dest}
    return tuple(f"Sec-Fetch-{name}: {value}".encode() for name, value in values.items())


async def ask(rig: Rig, access: Access, *fields: bytes, **line: bytes) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, *fields, **line))
        return await caller.answer(to_head=line.get("method") == b"HEAD")


async def opened(rig: Rig, *fields: bytes) -> tuple[Access, Answer]:
    """An own- host whose single-use link was followed."""
    access = rig.connect("own-one", kind=ConnectionKind.OWN)
    until = rig.clock.now() + timedelta(minutes=10)
    rig.grants.add_open_ticket(access.unique_id, "ticket", until)
    return access, await ask(rig, access, *fields, target=OPEN)


async def asked(*fields: bytes, script: Script = echo, **line: bytes) -> tuple[Answer, int]:
    """The answer to a request with the cookie, and how many reached the printer."""
    async with relay() as rig:
        access, _ = await opened(rig)
        agent = await rig.agent(script=script)
        return await ask(rig, access, COOKIE, *fields, **line), len(agent.asked)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
@pytest.mark.parametrize(
    ("mode", "dest"),
    [
        ("no-cors", "image"),
        ("no-cors", "script"),
        ("cors", "empty"),
        ("navigate", "iframe"),
        ("navigate", "object"),
        ("nested-navigate", "document"),
    ],
)
@on_a_loop
async def test_a_page_of_another_site_fetches_nothing_by_the_cookie(
    site: str, mode: str, dest: str
) -> None:
    answer, reached = await asked(*says(site, mode, dest))

    assert (answer.status, reached) == (606, 0)


@pytest.mark.parametrize("method", [b"HEAD", b"OPTIONS"])
@on_a_loop
async def test_no_other_method_passes_for_a_navigation_of_another_site(method: bytes) -> None:
    answer, reached = await asked(*says("cross-site"), method=method)

    assert (answer.status, reached) == (606, 0)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("target", [b"/", b"/files/list", b"/?"])
@on_a_loop
async def test_a_link_of_another_site_leads_to_a_page_of_the_printer(
    site: str, target: bytes
) -> None:
    answer, reached = await asked(*says(site), target=target)

    assert (answer.status, reached) == (200, 1)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@on_a_loop
async def test_a_link_of_another_site_with_a_query_asks_a_person_first(site: str) -> None:
    answer, reached = await asked(*says(site), b"Accept: text/html", target=GCODE + b"&<b>")

    assert (answer.status, reached) == (606, 0)
    assert b"/rr_gcode?gcode=M112&amp;&lt;b&gt;" in answer.body
    assert b'<a href="">Open it</a>' in answer.body
    assert answer.get(b"cache-control") == b"no-store"


@pytest.mark.parametrize("site", ["same-origin", "none"])
@pytest.mark.parametrize(
    ("mode", "dest"), [("navigate", "document"), ("cors", "empty"), ("no-cors", "image")]
)
@on_a_loop
async def test_the_printers_own_pages_and_a_person_by_hand_fetch_what_they_like(
    site: str, mode: str, dest: str
) -> None:
    answer, reached = await asked(*says(site, mode, dest), target=GCODE)

    assert (answer.status, reached) == (200, 1)


@on_a_loop
async def test_an_app_is_not_judged_by_where_its_web_view_came_from() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        answer = await ask(rig, access, access.bearer, *says("cross-site", "cors", "empty"))

        assert answer.status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@on_a_loop
async def test_a_single_use_link_on_another_site_begins_a_navigation_of_the_hosts_own(
    site: str,
) -> None:
    """After a redirect it would still be a navigation of that site, through later redirects too."""
    async with relay() as rig:
        _, answer = await opened(rig, *says(site))

        assert answer.status == 200
        assert b'<meta http-equiv="refresh" content="0; url=/">' in answer.body
        assert (answer.get(b"set-cookie") or b"").startswith(COOKIE.removeprefix(b"Cookie: "))
        assert answer.get(b"cache-control") == b"no-store"


@on_a_loop
async def test_other_sites_do_not_learn_the_name_of_an_own_host_by_referer() -> None:
    answer, _ = await asked()

    assert answer.all(b"referrer-policy") == [b"same-origin"]


@on_a_loop
async def test_a_printers_own_referrer_policy_stays() -> None:
    def strict(asked: Asked) -> None:
        asked.answer(headers=[(b"referrer-policy", b"no-referrer")])

    answer, _ = await asked(script=strict)

    assert answer.all(b"referrer-policy") == [b"no-referrer"]


@on_a_loop
async def test_no_cache_on_the_way_keeps_an_answer_to_a_cookie() -> None:
    answer, _ = await asked()

    assert answer.all(b"cache-control") == [b"private"]


@on_a_loop
async def test_a_printers_own_cache_fields_stay() -> None:
    def strict(asked: Asked) -> None:
        asked.answer(headers=[(b"cache-control", b"no-store")])

    answer, _ = await asked(script=strict)

    assert answer.all(b"cache-control") == [b"no-store"]


@on_a_loop
async def test_an_app_gets_the_printers_answer_without_a_cache_policy() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()

        assert (await ask(rig, access, access.bearer)).all(b"cache-control") == []


@on_a_loop
async def test_an_app_gets_the_printers_answer_without_a_referrer_policy() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()

        assert (await ask(rig, access, access.bearer)).all(b"referrer-policy") == []
