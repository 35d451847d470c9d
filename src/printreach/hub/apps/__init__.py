"""Apps of the service: registered, changed and removed by operators, with their connections."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Final

from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.apps import App, problem_with_app
from printreach.rules.apps.registration import AppDraft, may_take_id, problems_with
from printreach.rules.connections import has_ended
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.listings import AppRow, ListPage, Search
from printreach.store.store import Records

TAKEN: Final = N_("This app id is taken. Choose another.")
"""The sentence reveals neither who took it nor whether the app still exists."""


@dataclass(frozen=True, slots=True)
class InvalidDraft:
    """The typed values are invalid. errors: a sentence for each field of AppDraft concerned."""

    errors: Mapping[str, str]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatedApps:
    """The use cases of operators about apps."""

    core: Core

    async def find(self, search: Search) -> ListPage[AppRow]:
        at = self.core.clock.now()
        return await self.core.store.read(lambda records: records.operating.apps(search, at))

    async def one(self, app_id: str) -> AppRow | Denied:
        at = self.core.clock.now()

        async def look(records: Records) -> AppRow | Denied:
            app = await _app(records, app_id)
            if isinstance(app, Denied):
                return app
            living = await records.connections.living_of_app(app_id, at)
            return AppRow(app=app, connections=living)

        return await self.core.store.read(look)

    async def register(self, draft: AppDraft, by: Operator) -> App | InvalidDraft:
        """Register it as an app of the service itself."""
        errors = problems_with(draft)
        if errors:
            return InvalidDraft(errors)
        app = App(**asdict(draft), created_at=self.core.clock.now())

        async def add(records: Records) -> App | InvalidDraft:
            is_added = await add_app_of_service(records, app, by)
            return app if is_added else InvalidDraft({"app_id": TAKEN})

        return await self.core.store.write(add)

    async def change(
        self, app_id: str, draft: AppDraft, by: Operator, *, was_checked: bool
    ) -> App | InvalidDraft | Denied:
        """Replace the app; its id, its owner and its connections stay.

        was_checked: the operator has verified who is behind it, whoever registered it.
        """
        draft, at = replace(draft, app_id=app_id), self.core.clock.now()
        errors = problems_with(draft)

        async def change(records: Records) -> App | InvalidDraft | Denied:
            app = await _app(records, app_id)
            if isinstance(app, Denied):
                return app
            if errors:
                return InvalidDraft(errors)
            changed = replace(app, **asdict(draft), was_checked=was_checked)
            await records.apps.put(changed)
            what = _changes(app, changed)
            await note(records, by, at, OperatorAct.APP_CHANGED, app_id, what)
            return changed

        return await self.core.store.write(change)

    async def remove(self, app_id: str, by: Operator) -> App | Denied:
        """Remove it; its connections end."""
        at = self.core.clock.now()

        async def remove(records: Records) -> App | Denied:
            app = await _app(records, app_id)
            if isinstance(app, App):
                await remove_app(records, app_id, at)
                await note(records, by, at, OperatorAct.APP_REMOVED, app_id, app.name)
            return app

        return await self.core.store.write(remove)


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


async def _app(records: Records, app_id: str) -> App | Denied:
    app = await records.apps.get(app_id)
    return Denied(Reason.NO_SUCH_APP, f"There is no app {app_id}.") if app is None else app


def _changes(before: App, after: App) -> str:
    """Return the names of the fields that differ, for the log of acts."""
    changed = [
        app_field.name
        for app_field in fields(App)
        if getattr(before, app_field.name) != getattr(after, app_field.name)
    ]
    return ", ".join(changed) or "nothing"
