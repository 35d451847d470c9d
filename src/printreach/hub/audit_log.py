"""The log of what operators do, written in the same unit of work as the act."""

from datetime import datetime

from printreach.rules.operators import ACTS_KEPT, Operator, OperatorAct
from printreach.store.store import Records


async def note(
    records: Records,
    by: Operator | None,
    at: datetime,
    act: OperatorAct,
    subject: str,
    detail: str = "",
) -> None:
    """Write an act to the log. by: None if the owner acts, not an operator."""
    if by is None:
        return
    await records.operating.forget_acts(at - ACTS_KEPT)
    await records.operating.note(by, at, act, subject, detail)
