// Words in passing: shown for 6 seconds, held while a pointer or the focus is on them. They stand as far
// down as they can without covering anything that is pressed or filled in, what has the focus least of all,
// or a note, which may be what they are about.

const SHOWN_MS = 6000;
const STEP_PX = 4;
const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
const NOTES = ".note";
const GAP_PX = 8;
const WEIGHT_OF_FOCUSED = 1000;
const WEIGHT_OF_NOTE = 0.1;
const WEIGHT_OF_GAP = 0.05;

/** What was said of one order is not said beside the next, or beside a question. */
export function endToasts(): void {
  for (const earlier of document.querySelectorAll(".toasts .toast")) earlier.remove();
}

export function toast(words: string): void {
  endToasts(); // one at a time: several would cover what is pressed next
  const line = document.createElement("p");
  line.className = "toast";
  line.textContent = words;
  document.querySelector(".toasts")?.append(line);
  place(line);
  endInTime(line);
}

/** Say something to screen readers alone: a change of state that the page shows by itself. */
export function announce(words: string): void {
  const line = document.createElement("p");
  line.className = "unseen";
  line.textContent = words;
  document.querySelector(".toasts")?.append(line);
  setTimeout(() => line.remove(), SHOWN_MS);
}

export function startToasts(): void {
  for (const line of document.querySelectorAll<HTMLElement>(".toast")) {
    place(line);
    endInTime(line);
  }
  for (const name of ["scrollend", "resize", "focusin"]) {
    addEventListener(name, () => document.querySelectorAll<HTMLElement>(".toast").forEach(place));
  }
}

/** Where the whole page is controls, it covers as little of them as possible. */
function place(line: HTMLElement): void {
  line.style.translate = "";
  const { left, right, top, bottom } = line.getBoundingClientRect();
  const boxes = [...document.querySelectorAll<HTMLElement>(`${CONTROLS}, ${NOTES}`)]
    .filter((each) => each.checkVisibility() && !each.closest(".toasts"))
    .map((each) => ({ box: each.getBoundingClientRect(), weight: weightOf(each) }))
    .filter(({ box }) => box.left < right && box.right > left && box.width);
  const overlap = (box: DOMRect, up: number, gap: number) => Math.max(0, Math.min(box.bottom, bottom + gap - up) - Math.max(box.top, top - gap - up));
  const covered = (up: number) =>
    boxes.reduce((sum, { box, weight }) => sum + weight * (overlap(box, up, 0) + WEIGHT_OF_GAP * overlap(box, up, GAP_PX)), 0);
  let [best, least] = [0, covered(0)];
  for (let up = -GAP_PX; least && top - up >= STEP_PX; up += STEP_PX) {
    const now = covered(up);
    if (now < least) [best, least] = [up, now];
  }
  line.style.translate = best ? `0 ${-best}px` : "";
}

function weightOf(element: HTMLElement): number {
  if (element === document.activeElement) return WEIGHT_OF_FOCUSED;
  return element.matches(CONTROLS) ? 1 : WEIGHT_OF_NOTE;
}

function endInTime(line: HTMLElement): void {
  line.tabIndex = 0;
  let timer = 0;
  const wait = () => (timer = window.setTimeout(() => line.remove(), SHOWN_MS));
  const hold = () => clearTimeout(timer);
  for (const name of ["pointerenter", "focus"]) line.addEventListener(name, hold);
  for (const name of ["pointerleave", "blur"]) line.addEventListener(name, wait);
  wait();
}
