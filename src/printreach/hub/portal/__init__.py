"""The portal: an app asks for access, a person decides, and the app is told once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.hub.connections import Connections, end_connection
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.hub.portal.view import FlowKey, View, browser_digest, is_locked, read_flow, view_of
from printreach.hub.printers import BAD_NAME, Printers, own_printer, rename_printer
from printreach.languages import N_
from printreach.ports.printer_http import HostKeys
from printreach.rules import portal as rules
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.apps.registration import logo_of
from printreach.rules.apps.return_urls import may_return_to
from printreach.rules.connections.credentials import new_record_id, new_secret
from printreach.rules.portal import Connect, Facts, Flow, PortalError
from printreach.rules.portal.parameters import Completion, PortalQuery
from printreach.rules.printers import OwnedPrinter, Printer, parse_printer_name
from printreach.store.store import Records

NEW_PRINTER: Final = N_("My printer")
"""The name of a printer until its owner types one, a moment later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A valid request of an app: it is registered, and its return address is allowed.

    error: the person has to be sent back with it at once.
    """

    app: App
    query: PortalQuery
    return_url: str
    error: PortalError | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request whose person is sent nowhere.

    is_app_known: the app exists, its return address is wrong.
    """

    is_app_known: bool


@dataclass(frozen=True, slots=True)
class StartedFlow:
    """A flow that began. browser: the secret for the cookie of its browser."""

    flow_id: str
    browser: str


@dataclass(frozen=True, slots=True)
class IssuedConnection:
    """A connection that was created, with its secrets, which cannot be read later."""

    completion: Completion
    view: View


@dataclass(frozen=True, kw_only=True, slots=True)
class Portal:
    """The use cases of the portal.

    host_keys: None where none can be created. Use cases return a denial, if there is one, and do
    nothing in a step they do not belong to.
    """

    core: Core
    connections: Connections
    printers: Printers
    host_keys: HostKeys | None

    async def read(self, query: PortalQuery) -> Request | Refusal:
        """Parse an app's request. Nothing is stored."""
        app = await self.core.store.read(lambda records: records.apps.get(query.app_id))
        if app is None:
            return Refusal(is_app_known=False)
        return_url = query.return_url or self.core.addresses.of_completion_page()
        if query.is_return_url_ambiguous or not self._may_return(app, return_url):
            return Refusal(is_app_known=True)
        query = replace(query, logo_url=logo_of(app, query.logo_url))
        error = PortalError.INVALID_REQUEST if query.is_ambiguous else None
        return Request(app=app, query=query, return_url=return_url, error=error)

    def _may_return(self, app: App, return_url: str) -> bool:
        """Whether the app may; all may use our completion page and the one for developers."""
        addresses = self.core.addresses
        return return_url == addresses.of_test_page() or may_return_to(
            app, addresses.of_completion_page(), return_url
        )

    async def begin(self, request: Request, browser: str | None) -> StartedFlow:
        """Start a flow. browser: the secret this browser has from an earlier one."""
        begun = StartedFlow(
            flow_id=new_record_id(self.core.token_bytes),
            browser=browser or new_secret(self.core.token_bytes),
        )
        at = self.core.clock.now()
        flow = Flow(
            flow_id=begun.flow_id,
            browser_digest=browser_digest(begun.browser),
            app_id=request.app.app_id,
            return_url=request.return_url,
            asked_printer_id=request.query.printer_id,
            logo_url=request.query.logo_url,
            key_app_name=request.query.key_app_name,
            begun_at=at,
        )

        async def begin(records: Records) -> None:
            await records.flows.forget(at - rules.FLOW_KEPT)
            await records.flows.add(flow)

        await self.core.store.write(begin)
        return begun

    async def view(self, key: FlowKey, account: Account | None) -> View | None:
        """Return what has to be asked now; None if this browser has no such flow."""
        return await self.core.store.read(lambda records: self._view(records, key, account))

    async def link(self, key: FlowKey, account: Account, code: str) -> Denied | None:
        """Link the agent that shows this code to the account, for this flow."""
        view = await self.view(key, account)
        if view is None or not rules.may_link(view.flow, view.facts, self.core.clock.now()):
            return None
        printer = await self.printers.link(code, account.email, NEW_PRINTER)
        if isinstance(printer, Denied):
            return printer
        await self._change(key, account, lambda flow, _, __: _linked(flow, printer))
        return None

    async def name(self, key: FlowKey, account: Account, typed: str) -> Denied | None:
        """Name the printer that was just linked."""
        name = parse_printer_name(typed)
        if name is None:
            return BAD_NAME

        async def rename(records: Records) -> Denied | None:
            view = await self._view(records, key, account)
            if view is None or view.just_linked is None:
                return None
            flow = rules.named(view.flow, view.facts, self.core.clock.now())
            if flow is None:
                return None
            refused = await rename_printer(records, view.just_linked, name)
            if refused is None:
                await records.flows.put(flow)
            return refused

        return await self.core.store.write(rename)

    async def take_own(self, key: FlowKey, account: Account) -> None:
        """Go on with a printer that is linked, though the app asked for another."""
        await self._change(key, account, rules.take_own)

    async def choose(self, key: FlowKey, account: Account, printer_id: str) -> None:
        """Choose the printer of the flow."""
        await self._change(
            key, account, lambda flow, facts, at: rules.choose(flow, facts, printer_id, at)
        )

    async def refuse(self, key: FlowKey, account: Account | None, error: PortalError) -> None:
        """End the flow without a connection."""
        await self._change(
            key, account, lambda flow, facts, at: rules.refuse(flow, facts, error, at)
        )

    async def allow(
        self,
        key: FlowKey,
        account: Account,
        printer_id: str,
        permissions: frozenset[Permission] = ALL_PERMISSIONS,
        *,
        replaces_earlier: bool = False,
    ) -> IssuedConnection | Denied | None:
        """Allow the app that printer. None if another step is open, or the flow is over.

        replaces_earlier: its connections to that printer, of before, end.
        """
        return await self._connect(
            key,
            account,
            lambda flow, facts, at: rules.allow(
                flow, facts, printer_id, at, permissions, replaces_earlier=replaces_earlier
            ),
        )

    async def answer_key(
        self, key: FlowKey, account: Account, printer_id: str, *, with_key: bool
    ) -> IssuedConnection | Denied | None:
        """Return the connection, with a printer key where it was wanted and can be created."""
        return await self._connect(
            key,
            account,
            lambda flow, facts, at: rules.answer_key(
                flow, facts, printer_id, at, with_key=with_key
            ),
        )

    async def _connect(
        self,
        key: FlowKey,
        account: Account,
        decide: Callable[[Flow, Facts, datetime], Flow | Connect | None],
    ) -> IssuedConnection | Denied | None:
        """Decide and create the connection in one unit of work, so that there is at most one."""

        async def connect(records: Records) -> tuple[IssuedConnection, Connect] | Denied | None:
            view = await self._view(records, key, account)
            decision = decide(view.flow, view.facts, self.core.clock.now()) if view else None
            if view is None or decision is None:
                return None
            if isinstance(decision, Flow):
                await records.flows.put(decision)
                return None
            made = await self.connections.add_for_app_in(
                records, view.flow.app_id, decision.printer_id, decision.permissions
            )
            if isinstance(made, Denied):
                return made
            if decision.replaces_earlier:
                for earlier in view.earlier.get(decision.printer_id, ()):
                    await end_connection(records, earlier, self.core.clock.now())
            await records.flows.put(
                rules.connected(view.flow, account.account_id, decision, made.connection_id)
            )
            return IssuedConnection(made, view), decision

        result = await self.core.store.write(connect)
        if result is None or isinstance(result, Denied):
            return result
        made, decision = result
        if not decision.with_key:
            return made
        return await self._with_key(made, OwnedPrinter(decision.printer_id, account.account_id))

    async def _with_key(self, made: IssuedConnection, printer: OwnedPrinter) -> IssuedConnection:
        """Add a key of the printer's own software.

        None is created while remote control is locked, since it opens the printer's own interface.
        Creating one takes up to half a minute. It is withheld if meanwhile the printer went to
        another account, or remote control was locked.
        """
        app_name = made.view.flow.key_app_name
        if self.host_keys is None or app_name is None or not await self._may_have_key(printer):
            return made
        host_api_key = await self.host_keys.make(printer.printer_id, app_name)
        if not await self._may_have_key(printer):
            return made
        return replace(made, completion=replace(made.completion, host_api_key=host_api_key))

    async def _may_have_key(self, printer: OwnedPrinter) -> bool:
        async def look(records: Records) -> bool:
            own = await own_printer(records, printer.account_id, printer.printer_id)
            return not isinstance(own, Denied) and not await is_locked(records, printer.account_id)

        return await self.core.store.read(look)

    async def _change(
        self,
        key: FlowKey,
        account: Account | None,
        decide: Callable[[Flow, Facts, datetime], Flow | None],
    ) -> None:
        async def change(records: Records) -> None:
            view = await self._view(records, key, account)
            flow = decide(view.flow, view.facts, self.core.clock.now()) if view else None
            if flow is not None:
                await records.flows.put(flow)

        await self.core.store.write(change)

    async def _view(self, records: Records, key: FlowKey, account: Account | None) -> View | None:
        flow = await read_flow(records, key)
        if flow is None:
            return None
        return await view_of(
            records,
            flow,
            account,
            self.core.supporters,
            at=self.core.clock.now(),
            makes_keys=self.host_keys is not None,
        )


def _linked(flow: Flow, printer: Printer) -> Flow:
    return rules.linked(flow, printer.account_id, printer.printer_id)
