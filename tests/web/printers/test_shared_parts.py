"""Open pages share what they draw where all that it depends on is the same, and nowhere else."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from printreach.contract.status import State
from printreach.hub.accounts.sessions import NewSession
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.members import Member, Role
from printreach.web import quick_view
from printreach.web.printers import open_pages
from printreach.web.printers.open_pages import SharedParts
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.web.printers.conftest import printing
from tests.web.printers.listening import PRINTER_ID, QUIET, Listener, hall, shared_by
from tests.web.world import PASSWORD, WebWorld

STATES_IN: dict[str, tuple[str, str]] = {
    "en": ("Printing", "Paused"),
    "de": ("Druckt", "Pausiert"),
    "es": ("Imprimiendo", "En pausa"),
}
"""What a page calls a printer that prints, and one that is paused."""


def states_in(listener: Listener) -> set[str]:
    """Return the languages in which a page was told its printer's state."""
    text = "".join(listener.parts())
    return {
        language for language, words in STATES_IN.items() for word in words if f">{word}<" in text
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/printers/events",
        *(f"/printers/{PRINTER_ID}/events?page={page}" for page in quick_view.PARTS),
    ],
)
def test_open_pages_of_one_account_are_each_in_the_language_of_their_reader(
    world: WebWorld, path: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listeners = {language: here.listen(path, language=language) for language in STATES_IN}
            await until(lambda: all(states_in(one) for one in listeners.values()))
            world.printers.statuses[PRINTER_ID] = printing(state=State.PAUSED)
            await until(
                lambda: all(
                    f">{STATES_IN[language][1]}<" in "".join(one.parts())
                    for language, one in listeners.items()
                )
            )

            assert {of: states_in(one) for of, one in listeners.items()} == {
                of: {of} for of in STATES_IN
            }

    body()


def test_a_page_is_in_the_language_that_its_account_has_chosen_since_another_was_opened(
    world: WebWorld,
) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            before = here.listen()
            await until(lambda: states_in(before))
            await world.services.owner.set_language(here.account_id, "de")
            since = here.listen()
            await until(lambda: states_in(since))

            assert (states_in(before), states_in(since)) == ({"en"}, {"de"})

    body()


@pytest.mark.slow
def test_the_owner_and_a_member_see_each_their_own_page(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            bob = await world.services.accounts.add("bob@example.org", PASSWORD)
            member = Member(
                printer_id=PRINTER_ID,
                account_id=here.account_id,
                person_id=bob.account_id,  # type: ignore[union-attr]  # he is new
                role=Role.WATCH,
                since=world.clock.now(),
            )
            await world.store.write(lambda records: records.members.put(member))
            begun = await world.services.signing_in.with_password(
                "bob@example.org", PASSWORD, QUIET
            )
            assert isinstance(begun, NewSession)
            path = f"/printers/{PRINTER_ID}/events"
            owner = here.listen(path, language="de")
            member_in_german = here.listen(path, language="de", token=begun.token)
            member_in_spanish = here.listen(path, language="es", token=begun.token)
            listeners = (owner, member_in_german, member_in_spanish)
            await until(lambda: all(states_in(one) for one in listeners))

            assert [states_in(one) for one in listeners] == [{"de"}, {"de"}, {"es"}]
            assert f"{PRINTER_ID}/pause" in "".join(owner.parts())
            for one in (member_in_german, member_in_spanish):
                assert f"{PRINTER_ID}/pause" not in "".join(one.parts())

    body()


@pytest.mark.parametrize(
    "other",
    [
        {"account_id": "bob"},
        {"name": "control"},
        {"watched": frozenset({OwnedPrinter(PRINTER_ID, "bob")})},
        {"shows_lock": True},
        {"language": "de"},
    ],
)
def test_pages_share_their_parts_only_where_all_is_the_same(
    world: WebWorld, other: dict[str, Any]
) -> None:
    pages, printers = open_pages.OpenPages(), world.services.own_printers
    own = shared_by("ada")
    with ExitStack() as open_ones:
        first, same, different = (
            open_ones.enter_context(pages.opened(SharedParts(printers, one, dict)))  # type: ignore[arg-type]  # nothing is drawn
            for one in (own, replace(own), replace(own, **other))
        )

        assert same.shared is first.shared
        assert different.shared is not first.shared
