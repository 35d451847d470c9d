"""No byte of one request is ever read as another: the corpora, against the parsers alone."""

import pytest

from printreach.http1.chunked import ChunkedDecoder
from printreach.http1.heads import BadMessage, Framing, find_head_end, parse_request
from tests.http1.corpus import HOST, NEXT, SMUGGLED, Accepted, Refused, request
from tests.http1.corpus.bodies import ACCEPTED, REFUSED_BODIES
from tests.http1.corpus.heads import REFUSED_HEADS


def name_of(case: Refused | Accepted) -> str:
    return case.name


def split_head(raw: bytes) -> tuple[bytes, bytes]:
    end = find_head_end(raw)
    assert end > 0, "the head never ends, so a server would wait in vain"
    return raw[:end], raw[end:]


def targets_in(raw: bytes) -> list[bytes]:
    """The targets of all requests, parsed one after the other as a server does."""
    targets = []
    while raw:
        head, raw = split_head(raw)
        parsed = parse_request(head)
        targets.append(parsed.target)
        if parsed.framing is Framing.CHUNKED:
            decoder = ChunkedDecoder()
            raw = raw[decoder.feed(raw)[1] :]
            assert decoder.done
        else:
            raw = raw[parsed.length :]
    return targets


@pytest.mark.parametrize("case", REFUSED_HEADS, ids=name_of)
def test_a_head_that_asks_to_be_misread_is_refused(case: Refused) -> None:
    head, _ = split_head(case.raw)

    with pytest.raises(BadMessage) as refusal:
        parse_request(head)

    assert refusal.value.status == case.status


@pytest.mark.parametrize("case", REFUSED_BODIES, ids=name_of)
def test_a_chunked_body_that_asks_to_be_misread_is_refused(case: Refused) -> None:
    head, body = split_head(case.raw)
    assert parse_request(head).framing is Framing.CHUNKED

    with pytest.raises(BadMessage) as refusal:
        ChunkedDecoder().feed(body)

    assert refusal.value.status == case.status


def feed_byte_by_byte(decoder: ChunkedDecoder, body: bytes) -> None:
    for at in range(len(body)):
        decoder.feed(body[at : at + 1])


@pytest.mark.parametrize("case", REFUSED_BODIES, ids=name_of)
def test_a_chunked_body_is_refused_as_well_when_it_comes_byte_by_byte(case: Refused) -> None:
    _, body = split_head(case.raw)

    with pytest.raises(BadMessage):
        feed_byte_by_byte(ChunkedDecoder(), body)


@pytest.mark.parametrize("case", ACCEPTED, ids=name_of)
def test_a_message_that_only_looks_wrong_holds_the_requests_it_says(case: Accepted) -> None:
    assert targets_in(case.raw) == case.targets


@pytest.mark.parametrize("case", [*REFUSED_HEADS, *REFUSED_BODIES], ids=name_of)
def test_a_refused_case_of_the_corpus_can_be_sent_to_another_host(case: Refused) -> None:
    raw = case.sent_to(b"app-1.tunnel.example:8080", b"Authorization: Bearer x\r\n")

    assert raw.endswith(
        b"GET /smuggled HTTP/1.1\r\nAuthorization: Bearer x\r\n"
        b"Host: app-1.tunnel.example:8080\r\n\r\n"
    )
    with pytest.raises(BadMessage) as refusal:
        targets_in(raw)
    assert refusal.value.status == case.status


@pytest.mark.parametrize("case", ACCEPTED, ids=name_of)
def test_an_accepted_case_of_the_corpus_can_be_sent_to_another_host(case: Accepted) -> None:
    raw = case.sent_to(b"app-1.tunnel.example:8080", b"Authorization: Bearer x\r\n")

    assert HOST not in raw
    assert targets_in(raw) == case.targets


def test_the_corpus_names_each_case_once() -> None:
    cases: list[Refused | Accepted] = [*REFUSED_HEADS, *REFUSED_BODIES, *ACCEPTED]
    names = [case.name for case in cases]

    assert len(names) == len(set(names))


def test_the_bytes_after_a_refused_case_are_a_request_that_a_lenient_parser_would_answer() -> None:
    assert targets_in(NEXT) == [SMUGGLED]
    assert all(case.raw.endswith(NEXT) for case in (*REFUSED_HEADS, *REFUSED_BODIES))


@pytest.mark.parametrize("line", [b"POST / HTTP/1.1", b"GET / HTTP/1.1", b"POST / HTTP/1.0"])
def test_the_request_around_the_tricks_is_a_good_one(line: bytes) -> None:
    assert targets_in(request(line=line) + NEXT) == [b"/", SMUGGLED]
