"""Composition of the operators' use cases, for pages and commands."""

from printreach.hub.account_limits import AccountLimitCases
from printreach.hub.accounts import Accounts
from printreach.hub.connections import Connections
from printreach.hub.detection.keys import DetectionKeys
from printreach.hub.invitations import Invitations
from printreach.hub.operated_apps import OperatedApps
from printreach.hub.operating import Operating
from printreach.hub.printers import Printers
from printreach.run.paying import billing
from printreach.run.use_cases.core import CoreServices


def operating(core: CoreServices) -> Operating:
    """Build the operators' use cases; other use cases share their parts."""
    settings, store, clock = core.settings, core.store, core.clock
    bills = billing(settings, store, clock, core.payments, core.caller_tries)
    return Operating(
        store=store,
        clock=clock,
        proof=core.proof,
        accounts=Accounts(
            store=store,
            passwords=core.passwords,
            clock=clock,
            token_bytes=core.token_bytes,
            default_mail_destination=core.default_mail_destination,
            billing=bills,
        ),
        invitations=Invitations(
            store=store,
            clock=clock,
            token_bytes=core.token_bytes,
            base_url=settings.base_url,
        ),
        printers=Printers(store=store, clock=clock),
        connections=Connections(
            store=store,
            clock=clock,
            token_bytes=core.token_bytes,
            addresses=settings.addresses,
            ports=settings.tunnel_ports,
        ),
        apps=OperatedApps(store=store, clock=clock),
        limits=AccountLimitCases(store=store, clock=clock),
        billing=bills,
        keys=DetectionKeys(store=store, clock=clock, token_bytes=core.token_bytes),
    )
