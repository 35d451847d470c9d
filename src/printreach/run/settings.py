"""The service's settings, read from the environment once, at the start."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

from printreach.ports.mqtt import MqttAddress
from printreach.rules.accounts import SignUpPolicy, SupporterPolicy
from printreach.rules.accounts.oidc import OidcProvider
from printreach.rules.addresses import Addresses
from printreach.rules.apps.registration import AppPolicy
from printreach.rules.detection.usage import DEFAULT_TIERS, Plan, Tier
from printreach.rules.notifications import DAILY_LIMIT
from printreach.rules.payments import StripeAccount
from printreach.rules.prints.snapshots import S3Bucket
from printreach.rules.public_addresses import Reach
from printreach.run import setting_values as values
from printreach.run.setting_values import Network, WrongValue
from printreach.store.location import DatabaseLocation, PostgresqlLocation

T = TypeVar("T")

PREFIX: Final = "PRINTREACH_"
NOT_OURS: Final = ("PRINTREACH_PRINTER_", "PRINTREACH_TEST_")
"""The agent's settings, which `serve --with-agent` takes too, and those of the test suite."""


NATS_PORT: Final = 4222
POSTGRESQL_PORT: Final = 5432
MAX_STOP_NOTICE_S: Final = 60
"""systemd and others kill what takes much longer to stop."""


class SettingsError(Exception):
    """A setting is wrong or unknown; the message names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The operator's settings.

    tunnel_ports is empty where connections get no port of their own. smtp_url, database_url
    and nats_urls hold passwords.
    """

    data_dir: Path
    listen_host: str
    listen_port: int
    base_url: str
    tunnel_domain: str
    tunnel_ports: range
    trusted_proxies: tuple[Network, ...]
    supporters: SupporterPolicy
    sign_up: SignUpPolicy
    webhook_allow_private: tuple[Network, ...]
    detector_url: str
    detector_free_calls: int
    detector_ip_claims: bool
    smtp_url: str | None = field(repr=False)
    database_url: str = field(default="", repr=False)
    nats_urls: tuple[str, ...] = field(default=(), repr=False)
    node_listen: tuple[str, int] | None = None
    node_url: str = ""
    node_tls: bool = False
    standby_tunnels: bool = True
    stop_notice_s: int = 0
    logs_json: bool = False
    request_id_field: bytes = b""
    sends_traces: bool = False
    notify_daily_limit: int = DAILY_LIMIT
    mqtt: MqttAddress | None = None
    stripe: StripeAccount | None = None
    oidc: OidcProvider | None = None
    snapshots: S3Bucket | None = None

    app_registration: AppPolicy = AppPolicy.OPEN
    detector_free_only: bool = True
    detector_billing: bool = False
    detector_prices: tuple[Tier, ...] = DEFAULT_TIERS
    detector_watch: bool = True
    detector_nodes: tuple[str, ...] = ()
    detector_listen: tuple[str, int] | None = None
    detector_token: str = field(default="", repr=False)

    @property
    def has_mail_server(self) -> bool:
        """Without one, mails are only written to the log, which the operator reads."""
        return self.smtp_url is not None

    @property
    def reach(self) -> Reach:
        """The addresses that webhooks and notifications may connect to."""
        listens = {self.listen_port, *self.tunnel_ports}
        for other in (self.detector_listen, self.node_listen):
            if other is not None:
                listens.add(other[1])
        return Reach(
            networks=self.webhook_allow_private,
            own_ports=frozenset(listens),
            backend_ports=frozenset(self._backend_ports()),
        )

    def _backend_ports(self) -> Iterator[int]:
        """Return the ports of the servers that this service relies on, except 80 and 443."""
        if self.smtp_url is not None:
            from printreach.backends.mail_smtp import SmtpServer

            yield SmtpServer.at(self.smtp_url, "").port
        if self.mqtt is not None:
            yield self.mqtt.port
        urls = [*self.detector_nodes, *([self.snapshots.endpoint] if self.snapshots else [])]
        if self.database_url:
            yield urlsplit(self.database_url).port or POSTGRESQL_PORT
        for url in self.nats_urls:
            yield urlsplit(url).port or NATS_PORT
        for port in (urlsplit(url).port for url in urls):
            if port not in (None, 80, 443):
                yield port

    @property
    def detector_plan(self) -> Plan:
        return Plan(
            free_calls=self.detector_free_calls,
            free_only=self.detector_free_only,
            offers_billing=self.detector_billing,
            tiers=self.detector_prices,
        )

    @property
    def database(self) -> DatabaseLocation:
        """Return where the database is: a file in the data directory, unless a server is named."""
        if self.database_url:
            return PostgresqlLocation(self.database_url, self.data_dir)
        return self.database_path

    @property
    def database_path(self) -> Path:
        """Return the file of the embedded database."""
        return self.data_dir / "printreach.sqlite3"

    @property
    def addresses(self) -> Addresses:
        return Addresses(base_url=self.base_url, tunnel_domain=self.tunnel_domain)


def settings_from(environ: Mapping[str, str]) -> Settings:
    """Read every setting; an empty one counts as not set. Raises SettingsError."""
    reader = _Reader(environ)
    host, port = reader.read("LISTEN", values.read_address, "127.0.0.1:8080")
    base_url = reader.read("BASE_URL", values.read_base_url, "http://localhost:8080")
    settings = Settings(
        data_dir=reader.read("DATA_DIR", Path, "./printreach-data"),
        listen_host=host,
        listen_port=port,
        base_url=base_url,
        tunnel_domain=reader.read("TUNNEL_DOMAIN", values.read_domain, "localhost:8080"),
        tunnel_ports=reader.read("TUNNEL_PORTS", values.read_ports, ""),
        trusted_proxies=reader.read("TRUSTED_PROXIES", values.read_networks, ""),
        supporters=reader.read("SUPPORTERS", values.read_supporters, "everyone"),
        sign_up=reader.read("SIGN_UP", values.read_sign_up, "open"),
        webhook_allow_private=reader.read(
            "WEBHOOK_ALLOW_PRIVATE", values.read_private_networks, "false"
        ),
        detector_url=reader.read("DETECTOR_URL", values.read_base_url, base_url),
        detector_free_calls=reader.read("DETECTOR_FREE_CALLS", values.read_count, "5000"),
        detector_ip_claims=reader.read("DETECTOR_IP_CLAIMS", values.read_switch, "true"),
        smtp_url=reader.read("SMTP_URL", values.read_smtp_url, ""),
        database_url=reader.read("DATABASE_URL", values.read_database_url, ""),
        nats_urls=reader.read("NATS_URL", values.read_nats_urls, ""),
        node_listen=reader.read("NODE_LISTEN", values.read_optional_address, ""),
        node_url=reader.read("NODE_URL", values.read_node_url, ""),
        node_tls=reader.read("NODE_TLS", values.read_switch, "false"),
        standby_tunnels=reader.read("STANDBY_TUNNELS", values.read_switch, "true"),
        request_id_field=reader.read("REQUEST_ID_HEADER", values.read_field_name, ""),
        sends_traces=_sends_traces(environ),
        logs_json=reader.read("LOG_JSON", values.read_switch, "false"),
        stop_notice_s=reader.read("STOP_NOTICE", values.read_count, "0"),
        snapshots=reader.read("SNAPSHOTS_URL", values.read_s3_place, ""),
        notify_daily_limit=reader.read("NOTIFY_DAILY_LIMIT", values.read_count, str(DAILY_LIMIT)),
        mqtt=reader.read("MQTT_URL", values.read_broker, ""),
        app_registration=reader.read("APP_REGISTRATION", values.read_app_policy, "open"),
        detector_free_only=reader.read("DETECTOR_FREE_ONLY", values.read_switch, "true"),
        detector_billing=reader.read("DETECTOR_BILLING", values.read_switch, "false"),
        detector_prices=reader.read("DETECTOR_PRICES", values.read_prices, values.DEFAULT_PRICES),
        detector_watch=reader.read("DETECTOR_WATCH", values.read_switch, "true"),
        detector_nodes=reader.read("DETECTOR_NODES", values.read_base_urls, ""),
        detector_listen=reader.read("DETECTOR_LISTEN", values.read_optional_address, ""),
        detector_token=reader.read("DETECTOR_TOKEN", values.read_token, ""),
        stripe=_stripe(reader),
        oidc=_oidc(reader),
    )
    reader.refuse_unknown()
    if port in settings.tunnel_ports:
        raise SettingsError(
            f"PRINTREACH_TUNNEL_PORTS holds {port}, which PRINTREACH_LISTEN needs for the service."
        )
    if settings.stop_notice_s > MAX_STOP_NOTICE_S:
        raise SettingsError(f"PRINTREACH_STOP_NOTICE is at most {MAX_STOP_NOTICE_S} seconds.")
    if settings.node_listen is not None and not settings.node_url:
        _require_one_address(settings.node_listen[0])
    if settings.detector_nodes and not settings.detector_token:
        raise SettingsError("PRINTREACH_DETECTOR_NODES also needs PRINTREACH_DETECTOR_TOKEN.")
    return settings


def _require_one_address(host: str) -> None:
    """Raise SettingsError where other nodes can't tell which address to dial."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - refused
        raise SettingsError(
            f"PRINTREACH_NODE_LISTEN accepts on every address ({host}): PRINTREACH_NODE_URL also"
            " has to say which one other nodes dial, such as ws://10.0.0.5:8090."
        )


def _sends_traces(environ: Mapping[str, str]) -> bool:
    """Return whether OpenTelemetry's own variables ask for traces. Raises SettingsError."""

    def read(*names: str) -> str:
        return next(filter(None, (environ.get(name, "").strip() for name in names)), "")

    exporter = read("OTEL_TRACES_EXPORTER")
    is_wanted = exporter or read(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
    )
    is_off = exporter == "none" or read("OTEL_SDK_DISABLED").lower() == "true"
    if not is_wanted or is_off:
        return False
    if exporter not in ("", "otlp"):
        raise SettingsError(
            f"OTEL_TRACES_EXPORTER is {exporter!r}, which is neither otlp nor none."
        )
    protocol = read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    if protocol not in ("", "http/protobuf"):
        raise SettingsError(
            f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}; traces are sent by http/protobuf alone."
        )
    return True


def _oidc(reader: "_Reader") -> OidcProvider | None:
    """Return the OpenID Connect provider if all of its settings are set; None if none is."""
    issuer = reader.read("OIDC_ISSUER", values.read_issuer, "")
    client_id = reader.read("OIDC_CLIENT_ID", values.read_secret, "")
    client_secret = reader.read("OIDC_CLIENT_SECRET", values.read_secret, "")
    name = reader.read("OIDC_NAME", values.read_name, "")
    given = {"ISSUER": issuer, "CLIENT_ID": client_id, "CLIENT_SECRET": client_secret}
    missing = [f"{PREFIX}OIDC_{word}" for word, value in given.items() if not value]
    if len(missing) == len(given) and not name:
        return None
    if missing:
        raise SettingsError(f"Sign-in by OpenID Connect also needs {' and '.join(missing)}.")
    return OidcProvider(
        issuer=issuer,
        client_id=client_id,
        client_secret=client_secret,
        name=name or urlsplit(issuer).hostname or issuer,
    )


def _stripe(reader: "_Reader") -> StripeAccount | None:
    """Return the Stripe account if all of its settings are set; None if none is."""
    key = reader.read("STRIPE_SECRET_KEY", values.read_stripe_key, "")
    secret = reader.read("STRIPE_WEBHOOK_SECRET", values.read_stripe_webhook_secret, "")
    prices = reader.read("STRIPE_PRICE", values.read_stripe_prices, "")
    api_url = reader.read("STRIPE_API_URL", values.read_base_url, "https://api.stripe.com")
    given = {"SECRET_KEY": key, "WEBHOOK_SECRET": secret, "PRICE": prices}
    missing = [f"{PREFIX}STRIPE_{word}" for word, value in given.items() if not value]
    if len(missing) == len(given):
        return None
    if missing:
        raise SettingsError(f"Payment by Stripe also needs {' and '.join(missing)}.")
    return StripeAccount(secret_key=key, webhook_secret=secret, prices=prices, api_url=api_url)


class _Reader:
    """Reads settings and remembers their names, to find unknown ones."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._known: set[str] = set()

    def read(self, name: str, parse: Callable[[str], T], default: str) -> T:
        variable = PREFIX + name
        self._known.add(variable)
        given = self._environ.get(variable, "").strip()
        try:
            return parse(given or default)
        except WrongValue as wrong:
            raise SettingsError(f"{variable} {wrong}") from None

    def refuse_unknown(self) -> None:
        for variable in sorted(self._environ):
            if not variable.startswith(PREFIX) or variable.startswith(NOT_OURS):
                continue
            if variable not in self._known:
                raise SettingsError(
                    f"{variable} is no setting of this version; "
                    f"known are {', '.join(sorted(self._known))}."
                )


_HTTPS_PORT = 443
_HTTP_PORT = 80


def address_warnings(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what an operator has to set so that links lead to this service.

    environ: tells which settings were given; what was given is taken as meant.
    """
    if settings.listen_port == 0:
        return  # the system picks one, which nobody knows yet
    reached = _public_host(settings, environ)
    if not _is_given(environ, "BASE_URL") and f"http://{reached}" != settings.base_url:
        yield (
            f"PRINTREACH_BASE_URL is not set, so links to pages lead to {settings.base_url}, but"
            f" the service listens on port {settings.listen_port}."
            f" Set PRINTREACH_BASE_URL=http://{reached}, or to the address that people open."
        )
    if settings.tunnel_ports or _is_given(environ, "TUNNEL_DOMAIN"):
        return
    if reached != settings.tunnel_domain:
        yield (
            "PRINTREACH_TUNNEL_DOMAIN is not set, so links to printers and shares lead to"
            f" {settings.tunnel_domain}, but the service is at {reached}. {_remedy(reached)}"
        )


def _public_host(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the host and port that people dial; without a base URL, where the service listens."""
    if not _is_given(environ, "BASE_URL"):
        return f"localhost:{settings.listen_port}"
    split = urlsplit(settings.base_url)
    usual = _HTTPS_PORT if split.scheme == "https" else _HTTP_PORT
    return f"{split.hostname}:{split.port or usual}"


def _remedy(reached: str) -> str:
    if reached.startswith("localhost:"):
        return f"Set PRINTREACH_TUNNEL_DOMAIN={reached}."
    return (
        "Set it to a domain whose subdomains all lead to this service, or set"
        " PRINTREACH_TUNNEL_PORTS where there is no such domain."
    )


def _is_given(environ: Mapping[str, str], name: str) -> bool:
    return bool(environ.get(PREFIX + name, "").strip())
