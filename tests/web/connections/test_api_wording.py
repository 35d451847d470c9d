"""Error messages of App APIs: whole sentences, and no words of a parser's."""

import pytest

from tests.web.connections.calling_app import CallingApp

SET = "/api/appconnection/SetNotificationWebhook"
INFO = "/api/appconnection/info"
LIVE = "/api/live/createfromappconnection"
FILTER = "InclusiveEventTypesFilter"


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (SET, {"WebhookUrl": 7}, "WebhookUrl: expected a text, got a whole number."),
        (
            SET,
            {"WebhookUrl": "x", FILTER: 6},
            f"{FILTER}: expected a list or null, got a whole number.",
        ),
        (
            SET,
            {"WebhookUrl": "x", FILTER: [1] * 300},
            f"{FILTER}: expected a list of at most 256 entries.",
        ),
        (LIVE, {"ExpirationHours": 0}, "ExpirationHours: expected a whole number of at least 1."),
        (
            LIVE,
            {"ExpirationHours": 1e9},
            "ExpirationHours: expected a whole number of at most 17520.",
        ),
        (LIVE, {"ExpirationHours": "x"}, "ExpirationHours: expected a whole number, got a text."),
        (
            LIVE,
            {"EndWhenCurrentPrintIsComplete": 1},
            "EndWhenCurrentPrintIsComplete: expected true or false, got a whole number.",
        ),
        (LIVE, [], "The body: expected an object or null, got a list."),
    ],
)
def test_a_wrong_argument_is_told_in_plain_words(
    app_call: CallingApp, path: str, body: object, sentence: str
) -> None:
    headers = {"AppToken": app_call.token}
    answer = app_call.program.post(path, json=body, headers=headers)

    assert answer.json() == {"Status": 400, "Error": sentence}


@pytest.mark.parametrize("path", [SET, LIVE])
@pytest.mark.parametrize(
    "body", [b"{", b'{"WebhookUrl":', b"nul", b"{}}", b'{"a":"\xff"}', b"[" * 5000]
)
def test_a_body_that_is_no_json_is_told_so(app_call: CallingApp, path: str, body: bytes) -> None:
    headers = {"AppToken": app_call.token, "Content-Type": "application/json"}
    answer = app_call.program.post(path, content=body, headers=headers)

    assert answer.json() == {"Status": 400, "Error": "The body is not JSON."}


def test_a_wrong_token_is_no_connections_token_whatever_the_address(app_call: CallingApp) -> None:
    answer = app_call.get(INFO, token="x" * 32)

    assert answer.json() == {"Status": 603, "Error": "No App Connection has this AppToken."}


@pytest.mark.parametrize("path", [SET, LIVE])
def test_compressed_json_is_told_so(app_call: CallingApp, path: str) -> None:
    for token in ({"AppToken": app_call.token}, {}):
        headers = {**token, "Content-Type": "application/json", "Content-Encoding": "gzip"}
        answer = app_call.program.post(path, content=b"\x1f\x8b", headers=headers)

        sentence = "Content-Encoding: send the JSON as it is."
        assert answer.json() == {"Status": 400, "Error": sentence}


def test_json_may_begin_with_a_byte_order_mark_and_write_a_whole_number_with_a_fraction(
    app_call: CallingApp,
) -> None:
    headers = {"AppToken": app_call.token, "Content-Type": "application/json"}
    body = b'\xef\xbb\xbf{"ExpirationHours": 2.0}'
    answer = app_call.program.post(LIVE, content=body, headers=headers)

    assert answer.json()["Status"] == 200
