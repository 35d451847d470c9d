"""Recorded replies, damaged in ways in which real ones differ: fields missing, null, of another
type, out of range, renamed. For property tests."""

import copy
from typing import Any

from hypothesis import strategies as st

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([-1, 10**400, 2**53 + 1, 1e308, -273.16, float("nan"), float("inf")]),
    st.text(max_size=20),
    st.sampled_from(["", "NaN", "-1", "1e999", "\ud800", "x" * 5000, "../../etc"]),
    st.lists(st.none() | st.integers() | st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers() | st.none(), max_size=3),
)
"""Values that may stand in place of the expected one."""

Path = tuple[str | int, ...]


@st.composite
def damaged(draw: st.DrawFn, recorded: Any, at_most: int = 4) -> Any:
    """A copy with some of its fields dropped, renamed, or replaced by junk."""
    reply = copy.deepcopy(recorded)
    for _ in range(draw(st.integers(1, at_most))):
        paths = list(_paths(reply))
        if not paths:
            return draw(JUNK)
        path = draw(st.sampled_from(paths))
        _damage(reply, path, draw(st.sampled_from(["drop", "rename", "junk"])), draw(JUNK))
    return reply


def _paths(value: Any, above: Path = ()) -> Any:
    found = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in found:
        yield (*above, key)
        yield from _paths(inner, (*above, key))


def _damage(reply: Any, path: Path, how: str, junk: Any) -> None:
    holder = reply
    for key in path[:-1]:
        holder = holder[key]
    last = path[-1]
    if how == "junk" or isinstance(holder, list):
        holder[last] = junk
    elif how == "rename":
        holder[f"{last}2"] = holder.pop(last)
    else:
        del holder[last]
