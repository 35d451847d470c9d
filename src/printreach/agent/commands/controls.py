"""Orders about the machine: its lights, axes, heaters, adjustments and firmware."""

from printreach.agent.commands.order_gate import OrderGate
from printreach.agent.commands.request import CommandRequest, bad_arguments
from printreach.contract.commands import Adjust, Axis, Extrude, Home, MoveAxis, SetLight, SetTemp
from printreach.contract.status import Feature
from printreach.languages import N_, in_english
from printreach.printers.port import (
    Printer,
    SupportsAdjustments,
    SupportsEmergencyStop,
    SupportsFirmwareRestart,
    not_supported,
)
from printreach.rules.printers import commands as rules
from printreach.rules.printers.commands import Action, CommandLimits


class ControlCommands:
    """limits: those of the agent's owner."""

    def __init__(self, printer: Printer, gate: OrderGate, limits: CommandLimits) -> None:
        self._printer = printer
        self._gate = gate
        self._limits = limits

    async def set_light(self, request: CommandRequest) -> object:
        order = await request.arguments(SetLight)
        await self._gate.check(None, Feature.LIGHT_CONTROL, None)
        lights = self._printer.view.job.lights or []
        if all(light.name != order.name for light in lights):
            raise bad_arguments(
                in_english("Name: there is no light %(name)s.", name=repr(order.name))
            )
        return await self._gate.give(request, None, lambda: self._printer.set_light(order))

    async def move_axis(self, request: CommandRequest) -> object:
        order = await request.arguments(MoveAxis)
        problem = rules.move_problem(order, self._limits)
        await self._gate.check(problem, Feature.AXIS_MOVEMENT, Action.MOVE)
        return await self._gate.give(request, None, lambda: self._printer.move_axis(order))

    async def home(self, request: CommandRequest) -> object:
        order = await request.arguments(Home)
        feature = Feature.HOMING if order.homed == list(Axis) else Feature.AXIS_HOMING
        await self._gate.check(rules.home_problem(order), feature, Action.HOME)
        return await self._gate.give(request, None, lambda: self._printer.home(order))

    async def extrude(self, request: CommandRequest) -> object:
        order = await request.arguments(Extrude)
        problem = rules.extrude_problem(order, self._limits)
        await self._gate.check(problem, Feature.EXTRUSION, Action.EXTRUDE)
        return await self._gate.give(request, None, lambda: self._printer.extrude(order))

    async def set_temp(self, request: CommandRequest) -> object:
        order = await request.arguments(SetTemp)
        problem = rules.set_temp_problem(order, self._limits)
        await self._gate.check(problem, Feature.TEMPERATURE_CONTROL, None)
        return await self._gate.give(request, None, lambda: self._printer.set_temp(order))

    async def adjust(self, request: CommandRequest) -> object:
        order, printer = await request.arguments(Adjust), self._printer
        problem = rules.adjust_problem(order, self._limits)
        await self._gate.check(problem, None, None)
        lacking = rules.not_adjustable(order, printer.view.features)
        if lacking:
            raise not_supported(
                in_english(
                    "This printer can't change %(names)s. Nothing was changed.",
                    names=", ".join(lacking),
                )
            )
        if not isinstance(printer, SupportsAdjustments):
            raise not_supported(N_("This printer can't do that."))
        return await self._gate.give(request, None, lambda: printer.adjust(order))

    async def emergency_stop(self, request: CommandRequest) -> object:
        """Stop at once, whatever is under way: this waits for no order before it."""
        printer = self._printer
        await self._gate.check(None, Feature.EMERGENCY_STOP, None)
        if not isinstance(printer, SupportsEmergencyStop):
            raise not_supported(N_("This printer can't do that."))
        return await self._gate.give(request, None, printer.emergency_stop)

    async def restart_firmware(self, request: CommandRequest) -> object:
        """Restart it, also where nothing else reaches the printer until that is done."""
        printer = self._printer
        if Feature.FIRMWARE_RESTART not in printer.view.features:
            self._gate.require_reachable()
            raise not_supported(N_("This printer can't restart its firmware."))
        if not isinstance(printer, SupportsFirmwareRestart):
            raise not_supported(N_("This printer can't restart its firmware."))
        if printer.view.trouble is None:
            await self._gate.check(None, None, Action.RESTART_FIRMWARE)
        return await self._gate.give(request, None, printer.restart_firmware)
