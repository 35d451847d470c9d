"""Webhooks: what calls them and what they are signed with, for the web role and the worker."""

import random
import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from printreach.backends.lookups import Lookups
from printreach.backends.webhook_http import WebhookHttp
from printreach.backends.webhook_keys import open_webhook_keys
from printreach.hub.webhooks.clock_doubt import ClockDoubt
from printreach.hub.webhooks.deliveries import Deliveries
from printreach.hub.webhooks.owing import WebhookOwing
from printreach.hub.webhooks.settings import Webhooks
from printreach.ports import Clock, Store
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.run.settings import Settings
from printreach.run.steady_clock import steady_time
from printreach.run.use_cases.ground import Ground


@dataclass(frozen=True, kw_only=True, slots=True)
class Hooks:
    """What webhooks need of the world. doubt: one for all who ask in this process."""

    sender: WebhookSender
    keys: WebhookKeys
    doubt: ClockDoubt = field(default_factory=lambda: ClockDoubt(steady_time))


def real_hooks(settings: Settings, ends: AsyncExitStack) -> Hooks:
    """The machine's own. Raises WebhookKeysRefused."""
    lookups = Lookups()
    ends.push_async_callback(lookups.close)
    sender = WebhookHttp(lookups, settings.reach)
    ends.push_async_callback(sender.close)
    return Hooks(sender=sender, keys=open_webhook_keys(settings.data_dir))


def webhooks(ground: Ground, hooks: Hooks) -> Webhooks:
    """Where apps say what calls them."""
    return Webhooks(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        sender=hooks.sender,
        keys=hooks.keys,
        addresses=ground.settings.addresses,
        caller_tries=ground.caller_tries,
    )


def webhook_owing(settings: Settings, clock: Clock, doubt: ClockDoubt) -> WebhookOwing:
    """Who queues deliveries for each event."""
    return WebhookOwing(
        clock=clock,
        supporters=settings.supporters,
        addresses=settings.addresses,
        doubt=doubt,
    )


def deliveries(settings: Settings, store: Store, clock: Clock, hooks: Hooks) -> Deliveries:
    """Who makes them. close() ends what is on its way."""
    return Deliveries(
        store=store,
        clock=clock,
        sender=hooks.sender,
        keys=hooks.keys,
        supporters=settings.supporters,
        doubt=hooks.doubt,
        jitter=random.SystemRandom().random,
        token_bytes=secrets.token_bytes,
    )
