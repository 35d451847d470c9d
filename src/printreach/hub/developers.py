"""All use cases of developers: their apps, their API keys and their usage."""

from dataclasses import dataclass

from printreach.hub.apps.own import OwnApps
from printreach.hub.core import Core
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.detection.keys import DetectionKeys, MadeKey
from printreach.hub.detection.usage import Usage
from printreach.hub.once import ShownOnce
from printreach.hub.reauthentication import Reauthentication
from printreach.rules.apps.registration import AppPolicy
from printreach.rules.detection.usage import Plan


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


def developers(core: Core, policy: AppPolicy, plan: Plan, *, claims_addresses: bool) -> Developers:
    """Build the use cases."""
    return Developers(
        apps=OwnApps(core=core, policy=policy),
        keys=DetectionKeys(core=core),
        usage=Usage(core=core, plan=plan),
        gate=DetectionGate(store=core.store, plan=plan, claims_addresses=claims_addresses),
        shown_once=ShownOnce(core.clock),
        proof=core.proof,
    )
