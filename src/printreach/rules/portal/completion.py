"""The message to an app that gets a connection; it is sent once only."""

from dataclasses import dataclass

from printreach.rules.connections.credentials import AppSecrets
from printreach.rules.portal import ERROR_SENTENCES, PortalError


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """A connection that was just made, with the secrets that are stored only as digests."""

    connection_id: str
    url: str
    printer_name: str
    printer_page_url: str
    printer_lan_ip: str | None
    secrets: AppSecrets
    host_api_key: str | None = None


def completion_parameters(done: Completion) -> dict[str, str]:
    """Return the names and texts of the completion URL's query.

    Published apps read the pair's names in lower case, and the key by the name of the first
    software that had one, so both spellings are there.
    """
    user, password = done.secrets.basic_user, done.secrets.basic_password
    parameters = {
        "success": "true",
        "id": done.connection_id,
        "url": done.url,
        "appApiToken": done.secrets.app_api_token,
        "printername": done.printer_name,
        "userPrinterAccessUrl": done.printer_page_url,
        "authBasicHttpUser": user,
        "authBasicHttpPassword": password,
        "authbasichttpuser": user,
        "authbasichttppassword": password,
        "authBearerToken": done.secrets.bearer_token,
    }
    if done.printer_lan_ip is not None:
        parameters["printerLastKnownLocalIp"] = done.printer_lan_ip
    if done.host_api_key is not None:
        parameters |= {"hostApiKey": done.host_api_key, "octoPrintApiKey": done.host_api_key}
    return parameters


def failure_parameters(error: PortalError) -> dict[str, str]:
    """Return the parameters for a flow that failed."""
    return {"success": "false", "error": error.value, "errorDescription": ERROR_SENTENCES[error]}
