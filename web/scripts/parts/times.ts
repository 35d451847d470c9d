// Times in the reader's zone. The server writes UTC into <time data-time="clock|near|day|moment">.

import { locale } from "./messages";

const shapes: Record<string, Intl.DateTimeFormatOptions> = {
  clock: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  near: { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  day: { day: "numeric", month: "long", year: "numeric" },
  moment: { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
};

export function clock(at: Date): string {
  return at.toLocaleTimeString(locale, shapes.clock);
}

export function startTimes(within: ParentNode): void {
  for (const element of within.querySelectorAll<HTMLTimeElement>("time[data-time]")) {
    const at = new Date(element.dateTime);
    const shape = shapes[shapeName(element.dataset.time ?? "", at)];
    if (!shape || Number.isNaN(at.getTime())) continue;
    const said = at.toLocaleString(locale, shape).replace(" at ", ", ");
    if (element.textContent !== said) element.textContent = said;
  }
}

/** A time around now is a time of day, unless it is another day. */
function shapeName(name: string, at: Date): string {
  return name === "near" && at.toDateString() === new Date().toDateString() ? "clock" : name;
}
