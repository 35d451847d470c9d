"""A sign-in whose service says what a test wants."""

from printreach.agent.keys import ServicePin
from printreach.agent.signin import AgentHandshake
from printreach.contract import signin
from printreach.rules.printers.signin import Signer, statement
from tests.agent.contexts import NOON_UNIX_S, SERVICE, Agent, ServiceKey

NONCE = b"n" * 32
OFFER = signin.LinkOffer(
    link_code="ACDEFG34", link_url="http://print.example.org/link", expires_in_sec=600
)


class Talk:
    """A conversation, and a service that says what the test wants."""

    def __init__(
        self,
        agent: Agent,
        *,
        was_linked: bool = False,
        stores_events: bool = False,
        is_standby: bool = False,
    ) -> None:
        self.agent = agent
        self.context = agent.context
        self.messages: list[signin.FromAgent] = []
        self.handshake = AgentHandshake(
            agent.context,
            lambda payload: self.messages.append(signin.decode_from_agent(payload)),
            was_linked=was_linked,
            stores_events=stores_events,
            agent_run="run of the agent" if is_standby else None,
            is_standby=is_standby,
        )
        self.handshake.begin()

    @property
    def hello(self) -> signin.Hello:
        assert isinstance(self.messages[0], signin.Hello)
        return self.messages[0]

    @property
    def proofs(self) -> list[signin.Proof]:
        return [messages for messages in self.messages if isinstance(messages, signin.Proof)]

    def statement_of(self, signer: Signer, key: bytes, host: str | None = None) -> bytes:
        return statement(
            signer,
            service_host=self.hello.service_host if host is None else host,
            service_key=key,
            service_nonce=NONCE,
            agent_key=self.hello.public_key,
            agent_nonce=self.hello.nonce,
        )

    def challenge(self, key: ServiceKey, *, time_unix_s: float = NOON_UNIX_S) -> signin.Challenge:
        return signin.Challenge(
            service_key=key.public,
            nonce=NONCE,
            signature=key.sign(self.statement_of(Signer.SERVICE, key.public)),
            time_unix_sec=int(time_unix_s),
        )

    def says(self, *messages: signin.FromService) -> None:
        for message in messages:
            self.handshake.on_message(signin.encode(message))

    def welcome(self, name: str = "Voron") -> signin.Welcome:
        return signin.Welcome(printer_id=self.context.key.printer_id, printer_name=name)

    def linked(self, name: str = "Voron") -> signin.Linked:
        return signin.Linked(printer_id=self.context.key.printer_id, printer_name=name)


def pin(agent: Agent, *keys: ServiceKey, name: str = "Voron") -> None:
    keys_pinned = tuple(key.public for key in keys)
    agent.context.pins.put(SERVICE, ServicePin(public_keys=keys_pinned, printer_name=name))
