// Webcams: stills are asked for again, streams end while nobody looks, and a picture says its age.

import { clock } from "./times";
import { t } from "./messages";

const STALE_MS = 10_000;
/** So long a stream may show the same before a new one is asked for. */
const AT_REST_MS = 8_000;

export function startPictures(): void {
  setInterval(refreshStills, 1000);
  refreshStills();
  document.addEventListener("load", (event) => event.target instanceof Element && event.target.closest(".webcam") && refreshStills(), true);
  showThumbnails();
  document.addEventListener("visibilitychange", () => {
    document.querySelectorAll<HTMLImageElement>("img[data-stream]").forEach(endOrBeginAgain);
  });
}

/** A drawing stands where a thumbnail is not, or not yet. */
function showThumbnails(): void {
  const settle = (image: EventTarget | null, isShown: boolean) => {
    if (!(image instanceof HTMLImageElement)) return;
    const frame = image.closest(".thumbnail");
    frame?.classList.toggle("is-shown", isShown);
    if (frame && !isShown) image.remove();
  };
  for (const image of document.querySelectorAll<HTMLImageElement>(".thumbnail img")) {
    if (image.complete) settle(image, image.naturalWidth > 0);
  }
  document.addEventListener("load", (event) => settle(event.target, true), true);
  document.addEventListener("error", (event) => settle(event.target, false), true);
}

/** While the tab is hidden a stream is cut: a webcam's minutes are counted. */
function endOrBeginAgain(image: HTMLImageElement): void {
  if (document.hidden) {
    image.dataset.address = image.src;
    image.removeAttribute("src");
    for (const known of [asked, arrived, samples]) known.delete(image);
  } else if (image.dataset.address) {
    image.src = fresh(image.dataset.address);
  }
}

function refreshStills(): void {
  if (!document.hidden) refreshEach(document);
}

export function refreshEach(page: Document): void {
  for (const image of page.querySelectorAll<HTMLImageElement>("img[data-still]")) refresh(image);
  for (const image of page.querySelectorAll<HTMLImageElement>("img[data-stream]")) follow(image);
}

const asked = new WeakMap<HTMLImageElement, number>();
const arrived = new WeakMap<HTMLImageElement, number>();

function refresh(image: HTMLImageElement): void {
  const now = Date.now();
  const every = Number(image.dataset.still) * 1000;
  if (!arrived.has(image) && isShown(image)) arrived.set(image, now);
  sayArrival(image, every + STALE_MS);
  const last = asked.get(image);
  if (last === undefined) asked.set(image, now);
  if (last === undefined || now - last < every) return;
  asked.set(image, now);
  void fetchInto(image);
}

/** A picture takes the old one's place only when it is whole. */
async function fetchInto(image: HTMLImageElement): Promise<void> {
  const next = new Image();
  next.src = fresh(image.src);
  try {
    await next.decode();
  } catch {
    return; // the old one stays, and grows old
  }
  image.src = next.src;
  arrived.set(image, Date.now());
}

const samples = new WeakMap<HTMLImageElement, string>();

/** Browsers tell nothing of a stream after its first picture. While its pictures differ it runs; one whose
 * pictures are all the same shows a thing at rest, or has stopped: a new stream tells which. */
function follow(image: HTMLImageElement): void {
  const now = Date.now();
  const sample = isShown(image) ? sampleOf(image) : "";
  if (sample && samples.get(image) !== sample) {
    samples.set(image, sample);
    arrived.set(image, now);
    asked.set(image, now);
  }
  const last = asked.get(image);
  if (last === undefined) asked.set(image, now);
  else if (now - last >= AT_REST_MS) {
    asked.set(image, now);
    beginAgain(image);
  }
  sayArrival(image, AT_REST_MS + STALE_MS);
}

/** The new stream takes the old one's place with its first picture. */
function beginAgain(image: HTMLImageElement): void {
  const next = new Image();
  next.onload = () => {
    if (!image.isConnected || document.hidden || !image.hasAttribute("data-stream")) return end(next);
    for (const { name, value } of image.attributes) if (name !== "src") next.setAttribute(name, value);
    next.onload = null;
    arrived.set(next, Date.now());
    asked.set(next, Date.now());
    samples.set(next, sampleOf(next));
    image.replaceWith(next);
    end(image);
  };
  next.src = fresh(image.src || (image.dataset.address ?? ""));
  setTimeout(() => next.isConnected || end(next), STALE_MS);
}

function end(image: HTMLImageElement): void {
  image.onload = null;
  image.removeAttribute("src");
}

const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

function sampleOf(image: HTMLImageElement): string {
  if (!canvas) return "";
  const { width, height } = Object.assign(canvas.canvas, { width: 160, height: 120 });
  canvas.drawImage(image, 0, 0, width, height);
  let sum = 0;
  for (const value of canvas.getImageData(0, 0, width, height).data) sum = (sum * 31 + value) | 0;
  return String(sum);
}

function isShown(image: HTMLImageElement): boolean {
  return image.complete && image.naturalWidth > 0;
}

/** "Live" stands over a picture that is brought up to date, and over no other. */
function sayArrival(image: HTMLImageElement, stale: number): void {
  const frame = image.closest<HTMLElement>(".webcam");
  if (!frame) return;
  const at = arrived.get(image);
  const age = Date.now() - (at ?? 0);
  frame.dataset.arrival = at === undefined ? "awaited" : age < stale ? "live" : "old";
  const words = frame.querySelector<HTMLElement>("[data-ours]");
  if (!words || at === undefined) return;
  words.textContent = age < 60_000 ? t("Picture from %(seconds)s s ago", { seconds: Math.round(age / 1000) }) : t("No picture since %(time)s", { time: clock(new Date(at)) });
}

function fresh(address: string): string {
  const url = new URL(address, location.href);
  url.searchParams.set("at", String(Date.now()));
  return url.href;
}
