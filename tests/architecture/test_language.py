"""The code is written in the words of docs/glossary.md, and these words are refused."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_files import python_files, relative

REFUSED_NAMES: dict[str, str] = {
    "hear_out_the_newest": "drain_new_connections",
    "Lookout": "PrinterSubscriptions",
    "Uses": "LastUsedRecorder",
    "OfferBudget": "LinkCodeLimiter",
    "EventBudget": "EventLimiter",
    "Bucket": "TokenBucket",
    "Passage": "ForwardingPlan",
    "Patience": "Timeouts",
    "AgentVisit": "AgentConnection",
    "AgentDesk": "AgentConnections",
    "HostKeyDesk": "HostKeyRequests",
    "AgentsOutside": "AgentDependencies",
    "RelayOutside": "RelayDependencies",
    "Sight": "FeedKey",
    "Seat": "Viewer",
    "TRUST_S": "GRANT_TTL_S",
    "UNKNOWN_TRUST_S": "UNKNOWN_TTL_S",
    "Beat": "SharedTimer",
    "BREATH_S": "BATCH_PAUSE_S",
    "BEAT_S": "TICK_S, or what the interval is of",
    "Appointment": "ScheduledCall",
    "TunnelOwner": "TunnelHandler",
    "KeepaliveOwner": "KeepaliveHandler",
    "StreamOwner": "StreamTunnel",
    "ExchangeOwner": "ExchangeClient",
    "Exchange": "ClientExchange or CallerExchange",
    "Keeper": "ConnectionClient",
    "Carried": "CarriedExchange",
    "Fetched": "FetchedAnswer",
    "vouch": "mark_authenticated",
    "strangers_yield": "drops_unauthenticated",
    "ToldTime": "AgentClock",
    "Departure": "DisconnectDetector",
    "Opening": "BrowserSignIn",
    "takeover": "websocket_upgrade",
    "take_over": "detach",
    "hand_over": "continue_with",
    "Presented": "PresentedCredentials",
    "presented_by": "credentials_in_headers",
    "presented_in_target": "credentials_in_target",
    "without_claims": "without_forwarding_fields",
    "TooManyOffers": "TooManyLinkCodes",
    "STANDSTILL_S": "STALL_S",
    "stood_still": "extend_after_stall",
    "LAST_WORDS_BYTES": "UNREAD_ANSWER_BYTES",
    "CannotLook": "ModelUnavailable",
    "load_looker": "load_batch_scorer",
    "refuse_beforehand": "check_admission",
    "NotWhole": "MalformedImage",
    "BodyRoom": "BodyLimiter",
    "rooms_of": "body_limiters_of",
    "CallerLeft": "CallerDisconnected",
    "while_caller_stays": "while_connected",
    "AnswersHead": "HeadAsGet",
    "read_wish": "parse_list_query",
    "provide_visit": "provide_flow_request",
    "NobodyIsSignedIn": "NotSignedIn",
    "unproved": "require_reauthentication",
    "provide_desk": "provide_operator",
    "provide_door": "provide_detection_request",
    "Ground": "CoreServices",
    "Entering": "SignInServices",
    "Reaching": "Messaging",
    "Hooks": "WebhookDependencies",
    "WorkerOutside": "WorkerDependencies",
    "real_outside": "web_dependencies",
    "real_reaching": "open_messaging",
    "real_hooks": "open_webhook_dependencies",
}
"""Identifiers, whole, and what is said instead. Case matters."""

REFUSED_DOCSTRING_STARTS: dict[str, str] = {}
"""By a pattern of a docstring's first words: what is wrong with it."""

# The words are refused here by name.
EXEMPT = {"tests/architecture/test_language.py"}


def sources() -> list[Path]:
    return [path for path in python_files() if relative(path) not in EXEMPT]


def names_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that is defined or used, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name, node.lineno
            case (
                ast.ClassDef(name=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
            ):
                yield name, node.lineno
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name, node.lineno
            case ast.alias(name=name):
                yield from ((part, node.lineno) for part in name.split("."))
            case _:
                pass


def docstrings_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Docstrings of modules, classes and functions, and the strings that follow a constant."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text, node.lineno
            case _:
                pass


def test_no_name_is_a_refused_word() -> None:
    found = [
        f"{relative(path)}:{line}: {name}: say {REFUSED_NAMES[name]}"
        for path in sources()
        for name, line in names_in(ast.parse(path.read_text()))
        if name in REFUSED_NAMES
    ]

    assert found == []


def test_no_docstring_begins_with_a_relative_clause_or_a_riddle() -> None:
    patterns = {re.compile(start): reason for start, reason in REFUSED_DOCSTRING_STARTS.items()}
    found = [
        f"{relative(path)}:{line}: {text[:60]!r}: {reason}"
        for path in sources()
        if relative(path).startswith("src/")
        for text, line in docstrings_in(ast.parse(path.read_text()))
        for start, reason in patterns.items()
        if start.match(text)
    ]

    assert found == []


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_what_is_said_instead_is_not_refused_itself(name: str) -> None:
    assert REFUSED_NAMES[name] not in REFUSED_NAMES
