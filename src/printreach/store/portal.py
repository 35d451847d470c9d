"""The portal's flows, as rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from printreach.rules.portal import Flow, PortalError
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import portal_flows

_FLOW = columns_for(Flow, portal_flows)


class FlowRecords(TableRecords):
    """Portal flows."""

    async def add(self, flow: Flow) -> None:
        await self._connection.execute(insert(portal_flows).values(**_values(flow)))

    async def get(self, flow_id: str) -> Flow | None:
        return await self._first(_flow, select(*_FLOW).where(portal_flows.c.flow_id == flow_id))

    async def put(self, flow: Flow) -> None:
        """Store the flow, in place of the one with that id."""
        await self._connection.execute(
            update(portal_flows)
            .where(portal_flows.c.flow_id == flow.flow_id)
            .values(**_values(flow))
        )

    async def forget(self, begun_before: datetime) -> None:
        await self._connection.execute(
            delete(portal_flows).where(portal_flows.c.begun_at < begun_before)
        )


def _values(flow: Flow) -> dict[str, Any]:
    return asdict(flow) | {"error": flow.error.value if flow.error else None}


def _flow(**row: Any) -> Flow:
    error = row["error"]
    return Flow(**{**row, "error": None if error is None else PortalError(error)})
