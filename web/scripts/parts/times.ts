// Times in the reader's zone. The server writes UTC into <time data-time="clock|near|day|moment">.
// Ages, which go on while nothing comes: <span data-age="15" data-ago="seen {} ago">seen 15 s ago</span>, in seconds.

import { locale, t } from "./messages";

const AGE_STEP_S = 5;
const MINUTE_S = 60;
const HOUR_S = 3600;
const began = new WeakMap<HTMLElement, number>();

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
  for (const element of within.querySelectorAll<HTMLElement>("[data-age]")) {
    began.set(element, Date.now() - 1000 * Number(element.dataset.age));
  }
  for (const element of within.querySelectorAll<HTMLTimeElement>("time[data-time]")) {
    const at = new Date(element.dateTime);
    const shape = shapes[shapeName(element.dataset.time ?? "", at)];
    if (!shape || Number.isNaN(at.getTime())) continue;
    const said = at.toLocaleString(locale, shape).replace(" at ", ", ");
    if (element.textContent !== said) element.textContent = said;
  }
}

export function startAges(): void {
  setInterval(() => document.querySelectorAll<HTMLElement>("[data-age]").forEach(showAge), 1000);
}

function showAge(element: HTMLElement): void {
  const age = Math.floor((Date.now() - (began.get(element) ?? Date.now())) / 1000);
  const shown = age < MINUTE_S ? age - (age % AGE_STEP_S) : age;
  if (shown < AGE_STEP_S) return; // as the server has written it
  const said = (element.dataset.ago ?? "{}").replace("{}", duration(shown));
  if (element.textContent !== said) element.textContent = said;
}

/** As languages/values.py says it. */
function duration(seconds: number): string {
  if (seconds < MINUTE_S) return t("%(seconds)s s", { seconds });
  const minutes = Math.floor(seconds / MINUTE_S) % 60;
  const inMinutes = t("%(minutes)s min", { minutes });
  if (seconds < HOUR_S) return inMinutes;
  const inHours = t("%(hours)s h", { hours: Math.floor(seconds / HOUR_S) });
  return minutes ? `${inHours} ${inMinutes}` : inHours;
}

/** A time around now is a time of day, unless it is another day. */
function shapeName(name: string, at: Date): string {
  return name === "near" && at.toDateString() === new Date().toDateString() ? "clock" : name;
}
