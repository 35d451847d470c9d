"""The simulated printer, without clock, files or network: advance() lets time pass.

The same calls with the same times give the same print; how finely time is cut doesn't matter.
An order answers None, or the sentence that says why the printer refuses it.
"""

from collections import deque

from printreach.contract.status import UNDER_WAY, State

from .machine import COLD_BELOW_C, Activity, HeaterWait, Machine
from .motion import Move, Point, homing, inside, travel
from .program import AskForPerson, Dwell, HeaterName, Job, Program, Step, Survey

RUNNING = frozenset({State.WARMING_UP, State.PRINTING})
ENDED = frozenset({State.COMPLETE, State.CANCELLED, State.ERROR})
_JOG_MM_S = 100.0
_EXTRUDE_MM_S = 5.0
_RESUME_MM_S = 60.0
_RESUME_MIN_S = 1.0
_LIFT_MM = 10.0
_DONE_S = 1e-9
"""Less time than this is left over by rounding."""


_EMERGENCY = "Emergency stop"
_HALTED = "The firmware was halted by an emergency stop. Restart it first."


class _StepQueue:
    """Steps in a row, the first of which may have begun."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque()
        self.activity: Activity | None = None

    @property
    def is_empty(self) -> bool:
        return self.activity is None and not self.steps


class SimulatedPrinter:
    """A printer of 220 by 220 by 250 mm with one hotend, a heated bed and a heated chamber.

    error: why the print failed. duration_s: of the print, without pauses.
    """

    def __init__(self, seed: int = 1) -> None:
        self.machine = Machine(seed)
        self.state = State.IDLE
        self.error: str | None = None
        self.duration_s = 0.0
        self._reason: str | None = None
        self._program: Program | None = None
        self._printing = _StepQueue()
        self._by_hand = _StepQueue()
        self._hand_ends_at = self.machine.position
        self._paused_at = self.machine.position
        self._has_begun = False

    # The job.

    def start(self, job: Job) -> str | None:
        if self.state in UNDER_WAY:
            return "A print is already running."
        self._by_hand = _StepQueue()
        self._printing = _StepQueue()
        self._program = Program(job, self.machine.position)
        self._has_begun = False
        self.duration_s = 0.0
        self.error = None
        self.machine.clear_bed()
        self._enter(State.WARMING_UP, f"Print started: {job.name}")
        return None

    def pause(self, reason: str | None = None) -> str | None:
        """Stop where it is and lift the head. Heaters stay on."""
        if self.state not in RUNNING:
            return "Only a running print can be paused."
        self._paused_at = self.machine.position
        self._enter(State.PAUSED, reason or "Print paused")
        self._reason = reason
        lifted = inside(self._paused_at._replace(z=self._paused_at.z + _LIFT_MM))
        self._go_by_hand(travel(self._paused_at, lifted, _JOG_MM_S))
        return None

    def resume(self) -> str | None:
        """Return to where the pause began, then go on."""
        if self.state is not State.PAUSED:
            return "Only a paused print can be resumed."
        self._enter(State.RESUMING, "Print resuming")
        back = travel(self._hand_starts_at(), self._paused_at, _RESUME_MM_S)
        back.seconds = max(back.seconds, _RESUME_MIN_S)
        self._go_by_hand(back)
        return None

    def cancel(self) -> str | None:
        if self.state not in UNDER_WAY:
            return "No print is running."
        self._abandon()
        self._enter(State.CANCELLED, "Print cancelled")
        return None

    def break_down(self, sentence: str) -> None:
        """Fail with a fault: whatever ran is over."""
        self._abandon()
        self._enter(State.ERROR, sentence)
        self.error = sentence

    def clear(self) -> str | None:
        """Forget a print that ended, and take it off the bed."""
        if self.state not in ENDED:
            return "There is no ended print to clear."
        self.machine.clear_bed()
        self._program = None
        self.error = None
        self.duration_s = 0.0
        self._enter(State.IDLE, "Ready")
        return None

    # The firmware.

    def refuse_while_halted(self) -> str | None:
        """It takes no order but a restart then."""
        is_halted = self.state is State.ERROR and self.error == _EMERGENCY
        return _HALTED if is_halted else None

    def halt(self) -> None:
        """Stop at once, with the heaters off, until the firmware is restarted."""
        self.break_down(_EMERGENCY)

    def restart(self) -> str | None:
        """Forget the print and every adjustment. What lies on the bed stays there."""
        if self.state in UNDER_WAY:
            return "A print is running."
        self._abandon()
        self._program = None
        self.error = None
        self.duration_s = 0.0
        self.machine.speed_percent = self.machine.flow_percent = 100
        self.machine.z_offset_mm = 0.0
        self._enter(State.IDLE, "Firmware restarted")
        return None

    # By hand.

    def jog(self, axis: str, distance_mm: float) -> str | None:
        """axis: "X", "Y" or "Z". The head stops at the end of its reach."""
        if refusal := self._refuse_by_hand():
            return refusal
        start = self._hand_starts_at()
        at = "XYZ".index(axis)
        end = inside(Point(*(v + distance_mm if n == at else v for n, v in enumerate(start))))
        self._go_by_hand(travel(start, end, _JOG_MM_S))
        return None

    def extrude(self, distance_mm: float) -> str | None:
        """Negative pulls back. Refused while the hotend is cold."""
        if refusal := self._refuse_by_hand():
            return refusal
        if self.machine.heaters[HeaterName.HOTEND].actual_c < COLD_BELOW_C:
            return f"Cold extrusion prevented: the hotend is below {COLD_BELOW_C:.0f} °C."
        here = self._hand_starts_at()
        self._go_by_hand(Move(here, here, abs(distance_mm) / _EXTRUDE_MM_S, distance_mm))
        return None

    def home(self, axes: str = "XYZ") -> str | None:
        """axes: one or more of X, Y and Z."""
        if self.state in UNDER_WAY:
            return "A running print would lose its place."
        start = self._hand_starts_at()
        named = zip("XYZ", start, strict=True)
        end = Point(*(0.0 if axis in axes else value for axis, value in named))
        self._go_by_hand(homing(start, end))
        return None

    # Time.

    @property
    def is_settled(self) -> bool:
        """True if nothing more happens before the next order."""
        return not self._is_working and self._by_hand.is_empty and self.machine.is_settled

    def advance(self, seconds: float) -> None:
        """Let this much time pass."""
        left_s = seconds
        while left_s > _DONE_S:
            track = self._next_queue()
            activity = track.activity if track is not None else None
            step_s = left_s if activity is None else min(left_s, activity.remaining_s)
            self.machine.advance(step_s, activity)
            left_s -= step_s
            if self._is_working:
                self.duration_s += step_s
            if track is not None and activity is not None and activity.remaining_s <= _DONE_S:
                track.activity = None

    # The facts about the print. None is unknown.

    @property
    def sub_state(self) -> str | None:
        """The thing that it waits for, or the reason of its pause."""
        waits_for_heat = self.state in RUNNING and isinstance(self._printing.activity, HeaterWait)
        return "Heating" if waits_for_heat else self._reason

    @property
    def file_name(self) -> str:
        """The current or latest print's; "" where there was none."""
        return self._program.job.name if self._program else ""

    @property
    def print_id(self) -> str:
        """No other print's; "" where there was none."""
        return self._program.job.id if self._program else ""

    @property
    def progress(self) -> float:
        """0 to 100, by the position among the file's commands."""
        if self._program is None:
            return 0.0
        if self.state is State.COMPLETE:
            return 100.0
        return 100.0 * self._program.done

    @property
    def time_left_s(self) -> float | None:
        if self.state not in UNDER_WAY:
            return None
        if self._survey is not None:
            return max(self._survey.seconds - self.duration_s, 0.0)
        done = self.progress / 100
        return self.duration_s * (1 - done) / done if done > 0.02 else None

    @property
    def current_layer(self) -> int | None:
        return self._program.layers.current if self._program else None

    @property
    def total_layers(self) -> int | None:
        reported = self._program.layers.total if self._program else None
        return reported or (self._survey.layers if self._survey else None)

    @property
    def filament_mm(self) -> float:
        """Fed so far."""
        return max(self.machine.filament_mm, 0.0)

    @property
    def filament_total_mm(self) -> float | None:
        """The whole print's length: by the trial run, else of a complete print."""
        if self._survey is not None:
            return self._survey.filament_mm
        return self.filament_mm if self.state is State.COMPLETE else None

    @property
    def _survey(self) -> Survey | None:
        return self._program.job.survey if self._program else None

    @property
    def _is_working(self) -> bool:
        return self.state in RUNNING or self.state is State.RESUMING

    # How it goes on.

    def _enter(self, state: State, message: str | None = None) -> None:
        self.state = state
        self._reason = None
        if message is not None:
            self.machine.report(message, is_error=state is State.ERROR)

    def _abandon(self) -> None:
        self._printing = _StepQueue()
        self._by_hand = _StepQueue()
        self.machine.switch_off_heat()
        self.machine.fan_percent = 0

    def _next_queue(self) -> _StepQueue | None:
        """Return the track to continue, where something is under way.

        None when there is nothing to do.
        """
        while True:
            track = self._printing if self.state in RUNNING else self._by_hand
            if track.activity is not None:
                return track
            if track.steps:
                self._begin(track, track.steps.popleft())
            elif not self._find_more():
                return None

    def _find_more(self) -> bool:
        """Go over to the next steps once the current ones are done; False where there are none."""
        if self.state is State.RESUMING:
            self._enter(State.PRINTING if self._has_begun else State.WARMING_UP, "Print resumed")
            return True
        if self._program is None or self.state not in RUNNING:
            return False
        steps = self._program.next_steps()
        if steps is None:
            self._enter(State.COMPLETE, "Print complete")
        else:
            self._printing.steps.extend(steps)
        return True

    def _begin(self, track: _StepQueue, step: Step) -> None:
        if isinstance(step, AskForPerson):
            self.pause(step.reason)
            return
        if track is self._printing and self._is_work(step):
            self._note_work(step)
        if track is self._printing and isinstance(step, Move) and not step.is_homing:
            step.seconds *= 100 / self.machine.speed_percent
            step.filament_mm *= self.machine.flow_percent / 100
        track.activity = self.machine.begin(step)

    def _is_work(self, step: Step) -> bool:
        """Return whether a step is of the print itself, not of homing, priming or heating."""
        if isinstance(step, Move) and not step.is_homing:
            return step.is_extruding or not self.machine.is_heating
        return isinstance(step, Dwell) and step.is_work and not self.machine.is_heating

    def _note_work(self, step: Step) -> None:
        if self.state is State.WARMING_UP:
            self._enter(State.PRINTING)
        self._has_begun = True
        if self._program is not None and isinstance(step, Move) and step.is_extruding:
            self._program.layers.extrude_at(step.end.z)

    def _refuse_by_hand(self) -> str | None:
        if self.state in UNDER_WAY and self.state is not State.PAUSED:
            return "The head is busy with a print."
        return None

    def _hand_starts_at(self) -> Point:
        return self.machine.position if self._by_hand.is_empty else self._hand_ends_at

    def _go_by_hand(self, move: Move) -> None:
        self._by_hand.steps.append(move)
        self._hand_ends_at = move.end
