"""Parsing `Forwarded` (RFC 7239): the hops by which a request came to a proxy."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_CLOSED = re.compile(r'(?:[^"]|"(?:[^"\\]|\\.)*+")*+')
"""A line up to an unclosed quote, if there is one. Possessive, since callers write these lines."""
_ELEMENT = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+")++')
_PAIR = re.compile(r'\s*([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]*))\s*(?:;|\Z)')
_NODE = re.compile(r"\[([^\]]*)\](?::\w+)?|([^:]*)(?::\w+)?")


class Hop(NamedTuple):
    """One proxy's statement. address: "" if it is hidden or can't be parsed. proto: may be ""."""

    address: str
    proto: str


def hops_of(lines: Iterable[bytes]) -> list[Hop]:
    """Return the hops of all lines, the nearest last. An unclosed quote affects its line only."""
    texts = [line.decode("latin-1") for line in lines]
    return [_hop(part) for text in texts for part in _elements(text) if part.strip()]


def _elements(text: str) -> list[str]:
    """Split a line at its commas. After an unclosed quote, quotes have no meaning."""
    closed = _CLOSED.match(text)
    end = closed.end() if closed else 0
    return [*_ELEMENT.findall(text[:end]), *text[end + 1 :].split(",")]


def _hop(element: str) -> Hop:
    said: dict[str, str] = {}
    at = 0
    while at < len(element):
        pair = _PAIR.match(element, at)
        if pair is None or pair[1].lower() in said:
            return Hop("", "")  # part of a hop may contradict the whole one
        quoted = pair[2]
        said[pair[1].lower()] = pair[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = pair.end()
    node = _NODE.fullmatch(said.get("for", ""))
    return Hop((node[1] or node[2] or "") if node else "", said.get("proto", "").lower())
