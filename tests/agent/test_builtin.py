"""The simulated printer inside the agent."""

import asyncio
import sys
from pathlib import Path

import pytest

from printreach.agent.addresses import ListenAddress, WebAddress
from printreach.agent.builtin import CannotStart, printer_of
from printreach.agent.config import AgentConfig
from printreach.contract.platforms import PLATFORM_FACTS

SIMULATED = "printreach.printers.simulated"


def a_config(
    data_dir: Path, kind: str = "simulated", printer: WebAddress | None = None
) -> AgentConfig:
    return AgentConfig(
        service=WebAddress(scheme="https", host="printreach.example", port=443),
        data_dir=data_dir,
        kind=PLATFORM_FACTS[kind],
        printer=printer,
        lan_listen=ListenAddress(host="127.0.0.1", port=0),
    )


def address_while_open(config: AgentConfig) -> WebAddress | None:
    async def open_it() -> WebAddress | None:
        async with printer_of(config) as address:
            return address

    return asyncio.run(open_it())


@pytest.mark.slow
def test_a_simulated_printer_without_an_address_runs_in_the_agent(tmp_path: Path) -> None:
    async def first_line() -> bytes:
        async with printer_of(a_config(tmp_path)) as address:
            assert address is not None
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: printer\r\nConnection: close\r\n\r\n")
            line = await reader.readline()
            writer.close()
            return line

    assert asyncio.run(first_line()).startswith(b"HTTP/1.1 200 ")


def test_a_printer_with_an_address_is_left_where_it_is(tmp_path: Path) -> None:
    elsewhere = WebAddress(scheme="http", host="127.0.0.1", port=9)

    assert address_while_open(a_config(tmp_path, printer=elsewhere)) == elsewhere
    assert list(tmp_path.iterdir()) == []


def test_a_real_printer_without_an_address_is_not_simulated(tmp_path: Path) -> None:
    assert address_while_open(a_config(tmp_path, kind="bambu")) is None


@pytest.mark.parametrize("library", ["PIL", "multipart", "websockets"])
def test_without_its_libraries_the_extra_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    loaded = (SIMULATED, "printreach.printers.websocket", library)
    for name in [name for name in sys.modules if name.startswith(loaded)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(CannotStart, match=r"requirements/demo.txt"):
        address_while_open(a_config(tmp_path))


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CannotStart, match="cannot start"):
        address_while_open(a_config(tmp_path / "file"))
