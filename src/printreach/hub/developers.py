"""All use cases of developers: their apps, their API keys and their usage."""

from dataclasses import dataclass

from printreach.hub.detection.gate import DetectionGate
from printreach.hub.detection.keys import DetectionKeys, MadeKey
from printreach.hub.identity.proof import Reauthentication
from printreach.hub.once import ShownOnce
from printreach.hub.own_apps import OwnApps
from printreach.hub.usage import Usage
from printreach.ports import Clock
from printreach.rules.app_registration import AppPolicy
from printreach.rules.credentials import TokenBytes
from printreach.rules.detection_usage import Plan
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Developers:
    """gate: admits and counts calls of the failure-detection API.

    proof: reauthenticates before what lets somebody in or cannot be undone.
    """

    apps: OwnApps
    keys: DetectionKeys
    usage: Usage
    gate: DetectionGate
    shown_once: ShownOnce[MadeKey]
    proof: Reauthentication


def developers(
    store: Store,
    clock: Clock,
    token_bytes: TokenBytes,
    proof: Reauthentication,
    *,
    policy: AppPolicy,
    plan: Plan,
    claims_addresses: bool,
) -> Developers:
    """Build the use cases."""
    return Developers(
        apps=OwnApps(store=store, clock=clock, policy=policy),
        keys=DetectionKeys(store=store, clock=clock, token_bytes=token_bytes),
        usage=Usage(store=store, clock=clock, plan=plan),
        gate=DetectionGate(store=store, plan=plan, claims_addresses=claims_addresses),
        shown_once=ShownOnce(clock),
        proof=proof,
    )
