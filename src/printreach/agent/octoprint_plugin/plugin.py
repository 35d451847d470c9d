# OctoPrint is installed where this runs, not where its types are checked.
# mypy: allow-subclassing-any
"""The methods that OctoPrint calls; decisions and work are in the modules beside this one.

OctoPrint logs what a plugin's methods raise and goes on. Source: OctoPrint 1.11.8 as it runs, and
docs.octoprint.org, "Plugins".
"""

import hmac
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import flask  # type: ignore[import-not-found]  # comes with OctoPrint, as its environment has it
import msgspec
import octoprint.plugin as mixins  # type: ignore[import-not-found]  # likewise
from octoprint.access.permissions import Permissions  # type: ignore[import-not-found]  # likewise

from printreach.agent import owner_limits
from printreach.agent.addresses import WebAddress
from printreach.agent.config import AgentConfig, PrinterCredentials
from printreach.agent.lan import GUARDS, is_local_host
from printreach.agent.octoprint_plugin.page import AddressRefused, looked_up, read_address, shown
from printreach.agent.octoprint_plugin.supervisor import AgentThread, Supervisor
from printreach.agent.owner_limits import BadLimit, OwnerLimits, read_limits
from printreach.agent.runtime import Machine, UplinkFactory
from printreach.contract.platforms import LOOPBACK, PLATFORM_FACTS

ADDRESS: Final = "service_url"
FOLDER: Final = "agent"

_KEY_BYTES: Final = 32
_EVERYWHERE: Final = (None, "", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
_HERE: Final = Path(__file__).parent


class ServicePlugin(
    mixins.StartupPlugin,
    mixins.ShutdownPlugin,
    mixins.SettingsPlugin,
    mixins.TemplatePlugin,
    mixins.AssetPlugin,
    mixins.SimpleApiPlugin,
):
    """The agent beside this OctoPrint, and its settings page."""

    def __init__(self, machine: Machine, make_uplink: UplinkFactory) -> None:
        super().__init__()
        self._machine = machine
        self._agent = AgentThread(Supervisor(machine, make_uplink))
        # OctoPrint holds this key for good while it runs; it is written nowhere.
        self._agent_key = machine.token_bytes(_KEY_BYTES).hex()
        self._listens_at = WebAddress(
            scheme="http", host=LOOPBACK, port=PLATFORM_FACTS["octoprint"].port
        )

    # --- start and stop ---------------------------------------------------------------------------

    def on_startup(self, host: str | None, port: int) -> None:
        at = LOOPBACK if host in _EVERYWHERE else str(host)
        self._listens_at = WebAddress(scheme="http", host=at, port=port)

    def on_after_startup(self) -> None:
        _log_as_octoprint_does()
        self._agent.start()
        self._run_as_set()

    def on_shutdown(self) -> None:
        self._agent.close()

    def user_of_key(self, api_key: str, *_: object, **__: object) -> object:
        """Hook octoprint.accesscontrol.keyvalidator: the agent's own key is OctoPrint's own user.

        None for every other key: those are not the agent's.
        """
        if not hmac.compare_digest(api_key.encode(), self._agent_key.encode()):
            return None
        return self._user_manager.api_user_factory()

    # --- settings ---------------------------------------------------------------------------------

    def get_settings_defaults(self) -> dict[str, object]:
        return {ADDRESS: "", **dict.fromkeys(owner_limits.NAMES)}

    def on_settings_save(self, data: Mapping[str, object]) -> dict[str, object]:
        """Handle settings from OctoPrint's own API.

        A bad address is ignored: the page checks it first, and OctoPrint would show no error. The
        limits of the agent's owner can't be set here, or an app could lift them: they are in
        config.yaml alone.
        """
        if ADDRESS not in data or not Permissions.ADMIN.can():
            return {}
        try:
            self._set_address(read_address(data[ADDRESS]))
        except AddressRefused as refused:
            self._logger.warning("The service's address is left as it was. %s", refused)
            return {}
        return {ADDRESS: self._address}

    def get_template_folder(self) -> str:
        return str(_HERE / "templates")

    def get_template_configs(self) -> list[dict[str, object]]:
        return [{"type": "settings", "name": "Printreach", "custom_bindings": True}]

    def is_template_autoescaped(self) -> bool:
        return True

    def get_asset_folder(self) -> str:
        return str(_HERE / "static")

    def get_assets(self) -> dict[str, list[str]]:
        return {"js": ["js/service.js"], "css": ["css/service.css"]}

    # --- GET and POST /api/plugin/service ---------------------------------------------------------

    def is_api_adminonly(self) -> bool:
        return False  # the lookup is public; what changes or shows anything else is checked below

    def is_api_protected(self) -> bool:
        return False

    def on_api_get(self, request: flask.Request) -> flask.Response:
        """Answer the lookup as the LAN page does, and only to those the LAN page answers."""
        if not (_asks_by_local_name(request) or Permissions.STATUS.can()):
            flask.abort(403, description="Ask by the address of the machine, or with an API key.")
        answer = flask.make_response(
            msgspec.json.encode(looked_up(self._agent.status, self._address))
        )
        answer.mimetype = "application/json"
        for name, value in GUARDS:
            answer.headers[name.decode()] = value.decode()
        return answer

    def get_api_commands(self) -> dict[str, list[str]]:
        return {"state": [], "connect": [ADDRESS], "unlink": []}

    def on_api_command(self, command: str, data: Mapping[str, object]) -> flask.Response:
        """OctoPrint has checked the CSRF token, or the API key that takes its place."""
        if not Permissions.ADMIN.can():
            flask.abort(403, description="Only administrators may see and change the link.")
        match command:
            case "connect":
                try:
                    self._set_address(read_address(data[ADDRESS]))
                except AddressRefused as refused:
                    flask.abort(400, description=str(refused))
            case "unlink":
                self._logger.info("The link is removed, as an administrator asked")
                self._agent.forget_link()
        answer = flask.jsonify(shown(self._agent.status, self._address, self._machine.monotonic()))
        answer.headers["Cache-Control"] = "no-store"
        return answer

    # --- helpers ----------------------------------------------------------------------------------

    @property
    def _address(self) -> str:
        return str(self._settings.get([ADDRESS]) or "")

    def _set_address(self, address: WebAddress | None) -> None:
        self._settings.set([ADDRESS], "" if address is None else str(address))
        self._settings.save()
        self._run_as_set()

    def _run_as_set(self) -> None:
        """config.yaml is edited by hand, too, so the address is read as strictly as ever."""
        try:
            service, limits = read_address(self._address), self._limits()
        except (AddressRefused, BadLimit) as refused:
            self._logger.error("The agent does not run. %s", refused)
            self._agent.use(None)
            return
        self._agent.use(None if service is None else self._config(service, limits))

    def _limits(self) -> OwnerLimits:
        """Return what config.yaml lets remote callers do. Raises BadLimit."""
        stored = {name: self._settings.get([name]) for name in owner_limits.NAMES}
        return read_limits(stored, lambda name: f"plugins.service.{name} in config.yaml")

    def _config(self, service: WebAddress, limits: OwnerLimits) -> AgentConfig:
        return AgentConfig(
            service=service,
            # A folder below OctoPrint's, which others may be able to read.
            data_dir=Path(self.get_plugin_data_folder()) / FOLDER,
            kind=PLATFORM_FACTS["octoprint"],
            printer=self._listens_at,
            lan_listen=None,
            credentials=PrinterCredentials(api_key=self._agent_key),
            limits=limits,
        )


def _asks_by_local_name(request: flask.Request) -> bool:
    """OctoPrint believes X-Forwarded-Host from everyone, so a web page under a rebound name could
    claim any name with it."""
    forwarded = request.environ.get("HTTP_X_FORWARDED_HOST")
    return forwarded is None and is_local_host(request.host.encode("latin-1", "replace"))


def _log_as_octoprint_does() -> None:
    """OctoPrint's log shows warnings alone of loggers that are not its own."""
    logger = logging.getLogger("printreach")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
