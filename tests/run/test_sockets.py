"""Sockets that systemd opens: taken where they are meant for us, refused where they are no use."""

import os
import socket
from pathlib import Path

import pytest

from printreach.run.settings import SettingsError
from printreach.run.sockets import address_of, handed_over, port_of
from tests.requirements_of_tests import need

OURS = {"LISTEN_PID": "77", "LISTEN_FDS": "1"}


def take(descriptor: int) -> tuple[socket.socket, ...]:
    """Take a copy of this descriptor, as if it had been handed over."""
    copy = os.dup(descriptor)
    os.set_inheritable(copy, True)
    return handed_over(OURS, 77, first=copy)


def a_listener(host: str = "127.0.0.1") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 0), family=family)


def test_without_variables_nothing_was_handed_over() -> None:
    assert handed_over({}, 77) == ()


def test_what_is_meant_for_another_process_is_left_alone() -> None:
    assert handed_over({"LISTEN_PID": "78", "LISTEN_FDS": "1"}, 77) == ()


def test_a_listening_socket_is_taken() -> None:
    with a_listener() as listener:
        (taken,) = take(listener.fileno())

        with taken:
            assert port_of(taken) == listener.getsockname()[1]
            assert address_of(taken) == f"127.0.0.1:{port_of(taken)}"


def test_a_program_that_the_service_starts_does_not_inherit_it() -> None:
    with a_listener() as listener:
        (taken,) = take(listener.fileno())

        with taken:
            assert not taken.get_inheritable()


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    need("IPv6", socket.has_ipv6, "a Python that was built with it")
    with a_listener("::1") as listener:
        assert address_of(listener) == f"[::1]:{port_of(listener)}"


def test_a_socket_that_does_not_listen_is_refused() -> None:
    listens = "not a TCP socket that listens"
    with socket.socket() as idle, pytest.raises(SettingsError, match=listens):
        take(idle.fileno())


def test_a_unix_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()

        with pytest.raises(SettingsError, match="ListenStream"):
            take(listener.fileno())


def test_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("w") as file, pytest.raises(SettingsError, match="is no socket"):
        take(file.fileno())


@pytest.mark.parametrize("count", ["", "-1", "one", "1.5"])
def test_a_count_that_is_none_is_refused(count: str) -> None:
    with pytest.raises(SettingsError, match="not a number of sockets"):
        handed_over({"LISTEN_PID": "77", "LISTEN_FDS": count}, 77)
