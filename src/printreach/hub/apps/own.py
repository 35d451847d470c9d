"""A developer's own apps. Apps of another account are treated as unknown."""

from dataclasses import asdict, dataclass, replace
from typing import Final

from printreach.hub.apps import TAKEN, InvalidDraft, remove_app
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.apps.registration import (
    MAX_APP_IDS,
    MAX_APPS,
    AppDraft,
    AppPolicy,
    may_register_apps,
    may_take_id,
    problems_with_own,
    stays_checked,
)
from printreach.store.store import Records

NO_SUCH_APP: Final = Denied(Reason.NO_SUCH_APP, N_("There is no such app in your account."))
LOOKS_THE_SAME: Final = N_(
    "This name looks the same as that of another app here. Choose another, or ask the operator."
)


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
