// Words in passing: shown for 6 seconds, held while a pointer or the focus is on them. They stand where they
// cover nothing that is pressed, filled in or read: on empty ground, else on a picture, as far down as they can.
// Where the whole window is full they cover what matters least, never what has the focus.

const SHOWN_MS = 6000;
const STEP_PX = 2;
const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
const NOTES = ".note"; // one may be what the words are about
const PICTURES = ".webcam, img, video";
const GAP_PX = 8;
const WEIGHT_OF_FOCUSED = 100_000;
const WEIGHT_OF_CONTROL = 100;
const WEIGHT_OF_NOTE = 10;
const WEIGHT_OF_PICTURE = 0.01;
const WEIGHT_OF_GAP = 0.005;

interface Obstacle {
  box: DOMRect;
  weight: number;
}

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
  const placeAll = () => document.querySelectorAll<HTMLElement>(".toast").forEach(place);
  for (const name of ["scrollend", "resize", "focusin"]) addEventListener(name, placeAll);
  new ResizeObserver(placeAll).observe(document.body); // what the page says of an order comes after its words
}

/** Measured where it is laid out: while it is revealed, it is seen a little lower. */
function place(line: HTMLElement): void {
  const toasts = line.parentElement;
  if (!toasts) return;
  const ground = toasts.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = line;
  const [left, top] = [ground.left + line.offsetLeft, ground.top + line.offsetTop];
  const around = Number.parseFloat(getComputedStyle(toasts).paddingLeft);
  const right = document.documentElement.clientWidth - around - width;
  const obstacles = obstaclesInWindow();
  let [best, least] = [{ x: left, y: top }, Infinity];
  for (const x of [left, right, (around + right) / 2, around]) {
    const inColumn = obstacles.filter(({ box }) => box.left < x + width && box.right > x);
    for (let y = top + GAP_PX; least && y >= STEP_PX; y -= STEP_PX) {
      const now = inColumn.reduce((sum, each) => sum + costOf(each, y, y + height), 0);
      if (now < least) [best, least] = [{ x, y }, now];
    }
  }
  line.style.translate = `${best.x - left}px ${best.y - top}px`;
}

function costOf({ box, weight }: Obstacle, top: number, bottom: number): number {
  const overlap = (gap: number) => Math.max(0, Math.min(box.bottom, bottom + gap) - Math.max(box.top, top - gap));
  return weight * (overlap(0) + WEIGHT_OF_GAP * overlap(GAP_PX));
}

function obstaclesInWindow(): Obstacle[] {
  const found: Obstacle[] = [];
  const add = (box: DOMRect, weight: number) => {
    if (box.width && box.bottom > 0 && box.top < innerHeight) found.push({ box, weight });
  };
  for (const each of document.querySelectorAll(`${CONTROLS}, ${NOTES}, ${PICTURES}`)) {
    if (each.checkVisibility() && !each.closest(".toasts")) add(each.getBoundingClientRect(), weightOf(each));
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.textContent?.trim() || text.parentElement?.closest(".toasts, .unseen, dialog:not([open])")) continue;
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) add(box, 1);
  }
  return found;
}

function weightOf(element: Element): number {
  if (element === document.activeElement) return WEIGHT_OF_FOCUSED;
  if (element.matches(CONTROLS)) return WEIGHT_OF_CONTROL;
  return element.matches(NOTES) ? WEIGHT_OF_NOTE : WEIGHT_OF_PICTURE;
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
