"""A mail counts as sent once a real mail server has accepted it."""

import asyncio
from dataclasses import replace

import pytest

from printreach.backends.mail_smtp import AT_ONCE, SmtpMailer, SmtpServer
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts.mails import Mail
from tests.fakes.loop import on_a_loop
from tests.rigs.smtp_server import smtp_server
from tests.rigs.waiting import free_port, wait_for

pytestmark = pytest.mark.slow

MAIL = Mail(to="ada@example.org", subject="Grüße", text="part.gcode is done.")
SOON_S = 0.3
PATIENCE_S = 60.0


def mailer_to(port: int, deadline_s: float = PATIENCE_S) -> SmtpMailer:
    server = SmtpServer.at(f"smtp://127.0.0.1:{port}", "printreach@reach.example")
    return SmtpMailer(server, deadline_s=deadline_s)


@on_a_loop
async def test_a_mail_that_the_server_took_is_sent() -> None:
    with smtp_server() as box:
        answer = await mailer_to(box.port).hand_in(MAIL)

        assert answer is None
        assert box.subjects == ["Grüße"]
        assert box.mails[0].get_content().strip() == MAIL.text


@on_a_loop
async def test_a_mail_that_can_be_stopped_says_so_to_mail_programs() -> None:
    stop_url = f"https://reach.example/notifications/stop?token={'t' * 120}"
    with smtp_server() as box:
        for url in (stop_url, "http://reach.local/stop", None):
            await mailer_to(box.port).hand_in(replace(MAIL, stop_url=url))

        assert [mail["List-Unsubscribe"] for mail in box.mails] == [
            f"<{stop_url}>",
            "<http://reach.local/stop>",
            None,
        ]
        one_click = "List-Unsubscribe=One-Click"
        assert [mail["List-Unsubscribe-Post"] for mail in box.mails] == [one_click, None, None]


@pytest.mark.parametrize("answer", ["451 later", "550 no", "552 too much of it"])
@on_a_loop
async def test_a_mail_that_the_server_refused_once_it_had_it_is_not_sent(answer: str) -> None:
    with smtp_server() as box:
        box.answer = answer
        status = int(answer[:3])

        assert await mailer_to(box.port).hand_in(MAIL) == NotSent(SendFailure.MAIL_REFUSED, status)


@on_a_loop
async def test_an_address_that_the_server_does_not_know_is_told_with_its_status() -> None:
    with smtp_server() as box:
        box.recipient = "550 nobody here"
        refused = await mailer_to(box.port).hand_in(MAIL)

        assert refused == NotSent(SendFailure.NOBODY_THERE, 550)
        assert box.mails == []


@on_a_loop
async def test_a_server_that_is_away_took_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert await mailer_to(free_port()).hand_in(MAIL) == NotSent(SendFailure.MAIL_SERVER_AWAY)
    assert "did not accept the e-mail: ConnectionRefusedError" in caplog.text
    assert MAIL.text not in caplog.text


@on_a_loop
async def test_what_can_not_be_written_as_a_mail_is_refused() -> None:
    with smtp_server() as box:
        two_lines = Mail(to=MAIL.to, subject="one\r\nBcc: eve@example.org", text="")

        assert await mailer_to(box.port).hand_in(two_lines) == NotSent(SendFailure.MAIL_REFUSED)
        assert box.mails == []


@on_a_loop
async def test_a_server_that_hangs_has_its_deadline_and_the_threads_come_back() -> None:
    with smtp_server() as box:
        box.may_answer.clear()
        mailer = mailer_to(box.port, deadline_s=SOON_S)
        hanging = [mailer.hand_in(MAIL) for _ in range(AT_ONCE * 2)]
        answers = await asyncio.gather(*hanging)
        box.may_answer.set()
        patient = mailer_to(box.port)
        patient._threads = mailer._threads

        assert answers == [NotSent(SendFailure.MAIL_SERVER_AWAY)] * AT_ONCE * 2
        assert await patient.hand_in(MAIL) is None


@on_a_loop
async def test_who_stops_waiting_ends_the_connection() -> None:
    with smtp_server() as box:
        box.may_answer.clear()
        mailer = mailer_to(box.port)
        waiting = asyncio.create_task(mailer.hand_in(MAIL))
        await asyncio.to_thread(wait_for, "the mail", lambda: box.mails or None, PATIENCE_S)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.to_thread(mailer._threads.shutdown, wait=True)

        assert waiting.cancelled()
