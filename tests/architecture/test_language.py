"""The code is written in the words of docs/glossary.md, and these words are refused."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.test_files import python_files, relative

REFUSED_NAMES: dict[str, str] = {
    "hear_out_the_newest": "drain_new_connections",
    "Lookout": "PrinterSubscriptions",
    "Uses": "LastUsedRecorder",
    "OfferBudget": "may_get_link_code",
    "FairQueue": "FairSemaphore",
    "RelayInside": "InProcessRelay",
    "Draining": "DrainMiddleware",
    "leave_out_what_stays": "freeze_startup_objects",
    "suit_memory_to_traffic": "tune_memory_for_traffic",
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
    "Ground": "Core",
    "Entering": "SignInServices",
    "Reaching": "Messaging",
    "Hooks": "WebhookDependencies",
    "WorkerOutside": "Dependencies",
    "real_outside": "Dependencies",
    "real_reaching": "open_messaging",
    "real_hooks": "open_webhook_dependencies",
    "Awaits": "NextStep",
    "BLIND": "UNUSABLE_VIEWS",
    "BLIND_S": "MAX_GAP_S",
    "COOL_FOR_S": "COOL_AFTER_S",
    "CameraAtOneOf": "FallbackCamera",
    "DetectorNews": "LatestDetectorStatus",
    "FreshLink": "SuspendAwareLink",
    "GONE_S": "GONE_AFTER_S",
    "Holder": "AppIdHolder",
    "KeptContext": "StoredContext",
    "LIST_GOOD_FOR_S": "LIST_TTL_S",
    "LOSS_S": "LOSS_AFTER_S",
    "MakesApiKeys": "SupportsApiKeys",
    "News": "UpdateSignal",
    "Observed": "PrintUpdate",
    "Owed": "PendingRestore",
    "OwedRest": "SavedStateOfFile",
    "PATIENT_S": "SLOW_TIMEOUT_S",
    "Places": "EvidenceMap",
    "PrintMark": "TrackedPrint",
    "PrintSenses": "TrackerEnvironment",
    "Prints": "PrintTracker",
    "RefusedForNow": "RetryLater",
    "Rest": "SavedState",
    "RestStore": "SavedStateStore",
    "Resting": "Delay",
    "S3Place": "S3Bucket",
    "Senses": "AdapterEnvironment",
    "Shortage": "DescriptorShortage",
    "Sighting": "PrintObservation",
    "Starts": "PendingStarts",
    "UNHEARD": "UNKNOWN_CONDITION",
    "WaySecrets": "OidcFlowSecrets",
    "YOUNG_S": "RECENT_PRINT_S",
    "_NOBODY_LOOKED": "_AGENT_WAS_OFF",
    "_NO_REST": "_NO_OPTIONS",
    "_REST_NAMES": "_PAUSE_OPTION_NAMES",
    "_Track": "_StepQueue",
    "_conversation": "_handshake",
    "_give_heat_back": "_restore_heat",
    "_has_begun_anew": "_has_restarted",
    "_hear_line": "_on_line",
    "_hear_status": "_on_status",
    "_is_quite_paused": "_is_fully_paused",
    "_is_told_of": "_is_reported",
    "_lay_down": "_enter_smart_pause",
    "_lie_down": "_enter_smart_pause",
    "_look_again_and_again": "_poll",
    "_meant": "_refusal_for",
    "_on_heard": "_on_update",
    "_owed": "_pending",
    "_print_senses": "_tracker_environment",
    "_reaching": "_as_refusals",
    "_said_at": "_updated_at",
    "_says_without_agent": "_sentence_without_agent",
    "_sight_of": "_assessment_of",
    "_sighting_of": "_observation_of",
    "_stir": "_request_check",
    "_stirred": "_check_requested",
    "_tend": "_maintain",
    "_unsaved_mark": "_unsaved_checkpoint",
    "_unseen_end": "_unreported_end",
    "_was_away": "_has_gap",
    "_wonder_about_silence": "_check_serial_number",
    "access_stamp": "format_access_stamp",
    "commands_to_rest": "pause_commands",
    "commands_to_wake": "restore_commands",
    "follow_for_good": "keep_following",
    "hear_current": "with_current",
    "hear_event": "with_event",
    "hear_line": "with_line",
    "is_map": "is_rectangular",
    "is_patient": "is_slow",
    "is_quite_paused": "is_fully_paused",
    "is_so_by_now": "is_met",
    "is_told_of": "is_reported",
    "is_waking": "is_restoring",
    "klipper_words": "klipper_message",
    "lines_to_go_on": "unpark_lines",
    "lines_to_rest": "pause_lines",
    "lost_sight": "after_gap",
    "obey": "execute",
    "on_heard": "on_update",
    "permissions_text": "format_permissions",
    "plan_rest": "plan_saved_state",
    "put_away": "remove_state_file",
    "reaching": "as_refusals",
    "read_access_stamp": "parse_access_stamp",
    "read_email": "parse_email",
    "read_internal_name": "parse_internal_name",
    "read_ip_address": "parse_ip_address",
    "read_key_name": "parse_key_name",
    "read_link_code": "parse_link_code",
    "read_masked": "parse_masked",
    "read_month": "parse_month",
    "read_own_path": "parse_own_path",
    "read_passkey_name": "parse_passkey_name",
    "read_permissions": "parse_permissions",
    "read_portal_query": "parse_portal_query",
    "read_printer_name": "parse_printer_name",
    "read_recovery_code": "parse_recovery_code",
    "read_scopes": "parse_scopes",
    "read_virtual_path": "parse_virtual_path",
    "read_webhook_url": "parse_webhook_url",
    "reckon_layer": "estimate_layer",
    "rest_of": "parse_saved_state",
    "rest_store": "saved_state_store",
    "secrets_of_way": "oidc_flow_secrets",
    "senses": "environment",
    "sighting": "observation",
    "tells_of_print": "concerns_print",
    "was_away": "has_gap",
    "write_masked": "format_masked",
    "Conversation": "AgentHandshake",
    "KEPT_FOR_FIRSTS": "SLOTS_FOR_FIRSTS",
    "Turn": "QueuedDestination",
    "_has_room_of_its_kind": "_has_slot_of_its_kind",
    "barred": "accounts_at_limit",
    "failing_have_room": "has_failing_slot",
    "mails_have_room": "has_mail_slot",
    "next_turns": "next_destinations",
    "owe": "enqueue",
    "owing": "enqueue",
    "but": "exclude",
    "careful": "guarded",
    "ClockDoubt": "ClockHistory",
    "JumpWatch": "ClockJumpGuard",
    "doubt": "clock_history",
    "falters": "degraded",
    "Lanes": "DeliveryLimiter",
    "Lane": "TargetSpeed",
    "WatchRoom": "FairSemaphore",
    "ScoringRoom": "Slots",
    "turn_of": "slot",
    "Rescue": "AccountRecovery",
    "FirstPlace": "DefaultMailDestination",
    "Awaited": "AdmittedImage",
    "TurnConnection": "BatchingConnection",
    "TurnCursor": "BatchingCursor",
    "TurnDialect": "BatchingDialect",
    "WayField": "ChannelField",
    "WAY_BY_NAME": "CHANNEL_BY_NAME",
    "NotifyTarget": "Destination",
    "StopsMails": "MailUnsubscribe",
    "WebhookOwing": "WebhookEnqueuer",
    "Notifying": "NotificationEnqueuer",
    "unwatch": "unsubscribe",
    "Begun": "NewSession",
    "Joined": "IdentityJoined",
    "Happened": "EventEntry",
    "DetectorSaid": "DetectorReport",
    "Warmth": "TemperatureReading",
    "of_late": "readings_since",
    "hears_of": "is_notified_of",
    "WritesHistory": "PrintHistoryWriter",
    "WatchesPrints": "WatchStarter",
    "FindsPrints": "UnwatchedPrintFinder",
    "EndLinksWithPrint": "LiveLinkEnder",
    "RememberedStates": "CachedDetectorStates",
    "NotifySending": "NotificationSender",
    "KeptPicture": "StoredPicture",
    "Supporting": "SupporterStanding",
    "Fenced": "FenceViolation",
    "ContextMade": "CreatedContext",
    "Garbled": "MalformedAnswer",
    "Inspected": "InspectionResult",
    "Overhearing": "RecordingReceiver",
    "SeenPrint": "PrintReport",
    "Sliced": "SlicerFacts",
    "Spooled": "SpooledBody",
    "ToldApp": "NotifiedApp",
    "_heard_at": "_received_at",
    "has_told": "was_linked, or what was reported",
    "seen_print": "print_report",
    "told_app": "notified_app",
    "Awaiting": "PendingEvents",
    "Counted": "DailyCount",
    "Detecting": "DetectionClient",
    "begins_behind": "unsent_start_id",
    "most_of_caller": "max_per_caller",
    "most_waiting": "max_waiting",
    "ANEW_AT_MOST_EVERY": "MIN_REFETCH_INTERVAL",
    "MOST_AROUND_BYTES": "MAX_OVERHEAD_BYTES",
    "MOST_ASKING": "MAX_CALLS",
}
"""Identifiers, whole, and what is said instead. Case matters."""

REFUSED_DOCSTRING_STARTS: dict[str, str] = {
    r"(Who|Whoever|Whose|Whom)\b": "a relative clause as a subject: name the subject",
    r"Behind ": "say after",
    r"So (often|many) ": "say what is counted, and how often or how many",
}
"""By a pattern of a docstring's first words: what is wrong with it."""

WITHOUT_RELATIVE_CLAUSES = ("agent", "contract", "detector", "printers", "tunnel", "wire")
"""Rooms of which no docstring begins with any relative clause."""

RELATIVE_CLAUSE = re.compile(r"(What|Whatever|Where|Which|That)\b")

# The words are refused here by name.
EXEMPT = {"tests/architecture/test_language.py"}


def sources() -> list[Path]:
    return [path for path in python_files() if relative(path) not in EXEMPT]


@cache
def names_in(path: Path) -> Mapping[str, int]:
    """Every name that is defined or used, with a line that has it."""
    return dict(_names_in(ast.parse(path.read_text())))


def _names_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
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


@cache
def docstrings_in(path: Path) -> list[tuple[str, int]]:
    """Docstrings of modules, classes and functions, and the strings that follow a constant."""
    return [
        (node.value.value, node.lineno)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


@pytest.mark.slow
def test_no_name_is_a_refused_word() -> None:
    found = [
        f"{relative(path)}:{line}: {name}: say {REFUSED_NAMES[name]}"
        for path in sources()
        for name, line in names_in(path).items()
        if name in REFUSED_NAMES
    ]

    assert found == []


@pytest.mark.slow
def test_a_constant_that_limits_is_called_max_or_min() -> None:
    found = [
        f"{relative(path)}:{line}: {name}"
        for path in sources()
        for name, line in names_in(path).items()
        if name.isupper() and {"MOST", "LEAST"} & set(name.split("_"))
    ]

    assert found == []


@pytest.mark.slow
def test_no_docstring_begins_with_a_relative_clause_or_a_riddle() -> None:
    patterns = {re.compile(start): reason for start, reason in REFUSED_DOCSTRING_STARTS.items()}
    found = [
        f"{relative(path)}:{line}: {text[:60]!r}: {reason}"
        for path in sources()
        if relative(path).startswith("src/")
        for text, line in docstrings_in(path)
        for start, reason in patterns.items()
        if start.match(text)
    ]

    assert found == []


@pytest.mark.parametrize("room", WITHOUT_RELATIVE_CLAUSES)
def test_docstrings_of_these_rooms_begin_with_their_subject(room: str) -> None:
    found = [
        f"{relative(path)}:{line}: {text[:60]!r}"
        for path in sources()
        if relative(path).startswith(f"src/printreach/{room}/")
        for text, line in docstrings_in(path)
        if RELATIVE_CLAUSE.match(text)
    ]

    assert found == []


def test_what_is_said_instead_is_not_refused_itself() -> None:
    assert [said for said in REFUSED_NAMES.values() if said in REFUSED_NAMES] == []
