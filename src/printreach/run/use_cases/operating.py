"""What operators do, by pages and by commands; the rest of the service does most of it, too."""

from printreach.hub.account_limits import AccountLimitCases
from printreach.hub.accounts import Accounts
from printreach.hub.connections import Connections
from printreach.hub.detection.keys import DetectionKeys
from printreach.hub.invitations import Invitations
from printreach.hub.operated_apps import OperatedApps
from printreach.hub.operating import Operating
from printreach.hub.printers import Printers
from printreach.run.paying import billing
from printreach.run.use_cases.ground import Ground


def operating(ground: Ground) -> Operating:
    """Put it together; what it is made of serves others as well."""
    settings, store, clock = ground.settings, ground.store, ground.clock
    bills = billing(settings, store, clock, ground.payments, ground.caller_tries)
    return Operating(
        store=store,
        clock=clock,
        proof=ground.proof,
        accounts=Accounts(
            store=store,
            passwords=ground.passwords,
            clock=clock,
            token_bytes=ground.token_bytes,
            first_place=ground.first_place,
            billing=bills,
        ),
        invitations=Invitations(
            store=store,
            clock=clock,
            token_bytes=ground.token_bytes,
            base_url=settings.base_url,
        ),
        printers=Printers(store=store, clock=clock),
        connections=Connections(
            store=store,
            clock=clock,
            token_bytes=ground.token_bytes,
            addresses=settings.addresses,
            ports=settings.tunnel_ports,
        ),
        apps=OperatedApps(store=store, clock=clock),
        limits=AccountLimitCases(store=store, clock=clock),
        billing=bills,
        keys=DetectionKeys(store=store, clock=clock, token_bytes=ground.token_bytes),
    )
