"""Apps: registered by the operator."""

from collections.abc import Sequence
from dataclasses import dataclass

from printreach.hub.denied import Denied, Reason
from printreach.ports import Clock, Records, Store
from printreach.rules.apps import App, problem_with_app


@dataclass(frozen=True, kw_only=True, slots=True)
class Apps:
    """The use cases about apps."""

    store: Store
    clock: Clock

    async def add(
        self,
        app_id: str,
        name: str,
        return_prefixes: Sequence[str],
        *,
        returns_to_lan: bool = False,
    ) -> App | Denied:
        """Let an app ask people for connections. returns_to_lan: see `App`."""
        app = App(
            app_id=app_id,
            name=name,
            return_prefixes=tuple(return_prefixes),
            created_at=self.clock.now(),
            returns_to_lan=returns_to_lan,
        )
        problem = problem_with_app(app.app_id, app.name, app.return_prefixes)
        if problem is not None:
            return Denied(Reason.INVALID, problem)

        async def add(records: Records) -> App | Denied:
            if await records.apps.get(app_id) is not None:
                return Denied(Reason.APP_EXISTS, f"There is an app {app_id} already.")
            await records.apps.add(app)
            return app

        return await self.store.write(add)

    async def all(self) -> list[App]:
        """Every app, by id."""
        return await self.store.read(lambda records: records.apps.all())
