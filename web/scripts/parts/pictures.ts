// Webcams: stills are asked for again, streams end while nobody looks, and a picture says its age.

const STALE_MS = 10_000;

export function startPictures(): void {
  setInterval(refreshStills, 1000);
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
  } else if (image.dataset.address) {
    image.src = fresh(image.dataset.address);
  }
}

function refreshStills(): void {
  if (!document.hidden) refreshEach(document);
}

export function refreshEach(page: Document): void {
  for (const image of page.querySelectorAll<HTMLImageElement>("img[data-still]")) refresh(image);
}

const asked = new WeakMap<HTMLImageElement, number>();
const arrived = new WeakMap<HTMLImageElement, number>();

function refresh(image: HTMLImageElement): void {
  const now = Date.now();
  const last = asked.get(image);
  if (last === undefined) {
    asked.set(image, now);
    arrived.set(image, now);
    return;
  }
  sayAge(image, now - (arrived.get(image) ?? now));
  if (now - last < Number(image.dataset.still) * 1000) return;
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

function sayAge(image: HTMLImageElement, age: number): void {
  const label = image.parentElement?.querySelector(".age");
  const every = Number(image.dataset.still) * 1000;
  if (!label || age < every + STALE_MS) return;
  label.textContent = `Picture from ${Math.round(age / 1000)} s ago`;
}

function fresh(address: string): string {
  const url = new URL(address, location.href);
  url.searchParams.set("at", String(Date.now()));
  return url.href;
}
