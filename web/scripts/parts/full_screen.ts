// A section with pictures on the whole screen. Where a browser gives the screen to videos alone, as
// iPhones' do, the section covers the page instead, and what is behind it can't be reached.
import { showAllWhole } from "./zoom";

const root = document.documentElement;
let covered: Element[] = [];

export function startFullScreen(): void {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest<HTMLElement>("button[data-screen]");
    const section = button && button.closest<HTMLElement>(".picture");
    if (section) void (button.dataset.screen === "whole" ? enter(section) : leave()).then(() => focusOther(section));
  });
  document.addEventListener("fullscreenchange", () => setFull(document.fullscreenElement !== null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && covered.length) void leave();
  });
}

async function enter(section: HTMLElement): Promise<void> {
  try {
    await section.requestFullscreen();
  } catch {
    cover(section);
  }
  setFull(true);
}

async function leave(): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen();
  for (const element of covered) element.removeAttribute("inert");
  covered = [];
  setFull(false);
}

function cover(section: HTMLElement): void {
  for (let at: Element = section; at.parentElement && at !== document.body; at = at.parentElement) {
    covered.push(...[...at.parentElement.children].filter((other) => other !== at && !other.hasAttribute("inert")));
  }
  for (const element of covered) element.setAttribute("inert", "");
}

function setFull(isFull: boolean): void {
  if (root.classList.contains("is-picture-full") === isFull) return;
  root.classList.toggle("is-picture-full", isFull);
  showAllWhole();
}

/** The button that was pressed is gone; the other one stands in its place. */
function focusOther(section: HTMLElement): void {
  [...section.querySelectorAll<HTMLElement>("button[data-screen]")].find((one) => one.checkVisibility())?.focus();
}
