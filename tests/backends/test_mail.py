"""Mails: handed in at a server, or written to the log."""

import email
import logging
import socket
from dataclasses import replace
from email.policy import default

import pytest

from printreach.agent.log_lines import LineFormatter
from printreach.backends.mail_log import LogMailer
from printreach.backends.mail_smtp import SmtpMailer, SmtpServer
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts.mails import Mail, Mails
from tests.fakes.loop import on_a_loop
from tests.fakes.mail_server import FakeMailServer, mail_server

PATIENCE_S = 60.0
SENDER = "printreach@reach.example"
MAIL = Mail(
    to="ada@example.org", subject="Grüße", text="https://reach.example/confirm?token=s3cret"
)


def mailer_to(server: FakeMailServer, host: str = "127.0.0.1", user: str = "") -> SmtpMailer:
    at = SmtpServer.at(f"smtp://{user}{host}:{server.port}", SENDER)
    return SmtpMailer(at, deadline_s=PATIENCE_S)


@on_a_loop
async def test_a_mail_arrives_as_plain_text_that_nobody_answers() -> None:
    async with mail_server() as server:
        assert await mailer_to(server).hand_in(MAIL) is None

    (raw,) = server.mails
    mail = email.message_from_string(raw, policy=default)
    assert (mail["To"], mail["From"], mail["Subject"]) == (MAIL.to, SENDER, MAIL.subject)
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"].endswith("@reach.example>")
    assert "s3cret" in mail.get_content()


@pytest.mark.parametrize(
    "to",
    ["ada@x.example,bob@y.example", "x<bob@y.example", "bob@y.example>", '"a b"@y.example', ""],
)
def test_a_mail_to_anything_but_one_mailbox_is_handed_in_to_nobody(to: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with mail_server() as server:
            told = await mailer_to(server).hand_in(replace(MAIL, to=to))

        assert told == NotSent(SendFailure.MAIL_REFUSED)
        assert server.mails == []

    body()


@on_a_loop
async def test_a_mailbox_with_every_letter_that_is_allowed_gets_its_mail() -> None:
    to = "o'brien+a.b-c_d!#$%&*/=?^`{|}~@x.example"
    async with mail_server() as server:
        assert await mailer_to(server).hand_in(replace(MAIL, to=to)) is None

    (raw,) = server.mails
    assert email.message_from_string(raw, policy=default)["To"] == to


@on_a_loop
async def test_a_server_that_is_busy_takes_it_another_time() -> None:
    async with mail_server() as server:
        server.busy = 1
        mailer = mailer_to(server)

        assert await mailer.hand_in(MAIL) is not None
        assert await mailer.hand_in(MAIL) is None

    assert len(server.mails) == 1


@on_a_loop
async def test_what_fails_is_logged_without_the_mail(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        nobody = FakeMailServer(port=taken.getsockname()[1])
        told = await mailer_to(nobody).hand_in(MAIL)

    assert told == NotSent(SendFailure.MAIL_SERVER_AWAY)
    assert caplog.text.count("did not accept the e-mail") == 1
    assert "s3cret" not in caplog.text


@on_a_loop
async def test_a_password_is_given_to_this_machine_without_tls_and_to_no_other() -> None:
    async with mail_server() as server:
        await mailer_to(server, user="ada:pass@").hand_in(MAIL)
        assert any(line.startswith("AUTH PLAIN") for line in server.said)
        server.said.clear()
        assert await mailer_to(server, "127.0.0.2", "ada:pass@").hand_in(MAIL) is not None

    assert not any(line.startswith("AUTH") for line in server.said)


@pytest.mark.parametrize(
    ("url", "host", "port", "is_tls", "sender"),
    [
        ("smtp://mail.example", "mail.example", 587, False, SENDER),
        ("smtps://mail.example", "mail.example", 465, True, SENDER),
        ("smtp://ada%40x.org:p%3Aw@mail.example:25", "mail.example", 25, False, "ada@x.org"),
        ("smtp://ada:pw@mail.example?from=print@x.org", "mail.example", 587, False, "print@x.org"),
    ],
)
def test_the_setting_says_where_mails_go_and_from_whom(
    url: str, host: str, port: int, is_tls: bool, sender: str
) -> None:
    server = SmtpServer.at(url, SENDER)

    assert (server.host, server.port, server.is_tls, server.sender) == (host, port, is_tls, sender)
    assert "p:w" not in repr(server)


@on_a_loop
async def test_without_a_server_the_log_has_the_mail(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert await LogMailer().hand_in(MAIL) is None

    [record] = caplog.records
    line, *text = LineFormatter().format(record).splitlines()
    assert "ada@example.org" in line
    assert [row.strip() for row in text] == MAIL.text.splitlines()


def test_every_mail_says_whose_it_is_and_what_to_do() -> None:
    mails = Mails("https://reach.example")
    to, link = MAIL.to, "https://reach.example/x?token=y"
    written = [
        *(mails.confirm_address(to, link), mails.reset_password(to, link)),
        *(mails.confirm_change(to, link), mails.has_account_already(to)),
        *(mails.address_changed(to, "new@example.org"), mails.password_changed(to)),
        *(mails.security_changed(to, "A passkey was added."), mails.account_deleted(to)),
    ]

    for mail in written:
        assert mail.to == to
        assert mail.text.endswith("\n\nPrintreach at https://reach.example\n")
        assert "!" not in mail.text
    assert [link in mail.text for mail in written] == [True] * 3 + [False] * 5
