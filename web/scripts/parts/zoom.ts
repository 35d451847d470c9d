// A picture with data-zooms is enlarged where one looks: by two fingers, a double tap, the wheel with
// Ctrl, a button, or + and − while the focus is beside it. An enlarged one is moved by a finger, the
// mouse or the arrow keys; 0 shows it whole again. While it is whole, one finger scrolls the page.

const MOST = 8;
const STEP = 1.5;
const DOUBLE_TAP = 2.5;
const DOUBLE_TAP_MS = 350;
const TAP_PX = 24;
const ARROW_PX = 60;
const ARROWS: Record<string, Point> = {
  ArrowLeft: { x: 1, y: 0 }, ArrowRight: { x: -1, y: 0 }, ArrowUp: { x: 0, y: 1 }, ArrowDown: { x: 0, y: -1 },
};

interface Point { x: number; y: number }
/** x, y: how far the picture's middle is from the frame's. */
interface View extends Point { scale: number }

const views = new WeakMap<HTMLElement, View>();
const fingers = new Map<number, Point>();
let touched: HTMLElement | undefined;
let lastTap: Point & { at: number } = { x: 0, y: 0, at: 0 };
let downAt: Point = { x: 0, y: 0 };

export function startZoom(): void {
  document.addEventListener("pointerdown", onDown);
  document.addEventListener("pointermove", onMove);
  document.addEventListener("pointerup", onUp);
  document.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
  document.addEventListener("wheel", onWheel, { passive: false });
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onButton);
  window.addEventListener("resize", showAllWhole);
}

export function showAllWhole(): void {
  for (const frame of document.querySelectorAll<HTMLElement>("[data-zooms]")) show(frame, { scale: 1, x: 0, y: 0 });
}

function frameOf(target: EventTarget | null): HTMLElement | undefined {
  return (target instanceof Element && target.closest<HTMLElement>("[data-zooms]")) || undefined;
}

function viewOf(frame: HTMLElement): View {
  return views.get(frame) ?? { scale: 1, x: 0, y: 0 };
}

function onDown(event: PointerEvent): void {
  const frame = frameOf(event.target);
  if (!frame || event.button !== 0) return;
  if (frame !== touched) fingers.clear();
  touched = frame;
  fingers.set(event.pointerId, at(event));
  downAt = at(event);
  if (fingers.size > 1 || viewOf(frame).scale > 1) frame.setPointerCapture(event.pointerId);
}

function onMove(event: PointerEvent): void {
  const before = fingers.get(event.pointerId);
  if (!before || !touched) return;
  const now = at(event);
  const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
  fingers.set(event.pointerId, now);
  if (!other) return move(touched, now.x - before.x, now.y - before.y);
  const middle = between(now, other);
  const was = between(before, other);
  enlarge(touched, distance(now, other) / Math.max(distance(before, other), 1), middle);
  move(touched, middle.x - was.x, middle.y - was.y);
}

function onUp(event: PointerEvent): void {
  const wasAlone = fingers.size === 1;
  if (!fingers.delete(event.pointerId) || !touched || !wasAlone) return;
  const now = at(event);
  if (distance(now, downAt) > TAP_PX) return;
  const isSecond = event.timeStamp - lastTap.at < DOUBLE_TAP_MS && distance(now, lastTap) < TAP_PX;
  lastTap = { ...now, at: isSecond ? 0 : event.timeStamp };
  if (isSecond) enlarge(touched, viewOf(touched).scale > 1 ? 0 : DOUBLE_TAP, now);
}

function onWheel(event: WheelEvent): void {
  const frame = frameOf(event.target);
  if (!frame || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault(); // it would enlarge the page
  enlarge(frame, Math.exp(-event.deltaY / 100), at(event));
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  const isFull = document.documentElement.classList.contains("is-picture-full");
  const section = isFull ? document.querySelector(".picture") : event.target.closest(".picture");
  const frame = section?.querySelector<HTMLElement>("[data-zooms]");
  if (!frame) return;
  const arrow = viewOf(frame).scale > 1 ? ARROWS[event.key] : undefined;
  if (event.key === "+" || event.key === "=") enlarge(frame, STEP);
  else if (event.key === "-") enlarge(frame, 1 / STEP);
  else if (event.key === "0") enlarge(frame, 0);
  else if (arrow) move(frame, arrow.x * ARROW_PX, arrow.y * ARROW_PX);
  else return;
  event.preventDefault();
}

function onButton(event: MouseEvent): void {
  const button = event.target instanceof Element && event.target.closest<HTMLElement>("button[data-zoom]");
  const frame = button && button.closest(".picture")?.querySelector<HTMLElement>("[data-zooms]");
  if (!button || !frame) return;
  enlarge(frame, button.dataset.zoom === "in" ? STEP : 1 / STEP);
}

/** The point under the fingers stays under them; without one, the middle of the frame does. */
function enlarge(frame: HTMLElement, factor: number, point?: Point): void {
  const view = viewOf(frame);
  const box = frame.getBoundingClientRect();
  const scale = Math.min(MOST, Math.max(1, view.scale * factor));
  const x = point ? point.x - box.left - box.width / 2 : 0;
  const y = point ? point.y - box.top - box.height / 2 : 0;
  const by = scale / view.scale;
  show(frame, { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by });
}

function move(frame: HTMLElement, x: number, y: number): void {
  const view = viewOf(frame);
  show(frame, { ...view, x: view.x + x, y: view.y + y });
}

function show(frame: HTMLElement, view: View): void {
  const image = frame.querySelector("img");
  if (!image) return;
  const isWhole = view.scale < 1.01;
  const farX = ((view.scale - 1) * frame.clientWidth) / 2;
  const farY = ((view.scale - 1) * frame.clientHeight) / 2;
  const x = Math.min(farX, Math.max(-farX, view.x));
  const y = Math.min(farY, Math.max(-farY, view.y));
  views.set(frame, isWhole ? { scale: 1, x: 0, y: 0 } : { scale: view.scale, x, y });
  image.style.scale = isWhole ? "" : String(view.scale);
  image.style.translate = isWhole ? "" : `${x}px ${y}px`;
  frame.style.touchAction = isWhole ? "" : "none";
  document.documentElement.classList.toggle("is-zoomed", !isWhole);
}

function at(event: MouseEvent): Point {
  return { x: event.clientX, y: event.clientY };
}

function between(one: Point, other: Point): Point {
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
