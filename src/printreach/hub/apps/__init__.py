"""Apps: registered by an operator, and removed together with their connections."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.ports import Notice, Topic
from printreach.rules.apps import App, problem_with_app
from printreach.rules.apps.registration import may_take_id
from printreach.rules.connections import has_ended
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records


@dataclass(frozen=True, kw_only=True, slots=True)
class Apps:
    """The operators' use cases about apps."""

    core: Core

    async def add(
        self,
        app_id: str,
        name: str,
        return_prefixes: Sequence[str],
        *,
        returns_to_lan: bool = False,
        by: Operator | None = None,
    ) -> App | Denied:
        """Register an app. returns_to_lan: see `App`."""
        app = App(
            app_id=app_id,
            name=name,
            return_prefixes=tuple(return_prefixes),
            created_at=self.core.clock.now(),
            returns_to_lan=returns_to_lan,
        )
        problem = problem_with_app(app.app_id, app.name, app.return_prefixes)
        if problem is not None:
            return Denied(Reason.INVALID, problem)

        async def add(records: Records) -> App | Denied:
            if not await add_app_of_service(records, app, by):
                return Denied(Reason.APP_EXISTS, f"There is an app {app_id} already.")
            return app

        return await self.core.store.write(add)

    async def all(self) -> list[App]:
        """Return every app, by id."""
        return await self.core.store.read(lambda records: records.apps.all())


async def add_app_of_service(records: Records, app: App, by: Operator | None) -> bool:
    """Register an app of the service itself; False where its id is taken, now or from before."""
    if not may_take_id(await records.apps.holders(app.app_id), None):
        return False
    await records.apps.add(app)
    await note(records, by, app.created_at, OperatorAct.APP_ADDED, app.app_id, app.name)
    return True


async def remove_app(records: Records, app_id: str, at: datetime) -> None:
    """Remove an app. Its connections end, and calls with them are answered 604."""
    for connection in await records.connections.of_app(app_id):
        if not has_ended(connection, at):
            await records.notify(Notice(Topic.CONNECTION, connection.unique_id), at)
    await records.connections.revoke_all_of_app(app_id, at)
    await records.apps.remove(app_id, at)
