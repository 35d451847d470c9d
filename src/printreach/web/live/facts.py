"""The data of a Live Link: the printer's state, without its owner or location."""

from dataclasses import dataclass
from datetime import datetime

from printreach.contract.status import UNDER_WAY, JobStatus
from printreach.hub.connections.live_links import LiveView
from printreach.hub.printers.own import SeenPrinter
from printreach.web.dashboard.cards import OFFLINE, Temp, Webcam, state_of, temps_of, webcam_of
from printreach.web.dashboard.printer_view import layers_of


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveFacts:
    """The data of live/now.html. name, file: "" unless the owner shows them.

    Sentences from the printer are left out, since they may name addresses and people.
    """

    state: str
    name: str
    file: str
    progress: float | None
    time_left_s: int | None
    layers: str
    temps: list[Temp]
    seen_at: datetime | None

    @property
    def is_here(self) -> bool:
        return self.state != OFFLINE


def facts_of(view: LiveView, seen: SeenPrinter) -> LiveFacts:
    status, state = seen.reading.status, state_of(seen)
    job = status.job_status if status is not None and state != OFFLINE else None
    print_ = job.current_print if job is not None and job.state in UNDER_WAY else None
    return LiveFacts(
        state=state,
        name=seen.printer.name if view.link.shows_names else "",
        file=_file(job) if view.link.shows_names else "",
        progress=print_.progress if print_ is not None else None,
        time_left_s=print_.time_left_sec if print_ is not None else None,
        layers=layers_of(job),
        temps=temps_of(job.current_print.temps) if job is not None else [],
        seen_at=seen.reading.seen_at,
    )


def picture_of(view: LiveView, seen: SeenPrinter) -> Webcam:
    """Return its default camera, as successive pictures; none if the link may not show it."""
    if not view.shows_camera:
        return Webcam(picture="", state="none", age="", flip_h=False, flip_v=False, rotation=0)
    live_id = view.link.live_id
    webcam = webcam_of(seen, 0, still=True)
    is_live = webcam["state"] == "live"
    webcam["picture"] = f"/live/{live_id}/picture" if is_live else ""
    webcam["age"] = ""
    return webcam


def _file(job: JobStatus | None) -> str:
    return job.current_print.file_name if job is not None and job.state in UNDER_WAY else ""
