"""Mails are in the language of who reads them."""

from printreach.languages import N_
from printreach.rules.accounts.mails import Mails
from tests.languages.conftest import brackets

__all__ = ["brackets"]


def test_all_of_a_mail_is_in_the_language_of_who_reads_it(brackets: str) -> None:
    mail = Mails("https://print.example", brackets).security_changed(
        "ada@example.org", N_("A passkey was added: %(name)s.", name="Desk")
    )

    assert mail.subject == "⟦The security settings of your account were changed⟧"
    assert mail.text.startswith("⟦⟦A passkey was added: Desk.⟧ If this wasn't you")
    assert mail.text.endswith("⟦Printreach at https://print.example⟧\n")
