"""Ids of requests at a web node."""

import asyncio
from contextlib import AbstractAsyncContextManager
from functools import cache

import httpx
import pytest
from litestar import Litestar, get

from printreach.http1.request_ids import REQUEST_ID
from tests.run.test_web_node import Node, Run, an_app, fetch, run, serving

__all__ = ["run"]

pytestmark = pytest.mark.slow


@get("/request-id")
async def request_id() -> str:
    before = REQUEST_ID.get()
    await asyncio.sleep(0.1)
    assert REQUEST_ID.get() == before
    return before


@cache
def app_that_tells_ids() -> Litestar:
    app = an_app()
    app.register(request_id)
    return app


def naming(**settings: str) -> AbstractAsyncContextManager[Node]:
    return serving(app_that_tells_ids(), 1.0, None, **settings)


def test_each_request_has_an_id_of_its_own_which_its_answer_tells(run: Run) -> None:
    async def scenario() -> list[httpx.Response]:
        async with naming() as node:
            return await asyncio.gather(*(fetch(node, "/request-id") for _ in range(5)))

    answers = run(scenario())

    assert [answer.headers["x-service-request-id"] for answer in answers] == [
        answer.text for answer in answers
    ]
    assert len({answer.text for answer in answers}) == 5


@pytest.mark.parametrize(("trusted", "is_taken"), [("127.0.0.1", True), ("10.0.0.0/8", False)])
def test_a_trusted_proxy_names_requests_where_that_is_set(
    run: Run, trusted: str, is_taken: bool
) -> None:
    named = {"x-request-id": "5e0c8f1c-7f0b-4a3e-9f39"}

    async def scenario() -> str:
        async with naming(TRUSTED_PROXIES=trusted, REQUEST_ID_HEADER="X-Request-Id") as node:
            return (await fetch(node, "/request-id", headers=named)).text

    assert (run(scenario()) == named["x-request-id"]) is is_taken
