"""`Forwarded` (RFC 7239): by whom a request came to the proxy that wrote the line."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_CLOSED = re.compile(r'(?:[^"]|"(?:[^"\\]|\\.)*+")*+')
"""A line up to the quote that is left open, if one is. Possessive: callers write these lines."""
_ELEMENT = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+")++')
_PAIR = re.compile(r'\s*([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]*))\s*(?:;|\Z)')
_NODE = re.compile(r"\[([^\]]*)\](?::\w+)?|([^:]*)(?::\w+)?")


class Hop(NamedTuple):
    """One proxy's word. address: "" for one that hides it or can't be read. proto: or ""."""

    address: str
    proto: str


def hops_of(lines: Iterable[bytes]) -> list[Hop]:
    """The hops that all lines name, the nearest last. A quote left open swallows no other line."""
    texts = [line.decode("latin-1") for line in lines]
    return [_hop(part) for text in texts for part in _elements(text) if part.strip()]


def _elements(text: str) -> list[str]:
    """What stands between commas. Behind a quote that is left open, quotes mean nothing."""
    closed = _CLOSED.match(text)
    end = closed.end() if closed else 0
    return [*_ELEMENT.findall(text[:end]), *text[end + 1 :].split(",")]


def _hop(element: str) -> Hop:
    said: dict[str, str] = {}
    at = 0
    while at < len(element):
        pair = _PAIR.match(element, at)
        if pair is None or pair[1].lower() in said:
            return Hop("", "")  # half a hop may say the opposite of the whole one
        quoted = pair[2]
        said[pair[1].lower()] = pair[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = pair.end()
    node = _NODE.fullmatch(said.get("for", ""))
    return Hop((node[1] or node[2] or "") if node else "", said.get("proto", "").lower())
