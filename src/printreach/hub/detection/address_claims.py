"""IP addresses that accounts claimed, as an operator sees and releases them."""

from dataclasses import dataclass

from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.rules.detection.address_claims import AddressClaim, claimable_network, is_live
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressClaims:
    """The use cases about claims."""

    core: Core

    async def all(self) -> list[tuple[AddressClaim, str]]:
        """Return the claims in force, each with the mail address of its account."""
        at = self.core.clock.now()

        async def look(records: Records) -> list[tuple[AddressClaim, str]]:
            listed = []
            for claim in await records.detection_claims.all():
                account = await records.accounts.get(claim.account_id)
                if account is not None and is_live(claim, at):
                    listed.append((claim, account.email))
            return listed

        return await self.core.store.read(look)

    async def release(self, address: str, by: Operator) -> str | Denied:
        """Release a claim, so that any account may call from there; return the network.

        address: any address of the network, or the network as it is listed.
        """
        network = claimable_network(address.partition("/")[0])
        if network is None:
            return Denied(Reason.INVALID, f"{address!r} is no public address.")
        at = self.core.clock.now()

        async def release(records: Records) -> str | Denied:
            if not await records.detection_claims.release(network):
                return Denied(Reason.INVALID, f"Nobody has claimed {network}.")
            await note(records, by, at, OperatorAct.CLAIM_RELEASED, network)
            return network

        return await self.core.store.write(release)
