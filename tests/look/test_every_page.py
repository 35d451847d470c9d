"""Every page is shown by a test of its look."""

import ast
from pathlib import Path

from tests.rigs.peers import ROOT

TEMPLATES = ROOT / "src" / "printreach" / "web" / "templates"
LAYOUTS = {
    "operator/_list.html",
    "portal/_leaving.html",
    "portal.html",
    "base.html",
}  # others stand in them

# Template by the name of a look that shows it.
SHOWS = {
    "account": "account/account.html",
    "signup-closed": "account/closed.html",
    "signin-code": "account/code.html",
    "confirm": "account/confirm.html",
    "confirm-mail": "account/confirm_mail.html",
    "deleted": "account/deleted.html",
    "end-token": "account/end_token.html",
    "leaving": "account/leaving.html",
    "link": "account/link.html",
    "link-over": "account/link_over.html",
    "mail-sent": "account/mail_sent.html",
    "new-password": "account/new_password.html",
    "account-security": "account/security.html",
    "account-delete": "account/delete.html",
    "account-recovery-codes": "account/recovery_codes.html",
    "reset": "account/reset.html",
    "sign-in": "account/sign_in.html",
    "sign-up": "account/sign_up.html",
    "supporter-offers": "account/supporter.html",
    "to-provider": "account/to_provider.html",
    "token-once": "account/token_once.html",
    "access-tokens": "account/tokens.html",
    "account-totp": "account/totp.html",
    "unconfirmed": "account/unconfirmed.html",
    "connection": "dashboard/connection.html",
    "live-links": "dashboard/connections.html",
    "dashboard-control": "dashboard/control.html",
    "delete-file": "dashboard/delete_file.html",
    "file-in-use": "dashboard/file_in_use.html",
    "replace-file": "dashboard/replace_file.html",
    "detector-settings": "dashboard/detector.html",
    "end-connection": "dashboard/end_connection.html",
    "end-live-link": "dashboard/end_live_link.html",
    "file": "dashboard/file.html",
    "dashboard-files": "dashboard/files.html",
    "emergency-stop": "dashboard/emergency_stop.html",
    "heat": "dashboard/heat.html",
    "preset": "dashboard/preset.html",
    "move": "dashboard/move.html",
    "account-presets": "account/presets.html",
    "account-preset": "account/preset.html",
    "live-link-form": "dashboard/live_link.html",
    "open-printer": "dashboard/open.html",
    "ask-to-open": "dashboard/ask_to_open.html",
    "no-port": "dashboard/no_port.html",
    "detector-calm": "dashboard/printer.html",
    "no-printers": "dashboard/printers.html",
    "printer-refused": "dashboard/refused.html",
    "remove-printer": "dashboard/remove.html",
    "dashboard-settings": "dashboard/settings.html",
    "people": "dashboard/people.html",
    "people-link": "dashboard/people_link.html",
    "people-end": "dashboard/end_person.html",
    "people-leave": "dashboard/leave.html",
    "people-offer": "dashboard/offer.html",
    "people-offer-over": "dashboard/offer_over.html",
    "people-offer-signed-out": "dashboard/offer_signed_out.html",
    "dashboard-share": "dashboard/share.html",
    "dashboard-shared": "dashboard/shared.html",
    "dashboard-start": "dashboard/start_file.html",
    "dashboard-stop": "dashboard/stop.html",
    "stop-everything": "dashboard/stop_everything.html",
    "stopped-everything": "dashboard/stopped_everything.html",
    "remote-lock": "dashboard/locked.html",
    "developer-app": "developer/app.html",
    "developer-arrived": "developer/arrived.html",
    "developer-deliveries": "developer/deliveries.html",
    "developer": "developer/developer.html",
    "disable-key": "developer/disable_key.html",
    "developer-key": "developer/key.html",
    "developer-register": "developer/new_app.html",
    "developer-new-key": "developer/new_key.html",
    "developer-paying": "developer/paying.html",
    "developer-remove-app": "developer/remove_app.html",
    "developer-try": "developer/try.html",
    "usage": "developer/usage.html",
    "front": "front.html",
    "offline": "offline.html",
    "notifications-name": "notifications/name.html",
    "activity": "history/activity.html",
    "history": "history/history.html",
    "print-page": "history/print.html",
    "timelapse-delete": "history/delete_timelapse.html",
    "live-ended": "live/ended.html",
    "live": "live/live.html",
    "notifications-ways": "notifications/add.html",
    "notifications": "notifications/notifications.html",
    "notifications-stop": "notifications/stop.html",
    "notifications-stopped": "notifications/stopped.html",
    "notifications-printer": "notifications/printer.html",
    "notifications-remove": "notifications/remove.html",
    "operator-account": "operator/account.html",
    "operator-accounts": "operator/accounts.html",
    "operator-acts": "operator/acts.html",
    "operator-app": "operator/app.html",
    "operator-apps": "operator/apps.html",
    "operator-block": "operator/block.html",
    "operator-connections": "operator/connections.html",
    "operator-delete-account": "operator/delete_account.html",
    "operator-disable-key": "operator/disable_key.html",
    "operator-end-connection": "operator/end_connection.html",
    "operator-invite": "operator/invite.html",
    "operator-keys": "operator/keys.html",
    "operator-limits": "operator/limits.html",
    "operator": "operator/overview.html",
    "operator-printers": "operator/printers.html",
    "operator-remove-app": "operator/remove_app.html",
    "operator-remove-printer": "operator/remove_printer.html",
    "appportal-account": "portal/account.html",
    "appportal-already-done": "portal/already_done.html",
    "appportal-choose": "portal/choose.html",
    "appportal-complete": "portal/complete.html",
    "appportal-done": "portal/done.html",
    "appportal-refused": "portal/failed.html",
    "appportal-install": "portal/install.html",
    "appportal-key": "portal/key.html",
    "appportal-link": "portal/link.html",
    "appportal-name": "portal/name.html",
    "appportal-no-such-flow": "portal/no_such_flow.html",
    "appportal-no-supporter-perks": "portal/no_supporter_perks.html",
    "appportal-paying": "portal/paying.html",
    "appportal-permit": "portal/permit.html",
    "appportal-forged": "portal/refused.html",
    "appportal-supporter": "portal/supporter.html",
    "appportal-welcome": "portal/welcome.html",
    "no-such-page": "problem.html",
}


def test_a_test_looks_at_every_page() -> None:
    pages = {
        path.relative_to(TEMPLATES).as_posix()
        for path in TEMPLATES.rglob("*.html")
        if "{% extends " in path.read_text()
    }

    assert pages - LAYOUTS == set(SHOWS.values())


def test_each_look_is_taken() -> None:
    """Its name is in a test that looks: whole, or behind a beginning that several names share."""
    tests = [words for words in map(_words_of_looks, _test_files()) if words]

    assert [name for name in SHOWS if not any(_is_among(words, name) for words in tests)] == []


def _is_among(words: set[str], name: str) -> bool:
    beginnings = {word for word in words if word.endswith("-") and name.startswith(word)}
    return name in words or any(name.removeprefix(word) in words for word in beginnings)


def _words_of_looks(path: Path) -> set[str]:
    """The strings of a test file, and what is fixed of those put together; none if none looks."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    if not any(isinstance(node, ast.Name) and node.id == "look_at" for node in nodes):
        return set()
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _test_files() -> list[Path]:
    folders = (ROOT / "tests" / "look", ROOT / "tests" / "journeys")
    return [path for folder in folders for path in folder.glob("test_*.py")]
