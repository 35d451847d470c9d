"""Apps as an operator sees them: those of every account."""

from dataclasses import asdict, dataclass, fields, replace

from printreach.hub.apps import add_app_of_service, remove_app
from printreach.hub.apps.own import TAKEN, InvalidDraft
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.rules.apps import App
from printreach.rules.apps.registration import AppDraft, problems_with
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.listings import AppRow, ListPage, Search
from printreach.store.store import Records


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


async def _app(records: Records, app_id: str) -> App | Denied:
    app = await records.apps.get(app_id)
    return Denied(Reason.NO_SUCH_APP, f"There is no app {app_id}.") if app is None else app


def _changes(before: App, after: App) -> str:
    """Return the names of the fields that differ, for the log of acts."""
    changed = [
        one.name for one in fields(App) if getattr(before, one.name) != getattr(after, one.name)
    ]
    return ", ".join(changed) or "nothing"
