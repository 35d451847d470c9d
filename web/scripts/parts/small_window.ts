// The picture in a small window that stays above other programs, where the browser has such windows.
import { refreshEach } from "./pictures";

interface SmallWindows {
  requestWindow(size: { width: number; height: number }): Promise<Window>;
}

const WIDTH = 480;

export function startSmallWindow(): void {
  const windows = (window as { documentPictureInPicture?: SmallWindows }).documentPictureInPicture;
  if (!windows) return;
  document.documentElement.classList.add("has-small-windows");
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("button[data-small-window]");
    const frame = button && button.closest(".picture")?.querySelector<HTMLElement>("[data-zooms]");
    if (frame) void open(windows, frame);
  });
}

async function open(windows: SmallWindows, frame: HTMLElement): Promise<void> {
  const { width, height } = frame.getBoundingClientRect();
  const small = await windows.requestWindow({ width: WIDTH, height: Math.round((WIDTH * height) / width) });
  const page = small.document;
  page.title = document.title;
  page.documentElement.className = "is-small-window";
  for (const { href } of document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) {
    page.head.append(Object.assign(page.createElement("link"), { rel: "stylesheet", href }));
  }
  const copy = page.importNode(frame, true);
  copy.removeAttribute("style");
  const image = copy.querySelector("img");
  image?.removeAttribute("style");
  if (image) image.src = frame.querySelector("img")?.src ?? image.src; // of the page, whole
  copy.querySelector(".age")?.remove(); // nothing here would notice that it is no longer live
  page.body.append(copy);
  // Its own timer: that of the page sleeps while its tab is hidden.
  small.setInterval(() => refreshEach(page), 1000);
}
