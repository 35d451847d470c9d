// The page's one event stream: <body data-live="/printers/events">. It may send
//
//   event: part    data: {"id": "printer-ab12", "html": "<article …>"}
//       the element of that id, as the server would now write it; it is brought to that in place
//   event: values  data: {"ab12.layer": "148"}
//       the text of every element with data-value="ab12.layer"
//   event: say     data: {"words": "Workbench is paused."}
//       for screen readers: changes of state and warnings only
//   event: beat    data: {}
//       nothing is new, and what is shown still holds; send it every 15 s
//   event: reload  data: {}
//       the page is no longer what it was: another order, another printer
//
// The first events after a connection are the whole state. A hidden tab closes the stream, and gets
// everything anew when it is looked at again. Parts never move: who comes first is decided when the
// page is asked for.
import { closeAgain } from "./closed";
import { morph } from "./morph";
import { clock, startTimes } from "./times";
import { announce } from "./toasts";
import { t } from "./messages";

const LOST_MS = 5_000;
const SILENT_MS = 40_000;
const RETRY_MS = 3_000;

let live: Live | undefined;

export function startLive(): void {
  const address = document.body.dataset.live;
  if (!address) return;
  const opened = (live = new Live(address));
  document.addEventListener("visibilitychange", () => (document.hidden ? opened.close() : opened.open()));
  if (!document.hidden) opened.open();
}

/**
 * Get everything anew: the parts were not brought by the stream. It sends only what differs from what it
 * has sent itself, and so would leave them as they are if the printer is soon what it was before.
 */
export function lookAgain(): void {
  if (!document.hidden) live?.connect();
}

class Live {
  private source: EventSource | undefined;
  private heard = new Date();
  private lostTimer = 0;
  private silentTimer = 0;

  constructor(private readonly address: string) {}

  open(): void {
    this.close();
    this.connect();
  }

  /** In place of the stream before: what is shown is as old as it was. */
  connect(): void {
    this.source?.close();
    const source = new EventSource(this.address);
    this.source = source;
    source.onopen = () => this.note();
    source.onerror = () => this.onLoss(source);
    this.on(source, "part", ({ id, html }) => patch(id, html));
    this.on(source, "values", setValues);
    this.on(source, "say", ({ words }) => words && announce(words));
    this.on(source, "beat", () => {});
    this.on(source, "reload", () => reloadWhenIdle());
  }

  close(): void {
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.lostTimer);
    clearTimeout(this.silentTimer);
    this.lostTimer = 0;
  }

  private on(source: EventSource, name: string, act: (data: Record<string, string>) => void): void {
    source.addEventListener(name, (event: MessageEvent<string>) => {
      this.note();
      act(JSON.parse(event.data) as Record<string, string>);
    });
  }

  /** Something came: what is shown is of now. */
  private note(): void {
    this.heard = new Date();
    clearTimeout(this.lostTimer);
    clearTimeout(this.silentTimer);
    this.lostTimer = 0;
    this.silentTimer = window.setTimeout(() => this.showLoss(), SILENT_MS);
    showLost("");
  }

  private onLoss(source: EventSource): void {
    this.lostTimer ||= window.setTimeout(() => this.showLoss(), LOST_MS);
    // A browser gives up for good when it gets an answer that is no stream; we do not.
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(() => source === this.source && this.connect(), RETRY_MS);
    }
  }

  private showLoss(): void {
    showLost(t("Reconnecting… values from %(time)s", { time: clock(this.heard) }));
  }
}

function showLost(words: string): void {
  const line = document.querySelector<HTMLElement>(".lost");
  if (!line || line.textContent === words) return;
  line.textContent = words;
  line.hidden = !words;
  document.body.classList.toggle("is-lost", Boolean(words));
}

export function patch(id: string | undefined, html: string | undefined): void {
  const element = id && document.getElementById(id);
  if (!element || html === undefined) return;
  morph(element, html);
  const now = document.getElementById(id);
  if (now) startTimes(now);
  closeAgain();
}

function setValues(values: Record<string, string>): void {
  for (const [key, text] of Object.entries(values)) {
    for (const element of document.querySelectorAll(`[data-value="${CSS.escape(key)}"]`)) {
      if (element.textContent !== text) element.textContent = text;
    }
  }
}

/** Not while somebody types, is being asked something, or points at what would move. */
function reloadWhenIdle(): void {
  const busy = document.querySelector("dialog:modal, input:focus, textarea:focus, select:focus, .printers:hover, .farm:hover");
  if (busy) setTimeout(reloadWhenIdle, RETRY_MS);
  else location.reload();
}
