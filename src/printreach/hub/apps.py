"""Apps of the service: registered, changed and removed by operators, and by their developers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Final

from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.apps import App, problem_with_app
from printreach.rules.apps.registration import (
    MAX_APP_IDS,
    MAX_APPS,
    AppDraft,
    AppPolicy,
    may_register_apps,
    may_take_id,
    problems_with,
    problems_with_own,
    stays_checked,
)
from printreach.rules.connections import has_ended
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.listings import AppRow, ListPage, Search
from printreach.store.store import Records

TAKEN: Final = N_("This app id is taken. Choose another.")
"""The sentence reveals neither who took it nor whether the app still exists."""

NO_SUCH_APP: Final = Denied(Reason.NO_SUCH_APP, N_("There is no such app in your account."))
LOOKS_THE_SAME: Final = N_(
    "This name looks the same as that of another app here. Choose another, or ask the operator."
)


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


@dataclass(frozen=True, slots=True)
class ListedApp:
    """An app as its developer sees it. connections: how many are in force."""

    app: App
    connections: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnApps:
    """The use cases of developers about apps."""

    core: Core
    policy: AppPolicy

    def may_register(self, account: Account) -> bool:
        """Return whether this account may register apps."""
        return may_register_apps(self.policy, account)

    async def all(self, account_id: str) -> list[ListedApp]:
        """Return the account's apps, by id."""
        at = self.core.clock.now()

        async def look(records: Records) -> list[ListedApp]:
            return [
                ListedApp(app, await records.connections.living_of_app(app.app_id, at))
                for app in await records.apps.of_owner(account_id)
            ]

        return await self.core.store.read(look)

    async def one(self, account_id: str, app_id: str) -> ListedApp | Denied:
        at = self.core.clock.now()

        async def look(records: Records) -> ListedApp | Denied:
            app = await _own(records, account_id, app_id)
            if isinstance(app, Denied):
                return app
            return ListedApp(app, await records.connections.living_of_app(app_id, at))

        return await self.core.store.read(look)

    async def register(self, account: Account, draft: AppDraft) -> App | InvalidDraft | Denied:
        """Register it as an app of the account."""
        if not self.may_register(account):
            return Denied(Reason.INVALID, N_("Only the operators of this service register apps."))
        errors = problems_with_own(draft)
        if errors:
            return InvalidDraft(errors)
        app = App(
            **asdict(draft),
            created_at=self.core.clock.now(),
            owner_id=account.account_id,
            was_checked=account.is_admin,
        )

        async def add(records: Records) -> App | InvalidDraft:
            full = await _is_full(records, account.account_id)
            if full is not None:
                return InvalidDraft({"app_id": full})
            if not may_take_id(await records.apps.holders(app.app_id), account.account_id):
                return InvalidDraft({"app_id": TAKEN})
            if await records.apps.others_look_like(app.name, account.account_id):
                return InvalidDraft({"name": LOOKS_THE_SAME})
            await records.apps.add(app)
            return app

        return await self.core.store.write(add)

    async def change(
        self, account_id: str, app_id: str, draft: AppDraft
    ) -> App | InvalidDraft | Denied:
        """Replace the app; its id and its connections stay."""
        draft = replace(draft, app_id=app_id)

        async def change(records: Records) -> App | InvalidDraft | Denied:
            app = await _own(records, account_id, app_id)
            if isinstance(app, Denied):
                return app
            errors = problems_with_own(draft, app)
            if errors:
                return InvalidDraft(errors)
            if draft.name != app.name and await records.apps.others_look_like(
                draft.name, account_id
            ):
                return InvalidDraft({"name": LOOKS_THE_SAME})
            changed = replace(app, **asdict(draft))
            account = await records.accounts.get(account_id)
            is_operator = account is not None and account.is_admin
            changed = replace(changed, was_checked=is_operator or stays_checked(app, changed))
            await records.apps.put(changed)
            return changed

        return await self.core.store.write(change)

    async def remove(self, account_id: str, app_id: str) -> App | Denied:
        """Remove it; its connections end, and its id stays reserved for the account."""
        at = self.core.clock.now()

        async def remove(records: Records) -> App | Denied:
            app = await _own(records, account_id, app_id)
            if isinstance(app, App):
                await remove_app(records, app_id, at)
            return app

        return await self.core.store.write(remove)


async def _own(records: Records, account_id: str, app_id: str) -> App | Denied:
    app = await records.apps.get(app_id)
    return NO_SUCH_APP if app is None or app.owner_id != account_id else app


async def _is_full(records: Records, account_id: str) -> str | None:
    if len(await records.apps.of_owner(account_id)) >= MAX_APPS:
        return N_("An account has at most %(max_apps)s apps. Remove one first.", max_apps=MAX_APPS)
    if await records.apps.ids_of_owner(account_id) >= MAX_APP_IDS:
        return N_(
            "An account has at most %(max_app_ids)s app ids, removed ones included.",
            max_app_ids=MAX_APP_IDS,
        )
    return None
