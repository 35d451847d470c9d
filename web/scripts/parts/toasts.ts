// Words in passing: shown for 6 seconds, held while a pointer or the focus is on them. They stand as far
// down as they can without covering anything that is pressed or filled in, what has the focus least of all.

const SHOWN_MS = 6000;
const STEP_PX = 4;
const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
const GAP_PX = 8;
const WEIGHT_OF_FOCUSED = 1000;

export function toast(words: string): void {
  // One at a time: several would cover what is pressed next.
  for (const earlier of document.querySelectorAll(".toasts .toast")) earlier.remove();
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
  const boxes = [...document.querySelectorAll<HTMLElement>(CONTROLS)]
    .filter((each) => each.checkVisibility() && !each.closest(".toasts"))
    .map((each) => ({ box: each.getBoundingClientRect(), weight: each === document.activeElement ? WEIGHT_OF_FOCUSED : 1 }))
    .filter(({ box }) => box.left < right && box.right > left && box.width);
  const covered = (up: number) =>
    boxes.reduce((sum, { box, weight }) => sum + weight * Math.max(0, Math.min(box.bottom, bottom + GAP_PX - up) - Math.max(box.top, top - GAP_PX - up)), 0);
  let [best, least] = [0, covered(0)];
  for (let up = STEP_PX; least && top - up >= STEP_PX; up += STEP_PX) {
    const now = covered(up);
    if (now < least) [best, least] = [up, now];
  }
  line.style.translate = best ? `0 ${-best}px` : "";
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
