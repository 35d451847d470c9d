"""Messages are in the language of the account that they go to."""

from printreach.contract.events import EventType
from tests.fakes.loop import on_a_loop
from tests.hub.notifications.test_enqueue import reached
from tests.hub.world import OpenWorld
from tests.languages.conftest import brackets

__all__ = ["brackets"]


@on_a_loop
async def test_a_message_is_in_the_language_of_who_reads_it(
    open_world: OpenWorld, brackets: str
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        await ada.world.store.write(
            lambda records: records.accounts.set_language(ada.account_id, brackets)
        )
        await ada.happens([EventType.COMPLETE])
        await ada.send()

        assert [one.title for one in ada.messenger.sent] == ["Workshop: ⟦print finished⟧"]
        assert ada.messenger.sent[0].text.startswith("⟦vase.gcode is finished.⟧")
